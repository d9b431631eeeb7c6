"""Values out of their bounds and of wrong types give typed errors, and leave everything as it was."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from bad_input import check, neurons
from ranvier import errors
from ranvier.simulation.options import grouped


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


@pytest.mark.parametrize(
    "options",
    [
        {"weight": 0.5},
        {"weight": -1.0},
        {"weight": 65536.0},
        {"weight": [1.0, 1.0, 2.5, 1.0]},
        {"weight": rv.Uniform(1.0, 2.0)},
        {"synapse": rv.tsodyks2()},
    ],
)
def test_weight_at_a_receptor_that_counts_spikes(options: dict[str, Any]) -> None:
    net = rv.Network()
    cells = net.create("interval_fire", 4)
    with pytest.raises(errors.ValueOutOfBoundsError, match="whole") as caught:
        net.connect(cells, cells, rv.OneToOne(), receptor="spikes", delay=1.0, **options)
    check(caught.value, "interval_fire", "spikes")
    if "synapse" not in options and not isinstance(options["weight"], list):
        with pytest.raises(errors.ValueOutOfBoundsError, match="whole"):
            net.stimulate(cells, rv.poisson_generator(rate=1.0), receptor="spikes", **options)
    # Those of the other receptor can be any number.
    net.connect(cells, cells, rv.OneToOne(), delay=1.0, **options)
    net.connect(cells, cells, rv.OneToOne(), receptor="spikes", weight=1.0, delay=1.0)
    sim = rv.Simulation(net)
    counted = sim.connections(receptor="spikes")
    with pytest.raises(errors.ValueOutOfBoundsError, match="whole"):
        counted.weights = np.full(4, 1.5)


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
        lambda net, value: net.connect(net["a"], net["a"], "all_to_all", weight="2" if value is None else value),
        lambda net, value: net.connect(net["a"], net["a"], "all_to_all", delay="2" if value is None else value),
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
        lambda p: p.network.create("iaf_psc_exp", 2, tau_m="10"),
        lambda p: p.network.create("iaf_psc_exp", 2.5),
        lambda p: p.network.create("iaf_psc_exp", True),
        # NumPy takes True for 1 where numbers stand beside it.
        lambda p: p.network.create("iaf_psc_exp", 2, I_e=[1.0, True]),
        lambda p: p.network.connect(p, p, "one_to_one", weight=[np.True_, *[1.0] * (len(p) - 1)]),
        lambda p: p.network.connect(p, p, "one_to_one", delay=(1.0, True)),
        lambda p: p.network.create_spike_generators([[1.0, True]]),
        lambda p: p[[0, True]],
        lambda p: rv.Explicit([0, True], [0, 1]),
        lambda p: p.network.create(rv.iaf_psc_exp, 2),
        lambda p: p.network.create(rv.dc_generator(amplitude=1.0), 2),
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


def test_a_weight_that_is_none_is_refused_where_there_are_no_synapses() -> None:
    net = rv.Network()
    net.create("iaf_psc_exp", 2)
    synapses = rv.Simulation(net, threads=1).connections()
    for weight in (math.nan, math.inf):
        with pytest.raises(rv.errors.ValueOutOfBoundsError):
            synapses.weights = weight
    synapses.weights = 2.0
