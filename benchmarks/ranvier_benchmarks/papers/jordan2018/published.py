"""Results that the text of Jordan et al. (2018) states, with the place where they stand.

The curves of the figures are only pictures, so their values are not here; neither are the values of the appendix, which
is a supplement. Constants of the memory model of the fourth-generation kernel are those of Kunkel et al. (2014),
Frontiers in Neuroinformatics 8, 78, Table 1, to which the paper refers.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "BYTES_OF_LAST_SPIKE",
    "BYTES_OF_NEURON",
    "BYTES_OF_ONE_TARGET",
    "BYTES_OF_SEVERAL_TARGETS",
    "BYTES_OF_SOURCE",
    "BYTES_OF_SPARSE_ENTRY",
    "BYTES_OF_STATIC",
    "BYTES_OF_STDP",
    "BYTES_OF_TARGET",
    "FIGURES",
    "JUQUEEN",
    "K_COMPUTER",
    "Statement",
]

JUQUEEN = 28_672
"""Nodes of JUQUEEN (section 2.3), where 730 million neurons fill the memory (section 3.5.3)."""
K_COMPUTER = 82_944
"""Nodes of the K computer (section 2.3): the vertical line of Figures 1, 2 and 4."""

# Kunkel et al. (2014), Table 1, column "4g".
BYTES_OF_NEURON = 1100 + 24
"""A neuron, and the overhead of a local one."""
BYTES_OF_STATIC = 16
"""A synapse of the type static_synapse_hpc."""
BYTES_OF_STDP = 24
"""A synapse of the type stdp_pl_synapse_hpc."""
BYTES_OF_SPARSE_ENTRY = 0.33
"""Overhead for each neuron of the network on each thread, in the sparse table."""
BYTES_OF_ONE_TARGET = 24
"""Overhead for a neuron with one target on a thread."""
BYTES_OF_SEVERAL_TARGETS = 128
"""Overhead for a neuron with several targets on a thread."""

# Jordan et al. (2018).
BYTES_OF_LAST_SPIKE = 8
"""Time of the last spike in each STDP synapse of the fifth generation (section 4)."""
BYTES_OF_TARGET = 8
"""Location of a target in the presynaptic infrastructure (section 3.1.2)."""
BYTES_OF_SOURCE = 8
"""Source of a synapse. The paper's text states no number; the id of one of 1.5 billion neurons and two flags (Figure
4A) have more than 32 bits, so that they take 8 bytes."""


@dataclass(frozen=True)
class Statement:
    """A result that the paper states.

    Attributes
    ----------
    what, value
        The result.
    where
        The section that states it.
    """

    what: str
    value: str
    where: str


FIGURES: dict[str, dict[str, Statement]] = {
    "1": {
        "several": Statement("most neurons have several targets on each process", "below 1,000 processes", "1"),
        "none": Statement("a neuron has no target on a process, overwhelmingly likely", "above 10,000 processes", "1"),
    },
    "2B": {
        "sparse": Statement("the sparse table dominates", "in the post-petascale regime", "3"),
    },
    "4B": {
        "crossing": Statement("4g takes less memory than 5g", "below about 1,000 threads", "3.4"),
        "presynaptic": Statement("the presynaptic infrastructure is constant", "above 10,000 threads", "3.4"),
        "neurons": Statement(
            "neurons of a process at maximum filling, 28,672 processes", "25,460 (730 million in all)", "3.5.3"
        ),
    },
    "7": {
        "build": Statement("build time of 5g-sort relative to 4g", "0.70 to 0.75", "3.5.1"),
        "sim_4g": Statement("sim time of 5g-sort relative to 4g, 28,672 processes", "less than 0.45", "3.5.1"),
        "sim_equal": Statement("sim time of 4g relative to 5g-sort, up to 2,048 processes", "about 1", "3.5.1"),
        "init": Statement("init time of 5g-nosort is below that of 5g-sort", "from about 1,024 processes on", "3.5.1"),
        "nosort": Statement("sim time of 5g-nosort is that of 5g-sort", "from about 2,048 processes on", "3.5.1"),
        "memory": Statement("memory of 5g-sort relative to 5g-nosort, few processes", "about 0.80", "3.5.1"),
        "constant": Statement("memory of 5g-sort is constant", "above about 2,048 processes", "3.5.1"),
        "nodes": Statement("memory after construction of neurons", "below 140 MB for 18,000", "Figure 7"),
    },
    "8": {
        "neurons": Statement("largest network, on 82,944 nodes of the K computer", "1.51 billion neurons", "4"),
        "synapses": Statement("its synapses", "16.8 trillion", "4"),
    },
    "9": {
        "minimum_4g": Statement("sim time of 4g is shortest", "at 2,048 to 4,096 processes", "3.5.2"),
        "minimum_5g": Statement("sim time of 5g-sort is shortest", "at 8,192 processes", "3.5.2"),
        "shortest": Statement("shortest time of a simulated second of 5g", "16 s", "3.5.2"),
    },
    "10": {
        "neurons": Statement("neurons of a process, 28,672 processes", "25,460 (730 million in all)", "3.5.3"),
        "fewer": Statement("neurons of a process become fewer", "up to about 2,048 processes", "3.5.3"),
        "sim": Statement("sim time, greatest over least", "less than 1.45", "3.5.3"),
        "deviation": Statement("predicted memory differs from that of the simulation by", "about 5 %", "3.5.3"),
    },
    "11": {
        "build": Statement("build time of 5g relative to 4g", "0.50", "3.5.4"),
        "construction": Statement("build and init time of 5g-sort relative to 4g", "about 1", "3.5.4"),
        "sim": Statement("sim time of 5g-sort relative to 4g", "about 1", "3.5.4"),
        "nosort": Statement("sim time of 5g-nosort relative to 5g-sort", "1.75", "3.5.4"),
        "memory": Statement("memory of 5g-sort relative to 4g", "about 1", "3.5.4"),
    },
    "12": {
        "deliver": Statement("largest part of the sim time", "deliver", "3.5.1"),
        "update": Statement("second largest part", "update", "3.5.1"),
        "communicate": Statement("communicate takes", "a small part", "3.5.1"),
    },
    "A4": {
        "eight": Statement("sim time of 5g relative to 4g, 8 threads", "0.45", "4"),
        "doubled": Statement("sim time of 4g, 16 threads relative to 8", "about 1", "4"),
        "many": Statement("sim time of 5g, 64 threads relative to 8", "0.40", "4"),
        "both": Statement("sim time of 5g with 64 threads relative to 4g with 8", "less than 0.20", "4"),
    },
    "A5": {
        "build": Statement("build time of 4g and 5g", "scales perfectly", "3.5.2"),
        "init": Statement("init time of 5g", "scales almost perfectly", "3.5.2"),
    },
}
"""By figure: what the text says of it, by a short name."""
