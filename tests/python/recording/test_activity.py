"""Activity of populations: rates over time, Fano factors, spectra and pairs, against formulas and plain loops."""

from __future__ import annotations

import math
from dataclasses import replace

import matplotlib.figure
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.patches import StepPatch

import ranvier as rv
from ranvier import errors
from ranvier.recording.neuron_ids import NeuronIds

STEP = 0.5  # ms


def data_of(pairs: list[tuple[int, int]], steps: int = 100, neurons: int = 3, resolution: float = STEP) -> rv.SpikeData:
    """Return data with these (step, neuron), of a population and another one with two neurons."""
    ordered = np.array(sorted(pairs), dtype=np.int64).reshape(-1, 2)
    segments = rv.Segment("a", 0, neurons), rv.Segment("b", neurons + 2, 2)
    return rv.SpikeData(ordered[:, 0], ordered[:, 1], resolution, 0, steps, segments)


def poisson(rate: float, neurons: int, seconds: float, seed: int = 1) -> rv.SpikeData:
    """Return independent trains with at most a spike in a step of 0.1 ms."""
    rng = np.random.default_rng(seed)
    steps = round(seconds * 10_000)
    spikes = [np.flatnonzero(rng.random(steps) < rate * 1e-4) + 1 for _ in range(neurons)]
    pairs = [(int(step), neuron) for neuron, train in enumerate(spikes) for step in train]
    return data_of(pairs, steps, neurons, 0.1)


SPIKES = st.lists(st.tuples(st.integers(1, 100), st.sampled_from([0, 1, 2, 5, 6])), unique=True)


@given(SPIKES, st.integers(1, 100), st.integers(0, 40))
def test_rate_is_that_of_a_plain_loop(pairs: list[tuple[int, int]], width: int, begin: int) -> None:
    data = data_of(pairs).between(begin * STEP)
    if width > data.end - begin:
        with pytest.raises(errors.StateError, match="fewer than 1 bins"):
            data.rate("a", bin=width * STEP)
        return
    found = data.rate(bin=width * STEP)
    for name, ids in (("a", (0, 1, 2)), ("b", (5, 6))):
        expected = [
            sum(first < step <= first + width and neuron in ids for step, neuron in pairs)
            / (len(ids) * width * STEP / 1e3)
            for first in range(begin, 101 - width, width)
        ]
        assert found[name].rates == pytest.approx(expected)
        assert found[name].edges.tolist() == [(begin + i * width) * STEP for i in range(len(expected) + 1)]
        assert (found[name].times == (np.arange(len(expected)) + 0.5) * width * STEP + begin * STEP).all()
        assert (found[name].neurons, len(found[name]), found[name].name) == (len(ids), len(expected), name)


@given(SPIKES, st.floats(0.01, 200.0))
def test_smoothing_is_a_normalized_gaussian(pairs: list[tuple[int, int]], smooth: float) -> None:
    data = data_of(pairs)
    plain, found = data.rate("a", bin=1.0), data.rate("a", bin=1.0, smooth=smooth)
    weights = np.array(
        [
            [
                math.erf((j - i + 0.5) / (smooth * math.sqrt(2.0)))
                - math.erf((j - i - 0.5) / (smooth * math.sqrt(2.0)))
                if abs(j - i) <= math.ceil(4.0 * smooth)
                else 0.0
                for j in range(50)
            ]
            for i in range(50)
        ]
    )
    np.testing.assert_allclose(found.rates, weights @ plain.rates / weights.sum(axis=1), rtol=1e-9, atol=1e-9)
    assert (found.rates >= 0.0).all()
    assert found.smooth == smooth


def test_a_constant_rate_stays_constant_when_smoothed() -> None:
    data = data_of([(step, neuron) for step in range(1, 2001) for neuron in (0, 1, 2)], 2000)
    for smooth in (0.1, 3.0, 40.0, 1e4):
        assert data.rate("a", smooth=smooth).rates == pytest.approx(2000.0)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("smooth", [5e-324, 1e-320, 1e-300, 1e-9])
def test_a_gaussian_that_is_much_narrower_than_a_bin_changes_nothing(smooth: float) -> None:
    data = poisson(20.0, 3, 1.0)
    assert data.rate("a", bin=1.0, smooth=smooth).rates.tolist() == data.rate("a", bin=1.0).rates.tolist()


def test_fano_factors_and_spectra_of_poisson_trains() -> None:
    """Fano factor 1, and a flat spectrum at the rate; bounds of five standard errors."""
    data = poisson(20.0, 200, 20.0)
    factors = data.fano_factor("a", bin_width=100.0)
    # Of the estimate for n bins with the mean m: 2/(n-1) + 1/(n m), divided by the number of neurons.
    assert factors.mean() == pytest.approx(1.0, abs=5 * math.sqrt((2 / 199 + 1 / 400) / 200) + 20e-4)
    spectrum = data.spectrum("a", segment=500.0)
    assert spectrum.frequencies[[0, -1]].tolist() == [2.0, 500.0]
    assert spectrum.mean_rate == pytest.approx(20.0, abs=5 * math.sqrt(20.0 / 4000.0))
    assert spectrum.segments == 79
    # Segments overlap by half: as exact as 0.95 of their number without overlap (Welch 1967).
    error = 20.0 / math.sqrt(40.0)
    assert spectrum.powers.mean() == pytest.approx(20.0, abs=5 * error / math.sqrt(250.0))
    assert np.abs(spectrum.powers - 20.0).max() < 6 * error
    pairs = data.pairwise_correlations("a")
    assert pairs.shape == (200 * 199 // 2,)
    assert abs(pairs.mean()) < 5 / math.sqrt(4000 * len(pairs))


def test_rhythms_have_a_peak() -> None:
    steps = np.arange(1, 20_001)
    rng = np.random.default_rng(3)
    rates = 30.0 * (1 + np.cos(2 * np.pi * 40.0 * steps * 1e-4))
    pairs = [(int(step), i) for i in range(50) for step in steps[rng.random(20_000) < rates * 1e-4]]
    spectrum = data_of(pairs, 20_000, 50, 0.1).spectrum("a")
    assert spectrum.peak == 40.0
    assert spectrum.powers.max() > 5.0 * spectrum.mean_rate


def test_spectrum_of_one_segment_is_a_plain_fourier_sum() -> None:
    rng = np.random.default_rng(1)
    data = data_of(
        list({(int(a), int(b)) for a, b in zip(rng.integers(1, 101, 60), rng.integers(0, 3, 60), strict=True)})
    )
    found = data.spectrum("a", bin_width=1.0, segment=50.0)
    counts = np.histogram(data.of("a").steps - 0.5, bins=np.arange(0, 101, 2))[0]
    window = 0.5 - 0.5 * np.cos(2 * np.pi * np.arange(50) / 50)
    for power, frequency in zip(found.powers, found.frequencies, strict=True):
        wave = np.exp(-2j * np.pi * frequency * np.arange(50) / 1000.0)
        expected = abs((window * (counts - counts.mean()) * wave).sum()) ** 2 / (3 * 0.001 * (window**2).sum())
        assert power == pytest.approx(expected)
    assert found.segments == 1


@given(SPIKES, st.integers(1, 50))
def test_fano_factor_is_that_of_a_plain_loop(pairs: list[tuple[int, int]], width: int) -> None:
    found = data_of(pairs).fano_factor(bin_width=width * STEP)
    for name, ids in (("a", (0, 1, 2)), ("b", (5, 6))):
        for factor, neuron in zip(found[name], ids, strict=True):
            counts = np.zeros(100 // width)
            for step, of in pairs:
                if of == neuron and (step - 1) // width < len(counts):
                    counts[(step - 1) // width] += 1
            expected = counts.var(ddof=1) / counts.mean() if counts.any() else math.nan
            assert factor == pytest.approx(expected, nan_ok=True)


def test_pairs_are_the_upper_triangle() -> None:
    data = poisson(50.0, 5, 2.0)
    matrix = data.correlations("a", bin_width=10.0)
    pairs = data.pairwise_correlations("a", bin_width=10.0)
    assert pairs.tolist() == [matrix[i, j] for i in range(5) for j in range(i + 1, 5)]


def test_neurons_of_other_processes_do_not_count() -> None:
    whole = data_of([(10, 0), (20, 2), (30, 2)])
    part = replace(whole, covered=NeuronIds([0, 2]))
    assert part.rate("a", bin=50.0).rates.tolist() == pytest.approx([3 / 2 / 0.05])
    assert set(part.rate()) == {"a"}


def test_silent_populations() -> None:
    data = data_of([])
    assert data.rate("a", smooth=2.0).rates.tolist() == [0.0] * 10
    assert np.isnan(data.fano_factor("a", bin_width=10.0)).all()
    spectrum = data.spectrum("a", segment=50.0)
    assert not spectrum.powers.any()
    assert math.isnan(spectrum.peak)
    assert "peak at nan Hz" in repr(spectrum)


def test_wrong_arguments() -> None:
    data = data_of([(1, 0)])
    for bad in (0.0, -1.0, 0.3, math.nan, math.inf):
        with pytest.raises(errors.ValueOutOfBoundsError, match="bin"):
            data.rate("a", bin=bad)
        with pytest.raises(errors.ValueOutOfBoundsError, match="bin_width"):
            data.fano_factor("a", bin_width=bad)
    for bad in (0.0, -1.0, math.nan, math.inf):
        with pytest.raises(errors.ValueOutOfBoundsError, match="smooth"):
            data.rate("a", smooth=bad)
    for bad in (1.5, 3.0, 0.0, math.nan):
        with pytest.raises(errors.ValueOutOfBoundsError, match="segment"):
            data.spectrum("a", segment=bad)
    with pytest.raises(errors.StateError, match="fewer than 500 bins"):
        data.spectrum("a")
    with pytest.raises(errors.StateError, match="fewer than 2 bins"):
        data.fano_factor("a")
    with pytest.raises(errors.UnknownNameError):
        data.rate("c")


# ---- figure ----------------------------------------------------------------------------------------------------------


def test_figure_shows_the_rates_of_all_populations() -> None:
    data = data_of([(step, step % 3) for step in range(1, 101, 2)] + [(50, 5)])
    figure = rv.plot.rate(data, bin=5.0)
    (axes,) = figure.axes
    assert [text.get_text() for text in axes.get_legend().get_texts()] == ["a", "b"]  # type: ignore[union-attr]
    for patch, name in zip(axes.patches, "ab", strict=True):
        assert isinstance(patch, StepPatch)
        values, edges, _ = patch.get_data()
        assert values.tolist() == data.rate(name, bin=5.0).rates.tolist()
        assert edges.tolist() == data.rate(name, bin=5.0).edges.tolist()
    assert "bins of 5 ms" in axes.get_title(loc="left")


def test_figure_of_smoothed_rates_in_a_window() -> None:
    data = data_of([(step, step % 3) for step in range(1, 101, 2)])
    axes = matplotlib.figure.Figure().add_subplot()
    assert rv.plot.rate(data, bin=1.0, smooth=4.0, start=10.0, stop=30.0, ax=axes, title="mine") is axes
    whole = data.rate("a", bin=1.0, smooth=4.0)
    assert axes.lines[0].get_xdata().tolist() == whole.times[10:30].tolist()  # type: ignore[union-attr]
    assert axes.lines[0].get_ydata().tolist() == whole.rates[10:30].tolist()  # type: ignore[union-attr]
    assert axes.get_title(loc="left") == "mine"
    with pytest.raises(errors.ValueOutOfBoundsError):
        rv.plot.rate(data, bin=0.3)
    with pytest.raises(errors.StateError):
        rv.plot.rate(data, start=60.0)
    with pytest.raises(errors.WrongTypeError):
        rv.plot.rate(data.rate("a"))  # type: ignore[call-overload]
