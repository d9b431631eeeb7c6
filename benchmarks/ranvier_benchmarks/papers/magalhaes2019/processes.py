"""Figure 7 (b): asynchronous and bulk-synchronous stepping on several processes, run and predicted."""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
from rich.console import Console

from ranvier.base.numeric import number, whole_number
from ranvier.errors import ValueOutOfBoundsError
from ranvier.figures.style import COLOURS, GREY, Figure, new_figure, styled
from ranvier_benchmarks._in_turn import run_in_turn
from ranvier_benchmarks._mpiexec import check_startable, find_mpiexec
from ranvier_benchmarks._stepping_events import Machine, run_async, run_bsp
from ranvier_benchmarks._stepping_forecast import as_shards, synapses_of
from ranvier_benchmarks.papers._paper import Measured, PaperResult, Progress
from ranvier_benchmarks.papers.magalhaes2019 import published
from ranvier_benchmarks.papers.magalhaes2019._runs import check_cells, contestant, make_column, print_table

__all__ = ["FIGURE_7B"]

# Of a visit, beside its steps (s); biological time of a prediction (ms).
_VISIT, _PREDICTED_TIME = 1e-6, 20.0
_MOST_PROCESSES = 1024


def _check(
    *,
    cells: tuple[int, ...],
    ranks: tuple[int, ...],
    predicted: tuple[int, ...],
    morphologies: str,
    compartment_length: float,
    synapses: int,
    latency_us: float,
    overhead_us: float,
    jitter: float,
    time: float,
    repetitions: int,
    seed: int,
) -> None:
    keys = {"morphologies": morphologies, "compartment_length": compartment_length, "synapses": synapses, "seed": seed}
    check_cells(cells, keys)
    check_startable("key ranks", ranks)
    for name, counts in (("ranks", ranks), ("predicted", predicted)):
        for count in counts:
            whole_number(f"key {name}", count, 2, min(*cells, _MOST_PROCESSES))
    whole_number("key repetitions", repetitions, 1, 1_000_000)
    for name, value, most in (
        ("latency_us", latency_us, 1e6),
        ("overhead_us", overhead_us, 1e6),
        ("jitter", jitter, 1.0),
    ):
        if not 0.0 <= number(f"key {name}", value) <= most:
            raise ValueOutOfBoundsError(f"key {name}", str(value), f"it must be from 0 to {most:g}")
    if not number("key time", time) > 0.0:
        raise ValueOutOfBoundsError("key time", f"{time} ms", "it must be > 0")


def measure_processes(
    progress: Progress,
    *,
    cells: tuple[int, ...] = (32, 64),
    ranks: tuple[int, ...] = (2, 4),
    predicted: tuple[int, ...] = (2, 4, 8, 16, 32),
    morphologies: str = "drawn",
    compartment_length: float = 20.0,
    synapses: int = 250,
    latency_us: float = 2.0,
    overhead_us: float = 0.5,
    jitter: float = 0.2,
    time: float = 20.0,
    repetitions: int = 2,
    seed: int = 1,
) -> Measured:
    """Run the network `column` on some processes with both ways of stepping, and predict it on more.

    A prediction has the synapses and delays of the network, the rules of the engine, and the time of a step on one
    process; messages take the times that are given. See `ranvier bench stepping --predict`.

    Parameters
    ----------
    cells
        Numbers of cells, each of which is a shard.
    ranks, predicted
        Numbers of processes that run, and that are predicted.
    morphologies, compartment_length, synapses, seed
        As in Figure 7 (a).
    latency_us, overhead_us
        Of a message: on its way, and at either end.
    jitter
        Standard deviation of the speed of a process, relative to the mean; predictions without it are made, too.
    time
        Biological time of runs, ms.
    repetitions
        Runs of each, in turn.
    """
    mpiexec = find_mpiexec(progress.mpiexec)
    machine = Machine(threads=1, visit=_VISIT, latency=1e-6 * latency_us, overhead=1e-6 * overhead_us)
    networks: list[dict[str, Any]] = []
    for count in cells:
        keys = {
            "cells": count,
            "morphologies": morphologies,
            "compartment_length": compartment_length,
            "synapses": synapses,
            "seed": seed,
        }
        real: list[dict[str, Any]] = []
        for processes in (1, *ranks):
            progress.step(f"{count:,} cells on {processes} processes")
            options: dict[str, dict[str, Any]] = {
                "async": {"stepping": "async", "shards": -(-count // processes)},
                "bsp": {"stepping": "bsp"},
            }
            runs = [
                contestant(name, keys, time=time, options={"threads": 1, **way}, mpiexec=mpiexec, ranks=processes)
                for name, way in options.items()
            ]
            ours, theirs = run_in_turn(runs, repetitions, Console(quiet=True)).reports
            real.append(
                {
                    "ranks": processes,
                    "seconds": {"async": [each["sim_s"] for each in ours], "bsp": [each["sim_s"] for each in theirs]},
                    "speed_ups": [b["sim_s"] / a["sim_s"] for a, b in zip(ours, theirs, strict=True)],
                    "same_spikes": len({each["spike_digest"] for each in (*ours, *theirs)}) == 1,
                    "ns_per_compartment_step": statistics.median(each["ns_per_compartment_step"] for each in ours),
                }
            )
        progress.step(f"{count:,} cells, predicted")
        network = synapses_of(make_column(keys))
        seconds = 1e-9 * real[0]["ns_per_compartment_step"]
        steps = round(_PREDICTED_TIME / network.resolution)
        forecasts = []
        for processes in predicted:
            shards = as_shards(network, processes, count // processes, seconds)
            for spread in dict.fromkeys((0.0, jitter)):
                with_jitter = replace(machine, jitter=spread)
                bsp, own = run_bsp(shards, with_jitter, steps), run_async(shards, with_jitter, steps)
                forecasts.append(
                    {
                        "ranks": processes,
                        "jitter": spread,
                        "speed_up": bsp.seconds / own.seconds,
                        "bsp": vars(bsp),
                        "async": vars(own),
                    }
                )
        networks.append({"cells": count, "real": real, "predicted": forecasts})
        progress.keep({"networks": networks})
    return {"networks": networks}


def _show(measured: Measured, console: Console) -> None:
    rows = [
        (
            f"{network['cells']:,}",
            str(each["ranks"]),
            *(f"{statistics.median(each['seconds'][way]):.3f}" for way in ("async", "bsp")),
            f"{statistics.median(each['speed_ups']):.2f}",
        )
        for network in measured["networks"]
        for each in network["real"]
    ]
    print_table(console, "Run here", ("cells", "processes", "async (s)", "bsp (s)", "speed-up"), rows)
    rows = [
        (
            f"{network['cells']:,}",
            str(each["ranks"]),
            f"{each['jitter']:.0%}",
            f"{each['speed_up']:.2f}",
            f"{each['bsp']['wait']:.0%}",
            f"{each['async']['wait']:.0%}",
        )
        for network in measured["networks"]
        for each in network["predicted"]
    ]
    print_table(console, "Predicted", ("cells", "processes", "jitter", "speed-up", "bsp waits", "async waits"), rows)
    rows = [(f"{cells:,}", f"{gain:.2f}") for cells, gain in published.SPEED_UPS_ON_NODES.items()]
    print_table(console, f"Paper, {published.NODES} nodes of a Cray XE6", ("cells", "speed-up"), rows)
    for network in measured["networks"]:
        for each in network["real"]:
            if not each["same_spikes"]:
                console.print(
                    f"  Spikes of {network['cells']} cells on {each['ranks']} processes differ between async and bsp",
                    style="bold red",
                )


@styled
def _draw(measured: Sequence[Measured]) -> Figure:
    figure = new_figure(6.5, 4.2, "Asynchronous stepping on several processes")
    axes = figure.add_subplot()
    ticks: set[int] = {published.NODES}
    for place, network in enumerate(measured[0]["networks"]):
        colour = COLOURS[place % len(COLOURS)]
        for style, jitter in zip(
            ("-", "--"), dict.fromkeys(each["jitter"] for each in network["predicted"]), strict=False
        ):
            chosen = [each for each in network["predicted"] if each["jitter"] == jitter]
            axes.plot(
                [each["ranks"] for each in chosen],
                [each["speed_up"] for each in chosen],
                color=colour,
                linestyle=style,
                label=f"{network['cells']:,} cells, predicted, speeds differ by {jitter:.0%}",
            )
            ticks |= {each["ranks"] for each in chosen}
        axes.plot(
            [each["ranks"] for each in network["real"]],
            [statistics.median(each["speed_ups"]) for each in network["real"]],
            color=colour,
            linestyle="none",
            marker="o",
            markerfacecolor="none",
            label=f"{network['cells']:,} cells, run",
        )
        ticks |= {each["ranks"] for each in network["real"]}
    gains = list(published.SPEED_UPS_ON_NODES.values())
    axes.plot([published.NODES] * len(gains), gains, color=GREY, linestyle="none", marker="x", label="paper")
    axes.axhline(1.0, color=GREY, linewidth=0.8)
    axes.set(xscale="log", xlabel="processes", ylabel="time of bsp / time of async")
    axes.xaxis.set_major_locator(FixedLocator(sorted(ticks)))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,.0f}"))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.legend(frameon=False, fontsize=8)
    return figure


FIGURE_7B = PaperResult(
    kind="figure",
    number="7B",
    title="Asynchronous and bulk-synchronous stepping on several processes, run and predicted",
    minutes=2.0,
    measure=measure_processes,
    full={"cells": (256, 1024), "predicted": (32, 64, 128, 256), "compartment_length": 5.0, "time": 100.0},
    check=_check,
    show=_show,
    draw=_draw,
)
