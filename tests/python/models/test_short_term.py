"""Short-term plasticity: what a spike adds depends on the spikes of its source before, and weights stay."""

from __future__ import annotations

import pickle
from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from nest_pool import nest_pool, requires_nest
from short_term_scenes import CASES, LINKS, TRAINS, expected_factors, in_nest, in_ranvier, inputs_of, network_of


def expected_inputs(factors: list[list[float]], steps: int) -> list[Any]:
    """Return by link what arrives, by source and step."""
    inputs = []
    for weight, delay in LINKS:
        arrived = np.zeros((len(TRAINS), steps))
        for source, train in enumerate(TRAINS):
            for step, factor in zip(train, factors[source], strict=True):
                arrived[source, step + delay - 1] += weight * factor
        inputs.append(arrived)
    return inputs


def compare(found: list[Any], factors: list[list[float]]) -> None:
    for (weight, _), got, wanted in zip(LINKS, found, expected_inputs(factors, found[0].shape[1]), strict=True):
        # What arrives is rounded to 50 bits below the greatest weight. Inputs are differences of currents, of 53 bits.
        np.testing.assert_allclose(got, wanted, rtol=1e-9, atol=2.0**-41 + 2e-14 * abs(weight))


@pytest.mark.parametrize(("model", "parameters"), CASES)
def test_what_arrives_is_told_by_the_equations(model: str, parameters: Mapping[str, float]) -> None:
    factors = [expected_factors(model, parameters, train) for train in TRAINS]
    assert np.ptp(factors[3]) > 0.05, "factors change"
    compare(in_ranvier(getattr(rv, model)(**parameters), weight_precision="double"), factors)


@requires_nest
@pytest.mark.parametrize(("model", "parameters"), CASES)
def test_what_arrives_is_that_of_nest(model: str, parameters: Mapping[str, float]) -> None:
    factors = nest_pool().submit(in_nest, model, dict(parameters)).result()
    assert [len(each) for each in factors] == [len(train) for train in TRAINS]
    compare(in_ranvier(getattr(rv, model)(**parameters), weight_precision="double"), factors)


@pytest.mark.parametrize("tau", [1e-6, 0.1, 3.0, 1e9])
def test_equal_and_extreme_time_constants_give_what_their_neighbours_give(tau: float) -> None:
    """The formula of `tsodyks` has no hole where tau_psc and tau_rec are equal."""
    nearby = tau * (1.0 + 1e-7) if tau < 1.0 else tau * (1.0 - 1e-7)
    same, near = (
        in_ranvier(rv.tsodyks(tau_psc=tau, tau_rec=rec, tau_fac=30.0, y=0.5, x=0.2), weight_precision="double")
        for rec in (tau, nearby)
    )
    for one, other, (weight, _) in zip(same, near, LINKS, strict=True):
        assert np.isfinite(one).all()
        np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-12 * abs(weight))


WAYS: list[dict[str, Any]] = [
    {"threads": 2},
    {"threads": 3, "tuning": rv.Tuning(shards=5, instruction_set="baseline")},
    {"processes": rv.Processes(sort_connections=False)},
    {"processes": rv.Processes(row_numbering="compact"), "tuning": rv.Tuning(delivery_window=1)},
]


@pytest.mark.parametrize("precision", ["single", pytest.param("double", marks=pytest.mark.thorough)])
@pytest.mark.parametrize("model", ["tsodyks", "tsodyks2"])
def test_what_arrives_does_not_depend_on_how_a_run_is_divided(model: str, precision: str) -> None:
    synapse = getattr(rv, model)(U=0.3, tau_rec=100.0, tau_fac=50.0)
    first = in_ranvier(synapse, weight_precision=precision)
    for way in WAYS:
        for one, other in zip(first, in_ranvier(synapse, weight_precision=precision, **way), strict=True):
            np.testing.assert_array_equal(one, other, err_msg=str(way))


def test_a_run_may_be_cut() -> None:
    synapse = rv.tsodyks(U=0.3, tau_rec=100.0, tau_fac=50.0)
    whole = in_ranvier(synapse)
    net, recorders = network_of(synapse)
    sim = rv.Simulation(net, threads=2, progress=False)
    random = np.random.default_rng(1)
    end = whole[0].shape[1]
    while (left := end - round(sim.time / 0.1)) > 0:
        sim.run(round(min(int(random.integers(1, 300)), left) * 0.1, 6))
    for one, (recorder, current) in zip(whole, recorders, strict=True):
        np.testing.assert_array_equal(one, inputs_of(sim.state(recorder)[current]))


def busy_network(synapse: Any, seed: int = 3, weight: Any = 12.0) -> tuple[rv.Network, Any]:
    net = rv.Network(seed=seed)
    neurons = net.create("iaf_psc_alpha", 200, I_e=rv.Uniform(350.0, 480.0), V_m=rv.Normal(-65.0, 3.0))
    net.connect(neurons, neurons, rv.FixedIndegree(30), weight=weight, delay=rv.Uniform(0.5, 3.0), synapse=synapse)
    net.connect(neurons[:40], neurons, rv.FixedIndegree(8), weight=-60.0, delay=1.5, synapse=synapse)
    return net, net.record_spikes()


@pytest.mark.parametrize("synapse", [rv.tsodyks2(tau_fac=40.0), rv.tsodyks(U=0.2, tau_rec=100.0)])
def test_spikes_of_a_network_do_not_depend_on_threads(synapse: Any) -> None:
    digests = set()
    for way in [{"threads": 1}, *WAYS]:
        net, recorder = busy_network(synapse)
        sim = rv.Simulation(net, **{"threads": 1, "progress": False, **way})
        sim.run(300.0)
        assert len(sim.spikes(recorder).times) > 1000
        digests.add(sim.spikes(recorder).digest())
    assert len(digests) == 1


def test_weights_of_other_sizes_need_wide_sums() -> None:
    """Sums of 128 bits take parts of weights as well."""
    digests = set()
    for threads in (1, 2):
        net, recorder = busy_network(rv.tsodyks2(tau_fac=40.0))
        population = net.populations[0]
        net.connect(population, population, rv.FixedIndegree(2), weight=rv.LogNormal(-12.0, 3.0), delay=1.5)
        sim = rv.Simulation(net, threads=threads, progress=False)
        sim.run(100.0)
        digests.add(sim.spikes(recorder).digest())
    assert len(digests) == 1


def test_what_never_changes_is_a_static_synapse_bit_for_bit() -> None:
    """With U = 1, tau_rec far below an interval, and no facilitation, the whole weight arrives."""
    digests = []
    for synapse in ("static_synapse", rv.tsodyks2(U=1.0, u=1.0, tau_rec=1e-6), rv.tsodyks2(U=0.9, u=0.9, tau_rec=1e-6)):
        net, recorder = busy_network(synapse, weight=rv.Uniform(5.0, 20.0))
        sim = rv.Simulation(net, threads=1, progress=False)
        sim.run(200.0)
        digests.append(sim.spikes(recorder).digest())
    assert digests[0] == digests[1]
    assert digests[0] != digests[2]


def test_weights_are_read_back_as_they_were_given_and_set() -> None:
    net, _ = busy_network(rv.tsodyks2(tau_fac=40.0), weight=rv.Uniform(5.0, 20.0))
    static, _ = busy_network("static_synapse", weight=rv.Uniform(5.0, 20.0))
    sim, other = (rv.Simulation(each, threads=2, progress=False) for each in (net, static))
    np.testing.assert_array_equal(sim.connections().weights, other.connections().weights)
    sim.run(50.0)
    np.testing.assert_array_equal(sim.connections().weights, other.connections().weights)
    chosen = sim.connections(projection=net.projections[0])
    chosen.weights = np.linspace(0.0, 19.0, len(chosen))
    np.testing.assert_array_equal(chosen.weights, np.linspace(0.0, 19.0, len(chosen)).astype(np.float32))
    with pytest.raises(rv.errors.ValueOutOfBoundsError, match="weights of this synapse are from -"):
        chosen.weights = 1e6


def test_a_weight_that_is_set_acts_on_spikes_that_are_sent_later() -> None:
    net = rv.Network()
    source = net.create_spike_generators([[1.0, 2.0]])
    target = net.create(rv.iaf_psc_exp(V_th=1e30, tau_syn_ex=2.0), 1)
    projection = net.connect(
        source, target, rv.OneToOne(), weight=100.0, delay=1.5, synapse=rv.tsodyks2(tau_rec=1e-6), weight_bound=200.0
    )
    recorder = net.record_state(target, "I_syn_ex", interval=0.1)
    sim = rv.Simulation(net, threads=1, progress=False)
    sim.run(1.2)
    sim.connections(projection=projection).weights = 200.0
    sim.run(5.0)
    (arrived,) = inputs_of(sim.state(recorder)["I_syn_ex"])
    assert {i + 1: round(value, 9) for i, value in enumerate(arrived) if abs(value) > 1e-9} == {25: 50.0, 35: 100.0}


def test_spikes_of_the_same_step_follow_each_other() -> None:
    """Each of them uses its part of what the one before has left."""
    net = rv.Network()
    source = net.create_spike_generators([[1.0, 1.0, 1.0]])
    target = net.create(rv.iaf_psc_exp(V_th=1e30, tau_syn_ex=2.0), 1)
    net.connect(source, target, rv.OneToOne(), weight=64.0, synapse=rv.tsodyks2(), delay=1.0)
    recorder = net.record_state(target, "I_syn_ex", interval=0.1)
    sim = rv.Simulation(net, threads=1, progress=False)
    sim.run(3.0)
    assert inputs_of(sim.state(recorder)["I_syn_ex"]).max() == 32.0 + 16.0 + 8.0


@pytest.mark.parametrize(
    ("synapse", "text"),
    [
        (lambda: rv.tsodyks2(U=1.1), "parameter U of tsodyks2"),
        (lambda: rv.tsodyks2(U=-0.1), "parameter U of tsodyks2"),
        (lambda: rv.tsodyks2(u=1.5), "parameter u of tsodyks2"),
        (lambda: rv.tsodyks2(x=float("nan")), "parameter x of tsodyks2"),
        (lambda: rv.tsodyks2(tau_rec=0.0), "parameter tau_rec of tsodyks2"),
        (lambda: rv.tsodyks2(tau_rec=float("inf")), "parameter tau_rec of tsodyks2"),
        (lambda: rv.tsodyks2(tau_fac=-1.0), "parameter tau_fac of tsodyks2"),
        (lambda: rv.tsodyks(tau_psc=-3.0), "parameter tau_psc of tsodyks"),
        (lambda: rv.tsodyks(x=0.7, y=0.4), "their sum can be at most 1"),
    ],
)
def test_values_out_of_bounds_are_refused(synapse: Any, text: str) -> None:
    net = rv.Network()
    neurons = net.create("iaf_psc_exp", 3)
    with pytest.raises(rv.errors.ValueOutOfBoundsError, match=text):
        net.connect(neurons, neurons, rv.AllToAll(), weight=5.0, synapse=synapse())
    assert not net.projections


def test_a_description_keeps_the_model() -> None:
    net, _ = busy_network(rv.tsodyks(U=0.25))
    copy = pickle.loads(pickle.dumps(net))
    assert copy.projections[0].synapse == rv.tsodyks(U=0.25)
    assert "tsodyks(U=0.25)" in repr(copy.projections[0])
