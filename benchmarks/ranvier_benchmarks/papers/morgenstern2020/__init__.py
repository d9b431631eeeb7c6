"""Morgenstern et al. (2020): NUMA-awareness as a plug-in for a fast multipole method by tasks."""

from __future__ import annotations

from ranvier_benchmarks.papers._paper import Paper
from ranvier_benchmarks.papers.morgenstern2020.policies import FIGURE_4, FIGURE_5, TABLE_1

__all__ = ["PAPER"]

PAPER = Paper(
    name="morgenstern2020",
    citation="L. Morgenstern, D. Haensel, A. Beckmann, I. Kabadshow, Computational Science - ICCS 2020, 428-441, "
    "https://doi.org/10.1007/978-3-030-50436-6_31",
    results=(FIGURE_4, FIGURE_5, TABLE_1),
)
