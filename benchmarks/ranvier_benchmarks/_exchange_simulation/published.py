"""Tables 1 and 2 of Hines, Kumar and Schürmann (2011).

https://doi.org/10.3389/fncom.2011.00049. Seconds of 200 ms on a Blue Gene/P in virtual node mode.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

__all__ = ["COLUMNS", "TABLES", "Row", "agreement"]

K = 1024
M = K * K

COLUMNS = {
    "MPI_Allgather": "allgather",
    "MPI_ISEND": "isend",
    "DCMF_Multicast": "two-phase 2",
    "Record-Replay": "replay",
}
"""Columns of the tables, and the methods of the simulation that they are."""


@dataclass(frozen=True)
class Row:
    """A row of a table.

    Attributes
    ----------
    ranks, cells, connections
        Processes, cells, and mean number of inputs of a cell.
    seconds
        By column: computation of process 0, and run time; None if it was not measured.
    """

    ranks: int
    cells: int
    connections: int
    seconds: dict[str, tuple[float, float] | None]


def _row(ranks: int, cells: int, connections: int, *seconds: tuple[float, float] | None) -> Row:
    return Row(ranks, cells, connections, dict(zip(COLUMNS, seconds, strict=True)))


TABLES = {
    "1": (
        _row(8 * K, 2 * M, 1000, (6.76, 7.84), (22.3, 24.9), (7.30, 7.74), (6.30, 6.99)),
        _row(16 * K, 2 * M, 1000, (4.01, 5.44), (11.5, 13.5), (3.67, 4.00), (3.17, 3.62)),
        _row(32 * K, 2 * M, 1000, (3.00, 4.69), (5.90, 7.40), (1.84, 2.07), (1.58, 1.91)),
        _row(64 * K, 2 * M, 1000, (2.98, 5.05), (2.87, 4.20), (0.957, 1.25), (0.808, 1.03)),
        _row(128 * K, 2 * M, 1000, None, None, (0.497, 0.64), (0.417, 0.608)),
        _row(8 * K, M // 4, 10_000, (5.23, 5.64), (18.5, 21.5), (6.50, 6.90), (5.81, 6.58)),
        _row(16 * K, M // 4, 10_000, (3.16, 3.78), (11.1, 14.6), (3.76, 4.18), (3.35, 4.07)),
        _row(32 * K, M // 4, 10_000, (2.04, 3.11), (6.37, 9.37), (2.04, 2.39), (1.79, 2.64)),
        _row(64 * K, M // 4, 10_000, (1.58, 3.47), (6.19, 6.99), (1.36, 1.42), (0.948, 1.77)),
        _row(128 * K, M // 4, 10_000, None, None, (0.573, 0.799), (0.494, 1.39)),
    ),
    "2": (
        _row(8 * K, 2 * M, 1000, (6.76, 7.84), (22.3, 24.9), (7.30, 7.74), (6.30, 6.99)),
        _row(16 * K, 4 * M, 1000, (7.99, 9.95), (22.8, 25.7), (7.42, 7.89), (6.33, 7.27)),
        _row(32 * K, 8 * M, 1000, (10.3, 14.2), (23.2, 26.2), (7.41, 7.95), (6.36, 7.25)),
        _row(64 * K, 16 * M, 1000, (15.1, 23.8), (23.5, 26.5), (7.50, 8.00), (6.44, 7.34)),
        _row(128 * K, 32 * M, 1000, None, (23.4, 26.7), (7.51, 8.12), (6.41, 7.38)),
        _row(8 * K, M // 4, 10_000, (5.23, 5.64), (18.5, 21.5), (6.50, 6.90), (5.81, 6.58)),
        _row(16 * K, M // 2, 10_000, (6.14, 6.83), (22.4, 27.1), (7.50, 8.10), (6.72, 7.83)),
        _row(32 * K, 1 * M, 10_000, (7.00, 8.29), (25.2, 30.6), (8.06, 8.93), (7.21, 8.35)),
        _row(64 * K, 2 * M, 10_000, (8.33, 10.5), (29.8, 32.9), (8.76, 9.21), (7.45, 8.94)),
        _row(128 * K, 4 * M, 10_000, (10.7, 14.9), (27.4, 35.4), (8.54, 9.38), (7.52, 9.51)),
    ),
}
"""Table 1 has strong scaling, Table 2 weak scaling."""


def agreement(results: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return how simulated times compare with those of the tables, each row once.

    Parameters
    ----------
    results
        Of each row `ranks`, `cells`, `connections`, and the summaries of `methods` by their names.

    Returns
    -------
    dict
        For `computation` and `run`: `count` of published times, and the `least`, `median` and `greatest` ratio of the
        simulated and the published time; empty without any. Times to which parameters were fitted are included.
    """
    rows = {(row.ranks, row.cells, row.connections): row for table in TABLES.values() for row in table}
    found: dict[str, dict[str, Any]] = {}
    for place, quantity in enumerate(("computation", "run")):
        ratios = []
        for one in results:
            row = rows[one["ranks"], one["cells"], one["connections"]]
            for column, method in COLUMNS.items():
                seconds = row.seconds[column]
                if seconds is not None and method in one["methods"]:
                    ratios.append(one["methods"][method][f"{quantity}_s"] / seconds[place])
        if ratios:
            found[quantity] = {
                "count": len(ratios),
                "least": min(ratios),
                "median": median(ratios),
                "greatest": max(ratios),
            }
    return found
