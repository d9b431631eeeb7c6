"""Common parts of all figures: their style, and how they are written to files."""

from __future__ import annotations

import functools
import io
import os
import re
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar

import matplotlib
import matplotlib.figure
from matplotlib import _pylab_helpers
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator, MultipleLocator

from ranvier.base.hints import known_keywords
from ranvier.base.paths import checked_path, write_whole
from ranvier.base.texts import check_text
from ranvier.errors import StateError, WrongTypeError
from ranvier.recording.segments import Segment

__all__ = [
    "COLOURS",
    "EXCITATORY",
    "FAINT",
    "GREY",
    "INHIBITORY",
    "STYLE",
    "Figure",
    "colours_of",
    "cover",
    "fit",
    "hide_left",
    "new_figure",
    "panel",
    "styled",
]

EXCITATORY, INHIBITORY = "#0072B2", "#D55E00"
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#D55E00", "#56B4E9", "#8C6D31", "#000000")
GREY = "#5F6B75"
FAINT = "#E3E7EA"


STYLE: dict[Any, Any] = {
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": GREY,
    "axes.labelcolor": "#20262B",
    "axes.labelsize": 10,
    "axes.titlesize": 10,
    "axes.titleweight": "bold",
    "axes.titlelocation": "left",
    "xtick.color": GREY,
    "ytick.color": GREY,
    "xtick.labelcolor": "#20262B",
    "ytick.labelcolor": "#20262B",
    "font.size": 9,
    "figure.facecolor": "white",
}


# Resolutions of files and of windows: 11 inches must fit on a screen.
_DPI, _DPI_OF_WINDOWS = 150, 100
# Backends that write files and show nothing.
_OF_FILES = ("agg", "cairo", "pdf", "pgf", "ps", "svg", "template")


Arguments = ParamSpec("Arguments")
Drawn = TypeVar("Drawn")


def styled(function: Callable[Arguments, Drawn]) -> Callable[Arguments, Drawn]:
    """Make a function draw in the style of this module, without using or changing the user's settings."""
    function = known_keywords(function)

    @functools.wraps(function)
    def draw(*arguments: Arguments.args, **keywords: Arguments.kwargs) -> Drawn:
        with matplotlib.rc_context(STYLE):
            return function(*arguments, **keywords)

    return draw


class Figure(matplotlib.figure.Figure):
    """A figure that notebooks show automatically.

    If `matplotlib.pyplot` has been imported and can show figures, it belongs to pyplot like a figure of
    ``plt.figure()``: ``plt.show()`` shows it, and ``plt.close()`` closes it. Otherwise it is freed with its last
    reference.
    """

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", dpi=110)
        return buffer.getvalue()

    def _ipython_display_(self) -> None:
        display = sys.modules["IPython.display"].display
        display({"image/png": self._repr_png_(), "text/plain": repr(self)}, raw=True)
        if _is_inline() and _belongs_to_pyplot(self):
            # Otherwise the notebook would show it again at the end of the cell.
            sys.modules["matplotlib.pyplot"].close(self)

    def show(self, warn: bool = True) -> None:
        """Show the figure in a window, or in a notebook. Without a display, this is a warning."""
        if _is_inline():
            self._ipython_display_()
            return
        if not _belongs_to_pyplot(self):
            # Loading pyplot takes longer than drawing.
            from matplotlib import pyplot

            try:
                pyplot.figure(self)
            except ValueError as error:
                raise StateError(
                    "figure",
                    bound=f"it was drawn before pyplot was imported, and {error}",
                    remedy="write import matplotlib.pyplot above, or update matplotlib",
                ) from None
        if matplotlib.get_backend().lower() in _OF_FILES:
            if warn:
                message = "a figure cannot be shown: matplotlib has found no display; write figure.savefig('name.png')"
                warnings.warn(message, stacklevel=2)
            return
        super().show(warn)

    def savefig(self, fname: Any, **options: Any) -> None:
        """Write the figure, as matplotlib does. At each moment, the file is complete: either the old or the new one.

        Raises
        ------
        FileError
            When the file cannot be written.
        """
        if options.get("dpi") is None and self.dpi == _DPI_OF_WINDOWS * self.canvas.device_pixel_ratio:
            # Files of figures that belong to pyplot have the resolution of all others.
            options["dpi"] = _DPI
        if not isinstance(fname, str | os.PathLike):
            super().savefig(fname, **options)
            return
        path = checked_path(fname)
        if options.get("format") is None:
            options["format"] = path.suffix[1:].lower() or matplotlib.rcParams["savefig.format"]
            if not path.suffix:
                path = path.with_name(f"{path.name}.{options['format']}")
        drawn = io.BytesIO()
        super().savefig(drawn, **options)
        write_whole(path, drawn.getvalue())


def _pyplot_shows() -> bool:
    """Return whether the user has imported pyplot, with a backend that can show figures."""
    if "matplotlib.pyplot" not in sys.modules:
        return False
    return matplotlib.get_backend().lower() not in _OF_FILES


def _is_inline() -> bool:
    """Return whether a notebook shows the figures of pyplot at the end of the cell in which they are made."""
    return "matplotlib.pyplot" in sys.modules and "inline" in matplotlib.get_backend().lower()


def _belongs_to_pyplot(figure: Figure) -> bool:
    manager = figure.canvas.manager
    return manager is not None and manager in _pylab_helpers.Gcf.get_all_fig_managers()


def colours_of(segments: Sequence[Segment]) -> list[str]:
    """Return the colour of each population."""
    kinds = [_kind(segment.name) for segment in segments]
    if all(kind is not None for kind in kinds):
        return [EXCITATORY if kind == "E" else INHIBITORY for kind in kinds]
    return [COLOURS[i % len(COLOURS)] for i in range(len(segments))]


def _kind(name: str) -> str | None:
    """Return whether a population is excitatory or inhibitory according to its name, or None."""
    if re.match(r"exc", name, re.IGNORECASE) or re.search(r"(^|[\d_ ])[Ee](xc\w*)?$", name):
        return "E"
    if re.match(r"inh", name, re.IGNORECASE) or re.search(r"(^|[\d_ ])[Ii](nh\w*)?$", name):
        return "I"
    return None


def new_figure(width: float, height: float, title: str = "") -> Figure:
    """Return an empty figure of a size in inches."""
    title = check_text("title of a figure", title)
    if _pyplot_shows():
        pyplot = sys.modules["matplotlib.pyplot"]
        figure: Figure = pyplot.figure(
            FigureClass=Figure, figsize=(width, height), dpi=_DPI_OF_WINDOWS, layout="constrained"
        )
    else:
        figure = Figure(figsize=(width, height), dpi=_DPI, layout="constrained")
    if title:
        figure.suptitle(title, x=0.01, ha="left", fontsize=12, fontweight="bold")
    return figure


def panel(ax: Axes | None, size: tuple[float, float], title: str) -> tuple[Figure | Axes, Axes]:
    """Return the object that a function with one panel returns, and the axes in which it draws.

    Parameters
    ----------
    ax
        Axes of the user, or None for a new figure of `size` inches.
    size
        Width and height.
    title
        Title of the figure.

    Raises
    ------
    WrongTypeError
        When `ax` is something else.
    """
    if ax is None:
        figure = new_figure(*size, title)
        return figure, figure.add_subplot()
    if not isinstance(ax, Axes):
        raise WrongTypeError("ax", type(ax).__name__, "must be axes of matplotlib, such as plt.subplots() makes")
    check_text("title of a figure", title)
    return ax, ax


def cover(axes: Axes, which: str, low: float, high: float, ticks: int = 5) -> None:
    """Let an axis, ``"x"`` or ``"y"``, extend from the last tick that is <= `low` to the first that is >= `high`.

    So there are ticks on both sides of all data. Markers at the limits are not cut.
    """
    if not low < high:
        low, high = (0.0, high) if high > 0.0 else (low, low + 1.0)
    positions = MaxNLocator(ticks, steps=[1, 2, 2.5, 5, 10], min_n_ticks=2).tick_values(low, high)
    margin = 0.015 * (positions[-1] - positions[0])
    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_locator(MultipleLocator(positions[1] - positions[0]))
    limits = positions[0] - margin, positions[-1] + margin
    axes.set_xlim(limits) if which == "x" else axes.set_ylim(limits)


def fit(axes: Axes, which: str, low: float, high: float, ticks: int = 5) -> None:
    """Let an axis, ``"x"`` or ``"y"``, reach a little beyond `low` and `high`, with ticks at round numbers between.

    For values without a natural limit such as 0, which the ticks of `cover` would compress.
    """
    if not low < high:
        low, high = low - 0.5, high + 0.5
    margin = 0.04 * (high - low)
    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_major_locator(MaxNLocator(ticks, steps=[1, 2, 2.5, 5, 10], min_n_ticks=2))
    limits = low - margin, high + margin
    axes.set_xlim(limits) if which == "x" else axes.set_ylim(limits)


def hide_left(axes: Axes) -> None:
    """Hide the line and the ticks of a vertical axis that has names instead of numbers."""
    axes.tick_params(left=False)
    axes.spines["left"].set_visible(False)
