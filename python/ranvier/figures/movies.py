"""Movies of activity in space."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any, Literal

import matplotlib as mpl
import numpy as np
from matplotlib import colormaps
from matplotlib.axes import Axes
from matplotlib.colors import Normalize
from matplotlib.figure import Figure as AnyFigure

from ranvier.base.names import check_choice, counted
from ranvier.base.numeric import whole_number
from ranvier.base.texts import check_text
from ranvier.base.times import text_of
from ranvier.base.values import FloatArray
from ranvier.errors import ValueOutOfBoundsError, WrongTypeError
from ranvier.figures.maps import checked_limits
from ranvier.figures.movie_files import check_movie_file, write_movie
from ranvier.figures.movie_frames import Frames, Pixels, SampleFrames, SpikeFrames
from ranvier.figures.space_axes import AXES, Box, box_of, checked_views, draw_dots, marker_area, space_panel
from ranvier.figures.style import FAINT, STYLE, Figure, styled
from ranvier.populations.populations import Neurons, PopulationView, common_layout
from ranvier.recording.data import SpikeData, StateData
from ranvier.space.positions import Grid

__all__ = ["Movie", "movie", "movie_of", "pixels_of"]

Plane = Literal["xy", "xz", "yz"]

# Neurons that are drawn as a dot each; more are averaged over pixels.
_MOST_DOTS = 4000
# Neurons of a pixel on average, and pixels along the longer side of a map.
_NEURONS_OF_PIXEL, _MOST_PIXELS, _FEWEST_PIXELS = 12, 120, 8
# Resolution of a new figure: an image of some 600 pixels.
_DPI = 100
# Frames of a player in a notebook: each takes some 20 kB.
_FRAMES_OF_NOTEBOOK = 200


class Movie:
    """Frames of the activity of neurons, each drawn when it is needed.

    A notebook shows a player with at most 200 frames.

    Attributes
    ----------
    figure
        The figure of all frames.
    times
        Of each frame the time that its title has, ms, shape ``(frames,)``: the end of a bin, or the time of a sample.
    fps
        Frames per second.
    limits
        The values at the ends of the colours.
    """

    def __init__(self, figure: AnyFigure, artist: Any, titled: Callable[[str], None], frames: Frames, fps: int) -> None:
        self.figure = figure
        self.times = frames.times
        self.fps = fps
        self.limits: tuple[float, float] = artist.get_clim()
        self._artist = artist
        self._titled = titled
        self._frames = frames
        self.show(0)
        # The arrangement of the axes takes longer than everything else that is drawn, and is the same in all frames.
        figure.draw_without_rendering()
        figure.set_layout_engine("none")

    def __len__(self) -> int:
        return len(self.times)

    def __repr__(self) -> str:
        return (
            f"<Movie of {counted(len(self), 'frame')}, {text_of(self.times[0])} to {text_of(self.times[-1])} ms, "
            f"{self.fps} frames/s>"
        )

    def values(self, frame: int) -> FloatArray:
        """Return what a frame shows: one value for each neuron, or for each pixel with the first row at the bottom.

        Raises
        ------
        ValueOutOfBoundsError
            When there is no such frame.
        """
        return self._frames.shown(self._checked(frame))

    def show(self, frame: int) -> AnyFigure:
        """Draw a frame in the figure, and return it.

        Raises
        ------
        ValueOutOfBoundsError
            When there is no such frame.
        """
        frame = self._checked(frame)
        self._artist.set_array(np.ma.masked_invalid(self._frames.shown(frame)))
        self._titled(self._frames.label(frame))
        return self.figure

    def save(self, to: str | PathLike[str]) -> None:
        """Write the movie to a file.

        Frames are drawn one after another, so the memory does not grow with their number. The file is replaced when all
        are written.

        Parameters
        ----------
        to
            Name of the file, with the suffix ``.gif`` or ``.mp4``. MP4 needs the program ffmpeg, which the extra
            ``movies`` of the package installs.

        Raises
        ------
        FileError
            For another format, and when the file cannot be written.
        MissingPackageError
            For MP4, when there is no ffmpeg.
        """
        path = check_movie_file(to)
        with mpl.rc_context(STYLE):
            write_movie(path, self.figure, self._draw, len(self), self.fps)

    def _draw(self, frame: int) -> tuple[Any, ...]:
        self.show(frame)
        return ()

    def _checked(self, frame: int) -> int:
        if not isinstance(frame, int | np.integer) or isinstance(frame, bool):
            raise WrongTypeError("frame of a movie", type(frame).__name__, "must be an integer")
        if not -len(self) <= frame < len(self):
            raise ValueOutOfBoundsError("frame of a movie", str(frame), f"there are {len(self)}")
        return int(frame) % len(self)

    def _repr_html_(self) -> str:
        """Return a player for notebooks."""
        from matplotlib.animation import FuncAnimation

        stride = -(-len(self) // _FRAMES_OF_NOTEBOOK)
        numbers = list(range(0, len(self), stride))
        with mpl.rc_context({**STYLE, "savefig.dpi": 80, "animation.embed_limit": 100.0}):
            player = FuncAnimation(self.figure, self._draw, frames=numbers)
            return str(player.to_jshtml(fps=max(1, round(self.fps / stride)), default_mode="loop"))


@styled
def movie(
    data: SpikeData | StateData,
    neurons: Neurons,
    *,
    to: str | PathLike[str] | None = None,
    variable: str = "V_m",
    bin: float = 5.0,  # noqa: A002
    smooth: float | None = None,
    start: float | None = None,
    stop: float | None = None,
    limits: tuple[float, float] | None = None,
    fps: int = 20,
    pixels: int | None = None,
    plane: Plane = "xy",
    label: str | None = None,
    title: str = "",
    ax: Axes | None = None,
) -> Movie:
    """Make a movie of the activity of neurons at their positions: rates from spikes, or samples of a state variable.

    Up to 4,000 neurons are dots. Of more, or if `pixels` is given, each pixel of a map has the mean of its neurons.

    Parameters
    ----------
    data
        Data of a recorder of spikes or of state variables.
    neurons
        A population, a part of one, or a list of them, all of them recorded.
    to
        A file to which the movie is written, ``.gif`` or ``.mp4``, as by `Movie.save`; None: none.
    variable
        The state variable.
    bin
        Width of the bins of spikes, ms, a whole number of steps; a frame each. Each sample of a state variable is a
        frame.
    smooth
        Standard deviation of a Gaussian in time, ms, > 0, with which rates are smoothed; None: not smoothed. It is cut
        after three standard deviations, and normalised at the ends of the window.
    start, stop
        The window, ms; None: that of the data.
    limits
        The values at the ends of the colours; None: 0, or the least value, and one that 99.5 % of the values do not
        exceed.
    fps
        Frames per second, 1 to 120. A GIF has 50 at most.
    pixels
        Number of pixels along the longer side of the map, >= 1; None: dots, or such that a pixel has a dozen neurons.
    plane
        The coordinates of the map for positions in three dimensions, ``"xy"``, ``"xz"`` or ``"yz"``, if there are
        pixels.
    label
        Label of the values, with their unit; None: the rate or the name of the variable.
    title
        Title of the figure, or of `ax`; the time follows.
    ax
        Axes of matplotlib to draw in; None: a new figure.

    Raises
    ------
    StateError
        When neurons have no positions, or nothing was recorded in the window.
    ValueOutOfBoundsError
        For neurons that were not recorded, a bin that is not a whole number of steps, and values outside their bounds.
    FileError, MissingPackageError
        As by `Movie.save`, before anything is drawn.

    Examples
    --------
    >>> rv.plot.movie(sim.spikes(recorder), exc, bin=2.0, to="waves.gif")
    """
    if to is not None:
        check_movie_file(to)
    views = checked_views(neurons, "neurons of a movie")
    box = box_of(views)
    check_choice("plane of a movie", plane, ["xy", "xz", "yz"])
    frames_per_second = whole_number("fps of a movie", fps, 1, 120)
    ids = np.concatenate([view.ids for view in views])
    if isinstance(data, SpikeData):
        frames: Frames = SpikeFrames(data, ids, bin, smooth, start, stop)
        name = "spikes/s"
    elif isinstance(data, StateData):
        if smooth is not None:
            raise ValueOutOfBoundsError("smooth of a movie", str(smooth), "samples are not smoothed", "leave it out")
        frames = SampleFrames(data, variable, ids, start, stop)
        name = variable
    else:
        raise WrongTypeError(
            "data of a movie", type(data).__name__, "must be the data of a recorder of spikes or state"
        )
    is_dotted = pixels is None and len(ids) <= _MOST_DOTS
    grid = None if is_dotted else pixels_of(views, box, pixels, plane)
    if grid is not None:
        frames.average(grid)
        if box.dimensions == 3:
            axes_of_plane = [AXES.index(axis) for axis in plane]
            box = Box(box.unit, box.lower[axes_of_plane], box.upper[axes_of_plane], box.period[axes_of_plane])
    drawn, axes = space_panel(ax, box, "", room=1.0)
    scale = Normalize(*(frames.limits() if limits is None else checked_limits(limits, np.zeros(0))))
    colours = colormaps["viridis"].with_extremes(bad=FAINT)
    if grid is not None:
        artist: Any = axes.imshow(
            np.zeros(grid.shape), norm=scale, cmap=colours, origin="lower", interpolation="nearest",
            extent=(box.lower[0], box.upper[0], box.lower[1], box.upper[1]), zorder=-1,
        )  # fmt: skip
        if plane != "xy":
            axes.set(xlabel=f"{plane[0]} ({box.unit})", ylabel=f"{plane[1]} ({box.unit})")
    else:
        points = np.concatenate([view.positions for view in views])
        artist = draw_dots(axes, points, c=np.zeros(len(ids)), s=2.0 * marker_area(len(ids)), norm=scale, cmap=colours,
            plotnonfinite=True,
        )  # fmt: skip
    scale_label = name if label is None else check_text("label", label)
    made = movie_of(drawn, axes, artist, scale_label, title, frames, frames_per_second)
    if to is not None:
        made.save(to)
    return made


def movie_of(
    drawn: Figure | Axes, axes: Axes, artist: Any, label: str, title: str, frames: Frames, frames_per_second: int
) -> Movie:
    """Return the movie of axes in which an artist shows frames; a label names its scale, and the time follows a title.

    `drawn` is the new figure, or the axes of the user.
    """
    axes.figure.colorbar(artist, ax=axes, label=label, shrink=0.8, aspect=30)
    heading = check_text("title of a figure", title)
    above = axes.set_title("")

    def titled(time: str) -> None:
        above.set_text(f"{heading}{', ' if heading else ''}{time}")

    figure = axes.get_figure(root=True)
    assert figure is not None
    if isinstance(drawn, Figure):
        figure.dpi = _DPI
    return Movie(figure, artist, titled, frames, frames_per_second)


def pixels_of(views: Sequence[PopulationView], box: Box, wanted: int | None = None, plane: Plane = "xy") -> Pixels:
    """Return the pixels of all neurons: as many along the longer side as wanted, or with a dozen neurons each."""
    count = sum(map(len, views))
    across = [AXES.index(axis) for axis in plane]
    if max(across) >= box.dimensions:
        raise ValueOutOfBoundsError(
            "plane of a movie", plane, f"the positions have {box.dimensions} dimensions", "leave it out"
        )
    sides = box.sides[across]
    longest = float(sides.max())
    if wanted is not None:
        along = whole_number("pixels of a movie", wanted, 1, 10_000)
        shape = [max(1, round(along * float(side) / longest)) for side in sides]
    elif (regular := _grid_of(views)) is not None:
        shape = [regular[axis] for axis in across]
    else:
        wide = math.sqrt(count / _NEURONS_OF_PIXEL * longest / float(sides.min()))
        along = min(_MOST_PIXELS, max(_FEWEST_PIXELS, round(wide)))
        shape = [max(1, round(along * float(side) / longest)) for side in sides]
    places = []
    for view in views:
        points = view.positions[:, across]
        cells = np.floor((points - box.lower[across]) * (np.array(shape) / sides)).astype(np.int64)
        cells = np.clip(cells, 0, np.array(shape) - 1)
        places.append(cells[:, 1] * shape[0] + cells[:, 0])
    return Pixels((shape[1], shape[0]), np.concatenate(places))


def _grid_of(views: Sequence[PopulationView]) -> tuple[int, ...] | None:
    """Return the shape of the one grid on which all neurons are, if it is not finer than a map."""
    layouts = {layout if isinstance(layout := common_layout(view), Grid) else None for view in views}
    only = layouts.pop() if len(layouts) == 1 else None
    return only.shape if only is not None and max(only.shape) <= 2 * _MOST_PIXELS else None
