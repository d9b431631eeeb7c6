"""Figures 3 and 9: spikes of 256 cells, uniform and with bursts of eight groups, one after another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib.ticker import MultipleLocator
from rich.console import Console

from ranvier.base.memory_checks import check_room
from ranvier.errors import ValueOutOfBoundsError
from ranvier.figures.style import COLOURS, GREY, Figure, new_figure, styled
from ranvier.networks import interval_fire
from ranvier.simulation.simulation import Simulation
from ranvier_benchmarks.papers._paper import Measured, PaperResult, Progress
from ranvier_benchmarks.papers.hines2011._runs import empty_table, number_text, print_indented

__all__ = ["FIGURE_3", "FIGURE_9"]

_GROUPS, _BURST = 8, 50.0  # ms, of `interval_fire`
_FIRST, _ALL = 20.0, 40.0  # ms: the shortest and the longest interval between spikes
_MEAN_RATE, _BURST_GAIN = 30.0, 5.0  # as the paper states them
_MOST_SPIKES = 10**6  # that a figure can show
_BYTES_OF_SPIKE = 200


def _check(*, cells: int, time: float, connections: int, seed: int) -> None:
    if cells < _GROUPS:
        raise ValueOutOfBoundsError("key cells", str(cells), f"it must be at least {_GROUPS}, one for each group")
    if not 2.0 * _ALL <= time <= 1e5:
        raise ValueOutOfBoundsError("key time", f"{time} ms", f"it must be from {2.0 * _ALL:g} to 1e5 ms")
    spikes = cells * time / _FIRST
    if spikes > _MOST_SPIKES:
        raise ValueOutOfBoundsError(
            "keys cells and time",
            f"{cells} and {time} ms",
            f"a raster shows up to {_MOST_SPIKES:,} spikes",
            "reduce one",
        )
    check_room(f"{cells} cells", round(spikes * _BYTES_OF_SPIKE), "choose fewer cells")
    interval_fire(cells=cells, connections=connections, seed=seed)


def _measure(progress: Progress, *, burst: bool, cells: int, time: float, connections: int, seed: int) -> Measured:
    progress.step(f"{cells} cells")
    model = interval_fire(cells=cells, connections=connections, burst=burst, seed=seed)
    simulation = Simulation(model.net, threads=1, progress=False)
    simulation.run(time)
    spikes = simulation.spikes(model.spikes)
    first = model.net.populations[0].first_id
    return {
        "cells": cells,
        "time": time,
        "burst": burst,
        "digest": spikes.digest(),
        "times": np.round(spikes.times, 3).tolist(),
        "ids": (spikes.ids - first).tolist(),
    }


def measure_uniform(
    progress: Progress, *, cells: int = 256, time: float = 200.0, connections: int = 100, seed: int = 1
) -> Measured:
    """Record the spikes of the network.

    Parameters
    ----------
    cells
        Number of cells.
    time
        Simulated time, ms.
    connections
        Mean number of inputs of a cell, which change no spikes.
    seed
        Seed of the network.
    """
    return _measure(progress, burst=False, cells=cells, time=time, connections=connections, seed=seed)


def measure_bursts(
    progress: Progress, *, cells: int = 256, time: float = 400.0, connections: int = 100, seed: int = 1
) -> Measured:
    """Record the spikes of the network with bursts; parameters as of `measure_uniform`."""
    return _measure(progress, burst=True, cells=cells, time=time, connections=connections, seed=seed)


# ---- results ---------------------------------------------------------------------------------------------------------


def _arrays(measured: Measured) -> tuple[Any, Any]:
    return np.asarray(measured["times"], dtype=np.float64), np.asarray(measured["ids"], dtype=np.int64)


def _rate(count: int, cells: float, time: float) -> float:
    """Spikes/s of a cell."""
    return 1e3 * count / (cells * time)


def rates_in_bursts(measured: Measured) -> tuple[float, float]:
    """Return the rates (spikes/s) in bursts, and outside after the first spikes, from whole bursts only."""
    times, ids = _arrays(measured)
    cells, groups = measured["cells"], ids * _GROUPS // measured["cells"]
    begins = groups * _BURST
    # In the first burst, cells have not yet fired.
    whole = [group for group in range(1, _GROUPS) if (group + 1) * _BURST <= measured["time"]]
    inside = (times > begins) & (times <= begins + _BURST)
    burst = _rate(int(np.sum(inside & np.isin(groups, whole))), cells / _GROUPS * max(1, len(whole)), _BURST)
    settled = times > 2.0 * _ALL
    outside = int(np.sum(settled & ~inside))
    sizes = np.bincount(np.arange(cells) * _GROUPS // cells, minlength=_GROUPS)
    # Time after the first 80 ms that each group spends outside its burst.
    end = measured["time"]
    quiet = [
        (end - 2.0 * _ALL) - max(0.0, min(end, (group + 1) * _BURST) - max(2.0 * _ALL, min(end, group * _BURST)))
        for group in range(_GROUPS)
    ]
    return burst, 1e3 * outside / float(np.dot(sizes, quiet))


def _show_uniform(measured: Measured, console: Console) -> None:
    times, ids = _arrays(measured)
    cells, time = measured["cells"], measured["time"]
    after = times > 2.0 * _ALL
    table = empty_table("", "here", "paper")
    table.add_row("first spike (ms)", number_text(float(times.min())), f"after {_FIRST:g}")
    in_first = len(np.unique(ids[times <= _ALL]))
    table.add_row("cells that fire by 40 ms", f"{in_first} of {cells}", "all")
    table.add_row(
        f"rate from 80 ms to {time:g} ms (spikes/s)",
        number_text(_rate(int(after.sum()), cells, max(time - 2.0 * _ALL, 1e-9))) if time > 2.0 * _ALL else "-",
        f"{_MEAN_RATE:g}",
    )
    console.print(f"\n[bold]{len(times):,} spikes of {cells} cells[/] in {time:g} ms", soft_wrap=True)
    print_indented(console, table)
    console.print(
        f"\n  Intervals are uniform from {_FIRST:g} to {_ALL:g} ms: 33.3 spikes/s, which the paper rounds.",
        soft_wrap=True,
    )


def _show_bursts(measured: Measured, console: Console) -> None:
    times, _ = _arrays(measured)
    console.print(
        f"\n[bold]{len(times):,} spikes of {measured['cells']} cells[/] in {measured['time']:g} ms", soft_wrap=True
    )
    burst, outside = rates_in_bursts(measured)
    table = empty_table("", "here", "paper")
    table.add_row("rate in bursts (spikes/s)", number_text(burst) if burst > 0.0 else "-", "")
    table.add_row("rate outside, after 80 ms (spikes/s)", number_text(outside), f"{_MEAN_RATE:g}")
    table.add_row("ratio", number_text(burst / outside) if burst > 0.0 else "-", f"{_BURST_GAIN:g}")
    print_indented(console, table)


@styled
def _draw(measured: Sequence[Measured]) -> Figure:
    figure = new_figure(7.5, 4.6 * len(measured), "")
    panels = figure.subplots(2 * len(measured), 1, sharex=True, height_ratios=[4.0, 1.0] * len(measured), squeeze=False)
    for of_machine, raster, rate in zip(measured, panels[::2, 0], panels[1::2, 0], strict=True):
        times, ids = _arrays(of_machine)
        cells, time = of_machine["cells"], of_machine["time"]
        raster.plot(times, ids, ".", color=COLOURS[7], markersize=2.0, markeredgewidth=0)
        raster.set(ylabel="cell", xlim=(0.0, time), ylim=(0.0, cells))
        raster.yaxis.set_major_locator(MultipleLocator(max(1, cells // 4)))
        bursts = f", {_GROUPS} groups that burst in turn" if of_machine["burst"] else ""
        raster.set_title(f"Spikes of {cells} cells{bursts}")
        counts, edges = np.histogram(times, bins=np.arange(0.0, time + 1e-9, 1.0 if time <= 1000.0 else time / 1000.0))
        width = edges[1] - edges[0]
        rate.stairs(1e3 * counts / (cells * width), edges, color=COLOURS[0], fill=True)
        rate.axhline(_MEAN_RATE, color=GREY, linewidth=0.8, linestyle=(0, (1, 1.5)))
        rate.text(
            0.995, 0.98, f"dotted: {_MEAN_RATE:g} spikes/s, as the paper states", transform=rate.transAxes, ha="right",
            va="top", fontsize=7, color=GREY,
            bbox={"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1.0},
        )  # fmt: skip
        rate.set(ylabel="rate\n(spikes/s)", ylim=(0.0, None))
    panels[-1, 0].set_xlabel("time (ms)")
    return figure


FIGURE_3 = PaperResult(
    "figure",
    "3",
    "Spikes of 256 cells",
    0.03,
    measure_uniform,
    _show_uniform,
    draw=_draw,
    check=_check,
)
FIGURE_9 = PaperResult(
    "figure",
    "9",
    "Spikes of 256 cells in groups of 32 that burst one after another",
    0.03,
    measure_bursts,
    _show_bursts,
    draw=_draw,
    check=_check,
)
