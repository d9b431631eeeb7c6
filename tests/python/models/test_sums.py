"""Weights are kept, and what arrives in a step is summed exactly, whatever they are and however the work is cut."""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
import pytest

import ranvier as rv
from ranvier import errors
from ranvier.simulation.options import grouped
from ranvier.simulation.predictions import predict_memory
from thorough_cases import every, one_of_each, only

SOURCES, TARGETS = 300, 60
ARRIVAL = 1.1  # ms: the spikes leave at 0.1

DISTRIBUTIONS: dict[str, rv.Distribution] = {
    **{f"lognormal {sigma}": rv.LogNormal(0.0, sigma) for sigma in (0.1, 1.0, 2.5, 3.0, 4.0)},
    "normal": rv.Normal(87.8, 8.78, low=0.0),
    "normal of both signs": rv.Normal(0.0, 50.0),
    "exponential": rv.Exponential(10.0),
    "uniform": rv.Uniform(0.0, 1.0),
    "narrow": rv.Uniform(1.0, 1.0 + 1e-9),
}


def volley(
    weight: Any, *, copies: int = 1, model: str = "iaf_psc_exp", **connect: Any
) -> tuple[rv.Network, rv.StateRecorder]:
    """Return a network whose sources all fire in the first step, each as often; its targets never fire."""
    net = rv.Network(seed=3)
    sources = net.create_spike_generators([[0.1] * copies] * SOURCES)
    targets = net.create(model, TARGETS, V_th=1e300)
    net.connect(sources, targets, "all_to_all", weight=weight, delay=1.0, **connect)
    variable = "V_m" if model == "iaf_psc_delta" else "I_syn_ex"
    return net, net.record_state(targets, variable, interval=0.1)


def arrived(sim: rv.Simulation, recorder: rv.StateRecorder) -> np.ndarray[Any, Any]:
    """Return what the targets got in the step in which the spikes arrive."""
    sim.run(ARRIVAL - sim.time)
    values: np.ndarray[Any, Any] = sim.state(recorder)[recorder.variables[0]][-1]
    return values


def exact(sim: rv.Simulation, copies: int = 1) -> np.ndarray[Any, Any]:
    """Return the sums of the positive weights onto each target, rounded once."""
    synapses = sim.connections()
    sums = []
    for target in np.unique(synapses.targets):
        own = synapses.weights[(synapses.targets == target) & (synapses.weights >= 0.0)]
        sums.append(math.fsum(np.repeat(own, copies)))
    return np.array(sums)


@pytest.mark.parametrize("name", every(3, DISTRIBUTIONS))
def test_weights_are_kept_and_sums_exact(name: str) -> None:
    net, recorder = volley(DISTRIBUTIONS[name])
    double = rv.Simulation(net, threads=1, weight_precision="double")
    drawn = double.connections().weights
    assert (arrived(double, recorder) == exact(double)).all()
    for threads in (1, 2):
        sim = rv.Simulation(net, threads=threads)
        stored = sim.connections().weights
        assert (stored == drawn.astype(np.float32)).all()
        assert (np.abs(stored - drawn) <= 2.0**-24 * np.abs(drawn)).all()
        assert (arrived(sim, recorder) == exact(sim)).all()


@pytest.mark.parametrize(("one", "precision"), one_of_each([1e9, 1e15, 1e-9], ["single", "double"]))
def test_one_weight_far_from_all_others(one: float, precision: Literal["single", "double"]) -> None:
    weights = np.random.default_rng(1).uniform(1.0, 2.0, SOURCES * TARGETS)
    weights[::SOURCES] = one
    net, recorder = volley(weights)
    sim = rv.Simulation(net, threads=2, weight_precision=precision)
    kept = weights.astype(np.float32) if precision == "single" else weights
    assert sorted(sim.connections().weights) == sorted(kept.astype(np.float64))
    assert (arrived(sim, recorder) == exact(sim)).all()


@pytest.mark.parametrize("layout", ["runs", "ring", "blocks"])
def test_sums_of_both_signs(layout: Literal["runs", "ring", "blocks"]) -> None:
    # Large weights cancel and leave the small ones.
    generator = np.random.default_rng(2)
    large = generator.uniform(1.0, 2.0, SOURCES // 3) * 2.0**40
    weights = np.concatenate([large, -large, generator.uniform(1.0, 2.0, SOURCES // 3)]).astype(np.float32)
    net, recorder = volley(np.tile(weights, TARGETS).astype(np.float64), model="iaf_psc_delta", name="x")
    for threads in (1, 3):
        sim = rv.Simulation(net, threads=threads, tuning=rv.Tuning(table_layout=layout))
        expected = math.fsum(weights[2 * len(large) :].astype(np.float64))
        assert arrived(sim, recorder) + 70.0 == pytest.approx(np.full(TARGETS, expected), rel=1e-14)


FEW = [(4, 3000), (4, 70_000)]


@pytest.mark.parametrize(("count", "copies"), only(FEW, [*FEW, (16, 3000), (16, 100_000)]))
def test_repeated_spike_times(count: int, copies: int) -> None:
    net = rv.Network(seed=4)
    sources = net.create_spike_generators([[0.1] * copies] * count)
    targets = net.create("iaf_psc_exp", 8, V_th=1e300)
    net.connect(sources, targets, "all_to_all", weight=rv.Normal(87.8, 8.78, low=1.0), weight_bound=200.0)
    recorder = net.record_state(targets, "I_syn_ex", interval=0.1)
    for threads in (1, 2):
        sim = rv.Simulation(net, threads=threads)
        weights = sim.connections().weights.reshape(count, 8)
        expected = [copies * math.fsum(column) for column in weights.T]
        assert (arrived(sim, recorder) == expected).all()


def test_weights_that_are_set_while_spikes_are_on_their_way() -> None:
    for layout in ("runs", "ring", "blocks"):
        net, recorder = volley(1.0)
        sim = rv.Simulation(net, threads=2, tuning=rv.Tuning(table_layout=layout, delivery_window=8))
        synapses = sim.connections()
        generator = np.random.default_rng(5)
        for time, spread in ((0.2, 1.0), (0.5, 4.0), (0.8, 8.0)):
            sim.run_until(time)
            weights = generator.lognormal(0.0, spread, len(synapses))
            synapses.weights = weights
            assert (synapses.weights == weights.astype(np.float32)).all()
        assert (arrived(sim, recorder) == exact(sim)).all()


@pytest.mark.parametrize("weights", [(1e-20, 1e20), (1e-37, 1.0)], ids=str)
def test_weights_that_no_sum_can_hold_are_refused(weights: tuple[float, float]) -> None:
    net = rv.Network()
    cells = net.create("iaf_psc_exp", 2)
    for name, weight in zip(("small", "large"), weights, strict=True):
        net.connect(cells, cells, "all_to_all", weight=weight, name=name)
    with pytest.raises(errors.ValueOutOfBoundsError, match=r"small.*126"):
        rv.Simulation(net, threads=1)
    other = rv.Network()
    cells = other.create("iaf_psc_exp", 2)
    other.connect(cells, cells, "all_to_all", weight=weights[0])
    sim = rv.Simulation(other, threads=1)
    synapses = sim.connections()
    before = synapses.weights
    with pytest.raises(errors.ValueOutOfBoundsError, match="126"):
        synapses.weights = [*before[:-1], weights[1]]
    assert (synapses.weights == before).all()


@pytest.mark.parametrize("weight", [1e-40, -1e-60, rv.LogNormal(-95.0, 3.0)], ids=["subnormal", "zero", "drawn"])
def test_weights_too_small_for_single_precision_are_refused(weight: Any) -> None:
    net = rv.Network()
    cells = net.create("iaf_psc_exp", 30)
    net.connect(cells, cells, "all_to_all", weight=weight, name="tiny")
    with pytest.raises(errors.ValueOutOfBoundsError, match=r"tiny.*single precision"):
        rv.Simulation(net, threads=1)
    sim = rv.Simulation(net, threads=1, weight_precision="double")
    synapses = sim.connections()
    assert (synapses.weights != 0.0).all()
    with pytest.raises(errors.ValueOutOfBoundsError, match="double precision"):
        synapses.weights = math.copysign(1e-300, synapses.weights[0])


def test_wide_sums_are_predicted_and_counted() -> None:
    for weight in (rv.LogNormal(0.0, 4.0), rv.Normal(50.0, 5.0, low=1.0)):
        net, _ = volley(weight)
        predicted = predict_memory(net, ranks=1, threads=1)["inputs"]
        assert rv.Simulation(net, threads=1).memory()["inputs"] == predicted
    wide = rv.Simulation(volley(rv.LogNormal(0.0, 4.0))[0], threads=1).memory()["inputs"]
    assert wide > predicted


@pytest.mark.parametrize("weight", [rv.LogNormal(3.0, 2.0), rv.Exponential(20.0)], ids=["lognormal", "exponential"])
def test_spikes_do_not_depend_on_threads(weight: rv.Distribution) -> None:
    net = rv.Network(seed=6)
    cells = net.create(rv.iaf_psc_exp(V_m=rv.Normal(-65.0, 5.0)), 200)
    net.connect(cells, cells, rv.FixedIndegree(30), weight=weight, delay=rv.Uniform(0.1, 3.0))
    net.connect(cells, cells, rv.FixedIndegree(30), weight=-200.0, delay=1.5)
    net.stimulate(cells, rv.poisson_generator(rate=8000.0), weight=47.3)
    net.stimulate(cells, rv.poisson_generator(rate=1e8), weight=rv.LogNormal(-9.0, 3.0))
    recorder = net.record_spikes()
    digests = set()
    for options in ({"threads": 1}, {"threads": 3}, {"threads": 2, "table_layout": "ring", "sort_connections": False}):
        sim = rv.Simulation(net, **grouped(options))
        sim.run(100.0)
        spikes = sim.spikes(recorder)
        assert len(spikes) > 100
        digests.add(spikes.digest())
    assert len(digests) == 1
