"""The options of a simulation, checked and handed to the core."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from ranvier import _core
from ranvier.base.names import unknown_name
from ranvier.base.numeric import as_array, number_array, whole_number
from ranvier.errors import ShapeError, ValueOutOfBoundsError, WrongTypeError
from ranvier.network.checks import check_text

__all__ = ["MOST_RANKS", "MOST_THREADS", "RECORDINGS", "Placement", "check_choice", "core_options"]

Placement: TypeAlias = Literal["round_robin", "consecutive", "shuffle"]

RECORDINGS = ("everywhere", "root", "local")
MOST_RANKS = 2**31 - 1

_STEALING = ("none", "local_and_remote", "prefer_local", "local_only")
_PRECISIONS = ("double", "single")
_LAYOUTS = ("auto", "runs", "ring")
_NUMBERINGS = ("auto", "dense", "compact")
_PLACEMENTS = ("round_robin", "consecutive", "shuffle")
MOST_THREADS = 4096
_MOST_PROCESSORS = 2**31 - 1
_LONGEST_WINDOW = 1024
_LARGEST_LIMIT = 2**63 - 1
_MOST_SPIKES = 2**24


def core_options(
    *,
    threads: int | None = None,
    precision: str = "double",
    weight_precision: str = "single",
    instruction_set: str = "auto",
    table_layout: str = "auto",
    delivery_window: int | None = None,
    pinning: str | Sequence[int] = "auto",
    shards: int | None = None,
    stealing: str = "none",
    costs: Sequence[float] | None = None,
    measure_costs: bool = False,
    memory_limit: int | None = None,
    placement: str | npt.ArrayLike = "round_robin",
    exchange: str = "alltoall",
    intervals: int = 1,
    spike_buffer: int | None = None,
    allgather_spikes: int | None = None,
    connection_buffer: int | None = None,
    sort_connections: bool | str = "auto",
    keep_sources: bool = True,
    row_numbering: str = "auto",
    wait_apart: bool = False,
    trace_epochs: bool = False,
    invented_rate: float | Sequence[float] | None = None,
) -> _core.SimulationOptions:
    """Return the options as the core takes them; they are documented with `ranvier.Simulation`."""
    options = _core.SimulationOptions()
    check_choice("precision", precision, _PRECISIONS)
    check_choice("weight_precision", weight_precision, _PRECISIONS)
    check_choice("table_layout", table_layout, _LAYOUTS)
    check_choice("row_numbering", row_numbering, _NUMBERINGS)
    if not isinstance(instruction_set, str):
        raise WrongTypeError("instruction_set", type(instruction_set).__name__, "must be the name of one")
    check_choice("exchange", exchange, list(_core.exchanges()))
    for name, flag in (
        ("measure_costs", measure_costs),
        ("keep_sources", keep_sources),
        ("wait_apart", wait_apart),
        ("trace_epochs", trace_epochs),
    ):
        if not isinstance(flag, bool | np.bool_):
            raise WrongTypeError(name, type(flag).__name__, "must be True or False")
    options.threads = _positive("threads", threads, MOST_THREADS)
    options.double_state = precision == "double"
    options.double_weights = weight_precision == "double"
    options.instruction_set = check_text("instruction_set", instruction_set)
    options.table_layout = table_layout
    options.delivery_window = _positive("delivery_window", delivery_window, _LONGEST_WINDOW)
    options.pinning = _pinning(pinning)
    options.shards = _positive("shards", shards, MOST_THREADS)
    if not isinstance(stealing, str):
        raise WrongTypeError("stealing", type(stealing).__name__, "must be the name of a policy")
    check_choice("stealing", stealing, _STEALING)
    options.stealing = stealing
    options.costs = [] if costs is None else _list_of_numbers("costs", costs)
    options.measure_costs = bool(measure_costs)
    options.memory_limit = _positive("memory_limit", memory_limit, _LARGEST_LIMIT)
    _set_placement(options, placement)
    options.exchange = exchange
    options.intervals = whole_number("intervals", intervals, 1, 2, "use 1 or 2")
    options.spike_buffer = _positive("spike_buffer", spike_buffer, _LARGEST_LIMIT) or options.spike_buffer
    options.allgather_spikes = _positive("allgather_spikes", allgather_spikes, _MOST_SPIKES) or options.allgather_spikes
    options.connection_buffer = (
        _positive("connection_buffer", connection_buffer, _LARGEST_LIMIT) or options.connection_buffer
    )
    options.sort_connections = _sorting(sort_connections)
    options.keep_sources = bool(keep_sources)
    options.row_numbering = row_numbering
    options.wait_apart = bool(wait_apart)
    options.trace_epochs = bool(trace_epochs)
    if invented_rate is not None:
        options.invented_rates = _list_of_numbers("invented_rate", invented_rate)
    return options


def _list_of_numbers(name: str, given: float | Sequence[float]) -> list[float]:
    numbers = np.atleast_1d(number_array(name, given, "a number or one for each population"))
    if numbers.ndim > 1:
        raise ShapeError(name, f"an array of shape {numbers.shape}", "it must have one dimension")
    values: list[float] = numbers.tolist()
    return values


def check_choice(name: str, value: object, known: Sequence[str]) -> None:
    """Raise UnknownNameError, which tells the nearest one, when an option is none of those that are known."""
    if not isinstance(value, str):
        raise WrongTypeError(name, type(value).__name__, f"must be one of {', '.join(known)}")
    if value not in known:
        unknown_name(name, value, known)


def _sorting(sort_connections: bool | str) -> bool | None:
    """Return whether to sort connections; None: the core chooses."""
    if isinstance(sort_connections, bool | np.bool_):
        return bool(sort_connections)
    if not isinstance(sort_connections, str):
        raise WrongTypeError("sort_connections", type(sort_connections).__name__, "must be True, False or 'auto'")
    if sort_connections != "auto":
        raise ValueOutOfBoundsError("sort_connections", f"'{sort_connections}'", "it must be True, False or 'auto'")
    return None


def _pinning(pinning: str | Sequence[int]) -> str:
    if isinstance(pinning, str):
        return check_text("pinning", pinning)
    if not isinstance(pinning, Sequence | np.ndarray) or isinstance(pinning, bytes) or np.ndim(pinning) != 1:
        raise WrongTypeError("pinning", type(pinning).__name__, "must be a name or a list of processors")
    processors = [whole_number("each processor of pinning", processor, 0, _MOST_PROCESSORS) for processor in pinning]
    if not processors:
        raise ShapeError("pinning", "an empty list", "it must have one processor for each thread")
    return ",".join(map(str, processors))


def _set_placement(options: _core.SimulationOptions, placement: str | npt.ArrayLike) -> None:
    if isinstance(placement, str):
        check_choice("placement", placement, _PLACEMENTS)
        options.placement = placement
        return
    ranks = as_array("placement", placement)
    if ranks is None:
        raise ShapeError("placement", "lists of different lengths", "it must be a list of ranks")
    if ranks.ndim != 1 or (ranks.size and not np.issubdtype(ranks.dtype, np.integer)):
        raise ShapeError(
            "placement",
            f"an array of {ranks.dtype} of shape {ranks.shape}",
            "it must be a list of ranks, one for each id",
        )
    if ranks.size and (ranks.min() < 0 or ranks.max() > MOST_RANKS):
        raise ValueOutOfBoundsError("placement", f"{ranks.min()} to {ranks.max()}", "ranks are counted from 0")
    options.set_ranks(np.ascontiguousarray(ranks, dtype=np.int32))


def _positive(name: str, value: int | None, greatest: int) -> int:
    """Return an option of the core, for which 0 means that it chooses."""
    if value is None:
        return 0
    return whole_number(name, value, 1, greatest, "leave it out to let Ranvier choose")
