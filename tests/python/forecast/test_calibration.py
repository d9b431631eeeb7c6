"""What things cost on this machine: measured with a small copy of a network, and remembered."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from ranvier.forecast import calibration, miniature
from ranvier.forecast.calibration import Costs
from ranvier.forecast.load import Arrivals, arrivals_by_population, rates_by_population
from ranvier.forecast.prediction import expect_load, expect_times
from small_networks import with_noise

# ---- costs -----------------------------------------------------------------------------------------------------------


def cache_file() -> Path:
    path = calibration.cache_file()
    assert path is not None
    return path


def costs_of(net: rv.Network, options: dict[str, Any] | None = None, **more: Any) -> Costs:
    return calibration.measure(net, options or {}, **{"ranks": 10, "threads": 1, "rates": {}, **more})


def few_measurements(monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Have costs be told instead of measured; return the list of what was asked for."""
    asked: list[object] = []
    parts = dict.fromkeys(miniature.PARTS, 1.0)

    def measure_exchange(*asked_for: object) -> miniature.Measured:
        asked.append(asked_for)
        return miniature.Measured(synapse=1.0, exchange=parts, events=1.0, exchanges_per_delay=1.0, directed=True)

    def measure_neurons(*asked_for: object) -> float:
        asked.append(asked_for)
        return 2.0

    monkeypatch.setattr(miniature, "measure", measure_exchange)
    monkeypatch.setattr(calibration, "_measure_neurons", measure_neurons)
    return asked


WRONG = [[], {}, None, "1", "nan", float("nan"), float("inf"), -1.0, True, [1.0], {"synapse": 1.0}, 10**400]


@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: repr(wrong)[:20])
def test_what_is_remembered_wrongly_is_measured_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, wrong: object
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    asked = few_measurements(monkeypatch)
    costs = costs_of(with_noise())
    number = len(asked)
    assert number > 0
    assert costs_of(with_noise()) == costs
    assert len(asked) == number
    known = json.loads(cache_file().read_text())
    cache_file().write_text(json.dumps(dict.fromkeys(known, wrong)))
    assert costs_of(with_noise()) == costs
    assert len(asked) == 2 * number
    # Within the costs of exchanges too.
    parts = {key: dict.fromkeys(value, wrong) if isinstance(value, dict) else value for key, value in known.items()}
    cache_file().write_text(json.dumps(parts))
    assert costs_of(with_noise()) == costs
    assert len(asked) == 2 * number + 1


@pytest.mark.parametrize("content", [b"", b"[" * 100_000, b"\xff\xfe", b'{"a": ', b"5"])
def test_a_cache_that_is_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    few_measurements(monkeypatch)
    costs = costs_of(with_noise())
    cache_file().write_bytes(content)
    assert costs_of(with_noise()) == costs


@pytest.mark.parametrize("home", ["missing", "a file", "of nobody", "relative"])
def test_homes_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, home: str) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HOME", {"missing": "/proc/nobody/home", "a file": str(tmp_path / "file")}.get(home, "/proc/x"))
    if home == "relative":
        monkeypatch.setenv("XDG_CACHE_HOME", "here")
    if home == "of nobody":

        def fail() -> Path:
            raise RuntimeError("Could not determine home directory.")

        monkeypatch.setattr(Path, "home", fail)
    asked = few_measurements(monkeypatch)
    for _ in range(2):
        costs_of(with_noise())
    # Nothing could be remembered.
    assert len(asked) % 2 == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file"]


def test_what_is_remembered_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(calibration, "_MOST_REMEMBERED", 6)
    few_measurements(monkeypatch)
    for ranks in range(2, 10):
        costs_of(with_noise(), ranks=ranks)
    assert len(json.loads(cache_file().read_text())) == 6


def test_costs_are_measured_and_remembered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    net = with_noise()
    options = {"precision": "double", "exchange": "alltoall"}
    costs = costs_of(net, options)
    assert 1e-10 < costs.synapse < 1e-4
    assert 0.0 < sum(costs.exchange.values()) < 1.0
    assert costs.directed
    assert costs.exchanges_per_delay == 1.0
    assert len(costs.neurons) == 2
    assert all(1e-11 < cost < 1e-6 for cost in costs.neurons)
    assert len(costs.stimuli) == 1

    with monkeypatch.context() as context:
        context.setattr(miniature, "measure", lambda *arguments: pytest.fail("measured again"))
        context.setattr(calibration, "_measure_neurons", lambda *arguments: pytest.fail("measured again"))
        assert costs_of(net, options) == costs
        # Whether synapses are sorted is told apart from what was asked for.
        assert costs_of(net, {**options, "sort_connections": "auto"}) == costs
    # A file that cannot be read costs nothing but time.
    cache_file().write_text("[")
    asked = few_measurements(monkeypatch)
    assert costs_of(net, options).neurons == (2.0, 2.0)
    # One for each population, as only one of them has inputs, one for the stimulus, and that of exchanges.
    assert len(asked) == 4
    # Others are measured themselves.
    others: list[dict[str, Any]] = [{"sorted_by_source": False}, {"ranks": 11}, {"threads": 2}]
    for number, more in enumerate(others):
        costs_of(net, options, **more)
        assert len(asked) == 5 + number
    # At another rate, another number of spikes arrives; the population without inputs stays as it is.
    costs_of(net, options, rate=11.0)
    assert len(asked) == 10
    assert costs_of(net, options, recalibrate=True) == costs_of(net, options)
    assert len(asked) == 14


def test_neurons_are_measured_with_the_receptors_that_stimuli_reach(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    net = rv.Network()
    cells = net.create("iaf_cond_nmda", 100)
    net.connect(cells, cells, rv.FixedIndegree(10), weight=0.1, receptor="NMDA")
    net.stimulate(cells, rv.poisson_generator(rate=1000.0), receptor="GABA_B")
    costs = costs_of(net)
    assert 1e-11 < costs.neurons[0] < 1e-6
    assert 0.0 <= costs.stimuli[0] < 1e-6


def neurons_of(net: rv.Network, index: int, rate: float, delay: float = 1.0) -> rv.Simulation:
    """Return the simulation with which the neurons of a population are measured."""
    arrivals = arrivals_by_population(net, rates_by_population(net, {}, rate))
    sim = calibration._simulation_of_neurons(net.populations[index], arrivals[index], delay, None, {})
    assert sim is not None
    return sim


def test_as_many_spikes_arrive_at_measured_neurons_as_in_the_network() -> None:
    net = rv.networks.interval_fire(cells=512, connections=200, spread=0, resolution=0.1).net
    real = rv.Simulation(net, threads=1, progress=False)
    real.run(120.0)
    real.reset_counts()
    real.run(200.0)
    counts = real.counts()
    rate = counts.spikes / 512 / 0.2
    sim = neurons_of(net, 0, rate)
    measured = len(sim.network.populations[0])
    # As many steps at once as in the network: its shortest delay has 10.
    assert sim.epoch_steps == real.epoch_steps == 10
    sim.run(200.0)
    # 4000 neurons get 0.6 spikes in each of 2000 steps: the standard deviation is below 0.3 %, as all 100 sources are
    # shared.
    in_network = counts.synaptic_events / 512 / counts.steps
    assert sim.counts().synaptic_events / measured / sim.counts().steps == pytest.approx(in_network, rel=0.02)


def test_arrivals_have_receptors_and_signs() -> None:
    net = with_noise()
    both, nothing = arrivals_by_population(net, rates_by_population(net, {}, 10.0)).values()
    assert [(each.receptor, each.sign) for each in both] == [(None, 1.0), (None, -1.0)]
    assert [each.rate for each in both] == pytest.approx([1000.0, 250.0])
    assert nothing == ()
    assert neurons_of(net, 1, 10.0).counts().synapses == 0
    # A part of a population, from parts of two others.
    net = rv.Network()
    cells = net.create("iaf_cond_nmda", 100)
    others = net.create("iaf_psc_exp", 300)
    rule = rv.FixedIndegree(20)
    net.connect([cells, others], cells[:25], rule, weight=0.1, receptor="NMDA")
    rates = {0: 5.0, 1: 9.0}
    # All inputs of a quarter of the neurons.
    assert arrivals_by_population(net, rates)[0] == (Arrivals("NMDA", 1.0, 0.25 * 20 * 8.0),)
    projection = neurons_of(net, 0, 10.0).network.projections[0]
    assert projection.receptor == "NMDA"


@pytest.mark.parametrize("rate", [1e-3, 10.0, 1e4, 1e7])
def test_measured_neurons_are_fewer_if_very_many_spikes_arrive(rate: float) -> None:
    net = rv.Network()
    cells = net.create(rv.interval_fire(), 100)
    net.connect(cells, cells, rv.FixedIndegree(100), weight=0.0, delay=0.5)
    sim = neurons_of(net, 0, rate, 0.5)
    measured = len(sim.network.populations[0])
    per_step = 100 * rate * 0.1 / 1000.0
    assert measured == min(calibration._NEURONS, round(calibration._MOST_ARRIVALS / per_step))
    assert sim.counts().synapses <= 2 * calibration._MOST_ARRIVALS / calibration._MOST_SPIKES
    sim.run(100.0)
    events = measured * 1000 * per_step
    # Sources are shared, so that the error is theirs: at most 100 independent sources.
    assert sim.counts().synaptic_events == pytest.approx(events, rel=0.2, abs=40_000)


def test_neurons_with_a_coarse_step_are_measured_with_it() -> None:
    net = rv.Network(resolution=0.1)
    cells = net.create(rv.iaf_psc_exp(), 100, step=0.5)
    net.connect(cells, cells, rv.FixedIndegree(50), weight=1.0, delay=2.0)
    sim = neurons_of(net, 0, 10.0, 2.0)
    assert sim.resolution == 0.5
    assert sim.epoch_steps == 4
    sim.run(1000.0)
    events = sim.counts().synaptic_events / len(sim.network.populations[0])
    assert events == pytest.approx(500.0, rel=0.1)


@pytest.mark.parametrize("size", [7, 9000])
def test_neurons_are_measured_at_places_of_the_population(size: int) -> None:
    net = rv.Network()
    layout = rv.random_positions(extent=(1.0, 2.0), unit="um")
    sheet = net.create("iaf_psc_exp", size, positions=layout, I_e="100 + 10*x + y")
    sim = neurons_of(net, 0, 10.0)
    (measured,) = sim.network.populations
    places = {tuple(place) for place in sheet.positions}
    assert {tuple(place) for place in measured.positions} <= places
    assert len(np.unique(measured.positions, axis=0)) == min(size, len(measured))
    expected = 100.0 + measured.positions @ [10.0, 1.0]
    assert np.allclose(sim.get(measured, "I_e"), expected, rtol=1e-12, atol=0.0)


# ---- a small copy of a network ---------------------------------------------------------------------------------------


def small_copy(net: rv.Network, ranks: int, threads: int = 1, rate: float = 10.0, **more: Any) -> miniature.Miniature:
    keywords: dict[str, Any] = {"options": {}, "rates": {}, "sorted_by_source": True, **more}
    return miniature.describe(net, ranks=ranks, threads=threads, rate=rate, **keywords)


def test_small_network_is_copied_whole() -> None:
    exc, inh = small_copy(with_noise(), 10).groups
    assert (exc.sources, exc.rate, exc.delay) == (1000, 10.0, 2.0)
    assert (inh.sources, inh.rate, inh.delay) == (250, 10.0, rv.Uniform(1.5, 3.0))
    # On average over all neurons; inhibitory ones have no inputs.
    assert (exc.indegree, inh.indegree) == (80, 20)
    assert (exc.weight, inh.weight) == (1.0, -1.0)


@pytest.mark.parametrize(("size", "indegree", "ranks"), [(1e6, 1000, 1), (1e8, 1000, 100), (1e9, 20, 100)])
def test_copy_of_a_large_network_moves_as_many_spikes(size: float, indegree: int, ranks: int) -> None:
    net = with_noise(size, indegree)
    copy = small_copy(net, ranks, rate=0.5)
    load = expect_load(net, ranks=ranks, threads=1, rates={}, rate=0.5)
    synapses = copy.neurons * sum(group.indegree for group in copy.groups) / ranks
    assert 0.8 * miniature._MOST_SYNAPSES < synapses < 1.3 * miniature._MOST_SYNAPSES
    events = sum(copy.neurons * group.indegree * group.rate for group in copy.groups) / ranks
    for group, sources, share in zip(copy.groups, (size, size / 4), (0.8, 0.2), strict=True):
        # Rows are as long.
        of_source = net.expected_synapses * share / sources
        assert copy.neurons * group.indegree / group.sources == pytest.approx(of_source, rel=0.1)
    records = load.records_per_second / load.exchanges_per_second
    limited = min(1.0, miniature._MOST_RECORDS / max(1.0, records))
    assert all(group.rate < miniature._MOST_SPIKES * 10_000 for group in copy.groups)
    assert events == pytest.approx(load.events_per_second * limited, rel=0.1)


def test_what_is_limited_is_limited() -> None:
    net = rv.networks.hpc_benchmark(scale=1e6, indegree_scale=1.0).net
    to_all = small_copy(net, 100_000, options={"exchange": "allgather"})
    assert to_all.neurons / 100_000 * sum(group.rate for group in to_all.groups) < 1e12
    assert all(0.0 < group.rate <= 2000.0 for group in to_all.groups)
    kept = small_copy(net, 100_000, options={"exchange": "persistent"})
    assert kept.neurons * sum(group.indegree for group in kept.groups) / 100_000 < 1.3 * miniature._MOST_PERSISTENT
    # More threads than there are processors would take turns.
    assert (small_copy(net, 100, threads=4000).threads, small_copy(net, 100, threads=4000).shards) == (1, 4000)


def test_shortest_delay_of_a_copy() -> None:
    net = with_noise()
    net.connect(net.populations[1], net.populations[1], rv.FixedIndegree(1), weight=-1.0, delay=0.3)
    shortest = small_copy(net, 4).groups[-1]
    assert (shortest.sources, shortest.indegree, shortest.rate) == (1, 1, 0.0)
    assert shortest.delay == pytest.approx(0.3)


@pytest.mark.parametrize("ranks", [1, 20])
@pytest.mark.parametrize("is_sorted", [True, False])
def test_copies_run_as_what_they_are_of(ranks: int, is_sorted: bool) -> None:
    net = with_noise(4000)
    options = {"sort_connections": is_sorted}
    measured = miniature.measure(small_copy(net, ranks, rate=50.0, sorted_by_source=is_sorted), options)
    load = expect_load(net, ranks=ranks, threads=1, rates={}, rate=50.0, sorted_by_source=is_sorted)
    assert measured.events == pytest.approx(load.events_per_second / load.exchanges_per_second, rel=0.1)
    assert measured.exchanges_per_delay == 1.0
    assert measured.directed
    assert set(measured.exchange) == set(miniature.PARTS)
    assert measured.exchange["deliver"] > 0.0


def test_slices_count_as_much_as_they_have_seen(monkeypatch: pytest.MonkeyPatch) -> None:
    # As on a machine that stood still in the first exchange, so that it was taken for a whole slice.
    parts = dict.fromkeys(miniature.PARTS, 1.0)
    slices = [{**parts, "events": 10.0, "exchanges": 1}, {**parts, "events": 990.0, "exchanges": 9}]
    monkeypatch.setattr(miniature, "_slices", lambda sim, steps: slices)
    assert miniature.measure(small_copy(with_noise(4000), 1), {}).events == 100.0


def test_copies_of_what_has_no_synapses() -> None:
    net = rv.Network()
    net.create(rv.iaf_psc_exp(), 10)
    measured = miniature.measure(small_copy(net, 2), {})
    assert measured.events == 0.0
    load = expect_load(net, ranks=2, threads=1, rates={})
    assert math.isfinite(expect_times(load, costs_of(net, ranks=2)).simulation)


def test_copies_have_synapses_of_equations() -> None:
    """Also in a unit that the neurons of the copy do not have; they keep weights, which would grow without a bound."""
    net = rv.Network()
    cells = net.create("iaf_psc_delta", 400)
    equations = "dx/dt = -x/tau : 1\nw : mV"
    events = {"on_pre": "x += 1", "on_post": "w += w*x"}
    synapse = rv.synapse(equations, **events, parameters={"tau": "20 ms"}, name="static_synapse")
    net.connect(cells, cells, rv.FixedIndegree(50), weight=20.0, synapse=synapse)
    copy = small_copy(net, 1, rate=200.0)
    assert [group.learning for group in copy.groups] == [1.0]
    sim = miniature._build(copy, {})
    assert {one.synapse.name for one in sim.network.projections} == {"static_synapse"}
    sim.run(200.0)
    assert set(sim.connections().weights) == {20.0}
    assert sim.counts().synaptic_events > 0


@pytest.mark.parametrize(
    "synapse",
    [
        rv.stdp_pl(alpha=0.0, mu=1.0),
        rv.tsodyks2(),
        rv.bernoulli(p_transmit=0.5),
        rv.bernoulli(p_transmit=rv.Uniform(0.4, 0.6)),
        rv.tsodyks2(U=np.linspace(0.1, 0.5, 20_000)),
    ],
    ids=lambda synapse: f"{synapse.name} {[type(value).__name__ for value in synapse.values.values()]}",
)
def test_copies_have_the_synapses_of_the_network(synapse: Any) -> None:
    net = rv.Network()
    cells = net.create("iaf_psc_exp", 400)
    net.connect(cells, cells, rv.FixedIndegree(50), weight=20.0, synapse=synapse)
    net.connect(cells, cells, rv.FixedIndegree(50), weight=20.0)
    copy = small_copy(net, 1, rate=200.0)
    # By targets, since a group of sources has one model.
    assert [group.learning for group in copy.groups] == [0.5]
    sim = miniature._build(copy, {})
    own = [one for one in sim.network.projections if one.synapse.name == synapse.name]
    assert sum(one.expected_synapses for one in own) == pytest.approx(20_000)
    # Sums of what arrives need no more than 64 bits, as in the network: 16 steps of two receptors and one more input.
    real = rv.Simulation(net, threads=1, progress=False).memory()["inputs"] / 400
    assert sim.memory()["inputs"] / copy.neurons == pytest.approx(real, rel=0.05)
    # Weights would leave their bound at high rates.
    sim.run(500.0)
    assert set(sim.connections(projection=own[0]).weights) == {20.0}
