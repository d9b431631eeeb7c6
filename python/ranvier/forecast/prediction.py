"""Predictions of memory and time on many processes, without building the network.

Memory is computed from the sizes of tables and buffers. Times are computed from the costs of neurons per step on this
machine, and of exchanges of spikes in a small copy of the network. `ranvier.forecast.dry_run` builds and runs the part
of one process instead.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ranvier.base.numeric import number, whole_number
from ranvier.errors import StateError, ValueOutOfBoundsError, WrongTypeError
from ranvier.forecast.calibration import Costs
from ranvier.forecast.load import DEFAULT_RATE, Load, expect_load, mean_rate
from ranvier.forecast.miniature import PARTS
from ranvier.network.network import Network
from ranvier.simulation.options import MOST_RANKS
from ranvier.simulation.predictions import device_memory, predict_memory

__all__ = [
    "DEFAULT_RATE",
    "SCALING_KEYS",
    "Fit",
    "Load",
    "Times",
    "expect_load",
    "expect_times",
    "largest_fit",
    "mean_rate",
    "memory_over_ranks",
    "ranks_around",
]

SCALING_KEYS = ("scale", "cells", "size")
"""Keywords that scale a network, in the order in which they are tried."""

# Largest number of neurons whose ids and addresses fit into 64 bits.
_MOST_NEURONS = 2**47
# The bisection ends when the memory differs from the limit by less than this fraction.
_PRECISION = 1e-3


# ---- times -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Times:
    """Expected times in seconds, with a processor for each thread.

    Attributes
    ----------
    build
        Time to build neurons and synapses, sort them, and make the presynaptic table.
    parts
        Times per simulated second: *update*, *deliver*, *collocate*, *communicate*, and *wait* for other threads. The
        network between machines is not included.
    """

    build: float
    parts: dict[str, float]

    @property
    def simulation(self) -> float:
        """Seconds per simulated second."""
        return sum(self.parts.values())


def expect_times(load: Load, costs: Costs) -> Times:
    """Return the expected times of one process."""
    share = 1.0 / load.threads
    of_neurons = sum(count * cost for count, cost in zip(load.neurons, costs.neurons, strict=True))
    of_stimuli = sum(count * cost for count, cost in zip(load.stimulated, costs.stimuli, strict=True))
    events = load.events_per_second / load.exchanges_per_second
    # The measurements cover nearly as many.
    more = events / costs.events if costs.events > 0.0 else 1.0
    return Times(
        build=load.synapses * costs.synapse,
        parts={
            "update": (of_neurons + of_stimuli) * load.steps_per_second * share,
            **{part: load.exchanges_per_second * costs.exchange[part] * more for part in PARTS},
        },
    )


# ---- memory ----------------------------------------------------------------------------------------------------------


def ranks_around(ranks: int, most: int = 2**17) -> list[int]:
    """Return powers of two around a number of processes, and that number, ascending."""
    whole_number("ranks", ranks, 1, MOST_RANKS, "use at least one")
    whole_number("most ranks", most, 1, MOST_RANKS)
    around = {2**power for power in range(most.bit_length()) if ranks / 64 <= 2**power <= ranks * 64}
    return sorted(count for count in around | {ranks} if count <= max(most, ranks))


def memory_over_ranks(describe: Callable[[int], Network], ranks: Sequence[int], **options: Any) -> dict[str, list[int]]:
    """Return the memory of a process in bytes, by component, for several numbers of processes.

    Parameters
    ----------
    describe
        Returns the network for a number of processes.
    ranks
        Numbers of processes.
    **options
        Options of `ranvier.simulation.predict_memory`.
    """
    _check_describe(describe)
    if not isinstance(ranks, Sequence) or isinstance(ranks, str | bytes):
        raise WrongTypeError("ranks", type(ranks).__name__, "must be a list of numbers of processes")
    counts = [whole_number("ranks", count, 1, MOST_RANKS, "use at least one") for count in ranks]
    predicted = [predict_memory(describe(count), ranks=count, **options) for count in counts]
    components = list(dict.fromkeys(name for each in predicted for name in each))
    return {name: [each.get(name, 0) for each in predicted] for name in components}


def _check_describe(describe: Callable[..., Network]) -> None:
    if not callable(describe):
        raise WrongTypeError("describe", type(describe).__name__, "must be a function that returns a network")


@dataclass(frozen=True)
class Fit:
    """The largest network that fits into the memory of the processes.

    Attributes
    ----------
    key, value
        The key that scales the network, and its value. None: not even the smallest network fits.
    neurons, synapses
        Number of neurons and of synapses.
    memory
        Bytes of a process by component.
    """

    key: str
    value: float | int | None
    neurons: int = 0
    synapses: float = 0.0
    memory: dict[str, int] | None = None


def largest_fit(
    key: str,
    start: float | int,
    describe: Callable[[float | int], Network],
    limit: float,
    *,
    ranks: int,
    device_limit: float = math.inf,
    **options: Any,
) -> Fit:
    """Return the largest network whose processes take at most `limit` bytes, found by bisection.

    Parameters
    ----------
    key
        Name of the key.
    start
        Initial value, > 0, with the type of the key.
    describe
        Returns the network for a value.
    limit
        Memory limit of each process, bytes; infinite for none.
    ranks
        Number of processes.
    device_limit
        The same for the device of each process. The memory of an emulator is that of its process.
    **options
        Options of `ranvier.simulation.predict_memory`.

    Raises
    ------
    WrongTypeError, ValueOutOfBoundsError
        For arguments of a wrong type, or a start that is not > 0 and finite.
    """
    _check_describe(describe)
    if not isinstance(key, str):
        raise WrongTypeError("key", type(key).__name__, "must be the name of a key")
    if number(f"start of {key}", start) <= 0.0 or not math.isfinite(start):
        raise ValueOutOfBoundsError(f"start of {key}", str(start), "it must be > 0 and finite")
    for name, given in (("limit of memory", limit), ("limit of memory of a device", device_limit)):
        if math.isnan(number(name, given)):
            raise ValueOutOfBoundsError(name, "nan", "it must be a number of bytes")
    whole = isinstance(start, int)
    is_emulated = options.get("device") == "cuda-emulator"

    def memory(value: float | int) -> dict[str, int] | None:
        try:
            network = describe(value)
        except (ValueError, OverflowError):
            # This value is too small or too large for the network.
            return None
        if network.neuron_count > _MOST_NEURONS:
            return None
        try:
            return predict_memory(network, ranks=ranks, **options)
        except StateError:
            # A block of threads of a device would have too many neurons.
            if options.get("device", "cpu") == "cpu":
                raise
            return None

    def fits(value: float | int) -> bool:
        bytes_of = memory(value)
        if bytes_of is None:
            return False
        on_device = 0 if is_emulated else sum(device_memory(bytes_of).values())
        return sum(bytes_of.values()) - on_device <= limit and on_device <= device_limit

    low: float | int | None = None
    high: float | int | None = None
    value: float | int = start
    # Go up or down from the start by factors of two, to find a value that fits and one that does not.
    while low is None or high is None:
        if fits(value):
            low = value
            if high is None:
                value = value * 2
        else:
            high = value
            if low is None:
                value = value // 2 if isinstance(value, int) else value / 2
        if value <= 0 or value > 1e18 or value < 1e-12:
            break
    if low is None:
        return Fit(key, None)
    while high is not None and (high - low > 1 if whole else high - low > _PRECISION * low):
        middle: float | int = (low + high) // 2 if whole else (low + high) / 2
        if high - low <= _PRECISION * low:
            break
        if fits(middle):
            low = middle
        else:
            high = middle
    network = describe(low)
    return Fit(key, low, network.neuron_count, network.expected_synapses, memory(low))
