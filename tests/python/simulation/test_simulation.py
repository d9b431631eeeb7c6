"""Running: continuing, reading and setting state, several simulations at a time, accounts."""

from __future__ import annotations

import contextlib
import gc
import os
import pickle
import threading
import weakref
from collections import Counter
from typing import Literal

import numpy as np
import pytest

import ranvier as rv
from ranvier import _core, errors
from ranvier.processes.machine import usable_processors
from ranvier.simulation import progress
from ranvier.simulation.measurements import PARTS
from ranvier.simulation.options import grouped
from ranvier.simulation.predictions import predict_memory
from small_networks import balanced
from thorough_cases import only


def test_time_and_steps() -> None:
    net, _ = balanced()
    sim = rv.Simulation(net, threads=2)
    assert (sim.time, sim.step, sim.resolution) == (0.0, 0, 0.1)
    sim.run(0.0)
    sim.run(1.5)
    sim.run_until(4.0)
    sim.run_until(4.0)
    assert (sim.time, sim.step) == (4.0, 40)


def test_options_are_told() -> None:
    net, _ = balanced()
    for instruction_set in _core.instruction_sets():
        sim = rv.Simulation(net, threads=3, **grouped({"instruction_set": instruction_set}))
        assert (sim.threads, sim.ranks, sim.instruction_set, sim.network) == (3, 1, instruction_set, net)
    automatic = rv.Simulation(net)
    assert automatic.threads == _core.usable_processors()
    assert automatic.instruction_set == _core.instruction_sets()[-1]
    assert automatic.sorts_connections
    assert not rv.Simulation(net, processes=rv.Processes(sort_connections=False)).sorts_connections


def test_single_precision_is_less_precise_but_close() -> None:
    membranes = {}
    for precision in ("double", "single"):
        net = rv.Network()
        neuron = net.create(rv.iaf_psc_exp(I_e=100.0), 1)
        recorder = net.record_state(neuron, "V_m")
        sim = rv.Simulation(net, precision=precision)
        sim.run(100.0)
        membranes[precision] = sim.state(recorder)["V_m"]
    difference = np.abs(membranes["double"] - membranes["single"]).max()
    assert 0.0 < difference < 1e-3


def test_weight_precision() -> None:
    weight = 1.0 / 3.0
    net = rv.Network()
    neurons = net.create("iaf_psc_exp", 2)
    net.connect(neurons[:1], neurons[1:], rv.OneToOne(), weight=weight)
    assert rv.Simulation(net).connections().weights[0] == float(np.float32(weight)) != weight
    assert rv.Simulation(net, weight_precision="double").connections().weights[0] == weight


# ---- state -----------------------------------------------------------------------------------------------------------


def test_state_can_be_read_and_set() -> None:
    net = rv.Network()
    neurons = net.create(rv.iaf_psc_exp(V_m=[-60.0, -61.0, -62.0, -63.0], t_ref=3.0), 4)
    sim = rv.Simulation(net, threads=3)
    assert sim.get(neurons, "V_m").tolist() == [-60.0, -61.0, -62.0, -63.0]
    assert sim.get(neurons[1:3], "V_m").tolist() == [-61.0, -62.0]
    assert sim.get(neurons[:0], "V_m").shape == (0,)
    sim.set(neurons[1:3], V_m=-65.0)
    sim.set(neurons[2:], I_syn_ex=[5.0, 6.0])
    assert sim.get(neurons, "V_m").tolist() == [-60.0, -65.0, -65.0, -63.0]
    assert sim.get(neurons, "I_syn_ex").tolist() == [0.0, 0.0, 5.0, 6.0]
    assert sim.get(neurons, "t_ref").tolist() == [3.0] * 4


def test_a_parameter_that_is_set_takes_effect() -> None:
    net = rv.Network()
    neurons = net.create(rv.iaf_psc_exp(I_e=[0.0, 0.0]), 2)
    recorder = net.record_spikes()
    sim = rv.Simulation(net)
    sim.run(50.0)
    sim.set(neurons[1], I_e=1000.0)
    assert sim.get(neurons, "I_e").tolist() == [0.0, 1000.0]
    sim.run(50.0)
    assert set(sim.spikes(recorder).ids.tolist()) == {1}
    assert sim.spikes(recorder).times.min() > 50.0


def test_a_refused_value_changes_nothing() -> None:
    net = rv.Network()
    neurons = net.create("iaf_psc_exp", 3)
    sim = rv.Simulation(net)
    with pytest.raises(errors.ValueOutOfBoundsError):
        sim.set(neurons, tau_m=[5.0, 6.0, -1.0])
    assert sim.get(neurons, "tau_m").tolist() == [10.0] * 3


# ---- several at a time -----------------------------------------------------------------------------------------------


def test_simulations_side_by_side() -> None:
    net, recorder = balanced()
    other, other_recorder = balanced(seed=2)
    first, second, third = rv.Simulation(net, threads=2), rv.Simulation(net, threads=1), rv.Simulation(other)
    for _ in range(5):
        for sim in (first, second, third):
            sim.run(10.0)
    assert first.spikes(recorder).digest() == second.spikes(recorder).digest()
    assert first.spikes(recorder).digest() != third.spikes(other_recorder).digest()


def test_simulations_in_several_threads_of_python() -> None:
    net, recorder = balanced()
    digests: list[str] = []

    def simulate() -> None:
        sim = rv.Simulation(net, threads=2, tuning=rv.Tuning(pinning="none"))
        sim.run(50.0)
        digests.append(sim.spikes(recorder).digest())

    workers = [threading.Thread(target=simulate) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert len(digests) == 4
    assert len(set(digests)) == 1


def test_one_call_at_a_time() -> None:
    net, recorder = balanced()
    refused: list[rv.ProgressReport] = []

    def call_again(report: rv.ProgressReport) -> None:
        if report.phase == "run" and not refused:
            assert sim.step >= 0
            for call in (lambda: sim.run(1.0), lambda: sim.spikes(recorder), lambda: sim.get(net["exc"], "V_m")):
                with pytest.raises(errors.StateError, match="busy"):
                    call()
            refused.append(report)

    sim = rv.Simulation(net, threads=2, progress=call_again)
    # How soon the first report comes depends on how busy the machine is.
    for _ in range(100):
        sim.run(3000.0)
        if refused:
            break
    assert refused
    assert sim.time % 3000.0 == pytest.approx(0.0)


def test_a_network_may_change_after_it_was_built() -> None:
    net, recorder = balanced()
    sim = rv.Simulation(net, threads=1)
    sim.run(20.0)
    expected = sim.spikes(recorder).digest()
    changing = rv.Simulation(net, threads=1)
    net.seed = 99
    net.create("iaf_psc_exp", 10)
    net.connect(net["exc"], net["inh"], rv.AllToAll(), weight=1000.0)
    with pytest.warns(errors.ChangedNetworkWarning):
        changing.run(20.0)
    assert changing.spikes(recorder).digest() == expected
    assert changing.counts().neurons == 500


def test_a_simulation_can_be_dropped() -> None:
    net, _ = balanced()
    sim = rv.Simulation(net)
    dropped = weakref.ref(sim)
    del sim
    gc.collect()
    assert dropped() is None


def test_a_simulation_cannot_be_pickled() -> None:
    net, _ = balanced()
    with pytest.raises(TypeError, match="pickle its network"):
        pickle.dumps(rv.Simulation(net))


# ---- accounts --------------------------------------------------------------------------------------------------------


def test_counts() -> None:
    net, recorder = balanced()
    generators = net.create_spike_generators([[1.0, 1.0, 50.0]], name="input")
    net.connect(generators, net["exc"], rv.AllToAll(), weight=1.0)
    sim = rv.Simulation(net, threads=3)
    sim.run(100.0)
    counts, spikes = sim.counts(), sim.spikes(recorder)
    assert (counts.neurons, counts.synapses, counts.steps) == (500, 10 * 500 * 2 + 400, 1000)
    assert counts.spikes == len(spikes) > 0
    assert counts.population_spikes == {name: len(data) for name, data in spikes.by_population().items()}
    outdegrees = np.bincount(sim.connections().sources, minlength=501)
    # Spikes of the last step have been sent but some have not arrived.
    sent = outdegrees[spikes.ids].sum() + 3 * 400
    assert 0.95 * sent < counts.synaptic_events <= sent
    sim.reset_counts()
    assert (sim.counts().spikes, sim.counts().steps, sim.phases["simulation"]) == (0, 0, 0.0)
    assert np.isnan(sim.real_time_factor)
    sim.run(100.0)
    assert sim.counts().spikes == len(sim.spikes(recorder).between(100.0))
    assert sim.counts().steps == 1000


def test_phases() -> None:
    net, _ = balanced()
    sim = rv.Simulation(net, threads=2)
    sim.run(100.0)
    phases = sim.phases
    assert set(phases) == {"build", "init", "simulation", *PARTS}
    assert all(seconds >= 0.0 for seconds in phases.values())
    parts = phases["update"] + phases["deliver"] + phases["communicate"] + phases["record"]
    assert 0.0 < parts <= phases["simulation"] * 1.01
    assert sim.real_time_factor == pytest.approx(phases["simulation"] / 0.1)


def test_memory_is_predicted_and_accounted_for() -> None:
    net, _ = balanced(1000)
    predicted = rv.predict_memory(net, threads=2)
    construction = predicted.pop("construction")
    sim = rv.Simulation(net, threads=2)
    actual = sim.memory()
    assert construction >= 0
    assert sum(actual.values()) == pytest.approx(sum(predicted.values()), rel=0.25)
    assert actual["synapses"] >= 6 * sim.counts().synapses


def test_memory_by_node_is_all_memory() -> None:
    net, _ = balanced(1000)
    sim = rv.Simulation(net, threads=2)
    sim.run(10.0)
    by_node = sim.memory_by_node()
    assert all(node == "any" or node.isdigit() for node in by_node)
    together: Counter[str] = Counter()
    for parts in by_node.values():
        together.update(parts)
    memory = sim.memory()
    assert +together == +Counter(memory)  # without the empty ones
    pages = sim.memory_pages()
    assert set(pages) - {"untouched", "unknown"} <= {str(node) for node in range(1024)}
    assert memory["synapses"] / 2 < sum(pages.values()) <= sum(memory.values())


# ---- progress --------------------------------------------------------------------------------------------------------


def test_progress_is_reported_to_a_function() -> None:
    net, _ = balanced(1000)
    reports: list[rv.ProgressReport] = []
    sim = rv.Simulation(net, threads=2, progress=reports.append)
    sim.run(2000.0)
    runs = [report for report in reports if report.phase == "run"]
    assert runs
    assert all(0.0 <= report.done <= report.total == 2000.0 for report in runs)
    assert [report.done for report in runs] == sorted(report.done for report in runs)
    assert all(report.total == 0.0 for report in reports if report.phase == "build")


@pytest.mark.parametrize(("shortest_s", "time"), only([(0.05, 400.0)], [(0.05, 400.0), (progress._SHORTEST_S, 1500.0)]))
def test_progress_is_silent_where_there_is_no_terminal(
    shortest_s: float, time: float, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(progress, "_SHORTEST_S", shortest_s)
    net, _ = balanced(1000)
    rv.Simulation(net).run(time)
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(("shortest_s", "time"), only([(0.05, 400.0)], [(0.05, 400.0), (progress._SHORTEST_S, 5000.0)]))
@pytest.mark.parametrize("terminal", ["xterm", "dumb"])
def test_progress_is_shown_where_it_is_wanted(
    terminal: str, shortest_s: float, time: float, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TERM", terminal)
    monkeypatch.setattr(progress, "_SHORTEST_S", shortest_s)
    net, _ = balanced(1000)
    sim = rv.Simulation(net, progress=True)
    while not (shown := capfd.readouterr()).err:
        sim.run(time)
        assert sim.time < 1e6
    assert f"Simulating {time:g} ms" in shown.err
    # Without the signs that move the cursor.
    assert ("\x1b" in shown.err) == (terminal != "dumb")
    assert shown.out == ""


def test_another_process_is_refused() -> None:
    # As worker pools that fork do; the threads of the simulation do not come along.
    net, recorder = balanced()
    sim = rv.Simulation(net)
    sim.run(10.0)
    child = os.fork()
    if child == 0:
        status = 1
        with contextlib.suppress(BaseException):
            try:
                sim.run(10.0)
            except errors.StateError as error:
                # One that is built there works.
                rv.Simulation(net).run(10.0)
                status = 0 if "another process" in str(error) else 2
        os._exit(status)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    sim.run(10.0)
    assert sim.spikes(recorder).stop == 20.0


def test_costs_of_populations() -> None:
    net, recorder = balanced(100)
    plain = rv.Simulation(net, threads=1)
    plain.run(50.0)
    with pytest.raises(errors.StateError, match="measure_costs"):
        plain.costs()
    measured = rv.Simulation(net, threads=2, tuning=rv.Tuning(measure_costs=True))
    measured.run(50.0)
    costs = measured.costs()
    assert list(costs) == [population.name for population in net.populations]
    assert all(0.0 < cost < 1e6 for cost in costs.values())
    dearest = {name: 1e6 if name == "exc" else 1.0 for name in costs}
    for given in (costs, dearest, "measured"):
        sim = rv.Simulation(net, threads=3, tuning=rv.Tuning(costs=given))
        sim.run(50.0)
        assert sim.spikes(recorder).digest() == plain.spikes(recorder).digest()


@pytest.mark.parametrize(
    ("costs", "error", "message"),
    [
        ("guessed", errors.UnknownNameError, "measured"),
        (3.0, TypeError, "costs must be a mapping"),
        ({"exc": 1.0}, errors.ShapeError, "there is no cost for inh"),
        ({"excitatory": 1.0}, errors.UnknownNameError, "exc"),
        ({"exc": -1.0}, errors.ValueOutOfBoundsError, "from 0 to"),
        ({"exc": float("nan")}, errors.ValueOutOfBoundsError, "from 0 to"),
        ({"exc": "1"}, TypeError, "cost of population exc"),
    ],
    ids=str,
)
def test_costs_that_cannot_be(costs: object, error: type[Exception], message: str) -> None:
    net, _ = balanced(100)
    if isinstance(costs, dict) and costs.get("exc") != 1.0 and "exc" in costs:
        costs = {population.name: 1.0 for population in net.populations} | costs
    with pytest.raises(error, match=message):
        rv.Simulation(net, tuning=rv.Tuning(costs=costs))  # type: ignore[arg-type]


def test_who_has_which_processor() -> None:
    net, _ = balanced(100)
    processors = sorted(os.sched_getaffinity(0))
    sim = rv.Simulation(
        net, threads=2, tuning=rv.Tuning(shards=5, stealing="local_and_remote", pinning=[processors[0]] * 2)
    )
    sim.run(20.0)
    assert (sim.shards, sim.processors, sim.oversubscribed) == (5, [processors[0]] * 2, True)
    assert sim.stolen_shards > 0
    free = rv.Simulation(net, threads=1, tuning=rv.Tuning(pinning="none"))
    free.run(20.0)
    assert (free.shards, free.processors, free.oversubscribed, free.stolen_shards) == (1, [None], False, 0)


def with_many_delays() -> tuple[rv.Network, rv.SpikeRecorder]:
    """Return a network that exchanges spikes in each step, with long rows of synapses with many delays."""
    net = rv.Network(seed=3)
    cells = net.create("iaf_psc_exp", 800, I_e=rv.Uniform(300.0, 900.0))
    weights = rv.Normal(-20.0, 5.0)
    net.connect(cells, cells, rule=rv.FixedIndegree(200), weight=weights, delay=rv.Uniform(0.1, 5.0))
    return net, net.record_spikes(cells)


@pytest.mark.parametrize("stealing", ["auto", "local_and_remote", "local_only", "none"])
def test_threads_that_wait_deliver_spikes_of_others(
    stealing: Literal["auto", "local_and_remote", "local_only", "none"],
) -> None:
    net, recorder = with_many_delays()
    one = rv.Simulation(net, threads=1)
    one.run(300.0)
    assert one.shared_deliveries == 0
    sim = rv.Simulation(net, threads=3, tuning=rv.Tuning(table_layout="blocks", stealing=stealing))
    # The end of a run leaves nothing undelivered.
    for _ in range(3):
        sim.run(100.0)
    assert sim.spikes(recorder).digest() == one.spikes(recorder).digest()
    assert len(sim.spikes(recorder)) > 3000
    if stealing == "none":
        assert sim.shared_deliveries == 0
    else:
        # Which thread waits depends on the system.
        while sim.shared_deliveries == 0 and sim.time < 10_000.0:
            sim.run(100.0)
        if sim.shared_deliveries == 0 and os.getloadavg()[0] > usable_processors():
            pytest.skip("other programs use the processors, so no thread ever waits for another one of this process")
        assert sim.shared_deliveries > 0
    sim.reset_counts()
    assert sim.shared_deliveries == 0


@pytest.mark.parametrize("shortest", [0.1, 0.2])
def test_rows_are_divided_only_where_parts_are_delivered(shortest: float) -> None:
    def synapse_bytes(stealing: Literal["auto", "none"]) -> int:
        net = rv.Network(seed=3)
        cells = net.create("iaf_psc_exp", 800)
        net.connect(cells, cells, rule=rv.FixedIndegree(200), weight=1.0, delay=rv.Uniform(shortest, 5.0))
        sim = rv.Simulation(net, threads=2, tuning=rv.Tuning(table_layout="blocks", stealing=stealing))
        return sim.memory()["synapses"]

    # The begins of parts take memory.
    assert (synapse_bytes("auto") > synapse_bytes("none")) == (shortest == 0.1)


def test_currents_may_have_weights_of_both_signs() -> None:
    net = rv.Network()
    neurons = net.create(rv.iaf_psc_exp(), 2)
    net.stimulate(neurons, rv.dc_generator(amplitude=100.0), weight=[1.0, -1.0])
    sim = rv.Simulation(net, threads=1)
    sim.run(10.0)
    potentials = sim.get(neurons, "V_m")
    assert potentials[0] + potentials[1] == pytest.approx(-140.0)
    assert potentials[0] > -70.0


def test_arrays_of_the_description_are_counted_once() -> None:
    net = rv.Network()
    cells = net.create(rv.iaf_psc_exp(), 100)
    weight, delay = np.full(10_000, 1.0), np.full(10_000, 1.5)
    net.connect(cells, cells, "all_to_all", weight=weight, delay=delay)
    sims = [rv.Simulation(net, threads=1) for _ in range(2)]
    for sim in sims:
        assert sim.memory()["arrays"] == weight.nbytes + delay.nbytes
    assert predict_memory(net, ranks=1, threads=1)["arrays"] == weight.nbytes + delay.nbytes
    without = rv.Simulation(balanced()[0], threads=1)
    assert without.memory().get("arrays", 0) == 0
