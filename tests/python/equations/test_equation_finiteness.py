"""What is not finite is an error where it arises, also where it would vanish: in a maximum, a comparison or a reset."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from ranvier.errors import StateError, ValueOutOfBoundsError
from thorough_cases import one_of_each

FALLING = "\ndu/dt = -1/ms : 1"
NEVER: dict[str, Any] = {"threshold": "v > 1e9", "reset": "v = 0", "initial": {"u": 0.25}}
METHODS = ("euler", "rk4", "adaptive", "exponential_euler")


def run(model: rv.EquationNeuron, duration: float = 1.0, programs: Any = "compiled", **values: Any) -> dict[str, Any]:
    net = rv.Network()
    cells = net.create(model, 100, **values)
    spikes = net.record_spikes(cells)
    sim = rv.Simulation(net, threads=1, tuning=rv.Tuning(programs=programs))
    sim.run(duration)
    found: dict[str, Any] = {"spikes": sim.spikes(spikes).times}
    return {**found, **sim.get(cells, list(model.variables))}


HIDING = [
    "max({}, 0)",
    "min(0, {})",
    "clip({}, 0, 1)",
    "sign({})",
    "int({} > 0)",
    "where({} < 2, 1, 0)",
    "1/(1 + abs({}))",
]
UNDEFINED = ["sqrt(u)", "log(u)", "u**0.3", "log1p(u - 1)"]


@pytest.mark.parametrize(("hiding", "undefined"), one_of_each(HIDING, UNDEFINED))
def test_what_would_vanish_is_an_error_at_its_time(hiding: str, undefined: str) -> None:
    """The variable u is negative from 0.3 ms on."""
    if hiding.startswith("1/") and undefined != "log(u)":
        hiding = "exp(-1/max({}, -1))"
    equations = f"dv/dt = {hiding.format(undefined)}/ms : 1{FALLING}"
    model = rv.neuron(equations, **NEVER, method="euler")
    with pytest.raises(StateError) as caught:
        run(model, u=np.where(np.arange(100) == 37, 0.25, 5.0))
    assert "neuron 37 of population" in str(caught.value)
    assert f"'{undefined}' (the equations, line 1, column " in str(caught.value)
    assert caught.value.bound.endswith("at 0.4 ms")


@pytest.mark.parametrize("programs", ["compiled", "interpreted"])
@pytest.mark.parametrize("method", METHODS)
def test_each_method_looks_for_it(method: Any, programs: Any) -> None:
    equations = "dv/dt = -v/ms + max(sqrt(u), 0)/ms : 1" + FALLING
    with pytest.raises(StateError, match=r"'sqrt\(u\)' \(the equations, line 1, column 21\)"):
        run(rv.neuron(equations, **NEVER, method=method), programs=programs)


@pytest.mark.parametrize("threshold", ["v > sqrt(u)", "sqrt(u) < v or v > 1e9", "before(v) > log(u)"])
def test_a_threshold_that_is_not_a_number_is_an_error(threshold: str) -> None:
    model = rv.neuron("dv/dt = -v/ms : 1" + FALLING, threshold=threshold, reset="v = -9", initial={"u": 0.25})
    with pytest.raises(StateError, match="the threshold, line 1"):
        run(model)


def test_an_infinite_potential_that_a_reset_would_forget_is_an_error() -> None:
    model = rv.neuron(
        "dv/dt = 1/(u*ms) : 1\ndu/dt = 0/ms : 1", threshold="v > 100", reset="v = 0", initial={"u": 1.0}, method="euler"
    )
    assert len(run(model)["spikes"]) == 0
    with pytest.raises(StateError, match=r"'1/\(u\*ms\)'"):
        run(model, u=np.arange(100.0))


@pytest.mark.parametrize("method", ["euler", "rk4", "adaptive"])
def test_what_a_condition_has_not_chosen_does_not_matter(method: Any) -> None:
    """Also in a maximum, and by way of a subexpression."""
    equations = "s = log(u) : 1\ndv/dt = max(where(u > 0.01, s, 0), -1)/ms + (1/u if u != 0 else 0)*0/ms : 1" + FALLING
    assert np.isfinite(run(rv.neuron(equations, **NEVER, method=method), 2.0)["v"]).all()


@pytest.mark.parametrize("method", ["euler", "rk4", "adaptive"])
def test_a_potential_that_explodes_ends_as_a_spike(method: Any) -> None:
    """Overflow is no error: a quadratic neuron, whose equation divides by what cannot be 0."""
    model = rv.neuron(
        "dv/dt = (v*v + 1/(1 + exp(-v)))/ms : 1",
        threshold="v > 30",
        reset="v = -10",
        initial={"v": 1e150},
        method=method,
    )
    found = run(model, 50.0)
    assert len(found["spikes"]) > 100
    assert np.isfinite(found["v"]).all()


@pytest.mark.parametrize(
    "equation",
    [
        "dv/dt = (v*v/(1 + exp(-v)) + max(1/(2 + u*u), 0) + sqrt(abs(u)))/ms",
        "dv/dt = max(log(1 + u*u), 1/max(u, 0.5))/ms + clip(v/(3 + uu), 0, 1)/ms",
        "dv/dt = -v/ms + abs(n)*1e-9/ms : 1\ndn/dt = (1 - n)*log(u)/ms",  # it makes n infinite, which is found
    ],
)
def test_what_cannot_vanish_costs_nothing(equation: str) -> None:
    model = rv.neuron(f"{equation} : 1\nuu = exp(u) : 1{FALLING}", **NEVER, method="euler")
    assert len(model.program.step.results) == len(model.program.variables) + 1
    assert model.program.failure == ""


def test_library_models_cost_nothing() -> None:
    """Only loops of adaptive integration tell whether they have ended."""
    for model in (rv.aeif_cond_exp(), rv.hh_psc_alpha(), rv.glif_cond(), rv.gif_psc_exp(), rv.izhikevich()):
        program = model.program
        assert len(program.step.results) == len(program.variables) + 1 + (model.method == "adaptive")
        assert "finite" not in program.failure


@pytest.mark.parametrize(
    ("softplus", "method"),
    one_of_each(
        ["log(1 + exp(u))", "log1p(exp(u))", "sqrt(exp(u))", "exp(u)**0.1", "log(2 + where(u > 0, exp(u), 0))"],
        ["euler", "rk4", "adaptive"],
    ),
)
def test_exponentials_that_end_are_an_error_where_this_does_not_show(softplus: str, method: Any) -> None:
    """They end at exp(700): log(1 + exp(u)) would be 700 for u = 1700."""
    model = rv.neuron(
        f"dv/dt = {softplus}*1e-99/ms : 1\ndu/dt = 400/ms : 1",
        threshold="v > 1e99",
        reset="v = 0",
        initial={"u": 600.0},
        method=method,
    )
    run(model, 0.2)
    with pytest.raises(
        StateError, match=r"'exp\(u\)' \(the equations, .*\) is not a finite number, or above exp\(700\)"
    ):
        run(model, 0.4)


@pytest.mark.parametrize(
    "equation",
    [
        "dv/dt = log(1 + exp(-abs(u)))/ms",
        "dv/dt = (max(u, 0) + log1p(exp(-abs(u))))/ms",  # the softplus that is right for each u
        "dv/dt = log(1 + exp(min(u, 500)))/ms",
        "dv/dt = 1/(1 + exp(u))/ms + exp(u)/(1 + exp(u))/ms",
        "dv/dt = log(2 + int(exp(u) > 3))/ms",
    ],
)
def test_exponentials_that_end_harmlessly_cost_nothing(equation: str) -> None:
    model = rv.neuron(f"{equation} : 1{FALLING}", **NEVER, method="euler")
    assert model.program.failure == ""


GUARDED = [
    ("where(p > 0, log(p), 0)", np.log),
    ("where(p != 0, 1/p, 0)", lambda p: 1 / p),
    ("(0 if p <= 0 else sqrt(p) + p**(-1))", lambda p: np.sqrt(p) + 1 / p),
    ("where(not (p <= 0 or u > 9), log(p) + u/p, 0)", lambda p: np.log(p) + 0.25 / p),
    ("where(p > 0 and u < 9, p**0.3, 0)", lambda p: p**0.3),
    ("where(p > 1, log(p - 1), where(p > 0, log(p), 0))", lambda p: np.log(np.where(p > 1, p - 1, p))),
    ("where(p > 0, max(log(p), -9), 0)", np.log),
]


@pytest.mark.parametrize(("guarded", "wanted", "method"), one_of_each(GUARDED, ["euler", "rk4", "adaptive"]))
def test_what_a_condition_on_parameters_has_not_chosen_is_not_refused(guarded: str, wanted: Any, method: Any) -> None:
    equations = f"dv/dt = s/ms : 1\ns = {guarded} : 1\ndu/dt = 0/ms : 1"
    model = rv.neuron(equations, **NEVER, parameters={"p": 2.0}, method=method)
    p = np.array([2.0, 3.5, 0.0, 0.5] if "!=" in guarded else [2.0, 3.5, -1.0, 0.5, 0.0])
    with np.errstate(all="ignore"):
        expected = np.where(p > 0, wanted(p), 0.0)
    net = rv.Network(resolution=0.5)
    cells = net.create(model, len(p), p=p)
    sim = rv.Simulation(net)
    sim.run(0.5)
    np.testing.assert_allclose(sim.get(cells, "v"), 0.5 * expected, rtol=1e-12)
    sim.set(cells, p=0.0)
    sim.run(0.5)
    np.testing.assert_allclose(sim.get(cells, "v"), 0.5 * expected, rtol=1e-12)


@pytest.mark.parametrize(
    ("equation", "words"),
    [
        ("where(u > 0, log(p), 0)", "log takes"),
        ("where(p < 1, log(p), 0)", "log takes"),
        ("where(p > -1, 1/p, 0)", "by which '1/p' is divided"),
        ("where(p > 0, 1, 0) + sqrt(p - 1)", "sqrt takes"),
        ("max(p**(-1), 0)", "divides by 0"),
        ("where(u > 0 or p > 0, p**(-2), 0)", "divides by 0"),
        ("where(p > 0, 1, p**0.3)", ""),
        ("where(p > 0, 1, (p - 1)**0.3)", "is not a number"),
    ],
)
def test_what_may_be_chosen_is_refused(equation: str, words: str) -> None:
    model = rv.neuron(f"dv/dt = ({equation})/ms : 1\ndu/dt = 0/ms : 1", **NEVER, parameters={"p": 2.0}, method="euler")
    if words:
        with pytest.raises(ValueOutOfBoundsError, match=re.escape(words)):
            run(model, p=np.where(np.arange(100) == 37, 0.0, 2.0))
    else:
        run(model, p=np.where(np.arange(100) == 37, 0.0, 2.0))


TWO = "dx/dt = -x/tau : 1\ndy/dt = -y/tau : 1"


@pytest.mark.parametrize(
    ("event", "words"),
    [
        ("w = clip(w*x/y, 0, W)", "on_pre may divide by 0"),
        ("w = max(min(w*y/x, W), 0)", "on_pre may divide by 0"),
        ("w = clip(w + log(y), 0, W)", "logarithm"),
        ("w = clip(w + sqrt(y - 1), 0, W)", "root"),
        ("w = clip(w + y**(-0.5), 0, W)", "power"),
        ("w = W if y*y/y > 1 else clip(w - 1, 0, W)", "may divide by 0"),
        ("w = clip(w + exp(-1/y), 0, W)", "may divide by 0"),
        ("w = clip(w + where(y >= 0, 1/y, 0), 0, W)", "may divide by 0"),
        ("w = clip(w/(1 + y), 0, W)", ""),
        ("w = clip(w + where(y > 0, x/y, 0), 0, W)", ""),
        ("w = clip(w + x/(y + int(y == 0)), 0, W)", ""),
        ("w = clip(w + (0 if y <= 0 or y > 3 else log(y)), 0, W)", ""),
        ("w = clip(w + (log(y) if y > 0.1 and not y > 3 else 0), 0, W)", ""),
        ("w = clip(w + where(W < 0, log(W), y), 0, W)", ""),
        ("w = clip(w + log(1 + y) - sqrt(y) + 1/max(y, 1e-6), 0, W)", ""),
    ],
)
def test_synapses_that_may_divide_by_0_are_refused(event: str, words: str) -> None:
    model = rv.synapse(
        TWO, on_pre=f"{event}; x += 1", on_post="w = clip(w + x, 0, W); y += 1", parameters={"tau": "20 ms", "W": 100.0}
    )
    net = rv.Network()
    cells = net.create(rv.iaf_psc_exp(), 2)
    if words:
        with pytest.raises(ValueOutOfBoundsError, match=words):
            net.connect(cells, cells, rv.AllToAll(), weight=10.0, delay=1.0, synapse=model)
        return
    net.connect(cells, cells, rv.AllToAll(), weight=10.0, delay=1.0, synapse=model)


@pytest.mark.parametrize(
    ("event", "words"),
    [
        ("u += U*(1 - u); release = clip(u/x, 0, 1); x -= release", "may divide by 0"),
        ("u = max(sqrt(u - 1), 0); release = clip(u*x, 0, 1); x -= release", "root"),
        ("u += U*(1 - u); release = clip(where(x > 0, u/x, 0), 0, 1); x -= release", ""),
    ],
)
def test_releases_that_may_divide_by_0_are_refused(event: str, words: str) -> None:
    equations = "du/dt = -u/tau : 1\ndx/dt = (1 - x)/tau : 1"
    model = rv.synapse(equations, on_pre=event, parameters={"tau": "50 ms", "U": 0.5})
    net = rv.Network()
    cells = net.create(rv.iaf_psc_exp(), 2)
    if words:
        with pytest.raises(ValueOutOfBoundsError, match=words):
            net.connect(cells, cells, rv.AllToAll(), weight=10.0, delay=1.0, synapse=model)
        return
    net.connect(cells, cells, rv.AllToAll(), weight=10.0, delay=1.0, synapse=model)


@pytest.mark.parametrize("method", ["rk4", "adaptive"])
def test_the_same_model_makes_the_same_program(method: Any) -> None:
    """Programs followed the order of a set, so that saved states and other processes refused the same network."""
    others, programs = [], []
    for count in range(4):
        others.append([object() for _ in range(100 * count)])
        model = rv.neuron(
            "dv/dt = (E - v + 0.1*(v - V_T)**2 - w + I + g*(E - v) + where(w > 0, log(w), 0))/tau : 1\n"
            "dw/dt = (a*(v - E) - w)/tau : 1\n"
            "dg/dt = -g/tau : 1",
            threshold="v >= V_T + 15",
            reset="v = V_R; w += b",
            refractory="2 ms",
            receptors={"excitatory": "g += weight"},
            initial={"v": "E"},
            parameters={"E": -70.0, "V_T": -50.0, "V_R": -58.0, "I": 15.0, "a": 0.2, "b": 4.0, "tau": "20 ms"},
            method=method,
        )
        programs.append(model.program)
    assert programs == [programs[0]] * 4


@pytest.mark.parametrize(
    ("sigmoid", "method"),
    one_of_each(["tanh(1000*x)", "exp(1000*x)/(1 + exp(1000*x))"], ["euler", "rk4", "adaptive"]),
)
def test_steep_sigmoids_before_a_logarithm_are_no_error(sigmoid: str, method: Any) -> None:
    """Their exponentials end at exp(700), but their limits are correct, also where a later stage takes a logarithm."""
    model = rv.neuron(
        f"dx/dt = 1/tau : 1\ndw/dt = (2 + {sigmoid} - w)/tau : 1\ndy/dt = (max(log(w), 0) - y)/tau : 1",
        threshold="y > 1e9",
        reset="y = 0",
        parameters={"tau": "1 ms"},
        initial={"x": -2.0, "w": 2.0},
        method=method,
    )
    found = run(model, 10.0)
    assert found["w"] == pytest.approx(3.0, abs=2e-3)
    assert found["y"] == pytest.approx(np.log(3.0), abs=5e-3)
