"""Arrays that are read from a simulation: writing to one tells what changes the simulation, and `*=` assigns."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from bad_input import check, neurons
from ranvier.errors import ReadOnlyError


def synapses() -> rv.Connections:
    population = neurons(6)
    population.network.connect(population, population, "one_to_one", weight=[1.0, 2.0, 3.0, 4.0, 5.0, 6.0])
    return rv.Simulation(population.network, threads=1).connections()


def test_weights_are_changed_in_place() -> None:
    connections = synapses()
    connections.weights *= 2.0
    assert connections.weights.tolist() == [2.0, 4.0, 6.0, 8.0, 10.0, 12.0]
    connections[:2].weights += 1.0
    connections[[4, 5]].weights /= [2.0, 4.0]
    connections[connections.sources == 3].weights -= 0.5
    assert connections.weights.tolist() == [3.0, 5.0, 6.0, 7.5, 5.0, 3.0]
    connections.weights **= 2
    connections.weights //= 2
    connections.weights %= 3
    assert connections.weights.tolist() == [1.0, 0.0, 0.0, 1.0, 0.0, 1.0]


def test_what_the_simulation_cannot_take_changes_nothing() -> None:
    connections = synapses()
    with pytest.raises(rv.errors.ValueOutOfBoundsError):
        connections.weights *= np.nan
    with pytest.raises(ValueError, match="broadcast"):
        connections.weights *= np.ones(7)
    with pytest.raises(TypeError):
        connections.weights *= "2"
    assert connections.weights.tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]


def element(array: Any) -> None:
    array[0] = 3.0


def part(array: Any) -> None:
    array[1:3] *= 2


def add_one(array: Any) -> None:
    array += 1.0


WRITES: dict[str, Callable[[Any], object]] = {
    "element": element,
    "slice": part,
    "element of a slice": lambda array: element(array[1:]),
    "out": lambda array: np.multiply(array, 2, out=array),
    "at": lambda array: np.add.at(array, [0], 1),
    "fill": lambda array: array.fill(1),
    "sort": lambda array: array.sort(),
}


@pytest.mark.parametrize("write", WRITES.values(), ids=WRITES)
def test_elements_cannot_be_assigned(write: Callable[[Any], object]) -> None:
    connections = synapses()
    with pytest.raises(ReadOnlyError) as caught:
        write(connections.weights)
    check(caught.value, "weights of connections", "connections.weights = ...", "connections[chosen].weights = ...")
    for name in ("sources", "targets", "delays", "projections"):
        before = getattr(connections, name).tolist()
        with pytest.raises(ReadOnlyError) as caught:
            write(getattr(connections, name))
        check(caught.value, f"{name} of connections", f"connections.{name}.copy()")
        assert getattr(connections, name).tolist() == before
    assert connections.weights.tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]


def test_only_weights_are_assigned_in_place() -> None:
    connections = synapses()
    with pytest.raises(ReadOnlyError, match="delays of connections"):
        connections.delays *= 2.0  # type: ignore[misc]
    population = neurons()
    sim = rv.Simulation(population.network, threads=1)
    voltages = sim.get(population, "V_m")
    before = voltages.tolist()
    for write in (*WRITES.values(), add_one):
        with pytest.raises(ReadOnlyError) as caught:
            write(voltages)
        check(caught.value, "V_m of neurons", "write sim.set(neurons, V_m=...)")
    assert sim.get(population, "V_m").tolist() == voltages.tolist() == before


def test_what_is_computed_is_an_array_of_numpy() -> None:
    weights = synapses().weights
    both = np.concatenate([weights, weights])
    for made in (weights * 2, 2 * weights, -weights, np.exp(weights), weights.cumsum(), both):
        made[0] = 7.0
        assert made[0] == 7.0
    for made in (weights.copy(), np.array(weights), weights[weights > 2.0], weights.astype(float), np.sort(weights)):
        made[0] = 7.0
        made *= 2.0
        assert made[0] == 14.0
    for copied in (copy.copy(weights), copy.deepcopy(weights), pickle.loads(pickle.dumps(weights))):
        assert copied.tolist() == weights.tolist() == [1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
    assert weights.sum() == 21.0
    assert type(weights * 2) is type(weights.cumsum()) is np.ndarray
    assert repr(weights) == "array([1., 2., 3., 4., 5., 6.])"


def test_arrays_that_were_read_can_be_handed_over() -> None:
    connections = synapses()
    connections.weights = connections.weights * 3.0
    connections.weights = connections.weights
    net = rv.Network()
    population = net.create("iaf_psc_exp", 6)
    rule = rv.Explicit(connections.sources, connections.targets)
    net.connect(population, population, rule, weight=connections.weights, delay=connections.delays)
    sim = rv.Simulation(net, threads=1)
    assert sim.connections(sources=connections.sources).weights.tolist() == [3.0, 6.0, 9.0, 12.0, 15.0, 18.0]
    sim.set(population, V_m=sim.get(population, "V_m"))
