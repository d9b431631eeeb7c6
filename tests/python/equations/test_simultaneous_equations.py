"""Simultaneous equations in programs of general mechanisms, against NumPy."""

from __future__ import annotations

import numpy as np
import pytest

from ranvier.channels.simultaneous_equations import Simultaneous
from ranvier.errors import EquationError
from test_implicit_integration import stepped, tree

PLACE = tree("1").place


@pytest.mark.parametrize("seed", range(15))
def test_linear_equations(seed: int) -> None:
    """With factors of 0 on the diagonal, and factors that depend on the potential: pivots must be found."""
    random = np.random.default_rng(seed)
    size = int(random.integers(1, 8))
    matrix = random.normal(0.0, 1.0, (size, size)).round(4) * (random.random((size, size)) < 0.6)
    matrix += np.roll(np.diag(random.uniform(0.5, 1.5, size).round(4)), seed, axis=1)
    right = random.normal(0.0, 1.0, size).round(4)
    assert np.linalg.cond(matrix) < 1e6
    states = [f"s{i}" for i in range(size)]
    lines = [
        " + ".join(f"({float(each)!r})*(v/10)*{name}" for each, name in zip(row, states, strict=True) if each)
        for row in matrix
    ]
    residuals = tuple(tree(f"{line} - ({float(each)!r})") for line, each in zip(lines, right, strict=True))
    made, ended = stepped(Simultaneous(PLACE, tuple(states), residuals), dict.fromkeys(states, 3.0), 0.1, 10.0)
    assert ended
    np.testing.assert_allclose(made, np.linalg.solve(matrix, right), rtol=1e-9, atol=1e-9)


def test_other_equations_are_solved_from_the_values_that_states_have() -> None:
    for begin, expected in ((1.0, [(-1 + np.sqrt(3.4)) / 2, 0.3]), (-2.0, [(-1 - np.sqrt(3.4)) / 2, 0.3])):
        statement = Simultaneous(PLACE, ("x", "y"), (tree("x*x + x - 2*y"), tree("y*y*y - 0.027")))
        made, ended = stepped(statement, {"x": begin, "y": 1.0}, 0.1)
        assert ended
        np.testing.assert_allclose(made, expected, rtol=1e-10)


def test_equations_without_a_solution_do_not_converge() -> None:
    _, ended = stepped(Simultaneous(PLACE, ("x",), (tree("x*x + 1"),)), {"x": 0.7}, 0.1)
    assert not ended


def test_numbers_of_equations_that_do_not_fit_are_refused() -> None:
    with pytest.raises(EquationError, match="1 equations for 2 states"):
        stepped(Simultaneous(PLACE, ("x", "y"), (tree("x + y"),)), {"x": 1.0, "y": 1.0}, 0.1)
    with pytest.raises(EquationError, match="in no equation"):
        stepped(Simultaneous(PLACE, ("x", "y"), (tree("x - 1"), tree("x - 2"))), {"x": 1.0, "y": 1.0}, 0.1)
