"""The cortical microcircuit: Ranvier with different options, or compared with NEST.

Each run is a separate process, and contestants take turns (A B A B ...). The ratio is the median of the ratios of
consecutive runs, of the other contestant to the first. Both programs record all spikes; the time before the measured
time is left out. Times per event (a spike at one synapse) and per neuron and step are those of one thread.

NEST gets as many threads as there are processors, but at full scale at least four: each thread can have at most 2^27
connections of one type. NEST does not count events: they are computed from its spikes and the mean out-degrees.
"""

from __future__ import annotations

import argparse

from ranvier import networks
from ranvier.networks.microcircuit import choose_drive
from ranvier_benchmarks import _network_benchmark
from ranvier_benchmarks._network_benchmark import NetworkBenchmark
from ranvier_benchmarks._settings import Chosen

__all__ = ["add_arguments", "choose_input", "main"]


def choose_input(chosen: Chosen) -> None:
    """Choose the external input where it is automatic, since NEST's side has to be told."""
    if chosen.network["drive"] == "auto":
        chosen.network["drive"] = choose_drive(chosen.network["k_scaling"] or chosen.network["scale"])


_BENCHMARK = NetworkBenchmark(
    name="microcircuit",
    describe=networks.microcircuit,
    time=1000.0,
    presim=100.0,
    title=lambda chosen: f"Cortical microcircuit, drive {chosen.network['drive']}",
    complete=choose_input,
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    _network_benchmark.add_arguments(parser, _BENCHMARK)


def main(arguments: argparse.Namespace) -> int:
    """Run all contestants in turn and print the results; return 1 if they did not do the same work."""
    return _network_benchmark.run(arguments, _BENCHMARK)
