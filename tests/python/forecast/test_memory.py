"""Memory that is asked for before it is taken: what the machine, its control groups and limits of the process leave."""

from __future__ import annotations

import resource
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import ranvier as rv
from ranvier import _core, errors
from ranvier.processes.machine import resident_bytes

MEGABYTE = 1_000_000


def status(name: str) -> int:
    """Return a number of bytes from /proc/self/status."""
    for line in Path("/proc/self/status").read_text().splitlines():
        key, _, value = line.partition(":")
        if key == name:
            return int(value.split()[0]) * 1024
    raise AssertionError(name)


@contextmanager
def room(size: int, limit: int = resource.RLIMIT_AS) -> Iterator[None]:
    """Let this process take only so many bytes more."""
    taken = status("VmSize" if limit == resource.RLIMIT_AS else "VmData")
    soft, hard = resource.getrlimit(limit)
    resource.setrlimit(limit, (taken + size, hard))
    try:
        yield
    finally:
        resource.setrlimit(limit, (soft, hard))


def network(size: int, indegree: int = 0) -> rv.Network:
    net = rv.Network()
    population = net.create("iaf_psc_exp", size)
    if indegree:
        net.connect(population, population, rv.FixedIndegree(indegree))
    return net


@pytest.mark.parametrize("limit", [resource.RLIMIT_AS, resource.RLIMIT_DATA])
def test_room_is_what_limits_of_the_process_leave(limit: int) -> None:
    with room(300 * MEGABYTE, limit):
        assert 290 * MEGABYTE <= _core.available_memory() <= 300 * MEGABYTE
        # They hold for each process alone; what the machine has is shared.
        assert _core.available_memory(1) == _core.available_memory(2)
    assert _core.available_memory(10**6) < 300 * MEGABYTE


@pytest.mark.parametrize("limit", [resource.RLIMIT_AS, resource.RLIMIT_DATA])
def test_network_that_exceeds_limits_of_the_process(limit: int) -> None:
    net = network(100_000, 500)
    assert sum(rv.predict_memory(net, threads=1).values()) > 290 * MEGABYTE
    with (
        room(200 * MEGABYTE, limit),
        pytest.raises(errors.InsufficientMemoryError, match=r"there are 200000000 bytes \(200.0 MB\) available"),
    ):
        rv.Simulation(net, threads=1)


def test_few_connections_of_many_neurons() -> None:
    net = rv.Network()
    population = net.create("iaf_psc_exp", 10**9)
    with room(100 * MEGABYTE):
        projection = net.connect(population, population, rv.Explicit([0, 999_999_999, 5], [7, 3, 999_999_999]))
        assert projection.expected_synapses == 3
        with pytest.raises(errors.InsufficientMemoryError):
            rv.Simulation(net, threads=2)


def test_more_synapses_than_bytes_can_be_counted() -> None:
    net = rv.Network()
    neurons = net.create("iaf_psc_exp", 2**20)
    for _ in range(1000):
        net.connect(neurons, neurons, rv.FixedIndegree(2**32 - 1))
    # 6 bytes for each of 4.5e18 synapses are more than 64 bits can tell, and became 0.
    assert rv.predict_memory(net, threads=1)["synapses"] == 2**64 - 1
    for limit in (None, 2**62):
        with pytest.raises(errors.InsufficientMemoryError, match="18446744073709551615 bytes"):
            rv.Simulation(net, threads=1, memory_limit=limit)


@pytest.mark.parametrize("what", ["parameter", "weight", "indices", "record", "ids"])
def test_array_that_exceeds_the_room(what: str) -> None:
    size = 40_000_000
    net = network(size)
    population = net.populations[0]
    # Broadcast arrays take no memory before they are copied.
    numbers = np.broadcast_to(np.float64(1.0), (size,))
    indices = np.broadcast_to(np.int64(1), (size,))
    calls: dict[str, Callable[[], object]] = {
        "parameter": lambda: net.create("iaf_psc_exp", size, C_m=numbers),
        "weight": lambda: net.connect(population, population, "one_to_one", weight=numbers),
        "indices": lambda: rv.Explicit(indices, indices),
        "record": lambda: net.record_state(population, "V_m"),
        "ids": lambda: population.ids,
    }
    with (
        room(200 * MEGABYTE),
        pytest.raises(errors.InsufficientMemoryError, match=r"there are 200000000 bytes \(200.0 MB\) available"),
    ):
        calls[what]()
    assert len(net.populations) == 1
    assert not net.projections
    assert not net.recorders


def test_recordings_wait_until_there_is_room() -> None:
    net = network(5000)
    membranes = net.record_state(net.populations[0], "V_m")
    sim = rv.Simulation(net, threads=1)
    sim.run(100.0)
    with room(20 * MEGABYTE), pytest.raises(errors.InsufficientMemoryError, match="record"):
        sim.state(membranes)
    assert sim.state(membranes)["V_m"].shape == (1000, 5000)


def test_connections_that_exceed_the_room() -> None:
    net = network(10_000, 100)
    sim = rv.Simulation(net, threads=1)
    with room(60 * MEGABYTE), pytest.raises(errors.InsufficientMemoryError, match="1000000 connections"):
        sim.connections()
    assert len(sim.connections()) == 1_000_000


def test_positions_are_in_the_memory_account() -> None:
    net = rv.Network()
    points = np.random.default_rng(1).uniform(-0.5, 0.5, (1000, 2))
    for layout in (rv.grid((40, 25)), rv.random_positions(extent=(1.0, 1.0, 1.0)), rv.positions(points)):
        net.create("iaf_psc_exp", 1000, positions=layout)
    assert rv.predict_memory(net, threads=1)["arrays"] == 8 * 2 * 1000
    net.create("iaf_psc_exp", 1000, positions=rv.random_positions(extent=(1.0, 1.0, 1.0), min_distance=0.01))
    assert rv.predict_memory(net, threads=1)["arrays"] == 8 * (2 + 3) * 1000
    assert rv.Simulation(net, threads=1).memory()["arrays"] == 8 * (2 + 3) * 1000
    with (
        room(200 * MEGABYTE),
        pytest.raises(errors.InsufficientMemoryError, match="the positions of 40000000 neurons with a least distance"),
    ):
        net.create("iaf_psc_exp", 40_000_000, positions=rv.random_positions(extent=(1.0, 1.0), min_distance=1e-6))


def test_index_lists_lie_in_memory_once() -> None:
    size, distinct = 500_000, 1000
    net = rv.Network()
    population = net.create("iaf_psc_exp", distinct)
    chance = np.random.default_rng(1)
    rule = rv.Explicit(chance.integers(0, distinct, size), chance.integers(0, distinct, size))
    before = resident_bytes()
    for _ in range(4):
        net.connect(population, population, rule)
    # Each of four copies would take 8 MB.
    assert resident_bytes() - before < 16 * size
    # The lists once; for each projection the order of the synapses by target, 4 bytes each, and where targets begin.
    expected = 16 * size + 4 * (4 * size + 12 * distinct + 4)
    assert rv.predict_memory(net, threads=1)["arrays"] == expected
    assert rv.Simulation(net, threads=1).memory()["arrays"] == expected


# ---- what is predicted of neurons and stimuli ------------------------------------------------------------------------


def off_by(net: rv.Network, component: str, threads: int = 2) -> float:
    """Return by how much a component of the account exceeds what was predicted, relatively."""
    predicted = rv.predict_memory(net, threads=threads)[component]
    return rv.Simulation(net, threads=threads).memory()[component] / predicted - 1.0


@pytest.mark.parametrize("order", ["growing", "falling", "one"])
def test_prediction_of_rates_that_differ(order: str) -> None:
    size = 40_000
    rates = {
        "growing": np.linspace(0.0, 100_000.0, size),
        "falling": np.linspace(100_000.0, 0.0, size),
        "one": np.where(np.arange(size) == 12_345, 100_000.0, 10.0),
    }
    net = network(size)
    net.stimulate(net.populations[0], rv.poisson_generator(rate=rates[order]), weight=1.0)
    assert abs(off_by(net, "stimuli")) < 0.05


def test_prediction_of_rates_that_are_drawn() -> None:
    net = network(40_000)
    net.stimulate(net.populations[0], rv.poisson_generator(rate=rv.LogNormal(8.0, 0.5)), weight=1.0)
    assert abs(off_by(net, "stimuli")) < 0.05


def test_prediction_of_stimuli_of_parts() -> None:
    net = network(40_000)
    population = net.populations[0]
    net.stimulate(population[30_000:], rv.poisson_generator(rate=1000.0), weight=1.0)
    net.stimulate(population[200:900], rv.poisson_generator(rate=np.linspace(1.0, 9000.0, 700)), weight=1.0)
    net.stimulate(population[39_999], rv.poisson_generator(rate=3000.0), weight=1.0)
    assert abs(off_by(net, "stimuli")) < 0.05


def test_prediction_of_spikes_that_are_played() -> None:
    net = network(10)
    times = [np.arange(1, 2 + i // 4) * 1.0 for i in range(4000)]
    net.create_spike_generators(times)
    assert abs(off_by(net, "neurons")) < 0.05


def test_prediction_of_neurons_that_are_divided_by_cost() -> None:
    net = network(20_000)
    net.stimulate(net.populations[0], rv.poisson_generator(rate=np.linspace(0.0, 100_000.0, 20_000)), weight=1.0)
    predicted = rv.predict_memory(net, threads=2, tuning=rv.Tuning(costs={"iaf_psc_exp_0": 1.0}))
    taken = rv.Simulation(net, threads=2, tuning=rv.Tuning(costs={"iaf_psc_exp_0": 1.0})).memory()
    assert abs(taken["stimuli"] / predicted["stimuli"] - 1.0) < 0.05
