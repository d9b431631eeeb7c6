"""Threads of a program that describe, build and run at the same time."""

from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

import ranvier as rv


def together(*jobs: Callable[[], None]) -> None:
    """Run jobs in threads that start at the same time; what one raises is raised here."""
    failures: list[BaseException] = []
    start = threading.Barrier(len(jobs))

    def run(job: Callable[[], None]) -> None:
        start.wait()
        try:
            job()
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=run, args=(job,)) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if failures:
        raise failures[0]


def test_a_network_that_is_built_can_be_changed_meanwhile() -> None:
    # So many parts that copying them takes longer than a switch of threads.
    net = rv.Network()
    for i in range(300):
        net.create("iaf_psc_exp", 2, name=f"first {i}", I_e=[500.0, 600.0])
    drive = net.stimulate(net.populations[0], "poisson_generator", rate=100.0)
    built: list[tuple[rv.Simulation, int]] = []
    done = threading.Event()

    def change() -> None:
        i = 0
        while not done.is_set() and i < 600:
            neurons = net.create("iaf_psc_exp", 2, name=f"later {i}", I_e=[500.0, 600.0])
            net.connect(neurons, neurons, "all_to_all", weight=[1.0, 2.0, 3.0, 4.0])
            net.set(neurons, I_e=[i, 2.0])
            net.set(drive, rate=float(i))
            net.record_spikes(neurons)
            i += 1

    def build() -> None:
        try:
            for _ in range(6):
                sim = rv.Simulation(net, threads=1, progress=False)
                built.append((sim, sim.counts().neurons))
        finally:
            done.set()

    together(change, build)
    for sim, neurons in built:
        sim.run(1.0)
        built_populations = net.populations[: len(sim.counts().population_spikes)]
        assert neurons == sum(len(population) for population in built_populations)
        assert sim.get(built_populations[-1], "E_L").shape == (2,)
    # Some were built before the last change.
    assert built[0][1] < net.neuron_count


def test_threads_describe_one_network_together() -> None:
    net = rv.Network()

    def describe(name: str) -> None:
        for i in range(300):
            neurons = net.create("iaf_psc_exp", 3, name=f"{name} {i}")
            assert neurons.name == f"{name} {i}"
            assert net.connect(neurons, neurons, "one_to_one").sources is neurons

    together(lambda: describe("a"), lambda: describe("b"))
    assert [population.first_id for population in net.populations] == list(range(0, 1800, 3))
    assert [population.index for population in net.populations] == list(range(600))
    assert [projection.index for projection in net.projections] == list(range(600))


def refused_while_busy(
    sim: rv.Simulation,
    neurons: rv.Population,
    projection: rv.Projection,
    spikes: rv.SpikeRecorder,
    membranes: rv.StateRecorder,
    synapses: rv.Connections,
) -> list[Callable[[], object]]:
    return [
        lambda: sim.run(1.0),
        lambda: sim.run_until(1e6),
        lambda: sim.set(neurons, I_e=1.0),
        lambda: sim.get(neurons, "V_m"),
        lambda: sim.connections(projection=projection),
        lambda: sim.count_connections(),
        lambda: setattr(synapses, "weights", 2.0),
        lambda: synapses.weights,
        lambda: sim.spikes(spikes),
        lambda: sim.state(membranes),
        lambda: sim.counts(),
        lambda: sim.reset_counts(),
        lambda: sim.memory(),
        lambda: sim.memory_by_node(),
        lambda: sim.memory_pages(),
        lambda: sim.timers(),
        lambda: sim.phases,
        lambda: sim.traffic(),
        lambda: sim.exchange,
        lambda: sim.stolen_shards,
    ]


def test_a_busy_simulation_refuses_other_threads() -> None:
    net = rv.Network()
    neurons = net.create("iaf_psc_exp", 100, I_e=500.0)
    projection = net.connect(neurons, neurons, "all_to_all")
    spikes = net.record_spikes()
    membranes = net.record_state(neurons, "V_m", 1.0)
    began, refused = threading.Event(), threading.Event()
    sim = rv.Simulation(net, threads=1, progress=lambda _: None)
    synapses = sim.connections()

    class StopError(Exception):
        pass

    def progress(_: object) -> None:
        began.set()
        assert refused.wait(30.0)
        raise StopError

    sim._progress = progress

    def attack() -> None:
        assert began.wait(30.0)
        try:
            for call in refused_while_busy(sim, neurons, projection, spikes, membranes, synapses):
                with pytest.raises(rv.errors.StateError, match="busy"):
                    call()
            # These can be asked for at any time.
            assert sim.step >= 0
            assert sim.time >= 0.0
            assert (sim.threads, sim.shards, sim.ranks) == (1, 1, 1)
            assert repr(sim).startswith("<Simulation")
        finally:
            refused.set()

    def run() -> None:
        # Longer than it takes to tell of progress.
        with pytest.raises(StopError):
            sim.run(1e7)

    together(run, attack)
    sim.run(1.0)
