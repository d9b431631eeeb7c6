"""What the paper states of its Figures 5 to 9, and its Table 3. Tables 1 and 2 are those of the simulated exchange."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from ranvier_benchmarks._exchange_simulation.published import K, M

__all__ = [
    "BUFFERS",
    "CELLS_PER_PROCESS",
    "FIGURES",
    "FITTED",
    "FITTED_3",
    "INPUTS",
    "METHODS_3",
    "PLACEMENTS",
    "TABLE_3",
    "Range",
    "Statement",
]

Range = tuple[int, int]

BUFFERS = (10, 20, 40)
"""Spikes of the first collective in Figure 5."""
INPUTS = (1000, 10_000)
"""Inputs of a cell in Figure 6, and in Figure 7; both in Figure 8 and the tables."""
CELLS_PER_PROCESS = {1000: 256, 10_000: 32}
"""By number of inputs: cells of a process in Figures 5 to 8, and in Table 2."""


@dataclass(frozen=True)
class Statement:
    """What the paper says of a panel of Figures 5 to 8.

    Attributes
    ----------
    seconds
        Computation of process 0, and run, where a table has the same run.
    table
        That table.
    spikes, sent, received
        Of process 0, least and greatest in an interval of the last 50 ms: spikes of its cells, and messages.
    iterations
        Least and greatest number of checks after the first.
    """

    seconds: tuple[float, float] | None = None
    table: str = ""
    spikes: Range | None = None
    sent: Range | None = None
    received: Range | None = None
    iterations: Range | None = None


@dataclass(frozen=True)
class Figure:
    """What the paper says of a network of Figures 5 to 8.

    Attributes
    ----------
    processes, cells
        Their numbers.
    fan_out
        The most processes that the spikes of a cell go to: of the cells of process 0, and of all.
    panels
        By the name of a variant.
    """

    processes: int
    cells: int
    fan_out: Range | None
    panels: Mapping[str, Statement]


FIGURES: Mapping[tuple[str, int], Figure] = {
    ("5", 1000): Figure(8 * K, 2 * M, None, {"allgather, 10 spikes": Statement((6.76, 7.84), "1")}),
    ("6", 1000): Figure(
        16 * K,
        4 * M,
        (1049, 1129),
        {
            "one phase, two intervals": Statement((7.05, 9.14), "3", (1, 8), (919, 7799), (3954, 4400), (0, 0)),
            "one phase, one interval": Statement(None, "", (3, 16), (2798, 15_619), (8033, 8719), (0, 0)),
            "two phases, two intervals": Statement((7.42, 7.89), "2", iterations=(0, 0)),
            "two phases, one interval": Statement(iterations=(2, 2)),
        },
    ),
    ("7", 10_000): Figure(
        64 * K,
        2 * M,
        (9476, 9787),
        {
            "one phase, two intervals": Statement(None, "", (0, 4), (0, 37_175), (4703, 5271), (0, 0)),
            "one phase, one interval": Statement(None, "", (0, 5), (0, 46_489), (9577, 10_386), (0, 0)),
            "two phases, two intervals": Statement((8.76, 9.21), "2"),
            "two phases, one interval": Statement(iterations=(2, 2)),
        },
    ),
    ("8", 1000): Figure(
        16 * K,
        4 * M,
        (1049, 1129),
        {
            "Record-Replay, one interval": Statement((6.33, 7.27), "2", iterations=(0, 14)),
            "Record-Replay, two intervals": Statement(iterations=(0, 554)),
        },
    ),
    ("8", 10_000): Figure(
        64 * K,
        2 * M,
        (9476, 9787),
        {
            "Record-Replay, one interval": Statement((7.45, 8.94), "2", iterations=(2, 231)),
            "Record-Replay, two intervals": Statement(iterations=(0, 1025)),
        },
    ),
}
"""By number of the figure, and inputs of a cell."""

FITTED: Mapping[str, tuple[tuple[int, int], ...]] = {
    "MPI_Allgather": ((8 * K, 1000), (64 * K, 1000)),
    "MPI_ISEND": ((8 * K, 1000),),
    "Record-Replay": ((8 * K, 1000),),
}
"""By column of Tables 1 and 2: rows, by processes and inputs, to which parameters of the simulation were fitted."""

METHODS_3 = {"Multisend": "multisend 2", "two-phase": "two-phase 2", "replay": "replay"}
"""Rows of Table 3, and the methods of the simulation that they are."""
PLACEMENTS: Mapping[str, Literal["round_robin", "consecutive", "shuffle"]] = {
    "round-robin": "round_robin",
    "consecutive": "consecutive",
    "random shuffle": "shuffle",
}
"""Parts of Table 3, and the option `placement` that they are."""

_COLUMNS_3 = (("random", False), ("random", True), ("adjacent", False), ("adjacent", True))


def _table_3(*rows: tuple[float, ...]) -> dict[tuple[str, str, str, bool], tuple[float, float]]:
    names = [(placement, method) for placement in PLACEMENTS for method in METHODS_3]
    return {
        (*name, *column): (row[2 * place], row[2 * place + 1])
        for name, row in zip(names, rows, strict=True)
        for place, column in enumerate(_COLUMNS_3)
    }


TABLE_3 = _table_3(
    (7.05, 9.14, 10.18, 12.74, 7.96, 10.08, 11.61, 14.21),
    (7.37, 7.84, 10.56, 11.16, 8.27, 8.74, 12.01, 12.62),
    (6.41, 7.04, 9.06, 9.72, 7.18, 8.01, 10.32, 11.31),
    (7.16, 9.61, 11.05, 20.75, 1.95, 3.91, 3.32, 12.11),
    (7.39, 7.86, 10.61, 11.29, 1.95, 3.90, 3.31, 12.10),
    (6.46, 7.55, 8.57, 14.65, 1.93, 3.23, 3.27, 10.98),
    (7.08, 9.19, 10.18, 12.75, 7.14, 9.20, 9.74, 13.42),
    (7.36, 7.84, 10.55, 11.16, 7.37, 7.83, 10.06, 12.07),
    (6.23, 7.27, 8.98, 9.75, 6.36, 7.26, 8.38, 11.36),
)
"""Computation of process 0 and run (s), by placement, method, topology, and whether there are bursts."""
FITTED_3 = frozenset(
    [("round-robin", method, "random", False) for method in METHODS_3] + [("consecutive", "replay", "adjacent", False)]
)
"""Values of Table 3 to which parameters of the simulation were fitted."""
