"""Inhibitory plasticity takes the rates of the network of Vogels et al. (2011) to the target."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from ranvier.figures.settling import rates_over_time
from ranvier.networks import vogels


@functools.cache
def learned(target_rate: float) -> tuple[rv.SpikeData, Any]:
    """Return the spikes of three seconds, and the weights that have been learned."""
    model = vogels(neurons=600, target_rate=target_rate, learning_rate=0.2)
    sim = rv.Simulation(model.net, progress=False)
    sim.run(3000.0)
    return sim.spikes(model.spikes), sim.connections(projection=model.net.projections[-1]).weights


@pytest.mark.parametrize("target_rate", [8.0, 15.0])
def test_rates_settle_at_the_target(target_rate: float) -> None:
    spikes, _ = learned(target_rate)
    assert spikes.between(0.0, 50.0).mean_rates()["excitatory"] > 4.0 * target_rate, "they begin far from it"
    # In the last two of twelve seconds, networks of 1,000 neurons had 1.02 to 1.06 times the target.
    assert spikes.between(1500.0).mean_rates()["excitatory"] == pytest.approx(target_rate, rel=0.3)


def test_the_end_is_irregular() -> None:
    spikes, _ = learned(8.0)
    # 0.56 to 0.8 in networks of 1,000 and 2,000 neurons.
    assert np.nanmean(spikes.between(1500.0).irregularity("excitatory")) > 0.4


def test_weights_grow_where_less_is_wanted() -> None:
    means = []
    for target_rate in (8.0, 15.0):
        weights = learned(target_rate)[1]
        assert -100.0 <= weights.min() < weights.max() <= 0.0
        means.append(weights.mean())
    assert -5.0 < means[0] < means[1] < -1.0


def test_without_learning_nothing_settles() -> None:
    model = vogels(neurons=300, learning_rate=0.0)
    sim = rv.Simulation(model.net, progress=False)
    sim.run(300.0)
    assert sim.spikes(model.spikes).between(100.0).mean_rates()["excitatory"] > 40.0
    assert (sim.connections(projection=model.net.projections[-1]).weights == 0.0).all()


def test_network_of_the_paper() -> None:
    net = vogels().net
    assert {each.name: len(each) for each in net.populations} == {"excitatory": 8000, "inhibitory": 2000}
    assert net.expected_synapses == pytest.approx(0.02 * 10_000 * 9_999)
    assert [each.weight for each in net.projections] == [0.3, 0.3, -3.0, 0.0]
    learning: Any = vogels(target_rate=5.0, learning_rate=0.02).net.projections[-1].synapse
    # Twice 20 ms, the default of tau, times 5 spikes/s.
    assert learning.values == {"learning_rate": 0.02, "alpha": pytest.approx(0.2)}
    small = vogels(neurons=500, target_rate=10.0, delay=1.5, resolution=0.5, seed=3).net
    assert small.expected_synapses / 500 == pytest.approx(200.0, rel=0.01)
    assert (small.resolution, small.seed, {each.delay for each in small.projections}) == (0.5, 3, {1.5})


def test_rates_over_time() -> None:
    spikes, _ = learned(8.0)
    edges, rates = rates_over_time(spikes)
    assert edges == pytest.approx(np.linspace(0.0, 3000.0, 101))
    for name, values in rates.items():
        assert values.mean() == pytest.approx(spikes.mean_rates()[name])
        assert values[7] == pytest.approx(spikes.between(edges[7], edges[8]).mean_rates()[name])


def test_figure() -> None:
    model = vogels(target_rate=8.0)
    assert model.figure is not None
    figure = model.figure(learned(8.0)[0], "Learning")
    left, right = figure.axes
    assert left.get_legend_handles_labels()[1] == ["excitatory", "inhibitory", "target"]
    assert left.lines[0].get_ydata() == [8.0, 8.0]
    assert right.get_xlim() == pytest.approx((2700.0, 3000.0), abs=5.0)


@pytest.mark.parametrize(
    ("key", "value", "error"),
    [
        ("neurons", 4, rv.errors.ValueOutOfBoundsError),
        ("target_rate", 0.0, rv.errors.ValueOutOfBoundsError),
        ("target_rate", "low", rv.errors.WrongTypeError),
        ("learning_rate", -0.1, rv.errors.ValueOutOfBoundsError),
        ("learning_rate", math.inf, rv.errors.ValueOutOfBoundsError),
        ("delay", 0.0, rv.errors.DelayError),
    ],
)
def test_bad_values_are_refused(key: str, value: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=key):
        vogels(**{key: value})
