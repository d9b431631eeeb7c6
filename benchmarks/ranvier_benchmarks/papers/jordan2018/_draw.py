"""Lines of runs over numbers of processes, in the form of the paper's figures."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from ranvier.figures.style import GREY, Figure
from ranvier_benchmarks._kernels_figure import COLOUR_OF_KERNEL
from ranvier_benchmarks.papers._paper import Measured
from ranvier_benchmarks.papers.jordan2018._runs import KERNELS, Run, dry_of, real_of

__all__ = [
    "DOTTED",
    "KERNEL_LOOKS",
    "ideal_line",
    "kernels_in",
    "legend_of_kernels",
    "line",
    "lines_of",
]

DOTTED = (0, (1, 1.5))
KERNEL_LOOKS: dict[str, dict[str, Any]] = {
    kernel: {"color": colour, "marker": marker, "linewidth": 1.4, "markersize": 4.5}
    for (kernel, colour), marker in zip(COLOUR_OF_KERNEL.items(), "ovs", strict=True)
}


def kernels_in(measured: Measured) -> list[str]:
    """Return the names of the kernels that were measured, in the order of the paper."""
    return [kernel for kernel in KERNELS if real_of(measured, kernel) or dry_of(measured, kernel)]


def line(panel: Axes, runs: Sequence[Run], value: Callable[[Run], float], *, over: str = "ranks", **look: Any) -> None:
    """Plot a value of runs."""
    if runs:
        panel.plot([run[over] for run in runs], [value(run) for run in runs], **look)


def lines_of(
    panel: Axes, measured: Measured, kernel: str, value: Callable[[Run], float], *, colour: str = "", **look: Any
) -> None:
    """Plot a value of the real runs of a kernel, with filled markers, and of its dry runs, with open ones."""
    shared = {**KERNEL_LOOKS[kernel], **({"color": colour} if colour else {}), **look}
    line(panel, real_of(measured, kernel), value, **shared)
    line(panel, dry_of(measured, kernel), value, **{"markerfacecolor": "white", **shared})


def ideal_line(panel: Axes, runs: Sequence[Run], value: Callable[[Run], float], *, over: str = "ranks") -> None:
    """Plot perfect scaling from the first run on."""
    if len(runs) > 1:
        first = value(runs[0])
        panel.plot(
            [run[over] for run in runs],
            [first * runs[0][over] / run[over] for run in runs],
            color=GREY,
            linestyle=DOTTED,
            linewidth=1.2,
            zorder=1,
        )


def legend_of_kernels(
    figure: Figure,
    kernels: Sequence[str],
    *more: tuple[str, Any],
    marks_dry_runs: bool = True,
    columns: int = 5,
    note: str = "",
) -> None:
    """Add a legend with the kernels, with other entries, and with a note, below the panels."""
    entries: list[tuple[str, Line2D]] = [(kernel, Line2D([], [], **KERNEL_LOOKS[kernel])) for kernel in kernels]
    if marks_dry_runs:
        entries += [
            ("real processes", Line2D([], [], color=GREY, linestyle="", marker="o")),
            ("dry runs", Line2D([], [], color=GREY, linestyle="", marker="o", markerfacecolor="white")),
        ]
    entries += [(name, Line2D([], [], **{"color": GREY, **look})) for name, look in more]
    legend = figure.legend(
        [handle for _, handle in entries],
        [name for name, _ in entries],
        loc="outside lower left",
        ncols=min(columns, len(entries)),
        frameon=False,
        fontsize=9,
        title=note or None,
        title_fontsize=8,
        alignment="left",
    )
    legend.get_title().set_color(GREY)


def crowding_note(measured: Measured) -> str:
    """Return a note on the real runs with more threads than processors, or an empty text."""
    crowded = sorted({run["ranks"] for run in measured["real"] if run["crowded"]})
    if not crowded:
        return ""
    return f"More threads than processors with {', '.join(map(str, crowded))} processes: they take turns"
