"""What recorders recorded, as arrays, and what is computed from it."""

from __future__ import annotations

import hashlib
import pickle
import struct
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import ranvier as rv
from ranvier import errors
from ranvier.recording.data import joined
from ranvier.recording.neuron_ids import NeuronIds
from small_networks import balanced

SEGMENTS = (rv.Segment("a", 0, 3), rv.Segment("b", 5, 2))


def spike_data(pairs: list[tuple[int, int]], begin: int = 0, end: int = 100) -> rv.SpikeData:
    ordered = sorted(pairs)
    return rv.SpikeData(
        steps=np.array([step for step, _ in ordered], dtype=np.int64),
        ids=np.array([neuron for _, neuron in ordered], dtype=np.int64),
        resolution=0.5,
        begin=begin,
        end=end,
        segments=SEGMENTS,
    )


SPIKES = st.lists(st.tuples(st.integers(1, 100), st.sampled_from([0, 1, 2, 5, 6])), max_size=60, unique=True)


# ---- spikes ----------------------------------------------------------------------------------------------------------


@given(SPIKES)
def test_digest(pairs: list[tuple[int, int]]) -> None:
    expected = hashlib.sha256(b"".join(struct.pack("<qq", *pair) for pair in sorted(pairs)))
    assert spike_data(pairs).digest() == expected.hexdigest()


def test_digest_of_very_many_spikes() -> None:
    steps = np.arange(1, 3_000_000, dtype=np.int64)
    data = rv.SpikeData(steps, steps % 7, 0.1, 0, len(steps), SEGMENTS)
    assert data.digest() == hashlib.sha256(np.stack([steps, steps % 7], axis=1).tobytes()).hexdigest()


@given(SPIKES, st.integers(0, 110), st.integers(0, 110))
def test_between(pairs: list[tuple[int, int]], begin: int, end: int) -> None:
    begin, end = sorted((begin, end))
    part = spike_data(pairs).between(begin * 0.5, end * 0.5)
    expected = sorted(pair for pair in pairs if begin < pair[0] <= end)
    assert list(zip(part.steps.tolist(), part.ids.tolist(), strict=True)) == expected
    assert part.start == begin * 0.5
    assert part.stop == max(begin, min(end, 100)) * 0.5


@given(SPIKES)
def test_counts_and_rates(pairs: list[tuple[int, int]]) -> None:
    data = spike_data(pairs)
    counts = data.counts()
    assert counts["a"].tolist() == [sum(neuron == i for _, neuron in pairs) for i in (0, 1, 2)]
    assert counts["b"].tolist() == [sum(neuron == i for _, neuron in pairs) for i in (5, 6)]
    assert data.rates()["a"] == pytest.approx(counts["a"] / 0.05)
    assert data.mean_rates() == {name: pytest.approx(counts[name].mean() / 0.05) for name in "ab"}


@given(SPIKES)
def test_statistics_of_one_population_are_those_of_its_name(pairs: list[tuple[int, int]]) -> None:
    data = spike_data(pairs)
    for neurons in ("b", SEGMENTS[1]):
        assert data.counts(neurons).tolist() == data.counts()["b"].tolist()
        assert data.rates(neurons).tolist() == data.rates()["b"].tolist()
        assert data.mean_rates(neurons) == data.mean_rates()["b"]
        np.testing.assert_array_equal(data.irregularity(neurons), data.irregularity()["b"])
    assert data.rates(rv.Segment("last", 6, 1)).tolist() == data.rates()["b"][1:].tolist()


def test_statistics_of_populations_and_of_what_was_not_recorded() -> None:
    net = rv.Network()
    first, second = (net.create("iaf_psc_exp", 5, I_e=500.0, name=name) for name in ("first", "second"))
    recorder = net.record_spikes(first)
    sim = rv.Simulation(net, threads=1)
    with pytest.raises(errors.StateError, match="no length"):
        sim.spikes(recorder).rates(first)
    sim.run(100.0)
    data = sim.spikes(recorder)
    assert data.rates(first).shape == (5,)
    assert data.rates(first[2:]).tolist() == data.rates()["first"][2:].tolist()
    assert data.mean_rates(first) == data.rates(first).mean() > 0.0
    statistics: list[Callable[[Any], object]] = [data.counts, data.rates, data.mean_rates, data.irregularity]
    for statistic in statistics:
        with pytest.raises(errors.ValueOutOfBoundsError, match="second"):
            statistic(second)
        with pytest.raises(errors.UnknownNameError):
            statistic("second")
        with pytest.raises(errors.WrongTypeError):
            statistic(3)


@given(SPIKES)
def test_irregularity(pairs: list[tuple[int, int]]) -> None:
    found = spike_data(pairs).irregularity()
    for name, ids in (("a", (0, 1, 2)), ("b", (5, 6))):
        expected = []
        for i in ids:
            intervals = np.diff(sorted(step for step, neuron in pairs if neuron == i))
            expected.append(intervals.std() / intervals.mean() if len(intervals) >= 2 else np.nan)
        assert found[name] == pytest.approx(expected, nan_ok=True)


def test_irregularity_of_regular_and_random_spikes() -> None:
    regular = [(10 * i, 0) for i in range(1, 10)]
    # Element i is neuron i, also where others are silent.
    assert spike_data(regular).irregularity()["a"] == pytest.approx([0.0, np.nan, np.nan], nan_ok=True)
    late = [(10 * i, 2) for i in range(1, 10)]
    assert spike_data(late).irregularity("a") == pytest.approx([np.nan, np.nan, 0.0], nan_ok=True)
    assert np.isnan(spike_data(late).irregularity("a", least_spikes=10)).all()
    generator = np.random.default_rng(1)
    steps = np.unique(np.cumsum(generator.geometric(0.001, size=5000)))
    data = rv.SpikeData(steps, np.zeros_like(steps), 0.1, 0, int(steps[-1]), (rv.Segment("a", 0, 1),))
    # The standard error of the CV of 5000 exponential intervals is about 0.014.
    assert data.irregularity()["a"] == pytest.approx([1.0], abs=0.07)


def test_spikes_of_some_neurons() -> None:
    data = spike_data([(1, 0), (2, 2), (3, 5), (4, 6)])
    assert data.of("a").ids.tolist() == [0, 2]
    assert data.of(rv.Segment("part", 5, 1)).ids.tolist() == [5]
    # Neuron 4 was not recorded, which does not mean that it was silent.
    with pytest.raises(errors.ValueOutOfBoundsError, match="only a, b of it was recorded"):
        data.of(rv.Segment("part", 2, 4))
    assert {name: len(part) for name, part in data.by_population().items()} == {"a": 2, "b": 2}
    with pytest.raises(errors.UnknownNameError, match="recorded population"):
        data.of("c")


def test_neurons_that_were_not_recorded_are_not_silent() -> None:
    net = rv.Network()
    exc = net.create("iaf_psc_exp", 10, name="exc", I_e=500.0)
    some, joined = net.record_spikes(exc[:5]), net.record_spikes([exc[:5], exc[3:]])
    sim = rv.Simulation(net, threads=1)
    sim.run(100.0)
    rate = sim.spikes(some).mean_rates()["exc[0:5]"]
    assert rate > 10.0
    assert sim.spikes(some).of(exc[1:3]).mean_rates() == {"exc[1:3]": rate}
    assert sim.spikes(joined).of(exc).mean_rates() == {"exc": rate}
    for asked in (exc, exc[4:6]):
        with pytest.raises(errors.ValueOutOfBoundsError, match=r"only exc\[0:5\] of it was recorded"):
            sim.spikes(some).of(asked)
    with pytest.raises(errors.ValueOutOfBoundsError, match="its neurons were not recorded"):
        sim.spikes(some).of(exc[5:])


IDS = st.lists(st.integers(0, 500), max_size=30, unique=True).map(sorted)


@given(IDS, st.integers(0, 510), st.integers(0, 510))
def test_ids_of_neurons_as_lists(ids: list[int], first: int, end: int) -> None:
    given_ids = NeuronIds(ids)
    part = [i for i in ids if first <= i < end]
    assert given_ids.within(first, end).array.tolist() == part
    missing = [i for i in range(first, end) if i not in ids]
    assert given_ids.first_missing(first, end) == (missing[0] if missing else None)
    assert given_ids.positions(given_ids.array).tolist() == list(range(len(ids)))
    read = NeuronIds.of_rule(given_ids.rule(), given_ids.gaps().tolist())
    assert read.array.tolist() == ids
    assert read == given_ids


@given(st.integers(0, 20), st.integers(1, 9), st.integers(0, 30), st.integers(0, 200), st.integers(0, 200))
def test_ids_of_neurons_by_a_rule(begin: int, stride: int, size: int, first: int, end: int) -> None:
    ids = range(begin, begin + size * stride, stride)
    ruled, listed = NeuronIds(ids), NeuronIds(list(ids))
    assert ruled == listed
    assert ruled.within(first, end) == listed.within(first, end)
    assert ruled.first_missing(first, end) == listed.first_missing(first, end)
    assert ruled.positions(listed.array).tolist() == list(range(size))
    assert NeuronIds.of_rule(ruled.rule(), ruled.gaps()) == ruled
    assert len(ruled.gaps()) == 0


def test_ids_of_neurons_take_few_bytes_in_files() -> None:
    billions = NeuronIds(range(5, 10**12, 2048))
    assert billions.rule() == [5, 2048, len(billions)]
    assert billions.gaps().nbytes == 0
    assert NeuronIds(np.arange(1000) * 17).gaps().nbytes == 999
    assert NeuronIds([1, 2, 2 + 2**40]).gaps().dtype == np.uint64
    for rule, gaps in (([0, 0, 3], [1]), ([0, -1, 3], []), ([0, 0, -1], []), ([0, 0, 2], [0]), ([0, 0, 3], [2, -1])):
        with pytest.raises(ValueError, match="ids"):
            NeuronIds.of_rule(rule, gaps)


def test_neurons_of_other_processes_are_not_silent() -> None:
    # Of a, 0 and 2 are here; nothing of b.
    pairs = [(10, 0), (20, 2), (30, 2), (40, 2)]
    whole = spike_data(pairs)
    data = replace(whole, covered=NeuronIds(range(0, 5, 2)))
    assert {name: ids.tolist() for name, ids in data.recorded_ids().items()} == {"a": [0, 2]}
    assert {name: counts.tolist() for name, counts in data.counts().items()} == {"a": [1, 3]}
    assert data.mean_rates() == {"a": 40.0}
    assert data.irregularity()["a"] == pytest.approx([np.nan, 0.0], nan_ok=True)
    assert "2 of 3 neurons of a, 0 of 2 neurons of b" in repr(data)
    assert data.by_population()["a"].mean_rates() == data.of("a").mean_rates() == {"a": 40.0}
    assert data.of(rv.Segment("last", 2, 1)).mean_rates() == {"last": 60.0}
    with pytest.raises(errors.ValueOutOfBoundsError, match=r"only 2 of its 3 neurons .* not neuron 1; .*everywhere"):
        data.of(rv.Segment("a", 0, 3))
    for asked in ("b", rv.Segment("b", 5, 2)):
        with pytest.raises(errors.ValueOutOfBoundsError, match=r"only 0 of its 2 neurons .* not neuron 5"):
            data.of(asked)
    assert data.between(15.0).counts()["a"].tolist() == [0, 1]
    assert pickle.loads(pickle.dumps(data)).covered == data.covered


def test_what_processes_have_recorded_is_joined() -> None:
    whole = spike_data([(10, 0), (20, 1), (30, 2), (40, 5), (40, 6)])

    def part(ids: list[int]) -> rv.SpikeData:
        here = np.isin(whole.ids, ids)
        return replace(whole, steps=whole.steps[here], ids=whole.ids[here], covered=NeuronIds(ids))

    parts = [part([0, 2, 4, 6]), part([1]), part([3, 5])]
    everything = joined(parts)
    assert everything.covered is None
    assert everything.digest() == whole.digest()
    assert everything.mean_rates() == whole.mean_rates()
    two = joined(parts[:2])
    assert two.recorded_ids()["a"].tolist() == [0, 1, 2]
    assert two.recorded_ids()["b"].tolist() == [6]


def test_results_cannot_be_written_to() -> None:
    net, _ = balanced()
    recorder, membranes = net.record_spikes(), net.record_state(net["exc"], "V_m", 1.0)
    weights = net.record_weights(net.projections[0], 5.0)
    sim = rv.Simulation(net, threads=1)
    sim.run(20.0)
    synapses = sim.connections()
    for array in (
        sim.spikes(recorder).steps,
        sim.spikes(recorder).ids,
        sim.state(membranes)["V_m"],
        sim.state(membranes).ids,
        sim.weights(weights).weights,
        synapses.weights,
        synapses[:5].weights,
        sim.get(net["exc"], "V_m"),
    ):
        with pytest.raises((ValueError, errors.ReadOnlyError), match="read-only"):
            array[:1] = 5


def test_no_spikes() -> None:
    data = spike_data([])
    assert len(data) == 0
    assert data.mean_rates() == {"a": 0.0, "b": 0.0}
    assert np.isnan(data.irregularity()["a"]).tolist() == [True] * 3
    assert data.digest() == hashlib.sha256().hexdigest()


def test_recorded_neurons() -> None:
    net, everything = balanced()
    part = net.record_spikes([net["exc"][10:20], net["inh"]])
    sim = rv.Simulation(net, threads=3)
    sim.run(30.0)
    sim.run(70.0)
    spikes = sim.spikes(everything)
    assert len(spikes) > 100
    assert (np.lexsort((spikes.ids, spikes.steps)) == np.arange(len(spikes))).all()
    assert spikes.times.tolist() == [step / 10 for step in spikes.steps.tolist()]
    wanted = np.isin(spikes.ids, np.concatenate([net["exc"][10:20].ids, net["inh"].ids]))
    recorded = sim.spikes(part)
    assert (recorded.steps == spikes.steps[wanted]).all()
    assert (recorded.ids == spikes.ids[wanted]).all()
    assert [segment.name for segment in recorded.segments] == ["exc[10:20]", "inh"]


def test_recordings_can_be_fetched_again_and_again() -> None:
    net, recorder = balanced()
    sim = rv.Simulation(net, threads=2)
    assert len(sim.spikes(recorder)) == 0
    lengths = []
    for _ in range(4):
        sim.run(20.0)
        lengths.append(len(sim.spikes(recorder)))
        assert len(sim.spikes(recorder)) == lengths[-1]
    assert lengths == sorted(set(lengths))


def test_given_spikes_are_played_and_can_be_recorded() -> None:
    net = rv.Network()
    generators = net.create_spike_generators([[0.1, 0.2, 5.0, 5.0], [], [3.0]])
    recorder = net.record_spikes(generators)
    sim = rv.Simulation(net, threads=2)
    sim.run(10.0)
    spikes = sim.spikes(recorder)
    assert list(zip(spikes.times.round(6).tolist(), spikes.ids.tolist(), strict=True)) == [
        (0.1, 0),
        (0.2, 0),
        (3.0, 2),
        (5.0, 0),
        (5.0, 0),
    ]


# ---- state variables -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("pieces", [(20.0,), (0.3, 7.4, 12.3)])
def test_state(threads: int, pieces: tuple[float, ...]) -> None:
    net, _ = balanced()
    exc = net["exc"]
    fine = net.record_state(exc, ["V_m", "I_syn_in"])
    coarse = net.record_state(exc[10:50][[0, 7, 39]], "V_m", 0.5)
    sim = rv.Simulation(net, threads=threads)
    for piece in pieces:
        sim.run(piece)
    every, some = sim.state(fine), sim.state(coarse)
    assert every.steps.tolist() == list(range(1, 201))
    assert every.values.shape == (200, 2, 400)
    assert some.steps.tolist() == list(range(5, 201, 5))
    assert some.ids.tolist() == [10, 17, 49]
    assert some.times == pytest.approx(np.arange(1, 41) * 0.5)
    assert (some["V_m"] == every["V_m"][4::5, [10, 17, 49]]).all()
    assert (every["V_m"][-1] == sim.get(exc, "V_m")).all()
    assert (every["I_syn_in"][-1] == sim.get(exc, "I_syn_in")).all()
    assert (every["I_syn_in"] <= 0.0).all()
    with pytest.raises(errors.UnknownNameError, match="V_m"):
        every["V_n"]


def test_membrane_after_a_spike_is_that_of_the_equations() -> None:
    net = rv.Network(resolution=0.1)
    neuron = net.create(rv.iaf_psc_exp(E_L=-70.0, C_m=250.0, tau_m=10.0, tau_syn_ex=2.0), 1)
    net.connect(net.create_spike_generators([[1.0]]), neuron, rv.OneToOne(), weight=100.0, delay=1.5)
    recorder = net.record_state(neuron, "V_m")
    sim = rv.Simulation(net, weight_precision="double")
    sim.run(30.0)
    membranes = sim.state(recorder)
    elapsed = np.clip(membranes.times - 2.5, 0.0, None)
    expected = 100.0 / 250.0 * (np.exp(-elapsed / 10.0) - np.exp(-elapsed / 2.0)) / (1.0 / 2.0 - 1.0 / 10.0)
    assert membranes["V_m"][:, 0] + 70.0 == pytest.approx(expected, abs=1e-9)


# ---- weights ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("pieces", [(10.0,), (1.5, 0.5, 2.3, 5.7)])
def test_weights(pieces: tuple[float, ...]) -> None:
    net = rv.Network()
    neurons = net.create("iaf_psc_exp", 4)
    projection = net.connect(neurons, neurons, rv.AllToAll(), weight=2.0)
    everything = net.record_weights(projection, 2.0)
    some = net.record_weights(projection, 3.0, sources=neurons[:2], targets=neurons[3])
    sim = rv.Simulation(net)
    for piece in pieces:
        sim.run(piece)
    sim.connections(targets=neurons[3]).weights = 5.0
    sim.run(2.0)
    data, part = sim.weights(everything), sim.weights(some)
    assert data.times == pytest.approx([2.0, 4.0, 6.0, 8.0, 10.0, 12.0])
    assert data.weights.shape == (6, 16)
    assert (data.weights[:5] == 2.0).all()
    assert (data.weights[5] == np.where(data.targets == 3, 5.0, 2.0)).all()
    assert part.times == pytest.approx([3.0, 6.0, 9.0, 12.0])
    assert part.sources.tolist() == [0, 1]
    assert part.targets.tolist() == [3, 3]
    assert part.weights.tolist() == [[2.0, 2.0]] * 3 + [[5.0, 5.0]]


def test_windows_that_are_none() -> None:
    net = rv.Network()
    net.create("iaf_psc_exp", 3, I_e=500.0)
    recorder = net.record_spikes()
    sim = rv.Simulation(net)
    with pytest.raises(errors.StateError, match="run the simulation"):
        sim.spikes(recorder).mean_rates()
    sim.run(50.0)
    spikes = sim.spikes(recorder)
    for start, stop in ((float("nan"), 10.0), (0.0, float("nan"))):
        with pytest.raises(errors.ValueOutOfBoundsError, match="window"):
            spikes.between(start, stop)
    for start, stop in ((80.0, 20.0), (20.0, 10.0), (10.0, 9.99), (float("inf"), 0.0)):
        with pytest.raises(errors.ValueOutOfBoundsError, match=r"before its start, .* ms; swap them"):
            spikes.between(start, stop)
    with pytest.raises(TypeError, match="must be a number, not bool"):
        spikes.between(True, 10.0)
    for start, stop in ((60.0, 70.0), (float("inf"), float("inf"))):
        assert len(spikes.between(start, stop)) == 0
    assert spikes.between(float("-inf"), 1e300).digest() == spikes.digest()
    with pytest.raises(errors.StateError, match="no length"):
        spikes.between(10.0, 10.0).rates()


def test_all_neurons_that_are_asked_for_must_have_been_recorded() -> None:
    net = rv.Network()
    first, second = (net.create("iaf_psc_exp", 10, I_e=500.0, name=name) for name in ("first", "second"))
    recorder = net.record_spikes([first[2:4], first[4:6]])
    sim = rv.Simulation(net)
    sim.run(50.0)
    spikes = sim.spikes(recorder)
    assert sorted(set(spikes.of(first[3:6]).ids.tolist())) == [3, 4, 5]
    for part in (first[:2], first[6:], second):
        with pytest.raises(errors.ValueOutOfBoundsError, match="its neurons were not recorded"):
            spikes.of(part)
