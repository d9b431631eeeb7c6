"""Methods of integration of equations, against independent solutions, with the evaluator of programs over NumPy."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.integrate import solve_ivp

from equation_models import (
    AEIF_COND_EXP,
    FIRING,
    HH_PSC_ALPHA,
    IAF_COND_EXP,
    IAF_PSC_ALPHA,
    IAF_PSC_EXP,
    IZHIKEVICH,
    LEAKY,
    LEAKY_PARAMETERS,
    lowered,
)
from program_oracle import Neurons
from ranvier.equations.program import NeuronProgram
from ranvier.errors import EquationError
from thorough_cases import only

NEVER: dict[str, Any] = {"threshold": "v > 1e6*mV"}


def operations(program: NeuronProgram) -> list[str]:
    return [instruction.op for instruction in program.step.instructions]


def test_the_step_of_iaf_psc_exp_is_as_short_as_that_written_by_hand() -> None:
    """core/models/neurons/iaf_psc_exp.cpp and core/models/neurons/point_neuron.hpp, counted by hand."""
    made = lowered(IAF_PSC_EXP)
    assert made.method == "exact"
    assert made.program.propagators == ()
    counted = operations(made.program)
    by_hand = (
        ["multiply"] * 3
        + ["add"] * 2  # decay * potential + gain_ex * current_ex + gain_in * current_in
        + ["multiply"]
        + ["add"] * 2  # + gain_of_constant * current + drive
        + ["select"]  # unless refractory
        + ["multiply", "add"] * 2  # the synaptic currents and what arrives
        + ["less_equal", "not", "both", "select"]  # threshold and reset
    )
    assert sorted(counted) == sorted(by_hand)


def test_linear_equations_are_exact_for_any_step() -> None:
    """Closed forms of the leaky membrane with exponential currents, also for equal time constants, and a long step."""
    h = 7.3
    made = lowered(IAF_PSC_EXP, **NEVER)
    tau_ex = np.array([2.0, 10.0, 9.9999999, 0.01])
    neurons = Neurons(made.program, 4, h, tau_ex=tau_ex, I_e=100.0, v=-60.0, I_ex=300.0)
    neurons.step(current=50.0)

    def derivatives(t: float, y: Any, tau: float) -> Any:
        return [(-70.0 - y[0]) / 10.0 + (y[1] + 150.0) / 250.0, -y[1] / tau]

    for lane, tau in enumerate(tau_ex):
        begin = [-60.0, 300.0]
        solved = solve_ivp(derivatives, (0.0, h), begin, method="Radau", rtol=1e-11, atol=1e-12, args=(tau,))
        assert neurons["v"][lane] == pytest.approx(solved.y[0, -1], rel=1e-9)


def test_chains_and_circles_take_elements_of_the_propagator() -> None:
    made = lowered(IAF_PSC_ALPHA, **NEVER)
    assert [each.n for each in made.program.propagators] == [3, 3]
    # The other way on which a current acts is closed.
    assert [len(each.outputs) for each in made.program.propagators] == [1, 1]
    neurons = Neurons(made.program, 1, 0.5, x_ex=40.0, x_in=-3.0, tau_in=3.0)
    neurons.step()

    def derivatives(t: float, y: Any) -> Any:
        v, i_ex, x_ex, i_in, x_in = y
        return [(-70 - v) / 10 + (i_ex + i_in) / 250, x_ex - i_ex / 2, -x_ex / 2, x_in - i_in / 3, -x_in / 3]

    solved = solve_ivp(derivatives, (0.0, 0.5), [-70.0, 0.0, 40.0, 0.0, -3.0], rtol=1e-12, atol=1e-12)
    assert neurons["v"][0] == pytest.approx(solved.y[0, -1], rel=1e-11)
    assert neurons["I_ex"][0] == pytest.approx(solved.y[1, -1], rel=1e-11)


RESONATOR = {
    "equations": """
        dv/dt = (E_L - v)/tau_m - w/C_m + I_e/C_m : mV
        dw/dt = (a*(v - E_L) - w)/tau_w : pA
    """,
    "threshold": "v >= V_th",
    "reset": "v = V_reset; w += b",
    "refractory": "t_ref",
    "parameters": {**LEAKY_PARAMETERS, "a": "30 nS", "b": "20 pA", "tau_w": "20 ms"},
}


def test_a_circle_is_exact_and_a_held_variable_is_a_constant_for_others() -> None:
    made = lowered(RESONATOR)
    assert made.method == "exact"
    neurons = Neurons(made.program, 1, 0.1, I_e=900.0)
    free, still = 0, 0
    for _ in range(600):
        v, w, was_refractory = neurons["v"][0], neurons["w"][0], neurons.left[0] > 0

        def derivatives(t: float, y: Any, still: bool = bool(was_refractory)) -> Any:
            dv = (-70 - y[0]) / 10 - y[1] / 250 + 900 / 250
            return [0.0 if still else dv, (30 * (y[0] + 70) - y[1]) / 20]

        fired = neurons.step()[0]
        if fired or (free > 10 and not was_refractory):
            continue
        solved = solve_ivp(derivatives, (0.0, 0.1), [v, w], rtol=1e-12, atol=1e-12)
        assert [neurons["v"][0], neurons["w"][0]] == pytest.approx(solved.y[:, -1], rel=1e-10)
        free, still = free + (not was_refractory), still + bool(was_refractory)
        if still > 30:
            break
    assert free > 5
    assert still > 30


@pytest.mark.parametrize("method", ["euler", "rk4", "adaptive"])
def test_other_methods_converge_to_the_exact_one(method: str) -> None:
    order = {"euler": 1, "rk4": 4, "adaptive": 0}[method]
    errors = []
    for h in (0.2, 0.1):
        exact = Neurons(lowered(RESONATOR, **NEVER).program, 1, h)
        other = Neurons(lowered(RESONATOR, method, 1e-8, **NEVER).program, 1, h)
        for _ in range(round(20.0 / h)):
            exact.step()
            other.step()
        errors.append(abs(exact["v"][0] - other["v"][0]))
    if order:
        assert errors[0] / errors[1] == pytest.approx(2**order, rel=0.1)
    else:
        assert max(errors) < 1e-7


def test_conductances_are_exact_where_others_are_not() -> None:
    for method in ("exponential_euler", "adaptive"):
        neurons = Neurons(lowered(IAF_COND_EXP, method, **NEVER).program, 1, 0.5, g_ex=10.0)
        for _ in range(10):
            neurons.step()
        assert neurons["g_ex"][0] == pytest.approx(10.0 * np.exp(-5.0 / 0.2), rel=1e-12)


def integrated(model: dict[str, Any], begin: list[float], derivatives: Any, time: float) -> Any:
    return solve_ivp(derivatives, (0.0, time), begin, method="DOP853", rtol=1e-12, atol=1e-12).y[:, -1]


@pytest.mark.thorough
def test_adaptive_integration_of_hodgkin_and_huxley_keeps_its_bound() -> None:
    made = lowered(HH_PSC_ALPHA, relative=1e-8)
    assert made.method == "adaptive"
    neurons = Neurons(made.program, 1, 0.1, I_e=700.0)

    def derivatives(t: float, y: Any) -> Any:
        v, m, h, n = y
        current = 12000 * m**3 * h * (50 - v) + 3600 * n**4 * (-77 - v) + 30 * (-54.402 - v) + 700
        a_m = 0.1 * (v + 40) / (1 - np.exp(-(v + 40) / 10))
        a_n = 0.01 * (v + 55) / (1 - np.exp(-(v + 55) / 10))
        b_h = 1 / (1 + np.exp(-(v + 35) / 10))
        return [
            current / 100,
            a_m * (1 - m) - 4 * np.exp(-(v + 65) / 18) * m,
            0.07 * np.exp(-(v + 65) / 20) * (1 - h) - b_h * h,
            a_n * (1 - n) - 0.125 * np.exp(-(v + 65) / 80) * n,
        ]

    fired = [bool(neurons.step()[0]) for _ in range(300)]
    assert sum(fired) == 2
    begin = [-65.0, 0.0529, 0.5961, 0.3177]
    assert [neurons[name][0] for name in "vmhn"] == pytest.approx(integrated({}, begin, derivatives, 30.0), abs=1e-4)


@pytest.mark.parametrize(("current", "steps"), only([(2000.0, 100)], [(2000.0, 100), (700.0, 600)]))
def test_a_neuron_that_fires_within_a_step_goes_on_from_its_reset(current: float, steps: int) -> None:
    """The exponential current would be infinite before the end of the step."""
    neurons = Neurons(lowered(AEIF_COND_EXP, relative=1e-9).program, 2, 0.1, I_e=[current, 0.0], t_ref=[0.0, 0.0])
    fired = np.array([neurons.step() for _ in range(steps)])
    assert fired[:, 0].sum() >= 2
    assert not fired[:, 1].any()
    assert np.all(neurons["v"] < 0.0)

    # The first spike, with the equation until the peak.
    def derivatives(t: float, y: Any) -> Any:
        v, w = y
        return [(30 * (-70.6 - v) + 60 * np.exp((v + 50.4) / 2) - w + current) / 281, (4 * (v + 70.6) - w) / 144]

    def peak(t: float, y: Any) -> float:
        return float(y[0])

    peak.terminal = True  # type: ignore[attr-defined]
    solved = solve_ivp(derivatives, (0.0, 100.0), [-70.6, 0.0], events=peak, rtol=1e-10, atol=1e-10)
    assert np.flatnonzero(fired[:, 0])[0] == int(solved.t_events[0][0] / 0.1)


def test_a_potential_that_explodes_takes_few_turns_and_keeps_its_bound() -> None:
    """dv/dt = v^2: it is infinite after 1/v, and from its reset on what it was is of no account."""
    model = {"equations": "dv/dt = v*v/ms : 1", "threshold": "v > 1e9", "reset": "v = -2"}
    program = lowered(model, "adaptive").program
    most = 160.0  # more than 300 if each part kept its bound relative to the value
    # The first loop adds terms to the series of the whole step.
    *_, parts = (each for each in program.step.instructions if each.body)
    instructions = [replace(each, number=most) if each is parts else each for each in program.step.instructions]
    few = replace(program, step=replace(program.step, instructions=tuple(instructions)))
    begin = np.array([1.0, 10.0 / 9.0, 2.0])
    neurons = Neurons(few, 3, 1.0 + 2.0**-10, v=begin)
    assert neurons.step().all()
    exact = -1.0 / (0.5 + (1.0 + 2.0**-10 - 1.0 / begin))
    assert neurons["v"] == pytest.approx(exact, abs=2e-5)


@pytest.mark.thorough
def test_izhikevich_fires_as_with_small_steps() -> None:
    made = lowered(IZHIKEVICH, relative=1e-9)
    neurons = Neurons(made.program, 1, 0.2, I_e=10.0)
    steps = [i for i in range(1000) if neurons.step()[0]]
    state, u, times = -65.0, -13.0, []
    h = 0.001
    for i in range(200_000):
        slope = 0.04 * state**2 + 5 * state + 140 - u + 10.0
        middle = state + 0.5 * h * slope
        u_middle = u + 0.5 * h * 0.02 * (0.2 * state - u)
        state += h * (0.04 * middle**2 + 5 * middle + 140 - u_middle + 10.0)
        u += h * 0.02 * (0.2 * middle - u_middle)
        if state >= 30.0:
            state, u = -65.0, u + 8.0
            times.append(i * h)
    assert len(steps) == len(times) > 4
    # A spike within a step counts at its end.
    assert np.abs(np.array(steps) * 0.2 + 0.1 - times).max() < 0.11


@pytest.mark.parametrize("steps", only([40], [40, 100]))
def test_each_lane_is_as_it_is_alone(steps: int) -> None:
    """The error bound is that of a neuron: whoever shares its block does not change it."""
    made = lowered(AEIF_COND_EXP).program
    currents = [700.0, 0.0, 3000.0]
    together = Neurons(made, 3, 0.1, I_e=currents)
    alone = [Neurons(made, 1, 0.1, I_e=each) for each in currents]
    for _ in range(steps):
        fired = together.step()
        assert list(fired) == [each.step()[0] for each in alone]
    assert list(together["v"]) == [each["v"][0] for each in alone]


NOISY = {
    "equations": "dv/dt = (E_L - v)/tau_m + sigma*sqrt(2/tau_m)*xi : mV",
    **NEVER,
    "parameters": {"E_L": "-70 mV", "tau_m": "10 ms", "sigma": "2 mV"},
    "initial": {"v": "E_L"},
}


@pytest.mark.parametrize("h", [0.1, 5.0])
def test_linear_noise_is_exact(h: float) -> None:
    """Variance and correlation of the Ornstein-Uhlenbeck process, at a significance of 1e-6."""
    made = lowered(NOISY)
    assert made.method == "exact"
    lanes = 20_000
    generator = np.random.default_rng(5)
    neurons = Neurons(made.program, lanes, h, v=-70.0 + 2.0 * generator.standard_normal(lanes))
    neurons.draws = lambda kind, index: generator.standard_normal(lanes)
    before = neurons["v"]
    neurons.step()
    after = neurons["v"]
    assert np.var(after) == pytest.approx(4.0, rel=5 * np.sqrt(2 / lanes))
    assert np.corrcoef(before, after)[0, 1] == pytest.approx(np.exp(-h / 10.0), abs=5 / np.sqrt(lanes))


def test_euler_and_maruyama_take_noise_of_any_factor() -> None:
    model = {**NOISY, "equations": "dv/dt = (E_L - v)**3/tau_m/mV**2 + sigma*(v/mV)*sqrt(2/tau_m)*xi : mV"}
    made = lowered(model)
    assert made.method == "euler"
    neurons = Neurons(made.program, 1, 0.1, v=-69.0)
    neurons.draws = lambda kind, index: np.array([0.5])
    neurons.step()
    wanted = -69.0 + 0.1 * -0.1 + 2 * -69 * np.sqrt(2 / 10) * np.sqrt(0.1) * 0.5
    assert neurons["v"][0] == pytest.approx(wanted, rel=1e-12)


def test_noises_are_shared_or_of_their_own() -> None:
    model = {
        "equations": """
            dv/dt = mV/ms**0.5*(xi + 2*xi_2) : mV
            da/dt = mV/ms**0.5*xi : mV
            db/dt = 3*mV/ms**0.5*xi_2 : mV
        """,
        "threshold": "v > 1e6*mV",
    }
    neurons = Neurons(lowered(model).program, 1, 0.25)
    neurons.draws = lambda kind, index: np.array([[1.0, 10.0][index]])
    neurons.step()
    assert [neurons[name][0] for name in "vab"] == [0.5 * 21.0, 0.5, 15.0]


def test_random_numbers_in_threshold_and_reset_are_draws_of_their_own() -> None:
    model = {
        "equations": "dv/dt = -v/tau : 1",
        "threshold": "rand() < p",
        "reset": "v = rand() + 2*randn()",
        "parameters": {"tau": "10 ms", "p": 0.5},
    }
    made = lowered(model).program
    draws = [(each.op, each.number) for each in made.step.instructions if each.op.endswith("draw")]
    assert sorted(draws) == [("normal_draw", 2.0), ("uniform_draw", 0.0), ("uniform_draw", 1.0)]
    neurons = Neurons(made, 1, 0.1)
    neurons.draws = lambda kind, index: np.array([[0.25, 0.75, 10.0][index]])
    assert neurons.step()[0]
    assert neurons["v"][0] == 20.75


def test_an_equation_that_is_linear_after_cancelling_is_solved_exactly() -> None:
    """SymPy finds it; the text looks as if it were not linear."""
    equations = "dv/dt = ((E_L - v)*(E_L + v) + v*v - E_L*v)/(E_L*tau_m) : mV"
    made = lowered({"equations": equations, **NEVER, "parameters": {"E_L": "-70 mV", "tau_m": "10 ms"}})
    assert made.method == "exact"
    neurons = Neurons(made.program, 1, 3.0, v=-50.0)
    neurons.step()
    assert neurons["v"][0] == pytest.approx(-70.0 + 20.0 * np.exp(-0.3), rel=1e-12)


@pytest.mark.timeout(60)
def test_gates_whose_rates_saturate_are_not_searched_for_a_linear_form() -> None:
    """A gate of Terman and Rubin's neuron looks linear in the range that is tried, and kept SymPy busy for minutes."""
    equations = """\
dv/dt = (E_L - v)/tau_m : mV
dr/dt = 0.5*(r_inf - r)/(7.1*ms + 17.5*ms/(1 + exp(-(v - 68*mV)/(-2.2*mV)))) : 1
r_inf = 1/(1 + exp(-(v - -67*mV)/(-2*mV))) : 1"""
    values = {"E_L": "-70 mV", "tau_m": "10 ms"}
    assert lowered({"equations": equations, **NEVER, "parameters": values}).method == "adaptive"


@pytest.mark.parametrize(
    ("method", "equations", "place"),
    [
        ("exact", "dv/dt = (E_L - v)*exp(v/E_L)/tau_m : mV", "exp(v/E_L)"),
        ("exact", "a = v*v : mV**2\ndv/dt = (E_L - a/E_L)/tau_m : mV", "v*v"),
        ("exponential_euler", "dv/dt = (E_L - v*v/E_L)/tau_m : mV", "v*v"),
        ("rk4", "dv/dt = (E_L - v)/tau_m + E_L*xi/tau_m**0.5 : mV", "xi"),
        ("adaptive", "dv/dt = (E_L - v)/tau_m + E_L*xi/tau_m**0.5 : mV", "xi"),
        ("euler", "dv/dt = (E_L - v)/tau_m + E_L*(xi*xi) : mV", "xi*xi"),
    ],
)
def test_a_method_that_is_not_possible_names_what_prevents_it(method: str, equations: str, place: str) -> None:
    with pytest.raises(EquationError) as caught:
        lowered({"equations": equations, **NEVER, "parameters": {"E_L": "-70 mV", "tau_m": "10 ms"}}, method)
    assert f"'{place}'" in caught.value.bound
    assert f'method "{method}"' in str(caught.value)
    line, marks = caught.value.place.split("\n")
    assert line[marks.index("^") : marks.rindex("^") + 1] == place


def test_units_that_do_not_fit_the_system_of_calculations() -> None:
    """The same neuron in volt, second, ampere: variables are numbers in the units of their equations."""
    other = {
        "equations": LEAKY.replace(": mV", ": volt"),
        **FIRING,
        "parameters": {
            "E_L": "-0.07 volt",
            "tau_m": "0.01 second",
            "C_m": "0.25 nF",
            "V_th": "-55000 uV",
            "V_reset": "-0.07 volt",
            "t_ref": "0.002 s",
            "I_e": "0.5 nA",
        },
    }
    there = Neurons(lowered({"equations": LEAKY, **FIRING, "parameters": LEAKY_PARAMETERS}).program, 1, 0.1)
    here = Neurons(lowered(other).program, 1, 0.1)
    assert here.program.variables[0].unit == "volt"
    for _ in range(500):
        assert here.step()[0] == there.step()[0]
        assert here["v"][0] == pytest.approx(1e-3 * there["v"][0], rel=1e-12)
    adaptive = Neurons(lowered(other, "adaptive", 1e-9).program, 1, 0.1)
    for _ in range(100):
        adaptive.step()
    assert adaptive["v"][0] == pytest.approx(-0.07 + 0.02 * (1 - np.exp(-1.0)), rel=1e-8)
