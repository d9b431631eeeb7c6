"""`ranvier info`: show the machine, the build, and where threads would run.

The machine is drawn as a tree: NUMA nodes with their memory, the caches that cores share, cores, and their processors
(hardware threads) with the threads that would be bound to them. Processors that a batch system, mpiexec or a container
does not allow are left out.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections.abc import Mapping
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ranvier import _core
from ranvier.base.names import counted
from ranvier.base.numeric import whole_number
from ranvier.commands import latencies, machine_tree
from ranvier.commands.keys import add_settings, parse_options
from ranvier.commands.thread_places import ThreadPlaces, place
from ranvier.compiled import steps
from ranvier.errors import ValueOutOfBoundsError
from ranvier.processes import machine, mpi_library

__all__ = ["add_arguments"]

_MOST_RANKS = 4096


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.description = __doc__
    add_settings(
        parser,
        "threads: of each process, by default one for each processor; pinning: auto (one thread on each processor or "
        "core, if the numbers are equal), equal (the same number on each NUMA node), compact (on few nodes, one thread "
        "per core), none, or the processor of each thread, such as 0,2,4-7",
    )
    parser.add_argument(
        "--ranks-per-host", metavar="N", type=int, default=1, help="processes that share the machine; by default 1"
    )
    parser.add_argument(
        "--topology",
        metavar="DESCRIPTION",
        help="draw a synthetic machine instead, in hwloc's syntax, such as 'node:2 core:12 pu:2'",
    )
    parser.add_argument(
        "--measure",
        action="store_true",
        help="measure the latency of the memory of each NUMA node from each node, and show distances by it in place of "
        "the reported ones; takes some tenths of a second for each node",
    )
    parser.add_argument("--json", action="store_true", help="print it as JSON")
    parser.set_defaults(execute=execute)


def execute(options: argparse.Namespace) -> int:
    """Print it."""
    topology, places = _place(options)
    measured = None
    if options.measure:
        topology, measured = latencies.measure(topology)
    description = _describe(topology)
    if measured is not None:
        description["latencies_ns"] = measured
    facts = gather()
    quota = facts["processor_quota"]
    if options.json:
        print(json.dumps({**facts, "topology": description, "placement": places.as_json()}, indent=2))
        return 0
    console = Console(highlight=False, width=None if sys.stdout.isatty() else 120)
    console.print(_facts_table(facts))
    console.print()
    console.print(machine_tree.draw(description, places))
    console.print()
    if measured is not None:
        console.print(latencies.table([node["os_index"] for node in description["nodes"]], measured))
        console.print()
    for line in _remarks(description, places, None if description["synthetic"] else quota):
        console.print(line)
    return 0


def gather() -> dict[str, Any]:
    """Return information about the build and the whole machine, by name."""
    return {
        "version": _core.version,
        "source_revision": _core.source_revision,
        "compiler": _core.compiler,
        "build_type": _core.build_type,
        "compiler_flags": _core.compiler_flags,
        "built_for": f"{_core.system} {_core.architecture}",
        "processor": machine.processor_name(),
        "usable_processors": machine.usable_processors(),
        "processor_quota": _core.processor_quota(),
        "instruction_sets": _core.instruction_sets(),
        "programs": steps.description(),
        "built_for_mpi": [family.name for family in mpi_library.plugins()],
        "mpi_libraries": mpi_library.describe_libraries(),
        "memory_bytes": machine.total_memory(),
        "available_memory_bytes": _core.available_memory(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "system": platform.platform(),
    }


def _place(options: argparse.Namespace) -> tuple[_core.Topology, ThreadPlaces]:
    keys = parse_options(options.settings, ("threads", "pinning"))
    threads, pinning = keys.get("threads"), keys.get("pinning", "auto")
    if threads == "auto":
        raise ValueOutOfBoundsError("key threads", "'auto'", "it depends on the network", "give a number")
    ranks = whole_number("--ranks-per-host", options.ranks_per_host, 1, _MOST_RANKS, "give the number of processes")
    made_up = options.topology is not None
    topology = _core.Topology.synthetic(options.topology) if made_up else _core.Topology.detect()
    quota = None if made_up else _core.processor_quota()
    return topology, place(topology, threads=threads, pinning=pinning, ranks=ranks, quota=quota)


def _describe(topology: _core.Topology) -> dict[str, Any]:
    """Return the contents of a topology, with the free memory of each NUMA node if it is known."""
    description = topology.describe()
    for node in description["nodes"]:
        known = not description["synthetic"] and not description["note"]
        node["free_bytes"] = machine.free_memory_of_node(node["os_index"]) if known else None
    return description


def _facts_table(facts: Mapping[str, Any]) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in facts.items():
        text = (", ".join(value) or "none") if isinstance(value, list) else "none" if value is None else str(value)
        if name.endswith("_bytes"):
            name, text = name.removesuffix("_bytes"), f"{int(text) / 2**30:.1f} GiB"
        table.add_row(name.replace("_", " "), text)
    return table


def _remarks(description: Mapping[str, Any], places: ThreadPlaces, quota: int | None) -> list[Text]:
    """Return the lines below the tree: where threads run, and warnings."""
    counts = [len(rank.threads) for rank in places.ranks]
    threads = f"{counts[0]} thread{'' if counts[0] == 1 else 's'}"
    if len(counts) > 1:
        span = f"{min(counts)} to {max(counts)} threads" if min(counts) != max(counts) else threads
        threads = f"{counted(len(counts), 'process')} of {span}"
    pinned = f"pinned ({places.pinning})" if places.are_pinned else "not pinned: the system may move them"
    lines = [Text(f"{threads}, {pinned}", style="bold")]
    if places.threads_on_unit > 1:
        lines.append(
            Text(
                f"Oversubscribed: up to {places.threads_on_unit} threads take turns on one processor.", style="bold red"
            )
        )
    elif places.threads_on_core > 1:
        lines.append(
            Text(f"Up to {places.threads_on_core} threads share the execution units of one core.", style="yellow")
        )
    if quota is not None and places.thread_count > quota:
        time = "one processor" if quota == 1 else f"{quota} processors"
        lines.append(Text(f"The control group allows the time of {time}: more threads have to wait.", style="bold red"))
    if description["note"]:
        lines.append(Text(f"Treated as flat, without caches and NUMA nodes: {description['note']}.", style="yellow"))
    if description["synthetic"]:
        lines.append(Text("A synthetic machine: this is not the one on which the command runs.", style="dim"))
    return lines
