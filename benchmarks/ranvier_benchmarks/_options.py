"""Options that benchmarks share, most of them those on many processes, and what they check before they start any."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import ModuleType
from typing import Any, Literal, TypeAlias

from ranvier import _core
from ranvier.base.names import unknown_name
from ranvier.commands.result_files import add_result_files
from ranvier.errors import InternalError, StateError, ValueOutOfBoundsError
from ranvier_benchmarks._mpiexec import MOST_PROCESSES
from ranvier_benchmarks._settings import Chosen

__all__ = [
    "DEFAULT_METHOD",
    "FOURTH_GENERATION",
    "SORTING_NAMES",
    "Sorting",
    "add_shared_arguments",
    "check_host_ranks",
    "check_positive",
    "is_directed",
    "method_options",
    "method_variants",
    "parse_methods",
    "parse_peers",
    "parse_ranks",
    "sortings_of",
    "with_defaults",
]

Sorting: TypeAlias = bool | Literal["auto"]
FOURTH_GENERATION = "4g"
"""Name of the kernel that came before the two-tier infrastructure, where methods of exchange are named."""
DEFAULT_METHOD = "default"
"""Name of the method that a simulation chooses by its number of processes, where kernels are compared."""
SORTING_NAMES: dict[Sorting, str] = {True: "sorted", False: "unsorted", "auto": "sorted or not"}
"""Names of the values of the option `sort_connections` in tables."""


def add_shared_arguments(parser: argparse.ArgumentParser, *, ranks: str, methods: str) -> None:
    """Declare those that say on what to run and where results go."""
    parser.add_argument("--ranks", default=ranks, metavar="N,...", help="numbers of processes (default: %(default)s)")
    parser.add_argument(
        "--methods",
        default=methods,
        metavar="NAME,...",
        help=f"of exchanging spikes: all, or some of {', '.join(_core.exchanges())} (default: %(default)s)",
    )
    parser.add_argument(
        "--mpiexec", type=Path, metavar="PATH", help="default: that of the Python environment, or the first on the PATH"
    )
    add_result_files(parser, "the results")


def parse_ranks(text: str, least: int, reason: str) -> list[int]:
    """Return the numbers of processes, in the order given.

    Raises
    ------
    ValueOutOfBoundsError
        For text that is not a number, and for numbers that are too small, for the `reason`.
    """
    ranks = []
    for part in text.split(","):
        if not part.strip().isdecimal() or not least <= int(part) <= MOST_PROCESSES:
            raise ValueOutOfBoundsError(
                "--ranks",
                f"'{text}'",
                f"it must be numbers from {least} to {MOST_PROCESSES} with commas between{reason}",
            )
        if int(part) not in ranks:
            ranks.append(int(part))
    return ranks


def is_directed(method: str) -> bool:
    """Return whether a method works with unsorted synapses: methods that send ids of sources do not."""
    if method == DEFAULT_METHOD:
        return True
    return method not in ("auto", FOURTH_GENERATION) and _core.exchange_traits()[method]["directed"]


def method_options(method: str, sorting: Sorting) -> dict[str, Any]:
    """Return the options of the simulation for a method of exchange, the default one, or the fourth-generation kernel.

    That kernel sends all spikes to all processes, each of which looks their sources up in an index over all neurons of
    the network (Jordan et al. 2018, section 3 and Figure 2).
    """
    if method == FOURTH_GENERATION:
        return {"exchange": "allgather", "sort_connections": True, "row_numbering": "sparse", "host_ranks": None}
    if method == DEFAULT_METHOD:
        return {"exchange": None, "sort_connections": sorting, "host_ranks": None}
    options = {"exchange": method, "sort_connections": sorting}
    return options if _core.exchange_traits()[method]["groups_by_host"] else {**options, "host_ranks": None}


def check_host_ranks(methods: Sequence[str], options: Mapping[str, Any]) -> None:
    """Check that some method uses the number of processes of a host, if it is chosen.

    Raises
    ------
    StateError
        When none of the methods does.
    """
    traits = _core.exchange_traits()
    if options.get("host_ranks") is None or any(traits.get(name, {}).get("groups_by_host") for name in methods):
        return
    raise StateError(
        "key host_ranks",
        str(options["host_ranks"]),
        f"{','.join(dict.fromkeys(methods))} do not group processes by host",
        "add hierarchical or auto to --methods, or leave it out",
    )


def sortings_of(chosen: Chosen) -> tuple[Sorting, ...]:
    """Return the values of `sort_connections` to go through: sorted and unsorted, if none was chosen."""
    given: Sorting | None = chosen.options.get("sort_connections")
    return (True, False) if given is None else (given,)


def method_variants(methods: Sequence[str], sortings: Sequence[Sorting]) -> list[tuple[str, Sorting]]:
    """Return each method with and without sorted synapses, but those that cannot be.

    Raises
    ------
    ValueOutOfBoundsError
        When none is left.
    """
    variants = [(method, sorting) for method in methods for sorting in sortings if sorting or is_directed(method)]
    if not variants:
        raise ValueOutOfBoundsError(
            "--methods",
            f"'{','.join(methods)}'",
            "they send ids of sources, and unsorted synapses are not found by these",
            "leave out sort_connections=false, or use a method that sends to those who need a spike",
        )
    return variants


def parse_methods(text: str, *, kernels: bool = False, dry: bool = False) -> list[str]:
    """Return the names of methods of exchange, in the order given.

    Parameters
    ----------
    text
        Names with commas between, or ``"all"``.
    kernels
        Whether the 4g kernel and the default method are known too.
    dry
        Whether they are for dry runs, in which processes of one host share no memory.

    Raises
    ------
    UnknownNameError
        For a name that does not exist; the error names the nearest one.
    """
    known = [name for name, traits in _core.exchange_traits().items() if not (dry and traits["on_host"])]
    others = [DEFAULT_METHOD, FOURTH_GENERATION] if kernels else []
    if text.strip() == "all":
        return known
    names = list(dict.fromkeys(part.strip() for part in text.split(",")))
    for name in names:
        if name not in known + others:
            unknown_name("--methods", name, [*known, *others, "all"])
    return names


def parse_peers(text: str, known: Sequence[str]) -> list[str]:
    """Return the names of programs to compare with, in the order given, each once.

    Raises
    ------
    UnknownNameError
        For an unknown name; the error names the nearest one.
    """
    names = list(dict.fromkeys(part.strip() for part in text.split(",") if part.strip()))
    for name in names:
        if name not in known:
            unknown_name("--against", name, list(known))
    return names


def check_positive(arguments: argparse.Namespace, names: Sequence[str]) -> None:
    """Raise ValueOutOfBoundsError where one of the options is given and not > 0."""
    for name in names:
        value = getattr(arguments, name)
        if value is not None and not 0 < value < float("inf"):
            raise ValueOutOfBoundsError(f"--{name.replace('_', '-')}", str(value), "it must be > 0")


def with_defaults(benchmark: ModuleType, **values: Any) -> argparse.Namespace:
    """Return the arguments of a benchmark, with other values than its defaults for some of them.

    Raises
    ------
    InternalError
        For an argument that the benchmark does not have.
    """
    parser = argparse.ArgumentParser()
    benchmark.add_arguments(parser)
    arguments = parser.parse_args([])
    if unknown := set(values) - set(vars(arguments)):
        raise InternalError(f"{benchmark.__name__} has no arguments {', '.join(sorted(unknown))}")
    vars(arguments).update(values)
    return arguments
