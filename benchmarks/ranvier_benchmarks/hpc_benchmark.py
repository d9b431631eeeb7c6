"""The balanced random network of Jordan et al. (2018) with synapses that learn: Ranvier, or compared with NEST.

Each run is a separate process, and contestants take turns (A B A B ...). The ratio is the median of the ratios of
consecutive runs, of the other contestant to the first. Both programs record all spikes; the time before the measured
time is left out. Times per event (a spike at one synapse, plastic or static) are those of one thread.

The rate of this network grows with the weights, and swings in the first hundreds of milliseconds. So networks of two
programs, with different random numbers, do not do the same work in a short time: compare the times per event, too.
"""

from __future__ import annotations

import argparse

from ranvier import networks
from ranvier_benchmarks import _network_benchmark
from ranvier_benchmarks._network_benchmark import NetworkBenchmark

__all__ = ["add_arguments", "main"]

_BENCHMARK = NetworkBenchmark(
    name="hpc_benchmark",
    describe=networks.hpc_benchmark,
    time=250.0,
    presim=50.0,
    title=lambda chosen: f"Balanced random network, {'plastic' if chosen.network['plastic'] else 'static'}",
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    _network_benchmark.add_arguments(parser, _BENCHMARK)


def main(arguments: argparse.Namespace) -> int:
    """Run all contestants in turn and print the results; return 1 if they did not do the same work."""
    return _network_benchmark.run(arguments, _BENCHMARK)
