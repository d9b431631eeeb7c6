"""Parameters of machines and of the programs on them, each with its source.

The parameters of the network are those of LogGP (Alexandrov et al., Journal of Parallel and Distributed Computing 44,
71, 1997): latency, overhead of the processor, gap between messages, and time per byte. All times are seconds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Literal, TypeAlias

from ranvier.errors import ValueOutOfBoundsError

__all__ = ["BLUE_GENE_P", "INFINIBAND_HDR", "MACHINES", "Machine"]

Topology: TypeAlias = Literal["torus", "fat_tree"]

_LEVELS_OF_TREE = 3


@dataclass(frozen=True)
class Machine:
    """A machine, and the costs of a simulator on its processors.

    Attributes
    ----------
    name
        Name in tables.
    processes_per_node
        Processes that share a network adapter.
    cores_per_node
        Cores for the processes of a node. If there are fewer than processes, these take turns, and those that wait
        yield: what they do between two synchronizations takes as long as the longest work, or as the sum of all
        divided by the cores if that is more.
    topology
        "torus": three-dimensional; "fat_tree": three levels, with full bisection bandwidth.
    latency, hop_latency
        From adapter to adapter, and in addition for each link on the way.
    link_bandwidth
        Of a link in one direction, bytes/s. Infinite: links limit nothing.
    message_bytes
        Of a message with one spike, on the network.
    injection_gap, reception_gap
        Shortest time between two messages that leave, or reach, a node.
    send_call, send_target
        Work of a process to start a multicast: for each call, and for each process in the list.
    replay_call
        Work to repeat a multicast that was recorded.
    replay_poll
        Longest time until a process notices that a repeated multicast has been sent, and can start the next one.
    isend, probe_receive
        Work to start and to receive a message by MPI.
    receive
        Work to receive a message of a multicast.
    allreduce, allreduce_round
        A reduction of two numbers: fixed, and for each doubling of the number of processes.
    allreduce_turn, allgather_turn
        Time of each process in a reduction, and in an all-gather, if processes share cores: each has to be given the
        core in turn.
    allgather, allgather_bandwidth
        Fixed time, and bytes/s at which each process gets the blocks of all.
    allgatherv_process
        Additional time for each process if lengths differ.
    reduce_scatter_bandwidth
        Bytes/s at which numbers for all processes are reduced.
    count_target
        Work to count a message to a process, for MPI_Reduce_scatter.
    event
        Work of a synaptic event: its delivery, and what the cell computes.
    message
        Work for each spike that arrives from another process: to find its source and queue it.
    spike
        Work for a generated spike, apart from sending it.
    step
        Work for each step in which a process polls.
    scan_process, search
        With all-gathering, work for the block of each process, and for each spike that no cell here needs.
    sources
        Origin of each value, by name of the attribute.
    """

    name: str
    processes_per_node: int
    topology: Topology
    latency: float
    hop_latency: float
    link_bandwidth: float
    message_bytes: float
    injection_gap: float
    reception_gap: float
    send_call: float
    send_target: float
    replay_call: float
    replay_poll: float
    isend: float
    probe_receive: float
    receive: float
    allreduce: float
    allreduce_round: float
    allgather: float
    allgather_bandwidth: float
    allgatherv_process: float
    reduce_scatter_bandwidth: float
    count_target: float
    event: float
    message: float
    spike: float
    step: float
    scan_process: float
    search: float
    cores_per_node: float = math.inf
    allreduce_turn: float = 0.0
    allgather_turn: float = 0.0
    sources: Mapping[str, str] | None = None

    def __post_init__(self) -> None:
        for name in self.parameters():
            value = getattr(self, name)
            at_least = 1.0 if name in ("processes_per_node", "cores_per_node") else 0.0
            may_be_infinite = name.endswith("bandwidth") or name == "cores_per_node"
            if not value >= at_least or (math.isinf(value) and not may_be_infinite):
                raise ValueOutOfBoundsError(
                    f"{name} of machine {self.name}", str(value), f"it must be at least {at_least:g} and finite"
                )
            if may_be_infinite and value == 0.0:
                raise ValueOutOfBoundsError(f"{name} of machine {self.name}", "0", "it must be > 0")
        if self.topology not in ("torus", "fat_tree"):
            raise ValueOutOfBoundsError(
                f"topology of machine {self.name}", str(self.topology), "it must be torus or fat_tree"
            )

    @classmethod
    def parameters(cls) -> list[str]:
        """Return the names of the attributes that are numbers."""
        return [each.name for each in fields(cls) if each.name not in ("name", "topology", "sources")]

    def nodes(self, ranks: int) -> int:
        """Return the number of nodes for some processes."""
        return math.ceil(ranks / self.processes_per_node)

    def mean_latency(self, ranks: int) -> float:
        """Return the mean time of a message between adapters, without queues."""
        nodes = self.nodes(ranks)
        if nodes == 1:
            hops = 0.0
        elif self.topology == "torus":
            # A quarter of the length of a ring in each of three dimensions.
            hops = 0.75 * nodes ** (1.0 / 3.0)
        else:
            hops = 2.0 * _LEVELS_OF_TREE
        return self.latency + hops * self.hop_latency + self.message_bytes / self.link_bandwidth

    def message_rate(self, ranks: int) -> float:
        """Return the number of messages between random nodes that all links together carry per second."""
        nodes = self.nodes(ranks)
        if nodes == 1 or math.isinf(self.link_bandwidth) or self.message_bytes == 0.0:
            return math.inf
        # Links that cross the middle in one direction: a torus has two layers of them.
        crossing = 2.0 * nodes ** (2.0 / 3.0) if self.topology == "torus" else nodes / 2.0
        # A quarter of all messages cross the middle in this direction.
        return 4.0 * crossing * self.link_bandwidth / self.message_bytes

    def turns(self, ranks: int) -> float:
        """Return how many times as long equal work of all processes takes as that of one: 1 if each has a core."""
        return max(1.0, min(ranks, self.processes_per_node) / self.cores_per_node)

    def allreduce_time(self, ranks: int) -> float:
        """Return the time of a reduction, from the last process that enters it."""
        fixed = self.allreduce + self.allreduce_round * math.log2(max(1, ranks))
        return fixed + self._shared_turns(ranks) * self.allreduce_turn

    def allgather_time(self, ranks: int) -> float:
        """Return the time of an all-gather without data, from the last process that enters it."""
        return self.allgather + self._shared_turns(ranks) * self.allgather_turn

    def _shared_turns(self, ranks: int) -> float:
        turns = self.turns(ranks)
        return turns if turns > 1.0 else 0.0


_FITTED = "fitted to {}, Hines et al. (2011)"
_ASSUMED = "assumed"

BLUE_GENE_P = Machine(
    name="Blue Gene/P, NEURON",
    processes_per_node=4,
    topology="torus",
    latency=2.5e-6,
    hop_latency=0.1e-6,
    link_bandwidth=425e6,
    message_bytes=32.0,
    injection_gap=0.15e-6,
    reception_gap=0.05e-6,
    send_call=6.4e-6,
    send_target=0.5e-6,
    replay_call=1e-6,
    replay_poll=61e-6,
    isend=5.35e-6,
    probe_receive=5.35e-6,
    receive=0.0,
    allreduce=5e-6,
    allreduce_round=0.0,
    allgather=10e-6,
    allgather_bandwidth=300e6,
    allgatherv_process=0.5e-6,
    reduce_scatter_bandwidth=300e6,
    count_target=0.02e-6,
    event=1.22e-6,
    message=2.9e-6,
    spike=1.5e-6,
    step=0.0,
    scan_process=0.095e-6,
    search=0.072e-6,
    cores_per_node=4,
    sources={
        "processes_per_node": "virtual node mode, Hines et al. (2011)",
        "cores_per_node": "Blue Gene/P: four, one for each process in virtual node mode",
        "latency": "assumed: a short message of DCMF takes some microseconds",
        "hop_latency": "assumed: at most 0.1 us a hop on the torus",
        "link_bandwidth": "published for the torus: 425 MB/s a link and direction (IBM J. Res. Dev. 52, 199, 2008)",
        "message_bytes": "one packet: the spike fits into its header, Hines et al. (2011); 32 bytes assumed",
        "injection_gap": _ASSUMED,
        "reception_gap": _ASSUMED,
        "send_call": _FITTED.format("two-phase beside one-phase, round-robin, Table 3"),
        "send_target": _FITTED.format("Multisend beside Record-Replay, round-robin, Table 3"),
        "replay_call": "assumed: two pointers are set",
        "replay_poll": "50 synaptic events, Hines et al. (2011), of 1.22 us",
        "isend": _FITTED.format("MPI_ISEND beside Record-Replay, 8 K cores, 1 k, Table 1; half of the difference"),
        "probe_receive": _FITTED.format("the other half of the same difference"),
        "receive": "included in message",
        "allreduce": "assumed: the collective network reduces in some microseconds",
        "allreduce_round": "assumed: the depth of the collective network is included in allreduce",
        "allreduce_turn": "none: each process has a core",
        "allgather_turn": "none: each process has a core",
        "allgather": _ASSUMED,
        "allgather_bandwidth": _FITTED.format("run less computation of Allgather, 8 K and 64 K cores, Table 1"),
        "allgatherv_process": _FITTED.format("run less computation of Allgather, 64 K cores, 1 k, Table 2"),
        "reduce_scatter_bandwidth": "assumed: as of allgather",
        "count_target": _ASSUMED,
        "event": _FITTED.format("consecutive, adjacent, no bursts, Record-Replay, Table 3"),
        "message": _FITTED.format("Record-Replay, 8 K cores, 1 k, Table 1"),
        "spike": "assumed: as of an event",
        "step": "included in event and message",
        "scan_process": _FITTED.format("computation of Allgather, 64 K cores, 1 k, Tables 1 and 2"),
        "search": _FITTED.format("computation of Allgather, 64 K cores, 1 k, Tables 1 and 2"),
    },
)
"""The machine of the paper, with its program. What its tables could be used for is fitted; `sources` has which."""

_ADAPTER = "NVIDIA, ConnectX-6: https://docs.nvidia.com/networking/display/ConnectX6EN/Introduction"

INFINIBAND_HDR = Machine(
    name="cluster, InfiniBand HDR",
    processes_per_node=128,
    topology="fat_tree",
    latency=0.6e-6,
    hop_latency=0.1e-6,
    link_bandwidth=25e9,
    message_bytes=64.0,
    injection_gap=1.0 / 215e6,
    reception_gap=1.0 / 215e6,
    send_call=0.1e-6,
    send_target=0.2e-6,
    replay_call=0.1e-6,
    replay_poll=1e-6,
    isend=0.2e-6,
    probe_receive=0.2e-6,
    receive=0.2e-6,
    allreduce=2e-6,
    allreduce_round=1e-6,
    allgather=5e-6,
    allgather_bandwidth=5e9,
    allgatherv_process=1e-9,
    reduce_scatter_bandwidth=5e9,
    count_target=2e-9,
    event=10e-9,
    message=20e-9,
    spike=100e-9,
    step=0.0,
    scan_process=1e-9,
    search=2e-9,
    cores_per_node=128,
    sources={
        "processes_per_node": "assumed: two processors of 64 cores",
        "cores_per_node": "one for each process",
        "latency": f"below 0.6 us, {_ADAPTER}",
        "hop_latency": "assumed: about 0.1 us for a switch",
        "link_bandwidth": f"200 Gb/s, {_ADAPTER}",
        "message_bytes": "assumed: 8 bytes and headers",
        "injection_gap": f"215 million messages per second, {_ADAPTER}",
        "reception_gap": "assumed: as of injection",
        "send_call": _ASSUMED,
        "send_target": "assumed: as isend, since no adapter sends to a list",
        "replay_call": _ASSUMED,
        "replay_poll": _ASSUMED,
        "isend": _ASSUMED,
        "probe_receive": _ASSUMED,
        "receive": "assumed: as probe_receive",
        "allreduce": _ASSUMED,
        "allreduce_round": "assumed: a message and its overheads",
        "allreduce_turn": "none: each process has a core",
        "allgather_turn": "none: each process has a core",
        "allgather": _ASSUMED,
        "allgather_bandwidth": _ASSUMED,
        "allgatherv_process": _ASSUMED,
        "reduce_scatter_bandwidth": "assumed: as of allgather",
        "count_target": _ASSUMED,
        "event": "assumed",
        "message": _ASSUMED,
        "spike": _ASSUMED,
        "step": _ASSUMED,
        "scan_process": _ASSUMED,
        "search": _ASSUMED,
    },
)
"""A present cluster, with Ranvier: the adapters are published, most other values assumed. `sources` has which."""

MACHINES: Mapping[str, Machine] = {"blue_gene_p": BLUE_GENE_P, "infiniband_hdr": INFINIBAND_HDR}
