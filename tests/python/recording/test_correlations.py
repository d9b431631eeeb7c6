"""Trains, correlations and histograms of spikes: what a count by hand gives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ranvier as rv
from ranvier import errors

SEGMENTS = (rv.Segment("a", 0, 3), rv.Segment("b", 5, 2))


def spikes_of(pairs: list[tuple[int, int]], end: int = 100) -> rv.SpikeData:
    """Return spikes as (step, neuron) in steps of 0.5 ms."""
    ordered = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)
    return rv.SpikeData(ordered[:, 0], ordered[:, 1], 0.5, 0, end, SEGMENTS)


def random_spikes(seed: int = 1, count: int = 600) -> rv.SpikeData:
    generator = np.random.default_rng(seed)
    steps = generator.integers(1, 401, count)
    return spikes_of(
        sorted(set(zip(steps.tolist(), generator.choice([0, 1, 2, 5, 6], count).tolist(), strict=True))), 400
    )


def test_trains() -> None:
    data = spikes_of([(4, 0), (2, 2), (9, 2), (3, 5)])
    assert [train.tolist() for train in data.trains("a")] == [[2.0], [], [1.0, 4.5]]
    assert [train.tolist() for train in data.trains()["b"]] == [[1.5], []]
    assert data.train(2).tolist() == [1.0, 4.5]
    assert data.train(1).tolist() == []
    assert data.trains(rv.Segment("none", 1, 0)) == []
    with pytest.raises(errors.ValueOutOfBoundsError, match="neuron 4"):
        data.train(4)
    with pytest.raises(errors.RanvierError):
        data.train(1.5)  # type: ignore[arg-type]


def test_binned_counts() -> None:
    data = spikes_of([(1, 0), (4, 0), (5, 0), (97, 2), (100, 2)], end=99)
    # Bins of four steps hold the steps 1 to 4, 5 to 8 and so on; 97 to 99 are no whole bin.
    counts = data.binned_counts("a", bin_width=2.0)
    assert counts.shape == (3, 24)
    assert counts[0, :3].tolist() == [2, 1, 0]
    assert counts.sum() == 3
    for width in (0.0, -1.0, 0.7, float("nan"), float("inf"), 1e300):
        with pytest.raises(errors.ValueOutOfBoundsError, match="bin_width"):
            data.binned_counts("a", bin_width=width)


def test_correlations_are_those_of_numpy() -> None:
    data = random_spikes()
    counts = np.concatenate([data.binned_counts("a", 5.0), data.binned_counts("b", 5.0)])
    expected = np.corrcoef(counts)
    assert data.correlations("a") == pytest.approx(expected[:3, :3])
    assert data.correlations("a", "b", bin_width=5.0) == pytest.approx(expected[:3, 3:])


def test_correlations_of_silent_neurons_and_short_windows() -> None:
    data = spikes_of([(1, 0), (50, 1)])
    found = data.correlations("a")
    assert np.isnan(found[2]).all()
    assert np.isnan(found[:, 2]).all()
    assert np.isfinite(found[:2, :2]).all()
    with pytest.raises(errors.StateError, match="fewer than two bins"):
        data.correlations("a", bin_width=40.0)


@pytest.mark.parametrize(
    ("others", "width", "reach"),
    [
        pytest.param(None, 0.5, 3.0, marks=pytest.mark.thorough),
        ("b", 0.5, 3.0),
        (None, 1.0, 4.0),
        pytest.param("b", 1.0, 4.0, marks=pytest.mark.thorough),
        pytest.param(None, 1.5, 4.5, marks=pytest.mark.thorough),
        ("b", 1.5, 4.5),
    ],
)
def test_cross_correlogram_counts_pairs(others: str | None, width: float, reach: float) -> None:
    data = random_spikes()
    found = data.cross_correlogram("a", others, reach=reach, bin_width=width)
    steps, bins = round(width / 0.5), round(reach / width)
    half = bins * steps + steps // 2
    expected = np.zeros(2 * bins + 1)
    references = 0
    spikes = list(zip(data.steps.tolist(), data.ids.tolist(), strict=True))
    for step, neuron in spikes:
        if neuron > 2 or not half < step <= 400 - half:
            continue
        references += 1
        for other_step, other in spikes:
            if (other > 2) == (others is None) or (other_step, other) == (step, neuron):
                continue
            for bin_ in range(-bins, bins + 1):
                distance = abs(other_step - step - bin_ * steps)
                expected[bin_ + bins] += 1.0 if 2 * distance < steps else 0.5 if 2 * distance == steps else 0.0
    assert found.counts.tolist() == expected.tolist()
    assert found.reference_spikes == references
    assert found.lags.tolist() == [bin_ * width for bin_ in range(-bins, bins + 1)]
    neurons = 3 if others is None else 2
    assert found.rates == pytest.approx(expected / (references * neurons * width / 1000.0))
    assert found.names == ("a", others or "a")
    assert found.mean_rate == data.mean_rates("a" if others is None else "b")


def test_cross_correlogram_of_what_it_cannot_be_of() -> None:
    data = random_spikes()
    wrong: list[dict[str, Any]] = [
        {"reach": 3.3},
        {"reach": 100.0},
        {"reach": 0.0},
        {"bin_width": 0.3},
        {"reach": 5.0, "bin_width": 2.0},
    ]
    for options in wrong:
        with pytest.raises(errors.ValueOutOfBoundsError, match=r"reach|bin_width"):
            data.cross_correlogram("a", **options)
    with pytest.raises(errors.ValueOutOfBoundsError, match="in both"):
        data.cross_correlogram("a", rv.Segment("part", 1, 2), reach=5.0)
    assert len(spikes_of([]).cross_correlogram("a", "b", reach=5.0).counts) == 11


def test_peristimulus_histogram() -> None:
    # Events at the steps 20 and 60; bins of four steps from 8 steps before to 8 steps after them.
    data = spikes_of([(12, 0), (13, 0), (20, 1), (21, 5), (28, 6), (29, 6), (61, 2), (64, 2)])
    found = data.peristimulus_histogram([10.0, 30.0], before=4.0, after=4.0, bin_width=2.0)
    assert found.edges.tolist() == [-4.0, -2.0, 0.0, 2.0, 4.0]
    assert found.counts.tolist() == [1, 1, 3, 1]
    assert (found.events, found.neurons, found.name) == (2, 5, "a + b")
    assert found.rates == pytest.approx(np.array([1, 1, 3, 1]) / (2 * 5 * 0.002))
    assert data.peristimulus_histogram(30.0, "a", before=0.0, after=4.0, bin_width=2.0).counts.tolist() == [2, 0]
    assert data.peristimulus_histogram([], before=0.0, after=4.0, bin_width=2.0).rates.tolist() == [0.0, 0.0]


def test_events_around_which_not_all_was_recorded() -> None:
    data = spikes_of([(12, 0)])
    # Numbers of steps beyond 64 bits must not become small ones.
    for event in (3.5, 46.5, -1.0, 1e18, -1e18, 1e19, 1e300, -1e308, 1.7e308, -0.0, 1e-320):
        with pytest.raises(errors.ValueOutOfBoundsError, match=r"event.*recorded"):
            data.peristimulus_histogram([10.0, event], before=4.0, after=4.0, bin_width=2.0)
    with pytest.raises(errors.ValueOutOfBoundsError, match="events"):
        data.peristimulus_histogram([float("nan")], before=4.0, after=4.0, bin_width=2.0)
    for before, after in ((0.0, 0.0), (1.0, 2.0), (-4.0, 8.0)):
        with pytest.raises(errors.ValueOutOfBoundsError, match="before"):
            data.peristimulus_histogram([10.0], before=before, after=after, bin_width=2.0)
