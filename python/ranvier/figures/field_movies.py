"""Movies of potentials outside of cells."""

from __future__ import annotations

from os import PathLike

import numpy as np
from matplotlib.axes import Axes
from matplotlib.colors import Normalize

from ranvier.base.names import check_choice
from ranvier.base.numeric import whole_number
from ranvier.base.times import text_of
from ranvier.base.values import FloatArray
from ranvier.errors import StateError, WrongTypeError
from ranvier.figures.arguments import samples_in_window
from ranvier.figures.fields import draw_field, field_panel, scaled_unit, symmetric
from ranvier.figures.maps import checked_limits
from ranvier.figures.movie_files import check_movie_file
from ranvier.figures.movie_frames import Frames
from ranvier.figures.movies import Movie, movie_of
from ranvier.figures.placed import Plane
from ranvier.figures.style import styled
from ranvier.populations.populations import Neurons
from ranvier.recording.data import ExtracellularData
from ranvier.recording.potential_analysis import SpikeTriggeredAverage

__all__ = ["extracellular_movie"]


@styled
def extracellular_movie(
    data: ExtracellularData | SpikeTriggeredAverage,
    *,
    to: str | PathLike[str] | None = None,
    start: float | None = None,
    stop: float | None = None,
    every: int = 1,
    plane: Plane | None = None,
    cells: Neurons | None = None,
    limits: tuple[float, float] | None = None,
    fps: int = 20,
    title: str = "",
    ax: Axes | None = None,
) -> Movie:
    """Make a movie of potentials outside of cells, with a frame for each sample.

    Contacts on a grid of a plane make an image, and others are dots, as in `extracellular` at a time.

    Parameters
    ----------
    data
        Potentials, or their average around spikes.
    to
        A file to which the movie is written, ``.gif`` or ``.mp4``, as by `Movie.save`; None: none.
    start, stop
        The window, ms; None: that of the data.
    every
        Only each sample of this number is a frame, >= 1.
    plane
        The coordinates that are drawn, ``"xy"``, ``"xz"`` or ``"yz"``; None: those along which contacts extend most.
    cells
        Cells that are drawn behind the contacts; None: none.
    limits
        The values at the ends of the colours, mV; None: symmetric around 0.
    fps
        Frames per second, 1 to 120. A GIF has 50 at most.
    title
        Title of the figure, or of `ax`; the time follows.
    ax
        Axes of matplotlib to draw in; None: a new figure.

    Raises
    ------
    StateError
        When there is no sample in the window.
    ShapeError
        For contacts in a volume.
    ValueOutOfBoundsError, WrongTypeError, UnknownNameError
        For values outside their bounds, and arguments of a wrong type.
    FileError, MissingPackageError
        As by `Movie.save`, before anything is drawn.

    Examples
    --------
    >>> rv.plot.extracellular_movie(sim.extracellular(plane), cells=cells, to="field.gif")
    """
    if not isinstance(data, ExtracellularData | SpikeTriggeredAverage):
        raise WrongTypeError(
            "data of a movie", type(data).__name__, "must be potentials or their average around spikes"
        )
    if plane is not None:
        check_choice("plane of a movie", plane, ["xy", "xz", "yz"])
    if to is not None:
        check_movie_file(to)
    frames_per_second = whole_number("fps of a movie", fps, 1, 120)
    frames = _PotentialFrames(data, start, stop, whole_number("every of a movie", every, 1, 2**31))
    low, high = frames.limits() if limits is None else checked_limits(limits, np.zeros(0))
    factor, unit = scaled_unit(max(abs(low), abs(high)))
    drawn, axes, across = field_panel(data.contacts, plane, cells, "", ax, 1.1)
    grid_shape = data.grid_shape if isinstance(data, ExtracellularData) else None
    artist, shape = draw_field(axes, data.contacts, grid_shape, across, Normalize(factor * low, factor * high))
    frames.show_as(factor, shape)
    made = movie_of(drawn, axes, artist, f"potential ({unit})", title, frames, frames_per_second)
    if to is not None:
        made.save(to)
    return made


class _PotentialFrames(Frames):
    """Potentials at contacts, mV until `show_as`."""

    def __init__(
        self, data: ExtracellularData | SpikeTriggeredAverage, start: float | None, stop: float | None, every: int
    ) -> None:
        super().__init__(len(data.contacts))
        self._samples = np.flatnonzero(samples_in_window(data.times, start, stop))[::every]
        if not len(self._samples) or not len(data.contacts):
            raise StateError(
                repr(data), bound="there is no sample in the window", remedy="run longer or choose another window"
            )
        self.times = data.times[self._samples]
        self._values = data.potentials
        self._factor = 1.0
        self._shape: tuple[int, ...] = (len(data.contacts),)

    def show_as(self, factor: float, shape: tuple[int, ...]) -> None:
        """Multiply values by a factor, and give them a shape."""
        self._factor, self._shape = factor, shape

    def shown(self, frame: int) -> FloatArray:
        """Return what a frame shows."""
        values: FloatArray = self._factor * self._values[self._samples[frame]].reshape(self._shape)
        return values

    def label(self, frame: int) -> str:
        """Return the time of a frame."""
        return f"{text_of(float(self.times[frame]))} ms"

    def limits(self) -> tuple[float, float]:
        """Return values for the ends of the colours."""
        return symmetric(self._some_values())
