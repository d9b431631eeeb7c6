"""Real runs on this computer: one part gives the costs, and the other is predicted.

The runs to which costs are fitted and those that are predicted have other networks. Some numbers of processes, and a
method of exchange, are only among the latter. Times are medians of the repetitions: the run time of process 0, and the
mean computation of all processes.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from rich.console import Console
from rich.padding import Padding
from rich.table import Table

from ranvier.processes.machine import usable_processors
from ranvier_benchmarks._exchange_simulation.calibration import (
    COSTS,
    REAL_METHODS,
    Counts,
    Network,
    Quantity,
    fit,
    predict,
)
from ranvier_benchmarks._mpiexec import Mpiexec, run_worker

__all__ = ["FITTED_METHODS", "compare_with_real_runs", "compared", "counts_of_run", "show_comparison"]

FITTED_METHODS = ("allgather", "multisend", "persistent")
"""Methods to whose runs costs are fitted: two_phase sends the messages of multisend."""

_TOLERANCE = 0.25
_QUANTITIES: tuple[Quantity, ...] = ("run", "computation")
_FITTED_NETWORKS = ((512, 50), (4096, 50), (1024, 400), (2048, 200))
_PREDICTED_NETWORKS = ((2048, 100), (1024, 200), (2048, 500))
_BUFFER = 10


def compare_with_real_runs(
    mpiexec: Mpiexec,
    *,
    fitted_ranks: Sequence[int],
    predicted_ranks: Sequence[int],
    time: int,
    repetitions: int,
    on_progress: Callable[[str], None],
    on_results: Callable[[dict[str, Any]], None],
) -> dict[str, Any]:
    """Measure, fit and predict.

    Parameters
    ----------
    mpiexec
        Program that starts processes.
    fitted_ranks, predicted_ranks
        Numbers of processes of runs to which costs are fitted, and of those that are predicted.
    time, repetitions
        Milliseconds of each run, and number of runs.
    on_progress, on_results
        Called with what is measured next, and with the results so far.

    Returns
    -------
    dict
        `cores`, `costs` (s), and `runs`: of each its network, method and processes, `use` ("fit" or "prediction"),
        and for each quantity quartiles of the measured times and, if predicted, the prediction and the ratio.
    """
    cores = float(usable_processors())
    results: dict[str, Any] = {"cores": cores, "repetitions": repetitions, "runs": []}
    measured: list[tuple[Counts, Quantity, float]] = []
    plan = [
        *(("fit", *each) for each in itertools.product(_FITTED_NETWORKS, fitted_ranks)),
        *(("prediction", *each) for each in itertools.product(_PREDICTED_NETWORKS, predicted_ranks)),
    ]
    for use, size, processes in plan:
        network = Network(*size, time)
        methods = FITTED_METHODS if use == "fit" else tuple(REAL_METHODS)
        title = f"{processes} processes, {network.cells:,} cells, {network.connections} inputs"
        on_progress(title)
        report = run_worker(
            mpiexec,
            "ranvier_benchmarks._exchange_worker",
            {
                "function": "ranvier.networks:interval_fire",
                "network": {"cells": network.cells, "connections": network.connections, "delay": 1.0},
                "options": {"allgather_spikes": _BUFFER},
                "time": time,
                "repetitions": repetitions,
                "contestants": [(method, 1, False) for method in methods],
                "once": False,
            },
            ranks=processes,
            threads=1,
            on_progress=lambda text, title=title: on_progress(f"{title}: {text}"),  # type: ignore[misc]
        )
        for index, method in enumerate(methods):
            runs = [run for run in report["runs"] if run["contestant"] == index]
            counts = counts_of_run(method, runs[0])
            times = _times(runs)
            if use == "fit":
                measured += [(counts, quantity, times[quantity]["median"]) for quantity in _QUANTITIES]
            results["runs"].append(
                {
                    "use": use,
                    "processes": processes,
                    "cells": network.cells,
                    "connections": network.connections,
                    "time": time,
                    "method": method,
                    "digest": runs[0]["digest"],
                    "rounds": int(np.median([max(run["ranks"]["rounds"]) for run in runs])),
                    "times": times,
                }
            )
        on_results(results)
    costs = fit(measured, cores)
    results["costs"] = costs
    for run in results["runs"]:
        if run["use"] != "prediction":
            continue
        on_progress(f"simulation of {run['processes']} processes, {run['method']}")
        network = Network(run["cells"], run["connections"], time)
        result = predict(costs, cores, run["method"], network, run["processes"])
        run["predicted_rounds"] = int(result.rounds.sum())
        for quantity, seconds in (("run", result.run_time), ("computation", float(result.mean.sum()))):
            run["times"][quantity] |= {"predicted": seconds, "ratio": seconds / run["times"][quantity]["median"]}
    results["summary"] = compared(results)
    return results


def counts_of_run(method: str, run: dict[str, Any]) -> Counts:
    """Return the counts of a real run, from the report of its worker."""
    of_ranks = run["ranks"]
    processes = len(of_ranks["rounds"])
    imbalance = run["imbalance"]
    # With an all-gather, each spike arrives at all other processes.
    messages = run["spikes"] * (processes - 1) if method == "allgather" else sum(of_ranks["messages"])
    return Counts(
        method=method,
        processes=processes,
        intervals=run["interval_count"],
        events=float(run["events"]),
        spikes=float(run["spikes"]),
        messages=float(messages),
        collectives=float(max(of_ranks["rounds"])),
        imbalance=(imbalance["synaptic_events"], imbalance["spikes_received"]),
    )


def _times(runs: Sequence[dict[str, Any]]) -> dict[str, dict[str, float]]:
    seconds = {
        "run": [run["ranks"]["total"][0] for run in runs],
        "computation": [float(np.mean(run["ranks"]["computation"])) for run in runs],
    }
    return {
        name: dict(zip(("lower", "median", "upper"), np.quantile(values, (0.25, 0.5, 0.75)).tolist(), strict=True))
        for name, values in seconds.items()
    }


def compared(results: dict[str, Any]) -> list[dict[str, Any]]:
    """Return how many predictions are within the tolerance, for each quantity, with and without shared cores."""
    found = []
    for quantity in _QUANTITIES:
        for crowded in (False, True):
            ratios = [
                run["times"][quantity]["ratio"]
                for run in results["runs"]
                if run["use"] == "prediction" and (run["processes"] > results["cores"]) == crowded
            ]
            if ratios:
                logarithms = np.log(ratios)
                found.append(
                    {
                        "quantity": quantity,
                        "crowded": crowded,
                        "predictions": len(ratios),
                        "within_25_percent": sum(abs(ratio - 1.0) <= _TOLERANCE for ratio in ratios),
                        "least_ratio": min(ratios),
                        "median_ratio": float(np.exp(np.median(logarithms))),
                        "greatest_ratio": max(ratios),
                    }
                )
    return found


def show_comparison(console: Console, results: dict[str, Any]) -> None:
    """Print costs and predictions."""
    cores = results["cores"]
    console.print(f"\n[bold]Costs[/], fitted to runs on {cores:g} processors", soft_wrap=True)
    lines = _table("", "us", "")
    for name, meaning in COSTS.items():
        lines.add_row(name, f"{1e6 * results['costs'][name]:.4g}", meaning)
    console.print(Padding(lines, (0, 0, 0, 2)))
    console.print(
        f"\n[bold]Predicted runs[/]: ms, medians and quartiles of {results['repetitions']} runs", soft_wrap=True
    )
    lines = _table(
        "processes", "cells", "inputs", "method", "run", "predicted", "ratio", "computation", "predicted", "ratio"
    )
    for run in results["runs"]:
        if run["use"] == "prediction":
            texts = []
            for quantity in ("run", "computation"):
                times = run["times"][quantity]
                lower, median, upper, predicted = (
                    1e3 * times[key] for key in ("lower", "median", "upper", "predicted")
                )
                texts += [f"{median:.3g} ({lower:.3g}-{upper:.3g})", f"{predicted:.3g}", f"{times['ratio']:.2f}"]
            lines.add_row(str(run["processes"]), f"{run['cells']:,}", str(run["connections"]), run["method"], *texts)
    console.print(Padding(lines, (0, 0, 0, 2)))
    console.print()
    for one in results["summary"]:
        where = "more processes than processors" if one["crowded"] else "a processor for each process"
        console.print(
            f"  {one['quantity']}, {where}: {one['within_25_percent']} of {one['predictions']} within 25 %, ratios "
            f"{one['least_ratio']:.2f} to {one['greatest_ratio']:.2f}, median {one['median_ratio']:.2f}",
            soft_wrap=True,
        )
    if any(one["crowded"] for one in results["summary"]):
        console.print(
            "  Computation is the work of a process alone. With more processes than processors, the measured one "
            "includes the turns of others that fall into it.",
            style="dim",
            soft_wrap=True,
        )


def _table(*headings: str) -> Table:
    table = Table(box=None, padding=(0, 1), collapse_padding=True, pad_edge=False, header_style="dim")
    for heading in headings:
        table.add_column(heading, justify="left" if heading in ("", "method") else "right", no_wrap=True)
    return table
