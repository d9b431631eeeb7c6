"""Shehzad and Bozkuş (2016): spikes gathered by recursive doubling, by writing into memory of other processes."""

from __future__ import annotations

from ranvier_benchmarks.papers._paper import Paper
from ranvier_benchmarks.papers.shehzad2016.allgather import FIGURE_4, FIGURE_6, FIGURE_7, TABLE_1, TABLE_2, TABLE_3

__all__ = ["PAPER"]

PAPER = Paper(
    name="shehzad2016",
    citation="D. Shehzad and Z. Bozkuş, Computational Intelligence and Neuroscience 2016, 3676582 (2016), "
    "https://doi.org/10.1155/2016/3676582",
    results=(TABLE_1, TABLE_2, TABLE_3, FIGURE_4, FIGURE_6, FIGURE_7),
)
