"""A run that goes on from a saved state gives the same bits as one that was never saved, for each model."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from ranvier import _core
from ranvier.models import NEURON_MODELS, STIMULATORS, SYNAPSE_MODELS
from ranvier.network.recorders import Recorder
from state_scenes import (
    HALF,
    outcome,
    saved_half_way,
    second_half,
    whole,
    with_neurons,
    with_sources,
    with_stimulator,
    with_synapses,
)
from thorough_cases import every, only

# What other simulations do differently.
WAYS: list[dict[str, Any]] = [
    {"threads": 1, "tuning": rv.Tuning(table_layout="runs", delivery_window=16, instruction_set="baseline")},
    {"threads": 3, "tuning": rv.Tuning(table_layout="ring")},
    {"threads": 2, "tuning": rv.Tuning(shards=5), "processes": rv.Processes(sort_connections=False)},
    {"threads": 2, "tuning": rv.Tuning(table_layout="blocks")},
]


def check(make: Callable[[], rv.Network], tmp_path: Path) -> None:
    path = tmp_path / "state.h5"
    expected = whole(make())
    first = saved_half_way(make(), path, threads=2)
    # What is saved goes on as if it had not been.
    assert second_half(first) == expected
    for options in WAYS:
        loaded = rv.Simulation.load(make(), path, progress=False, **options)
        assert loaded.time == HALF
        assert second_half(loaded) == expected, options


@pytest.mark.parametrize("model", [*NEURON_MODELS, "spike_generator"])
def test_neurons(model: str, tmp_path: Path) -> None:
    check(lambda: with_neurons(model), tmp_path)


@pytest.mark.parametrize("model", STIMULATORS)
def test_stimulators(model: str, tmp_path: Path) -> None:
    check(lambda: with_stimulator(model), tmp_path)


@pytest.mark.parametrize("model", every(2, [name for name, model in STIMULATORS.items() if model.emits_spikes]))
def test_sources(model: str, tmp_path: Path) -> None:
    check(lambda: with_sources(model), tmp_path)


# One of each kind of state.
QUICK = ("clopath", "quantal_stp", "static_synapse", "stdp", "stdp_dopamine", "tsodyks2")


@pytest.mark.parametrize("model", only(QUICK, SYNAPSE_MODELS))
def test_synapses(model: str, tmp_path: Path) -> None:
    check(lambda: with_synapses(model), tmp_path)


@pytest.mark.parametrize("model", ["stdp_nn_pre_centered", "tsodyks", "bernoulli"])
def test_sources_that_were_forgotten(model: str, tmp_path: Path) -> None:
    net, path = with_synapses(model, records_weights=False), tmp_path / "state.h5"
    processes = rv.Processes(sort_connections=False, keep_sources=False)
    first = saved_half_way(net, path, threads=2, processes=processes)
    # They are forgotten again.
    with pytest.raises(rv.errors.StateError, match="keep_sources"):
        first.connections()
    assert second_half(first, keeps_sources=False) == whole(net, keeps_sources=False)
    loaded = rv.Simulation.load(net, path, progress=False, threads=3, processes=processes)
    assert second_half(loaded, keeps_sources=False) == whole(net, keeps_sources=False)


@pytest.mark.parametrize("precision", ["single", "double"])
def test_precisions(precision: str, tmp_path: Path) -> None:
    net, path = with_synapses("stdp_triplet"), tmp_path / "state.h5"
    options: dict[str, Any] = {"precision": precision, "weight_precision": precision}
    plain = rv.Simulation(net, progress=False, **options)
    plain.run(2.0 * HALF)
    saved_half_way(net, path, **options)
    assert second_half(rv.Simulation.load(net, path, progress=False, **options)) == outcome(plain)


@pytest.mark.parametrize("exchange", every(3, _core.exchanges()))
def test_methods_of_exchange(exchange: Any, tmp_path: Path) -> None:
    """An exchange holds nothing at the end of a run: what it was given has arrived."""
    net, path = with_synapses("stdp"), tmp_path / "state.h5"
    by_source = not _core.exchange_traits()[exchange]["directed"]
    processes = rv.Processes(exchange=exchange, sort_connections="auto" if by_source else False)
    saved_half_way(net, path, processes=processes)
    assert second_half(rv.Simulation.load(net, path, progress=False, processes=processes)) == whole(net)


def change_everything(sim: rv.Simulation) -> None:
    exc, inh, sources = sim.network.populations
    sim.set(exc[3:20], V_m=-60.0, t_ref=rv.Uniform(1.0, 3.0), E_L=rv.Normal(-65.0, 1.0))
    sim.set([exc, inh], tau_m=11.0)
    sim.set(sim.network.stimuli[0], rate=rv.Uniform(8000.0, 9000.0), weight=np.linspace(55.0, 65.0, 40))
    sim.set(sim.network.stimuli[2], times=[70.0, 90.0], amplitudes=[200.0, 10.0])
    sim.set(sources, spike_times=[[61.0, 61.0, 70.0], [80.0]])
    synapses = sim.connections(projection=sim.network.projections[1])
    synapses.weights = synapses.weights * np.linspace(0.5, 1.5, len(synapses))
    learning = sim.connections(projection=sim.network.projections[0])
    learning.weights = learning.weights * 0.9


def with_played_spikes() -> rv.Network:
    net = with_synapses("stdp")
    sources = net.create_spike_generators([[10.0, 20.0, 99.0], [11.0]])
    net.connect(sources, net.populations[0], rv.AllToAll(), weight=300.0, delay=7.0)
    net.stimulate(net.populations[0], rv.step_current_generator(times=[1.0], amplitudes=[20.0]))
    return net


@pytest.mark.parametrize("before", [HALF, 0.5 * HALF], ids=["just before", "long before"])
def test_what_was_changed_stays_changed(before: float, tmp_path: Path) -> None:
    path = tmp_path / "state.h5"
    expected = rv.Simulation(with_played_spikes(), progress=False)
    saved = rv.Simulation(with_played_spikes(), progress=False, threads=2)
    for sim in (expected, saved):
        sim.run(before)
        change_everything(sim)
        sim.run(HALF - before)
    expected.run(HALF)
    saved.save(path)
    loaded = rv.Simulation.load(with_played_spikes(), path, threads=3, progress=False)
    # A state that was loaded can be saved again.
    loaded.save(path)
    again = rv.Simulation.load(with_played_spikes(), path, progress=False, tuning=rv.Tuning(table_layout="ring"))
    assert second_half(loaded) == outcome(expected)
    assert second_half(again) == outcome(expected)


def test_changes_after_loading_find_what_is_on_its_way(tmp_path: Path) -> None:
    path = tmp_path / "state.h5"
    expected = saved_half_way(with_played_spikes(), path, threads=2)
    loaded = rv.Simulation.load(with_played_spikes(), path, threads=1, progress=False)
    for sim in (expected, loaded):
        change_everything(sim)
    assert second_half(loaded) == second_half(expected)


def test_a_state_at_the_begin_and_one_after_one_step(tmp_path: Path) -> None:
    net, path = with_synapses("stdp_nn_pre_centered"), tmp_path / "state.h5"
    sim = rv.Simulation(net, progress=False)
    for duration in (0.0, 0.1):
        sim.run(duration)
        sim.save(path)
        sim = rv.Simulation.load(net, path, progress=False)
    sim.run(2.0 * HALF - 0.1)
    assert outcome(sim) == whole(net)


def test_wide_sums(tmp_path: Path) -> None:
    """Weights that are spread so widely that sums are taken in 128 bits, of both kinds of synapses at one receptor."""

    def make() -> rv.Network:
        net = with_synapses("tsodyks2")
        exc = net.populations[0]
        net.connect(exc, exc, rv.FixedIndegree(5), weight=rv.LogNormal(0.0, 8.0), delay=rv.Uniform(0.5, 5.0))
        return net

    check(make, tmp_path)


def test_states_are_saved_on_the_way(tmp_path: Path) -> None:
    net, path = with_synapses("stdp"), tmp_path / "state.h5"
    sim = rv.Simulation(net, progress=False)
    sim.run(HALF + 5.0, save_every=20.0, to=path)
    loaded = rv.Simulation.load(net, path, progress=False)
    assert loaded.time == HALF
    sim.run_until(2.0 * HALF, save_every=HALF, to=path)
    assert rv.Simulation.load(net, path, progress=False).time == 2.0 * HALF
    assert second_half(loaded) == outcome(sim) == whole(net)


@pytest.mark.parametrize(
    ("keywords", "error"),
    [
        ({"save_every": 1.0}, rv.errors.WrongTypeError),
        ({"to": "state.h5"}, rv.errors.WrongTypeError),
        ({"save_every": 0.0, "to": "state.h5"}, rv.errors.ValueOutOfBoundsError),
        ({"save_every": 0.05, "to": "state.h5"}, rv.errors.GridError),
        ({"save_every": np.nan, "to": "state.h5"}, rv.errors.GridError),
        ({"save_every": "1", "to": "state.h5"}, rv.errors.WrongTypeError),
        ({"save_every": 1.0, "to": "nowhere/state.h5"}, rv.errors.FileError),
        ({"save_evry": 1.0}, rv.errors.UnknownNameError),
    ],
)
def test_bad_saves_are_refused_before_the_run(
    keywords: dict[str, Any], error: type[Exception], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    sim = rv.Simulation(with_synapses("stdp"), progress=False)
    with pytest.raises(error):
        sim.run(1.0, **keywords)
    assert sim.time == 0.0
    assert list(tmp_path.iterdir()) == []


def test_times_are_those_since_a_state_was_loaded(tmp_path: Path) -> None:
    net, path = with_synapses("stdp"), tmp_path / "state.h5"
    saved_half_way(net, path)
    tuning = rv.Tuning(measure_costs=True)
    loaded = rv.Simulation.load(net, path, progress=False, tuning=tuning)
    assert loaded.counts().steps == 600
    assert np.isnan(loaded.real_time_factor)
    with pytest.raises(rv.errors.StateError):
        loaded.costs()
    loaded.run(1.0)
    assert loaded.real_time_factor == pytest.approx(loaded.phases["simulation"] / 0.001)


def test_the_scenes_have_all_kinds_of_recorders() -> None:
    recorders = with_synapses("stdp").recorders
    assert {type(recorder) for recorder in recorders} == set(Recorder.__subclasses__())
