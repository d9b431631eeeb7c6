"""Taylor's method of adaptive integration: against SciPy, and where equations have no series."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from equation_models import lowered
from program_oracle import Neurons
from ranvier.equations.program import NeuronProgram, Program
from thorough_cases import every, only

NEVER = {"threshold": "v > 1e6"}
# In which v goes on from 0.3 for 0.8 ms; the second is the same for SciPy.
SMOOTH: dict[str, Any] = {
    "exp(-v)": lambda v: np.exp(-v),
    "expm1(-2*v) + 1.5": lambda v: np.expm1(-2 * v) + 1.5,
    "exp(-v*v)": lambda v: np.exp(-v * v),
    "tanh(3*v - 1)": lambda v: np.tanh(3 * v - 1),
    "sin(2*v) + cos(v)**2": lambda v: np.sin(2 * v) + np.cos(v) ** 2,
    "sqrt(v + 0.1)": lambda v: np.sqrt(v + 0.1),
    "log(v + 1.5)": lambda v: np.log(v + 1.5),
    "(v + 0.2)**3": lambda v: (v + 0.2) ** 3,
    "1/(v + 0.5)": lambda v: 1 / (v + 0.5),
    "(v + 0.5)**-2": lambda v: (v + 0.5) ** -2.0,
    "(1 - v)*(v + 2)/(1 + v**2)": lambda v: (1 - v) * (v + 2) / (1 + v**2),
    "v**7 - v**2*(1 - v)": lambda v: v**7 - v**2 * (1 - v),
    "where(on > 0, exp(-v), v)": lambda v: np.exp(-v),
    "-v*exp(sin(v)/(2 + v))": lambda v: -v * np.exp(np.sin(v) / (2 + v)),
}
WITHOUT_SERIES: dict[str, Any] = {
    "1/exprel(-v)": lambda v: -v / np.expm1(-v),
    "abs(v - 0.5)": lambda v: np.abs(v - 0.5),
    "max(v, 0.4)": lambda v: np.maximum(v, 0.4),
    "v**1.5": lambda v: v**1.5,
    "where(v > 0.5, 1 - v, 1)": lambda v: np.where(v > 0.5, 1 - v, 1.0),
}


def program_of(rate: str) -> NeuronProgram:
    model = {"equations": f"dv/dt = ({rate})/ms : 1", "parameters": {"on": 1.0}, **NEVER}
    return lowered(model, "adaptive", relative=1e-10).program


def bodies(program: NeuronProgram) -> list[Program]:
    """Return the bodies of the loops of a step."""
    return [each.body for each in program.step.instructions if each.body is not None]


def stages(program: NeuronProgram) -> int:
    """Return how often a rate is calculated in a turn of the loop: it begins with a difference of its own."""
    (body,) = bodies(program)
    return sum(each.op == "over_expm1" for each in body.instructions)


@pytest.mark.parametrize("rate", every(3, [*SMOOTH, *WITHOUT_SERIES]))
def test_one_step_is_as_exact_as_its_tolerance(rate: str) -> None:
    exact = {**SMOOTH, **WITHOUT_SERIES}[rate]
    neurons = Neurons(program_of(rate), 1, 0.8, v=0.3)
    neurons.step()
    solved = solve_ivp(lambda _, v: exact(v), (0.0, 0.8), [0.3], method="Radau", rtol=1e-11, atol=1e-12, max_step=0.01)
    # The sum of errors of all parts; at a kink each part halves until it is very short.
    assert neurons["v"][0] == pytest.approx(solved.y[0, -1], abs=2e-9 if rate in SMOOTH else 2e-8)


@pytest.mark.parametrize("rate", SMOOTH)
def test_what_is_smooth_has_each_function_once(rate: str) -> None:
    """Other methods calculate it in each stage."""
    functions = ("exp", "expm1", "sine_of_cycles", "square_root", "log")
    program = program_of(rate)
    loops = bodies(program)
    # Where there are exponentials, one of the loops checks for steep upstrokes within the step.
    assert len(loops) == (3 if any(name in rate for name in ("exp", "tanh")) else 2)
    for own in (program.step, *loops):
        counts = [sum(each.op == function for each in own.instructions) for function in functions]
        # A sine comes with its cosine.
        assert sum(counts) <= (4 if "cos" in rate else 3 if "exp(sin" in rate else 2 if "sin" in rate else 1)


def test_what_is_not_smooth_has_stages() -> None:
    assert stages(program_of("1/exprel(-v)")) == 6


def test_coupled_variables_and_one_that_is_held() -> None:
    """V_m is held while the neuron is refractory; w goes on, and depends on it."""
    model = {
        "equations": "dv/dt = (v*(g - w) + exp(v) - 2)/ms : 1 (unless refractory)\n"
        "dw/dt = (v*v*w - w)/ms : 1\ndg/dt = -g/tau : 1",
        "threshold": "v > 100",
        "reset": "v = 0.5",
        "refractory": "3*ms",
        "parameters": {"tau": "0.5 ms"},
    }
    made = lowered(model, "adaptive", relative=1e-10)
    for refractory in (False, True):
        neurons = Neurons(made.program, 1, 0.5, v=0.4, w=0.7, g=1.5)
        if refractory:
            neurons.left = np.array([2])
        neurons.step()

        def derivatives(_: float, y: Any, held: bool = refractory) -> Any:
            v, w, g = y
            return [0.0 if held else v * (g - w) + np.exp(v) - 2, v * v * w - w, -g / 0.5]

        solved = solve_ivp(derivatives, (0.0, 0.5), [0.4, 0.7, 1.5], rtol=1e-12, atol=1e-12)
        assert [neurons[name][0] for name in "vwg"] == pytest.approx(solved.y[:, -1], abs=1e-9)


def test_a_term_that_is_zero_by_chance_is_no_small_error() -> None:
    """dv/dt = cos(k t) with the time as a variable: at its begin each second coefficient is 0."""
    model = {"equations": "dv/dt = cos(20*s)/ms : 1\nds/dt = 1/ms : 1", **NEVER}
    neurons = Neurons(lowered(model, "adaptive", relative=1e-9).program, 1, 1.0, v=0.0, s=0.0)
    neurons.step()
    assert neurons["v"][0] == pytest.approx(np.sin(20.0) / 20.0, abs=1e-7)


@pytest.mark.parametrize("depth", only([25], [25, 45]))
def test_functions_of_functions_of_functions_have_series(depth: int) -> None:
    deep = "v"
    for _ in range(depth):
        deep = f"tanh(v + {deep})"
    neurons = Neurons(program_of(deep), 1, 0.1, v=0.3)
    neurons.step()
    value = 0.3

    def rate(v: float) -> float:
        made = v
        for _ in range(depth):
            made = float(np.tanh(v + made))
        return made

    for _ in range(1000):
        middle = value + 0.00005 * rate(value)
        value += 0.0001 * rate(middle)
    assert neurons["v"][0] == pytest.approx(value, abs=1e-8)
