"""Threads or processes on a busy machine: compare several of them with one while other programs use the processors.

The benchmark starts programs that compute all the time, each in its own session like another user's program, and runs
networks while they compute: with several threads and with one thread, or with ``--ranks`` on several processes with one
thread each and on one process, in turn. The ratio is the median of the ratios of consecutive runs: above 1, several
were slower than one. Ranvier checks whether its threads get their processors. If they do not, some threads rest, and
processes sleep while they wait for each other; the last columns show this.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from ranvier.base.paths import check_writable
from ranvier.base.python_process import python_command
from ranvier.commands import info
from ranvier.commands.result_files import add_result_files
from ranvier.errors import ValueOutOfBoundsError
from ranvier.networks import NetworkModel, brunel, microcircuit
from ranvier.processes.machine import usable_processors
from ranvier_benchmarks._in_turn import Comparison, Contestant, Report, run_in_turn
from ranvier_benchmarks._mpiexec import Mpiexec, find_mpiexec, is_crowded
from ranvier_benchmarks._results import ResultsFile
from ranvier_benchmarks._settings import Chosen, add_bench_settings, choose, recorded_options

__all__ = ["add_arguments", "busy_programs", "main"]

_NETWORKS: dict[str, Callable[..., NetworkModel]] = {"microcircuit": microcircuit, "brunel": brunel}
_TIME, _PRESIM = 2000.0, 100.0
_MOST_RANKS = 1024


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--networks", default="microcircuit,brunel", metavar="NAME,...", help="networks to run (default: %(default)s)"
    )
    parser.add_argument(
        "--loops", default="0,1,2", metavar="N,...", help="numbers of busy programs (default: %(default)s)"
    )
    parser.add_argument(
        "--ranks",
        type=int,
        metavar="N",
        help="compare this many processes with one thread each, instead of threads, with one",
    )
    parser.add_argument(
        "--mpiexec",
        type=Path,
        metavar="FILE",
        help="mpiexec to use (default: that of the Python environment, otherwise of the system)",
    )
    parser.add_argument("--repetitions", type=int, default=3, help="number of runs of each (default: %(default)s)")
    add_bench_settings(
        parser, f"time={_TIME:g} presim={_PRESIM:g} threads={usable_processors()}, compared with threads=1"
    )
    add_result_files(parser)


def main(arguments: argparse.Namespace) -> int:
    """Run all networks under all loads, and print the results; return 1 if runs of a network differ in their spikes."""
    names = [name.strip() for name in arguments.networks.split(",")]
    loads = [_number_of_loops(text) for text in arguments.loops.split(",")]
    _check(arguments, names)
    chosen = {name: _choose(arguments, name) for name in names}
    mpiexec = None if arguments.ranks is None else find_mpiexec(arguments.mpiexec)
    console = Console(highlight=False)
    file = ResultsFile(
        arguments.json,
        {
            "benchmark": "contention",
            "machine": info.gather(),
            "options": {
                **recorded_options(arguments, chosen[names[0]]),
                "mpi": None if mpiexec is None else mpiexec.family.name,
            },
        },
    )
    results: list[dict[str, Any]] = []
    digests: dict[str, set[str]] = {}
    for name in names:
        for loops in loads:
            comparison = _run(arguments, chosen[name], mpiexec, name, loops, console)
            digests.setdefault(name, set()).update(
                report["spike_digest"] for reports in comparison.reports for report in reports
            )
            results.append(_result(name, loops, _what(arguments), comparison))
            file.update({"results": results})
    console.print(_table(arguments.ranks or chosen[names[0]].threads, _what(arguments), results))
    file.finish({"results": results}, console)
    different = [name for name, found in digests.items() if len(found) > 1]
    if different:
        console.print(f"Runs of {', '.join(different)} had different spikes", style="bold red")
    return 1 if different else 0


def _choose(arguments: argparse.Namespace, name: str) -> Chosen:
    refused = {"recordings": "leave it out: spikes are compared"}
    if arguments.ranks is not None:
        refused["threads"] = "leave it out: each process has one"
    threads = 1 if arguments.ranks is not None else usable_processors()
    chosen = choose(
        arguments.settings,
        _NETWORKS[name],
        time=_TIME,
        presim=_PRESIM,
        options={"threads": threads},
        refused=refused,
    )
    if arguments.ranks is None and chosen.threads < 2:
        raise ValueOutOfBoundsError("key threads", str(chosen.threads), "must be at least 2, to be compared with 1")
    return chosen


def _number_of_loops(text: str) -> int:
    most = 16 * usable_processors()
    try:
        loops = int(text)
    except ValueError:
        loops = -1
    if not 0 <= loops <= most:
        raise ValueOutOfBoundsError("--loops", f"'{text}'", f"must be numbers from 0 to {most}")
    return loops


def _check(arguments: argparse.Namespace, names: Sequence[str]) -> None:
    for name in names:
        if name not in _NETWORKS:
            raise ValueOutOfBoundsError("--networks", f"'{name}'", f"must be some of {', '.join(_NETWORKS)}")
    if arguments.repetitions < 1:
        raise ValueOutOfBoundsError("--repetitions", str(arguments.repetitions), "must be at least 1")
    if arguments.ranks is not None and not 2 <= arguments.ranks <= _MOST_RANKS:
        raise ValueOutOfBoundsError(
            "--ranks", str(arguments.ranks), f"must be from 2 to {_MOST_RANKS}, since it is compared with 1"
        )
    if arguments.ranks is None and arguments.mpiexec is not None:
        raise ValueOutOfBoundsError("--mpiexec", str(arguments.mpiexec), "is used only with --ranks")
    if arguments.json is not None:
        check_writable(arguments.json)


@contextmanager
def busy_programs(number: int) -> Iterator[list[subprocess.Popen[bytes]]]:
    """Let several programs compute during the block."""
    programs = []
    with ExitStack() as stack:
        for _ in range(number):
            # It ends by itself if this process is killed.
            program = "import os\nparent = os.getppid()\nwhile os.getppid() == parent:\n    for _ in range(10**6): pass"
            process = subprocess.Popen(python_command("-c", program), start_new_session=True)
            stack.callback(process.wait)
            stack.callback(process.kill)
            programs.append(process)
        yield programs


def _what(arguments: argparse.Namespace) -> str:
    return "threads" if arguments.ranks is None else "ranks"


def _run(
    arguments: argparse.Namespace, chosen: Chosen, mpiexec: Mpiexec | None, name: str, loops: int, console: Console
) -> Comparison:
    given = [
        setting for setting in arguments.settings if setting.partition("=")[0] not in ("time", "presim", "threads")
    ]
    keys = [f"time={chosen.time}", f"presim={chosen.presim}", *given]

    def contestant(ranks: int, threads: int) -> Contestant:
        crowded = is_crowded(ranks, threads)
        return Contestant(
            f"{name}, {loops} busy, {f'{ranks} ranks' if ranks > 1 else f'{threads} threads'}",
            ("run", name, "--set", *keys, f"threads={threads}"),
            tuple(mpiexec.command(ranks, crowded)) if mpiexec is not None and ranks > 1 else (),
            mpiexec.environment(crowded) if mpiexec is not None and ranks > 1 else {},
        )

    several = contestant(1, chosen.threads) if arguments.ranks is None else contestant(arguments.ranks, 1)
    with busy_programs(loops):
        return run_in_turn([contestant(1, 1), several], arguments.repetitions, console)


def _result(name: str, loops: int, what: str, comparison: Comparison) -> dict[str, Any]:
    one, several = comparison.reports

    def factors(reports: Sequence[Report]) -> list[float]:
        return [float(report["real_time_factor"]) for report in reports]

    ratios = [b / a for a, b in zip(factors(one), factors(several), strict=True)]
    return {
        "network": name,
        "busy_programs": loops,
        "one_thread": factors(one),
        f"several_{what}": factors(several),
        "ratios": ratios,
        "ratio": statistics.median(ratios),
        "delayed_s": [sum(rank["delayed"] for rank in report["crowding_by_rank"]) for report in several],
        "crowded_s": [max(rank["crowded"] for rank in report["crowding_by_rank"]) for report in several],
        "asleep_s": [sum(rank["asleep"] for rank in report["crowding_by_rank"]) for report in several],
    }


def _table(number: int, what: str, results: Sequence[dict[str, Any]]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("network", no_wrap=True)
    for heading in (
        "busy\nprograms",
        "1 thread\n(s/s)",
        f"{number} {what}\n(s/s)",
        "ratio",
        "delayed\n(s)",
        "crowded\n(s)",
        "asleep\n(s)",
    ):
        table.add_column(heading, justify="right", no_wrap=True)
    for result in results:
        table.add_row(
            result["network"],
            str(result["busy_programs"]),
            f"{statistics.median(result['one_thread']):.3f}",
            f"{statistics.median(result[f'several_{what}']):.3f}",
            f"[bold]{result['ratio']:.2f}[/]",
            f"{statistics.median(result['delayed_s']):.2f}",
            f"{statistics.median(result['crowded_s']):.2f}",
            f"{statistics.median(result['asleep_s']):.2f}",
        )
    return table
