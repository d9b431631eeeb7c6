"""The figure of `ranvier bench ring`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from ranvier.figures.style import COLOURS, GREY, Figure, new_figure, styled
from ranvier_benchmarks import _figures

__all__ = ["save"]


def save(result: dict[str, Any], path: Path) -> None:
    """Draw the time per compartment and step of each program, and write it.

    Raises
    ------
    FileError
        When the file cannot be written.
    """
    _figures.save(_bars(result), path)


@styled
def _bars(result: dict[str, Any]) -> Figure:
    programs = result["programs"]
    options = result["options"]
    names = [program["name"] for program in programs]
    times = [program["ns_per_compartment_step"] for program in programs]
    cells = f"Ring of {options['cells']:,} cells, dendrites {options['dendrites']}"
    figure = new_figure(6.0, 1.3 + 0.45 * len(names), f"{cells}, threads: {options['threads']}")
    axes = figure.subplots()
    places = range(len(names))
    axes.barh(places, times, color=[COLOURS[0], *[GREY] * (len(names) - 1)], height=0.6)
    for place, time in zip(places, times, strict=True):
        factor = f"  ({time / times[0]:.1f} times)" if place else ""
        axes.annotate(f" {time:.1f} ns{factor}", (time, place), va="center")
    axes.set_yticks(places, names)
    axes.invert_yaxis()
    axes.set_xlim(0.0, 1.35 * max(times))
    axes.set_xlabel("time per compartment and step (ns)")
    axes.spines[["top", "right"]].set_visible(False)
    return figure
