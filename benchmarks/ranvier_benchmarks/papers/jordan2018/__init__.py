"""Jordan et al. (2018): a two-tier connection infrastructure, and directed communication of spikes."""

from __future__ import annotations

from ranvier_benchmarks.papers._paper import Paper
from ranvier_benchmarks.papers.jordan2018.filling import FIGURE_10
from ranvier_benchmarks.papers.jordan2018.laptop import FIGURE_11
from ranvier_benchmarks.papers.jordan2018.memory import FIGURE_2B, FIGURE_4B
from ranvier_benchmarks.papers.jordan2018.strong import FIGURE_9, FIGURE_A5
from ranvier_benchmarks.papers.jordan2018.targets import FIGURE_1
from ranvier_benchmarks.papers.jordan2018.threads import FIGURE_A4
from ranvier_benchmarks.papers.jordan2018.weak import FIGURE_7, FIGURE_8, FIGURE_12

__all__ = ["PAPER"]

PAPER = Paper(
    name="jordan2018",
    citation="J. Jordan et al., Frontiers in Neuroinformatics 12, 2 (2018), https://doi.org/10.3389/fninf.2018.00002",
    results=(
        FIGURE_1,
        FIGURE_2B,
        FIGURE_4B,
        FIGURE_7,
        FIGURE_8,
        FIGURE_9,
        FIGURE_10,
        FIGURE_11,
        FIGURE_12,
        FIGURE_A4,
        FIGURE_A5,
    ),
)
