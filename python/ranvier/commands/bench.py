"""`ranvier bench NAME`: compare programs, methods and sizes on the same work.

Each module of `ranvier.bench` whose name does not begin with ``_`` and that has the functions ``add_arguments(parser)``
and ``main(arguments) -> int`` is a benchmark; its docstring is its help.
"""

from __future__ import annotations

import argparse
import importlib
import pkgutil
from collections.abc import Iterator
from types import ModuleType

from ranvier import bench

__all__ = ["add_arguments", "benchmarks"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.description = (__doc__ or "").split("\n")[0]
    names = parser.add_subparsers(title="benchmarks", required=True, metavar="NAME")
    for name, module in benchmarks():
        summary, _, rest = (module.__doc__ or "").partition("\n")
        own = names.add_parser(
            name,
            help=summary,
            description=summary + rest,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(own)
        own.set_defaults(carry_out=module.main)


def benchmarks() -> Iterator[tuple[str, ModuleType]]:
    """Return the benchmarks by name."""
    for found in pkgutil.iter_modules(bench.__path__):
        if found.name.startswith("_"):
            continue
        module = importlib.import_module(f"{bench.__name__}.{found.name}")
        if hasattr(module, "add_arguments") and hasattr(module, "main"):
            yield found.name, module
