"""The network CUBA of Brette et al. (2007): Ranvier, or compared with NEST and Brian2, with several numbers of threads.

Each run is a separate process, and contestants take turns (A B A B ...). Ratios are medians of the ratios of
consecutive runs, to the first contestant; the last line compares each program's best number of threads. Brian2 runs as
a compiled C++ program (standalone mode); neither compilation nor building is in the times. All programs record all
spikes.
"""

from __future__ import annotations

import argparse

from ranvier import networks
from ranvier_benchmarks import _brette

__all__ = ["add_arguments", "main"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    _brette.add_arguments(parser, "cuba")


def main(arguments: argparse.Namespace) -> int:
    """Run all contestants in turn and print the results; return 1 if they did not do the same work."""
    return _brette.run(arguments, "cuba", networks.cuba)
