"""Predictions, without building a network, of the memory that a simulation takes and of its choices."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TypeVar

from ranvier import _core
from ranvier.base.numeric import number, whole_number
from ranvier.compiled import steps
from ranvier.errors import StateError, ValueOutOfBoundsError, WrongTypeError
from ranvier.network.network import Network, check_network, contents_of
from ranvier.simulation.core_options import checked_group, core_options
from ranvier.simulation.measurements import Bursts
from ranvier.simulation.options import (
    MOST_RANKS,
    DryRun,
    Precision,
    Processes,
    Recordings,
    RunOptions,
    Stepping,
    Threads,
    Tuning,
    names_options,
)
from ranvier.simulation.recording_memory import predicted_bytes

__all__ = ["device_memory", "host_memory", "lasting_bytes", "predict_memory", "sorts_connections"]

# Beyond all networks: 30,000 years, and a thousand spikes in each microsecond.
_MOST_TIME = 1e15  # ms
_MOST_RATE = 1e9  # spikes/s

# Bytes, or those for several numbers of processes.
_Size = TypeVar("_Size", int, Sequence[int], list[int])

_NEEDED_FOR_A_WHILE = ("construction", "trial")
_ON_DEVICE = "device "


@names_options
def predict_memory(
    network: Network,
    *,
    ranks: int = 1,
    rank: int = 0,
    rate: float = 10.0,
    bursts: Bursts | None = None,
    time: float | None = None,
    recordings: Recordings = "everywhere",
    threads: Threads = None,
    stepping: Stepping = "bsp",
    device: str = "cpu",
    precision: Precision = "double",
    weight_precision: Precision = "single",
    processes: Processes | None = None,
    tuning: Tuning | None = None,
    dry_run: DryRun | None = None,
) -> dict[str, int]:
    """Return the bytes that a simulation of a network would take on one process, by component, without building it.

    ``"construction"`` is needed only during the build. With ``exchange="auto"``, ``"exchange"`` is that of the method
    that takes the most, and ``"trial"`` is needed only while the methods are tried. ``"recordings"`` are those in
    memory after `time`; without `time` they are not included, since they grow as long as the network is simulated.
    With a device, components whose names begin with ``"device "`` are its memory; ``"device kernels"`` is what is left
    to the driver for code and the stacks of threads. A network fits if their sum is at most the free memory of the
    device (of an emulator, that of the process).

    Parameters
    ----------
    network
        The network.
    ranks, rank
        Number of processes that would share the network, and the one of them to predict.
    rate
        Mean rate of the neurons, spikes/s; the size of buffers depends on it.
    bursts
        By how much the largest numbers of spikes exceed the mean, from `ranvier.simulation.measurements.Bursts.of` for
        a run. None: neurons fire independently. Buffers of spikes have room for the largest burst. This matters if
        synapses are not sorted by source, because then there is a spike record for each synapse.
    time
        Simulated time, ms. Synapses that learn keep the spikes of their neurons for some time, in short runs all of
        them. None: a run that is as long as it may be.
    recordings, threads, stepping, device, precision, weight_precision, processes, tuning, dry_run
        Options of `Simulation`. The number of processes is `ranks`; a communicator has no effect. A GPU need not be
        there: it is assumed to have 132 blocks of threads, as an H100 or H200, or as many as ``rv.Tuning(shards=...)``
        says.

    Raises
    ------
    WrongTypeError, ValueOutOfBoundsError, UnknownNameError
        For arguments and options that do not exist, and for values that are not allowed.
    StateError
        For ``threads="auto"``, since nothing is measured, and for what a device does not have.
    """
    check_network(network)
    whole_number("ranks", ranks, 1, MOST_RANKS, "use at least one")
    whole_number("rank", rank, 0, ranks - 1, "ranks are counted from 0")
    if not isinstance(bursts, Bursts | None):
        raise WrongTypeError("bursts", type(bursts).__name__, "must be ranvier.simulation.measurements.Bursts or None")
    run = RunOptions(
        threads=threads,
        stepping=stepping,
        device=device,
        precision=precision,
        weight_precision=weight_precision,
        recordings=recordings,
    )
    _refuse_trials(run)
    options = core_options(network.populations, run, processes, tuning, dry_run)
    # Nothing is compiled for a prediction.
    models = [each.user_model for each in network.populations]
    synapses = [each.synapse for each in network.projections]
    chosen = steps.choose(models, synapses, checked_group(Tuning, tuning).programs)
    options.programs_to_compile = [index for index, compiled in enumerate(chosen.compiled) if compiled]
    options.compiled_rules = chosen.compiled_rules
    most = (0.0, 0.0) if bursts is None else (bursts.in_step, bursts.in_epoch)
    simulated = math.inf if time is None else number("time", time)
    if not (0.0 <= simulated <= _MOST_TIME or simulated == math.inf):
        raise ValueOutOfBoundsError("time", f"{simulated} ms", f"it must be from 0 to {_MOST_TIME:g}, or infinite")
    mean_rate = number("rate", rate)
    if not 0.0 <= mean_rate <= _MOST_RATE:
        raise ValueOutOfBoundsError("rate", f"{mean_rate} spikes/s", f"it must be from 0 to {_MOST_RATE:g}")
    predicted = dict(
        _core.predict_memory(contents_of(network).core, options, ranks, rank, mean_rate, *most, time=simulated)
    )
    if network.recorders and math.isfinite(simulated):
        # All of them, the share of a process, or 0.
        share = {"everywhere": 1.0, "local": 1.0 / ranks, "root": float(rank == 0)}[recordings]
        samples = round(share * predicted_bytes(network.recorders, simulated, mean_rate))
        # Weights of recorders of potentials are there from the beginning.
        predicted["recordings"] = predicted.get("recordings", 0) + samples
    return predicted


@names_options
def sorts_connections(
    network: Network,
    *,
    ranks: int = 1,
    threads: Threads = None,
    stepping: Stepping = "bsp",
    device: str = "cpu",
    precision: Precision = "double",
    weight_precision: Precision = "single",
    processes: Processes | None = None,
    tuning: Tuning | None = None,
    dry_run: DryRun | None = None,
) -> bool:
    """Return whether a simulation of a network would sort its synapses by source, without building it.

    Parameters
    ----------
    network
        The network.
    ranks
        Number of processes that would share the network, all with the same number of threads.
    threads, stepping, device, precision, weight_precision, processes, tuning, dry_run
        As for `predict_memory`, including the errors.
    """
    check_network(network)
    whole_number("ranks", ranks, 1, MOST_RANKS, "use at least one")
    run = RunOptions(
        threads=threads, stepping=stepping, device=device, precision=precision, weight_precision=weight_precision
    )
    _refuse_trials(run)
    return _core.sorts_connections(
        contents_of(network).core, core_options(network.populations, run, processes, tuning, dry_run), ranks
    )


def _refuse_trials(run: RunOptions) -> None:
    if run.threads == "auto":
        raise StateError(
            "threads", "'auto'", "nothing is built and measured for a prediction", "give a number, or leave it out"
        )


def device_memory(predicted: Mapping[str, _Size]) -> dict[str, _Size]:
    """Return the predicted bytes of a device, by component, without ``"device "``."""
    return {name.removeprefix(_ON_DEVICE): size for name, size in predicted.items() if name.startswith(_ON_DEVICE)}


def host_memory(predicted: Mapping[str, _Size]) -> dict[str, _Size]:
    """Return the predicted bytes of a process, by component, without those of its device."""
    return {name: size for name, size in predicted.items() if not name.startswith(_ON_DEVICE)}


def lasting_bytes(predicted: Mapping[str, int]) -> int:
    """Return the predicted bytes of a simulation after the build and a run of some time, without those of a device."""
    return sum(size for name, size in host_memory(predicted).items() if name not in _NEEDED_FOR_A_WHILE)
