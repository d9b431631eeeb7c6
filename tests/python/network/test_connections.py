"""Queries of synapses, and reading and setting their weights."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ranvier as rv
from ranvier import errors


def network() -> rv.Network:
    """Three populations, four projections with weights and delays that tell them apart."""
    net = rv.Network(seed=4)
    exc, inh = net.create("iaf_psc_exp", 30, name="exc"), net.create("iaf_psc_exp", 10, name="inh")
    sources = net.create_spike_generators([[1.0]] * 5, name="input")
    net.connect(exc, inh, rv.FixedIndegree(12), weight=rv.Normal(10.0, 1.0), delay=rv.Uniform(0.2, 2.0))
    net.connect(inh, exc, rv.FixedTotalNumber(100), weight=rv.Normal(-10.0, 1.0), delay=0.5)
    net.connect(exc[5:], exc[:20], rv.PairwiseBernoulli(0.3), weight=2.0, delay=rv.Exponential(1.0, shift=0.1))
    net.connect(sources, inh, rv.AllToAll(), weight=3.0)
    return net


@pytest.fixture(scope="module")
def built() -> tuple[rv.Network, rv.Simulation, rv.Connections]:
    net = network()
    sim = rv.Simulation(net, threads=3)
    return net, sim, sim.connections()


def test_arrays(built: tuple[rv.Network, rv.Simulation, rv.Connections]) -> None:
    net, sim, everything = built
    assert len(everything) == sim.counts().synapses == sim.count_connections()
    for array, kind in (
        (everything.sources, np.int64),
        (everything.targets, np.int64),
        (everything.projections, np.int64),
        (everything.weights, np.float64),
        (everything.delays, np.float64),
    ):
        assert array.shape == (len(everything),)
        assert array.dtype == kind
    for projection in net.projections:
        mine = everything[everything.projections == projection.index]
        assert len(mine) > 0
        assert np.isin(mine.sources, projection.sources.ids).all()
        assert np.isin(mine.targets, projection.targets.ids).all()
    steps = everything.delays / 0.1
    assert np.allclose(steps, np.rint(steps))
    assert everything.delays.min() >= 0.1 - 1e-12


def test_order(built: tuple[rv.Network, rv.Simulation, rv.Connections]) -> None:
    _, _, everything = built
    keys = (everything.delays, everything.targets, everything.sources, everything.projections)
    assert (np.lexsort(keys) == np.arange(len(everything))).all()


IDS = st.none() | st.lists(st.integers(0, 44), max_size=8)


@settings(deadline=None, max_examples=80)
@given(IDS, IDS, st.none() | st.integers(0, 3))
def test_queries(
    built: tuple[rv.Network, rv.Simulation, rv.Connections],
    sources: list[int] | None,
    targets: list[int] | None,
    projection: int | None,
) -> None:
    net, sim, everything = built
    chosen = np.ones(len(everything), dtype=bool)
    if sources is not None:
        chosen &= np.isin(everything.sources, sources)
    if targets is not None:
        chosen &= np.isin(everything.targets, targets)
    if projection is not None:
        chosen &= everything.projections == projection
    expected = everything[chosen]
    query = (sources, targets, None if projection is None else net.projections[projection])
    found = sim.connections(*query)
    assert sim.count_connections(*query) == len(found) == len(expected)
    for name in ("sources", "targets", "delays", "projections", "weights"):
        assert (getattr(found, name) == getattr(expected, name)).all()


def test_queries_by_population(built: tuple[rv.Network, rv.Simulation, rv.Connections]) -> None:
    net, sim, _ = built
    found = sim.connections(net["exc"][:3], net["inh"])
    assert set(found.sources.tolist()) <= {0, 1, 2}
    assert set(found.projections.tolist()) == {0}
    assert sim.count_connections(net["inh"], net["inh"]) == 0
    assert len(sim.connections(net["inh"], net["inh"]).weights) == 0


@pytest.mark.parametrize("weight_precision", ["single", "double"])
@pytest.mark.parametrize("table_layout", ["runs", "ring", "blocks"])
def test_weights_are_written_through(weight_precision: str, table_layout: str) -> None:
    net = network()
    sim = rv.Simulation(net, threads=2, weight_precision=weight_precision, tuning=rv.Tuning(table_layout=table_layout))  # type: ignore[arg-type]
    mine = sim.connections(projection=net.projections[0])
    rest_before = sim.connections(projection=net.projections[1]).weights
    wanted = 1.0 + 0.25 * np.arange(len(mine))
    mine.weights = wanted
    assert (mine.weights == wanted).all()
    again = sim.connections(projection=net.projections[0])
    assert (again.weights == wanted).all()
    again[10:20].weights = 0.0
    assert (mine.weights[10:20] == 0.0).all()
    assert (mine.weights[20:] == wanted[20:]).all()
    assert (sim.connections(projection=net.projections[1]).weights == rest_before).all()


def test_a_weight_that_is_set_takes_effect() -> None:
    net = rv.Network()
    neurons = net.create(rv.iaf_psc_exp(V_th=0.0), 2)
    generator = net.create_spike_generators([[1.0, 21.0]])
    net.connect(generator, neurons, rv.AllToAll(), weight=100.0, delay=1.0)
    recorder = net.record_state(neurons, "I_syn_ex")
    sim = rv.Simulation(net)
    sim.run(20.0)
    sim.connections(targets=neurons[1]).weights = 50.0
    sim.run(5.0)
    currents = sim.state(recorder)["I_syn_ex"]
    assert currents[19].tolist() == [100.0, 100.0]
    assert currents[219] == pytest.approx([100.0, 50.0], rel=1e-3)


@pytest.mark.parametrize(
    ("values", "error"),
    [
        (float("nan"), errors.ValueOutOfBoundsError),
        (float("inf"), errors.ValueOutOfBoundsError),
        (1e31, errors.ValueOutOfBoundsError),
        (-1.0, errors.ValueOutOfBoundsError),
        ([1.0, 2.0], errors.ShapeError),
        ([[1.0]], errors.ShapeError),
    ],
    ids=str,
)
def test_refused_weights_change_nothing(values: float | list[float], error: type[Exception]) -> None:
    net = network()
    sim = rv.Simulation(net)
    mine = sim.connections(projection=net.projections[0])
    before = mine.weights
    with pytest.raises(error):
        mine.weights = values
    one_bad = before.copy()
    one_bad[-1] = 1e31
    with pytest.raises(errors.ValueOutOfBoundsError):
        mine.weights = one_bad
    assert (mine.weights == before).all()


def test_weights_above_their_bound_are_refused() -> None:
    net = rv.Network()
    neurons = net.create("iaf_psc_exp", 2)
    net.connect(neurons, neurons, rv.AllToAll(), weight=1.0, weight_bound=1000.0)
    connections = rv.Simulation(net).connections()
    connections.weights = 1000.0
    assert (connections.weights == 1000.0).all()
    with pytest.raises(errors.ValueOutOfBoundsError):
        connections.weights = 1001.0


def test_drawn_delays_are_rounded_to_the_grid() -> None:
    net = rv.Network(resolution=0.5)
    neurons = net.create("iaf_psc_exp", 100)
    net.connect(neurons, neurons, rv.AllToAll(), delay=rv.Uniform(0.25, 2.25))
    delays = rv.Simulation(net).connections().delays
    assert sorted(set(delays.tolist())) == [0.5, 1.0, 1.5, 2.0]
    # Five standard errors of a share of a quarter of 10,000.
    for delay in (0.5, 1.0, 1.5, 2.0):
        assert (delays == delay).mean() == pytest.approx(0.25, abs=0.022)


def test_what_cannot_be_changed_is_locked() -> None:
    net = rv.Network()
    neurons = net.create("iaf_psc_exp", 3)
    net.connect(neurons, neurons, rv.AllToAll())
    synapses = rv.Simulation(net).connections()
    for name in ("sources", "targets", "delays", "projections"):
        with pytest.raises(AttributeError):
            setattr(synapses, name, 1)
        with pytest.raises(errors.ReadOnlyError, match="read-only"):
            getattr(synapses, name)[0] = 1
    one = synapses[3]
    assert (len(one), one.sources.tolist(), one.weights.shape) == (1, [synapses.sources[3]], (1,))


def test_connections_are_copied_but_not_pickled() -> None:
    net = rv.Network()
    neurons = net.create(rv.iaf_psc_exp(), 10)
    net.connect(neurons, neurons, rv.FixedIndegree(3), weight=1.0)
    connections = rv.Simulation(net, threads=1).connections()
    for repeat in (pickle.dumps, copy.deepcopy):
        with pytest.raises(errors.WrongTypeError, match=r"must be arrays.*pickle the arrays you need"):
            repeat(connections)
    copied = copy.copy(connections)
    copied.weights = 2.0
    assert np.array_equal(connections.weights, np.full(30, 2.0))
    assert np.array_equal(pickle.loads(pickle.dumps(np.array(connections.sources))), connections.sources)
