"""`ranvier paper NAME --figure N`: repeat a figure or a table of one of the papers that describe Ranvier's methods.

Without --figure and --table, the figures and tables are listed with the time that each takes. Each has a preset for a
laptop, and with --full the parameters of the paper. It prints its numbers beside those of the paper, and writes them to
a JSON file. A figure is drawn in the form of the paper's, with --from from the files of one or several machines.
"""

from __future__ import annotations

import argparse

from ranvier.commands.benchmarks_package import add_arguments_of

__all__ = ["add_arguments"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command: those of the package with the benchmarks, where it is installed."""
    parser.description = __doc__
    add_arguments_of("papers._command", parser, "ranvier paper", "name of a paper, and options")
