"""Synapses that learn: their weights are those of the equations, however a run is cut, divided and stored."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from plasticity_scenes import MODELS, Scene, expected_weights, in_ranvier, irregular_scene, network_of
from ranvier.populations.model_base import SynapseModel
from thorough_cases import one_of_each, only

CASES = [(model, case) for model, cases in MODELS.items() for case in range(len(cases))]
FRACTIONS = [0.0, 0.3, 0.5, 0.6, 1.0]


def scene_of(model: str, case: int, fraction: float, seed: int) -> Scene:
    weight, parameters = MODELS[model][case]
    scene = irregular_scene(model, weight, {**parameters, "axonal_fraction": fraction}, seed)
    delays = scene.delays if fraction in (0.0, 1.0) else [2, 15, 40]
    return Scene(scene.pre, scene.post, delays, scene.last_step, scene.model, scene.weight, scene.parameters)


@pytest.mark.parametrize(("model", "case", "fraction"), one_of_each(CASES, FRACTIONS))
def test_weights_are_those_of_the_equations(model: str, case: int, fraction: float) -> None:
    scene = scene_of(model, case, fraction, seed=case + 1)
    expected = expected_weights(scene)
    assert np.ptp(expected) > 1.0, "weights have changed, and not all in the same way"
    in_double = in_ranvier(scene, weight_precision="double")
    np.testing.assert_allclose(in_double, expected, rtol=1e-9, atol=1e-12)
    # Every change is rounded to 24 bits, some hundreds of them.
    np.testing.assert_allclose(in_ranvier(scene), expected, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("model", "precision", "fraction"), one_of_each(MODELS, ["single", "double"], [0.6, 0.0, 1.0]))
def test_weights_do_not_depend_on_how_a_run_is_divided(model: str, precision: str, fraction: float) -> None:
    scene = scene_of(model, 0, fraction, seed=7)
    first = in_ranvier(scene, weight_precision=precision)
    ways: list[dict[str, Any]] = [
        {"threads": 2},
        {"threads": 3, "tuning": rv.Tuning(shards=5, instruction_set="baseline")},
        {"processes": rv.Processes(sort_connections=False)},
        {"processes": rv.Processes(row_numbering="compact"), "tuning": rv.Tuning(delivery_window=1)},
    ]
    for way in ways:
        np.testing.assert_array_equal(in_ranvier(scene, weight_precision=precision, **way), first, err_msg=str(way))


WITH_TRACES_OF_ALL_KINDS = ["stdp_pl", "stdp_triplet", "stdp_nn_restr", "stdp_nn_pre_centered"]


@pytest.mark.parametrize("model", WITH_TRACES_OF_ALL_KINDS)
def test_a_run_may_be_cut_and_weights_read_at_any_time(model: str) -> None:
    scene = scene_of(model, 0, 0.6, seed=3)
    whole = in_ranvier(scene)
    net, projections = network_of(scene)
    sim = rv.Simulation(net, threads=2, progress=False)
    random = np.random.default_rng(1)
    while sim.time < scene.last_step * 0.1 - 1e-9:
        left = round(scene.last_step - sim.time / 0.1)
        sim.run(round(min(int(random.integers(1, 200)), left) * 0.1, 6))
        for projection in projections:
            np.asarray(sim.connections(projection=projection).weights)
    last = np.concatenate([np.asarray(sim.connections(projection=each).weights) for each in projections])
    np.testing.assert_array_equal(np.sort(last), np.sort(whole.ravel()))


@pytest.mark.parametrize("model", ["stdp", *WITH_TRACES_OF_ALL_KINDS])
def test_weights_that_are_read_have_seen_all_that_has_arrived(model: str) -> None:
    """After each step, the weights are those of the equations up to this step."""
    scene = scene_of(model, 0, 0.3, seed=11)
    net, projections = network_of(scene)
    sim = rv.Simulation(net, threads=1, weight_precision="double", progress=False)
    for step in (137, 700, 701, 702, 1500, 3999):
        sim.run_until(round(step * 0.1, 6))
        until = Scene(scene.pre, scene.post, scene.delays, step, scene.model, scene.weight, scene.parameters)
        expected = expected_weights(until)
        for place, projection in enumerate(projections):
            weights = np.asarray(sim.connections(projection=projection).weights)
            np.testing.assert_allclose(weights, expected[..., place].ravel(), rtol=1e-9)


def test_a_weight_that_is_set_acts_on_later_arrivals() -> None:
    pre, post = [[100, 300, 500]], [[150, 350, 450]]
    parameters = MODELS["stdp"][0][1]
    first = Scene(pre, post, [15], 600, "stdp", 40.0, parameters)
    net, (projection,) = network_of(first)
    sim = rv.Simulation(net, threads=1, weight_precision="double", progress=False)
    sim.run(40.0)
    sim.connections(projection=projection).weights = 20.0
    sim.run(20.0)
    # From there on it learns as one that has begun with this weight, but for what the traces remember.
    with_memory = expected_weights(first)
    later = np.asarray(sim.connections(projection=projection).weights)
    change = 20.0
    for step, is_post in ((465, True), (500, False)):
        others = pre[0][:2] if is_post else [165, 365, 465]
        tau = parameters["tau_plus"] if is_post else 20.0
        trace = sum(np.exp(-(step - other) * 0.1 / tau) for other in others if other < step)
        part = change / 100.0
        if is_post:
            part += parameters["learning_rate"] * (1.0 - part) * trace
        else:
            part -= parameters["learning_rate"] * parameters["alpha"] * part * trace
        change = part * 100.0
    np.testing.assert_allclose(later, change, rtol=1e-9)
    assert abs(float(with_memory.ravel()[0]) - change) > 1.0


def test_what_learns_nothing_is_a_static_synapse_bit_for_bit() -> None:
    def digest(synapse: Any) -> str:
        net = rv.Network(seed=5)
        neurons = net.create("iaf_psc_alpha", 200, I_e=450.0, V_m=rv.Normal(-65.0, 3.0))
        rule = rv.FixedIndegree(40)
        net.connect(neurons, neurons, rule, weight=rv.Uniform(5.0, 40.0), delay=rv.Uniform(0.5, 3.0), synapse=synapse)
        recorder = net.record_spikes()
        sim = rv.Simulation(net, threads=1, progress=False)
        sim.run(200.0)
        assert len(sim.spikes(recorder).times) > 1000
        return sim.spikes(recorder).digest()

    # Weights of 24 bits above W_max / 256 are not rounded when they are added.
    assert digest(rv.stdp(learning_rate=0.0, W_max=40.0)) == digest("static_synapse")
    assert digest(rv.stdp(learning_rate=0.01, W_max=40.0)) != digest("static_synapse")


def plastic_network(seed: int, synapse: Any, delay: Any) -> tuple[rv.Network, Any]:
    net = rv.Network(seed=seed)
    exc = net.create("iaf_psc_alpha", 160, I_e=rv.Uniform(350.0, 480.0), V_m=rv.Normal(-65.0, 3.0), name="exc")
    inh = net.create("iaf_psc_alpha", 40, I_e=420.0, name="inh")
    net.connect(exc, exc, rv.FixedIndegree(20), weight=30.0, delay=delay, synapse=synapse)
    net.connect(exc, inh, rv.FixedIndegree(20), weight=30.0, delay=1.5)
    net.connect(inh, exc + inh, rv.FixedIndegree(10), weight=-90.0, delay=1.5)
    return net, net.record_spikes()


@pytest.mark.parametrize("synapse", [rv.stdp_pl(axonal_fraction=0.4), rv.stdp(W_max=60.0), rv.stdp_nn_symm(W_max=60.0)])
def test_spikes_of_a_network_that_learns_do_not_depend_on_threads(synapse: Any) -> None:
    delay = rv.Uniform(0.6, 4.0)
    digests = set()
    ways: list[dict[str, Any]] = [
        {"threads": 1},
        {"threads": 2},
        {"threads": 2, "tuning": rv.Tuning(shards=7, stealing="local_and_remote", instruction_set="baseline")},
        {"threads": 1, "processes": rv.Processes(sort_connections=False)},
    ]
    for options in ways:
        net, recorder = plastic_network(3, synapse, delay)
        sim = rv.Simulation(net, **{"progress": False, **options})
        sim.run(300.0)
        weights = np.asarray(sim.connections(projection=net.projections[0]).weights)
        order = np.lexsort((weights,))
        digests.add((sim.spikes(recorder).digest(), weights[order].tobytes()))
        assert weights.std() > 0.1, "they have learnt"
    assert len(digests) == 1


def test_inputs_need_more_bits_beside_weights_of_other_sizes() -> None:
    """Sums of 128 bits take weights that learn as well."""
    net, recorder = plastic_network(3, rv.stdp_pl(), 1.5)
    net.connect(net["exc"], net["exc"], rv.FixedIndegree(2), weight=rv.LogNormal(-12.0, 3.0), delay=1.5)
    one, two = (rv.Simulation(net, threads=threads, progress=False) for threads in (1, 2))
    for sim in (one, two):
        sim.run(100.0)
    assert one.spikes(recorder).digest() == two.spikes(recorder).digest()


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        ({"synapse": "stdp_p"}, rv.errors.UnknownNameError, "did you mean 'stdp_pl'"),
        ({"synapse": 3}, rv.errors.WrongTypeError, "synapse must be a synapse model"),
        ({"synapse": "iaf_psc_exp"}, rv.errors.UnknownNameError, "synapse model"),
        ({"synapse": rv.stdp(W_max=10.0)}, rv.errors.ValueOutOfBoundsError, "weights of stdp are from 0 to 10"),
        ({"synapse": rv.stdp(W_max=-10.0)}, rv.errors.ValueOutOfBoundsError, "weights of stdp are from -10 to 0"),
        ({"synapse": rv.stdp_triplet(W_max=0.0)}, rv.errors.ValueOutOfBoundsError, "W_max is 0"),
        ({"synapse": rv.stdp_triplet(W_max=40.0)}, rv.errors.ValueOutOfBoundsError, "stdp_triplet are from 0 to 40"),
        ({"synapse": rv.stdp_triplet(A_minus=-1.0)}, rv.errors.ValueOutOfBoundsError, "A_minus of stdp_triplet"),
        ({"synapse": rv.stdp_nn_restr(W_max=0.0)}, rv.errors.ValueOutOfBoundsError, "W_max is 0"),
        ({"synapse": rv.stdp_nn_pre_centered(W_max=-9.0)}, rv.errors.ValueOutOfBoundsError, "from -9 to 0"),
        ({"synapse": rv.stdp(W_max=0.0)}, rv.errors.ValueOutOfBoundsError, "W_max is 0"),
        ({"synapse": rv.stdp_pl(), "weight": -1.0}, rv.errors.ValueOutOfBoundsError, "from 0 to inf"),
        ({"synapse": rv.stdp_pl(tau_plus=-1.0)}, rv.errors.ValueOutOfBoundsError, "tau_plus of stdp_pl"),
        ({"synapse": rv.stdp_pl(tau_minus=0.0)}, rv.errors.ValueOutOfBoundsError, "tau_minus of stdp_pl"),
        ({"synapse": rv.stdp_pl(axonal_fraction=1.1)}, rv.errors.ValueOutOfBoundsError, "<= 1"),
        ({"synapse": rv.stdp_pl(axonal_fraction=-0.1)}, rv.errors.ValueOutOfBoundsError, ">= 0"),
        ({"synapse": rv.stdp_pl(learning_rate=float("nan"))}, rv.errors.ValueOutOfBoundsError, "finite"),
        (
            {"synapse": rv.stdp_pl(axonal_fraction=0.5), "delay": 0.1},
            rv.errors.DelayError,
            "one step cannot be divided",
        ),
        ({"synapse": rv.stdp(W_max=99.0), "weight": rv.Normal(5.0, 1.0)}, rv.errors.ValueOutOfBoundsError, "low= and"),
    ],
)
def test_what_cannot_learn_is_refused(arguments: dict[str, Any], error: type[Exception], text: str) -> None:
    net = rv.Network()
    neurons = net.create("iaf_psc_exp", 3)
    with pytest.raises(error, match=text):
        net.connect(neurons, neurons, rv.AllToAll(), **{"weight": 50.0, "delay": 1.5, **arguments})
    assert not net.projections


def test_time_constants_that_are_too_many_steps_are_refused() -> None:
    net = rv.Network(resolution=0.001)
    neurons = net.create("iaf_psc_exp", 3)
    with pytest.raises(rv.errors.ValueOutOfBoundsError, match="at most a million steps"):
        net.connect(neurons, neurons, rv.AllToAll(), synapse=rv.stdp_pl(tau_plus=2000.0))


@pytest.mark.parametrize("value", [rv.Normal(1.0, 1.0), [1.0, 2.0], "abc", None, True])
def test_shared_values_are_numbers(value: Any) -> None:
    with pytest.raises(rv.errors.RanvierError):
        rv.stdp_pl(tau_plus=value)


def test_weights_keep_to_the_bounds_of_the_model_when_they_are_set() -> None:
    net = rv.Network()
    neurons = net.create("iaf_psc_exp", 3)
    bounded = net.connect(neurons, neurons, rv.AllToAll(), weight=5.0, synapse=rv.stdp(W_max=10.0))
    growing = net.connect(neurons, neurons, rv.AllToAll(), weight=5.0, synapse=rv.stdp_pl())
    sim = rv.Simulation(net, threads=1, progress=False)
    for projection, weight in ((bounded, 10.5), (bounded, -0.1), (growing, -0.1), (growing, 1e6)):
        with pytest.raises(rv.errors.ValueOutOfBoundsError, match="weights of this synapse are from 0 to"):
            sim.connections(projection=projection).weights = weight
    sim.connections(projection=bounded).weights = 10.0
    sim.connections(projection=growing).weights = 1000.0
    assert set(sim.connections().weights) == {10.0, 1000.0}


@pytest.mark.parametrize("bound", [0.1, 3.3, -0.7])
def test_weights_may_stay_at_a_bound_that_single_precision_rounds(bound: float) -> None:
    net = rv.Network()
    times = [round(0.5 * i, 6) for i in range(1, 400)]
    source, driver = (net.create_spike_generators([times]) for _ in range(2))
    target = net.create("iaf_psc_delta", 1, V_th=1e6, t_ref=0.1)
    net.connect(driver, target, rv.OneToOne(), weight=1e8)
    synapse = rv.stdp(W_max=bound, learning_rate=0.1, alpha=0.0)
    projection = net.connect(source, target, rv.OneToOne(), weight=bound, synapse=synapse)
    sim = rv.Simulation(net, threads=1, progress=False)
    sim.run(100.0)
    connections = sim.connections(projection=projection)
    (weight,) = connections.weights
    assert weight == np.float32(bound)
    connections.weights = weight


def test_a_weight_that_grows_beyond_the_sums_ends_the_run() -> None:
    net = rv.Network()
    times = [round(0.5 * i, 6) for i in range(1, 1800)]
    source, driver = (net.create_spike_generators([times]) for _ in range(2))
    target = net.create("iaf_psc_delta", 1, V_th=1e6, t_ref=0.1)
    net.connect(driver, target, rv.OneToOne(), weight=1e8)
    net.connect(source, target, rv.OneToOne(), weight=1.0, synapse=rv.stdp_pl(learning_rate=1.0, alpha=0.0, mu=1.0))
    sim = rv.Simulation(net, threads=1, progress=False)
    with pytest.raises(rv.errors.ValueOutOfBoundsError, match="it has grown beyond 256"):
        sim.run(900.0)


def test_a_description_shows_and_keeps_what_learns() -> None:
    net = rv.Network()
    neurons = net.create("iaf_psc_exp", 3)
    projection = net.connect(neurons, neurons, rv.AllToAll(), weight=5.0, synapse=rv.stdp(W_max=10.0))
    assert "stdp(W_max=10.0)" in repr(projection)
    copy = pickle.loads(pickle.dumps(net))
    assert copy.projections[0].synapse == rv.stdp(W_max=10.0)
    net.set(projection, synapse="static_synapse", weight=-20.0)
    assert projection.synapse == rv.static_synapse()
    with pytest.raises(rv.errors.ValueOutOfBoundsError):
        net.set(projection, synapse=rv.stdp_pl())
    assert projection.synapse == rv.static_synapse()
    with pytest.raises(rv.errors.ReadOnlyError):
        projection.synapse = rv.stdp_pl()


@pytest.mark.parametrize("fraction", only([0.6], [0.0, 0.6]))
def test_weights_do_not_depend_on_when_old_spikes_are_forgotten(fraction: float) -> None:
    """All synapses of a shard learn when it has so many spikes: also within an interval between two exchanges."""

    def weights(shards: int) -> Any:
        net = rv.Network(seed=1)
        random = np.random.default_rng(0)
        trains = [np.flatnonzero(random.random(2950) < rate) + 1 for rate in [0.05] * 10 + [0.2] * 300]
        times = [[round(int(step) * 0.1, 6) for step in train] for train in trains]
        sources, drivers = net.create_spike_generators(times[:10]), net.create_spike_generators(times[10:])
        targets = net.create("iaf_psc_delta", 300, V_th=1e6, t_ref=0.0)
        net.connect(drivers, targets, rv.OneToOne(), weight=1e8, delay=1.5)
        synapse = rv.stdp(learning_rate=0.01, axonal_fraction=fraction)
        projection = net.connect(sources, targets, rv.AllToAll(), weight=40.0, delay=1.5, synapse=synapse)
        sim = rv.Simulation(net, threads=1, tuning=rv.Tuning(shards=shards), progress=False)
        sim.run(300.0)
        return np.asarray(sim.connections(projection=projection).weights)

    # A shard forgets after 65536 spikes, which one of seven does not have.
    np.testing.assert_array_equal(weights(1), weights(7))


TOO_SMALL: list[tuple[SynapseModel, str]] = [
    (rv.stdp(learning_rate=1e-8), "learning_rate"),
    (rv.stdp(learning_rate=1e-4, alpha=1e-5, W_max=-100.0), "alpha"),
    (rv.stdp_pl(learning_rate=1e-7), "learning_rate"),
    (rv.stdp_pl(learning_rate=1e-3, alpha=1e-5), "alpha"),
    (rv.stdp_triplet(A_plus=1e-9, A_plus_triplet=1e-8), "A_plus_triplet"),
    (rv.stdp_triplet(A_minus=1e-6, A_minus_triplet=0.0), "A_minus"),
    (rv.vogels_sprekeler(learning_rate=1e-6), "learning_rate"),
]


@pytest.mark.parametrize(("model", "parameter"), TOO_SMALL)
def test_changes_that_single_precision_would_lose_are_refused(model: SynapseModel, parameter: str) -> None:
    """The size of a change is a part of the bound of the weight, or of the weight if it has no bound."""
    net = rv.Network()
    neurons = net.create(rv.iaf_psc_exp(), 10, name="neurons")
    negative = model.name == "vogels_sprekeler" or model.values.get("W_max") == -100.0
    net.connect(neurons, neurons, rv.AllToAll(), weight=-50.0 if negative else 50.0, delay=1.0, synapse=model)
    with pytest.raises(rv.errors.ValueOutOfBoundsError, match=f"parameter {parameter} of {model.name}") as raised:
        rv.Simulation(net, progress=False)
    assert 'weight_precision="double"' in str(raised.value)
    rv.Simulation(net, weight_precision="double", progress=False)


def test_changes_that_are_none_or_large_enough_are_kept() -> None:
    for model in (
        rv.stdp(learning_rate=0.0),
        rv.stdp(alpha=0.0),
        rv.stdp(learning_rate=1e-7),
        rv.stdp_triplet(A_plus=5e-10, A_plus_triplet=6e-3),
    ):
        net = rv.Network()
        neurons = net.create(rv.iaf_psc_exp(), 10, name="neurons")
        net.connect(neurons, neurons, rv.AllToAll(), weight=50.0, delay=1.0, synapse=model)
        rv.Simulation(net, progress=False)
