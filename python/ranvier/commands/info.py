"""`ranvier info`: what machine and build this is."""

from __future__ import annotations

import argparse
import json
import platform

import numpy as np
from rich.console import Console
from rich.table import Table

from ranvier import _core, _mpi_library, machine

__all__ = ["add_command"]


def add_command(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command to the parser."""
    parser = commands.add_parser("info", help="tell what machine and build this is", description=__doc__)
    parser.add_argument("--json", action="store_true", help="print it as JSON")
    parser.set_defaults(carry_out=carry_out)


def carry_out(options: argparse.Namespace) -> int:
    """Print it."""
    facts = gather()
    if options.json:
        print(json.dumps(facts, indent=2))
        return 0
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(style="bold", no_wrap=True)
    table.add_column(overflow="fold")
    for name, value in facts.items():
        text = (", ".join(value) or "none") if isinstance(value, list) else str(value)
        if name.endswith("_bytes"):
            name, text = name.removesuffix("_bytes"), f"{int(text) / 2**30:.1f} GiB"
        table.add_row(name.replace("_", " "), text)
    Console(highlight=False).print(table)
    return 0


def gather() -> dict[str, str | int | list[str]]:
    """Return what is told, by name."""
    return {
        "version": _core.version,
        "source_revision": _core.source_revision,
        "compiler": _core.compiler,
        "build_type": _core.build_type,
        "compiler_flags": _core.compiler_flags,
        "built_for": f"{_core.system} {_core.architecture}",
        "processor": machine.processor_name(),
        "usable_processors": machine.usable_processors(),
        "instruction_sets": _core.instruction_sets(),
        "built_for_mpi": [family.name for family in _mpi_library.plugins()],
        "mpi_libraries": _mpi_library.describe_libraries(),
        "memory_bytes": machine.total_memory(),
        "available_memory_bytes": _core.available_memory(),
        "python": platform.python_version(),
        "numpy": np.__version__,
        "system": platform.platform(),
    }
