"""Values at the ends of what numbers hold are refused, or lead to a finite state: nothing becomes NaN in silence."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import numpy as np
import pytest

import ranvier as rv
from ranvier import _core, errors
from thorough_cases import every, one_of_each

EXTREMES = (5e-324, 1e-310, 1e-200, 1e-45, 1e-38, 1e-20, 1e-9, 0.0, 1e9, 1e20, 1e38, 1e39, 1e155, 1e300, 1.79e308)
VALUES = (*EXTREMES, *(-value for value in EXTREMES if value != 0.0))
# Parrots have no parameters, and take weights of 1 only.
NEURONS = [model for model in _core.neuron_models() if not model.is_source and model.name != "parrot_neuron"]
STIMULI = _core.stimulator_models()
VARIABLES = {model.name: [variable.name for variable in model.variables] for model in NEURONS}


def named(value: Any) -> str:
    return str(getattr(value, "name", value))


def runs(net: rv.Network, precision: Literal["single", "double"] = "double", steps: int = 3) -> bool:
    """Return whether a network can be run; if it can, all state must be finite."""
    try:
        sim = rv.Simulation(net, threads=1, precision=precision)
        sim.run(steps * net.resolution)
    except errors.RanvierError:
        return False
    for population in net.populations:
        for variable in VARIABLES.get(population.model, ()):
            values = sim.get(population, variable)
            assert np.isfinite(values).all(), (variable, values)
    return True


def reached(model: _core.NeuronModel) -> list[str | None]:
    """Return all receptors where one must be named; else none, which lets the sign of a weight choose.

    A receptor that counts spikes refuses almost all of these weights.
    """
    if model.sign_chooses_receptor or len(model.receptors) == 1:
        return [None]
    return [receptor for receptor in model.receptors if receptor != model.counting_receptor]


def described(describe: Callable[[rv.Network], object]) -> rv.Network | None:
    """Return the network, or None where the description was refused."""
    net = rv.Network()
    try:
        describe(net)
    except errors.RanvierError:
        return None
    return net


@pytest.mark.parametrize(("model", "precision"), one_of_each(NEURONS, ["single", "double"]), ids=named)
def test_parameters_of_neurons(model: _core.NeuronModel, precision: Literal["single", "double"]) -> None:
    ran = 0
    for parameter in model.parameters:
        for value in VALUES:

            def describe(net: rv.Network, name: str = parameter.name, value: float = value) -> None:
                values: dict[str, Any] = {name: value}
                cells = net.create(model.name, 3, **values)
                for receptor in reached(model):
                    net.connect(cells, cells, "all_to_all", weight=1.0, delay=0.1, receptor=receptor)
                    net.stimulate(cells, rv.poisson_generator(rate=50000.0), weight=100.0, receptor=receptor)
                if model.name not in ("interval_fire", "ignore_and_fire", "parrot_neuron"):
                    net.stimulate(cells, rv.dc_generator(amplitude=300.0))

            net = described(describe)
            ran += net is not None and runs(net, precision)
    assert ran >= len(model.parameters)


@pytest.mark.parametrize("model", every(2, STIMULI), ids=named)
def test_parameters_of_stimuli(model: _core.StimulatorModel) -> None:
    ran = 0
    for name in [parameter.name for parameter in model.parameters] + [sequence.name for sequence in model.sequences]:
        for value in VALUES:

            def describe(net: rv.Network, name: str = name, value: float = value) -> None:
                cells = net.create("iaf_psc_alpha", 3)
                values: dict[str, Any] = {"std": 10.0} if model.name == "noise_generator" else {}
                for sequence in model.sequences:
                    values[sequence.name] = [0.1, 0.2] if sequence.name == "times" else [1.0, 2.0]
                values[name] = [0.1, value] if name in values and isinstance(values[name], list) else value
                net.stimulate(cells, model.name, **values)

            net = described(describe)
            ran += net is not None and runs(net, steps=5)
    assert ran > 10


@pytest.mark.parametrize(("model", "precision"), one_of_each(NEURONS, ["double", "single"]), ids=named)
def test_weights(model: _core.NeuronModel, precision: Literal["single", "double"]) -> None:
    ran = 0
    for value in VALUES:

        def describe(net: rv.Network, value: float = value) -> None:
            cells = net.create(model.name, 20)
            players = net.create_spike_generators([[0.1, 0.2, 0.3]] * 5)
            for weight in (value, -value) if model.weight_bounds == "any number" else (abs(value),):
                for receptor in reached(model):
                    net.connect(players, cells, "all_to_all", weight=weight, delay=0.1, receptor=receptor)
                    net.stimulate(cells, rv.poisson_generator(rate=1e8), weight=weight, receptor=receptor)

        net = described(describe)
        ran += net is not None and runs(net, precision, steps=10)
    assert ran > 5


def test_constants_that_vanish_are_refused_before_anything_is_built() -> None:
    for values in ({"C_m": 1e-310}, {"C_m": 1e300}, {"tau_m": 1e-320}, {"I_e": 1e308}, {"C_m": [250.0, 1e-310]}):
        net = rv.Network()
        net.create("iaf_psc_exp", 2, name="cells", **values)
        with pytest.raises(errors.ValueOutOfBoundsError, match=r"cells.*(factor|within)"):
            rv.Simulation(net)
    cells = (net := rv.Network()).create("iaf_psc_exp", 2)
    sim = rv.Simulation(net)
    with pytest.raises(errors.ValueOutOfBoundsError, match="factor"):
        sim.set(cells, C_m=1e-310)
    assert (sim.get(cells, "C_m") == 250.0).all()


def test_state_that_leaves_the_range_of_numbers_is_told() -> None:
    net = rv.Network(resolution=1000.0)
    cells = net.create("iaf_psc_exp", 4, name="cells", t_ref=0.0)
    for weight in (1e30, -1e30):
        net.stimulate(cells, rv.poisson_generator(rate=1e9), weight=weight)  # 10^9 a step
    with pytest.raises(errors.StateError, match=r"cells.: a variable is not finite by step"):
        rv.Simulation(net, threads=1, precision="single").run(3000.0)
    rv.Simulation(net, threads=1).run(3000.0)
