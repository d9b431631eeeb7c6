"""Placements of neurons on processes, compared on a sheet with local connections.

A network of neurons on a square, connected with a Gaussian of the distance, runs with each placement. Two questions are
asked. Jordan et al. (2018) expect that a placement which keeps connected neurons together lets directed communication
send less. Hines et al. (2011) observe that random placement balances best, since neurons that are active together are
then on different processes. So activity is even, or concentrated in a bump.

Real runs on a few processes are measured. For many processes, the spikes and connections of a run on one process are
divided among them: what each of them would send, receive and deliver is counted, not measured.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.table import Table

import ranvier as rv
from ranvier.base.paths import check_destinations
from ranvier.commands import info
from ranvier.commands.keys import signature_keys
from ranvier.errors import ValueOutOfBoundsError
from ranvier_benchmarks._mpiexec import find_mpiexec, run_worker
from ranvier_benchmarks._options import add_shared_arguments, check_positive, parse_methods, parse_ranks
from ranvier_benchmarks._results import ResultsFile
from ranvier_benchmarks._settings import Chosen, add_bench_settings, choose, recorded_options
from ranvier_benchmarks._sheet import ACTIVITIES, sheet
from ranvier_benchmarks.exchange import make_contestants, summarize

__all__ = ["Divided", "add_arguments", "divide", "main"]

PLACEMENTS = ("round_robin", "shuffle", "space")
_WORKER = "ranvier_benchmarks._exchange_worker"
_TIME = 200.0
_METHODS = "alltoall,connected"
_MANY = "16,64,256,1024"
_REFUSED = {
    "activity": "leave it out: all are compared",
    "exchange": "give --methods",
    "placement": "leave it out: placements are compared",
    "recordings": "leave it out: rank 0 gets them all",
}
Ints = npt.NDArray[np.int64]


class Divided(NamedTuple):
    """The work of a network whose neurons are divided among processes, as counted.

    Attributes
    ----------
    messages
        Spikes sent to other processes: one for each spike and process that has targets of it.
    partners
        Processes to which a process sends any spikes at all, in the mean.
    events
        The ratio of the greatest and the mean number of synaptic events of a process in an interval; the mean of all
        intervals, weighted by their events.
    spikes
        The same of the spikes of its neurons.
    """

    messages: int
    partners: float
    events: float
    spikes: float


def divide(ranks: Ints, sources: Ints, targets: Ints, senders: Ints, intervals: Ints) -> Divided:
    """Count the work of processes.

    Parameters
    ----------
    ranks
        The rank of each neuron.
    sources, targets
        Neurons of each connection.
    senders, intervals
        The neuron, and the interval of each spike.
    """
    count = int(ranks.max()) + 1
    neurons = len(ranks)
    # Events that one spike of a neuron causes on each process, in compressed rows.
    pairs, events = np.unique(sources * count + ranks[targets], return_counts=True)
    of_pair, to_rank = pairs // count, pairs % count
    begin = np.searchsorted(of_pair, np.arange(neurons + 1))
    is_remote = to_rank != ranks[of_pair]
    remote = np.bincount(of_pair[is_remote], minlength=neurons)
    links = np.unique(ranks[of_pair[is_remote]] * count + to_rank[is_remote])
    number = int(intervals.max()) + 1 if len(intervals) else 0
    greatest = {"events": 0.0, "spikes": 0.0}
    total = {"events": 0.0, "spikes": 0.0}
    order = np.argsort(intervals, kind="stable")
    bounds = np.searchsorted(intervals[order], np.arange(number + 1))
    for k in range(number):
        sending = senders[order[bounds[k] : bounds[k + 1]]]
        lengths = begin[sending + 1] - begin[sending]
        entries = np.repeat(begin[sending] - np.concatenate([[0], np.cumsum(lengths)[:-1]]), lengths) + np.arange(
            lengths.sum()
        )
        work = {
            "events": np.bincount(to_rank[entries], weights=events[entries], minlength=count),
            "spikes": np.bincount(ranks[sending], minlength=count),
        }
        for name, of_ranks in work.items():
            greatest[name] += float(of_ranks.max())
            total[name] += float(of_ranks.mean())
    return Divided(
        messages=int(remote[senders].sum()),
        partners=len(links) / count,
        events=greatest["events"] / total["events"] if total["events"] else 1.0,
        spikes=greatest["spikes"] / total["spikes"] if total["spikes"] else 1.0,
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_shared_arguments(parser, ranks="2,4", methods=_METHODS)
    add_bench_settings(parser, f"time={_TIME:g} threads=1")
    parser.add_argument(
        "--many",
        default=_MANY,
        metavar="N,...",
        help="numbers of processes whose work is counted (default: %(default)s)",
    )
    parser.add_argument(
        "--repetitions", type=int, default=3, metavar="N", help="number of runs of each (default: %(default)s)"
    )


def main(arguments: argparse.Namespace) -> int:
    """Run and count all, and print the results; return 1 if placements differ in their spikes."""
    ranks = parse_ranks(arguments.ranks, 2, ", as one process exchanges nothing")
    many = parse_ranks(arguments.many, 2, ", as one process exchanges nothing")
    contestants = make_contestants(parse_methods(arguments.methods), (1,), (False,))
    chosen = _choose(arguments, [*ranks, *many])
    mpiexec = find_mpiexec(arguments.mpiexec)
    console = Console(highlight=False)
    file = ResultsFile(
        arguments.json,
        {
            "benchmark": "placement",
            "options": {**recorded_options(arguments, chosen), "ranks": ranks, "many": many},
            "machine": info.gather(),
        },
    )
    counted: list[dict[str, Any]] = []
    measured: list[dict[str, Any]] = []
    digests: dict[str, set[str]] = {}
    for activity in ACTIVITIES:
        keys = {**chosen.network, "activity": activity}
        with console.status(f"{activity} activity, one process"):
            digest, rows = _count(keys, chosen, many)
        digests[activity] = {digest}
        counted += [{"activity": activity, **row} for row in rows]
        for number in ranks:
            for placement in PLACEMENTS:
                specification = {
                    "function": "ranvier_benchmarks._sheet:sheet",
                    "network": keys,
                    "options": {**chosen.without("threads"), "placement": placement},
                    "time": chosen.time,
                    "repetitions": arguments.repetitions,
                    "contestants": contestants,
                    "once": False,
                }
                with console.status(f"{activity} activity, {number} processes, {placement}") as status:
                    report = run_worker(
                        mpiexec,
                        _WORKER,
                        specification,
                        ranks=number,
                        threads=chosen.threads,
                        on_progress=lambda text: status.update(text),
                    )
                for i, (method, *_) in enumerate(contestants):
                    runs = [run for run in report["runs"] if run["contestant"] == i]
                    digests[activity].update(run["digest"] for run in runs)
                    summary = summarize(method, 1, runs, barrier=False)
                    measured.append(
                        {"activity": activity, "ranks": number, "placement": placement, "method": method, **summary}
                    )
                file.update({"counted": counted, "measured": measured})
    console.print(_counted_table(counted))
    console.print(_measured_table(measured))
    file.finish({"counted": counted, "measured": measured}, console)
    if arguments.plot is not None:
        from ranvier_benchmarks import _figures, _placement_figure

        _figures.save(_placement_figure.draw(counted), arguments.plot)
        console.print(f"  Figure in {arguments.plot}", style="dim", soft_wrap=True)
    different = [activity for activity, found in digests.items() if len(found) > 1]
    if different:
        console.print(f"Placements differ in their spikes with {', '.join(different)} activity", style="bold red")
    return 1 if different else 0


def _choose(arguments: argparse.Namespace, ranks: Sequence[int]) -> Chosen:
    chosen = choose(
        arguments.settings,
        sheet,
        time=_TIME,
        network=signature_keys(sheet),
        options={"threads": 1},
        refused=_REFUSED,
    )
    check_positive(arguments, ("repetitions",))
    if chosen.network["neurons"] < max(ranks):
        raise ValueOutOfBoundsError("key neurons", str(chosen.network["neurons"]), "there must be one for each process")
    check_destinations(arguments.json, arguments.plot)
    return chosen


def _count(keys: dict[str, Any], chosen: Chosen, many: Sequence[int]) -> tuple[str, list[dict[str, Any]]]:
    """Run the network on one process, and divide its work; return the digest of the spikes too."""
    model = sheet(**keys)
    sim = rv.Simulation(model.net, progress=False, threads=chosen.threads)
    sim.run(chosen.time)
    spikes = sim.spikes(model.spikes)
    connections = sim.connections()
    interval = sim.epoch_steps * model.net.resolution
    sources, targets = (np.asarray(side, dtype=np.int64) for side in (connections.sources, connections.targets))
    # The first interval ends with the first exchange.
    intervals = np.ceil(spikes.times / interval - 1e-9).astype(np.int64) - 1
    rows = []
    for number in many:
        for placement in PLACEMENTS:
            ranks = model.net.ranks(number, placement).astype(np.int64)
            divided = divide(ranks, sources, targets, np.asarray(spikes.ids, dtype=np.int64), intervals)
            rows.append(
                {"ranks": number, "placement": placement, "spikes_of_run": len(spikes.ids), **divided._asdict()}
            )
    return spikes.digest(), rows


def _counted_table(rows: list[dict[str, Any]]) -> Table:
    table = Table(box=None, header_style="dim", title="Counted", title_justify="left")
    for column in ("activity", "placement"):
        table.add_column(column, no_wrap=True)
    for column in ("processes", "messages\nper spike", "partners\nof a process", "imbalance:\nevents", "\nspikes"):
        table.add_column(column, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(
            row["activity"],
            row["placement"],
            f"{row['ranks']:,}",
            f"{row['messages'] / max(1, row['spikes_of_run']):.2f}",
            f"{row['partners']:.1f}",
            f"{row['events']:.2f}",
            f"{row['spikes']:.2f}",
        )
    return table


def _measured_table(rows: list[dict[str, Any]]) -> Table:
    table = Table(box=None, header_style="dim", title="Measured", title_justify="left")
    for column in ("activity", "placement", "method"):
        table.add_column(column, no_wrap=True)
    for column in ("processes", "total\n(ms)", "spikes\nreceived", "bytes\n(MB)", "imbalance"):
        table.add_column(column, justify="right", no_wrap=True)
    for row in rows:
        table.add_row(
            row["activity"],
            row["placement"],
            row["method"],
            str(row["ranks"]),
            f"{1e3 * row['total_s']['greatest']:.0f}",
            f"{row['spikes_received']:,}",
            f"{row['bytes_sent'] / 1e6:.2f}",
            f"{row['imbalance']['computation']:.2f}",
        )
    return table
