"""Numbers of a row: a number of processes with a number of cells and a simulated time."""

from __future__ import annotations

import math
from typing import Any

from ranvier_benchmarks.papers._paper import Measured

__all__ = ["PLAIN", "change", "communication", "is_simulated", "methods_of", "simulated_rows", "variants"]

PLAIN = "allgather"
"""The method with which the others are compared."""

_Row = dict[str, Any]


def methods_of(row: _Row, *, barrier: bool) -> dict[str, _Row]:
    """Return the methods by name; simulated ones have no barrier."""
    return {each["method"]: each for each in row["methods"] if each["barrier"] == barrier}


def is_simulated(row: _Row) -> bool:
    """Return whether processes and network were simulated."""
    return "crowded" not in row


def communication(method: _Row) -> float:
    """Return the seconds of the exchange, with the waiting for other processes unless a barrier has taken that."""
    seconds: float = method["exchange_s" if method["barrier"] else "waiting_and_exchange_s"]["median"]
    return seconds


def change(row: _Row, name: str, *, barrier: bool) -> float:
    """Return by how many percent the communication of a method takes longer than that of allgather."""
    methods = methods_of(row, barrier=barrier)
    plain = communication(methods[PLAIN])
    return 100.0 * (communication(methods[name]) / plain - 1.0) if plain > 0.0 else math.nan


def simulated_rows(measured: Measured) -> list[_Row]:
    """Return the rows of more processes than were started."""
    rows: list[_Row] = measured["simulated"]["rows"] if measured["simulated"] else []
    return rows


def variants(measured: Measured) -> list[tuple[int, float]]:
    """Return the numbers of cells and the times that were measured."""
    return list(dict.fromkeys((row["cells"], row["time"]) for row in measured["rows"]))
