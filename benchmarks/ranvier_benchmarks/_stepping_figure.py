"""The figure of `ranvier bench stepping`, as Figure 7 of Magalhães et al. (2019)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, NullLocator

from ranvier.figures.style import COLOURS, FAINT, GREY, Figure, new_figure, styled

__all__ = ["draw"]

_MARKERS = "osD^vP"
_LINES = ("-", (0, (4, 1.5)), (0, (1, 1.5)))
# From the paper's Figure 7 (b), on 32 nodes: 256 and 32,768 cells.
_PAPER_NODES, _PAPER_GAINS = 32, (1.40, 1.16)
# From the paper, with the Xeon 6140: 51 % for 16 neurons, 31 % for 2,048.
_PAPER = ((16, 2048), (1.51, 1.31))


@styled
def draw(results: Sequence[dict[str, Any]], predicted: Sequence[dict[str, Any]] = ()) -> Figure:
    """Plot the speed-up over the number of cells, and the distribution of steps at a time for each number of cells.

    If there are predictions, the speed-up over the number of processes comes between the two.
    """
    panels = 3 if predicted else 2
    figure = new_figure(5.25 * panels, 4.2, "Asynchronous stepping, compared with bulk-synchronous stepping")
    axes = figure.subplots(1, panels)
    _draw_speed_ups(axes[0], results)
    if predicted:
        _draw_predictions(axes[1], results, predicted)
    _draw_steps(axes[-1], results)
    return figure


def _draw_speed_ups(axes: Axes, results: Sequence[dict[str, Any]]) -> None:
    keys = list(dict.fromkeys((r["dendrites"], r["ranks"], r["threads"], r["loops"]) for r in results))
    for place, key in enumerate(keys):
        chosen = sorted(
            (r for r in results if (r["dendrites"], r["ranks"], r["threads"], r["loops"]) == key),
            key=lambda r: int(r["cells"]),
        )
        cells = [r["cells"] for r in chosen]
        speed_ups = [r["speed_up"] for r in chosen]
        errors = [
            [up - min(r["ratios"]) for up, r in zip(speed_ups, chosen, strict=True)],
            [max(r["ratios"]) - up for up, r in zip(speed_ups, chosen, strict=True)],
        ]
        axes.errorbar(
            cells,
            speed_ups,
            yerr=errors,
            color=COLOURS[place % len(COLOURS)],
            marker=_MARKERS[place % len(_MARKERS)],
            markersize=5,
            linewidth=1.4,
            elinewidth=0.8,
            capsize=2,
            label=_label(*key),
        )
    axes.plot(*_PAPER, color=GREY, linestyle=(0, (1, 1.5)), marker="x", markersize=5, label="paper, Xeon 6140")
    axes.axhline(1.0, color=GREY, linewidth=0.8)
    axes.set(xscale="log", xlabel="cells", ylim=(min(0.9, axes.get_ylim()[0]), axes.get_ylim()[1]))
    axes.set_title("time of bsp / time of async")
    ticks = sorted({r["cells"] for r in results})
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.set_xticklabels([f"{tick:,}" for tick in ticks])
    axes.xaxis.set_minor_locator(NullLocator())
    _grid(axes)
    axes.legend(frameon=False, fontsize=8)


def _draw_predictions(axes: Axes, results: Sequence[dict[str, Any]], predicted: Sequence[dict[str, Any]]) -> None:
    """Lines for what is predicted, by jitter; empty markers for what was measured without busy programs."""
    threads = min(one["threads"] for one in predicted)
    shown = [one for one in predicted if one["threads"] == threads and one["dendrites"] == predicted[0]["dendrites"]]
    for place, cells in enumerate(dict.fromkeys(one["cells"] for one in shown)):
        colour = COLOURS[place % len(COLOURS)]
        for style, jitter in enumerate(dict.fromkeys(one["jitter"] for one in shown)):
            chosen = [one for one in shown if one["cells"] == cells and one["jitter"] == jitter]
            axes.plot(
                [one["ranks"] for one in chosen],
                [one["speed_up"] for one in chosen],
                color=colour,
                linestyle=_LINES[style % len(_LINES)],
                marker="." if len(chosen) == 1 else None,
                linewidth=1.4,
                label=f"{cells:,} cells, speeds differ by {jitter:.0%}",
            )
        ran = [r for r in results if r["cells"] == cells and r["threads"] == threads and not r["loops"]]
        axes.plot(
            [r["ranks"] for r in ran],
            [r["speed_up"] for r in ran],
            color=colour,
            linestyle="none",
            marker=_MARKERS[place % len(_MARKERS)],
            markerfacecolor="none",
        )
    axes.plot(
        [_PAPER_NODES] * 2, _PAPER_GAINS, color=GREY, linestyle="none", marker="x", markersize=5, label="paper, nodes"
    )
    axes.axhline(1.0, color=GREY, linewidth=0.8)
    axes.set(xscale="log", xlabel="processes")
    axes.set_title("predicted; empty markers: measured")
    ticks = sorted({one["ranks"] for one in (*shown, *results)})
    axes.xaxis.set_major_locator(FixedLocator(ticks))
    axes.set_xticklabels([f"{tick:,}" for tick in ticks])
    axes.xaxis.set_minor_locator(NullLocator())
    _grid(axes)
    axes.legend(frameon=False, fontsize=8)


def _label(dendrites: str, ranks: int, threads: int, loops: int) -> str:
    parts = [dendrites, f"{threads} thread{'s' if threads > 1 else ''}"]
    if ranks > 1:
        parts.append(f"{ranks} processes")
    if loops:
        parts.append(f"{loops} busy program{'s' if loops > 1 else ''}")
    return ", ".join(parts)


def _draw_steps(axes: Axes, results: Sequence[dict[str, Any]]) -> None:
    """Draw those of the first settings of each size."""
    first = {result["cells"]: result for result in reversed(results) if any(result["visits_by_steps"])}
    for place, (cells, result) in enumerate(sorted(first.items())):
        counts = np.array(result["visits_by_steps"], dtype=np.float64)
        share = np.cumsum(counts) / counts.sum()
        mean = result["async"]["steps_per_visit"]
        axes.step(
            np.arange(len(counts)),
            share,
            where="post",
            color=COLOURS[place % len(COLOURS)],
            linewidth=1.3,
            label=f"{cells:,} cells, mean {mean:.0f}",
        )
    axes.set(xlabel="steps that a shard takes at a time, at most", xlim=(0.0, None), ylim=(0.0, 1.0))
    axes.set_title("share of visits")
    _grid(axes)
    if first:
        axes.legend(frameon=False, fontsize=8, loc="upper left")


def _grid(axes: Axes) -> None:
    axes.grid(axis="y", color=FAINT, linewidth=0.8)
    axes.set_axisbelow(True)
