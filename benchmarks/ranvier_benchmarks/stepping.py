"""Asynchronous stepping compared with bulk-synchronous stepping, in turn: `ranvier run layers` with both.

For each number of cells, threads and busy programs, the network of branched cells with the delays of a reconstructed
cortex runs with ``stepping=async`` and with ``stepping=bsp``, each in a separate process. The speed-up is the median
of the ratios of consecutive runs. The figure has the speed-up over the sizes of the networks and the distribution of
steps that shards take at a time, as Figure 7 (a) and (c) of Magalhães et al. (2019). Small networks run for longer, so
that all runs take at least about as long as one of 512 cells for 100 ms.

On several processes (``--ranks``), ``async`` also runs with a notification for each pair of shards, so that messages
can be compared with those of packed notifications, as in Table 2 of the paper.

With ``--at-once 1,4,32``, the networks also run with ``stepping=bsp`` and one delay of so many steps for all
synapses: all cells then take so many steps at a time, whatever the clocks of others. The time of a step over this
number is what could be gained.

With ``--loops 1`` another program computes all the time on one of the processors.

With ``--predict 8,32`` the times on so many processes are predicted, as Figure 7 (b) of the paper: the shards, their
delays and the rules of both ways of stepping are those of the network, a step takes as long as was measured, and a
message as long as is given. The speeds of threads differ at random, by ``--jitter`` of their mean and in each
millisecond anew.
"""

from __future__ import annotations

import argparse
import itertools
import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from ranvier.base.names import unknown_name
from ranvier.base.paths import check_destinations
from ranvier.commands import info
from ranvier.commands.keys import add_settings, signature_keys
from ranvier.commands.result_files import add_result_files
from ranvier.errors import ValueOutOfBoundsError
from ranvier.networks import layers
from ranvier_benchmarks import _stepping_forecast
from ranvier_benchmarks._in_turn import Comparison, Contestant, Report, run_in_turn
from ranvier_benchmarks._mpiexec import Mpiexec, find_mpiexec, is_crowded
from ranvier_benchmarks._results import ResultsFile
from ranvier_benchmarks._settings import Chosen, choose, recorded_options
from ranvier_benchmarks._stepping_events import Machine
from ranvier_benchmarks.contention import busy_programs

__all__ = ["add_arguments", "main"]

_STEPPINGS = ("async", "bsp")
# On several processes: what Table 2 calls "simple".
_SINGLE = "single"
_DENDRITES = ("hh", "pas")
_OWN_KEYS = ("cells", "dendrites", "delay")
_MOST = 2**20
_MOST_RANKS = 1024
# All networks do as much work as one of so many cells for so many ms.
_TIME, _CELLS_OF_TIME = 100.0, 512
# Predicted times are in ms. A visit takes so many seconds beside its steps: it reads the clocks of some hundred shards.
_PREDICTED_TIME, _VISIT = 20.0, 1e-6
# Times of messages in the networks of computing centres today, us.
_LATENCY, _OVERHEAD, _MOST_LATENCY = 2.0, 0.5, 1e6
_JITTER = "0,0.2"


@dataclass(frozen=True)
class _Case:
    """One network on so many processes and threads, beside so many busy programs."""

    cells: int
    dendrites: str
    ranks: int
    threads: int
    loops: int

    @property
    def name(self) -> str:
        beside = f", {self.loops} busy" if self.loops else ""
        return f"{self.cells} {self.dendrites}, {self.ranks} x {self.threads}{beside}"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--cells", default="32,128,512,2048", metavar="N,...", help="numbers of cells (default: %(default)s)"
    )
    parser.add_argument(
        "--dendrites", default="hh", metavar="NAME,...", help="of the cells: hh, pas (default: %(default)s)"
    )
    parser.add_argument("--threads", default="1", metavar="N,...", help="threads of a process (default: %(default)s)")
    parser.add_argument("--ranks", default="1", metavar="N,...", help="processes (default: %(default)s)")
    parser.add_argument(
        "--mpiexec",
        type=Path,
        metavar="FILE",
        help="mpiexec to use (default: that of the Python environment, otherwise of the system)",
    )
    parser.add_argument(
        "--loops", default="0", metavar="N,...", help="programs that compute meanwhile (default: %(default)s)"
    )
    parser.add_argument(
        "--at-once",
        default="",
        metavar="N,...",
        help="also run epochs of so many steps, on one process (default: none)",
    )
    parser.add_argument(
        "--predict", metavar="N,...", help="also predict the times on so many processes (default: none)"
    )
    parser.add_argument(
        "--jitter",
        metavar="X,...",
        help=f"standard deviations of the speed of threads, relative to the mean (default with --predict: {_JITTER})",
    )
    parser.add_argument(
        "--latency", type=float, metavar="US", help=f"of messages, us (default with --predict: {_LATENCY:g})"
    )
    parser.add_argument(
        "--overhead",
        type=float,
        metavar="US",
        help=f"of messages, at the sender and at the receiver, us (default with --predict: {_OVERHEAD:g})",
    )
    parser.add_argument("--repetitions", type=int, default=3, help="number of runs of each (default: %(default)s)")
    add_settings(
        parser,
        f"keys of ranvier run layers, but for those above; by default time is {_TIME:g} ms, and longer for fewer than "
        f"{_CELLS_OF_TIME} cells",
    )
    add_result_files(parser, "speed-ups and steps at a time")


def main(arguments: argparse.Namespace) -> int:
    """Run all cases, and print the results; return 1 if the two differed in their spikes."""
    cases = _cases(arguments)
    at_once = _numbers("--at-once", arguments.at_once, 1) if arguments.at_once else []
    forecast = _forecast(arguments, cases)
    chosen = choose(
        arguments.settings,
        layers,
        time=_TIME,
        presim=0.0,
        network={name: value for name, value in signature_keys(layers).items() if name not in _OWN_KEYS},
        refused={
            "cells": "give --cells",
            "dendrites": "give --dendrites",
            "delay": "give --at-once",
            "threads": "give --threads",
            "stepping": "leave it out: both are compared",
            "notifications": "leave it out: on several processes, both are compared",
            "recordings": "leave it out: spikes are compared",
        },
    )
    has_time = any(setting.startswith("time=") for setting in arguments.settings)
    check_destinations(arguments.json, arguments.plot)
    mpiexec = find_mpiexec(arguments.mpiexec) if any(case.ranks > 1 for case in cases) else None
    options = recorded_options(arguments, chosen)
    if mpiexec is not None:
        options["mpi"] = str(mpiexec.family)
    console = Console(highlight=False)
    file = ResultsFile(arguments.json, {"benchmark": "stepping", "options": options, "machine": info.gather()})
    results: list[dict[str, Any]] = []
    for case in cases:
        time = _time(case, chosen, has_time)
        ways = (*_STEPPINGS, _SINGLE) if case.ranks > 1 else _STEPPINGS
        contestants = [_contestant(case, chosen, mpiexec, time, way) for way in ways]

        def write(comparison: Comparison, case: _Case = case) -> None:
            if all(comparison.reports):
                file.update({"results": [*results, _result(case, comparison)]})

        with busy_programs(case.loops):
            comparison = run_in_turn(contestants, arguments.repetitions, console, write)
        results.append(_result(case, comparison))
    alone = [case for case in cases if case.ranks == 1 and at_once]
    epochs = [one for case in alone for one in _epochs(case, at_once, chosen, has_time, arguments.repetitions, console)]
    predicted = _predicted(results, chosen, forecast) if forecast else []
    _show(results, epochs, predicted, console)
    file.finish({"results": results, "epochs": epochs, "predicted": predicted}, console)
    if arguments.plot is not None:
        from ranvier_benchmarks import _figures, _stepping_figure

        _figures.save(_stepping_figure.draw(results, predicted), arguments.plot)
        console.print(f"  Figure in {arguments.plot}", style="dim", soft_wrap=True)
    different = [result["name"] for result in results if not result["same_spikes"]]
    if different:
        console.print(f"Spikes differ between async and bsp: {'; '.join(different)}", style="bold red")
    return 1 if different else 0


def _show(results: Sequence[Report], epochs: Sequence[Report], predicted: Sequence[Report], console: Console) -> None:
    console.print(_table(results))
    several = [result for result in results if result["ranks"] > 1]
    if several:
        console.print(_message_table(several))
    if epochs:
        console.print(_epoch_table(epochs))
    if predicted:
        console.print(_stepping_forecast.table(predicted))


def _cases(arguments: argparse.Namespace) -> list[_Case]:
    if arguments.repetitions < 1:
        raise ValueOutOfBoundsError("--repetitions", str(arguments.repetitions), "must be at least 1")
    dendrites = [name.strip() for name in arguments.dendrites.split(",")]
    for name in dendrites:
        if name not in _DENDRITES:
            unknown_name("--dendrites", name, list(_DENDRITES))
    ranks = _numbers("--ranks", arguments.ranks, 1)
    if max(ranks) > _MOST_RANKS:
        raise ValueOutOfBoundsError("--ranks", f"'{arguments.ranks}'", f"must be numbers from 1 to {_MOST_RANKS}")
    if max(ranks) == 1 and arguments.mpiexec is not None:
        raise ValueOutOfBoundsError("--mpiexec", str(arguments.mpiexec), "is used only with --ranks")
    chosen = itertools.product(
        dendrites,
        ranks,
        _numbers("--threads", arguments.threads, 1),
        _numbers("--loops", arguments.loops, 0),
        _numbers("--cells", arguments.cells, 1),
    )
    return [_Case(cells, name, processes, threads, loops) for name, processes, threads, loops, cells in chosen]


def _numbers(option: str, text: str, least: int) -> list[int]:
    numbers = []
    for part in text.split(","):
        if not part.strip().isdecimal() or not least <= int(part) <= _MOST:
            raise ValueOutOfBoundsError(option, f"'{text}'", f"must be numbers from {least} to {_MOST}")
        numbers.append(int(part))
    return list(dict.fromkeys(numbers))


def _forecast(arguments: argparse.Namespace, cases: Sequence[_Case]) -> _stepping_forecast.Forecast | None:
    if arguments.predict is None:
        for option in ("jitter", "latency", "overhead"):
            if getattr(arguments, option) is not None:
                raise ValueOutOfBoundsError(
                    f"--{option}", str(getattr(arguments, option)), "is used only with --predict"
                )
        return None
    ranks = _numbers("--predict", arguments.predict, 1)
    if max(ranks) > min(_MOST_RANKS, *(case.cells for case in cases)):
        raise ValueOutOfBoundsError(
            "--predict",
            f"'{arguments.predict}'",
            f"must be at most {_MOST_RANKS}, and each process has one cell at least",
            "give fewer processes, or more --cells",
        )
    if all(case.loops for case in cases):
        raise ValueOutOfBoundsError(
            "--loops", f"'{arguments.loops}'", "a prediction takes the time of a step from a run without busy programs"
        )
    jitter = arguments.jitter or _JITTER
    machine = Machine(
        threads=1,
        visit=_VISIT,
        latency=_microseconds("--latency", arguments.latency, _LATENCY),
        overhead=_microseconds("--overhead", arguments.overhead, _OVERHEAD),
    )
    threads = list(dict.fromkeys(case.threads for case in cases))
    jitters = list(dict.fromkeys(_jitter(jitter, part) for part in jitter.split(",")))
    return _stepping_forecast.Forecast(ranks, threads, jitters, machine, _PREDICTED_TIME)


def _microseconds(option: str, given: float | None, default: float) -> float:
    value = default if given is None else given
    if not 0.0 <= value <= _MOST_LATENCY:
        raise ValueOutOfBoundsError(option, str(value), f"must be from 0 to {_MOST_LATENCY:g}")
    return 1e-6 * value


def _jitter(whole: str, part: str) -> float:
    try:
        value = float(part)
    except ValueError:
        value = math.nan
    if not 0.0 <= value <= 1.0:
        raise ValueOutOfBoundsError("--jitter", f"'{whole}'", "must be numbers from 0 to 1")
    return value


def _predicted(
    results: Sequence[Report], chosen: Chosen, forecast: _stepping_forecast.Forecast
) -> list[dict[str, Any]]:
    """Predict each network, with the time of a step that it has on the fewest processes and threads."""
    measured: dict[tuple[int, str], Report] = {}
    for result in sorted(results, key=lambda each: (each["ranks"], each["threads"])):
        if not result["loops"]:
            measured.setdefault((result["cells"], result["dendrites"]), result)
    return [
        one
        for (cells, dendrites), result in measured.items()
        for one in _stepping_forecast.predict(chosen.network, cells, dendrites, _seconds_of_step(result), forecast)
    ]


def _seconds_of_step(result: Report) -> float:
    """Return what one thread takes for a compartment and step."""
    of_all: float = 1e-9 * result["bsp"]["ns_per_compartment_step"]
    threads: int = result["ranks"] * result["threads"]
    return of_all * threads


def _time(case: _Case, chosen: Chosen, has_time: bool) -> float:
    return chosen.time if has_time else _TIME * max(1.0, _CELLS_OF_TIME / case.cells)


def _epochs(
    case: _Case, at_once: Sequence[int], chosen: Chosen, has_time: bool, repetitions: int, console: Console
) -> list[dict[str, Any]]:
    """Run a network with epochs of so many steps each, in turn."""
    time = _time(case, chosen, has_time)
    resolution = chosen.network.get("resolution") or 0.025
    contestants = [_contestant(case, chosen, None, time, "bsp", steps * resolution) for steps in at_once]
    with busy_programs(case.loops):
        comparison = run_in_turn(contestants, repetitions, console)
    firsts = comparison.reports[0]
    return [
        {
            "name": case.name,
            "cells": case.cells,
            "dendrites": case.dendrites,
            "threads": case.threads,
            "loops": case.loops,
            "steps": steps,
            "seconds": [each["sim_s"] for each in reports],
            "ns_per_compartment_step": statistics.median(each["ns_per_compartment_step"] for each in reports),
            "speed_up": statistics.median(a["sim_s"] / b["sim_s"] for a, b in zip(firsts, reports, strict=True)),
        }
        for steps, reports in zip(at_once, comparison.reports, strict=True)
    ]


def _contestant(
    case: _Case, chosen: Chosen, mpiexec: Mpiexec | None, time: float, way: str, delay: float | None = None
) -> Contestant:
    keys: Mapping[str, Any] = {
        **chosen.network,
        **chosen.options,
        "cells": case.cells,
        "dendrites": case.dendrites,
        "threads": case.threads,
        "time": time,
        "presim": chosen.presim,
        **({"stepping": "async", "notifications": _SINGLE} if way == _SINGLE else {"stepping": way}),
        "delay": delay,
    }
    settings = [f"{key}={value}" for key, value in keys.items() if value is not None]
    crowded = is_crowded(case.ranks, case.threads)
    return Contestant(
        f"{case.name}, {way}" + ("" if delay is None else f", {delay:g} ms"),
        ("run", "layers", "--set", *settings),
        tuple(mpiexec.command(case.ranks, crowded)) if mpiexec is not None and case.ranks > 1 else (),
        mpiexec.environment(crowded) if mpiexec is not None and case.ranks > 1 else {},
    )


def _result(case: _Case, comparison: Comparison) -> dict[str, Any]:
    async_reports, bsp_reports, *_ = comparison.reports
    ratios = [
        bsp["sim_s"] / asynchronous["sim_s"] for asynchronous, bsp in zip(async_reports, bsp_reports, strict=False)
    ]
    report = async_reports[0]
    visits = [np.array(counts) for counts in report["visits_by_steps_by_rank"]]
    longest = max((len(counts) for counts in visits), default=0)
    return {
        "name": case.name,
        "cells": case.cells,
        "dendrites": case.dendrites,
        "ranks": case.ranks,
        "threads": case.threads,
        "loops": case.loops,
        "compartments": report["compartments"],
        "synapses": report["synapses"],
        "simulated_ms": report["simulated_ms"],
        "spikes": report["spikes"],
        "stepping": report["stepping"],
        "shards": sum(report["shards_by_rank"]),
        "speed_up": statistics.median(ratios),
        "ratios": ratios,
        "same_spikes": len({each["spike_digest"] for reports in comparison.reports for each in reports}) == 1,
        "visits_by_steps": np.sum([np.pad(each, (0, longest - len(each))) for each in visits], axis=0).tolist(),
        **{
            name: {
                "seconds": [each["sim_s"] for each in reports],
                "ns_per_compartment_step": statistics.median(each["ns_per_compartment_step"] for each in reports),
                "steps_per_visit": _mean(reports[0]["steps_per_visit_by_rank"]),
                "bytes_per_step": sum(reports[0]["bytes_per_step_by_rank"]),
                **_traffic(reports[0]),
                "wait": statistics.median(each["phases_s"]["wait"] / each["sim_s"] for each in reports),
            }
            for name, reports in zip((*_STEPPINGS, _SINGLE), comparison.reports, strict=False)
        },
    }


def _traffic(report: Report) -> dict[str, int]:
    """Return what all processes have sent."""
    return {
        name: sum(traffic[name] for traffic in report["traffic_by_rank"])
        for name in ("messages", "notifications", "bytes_sent", "exchanges")
    }


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values)


def _table(results: Sequence[Report]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("network", no_wrap=True)
    for heading in ("bsp\n(ns)", "async\n(ns)", "speed-up", "", "steps\n", "waits\n"):
        table.add_column(heading, justify="right", no_wrap=True)
    for result in results:
        asynchronous, bsp = result["async"], result["bsp"]
        table.add_row(
            result["name"],
            f"{bsp['ns_per_compartment_step']:.2f}",
            f"{asynchronous['ns_per_compartment_step']:.2f}",
            f"[bold]{result['speed_up']:.3f}[/]",
            f"({min(result['ratios']):.2f}-{max(result['ratios']):.2f})",
            f"{bsp['steps_per_visit']:.0f}, {asynchronous['steps_per_visit']:.0f}",
            f"{bsp['wait']:.0%}, {asynchronous['wait']:.0%}",
        )
    return table


def _message_table(results: Sequence[Report]) -> Table:
    """As Table 2 of the paper: what is sent with the communication reduce, and without."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("network", no_wrap=True)
    for heading in ("time (s)\npacked", "\nsingle", "\nbsp", "messages\npacked", "\nsingle", "\nbsp"):
        table.add_column(heading, justify="right", no_wrap=True)
    for result in results:
        ways = [result[name] for name in ("async", _SINGLE, "bsp")]
        table.add_row(
            result["name"],
            *(f"{statistics.median(way['seconds']):.3f}" for way in ways),
            *(f"{way['messages']:,}" for way in ways),
        )
    return table


def _epoch_table(epochs: Sequence[Report]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("bsp, one delay", no_wrap=True)
    for heading in ("steps\nat once", "(ns)\n", "speed-up\n"):
        table.add_column(heading, justify="right", no_wrap=True)
    for one in epochs:
        table.add_row(one["name"], str(one["steps"]), f"{one['ns_per_compartment_step']:.2f}", f"{one['speed_up']:.3f}")
    return table
