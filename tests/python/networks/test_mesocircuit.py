"""The sheet of cortex has the densities, the in-degrees and the profile of its publication."""

from __future__ import annotations

import functools
import math
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from ranvier.figures.sheets import sheet
from ranvier.networks import mesocircuit
from ranvier.networks._potjans_diesmann import EXTERNAL_INDEGREES, NEURONS, PROBABILITIES
from ranvier.networks.mesocircuit import _indegrees, indegree_ratio


@functools.cache
def built() -> tuple[Any, rv.Simulation]:
    """Return a small sheet with pulses and its simulation, which has run for 310 ms."""
    model = mesocircuit(scale=0.02, extent=2.0, pulses=True)
    model.net.record_spikes(model.net["TC"])
    sim = rv.Simulation(model.net, progress=False)
    sim.run(310.0)
    return model, sim


def profile_of(rule: Any) -> rv.Expression:
    """Return the mean number of synapses of a pair."""
    profile: Any = rule.mean if isinstance(rule, rv.PairwisePoisson) else rule.probability
    assert isinstance(profile, rv.Expression)
    return profile


def test_full_sheet() -> None:
    """4 x 4 mm² have 1.2 million neurons; the publication rounds the number of synapses."""
    net = mesocircuit(scale=1.0).net
    assert {each.name: len(each) for each in net.populations} == dict(
        zip([each.name for each in net.populations], (16 * NEURONS).tolist(), strict=True)
    )
    assert sum(map(len, net.populations)) == 1_234_704
    assert net.expected_synapses == pytest.approx(6.11e9, rel=0.01)
    layout = net.populations[0].layout
    assert layout is not None
    assert (layout.extent, layout.periodic, layout.unit) == ((4.0, 4.0), (True, True), "mm")
    by_name = {each.name: each for each in net.projections}
    rule: Any = by_name["L4I to L4E"].rule
    assert type(rule) is rv.PairwisePoisson, "a pair has more than one synapse where the probability would exceed 1"
    local: Any = by_name["L23E to L23E"].rule
    assert isinstance(local, rv.PairwiseBernoulli)
    assert profile_of(local).constants["decay"] == 0.232
    assert local.mask == rv.circle(2.0)


@pytest.mark.parametrize("decay", [0.1, 0.232])
@pytest.mark.parametrize("extent", [1.5, 4.0])
def test_ratio_of_indegrees_is_that_of_integrals(decay: float, extent: float) -> None:
    radii = np.linspace(0.0, 0.5 * extent, 100_001)
    inside = radii <= 1.0 / math.sqrt(math.pi)
    profile = radii * np.exp(-radii / decay)
    expected = np.trapezoid(profile, radii) / np.trapezoid(profile[inside], radii[inside])
    assert indegree_ratio(decay, extent) == pytest.approx(expected, rel=1e-3)


def test_external_input_replaces_recurrent_input() -> None:
    """The mean input at the rates of the publication is that of the microcircuit."""
    indegrees, external = _indegrees(4.0)
    disc, all_external = _indegrees(2.0 / math.sqrt(math.pi))
    assert all_external == pytest.approx(EXTERNAL_INDEGREES)
    assert (indegrees[PROBABILITIES > 0.0] > disc[PROBABILITIES > 0.0]).all()
    rates = np.array(list(built()[0].published_rates.values()))
    weights = np.tile([1.0, -4.0], (8, 4))
    weights[0, 2] = 2.0
    assert (indegrees * weights) @ rates + 8.0 * external == pytest.approx(
        (disc * weights) @ rates + 8.0 * EXTERNAL_INDEGREES
    )


def test_numbers_of_synapses() -> None:
    """Numbers are within 4.5 standard deviations of those of all pairs: one of 60 is not in 1 of 2,500 tests."""
    model, sim = built()
    indegrees, _ = _indegrees(2.0)
    names = list(model.published_rates)
    expected = {
        (i, j): 0.02 * indegrees[names.index(i), names.index(j)] * len(model.net[i]) for i in names for j in names
    }
    recurrent = [each for each in model.net.projections if each.sources.name in names]
    found = {(each.targets.name, each.sources.name): sim.count_connections(projection=each) for each in recurrent}
    assert sorted(found) == sorted(pair for pair, number in expected.items() if number > 0.0)
    assert sum(found.values()) == pytest.approx(sum(expected.values()), rel=0.02)
    for projection in recurrent:
        apart = projection.targets.positions[:, np.newaxis] - projection.sources.positions
        distances = np.linalg.norm(apart - 2.0 * np.rint(apart / 2.0), axis=2)
        mean = np.where(distances <= 1.0, profile_of(projection.rule).at_distances(distances), 0.0).sum()
        assert abs(found[projection.targets.name, projection.sources.name] - mean) < 4.5 * math.sqrt(mean + 1.0)


def test_profile_weights_and_delays() -> None:
    model, sim = built()
    recurrent = next(each for each in model.net.projections if each.name == "L4E to L4E")
    fit = sim.distance_histogram(recurrent).fit("exponential")
    assert fit.parameters["decay"] == pytest.approx(0.232, abs=4.5 * fit.errors["decay"])
    assert fit.parameters["p"] == pytest.approx(profile_of(recurrent.rule).constants["p"], abs=4.5 * fit.errors["p"])
    synapses = sim.connections(projection=recurrent)
    places = recurrent.sources.positions
    first = recurrent.sources.first_id
    apart = places[np.asarray(synapses.targets) - first] - places[np.asarray(synapses.sources) - first]
    distances = np.linalg.norm(apart - 2.0 * np.rint(apart / 2.0), axis=1)
    assert distances.max() <= 1.0
    for chosen in (distances < 0.1, distances > 0.5):
        # Without the part of the normal distribution below half a step, the mean is up to 1.06 times as great.
        mean = 0.5 + distances[chosen].mean() / 0.3
        assert 0.97 * mean < np.asarray(synapses.delays)[chosen].mean() < 1.12 * mean
    weights = np.asarray(synapses.weights)
    assert weights.std() / weights.mean() == pytest.approx(0.1, rel=0.1)


def test_pulses_begin_in_the_middle() -> None:
    model, sim = built()
    thalamus, excitatory = model.net["TC"], model.net["L4E"]
    spikes = sim.spikes(model.net.recorders[-1])
    distances = np.hypot(*thalamus.positions.T)
    assert sorted(spikes.ids.tolist()) == thalamus.ids[distances <= 0.3].tolist()
    assert spikes.times.tolist() == pytest.approx([301.0] * len(spikes))
    # Neurons of layer 4 under the pulse fire more in the next milliseconds than those elsewhere.
    after = sim.spikes(model.spikes).between(302.0, 310.0)
    near = np.hypot(*excitatory.positions.T) <= 0.3
    rates = after.rates(excitatory)
    assert rates[near].mean() > 3.0 * rates[~near].mean()


@pytest.mark.thorough
@pytest.mark.parametrize("threads", [2, 3])
def test_same_spikes_for_any_number_of_threads(threads: int) -> None:
    model, sim = built()
    other = rv.Simulation(model.net, threads=threads, progress=False)
    other.run(310.0)
    assert other.spikes(model.spikes).digest() == sim.spikes(model.spikes).digest()


@pytest.mark.parametrize("events", [[], [300.0, 400.0], [1000.0]])
def test_figure(events: list[float]) -> None:
    model, _ = built()
    assert model.figure is not None
    assert (model.figure.shown, model.figure.pulses) == (model.net["L4E"], True)
    neurons = model.net["L4E"]
    steps = np.arange(2001, 6001, 4)
    ids = neurons.first_id + np.arange(len(steps)) % len(neurons)
    segments = tuple(rv.Segment(each.name, each.first_id, len(each)) for each in model.net.populations[:8])
    spikes = rv.SpikeData(steps, ids, 0.1, 2000, 6000, segments)
    figure = sheet(spikes, neurons, events=events, title="Sheet")
    maps, rates = figure.axes[:5], figure.axes[-1]
    titles = [axes.get_title(loc="left") for axes in maps]
    after = len(events) == 2
    assert titles[0] == ("3 to 6 ms after pulses" if after else "200 to 205 ms")
    assert titles[-1] == ("15 to 18 ms after pulses" if after else "595 to 600 ms")
    # One spike in 0.4 ms; pixels have different numbers of neurons, so that the mean of the map is not exact.
    for axes in maps:
        array: Any = axes.images[0].get_array()
        image = np.ma.filled(array, np.nan)
        assert np.nanmean(image) == pytest.approx(2500.0 / len(neurons), rel=0.6)
    assert rates.get_legend_handles_labels()[1] == ["excitatory", "inhibitory"]
    size = sum(len(each) for each in model.net.populations[:8] if each.name.endswith("E"))
    steps_of_rate: Any = rates.patches[0]
    values = np.asarray(steps_of_rate.get_data().values)
    assert values.mean() == pytest.approx(2500.0 / size, rel=0.02)
    short = sheet(spikes.between(200.0, 202.0), neurons, events=events, title="")
    assert short.axes[0].get_title(loc="left") == "200 to 202 ms"


@pytest.mark.parametrize(
    ("key", "value", "error"),
    [
        ("scale", 0.0, rv.errors.ValueOutOfBoundsError),
        ("scale", math.inf, rv.errors.ValueOutOfBoundsError),
        ("k_scaling", -1.0, rv.errors.ValueOutOfBoundsError),
        ("n_scaling", "full", rv.errors.WrongTypeError),
        ("extent", 0.1, rv.errors.ValueOutOfBoundsError),
        ("extent", math.nan, rv.errors.ValueOutOfBoundsError),
        ("pulses", 1, rv.errors.WrongTypeError),
        ("drive", "ac", rv.errors.UnknownNameError),
    ],
)
def test_bad_values_are_refused(key: str, value: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=key):
        mesocircuit(**{key: value})


def test_pulses_need_thalamic_neurons() -> None:
    with pytest.raises(rv.errors.ValueOutOfBoundsError, match=r"0\.3 mm.*raise scale"):
        mesocircuit(scale=1e-4, extent=0.8, pulses=True)
