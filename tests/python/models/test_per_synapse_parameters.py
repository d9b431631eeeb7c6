"""Parameters with one value per synapse: drawn, from arrays, read, changed and saved."""

from __future__ import annotations

import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import per_synapse_scenes as scenes
import ranvier as rv
from nest_pool import nest_pool, requires_nest
from ranvier import _core
from ranvier.errors import ShapeError, UnknownNameError, ValueOutOfBoundsError, WrongTypeError
from short_term_scenes import TRAINS, expected_factors
from thorough_cases import only

U = rv.Uniform
DRAWN: dict[str, Any] = {
    "bernoulli": rv.bernoulli(p_transmit=U(0.2, 0.9)),
    "tsodyks": rv.tsodyks(
        U=rv.Normal(0.3, 0.1, low=0.05, high=1.0), tau_rec=U(50.0, 200.0), tau_psc=U(1.0, 4.0), x=U(0.5, 0.6)
    ),
    "tsodyks2": rv.tsodyks2(U=U(0.1, 0.5), tau_rec=U(50.0, 200.0), tau_fac=U(0.0, 40.0), u=U(0.1, 0.5)),
    "quantal_stp": rv.quantal_stp(n=U(0.5, 6.5), U=U(0.1, 0.9), tau_rec=U(10.0, 100.0), depleted=U(0.0, 1.0)),
}
WAYS: list[dict[str, Any]] = [
    {"threads": 2},
    {"threads": 3, "tuning": rv.Tuning(shards=5, instruction_set="baseline")},
    {"threads": 2, "processes": rv.Processes(sort_connections=False)},
    {"processes": rv.Processes(row_numbering="compact"), "tuning": rv.Tuning(delivery_window=1)},
]


def busy_network(synapse: Any, seed: int = 3) -> tuple[rv.Network, Any]:
    """Return a network with a projection that is drawn by target, and one by source that has weights of both signs."""
    net = rv.Network(seed=seed)
    neurons = net.create("iaf_psc_alpha", 100, I_e=U(350.0, 480.0), V_m=rv.Normal(-65.0, 3.0))
    net.connect(neurons, neurons, rv.FixedIndegree(30), weight=U(5.0, 20.0), delay=U(0.5, 3.0), synapse=synapse)
    net.connect(neurons, neurons, rv.FixedOutdegree(15), weight=rv.Normal(-5.0, 20.0), delay=1.5, synapse=synapse)
    return net, net.record_spikes()


def simulated(net: rv.Network, **options: Any) -> rv.Simulation:
    return rv.Simulation(net, **{"threads": 1, "progress": False, **options})


def as_any(value: Any) -> Any:
    """Hide a value from the type checker, which refuses it too."""
    return value


def pairs(synapse: Any, size: int = 4) -> rv.Network:
    net = rv.Network()
    neurons = net.create("iaf_psc_exp", size)
    net.connect(neurons, neurons, rv.OneToOne(), weight=5.0, synapse=synapse)
    return net


# ---- what spikes add -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("names", [(), ("U",), ("tau_rec", "x")], ids=str)
@pytest.mark.parametrize("model", ["tsodyks", "tsodyks2"])
def test_each_synapse_follows_the_equations_with_its_parameters(model: str, names: tuple[str, ...]) -> None:
    values = scenes.values_of(model, *names)
    found = scenes.in_ranvier(getattr(rv, model)(**values), weight_precision="double")
    for i, factors in enumerate(found):
        own = {name: float(each[i]) for name, each in values.items()}
        np.testing.assert_allclose(factors, expected_factors(model, own, TRAINS[i // scenes.COPIES]), 1e-9, 1e-13)


@requires_nest
@pytest.mark.parametrize("model", ["tsodyks", "tsodyks2"])
def test_each_synapse_adds_what_it_adds_in_nest(model: str) -> None:
    values = scenes.values_of(model)
    in_nest = nest_pool().submit(scenes.in_nest, model, values).result()
    found = scenes.in_ranvier(getattr(rv, model)(**values), weight_precision="double")
    for ours, theirs in zip(found, in_nest, strict=True):
        np.testing.assert_allclose(ours, theirs, 1e-9, 1e-13)


def transmissions(seed: int = 1) -> Any:
    net = rv.Network(resolution=1.0, seed=seed)
    source = net.create_spike_generators([[float(step) for step in range(1, scenes.VOLLEYS + 1)]])
    targets = net.create(rv.iaf_psc_delta(V_th=-69.5, V_reset=-70.0, t_ref=0.0), len(scenes.PROBABILITIES))
    net.connect(source, targets, rv.AllToAll(), weight=1.0, synapse=rv.bernoulli(p_transmit=scenes.PROBABILITIES))
    recorder = net.record_spikes(targets)
    sim = simulated(net)
    sim.run(scenes.VOLLEYS + 5.0)
    return np.bincount(sim.spikes(recorder).ids - targets[0].ids[0], minlength=len(scenes.PROBABILITIES))


def squares(counts: Any) -> float:
    """Return the sum of the squared deviations from the binomial law, in its variances."""
    p = scenes.PROBABILITIES
    return float(((counts - scenes.VOLLEYS * p) ** 2 / (scenes.VOLLEYS * p * (1.0 - p))).sum())


# Of 19 synapses: chi square exceeds this with a probability of 1e-6.
LARGEST_SQUARES = 63.0


def test_each_synapse_transmits_with_its_probability() -> None:
    assert squares(transmissions()) < LARGEST_SQUARES
    assert squares(transmissions()[::-1]) > 100.0 * LARGEST_SQUARES, "the order of the synapses counts"


@requires_nest
def test_each_synapse_transmits_as_often_as_in_nest() -> None:
    """Both follow the same law, each with a false alarm of 1e-6, and so do their differences."""
    theirs = nest_pool().submit(scenes.transmissions_of_nest).result()
    assert squares(theirs) < LARGEST_SQUARES
    p = scenes.PROBABILITIES
    difference = (transmissions() - theirs) ** 2 / (2.0 * scenes.VOLLEYS * p * (1.0 - p))
    assert float(difference.sum()) < LARGEST_SQUARES


def test_release_sites_are_those_of_each_synapse() -> None:
    """With U = 1 all sites release at each spike, and some are full at first."""
    sites, empty = np.array([1.0, 3.0, 300.0, 7.0]), np.array([0.0, 2.0, 0.0, 7.0])
    net = rv.Network()
    source = net.create_spike_generators([[1.0, 3000.0]])
    targets = net.create(rv.iaf_psc_delta(V_th=1e30, tau_m=1e9), 4)
    synapse = rv.quantal_stp(n=sites, depleted=empty, U=1.0, u=1.0, tau_rec=1.0)
    net.connect(source, targets, rv.AllToAll(), weight=1.0, synapse=synapse)
    sim = simulated(net)
    sim.run(5.0)
    first = sim.get(targets, "V_m") + 70.0
    np.testing.assert_allclose(first, sites - empty, rtol=1e-6)
    sim.run(3000.0)
    np.testing.assert_allclose(sim.get(targets, "V_m") + 70.0, first + sites, rtol=1e-3)


@pytest.mark.parametrize("name", DRAWN)
def test_equal_values_are_a_shared_one_bit_for_bit(name: str) -> None:
    """Where values and weights are stored in double precision."""
    model = getattr(rv, name)
    infos = next(each for each in _core.synapse_models() if each.name == name).parameters
    shared = {info.name: info.default for info in infos} | ({"p_transmit": 0.4} if name == "bernoulli" else {})
    digests = []
    for values in (shared, {key: rv.Normal(value, 0.0) for key, value in shared.items()}):
        net, recorder = busy_network(model(**values))
        sim = simulated(net, weight_precision="double")
        sim.run(200.0)
        digests.append(sim.spikes(recorder).digest())
        assert len(sim.spikes(recorder)) > 500
    assert digests[0] == digests[1]


# ---- drawing ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("name", DRAWN)
def test_nothing_depends_on_how_a_run_is_divided(name: str, precision: str) -> None:
    found = set()
    for way in [{}, *WAYS]:
        net, recorder = busy_network(DRAWN[name])
        sim = simulated(net, weight_precision=precision, **way)
        sim.run(150.0)
        synapses = sim.connections()
        values = [synapses.get(each).tobytes() for each in DRAWN[name].values]
        found.add((sim.spikes(recorder).digest(), synapses.weights.tobytes(), *values))
    assert len(found) == 1


def test_drawing_changes_neither_weights_nor_delays() -> None:
    drawn, shared = (simulated(busy_network(each)[0]).connections() for each in (DRAWN["tsodyks"], rv.tsodyks()))
    np.testing.assert_array_equal(drawn.weights, shared.weights)
    np.testing.assert_array_equal(drawn.delays, shared.delays)


def test_values_are_those_of_the_distribution_and_independent() -> None:
    """Correlations at five standard deviations, and the statistic of Kolmogorov and Smirnov at 1e-6."""
    synapse = rv.tsodyks2(U=U(0.1, 0.5), tau_rec=U(50.0, 200.0), u=U(0.1, 0.5))
    connections = simulated(busy_network(synapse)[0]).connections()
    columns = [np.argsort(np.argsort(connections.get(each))) for each in ("U", "tau_rec", "u")]
    columns.append(np.argsort(np.argsort(connections.weights)))
    size = len(connections)
    correlations = np.corrcoef(columns) - np.eye(len(columns))
    assert np.abs(correlations).max() < 5.0 / math.sqrt(size)
    for name, low, high in (("U", 0.1, 0.5), ("tau_rec", 50.0, 200.0)):
        sorted_values = np.sort((connections.get(name) - low) / (high - low))
        assert np.abs(sorted_values - (np.arange(size) + 0.5) / size).max() < 2.7 / math.sqrt(size)


def test_whole_numbers_are_drawn_by_rounding() -> None:
    connections = simulated(busy_network(rv.quantal_stp(n=U(0.5, 4.5)))[0]).connections()
    values, counts = np.unique(connections.get("n"), return_counts=True)
    assert list(values) == [1.0, 2.0, 3.0, 4.0]
    # At five standard deviations.
    assert np.abs(counts - counts.sum() / 4.0).max() < 5.0 * math.sqrt(counts.sum() * 3.0 / 16.0)


@pytest.mark.parametrize("sorted_", [True, False])
def test_arrays_are_in_the_order_of_the_rule(sorted_: bool) -> None:
    random = np.random.default_rng(2)
    net = rv.Network()
    neurons = net.create("iaf_psc_exp", 6)
    own = random.uniform(0.1, 0.9, (6, 6))
    net.connect(neurons, neurons, rv.AllToAll(), weight=own, delay=U(0.1, 3.0), synapse=rv.bernoulli(p_transmit=own))
    pairs = random.integers(0, 6, (40, 2))
    listed = random.uniform(0.1, 0.9, 40)
    rule = rv.Explicit(pairs[:, 0], pairs[:, 1])
    net.connect(neurons, neurons, rule, weight=listed, delay=U(0.1, 3.0), synapse=rv.bernoulli(p_transmit=listed))
    by_source = random.uniform(0.1, 0.9, 30)
    rule_of_sources = rv.FixedOutdegree(5)
    drawn = rv.bernoulli(p_transmit=by_source)
    net.connect(neurons, neurons, rule_of_sources, weight=by_source, delay=U(0.1, 3.0), synapse=drawn)
    connections = simulated(net, threads=3, processes=rv.Processes(sort_connections=sorted_)).connections()
    assert len(connections) == 106
    np.testing.assert_array_equal(connections.get("p_transmit"), connections.weights)
    whole = connections[connections.projections == 0]
    np.testing.assert_array_equal(whole.get("p_transmit"), own.astype(np.float32)[whole.targets, whole.sources])


# ---- reading and changing --------------------------------------------------------------------------------------------


def test_shared_values_are_read_for_each_synapse() -> None:
    connections = simulated(pairs(rv.tsodyks2(U=[0.1, 0.2, 0.3, 0.4], tau_rec=77.5))).connections()
    np.testing.assert_array_equal(connections.get("U"), np.array([0.1, 0.2, 0.3, 0.4], dtype=np.float32))
    np.testing.assert_array_equal(connections.get("tau_rec"), np.full(4, 77.5))
    assert not connections.get("U").flags.writeable


@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("name", DRAWN)
def test_what_was_read_can_be_set(name: str, precision: str) -> None:
    infos = next(each for each in _core.synapse_models() if each.name == name).parameters
    at_bounds = {info.name: rv.Normal(0.0 if info.bounds.startswith(">= 0") else 1e-6, 0.0) for info in infos}
    free = {info.name: at_bounds[info.name] for info in infos if info.may_change}
    sim = simulated(pairs(getattr(rv, name)(**free)), weight_precision=precision)
    connections = sim.connections()
    before = {key: connections.get(key) for key in free}
    connections.set(**before)
    for key, values in before.items():
        np.testing.assert_array_equal(connections.get(key), values)


def test_a_value_that_is_set_acts_on_later_spikes() -> None:
    net = rv.Network()
    source = net.create_spike_generators([[1.0, 2.0]])
    targets = net.create(rv.iaf_psc_delta(V_th=1e30, tau_m=1e9), 3)
    net.connect(source, targets, rv.AllToAll(), weight=1.0, delay=1.5, synapse=rv.bernoulli(p_transmit=[0.0, 0.0, 1.0]))
    sim = simulated(net)
    # The first spike has been sent, and not arrived.
    sim.run(1.2)
    sim.connections()[:2].set(p_transmit=[1.0, 0.0])
    sim.run(5.0)
    np.testing.assert_allclose(sim.get(targets, "V_m") + 70.0, [1.0, 0.0, 2.0], rtol=1e-6)
    np.testing.assert_array_equal(sim.connections().get("p_transmit"), [1.0, 0.0, 1.0])


@pytest.mark.parametrize(
    ("values", "error", "text"),
    [
        ({"U": 1.1}, ValueOutOfBoundsError, r"U of synapse 0 \(from neuron 0 to neuron 0\) is 1.1, but it must be"),
        ({"U": [0.1, 0.2, -0.1, 0.3]}, ValueOutOfBoundsError, r"U of synapse 2 \(from neuron 2 to neuron 2\) is -0.1"),
        ({"U": math.nan}, ValueOutOfBoundsError, "finite"),
        ({"tau_rec": [1.0, 1.0, math.inf, 1.0]}, ValueOutOfBoundsError, "finite"),
        ({"U": 0.5, "tau_rec": 0.0}, ValueOutOfBoundsError, "tau_rec of synapse 0"),
        ({"tau_fac": 5.0}, ValueOutOfBoundsError, "all synapses of its projection share this parameter"),
        ({"u": 0.5}, ValueOutOfBoundsError, "it cannot change after the network was built"),
        ({"U": [0.1, 0.2]}, ShapeError, r"of shape \(4,\)"),
        ({"U": [[0.1, 0.2], [0.3, 0.4]]}, ShapeError, r"of shape \(4,\)"),
        ({"U": "0.5"}, WrongTypeError, "U"),
        ({"U": U(0.1, 0.2)}, WrongTypeError, "U"),
        ({"p_transmit": 0.5}, UnknownNameError, "parameter of tsodyks2"),
        ({"Ux": 0.5}, UnknownNameError, "'Ux'"),
        ({"weights": 0.5}, UnknownNameError, "use connections.weights"),
        ({}, WrongTypeError, "no value"),
    ],
)
def test_changes_that_are_refused_change_nothing(values: dict[str, Any], error: Any, text: str) -> None:
    sim = simulated(pairs(rv.tsodyks2(U=[0.1, 0.2, 0.3, 0.4], tau_rec=U(1.0, 2.0), u=U(0.1, 0.2))), threads=2)
    connections = sim.connections()
    before = [connections.get(each) for each in ("U", "tau_rec", "u")]
    with pytest.raises(error, match=text):
        connections.set(**values)
    for name, own in zip(("U", "tau_rec", "u"), before, strict=True):
        np.testing.assert_array_equal(connections.get(name), own)


def test_parameters_are_no_attributes() -> None:
    connections = simulated(pairs(rv.tsodyks2(U=U(0.1, 0.2)))).connections()
    with pytest.raises(rv.errors.ReadOnlyError, match=r"connections.set\(U=...\)"):
        as_any(connections).U = 0.5
    with pytest.raises(rv.errors.UnknownAttributeError, match=r'connections.get\("U"\)'):
        _ = as_any(connections).U


def test_long_arrays_are_named_by_their_length() -> None:
    projection = pairs(rv.bernoulli(p_transmit=np.linspace(0.0, 1.0, 400)), 400).projections[0]
    assert "bernoulli(p_transmit=<array of 400>)" in repr(projection)


@pytest.mark.parametrize("name", ["U", "p_transmit", "mu_plus"])
def test_static_synapses_have_no_parameters(name: str) -> None:
    connections = simulated(pairs("static_synapse")).connections()
    with pytest.raises(UnknownNameError, match="static"):
        connections.get(name)
    assert connections[:0].get(name).shape == (0,)
    with pytest.raises(UnknownNameError, match="tau_recc"):
        connections[:0].get("tau_recc")


# ---- saving ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", only(["tsodyks"], DRAWN))
def test_a_saved_state_keeps_what_each_synapse_has(name: str, tmp_path: Path) -> None:
    changed = {"bernoulli": "p_transmit"}.get(name, "U")
    digests = []
    for way in [None, *WAYS]:
        net, recorder = busy_network(DRAWN[name])
        sim = simulated(net, threads=2)
        sim.run(60.0)
        chosen = sim.connections(sources=net.populations[0][:30])
        chosen.set(**{changed: np.linspace(0.2, 0.8, len(chosen))})
        sim.run(30.0)
        if way is not None:
            sim.save(tmp_path / "state.h5")
            sim = rv.Simulation.load(net, tmp_path / "state.h5", progress=False, **way)
        sim.run(60.0)
        synapses = sim.connections()
        digests.append([sim.spikes(recorder).digest(), *(synapses.get(each).tobytes() for each in DRAWN[name].values)])
    assert all(each == digests[0] for each in digests)


def test_a_state_of_other_values_is_refused(tmp_path: Path) -> None:
    sim = simulated(pairs(rv.tsodyks2(U=[0.1, 0.2, 0.3, 0.4])))
    sim.save(tmp_path / "state.h5")
    for other in ([0.1, 0.2, 0.3, 0.5], 0.1, U(0.1, 0.4)):
        with pytest.raises(rv.errors.RanvierError, match="parameter U of projection"):
            rv.Simulation.load(pairs(rv.tsodyks2(U=other)), tmp_path / "state.h5", progress=False)


def test_a_description_keeps_arrays_and_distributions() -> None:
    synapse = rv.tsodyks2(U=[0.1, 0.2, 0.3, 0.4], tau_rec=U(1.0, 2.0), u=0.3)
    net = pickle.loads(pickle.dumps(pairs(synapse)))
    assert net.projections[0].synapse == synapse
    assert net.projections[0].synapse != rv.tsodyks2(U=[0.1, 0.2, 0.3, 0.5], tau_rec=U(1.0, 2.0), u=0.3)
    with pytest.raises(ValueError, match="read-only"):
        net.projections[0].synapse.values["U"][0] = 0.5
    net.set(net.projections[0], synapse=rv.tsodyks2(U=[0.5, 0.2, 0.3, 0.4]))
    np.testing.assert_allclose(simulated(net).connections().get("U"), [0.5, 0.2, 0.3, 0.4], rtol=1e-6)


# ---- bad values ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("make", "error", "text"),
    [
        (lambda: rv.stdp_pl(tau_plus=as_any(U(1.0, 2.0))), WrongTypeError, "all synapses of a projection share it"),
        (lambda: rv.stdp_pl(alpha=as_any([0.1, 0.2])), WrongTypeError, "all synapses of a projection share it"),
        (lambda: rv.stdp(tau_plus=U(-1.0, 2.0)), ValueOutOfBoundsError, "least value that can be drawn"),
        (lambda: rv.stdp(tau_minus=[5.0, -5.0, 5.0, 5.0]), ValueOutOfBoundsError, "element 1 of parameter tau_minus"),
        (lambda: rv.stdp(tau_minus=[5.0, 2e5, 5.0, 5.0]), ValueOutOfBoundsError, "at most a million steps"),
        (lambda: rv.stdp(W_max=[9.0, 9.0, 4.0, 9.0]), ValueOutOfBoundsError, r"element 2.* is 5.*which may be 4"),
        (
            lambda: rv.stdp(W_max=[9.0, 9.0, -9.0, 9.0]),
            ValueOutOfBoundsError,
            "all values must be finite and have one sign",
        ),
        (lambda: rv.stdp(W_max=[9.0, 9.0, 0.0, 9.0]), ValueOutOfBoundsError, "W_max is 0"),
        (lambda: rv.stdp(W_max=U(4.0, 9.0)), ValueOutOfBoundsError, "which may be 4"),
        (lambda: rv.stdp(W_max=U(-9.0, 9.5)), ValueOutOfBoundsError, "one sign"),
        (lambda: rv.stdp(W_max=U(-9.0, -6.0)), ValueOutOfBoundsError, "weights of stdp are from -9 to 0"),
        (
            lambda: rv.vogels_sprekeler(W_max=rv.Exponential(9.0)),
            ValueOutOfBoundsError,
            "between 0 and W_max of",
        ),
        (lambda: rv.stdp_triplet(A_plus=U(-1.0, 1.0)), ValueOutOfBoundsError, "least value"),
        (
            lambda: rv.tsodyks2(U=rv.Normal(0.5, 0.1)),
            ValueOutOfBoundsError,
            "least value that can be drawn for parameter U",
        ),
        (lambda: rv.tsodyks2(U=rv.Exponential(0.1)), ValueOutOfBoundsError, "greatest value that can be drawn"),
        (lambda: rv.tsodyks2(U=rv.Normal(0.5, math.nan)), rv.errors.RanvierError, "nan"),
        (lambda: rv.tsodyks2(U=[0.1, 0.2, 0.3, 1.1]), ValueOutOfBoundsError, "element 3 of parameter U of tsodyks2"),
        (lambda: rv.tsodyks2(U=[0.1, math.nan, 0.3, 0.1]), ValueOutOfBoundsError, "element 1 of parameter U"),
        (lambda: rv.tsodyks2(U=[0.1, 0.2]), ShapeError, "length of parameter U"),
        (lambda: rv.tsodyks2(U=[]), ShapeError, "length of parameter U"),
        (lambda: rv.tsodyks2(U=np.zeros((2, 2))), ShapeError, "must have one dimension"),
        (lambda: rv.tsodyks2(U=np.zeros((2, 2, 1))), ShapeError, "one or two dimensions"),
        (lambda: rv.tsodyks2(U=as_any(None)), WrongTypeError, "parameter U of tsodyks2"),
        (lambda: rv.tsodyks2(U="0.5"), WrongTypeError, "parameter U of tsodyks2"),
        (lambda: rv.tsodyks2(U=[True, 0.5, 0.5, 0.5]), WrongTypeError, "booleans"),
        (lambda: rv.tsodyks(x=U(0.1, 0.6), y=U(0.1, 0.5)), ValueOutOfBoundsError, "their sum can be at most 1"),
        (lambda: rv.tsodyks(x=[0.1, 0.9, 0.5, 0.5], y=0.2), ValueOutOfBoundsError, r"\(element 1\)"),
        (lambda: rv.quantal_stp(n=[1.0, 2.0, 2.5, 3.0]), ValueOutOfBoundsError, "2.5.*whole number"),
        (lambda: rv.quantal_stp(n=U(0.4, 3.0)), ValueOutOfBoundsError, "least value"),
        (lambda: rv.quantal_stp(n=U(1.0, 3.0), depleted=2.0), ValueOutOfBoundsError, "depleted is greater than n"),
        (lambda: rv.quantal_stp(n=U(1.0, 1e5)), ValueOutOfBoundsError, "greatest value"),
    ],
)
def test_values_that_are_refused(make: Any, error: Any, text: str) -> None:
    net = rv.Network()
    neurons = net.create("iaf_psc_exp", 4)
    with pytest.raises(error, match=text):
        net.connect(neurons, neurons, rv.OneToOne(), weight=5.0, synapse=make())
    assert not net.projections


def test_arrays_need_a_rule_that_tells_the_synapses() -> None:
    net = rv.Network()
    neurons = net.create("iaf_psc_exp", 4)
    with pytest.raises(ShapeError, match="the rule draws how many synapses"):
        net.connect(neurons, neurons, rv.PairwiseBernoulli(0.5), weight=5.0, synapse=rv.bernoulli(p_transmit=[0.5] * 4))
    projection = net.connect(neurons, neurons, rv.OneToOne(), weight=5.0, synapse=rv.bernoulli(p_transmit=[0.5] * 4))
    with pytest.raises(ShapeError, match="length of parameter p_transmit"):
        net.set(projection, rule=rv.AllToAll())


def test_what_may_differ_is_described() -> None:
    for model in _core.synapse_models():
        own = [info.name for info in model.parameters if info.per_synapse]
        assert list(getattr(rv, model.name).per_synapse_names) == own
        assert ("may differ from synapse to synapse" in getattr(rv, model.name).__doc__) == bool(own)


@pytest.mark.parametrize("first", [0, 1])
def test_projections_whose_bounds_differ_may_come_in_any_order(first: int) -> None:
    """What is shared by synapses with bounds of their own knows the greatest of all."""
    net = rv.Network(seed=3)
    cells = net.create("iaf_psc_exp", 50, I_e=rv.Uniform(370.0, 500.0))
    weak: dict[str, Any] = {"weight": U(0.1, 0.5), "synapse": rv.stdp(W_max=U(0.5, 1.0))}
    strong: dict[str, Any] = {"weight": U(1e5, 4e5), "synapse": rv.stdp(W_max=U(4e5, 1e6))}
    for each in [weak, strong][:: 1 if first == 0 else -1]:
        net.connect(cells, cells, rv.FixedIndegree(10), delay=U(0.5, 3.0), **each)
    sim = simulated(net)
    sim.run(50.0)
    greatest = [float(np.max(sim.connections(projection=each).weights)) for each in net.projections]
    assert sorted(greatest)[0] < 1.0 < 4e5 < sorted(greatest)[1]


@pytest.mark.parametrize("name", ["tsodyks2", "quantal_stp"])
@pytest.mark.parametrize("given", [0.05, [0.1, 0.2, 0.3, 0.4], rv.Uniform(0.1, 0.9)], ids=["number", "array", "drawn"])
def test_what_the_first_spike_uses_is_that_of_a_synapse_at_rest(name: str, given: Any) -> None:
    """`u` has the values of `U` unless it is given: for each synapse, drawn ones too."""
    model = getattr(rv, name)
    connections = simulated(pairs(model(U=given))).connections()
    np.testing.assert_array_equal(connections.get("u"), connections.get("U"))
    assert model(U=given).values.keys() == {"U"}
    both = simulated(pairs(model(U=given, u=0.5))).connections()
    assert (both.get("u") == 0.5).all()
    np.testing.assert_array_equal(both.get("U"), connections.get("U"))
    # Drawn on their own, they are others.
    apart = simulated(pairs(model(U=rv.Uniform(0.1, 0.9), u=rv.Uniform(0.1, 0.9)))).connections()
    assert (apart.get("u") != apart.get("U")).all()


def test_the_first_spike_of_a_facilitating_synapse_is_weak() -> None:
    net = rv.Network()
    source = net.create_spike_generators([[1.0]])
    target = net.create(rv.iaf_psc_delta(V_th=1e30, tau_m=1e9), 1)
    net.connect(source, target, rv.OneToOne(), weight=10.0, synapse=rv.tsodyks2(U=0.05, tau_fac=1000.0))
    sim = simulated(net)
    sim.run(5.0)
    np.testing.assert_allclose(sim.get(target, "V_m") + 70.0, 0.5, rtol=1e-6)
