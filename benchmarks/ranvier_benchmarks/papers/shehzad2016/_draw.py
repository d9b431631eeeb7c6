"""Figures 4, 6 and 7."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, NullFormatter, NullLocator

from ranvier.figures.style import COLOURS, FAINT, GREY, Figure, new_figure, styled
from ranvier_benchmarks.papers._paper import Measured
from ranvier_benchmarks.papers.shehzad2016._rows import (
    PLAIN,
    communication,
    is_simulated,
    methods_of,
    simulated_rows,
    variants,
)

__all__ = ["draw_comparison", "draw_limits"]

_Rows = Sequence[dict[str, Any]]


@styled
def draw_limits(measured: Sequence[Measured]) -> Figure:
    """Draw run time and communication with MPI_Allgather; simulated processes have separate panels."""
    parts = _parts(measured)
    figure = new_figure(4.6 * len(parts), 3.6, "MPI_Allgather with more processes")
    panels = figure.subplots(1, len(parts), squeeze=False)[0]
    for axes, (of_machine, rows) in zip(panels, parts, strict=True):
        points = [(row["ranks"], methods_of(row, barrier=False)[PLAIN]) for row in rows]
        ranks = [count for count, _ in points]
        axes.plot(ranks, [m["total_s"]["rank_0"] for _, m in points], "o-", color=COLOURS[0], label="run")
        axes.plot(ranks, [communication(m) for _, m in points], "s-", color=COLOURS[1], label="communication")
        axes.set_title(_where(of_machine, rows))
        _ranks_axis(axes, of_machine, rows)
    panels[0].set_ylabel("time (s)")
    panels[0].legend(frameon=False)
    return figure


@styled
def draw_comparison(measured: Sequence[Measured]) -> Figure:
    """Draw communication with each method, a line of panels for each machine, and one for its simulated processes."""
    parts = _parts(measured)
    widest = max(len(variants(of_machine)) for of_machine in measured)
    figure = new_figure(1.0 + 3.4 * widest, 0.9 + 3.0 * len(parts), "Communication with more processes")
    panels = figure.subplots(len(parts), widest, squeeze=False)
    for line, (of_machine, rows) in zip(panels, parts, strict=True):
        sizes = variants(of_machine)
        for axes in line[len(sizes) :]:
            axes.set_visible(False)
        for place, (axes, size) in enumerate(zip(line, sizes, strict=False)):
            axes.set_yscale("log")
            _draw_methods(axes, [row for row in rows if (row["cells"], row["time"]) == size])
            of_size = f"{size[0]:,} cells, {size[1]:g} ms"
            axes.set_title(f"{_where(of_machine, rows)}\n{of_size}" if place == 0 else of_size)
            _ranks_axis(axes, of_machine, rows)
        line[0].set_ylabel("communication (s)")
    handles, names = panels[0][0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside lower left", ncols=min(3, widest + 1), frameon=False)
    return figure


def _parts(measured: Sequence[Measured]) -> list[tuple[Measured, _Rows]]:
    """Return what goes into separate panels: the measured rows of each machine, and those that were simulated."""
    return [(each, rows) for each in measured for rows in (each["rows"], simulated_rows(each)) if rows]


def _draw_methods(axes: Axes, rows: _Rows) -> None:
    for place, name in enumerate(methods_of(rows[0], barrier=False)):
        colour = COLOURS[place % len(COLOURS)]
        for barrier, style in ((False, "o-"), (True, "s:")):
            points = [
                (row["ranks"], communication(methods_of(row, barrier=barrier)[name]))
                for row in rows
                if name in methods_of(row, barrier=barrier)
            ]
            if points:
                label = f"{name}, after a barrier" if barrier else name
                axes.plot(*zip(*points, strict=True), style, color=colour, markersize=4, label=label)


def _where(measured: Measured, rows: _Rows) -> str:
    if is_simulated(rows[0]):
        return f"Simulated: {measured['simulated']['machine']}"
    return f"{measured['machine']['processor']}, {rows[0]['transport']}"


def _ranks_axis(axes: Axes, measured: Measured, rows: _Rows) -> None:
    ranks = sorted({row["ranks"] for row in rows})
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_locator(FixedLocator(ranks))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.set_xticklabels([str(count) for count in ranks])
    axes.set_xlabel("processes")
    # Room for the note, which lies above all lines.
    if axes.get_yscale() == "log":
        axes.set_ylim(top=1.8 * axes.get_ylim()[1])
    else:
        axes.set_ylim(0.0, 1.12 * axes.get_ylim()[1])
    if is_simulated(rows[0]) or ranks[-1] <= measured["processors"]:
        return
    end = axes.get_xlim()[1]
    axes.axvspan(measured["processors"] * 1.1, end, color=FAINT, zorder=0)
    axes.set_xlim(right=end)
    axes.text(
        0.98, 0.97, "more processes than processors", transform=axes.transAxes, ha="right", va="top", fontsize=8,
        color=GREY,
    )  # fmt: skip
