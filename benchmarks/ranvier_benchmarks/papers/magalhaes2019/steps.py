"""Figure 7 (c): distribution of the steps that cells take at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from rich.console import Console

from ranvier.figures.style import COLOURS, Figure, new_figure, styled
from ranvier_benchmarks._in_turn import run_once
from ranvier_benchmarks.papers._paper import Measured, PaperResult, Progress
from ranvier_benchmarks.papers.magalhaes2019._runs import check_cells, contestant, print_table, steps_of_visits

__all__ = ["FIGURE_7C", "quantiles"]

# The steps of cells depend on their delays alone, so these are small.
_SMALL = {"compartment_length": 200.0, "separate_sites": False, "morphologies": "drawn"}
_PARTS = (0.1, 0.5, 0.9)


def _check(*, cells: tuple[int, ...], synapses: int, probability: float, time: float, seed: int) -> None:
    check_cells(cells, {**_SMALL, "synapses": synapses, "probability": probability, "seed": seed})


def measure_steps(
    progress: Progress,
    *,
    cells: tuple[int, ...] = (16, 32, 64, 128, 256),
    synapses: int = 250,
    probability: float = 0.1,
    time: float = 20.0,
    seed: int = 1,
) -> Measured:
    """Count the steps of the visits of each cell, on one thread, which visits the earliest cell first.

    Parameters
    ----------
    cells
        Numbers of cells, each of which is a shard.
    synapses, probability, seed
        As in `ranvier.networks.column`.
    time
        Biological time, ms.
    """
    keys = {**_SMALL, "synapses": synapses, "probability": probability, "seed": seed}
    networks: list[dict[str, Any]] = []
    for count in cells:
        progress.step(f"{count:,} cells")
        options = {"threads": 1, "stepping": "async", "shards": count}
        report = run_once(contestant(f"{count} cells", {**keys, "cells": count}, time=time, options=options))
        visits = steps_of_visits(report)
        networks.append(
            {
                "cells": count,
                "sources_of_cell": report["synapses"] / count / 5.0,
                "visits_by_steps": visits,
                "mean": float(np.dot(visits, np.arange(len(visits))) / sum(visits)),
                "quantiles": quantiles(visits, _PARTS),
            }
        )
        progress.keep({"networks": networks})
    return {"networks": networks}


def quantiles(visits: Sequence[int], parts: Sequence[float]) -> list[int]:
    """Return the steps that these parts of visits take at most."""
    shares = np.cumsum(visits) / np.sum(visits)
    return [int(np.searchsorted(shares, part)) for part in parts]


def _show(measured: Measured, console: Console) -> None:
    rows = [
        (
            f"{each['cells']:,}",
            f"{each['sources_of_cell']:.1f}",
            f"{each['mean']:.1f}",
            *(str(steps) for steps in each["quantiles"]),
        )
        for each in measured["networks"]
    ]
    headings = ("cells", "sources of a cell", "mean steps", "a tenth, at most", "half", "nine tenths")
    print_table(console, "Steps of a cell at a time; bulk-synchronous stepping takes 4", headings, rows)
    console.print("  The paper has a figure only, without numbers in its text.", style="dim")


@styled
def _draw(measured: Sequence[Measured]) -> Figure:
    figure = new_figure(6.0, 4.0, "Steps that a cell takes at a time")
    axes = figure.add_subplot()
    for place, each in enumerate(measured[0]["networks"]):
        counts = np.asarray(each["visits_by_steps"], dtype=np.float64)
        axes.step(
            np.arange(len(counts)),
            counts / counts.sum(),
            where="mid",
            color=COLOURS[place % len(COLOURS)],
            linewidth=1.3,
            label=f"{each['cells']:,} cells, mean {each['mean']:.0f}",
        )
    axes.set(xlabel="steps of 0.025 ms", ylabel="share of visits", xlim=(0.0, None), ylim=(0.0, None))
    axes.legend(frameon=False, fontsize=8)
    return figure


FIGURE_7C = PaperResult(
    kind="figure",
    number="7C",
    title="Distribution of the steps that cells take at a time",
    minutes=1.0,
    measure=measure_steps,
    full={"cells": (16, 32, 64, 128, 256, 512, 1024, 2048), "synapses": 1000, "time": 100.0},
    check=_check,
    show=_show,
    draw=_draw,
)
