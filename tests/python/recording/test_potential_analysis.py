"""Current source density and averages around spikes, of potentials from formulas."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import matplotlib.image
import numpy as np
import numpy.typing as npt
import pytest

import ranvier as rv
from electrodes import cell

FloatArray = npt.NDArray[np.float64]
H, SIGMA = 50.0, 0.4
DEPTHS: FloatArray = -H * np.arange(12, dtype=np.float64)


def data_of(potentials: FloatArray, contacts: FloatArray | None = None, step: int = 2) -> rv.ExtracellularData:
    """Return data of potentials, mV, shape (samples, contacts): by default at a vertical line of contacts."""
    samples, count = potentials.shape
    if contacts is None:
        contacts = np.stack([np.full(count, 20.0), np.zeros(count), DEPTHS[:count]], axis=1)
    steps = step * np.arange(1, samples + 1)
    return rv.ExtracellularData(
        steps, np.arange(count), ("V_e",), potentials[:, np.newaxis, :], 0.05, "cells", contacts, SIGMA
    )


def disc_potential(distance: float, radius: float) -> float:
    """Return the potential (V) on the axis of a disc with 1 A/m^2, by rings in m, at a distance in um."""
    edges = np.linspace(0.0, radius * 1e-6, 200_001)
    middle = 0.5 * (edges[1:] + edges[:-1])
    rings = 2.0 * math.pi * middle * np.diff(edges) / np.hypot(middle, distance * 1e-6)
    return float(rings.sum()) / (4.0 * math.pi * SIGMA)


def test_the_second_derivative_of_a_parabola_is_constant() -> None:
    # a z^2 has -2 a sigma; mV/um^2 S/m is 1e6 uA/mm^3.
    a = np.array([[2e-6], [-1e-6]])
    data = data_of(a * DEPTHS**2)
    inner = data.current_source_density(vaknin=False)
    np.testing.assert_allclose(inner.values, np.broadcast_to(-2e6 * SIGMA * a, (2, 10)), rtol=1e-9)
    np.testing.assert_array_equal(inner.contacts, data.contacts[1:-1])
    np.testing.assert_allclose(inner.times, [0.1, 0.2])
    whole = data.current_source_density()
    assert whole.values.shape == (2, 12)
    np.testing.assert_allclose(whole.values[:, 1:-1], inner.values, rtol=1e-9)
    # The potential beyond the end is that of the end.
    np.testing.assert_allclose(whole.values[:, 0], 1e6 * SIGMA / H**2 * a[:, 0] * (0.0 - DEPTHS[1] ** 2))
    other = data.current_source_density(sigma=2.0 * SIGMA)
    np.testing.assert_allclose(other.values, 2.0 * whole.values)


def test_the_inverse_method_finds_the_sources_of_discs() -> None:
    rng = np.random.default_rng(1)
    density = rng.normal(size=(3, 6))
    # uA/mm^3 in layers as thick as the distance of contacts: 1e3 A/m^3 times m.
    sheets = 1e3 * density * H * 1e-6
    apart = np.abs(DEPTHS[:6, np.newaxis] - DEPTHS[:6])
    unit = {distance: disc_potential(distance, 150.0) for distance in np.unique(apart)}
    potentials = 1e3 * sheets @ np.array([[unit[each] for each in row] for row in apart])
    found = data_of(potentials).current_source_density("delta", diameter=300.0)
    np.testing.assert_allclose(found.values, density, rtol=1e-3)


def test_both_methods_agree_on_wide_sources() -> None:
    profile = np.exp(-(((DEPTHS + 275.0) / 90.0) ** 2)) * (DEPTHS + 275.0)
    apart = np.abs(DEPTHS[:, np.newaxis] - DEPTHS)
    # Of infinite sheets: -|z| / (2 sigma).
    data = data_of((-apart @ profile)[np.newaxis] * 1e-6)
    standard = data.current_source_density().values[0]
    delta = data.current_source_density("delta", diameter=1e6).values[0]
    np.testing.assert_allclose(delta[2:-2], standard[2:-2], rtol=1e-2, atol=1e-2 * np.abs(standard).max())


def test_lines_in_any_direction() -> None:
    along = np.array([0.6, 0.0, 0.8])
    a = 3e-6 * DEPTHS**2
    slanted = data_of(a[np.newaxis], np.asarray(DEPTHS[:, np.newaxis] * along + 7.0))
    np.testing.assert_allclose(
        slanted.current_source_density().values, data_of(a[np.newaxis]).current_source_density().values, rtol=1e-9
    )


@pytest.mark.parametrize(
    ("contacts", "keys", "match"),
    [
        ([[0.0, 0.0, z] for z in (0.0, 1.0, 3.0, 4.0)], {}, "equal distances"),
        ([[0.0, 0.0, z] for z in (0.0, 2.0, 1.0, 3.0)], {}, "one after the other"),
        ([[0.0, x, z] for x, z in ((0.0, 0.0), (1.0, 1.0), (0.0, 2.0), (1.0, 3.0))], {}, "on a line"),
        ([[0.0, 0.0, 0.0]] * 4, {}, "on a line"),
        (None, {"sigma": 0.0}, "sigma"),
        (None, {"diameter": 100.0}, "'standard' has none"),
        (None, {"method": "delta", "vaknin": True}, "no such option"),
        (None, {"method": "delta", "diameter": 0.0}, "diameter"),
        (None, {"method": "delta", "diameter": 1e12}, "so much wider"),
    ],
)
def test_bad_lines_and_options(contacts: list[list[float]] | None, keys: dict[str, Any], match: str) -> None:
    data = data_of(np.zeros((2, 4)), None if contacts is None else np.array(contacts))
    with pytest.raises(rv.errors.ValueOutOfBoundsError, match=match):
        data.current_source_density(**keys)


def test_few_contacts() -> None:
    for count, method in ((2, "standard"), (1, "delta")):
        with pytest.raises(rv.errors.ShapeError, match="at least"):
            data_of(np.zeros((2, count))).current_source_density(method)  # type: ignore[arg-type]


def spikes_at(times: list[float], ids: list[int]) -> rv.SpikeData:
    segment = rv.Segment("cells", 0, 3)
    steps = np.array([round(time / 0.05) for time in times])
    return rv.SpikeData(steps, np.array(ids), 0.05, 0, 1000, (segment,))


def test_averages_around_spikes() -> None:
    # Samples at 0.1, 0.2, ... 10 ms, that are the square of the time.
    times = 0.1 * np.arange(1, 101)
    data = data_of(np.stack([times**2, -times], axis=1))
    spikes = spikes_at([0.1, 2.0, 4.0, 4.0, 9.9], [0, 1, 0, 2, 1])
    found = data.spike_triggered_average(spikes, before=0.3, after=0.5)
    assert (found.count, found.skipped) == (3, 2)
    np.testing.assert_allclose(found.times, 0.1 * np.arange(-3, 6), atol=1e-12)
    lags = found.times[:, np.newaxis]
    wanted = np.mean((np.array([2.0, 4.0, 4.0]) + lags) ** 2, axis=1)
    np.testing.assert_allclose(found.potentials, np.stack([wanted, -(10.0 / 3.0 + lags[:, 0])], axis=1))
    at_ends = data.spike_triggered_average(spikes, before=0.0, after=0.1)
    assert (at_ends.count, at_ends.skipped) == (5, 0)
    one = data.spike_triggered_average(spikes.of("cells"), before=0.0, after=0.0)
    np.testing.assert_allclose(one.potentials[0, 1], -np.mean([0.1, 2.0, 4.0, 4.0, 9.9]))
    # The nearest sample of given times.
    near = data.spike_triggered_average([1.96, 2.04], before=0.0, after=0.0)
    np.testing.assert_allclose(near.potentials, [[4.0, -2.0]])


def test_bad_windows_and_spikes() -> None:
    data = data_of(np.zeros((50, 2)))
    with pytest.raises(rv.errors.StateError, match="none has"):
        data.spike_triggered_average([0.2], before=1.0, after=1.0)
    with pytest.raises(rv.errors.ValueOutOfBoundsError, match="before"):
        data.spike_triggered_average([2.0], before=0.15)
    with pytest.raises(rv.errors.ValueOutOfBoundsError, match="finite"):
        data.spike_triggered_average([math.nan])
    with pytest.raises(rv.errors.WrongTypeError, match="recorder of spikes"):
        data.spike_triggered_average([2.0], "cells")
    with pytest.raises(rv.errors.WrongTypeError, match="recorder of spikes"):
        data.spike_triggered_average("spikes")
    with pytest.raises(rv.errors.StateError, match="two samples"):
        data_of(np.zeros((1, 2))).spike_triggered_average([0.1])


TIMES = 0.1 * np.arange(1, 41)
WAVE = np.exp(-(((TIMES - 2.0) / 0.3) ** 2))


def words(figure: Any) -> set[str]:
    axes = figure.axes
    return {
        *(text.get_text() for each in axes for text in each.texts),
        *(name for each in axes for name in (each.get_xlabel(), each.get_ylabel(), each.get_title(loc="left"))),
    }


def test_traces_of_a_line_are_at_their_places(tmp_path: Path) -> None:
    data = data_of(0.5 + 0.04 * WAVE[:, np.newaxis] * np.linspace(0.5, 1.0, 12))
    figure = rv.plot.extracellular(data, stop=3.0, title="a probe")
    axes = figure.axes[0]
    lines = [np.asarray(line.get_xydata(), dtype=np.float64) for line in axes.lines]
    traces = [line for line in lines if len(line) == 30]
    assert len(traces) == 12
    # The largest trace is 1.8 spacings high, and each is around its mean.
    assert np.ptp(traces[-1][:, 1]) == pytest.approx(1.8 * H)
    np.testing.assert_allclose([trace[:, 1].mean() for trace in traces], DEPTHS, atol=1e-6)
    assert {"20 µV", "time (ms)", "z (µm)"} <= words(figure)
    figure.savefig(tmp_path / "traces.png")
    assert matplotlib.image.imread(tmp_path / "traces.png").std() > 0.02, "an empty figure"
    average = data.spike_triggered_average([2.0], before=1.0, after=1.0)
    assert "time from the spike (ms)" in words(rv.plot.extracellular(average))
    many = data_of(np.tile(WAVE[:, np.newaxis], 130), np.arange(390.0).reshape(130, 3))
    assert "every 3rd contact" in words(rv.plot.extracellular(many))


def columns() -> rv.ExtracellularData:
    places = np.array([[32.0 * column, 10.0, 20.0 * row] for row in range(5) for column in range(2)])
    return data_of(-0.1 * WAVE[:, np.newaxis] * np.linspace(0.1, 1.0, 10), places)


def test_traces_are_at_the_places_of_contacts() -> None:
    data = columns()
    figure = rv.plot.extracellular(data)
    (lines,) = figure.axes[0].collections
    middles = np.array([line.mean(axis=0) for line in lines.get_segments()])  # type: ignore[attr-defined]
    np.testing.assert_allclose(middles, data.contacts[:, [0, 2]], atol=1e-6)
    widths = [np.ptp(line[:, 0]) for line in lines.get_segments()]  # type: ignore[attr-defined]
    np.testing.assert_allclose(widths, 0.85 * 32.0)
    assert {"2 ms", "100 µV", "x (µm)", "z (µm)"} <= words(figure)
    net = rv.Network(resolution=0.05)
    cells = net.create(cell(), positions=rv.positions([[0.05, 0.0, 0.0]]), name="cells")
    beside = rv.plot.extracellular(data, cells=cells, plane="yz")
    sections = beside.axes[0].collections[0].get_segments()  # type: ignore[attr-defined]
    assert len(sections) == 4
    assert {"y (µm)", "z (µm)"} <= words(beside)
    with pytest.raises(rv.errors.StateError, match="points"):
        rv.plot.extracellular(data, cells=net.create("iaf_psc_exp", positions=np.zeros((1, 3))))


def plane() -> rv.ExtracellularData:
    x, z = np.meshgrid(np.arange(4.0), np.arange(3.0), indexing="ij")
    places = np.stack([x.ravel(), np.full(12, 5.0), z.ravel()], axis=1)
    return replace(data_of(0.002 * WAVE[:, np.newaxis] * np.arange(12.0), 10.0 * places), grid_shape=(4, 1, 3))


def test_a_plane_at_a_time_is_an_image() -> None:
    data = plane()
    figure = rv.plot.extracellular(data, time=2.02, title="a plane")
    (image,) = figure.axes[0].collections
    np.testing.assert_allclose(np.asarray(image.get_array()), 2.0 * np.arange(12.0).reshape(4, 3))
    low, high = image.get_clim()
    assert -low == high == pytest.approx(22.0, rel=0.01)
    assert {"a plane, 2 ms", "potential (µV)", "x (µm)", "z (µm)"} <= words(figure)
    dots = rv.plot.extracellular(columns(), time=2.0, limits=(-0.1, 0.1)).axes[0].collections[0]
    np.testing.assert_allclose(np.asarray(dots.get_array()), -100.0 * np.linspace(0.1, 1.0, 10), rtol=1e-9)
    for keys, match in (
        ({"time": 9.0}, "samples are from"),
        ({"time": 2.0, "start": 1.0}, "one time"),
        ({"limits": (-1.0, 1.0)}, "no colours"),
        ({"time": 2.0, "limits": (1.0, -1.0)}, "ascending"),
    ):
        with pytest.raises(rv.errors.ValueOutOfBoundsError, match=match):
            rv.plot.extracellular(data, **keys)
    with pytest.raises(rv.errors.ShapeError, match="shows one plane"):
        rv.plot.extracellular(replace(data, grid_shape=(2, 2, 3)), time=2.0)
    with pytest.raises(rv.errors.StateError, match="window"):
        rv.plot.extracellular(data, start=100.0)
    with pytest.raises(rv.errors.WrongTypeError, match="must be potentials"):
        rv.plot.extracellular(data.potentials)  # type: ignore[call-overload]


def test_a_picture_of_current_sources() -> None:
    data = data_of(1e-6 * WAVE[:, np.newaxis] * DEPTHS**2)
    figure = rv.plot.csd(data.current_source_density(), start=1.0, stop=3.0)
    (image,) = figure.axes[0].images
    values = np.asarray(image.get_array())
    # The bottom row is the lowest contact, which is the last.
    assert values.shape == (12, 21)
    np.testing.assert_allclose(values[0], data.current_source_density().values[9:30, -1])
    np.testing.assert_allclose(image.get_extent(), (0.95, 3.05, DEPTHS[-1] - H / 2, H / 2))
    assert {"time (ms)", "z (µm)", "current source density (µA/mm³)"} <= words(figure)
    with pytest.raises(rv.errors.StateError, match="two samples"):
        rv.plot.csd(data.current_source_density(), start=1.0, stop=1.0)
    with pytest.raises(rv.errors.WrongTypeError, match="current source density"):
        rv.plot.csd(data)  # type: ignore[call-overload]


def test_a_movie_of_a_plane(tmp_path: Path) -> None:
    from PIL import Image

    movie = rv.plot.extracellular_movie(plane(), start=1.5, stop=2.5, every=5, to=tmp_path / "plane.gif", fps=10)
    np.testing.assert_allclose(movie.times, [1.5, 2.0, 2.5])
    np.testing.assert_allclose(movie.values(1), 2.0 * np.arange(12.0).reshape(4, 3))
    with Image.open(tmp_path / "plane.gif") as image:
        assert getattr(image, "n_frames", 1) == 3
    assert movie.show(1).axes[0].get_title(loc="left") == "2 ms"
    with pytest.raises(rv.errors.FileError, match="format"):
        rv.plot.extracellular_movie(plane(), to=tmp_path / "plane.avi")
    with pytest.raises(rv.errors.StateError, match="window"):
        rv.plot.extracellular_movie(plane(), start=99.0)
    for axes, error in ((3.0, rv.errors.WrongTypeError), ("zx", rv.errors.UnknownNameError)):
        with pytest.raises(error, match="plane of a movie"):
            rv.plot.extracellular_movie(plane(), plane=axes)  # type: ignore[arg-type]
