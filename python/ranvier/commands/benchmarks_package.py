"""The commands of the package with the benchmarks, which is installed beside Ranvier."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
from typing import NoReturn

from ranvier.errors import MissingPackageError

__all__ = ["add_arguments_of"]

_PACKAGE = "ranvier_benchmarks"
_REMEDY = "pip install ./benchmarks, in Ranvier's sources"


def add_arguments_of(module: str, parser: argparse.ArgumentParser, command: str, words: str) -> None:
    """Declare the arguments of a command that a module of the package implements.

    Parameters
    ----------
    module
        Name of the module within the package.
    parser
        Parser of the command. Without the package, it accepts any words, and the command raises MissingPackageError.
    command, words
        Name of the command in that error, and the meaning of its words in the help.
    """
    if importlib.util.find_spec(_PACKAGE) is not None:
        importlib.import_module(f"{_PACKAGE}.{module}").add_arguments(parser)
        return
    parser.epilog = f"The benchmarks are not installed: {_REMEDY}"
    parser.add_argument("words", nargs=argparse.REMAINDER, metavar="NAME", help=words)

    def refuse(_: argparse.Namespace) -> NoReturn:
        raise MissingPackageError("package ranvier-benchmarks", bound=f"`{command}` needs it", remedy=_REMEDY)

    parser.set_defaults(execute=refuse)
