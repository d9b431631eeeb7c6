"""The sheet of cortex of Senk et al. (2018): Ranvier with different options, or compared with NEST.

Each run is a separate process, and contestants take turns (A B A B ...). The ratio is the median of the ratios of
consecutive runs, of the other contestant to the first. The time to build shows what connections that depend on the
distance cost: for each synapse, beside those of `ranvier bench microcircuit`.
"""

from __future__ import annotations

import argparse

from ranvier import networks
from ranvier_benchmarks import _network_benchmark
from ranvier_benchmarks._network_benchmark import NetworkBenchmark
from ranvier_benchmarks.microcircuit import choose_input

__all__ = ["add_arguments", "main"]


_BENCHMARK = NetworkBenchmark(
    name="mesocircuit",
    describe=networks.mesocircuit,
    time=500.0,
    presim=200.0,
    title=lambda chosen: f"Sheet of cortex, drive {chosen.network['drive']}",
    complete=choose_input,
    is_drawn=True,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    _network_benchmark.add_arguments(parser, _BENCHMARK)


def main(arguments: argparse.Namespace) -> int:
    """Run all contestants in turn and print the results; return 1 if they did not do the same work."""
    return _network_benchmark.run(arguments, _BENCHMARK)
