"""Networks on the emulator of a GPU have the spikes, states and recordings of processors, bit for bit."""

from __future__ import annotations

import ctypes
import os
import random
import re
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

import bad_input
import ranvier as rv
from ranvier import errors, networks
from ranvier.simulation.options import grouped
from repository import ROOT

DURATION = 40.0  # ms

# A current that makes the neurons of a model fire, and a weight of its unit.
MODELS = {
    "iaf_psc_exp": (420.0, 45.0),
    "iaf_psc_alpha": (420.0, 45.0),
    "iaf_psc_delta": (420.0, 0.5),
    "aeif_cond_exp": (700.0, 2.0),
    "iaf_cond_exp": (400.0, 2.0),
    "izhikevich": (15.0, 0.2),
}


class Drawn(NamedTuple):
    """A network and its recordings."""

    net: rv.Network
    spikes: rv.SpikeRecorder
    states: rv.StateRecorder


def drawn_network(seed: int, model: str) -> Drawn:
    """Return a network of two populations with drawn delays and weights, and its recordings."""
    chosen = random.Random(seed)
    current, weight = MODELS[model]
    net = rv.Network(resolution=chosen.choice([0.1, 0.25]), seed=seed)
    shortest = chosen.choice([0.25, 0.5, 1.5])
    sizes = chosen.randrange(40, 120), chosen.randrange(3, 40)
    first = net.create(model, sizes[0], I_e=rv.Uniform(0.95 * current, 1.2 * current), name="first")
    second = net.create(model, sizes[1], I_e=1.1 * current, name="second")
    for source in (first, second):
        for target in (first, second):
            sign = 1.0 if source is first else -2.0
            net.connect(
                source,
                target,
                rv.FixedIndegree(chosen.randrange(1, 12)),
                weight=rv.Normal(sign * weight, 0.1 * weight),
                delay=rv.Uniform(shortest, shortest + chosen.choice([0.1, 4.0])),
            )
    states = net.record_state(first[::3], "V_m", interval=net.resolution * 7)
    return Drawn(net, net.record_spikes([first, second]), states)


def outcome(drawn: Drawn, sim: rv.Simulation) -> tuple[str, bytes, bytes]:
    """Return the spikes, what was recorded of the state, and the state."""
    trains = sim.spikes(drawn.spikes)
    assert len(trains) > 30, "a silent network proves nothing"
    states = np.concatenate([sim.get(population, "V_m") for population in drawn.net.populations])
    return trains.digest(), sim.state(drawn.states).values.tobytes(), states.tobytes()


def run(drawn: Drawn, pieces: int = 1, **options: Any) -> rv.Simulation:
    sim = rv.Simulation(drawn.net, progress=False, **grouped(options))
    for _ in range(pieces):
        sim.run(DURATION / pieces)
    return sim


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("seed", range(3))
def test_drawn_networks_have_the_bits_of_processors(seed: int, model: str) -> None:
    drawn = drawn_network(seed, model)
    blocks = 1 + (seed * 7 + len(model)) % 9
    on_device = run(drawn, pieces=2**seed, threads=1, device="cuda-emulator", shards=blocks)
    assert outcome(drawn, on_device) == outcome(drawn, run(drawn, threads=2))


def test_a_state_goes_on_elsewhere(tmp_path: Path) -> None:
    drawn = drawn_network(7, "iaf_psc_exp")
    expected = outcome(drawn, run(drawn, pieces=2, threads=2))
    half: dict[str, Any] = {"cpu": {"threads": 2}, "cuda-emulator": {"threads": 1, "shards": 5}}
    for first, second in (("cpu", "cuda-emulator"), ("cuda-emulator", "cpu"), ("cuda-emulator", "cuda-emulator")):
        sim = rv.Simulation(drawn.net, progress=False, device=first, **grouped(half[first]))
        sim.run(DURATION / 2)
        sim.save(tmp_path / "state.h5")
        later = rv.Simulation.load(
            drawn.net, tmp_path / "state.h5", progress=False, device=second, **grouped(half[second])
        )
        later.run(DURATION / 2)
        assert outcome(drawn, later) == expected, (first, second)


def changed(drawn: Drawn, **options: Any) -> tuple[str, bytes, bytes]:
    """Change weights with spikes in transit, a parameter, and a potential."""
    sim = rv.Simulation(drawn.net, progress=False, **grouped(options))
    sim.run(DURATION / 4)
    first, second = drawn.net.populations
    synapses = sim.connections(first, second)
    synapses.weights = 1.5 * synapses.weights
    sim.run(DURATION / 4)
    sim.set(first, I_e=1.3 * MODELS["iaf_psc_exp"][0])
    sim.run(DURATION / 4)
    sim.set(second, V_m=-66.0)
    sim.run(DURATION / 4)
    return outcome(drawn, sim)


def test_changes_have_the_effects_of_those_on_processors() -> None:
    drawn = drawn_network(8, "iaf_psc_exp")
    assert changed(drawn, threads=1, device="cuda-emulator", shards=3) == changed(drawn, threads=2)
    assert changed(drawn, threads=2) != outcome(drawn, run(drawn, pieces=4, threads=2))


# A word of some ten thousand is in the tail, beyond all thresholds: each run draws 10^5.
@pytest.mark.parametrize("seed", range(4))
def test_poisson_trains_have_the_bits_of_processors(seed: int) -> None:
    chosen = random.Random(seed)
    net = rv.Network(resolution=0.1, seed=seed)
    cells = net.create("iaf_psc_exp", 150, name="cells")
    others = net.create("iaf_psc_alpha", 37, name="others")
    net.connect(cells, others, rv.FixedIndegree(5), weight=30.0, delay=1.0)
    rates = [chosen.choice([0.0, 100.0, 8000.0, 150_000.0]) for _ in range(150)]
    net.stimulate(cells, rv.poisson_generator(rate=rates), weight=20.0, delay=0.1 * chosen.randrange(1, 20))
    net.stimulate(cells[::3], rv.poisson_generator(rate=9000.0, start=7.0, stop=20.0), weight=50.0)
    net.stimulate(others, rv.poisson_generator(rate=2000.0), weight=rv.Uniform(-60.0, -40.0))
    net.stimulate(others[5:20], rv.poisson_generator(rate=[1e4] * 15), weight=40.0)
    recorder = net.record_spikes([cells, others])
    states = net.record_state(cells, "V_m", interval=10.0)
    drawn = Drawn(net, recorder, states)
    found = run(drawn, pieces=4, threads=1, device="cuda-emulator", shards=1 + 2 * seed)
    assert outcome(drawn, found) == outcome(drawn, run(drawn, threads=2))


# Their sums are multiples of another quantum than those of the weights that the network was built with.
def test_weights_that_are_set_may_have_finer_digits() -> None:
    net = rv.Network(resolution=0.1, seed=1)
    cells = net.create("iaf_psc_exp", 40, I_e=rv.Uniform(380.0, 450.0))
    net.connect(cells, cells, rv.FixedIndegree(10), weight=64.0, delay=1.5)
    states = []
    for device in ("cpu", "cuda-emulator"):
        sim = rv.Simulation(net, threads=1, progress=False, device=device)
        sim.run(20.0)
        synapses = sim.connections(cells, cells)
        synapses.weights = 0.0013 * np.arange(len(synapses))
        sim.run(20.0)
        states.append(sim.get(cells, "V_m").tobytes())
    assert states[0] == states[1]


# A device draws their rows itself.
def test_tables_are_built_when_they_are_read() -> None:
    drawn = drawn_network(11, "iaf_psc_exp")
    first, second = drawn.net.populations
    expected = run(drawn, threads=2)
    sim = run(drawn, threads=1, device="cuda-emulator", shards=3)
    assert sim.memory()["synapses"] == 0
    assert sim.counts().synapses == expected.counts().synapses > 1000
    found, wanted = sim.connections(first, second), expected.connections(first, second)
    assert sim.memory()["synapses"] > 0
    for name in ("sources", "targets", "weights", "delays"):
        assert np.array_equal(getattr(found, name), getattr(wanted, name)), name
    # The rows of the device are not made again.
    sim.run(DURATION)
    expected.run(DURATION)
    assert outcome(drawn, sim) == outcome(drawn, expected)
    assert sim.counts().synaptic_events == expected.counts().synaptic_events


@pytest.mark.usefixtures("interrupts")
def test_building_tables_can_be_interrupted() -> None:
    net = rv.Network(resolution=0.1, seed=1)
    cells = net.create("iaf_psc_exp", 2500, I_e=400.0)
    # Threads poll 20 times a second.
    net.connect(cells, cells, rv.FixedIndegree(4000), weight=rv.Normal(1.0, 0.1), delay=rv.Uniform(1.0, 3.0))
    sim = rv.Simulation(net, threads=1, progress=False, device="cuda-emulator")
    timer = threading.Timer(0.01, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        sim.connections(targets=cells[:1])
    timer.join()
    assert sim.memory()["synapses"] == 0
    # As if nothing had happened.
    assert len(sim.connections(targets=cells[:1])) == 4000
    sim.run(1.0)


def test_a_state_is_saved_without_tables(tmp_path: Path) -> None:
    drawn = drawn_network(12, "iaf_psc_delta")
    sim = run(drawn, threads=1, device="cuda-emulator")
    sim.save(tmp_path / "state.h5")
    assert sim.memory()["synapses"] == 0
    later = rv.Simulation.load(drawn.net, tmp_path / "state.h5", progress=False, device="cpu", threads=2)
    later.run(DURATION)
    expected = run(drawn, threads=2)
    expected.run(DURATION)
    assert later.spikes(drawn.spikes).digest() == expected.spikes(drawn.spikes).digest()


# What a device does not draw has tables first.
@pytest.mark.parametrize("case", ["array", "expression", "mask", "explicit"])
def test_rows_of_tables(case: str) -> None:
    net = rv.Network(resolution=0.1, seed=3)
    cells = net.create("iaf_psc_exp", positions=rv.grid((10, 5), extent=(2.0, 1.0)), I_e=rv.Uniform(380.0, 450.0))
    arguments: dict[str, Any] = {"weight": rv.Normal(60.0, 9.0), "delay": rv.Uniform(0.5, 3.0)}
    if case == "array":
        arguments["weight"] = np.linspace(20.0, 90.0, 50 * 7)
    elif case == "expression":
        arguments["weight"] = "90*exp(-d)"
    if case == "mask":
        net.connect(cells, cells, rv.PairwiseBernoulli(0.5, mask=rv.circle(0.4)), **arguments)
    elif case == "explicit":
        net.connect(cells, cells, rv.Explicit([0, 1, 1], [1, 2, 2]), **arguments)
    else:
        net.connect(cells, cells, rv.FixedIndegree(7), **arguments)
    recorder = net.record_spikes(cells)
    outcomes = []
    for device in ("cpu", "cuda-emulator"):
        sim = rv.Simulation(net, threads=1, progress=False, device=device)
        assert sim.memory()["synapses"] > 0
        sim.run(DURATION)
        outcomes.append((sim.spikes(recorder).digest(), sim.get(cells, "V_m").tobytes()))
    assert outcomes[0] == outcomes[1]


@pytest.mark.parametrize("rule", [rv.FixedIndegree(7), rv.FixedOutdegree(9), rv.PairwiseBernoulli(0.2), rv.OneToOne()])
def test_parts_of_populations_are_drawn(rule: rv.Rule) -> None:
    net = rv.Network(resolution=0.1, seed=3)
    first, second = (net.create("iaf_psc_exp", size, I_e=rv.Uniform(380.0, 450.0)) for size in (61, 40))
    arguments: dict[str, Any] = {"weight": rv.Normal(60.0, 9.0), "delay": rv.Uniform(0.5, 3.0)}
    few = np.array([0, 1, 3, 4, 9, 20, 21, 22, 30, 31, 32, 33, 35, 36, 37, 38, 39])
    # Sources and targets overlap, are the same, and are apart.
    net.connect(first[1::3][:17], first[3::2][:17], rule, **arguments)
    net.connect(second[few], second[few], rule, **arguments)
    net.connect(first[::3][:17], second[few], rule, **arguments)
    recorder = net.record_spikes([first, second])
    outcomes = []
    for device in ("cpu", "cuda-emulator"):
        sim = rv.Simulation(net, threads=1, progress=False, device=device, tuning=rv.Tuning(shards=3))
        assert (sim.memory()["synapses"] == 0) == (device != "cpu")
        sim.run(DURATION)
        outcomes.append((sim.spikes(recorder).digest(), sim.get(first, "V_m").tobytes(), sim.counts().synapses))
    assert outcomes[0] == outcomes[1]


def joined_network(other: str) -> Drawn:
    """Return a network of a projection that a device draws, and of another one onto the same neurons."""
    net = rv.Network(resolution=0.1, seed=5)
    cells = net.create("iaf_psc_exp", positions=rv.grid((10, 5), extent=(2.0, 1.0)), I_e=rv.Uniform(380.0, 450.0))
    net.connect(cells, cells, rv.FixedIndegree(9), weight=rv.Normal(30.0, 9.0), delay=rv.Uniform(0.5, 4.0))
    arguments: dict[str, Any] = {"weight": rv.Uniform(10.0, 90.0), "delay": rv.Uniform(0.3, 2.0)}
    if other == "array":
        arguments["weight"] = np.linspace(20.0, 90.0, 50 * 7)
    elif other == "expression":
        arguments["weight"] = "90*exp(-d)"
    elif other == "changing":
        arguments["synapse"] = rv.stdp(W_max=120.0, learning_rate=0.05)
    net.connect(cells, cells, rv.FixedIndegree(7), **arguments)
    return Drawn(net, net.record_spikes(cells), net.record_state(cells[::5], "V_m", interval=2.0))


@pytest.mark.parametrize("other", ["array", "expression", "changing"])
def test_drawn_rows_are_joined_with_those_of_tables(other: str, tmp_path: Path) -> None:
    drawn = joined_network(other)
    (cells,) = drawn.net.populations
    expected = run(drawn, threads=2)
    sim = run(drawn, threads=1, pieces=2, device="cuda-emulator", shards=3)
    assert sim.counts().synapses == expected.counts().synapses > 500
    assert sim.counts().synaptic_events == expected.counts().synaptic_events
    # Only tables of synapses that change stay.
    kept = sim.memory()["synapses"]
    assert (kept > 0) == (other == "changing")
    sim.save(tmp_path / "state.h5")
    assert sim.memory()["synapses"] == kept
    later = rv.Simulation.load(drawn.net, tmp_path / "state.h5", progress=False, device="cpu", threads=2)
    found, wanted = sim.connections(cells, cells), expected.connections(cells, cells)
    assert sim.memory()["synapses"] > kept
    assert sim.counts().synapses == expected.counts().synapses
    for name in ("sources", "targets", "weights", "delays"):
        assert np.array_equal(getattr(found, name), getattr(wanted, name)), name
    # Contributions in transit outlast the building of tables, and a change of weights.
    sim.save(tmp_path / "with_tables.h5")
    again = rv.Simulation.load(drawn.net, tmp_path / "with_tables.h5", progress=False, device="cpu", threads=2)
    for each in (sim, expected, later, again):
        each.run(DURATION / 4)
        synapses = each.connections(cells, cells)
        synapses.weights = 0.9 * synapses.weights
        each.run(DURATION / 4)
    results = [outcome(drawn, each) for each in (sim, expected, later, again)]
    assert results == 4 * results[:1]


def test_delays_that_no_synapse_has_are_within_the_rings() -> None:
    """Blocks are laid out to the bounds of delays, also of projections without synapses here."""
    net = rv.Network(resolution=0.1, seed=1)
    cells = net.create("iaf_psc_exp", 30, I_e=rv.Uniform(380.0, 450.0))
    net.connect(cells, cells, rv.FixedIndegree(5), weight=60.0, delay=0.5)
    rule, synapse = rv.PairwiseBernoulli(1e-9), rv.tsodyks(tau_fac=50.0)
    net.connect(cells, cells, rule, weight=10.0, delay=rv.Uniform(0.5, 9.0), synapse=synapse)
    recorder = net.record_spikes(cells)
    digests = []
    for device in ("cpu", "cuda-emulator"):
        sim = rv.Simulation(net, threads=1, progress=False, device=device, tuning=rv.Tuning(shards=3))
        if device != "cpu":
            # More than 90 steps of the 30 inputs of each receptor.
            assert sim.memory()["device rings"] >= 8 * 30 * 91
        sim.run(DURATION)
        digests.append(sim.spikes(recorder).digest())
    assert digests[0] == digests[1]


def test_queries_of_synapses_that_change_need_no_static_tables() -> None:
    drawn = joined_network("changing")
    (cells,) = drawn.net.populations
    static, changing = drawn.net.projections
    expected = run(drawn, threads=2)
    sim = run(drawn, threads=1, device="cuda-emulator", shards=3)
    kept = sim.memory()["synapses"]
    found, wanted = sim.connections(projection=changing), expected.connections(projection=changing)
    for name in ("sources", "targets", "weights", "delays"):
        assert np.array_equal(getattr(found, name), getattr(wanted, name)), name
    assert sim.memory()["synapses"] == kept
    # They are the same synapses when the other tables are there.
    assert len(sim.connections(targets=cells[:1], projection=static)) == 9
    assert sim.memory()["synapses"] > kept
    assert np.array_equal(found.weights, wanted.weights)
    for each, synapses in ((sim, found), (expected, wanted)):
        synapses.weights = 0.5 * synapses.weights
        each.run(DURATION / 4)
    assert outcome(drawn, sim) == outcome(drawn, expected)


def test_weights_too_small_for_single_precision_are_refused_as_on_processors() -> None:
    net = rv.Network(resolution=0.1)
    cells = net.create("iaf_psc_exp", 30)
    net.connect(cells, cells, rv.FixedIndegree(9), weight=rv.Uniform(0.0, 1e-38), delay=1.0, name="faint")
    texts = []
    for device in ("cpu", "cuda-emulator"):
        with pytest.raises(errors.ValueOutOfBoundsError) as caught:
            rv.Simulation(net, threads=1, progress=False, device=device)
        texts.append(str(caught.value))
    assert texts[0] == texts[1]
    assert "faint" in texts[0]


def test_counts_are_those_of_processors() -> None:
    drawn = drawn_network(9, "iaf_psc_delta")
    expected, found = run(drawn, threads=2).counts(), run(drawn, threads=1, device="cuda-emulator").counts()
    assert (found.spikes, found.synaptic_events) == (expected.spikes, expected.synaptic_events)


@pytest.mark.parametrize(
    ("build", "named"),
    [
        (lambda net, cells: net.create("interval_fire", 1, name="clocks"), "interval_fire"),
        (lambda net, cells: net.create("iaf_psc_exp", 1, step=0.2, name="slow"), "'slow'"),
    ],
)
def test_what_devices_lack_is_refused_by_name(build: Any, named: str) -> None:
    net = rv.Network(resolution=0.1)
    build(net, net.create("iaf_psc_exp", 10))
    with pytest.raises(errors.StateError) as caught:
        rv.Simulation(net, threads=1, progress=False, device="cuda-emulator")
    bad_input.check(caught.value, "device", "'cuda-emulator'", named, "device='cpu'")


@pytest.mark.parametrize(
    ("options", "named"),
    [
        ({"weight_precision": "double"}, "single precision"),
        ({"stepping": "async"}, "async"),
        ({"tuning": rv.Tuning(trace=100)}, "times"),
        ({"tuning": rv.Tuning(trace_epochs=True)}, "times"),
        ({"tuning": rv.Tuning(measure_costs=True)}, "costs"),
    ],
)
def test_options_without_devices_are_refused(options: dict[str, Any], named: str) -> None:
    net = rv.Network(resolution=0.1)
    net.create("iaf_psc_exp", 10)
    with pytest.raises(errors.StateError) as caught:
        rv.Simulation(net, threads=1, progress=False, device="cuda-emulator", **options)
    bad_input.check(caught.value, "device", named)


def test_weights_that_need_wider_sums_are_refused() -> None:
    net = rv.Network(resolution=0.1)
    cells = net.create("iaf_psc_exp", 10)
    net.connect(cells, cells, rv.OneToOne(), weight=1e-12, delay=1.0)
    net.connect(cells, cells, rv.OneToOne(), weight=1e9, delay=1.0)
    with pytest.raises(errors.StateError) as caught:
        rv.Simulation(net, threads=1, progress=False, device="cuda-emulator")
    bad_input.check(caught.value, "device", "64 bits")


def test_a_condition_that_does_not_hold_ends_the_run(tmp_path: Path) -> None:
    net = rv.Network(resolution=0.1, seed=1)
    cells = net.create("aeif_cond_exp", 30, I_e=900.0)
    spikes = net.record_spikes(cells, to=tmp_path / "spikes.csv")
    sim = rv.Simulation(net, threads=1, progress=False, device="cuda-emulator")
    sim.run(50.0)
    sim.set(cells[7], I_e=-1e300)
    with pytest.raises(errors.StateError) as caught:
        sim.run(50.0)
    bad_input.check(caught.value, "neuron 7 of 'aeif_cond_exp_0'", "step 501", "condition", "processors")
    assert 50.0 < sim.time < 60.0
    assert len(sim.get(cells, "V_m")) == 30
    with pytest.raises(errors.StateError, match="an earlier run failed"):
        sim.run(1.0)
    with pytest.raises(errors.StateError, match="an earlier run failed"):
        sim.save(tmp_path / "state.h5")
    assert not (tmp_path / "state.h5").exists()
    written = rv.read_spikes(tmp_path / "spikes.csv")
    assert len(written) > 20
    assert written.digest() == sim.spikes(spikes).digest()


# The greatest delay of all synapses follows from random numbers, if delays have no bounds.
MEMORY = {"device synapses": 0.03, "device rings": 0.15, "device state": 0.1, "device spikes": 0.01}


@pytest.mark.parametrize(
    ("scene", "blocks"),
    [("drawn", 3), ("drawn", 9), ("microcircuit", 6), ("rates", 4), ("draws", 5), ("ring", 4), ("ring of shapes", 4)],
)
def test_memory_of_devices_is_predicted(scene: str, blocks: int) -> None:
    if scene == "microcircuit":
        net = networks.microcircuit(n_scaling=0.02, k_scaling=0.02, drive="poisson").net
    elif scene.startswith("ring"):
        net = networks.ring(cells=64, depth=3, shapes="equal" if scene == "ring" else "different").net
    elif scene == "drawn":
        net = drawn_network(11 + blocks, "aeif_cond_exp").net
    else:
        # Parameters and rates that differ, and noise.
        net = rv.Network(resolution=0.1, seed=3)
        cells = net.create("iaf_psc_exp", 200, I_e=rv.Uniform(1.0, 2.0), tau_m=rv.Uniform(8.0, 12.0))
        net.connect(cells, cells, rv.FixedIndegree(40), weight=1.0, delay=rv.Uniform(0.2, 6.0))
        if scene == "rates":
            net.stimulate(cells, rv.poisson_generator(rate=rv.Uniform(10.0, 9000.0)), weight=1.0)
        else:
            net.stimulate(cells[::2], rv.noise_generator(std=3.0))
    options = grouped({"threads": 1, "shards": blocks, "device": "cuda-emulator"})
    taken = rv.Simulation(net, progress=False, **options).memory()
    predicted = rv.predict_memory(net, **options)
    assert predicted["device kernels"] == taken["device kernels"] == 0
    for name, tolerance in MEMORY.items():
        # Arrays of a GPU are aligned: 256 bytes for each of seven arrays.
        assert predicted[name] == pytest.approx(taken[name], rel=tolerance, abs=256 * 7 * blocks), (
            name,
            predicted,
            taken,
        )
    # A GPU has more room for spikes, and leaves some memory to its driver.
    of_gpu = rv.predict_memory(net, **options | {"device": "cuda:3"})
    assert of_gpu["device kernels"] == 64 << 20
    assert of_gpu["device spikes"] > blocks << 20
    assert {name: of_gpu[name] for name in list(MEMORY)[:3]} == {name: predicted[name] for name in list(MEMORY)[:3]}
    assert rv.predict_memory(net, **options | {"device": "cpu"}).keys().isdisjoint(predicted.keys() & MEMORY.keys())


def test_memory_of_devices_is_divided_by_ranks() -> None:
    net = networks.microcircuit(scale=1.0).net
    one, four = (rv.predict_memory(net, ranks=ranks, device="cuda") for ranks in (1, 4))
    # Rows begin with 8 bytes for each source and block.
    rows = 8 * 132 * net.neuron_count
    assert four["device synapses"] - rows < 0.3 * (one["device synapses"] - rows)
    assert four["device rings"] < 0.3 * one["device rings"]


def test_the_check_of_a_device_runs(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "tools/check_device"), "gpu", "--small", "--device", "cuda-emulator"]
    done = subprocess.run([*command, "--out", str(tmp_path)], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    text = (tmp_path / "gpu.txt").read_text()
    assert text.count("same spikes") == 5
    assert "two blocks each" in text
    for wrong in ("OTHER SPIKES", "did not run", "no time"):
        assert wrong not in text, text
    # The emulator counts how often parts run: each step once.
    assert re.search(r"update +1 +1\n", text)


@pytest.mark.parametrize("device", ["cuda-emulater", "cuda:", "cuda:-1", "cuda:x", "gpu"])
def test_unknown_devices_are_refused(device: str) -> None:
    net = rv.Network(resolution=0.1)
    net.create("iaf_psc_exp", 10)
    with pytest.raises(errors.UnknownNameError, match="cuda-emulator"):
        rv.Simulation(net, device=device, progress=False)


def has_driver() -> bool:
    try:
        ctypes.CDLL("libcuda.so.1")
    except OSError:
        return False
    return True


@pytest.mark.skipif(has_driver(), reason="this machine has a driver of NVIDIA")
@pytest.mark.parametrize("device", ["cuda", "cuda:1"])
def test_a_missing_driver_is_reported(device: str) -> None:
    net = rv.Network(resolution=0.1)
    net.create("iaf_psc_exp", 10)
    with pytest.raises(errors.DeviceError) as caught:
        rv.Simulation(net, device=device, progress=False)
    bad_input.check(caught.value, "NVIDIA's driver", "libcuda.so.1", "cannot be loaded", "install the driver")
