"""Trains of spikes follow the laws that their models state.

Seeds are fixed, so that a test fails always or never. Each test of a distribution compares counts in bins with the
exact probabilities, by Pearson's test; a right model fails one with a chance of `SIGNIFICANCE`. Means and variances
may differ from their expected values by five of their standard deviations. `validation/test_trains_thorough.py` checks
the same with more values.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy import integrate, special, stats

import ranvier as rv
from ranvier.populations.model_base import Stimulator

SIGNIFICANCE = 1e-4
SIGMAS = 5.0

Array = npt.NDArray[Any]


def steps_of(model: Stimulator, size: int, duration: float, *, resolution: float = 0.1) -> list[Array]:
    """Return the steps in which each of some sources fires."""
    net = rv.Network(resolution=resolution, seed=11)
    sources = net.create(model, size)
    recorder = net.record_spikes(sources)
    sim = rv.Simulation(net, progress=False, threads=1)
    sim.run(duration)
    data = sim.spikes(recorder)
    order = np.argsort(data.ids, kind="stable")
    ends = np.searchsorted(data.ids[order], sources.ids, side="right")
    return np.split(data.steps[order], ends[:-1])


def p_value(values: Array, probability_up_to: Callable[[int], float]) -> float:
    """Return the p-value of Pearson's test of whole numbers, in bins in which 30 are expected at least."""
    least = 30.0 / len(values)
    edges, probabilities, below = [], [], 0.0
    value = int(values.min()) - 1
    while value < values.max():
        value += 1
        up_to = probability_up_to(value)
        if up_to - below >= least and 1.0 - up_to >= least:
            edges.append(value + 0.5)
            probabilities.append(up_to - below)
            below = up_to
    probabilities.append(1.0 - below)
    counts = np.bincount(np.searchsorted(edges, values), minlength=len(probabilities))
    assert len(counts) >= 5, "too few bins to find anything"
    return float(stats.chisquare(counts, len(values) * np.array(probabilities)).pvalue)


def of_interval(distribution: Callable[[float], float], resolution: float) -> Callable[[int], float]:
    """Return the distribution of intervals in steps: from a spike at any time in a step, both rounded up."""

    def up_to(steps: int) -> float:
        mean, _ = integrate.quad(distribution, steps * resolution, (steps + 1) * resolution)
        return float(mean) / resolution

    return up_to


def gamma_law(rate: float, shape: float, dead_time: float) -> Callable[[float], float]:
    """Return the distribution function of intervals, ms."""
    scale = (1000.0 / rate - dead_time) / shape
    return lambda x: float(special.gammainc(shape, max(0.0, x - dead_time) / scale))


RENEWAL = [(60.0, 1.0, 0.0), (60.0, 1.0, 6.0), (60.0, 4.0, 0.0), (80.0, 2.5, 3.0), (50.0, 0.4, 0.0), (40.0, 30.0, 0.0)]
# Those that do not take long: a dead time, and regular intervals of a real shape with one.
FEW = [(60.0, 1.0, 6.0), (80.0, 2.5, 3.0)]


def check_intervals(rate: float, shape: float, dead_time: float) -> None:
    trains = steps_of(rv.gamma_generator(rate=rate, shape=shape, dead_time=dead_time), 300, 2000.0)
    # As many of each train as there are for certain: those that end in a given time are shorter than others.
    number = int(0.25 * 2.0 * rate)
    assert all(len(train) > number for train in trains)
    intervals = np.array([np.diff(train[: number + 1]) for train in trains])
    law = gamma_law(rate, shape, dead_time)
    assert p_value(intervals.ravel(), of_interval(law, 0.1)) > SIGNIFICANCE
    # Intervals know nothing of each other.
    pairs = np.corrcoef(intervals[:, :-1].ravel(), intervals[:, 1:].ravel())[0, 1]
    assert abs(pairs) < SIGMAS / math.sqrt(intervals[:, 1:].size)


@pytest.mark.parametrize(("rate", "shape", "dead_time"), FEW)
def test_intervals_of_gamma_processes(rate: float, shape: float, dead_time: float) -> None:
    check_intervals(rate, shape, dead_time)


def check_begin(rate: float, shape: float, dead_time: float) -> None:
    """Check that the first spike comes after the rest of an interval, at the same rate from the first step on."""
    trains = steps_of(rv.gamma_generator(rate=rate, shape=shape, dead_time=dead_time), 6000, 100.0)
    first = np.array([train[0] if len(train) else 1001 for train in trains])
    law = gamma_law(rate, shape, dead_time)

    def up_to(steps: int) -> float:
        mean, _ = integrate.quad(lambda x: 1.0 - law(x), 0.0, 0.1 * steps, points=[dead_time])
        return rate / 1000.0 * float(mean)

    assert p_value(np.minimum(first, 1001), up_to) > SIGNIFICANCE
    early = sum(np.count_nonzero(train <= 50) for train in trains)
    mean = 6000 * 0.005 * rate
    # No interval of a train is in a window more often than all: at most the variance of a clustered process.
    assert abs(early - mean) < SIGMAS * math.sqrt(mean * max(1.0, 2.0 / shape))


@pytest.mark.parametrize(("rate", "shape", "dead_time"), FEW)
def test_gamma_processes_begin_in_equilibrium(rate: float, shape: float, dead_time: float) -> None:
    check_begin(rate, shape, dead_time)


def check_regularity(shape: float, dead_time: float) -> None:
    """Check that the Fano factor of a long window is the squared coefficient of variation of intervals."""
    trains = steps_of(rv.gamma_generator(rate=100.0, shape=shape, dead_time=dead_time), 1500, 1000.0)
    counts = np.array([len(train) for train in trains], dtype=float)
    squared = (1.0 - 0.1 * dead_time) ** 2 / shape
    # Of a stationary window of finite length: Cox, Renewal Theory, section 4.5, with moments of the interval.
    ratio = counts.var(ddof=1) / counts.mean()
    assert abs(ratio / squared - 1.0) < SIGMAS * math.sqrt(2.0 / 1499) + 2.0 / 100.0
    assert abs(counts.mean() - 100.0) < SIGMAS * math.sqrt(100.0 * squared / 1500) * 1.05


def test_regularity() -> None:
    check_regularity(4.0, 0.0)


# ---- rates that change -----------------------------------------------------------------------------------------------


def mean_rate(rate: float, amplitude: float, frequency: float, phase: float, steps: Array, resolution: float) -> Array:
    """Return the mean rate in each of some steps, and 0 where it is negative."""
    if frequency == 0.0:
        return np.full(len(steps), max(0.0, rate + amplitude * math.sin(math.radians(phase))))
    angular = 2.0 * math.pi * frequency / 1000.0
    ends = np.cos(angular * resolution * np.array([steps, steps - 1]) + math.radians(phase))
    return np.asarray(np.maximum(0.0, rate + amplitude * (ends[1] - ends[0]) / (angular * resolution)))


SINES = [
    {"rate": 100.0, "amplitude": 80.0, "frequency": 25.0, "phase": 40.0},
    {"rate": 50.0, "amplitude": -150.0, "frequency": 100.0, "phase": 0.0},
    {"rate": 3000.0, "amplitude": 3000.0, "frequency": 2000.0, "phase": 90.0},
    {"rate": 100.0, "amplitude": 100.0, "frequency": 0.0, "phase": 30.0},
]


def check_sines(model: str, values: dict[str, float]) -> None:
    """Check that the number of spikes in each step of all trains is the integral of the rate."""
    size, steps = 2000, np.arange(1, 401)
    trains = steps_of(getattr(rv, model)(**values), size, 40.0)
    counts = np.bincount(np.concatenate(trains), minlength=401)[1:]
    means = size * mean_rate(**values, steps=steps, resolution=0.1) / 10000.0
    assert counts[means == 0.0].sum() == 0
    few, expected = counts.reshape(-1, 8).sum(axis=1), means.reshape(-1, 8).sum(axis=1)
    few, expected = few[expected > 5.0], expected[expected > 5.0]
    # With a shape of 1 both are Poisson processes.
    assert stats.chi2.sf(((few - expected) ** 2 / expected).sum(), len(few)) > SIGNIFICANCE


@pytest.mark.parametrize("values", SINES[:2])
@pytest.mark.parametrize("model", ["sinusoidal_poisson_generator", "sinusoidal_gamma_generator"])
def test_sines(model: str, values: dict[str, float]) -> None:
    check_sines(model, values)


def test_values_of_each_target() -> None:
    rates = np.linspace(0.0, 400.0, 500)
    phases = np.linspace(0.0, 360.0, 500)
    model = rv.sinusoidal_poisson_generator(rate=rates, amplitude=rates / 2.0, frequency=20.0, phase=phases)
    trains = steps_of(model, 500, 500.0)
    counts = np.array([len(train) for train in trains])
    assert counts[0] == 0
    assert stats.chi2.sf(((counts - rates / 2.0) ** 2 / (rates / 2.0 + 1e-9))[1:].sum(), 499) > SIGNIFICANCE
    # The mean direction of spikes on a cycle is that of the sine, a quarter of a cycle after its phase.
    for first in (200, 300, 400):
        cycles = np.concatenate(
            [(train - 0.5) / 500.0 + phases[first + i] / 360.0 for i, train in enumerate(trains[first : first + 50])]
        )
        direction = np.exp(2j * np.pi * cycles).mean()
        assert abs(direction - 0.25j) < SIGMAS / math.sqrt(len(cycles))


def check_time_rescaling(shape: float, dead_time: float) -> None:
    """Check that in the time that passes as fast as the hazard, intervals without dead times are gamma distributed."""
    resolution = 0.005
    times, rates = np.array([0.0, 20.0, 50.0, 90.0]), np.array([50.0, 200.0, 20.0, 300.0])
    model = rv.inhomogeneous_gamma_generator(times=times, rates=rates, shape=shape, dead_time=dead_time)
    trains = steps_of(model, 1500, 130.0, resolution=resolution)
    hazards = rates / 1000.0 / (1.0 - rates / 1000.0 * dead_time)
    knots = np.concatenate([[0.0], np.cumsum(hazards[:-1] * np.diff(times))])

    def passed(when: Array) -> Array:
        place = np.searchsorted(times, when, side="right") - 1
        return np.asarray(knots[place] + hazards[place] * (when - times[place]))

    rng = np.random.default_rng(1)
    found: list[float] = []
    for train in trains:
        # A spike is anywhere in its step.
        spikes = np.sort((train - rng.random(len(train))) * resolution)
        first = spikes[:1][spikes[:1] < 90.0]
        found.extend(
            float(passed(after)) - float(passed(np.minimum(before + dead_time, after)))
            for before, after in zip(first, spikes[1:2], strict=False)
        )
    # Intervals that had not ended are missing: those that would be long. Compare up to what always ends.
    ended = float(passed(np.array(130.0)) - passed(np.array(90.0 + dead_time)))
    below = np.sort(np.array(found)[np.array(found) <= ended])
    law = stats.gamma(shape, scale=1.0 / shape)
    assert len(below) > 800
    assert stats.kstest(below, lambda x: law.cdf(x) / law.cdf(ended)).pvalue > SIGNIFICANCE
    if dead_time:
        shortest = min(int(np.diff(train).min()) for train in trains if len(train) > 1)
        assert shortest * resolution > dead_time - 1.5 * resolution


@pytest.mark.parametrize(("shape", "dead_time"), [(0.5, 0.0), (6.0, 2.0)])
def test_time_rescaling(shape: float, dead_time: float) -> None:
    check_time_rescaling(shape, dead_time)


# ---- correlated trains -----------------------------------------------------------------------------------------------


def counts_of(trains: list[Array], steps: int) -> Array:
    return np.array([np.bincount(train, minlength=steps + 1)[1 : steps + 1] for train in trains])


def test_covariance_of_mip() -> None:
    """The number of spikes of all trains in a step is a sum of binomial numbers, one for each spike of the mother."""
    size, rate, p_copy, steps = 60, 400.0, 0.3, 40000
    counts = counts_of(steps_of(rv.mip_generator(rate=rate, p_copy=p_copy), size, 0.1 * steps), steps)
    mothers = rate * 1e-4
    total = counts.sum(axis=0)
    binomial = stats.binom(size, p_copy)
    moments = [mothers * float(binomial.moment(order)) for order in (1, 2, 4)]
    assert abs(total.mean() - moments[0]) < SIGMAS * math.sqrt(moments[1] / steps)
    # The variance of an estimated variance follows from the fourth cumulant of a compound Poisson number.
    deviation = math.sqrt((moments[2] + 2.0 * moments[1] ** 2) / steps)
    assert abs(total.var() - moments[1]) < SIGMAS * deviation
    # Each train is a Poisson process.
    between = np.diff(np.flatnonzero(counts[0]))
    assert p_value(between, lambda k: 1.0 - math.exp(-mothers * p_copy * k)) > SIGNIFICANCE
    # Correlations of pairs are p_copy, and those of different steps 0.
    pairs = np.corrcoef(counts)[np.triu_indices(size, 1)]
    assert abs(pairs.mean() - p_copy) < 0.03
    shifted = np.corrcoef(total[1:], total[:-1])[0, 1]
    assert abs(shifted) < SIGMAS / math.sqrt(steps)


def test_trains_of_one_mother() -> None:
    trains = steps_of(rv.mip_generator(rate=[900.0, 900.0, 300.0, 900.0], p_copy=[1.0, 1.0, 1.0, 0.5]), 4, 3000.0)
    same, again, slower, thinned = counts_of(trains, 30000)
    assert np.array_equal(same, again)
    assert (slower <= same).all()
    assert (thinned <= same).all()
    for part, share in ((slower, 1.0 / 3.0), (thinned, 0.5)):
        kept, all_spikes = part.sum(), same.sum()
        assert abs(kept - share * all_spikes) < SIGMAS * math.sqrt(all_spikes * share * (1.0 - share))
    # Which are thinned has nothing to do with their level.
    both = np.minimum(slower, thinned).sum()
    assert abs(both - slower.sum() / 2) < SIGMAS * math.sqrt(slower.sum()) / 2


def test_mothers_of_targets_are_shared_between_populations() -> None:
    net = rv.Network(seed=1)
    parrots = [net.create("parrot_neuron", 2) for _ in range(2)]
    net.stimulate(parrots, rv.mip_generator(rate=500.0, p_copy=1.0))
    recorder = net.record_spikes()
    sim = rv.Simulation(net, progress=False, threads=2)
    sim.run(100.0)
    data = sim.spikes(recorder)
    trains = [tuple(data.steps[data.ids == neuron]) for neuron in range(4)]
    assert len(trains[0]) > 20
    assert len(set(trains)) == 1


# ---- packets ---------------------------------------------------------------------------------------------------------


def test_pulse_packets() -> None:
    model = rv.pulsepacket_generator(pulse_times=[50.0, 130.05], activity=60, sdev=5.0)
    trains = steps_of(model, 100, 200.0)
    assert all(len(train) == 120 for train in trains)
    steps = np.concatenate(trains)
    first = steps[steps <= 900]
    assert len(first) == 6000
    assert p_value(first, lambda k: float(stats.norm.cdf(0.1 * k, 50.0, 5.0))) > SIGNIFICANCE
    assert p_value(steps[steps > 900], lambda k: float(stats.norm.cdf(0.1 * k, 130.05, 5.0))) > SIGNIFICANCE


def test_packets_without_jitter_and_before_the_begin() -> None:
    trains = steps_of(rv.pulsepacket_generator(pulse_times=[0.0, 7.3, 9.04], activity=300, sdev=0.0), 2, 20.0)
    for train in trains:
        assert train.tolist() == [73] * 300 + [91] * 300
    trains = steps_of(rv.pulsepacket_generator(pulse_times=[0.0], activity=1000, sdev=1.0), 4, 20.0)
    counts = np.array([len(train) for train in trains])
    assert (abs(counts - 500) < SIGMAS * math.sqrt(250.0)).all()


@pytest.mark.parametrize(
    "trains",
    [
        rv.mip_generator(rate=5e5, p_copy=0.5),
        rv.pulsepacket_generator(pulse_times=[2.0, 2.5], activity=200, sdev=1.0),
    ],
    ids=lambda trains: trains.name,
)
def test_many_spikes_in_a_step_are_added_at_once(trains: Stimulator) -> None:
    """Each second neuron has gaps on one shard and none on two, where it would have other roundings."""
    states = []
    for threads in (1, 2, 3):
        net = rv.Network(seed=1)
        cells = net.create("iaf_psc_exp", 30)
        net.stimulate(cells[::2], rv.poisson_generator(rate=5000.0), weight=0.37)
        net.stimulate(cells[::2], trains, weight=0.1)
        sim = rv.Simulation(net, threads=threads, progress=False)
        sim.run(5.0)
        states.append(sim.get(cells, "I_syn_ex").tobytes())
    assert states[0] == states[1] == states[2]
