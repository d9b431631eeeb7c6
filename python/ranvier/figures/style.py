"""What all figures have in common: how they look, and how they are written to files."""

from __future__ import annotations

import functools
import io
import os
import re
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec

import matplotlib
import matplotlib.figure

from ranvier.base.paths import checked_path, write_whole
from ranvier.network.checks import check_text
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
    "new_figure",
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


Arguments = ParamSpec("Arguments")


def styled(function: Callable[Arguments, Figure]) -> Callable[Arguments, Figure]:
    """Draw in the style of this module, whatever the user's settings are, and leave those alone."""

    @functools.wraps(function)
    def draw(*arguments: Arguments.args, **keywords: Arguments.kwargs) -> Figure:
        with matplotlib.rc_context(STYLE):
            return function(*arguments, **keywords)

    return draw


class Figure(matplotlib.figure.Figure):
    """A figure that notebooks show by themselves."""

    def _repr_png_(self) -> bytes:
        buffer = io.BytesIO()
        self.savefig(buffer, format="png", dpi=110)
        return buffer.getvalue()

    def savefig(self, fname: Any, **options: Any) -> None:
        """Write the figure, as matplotlib does; but a file of that name is whole at each moment, the old or the new.

        Raises
        ------
        FileError
            When the file cannot be written.
        """
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


def colours_of(segments: Sequence[Segment]) -> list[str]:
    """Return the colour of each population."""
    kinds = [_kind(segment.name) for segment in segments]
    if all(kind is not None for kind in kinds):
        return [EXCITATORY if kind == "E" else INHIBITORY for kind in kinds]
    return [COLOURS[i % len(COLOURS)] for i in range(len(segments))]


def _kind(name: str) -> str | None:
    """Whether a population is excitatory or inhibitory, as far as its name tells."""
    if re.match(r"exc", name, re.IGNORECASE) or re.search(r"(^|[\d_ ])[Ee](xc\w*)?$", name):
        return "E"
    if re.match(r"inh", name, re.IGNORECASE) or re.search(r"(^|[\d_ ])[Ii](nh\w*)?$", name):
        return "I"
    return None


def new_figure(width: float, height: float, title: str = "") -> Figure:
    """Return an empty figure of a size in inches."""
    title = check_text("title of a figure", title)
    figure = Figure(figsize=(width, height), dpi=150, layout="constrained")
    if title:
        figure.suptitle(title, x=0.01, ha="left", fontsize=12, fontweight="bold")
    return figure
