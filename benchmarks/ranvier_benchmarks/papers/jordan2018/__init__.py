"""Jordan et al. (2018): a two-tier connection infrastructure, and directed communication of spikes."""

from __future__ import annotations

from ranvier_benchmarks.papers._paper import Paper
from ranvier_benchmarks.papers.jordan2018.targets import FIGURE_1

__all__ = ["PAPER"]

PAPER = Paper(
    name="jordan2018",
    citation="J. Jordan et al., Frontiers in Neuroinformatics 12, 2 (2018), https://doi.org/10.3389/fninf.2018.00002",
    results=(FIGURE_1,),
)
