"""Figures of predictions and measurements for several numbers of processes."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import (
    FixedLocator,
    FuncFormatter,
    LogLocator,
    MaxNLocator,
    MultipleLocator,
    NullFormatter,
    NullLocator,
)

from ranvier.figures.style import COLOURS, FAINT, GREY, Figure, new_figure, styled
from ranvier.simulation.predictions import lasting_bytes

__all__ = ["many_ranks_figure", "memory_figure"]

Memory = Mapping[str, Sequence[int]]

# Components in the order in which they are stacked.
_COMPONENTS = (
    "synapses",
    "presynaptic",
    "neurons",
    "inputs",
    "stimuli",
    "spikes",
    "exchange",
    "recordings",
    "arrays",
    "trial",
    "rings",
    "state",
    "kernels",
    "construction",
)
_CONSTRUCTION, _OTHERS = "construction", "others"
# Fraction of the height of a panel; thinner areas look like a line.
_THIN = 0.015
_UNITS = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"), (1.0, "bytes"))


@styled
def memory_figure(
    ranks: Sequence[int],
    same_network: Memory,
    same_load: Memory | None = None,
    *,
    limit: int | None = None,
    marked: int | None = None,
    title: str = "",
    of: str = "rank",
) -> Figure:
    """Plot the memory of a process, or of its device, by component, as a function of the number of processes.

    Parameters
    ----------
    ranks
        Numbers of processes, ascending.
    same_network
        Bytes by component for a network of fixed size, one number for each of `ranks`.
    same_load
        The same for networks whose size is proportional to the number of processes.
    limit
        Memory limit of a process, bytes, drawn as a line.
    marked
        A number of processes to mark.
    title
        Title of the figure.
    of
        What has the memory: a rank, or a device.
    """
    panels = [("the same network", same_network)]
    if same_load is not None:
        panels.append(("the same load on each rank", same_load))
    figure = new_figure(5.2 * len(panels) + 1.4, 4.4)
    if title:
        figure.suptitle(title, x=0.01, ha="left", fontsize=12, fontweight="bold")
    axes = figure.subplots(1, len(panels), squeeze=False)[0]
    tops = [_top(ranks, memory, limit, marked) for _, memory in panels]
    thin = [
        part for part in _parts(panels) if all(_is_thin(m, part, top) for (_, m), top in zip(panels, tops, strict=True))
    ]
    # One of them alone needs no other name.
    thin = thin if len(thin) > 1 else []
    legend: dict[str, Any] = {}
    for panel, (name, memory), top in zip(axes, panels, tops, strict=True):
        _stack(panel, ranks, _merged(memory, thin))
        panel.set_title(name)
        panel.set_ylim(0.0, top)
        _finish(panel, ranks, limit, marked, of)
        handles, names = panel.get_legend_handles_labels()
        legend |= dict(zip(names, handles, strict=True))
    order = sorted(legend, key=_place, reverse=True)
    labels = [_told(thin) if name == _OTHERS else name for name in order]
    figure.legend(
        [legend[name] for name in order],
        labels,
        loc="outside right center",
        frameon=False,
        fontsize=9,
        handlelength=1.2,
    )
    return figure


def _parts(panels: Sequence[tuple[str, Memory]]) -> list[str]:
    """Return the components without those that exist only while the network is built."""
    found = dict.fromkeys(part for _, memory in panels for part in memory if any(memory[part]))
    return [part for part in found if part != _CONSTRUCTION]


def _top(ranks: Sequence[int], memory: Memory, limit: int | None, marked: int | None) -> float:
    """Return how far up the memory is shown."""
    top = 1.08 * float(np.sum(list(memory.values()), axis=0).max())
    # Values far above the limit, or above the memory at the marked number of processes, may be cut.
    here = sum(memory[part][ranks.index(marked)] for part in memory) if marked in ranks else 0
    return min(top, 4.0 * max(here, limit or 0)) if limit is not None or here else top


def _is_thin(memory: Memory, part: str, top: float) -> bool:
    """Whether a component is nowhere high enough to be seen, where all of the memory is shown."""
    totals = np.sum(list(memory.values()), axis=0)
    sizes = np.asarray(memory.get(part, np.zeros(len(totals))), dtype=float)
    return not (sizes[totals <= top] >= _THIN * top).any()


def _merged(memory: Memory, thin: Sequence[str]) -> dict[str, Sequence[int]]:
    """Return the memory with those that are too thin to be seen as one."""
    merged = {part: sizes for part, sizes in memory.items() if part not in thin}
    others = [memory[part] for part in thin if part in memory]
    if others:
        merged[_OTHERS] = [int(size) for size in np.sum(others, axis=0)]
    return merged


def _told(thin: Sequence[str]) -> str:
    names = [part for part in _COMPONENTS if part in thin] + [part for part in thin if part not in _COMPONENTS]
    return textwrap.fill(f"{_OTHERS}: {', '.join(names)}", 22)


def _place(name: str) -> int:
    names = (*_COMPONENTS[:-1], _OTHERS, "while it is built")
    return names.index(name) if name in names else len(_COMPONENTS) - 1


def _stack(axes: Axes, ranks: Sequence[int], memory: Memory) -> None:
    names = sorted(
        (name for name in memory if any(memory[name])), key=lambda name: (name == _CONSTRUCTION, _place(name))
    )
    below = np.zeros(len(ranks))
    for place, name in enumerate(names):
        above = below + np.asarray(memory[name], dtype=float)
        colour = COLOURS[_COMPONENTS.index(name) % len(COLOURS)] if name in _COMPONENTS else GREY
        construction = name == _CONSTRUCTION
        axes.fill_between(
            ranks,
            below,
            above,
            label="while it is built" if construction else name,
            facecolor=FAINT if construction else colour,
            edgecolor="white",
            linewidth=0.4,
            zorder=2 + 0.01 * place,
        )
        below = above
    axes.plot(ranks, below, color="#20262B", linewidth=1.0, zorder=3)


def _finish(axes: Axes, ranks: Sequence[int], limit: int | None, marked: int | None, of: str) -> None:
    axes.set_xscale("log", base=2)
    axes.set_xlim(ranks[0], ranks[-1])
    axes.xaxis.set_major_locator(LogLocator(base=2, numticks=9))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda count, _: f"{count:,.0f}"))
    axes.xaxis.set_minor_formatter(NullFormatter())
    axes.tick_params(axis="x", labelrotation=30)
    axes.set_xlabel("ranks")
    top = axes.get_ylim()[1]
    # A line far above all values would make these too small to see: then the limit is written as text.
    if limit is not None and top < limit <= 3.0 * top:
        top = 1.05 * limit
    scale, unit = next((each for each in _UNITS if top >= each[0]), _UNITS[-1])
    ticks = scale * np.asarray(MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]).tick_values(0.0, top / scale))
    axes.set_ylim(0.0, ticks[-1])
    axes.yaxis.set_major_locator(MultipleLocator(ticks[1] - ticks[0]))
    top = ticks[-1]
    axes.yaxis.set_major_formatter(FuncFormatter(lambda size, _: f"{size / scale:g}"))
    axes.set_ylabel(f"memory of a {of} ({unit})")
    if limit is not None and limit <= top:
        axes.axhline(limit, color="#D55E00", linewidth=1.4, linestyle=(0, (4, 2)), zorder=4)
        axes.annotate(
            "limit",
            (1.0, limit),
            xycoords=("axes fraction", "data"),
            xytext=(-3, 3),
            textcoords="offset points",
            ha="right",
            color="#D55E00",
            fontsize=9,
            zorder=4,
        )
    elif limit is not None:
        axes.text(1.0, 0.99, f"limit: {limit / scale:g} {unit}", transform=axes.transAxes, ha="right", va="top",
            color="#D55E00", fontsize=9)  # fmt: skip
    if marked is not None:
        axes.axvline(marked, color=GREY, linewidth=0.8, linestyle=(0, (1, 2)), zorder=4)


@styled
def many_ranks_figure(results: Sequence[Mapping[str, Any]], *, limit: float | None = None, title: str = "") -> Figure:
    """Plot times and memory of dry runs for several numbers of processes, as Figures 7 and 10 of Jordan et al. (2018).

    Parameters
    ----------
    results
        Results of `ranvier bench many_ranks`, one for each variant and number of processes.
    limit
        Memory limit of a process, bytes, drawn as a line.
    title
        Title of the figure.
    """
    figure = new_figure(10.0, 7.0)
    if title:
        figure.suptitle(title, x=0.01, ha="left", fontsize=12, fontweight="bold")
    panels = figure.subplots(2, 2, sharex=True).ravel()
    variants = list(dict.fromkeys((result["method"], result["sorted"]) for result in results))
    for place, (method, is_sorted) in enumerate(variants):
        chosen = [result for result in results if (result["method"], result["sorted"]) == (method, is_sorted)]
        ranks = [result["ranks"] for result in chosen]
        look: dict[str, Any] = {
            "color": COLOURS[place % len(COLOURS)],
            "marker": "os^Dv"[place % 5],
            "markersize": 5,
            "linewidth": 1.4,
        }
        name = f"{method}, {'sorted' if is_sorted else 'unsorted'}"
        for panel, key in zip(panels, ("build_s", "init_s", "simulation_s_per_s"), strict=False):
            panel.plot(ranks, [result[key] for result in chosen], label=name, **look)
        panels[3].plot(ranks, [sum(result["memory_bytes"].values()) / 1e6 for result in chosen], label=name, **look)
        expected = {"color": look["color"], "linewidth": 1.2, "linestyle": (0, (1, 1.5))}
        panels[2].plot(ranks, [result["predicted_simulation_s_per_s"] for result in chosen], **expected)
        panels[3].plot(ranks, [lasting_bytes(result["predicted_bytes"]) / 1e6 for result in chosen], **expected)
    if limit is not None:
        panels[3].axhline(limit / 1e6, color=GREY, linewidth=1.2, linestyle=(0, (4, 2)))
    names = ("build (s)", "init (s)", "simulation of a second (s)", "memory of a rank (MB)")
    all_ranks = sorted({result["ranks"] for result in results})
    for panel, name in zip(panels, names, strict=True):
        panel.set_title(name)
        panel.set_xscale("log", base=2)
        panel.xaxis.set_major_locator(FixedLocator(all_ranks))
        panel.xaxis.set_major_formatter(FuncFormatter(lambda count, _: f"{count:,.0f}"))
        panel.xaxis.set_minor_locator(NullLocator())
        panel.tick_params(axis="x", labelrotation=30)
        values = np.concatenate([np.asarray(line.get_ydata(), dtype=float) for line in panel.get_lines()])
        if values.min() > 0.0 and values.max() > 20.0 * values.min():
            panel.set_yscale("log")
            panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
        else:
            panel.set_ylim(0.0, 1.08 * values.max())
        panel.grid(axis="y", color=FAINT, linewidth=0.8)
        panel.set_axisbelow(True)
    for panel in panels[2:]:
        panel.set_xlabel("ranks")
    handles, labels = panels[0].get_legend_handles_labels()
    handles.append(Line2D([], [], color=GREY, linewidth=1.2, linestyle=(0, (1, 1.5))))
    labels.append("predicted")
    figure.legend(handles, labels, loc="outside lower left", ncols=4, frameon=False, fontsize=9)
    return figure
