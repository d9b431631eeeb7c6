"""Which cases of a test `make test` runs, and which are left to `make validate` by the mark `thorough`.

A case is a value, a tuple of values, or made by `pytest.param`.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Collection, Iterable
from typing import Any

import pytest
from _pytest.mark.structures import ParameterSet

__all__ = ["every", "one_of_each", "only", "quick_if"]


def quick_if(is_quick: Callable[..., bool], cases: Iterable[Any]) -> list[ParameterSet]:
    """Return the cases for `pytest.mark.parametrize`, with the mark `thorough` on those that are not quick.

    `is_quick` gets the values of a case as arguments.
    """
    return [_marked(case, is_quick(*_parameters(case).values)) for case in cases]


def only(quick: Collection[Any], cases: Iterable[Any]) -> list[ParameterSet]:
    """Return the cases, with the mark `thorough` on those that are not in `quick`."""
    return [_marked(case, case in quick) for case in cases]


def every(count: int, cases: Iterable[Any], first: int = 0) -> list[ParameterSet]:
    """Return the cases, with the mark `thorough` on all but every `count`-th of them, from `first` on."""
    return [_marked(case, i >= first and (i - first) % count == 0) for i, case in enumerate(cases)]


def one_of_each(*parameters: Iterable[Any]) -> list[ParameterSet]:
    """Return all combinations of the values of several parameters, most of them with the mark `thorough`.

    As many are left to `make test` as the longest list has values: each value of each parameter is in one of them.
    Tuples are values of parameters that vary together.
    """
    lists = [list(values) for values in parameters]
    few = {tuple(i % len(values) for values in lists) for i in range(max(map(len, lists)))}
    marked = []
    for places in itertools.product(*(range(len(values)) for values in lists)):
        cases = (_parameters(values[place]).values for values, place in zip(lists, places, strict=True))
        marked.append(_marked(tuple(itertools.chain.from_iterable(cases)), places in few))
    return marked


def _parameters(case: Any) -> ParameterSet:
    if isinstance(case, ParameterSet):
        return case
    return pytest.param(*(case if type(case) is tuple else (case,)))


def _marked(case: Any, is_quick: bool) -> ParameterSet:
    given = _parameters(case)
    marks = given.marks if is_quick else [*given.marks, pytest.mark.thorough]
    return pytest.param(*given.values, id=given.id, marks=marks)
