"""A bump of activity stays where the cue was, wanders at random, and needs the structure of the connections."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from ranvier.figures.bumps import profile, trace_of
from ranvier.networks import ring_attractor


@functools.cache
def simulated(**keys: Any) -> tuple[Any, rv.SpikeData]:
    """Return a ring of 512 neurons and its spikes of 2,500 ms."""
    model = ring_attractor(neurons=512, **keys)
    sim = rv.Simulation(model.net, progress=False)
    sim.run(2500.0)
    return model, sim.spikes(model.spikes)


@pytest.mark.parametrize("cue", [90.0, 270.0])
def test_the_bump_remembers_the_cue(cue: float) -> None:
    model, spikes = simulated(cue=cue)
    ring = model.net["excitatory"]
    trace = trace_of(spikes.between(1000.0), ring)
    assert (trace.lengths > 0.6).all()
    # Its centre diffuses by some 10 degrees in a second.
    assert np.abs(trace.centres - cue).max() < 45.0
    rates, width = profile(spikes.between(1000.0), ring)
    assert 60.0 < width < 160.0
    assert 20.0 < rates.max() < 60.0
    assert rates.min() < 3.0


def test_before_the_cue_activity_is_low_everywhere() -> None:
    model, spikes = simulated(cue=90.0)
    before = spikes.between(250.0, 500.0)
    assert 1.0 < before.mean_rates("excitatory") < 5.0
    assert trace_of(before, model.net["excitatory"]).lengths[0] < 0.3


def test_without_structure_there_is_no_bump() -> None:
    model, spikes = simulated(J_plus=1.0)
    assert trace_of(spikes.between(1500.0), model.net["excitatory"]).lengths.max() < 0.3
    assert spikes.between(1500.0).mean_rates("excitatory") < 6.0


def test_weights_have_the_mean_of_the_paper() -> None:
    net = ring_attractor(neurons=64).net
    sim = rv.Simulation(net, progress=False)
    recurrent = sim.connections(projection=net.projections[0])
    weights = np.asarray(recurrent.weights).reshape(64, 64)
    assert weights.mean() == pytest.approx(0.381 * 2048 / 64, rel=2e-3)
    apart = np.abs(np.arange(64)[:, np.newaxis] - np.arange(64)) * 360.0 / 64.0
    apart = np.minimum(apart, 360.0 - apart)
    shape = np.exp(-0.5 * (apart / 18.0) ** 2)
    low = float(weights.min()) / weights.mean()
    assert weights / weights.mean() == pytest.approx(low + (1.62 - low) * shape, rel=5e-3)
    means = [float(np.asarray(sim.connections(projection=each).weights).mean()) for each in net.projections[1:]]
    assert means == pytest.approx([0.292 * 32, 1.336 * 32, 1.024 * 32])


def test_traces_and_profiles() -> None:
    net = rv.Network()
    ring = net.create("iaf_psc_exp", 36, name="ring")
    steps = np.arange(1, 401)
    # At 95 degrees in the first half of 40 ms, then at 355 and 5 degrees in turn.
    ids = ring.first_id + np.where(steps <= 200, 9, np.where(steps % 2 == 0, 35, 0))
    spikes = rv.SpikeData(steps, ids, 0.1, 0, 400, (rv.Segment("ring", ring.first_id, 36),))
    trace = trace_of(spikes, ring, window=20.0)
    assert trace.times.tolist() == [10.0, 30.0]
    assert trace.centres[0] == pytest.approx(95.0)
    assert min(trace.centres[1], 360.0 - trace.centres[1]) == pytest.approx(0.0, abs=1e-9)
    assert trace.lengths == pytest.approx([1.0, math.cos(math.radians(5.0))])
    assert trace.drift == pytest.approx([0.0, -95.0])
    rates, width = profile(spikes.between(0.0, 20.0), ring)
    assert rates.argmax() in (8, 9, 10)
    assert width == pytest.approx(30.0)
    silent = rv.SpikeData(steps[:0], ids[:0], 0.1, 0, 400, (rv.Segment("ring", ring.first_id, 36),))
    assert math.isnan(profile(silent, ring)[1])


def test_figure() -> None:
    model, spikes = simulated(cue=90.0)
    assert model.figure is not None
    figure = model.figure(spikes, "Ring")
    left, right = figure.axes
    assert left.get_legend_handles_labels()[1] == ["cue", "centre of the bump"]
    centres = np.asarray(left.lines[-1].get_ydata())
    after = trace_of(spikes, model.net["excitatory"]).centres[2:]
    assert centres[-len(after) :].tolist() == after.tolist()
    rates, _ = profile(spikes.between(750.0), model.net["excitatory"])
    assert np.asarray(right.lines[0].get_xdata()).tolist() == rates.tolist()
    silent = model.figure(spikes.between(0.0, 100.0), "Ring")
    assert silent.axes[0].get_xlim()[1] == pytest.approx(101.0)


@pytest.mark.parametrize(
    ("key", "value", "error"),
    [
        ("neurons", 16, rv.errors.ValueOutOfBoundsError),
        ("neurons", 64.0, rv.errors.WrongTypeError),
        ("J_plus", 0.9, rv.errors.ValueOutOfBoundsError),
        ("J_plus", 9.0, rv.errors.ValueOutOfBoundsError),
        ("sigma", 0.0, rv.errors.ValueOutOfBoundsError),
        ("sigma", 200.0, rv.errors.ValueOutOfBoundsError),
        ("cue", 361.0, rv.errors.ValueOutOfBoundsError),
        ("cue_current", -1.0, rv.errors.ValueOutOfBoundsError),
        ("cue_current", math.nan, rv.errors.ValueOutOfBoundsError),
    ],
)
def test_bad_values_are_refused(key: str, value: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=key):
        ring_attractor(**{key: value})
