"""Synapses whose learning dopamine modulates: weights are those of the equations, however a run is cut and divided."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import ranvier as rv
from dopamine_scenes import CASES, expected_weights, in_nest, in_ranvier, network_of, scene_of, weights_of
from nest_pool import nest_pool, requires_nest
from thorough_cases import one_of_each, only

ALL_CASES = range(len(CASES))


@pytest.mark.parametrize(("case", "fraction"), one_of_each(ALL_CASES, [0.0, 0.3, 0.6, 1.0]))
def test_weights_are_those_of_the_equations(case: int, fraction: float) -> None:
    """In single precision too: what a weight has beyond 24 bits is kept."""
    scene = scene_of(case, fraction, seed=case + 1)
    expected = expected_weights(scene)
    assert np.ptp(expected) > 10.0, "weights have changed, and not all in the same way"
    in_double = in_ranvier(scene, weight_precision="double")
    np.testing.assert_allclose(in_double, expected, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(in_ranvier(scene), expected, rtol=1e-5, atol=1e-5)


@requires_nest
@pytest.mark.parametrize("case", ALL_CASES)
def test_weights_are_those_of_nest(case: int) -> None:
    """Also where spikes meet in the same step, and at the bounds."""
    scene = scene_of(case, seed=20 + case)
    nest = nest_pool().submit(in_nest, scene).result()
    np.testing.assert_allclose(in_ranvier(scene, weight_precision="double"), nest, rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(in_ranvier(scene), nest, rtol=1e-5, atol=1e-5)


WAYS: list[dict[str, Any]] = [
    {"threads": 2},
    {"threads": 3, "tuning": rv.Tuning(shards=5, instruction_set="baseline")},
    {"processes": rv.Processes(sort_connections=False)},
    {"threads": 2, "processes": rv.Processes(sort_connections=False)},
    {"processes": rv.Processes(row_numbering="compact"), "tuning": rv.Tuning(delivery_window=1)},
]


@pytest.mark.parametrize(("case", "precision", "fraction"), one_of_each([1, 2], ["single", "double"], [0.6, 0.0]))
def test_weights_do_not_depend_on_how_a_run_is_divided(case: int, precision: str, fraction: float) -> None:
    scene = scene_of(case, fraction, seed=7)
    first = in_ranvier(scene, weight_precision=precision)
    for way in WAYS:
        np.testing.assert_array_equal(in_ranvier(scene, weight_precision=precision, **way), first, err_msg=str(way))


@pytest.mark.parametrize("precision", only(["double"], ["single", "double"]))
def test_a_run_may_be_cut_and_weights_read_at_any_time(precision: Any) -> None:
    scene = scene_of(2, 0.3, seed=3)
    net, projections = network_of(scene)
    sim = rv.Simulation(net, threads=2, weight_precision=precision, progress=False)
    random = np.random.default_rng(1)
    while (left := scene.last_step - round(sim.time / 0.1)) > 0:
        sim.run(round(min(int(random.integers(1, 600)), left) * 0.1, 6))
        now = round(sim.time / 0.1)
        expected = expected_weights(replace(scene, last_step=now))
        np.testing.assert_allclose(weights_of(sim, projections), expected, rtol=1e-5 if precision == "single" else 1e-9)
    np.testing.assert_array_equal(weights_of(sim, projections), in_ranvier(scene, weight_precision=precision))


@pytest.mark.parametrize(("case", "precision"), one_of_each([1, 2], ["single", "double"]))
def test_a_weight_that_is_set_goes_on_from_there(case: int, precision: Any) -> None:
    scene = scene_of(case, 0.3, seed=5)
    given = {1003: 50.1, 2500: 60.0, 2501: 33.3, 3333: 30.0}
    net, projections = network_of(scene)
    sim = rv.Simulation(net, threads=1, weight_precision=precision, progress=False)
    for step, weight in given.items():
        sim.run_until(round(step * 0.1, 6))
        for projection in projections:
            found = sim.connections(projection=projection)
            found.weights = weight
            wanted = np.float32(weight) if precision == "single" else weight
            np.testing.assert_allclose(found.weights, wanted, rtol=0.0 if precision == "single" else 4e-16)
    sim.run_until(scene.last_step * 0.1)
    expected = expected_weights(scene, given)
    tolerance = 1e-5 if precision == "single" else 1e-9
    np.testing.assert_allclose(weights_of(sim, projections), expected, rtol=tolerance, atol=tolerance)


def modulated_network(precision: str = "single", seed: int = 4) -> tuple[rv.Network, Any, Any]:
    """Return a network with dopaminergic neurons that get input from what they modulate."""
    net = rv.Network(seed=seed)
    exc = net.create("iaf_psc_alpha", 80, I_e=rv.Uniform(350.0, 480.0), V_m=rv.Normal(-65.0, 3.0), name="exc")
    inh = net.create("iaf_psc_alpha", 20, I_e=420.0, name="inh")
    dopa = net.create("iaf_psc_exp", 10, I_e=rv.Uniform(380.0, 420.0), name="dopa")
    learning = rv.stdp_dopamine(dopamine=dopa[2:] + inh[::7], A_plus=0.4, A_minus=0.3, b=0.01, W_max=80.0)
    projection = net.connect(
        exc, exc, rv.FixedIndegree(20), weight=30.0, delay=rv.Uniform(0.5, 3.0), synapse=learning, name="learning"
    )
    other = rv.stdp_dopamine(dopamine=[dopa[:3]], dopamine_delay=0.3, A_plus=1.0, W_min=-90.0, W_max=0.0)
    net.connect(inh, exc, rv.FixedIndegree(10), weight=-60.0, delay=1.5, synapse=other)
    net.connect(exc, inh + dopa, rv.FixedIndegree(20), weight=25.0, delay=1.5)
    if precision == "wide":
        net.connect(exc, exc, rv.FixedIndegree(2), weight=rv.LogNormal(-12.0, 3.0), delay=1.5)
    return net, net.record_spikes(), projection


@pytest.mark.parametrize("precision", only(["single", "wide"], ["single", "double", "wide"]))
def test_spikes_of_a_network_do_not_depend_on_threads(precision: str) -> None:
    digests = set()
    weights = set()
    for way in [{"threads": 1}, *WAYS]:
        net, recorder, projection = modulated_network(precision)
        options = {"threads": 1, "progress": False, **way}
        sim = rv.Simulation(net, weight_precision="double" if precision == "double" else "single", **options)
        sim.run(150.0)
        sim.run(150.0)
        assert len(sim.spikes(recorder).of(net["dopa"]).times) > 50
        digests.add(sim.spikes(recorder).digest())
        found = np.asarray(sim.connections(projection=projection).weights)
        assert np.ptp(found) > 5.0
        weights.add(found.tobytes())
    assert len(digests) == len(weights) == 1


@pytest.mark.parametrize("precision", only(["single"], ["single", "double"]))
def test_weights_do_not_depend_on_when_old_spikes_are_forgotten(precision: Any) -> None:
    """A shard forgets after 65536 postsynaptic spikes, which one of seven does not have."""

    def weights(shards: int) -> npt.NDArray[np.float64]:
        net = rv.Network(seed=1)
        random = np.random.default_rng(0)
        rates = [0.05, 0.001] * 4 + [0.3] + [0.2] * 300
        trains = [np.flatnonzero(random.random(2950) < rate) + 1 for rate in rates]
        times = [[round(int(step) * 0.1, 6) for step in train] for train in trains]
        sources, drivers = net.create_spike_generators(times[:8]), net.create_spike_generators(times[9:])
        dopamine = net.create_spike_generators(times[8:9])
        targets = net.create("iaf_psc_delta", 300, V_th=1e6, t_ref=0.0)
        net.connect(drivers, targets, rv.OneToOne(), weight=1e8, delay=1.5)
        synapse = rv.stdp_dopamine(dopamine=dopamine, dopamine_delay=1.5, A_plus=2e-4, A_minus=3e-4)
        projection = net.connect(sources, targets, rv.AllToAll(), weight=100.0, delay=1.5, synapse=synapse)
        sim = rv.Simulation(net, threads=1, tuning=rv.Tuning(shards=shards), weight_precision=precision, progress=False)
        sim.run(300.0)
        return np.asarray(sim.connections(projection=projection).weights)

    first = weights(1)
    assert np.ptp(first) > 1.0
    np.testing.assert_array_equal(first, weights(7))


def test_dopamine_is_forgotten_where_sources_are_silent() -> None:
    """With a pulse in each step, a list of all of them would grow for ever; weights are those of the equations."""
    steps = 70000
    net = rv.Network()
    dopamine = net.create_spike_generators([np.arange(1, steps + 1) * 0.1])
    sources = net.create_spike_generators([[1.0, 5.0, steps * 0.1 - 2.0], [1.0, 5.0]])
    targets = net.create("iaf_psc_delta", 1, V_th=1e6, t_ref=0.0)
    drivers = net.create_spike_generators([[2.0]])
    net.connect(drivers, targets, rv.OneToOne(), weight=1e8, delay=1.0)
    synapse = rv.stdp_dopamine(dopamine=dopamine, A_plus=0.01, A_minus=0.0, tau_c=200.0, tau_n=50.0)
    projection = net.connect(sources, targets, rv.AllToAll(), weight=50.0, synapse=synapse)
    sim = rv.Simulation(net, threads=1, progress=False)
    sim.run(steps * 0.1)
    visited, silent = np.asarray(sim.connections(projection=projection).weights)
    assert visited == silent
    # The concentration is one pulse a step, from 1.1 ms on; the eligibility has the trace of the first spike at 4 ms.
    time = np.arange(40, steps + 1) * 0.1
    decay = np.exp(-0.1 / 50.0)
    concentration = (1.0 - decay ** np.arange(40 - 10, steps + 1 - 10)) / (1.0 - decay) / 50.0
    eligibility = 0.01 * np.exp(-3.0 / 20.0) * np.exp(-(time - 4.0) / 200.0)
    both = 1.0 / (1.0 / 200.0 + 1.0 / 50.0)
    change = (eligibility * concentration * both * -np.expm1(-0.1 / both))[:-1].sum()
    np.testing.assert_allclose(visited, 50.0 + change, rtol=1e-6)


def test_without_dopamine_weights_stay() -> None:
    scene = replace(scene_of(1), dopamine=[[], []])
    assert (in_ranvier(scene) == 100.0).all()


def test_networks_with_a_transmitter_can_be_copied_and_changed() -> None:
    net, _, projection = modulated_network()
    for other in (pickle.loads(pickle.dumps(net)), copy.deepcopy(net), copy.copy(net)):
        assert other == net
        found: Any = other.projections[0].synapse.transmitter
        assert found.network is other
        assert [part.name for part in found.parts] == ["inh[0:15:7]", "dopa[2:10]"]
        sims = [rv.Simulation(each, threads=1, progress=False) for each in (net, other)]
        for sim in sims:
            sim.run(60.0)
        one, two = (sim.spikes(each.recorders[0]).digest() for sim, each in zip(sims, (net, other), strict=True))
        assert one == two
    before = projection.synapse
    net.set(projection, synapse=rv.stdp_dopamine(dopamine=net["inh"], W_max=90.0))
    assert projection.synapse.transmitter == net["inh"]
    assert projection.synapse != before
    assert "dopamine=<Population inh: 20 iaf_psc_alpha>" in repr(projection.synapse)
    net.set(projection, synapse="static_synapse")
    assert projection.synapse.transmitter is None


@pytest.mark.parametrize(
    ("given", "error", "text"),
    [
        ({}, rv.errors.ValueOutOfBoundsError, "dopamine of stdp_dopamine .* there must be neurons"),
        ({"dopamine": "empty"}, rv.errors.ValueOutOfBoundsError, "dopamine of stdp_dopamine .* there must be neurons"),
        ({"dopamine": []}, rv.errors.ShapeError, "dopamine of stdp_dopamine"),
        ({"dopamine": "foreign"}, rv.errors.StateError, "another network"),
        ({"dopamine": 3}, rv.errors.WrongTypeError, "dopamine of stdp_dopamine"),
        ({"dopamine": "name"}, rv.errors.WrongTypeError, "dopamine of stdp_dopamine"),
        ({"dopamine_delay": 0.0}, rv.errors.ValueOutOfBoundsError, "dopamine_delay"),
        ({"dopamine_delay": 0.04}, rv.errors.DelayError, "dopamine_delay .* at least one step"),
        ({"dopamine_delay": 0.25}, rv.errors.GridError, "dopamine_delay"),
        ({"dopamine_delay": 1e5}, rv.errors.DelayError, "dopamine_delay"),
        ({"dopamine_delay": float("nan")}, rv.errors.ValueOutOfBoundsError, "dopamine_delay"),
        ({"tau_c": 0.0}, rv.errors.ValueOutOfBoundsError, "parameter tau_c"),
        ({"tau_n": -1.0}, rv.errors.ValueOutOfBoundsError, "parameter tau_n"),
        ({"b": float("inf")}, rv.errors.ValueOutOfBoundsError, "parameter b"),
        ({"W_min": 90.0, "W_max": 80.0}, rv.errors.ValueOutOfBoundsError, "W_min is greater"),
        ({"W_min": -1.0}, rv.errors.ValueOutOfBoundsError, "different signs"),
        ({"W_max": 0.0}, rv.errors.ValueOutOfBoundsError, "all weights stay 0"),
        ({"W_min": 60.0}, rv.errors.ValueOutOfBoundsError, "weights of stdp_dopamine are from 60 to 200"),
        ({"axonal_fraction": 0.5}, rv.errors.DelayError, "one step cannot be divided"),
    ],
)
def test_what_cannot_be_is_refused(given: dict[str, Any], error: type[Exception], text: str) -> None:
    net = rv.Network()
    neurons = net.create("iaf_psc_exp", 3, name="neurons")
    others = {"empty": neurons[:0], "foreign": rv.Network().create("iaf_psc_exp", 2), "name": "neurons"}
    values = {"dopamine": neurons} | given if given else {}
    values = {key: others.get(value, value) if isinstance(value, str) else value for key, value in values.items()}
    if given.get("dopamine") == "name":
        values["dopamine"] = "neurons"
    with pytest.raises(error, match=text):
        net.connect(neurons, neurons, rv.AllToAll(), weight=5.0, delay=0.1, synapse=rv.stdp_dopamine(**values))
    assert not net.projections


def test_other_models_have_no_transmitter() -> None:
    with pytest.raises(rv.errors.UnknownNameError, match="dopamine"):
        rv.stdp(dopamine=rv.Network().create("iaf_psc_exp", 3))  # type: ignore[call-arg]
    net = rv.Network()
    neurons = net.create("iaf_psc_exp", 3)
    with pytest.raises(rv.errors.ValueOutOfBoundsError, match="there must be neurons"):
        net.connect(neurons, neurons, rv.AllToAll(), weight=5.0, synapse="stdp_dopamine")
