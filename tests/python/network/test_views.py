"""Views of neurons: slices with a stride, lists, masks and joined populations, wherever a population is taken."""

from __future__ import annotations

import copy
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from ranvier import errors


def network() -> tuple[rv.Network, rv.Population, rv.Population, rv.Population]:
    """Return a network with three populations, of which the second receives weights in another unit."""
    net = rv.Network(seed=3)
    exc = net.create("iaf_psc_exp", 20, name="exc", I_e=rv.Uniform(300.0, 500.0))
    other = net.create("iaf_psc_delta", 5, name="other")
    inh = net.create("iaf_psc_exp", 10, name="inh")
    return net, exc, other, inh


# ---- comparison with ids ---------------------------------------------------------------------------------------------


def test_a_neuron_compares_with_ids() -> None:
    _, exc, _, inh = network()
    ids = np.array([3, 20, 26, 3, 0])
    for neuron in (exc[3], inh[1], exc[[0]]):
        place = neuron.ids[0]
        for mask in (ids == neuron, neuron == ids):
            assert mask.tolist() == (ids == place).tolist()
        for mask in (ids != neuron, neuron != ids):
            assert mask.tolist() == (ids != place).tolist()
        assert (neuron in ids) == (place in ids)
        for number in (int(place), place, np.uint16(place)):
            assert number == neuron
            assert bool(neuron == number) is True
            assert bool(neuron != number) is False
            assert neuron != number + 1
        assert len({neuron, int(place)}) == 1
    assert (ids.reshape(5, 1) == exc[3]).shape == (5, 1)
    assert exc[3] != "exc[3]"
    assert exc[3] != None  # noqa: E711
    assert exc[1] != True  # noqa: E712


@pytest.mark.parametrize("several", [slice(None), slice(0, 0), [2, 4]])
def test_several_neurons_do_not_compare_with_ids(several: Any) -> None:
    _, exc, _, _ = network()
    neurons = exc[several]
    for ids in (np.arange(len(neurons)), np.arange(7), np.zeros(0, dtype=int), 3, np.int64(3)):
        for first, second in ((ids, neurons), (neurons, ids)):
            with pytest.raises(errors.WrongTypeError, match="must be a single neuron"):
                _ = first == second
            with pytest.raises(errors.WrongTypeError, match="must be a single neuron"):
                _ = first != second


def test_a_neuron_compares_with_ids_only() -> None:
    _, exc, _, _ = network()
    for times in (np.array([0.5, 3.0]), np.array(["exc"]), np.array([True])):
        with pytest.raises(errors.WrongTypeError, match="ids of neurons"):
            _ = times == exc[3]


def test_spikes_of_a_neuron_selected_by_its_id() -> None:
    net, exc, _, _ = network()
    recorder = net.record_spikes()
    sim = rv.Simulation(net, threads=1)
    sim.run(200.0)
    data = sim.spikes(recorder)
    chosen = max(exc, key=lambda neuron: len(data.of(neuron)))
    assert len(data.of(chosen)) > 0
    assert data.times[data.ids == chosen].tolist() == data.of(chosen).times.tolist()


@pytest.mark.parametrize("name", ["exc", b"exc", np.str_("exc"), ["exc"], ("exc",), np.array(["exc", "inh"])])
def test_recorded_ids_do_not_compare_with_names(name: Any) -> None:
    """NumPy would return False for each spike, so that nothing would be selected."""
    net, exc, _, _ = network()
    recorder, state = net.record_spikes(), net.record_state(exc, "V_m", 10.0)
    sim = rv.Simulation(net, threads=1)
    sim.run(100.0)
    ids = sim.spikes(recorder).ids
    for some in (ids, ids[:3], sim.state(state).ids):
        with pytest.raises(errors.WrongTypeError, match=r"the text b?'exc'; write data\.of"):
            _ = some == name
        with pytest.raises(errors.WrongTypeError, match=r"the text b?'exc'; write data\.of"):
            _ = some != name
        with pytest.raises(errors.WrongTypeError, match=r"the text b?'exc'; write data\.of"):
            _ = name == some


def test_recorded_ids_are_arrays_otherwise() -> None:
    net, _, _, _ = network()
    recorder = net.record_spikes()
    sim = rv.Simulation(net, threads=1)
    sim.run(200.0)
    ids = sim.spikes(recorder).ids
    plain = np.array(ids.tolist())
    assert len(plain) > 0
    for found in (ids == 3, ids + 1, np.unique(ids), ids != plain, np.isin(ids, [1])):
        assert type(found) is np.ndarray
    assert (ids == plain).all()
    assert (ids == list(plain)).all()
    assert repr(ids[:3]) == repr(np.asarray(ids[:3]))
    assert type(ids.max()) is type(np.asarray(ids).max())
    assert pickle.loads(pickle.dumps(ids)).tolist() == plain.tolist()
    with pytest.raises(ValueError, match="read-only"):
        ids[0] = 1


# ---- what is selected ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "index",
    [
        slice(None),
        slice(2, 15, 3),
        slice(15, 2),
        slice(-4, None),
        [1, 5, 9],
        [1, 5, 6],
        [-3, -1],
        [],
        range(3, 9, 2),
        np.array([4], dtype=np.uint8),
        np.arange(20) % 3 == 0,
        (np.arange(20) > 30).tolist(),
    ],
    ids=str,
)
def test_a_view_has_the_neurons_that_numpy_selects(index: Any) -> None:
    _, exc, _, inh = network()
    np.testing.assert_array_equal(exc[index].ids, np.arange(20)[index])
    joined = (exc + inh)[5:25]
    np.testing.assert_array_equal(joined[index].ids, np.r_[5:20, 25:30][index])
    view = joined[index]
    assert len(view) == len(view.ids)
    assert [each.first_id for each in view] == view.ids.tolist()
    assert pickle.loads(pickle.dumps((view.network, view)))[1].ids.tolist() == view.ids.tolist()


@pytest.mark.parametrize(
    ("index", "error", "text"),
    [
        (20, errors.IndexOutOfBoundsError, "it has 20 neurons"),
        ([0, 20], errors.IndexOutOfBoundsError, "it has 20 neurons"),
        ([5, 1], errors.ValueOutOfBoundsError, "1 after 5"),
        ([1, 1], errors.ValueOutOfBoundsError, "numpy.unique"),
        ([3, -17], errors.ValueOutOfBoundsError, "without repetition"),
        (slice(None, None, -1), errors.ValueOutOfBoundsError, "must be > 0"),
        (slice(0, 5, 0), errors.WrongTypeError, "slice of exc"),
        ([True, False], errors.ShapeError, "there are 20 neurons"),
        ([[1, 2]], errors.ShapeError, "one dimension"),
        ([[1], [1, 2]], errors.ShapeError, "different lengths"),
        ((1, 5), errors.WrongTypeError, "[[1, 5]]"),
        ([0.5], errors.WrongTypeError, "integers"),
        ("exc", errors.WrongTypeError, "must be an integer"),
        (True, errors.WrongTypeError, "must be an integer"),
        (None, errors.WrongTypeError, "must be an integer"),
        ([2**70], errors.WrongTypeError, "must be integers"),
        (2**70, errors.IndexOutOfBoundsError, "it has 20 neurons"),
    ],
    ids=str,
)
def test_a_wrong_index_is_refused(index: Any, error: type[errors.RanvierError], text: str) -> None:
    _, exc, _, _ = network()
    with pytest.raises(error) as caught:
        exc[index]
    assert text in str(caught.value)


def test_joined_populations_are_in_the_order_of_ids() -> None:
    net, exc, other, inh = network()
    joined = inh + exc[::2]
    assert joined == exc[::2] + inh
    assert hash(joined) == hash(exc[::2] + inh)
    assert joined.ids.tolist() == [*range(0, 20, 2), *range(25, 35)]
    assert joined.name == "exc[0:19:2] + inh"
    assert joined.populations == (exc, inh)
    assert [part.name for part in joined.parts] == ["exc[0:19:2]", "inh"]
    assert exc[:8] + exc[8:] == exc
    assert (exc + other).is_contiguous
    assert not (exc + inh).is_contiguous
    assert exc[::2] + exc[1::2] == exc
    assert joined.network is net
    with pytest.raises(errors.ValueOutOfBoundsError, match="parts"):
        _ = joined.population


def test_what_cannot_be_joined_is_refused() -> None:
    _, exc, _, inh = network()
    with pytest.raises(errors.ValueOutOfBoundsError, match="index 4 on both sides"):
        _ = exc[:5] + inh + exc[4:6]
    with pytest.raises(errors.StateError, match="another network"):
        _ = exc + network()[1]
    with pytest.raises(errors.WrongTypeError, match="must be a population"):
        _ = exc + 3  # type: ignore[operator]


def test_durations_are_no_whole_numbers() -> None:
    """NumPy counts them among its integers."""
    net = rv.Network()
    population = net.create("iaf_psc_exp", 3)
    with pytest.raises(errors.WrongTypeError, match="seed must be an integer, not timedelta64"):
        net.seed = np.timedelta64(1)  # type: ignore[assignment]
    with pytest.raises(errors.WrongTypeError, match="must be integers or a mask"):
        population[np.array([1], dtype="m8[s]")]


def test_a_view_of_no_neurons_has_a_name() -> None:
    one = rv.Network().create("iaf_psc_exp", 1, name="one")
    assert [one[1::2].name, one[1:].name, one[[]].name] == ["one[1:1]", "one[1:1]", "one[0:0]"]


@pytest.mark.parametrize("other", [np.longdouble(0.1), np.float64(1.0), np.arange(3), np.zeros((2, 2)), 1, "exc"])
@pytest.mark.parametrize("part", [slice(None), slice(1, None)])
def test_a_view_is_not_joined_with_what_is_none(other: Any, part: slice) -> None:
    view = rv.Network().create("iaf_psc_exp", 3)[part]
    with pytest.raises(errors.WrongTypeError, match="must be a population or a part of one"):
        other + view
    with pytest.raises(errors.WrongTypeError, match="must be a population or a part of one"):
        view + other


def test_a_population_is_not_taken_for_an_array() -> None:
    population = rv.Network().create("iaf_psc_exp", 3, name="exc")
    for convert in (np.asarray, np.array, np.mean, np.sort):
        with pytest.raises(errors.WrongTypeError, match=r"exc\.ids is the array of its ids"):
            convert(population)


def test_a_network_is_a_collection_of_its_populations() -> None:
    net, exc, other, inh = network()
    assert list(net) == [exc, other, inh]
    assert len(net) == 3
    assert net["inh"] is inh
    assert "exc" in net
    assert "e" not in net
    assert exc[:3] in net
    assert network()[1] not in net
    assert rv.Network()
    with pytest.raises(KeyError) as caught:
        net["ex"]
    assert str(caught.value).startswith("population is 'ex', but this name does not exist; did you mean 'exc'?")


# ---- where a view is taken -------------------------------------------------------------------------------------------


def pairs(sim: rv.Simulation, projection: rv.Projection) -> set[tuple[int, int]]:
    synapses = sim.connections(projection=projection)
    return set(zip(synapses.sources.tolist(), synapses.targets.tolist(), strict=True))


def test_a_rule_takes_the_neurons_of_a_view_together() -> None:
    net, exc, _, inh = network()
    sources, targets = exc[[0, 3, 4, 19]] + inh[::3], inh[1:9:2] + exc[10:12]
    every = net.connect(sources, targets, rv.AllToAll(), weight=1.0)
    single = net.connect(exc[5:10] + inh[:1], sources[:6], rv.OneToOne(), weight=1.0)
    drawn = net.connect([exc, inh], targets, rv.FixedIndegree(7, allow_multapses=False), weight=1.0)
    out = net.connect(targets, [exc[1::2], inh], rv.FixedOutdegree(5, allow_autapses=False), weight=1.0)
    total = net.connect(sources, sources, rv.FixedTotalNumber(9), weight=-1.0)
    sim = rv.Simulation(net, threads=2)
    assert pairs(sim, every) == {(a, b) for a in sources.ids for b in targets.ids}
    assert pairs(sim, single) == set(zip([*range(5, 10), 25], sources[:6].ids, strict=True))
    assert sorted(sim.connections(projection=drawn).targets) == sorted(np.repeat(targets.ids, 7))
    assert pairs(sim, drawn) <= {(a, b) for a in (exc + inh).ids for b in targets.ids}
    assert sorted(sim.connections(projection=out).sources) == sorted(np.repeat(targets.ids, 5))
    assert pairs(sim, out) <= {(a, b) for a in targets.ids for b in (exc[1::2] + inh).ids if a != b}
    assert len(sim.connections(projection=total)) == 9
    assert pairs(sim, total) <= {(a, b) for a in sources.ids for b in sources.ids}
    assert net.expected_synapses == sim.counts().synapses


def test_arrays_hold_values_in_the_order_of_a_view() -> None:
    net, exc, _, inh = network()
    sources, targets = exc[[1, 7]] + inh[:1], inh[::4]
    weights = np.arange(1.0, 10.0).reshape(3, 3)
    net.connect(sources, targets, rv.AllToAll(), weight=weights, delay=weights)
    synapses = rv.Simulation(net, threads=2).connections()
    for source, target, weight, delay in zip(
        synapses.sources, synapses.targets, synapses.weights, synapses.delays, strict=True
    ):
        expected = weights[targets.ids.tolist().index(target), sources.ids.tolist().index(source)]
        assert (weight, delay) == (expected, expected)


def busy(threads: int) -> tuple[rv.Simulation, rv.SpikeRecorder, rv.SpikeRecorder, rv.StateRecorder]:
    """Return a simulation in which views are connected, stimulated and recorded in all ways, after some time."""
    net, exc, _, inh = network()
    everything = exc[[0, 1, 5, 6, 13]] + inh[::3]
    net.connect(everything, exc[1::2] + inh, "fixed_indegree", indegree=4, weight=rv.Normal(60.0, 10.0, low=1.0))
    net.connect(inh[1::2] + exc[:3], everything, "pairwise_bernoulli", probability=0.5, weight=-80.0, delay=0.3)
    net.connect(exc, [exc[::3], inh[:5]], rv.FixedOutdegree(3), weight=30.0, delay=rv.Uniform(0.5, 2.0))
    net.stimulate(everything, rv.poisson_generator(rate=rv.Uniform(5000.0, 9000.0)), weight=rv.Uniform(50.0, 70.0))
    net.stimulate([exc[::2], inh], rv.noise_generator(mean=100.0, std=rv.Uniform(50.0, 100.0)))
    net.stimulate(exc[::5] + inh[:2], rv.dc_generator(amplitude=np.arange(6.0) * 100.0))
    all_spikes = net.record_spikes()
    some_spikes = net.record_spikes([everything, exc[::2]])
    state = net.record_state(everything, ["V_m", "I_syn_ex"], 0.5)
    sim = rv.Simulation(net, threads=threads)
    sim.run(100.0)
    return sim, all_spikes, some_spikes, state


def test_spikes_do_not_depend_on_threads() -> None:
    one, all_of_one, some_of_one, state_of_one = busy(1)
    three, all_of_three, some_of_three, state_of_three = busy(3)
    spikes = one.spikes(all_of_one)
    assert len(spikes) > 100
    assert spikes.digest() == three.spikes(all_of_three).digest()
    assert one.spikes(some_of_one).digest() == three.spikes(some_of_three).digest()
    samples = one.state(state_of_one), three.state(state_of_three)
    for name in ("V_m", "I_syn_ex"):
        np.testing.assert_array_equal(samples[0][name], samples[1][name])


def test_recordings_of_a_view_are_those_of_its_neurons() -> None:
    sim, everything, part, state = busy(2)
    net = sim.network
    all_spikes, some = sim.spikes(everything), sim.spikes(part)
    view = net["exc"][[0, 1, 5, 6, 13]] + net["inh"][::3]
    assert set(np.unique(some.ids)) <= {*view.ids, *range(0, 20, 2)}
    for name, chosen in ((view.name, view), ("exc[0:19:2]", net["exc"][::2])):
        here = np.isin(all_spikes.ids, chosen.ids)
        np.testing.assert_array_equal(some.of(name).ids, all_spikes.ids[here])
        np.testing.assert_array_equal(some.of(chosen).steps, all_spikes.steps[here])
        counts = np.array([np.sum(all_spikes.ids == neuron) for neuron in chosen.ids])
        np.testing.assert_array_equal(some.counts()[name], counts)
    with pytest.raises(errors.ValueOutOfBoundsError):
        some.of(net["exc"][:5])
    samples = sim.state(state)
    np.testing.assert_array_equal(samples.ids, view.ids)
    np.testing.assert_array_equal(samples["V_m"][-1], sim.get(view, "V_m"))


@pytest.mark.parametrize("suffix", [".h5", ".csv"])
def test_files_keep_the_segments_of_views(tmp_path: Path, suffix: str) -> None:
    net, exc, _, inh = network()
    net.set(exc, I_e=600.0)
    path = tmp_path / f"spikes{suffix}"
    net.record_spikes([exc[::2] + inh, exc[:4]], to=path)
    rv.Simulation(net, threads=1).run(50.0)
    read = rv.read_spikes(path)
    assert [segment.name for segment in read.segments] == ["exc[0:19:2] + inh", "exc[0:4]"]
    assert set(read.counts()["exc[0:19:2] + inh"].nonzero()[0]) == set(range(10))
    assert len(read.of(exc[2:3])) == read.counts()["exc[0:4]"][2]


def test_values_of_a_view_are_set_together_or_not_at_all() -> None:
    net, exc, _, inh = network()
    view = exc[::4] + inh[[2, 5]]
    plain = net.create("iaf_psc_exp", 4, name="plain")
    net.set(plain[::2] + inh[1::2], I_e=np.arange(7.0))
    np.testing.assert_array_equal(plain.values["I_e"], [5.0, 0.0, 6.0, 0.0])
    before = copy.copy(inh.values), copy.copy(plain.values)
    with pytest.raises(errors.ValueOutOfBoundsError):
        net.set(inh + plain, tau_m=[10.0] * 13 + [-1.0])
    assert (dict(inh.values), dict(plain.values)) == tuple(map(dict, before))
    sim = rv.Simulation(net, threads=2)
    sim.set(view, V_m=-60.0 + np.arange(7.0))
    np.testing.assert_array_equal(sim.get(view, "V_m"), -60.0 + np.arange(7.0))
    assert sim.get(exc, "V_m")[[0, 4, 16]].tolist() == [-60.0, -59.0, -56.0]
    assert sim.get(inh, "V_m")[[2, 5]].tolist() == [-55.0, -54.0]
    with pytest.raises(errors.ValueOutOfBoundsError):
        sim.set(view, tau_m=[10.0] * 6 + [-1.0])
    assert set(sim.get(view, "tau_m")) == {10.0}


def test_spike_times_of_a_part() -> None:
    net = rv.Network()
    sources = net.create_spike_generators([[1.0], [2.0], [3.0], [4.0]])
    recorder = net.record_spikes([sources])
    net.set(sources[1::2], spike_times=[[5.0], [6.0, 7.0]])
    sim = rv.Simulation(net, threads=1)
    sim.run(10.0)
    spikes = sim.spikes(recorder)
    assert spikes.ids.tolist() == [0, 2, 1, 3, 3]
    assert spikes.times.tolist() == [1.0, 3.0, 5.0, 6.0, 7.0]


def test_targets_of_models_with_other_receptors_are_refused() -> None:
    net, exc, other, inh = network()
    for call in (
        lambda: net.connect(inh, exc + other, rv.AllToAll()),
        lambda: net.stimulate([exc, other], rv.poisson_generator(rate=10.0)),
    ):
        with pytest.raises(errors.ValueOutOfBoundsError, match="in a separate call"):
            call()
    net.connect(exc + other, inh, rv.AllToAll())
    with pytest.raises(errors.UnknownNameError, match="I_syn_ex"):
        net.record_state(exc + other, "I_syn_ex")
    assert net.record_state(exc + other, "V_m").neurons == exc + other


@pytest.mark.parametrize("wrong", [[], [3], 3, "exc", rv.iaf_psc_exp()], ids=str)
def test_what_is_no_population_is_refused(wrong: Any) -> None:
    net, exc, _, _ = network()
    for call in (
        lambda: net.connect(wrong, exc, rv.AllToAll()),
        lambda: net.connect(exc, wrong, rv.AllToAll()),
        lambda: net.stimulate(wrong, rv.poisson_generator(rate=1.0)),
        lambda: net.record_state(wrong, "V_m"),
        lambda: net.set(wrong, I_e=1.0),
    ):
        with pytest.raises((errors.WrongTypeError, errors.ShapeError)):
            call()
    assert not net.projections
    assert not net.recorders


def test_a_network_with_views_is_copied_and_pickled() -> None:
    sim, recorder, *_ = busy(1)
    net = sim.network
    same, of_same = pickle.loads(pickle.dumps((net, recorder)))
    assert same == net
    assert copy.deepcopy(net) == net
    assert [each.name for each in same.stimuli] == [each.name for each in net.stimuli]
    assert same.stimuli[0].targets.ids.tolist() == net.stimuli[0].targets.ids.tolist()
    again = rv.Simulation(same, threads=2)
    again.run(100.0)
    assert sim.spikes(recorder).digest() == again.spikes(of_same).digest()


def test_what_is_in_the_wrong_call_is_told_the_right_one() -> None:
    net, exc, _, inh = network()
    for call, right in (
        (lambda: net.connect(rv.poisson_generator(rate=1.0), exc, rv.AllToAll()), "net.stimulate("),  # type: ignore[arg-type]
        (lambda: net.stimulate(exc, inh), "net.connect("),  # type: ignore[arg-type]
        (lambda: net.stimulate(exc, "iaf_psc_exp"), "net.connect("),
        (lambda: net.create("dc_generator", 1), "net.stimulate("),
        (lambda: net.create(rv.dc_generator(), 1), "net.stimulate("),
        (lambda: net.connect(exc, inh, rv.AllToAll), "rv.AllToAll(...)"),  # type: ignore[arg-type]
        (lambda: net.record_state(exc), "missing a required argument"),  # type: ignore[call-arg]
    ):
        with pytest.raises(errors.WrongTypeError) as caught:
            call()
        assert right in str(caught.value)


def test_completion_shows_the_interface_and_nothing_else() -> None:
    for module in (rv, rv.errors, rv.networks, rv.plot):
        assert dir(module) == sorted(module.__all__)
        assert all(hasattr(module, name) for name in module.__all__)
    with pytest.raises(AttributeError, match="did you mean 'FixedIndegree'"):
        rv.fixed_indegree  # type: ignore[attr-defined] # noqa: B018
