"""The report of `ranvier run`."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import numpy as np
import numpy.typing as npt
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ranvier import _core
from ranvier.base.names import counted
from ranvier.base.times import time_of
from ranvier.commands.potentials import ProbeResults
from ranvier.networks import NetworkModel
from ranvier.processes.agreement import values_of_all
from ranvier.processes.machine import peak_resident_bytes
from ranvier.recording.data import SpikeData, joined
from ranvier.simulation.measurements import (
    PARTS,
    PHASES,
    Counts,
    Crowding,
    SteppingCounts,
    ThreadChoice,
    Timers,
    Traffic,
)
from ranvier.simulation.simulation import Simulation
from ranvier.simulation.trace import CAUSES, WORK, TraceAccount

__all__ = ["Results", "gather", "show", "show_steps"]

_BAR_WIDTH = 24
_MUCH_WAITING = 0.4  # fraction of the time of a simulation
_MUCH_IMBALANCE = 1.3  # time of the busiest thread relative to the mean
UNSORTED = "Synapses are not sorted by source: spikes are sent to each synapse separately"


@dataclass(frozen=True)
class Results:
    """The results of a run on all its processes, without the pre-simulation. Lists have an item for each rank."""

    model: str
    network: str
    parameters: dict[str, Any]
    counts: Counts
    threads: list[int]
    transport: str
    exchange: str
    sorts_connections: bool
    instruction_set: str
    timers: Timers
    traffic: list[Traffic]
    simulated_ms: float
    presim_ms: float
    memory: list[dict[str, int]]
    memory_by_node: list[dict[str, dict[str, int]]]
    memory_pages: list[dict[str, int]]
    peak_resident: list[int]
    spikes: SpikeData
    mean_rates: dict[str, float]
    shards: list[int] = field(default_factory=list)
    stolen_shards: list[int] = field(default_factory=list)
    shared_deliveries: list[int] = field(default_factory=list)
    stepping: list[SteppingCounts] = field(default_factory=list)
    visits: list[list[int]] = field(default_factory=list)
    """How often shards advanced by 0, 1, ... steps at a time; empty lists if all advance together."""
    crowding: list[Crowding] = field(default_factory=list)
    oversubscribed: list[bool] = field(default_factory=list)
    resumed_ms: float = 0.0
    """Time of the state with which the run started; 0.0 without a state."""
    interrupted_of_ms: float | None = None
    """End time of a run that was interrupted; None if the run was completed."""
    compartments: int = 0
    """Number of compartments of all detailed cells."""
    resolution: float = 0.1
    traces: list[TraceAccount] = field(default_factory=list)
    """Where the time of steps went; empty without a trace."""
    thread_choice: ThreadChoice | None = None
    """How the number of threads was chosen, the same on all ranks; None if it was given."""
    potentials: ProbeResults | None = None
    """Potentials at the contacts of a probe; None if they were not recorded."""

    @property
    def ranks(self) -> int:
        """Number of processes."""
        return len(self.threads)

    @property
    def phases(self) -> dict[str, float]:
        """Seconds of each phase on the slowest process, and of the parts of the simulation, averaged over threads."""
        longest = {name: float(self.timers.phases[name].max()) for name in PHASES}
        return {**longest, **{name: float(np.concatenate(self.timers.parts[name]).mean()) for name in PARTS}}

    @property
    def total_memory(self) -> dict[str, int]:
        """Bytes that all processes take, by component."""
        names = dict.fromkeys(name for one in self.memory for name in one)
        return {name: sum(one.get(name, 0) for one in self.memory) for name in names}

    @property
    def real_time_factor(self) -> float:
        """Seconds of wall-clock time per simulated second."""
        here = self.presim_ms + self.simulated_ms - max(self.presim_ms, self.resumed_ms)
        return self.phases["simulation"] * 1000.0 / here if here > 0.0 else 0.0

    @property
    def ns_per_compartment_step(self) -> float | None:
        """Wall-clock time of the simulation for each compartment and step, ns; None without detailed cells."""
        here = self.presim_ms + self.simulated_ms - max(self.presim_ms, self.resumed_ms)
        updates = self.compartments * here / self.resolution
        return 1e9 * self.phases["simulation"] / updates if updates > 0.0 else None

    @property
    def bytes_per_synapse(self) -> float | None:
        """Memory of the simulation per synapse, as counted by the simulation itself; None without synapses."""
        return sum(self.total_memory.values()) / self.counts.synapses if self.counts.synapses else None

    def as_json(self) -> dict[str, Any]:
        """Return the results for JSON; ``by_rank`` and each of the ``timers_s`` are lists by rank."""
        parts = {name: [times.tolist() for times in self.timers.parts[name]] for name in PARTS}
        return {
            "model": self.model,
            "network": self.network,
            "parameters": {name: _plain(value) for name, value in self.parameters.items()},
            "version": _core.version,
            "source_revision": _core.source_revision,
            "neurons": self.counts.neurons,
            "synapses": self.counts.synapses,
            "threads": self.threads[0],
            "threads_by_rank": self.threads,
            "thread_choice": None if self.thread_choice is None else asdict(self.thread_choice),
            "ranks": self.ranks,
            "transport": self.transport,
            "exchange": self.exchange,
            "sorts_connections": self.sorts_connections,
            "instruction_set": self.instruction_set,
            "build_s": self.phases["build"],
            "init_s": self.phases["init"],
            "sim_s": self.phases["simulation"],
            "presim_ms": self.presim_ms,
            "resumed_ms": self.resumed_ms,
            "simulated_ms": self.simulated_ms,
            "interrupted": self.interrupted_of_ms is not None,
            "real_time_factor": self.real_time_factor,
            **self._of_cells(),
            "spikes": self.counts.spikes,
            "synaptic_events": self.counts.synaptic_events,
            "mean_rate_hz": self.mean_rates,
            "peak_rss_bytes": sum(self.peak_resident),
            "peak_rss_bytes_by_rank": self.peak_resident,
            "memory_bytes": self.total_memory,
            "memory_bytes_by_rank": self.memory,
            "memory_bytes_by_node_by_rank": self.memory_by_node,
            "memory_pages_by_rank": self.memory_pages,
            "bytes_per_synapse": self.bytes_per_synapse,
            "shards_by_rank": self.shards,
            "stolen_shards_by_rank": self.stolen_shards,
            "shared_deliveries_by_rank": self.shared_deliveries,
            "stepping": self.stepping[0].mode if self.stepping else "bsp",
            "shard_visits_by_rank": [one.visits for one in self.stepping],
            "steps_per_visit_by_rank": [_number_or_none(one.steps_per_visit) for one in self.stepping],
            "bytes_per_step_by_rank": [_number_or_none(one.bytes_per_step) for one in self.stepping],
            "visits_by_steps_by_rank": self.visits,
            "crowding_by_rank": [asdict(crowding) for crowding in self.crowding],
            "oversubscribed_by_rank": self.oversubscribed,
            "imbalance": self.timers.imbalance,
            "phases_s": self.phases,
            "timers_s": {**{name: self.timers.phases[name].tolist() for name in PHASES}, **parts},
            "traffic_by_rank": [asdict(traffic) for traffic in self.traffic],
            **({"trace_by_rank": [account.as_json() for account in self.traces]} if self.traces else {}),
            **({} if self.potentials is None else {"lfp": self.potentials.as_json()}),
            "spike_digest": self.spikes.digest(),
        }

    def _of_cells(self) -> dict[str, Any]:
        if not self.compartments:
            return {}
        return {"compartments": self.compartments, "ns_per_compartment_step": self.ns_per_compartment_step}


def gather(
    simulation: Simulation, model: NetworkModel, name: str, presim: float, recordings: str, parameters: dict[str, Any]
) -> Results:
    """Gather the results of a run, without the pre-simulation. All processes must call it.

    The results are complete on rank 0.
    """
    communicator = simulation.communicator
    timers = simulation.timers()
    memory = values_of_all(communicator, simulation.memory())
    counts = simulation.counts()
    spikes = simulation.spikes(model.spikes)
    if recordings == "local" and model.spikes.to is None:
        spikes = joined(values_of_all(communicator, spikes))
    spikes = spikes.between(presim)
    return Results(
        model=name,
        network=model.net.name,
        parameters={**parameters, "threads": simulation.threads},
        counts=counts,
        threads=timers.threads.tolist(),
        transport=communicator.transport,
        exchange=simulation.exchange,
        sorts_connections=simulation.sorts_connections,
        instruction_set=simulation.instruction_set,
        timers=timers,
        traffic=values_of_all(communicator, simulation.traffic()),
        simulated_ms=time_of(counts.steps, simulation.resolution),
        presim_ms=presim,
        memory=memory,
        memory_by_node=values_of_all(communicator, simulation.memory_by_node()),
        memory_pages=values_of_all(communicator, simulation.memory_pages()),
        peak_resident=values_of_all(communicator, peak_resident_bytes()),
        spikes=spikes,
        mean_rates=spikes.mean_rates(),
        shards=values_of_all(communicator, simulation.shards),
        stolen_shards=values_of_all(communicator, simulation.stolen_shards),
        shared_deliveries=values_of_all(communicator, simulation.shared_deliveries),
        stepping=values_of_all(communicator, simulation.stepping),
        visits=values_of_all(communicator, np.trim_zeros(simulation.visits, "b").tolist()),
        crowding=values_of_all(communicator, simulation.crowding),
        oversubscribed=values_of_all(communicator, simulation.oversubscribed),
        compartments=sum(population.compartment_count for population in model.net.populations),
        resolution=simulation.resolution,
        thread_choice=simulation.thread_choice,
    )


def show(console: Console, results: Results, model: NetworkModel) -> None:
    """Print the results as text."""
    counts = results.counts
    many = results.ranks > 1
    console.print()
    console.print(Text(results.network, style="bold"), soft_wrap=True)
    if model.source:
        console.print(Text(model.source, style="dim"), soft_wrap=True)
    size = f"[bold]{counts.neurons:,}[/] neurons, [bold]{counts.synapses:,}[/] synapses"
    if results.compartments:
        size += f", [bold]{results.compartments:,}[/] compartments"
    if many:
        console.print(size, soft_wrap=True)
        console.print(f"{_processes(results)}, {results.instruction_set}", soft_wrap=True)
    else:
        console.print(f"{size}, {counted(results.threads[0], 'thread')}, {results.instruction_set}", soft_wrap=True)
    if results.thread_choice is not None:
        console.print(f"Threads {results.thread_choice}", soft_wrap=True)
    if not results.sorts_connections:
        console.print(UNSORTED, style="dim", soft_wrap=True)
    console.print()
    console.print(Padding(_phases_of_ranks(results) if many else _phases(results), (0, 0, 0, 2)))
    console.print()
    if many:
        console.print(Padding(_accounts_of_ranks(results), (0, 0, 0, 2)))
        console.print()
    if results.traces:
        show_steps(console, results.traces, counts.steps)
    console.print(Padding(_populations(results, model), (0, 0, 0, 2)))
    if results.potentials is not None:
        console.print()
        console.print(Padding(_contacts(results.potentials), (0, 0, 0, 2)))
    for note in [*model.notes, *unlike_published(results.mean_rates, model.published_rates)]:
        console.print(Text(note, style="yellow"))
    console.print()
    if (nodes := _nodes(results)) is not None:
        console.print(Padding(nodes, (0, 0, 0, 2)))
        console.print()
    per_synapse = results.bytes_per_synapse
    console.print(
        f"Memory  [bold]{_size(sum(results.total_memory.values()))}[/]"
        + (f", {per_synapse:.2f} bytes a synapse" if per_synapse is not None else "")
        + f"; at most {_size(sum(results.peak_resident))} resident",
        soft_wrap=True,
    )
    console.print(f"Spikes  [bold]{counts.spikes:,}[/], {counts.synaptic_events:,} synaptic events", soft_wrap=True)
    if (balance := _balance(results)) is not None:
        console.print(balance, soft_wrap=True)
    if (stepping := _stepping(results)) is not None:
        console.print(stepping, soft_wrap=True)
    if (waiting := _waiting(results)) is not None:
        console.print(waiting, style="yellow", soft_wrap=True)
    console.print(f"Digest  {results.spikes.digest()}", soft_wrap=True)
    if any(results.oversubscribed):
        who = "" if not many else f" on {counted(sum(results.oversubscribed), 'rank')}"
        console.print(f"[yellow]More threads than processors{who}: they wait for each other.[/]", soft_wrap=True)


def _contacts(potentials: ProbeResults) -> Table:
    """Return a table with a row for each contact of a probe."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("contact", justify="right", no_wrap=True)
    table.add_column("z (um)", justify="right", no_wrap=True)
    table.add_column("layer", no_wrap=True)
    table.add_column("SD (uV)", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    spread = potentials.spread
    largest = float(spread.max()) or 1.0
    for i, (place, layer) in enumerate(zip(potentials.contacts, potentials.layers, strict=True)):
        table.add_row(str(i), f"{place[2]:.0f}", layer, f"{spread[i]:.3g}", _bar(spread[i] / largest, "blue"))
    return table


def _balance(results: Results) -> str | None:
    """Return a text on the balance of the threads; None if there is only one thread."""
    if sum(results.threads) < 2:
        return None
    busy = results.timers.busy
    rank = int(np.argmax([times.max() for times in busy]))
    who = f"thread {int(np.argmax(busy[rank]))}" + (f" of rank {rank}" if results.ranks > 1 else "")
    text = f"Balance {who} computed [bold]{results.timers.imbalance:.2f}[/] times as long as the mean"
    if any(results.stolen_shards):
        piece = "visit" if any(results.visits) else "epoch"
        text += f"\nStolen  {sum(results.stolen_shards):,} shards, one {piece} of each"
    if any(results.shared_deliveries):
        text += (
            f"\nShared  {sum(results.shared_deliveries):,} times, a thread that waited delivered spikes of another one"
        )
    return text


def _stepping(results: Results) -> str | None:
    """Return a text on how shards advanced; None if all were to advance together."""
    if any(results.visits):
        steps = [one.steps_per_visit for one in results.stepping]
        moved = sum(one.bytes_per_step for one in results.stepping)
        return f"Shards  advanced by [bold]{np.mean(steps):.1f}[/] steps at a time, {_size(moved)} moved per step"
    if results.parameters.get("stepping") == "async":
        return "Shards  advanced together: delays of one step in both directions allow nothing else"
    return None


def _waiting(results: Results) -> str | None:
    """Return why threads waited, or None if they did not wait much."""
    crowded = [crowding for crowding in results.crowding if crowding.crowded > 0.0]
    if crowded:
        where = "" if results.ranks == 1 else f" on {counted(len(crowded), 'rank')}"
        seconds = max(crowding.crowded for crowding in crowded)
        asleep = max(crowding.asleep for crowding in results.crowding)
        rested = "some rested" if results.ranks == 1 else f"ranks slept for up to {asleep:.2g} s while they waited"
        return (
            f"Other programs used processors{where}: threads waited {sum(c.delayed for c in crowded):.2g} s for one.\n"
            f"For {seconds:.2g} s they were not bound to their processors, and {rested}."
        )
    simulation = results.phases["simulation"]
    # A rank waits for others within the exchange, unless they synchronize before it (wait_apart=true).
    phases = ("wait",) if results.ranks == 1 else ("wait", "communicate")
    waited = sum(results.phases[phase] for phase in phases) / simulation if simulation > 0.0 else 0.0
    if waited < _MUCH_WAITING or any(results.oversubscribed):
        return None
    if results.timers.imbalance > _MUCH_IMBALANCE:
        why = "some compute longer than others; costs=measured or more shards may help"
    else:
        why = "there is little work between two synchronizations"
    if results.ranks > 1:
        return f"Ranks waited for each other and exchanged spikes {waited:.0%} of the time:\n{why}."
    return f"Threads waited for each other {waited:.0%} of the time:\n{why}."


def show_steps(console: Console, accounts: Sequence[TraceAccount], steps: int) -> None:
    """Print where the time of a step went on all ranks, of which the run had this number of steps."""
    covered = max(account.steps for account in accounts)
    if covered == 0:
        return
    title = "Where a step goes" if covered == steps else f"Where a step goes, in the latest {covered:,} steps"
    console.print(Text(title, style="bold"), soft_wrap=True)
    console.print(Padding(_parts_of_step(accounts), (0, 0, 0, 2)))
    for line in _waits_of_steps(accounts):
        console.print(line, soft_wrap=True)
    console.print()


def _parts_of_step(accounts: Sequence[TraceAccount]) -> Table:
    """Return the microseconds of each part of a step, over the threads of all ranks."""
    parts = {
        name: np.concatenate([account.parts[name] / account.steps for account in accounts if account.steps])
        for name in accounts[0].parts
    }
    whole = np.sum(list(parts.values()), axis=0)
    waits = {name: times for name, times in parts.items() if name not in WORK}
    columns = ("mean", "least", "most", "") if len(whole) > 1 else ("time", "")
    table = _table_of_ranks("", columns)

    def add(name: str, times: npt.NDArray[Any], style: str = "", bar: Text | str = "") -> None:
        shown = (times.mean(), times.min(), times.max()) if len(times) > 1 else (times.mean(),)
        table.add_row(Text(name, style=style), *(Text(_microseconds(time), style=style) for time in shown), bar)

    add("step", whole, "bold")
    for name in WORK:
        if parts[name].any():
            add(f"  {name}", parts[name], bar=_bar(parts[name].mean() / whole.mean(), "cyan"))
    if len(waits) > 1:
        add("  wait", np.sum(list(waits.values()), axis=0))
    for name, times in waits.items():
        if times.any():
            add(
                f"    {name}" if len(waits) > 1 else f"  {name}", times, bar=_bar(times.mean() / whole.mean(), "yellow")
            )
    return table


def _waits_of_steps(accounts: Sequence[TraceAccount]) -> list[str]:
    """Return texts on slow steps, and on the threads that the others waited for."""
    if not any(account.epochs for account in accounts):
        return []
    # All ranks wait for the slowest one.
    slow = accounts[int(np.argmax([account.step_quantiles[-1] for account in accounts]))]
    half, most, nearly_all = (_microseconds(float(time)) for time in slow.step_quantiles)
    lines = [f"Steps   half took up to {half}, 90% up to {most}, 99% up to {nearly_all}"]
    if any(account.wait.any() for account in accounts):
        share = np.mean([account.wait_of_slowest for account in accounts])
        lines.append(f"Waiting {share:.0%} of it in the slowest 1% of the epochs")
    counts = {
        (rank, thread): int(count)
        for rank, account in enumerate(accounts)
        if account.threads > 1
        for thread, count in enumerate(account.last)
    }
    rounds = sum(counts.values())
    if rounds == 0:
        return lines
    # As many as fit into a line.
    often = sorted(counts, key=lambda where: -counts[where])[: 3 if len(accounts) == 1 else 2]
    last = [
        f"thread {thread}{f' of rank {rank}' if len(accounts) > 1 else ''} {counts[rank, thread] / rounds:.0%}"
        for rank, thread in often
    ]
    lines.append(f"Last    {', '.join(last)}{', ...' if len(counts) > len(often) else ''} of the rounds")
    by_cause = {name: sum(int(account.causes[name].sum()) for account in accounts) for name in CAUSES}
    why = sorted((name for name in CAUSES if by_cause[name]), key=lambda name: -by_cause[name])[:4]
    causes = [f"{name} {by_cause[name] / rounds:.0%}" for name in why]
    return [*lines, f"Why     {', '.join(causes)}"]


def _processes(results: Results) -> str:
    least, most = min(results.threads), max(results.threads)
    threads = counted(most, "thread") if least == most else f"{least} to {most} threads"
    return f"[bold]{results.ranks}[/] ranks \u00d7 {threads}, {results.transport}, exchange [bold]{results.exchange}[/]"


def _phases(results: Results) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True)
    phases = results.phases
    table.add_row("build", _seconds(phases["build"]), "")
    table.add_row("init", _seconds(phases["init"]), "")
    table.add_row(Text("simulation", style="bold"), Text(_seconds(phases["simulation"]), style="bold"), _pace(results))
    for name in PARTS:
        table.add_row(Text(f"  {name}", style="dim"), _seconds(phases[name]), _share(results, phases[name]))
    return table


def _phases_of_ranks(results: Results) -> Table:
    """Return the times of all processes; bars show the medians."""
    table = _table_of_ranks("time", ("least", "median", "most", ""))
    for name in (*PHASES, *PARTS):
        times = results.timers.of_ranks(name)
        cells = [_seconds(value) for value in _spread(times)]
        if name == "simulation":
            table.add_row(Text(name, style="bold"), *(Text(cell, style="bold") for cell in cells), _pace(results))
        elif name in PARTS:
            table.add_row(Text(f"  {name}", style="dim"), *cells, _share(results, float(np.median(times))))
        else:
            table.add_row(name, *cells, "")
    return table


def _accounts_of_ranks(results: Results) -> Table:
    """Return sizes, memory and traffic of each process."""
    table = _table_of_ranks("of a rank", ("least", "median", "most", "all"))

    def add(name: str, values: Sequence[int], write: Callable[[float], str]) -> None:
        table.add_row(name, *(write(value) for value in _spread(np.array(values))), write(sum(values)))

    add("memory", [sum(one.values()) for one in results.memory], _size)
    add("peak resident", results.peak_resident, _size)
    notifies = any(traffic.notifications for traffic in results.traffic)
    if notifies or any(traffic.exchanges for traffic in results.traffic):
        names = {field.name: field.name.replace("_", " ") for field in fields(Traffic)}
        last = "notifications" if notifies else "rounds"
        for name in ("spikes_sent", "spikes_received", "bytes_sent", "messages", last):
            write = _size if name == "bytes_sent" else "{:,.0f}".format
            add(names[name], [getattr(traffic, name) for traffic in results.traffic], write)
    return table


def _nodes(results: Results) -> Table | None:
    """Return the intended and the real memory of each NUMA node, summed over ranks; None if there is one node.

    Nodes with the same number on several hosts are added.
    """
    counted: Counter[str] = Counter()
    for by_node in results.memory_by_node:
        counted.update({node: sum(parts.values()) for node, parts in by_node.items()})
    found: Counter[str] = Counter()
    for pages in results.memory_pages:
        found.update(pages)
    nodes = sorted((name for name in {*counted, *found} if name.isdigit()), key=int)
    if len(nodes) < 2:
        return None
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("NUMA node", no_wrap=True, min_width=15)
    table.add_column("memory", justify="right", no_wrap=True, min_width=9)
    table.add_column("pages there", justify="right", no_wrap=True, min_width=9)
    for name in (*nodes, *(name for name in ("any", "untouched", "unknown") if counted[name] or found[name])):
        table.add_row(name, *(_size(size) if size else "" for size in (counted[name], found[name])))
    return table


def _table_of_ranks(title: str, columns: Sequence[str]) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column(title, no_wrap=True, min_width=15)
    for column in columns:
        table.add_column(column, justify="right" if column else "left", no_wrap=True, min_width=9 if column else 0)
    return table


def _spread(values: npt.NDArray[Any]) -> tuple[float, float, float]:
    return float(values.min()), float(np.median(values)), float(values.max())


def _pace(results: Results) -> Text:
    factor = results.real_time_factor
    text = f"real-time factor {factor:.2f}"
    if results.ranks == 1:
        text = f"for {results.simulated_ms:,g} ms: {text}"
    return Text(text, style="bold green" if factor < 1.0 else "bold")


def _share(results: Results, seconds: float) -> Text:
    whole = results.phases["simulation"]
    return _bar(seconds / whole if whole > 0.0 else 0.0, "cyan")


def unlike_published(rates: Mapping[str, float], published: Mapping[str, float]) -> list[str]:
    """Return a text with the populations whose rates differ much from the published rates, if there are any."""
    far = [name for name, rate in published.items() if name in rates and not 0.5 * rate <= rates[name] <= 2.0 * rate]
    if not far:
        return []
    silent = [name for name in far if rates[name] == 0.0]
    text = f"More than a factor of two from the published rates: {', '.join(far)}"
    return [text + (f"; silent: {', '.join(silent)}." if silent else ".")]


def _populations(results: Results, model: NetworkModel) -> Table:
    published = model.published_rates
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("population", no_wrap=True)
    table.add_column("neurons", justify="right", no_wrap=True)
    table.add_column("rate (spikes/s)", justify="right", no_wrap=True)
    if published:
        table.add_column("published", justify="right", no_wrap=True)
    table.add_column("", no_wrap=True)
    highest = max([*results.mean_rates.values(), *published.values(), 1e-9])
    for segment in results.spikes.segments:
        rate = results.mean_rates[segment.name]
        row: list[str | Text] = [segment.name, f"{segment.size:,}", f"{rate:.3f}"]
        if published:
            known = published.get(segment.name)
            row.append("" if known is None else f"{known:.3f}")
        table.add_row(*row, _bar(rate / highest, "blue"))
    return table


def _bar(share: float, colour: str) -> Text:
    # In eighths of a character.
    eighths = round(8 * _BAR_WIDTH * min(max(share, 0.0), 1.0))
    full, rest = divmod(eighths, 8)
    return Text("\u2588" * full + (" \u258f\u258e\u258d\u258c\u258b\u258a\u2589"[rest] if rest else ""), style=colour)


def _seconds(value: float) -> str:
    return f"{value:.2f} s" if value >= 0.1 else f"{1000.0 * value:.2f} ms"


def _microseconds(value: float) -> str:
    return f"{1e6 * value:,.2f} \u00b5s"


def _size(number: float) -> str:
    if number <= 0:
        return "0 bytes"
    power = min(4, int(math.log(number, 1000)))
    return f"{number / 1000**power:.{0 if power == 0 else 2}f} {('bytes', 'kB', 'MB', 'GB', 'TB')[power]}"


def _number_or_none(value: float) -> float | None:
    return value if math.isfinite(value) else None


def _plain(value: object) -> object:
    return value if isinstance(value, bool | int | float | str) or value is None else repr(value)
