"""Rows of saved states on their way: divided, joined, kept, and sent in rounds of bounded size."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import pytest

from ranvier import _core
from ranvier.errors import ShapeError
from ranvier.simulation.routed_rows import route, supply
from ranvier.state.rows import KeptRows, front, ids_of, joined, taken

Rows = list[tuple[str, bool, Any]]


def rows_of(ids: list[int], sizes: list[int]) -> Rows:
    """Return rows whose lists have elements that tell the id and the place."""
    elements = np.array([100.0 * each + i for each, size in zip(ids, sizes, strict=True) for i in range(size)])
    return [("id", False, np.array(ids)), ("size", False, np.array(sizes)), ("value", True, elements)]


def as_dict(rows: Rows) -> dict[int, list[float]]:
    named = {name: values for name, _, values in rows}
    parts = np.split(named["value"], np.cumsum(named["size"])[:-1])
    return {int(each): part.tolist() for each, part in zip(named["id"], parts, strict=True)}


def test_rows_are_taken_with_their_lists() -> None:
    rows = rows_of([5, 3, 9, 4], [2, 0, 3, 1])
    assert as_dict(taken(rows, np.array([2, 1, 3]))) == {9: [900.0, 901.0, 902.0], 3: [], 4: [400.0]}
    again = joined([taken(rows, np.array([0, 1])), taken(rows, np.array([2, 3]))])
    assert as_dict(again) == as_dict(rows)
    plain: Rows = [("id", False, np.array([1, 2, 3]))]
    assert ids_of(taken(plain, np.array([2, 0]))).tolist() == [3, 1]


@pytest.mark.parametrize(
    ("most_rows", "most_elements", "count"), [(9, 99, 4), (2, 99, 2), (9, 4, 2), (9, 1, 1), (9, 5, 3)]
)
def test_first_rows_keep_the_limits(most_rows: int, most_elements: int, count: int) -> None:
    rows = rows_of([5, 3, 9, 4], [2, 2, 1, 6])
    first, others = front(rows, most_rows, most_elements)
    assert len(ids_of(first)) == count
    assert as_dict(first) | (as_dict(others) if len(ids_of(others)) else {}) == as_dict(rows)


def test_of_each_id_the_longest_list_is_kept() -> None:
    kept = KeptRows()
    assert kept.rows(np.array([5])) is None
    kept.add(rows_of([5, 3], [1, 2]))
    kept.add(rows_of([9, 5, 3], [0, 3, 0]))
    found = kept.rows(np.array([3, 5, 7, 9]))
    assert found is not None
    assert as_dict(found) == {3: [300.0, 301.0], 5: [500.0, 501.0, 502.0], 9: []}
    assert kept.rows(np.array([7])) is None


def test_rounds_are_of_bounded_size() -> None:
    one = _core.Communicator.local()
    random = np.random.default_rng(1)
    pieces = [rows_of(list(range(k, k + 30)), random.integers(0, 6, 30).tolist()) for k in range(0, 300, 30)]
    come: list[Rows] = []
    route(
        one, iter(pieces), lambda ids: np.zeros(len(ids), dtype=np.int32), come.append, (4, 10), contextlib.nullcontext
    )
    assert as_dict(joined(come)) == as_dict(joined(pieces))
    assert max(len(ids_of(each)) for each in come) <= 8
    assert max(int(each[1][2].sum()) for each in come) <= 20


def test_what_is_asked_for_comes() -> None:
    one = _core.Communicator.local()
    kept = KeptRows()
    kept.add(rows_of(list(range(20)), [i % 3 for i in range(20)]))
    asked = iter([np.array([3, 4]), np.array([17])])
    come: list[Rows] = []
    ranks = lambda ids: np.zeros(len(ids), dtype=np.int32)  # noqa: E731
    supply(one, kept, lambda: next(asked, None), ranks, come.append, contextlib.nullcontext)
    assert [ids_of(each).tolist() for each in come] == [[3, 4], [17]]


def test_errors_in_rounds_come_out() -> None:
    def fail(rows: Rows) -> None:
        raise LookupError("no such row")

    ranks = lambda ids: np.zeros(len(ids), dtype=np.int32)  # noqa: E731
    with pytest.raises(LookupError, match="no such row"):
        route(_core.Communicator.local(), iter([rows_of([1], [1])]), ranks, fail, (4, 4), contextlib.nullcontext)
    with pytest.raises(ShapeError, match="2 pieces"):
        _core.Communicator.local().alltoall([b"", b""])
