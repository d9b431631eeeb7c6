"""Programs of general mechanisms, against NumPy and SciPy."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from program_oracle import evaluate
from ranvier.channels.derivatives import derivative
from ranvier.channels.general import EXTERNAL, Assign, GeneralCurrent, GeneralDescription, GeneralState
from ranvier.channels.general_integration import Advance
from ranvier.channels.general_lowering import lower_general
from ranvier.channels.general_scope import ProgramScope
from ranvier.equations.description import Declared, Parameter
from ranvier.equations.places import Source
from ranvier.equations.program import Program
from ranvier.equations.trees import FUNCTIONS, Node, parse
from ranvier.equations.units import UNITS


def tree(text: str) -> Node:
    return parse(Source("a test", text), 0, len(text))


def assign(text: str) -> Assign:
    name, _, right = text.partition("=")
    return Assign(name.strip(), tree(right))


def described(**given: Any) -> GeneralDescription:
    fixed: dict[str, Any] = {"name": "test", "summary": "", "text": "", "reference": "", "initial": (), "currents": ()}
    return GeneralDescription(**{**fixed, **given})


def inputs(states: Iterable[float], parameters: Iterable[float], **external: float) -> list[float]:
    return [*states, *(external.get(name, 0.0) for name in EXTERNAL), *parameters]


def run(program: Program, values: Iterable[float], lanes: int = 1) -> list[Any]:
    return [np.broadcast_to(each, (lanes,)) for each in evaluate(program, [np.full(lanes, each) for each in values])]


@pytest.mark.parametrize("seed", range(60))
def test_derivatives_are_those_of_differences(seed: int) -> None:
    """Of random expressions."""
    random = np.random.default_rng(seed)
    one = [each for each, count in FUNCTIONS.items() if count == 1 and each not in ("before", "int", "floor", "ceil")]

    def text(depth: int) -> str:
        if depth == 0:
            return str(random.choice(["x", "y", "0.7", "1.3"]))
        kind = random.integers(6)
        a, b = text(depth - 1), text(depth - 1)
        if kind < 3:
            return f"({a} {random.choice(['+', '-', '*'])} {b})"
        if kind == 3:
            return f"({a}/(2.1 + ({b})**2))"
        if kind == 4:
            return f"where({a} < {b}, {a}*{b}, {b}**3)"
        name = random.choice(one)
        return f"{name}(2.2 + sin({a}))" if name in ("log", "log10", "log1p", "sqrt") else f"{name}(sin({a})*0.9)"

    node = tree(f"x*{text(3)} + x**2.5 + 2**x")
    assert found_slope(node, 0.8) == pytest.approx(difference(node, 0.8), rel=1e-6, abs=1e-6)


def found_slope(node: Node, at: float) -> float:
    place = node.place
    slope = derivative(node, {"x": Node("number", place, number=1.0)})
    assert slope is not None
    return value_of(slope, at)


def value_of(node: Node, at: float) -> float:
    scope = ProgramScope(["x", "y"], [], {})
    return float(run(scope.finished([(scope.value(node), 0)]), inputs([at, 0.4], []))[0][0])


def difference(node: Node, at: float) -> float:
    h = 1e-6
    return (value_of(node, at + h) - value_of(node, at - h)) / (2 * h)


@pytest.mark.parametrize("x", [0.0, 1e-12, 1e-5, -0.0099, 0.0101, 0.5, -30.0, 30.0])
def test_slope_of_a_flux_is_right_through_its_singular_point(x: float) -> None:
    """Of the equation of Goldman, Hodgkin and Katz, as 1/exprel."""
    node = tree("3 - 2/exprel(x)")
    if abs(x) < 0.1:
        exact = 2 * (0.5 - x / 6 + x**3 / 180)
        assert found_slope(node, x) == pytest.approx(exact, rel=1e-10)
    else:
        assert found_slope(node, x) == pytest.approx(difference(node, x), rel=1e-6, abs=1e-9)


def test_currents_come_with_slopes_through_locals_that_are_set_again() -> None:
    read = described(
        parameters={"g": Parameter("g", Declared(0.1, UNITS["mV"]))},
        states={"m": GeneralState("m")},
        step=(),
        current=(assign("x = v*m"), assign("x = x*x + g"), assign("ik = g*x*(v + 70)"), assign("il = 0.5*(v - 3)")),
        currents=(GeneralCurrent("ik"), GeneralCurrent("il")),
    )
    found = run(lower_general(read).current, inputs([0.3], [0.1], v=-50.0))
    x = (-15.0) ** 2 + 0.1
    ik, il = (0.1 * x * 20, 0.1 * (2 * -15.0 * 0.3 * 20 + x)), (0.5 * -53, 0.5)
    both = (ik[0] + il[0], ik[1] + il[1])
    assert [each[0] for each in found] == pytest.approx([*both, *ik, *il], rel=1e-12)


def advanced(
    states: str,
    before: Sequence[str],
    derivatives: dict[str, str],
    step: float,
    steps: int,
    values: list[float],
    **external: float,
) -> Any:
    read = described(
        parameters={},
        states={name: GeneralState(name) for name in states},
        step=(Advance(tuple(assign(each) for each in before), {n: tree(t) for n, t in derivatives.items()}),),
        current=(),
    )
    program = lower_general(read).step
    for _ in range(steps):
        values = [each[0] for each in run(program, inputs(values, [], dt=step, **external))]
    return np.array(values)


def test_a_linear_state_advances_exactly() -> None:
    found = advanced("x", ["tau = 3 + 0.1*v"], {"x": "(0.2 - x)/tau"}, 0.5, 7, [0.9], v=-10.0)
    assert found[0] == pytest.approx(0.2 + 0.7 * np.exp(-3.5 / 2.0), rel=1e-13)


def test_coupled_states_advance_in_second_order() -> None:
    """A scheme with four states and a nonlinear one, from 0.5 ms steps to a quarter of these."""
    equations = {"a": "-k*a*b + 0.3*c", "b": "-k*a*b + 0.3*c - 0.1*b**2", "c": "k*a*b - 0.3*c", "d": "c - 2*d"}

    def right(_: float, y: Any) -> Any:
        a, b, c, d = y
        flow = 1.2 * a * b - 0.3 * c
        return [-flow, -flow - 0.1 * b**2, flow, c - 2 * d]

    exact = solve_ivp(right, (0, 4), [1.0, 0.8, 0.0, 0.1], rtol=1e-11, atol=1e-13).y[:, -1]
    errors = []
    for h in (0.2, 0.1, 0.05):
        found = advanced("abcd", ["k = 0.6*v"], equations, h, round(4 / h), [1.0, 0.8, 0.0, 0.1], v=2.0)
        errors.append(np.abs(found - exact).max())
    assert errors[0] / errors[1] == pytest.approx(4, abs=0.5)
    assert errors[1] / errors[2] == pytest.approx(4, abs=0.3)


def test_stiff_coupled_states_stay_bounded() -> None:
    found = advanced("xy", [], {"x": "1e6*(y - x)", "y": "x - y"}, 1.0, 50, [1.0, 0.0])
    assert found == pytest.approx([found.mean()] * 2, rel=1e-5)


def test_names_of_a_mechanism_stand_before_those_of_its_place() -> None:
    """A state, a parameter and a local that are called as what programs may read."""
    read = described(
        parameters={"diam": Parameter("diam", Declared(3.0, UNITS["mV"]))},
        states={"cai": GeneralState("cai"), "area": GeneralState("area")},
        step=(assign("cai = cai*diam + area"), assign("dt = cai + 1"), assign("area = dt")),
        current=(),
        calcium="cai",
    )
    found = run(lower_general(read).step, inputs([2.0, 5.0], [3.0], cai=100.0, diam=200.0, area=300.0, dt=400.0))
    assert [each[0] for each in found] == [11.0, 12.0]
