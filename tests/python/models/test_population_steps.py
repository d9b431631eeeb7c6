"""Populations with steps of their own, whole multiples of the resolution."""

from __future__ import annotations

import hashlib
import json
import math
import pickle
import random
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from mpi_runs import WHEELS, run_python
from ranvier.simulation.options import grouped
from ranvier.simulation.predictions import predict_memory
from repository import SUPPORT
from thorough_cases import every, one_of_each

TIME = 60.0
RUNS = ((0, "alltoall"), (4, "allgather"))  # seeds and methods
SOMA = rv.Section(length=20.0, diameter=20.0)
CELL = rv.Cell(
    rv.Morphology([SOMA, rv.Section(length=80.0, diameter=2.0, parent=0, tag="basal")]),
    compartments=2,
    membrane=[("all", rv.hh())],
    receptors={"exc": (rv.expsyn(tau=2.0), rv.at(1, 0.7))},
    probes={"g": "exc"},
)


def uniform(resolution: float, step: float, *, wide: bool = False, learns: bool = False) -> rv.Network:
    """Return a network whose populations all have one step, with stimuli and recorders."""
    net = rv.Network(resolution=resolution, seed=4)
    cells = net.create(CELL, 11, name="cells", step=step, I_e=60.0)
    points = net.create(rv.iaf_psc_exp(I_e=rv.Uniform(360.0, 500.0)), 30, name="points", step=step)
    starters = net.create_spike_generators([[0.4, 0.8, 0.8, 5.2], [2.0]])
    weight: Any = rv.LogNormal(2.0, 6.0, high=400.0) if wide else rv.Uniform(10.0, 90.0)
    synapse: Any = rv.stdp(W_max=3.0) if learns else "static_synapse"
    net.connect(starters, points, "all_to_all", weight=50.0, delay=0.4)
    net.connect(cells, points, rv.FixedIndegree(4), weight=weight, delay=rv.Uniform(0.5, 3.0))
    net.connect(points, points, rv.FixedIndegree(5), weight=weight, delay=rv.Uniform(0.7, 6.0))
    net.connect(points, cells, rv.FixedIndegree(3), weight=1.5, delay=rv.Uniform(0.9, 3.0), synapse=synapse)
    net.stimulate(points, rv.poisson_generator(rate=3000.0, start=4.0), weight=15.0)
    net.stimulate(cells, rv.step_current_generator(times=[8.0, 20.0], amplitudes=[30.0, -20.0]))
    net.record_spikes([cells, points])
    net.record_state(cells, ["V_m", "g"])
    net.record_state(points, ["V_m"], interval=1.2)
    return net


def outcome(net: rv.Network, cuts: tuple[float, ...] = (), **options: Any) -> list[Any]:
    """Return spikes and samples, with their times."""
    simulation = rv.Simulation(net, **grouped(options))
    for end in (*cuts, TIME):
        simulation.run_until(end)
    return found(simulation, net)


def found(simulation: rv.Simulation, net: rv.Network) -> list[Any]:
    """Return all that was recorded."""
    first, *others = net.recorders
    assert isinstance(first, rv.SpikeRecorder)
    spikes = simulation.spikes(first)
    assert len(spikes) > 100, "a silent network proves nothing"
    parts: list[Any] = [spikes.times.tolist(), spikes.ids.tolist()]
    for recorder in others:
        assert isinstance(recorder, rv.StateRecorder)
        data = simulation.state(recorder)
        parts += [data.times.tolist(), hashlib.sha256(data.values.tobytes()).hexdigest()]
    return parts


@pytest.mark.parametrize(
    ("resolution", "step", "wide"), one_of_each([(0.1, 0.4), (0.05, 0.4), (0.025, 0.1)], [False, True])
)
def test_equal_steps_do_as_that_resolution(resolution: float, step: float, wide: bool) -> None:
    """A finer resolution changes nothing if no population takes it."""
    expected = outcome(uniform(step, step, wide=wide), threads=1)
    chance = random.Random(1)
    for layout, window in (("runs", 2), ("ring", 32), ("blocks", 8)):
        cuts = tuple(sorted(round(resolution * chance.randint(1, round(TIME / resolution)), 6) for _ in range(3)))
        options: dict[str, Any] = {"threads": chance.randint(1, 3), "table_layout": layout, "delivery_window": window}
        assert outcome(uniform(resolution, step, wide=wide), cuts, **options) == expected


def test_synapses_that_learn_do_as_with_that_resolution() -> None:
    """Weights decay over as many milliseconds, to rounding."""
    expected = outcome(uniform(0.4, 0.4, learns=True))
    other = outcome(uniform(0.1, 0.4, learns=True), (7.1, 30.3), threads=2)
    assert other[:3] == expected[:3]


def mixed(seed: int) -> rv.Network:
    """Return a network of populations with different steps."""
    chance = random.Random(seed)
    net = rv.Network(resolution=0.05, seed=seed)
    cells = net.create(CELL, chance.randint(2, 20), name="cells", step=0.05 * chance.choice([1, 2, 3]), I_e=60.0)
    points = net.create(rv.iaf_psc_exp(I_e=rv.Uniform(360.0, 500.0)), 25, step=0.05 * chance.choice([1, 2, 5, 8]))
    others = net.create(rv.iaf_psc_exp(I_e=400.0), 10, step=None)
    everyone: list[rv.Population] = [cells, points, others]
    delay = rv.Uniform(0.45 * chance.choice([1, 4]), 3.0)
    weight: Any = chance.choice([rv.Uniform(5.0, 80.0), rv.LogNormal(1.0, 6.0, high=300.0)])
    for targets in (points, others):
        net.connect(everyone, targets, rv.FixedIndegree(6), weight=weight, delay=delay)
    synapse: Any = chance.choice(["static_synapse", rv.stdp(W_max=3.0), rv.tsodyks2()])
    net.connect([points, others], cells, rv.FixedIndegree(4), weight=0.8, delay=delay, synapse=synapse)
    net.stimulate([cells, points], rv.noise_generator(mean=10.0, std=40.0, interval=round(0.05 * 120, 6)))
    net.stimulate(points, rv.poisson_generator(rate=2000.0), weight=20.0)
    net.record_spikes(everyone)
    net.record_state(cells, ["V_m", "g"])
    net.record_state([points, others], ["V_m"])
    return net


@pytest.mark.parametrize("seed", every(3, range(6)))
def test_mixed_steps_give_the_same_bits(seed: int, tmp_path: Path) -> None:
    """However the work is cut, and with a state that was saved between two steps of some neurons."""
    net = pickle.loads(pickle.dumps(mixed(seed)))
    expected = outcome(net, threads=1, delivery_window=1, table_layout="ring")
    chance = random.Random(seed)
    half = round(0.05 * chance.randint(1, 1199), 6)
    assert outcome(net, (half,), threads=3, table_layout="runs", delivery_window=8) == expected
    first = rv.Simulation(net, threads=2)
    first.run(half)
    first.save(tmp_path / "state.h5")
    second = rv.Simulation.load(net, tmp_path / "state.h5", threads=chance.randint(1, 3))
    second.run_until(TIME)
    assert found(second, net) == expected


def test_delays_and_spikes_lie_on_the_grid_of_the_neurons() -> None:
    """To the nearest step of the targets, half of one up; spikes between two steps act in the one that lasts."""
    net = rv.Network(resolution=0.1)
    given = [0.5, 0.6, 0.7]
    sources = net.create_spike_generators([[time] for time in given])
    targets = net.create("iaf_psc_delta", 3, step=0.4, t_ref=0.4)
    delays = np.array([0.5, 0.6, 1.3])
    net.connect(sources, targets, "one_to_one", weight=30.0, delay=delays)
    recorder = net.record_spikes(targets)
    simulation = rv.Simulation(net)
    acting = np.sort(simulation.connections().delays)
    np.testing.assert_array_equal(acting, [0.4, 0.8, 1.2])
    simulation.run(5.0)
    arrivals = np.array(given) + acting
    expected = np.ceil(arrivals / 0.4 - 1e-9) * 0.4
    spikes = simulation.spikes(recorder)
    np.testing.assert_allclose(spikes.times[np.argsort(spikes.ids)], expected, rtol=1e-12)
    assert targets.step == 0.4
    assert sources.step == 0.1
    assert simulation.epoch_steps == 4


def test_many_fine_spikes_are_summed_exactly() -> None:
    """A source that fires in each short step has all of its spikes in one long step of the target."""
    net = rv.Network(resolution=0.1)
    source = net.create_spike_generators([np.arange(1, 41) * 0.1])
    target = net.create("iaf_psc_delta", 1, step=0.8, tau_m=1e9, V_th=1e6)
    net.connect(source, target, "all_to_all", weight=1.0 + 2.0**-20, delay=0.8)
    recorder = net.record_state(target, "V_m")
    simulation = rv.Simulation(net)
    simulation.run(4.8)
    values = simulation.state(recorder).values[:, 0, 0]
    np.testing.assert_allclose(np.diff(values), [8.0, 8.0, 8.0, 8.0, 8.0], rtol=1e-5)


def test_refused_steps() -> None:
    """With an error that names the population, the step and what to do."""
    net = rv.Network(resolution=0.1)
    for step, error in (
        (0.25, rv.errors.GridError),
        (0.05, rv.errors.GridError),
        (0.0, rv.errors.ValueOutOfBoundsError),
        (-0.1, rv.errors.ValueOutOfBoundsError),
        (math.nan, rv.errors.ValueOutOfBoundsError),
        (math.inf, rv.errors.ValueOutOfBoundsError),
        (102.5, rv.errors.ValueOutOfBoundsError),
        (1e300, rv.errors.GridError),
    ):
        with pytest.raises(error, match="step of population 'points'"):
            net.create("iaf_psc_exp", 3, "points", step=step)
    wrong: Any
    for wrong in ("0.2", [0.1], True, 1j):
        with pytest.raises(TypeError, match="step"):
            net.create("iaf_psc_exp", 3, step=wrong)
    assert len(net.populations) == 0
    slow = net.create("iaf_psc_exp", 3, "slow", step=0.4)
    fast = net.create("iaf_psc_exp", 3, "fast")
    with pytest.raises(rv.errors.StateError, match="steps of populations"):
        net.resolution = 0.2
    with pytest.raises(rv.errors.ValueOutOfBoundsError, match="all targets of a projection must have the same step"):
        net.connect(fast, [slow, fast], "all_to_all")
    with pytest.raises(rv.errors.DelayError, match=r"rounds to less than one step of the targets, 0\.4 ms"):
        net.connect(fast, slow, "all_to_all", delay=0.1)
    with pytest.raises(rv.errors.DelayError, match="element 8"):
        net.connect(fast, slow, "all_to_all", delay=np.array([0.4] * 8 + [0.19]))
    with pytest.raises(rv.errors.DelayError, match=r"low= at half a step, 0\.2 ms"):
        net.connect(fast, slow, "all_to_all", delay=rv.Uniform(0.1, 0.4))
    with pytest.raises(rv.errors.DelayError, match="65535 steps"):
        net.connect(fast, slow, "all_to_all", delay=6553.5)
    with pytest.raises(rv.errors.GridError, match=r"step of population 'slow', 0\.4 ms"):
        net.record_state([slow, fast], "V_m", interval=0.2)
    with pytest.raises(rv.errors.GridError, match=r"step of population 'slow', 0\.4 ms"):
        net.stimulate([fast, slow], rv.dc_generator(amplitude=1.0, start=0.3))
    assert net.record_state([slow, fast], "V_m").interval == 0.4
    assert net.connect(fast, slow, "all_to_all", delay=0.2) is net.projections[0]


def test_inputs_that_wait_are_predicted() -> None:
    """Rows of the ring for the steps that neurons have not read."""
    net = uniform(0.1, 0.4)
    simulation = rv.Simulation(net, threads=1)
    assert simulation.memory()["inputs"] == predict_memory(net, ranks=1, threads=1)["inputs"]


def test_a_dry_run_sends_spikes_on_the_grid() -> None:
    """Spikes that are assumed lie at multiples of the step of their population, at the assumed rate."""
    net = rv.Network(resolution=0.1)
    slow = net.create(rv.iaf_psc_delta(V_th=1e6), 500, step=0.8)
    net.connect(slow, slow, rv.FixedIndegree(10), weight=0.1, delay=1.0)
    recorder = net.record_state(slow, "V_m", interval=0.8)
    simulation = rv.Simulation(net, recordings="local", threads=1, dry_run=rv.DryRun(ranks=2, invented_rate=20.0))
    simulation.run(80.0)
    # Delays are one step, so that potentials change in each.
    assert (np.diff(simulation.state(recorder).values.sum(axis=(1, 2))) != 0.0).all()
    assert simulation.epoch_steps == 8


def test_steps_in_the_summary() -> None:
    net = rv.Network()
    net.create("iaf_psc_exp", 3, step=0.4)
    net.create("iaf_psc_exp", 3, tau_m=12.0)
    assert "step=0.4" in net.summary()
    assert net.summary().count("step=") == 1


def run_on_ranks(where: Path) -> None:
    """Write what all processes recorded together."""
    result = [outcome(mixed(seed), (31.15,), threads=1, exchange=exchange) for seed, exchange in RUNS]
    if rv.mpi.world().rank == 0:
        where.write_text(json.dumps(result))


@pytest.mark.thorough
def test_ranks_give_the_same_bits(tmp_path: Path) -> None:
    """Delays are rounded where the sources are, and spikes travel between populations with different steps."""
    done = run_python(
        WHEELS[0],
        2,
        Path(__file__),
        str(tmp_path / "found.json"),
        folder=tmp_path,
        timeout=60,
        environment={"PYTHONPATH": str(SUPPORT)},
    )
    assert done.status == 0, done.errors
    expected = [outcome(mixed(seed), threads=1) for seed, _ in RUNS]
    assert json.loads((tmp_path / "found.json").read_text()) == expected


def test_a_state_with_other_steps_is_refused(tmp_path: Path) -> None:
    def made(step: float) -> rv.Network:
        net = rv.Network(resolution=0.1)
        net.create("iaf_psc_exp", 3, "points", step=step)
        return net

    rv.Simulation(made(0.2)).save(tmp_path / "state.h5")
    with pytest.raises(rv.errors.StateError, match="step of population 'points'"):
        rv.Simulation.load(made(0.1), tmp_path / "state.h5")


if __name__ == "__main__":
    run_on_ranks(Path(sys.argv[1]))
