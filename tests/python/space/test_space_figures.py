"""Figures of space show the neurons, the connections and the activity that they are given."""

from __future__ import annotations

import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.animation import FFMpegWriter
from matplotlib.axes import Axes
from matplotlib.collections import LineCollection, PathCollection
from matplotlib.contour import QuadContourSet
from matplotlib.figure import Figure
from matplotlib.image import imread
from PIL import Image

import ranvier as rv
from ranvier import errors
from ranvier.recording.data import SpikeData, StateData


def two_populations() -> tuple[rv.Network, rv.Population, rv.Population]:
    net = rv.Network(seed=2)
    exc = net.create("iaf_psc_exp", positions=rv.grid((6, 4), extent=(3.0, 2.0), periodic=True), name="exc")
    inh = net.create("iaf_psc_exp", 10, positions=rv.random_positions(extent=(3.0, 2.0), periodic=True), name="inh")
    return net, exc, inh


def dots(axes: Axes) -> list[PathCollection]:
    return [each for each in axes.collections if isinstance(each, PathCollection)]


def offsets(collection: PathCollection) -> list[list[float]]:
    points: list[list[float]] = np.asarray(collection.get_offsets()).tolist()
    return points


def plotted(axes: Axes) -> list[list[float]]:
    return [point for collection in dots(axes) for point in offsets(collection)]


def labels(axes: Axes) -> list[str]:
    legend = axes.get_legend()
    return [] if legend is None else [text.get_text() for text in legend.get_texts()]


# ---- neurons ---------------------------------------------------------------------------------------------------------


def test_neurons_are_where_they_are(tmp_path: Path) -> None:
    _, exc, inh = two_populations()
    figure = rv.plot.neurons([exc, inh], title="Sheet")
    axes = figure.axes[0]
    assert plotted(axes) == [*exc.positions.tolist(), *inh.positions.tolist()]
    assert labels(axes) == ["exc", "inh"]
    assert axes.get_xlabel() == "x (mm)"
    assert axes.get_aspect() == 1.0
    assert axes.get_xlim()[0] < -1.5 < 1.5 < axes.get_xlim()[1]
    # The box is periodic, so all four sides are drawn.
    assert sorted(sorted(map(tuple, np.asarray(line.get_xydata()).tolist())) for line in axes.lines) == [
        [(-1.5, -1.0), (-1.5, 1.0)],
        [(-1.5, -1.0), (1.5, -1.0)],
        [(-1.5, 1.0), (1.5, 1.0)],
        [(1.5, -1.0), (1.5, 1.0)],
    ]
    figure.savefig(tmp_path / "sheet.png")
    assert imread(tmp_path / "sheet.png").std() > 0.05, "an empty figure"


def test_values_are_colours() -> None:
    _, exc, inh = two_populations()
    values = np.arange(34.0)
    values[3] = np.nan
    figure = rv.plot.neurons(exc + inh, values=values, label="rate (spikes/s)")
    axes, scale = figure.axes
    absent, first, second = dots(axes)
    assert offsets(absent) == [exc.positions[3].tolist()]
    assert np.asarray(first.get_array()).tolist() == [*range(3), *range(4, 24)]
    assert np.asarray(second.get_array()).tolist() == list(range(24, 34))
    assert first.get_clim() == second.get_clim() == (0.0, 33.0)
    assert scale.get_ylabel() == "rate (spikes/s)"
    limited = rv.plot.neurons(exc, values=np.ones(24), limits=(0.0, 5.0))
    assert dots(limited.axes[0])[0].get_clim() == (0.0, 5.0)


def test_three_dimensions() -> None:
    net = rv.Network()
    layout = rv.random_positions(extent=(100.0, 100.0, 50.0), periodic=(True, True, False), unit="um")
    neurons = net.create("iaf_psc_exp", 40, positions=layout, name="column")
    figure = rv.plot.neurons(neurons[::2])
    axes: Any = figure.axes[0]
    assert axes.name == "3d"
    assert axes.get_zlabel() == "z (µm)"
    places = np.array(dots(axes)[0]._offsets3d).T  # type: ignore[attr-defined]
    assert places == pytest.approx(neurons[::2].positions)
    # Four edges are parallel to z; those along x and y lie on a periodic end as well.
    assert len(axes.lines) == 12
    with pytest.raises(errors.WrongTypeError, match="projection"):
        rv.plot.neurons(neurons, ax=Figure().add_subplot())
    own = Figure().add_subplot(projection="3d")
    assert rv.plot.neurons(neurons, ax=own, title="mine") is own
    assert own.get_title(loc="left") == "mine" or own.get_title() == "mine"


def test_many_neurons_are_thinned() -> None:
    net = rv.Network()
    sheet = net.create("iaf_psc_exp", positions=rv.grid((400, 300)), name="sheet")
    figure = rv.plot.neurons(sheet)
    assert plotted(figure.axes[0]) == sheet.positions[::3].tolist()
    assert "every 3rd neuron" in [text.get_text() for text in figure.axes[0].texts]


def test_dots_fit_the_axes() -> None:
    _, exc, _ = two_populations()
    net = rv.Network()
    sheet = net.create("iaf_psc_exp", positions=rv.grid((40, 40)), name="sheet")
    large = dots(rv.plot.neurons(sheet).axes[0])[0].get_sizes()[0]
    small = dots(rv.plot.neurons(sheet, ax=Figure(figsize=(2.0, 2.0)).add_subplot()))[0].get_sizes()[0]
    assert small == pytest.approx(large * (2.0 * 0.77 / 5.0) ** 2, rel=0.02)
    assert dots(rv.plot.neurons(exc).axes[0])[0].get_sizes()[0] == 40.0


def test_neurons_that_cannot_be_drawn() -> None:
    net, exc, _ = two_populations()
    absent = net.create("iaf_psc_exp", 3, name="absent")
    with pytest.raises(errors.StateError, match=r"absent.*positions"):
        rv.plot.neurons([exc, absent])
    other = net.create("iaf_psc_exp", positions=rv.grid((3, 3), unit="um"), name="other")
    with pytest.raises(errors.ValueOutOfBoundsError, match="in mm and um"):
        rv.plot.neurons([exc, other])
    space = net.create("iaf_psc_exp", positions=rv.grid((3, 3, 3)), name="space")
    with pytest.raises(errors.ShapeError, match="2 and 3 dimensions"):
        rv.plot.neurons([exc, space])
    flat = net.create("iaf_psc_exp", positions=rv.grid((3, 3)), name="flat")
    with pytest.raises(errors.ValueOutOfBoundsError, match="periods differ"):
        rv.plot.neurons([exc, flat])
    with pytest.raises(errors.StateError, match="no neurons"):
        rv.plot.neurons(exc[:0])
    with pytest.raises(errors.ShapeError, match="24 neurons"):
        rv.plot.neurons(exc, values=[1.0])
    with pytest.raises(errors.ValueOutOfBoundsError, match="ascending"):
        rv.plot.neurons(exc, values=np.ones(24), limits=(1.0, 0.0))
    with pytest.raises(errors.ValueOutOfBoundsError, match="no values"):
        rv.plot.neurons(exc, limits=(0.0, 1.0))
    with pytest.raises(errors.WrongTypeError, match="int"):
        rv.plot.neurons(3)  # type: ignore[call-overload]
    with pytest.raises(errors.StateError, match="different networks"):
        rv.plot.neurons([exc, two_populations()[1]])


def test_positions_without_a_box() -> None:
    net = rv.Network()
    line = net.create("iaf_psc_exp", positions=[[0.0, 1.0], [2.0, 1.0]], name="line")
    axes = rv.plot.neurons(line).axes[0]
    assert axes.get_xlim()[0] < 0.0 < 2.0 < axes.get_xlim()[1]
    assert axes.get_ylim()[0] < 1.0 < axes.get_ylim()[1]
    assert not axes.lines


# ---- partners --------------------------------------------------------------------------------------------------------


def connected() -> tuple[rv.Simulation, rv.Population, rv.Population, list[rv.Projection]]:
    net, exc, inh = two_populations()
    projections = [
        net.connect(exc, exc, rv.Explicit([0, 0, 0, 5], [1, 7, 23, 6]), weight=[1.0, 2.0, 3.0, 4.0], delay=1.0),
        net.connect(exc, inh, rv.Explicit([0, 2], [4, 9]), weight=1.0, delay=[1.5, 2.5]),
    ]
    return rv.Simulation(net, progress=False), exc, inh, projections


def test_targets_and_sources() -> None:
    sim, exc, inh, (recurrent, _) = connected()
    figure = rv.plot.targets(sim, exc[0])
    axes = figure.axes[0]
    around_exc, around_inh, to_exc, to_inh = dots(axes)
    assert offsets(around_exc) == exc.positions.tolist()
    assert offsets(around_inh) == inh.positions.tolist()
    assert offsets(to_exc) == exc.positions[[1, 7, 23]].tolist()
    assert offsets(to_inh) == inh.positions[[4]].tolist()
    assert labels(axes) == ["exc: 3", "inh: 1"]
    assert axes.get_title(loc="left") == "4 synapses from exc[0]"
    star = axes.lines[-1]
    assert np.asarray(star.get_xydata()).tolist() == exc.positions[:1].tolist()
    weighted = rv.plot.targets(sim, exc[0], recurrent, colour="weight")
    assert np.asarray(dots(weighted.axes[0])[-1].get_array()).tolist() == [1.0, 2.0, 3.0]
    sources = rv.plot.sources(sim, inh[9], colour="delay")
    assert offsets(dots(sources.axes[0])[-1]) == exc.positions[[2]].tolist()
    assert np.asarray(dots(sources.axes[0])[-1].get_array()).tolist() == [2.5]
    own = Figure().add_subplot()
    assert rv.plot.sources(sim, inh[9], ax=own) is own


@pytest.mark.parametrize("side", ["targets", "sources"])
def test_outlines_of_masks(side: str) -> None:
    """Outlines are those of the mask on the torus, and of the opposite displacements for sources."""
    net, exc, _ = two_populations()
    net.connect(exc, exc, rv.AllToAll(mask=rv.circle(0.7, center=(0.6, 0.0))), weight=1.0, delay=1.0)
    net.connect(exc, exc, rv.AllToAll(mask=rv.grid_mask((3, 3))), weight=1.0, delay=1.0)
    sim = rv.Simulation(net, progress=False)
    neuron = exc[21]  # at the right end of the box
    axes = getattr(rv.plot, side)(sim, neuron).axes[0]
    (outline,) = [each for each in axes.collections if isinstance(each, QuadContourSet)]
    points = np.concatenate([path.vertices for path in outline.get_paths()])
    center = neuron.positions[0] + (0.6 if side == "targets" else -0.6, 0.0)
    difference = points - center
    difference -= np.array([3.0, 2.0]) * np.rint(difference / [3.0, 2.0])
    # The grid in which the outline is found has 400 steps along each side.
    assert np.hypot(*difference.T) == pytest.approx(np.full(len(points), 0.7), abs=0.01)
    assert len(points) > 400


def test_outlines_in_three_dimensions() -> None:
    net = rv.Network()
    layout = rv.grid((4, 4, 4), periodic=True)
    neurons = net.create("iaf_psc_exp", positions=layout, name="neurons")
    projection = net.connect(neurons, neurons, rv.AllToAll(mask=rv.ball(0.3)), weight=1.0, delay=1.0)
    axes = rv.plot.targets(rv.Simulation(net, progress=False), neurons[21], projection).axes[0]
    lines = [np.array(line.get_data_3d()).T for line in axes.lines[13:]]  # type: ignore[attr-defined]
    assert len(lines) == 3
    for normal, line in enumerate(lines):
        assert line[:, normal] == pytest.approx(np.full(len(line), neurons.positions[21, normal]))
        assert np.linalg.norm(line - neurons.positions[21], axis=1) == pytest.approx(np.full(len(line), 0.3), abs=0.005)


def test_partners_that_cannot_be_drawn() -> None:
    sim, exc, inh, _ = connected()
    with pytest.raises(errors.StateError, match="no targets"):
        rv.plot.targets(sim, inh[0])
    with pytest.raises(errors.ValueOutOfBoundsError, match=r"24 neurons.*exc"):
        rv.plot.targets(sim, exc)
    with pytest.raises(errors.WrongTypeError, match=r"exc\[17\]"):
        rv.plot.targets(sim, 3)  # type: ignore[call-overload]
    with pytest.raises(errors.WrongTypeError, match="simulation"):
        rv.plot.targets(sim.network, exc[0])  # type: ignore[call-overload]
    with pytest.raises(errors.UnknownNameError, match=r"wieght.*weight"):
        rv.plot.targets(sim, exc[0], colour="wieght")  # type: ignore[call-overload]


# ---- distances -------------------------------------------------------------------------------------------------------


def test_distances_and_kernels() -> None:
    net = rv.Network(seed=4)
    neurons = net.create(
        "iaf_psc_exp", 200, positions=rv.random_positions(extent=(1.0, 1.0), periodic=True), name="all"
    )
    projection = net.connect(neurons, neurons, rv.PairwiseBernoulli(0.1), weight=1.0, delay=1.0, name="flat")
    found = rv.Simulation(net, progress=False).distance_histogram(projection, bins=10)
    fit = found.fit("constant")
    figure = rv.plot.distances(found, kernel="0.1 + 0*d", fits=[fit, "constant"], title="Flat")
    axes = figure.axes[0]
    points, kernel, flat, again = axes.lines
    assert np.asarray(points.get_ydata()) == pytest.approx(found.probabilities)
    assert np.asarray(kernel.get_ydata()) == pytest.approx(np.full(400, 0.1))
    assert np.asarray(flat.get_ydata()) == pytest.approx(np.full(400, fit.parameters["p"]))
    assert np.asarray(again.get_ydata()).tolist() == np.asarray(flat.get_ydata()).tolist()
    assert labels(axes)[0] == "kernel"
    assert labels(axes)[1] == f"constant: {fit.described()}"
    counts = rv.plot.distances(found, kernel=rv.Expression("p", p=0.1), quantity="connections").axes[0]
    assert np.asarray(counts.lines[0].get_ydata()) == pytest.approx(0.1 * found.pairs)
    with pytest.raises(errors.ValueOutOfBoundsError, match="distance d only"):
        rv.plot.distances(found, kernel="0.1*x_pre")
    with pytest.raises(errors.UnknownNameError, match="exponental"):
        rv.plot.distances(found, fits="exponental")
    with pytest.raises(errors.WrongTypeError, match="distance_histogram"):
        rv.plot.distances(neurons)  # type: ignore[call-overload]
    with pytest.raises(errors.UnknownNameError, match="quantity"):
        rv.plot.distances(found, quantity="density")  # type: ignore[call-overload]


# ---- movies ----------------------------------------------------------------------------------------------------------


def spikes_of(exc: rv.Population, inh: rv.Population) -> SpikeData:
    """Return spikes in 40 ms: neuron i of the first population fires once, at 1 ms times its index."""
    steps = 10 * np.arange(1, len(exc) + 1)
    segments = (rv.Segment("exc", exc.first_id, len(exc)), rv.Segment("inh", inh.first_id, len(inh)))
    return SpikeData(steps, exc.ids, 0.1, 0, 400, segments)


def test_frames_show_the_rates_of_their_bins() -> None:
    _, exc, inh = two_populations()
    movie = rv.plot.movie(spikes_of(exc, inh), [inh, exc], bin=8.0, title="Wave")
    assert len(movie) == 5
    assert movie.times.tolist() == [8.0, 16.0, 24.0, 32.0, 40.0]
    for frame in range(5):
        expected = np.zeros(34)
        expected[10 + 8 * frame : 10 + 8 * (frame + 1)] = 125.0 if frame < 3 else 0.0
        assert movie.values(frame) == pytest.approx(expected)
    figure = movie.show(1)
    axes = figure.axes[0]
    assert axes.get_title(loc="left") == "Wave, 8 to 16 ms"
    drawn = dots(axes)[0]
    assert np.asarray(drawn.get_array()) == pytest.approx(movie.values(1))
    assert offsets(drawn) == [*inh.positions.tolist(), *exc.positions.tolist()]
    assert drawn.get_clim() == (0.0, 125.0)
    assert "5 frames, 8 to 40 ms" in repr(movie)
    window = rv.plot.movie(spikes_of(exc, inh), exc, bin=8.0, start=10.0, stop=27.0)
    assert window.times.tolist() == [18.0, 26.0]
    assert window.values(0).sum() == 8 * 125.0


def test_pixels_are_means_of_their_neurons() -> None:
    _, exc, inh = two_populations()
    movie = rv.plot.movie(spikes_of(exc, inh), exc, bin=8.0, pixels=3)
    # The grid has 6 columns and 4 rows, and the second index of a neuron is that of its row.
    neurons = rv.plot.movie(spikes_of(exc, inh), exc, bin=8.0).values(1).reshape(6, 4)
    assert movie.values(1) == pytest.approx(neurons.reshape(3, 2, 2, 2).mean(axis=(1, 3)).T)
    image = movie.show(1).axes[0].images[0]
    assert list(image.get_extent()) == [-1.5, 1.5, -1.0, 1.0]
    assert np.asarray(image.get_array()) == pytest.approx(movie.values(1))
    absent = rv.plot.movie(spikes_of(exc, inh), inh, bin=8.0, pixels=30)
    assert np.isnan(absent.values(0)).sum() > 500
    assert absent.limits == (0.0, 1.0)


def test_many_neurons_become_pixels() -> None:
    net = rv.Network()
    grid = net.create("iaf_psc_exp", positions=rv.grid((70, 60)), name="grid")
    free = net.create("iaf_psc_exp", 4800, positions=rv.random_positions(extent=(2.0, 1.0)), name="free")
    none = np.zeros(0, dtype=np.int64)
    spikes = SpikeData(none, none, 0.1, 0, 400, (rv.Segment("all", 0, 9000),))
    assert rv.plot.movie(spikes, grid, bin=40.0).values(0).shape == (60, 70)
    assert rv.plot.movie(spikes, free, bin=40.0).values(0).shape == (14, 28)


def test_planes_of_three_dimensions() -> None:
    net = rv.Network()
    column = net.create("iaf_psc_exp", positions=rv.grid((2, 3, 4), extent=(2.0, 3.0, 4.0)), name="column")
    spikes = SpikeData(np.array([5]), np.array([1]), 0.1, 0, 10, (rv.Segment("column", 0, 24),))
    for plane, shape in (("xy", (3, 2)), ("xz", (4, 2)), ("yz", (4, 3))):
        movie = rv.plot.movie(spikes, column, bin=1.0, pixels=max(shape), plane=plane)  # type: ignore[arg-type]
        assert movie.values(0).shape == shape
        axes = movie.figure.axes[0]
        assert (axes.get_xlabel(), axes.get_ylabel()) == (f"{plane[0]} (mm)", f"{plane[1]} (mm)")
    assert rv.plot.movie(spikes, column, bin=1.0).figure.axes[0].name == "3d"


def test_rates_are_smoothed_in_time() -> None:
    _, exc, inh = two_populations()
    spikes = spikes_of(exc, inh)
    movie = rv.plot.movie(spikes, exc, bin=1.0, smooth=2.0)
    whole = np.array([movie.values(frame) for frame in range(len(movie))])
    # A neuron in the middle of the window has its one spike, spread over time.
    assert whole[:, 12].sum() == pytest.approx(1000.0)
    assert whole[:, 12].argmax() == 12
    assert 1000.0 / (2.0 * np.sqrt(2.0 * np.pi)) == pytest.approx(whole[12, 12], rel=0.03)
    steady = SpikeData(
        np.arange(1, 401), np.full(400, exc.first_id), 0.1, 0, 400, (rv.Segment("exc", exc.first_id, 24),)
    )
    constant = rv.plot.movie(steady, exc, bin=1.0, smooth=3.0)
    assert [constant.values(frame)[0] for frame in (0, 1, 20, 39)] == pytest.approx([10_000.0] * 4)


def test_samples_are_frames() -> None:
    _, exc, inh = two_populations()
    values = np.random.default_rng(1).normal(-60.0, 5.0, (4, 2, 24))
    data = StateData(np.array([10, 20, 30, 40]), exc.ids, ("V_m", "I_syn"), values, 0.1, "exc")
    movie = rv.plot.movie(data, exc[5:10], variable="I_syn", start=2.0)
    assert movie.times.tolist() == [2.0, 3.0, 4.0]
    assert movie.values(1).tolist() == values[2, 1, 5:10].tolist()
    assert movie.show(2).axes[0].get_title(loc="left") == "4 ms"
    assert movie.figure.axes[1].get_ylabel() == "I_syn"
    with pytest.raises(errors.UnknownNameError, match="V_n"):
        rv.plot.movie(data, exc, variable="V_n")
    with pytest.raises(errors.ValueOutOfBoundsError, match="not smoothed"):
        rv.plot.movie(data, exc, smooth=1.0)
    with pytest.raises(errors.ValueOutOfBoundsError, match="not recorded"):
        rv.plot.movie(data, exc + inh)
    with pytest.raises(errors.StateError, match="no sample"):
        rv.plot.movie(data, exc, start=5.0)


def test_a_gif_has_all_frames(tmp_path: Path) -> None:
    _, exc, inh = two_populations()
    figure = Figure(figsize=(2.0, 1.5), dpi=50)
    path = tmp_path / "wave.gif"
    path.write_text("old")
    movie = rv.plot.movie(spikes_of(exc, inh), exc, bin=8.0, to=path, fps=10, ax=figure.add_subplot())
    with Image.open(path) as image:
        assert (image.n_frames, image.info["duration"], image.info["loop"]) == (5, 100, 0)  # type: ignore[attr-defined]
        assert image.size == (100, 75)
        frames = []
        for frame in range(5):
            image.seek(frame)
            frames.append(np.asarray(image.convert("RGB")).astype(int))
    assert np.abs(frames[0] - frames[1]).max() > 50
    movie.show(2)
    figure.canvas.draw()
    drawn = np.asarray(figure.canvas.buffer_rgba())[:, :, :3].astype(int)  # type: ignore[attr-defined]
    assert np.abs(frames[2] - drawn).mean() < 2.0
    assert list(tmp_path.iterdir()) == [path]


def test_a_movie_that_fails_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, exc, inh = two_populations()
    path = tmp_path / "wave.gif"
    path.write_text("old")
    movie = rv.plot.movie(spikes_of(exc, inh), exc, bin=8.0)

    def fail(frame: int) -> tuple[Any, ...]:
        if frame == 2:
            raise OSError(28, "No space left on device")
        return ()

    monkeypatch.setattr(movie, "_draw", fail)
    with pytest.raises(errors.FileError, match="No space left"):
        movie.save(path)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_mp4_needs_ffmpeg(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, exc, inh = two_populations()
    monkeypatch.setattr(FFMpegWriter, "isAvailable", classmethod(lambda cls: False))
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    with pytest.raises(errors.MissingPackageError, match=r"ffmpeg.*ranvier\[movies\].*gif"):
        rv.plot.movie(spikes_of(exc, inh), exc, to=tmp_path / "wave.mp4")
    assert not list(tmp_path.iterdir())
    # Either program writes the file; here a stand-in copies the frames that it is given.
    program = tmp_path / "ffmpeg"
    program.write_text('#!/bin/sh\nfor last; do :; done\ncat > "$last"\n')
    program.chmod(0o755)
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", SimpleNamespace(get_ffmpeg_exe=lambda: str(program)))
    figure = Figure(figsize=(2.0, 1.5), dpi=50)
    rv.plot.movie(spikes_of(exc, inh), exc, bin=8.0, to=tmp_path / "wave.mp4", ax=figure.add_subplot())
    assert (tmp_path / "wave.mp4").stat().st_size == 5 * 4 * 100 * 75
    assert mpl.rcParams["animation.ffmpeg_path"] != str(program)


def test_a_player_for_notebooks() -> None:
    _, exc, inh = two_populations()
    figure = Figure(figsize=(1.0, 1.0), dpi=40)
    movie = rv.plot.movie(spikes_of(exc, inh), exc, bin=20.0, ax=figure.add_subplot())
    html = movie._repr_html_()
    assert html.count("data:image/png;base64") == 2


def test_movies_that_cannot_be_made(tmp_path: Path) -> None:
    net, exc, inh = two_populations()
    spikes = spikes_of(exc, inh)
    with pytest.raises(errors.FileError, match=r"\.avi.*\.gif or \.mp4"):
        rv.plot.movie(spikes, exc, to=tmp_path / "wave.avi")
    with pytest.raises(errors.FileError, match="absent"):
        rv.plot.movie(spikes, exc, to=tmp_path / "absent" / "wave.gif")
    absent = net.create("iaf_psc_exp", 3, name="absent")
    with pytest.raises(errors.StateError, match="no positions"):
        rv.plot.movie(spikes, absent)
    late = net.create("iaf_psc_exp", positions=rv.grid((2, 2), extent=(3.0, 2.0), periodic=True), name="late")
    with pytest.raises(errors.ValueOutOfBoundsError, match=r"4 neurons.*not recorded"):
        rv.plot.movie(spikes, [exc, late])
    bad: list[tuple[dict[str, Any], type[Exception], str]] = [
        ({"bin": 0.15}, errors.ValueOutOfBoundsError, "whole number of steps"),
        ({"bin": 50.0}, errors.StateError, "smaller bins"),
        ({"smooth": 0.0}, errors.ValueOutOfBoundsError, "smooth"),
        ({"start": 50.0}, errors.StateError, "window"),
        ({"fps": 0}, errors.ValueOutOfBoundsError, "fps"),
        ({"fps": 121}, errors.ValueOutOfBoundsError, "fps"),
        ({"pixels": 0}, errors.ValueOutOfBoundsError, "pixels"),
        ({"pixels": 4, "plane": "xz"}, errors.ValueOutOfBoundsError, "2 dimensions"),
        ({"plane": "zx"}, errors.UnknownNameError, "plane"),
        ({"limits": (1.0, 1.0)}, errors.ValueOutOfBoundsError, "ascending"),
        ({"limits": "all"}, errors.WrongTypeError, "limits"),
        ({"label": 3}, errors.WrongTypeError, "label"),
    ]
    for arguments, error, message in bad:
        with pytest.raises(error, match=message):
            rv.plot.movie(spikes, exc, **arguments)
    with pytest.raises(errors.WrongTypeError, match="recorder"):
        rv.plot.movie([1.0], exc)  # type: ignore[arg-type]
    empty = SpikeData(np.zeros(0, int), np.zeros(0, int), 0.1, 0, 0, (rv.Segment("exc", exc.first_id, 24),))
    with pytest.raises(errors.StateError, match="nothing was recorded"):
        rv.plot.movie(empty, exc)
    movie = rv.plot.movie(spikes, exc, bin=8.0)
    assert movie.values(-1).tolist() == movie.values(4).tolist()
    with pytest.raises(errors.ValueOutOfBoundsError, match="there are 5"):
        movie.show(5)
    with pytest.raises(errors.WrongTypeError):
        movie.values(1.0)  # type: ignore[arg-type]


# ---- cells -----------------------------------------------------------------------------------------------------------


def stick() -> rv.Cell:
    return rv.Cell(
        rv.Morphology([rv.Section(points=[[0.0, 0.0, 0.0, 5.0], [10.0, 0.0, 0.0, 5.0], [20.0, 5.0, 0.0, 5.0]])]),
        membrane=[("all", rv.pas())],
    )


def test_cells_are_placed_and_rotated() -> None:
    net = rv.Network(seed=5)
    layout = rv.random_positions(extent=(90.0, 80.0, 70.0), unit="um")
    cells = net.create(stick(), 5, positions=layout, rotation=rv.random_rotation(), name="cells")
    flat = net.create(stick(), 2, positions=rv.positions([[1.0, 2.0], [3.0, 4.0]], unit="um"), name="flat")
    axes = rv.plot.cells(cells, plane="xz").axes[0]
    (lines,) = [each for each in axes.collections if isinstance(each, LineCollection)]
    assert [np.asarray(line).tolist() for line in lines.get_segments()] == [
        cells.morphology_points(index)[0][:, [0, 2]].tolist() for index in range(5)
    ]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("x (µm)", "z (µm)")
    assert axes.get_xlim()[0] < -45.0 < 45.0 < axes.get_xlim()[1]
    space: Any = rv.plot.cells(cells[1:3]).axes[0]
    assert space.name == "3d"
    assert len(space.collections[0]._segments3d) == 2
    assert np.asarray(space.collections[0]._segments3d[0]) == pytest.approx(cells.morphology_points(1)[0])
    # In two dimensions, cells are in the plane z = 0.
    assert rv.plot.cells(flat).axes[0].name == "3d"
    own = Figure().add_subplot()
    assert rv.plot.cells(flat, plane="xy", ax=own) is own


def test_cells_that_cannot_be_drawn() -> None:
    net, exc, _ = two_populations()
    with pytest.raises(errors.StateError, match=r"are points.*rv\.plot\.neurons"):
        rv.plot.cells(exc)
    without = net.create(stick(), 2, name="without")
    with pytest.raises(errors.StateError, match="no positions"):
        rv.plot.cells(without)
    placed = net.create(stick(), 2, positions=rv.grid((2, 1)), name="placed")
    with pytest.raises(errors.UnknownNameError, match="plane"):
        rv.plot.cells(placed, plane="zx")  # type: ignore[call-overload]
    with pytest.raises(errors.WrongTypeError, match="axes of two dimensions"):
        rv.plot.cells(placed, ax=Figure().add_subplot())


def test_many_cells_are_thinned() -> None:
    net = rv.Network()
    cells = net.create(stick(), positions=rv.grid((25, 17), unit="um"), name="cells")
    axes = rv.plot.cells(cells, plane="xy").axes[0]
    assert len(axes.collections[0].get_segments()) == 142  # type: ignore[attr-defined]
    assert "every 3rd cell" in [text.get_text() for text in axes.texts]
