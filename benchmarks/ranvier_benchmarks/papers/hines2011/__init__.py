"""Hines, Kumar and Schürmann (2011): methods of exchanging spikes on a Blue Gene/P."""

from __future__ import annotations

from ranvier_benchmarks.papers._paper import Paper
from ranvier_benchmarks.papers.hines2011.intervals import FIGURE_5, FIGURE_6, FIGURE_7, FIGURE_8
from ranvier_benchmarks.papers.hines2011.placements import TABLE_3
from ranvier_benchmarks.papers.hines2011.rasters import FIGURE_3, FIGURE_9
from ranvier_benchmarks.papers.hines2011.scaling import FIGURE_4, TABLE_1, TABLE_2

__all__ = ["PAPER"]

PAPER = Paper(
    name="hines2011",
    citation="M. Hines, S. Kumar and F. Schürmann, Frontiers in Computational Neuroscience 5, 49 (2011), "
    "https://doi.org/10.3389/fncom.2011.00049",
    results=(FIGURE_3, FIGURE_4, FIGURE_5, FIGURE_6, FIGURE_7, FIGURE_8, FIGURE_9, TABLE_1, TABLE_2, TABLE_3),
)
