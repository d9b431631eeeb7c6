"""What is predicted of the memory of synapses is what they take, whatever their model, and what is resident."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ranvier as rv
from memory_accounts import SYNAPSE_MODELS, TIME, check, model_named, network_with, run
from ranvier.errors import ValueOutOfBoundsError
from ranvier.network.rule_base import Rule
from ranvier.networks import NetworkModel
from ranvier.processes.machine import resident_bytes
from ranvier.simulation.options import Precision, grouped
from ranvier.simulation.predictions import predict_memory
from synapse_equations import as_equations
from thorough_cases import one_of_each, only, quick_if

# Each value of an option with each of any other. Each model takes one of these in turn, and some models are enough for
# `make test`; all combinations are in tests/python/validation.
PAIRWISE = [
    {"ranks": 1, "sort_connections": True, "weight_precision": "single"},
    {"ranks": 1, "sort_connections": False, "weight_precision": "double"},
    {"ranks": 2, "sort_connections": True, "weight_precision": "double"},
    {"ranks": 2, "sort_connections": False, "weight_precision": "single"},
]
QUICK = ("static_synapse", "stdp", "stdp_dopamine", "tsodyks2", "bernoulli", "clopath")
CASES = quick_if(
    lambda name, options: name in QUICK,
    (
        pytest.param(name, PAIRWISE[number % 4], id=f"{name}-{' '.join(map(str, PAIRWISE[number % 4].values()))}")
        for number, name in enumerate(SYNAPSE_MODELS)
    ),
)


@pytest.mark.parametrize(("name", "options"), CASES)
def test_synapses_of_every_model(name: str, options: dict[str, Any]) -> None:
    model = network_with(model_named(name), 100 * options["ranks"], delay=rv.Uniform(1.0, 2.0))
    check(*run(model=model, threads=1, **options))


@pytest.mark.parametrize("options", PAIRWISE[:3])
def test_synapses_of_equations(options: dict[str, Any]) -> None:
    model = network_with(as_equations("stdp_triplet"), 100 * options["ranks"], delay=rv.Uniform(1.0, 2.0))
    check(*run(model=model, threads=1, **options))


@pytest.mark.parametrize(("delay", "axonal_fraction"), [(1.5, 1.0), (rv.Uniform(1.0, 3.0), 0.5)], ids=repr)
def test_spikes_that_wait(delay: rv.Uniform | float, axonal_fraction: float) -> None:
    """They do for the axonal part of the delay, once for each delay of a row."""
    model = network_with(rv.stdp_pl(axonal_fraction=axonal_fraction), 1000, delay=delay)
    check(*run(2, model, sort_connections=True, threads=1))


def test_threads_share_the_synapses() -> None:
    model = network_with(rv.stdp_pl(axonal_fraction=0.5), 2000, delay=rv.Uniform(1.0, 3.0))
    check(*run(2, model, sort_connections=True, threads=2))


@pytest.mark.parametrize("sort_connections", [True, False])
def test_bursts_of_a_network_that_learns(sort_connections: bool) -> None:
    model = rv.networks.hpc_benchmark(scale=0.2, indegree_scale=0.03)
    check(*run(4, model, sort_connections=sort_connections, threads=1))


@pytest.mark.parametrize(("ranks", "threads"), [(2, 1), (1, 2)])
def test_neurons_that_fire_together_at_first(ranks: int, threads: int) -> None:
    """Some buffers remember the first burst, others do for some time."""
    model = network_with(rv.static_synapse(), 500 * threads * ranks, delay=rv.Uniform(1.0, 2.0), together=True)
    check(*run(ranks, model, sort_connections=False, threads=threads))


def test_spikes_that_synapses_learn_from_are_kept_up_to_a_number() -> None:
    net = network_with(rv.stdp_pl(), 1000).net
    at = {time: predict_memory(net, rate=10.0, threads=1, time=time)["spikes"] for time in (0.0, 1e4, 1e5)}
    for_ever = predict_memory(net, rate=10.0, threads=1)["spikes"]
    # 100 spikes of each of 1000 neurons are more than that number.
    assert at[1e5] == for_ever
    assert at[0.0] < at[1e4] <= for_ever


def firing_beside(learning: int, others: int, synapse: Any) -> NetworkModel:
    """Return a network of two populations whose synapses are of a model, and others between, before and after them.

    All fire so often that far more spikes are kept than the newest, of those of which any are.
    """
    net = rv.Network()
    populations = [
        net.create(rv.interval_fire(tau=5.0, interval_min=2.0, interval_max=8.0), n)
        for n in (others, learning, others // 2, learning, others)
    ]
    for target in populations[1::2]:
        net.connect(populations[0], target, rv.FixedIndegree(20), weight=1e-6, delay=1.5, synapse=synapse)
    return NetworkModel(net=net, spikes=net.record_spikes(), time=TIME, source="")


def taken_to_learn(learning: int, others: int, **options: Any) -> int:
    """Return what spikes take in a network that learns beyond what they take in one that does not."""
    sizes = []
    for synapse in (rv.stdp(learning_rate=0.0), rv.static_synapse()):
        sim = rv.Simulation(firing_beside(learning, others, synapse).net, progress=False, **grouped(options))
        sim.run(TIME)
        sizes.append(sim.memory()["spikes"])
    return sizes[0] - sizes[1]


@pytest.mark.parametrize(
    "options",
    quick_if(
        lambda options: options["threads"] == 2,
        [{"threads": 1}, {"threads": 2}, {"threads": 1, "weight_precision": "double"}],
    ),
    ids=repr,
)
def test_spikes_of_neurons_whose_synapses_do_not_learn_are_not_kept(options: dict[str, Any]) -> None:
    """Neither before nor after those that learn is anything kept of a neuron, and between them no spikes."""
    few, many = (taken_to_learn(200, others, **options) for others in (200, 4000))
    of_neuron = 150
    assert many - few < 2000 * of_neuron, (few, many)
    # Of each neuron that learns, about 32 spikes are kept beside the newest.
    more = taken_to_learn(400, 200, **options)
    assert more - few > 2 * 200 * 20 * 12, (few, more)


def test_neurons_that_learn_among_others() -> None:
    check(*run(1, firing_beside(1000, 3000, rv.stdp(learning_rate=0.0)), threads=1))
    check(*run(2, firing_beside(1000, 3000, rv.stdp(learning_rate=0.0)), threads=2))


@pytest.mark.parametrize("time", [-1.0, float("nan")])
def test_times_that_are_negative_or_not_a_number(time: float) -> None:
    with pytest.raises(ValueOutOfBoundsError, match="time"):
        predict_memory(network_with(rv.stdp_pl(), 10).net, time=time)


ALL = list(range(500))
# Of 500 sources and a number of targets.
RULES: dict[str, tuple[Rule, int]] = {
    "indegree": (rv.FixedIndegree(200), 500),
    "outdegree": (rv.FixedOutdegree(200), 500),
    "total": (rv.FixedTotalNumber(100_000), 500),
    "uniform": (rv.UniformIndegree(100, 300), 500),
    "very often": (rv.FixedIndegree(200_000), 1),
    "explicit and repeated": (rv.Explicit([7, *ALL], [0] * 501), 500),
    "explicit": (rv.Explicit(ALL, [0] * 500), 500),
    "no multapses": (rv.FixedIndegree(200, allow_multapses=False), 500),
    "hardly any": (rv.FixedIndegree(1), 500),
    "probability": (rv.PairwiseBernoulli(0.4), 500),
    "rows": (rv.ExplicitRows([*range(0, 100_001, 200)], np.arange(100_000) % 500), 500),
    "rows and repeated": (rv.ExplicitRows([0, *[501] * 500], [7, *ALL]), 500),
    "matrix": (rv.FromMatrix(np.random.default_rng(1).random((500, 500)) < 0.3), 500),
}


@pytest.mark.parametrize("name", RULES)
def test_pairs_that_have_several_synapses(name: str) -> None:
    """Each keeps which of them it is."""
    rule, size = RULES[name]
    net = rv.Network()
    sources, targets = net.create("iaf_psc_exp", 500), net.create("iaf_psc_exp", size)
    net.connect(sources, targets, rule, weight=0.1, synapse=rv.bernoulli())
    taken = rv.Simulation(net, threads=1, progress=False).memory()["synapses"]
    assert predict_memory(net, threads=1)["synapses"] == pytest.approx(taken, rel=0.05)


@pytest.mark.parametrize("name", ["indegree", "probability", "outdegree", "matrix", "half"])
@pytest.mark.parametrize("ranks", [1, 40])
def test_pairs_in_both_directions(name: str, ranks: int) -> None:
    """A rule of targets is one of sources in the opposite direction; dry runs build those of rank 0."""
    net = rv.Network()
    size = 500
    a = net.create("iaf_psc_exp", size)
    b = a if name == "half" else net.create("iaf_psc_exp", size)
    forward = net.connect(a, b, rv.UnorderedBernoulli(0.4) if name == "half" else RULES[name][0], weight=0.1)
    net.connect(b, a, rv.Reversed(forward))
    net.connect(a, a, rv.SmallWorld(50, 0.2), weight=0.1)
    sim = rv.Simulation(net, threads=1, progress=False, recordings="local", **grouped({"ranks": ranks}))
    taken = sim.memory()["synapses"]
    predicted = predict_memory(net, threads=1, ranks=ranks)["synapses"]
    assert predicted == pytest.approx(taken, rel=0.1)
    if ranks == 1:
        assert sim.count_connections() == pytest.approx(net.expected_synapses, rel=0.05)


@pytest.mark.parametrize("sort_connections", [True, False])
def test_sources_that_are_forgotten(sort_connections: bool) -> None:
    options = grouped({"keep_sources": False, "sort_connections": sort_connections, "threads": 1, "ranks": 50})
    for synapse in (rv.static_synapse(), rv.stdp_pl(), rv.bernoulli()):
        net = network_with(synapse, 20_000, rule=rv.FixedIndegree(20)).net
        taken = rv.Simulation(net, progress=False, recordings="local", **options).memory()["synapses"]
        predicted = predict_memory(
            net, **grouped({"keep_sources": False, "sort_connections": sort_connections, "threads": 1}), ranks=50
        )
        assert predicted["synapses"] == pytest.approx(taken, rel=0.05)


STATIC = {"one weight": 1.0, "weights of all sizes": rv.LogNormal(0.0, 4.0)}


@pytest.mark.parametrize(
    ("weight", "synapse", "greatest"),
    one_of_each(list(STATIC.values()), [rv.stdp_pl(), rv.tsodyks2(), rv.bernoulli()], [1.0, 1e3, 1e6, 1e9]),
    ids=lambda value: getattr(value, "name", repr(value)),
)
def test_sums_of_weights_that_need_more_bits(weight: Any, synapse: Any, greatest: float) -> None:
    """Whether they do depends on the grids of all that reaches a receptor."""
    net = rv.Network()
    cells = net.create("iaf_psc_exp", 500)
    net.connect(cells, cells, rv.FixedIndegree(50), weight=weight)
    net.connect(cells, cells, rv.FixedIndegree(50), weight=greatest, synapse=synapse)
    predicted = predict_memory(net, threads=1)["inputs"]
    assert rv.Simulation(net, threads=1, progress=False).memory()["inputs"] == pytest.approx(predicted, rel=0.05)


def modulated(pulses: int | None) -> rv.Network:
    """Return a small network with given pulses of dopamine, one in each second step, or those of neurons that fire."""
    net = rv.Network()
    neurons = net.create(rv.iaf_psc_exp(V_m=rv.Uniform(-65.0, -50.0)), 40)
    released = neurons
    if pulses is None:
        net.stimulate(neurons, rv.poisson_generator(rate=9000.0), weight=80.0)
    else:
        # So few of each that all are among its newest spikes.
        units = -(-pulses // 8)
        times = [[0.2 * (i + 1) for i in range(unit, pulses, units)] for unit in range(units)]
        released = net.create_spike_generators(times)
    learning = rv.stdp_dopamine(dopamine=released, A_plus=0.0, A_minus=0.0)
    net.connect(neurons, neurons, rv.FixedIndegree(10), weight=0.1, synapse=learning)
    return net


@pytest.mark.parametrize(
    ("pulses", "time", "weight_precision"),
    one_of_each(
        [(1, 100.0), (4000, 2000.0), (10_000, 1000.0), (67_000, 13_500.0), (None, 4000.0)], ["single", "double"]
    ),
)
def test_pulses_of_dopamine_that_synapses_still_follow(
    pulses: int | None, time: float, weight_precision: Precision
) -> None:
    """They are forgotten together when there are too many."""
    net = modulated(pulses)
    recorder = net.record_spikes(net.populations[0])
    sim = rv.Simulation(net, threads=1, progress=False, weight_precision=weight_precision)
    sim.run(time)
    steps = sim.spikes(recorder).steps
    taken = sim.memory()["spikes"]
    known: dict[str, Any] = {"rate": len(steps) / 40 / (time / 1000.0), "threads": 1}
    predicted = predict_memory(net, time=time, weight_precision=weight_precision, **known)["spikes"]
    assert predicted == pytest.approx(taken, rel=0.1)


@pytest.mark.thorough
@pytest.mark.parametrize(("neurons", "longest_delay"), [(500, 2.0), (300, 4.0)])
def test_potentials_that_synapses_still_follow(neurons: int, longest_delay: float) -> None:
    """When all synapses settle, they need those of twice the longest delay: many, where neurons fire so fast."""
    model = network_with(rv.clopath(), neurons, delay=rv.Uniform(1.0, longest_delay))
    check(*run(1, model, threads=1, least_spikes=20_000))


def test_pulses_of_a_run_of_any_length() -> None:
    of_any, of_none = (predict_memory(modulated(pulses), threads=1)["spikes"] for pulses in (None, 1))
    assert of_any > 2 * of_none
    assert predict_memory(modulated(None), rate=0.0, threads=1)["spikes"] <= of_none


@pytest.mark.parametrize(
    "options",
    only([PAIRWISE[1]], PAIRWISE),
    ids=lambda options: " ".join(map(str, options.values())),
)
def test_neurons_that_only_release_dopamine(options: dict[str, Any]) -> None:
    """They have rows, too: on each thread one for each of them."""
    net = rv.Network()
    ranks = options["ranks"]
    at_random = rv.iaf_psc_exp(V_m=rv.Uniform(-65.0, -50.0))
    neurons, released = net.create(at_random, 300 * ranks), net.create(at_random, 1500 * ranks)
    net.stimulate([neurons, released], rv.poisson_generator(rate=9000.0), weight=80.0)
    learning = rv.stdp_dopamine(dopamine=released, A_plus=0.0, A_minus=0.0)
    net.connect(neurons, neurons, rv.FixedIndegree(20), weight=0.1, synapse=learning)
    model = NetworkModel(net=net, spikes=net.record_spikes(), time=TIME, source="")
    taken, predicted = run(model=model, threads=1, **options)
    check(taken, predicted)
    assert predicted.get("presynaptic", 0) == pytest.approx(taken.get("presynaptic", 0), rel=0.05)


def test_what_is_counted_is_resident() -> None:
    """Twenty million synapses."""
    net = network_with(rv.stdp_pl(), 20_000, rule=rv.FixedIndegree(1000)).net
    before = resident_bytes()
    sim = rv.Simulation(net, threads=2, progress=False)
    sim.run(10.0)
    counted = sum(sim.memory().values())
    assert counted == pytest.approx(resident_bytes() - before, rel=0.05)
    assert sum(predict_memory(net, threads=2, time=10.0).values()) == pytest.approx(counted, rel=0.05)


@pytest.mark.parametrize("name", ["static_synapse", "stdp", "stdp_pl", "stdp_triplet", "tsodyks2", "bernoulli"])
def test_synapses_are_sorted_where_that_takes_less_memory(name: str) -> None:
    """The fewer synapses a source has on a thread of a process, the more of its row is there for it alone."""
    ranks, targets, indegree = 32, 50, 80
    chosen = []
    for of_source in (0.2, 0.35, 0.5, 0.69, 0.75, 0.9, 1.2, 1.6, 2.5):
        net = rv.Network()
        sources = net.create(rv.interval_fire(), int(targets * indegree / of_source))
        reached = net.create(rv.interval_fire(), targets * ranks)
        net.connect(sources, reached, rv.FixedIndegree(indegree), weight=0.1, delay=1.5, synapse=model_named(name))
        sizes = {}
        for sort in (True, False, "auto"):
            predicted = predict_memory(net, ranks=ranks, time=TIME, **grouped({"threads": 1, "sort_connections": sort}))
            sizes[sort] = sum(size for part, size in predicted.items() if part != "construction")
        least = min(sizes[True], sizes[False])
        # Where both take nearly the same, either may be chosen.
        assert sizes["auto"] <= 1.01 * least, (of_source, sizes)
        chosen.append(sizes["auto"] == sizes[True])
    assert chosen[-1]
    assert not chosen[0] or name in ("tsodyks2", "bernoulli", "stdp_triplet")
