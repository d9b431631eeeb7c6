"""The memory model of the paper: bytes of a process in the fourth and the fifth generation of the kernel.

The model of the fourth generation is that of Kunkel et al. (2014), to which section 2.5 of the paper refers; that of
the fifth generation is described in section 2.5. A thread has K N_M / T synapses, whose sources are drawn from all N
neurons with the same probability. So the numbers of sources with no, one and several targets on a thread are those of
a binomial distribution.

The memory of the program at its start and the buffers of MPI are left out: their constants are in a supplement only.
"""

from __future__ import annotations

import math

from ranvier_benchmarks.papers.jordan2018 import published

__all__ = ["COMPONENTS", "memory_of_4g", "memory_of_5g"]

COMPONENTS = {
    "4g": ("neurons", "sparse tables", "several targets", "one target", "synapses"),
    "5g": ("neurons", "sources", "targets", "synapses"),
}
"""Names of the components of each kernel, in the order in which they are stacked."""
_PLASTIC = 0.8 * 0.8
"""Fraction of the synapses that are between excitatory neurons, and learn."""


def memory_of_4g(neurons_per_process: float, processes: int, threads: int, indegree: int) -> dict[str, float]:
    """Return the bytes of a process of the fourth-generation kernel, by component."""
    neurons = neurons_per_process * processes
    of_thread = indegree * neurons_per_process / threads
    one, several = _expected_sources(neurons, of_thread)
    return {
        "neurons": neurons_per_process * published.BYTES_OF_NEURON,
        "sparse tables": threads * neurons * published.BYTES_OF_SPARSE_ENTRY,
        "several targets": threads * several * published.BYTES_OF_SEVERAL_TARGETS,
        "one target": threads * one * published.BYTES_OF_ONE_TARGET,
        "synapses": indegree
        * neurons_per_process
        * (_PLASTIC * published.BYTES_OF_STDP + (1.0 - _PLASTIC) * published.BYTES_OF_STATIC),
    }


def memory_of_5g(neurons_per_process: float, processes: int, threads: int, indegree: int) -> dict[str, float]:
    """Return the bytes of a process of the fifth-generation kernel with sorted synapses, by component."""
    synapses = indegree * neurons_per_process
    learning = published.BYTES_OF_STDP + published.BYTES_OF_LAST_SPIKE
    return {
        "neurons": neurons_per_process * published.BYTES_OF_NEURON,
        "sources": synapses * published.BYTES_OF_SOURCE,
        "targets": neurons_per_process * min(indegree, processes * threads) * published.BYTES_OF_TARGET,
        "synapses": synapses * (_PLASTIC * learning + (1.0 - _PLASTIC) * published.BYTES_OF_STATIC),
    }


def _expected_sources(neurons: float, draws: float) -> tuple[float, float]:
    """Return the expected numbers of neurons that are drawn once, and that are drawn several times."""
    if neurons <= 1.0:
        return 0.0, neurons
    no_target = neurons * math.exp(draws * math.log1p(-1.0 / neurons))
    one = draws * math.exp((draws - 1.0) * math.log1p(-1.0 / neurons))
    return one, max(0.0, neurons - no_target - one)
