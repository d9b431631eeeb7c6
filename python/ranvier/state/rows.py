"""Rows of tables of a saved state, while they are on their way to the processes that need them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from ranvier.state.part_files import Array, Column

__all__ = ["KeptRows", "front", "ids_of", "joined", "taken"]

Rows = list[Column]
Indices = npt.NDArray[np.int64]


def joined(pieces: Sequence[Rows]) -> Rows:
    """Return the rows of several pieces as one piece.

    A piece may lack a column of lists if all of its lists are empty.
    """
    if len(pieces) == 1:
        return pieces[0]
    names: dict[str, bool] = {name: is_list for piece in pieces for name, is_list, _ in piece}
    parts: dict[str, list[Array]] = {name: [] for name in names}
    for piece in pieces:
        for name, _, values in piece:
            parts[name].append(values)
    return [(name, is_list, np.concatenate(parts[name])) for name, is_list in names.items()]


def taken(rows: Rows, which: npt.NDArray[np.integer]) -> Rows:
    """Return some of the rows, by index."""
    elements = _elements_of(rows, which)
    return [(name, is_list, values[elements if is_list else which]) for name, is_list, values in rows]


def front(rows: Rows, most_rows: int, most_elements: int) -> tuple[Rows, Rows]:
    """Split rows into the first ones, at least one and at most as many as two limits allow, and the others."""
    count = min(most_rows, len(ids_of(rows)))
    ends = np.cumsum(_named(rows, "size")) if _has_lists(rows) else np.zeros(0, dtype=np.int64)
    if len(ends):
        count = max(1, min(count, int(np.searchsorted(ends, most_elements, side="right"))))
    elements = int(ends[count - 1]) if len(ends) else 0
    first = [(name, is_list, values[: elements if is_list else count]) for name, is_list, values in rows]
    others = [(name, is_list, values[elements if is_list else count :]) for name, is_list, values in rows]
    return first, others


class KeptRows:
    """Rows that several processes have saved: for each id, the row with the longest list."""

    def __init__(self) -> None:
        self._rows: Rows | None = None

    def add(self, rows: Rows) -> None:
        """Add rows, some of which may be present already."""
        every = rows if self._rows is None else joined([self._rows, rows])
        ids = ids_of(every)
        sizes = _named(every, "size") if _has_lists(every) else np.zeros(len(ids), dtype=np.int64)
        order = np.lexsort((-sizes, ids))
        in_order = ids[order]
        is_first = np.ones(len(ids), dtype=np.bool_)
        is_first[1:] = in_order[1:] != in_order[:-1]
        self._rows = taken(every, order[is_first])

    def rows(self, ids: Indices) -> Rows | None:
        """Return the rows of some ids that are present; None if no row is."""
        if self._rows is None or len(ids) == 0:
            return None
        known = ids_of(self._rows)
        at = np.minimum(np.searchsorted(known, ids), len(known) - 1)
        found = at[known[at] == ids]
        return taken(self._rows, found) if len(found) else None


def ids_of(rows: Rows) -> Array:
    """Return the ids of rows."""
    return _named(rows, "id")


def _named(rows: Rows, wanted: str) -> Array:
    return next(values for name, is_list, values in rows if name == wanted and not is_list)


def _has_lists(rows: Rows) -> bool:
    return any(name == "size" and not is_list for name, is_list, _ in rows)


def _elements_of(rows: Rows, which: npt.NDArray[np.integer]) -> Indices:
    """Return where the elements of the lists of some rows are."""
    if not _has_lists(rows):
        return np.zeros(0, dtype=np.int64)
    sizes = _named(rows, "size")
    begins = np.cumsum(sizes) - sizes
    chosen = sizes[which]
    ends = np.cumsum(chosen)
    total = int(ends[-1]) if len(ends) else 0
    within = np.arange(total, dtype=np.int64) - np.repeat(ends - chosen, chosen)
    elements: Indices = np.repeat(begins[which], chosen) + within
    return elements
