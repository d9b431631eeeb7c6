"""`ranvier bench NAME`: compare programs, methods and sizes on the same work."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
from typing import NoReturn

from ranvier.errors import MissingPackageError

__all__ = ["add_arguments"]

_PACKAGE = "ranvier_benchmarks"
_REMEDY = "pip install ./benchmarks, in Ranvier's sources"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command: those of the package with the benchmarks, where it is installed."""
    parser.description = __doc__
    if importlib.util.find_spec(_PACKAGE) is not None:
        importlib.import_module(f"{_PACKAGE}.command").add_arguments(parser)
        return
    parser.epilog = f"The benchmarks are not installed: {_REMEDY}"
    parser.add_argument("words", nargs=argparse.REMAINDER, metavar="NAME", help="name of a benchmark, and its options")
    parser.set_defaults(execute=_refuse)


def _refuse(options: argparse.Namespace) -> NoReturn:
    raise MissingPackageError("package ranvier-benchmarks", bound="`ranvier bench` needs it", remedy=_REMEDY)
