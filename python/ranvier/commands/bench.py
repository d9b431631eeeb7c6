"""`ranvier bench NAME`: compare programs, methods and sizes on the same work."""

from __future__ import annotations

import argparse

from ranvier.commands.benchmarks_package import add_arguments_of

__all__ = ["add_arguments"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command: those of the package with the benchmarks, where it is installed."""
    parser.description = __doc__
    add_arguments_of("command", parser, "ranvier bench", "name of a benchmark, and its options")
