"""Measured latencies between NUMA nodes."""

from __future__ import annotations

from collections.abc import Sequence

from rich.table import Table

from ranvier import _core
from ranvier.base.memory_checks import check_room

__all__ = ["measure", "table"]


def measure(topology: _core.Topology, size: int = 0) -> tuple[_core.Topology, list[list[float]]]:
    """Measure the latency of the memory of each NUMA node from each node.

    Parameters
    ----------
    topology
        Hardware of this machine.
    size
        Bytes to follow pointers through; 0: four times the largest cache, but 64 to 512 MiB.

    Returns
    -------
    tuple
        The topology with distances by these latencies, and the latencies in ns, a row for each node whose cores load;
        0 in rows of nodes without cores.

    Raises
    ------
    StateError
        For a synthetic topology, or if the system does not give threads or memory on a node.
    InsufficientMemoryError
        When there is too little memory.
    """
    check_room("measuring latencies", size or topology.latency_bytes(), "use the reported distances")
    nodes = len(topology.describe()["nodes"])
    columns = [topology.measure_latencies_to(node, size) for node in range(nodes)]
    rows = [[column[node] for column in columns] for node in range(nodes)]
    return topology.with_latencies([latency for row in rows for latency in row]), rows


def table(nodes: Sequence[int], latencies: Sequence[Sequence[float]]) -> Table:
    """Return a table of latencies.

    Parameters
    ----------
    nodes
        Numbers of the nodes.
    latencies
        Result of `measure`.
    """
    shown = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    shown.add_column("latency (ns) from", no_wrap=True)
    for number in nodes:
        shown.add_column(f"to node {number}", justify="right", no_wrap=True)
    for number, row in zip(nodes, latencies, strict=True):
        if any(row):
            shown.add_row(f"node {number}", *(f"{latency:.1f}" for latency in row))
    return shown
