"""Stimuli, sources and random numbers on the emulator of a GPU have the bits of processors."""

from __future__ import annotations

import signal
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from all_trains import TRAINS, model_of
from ranvier import _core, errors
from ranvier.equations.library import built
from ranvier.models import STIMULATORS
from ranvier.simulation.options import grouped

DURATION = 40.0  # ms

CURRENTS: dict[str, list[dict[str, Any]]] = {
    "dc_generator": [
        {"amplitude": 500.0, "start": 3.0, "stop": 30.0},
        {"amplitude": rv.Uniform(300.0, 600.0)},
        {"amplitude": 480.0, "start": [0.1 * i for i in range(50)]},
    ],
    "ac_generator": [
        {"amplitude": 300.0, "offset": 400.0, "frequency": 70.0, "phase": 20.0},
        {"amplitude": rv.Uniform(0.0, 300.0), "offset": 450.0, "frequency": 30.0, "stop": 33.0},
    ],
    "step_current_generator": [
        {"times": [1.0, 4.5, 20.0], "amplitudes": [600.0, 0.0, 500.0]},
        {"times": [0.0, 13.0], "amplitudes": [450.0, 520.0], "stop": [20.0 + 0.1 * i for i in range(50)]},
    ],
    "noise_generator": [
        {"mean": 400.0, "std": 200.0},
        {"mean": rv.Uniform(300.0, 500.0), "std": 300.0, "std_mod": 200.0, "frequency": 90.0, "interval": 0.3},
        {"mean": 400.0, "std": 300.0, "interval": [0.1 + 0.1 * (i % 4) for i in range(50)], "start": 2.0},
    ],
}


def outcome(net: rv.Network, sim: rv.Simulation) -> tuple[str, bytes]:
    """Return the spikes and the state."""
    recorder = next(each for each in net.recorders if isinstance(each, rv.SpikeRecorder))
    trains = sim.spikes(recorder)
    assert len(trains) > 30, "a silent network proves nothing"
    potentials = [sim.get(each, "V_m") for each in net.populations if each.name in {"cells", "others"}]
    return trains.digest(), np.concatenate(potentials).tobytes()


def run(net: rv.Network, pieces: int = 1, **options: Any) -> tuple[str, bytes]:
    sim = rv.Simulation(net, progress=False, **grouped(options))
    for _ in range(pieces):
        sim.run(DURATION / pieces)
    return outcome(net, sim)


def on_device(net: rv.Network, pieces: int = 1, shards: int = 3) -> tuple[str, bytes]:
    return run(net, pieces, threads=1, device="cuda-emulator", shards=shards)


def two_populations(seed: int) -> tuple[rv.Network, rv.Population, rv.Population]:
    """Return a built-in model and one of equations, with synapses."""
    net = rv.Network(resolution=0.1, seed=seed)
    cells = net.create("iaf_psc_exp", 50, name="cells")
    others = net.create("aeif_cond_exp", 20, name="others")
    net.connect(cells, others, rv.FixedIndegree(5), weight=15.0, delay=rv.Uniform(0.7, 3.0))
    net.connect(others, cells, rv.FixedIndegree(3), weight=-40.0, delay=1.1)
    net.record_spikes([cells, others])
    return net, cells, others


def test_all_stimulators_are_tested() -> None:
    assert {*CURRENTS, *TRAINS} == set(STIMULATORS)


@pytest.mark.parametrize("name", CURRENTS)
def test_currents_have_the_bits_of_processors(name: str) -> None:
    net, cells, others = two_populations(3)
    generator = STIMULATORS[name]
    for number, values in enumerate(CURRENTS[name]):
        net.stimulate(cells, generator(**values), weight=0.6, delay=0.1 * (1 + 7 * number))
    net.stimulate(cells[::3], generator(**CURRENTS[name][0]), weight=rv.Uniform(0.0, 0.4))
    net.stimulate(others, generator(**CURRENTS[name][0]), weight=rv.Uniform(0.8, 1.2))
    net.stimulate(others[3:9], generator(**CURRENTS[name][0]), weight=-0.3)
    assert on_device(net, pieces=4, shards=3 + len(name) % 7) == run(net, threads=2)


@pytest.mark.parametrize("name", TRAINS)
def test_trains_have_the_bits_of_processors(name: str) -> None:
    net, cells, others = two_populations(4)
    net.stimulate(cells, model_of(name), weight=3000.0, delay=0.7)
    net.stimulate(cells[1::2], model_of(name), weight=rv.Uniform(100.0, 3000.0))
    net.stimulate(others[4:], model_of(name), weight=60.0)
    # Rounding depends on the order of stimuli of one receptor.
    net.stimulate(cells, rv.poisson_generator(rate=9000.0), weight=0.1)
    net.stimulate(cells, model_of(name), weight=0.3)
    assert on_device(net, pieces=4, shards=3 + len(name) % 7) == run(net, threads=2)


@pytest.mark.parametrize("name", TRAINS)
def test_sources_have_the_spikes_of_processors(name: str) -> None:
    net, cells, others = two_populations(5)
    sources = net.create(model_of(name), 30, name="sources")
    net.connect(sources, cells, rv.FixedIndegree(12), weight=90.0, delay=rv.Uniform(0.3, 2.0))
    net.connect(sources, others, rv.FixedIndegree(2), weight=9.0, delay=1.5)
    recorders = [*(each for each in net.recorders if isinstance(each, rv.SpikeRecorder)), net.record_spikes(sources)]
    found = []
    for options in ({"threads": 2}, {"threads": 1, "device": "cuda-emulator", "shards": 4}):
        sim = rv.Simulation(net, progress=False, **grouped(options))
        for _ in range(2):
            sim.run(DURATION / 2)
        digests = [sim.spikes(each).digest() for each in recorders]
        assert len(sim.spikes(recorders[1])) > 100
        found.append((digests, sim.counts().spikes, sim.counts().synaptic_events, sim.get(cells, "V_m").tobytes()))
    assert found[0] == found[1]


def test_means_without_thresholds_have_the_bits_of_processors() -> None:
    net, cells, others = two_populations(6)
    rates = [0.0, 100.0, 170_000.0, 4e6, 1e8] * 10
    net.stimulate(cells, rv.poisson_generator(rate=rates), weight=[2.0, 2.0, 2.0, 0.1, 0.004] * 10)
    net.stimulate(others, rv.poisson_generator(rate=200_000.0), weight=0.1)
    assert on_device(net, pieces=2) == run(net, threads=2)


def every_signal(seed: int, *, samples: bool = True) -> rv.Network:
    """Return a network whose stimuli and sources have state, kernels or neither."""
    net, cells, others = two_populations(seed)
    generators = net.create_spike_generators([[3.0, 3.0, 3.0, 20.0], [], [5.0 + i for i in range(30)]], name="given")
    trains = net.create(rv.gamma_generator(rate=rv.Uniform(50.0, 200.0), shape=3.0), 25, name="trains")
    clocks = net.create("ignore_and_fire", 15, rate=rv.Uniform(30.0, 200.0), phase=rv.Uniform(0.0, 1.0), name="clocks")
    for sources, weight in ((generators, 100.0), (trains, 30.0), (clocks, 60.0)):
        net.connect(sources, cells, rv.FixedIndegree(4), weight=weight, delay=rv.Uniform(0.4, 3.0))
    # What they ignore.
    net.connect(cells, clocks, rv.FixedIndegree(4), weight=1.0, delay=1.0)
    net.stimulate(clocks, rv.poisson_generator(rate=100.0), weight=1.0)
    net.stimulate(cells, rv.gamma_generator(rate=900.0, shape=2.0), weight=rv.Uniform(20.0, 60.0), name="renewal")
    net.stimulate(cells[10:], rv.noise_generator(mean=200.0, std=100.0, interval=0.5), name="noise")
    net.stimulate(others, rv.dc_generator(amplitude=400.0), weight=rv.Uniform(0.9, 1.1), name="direct")
    net.stimulate(others, rv.poisson_generator(rate=900.0), weight=5.0, name="poisson")
    if samples:
        net.record_state(clocks, "phase", interval=0.7)
        net.record_state(cells[::4], "V_m", interval=1.3)
    return net


def everything(net: rv.Network, sim: rv.Simulation) -> tuple[Any, ...]:
    recordings = [sim.state(each).values.tobytes() for each in net.recorders if isinstance(each, rv.StateRecorder)]
    (clocks,) = (each for each in net.populations if each.name == "clocks")
    return (*outcome(net, sim), *recordings, sim.get(clocks, "phase").tobytes(), sim.counts().synaptic_events)


WAYS: dict[str, dict[str, Any]] = {
    "cpu": {"threads": 2},
    "cuda-emulator": {"threads": 1, "device": "cuda-emulator", "shards": 5},
}


def test_values_that_are_set_have_the_effects_of_those_on_processors() -> None:
    net = every_signal(7)
    part: dict[str, Any] = {each.name: each for each in net.populations}
    part |= {each.name: each for each in net.stimuli}
    found = []
    for options in WAYS.values():
        sim = rv.Simulation(net, progress=False, **grouped(options))
        sim.run(DURATION / 4)
        sim.set(part["given"], spike_times=[[12.0] * 70, [13.0, 14.0], []])
        sim.set(part["trains"], rate=300.0)
        sim.set(part["clocks"], rate=rv.Uniform(100.0, 300.0))
        sim.run(DURATION / 4)
        sim.set(part["renewal"], rate=1500.0, weight=30.0)
        sim.set(part["noise"], mean=rv.Uniform(200.0, 400.0), interval=[0.1 * (1 + i % 3) for i in range(40)])
        sim.run(DURATION / 4)
        sim.set(part["direct"], amplitude=800.0)
        # Its rates have had thresholds, and have them again.
        sim.set(part["poisson"], rate=300_000.0, weight=0.01)
        sim.run(DURATION / 8)
        sim.set(part["poisson"], rate=2000.0, weight=5.0)
        sim.run(DURATION / 8)
        found.append(everything(net, sim))
    assert found[0] == found[1]


def test_a_state_goes_on_elsewhere(tmp_path: Path) -> None:
    net = every_signal(8)
    expected = rv.Simulation(net, progress=False, **grouped(WAYS["cpu"]))
    expected.run(DURATION)
    for first, second in (("cpu", "cuda-emulator"), ("cuda-emulator", "cpu"), ("cuda-emulator", "cuda-emulator")):
        sim = rv.Simulation(net, progress=False, **grouped(WAYS[first]))
        sim.run(DURATION / 2)
        sim.save(tmp_path / "state.h5")
        later = rv.Simulation.load(net, tmp_path / "state.h5", progress=False, **grouped(WAYS[second]))
        later.run(DURATION / 2)
        assert everything(net, later) == everything(net, expected), (first, second)


@pytest.mark.usefixtures("interrupts")
def test_a_run_goes_on_after_an_interruption() -> None:
    """What the host has calculated ahead is taken back."""
    # Without samples, it calculates for 100 ms at once.
    net = every_signal(9, samples=False)
    device = rv.Simulation(net, progress=False, **grouped(WAYS["cuda-emulator"]))

    def interrupt() -> None:
        time.sleep(0.1)
        signal.raise_signal(signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        device.run(100_000.0)
    thread.join()
    assert device.step % 1000 > 0
    device.run(DURATION - 0.1 * (device.step % 100))
    processors = rv.Simulation(net, progress=False, **grouped(WAYS["cpu"]))
    processors.run(device.time)
    assert everything(net, device) == everything(net, processors)


def relaying(seed: int) -> rv.Network:
    """Return a network in which relays get spikes of sources, neurons, stimuli and each other, many in a step."""
    net, cells, others = two_populations(seed)
    trains = net.create(rv.poisson_generator(rate=rv.Uniform(0.0, 3000.0)), 40, name="trains")
    relays = net.create("parrot_neuron", 25, name="relays")
    second = net.create("parrot_neuron", 3, name="second")
    net.connect(trains, relays, rv.FixedIndegree(4), weight=1.0, delay=rv.Uniform(0.2, 2.0))
    net.connect(cells, relays, rv.FixedIndegree(3), weight=1.0, delay=0.9)
    net.connect(relays, second, rv.AllToAll(), weight=1.0, delay=0.3)
    net.stimulate(relays[3:], rv.pulsepacket_generator(pulse_times=[9.0], activity=300, sdev=0.3), weight=1.0)
    net.connect(relays, cells, rv.FixedIndegree(5), weight=10.0, delay=rv.Uniform(0.2, 1.0))
    net.connect(second, others, rv.FixedIndegree(2), weight=0.2, delay=2.0)
    net.record_spikes([relays, second])
    return net


@pytest.mark.parametrize("shards", [1, 6])
def test_relays_have_the_spikes_of_processors(shards: int) -> None:
    net = relaying(10)
    found = []
    for options in (WAYS["cpu"], {**WAYS["cuda-emulator"], "shards": shards}):
        sim = rv.Simulation(net, progress=False, **grouped(options))
        sim.run(DURATION / 2)
        sim.run(DURATION / 2)
        spikes = [sim.spikes(each) for each in net.recorders if isinstance(each, rv.SpikeRecorder)]
        found.append(([each.digest() for each in spikes], sim.counts().synaptic_events))
    assert np.unique(np.stack([spikes[1].steps, spikes[1].ids]), axis=1, return_counts=True)[1].max() > 30
    assert found[0] == found[1]


def test_relays_go_on_elsewhere(tmp_path: Path) -> None:
    net = relaying(11)
    expected = run(net, threads=2)
    for first, second in (("cpu", "cuda-emulator"), ("cuda-emulator", "cpu")):
        sim = rv.Simulation(net, progress=False, **grouped(WAYS[first]))
        sim.run(9.1)  # amid the packet
        sim.save(tmp_path / "state.h5")
        later = rv.Simulation.load(net, tmp_path / "state.h5", progress=False, **grouped(WAYS[second]))
        later.run(DURATION - 9.1)
        assert outcome(net, later) == expected, (first, second)


@pytest.mark.parametrize("number", [1024, 40_000])
def test_too_many_spikes_are_an_error(number: int) -> None:
    """More than a relay can relay, and more of sources than a block can count in a step."""
    net = rv.Network(resolution=0.1)
    sources = net.create_spike_generators([[1.0] * number], name="sources")
    if number == 1024:
        net.connect(sources, net.create("parrot_neuron", 3), rv.AllToAll(), weight=1.0, delay=0.1)
    else:
        net.connect(sources, net.create("iaf_psc_exp", 3), rv.AllToAll(), weight=1.0, delay=0.1)
    sim = rv.Simulation(net, progress=False, **grouped(WAYS["cuda-emulator"]))
    with pytest.raises(errors.StateError, match=r"it cannot relay" if number == 1024 else r"32767 spikes in a step"):
        sim.run(3.0)


SINGLE = {"iaf_psc_exp": (420.0, 45.0), "iaf_psc_alpha": (420.0, 45.0), "iaf_psc_delta": (420.0, 0.5)}


@pytest.mark.parametrize("model", SINGLE)
def test_single_precision_has_the_bits_of_processors(model: str, tmp_path: Path) -> None:
    current, weight = SINGLE[model]
    net = rv.Network(resolution=0.1, seed=3)
    cells = net.create(model, 90, I_e=rv.Uniform(0.95 * current, 1.1 * current), name="cells")
    net.connect(cells, cells, rv.FixedIndegree(9), weight=rv.Normal(0.0, weight), delay=rv.Uniform(0.6, 4.0))
    net.stimulate(cells, rv.poisson_generator(rate=3000.0), weight=0.2 * weight)
    net.stimulate(cells[::2], rv.noise_generator(std=100.0, interval=0.1))
    net.record_spikes(cells)
    expected = run(net, threads=2, precision="single")
    assert expected != run(net, threads=2)
    assert run(net, 2, threads=1, device="cuda-emulator", shards=5, precision="single") == expected
    for first, second in (("cpu", "cuda-emulator"), ("cuda-emulator", "cpu")):
        sim = rv.Simulation(net, progress=False, precision="single", **grouped(WAYS[first]))
        sim.run(DURATION / 2)
        sim.save(tmp_path / "state.h5")
        later = rv.Simulation.load(
            net, tmp_path / "state.h5", progress=False, precision="single", **grouped(WAYS[second])
        )
        later.run(DURATION / 2)
        assert outcome(net, later) == expected, (first, second)


def test_models_without_single_precision_are_refused() -> None:
    net = rv.Network(resolution=0.1)
    net.create("iaf_cond_nmda", 4, name="slow")
    with pytest.raises(errors.StateError, match=r"iaf_cond_nmda.*'slow' in single precision"):
        rv.Simulation(net, threads=1, progress=False, device="cuda-emulator", precision="single")


# A current that makes the neurons of a model fire.
DRAWING = {
    "gif_cond_exp": 700.0,
    "gif_cond_exp_multisynapse": 700.0,
    "gif_psc_exp": 400.0,
    "gif_psc_exp_multisynapse": 400.0,
    "pp_psc_delta": 300.0,
}


@pytest.mark.parametrize("model", DRAWING)
def test_equations_that_draw_have_the_bits_of_processors(model: str) -> None:
    net = rv.Network(resolution=0.1, seed=1)
    cells = net.create(model, 70, I_e=DRAWING[model], name="cells")
    receptor = built(model).program.receptors[0]
    weight = 2.0 if "cond" in model else 0.3 if "delta" in model else 20.0
    net.connect(cells, cells, rv.FixedIndegree(8), weight=weight, delay=rv.Uniform(0.5, 3.0), receptor=receptor)
    net.stimulate(cells[::2], rv.noise_generator(std=100.0, interval=0.1))
    net.record_spikes(cells)
    assert on_device(net, pieces=2, shards=2 + len(model) % 5) == run(net, threads=2)


def test_pairs_of_draws_have_the_bits_of_processors() -> None:
    """Draws of a pair share a block of random bits; those without a partner share one with the next step."""
    net = rv.Network(resolution=0.1, seed=2)
    for number, reset in enumerate(("v = 3*rand()", "v = rand() + 2*randn()")):
        noisy = rv.neuron(
            "dv/dt = -v/tau + sigma*sqrt(2/tau)*xi : 1",
            threshold="rand() < p",
            reset=reset,
            parameters={"tau": "10 ms", "p": 0.02, "sigma": 1.0},
            name=f"noisy_{number}",
        )
        net.create(noisy, 40, name=noisy.name)
    recorder = net.record_spikes(list(net.populations))
    found = []
    for options in WAYS.values():
        sim = rv.Simulation(net, progress=False, **grouped(options))
        sim.run(DURATION)
        spikes = sim.spikes(recorder)
        assert len(spikes) > 100
        found.append((spikes.digest(), [sim.get(each, "v").tobytes() for each in net.populations]))
    assert found[0] == found[1]


def test_each_model_runs_or_is_refused_by_name() -> None:
    refused = []
    for model in _core.neuron_models():
        if model.is_source:
            continue
        net = rv.Network(resolution=0.1)
        net.create(model.name, 4)
        try:
            rv.Simulation(net, threads=1, progress=False, device="cuda-emulator").run(0.5)
        except errors.StateError as error:
            refused.append((model.name, f"the model '{model.name}'" in str(error)))
    assert refused == [("interval_fire", True)]
