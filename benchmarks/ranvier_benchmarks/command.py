"""The benchmarks as arguments of the command `ranvier bench`."""

from __future__ import annotations

import argparse
import importlib
import pkgutil
from collections.abc import Iterator
from types import ModuleType

import ranvier_benchmarks

__all__ = ["add_arguments", "benchmarks"]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare each benchmark with its arguments."""
    names = parser.add_subparsers(title="benchmarks", required=True, metavar="NAME")
    for name, module in benchmarks():
        summary, _, rest = (module.__doc__ or "").partition("\n")
        benchmark = names.add_parser(
            name,
            help=summary,
            description=summary + rest,
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(benchmark)
        benchmark.set_defaults(execute=module.main)


def benchmarks() -> Iterator[tuple[str, ModuleType]]:
    """Return the benchmarks by name."""
    for found in pkgutil.iter_modules(ranvier_benchmarks.__path__):
        if found.name.startswith("_"):
            continue
        module = importlib.import_module(f"{ranvier_benchmarks.__name__}.{found.name}")
        if hasattr(module, "add_arguments") and hasattr(module, "main"):
            yield found.name, module
