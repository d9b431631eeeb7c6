"""Figure 7 (a): asynchronous and bulk-synchronous stepping on one computer, beside NEURON."""

from __future__ import annotations

import statistics
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
from rich.console import Console

from ranvier.base.numeric import number, whole_number
from ranvier.base.python_process import python_command
from ranvier.errors import ValueOutOfBoundsError
from ranvier.figures.style import COLOURS, GREY, Figure, new_figure, styled
from ranvier_benchmarks._cortical_mechanisms import compile_mechanisms
from ranvier_benchmarks._in_turn import Contestant, run_in_turn
from ranvier_benchmarks._peers import require_peer
from ranvier_benchmarks.papers._paper import Measured, PaperResult, Progress
from ranvier_benchmarks.papers.magalhaes2019 import published
from ranvier_benchmarks.papers.magalhaes2019._runs import (
    bytes_of_step,
    check_cells,
    contestant,
    folder_of,
    print_table,
    steps_of_visits,
)

__all__ = ["FIGURE_7A"]

_ASYNC, _BSP, _TOGETHER, _NEURON = "async", "bsp", "bsp, cells together", "NEURON"
_RESOLUTION = 0.025  # ms


def _check(
    *,
    cells: tuple[int, ...],
    morphologies: str,
    compartment_length: float,
    synapses: int,
    threads: int,
    at_once: tuple[int, ...],
    time: float,
    repetitions: int,
    neuron: bool,
    seed: int,
) -> None:
    keys = {
        "morphologies": morphologies,
        "compartment_length": compartment_length,
        "synapses": synapses,
        "seed": seed,
    }
    check_cells(cells, keys)
    whole_number("key threads", threads, 1, min(cells))
    whole_number("key repetitions", repetitions, 1, 1_000_000)
    for steps in at_once:
        whole_number("key at_once", steps, 1, 400)
    if not number("key time", time) > 0.0:
        raise ValueOutOfBoundsError("key time", f"{time} ms", "it must be > 0")
    if neuron:
        require_peer("NEURON", "neuron")


def measure_one_node(
    progress: Progress,
    *,
    cells: tuple[int, ...] = (16, 64),
    morphologies: str = "drawn",
    compartment_length: float = 10.0,
    synapses: int = 1000,
    threads: int = 1,
    at_once: tuple[int, ...] = (1, 4, 32),
    time: float = 20.0,
    repetitions: int = 3,
    neuron: bool = True,
    seed: int = 1,
) -> Measured:
    """Run the network `column` with both ways of stepping, each cell a shard, and in NEURON, in turn.

    Parameters
    ----------
    cells
        Numbers of cells.
    morphologies
        "drawn", "bmtk" for five reconstructed cells of the package BMTK, or a folder.
    compartment_length, synapses, seed
        As in `ranvier.networks.column`.
    threads
        Threads of each program.
    at_once
        Also run bulk-synchronously with one delay of so many steps for all synapses: the gain of longer visits,
        whatever the clocks of others.
    time
        Biological time, ms.
    repetitions
        Runs of each, in turn.
    neuron
        Whether NEURON takes part; its compiler is needed.
    """
    quiet = Console(quiet=True)
    networks: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as folder:
        if neuron:
            progress.step("compiling mechanisms for NEURON")
            compile_mechanisms(Path(folder))
        for count in cells:
            keys = {
                "cells": count,
                "morphologies": morphologies,
                "compartment_length": compartment_length,
                "synapses": synapses,
                "seed": seed,
            }
            ways: dict[str, dict[str, Any]] = {
                _ASYNC: {"stepping": "async", "shards": count},
                _BSP: {"stepping": "bsp", "shards": count},
                _TOGETHER: {"stepping": "bsp"},
            }
            runs = [
                contestant(name, keys, time=time, options={"threads": threads, **options})
                for name, options in ways.items()
            ]
            if neuron:
                runs.append(_neuron(keys, time, threads, folder))
            progress.step(f"{count:,} cells")
            reports = run_in_turn(runs, repetitions, quiet).reports
            delays = [
                contestant(
                    f"{steps} steps",
                    {**keys, "delay": steps * _RESOLUTION},
                    time=time,
                    options={"threads": threads, **ways[_BSP]},
                )
                for steps in at_once
            ]
            progress.step(f"{count:,} cells, one delay")
            longer = run_in_turn(delays, repetitions, quiet).reports if delays else []
            names = [run.name for run in runs]
            first = reports[0][0]
            networks.append(
                {
                    "cells": count,
                    "compartments": first["compartments"],
                    "synapses": count * synapses,
                    "connected_synapses": first["synapses"],
                    "spikes": first["spikes"],
                    "neuron_spikes": reports[-1][0]["spikes"] if neuron else None,
                    "same_spikes": len({each["spike_digest"] for runs in reports[:3] for each in runs}) == 1,
                    "seconds": {
                        name: [each["sim_s"] for each in runs] for name, runs in zip(names, reports, strict=True)
                    },
                    "speed_ups": {
                        name: [b["sim_s"] / a["sim_s"] for a, b in zip(reports[0], runs, strict=True)]
                        for name, runs in zip(names, reports, strict=True)
                        if name != _ASYNC
                    },
                    "visits_by_steps": steps_of_visits(first),
                    "bytes_of_step": bytes_of_step(first, count, synapses),
                    "at_once": {
                        str(steps): [each["sim_s"] for each in runs]
                        for steps, runs in zip(at_once, longer, strict=True)
                    },
                }
            )
            progress.keep({"networks": networks})
    return {"networks": networks}


def _neuron(keys: dict[str, Any], time: float, threads: int, folder: str) -> Contestant:
    given = {**keys, "morphologies": folder_of(str(keys["morphologies"])), "time": time, "threads": threads}
    settings = [f"{key}={value}" for key, value in given.items() if value != ""]
    return Contestant(
        _NEURON,
        ("--mechanisms", folder, "--set", *settings),
        program=tuple(python_command("-m", "ranvier_benchmarks.neuron_column")),
    )


def _show(measured: Measured, console: Console) -> None:
    rows: list[tuple[str, ...]] = []
    for each in measured["networks"]:
        seconds = {name: statistics.median(values) for name, values in each["seconds"].items()}
        ups = {name: statistics.median(values) for name, values in each["speed_ups"].items()}
        rows.append(
            (
                f"{each['cells']:,}",
                *(f"{seconds[name]:.3f}" if name in seconds else "" for name in (_ASYNC, _BSP, _TOGETHER, _NEURON)),
                *(f"{ups[name]:.2f}" if name in ups else "" for name in (_BSP, _TOGETHER, _NEURON)),
                _published(each["cells"]),
            )
        )
    headings: tuple[str, ...] = (
        "cells",
        "async\n(s)",
        "bsp\n(s)",
        "bsp, cells\ntogether (s)",
        "NEURON\n(s)",
        "bsp /\nasync",
        "together\n/ async",
        "NEURON\n/ async",
        "paper,\nXeon 6140",
    )
    print_table(console, "Time of the simulation", headings, rows)
    rows = []
    for each in measured["networks"]:
        state, inputs = each["bytes_of_step"]["state"], each["bytes_of_step"]["inputs"]
        once = {int(steps): statistics.median(values) for steps, values in each["at_once"].items()}
        base = once[min(once)] if once else 0.0
        rows.append(
            (
                f"{each['cells']:,}",
                f"{each['compartments'] / each['cells']:,.0f}",
                f"{state / 1e3:,.0f}",
                f"{inputs / 1e3:,.0f}",
                f"{each['cells'] * (state + inputs) / 1e6:,.1f}",
                *(f"{base / value:.2f}" for value in once.values()),
            )
        )
    steps = [int(each) for each in measured["networks"][0]["at_once"]]
    headings = (
        "cells",
        "compartments\nof a cell",
        "state of\na cell (kB)",
        "inputs of\na step (kB)",
        "all cells\n(MB)",
        *(f"{each} step{'s' if each > 1 else ''}\nat once" for each in steps),
    )
    print_table(console, "What a step moves, and the speed-up with more steps at once in bsp", headings, rows)
    rows = [(name, f"{greatest:.2f}", f"{least:.2f}") for name, (greatest, least) in published.SPEED_UPS.items()]
    print_table(console, "Speed-ups of the paper over NEURON", ("", "greatest", "least"), rows)
    for each in measured["networks"]:
        if not each["same_spikes"]:
            console.print(f"  Spikes of {each['cells']} cells differ between ways of stepping", style="bold red")


def _published(cells: int) -> str:
    known = dict(zip((16, 2048), published.SPEED_UPS["Intel Xeon 6140"], strict=True))
    return f"{known[cells]:.2f}" if cells in known else ""


@styled
def _draw(measured: Sequence[Measured]) -> Figure:
    figure = new_figure(11.0, 4.2, "Asynchronous stepping on one computer")
    times, ups = figure.subplots(1, 2)
    several = len(measured) > 1
    for machine, each in enumerate(measured):
        networks = each["networks"]
        cells = [network["cells"] for network in networks]
        suffix = f", file {machine + 1}" if several else ""
        for place, name in enumerate(networks[0]["seconds"]):
            look: dict[str, Any] = {
                "color": COLOURS[place % len(COLOURS)],
                "marker": "osD^"[place % 4],
                "linestyle": ("-", "--", ":")[machine % 3],
                "markersize": 5,
                "label": f"{name}{suffix}",
            }
            times.plot(cells, [statistics.median(network["seconds"][name]) for network in networks], **look)
            if name != _ASYNC:
                ups.plot(cells, [statistics.median(network["speed_ups"][name]) for network in networks], **look)
    ups.plot(
        (16, 2048),
        published.SPEED_UPS["Intel Xeon 6140"],
        color=GREY,
        marker="x",
        linestyle=":",
        label="paper, Xeon 6140",
    )
    ups.axhline(1.0, color=GREY, linewidth=0.8)
    times.set(yscale="log", ylabel="time (s)")
    times.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ups.set(yscale="log", ylabel="time / time of async")
    ups.yaxis.set_major_locator(FixedLocator([0.5, 1, 1.5, 2, 4, 8, 16, 32]))
    ups.yaxis.set_minor_locator(NullLocator())
    ups.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:g}"))
    ticks = sorted({network["cells"] for each in measured for network in each["networks"]})
    for axes in (times, ups):
        axes.set(xscale="log", xlabel="cells")
        axes.xaxis.set_major_locator(FixedLocator(ticks if axes is times else sorted({*ticks, 16, 2048})))
        axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
        axes.xaxis.set_minor_locator(NullLocator())
        axes.legend(frameon=False, fontsize=8)
    return figure


FIGURE_7A = PaperResult(
    kind="figure",
    number="7A",
    title="Time of asynchronous and bulk-synchronous stepping on one computer, beside NEURON",
    minutes=5.0,
    measure=measure_one_node,
    full={
        "cells": (16, 32, 64, 128, 256, 512, 1024, 2048),
        "morphologies": "bmtk",
        "compartment_length": 5.0,
        "time": 100.0,
    },
    check=_check,
    show=_show,
    draw=_draw,
)
