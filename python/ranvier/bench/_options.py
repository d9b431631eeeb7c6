"""Options that benchmarks on many processes share, and what they check before they start any."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from ranvier import _core
from ranvier._names import unknown_name
from ranvier.errors import ValueOutOfBoundsError

__all__ = ["add_shared_arguments", "check_positive", "parse_methods", "parse_ranks"]

_MOST_RANKS = 4096


def add_shared_arguments(parser: argparse.ArgumentParser, *, ranks: str, methods: str) -> None:
    """Declare those that say on what to run and where results go."""
    parser.add_argument("--ranks", default=ranks, metavar="N,...", help="numbers of processes (default: %(default)s)")
    parser.add_argument("--threads", type=int, default=1, metavar="N", help="of each process (default: %(default)s)")
    parser.add_argument(
        "--methods",
        default=methods,
        metavar="NAME,...",
        help=f"of exchanging spikes: all, or some of {', '.join(_core.exchanges())} (default: %(default)s)",
    )
    parser.add_argument(
        "--mpiexec", type=Path, metavar="PATH", help="default: that of the Python environment, or the first on the PATH"
    )
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="(default: %(default)s)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all that was measured")
    parser.add_argument("--plot", type=Path, metavar="FILE", help="draw it into this file (png, pdf, svg)")


def parse_ranks(text: str, least: int, reason: str) -> list[int]:
    """Return the numbers of processes, in the order given.

    Raises
    ------
    ValueOutOfBoundsError
        For what is not a number, or is too small; the reason tells why that is the smallest.
    """
    ranks = []
    for part in text.split(","):
        if not part.strip().isdecimal() or not least <= int(part) <= _MOST_RANKS:
            raise ValueOutOfBoundsError(
                "--ranks", f"'{text}'", f"it must be numbers from {least} to {_MOST_RANKS} with commas between{reason}"
            )
        if int(part) not in ranks:
            ranks.append(int(part))
    return ranks


def parse_methods(text: str) -> list[str]:
    """Return the names of methods of exchange, in the order given.

    Raises
    ------
    UnknownNameError
        For one that does not exist; tells the nearest one.
    """
    known = list(_core.exchanges())
    if text.strip() == "all":
        return known
    names = list(dict.fromkeys(part.strip() for part in text.split(",")))
    for name in names:
        if name not in known:
            unknown_name("--methods", name, [*known, "all"])
    return names


def check_positive(arguments: argparse.Namespace, names: Sequence[str]) -> None:
    """Raise ValueOutOfBoundsError where one of the options is given and not > 0."""
    for name in names:
        value = getattr(arguments, name)
        if value is not None and not 0 < value < float("inf"):
            raise ValueOutOfBoundsError(f"--{name.replace('_', '-')}", str(value), "it must be > 0")
