"""Receptive fields of a topographic map have the places and the widths that theory says."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import ranvier as rv
from ranvier.figures.topography import aligned_mean, centres_of, receptive_fields, width_of
from ranvier.networks import topographic_map
from ranvier.networks.topographic_map import stimuli

FloatArray = npt.NDArray[np.float64]


@functools.cache
def simulated(side: int = 16, indegree: int = 16) -> tuple[Any, rv.Simulation, FloatArray]:
    """Return a map, its simulation, and its receptive fields from 8 s."""
    model = topographic_map(side=side, indegree=indegree, duration=8000.0)
    sim = rv.Simulation(model.net, progress=False)
    sim.run(model.time)
    net = model.net
    return model, sim, receptive_fields(sim.spikes(model.spikes), net["retina"], net["tectum"], side, 20.0)


def deviations(centres: FloatArray, side: int) -> FloatArray:
    ideal = np.stack(np.divmod(np.arange(side**2), side), axis=1)
    apart = (centres - ideal + 0.5 * side) % side - 0.5 * side
    distances: FloatArray = np.hypot(*apart.T)
    return distances


def synapses(sim: rv.Simulation, side: int) -> FloatArray:
    """Return the number of synapses of each target from each source, shape (targets, side, side)."""
    projection = sim.network.projections[-1]
    found = sim.connections(projection=projection)
    numbers = np.zeros((side**2, side**2))
    np.add.at(
        numbers,
        (found.targets - projection.targets.first_id, found.sources - projection.sources.first_id),
        1.0,
    )
    return numbers.reshape(-1, side, side)


def test_sources_fire_around_the_stimulus() -> None:
    model, sim, _ = simulated()
    spikes = sim.spikes(model.spikes)
    assert spikes.mean_rates("retina") == pytest.approx(20.0, rel=0.02)
    counts = spikes.binned_counts("retina", 20.0).reshape(16, 16, -1)
    places = stimuli(16, 400, 1)
    aligned = np.mean(
        [np.roll(counts[:, :, e], (8 - p // 16, 8 - p % 16), axis=(0, 1)) for e, p in enumerate(places)], axis=0
    )
    # Spikes per 20 ms; 400 stimuli have some 1,200 spikes at the middle.
    assert aligned[8, 8] == pytest.approx(0.02 * 157.8, rel=0.1)
    assert aligned[8, 10] == pytest.approx(0.02 * (5.0 + 152.8 * math.exp(-0.5)), rel=0.1)
    assert aligned[0, 0] == pytest.approx(0.1, rel=0.5)


def test_synapses_have_the_profile() -> None:
    _, sim, _ = simulated()
    numbers = synapses(sim, 16)
    assert (numbers.sum(axis=(1, 2)) == 16.0).all()
    assert width_of(aligned_mean(numbers)) == pytest.approx(2.5, rel=0.06)


def test_centres_deviate_as_random_synapses_do() -> None:
    model, sim, fields = simulated()
    expected = model.figure.widths()[1]
    generator = np.random.default_rng(1)
    angles = generator.normal(0.0, 2.5 * 2.0 * math.pi / 16.0, (20_000, 16, 2))
    drawn = np.angle(np.exp(1j * angles).mean(axis=1)) * 16.0 / (2.0 * math.pi)
    assert expected == pytest.approx(np.hypot(*drawn.T).mean(), rel=0.02)
    # On a plane, the mean of 16 normal numbers.
    assert expected > 2.5 * math.sqrt(math.pi / 2.0) / 4.0
    from_synapses = deviations(centres_of(synapses(sim, 16)), 16)
    # The standard error of 256 distances is 3.3 %.
    assert from_synapses.mean() == pytest.approx(expected, rel=0.15)
    measured = deviations(centres_of(fields), 16)
    assert measured.mean() == pytest.approx(expected, rel=0.25)
    # They are the centres of the same synapses.
    apart = (centres_of(fields) - centres_of(synapses(sim, 16)) + 8.0) % 16.0 - 8.0
    assert np.hypot(*apart.T).mean() < 0.5 * measured.mean()


def test_more_synapses_make_a_better_map() -> None:
    _, sim, fields = simulated(indegree=64)
    assert deviations(centres_of(synapses(sim, 16)), 16).mean() < 0.55
    assert deviations(centres_of(fields), 16).mean() < 0.65


def test_receptive_fields_have_the_width_of_linear_theory() -> None:
    model, _, fields = simulated()
    expected = model.figure.widths()[0]
    assert expected == pytest.approx(math.sqrt(2.5**2 + 8.0))
    # The threshold makes them narrower: 0.92 times as wide with 20 s.
    assert 0.8 * expected < width_of(aligned_mean(fields)) < 1.02 * expected


def test_measures_of_known_fields() -> None:
    axis = np.arange(16)
    field = np.zeros((16, 16))
    for x, y in np.ndindex(3, 3):
        field += np.exp(-0.5 * ((axis[:, None] - 15.3 - 16 * (x - 1)) ** 2 + (axis - 4.0 - 16 * (y - 1)) ** 2) / 2.2**2)
    assert centres_of(field[np.newaxis]) == pytest.approx(np.array([[15.3, 4.0]]))
    assert width_of(3.0 * field - 0.7) == pytest.approx(2.2, rel=1e-3)
    assert np.isnan(centres_of(np.zeros((1, 16, 16)))).all()
    assert math.isnan(width_of(np.zeros((16, 16))))


def test_figure() -> None:
    model, _, fields = simulated()
    spikes = simulated()[1].spikes(model.spikes)
    figure = model.figure(spikes, "Map")
    left, middle, right = figure.axes
    points = np.asarray(left.lines[0].get_xydata())
    assert points % 16.0 == pytest.approx(centres_of(fields))
    assert "linear theory, width 3.77 mm" in middle.get_legend_handles_labels()[1]
    measured = deviations(centres_of(fields), 16)
    assert right.get_title(loc="left") == f"deviations, mean {measured.mean():.2f} mm"
    silent = model.figure(spikes.between(0.0, 20.0), "Map")
    assert len(silent.axes) == 3


def test_the_seed_draws_stimuli_and_synapses() -> None:
    assert stimuli(16, 9, 1).tolist() == stimuli(16, 9, 1).tolist() != stimuli(16, 9, 2).tolist()
    sims = [rv.Simulation(topographic_map(seed=seed, duration=20.0).net, progress=False) for seed in (1, 2)]
    assert (synapses(sims[0], 16) != synapses(sims[1], 16)).any()


@pytest.mark.parametrize(
    ("key", "value", "error"),
    [
        ("side", 3, rv.errors.ValueOutOfBoundsError),
        ("side", 16.0, rv.errors.WrongTypeError),
        ("indegree", 0, rv.errors.ValueOutOfBoundsError),
        ("indegree", 16.0, rv.errors.WrongTypeError),
        ("sigma", 0.0, rv.errors.ValueOutOfBoundsError),
        ("sigma", 5.0, rv.errors.ValueOutOfBoundsError),
        ("duration", 30.0, rv.errors.ValueOutOfBoundsError),
        ("duration", math.nan, rv.errors.ValueOutOfBoundsError),
        ("resolution", 0.3, rv.errors.GridError),
    ],
)
def test_bad_values_are_refused(key: str, value: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=key):
        topographic_map(**{key: value})
