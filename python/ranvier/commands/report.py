"""What `ranvier run` reports."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ranvier import _core
from ranvier.machine import peak_resident_bytes
from ranvier.networks import NetworkModel
from ranvier.recordings import SpikeData
from ranvier.simulation import Counts, Simulation

__all__ = ["Results", "gather", "show"]

_BAR_WIDTH = 24


@dataclass(frozen=True)
class Results:
    """What came out of a run, without its pre-simulation."""

    model: str
    network: str
    parameters: dict[str, Any]
    counts: Counts
    threads: int
    ranks: int
    instruction_set: str
    phases: dict[str, float]
    simulated_ms: float
    presim_ms: float
    memory: dict[str, int]
    peak_resident: int
    spikes: SpikeData
    mean_rates: dict[str, float]

    @property
    def real_time_factor(self) -> float:
        """Seconds of wall-clock time per simulated second."""
        return self.phases["simulation"] * 1000.0 / self.simulated_ms

    @property
    def bytes_per_synapse(self) -> float | None:
        """All memory of the simulation by its own account, per synapse; None without synapses."""
        return sum(self.memory.values()) / self.counts.synapses if self.counts.synapses else None

    def as_json(self) -> dict[str, Any]:
        """Return what is written as JSON."""
        return {
            "model": self.model,
            "network": self.network,
            "parameters": {name: _plain(value) for name, value in self.parameters.items()},
            "version": _core.version,
            "source_revision": _core.source_revision,
            "neurons": self.counts.neurons,
            "synapses": self.counts.synapses,
            "threads": self.threads,
            "ranks": self.ranks,
            "instruction_set": self.instruction_set,
            "build_s": self.phases["build"],
            "init_s": self.phases["init"],
            "sim_s": self.phases["simulation"],
            "presim_ms": self.presim_ms,
            "simulated_ms": self.simulated_ms,
            "real_time_factor": self.real_time_factor,
            "spikes": self.counts.spikes,
            "synaptic_events": self.counts.synaptic_events,
            "mean_rate_hz": self.mean_rates,
            "peak_rss_bytes": self.peak_resident,
            "memory_bytes": self.memory,
            "bytes_per_synapse": self.bytes_per_synapse,
            "phases_s": self.phases,
            "spike_digest": self.spikes.digest(),
        }


def gather(
    simulation: Simulation, model: NetworkModel, name: str, presim: float, parameters: dict[str, Any]
) -> Results:
    """Gather the results of a run; counts and times are those since the pre-simulation."""
    memory = simulation.memory()
    counts = simulation.counts()
    spikes = simulation.spikes(model.spikes).between(presim)
    return Results(
        model=name,
        network=model.net.name,
        parameters=parameters,
        counts=counts,
        threads=simulation.threads,
        ranks=simulation.ranks,
        instruction_set=simulation.instruction_set,
        phases=simulation.phases,
        simulated_ms=counts.steps * simulation.resolution,
        presim_ms=presim,
        memory=memory,
        peak_resident=peak_resident_bytes(),
        spikes=spikes,
        mean_rates=spikes.mean_rates(),
    )


def show(console: Console, results: Results, model: NetworkModel) -> None:
    """Print the results for people."""
    counts = results.counts
    console.print()
    console.print(Text(results.network, style="bold"), soft_wrap=True)
    if model.source:
        console.print(Text(model.source, style="dim"), soft_wrap=True)
    console.print(
        f"[bold]{counts.neurons:,}[/] neurons, [bold]{counts.synapses:,}[/] synapses, {results.threads} "
        f"thread{'s' if results.threads > 1 else ''}, {results.instruction_set}",
        soft_wrap=True,
    )
    console.print()
    console.print(Padding(_phases(results), (0, 0, 0, 2)))
    console.print()
    console.print(Padding(_populations(results, model), (0, 0, 0, 2)))
    console.print()
    per_synapse = results.bytes_per_synapse
    console.print(
        f"Memory  [bold]{_size(sum(results.memory.values()))}[/]"
        + (f", {per_synapse:.2f} bytes a synapse" if per_synapse is not None else "")
        + f"; at most {_size(results.peak_resident)} resident",
        soft_wrap=True,
    )
    console.print(f"Spikes  [bold]{counts.spikes:,}[/], {counts.synaptic_events:,} synaptic events", soft_wrap=True)
    console.print(f"Digest  {results.spikes.digest()}", soft_wrap=True)


def _phases(results: Results) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_column(no_wrap=True)
    phases = results.phases
    table.add_row("build", _seconds(phases["build"]), "")
    table.add_row("init", _seconds(phases["init"]), "")
    factor = results.real_time_factor
    pace = f"for {results.simulated_ms:,g} ms: real-time factor {factor:.2f}"
    table.add_row(
        Text("simulation", style="bold"),
        Text(_seconds(phases["simulation"]), style="bold"),
        Text(pace, style="bold green" if factor < 1.0 else "bold"),
    )
    for name in ("update", "deliver", "communicate", "record"):
        share = phases[name] / phases["simulation"] if phases["simulation"] > 0.0 else 0.0
        table.add_row(Text(f"  {name}", style="dim"), _seconds(phases[name]), _bar(share, "cyan"))
    return table


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


def _size(number: float) -> str:
    if number <= 0:
        return "0 bytes"
    power = min(4, int(math.log(number, 1000)))
    return f"{number / 1000**power:.{0 if power == 0 else 2}f} {('bytes', 'kB', 'MB', 'GB', 'TB')[power]}"


def _plain(value: object) -> object:
    return value if isinstance(value, bool | int | float | str) or value is None else repr(value)
