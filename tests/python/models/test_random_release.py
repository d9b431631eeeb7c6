"""Synapses that transmit at random: by the binomial law, and the same however a run is divided."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import ranvier as rv
from thorough_cases import only

STEPS = 2000
SPIKES = list(range(5, STEPS, 5))
TAU_SYN = 2.0  # ms


def pairs_network(p: float, *, seed: int = 1, sources: int = 20, copies: int = 1) -> tuple[rv.Network, Any]:
    """Return a network in which all sources fire in the same steps, and each target hears of all of them."""
    net = rv.Network(seed=seed)
    times = [[round(step * 0.1, 6) for step in SPIKES]] * sources
    generators = net.create_spike_generators(times)
    targets = net.create(rv.iaf_psc_exp(V_th=1e30, tau_syn_ex=TAU_SYN), 12)
    # Weights tell by which source a target was reached: sums of powers of two.
    pairs = [(source, target) for target in range(12) for source in range(sources) for _ in range(copies)]
    weights = [2.0 ** (source % sources) for source, _ in pairs]
    rule = rv.Explicit([source for source, _ in pairs], [target for _, target in pairs])
    net.connect(generators, targets, rule, weight=weights, delay=1.0, synapse=rv.bernoulli(p_transmit=p))
    return net, net.record_state(targets, "I_syn_ex", interval=0.1)


def arrived(net: rv.Network, recorder: Any, **options: Any) -> npt.NDArray[np.float64]:
    """Return what each target got from each volley, by volley and target."""
    sim = rv.Simulation(net, **{"threads": 1, "progress": False, **options})
    sim.run((STEPS + 20) * 0.1)
    currents = np.asarray(sim.state(recorder)["I_syn_ex"])
    before = np.vstack([np.zeros(currents.shape[1]), currents[:-1]])
    inputs = currents - before * math.exp(-0.1 / TAU_SYN)
    found = inputs[[step + 10 - 1 for step in SPIKES]]
    np.testing.assert_allclose(found, np.rint(found), atol=1e-6)
    assert np.abs(np.delete(inputs, [step + 9 for step in SPIKES], axis=0)).max(initial=0.0) < 1e-6
    return np.rint(found)


def transmitted(found: npt.NDArray[np.float64], sources: int = 20) -> npt.NDArray[np.int64]:
    """Return whether each source reached each target, by volley, target and source."""
    return (found.astype(np.int64)[..., None] >> np.arange(sources)) & 1


@pytest.mark.parametrize("p", [0.1, 0.5, 0.85])
def test_releases_follow_the_binomial_law(p: float) -> None:
    """Counts of all, of each synapse and of each volley, and pairs of synapses that share a source, target or time.

    Each statistic is compared at five standard deviations: a false alarm has a probability below 1e-6 each, and 1e-5 in
    all.
    """
    net, recorder = pairs_network(p)
    bits = transmitted(arrived(net, recorder)).astype(np.float64)
    assert abs(bits.mean() - p) < 5.0 * math.sqrt(p * (1.0 - p) / bits.size)
    normal = (bits - p) / math.sqrt(p * (1.0 - p))
    # Sums over one axis have the variance of independent draws: the mean of their squares is 1.
    for axis in range(3):
        sums = normal.sum(axis=axis) / math.sqrt(bits.shape[axis])
        assert abs((sums**2).mean() - 1.0) < 5.0 * math.sqrt(2.5 / sums.size), f"independent along axis {axis}"
    # Of the same synapse in successive volleys.
    follow = (normal[1:] * normal[:-1]).mean()
    assert abs(follow) < 5.0 / math.sqrt(normal[1:].size)


def test_synapses_of_one_pair_draw_for_themselves() -> None:
    """Two synapses of a pair give 0, 1 or 2 weights; at five standard deviations (p below 1e-6)."""
    net, recorder = pairs_network(0.5, sources=1, copies=2)
    found = arrived(net, recorder)
    ones = int((found == 1.0).sum())
    assert set(np.unique(found)) == {0.0, 1.0, 2.0}
    assert abs(ones - found.size / 2) < 5.0 * math.sqrt(found.size / 4)


def test_projections_and_seeds_draw_for_themselves() -> None:
    first = arrived(*pairs_network(0.5))
    assert (first != arrived(*pairs_network(0.5, seed=2))).any()
    net, recorder = pairs_network(0.5)
    generators, targets = net.populations
    rule = rv.AllToAll()
    net.connect(generators, targets, rule, weight=2.0**20, delay=1.0, synapse=rv.bernoulli(p_transmit=0.5))
    both = arrived(net, recorder, weight_precision="double")
    assert (both % 2.0**20 == first).all(), "a projection draws what it draws without the other one"
    counts = transmitted(first).sum(axis=2)
    # At five standard deviations: the numbers of two independent projections.
    second = np.floor_divide(both, 2.0**20)
    correlation = float(((counts - 10.0) * (second - 10.0)).mean() / 5.0)
    assert abs(correlation) < 5.0 / math.sqrt(counts.size)


WAYS: list[dict[str, Any]] = [
    {"threads": 2},
    {"threads": 3, "tuning": rv.Tuning(shards=5, instruction_set="baseline")},
    {"processes": rv.Processes(sort_connections=False)},
    {"threads": 2, "processes": rv.Processes(sort_connections=False)},
    {"processes": rv.Processes(row_numbering="compact"), "tuning": rv.Tuning(delivery_window=1)},
]


@pytest.mark.parametrize("copies", only([3], [1, 3, 300]))
def test_releases_do_not_depend_on_how_a_run_is_divided(copies: int) -> None:
    sources = 20 if copies < 300 else 2
    net, recorder = pairs_network(0.3, sources=sources, copies=copies)
    first = arrived(net, recorder)
    for way in WAYS:
        np.testing.assert_array_equal(arrived(net, recorder, **way), first, err_msg=str(way))


def busy_network(synapse: Any, wide: bool = False) -> tuple[rv.Network, Any]:
    """Return a network whose pairs have several synapses with different delays, of both signs."""
    net = rv.Network(seed=3)
    neurons = net.create("iaf_psc_alpha", 100, I_e=rv.Uniform(350.0, 480.0), V_m=rv.Normal(-65.0, 3.0))
    rule = rv.FixedIndegree(150)
    net.connect(neurons, neurons, rule, weight=rv.Normal(2.0, 5.0), delay=rv.Uniform(0.5, 3.0), synapse=synapse)
    if wide:
        net.connect(neurons, neurons, rv.FixedIndegree(2), weight=rv.LogNormal(-12.0, 3.0), delay=1.5)
    return net, net.record_spikes()


@pytest.mark.parametrize("wide", only([True], [False, True]))
def test_spikes_of_a_network_do_not_depend_on_threads(wide: bool) -> None:
    digests = set()
    for way in [{"threads": 1}, *WAYS]:
        net, recorder = busy_network(rv.bernoulli(p_transmit=0.4), wide)
        sim = rv.Simulation(net, **{"threads": 1, "progress": False, **way})
        sim.run(100.0)
        sim.run(100.0)
        assert len(sim.spikes(recorder).times) > 300
        digests.add(sim.spikes(recorder).digest())
    assert len(digests) == 1


def test_sure_transmission_is_a_static_synapse_bit_for_bit() -> None:
    digests = []
    for synapse in ("static_synapse", rv.bernoulli(), rv.bernoulli(p_transmit=0.9)):
        net, recorder = busy_network(synapse)
        sim = rv.Simulation(net, threads=1, progress=False)
        sim.run(100.0)
        digests.append(sim.spikes(recorder).digest())
    assert digests[0] == digests[1]
    assert digests[0] != digests[2]
    assert not arrived(*pairs_network(0.0)).any()


def test_spikes_of_the_same_step_are_drawn_for_themselves() -> None:
    """At five standard deviations (p below 1e-6)."""
    net = rv.Network()
    source = net.create_spike_generators([[1.0, 1.0]])
    targets = net.create(rv.iaf_psc_exp(V_th=1e30, tau_syn_ex=TAU_SYN), 1000)
    net.connect(source, targets, rv.AllToAll(), weight=1.0, delay=1.0, synapse=rv.bernoulli(p_transmit=0.5))
    recorder = net.record_state(targets, "I_syn_ex", interval=0.1)
    sim = rv.Simulation(net, threads=2, progress=False)
    sim.run(2.0)
    counts = np.asarray(sim.state(recorder)["I_syn_ex"])[-1]
    assert abs(int((counts == 1.0).sum()) - 500) < 5.0 * math.sqrt(250.0)
    assert set(np.unique(counts)) == {0.0, 1.0, 2.0}


@pytest.mark.parametrize("p", [-0.1, 1.1, float("nan"), float("inf")])
def test_probabilities_out_of_bounds_are_refused(p: float) -> None:
    net = rv.Network()
    neurons = net.create("iaf_psc_exp", 3)
    with pytest.raises(rv.errors.ValueOutOfBoundsError, match="p_transmit of bernoulli"):
        net.connect(neurons, neurons, rv.AllToAll(), weight=5.0, synapse=rv.bernoulli(p_transmit=p))


def test_too_many_projections_that_draw_are_refused() -> None:
    """Each has tables of its own, and there are at most 256 kinds of them."""
    net = rv.Network()
    neurons = net.create("iaf_psc_exp", 3)
    for _ in range(257):
        net.connect(neurons, neurons, rv.OneToOne(), weight=5.0, synapse=rv.bernoulli())
    with pytest.raises(rv.errors.ValueOutOfBoundsError, match="256"):
        rv.Simulation(net, threads=1, progress=False)
