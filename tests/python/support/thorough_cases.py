"""Which cases of a test `make test` runs, and which are left to `make validate` by the mark `thorough`."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import pytest
from _pytest.mark.structures import ParameterSet

__all__ = ["one_of_each", "quick_if"]


def quick_if(is_quick: Callable[..., bool], cases: Iterable[Any]) -> list[ParameterSet]:
    """Return the cases for `pytest.mark.parametrize`, with the mark `thorough` on those that are not quick.

    A case is a value, a tuple of values, or made by `pytest.param`; `is_quick` gets its values as arguments.
    """
    marked = []
    for case in cases:
        given = case if isinstance(case, ParameterSet) else pytest.param(*(case if type(case) is tuple else (case,)))
        marks = given.marks if is_quick(*given.values) else [*given.marks, pytest.mark.thorough]
        marked.append(pytest.param(*given.values, id=given.id, marks=marks))
    return marked


def one_of_each(*parameters: Sequence[Any]) -> list[ParameterSet]:
    """Return all combinations of the values of several parameters, most of them with the mark `thorough`.

    As many are left to `make test` as the longest list has values: each value of each parameter is in one of them.
    """
    few = {tuple(i % len(values) for values in parameters) for i in range(max(map(len, parameters)))}
    return [
        pytest.param(
            *(values[place] for values, place in zip(parameters, places, strict=True)),
            marks=[] if places in few else [pytest.mark.thorough],
        )
        for places in itertools.product(*(range(len(values)) for values in parameters))
    ]
