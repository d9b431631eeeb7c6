"""Bad input of every kind gives a typed error that names what is wrong, and leaves everything as it was."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from ranvier import errors
from ranvier.simulation.options import grouped
from small_networks import balanced


def neurons(size: int = 10, **values: Any) -> rv.Population:
    return rv.Network().create("iaf_psc_exp", size, name="neurons", **values)


def check(error: errors.RanvierError, *parts: str) -> None:
    """Check that the message holds all parts, and the fields what the message says."""
    message = str(error)
    for part in parts:
        assert part in message, message
    for field in (error.object, error.value, error.bound, error.remedy):
        assert field in message
    assert error.object
    assert error.bound


# ---- names -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("call", "given", "nearest"),
    [
        (lambda net, _: net.create("iaf_psc_epx", 1), "iaf_psc_epx", "iaf_psc_exp"),
        (lambda net, _: net.create("iaf_psc_exp", 1, tau_n=1.0), "tau_n", "tau_m"),
        (lambda net, _: net.create(rv.iaf_psc_exp(tau_n=1.0), 1), "tau_n", "tau_m"),  # type: ignore[call-arg]
        (lambda net, p: net.connect(p, p, "fixed_in_degree"), "fixed_in_degree", "fixed_indegree"),
        (lambda net, p: net.connect(p, p, "fixed_indegree", in_degree=1), "in_degree", "indegree"),
        (lambda net, p: net.connect(p, p, "FixedIndegree", indegree=1), "FixedIndegree", "fixed_indegree"),
        (lambda net, p: net.connect(p, p, rv.OneToOne(), weights=1.0), "weights", "weight"),
        (lambda net, p: net.connect(p, p, "one_to_one", delays=1.0), "delays", "delay"),
        (lambda net, p: net.create("iaf_psc_exp", 1, I_ee=1.0), "I_ee", "I_e"),
        (lambda net, p: net.create("iaf_psc_exp", 1, positions=[[0.0, 1.0]]), "positions", ""),
        (lambda net, p: net.create("iaf_psc_exp", 1, nam="x"), "nam", "name"),
        (lambda net, p: net.stimulate(p, "poisson_generator", weights=1.0), "weights", "weight"),
        (lambda net, p: net.record_spikes(neuron=p), "neuron", "neurons"),
        (lambda net, p: net.record_state(p, variable="V_m"), "variable", "variables"),
        (lambda net, p: net.create_spike_generators(times=[[1.0]]), "times", "spike_times"),
        (lambda net, p: net.set(p, I_ee=1.0), "I_ee", "I_e"),
        (lambda net, p: rv.Network(dt=0.1), "dt", ""),  # type: ignore[call-arg]
        (lambda net, p: rv.Network(resolutio=0.1), "resolutio", "resolution"),  # type: ignore[call-arg]
        (lambda net, p: net.stimulate(p, "poison_generator"), "poison_generator", "poisson_generator"),
        (lambda net, p: net.stimulate(p, "poisson_generator", rat=1.0), "rat", "rate"),
        (lambda net, p: net.record_state(p, ["V_n"]), "V_n", "V_m"),
        (lambda net, _: net["neuron"], "neuron", "neurons"),
        (lambda net, _: rv.Simulation(net, precision="duoble"), "duoble", "double"),  # type: ignore[arg-type]
        (lambda net, _: rv.Simulation(net, weight_precision="singel"), "singel", "single"),  # type: ignore[arg-type]
        (lambda net, _: rv.Simulation(net, tuning=rv.Tuning(instruction_set="avx3")), "avx3", "avx2"),  # type: ignore[arg-type]
        (lambda net, _: rv.Simulation(net, tuning=rv.Tuning(table_layout="rings")), "rings", "ring"),  # type: ignore[arg-type]
        (lambda net, p: rv.Simulation(net).get(p, "V_n"), "V_n", "V_m"),
        (lambda net, p: rv.Simulation(net).set(p, tau_n=1.0), "tau_n", "tau_m"),
        (lambda net, p: rv.Normal(0.0, 1.0, 0.0, 1.0, "clap"), "clap", "clip"),  # type: ignore[arg-type]
        (lambda net, p: rv.networks.microcircuit(drive="possion"), "possion", "poisson"),  # type: ignore[arg-type]
        (lambda net, p: rv.networks.brunel(version="dleta"), "dleta", "delta"),  # type: ignore[arg-type]
        (lambda net, p: rv.networks.interval_fire(topology="randon"), "randon", "random"),  # type: ignore[arg-type]
    ],
)
def test_unknown_name(call: Callable[[rv.Network, rv.Population], object], given: str, nearest: str) -> None:
    population = neurons()
    before = population.network.summary()
    with pytest.raises(errors.UnknownNameError) as caught:
        call(population.network, population)
    check(caught.value, f"'{given}'", f"did you mean '{nearest}'?" if nearest else "the valid names are")
    assert population.network.summary() == before


@pytest.mark.parametrize("value", ["sometimes", "True", ""])
def test_neither_sorted_nor_not(value: str) -> None:
    with pytest.raises(errors.UnknownNameError) as caught:
        rv.Simulation(neurons().network, processes=rv.Processes(sort_connections=value))  # type: ignore[arg-type]
    check(caught.value, "sort_connections", f"'{value}'", "auto")
    with pytest.raises(TypeError, match="sort_connections must be 'auto', True or False, not int"):
        rv.Simulation(neurons().network, processes=rv.Processes(sort_connections=1))  # type: ignore[arg-type]


def test_name_that_is_taken() -> None:
    with pytest.raises(errors.ValueOutOfBoundsError, match="'neurons'"):
        neurons().network.create("iaf_psc_exp", 1, name="neurons")


# ---- values ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("value", [0.0, -1.0, float("nan"), float("inf"), [1.0, -1.0], rv.Normal(1.0, 1.0)], ids=str)
def test_parameter_out_of_bounds(value: rv.Normal | float | list[float]) -> None:
    net = rv.Network()
    with pytest.raises(errors.ValueOutOfBoundsError) as caught:
        net.create("iaf_psc_exp", 2, tau_m=value)
    check(caught.value, "tau_m")
    assert not net.populations


@pytest.mark.parametrize(
    "call",
    [
        lambda p: p.network.create("iaf_psc_exp", 1, V_m=float("nan")),
        lambda p: p.network.create("iaf_psc_exp", 1, V_th=-80.0),  # below V_reset
        lambda p: p.network.stimulate(p, rv.poisson_generator(rate=-1.0)),
        lambda p: p.network.stimulate(p, rv.poisson_generator(rate=1.0), weight=float("inf")),
        lambda p: p.network.connect(p, p, rv.OneToOne(), weight=float("nan")),
        lambda p: p.network.connect(p, p, rv.OneToOne(), weight=[1.0] * 9 + [float("inf")]),
        lambda p: p.network.connect(p, p, rv.OneToOne(), weight=2.0, weight_bound=1.0),
        lambda p: p.network.connect(p, p, rv.OneToOne(), weight_bound=-1.0),
        lambda p: p.network.connect(p, p, rv.PairwiseBernoulli(1.1)),
        lambda p: p.network.connect(p, p, rv.PairwiseBernoulli(float("nan"))),
        lambda p: p.network.connect(p, p, rv.FixedIndegree(-1)),
        lambda p: p.network.connect(p, p, rv.FixedIndegree(2**70)),
        lambda p: p.network.connect(p, p, rv.Explicit([10], [0])),
        lambda p: p.network.connect(p, p, rv.Explicit([0], [-1])),
        lambda p: p.network.create_spike_generators([[2.0, 1.0]]),
        lambda p: p.network.create_spike_generators([[0.0]]),
        lambda p: p.network.record_state(p, "V_m", interval=0.0),
        lambda p: p.network.record_state(p[[3, 2]], "V_m"),
        lambda p: p.network.record_state(p[[10]], "V_m"),
        lambda p: p.network.record_state(p, ["V_m", "V_m"]),
        lambda p: rv.Network(resolution=0.0),
        lambda p: rv.Network(resolution=float("nan")),
        lambda p: rv.Network(seed=-1),
        lambda p: rv.Network(seed=2**64),
        lambda p: rv.Normal(0.0, -1.0),
        lambda p: rv.Normal(float("nan"), 1.0),
        lambda p: rv.Normal(0.0, 1.0, low=float("nan")),
        lambda p: rv.Normal(0.0, 1.0, low=1.0, high=0.0),
        lambda p: rv.Normal(0.0, 1.0, low=10.0),  # hardly any draw would be accepted
        lambda p: rv.Uniform(1.0, 0.0),
        lambda p: rv.LogNormal(1000.0, 1.0),
        lambda p: rv.Exponential(-1.0),
        lambda p: rv.Simulation(p.network, threads=0),
        lambda p: rv.Simulation(p.network, threads=10**6),
        lambda p: rv.Simulation(p.network, tuning=rv.Tuning(delivery_window=0)),
        lambda p: rv.Simulation(p.network, tuning=rv.Tuning(delivery_window=3)),
        lambda p: rv.Simulation(p.network, tuning=rv.Tuning(delivery_window=2048)),
        lambda p: rv.Simulation(p.network, memory_limit=0),
        lambda p: rv.Simulation(p.network).set(p, tau_m=0.0),
        lambda p: rv.Simulation(p.network).set(p, V_m=float("nan")),
        lambda p: rv.Simulation(p.network).connections(sources=[10]),
        lambda p: rv.Simulation(p.network).connections(targets=[-1]),
        lambda p: p[::-1],
        lambda p: rv.networks.microcircuit(scale=0.0),
        lambda p: rv.networks.microcircuit(n_scaling=float("inf")),
        lambda p: rv.networks.brunel(epsilon=1.5),
        lambda p: rv.networks.brunel(J=0.0),
        lambda p: rv.networks.brunel(order=1),
        lambda p: rv.networks.hpc_benchmark(scale=0.0),
        lambda p: rv.networks.hpc_benchmark(indegree_scale=0.0002),  # no inhibitory synapse is left
        lambda p: rv.networks.interval_fire(cells=0),
        lambda p: rv.networks.interval_fire(connections=-2),
        lambda p: rv.networks.interval_fire(spread=3),
        lambda p: rv.networks.interval_fire(connections=10, spread=22),
        lambda p: rv.networks.interval_fire(topology="adjacent", spread=100),
        lambda p: p.network.create("interval_fire", 1, interval_min=50.0),
        lambda p: p.network.create("interval_fire", 1, interval_max=1001.0),
        lambda p: p.network.create("interval_fire", 1, burst_groups=1.5),
        # An array with a number that is not whole among bounds that are.
        lambda p: p.network.create("interval_fire", 3, burst_groups=[0.0, 1.5, 2.0]),
    ],
)
def test_value_out_of_bounds(call: Callable[[rv.Population], object]) -> None:
    population = neurons()
    before = population.network.summary()
    with pytest.raises(errors.ValueOutOfBoundsError) as caught:
        call(population)
    check(caught.value)
    assert population.network.summary() == before


def test_current_into_a_model_that_takes_none() -> None:
    net = rv.Network()
    cells = net.create("interval_fire", 2)
    with pytest.raises(errors.ValueOutOfBoundsError, match="takes spikes but no current") as caught:
        net.stimulate(cells, rv.dc_generator(amplitude=1.0))
    check(caught.value, "'interval_fire'")
    net.stimulate(cells, rv.poisson_generator(rate=1.0))


NOT_NUMBERS: list[object] = [
    "1.0",
    b"1",
    None,
    1j,
    [[1.0], [1.0, 2.0]],
    ["1.0"],
    {},
    np.ma.masked_equal([0.0, 1.0], 0.0),
]


@pytest.mark.parametrize("value", NOT_NUMBERS, ids=str)
@pytest.mark.parametrize(
    "call",
    [
        lambda net, value: rv.Network(resolution=value),
        lambda net, value: net.create("iaf_psc_exp", 2, tau_m=value),
        lambda net, value: rv.iaf_psc_exp(tau_m=value) if value is not None else net.create(value, 2),
        lambda net, value: net.connect(net["a"], net["a"], "all_to_all", weight=value),
        lambda net, value: net.connect(net["a"], net["a"], "all_to_all", delay=value),
        lambda net, value: net.connect(net["a"], net["a"], rv.PairwiseBernoulli(value)),
        lambda net, value: net.connect(net["a"], net["a"], rv.FixedIndegree(value)),
        lambda net, value: net.connect(net["a"], net["a"], rv.OneToOne(allow_autapses=value)),
        lambda net, value: net.connect(net["a"], net["a"], "one_to_one", weight_bound="2" if value is None else value),
        lambda net, value: net.stimulate(net["a"], rv.dc_generator(), delay="2" if value is None else value),
        lambda net, value: net.record_state(net["a"], "V_m", "2" if value is None else value),
        lambda net, value: net.record_weights(net.projections[0], value),
        lambda net, value: net.create_spike_generators([value]),
        lambda net, value: rv.Normal(value, 1.0),
        lambda net, value: rv.Uniform(0.0, value),
        lambda net, value: rv.Simulation(net).run(value),
        lambda net, value: rv.Simulation(net).set(net["a"], V_m=value),
        lambda net, value: setattr(rv.Simulation(net).connections(), "weights", value),
    ],
)
def test_what_is_not_a_number(call: Callable[[rv.Network, Any], object], value: object) -> None:
    net = rv.Network()
    a = net.create("iaf_psc_exp", 2, name="a")
    net.connect(a, a, "one_to_one")
    with pytest.raises(TypeError, match="must be"):
        call(net, value)
    assert len(net.populations) == len(net.projections) == 1
    rv.Simulation(net).run(1.0)


@pytest.mark.parametrize(
    "call",
    [
        lambda net: net.create("iaf_psc_exp", 2**48 + 1),
        lambda net: net.create("iaf_psc_exp", 10**30),
        lambda net: net.create("iaf_psc_exp", 2, tau_m=10**400),
        lambda net: rv.Simulation(net, threads=2**40),
        lambda net: rv.Simulation(net, memory_limit=2**70),
        lambda net: net.connect(net["a"], net["a"], rv.FixedIndegree(2**64)),
    ],
)
def test_whole_numbers_that_are_too_large(call: Callable[[rv.Network], object]) -> None:
    net = rv.Network()
    net.create("iaf_psc_exp", 2, name="a")
    with pytest.raises(errors.ValueOutOfBoundsError):
        call(net)
    rv.Simulation(net).run(1.0)


def test_name_that_is_not_a_string() -> None:
    with pytest.raises(TypeError, match="name of a population must be a string"):
        rv.Network().create("iaf_psc_exp", 2, name=5)  # type: ignore[arg-type]


@pytest.mark.parametrize("size", [0, -1])
def test_no_neurons(size: int) -> None:
    net = rv.Network()
    with pytest.raises(errors.ValueOutOfBoundsError, match="at least 1"):
        net.create("iaf_psc_exp", size)
    assert not net.populations


def test_network_without_neurons() -> None:
    with pytest.raises(errors.StateError, match="at least one neuron"):
        rv.Simulation(rv.Network())


@pytest.mark.parametrize(
    "call",
    [
        lambda p: p.network.create("iaf_psc_exp", 2, tau_m="ten"),
        lambda p: p.network.create("iaf_psc_exp", 2.5),
        lambda p: p.network.create("iaf_psc_exp", True),
        lambda p: p.network.create(rv.iaf_psc_exp, 2),
        lambda p: p.network.create(rv.poisson_generator(rate=1.0), 2),
        lambda p: p.network.connect(p, "neurons", rv.OneToOne()),
        lambda p: p.network.connect(p, p, rv.OneToOne),
        lambda p: p.network.connect(p, p, rv.FixedIndegree(1.5)),  # type: ignore[arg-type]
        lambda p: p.network.connect(p, p, rv.Explicit([0.5], [1])),
        lambda p: p.network.stimulate(p, rv.iaf_psc_exp()),
        lambda p: p.network.record_weights(p, 1.0),
        lambda p: rv.Network(seed=1.5),  # type: ignore[arg-type]
        lambda p: rv.Simulation(p),
        lambda p: rv.Simulation(p.network, threads=1.5),  # type: ignore[arg-type]
        lambda p: rv.Simulation(p.network).connections(sources=["a"]),
    ],
)
def test_wrong_type(call: Callable[[rv.Population], object]) -> None:
    population = neurons()
    before = population.network.summary()
    with pytest.raises(TypeError):
        call(population)
    assert population.network.summary() == before


# ---- shapes ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "call",
    [
        lambda p: p.network.create("iaf_psc_exp", 3, tau_m=[1.0, 2.0]),
        lambda p: p.network.create("iaf_psc_exp", 3, tau_m=np.ones((3, 1))),
        lambda p: p.network.create("iaf_psc_exp", 3, V_m=[]),
        lambda p: p.network.connect(p, p, rv.OneToOne(), weight=np.ones(9)),
        lambda p: p.network.connect(p, p, rv.OneToOne(), delay=np.ones(11)),
        lambda p: p.network.connect(p, p, rv.OneToOne(), weight=np.ones((10, 10))),
        lambda p: p.network.connect(p, p, rv.AllToAll(), weight=np.ones((10, 9))),
        lambda p: p.network.connect(p, p, rv.PairwiseBernoulli(0.5), weight=np.ones(50)),
        lambda p: p.network.connect(p, p, rv.Explicit([0, 1], [1])),
        lambda p: p.network.connect(p, p, rv.Explicit([[0, 1]], [[1, 0]])),
        lambda p: p.network.stimulate(p, rv.poisson_generator(rate=[1.0, 2.0])),
        lambda p: p.network.stimulate(p, rv.poisson_generator(rate=1.0), weight=[1.0, 2.0]),
        lambda p: p.network.stimulate(p, rv.step_current_generator(times=1.0, amplitudes=1.0)),
        lambda p: p.network.record_state(p, []),
        lambda p: rv.Simulation(p.network).set(p, V_m=[1.0, 2.0]),
    ],
)
def test_wrong_shape(call: Callable[[rv.Population], object]) -> None:
    population = neurons()
    before = population.network.summary()
    with pytest.raises(errors.ShapeError) as caught:
        call(population)
    check(caught.value)
    assert population.network.summary() == before


def test_sequences_of_different_lengths() -> None:
    population = neurons()
    with pytest.raises(errors.RanvierError):
        population.network.stimulate(population, rv.step_current_generator(times=[1.0, 2.0], amplitudes=[1.0]))
    assert not population.network.stimuli


# ---- delays, resolution ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "delay", [0.0, 0.05, -1.0, float("nan"), float("inf"), 1e9, [1.0] * 9 + [0.04], rv.Normal(1.0, 1.0)], ids=str
)
def test_delay(delay: Any) -> None:
    population = neurons()
    with pytest.raises(errors.DelayError) as caught:
        population.network.connect(population, population, rv.OneToOne(), delay=delay)
    check(caught.value, "ms")
    assert not population.network.projections


def test_delay_of_a_stimulus() -> None:
    population = neurons()
    with pytest.raises(errors.DelayError):
        population.network.stimulate(population, rv.poisson_generator(rate=1.0), delay=0.0)


@pytest.mark.parametrize(
    "call",
    [
        lambda p: p.network.connect(p, p, rv.OneToOne(), delay=0.15),
        lambda p: p.network.stimulate(p, rv.poisson_generator(rate=1.0), delay=0.15),
        lambda p: p.network.stimulate(p, rv.dc_generator(start=0.15)),
        lambda p: p.network.stimulate(p, rv.step_current_generator(times=[0.15], amplitudes=[1.0])),
        lambda p: p.network.record_state(p, "V_m", interval=0.15),
        lambda p: p.network.record_weights(p.network.connect(p, p, rv.OneToOne()), interval=0.15),
        lambda p: p.network.create_spike_generators([[1.0, 1.15]]),
        lambda p: rv.Simulation(p.network, threads=1).run(0.15),
    ],
    ids=["connect", "stimulate", "start", "times", "record", "record_weights", "spike times", "run"],
)
def test_times_off_the_grid(call: Callable[[rv.Population], None]) -> None:
    with pytest.raises(errors.GridError) as caught:
        call(neurons())
    check(caught.value, ".15 ms", "multiple of the resolution, 0.1 ms")


def test_delays_of_single_synapses_are_rounded() -> None:
    """Those of an array as those that are drawn: to the nearest step, half a step up."""
    population = neurons(4)
    population.network.connect(population, population, rv.OneToOne(), delay=[0.05, 1.04, 1.06, 2.0])
    population.network.connect(population, population, rv.OneToOne(), delay=rv.Normal(1.04, 0.0))
    delays = rv.Simulation(population.network, threads=1).connections().delays
    assert sorted(delays) == [0.1, 1.0, 1.0, 1.0, 1.0, 1.0, 1.1, 2.0]


@pytest.mark.parametrize("duration", [0.05, float("nan"), float("inf")])
def test_duration_off_the_grid(duration: float) -> None:
    sim = rv.Simulation(neurons().network)
    with pytest.raises(errors.GridError):
        sim.run(duration)
    sim.run(1.0)
    assert sim.time == 1.0


def test_running_backwards() -> None:
    sim = rv.Simulation(neurons().network)
    sim.run(1.0)
    with pytest.raises(errors.ValueOutOfBoundsError):
        sim.run(-0.5)
    with pytest.raises(errors.ValueOutOfBoundsError, match="past"):
        sim.run_until(0.5)
    assert sim.time == 1.0


@pytest.mark.parametrize(
    "put_on_grid",
    [
        lambda p: p.network.connect(p, p, rv.OneToOne()),
        lambda p: p.network.stimulate(p, rv.poisson_generator(rate=1.0)),
        lambda p: p.network.record_state(p, "V_m"),
        lambda p: p.network.create_spike_generators([[1.0]]),
    ],
    ids=["connect", "stimulate", "record", "spikes"],
)
def test_resolution_changed_after_something_was_put_on_its_grid(put_on_grid: Callable[[rv.Population], None]) -> None:
    population = neurons()
    net = population.network
    net.resolution = 0.2
    put_on_grid(population)
    with pytest.raises(errors.StateError) as caught:
        net.resolution = 0.1
    check(caught.value, "resolution", "0.2 ms")
    assert net.resolution == 0.2
    rv.Simulation(net).run(1.0)


# ---- rules -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "rule",
    [
        rv.FixedIndegree(11, allow_multapses=False),
        rv.FixedIndegree(10, allow_multapses=False, allow_autapses=False),
        rv.FixedOutdegree(11, allow_multapses=False),
        rv.FixedTotalNumber(101, allow_multapses=False),
        rv.FixedTotalNumber(91, allow_multapses=False, allow_autapses=False),
        rv.Explicit([0, 0], [1, 1], allow_multapses=False),
        rv.Explicit([3], [3], allow_autapses=False),
    ],
    ids=repr,
)
def test_rule_that_cannot_be_carried_out(rule: Any) -> None:
    population = neurons()
    with pytest.raises(errors.RuleError) as caught:
        population.network.connect(population, population, rule)
    check(caught.value, rule.name)
    assert not population.network.projections


def test_one_to_one_of_unequal_sizes() -> None:
    population = neurons()
    with pytest.raises(errors.RuleError, match="9"):
        population.network.connect(population, population[1:], rv.OneToOne())


@pytest.mark.parametrize("rule", ["fixed_indegree", "pairwise_bernoulli", "explicit"])
def test_rule_by_name_without_its_parameter(rule: str) -> None:
    population = neurons()
    with pytest.raises(errors.RuleError, match="needs"):
        population.network.connect(population, population, rule)


def test_keywords_beside_a_complete_rule() -> None:
    population = neurons()
    with pytest.raises(errors.RuleError, match="indegree"):
        population.network.connect(population, population, rv.FixedIndegree(2), indegree=3)


def test_connecting_to_what_takes_no_input() -> None:
    population = neurons()
    generators = population.network.create_spike_generators([[1.0]])
    with pytest.raises(errors.ValueOutOfBoundsError, match="input"):
        population.network.connect(population, generators, rv.AllToAll())


# ---- memory ----------------------------------------------------------------------------------------------------------


def test_more_memory_than_the_machine_has() -> None:
    net = rv.Network()
    population = net.create("iaf_psc_exp", 10_000_000)
    net.connect(population, population, rv.FixedIndegree(1_000_000))
    with pytest.raises(errors.InsufficientMemoryError) as caught:
        rv.Simulation(net)
    check(caught.value, "bytes")
    assert isinstance(caught.value, MemoryError)
    assert any(int(word) > 10**13 for word in str(caught.value).replace(",", "").split() if word.isdigit())


def test_memory_limit() -> None:
    net, _ = balanced(100)
    needed = sum(rv.predict_memory(net, threads=2).values())
    with pytest.raises(errors.InsufficientMemoryError):
        rv.Simulation(net, threads=2, memory_limit=needed // 4)
    rv.Simulation(net, threads=2, memory_limit=4 * needed).run(1.0)


# ---- files -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["missing/spikes.h5", "folder.h5", "spikes.txt", "spikes"])
def test_file_that_cannot_be_written(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder.h5").mkdir()
    population = neurons()
    net = population.network
    projection = net.connect(population, population, rv.OneToOne())
    path = tmp_path / name
    recordings: list[Callable[[], object]] = [
        lambda: net.record_spikes(to=path),
        lambda: net.record_state(population, "V_m", to=path),
        lambda: net.record_weights(projection, 1.0, to=path),
    ]
    for record in recordings:
        with pytest.raises(errors.FileError) as caught:
            record()
        check(caught.value, str(path))
        assert isinstance(caught.value, OSError)
    assert not net.recorders


def test_file_that_cannot_be_written_any_more(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    net = neurons().network
    net.record_spikes(to=tmp_path / "folder" / "spikes.h5")
    (tmp_path / "folder").rmdir()
    with pytest.raises(errors.FileError):
        rv.Simulation(net)
    (tmp_path / "folder").mkdir()
    rv.Simulation(net).run(1.0)


def test_two_recorders_to_one_file(tmp_path: Path) -> None:
    population = neurons()
    population.network.record_spikes(to=tmp_path / "a.h5")
    with pytest.raises(errors.FileError, match="another recorder"):
        population.network.record_state(population, "V_m", to=tmp_path / "a.h5")


# ---- objects of another network, or too new --------------------------------------------------------------------------


def test_two_recorders_to_one_file_by_different_paths(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link.h5").symlink_to(tmp_path / "spikes.h5")
    net = rv.Network()
    net.create("iaf_psc_exp", 2)
    net.record_spikes(to=tmp_path / "spikes.h5")
    for other in ("folder/../spikes.h5", "link.h5"):
        with pytest.raises(errors.FileError, match="another recorder"):
            net.record_spikes(to=tmp_path / other)


def test_objects_of_another_network() -> None:
    mine, other = neurons(), neurons()
    net = mine.network
    sim = rv.Simulation(net)
    other_projection = other.network.connect(other, other, rv.OneToOne())
    for call in (
        lambda: net.connect(mine, other, rv.OneToOne()),
        lambda: net.stimulate(other, rv.dc_generator(amplitude=1.0)),
        lambda: net.record_spikes(other),
        lambda: net.record_state(other, "V_m"),
        lambda: net.record_weights(other_projection, 1.0),
        lambda: sim.get(other, "V_m"),
        lambda: sim.connections(sources=other),
        lambda: sim.connections(projection=other_projection),
        lambda: sim.spikes(other.network.record_spikes()),
    ):
        with pytest.raises(errors.StateError, match="another network"):
            call()


def test_objects_made_after_the_simulation_was_built() -> None:
    population = neurons()
    net = population.network
    sim = rv.Simulation(net)
    late = net.create("iaf_psc_exp", 1)
    recorder = net.record_spikes()
    with pytest.raises(errors.StateError, match="after"):
        sim.get(late, "V_m")
    with pytest.raises(errors.StateError, match="after"):
        sim.spikes(recorder)
    with pytest.raises(errors.StateError, match="after"):
        sim.connections(projection=net.connect(population, population, rv.OneToOne()))
    sim.run(1.0)


# ---- the errors themselves -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name", [name for name in errors.__all__ if issubclass(getattr(errors, name), errors.RanvierError)]
)
def test_errors_keep_their_fields_when_pickled(name: str) -> None:
    kind = getattr(errors, name)
    error = kind("thing", "3", "it must be 4", "give 4")
    copy = pickle.loads(pickle.dumps(error))
    assert type(copy) is kind
    assert (copy.object, copy.value, copy.bound, copy.remedy) == ("thing", "3", "it must be 4", "give 4")
    sentence = "thing it must be 4, not 3" if name == "WrongTypeError" else "thing is 3, but it must be 4"
    assert str(copy) == f"{sentence}; give 4"
    assert isinstance(error, errors.RanvierError)


def test_the_message_is_put_together_as_in_the_core() -> None:
    with pytest.raises(errors.ValueOutOfBoundsError) as caught:
        rv.Network(resolution=-1.0)
    error = caught.value
    assert str(error) == f"{error.object} is {error.value}, but {error.bound}; {error.remedy}"
    assert str(errors.StateError("thing", bound="it cannot be")) == "thing: it cannot be"


@pytest.mark.parametrize(
    "option",
    [
        "instruction_set",
        "pinning",
        "stealing",
        "shards",
        "threads",
        "delivery_window",
        "memory_limit",
        "sort_connections",
    ],
)
@pytest.mark.parametrize("value", [1.5, ["auto"], b"auto"], ids=str)
def test_option_of_a_wrong_type(option: str, value: object) -> None:
    with pytest.raises(TypeError, match=f"{option} must be"):
        rv.Simulation(neurons().network, **grouped({option: value}))


@pytest.mark.parametrize("values", [range(10**15), range(2**62, 0, -3), range(10**30)])
def test_ranges_that_no_memory_holds_are_refused(values: range) -> None:
    net = rv.Network()
    neurons = net.create("iaf_psc_exp", 2)
    sim = rv.Simulation(net, threads=1)
    with pytest.raises(rv.errors.InsufficientMemoryError):
        rv.iaf_psc_exp(I_e=values)
    with pytest.raises(rv.errors.InsufficientMemoryError):
        sim.set(neurons, V_m=values)
    with pytest.raises(rv.errors.InsufficientMemoryError):
        sim.connections(targets=values)
    with pytest.raises(rv.errors.InsufficientMemoryError):
        sim.connections()[values]
    with pytest.raises(rv.errors.InsufficientMemoryError):
        net.record_state(neurons[values], "V_m")
    with pytest.raises(rv.errors.InsufficientMemoryError):
        rv.Explicit(values, values)
    with pytest.raises(rv.errors.InsufficientMemoryError):
        rv.Simulation(net, threads=1, processes=rv.Processes(placement=values))


def test_a_weight_that_is_none_is_refused_where_there_are_no_synapses() -> None:
    net = rv.Network()
    net.create("iaf_psc_exp", 2)
    synapses = rv.Simulation(net, threads=1).connections()
    for weight in (math.nan, math.inf):
        with pytest.raises(rv.errors.ValueOutOfBoundsError):
            synapses.weights = weight
    synapses.weights = 2.0
