"""Asynchronous stepping: the same bits as with epochs, whatever is cut, stopped, saved or shared."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pytest

import ranvier as rv
from full_disk import files_limited_to
from ranvier.errors import StateError, UnknownNameError
from ranvier.networks import layers
from ranvier.networks.ring import ring_cell
from ranvier.simulation.options import grouped
from thorough_cases import only

TIME = 12.0


def described() -> tuple[rv.Network, rv.SpikeRecorder, rv.StateRecorder]:
    """Cells of different sizes that are driven hard, so that each fires now and then."""
    model = layers(cells=25, indegree=6, compartments=1)
    cells = model.net.populations[0]
    model.net.stimulate(cells, rv.poisson_generator(rate=300.0), weight=4.0, name="more")
    return model.net, model.spikes, model.net.record_state(cells[::5], ["V_m"], interval=0.5)


def run(times: tuple[float, ...] = (TIME,), **options: Any) -> tuple[str, npt.NDArray[np.float64]]:
    net, spikes, states = described()
    sim = rv.Simulation(net, progress=False, **grouped(options))
    for time in times:
        sim.run(time)
    return sim.spikes(spikes).digest(), sim.state(states)["V_m"]


@pytest.fixture(scope="module")
def expected() -> tuple[str, npt.NDArray[np.float64]]:
    return run(threads=1)


@pytest.mark.parametrize(
    "options",
    [
        {"threads": 1, "shards": 3},
        {"threads": 2},
        {"threads": 2, "shards": 25, "stealing": "none"},
        {"threads": 3, "shards": 30, "stealing": "prefer_local"},
        {"threads": 2, "shards": 4, "instruction_set": "baseline", "times": (0.025, 3.0, TIME - 3.025)},
        {"threads": 2, "costs": {"cells": 2.0}, "table_layout": "runs"},
    ],
    ids=str,
)
def test_same_bits(options: dict[str, Any], expected: tuple[str, npt.NDArray[np.float64]]) -> None:
    digest, potentials = run(stepping="async", **options)
    assert digest == expected[0]
    assert np.array_equal(potentials, expected[1])


def test_saved_in_one_stepping_and_loaded_in_the_other(
    tmp_path: Path, expected: tuple[str, npt.NDArray[np.float64]]
) -> None:
    net, spikes, _ = described()
    sim = rv.Simulation(net, progress=False, threads=2, stepping="async")
    sim.run(5.0)
    sim.save(tmp_path / "a.h5")
    sim = rv.Simulation.load(net, tmp_path / "a.h5", progress=False, threads=1)
    sim.run(2.0)
    sim.save(tmp_path / "b.h5")
    sim = rv.Simulation.load(
        net, tmp_path / "b.h5", progress=False, threads=1, stepping="async", tuning=rv.Tuning(shards=5)
    )
    sim.run(TIME - 7.0)
    assert sim.spikes(spikes).digest() == expected[0]


def test_visits_add_up_to_all_steps() -> None:
    net, _, _ = described()
    sim = rv.Simulation(net, progress=False, threads=2, stepping="async", tuning=rv.Tuning(shards=6))
    sim.run(TIME)
    visits = sim.visits
    assert visits[0] == 0
    assert (visits * np.arange(len(visits))).sum() == 6 * net.to_steps(TIME, "time")
    assert (visits * np.arange(len(visits))).sum() > 4 * visits.sum(), "not further than the shortest delay of all"
    sim.reset_counts()
    assert not sim.visits.any()


@pytest.mark.parametrize("stepping", ["bsp", "async"])
def test_shards_without_a_synapse_that_learns(stepping: Literal["bsp", "async"]) -> None:
    """One synapse onto one cell of a population: the other shards have none, and their cells advance as well."""
    potentials = []
    for shards in (1, 4):
        net = rv.Network(resolution=0.1)
        sources = net.create(rv.iaf_psc_exp(I_e=600.0), 1)
        cells = net.create(ring_cell(depth=1, compartments=1), 4, I_e=50.0)
        net.connect(sources, cells[1:2], "one_to_one", weight=2.0, delay=1.0, synapse=rv.stdp(W_max=10.0))
        states = net.record_state(cells, ["V_m"], interval=1.0)
        sim = rv.Simulation(net, progress=False, threads=1, stepping=stepping, tuning=rv.Tuning(shards=shards))
        sim.run(40.0)
        potentials.append(sim.state(states)["V_m"])
    assert (potentials[0] != 0.0).all()
    assert np.array_equal(potentials[0], potentials[1])


def test_delays_of_one_step_leave_nothing_to_choose() -> None:
    net = rv.Network(resolution=0.1)
    neurons = net.create(rv.iaf_psc_exp(I_e=500.0), 20)
    net.connect(neurons, neurons, rv.FixedIndegree(10), weight=30.0, delay=0.1)
    sim = rv.Simulation(net, progress=False, threads=2, stepping="async")
    sim.run(10.0)
    assert sim.visits.size == 0


@pytest.mark.parametrize("shards", [1, 2, 7])
def test_few_cells_and_sources_that_are_silent(shards: int) -> None:
    digests = set()
    for stepping in ("bsp", "async"):
        net = rv.Network(resolution=0.1)
        silent, loud = net.create(rv.iaf_psc_exp(), 1), net.create(rv.iaf_psc_exp(I_e=600.0), 2)
        net.connect(silent, loud, "all_to_all", delay=3.0)
        net.connect(loud, loud, "all_to_all", weight=200.0, delay=0.1)
        recorder = net.record_spikes()
        sim = rv.Simulation(net, progress=False, threads=1, stepping=stepping, tuning=rv.Tuning(shards=shards))
        sim.run(100.0)
        digests.add(sim.spikes(recorder).digest())
        assert len(sim.spikes(recorder).times) > 5
    assert len(digests) == 1


def test_stops_at_one_step_and_goes_on(expected: tuple[str, npt.NDArray[np.float64]]) -> None:
    class StopError(Exception):
        pass

    def stop(report: rv.ProgressReport) -> None:
        if report.phase == "run":
            raise StopError

    net, spikes, states = described()
    sim = rv.Simulation(net, progress=stop, threads=3, stepping="async", tuning=rv.Tuning(shards=9))
    for _ in range(1000):
        try:
            sim.run_until(TIME)
        except StopError:
            continue
        break
    assert sim.time == TIME
    assert sim.spikes(spikes).digest() == expected[0]
    assert np.array_equal(sim.state(states)["V_m"], expected[1])


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"trace_epochs": True}, "there are no epochs to trace"),
        ({"sort_connections": False}, "unsorted connections receive spikes in epochs only"),
    ],
    ids=str,
)
def test_what_needs_epochs_is_refused(options: dict[str, Any], said: str) -> None:
    net, _, _ = described()
    with pytest.raises(StateError, match=said):
        rv.Simulation(net, progress=False, stepping="async", **grouped(options))


def test_dry_runs_are_refused() -> None:
    net, _, _ = described()
    with pytest.raises(StateError, match="a dry run"):
        rv.Simulation(net, progress=False, stepping="async", recordings="local", dry_run=rv.DryRun(ranks=4))


def test_unknown_stepping() -> None:
    net, _, _ = described()
    with pytest.raises(UnknownNameError, match=r"'asynch'.*'async'"):
        rv.Simulation(net, progress=False, stepping="asynch")  # type: ignore[arg-type]


def test_predicted_memory() -> None:
    net, _, _ = described()
    tuning = rv.Tuning(shards=12)
    predicted = rv.predict_memory(net, threads=2, stepping="async", tuning=tuning, rate=50.0, time=TIME)
    sim = rv.Simulation(net, progress=False, threads=2, stepping="async", tuning=tuning)
    sim.run(TIME)
    for component in ("neurons", "inputs", "synapses"):
        assert predicted[component] == pytest.approx(sim.memory()[component], rel=0.05), component


def test_what_is_done_is_told() -> None:
    net, _, _ = described()
    told = {}
    for stepping in ("bsp", "async"):
        sim = rv.Simulation(net, progress=False, threads=1, stepping=stepping, tuning=rv.Tuning(shards=5))
        assert np.isnan(sim.stepping.steps_per_visit)
        sim.run(TIME)
        told[stepping] = sim.stepping
        assert sim.stepping.mode == stepping
        assert sim.stepping.visits * sim.stepping.steps_per_visit == pytest.approx(5 * sim.counts().steps)
    # Cells of 3 to 5 levels of one compartment each and a soma.
    passed = sum(60 * (2 ** (depth + 1) - 1) * cells for depth, cells in ((3, 9), (4, 8), (5, 8)))
    assert told["bsp"].bytes_per_step == pytest.approx(passed / 4, rel=0.01), "an epoch has 4 steps"
    assert told["async"].bytes_per_step < 0.5 * told["bsp"].bytes_per_step
    assert told["async"].visits < 0.5 * told["bsp"].visits


def test_changes_between_runs() -> None:
    """Values, stimuli and weights that are set while some spikes are under way."""
    results = []
    for stepping in ("bsp", "async"):
        net, spikes, states = described()
        sim = rv.Simulation(net, progress=False, threads=2, stepping=stepping, tuning=rv.Tuning(shards=7))
        for turn in range(4):
            sim.run(3.0)
            sim.set(net.populations[0][turn::4], V_m=-60.0 - turn, I_e=50.0 * turn)
            sim.set(net.stimuli[1], rate=200.0 + 100.0 * turn)
            synapses = sim.connections()
            synapses.weights = synapses.weights * np.float32(1.25)
        results.append((sim.spikes(spikes).digest(), sim.state(states)["V_m"], sim.connections().weights))
    assert results[0][0] == results[1][0]
    for one, other in zip(results[0][1:], results[1][1:], strict=True):
        assert np.array_equal(one, other)


def test_potentials_that_are_set_above_the_threshold() -> None:
    """A neuron fires then, though it is refractory, so that nobody may count on that it does not."""
    digests = []
    for stepping in ("bsp", "async"):
        net = rv.Network(resolution=0.1)
        source = net.create(rv.iaf_psc_exp(I_e=900.0, t_ref=20.0), 1)
        targets = net.create(rv.iaf_psc_exp(), 3)
        net.connect(source, targets, "all_to_all", weight=3000.0, delay=0.2)
        recorder = net.record_spikes()
        sim = rv.Simulation(net, progress=False, threads=1, stepping=stepping, tuning=rv.Tuning(shards=4))
        for _ in range(20):
            sim.run(3.0)
            sim.set(source, V_m=0.0)
        digests.append((sim.spikes(recorder).digest(), len(sim.spikes(recorder))))
    assert digests[0] == digests[1]
    assert digests[0][1] > 2 * 20


@pytest.mark.parametrize("threads", only([1], [1, 3]))
def test_played_spikes_let_others_go_far(threads: int) -> None:
    """It is known when a generator fires next: its targets may go as far as there is room for, again and again."""
    digests = set()
    for stepping in ("bsp", "async"):
        net = rv.Network(resolution=0.1)
        played = net.create_spike_generators([[5.0, 5.1, 40.0], [5.1, 5.1]])
        cells = net.create(rv.iaf_psc_exp(), 6)
        net.connect(played, cells, "all_to_all", weight=1500.0, delay=0.1)
        recorder = net.record_spikes(cells)
        sim = rv.Simulation(net, progress=False, threads=threads, stepping=stepping, tuning=rv.Tuning(shards=8))
        sim.run(60.0)
        sim.set(played, spike_times=[[70.0], [65.0]])
        sim.run(40.0)
        digests.add(sim.spikes(recorder).digest())
        assert len(sim.spikes(recorder)) >= 6
    assert len(digests) == 1
    assert sim.stepping.steps_per_visit > 10.0


@pytest.mark.parametrize("threads", [2, 3])
def test_more_threads_than_neurons(threads: int) -> None:
    digests = set()
    for stepping in ("bsp", "async"):
        net = rv.Network(resolution=0.1)
        pair = net.create(rv.iaf_psc_exp(I_e=500.0), 1) + net.create(rv.iaf_psc_exp(I_e=600.0), 1)
        net.connect(pair, pair, "all_to_all", weight=100.0, delay=1.0)
        recorder = net.record_spikes()
        sim = rv.Simulation(net, progress=False, threads=threads, stepping=stepping)
        sim.run(50.0)
        digests.add(sim.spikes(recorder).digest())
        assert len(sim.spikes(recorder)) > 4
    assert len(digests) == 1


@pytest.mark.parametrize("cells", [1, 9])
def test_delays_of_one_step_both_ways_end(cells: int) -> None:
    """One pair of neurons that could never be more than a step apart, among others that could."""
    digests = set()
    for stepping in ("bsp", "async"):
        net = rv.Network(resolution=0.1)
        pair = net.create(rv.iaf_psc_exp(I_e=[500.0, 650.0]), 2)
        others = net.create(rv.iaf_psc_exp(I_e=550.0), cells)
        net.connect(pair, pair, "all_to_all", weight=150.0, delay=0.1)
        net.connect(pair, others, "all_to_all", weight=50.0, delay=2.0)
        recorder = net.record_spikes()
        sim = rv.Simulation(net, progress=False, threads=2, stepping=stepping, tuning=rv.Tuning(shards=2 + cells))
        sim.run(50.0)
        digests.add(sim.spikes(recorder).digest())
    assert sim.stepping.mode == "async"
    assert len(digests) == 1


def test_a_full_disk_ends_the_run(tmp_path: Path) -> None:
    net, _, _ = described()
    net.record_state(net.populations[0], "V_m", to=tmp_path / "states.h5")
    sim = rv.Simulation(net, progress=False, threads=3, stepping="async", tuning=rv.Tuning(shards=9))
    with files_limited_to(100_000), pytest.raises(rv.errors.FileError):
        sim.run(1000.0)


def test_what_is_not_a_number_ends_the_run() -> None:
    """On three threads, while others go on."""
    net = rv.Network(resolution=0.1)
    sound = net.create(rv.iaf_psc_exp(I_e=500.0), 20)
    lost = net.create(ring_cell(depth=1, compartments=1), 3, name="lost", I_e=1e7)
    net.connect(sound, sound, rv.FixedIndegree(4), weight=10.0, delay=1.5)
    net.connect(sound, lost, rv.FixedIndegree(4), weight=1.0, delay=1.5)
    sim = rv.Simulation(net, progress=False, threads=3, stepping="async", tuning=rv.Tuning(shards=9))
    for _ in range(2):
        with pytest.raises(StateError, match="'lost'"):
            sim.run(100.0)
