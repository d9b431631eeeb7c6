"""Implicit and explicit steps in programs of general mechanisms, against NumPy and SciPy."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest
from scipy.optimize import fsolve

from program_oracle import evaluate
from ranvier.channels.general_scope import EXTERNAL, Assign, ProgramScope
from ranvier.channels.implicit_integration import Conserved, Explicit, Implicit
from ranvier.equations.places import Source
from ranvier.equations.trees import Node, parse
from thorough_cases import every


def tree(text: str) -> Node:
    return parse(Source("a test", text), 0, len(text))


def stepped(statement: Any, states: Mapping[str, float], step: float, potential: float = -60.0) -> tuple[Any, bool]:
    """Return the states after a step, and whether its loop, if there is one, has ended."""
    scope = ProgramScope(states, [], {})
    statement.emit(scope)
    program = scope.finished((scope.operands[name], 0) for name in states)
    external = {"dt": step, "v": potential}
    values = [*states.values(), *(external.get(name, 0.0) for name in EXTERNAL)]
    made = evaluate(program, [np.full(3, each) for each in values])
    numbers = [float(np.broadcast_to(each, (3,))[1]) for each in made]
    return numbers[: len(states)], all(numbers[len(states) :])


def scheme(rates: np.ndarray[Any, Any]) -> dict[str, Node]:
    """Return the derivatives of a linear scheme; rates[i, j] leads from state i to state j."""
    size = len(rates)
    made = {}
    for i in range(size):
        terms = [f"{float(rates[j, i])!r}*s{j} - {float(rates[i, j])!r}*s{i}" for j in range(size) if j != i]
        made[f"s{i}"] = tree(" + ".join(terms))
    return made


@pytest.mark.parametrize("seed", every(2, range(20)))
def test_a_linear_scheme_is_solved(seed: int) -> None:
    """Of two to eight states, with and without a sum that is conserved, in the step and in the steady state."""
    random = np.random.default_rng(seed)
    size = int(random.integers(2, 9))
    rates = random.gamma(0.5, 1.0, (size, size)).round(3) * (random.random((size, size)) < 0.7)
    rates[np.arange(size), (np.arange(size) + 1) % size] += 0.1
    np.fill_diagonal(rates, 0.0)
    matrix = rates.T - np.diag(rates.sum(axis=1))
    begin = random.dirichlet(np.ones(size))
    states = {f"s{i}": float(each) for i, each in enumerate(begin)}
    step = float(random.choice([1e-3, 0.025, 1.0, 100.0]))
    expected = np.linalg.solve(np.eye(size) - step * matrix, begin)
    sums = Conserved(f"s{seed % size}", {name: tree("1") for name in states}, tree("1"))
    for conserved in ((), (sums,)):
        made, ended = stepped(Implicit((), scheme(rates), conserved), states, step)
        assert ended
        np.testing.assert_allclose(made, expected, rtol=1e-10, atol=1e-13)
    steady, _ = stepped(Implicit((), scheme(rates), (sums,), steady=True), dict.fromkeys(states, 0.0), step)
    np.testing.assert_allclose(matrix @ np.array(steady), 0.0, atol=1e-8)
    assert sum(steady) == pytest.approx(1.0, abs=1e-12)


def test_equations_that_are_not_linear_are_solved() -> None:
    """With an intermediate value, and with volumes: the residual of implicit Euler is 0."""
    before = (Assign("flux", tree("0.7*a*b - 0.3*c")),)
    derivatives = {"a": tree("-flux"), "b": tree("-flux"), "c": tree("flux - 0.01*c**2")}
    begin = {"a": 1.0, "b": 0.8, "c": 0.1}
    volumes = {"a": tree("2"), "c": tree("0.5")}
    for step in (0.025, 1.0, 20.0):

        def residual(x: Any, step: float = step) -> list[float]:
            flux = 0.7 * x[0] * x[1] - 0.3 * x[2]
            return [
                2.0 * (x[0] - 1.0) + step * flux,
                x[1] - 0.8 + step * flux,
                0.5 * (x[2] - 0.1) - step * (flux - 0.01 * x[2] ** 2),
            ]

        made, ended = stepped(Implicit(before, derivatives, (), volumes), begin, step)
        assert ended
        np.testing.assert_allclose(made, fsolve(residual, list(begin.values()), xtol=1e-13), rtol=1e-9)


def test_what_does_not_converge_is_known() -> None:
    """The implicit step of dx/dt = x^2 has no solution where 4 h x > 1."""
    _, ended = stepped(Implicit((), {"x": tree("x**2")}), {"x": 1.0}, 0.1)
    assert ended
    _, ended = stepped(Implicit((), {"x": tree("x**2")}), {"x": 1.0}, 1.0)
    assert not ended


def test_explicit_steps() -> None:
    derivatives = {"x": tree("-k*y"), "y": tree("k*x - 0.1*y**2")}
    before = (Assign("k", tree("2 + x")),)
    begin = np.array([0.4, 0.9])

    def rates(z: Any) -> Any:
        return np.array([-(2 + z[0]) * z[1], (2 + z[0]) * z[0] - 0.1 * z[1] ** 2])

    made, _ = stepped(Explicit(before, derivatives), {"x": 0.4, "y": 0.9}, 0.1)
    np.testing.assert_allclose(made, begin + 0.1 * rates(begin), rtol=1e-14)
    a = rates(begin)
    b = rates(begin + 0.05 * a)
    c = rates(begin + 0.05 * b)
    d = rates(begin + 0.1 * c)
    made, _ = stepped(Explicit(before, derivatives, 4), {"x": 0.4, "y": 0.9}, 0.1)
    np.testing.assert_allclose(made, begin + 0.1 * (a + 2 * b + 2 * c + d) / 6, rtol=1e-14)
