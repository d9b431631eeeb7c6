"""Models of the library with another method of integration than their own, and with other error bounds."""

from __future__ import annotations

import inspect
import pickle
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from ranvier.equations.library import INTEGRATION, is_integrated
from ranvier.equations.neurons import NAMES
from thorough_cases import every

METHODS = ("adaptive", "exponential_euler", "rk4", "euler")


def potential_after(model: rv.EquationNeuron, resolution: float, time: float = 20.0) -> float:
    """Return the potential of a neuron that conductances drive, far below its threshold."""
    net = rv.Network(resolution=resolution)
    cell = net.create(model(g_ex=8.0, g_in=3.0, tau_syn_ex=5.0, tau_syn_in=8.0, I_e=50.0), 1)
    sim = rv.Simulation(net, threads=1)
    sim.run(time)
    return float(sim.get(cell, "V_m")[0])


@pytest.mark.parametrize(("method", "order"), [("exponential_euler", 1), ("euler", 1), ("rk4", 4)])
def test_errors_shrink_with_the_order_of_the_method(method: str, order: int) -> None:
    exact = potential_after(rv.iaf_cond_exp(relative_tolerance=1e-12, absolute_tolerance=1e-12), 0.1)
    errors = [abs(potential_after(rv.iaf_cond_exp(method=method), h) - exact) for h in (1.0, 0.5)]
    assert errors[1] > 1e-9, "it is not the adaptive method"
    # Of the order, within what the next one adds.
    assert errors[0] / errors[1] == pytest.approx(2.0**order, rel=0.35)


def test_error_bounds_are_those_that_were_given() -> None:
    exact = potential_after(rv.iaf_cond_exp(relative_tolerance=1e-12, absolute_tolerance=1e-12), 10.0)
    errors = [
        abs(potential_after(rv.iaf_cond_exp(relative_tolerance=bound, absolute_tolerance=bound), 10.0) - exact)
        for bound in (1e-2, 1e-6)
    ]
    assert errors[0] > 100.0 * errors[1]
    assert errors[1] < 1e-4
    of_one = rv.iaf_cond_exp(relative_tolerance=1e-12, absolute_tolerance={"V_m": 1e-12})
    assert of_one == rv.iaf_cond_exp(relative_tolerance=1e-12, absolute_tolerance={"V_m": 1e-12, "g_ex": 1e-6})
    assert of_one != rv.iaf_cond_exp(relative_tolerance=1e-12)


@pytest.mark.parametrize("name", every(3, NAMES))
def test_models_that_are_solved_exactly_have_no_method(name: str) -> None:
    kind = getattr(rv, name)
    keywords = inspect.signature(kind).parameters
    assert all((each in keywords) == is_integrated(name) for each in INTEGRATION)
    if not is_integrated(name):
        with pytest.raises(rv.errors.UnknownNameError, match="method"):
            kind(method="adaptive")
        return
    assert kind(method=keywords["method"].default) == kind()
    for method in METHODS:
        # The potential has an exponential or a square in its own equation.
        if method == "exponential_euler" and name.startswith(("aeif", "izhikevich", "iaf_wang")):
            with pytest.raises(rv.errors.EquationError, match="not linear in V_m"):
                kind(method=method)
            continue
        model = kind(method=method)
        assert model.method == method
        again = pickle.loads(pickle.dumps(model))
        assert again == model
        assert again.method == method


def test_it_is_shown_and_kept() -> None:
    model = rv.iaf_cond_exp(method="exponential_euler", I_e=300.0)
    assert repr(model) == "iaf_cond_exp(I_e=300.0, method='exponential_euler')"
    assert model(I_e=2.0).method == "exponential_euler"
    assert repr(rv.iaf_cond_exp(method="adaptive", relative_tolerance=1e-8)) == "iaf_cond_exp(relative_tolerance=1e-08)"
    text = repr(rv.aeif_cond_exp(absolute_tolerance={"V_m": 1e-3}))
    assert text == "aeif_cond_exp(absolute_tolerance={'V_m': 0.001})"
    net = rv.Network()
    driven = {"g_ex": 8.0, "tau_syn_ex": 5.0}
    first, second = (net.create(each(**driven), 2) for each in (model, rv.iaf_cond_exp(I_e=300.0)))
    sim = rv.Simulation(pickle.loads(pickle.dumps(net)), threads=1)
    sim.run(10.0)
    potentials = [sim.get(sim.network[each.name], "V_m") for each in (first, second)]
    assert potentials[0] == pytest.approx(potentials[1], abs=0.1)
    assert not np.array_equal(potentials[0], potentials[1])


@pytest.mark.parametrize(
    ("values", "error", "text"),
    [
        ({"method": "exact"}, rv.errors.UnknownNameError, "adaptive, exponential_euler, rk4, euler"),
        ({"method": 3}, rv.errors.WrongTypeError, "int"),
        ({"method": "rk4", "relative_tolerance": 1e-3}, rv.errors.ValueOutOfBoundsError, "no error bound"),
        ({"method": "euler", "absolute_tolerance": {"V_m": 1.0}}, rv.errors.ValueOutOfBoundsError, "no error bound"),
        ({"relative_tolerance": 1e-20}, rv.errors.ValueOutOfBoundsError, ">= 1e-13"),
        ({"relative_tolerance": float("nan")}, rv.errors.RanvierError, "relative_tolerance"),
        ({"absolute_tolerance": 0.0}, rv.errors.ValueOutOfBoundsError, "> 0"),
        ({"absolute_tolerance": {"V": 1e-3}}, rv.errors.UnknownNameError, "V_m"),
        ({"absolute_tolerance": {"V_m": "small"}}, rv.errors.WrongTypeError, "absolute_tolerance of V_m"),
        ({"metod": "euler"}, rv.errors.UnknownNameError, "did you mean 'method'"),
    ],
)
def test_bad_integration_is_an_error(values: dict[str, Any], error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        rv.iaf_cond_exp(**values)


@pytest.mark.parametrize("keyword", ["integration", "copies", "method"])
@pytest.mark.parametrize("kind", [rv.iaf_psc_exp_multisynapse, rv.gif_psc_exp])
def test_models_that_take_any_keyword_refuse_what_they_do_not_have(kind: Any, keyword: str) -> None:
    """Parameters of copies have names that are known only later."""
    with pytest.raises(rv.errors.UnknownNameError, match=keyword):
        kind(**{keyword: ("euler", None, None)})


def test_it_cannot_be_given_to_a_population() -> None:
    net = rv.Network()
    for model in ("iaf_cond_exp", rv.iaf_cond_exp()):
        with pytest.raises(rv.errors.UnknownNameError, match=r"rv\.iaf_cond_exp\(method=\.\.\.\)"):
            net.create(model, 3, method="euler")


@pytest.mark.parametrize("method", ["auto", "exact", "exponential_euler"])
def test_bounds_of_a_method_without_bounds_are_refused(method: str) -> None:
    linear: dict[str, Any] = {"equations": "dv/dt = -v/(10*ms) : 1", "threshold": "v > 1", "method": method}
    for name in ("relative_tolerance", "absolute_tolerance"):
        with pytest.raises(rv.errors.ValueOutOfBoundsError, match=f"{name}.*no error bound"):
            rv.neuron(**{**linear, name: 1e-4})
