"""The options of a simulation. Each of them is declared here."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, Literal, ParamSpec, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt

from ranvier import _core
from ranvier.base.hints import known_keywords
from ranvier.base.immutable import Settings, locked
from ranvier.base.names import unknown_name
from ranvier.base.numeric import as_array, number, number_array, whole_number
from ranvier.base.texts import check_text
from ranvier.errors import ShapeError, UnknownNameError, ValueOutOfBoundsError, WrongTypeError
from ranvier.mpi import Communicator, Mpi4pyCommunicator
from ranvier.simulation.described_options import Option, OptionGroup, option, option_group

__all__ = [
    "GROUPS",
    "MOST_RANKS",
    "MOST_THREADS",
    "OPTIONS",
    "DryRun",
    "Placement",
    "Precision",
    "Processes",
    "Recordings",
    "RunOptions",
    "Stepping",
    "Threads",
    "Tuning",
    "grouped",
    "names_options",
    "way_to_change",
]

Parameters = ParamSpec("Parameters")
Result = TypeVar("Result")

MOST_RANKS = 2**31 - 1
MOST_THREADS = 4096
_MOST_PROCESSORS = 2**31 - 1
_MOST_COST = 1e30
_LONGEST_WINDOW = 1024
_MOST_PIECES = 2**24
_DEVICES = ("cpu", "cuda", "cuda-emulator")

Precision: TypeAlias = Literal["double", "single"]
Stepping: TypeAlias = Literal["bsp", "async"]
Threads: TypeAlias = int | Literal["auto"] | None
Recordings: TypeAlias = Literal["everywhere", "root", "local"]
Placement: TypeAlias = Literal["round_robin", "consecutive", "shuffle", "space"]
Pinning: TypeAlias = str | Sequence[int]
Rates: TypeAlias = float | Mapping[str, float] | None


# ---- checks beyond types and bounds ----------------------------------------------------------------------------------


def _checked_pinning(pinning: Any) -> str:
    if isinstance(pinning, str):
        _core.parse_pinning(check_text("pinning", pinning))
        return pinning
    if not isinstance(pinning, Sequence | np.ndarray) or isinstance(pinning, bytes) or np.ndim(pinning) != 1:
        raise WrongTypeError("pinning", type(pinning).__name__, "must be a name or a list of processors")
    processors = [whole_number("each processor of pinning", processor, 0, _MOST_PROCESSORS) for processor in pinning]
    if not processors:
        raise ShapeError("pinning", "an empty list", "it must have one processor for each thread")
    return ",".join(map(str, processors))


def _checked_device(device: Any) -> str:
    name = check_text("device", device)
    if name not in _DEVICES and not re.fullmatch(r"cuda:[0-9]{1,4}", name):
        unknown_name("device", name, _DEVICES)
    return name


def _checked_window(steps: Any) -> Any:
    if steps is None:
        return None
    window = whole_number("delivery_window", steps, 1, _LONGEST_WINDOW, "leave it out to let Ranvier choose")
    if window & (window - 1):
        raise ValueOutOfBoundsError(
            "delivery_window", str(window), f"it must be a power of two from 1 to {_LONGEST_WINDOW}", "leave it out"
        )
    return window


def _checked_costs(costs: Any) -> Any:
    if costs is None or (isinstance(costs, str) and costs == "measured"):
        return costs
    if isinstance(costs, str):
        unknown_name("way to find costs", costs, ["measured"])
    if not isinstance(costs, Mapping):
        wanted = "must be a mapping of populations to numbers, or 'measured'"
        raise WrongTypeError("costs", type(costs).__name__, wanted)
    return _by_population("cost", costs, _MOST_COST)


def _checked_rates(rates: Any) -> Any:
    if rates is None:
        return None
    if isinstance(rates, Mapping):
        return _by_population("rate", rates)
    array = number_array("invented_rate", rates, "a number, or a mapping of populations to numbers")
    if array.ndim > 0:
        raise ShapeError("invented_rate", f"an array of shape {array.shape}", "it must be a number or a mapping")
    return _within("invented_rate", float(array))


def _within(name: str, value: float, most: float = sys.float_info.max) -> float:
    if not 0.0 <= value <= most:
        bound = "finite and >= 0" if most == sys.float_info.max else f"from 0 to {most:g}"
        raise ValueOutOfBoundsError(name, str(value), f"it must be {bound}")
    return value


def _by_population(what: str, given: Mapping[Any, Any], most: float = sys.float_info.max) -> Settings:
    values = {}
    for name, value in given.items():
        title = f"{what} of population {check_text(f'population with a {what}', name)}"
        values[name] = _within(title, number(title, value), most)
    return Settings(values, f"{what}s of populations", "dict(")


_PLACEMENTS = ("round_robin", "consecutive", "shuffle", "space")


def _checked_placement(placement: Any) -> Any:
    if isinstance(placement, str):
        return placement if placement in _PLACEMENTS else unknown_name("placement", placement, _PLACEMENTS)
    ranks = as_array("placement", placement)
    if ranks is None:
        raise ShapeError("placement", "lists of different lengths", "it must be a list of ranks")
    if ranks.ndim != 1 or (ranks.size and ranks.dtype.kind not in "iu"):
        raise ShapeError(
            "placement",
            f"an array of {ranks.dtype} of shape {ranks.shape}",
            "it must be a list of ranks, one for each id",
        )
    if ranks.size and (ranks.min() < 0 or ranks.max() > MOST_RANKS):
        raise ValueOutOfBoundsError("placement", f"{ranks.min()} to {ranks.max()}", "ranks are counted from 0")
    return locked(np.array(ranks, dtype=np.int32))


def _checked_communicator(communicator: Any) -> Any:
    if communicator is None or isinstance(communicator, Communicator) or callable(getattr(communicator, "py2f", None)):
        return communicator
    raise WrongTypeError("communicator", type(communicator).__name__, "must be one of ranvier.mpi or mpi4py, or None")


# ---- the options -----------------------------------------------------------------------------------------------------


@option_group
class RunOptions(OptionGroup):
    """Options that are themselves keywords of `ranvier.Simulation`."""

    keyword: ClassVar[str] = ""

    threads: Threads = option(
        default=None,
        meaning="""Number of worker threads of each process; None: one for each processor that the process may
        use. "auto": as many of these as pay, since threads of a small network mostly wait for each other. The first
        steps of the network are simulated with 1, 2, 4, ... threads, for about 0.1 s each, and then discarded; if each
        thread has much work, nothing is measured. All processes choose the same; `Simulation.thread_choice` returns
        what was measured. The spikes are the same for any number.""",
        greatest=MOST_THREADS,
    )
    stepping: Stepping = option(
        default="bsp",
        meaning="""How the neurons advance. "bsp": all by the shortest delay of the network, then they exchange
        their spikes. "async": groups of neurons advance independently, each as far as the groups that send it
        spikes allow; this is faster for detailed cells. The spikes are the same.""",
    )
    device: str = option(
        default="cpu",
        meaning="""Where the steps run: on processors (cpu), on a GPU of NVIDIA (cuda, or cuda:1 for the second one), or
        on an emulator of a GPU (cuda-emulator), which is for tests: it runs the kernels of a GPU on one processor. The
        spikes are the same. Several processes have one device each: with cuda, those of a host take its GPUs in turn. A
        GPU needs its driver and the compiler of kernels (``pip install 'ranvier[cuda]'``); the kernels are compiled and
        tested without one, and have not run on one yet. What devices do not have yet is refused before the network is
        built.""",
        values="'cpu', 'cuda', 'cuda:1' (or another number) or 'cuda-emulator'",
        check=_checked_device,
    )
    precision: Precision = option(default="double", meaning="Precision of the state of neurons.")
    weight_precision: Precision = option(
        default="single",
        meaning="""Precision in which weights are stored. Single precision rounds them to 24 bits: 0.1 becomes
        0.10000000149.""",
    )
    memory_limit: int | None = option(
        default=None,
        meaning="""Bytes that the network and its recordings in memory may take on this process; None: the available
        memory of the machine, divided among the processes of the run on it.""",
    )
    recordings: Recordings = option(
        default="everywhere",
        meaning="""Which processes get the recordings: all processes everything (everywhere), only rank 0
        everything (root), or each process only those of its neurons (local). Rank 0 writes the files. With "local"
        each process writes a separate file: `spikes.h5` becomes `spikes.rank0.h5`, `spikes.rank1.h5` and so on.
        `ranvier.read_spikes` and the like read these files as one recording, by the name without a rank, on any number
        of processes.""",
    )


@option_group
class Processes(OptionGroup):
    """How the processes of a run share a network and exchange spikes. The spikes are the same for any choice."""

    keyword: ClassVar[str] = "processes"

    communicator: Communicator | Mpi4pyCommunicator | None = option(
        default=None,
        meaning="""The processes that share the network. None: all processes that mpiexec has started, or only
        this process. All of them must make the same simulation of the same network, and make the same calls of its
        methods.""",
        values="a communicator of ranvier.mpi or mpi4py, or None",
        settable=False,
        check=_checked_communicator,
    )
    placement: Placement | npt.ArrayLike = option(
        default="round_robin",
        meaning="""How neurons are distributed over processes: in turn (round_robin), in ranges of ids
        (consecutive), at random (shuffle) or along a Hilbert curve through their positions, so that neurons near each
        other share a process (space); or an array with a rank for each neuron and spike source, by id. With "space",
        the numbers of neurons of a population on two processes differ by one at most, and populations without positions
        are distributed in turn.""",
        values="'round_robin', 'consecutive', 'shuffle', 'space' or an array of ranks",
        check=_checked_placement,
    )
    exchange: str | None = option(
        default=None,
        choices=_core.exchanges(),
        meaning="""Method of exchanging spikes at the end of each epoch; `ranvier.mpi.exchanges` lists all methods.
        None: alltoall up to 4,096 processes, and grid beyond; with ``stepping="async"`` there are no epochs, and
        `notifications` replace it.""",
    )
    notifications: Literal["packed", "single"] = option(
        default="packed",
        meaning="""With ``stepping="async"``: how processes notify each other of the progress of their shards and of
        their spikes. "packed": in one message for all shards of both processes. "single": in a message for each pair of
        shards, for comparison.""",
    )
    intervals: int = option(
        default=1,
        meaning="""Number of intervals into which the shortest delay is divided. With 2, spikes are sent during
        one interval while neurons are updated, if the method supports it.""",
        greatest=2,
    )
    spike_buffer: int | None = option(
        default=None,
        meaning="""Bytes of the buffer from which spikes are sent; spikes that do not fit need more rounds. None:
        32 MiB.""",
    )
    allgather_spikes: int | None = option(
        default=None,
        meaning="Number of spikes that each process sends in one allgather; a second one sends the rest. None: 16.",
        greatest=2**24,
    )
    host_ranks: int | None = option(
        default=None,
        meaning="""With ``exchange="hierarchical"``, also where ``"auto"`` tries it: number of processes of a host that
        act as a host together, such as those of a NUMA node. They share memory, and one of them sends and receives. In
        a dry run, the number of processes of a host. None: all processes of a host; in a dry run 1.""",
        greatest=MOST_RANKS,
    )
    connection_buffer: int | None = option(
        default=None,
        meaning="""Bytes of the buffers for exchanging information about synapses while the network is built.
        None: 128 MiB.""",
    )
    sort_connections: bool | Literal["auto"] = option(
        default="auto",
        meaning="""Whether synapses are sorted by source, so that a spike is sent once to a process and not once
        for each synapse. "auto": sorted, unless sorting takes more memory, because most possible sources have no
        target on a thread, and neither the exchange nor `row_numbering` needs it. All processes choose the same;
        `Simulation.sorts_connections` returns it.""",
    )
    keep_sources: bool = option(
        default=True,
        meaning="""Whether the sources of synapses are kept after the build. Without them, sparse networks take
        less memory, but `Simulation.connections` is not possible. While a state is saved or loaded, they are
        restored.""",
    )
    row_numbering: Literal["auto", "dense", "compact", "sparse"] = option(
        default="auto",
        meaning="""Whether tables have a row for every possible source (dense) or only for sources with targets
        on this process (compact). "auto": the one that takes less memory. "sparse": as compact, with an index over
        all possible sources, and built synapse by synapse in a separate container for each source, as in the
        fourth-generation kernel of NEST; its memory grows with the network, its build is slow; it is
        meant for comparison.""",
    )
    wait_apart: bool = option(
        default=False,
        meaning="Whether processes synchronize before each exchange, so that waiting is measured separately.",
    )


@option_group
class Tuning(OptionGroup):
    """How a process uses its processors and its memory. The spikes are the same for any choice."""

    keyword: ClassVar[str] = "tuning"

    instruction_set: Literal["auto", "baseline", "avx2", "avx512"] = option(
        default="auto", meaning='Instruction set of the processor to use. "auto": the widest that it has.'
    )
    programs: Literal["auto", "compiled", "interpreted"] = option(
        default="auto",
        meaning="""How neurons of equations advance and synapses of equations learn: by code that LLVM compiles for them
        when the simulation is built (compiled), or by an interpreter (interpreted). "auto": compiled, if llvmlite is
        installed (``pip install ranvier[llvm]``). `Simulation.programs` returns what was chosen.""",
    )
    table_layout: Literal["auto", "runs", "ring", "blocks"] = option(
        default="auto", meaning="How synapses are stored and delivered."
    )
    delivery_window: int | None = option(
        default=None,
        meaning="""With the layout "runs": number of steps whose inputs are delivered in one pass, a power of
        two; None: chosen automatically. A larger number means fewer and longer reads of memory, but the inputs take
        more of the cache.""",
        greatest=_LONGEST_WINDOW,
        values=f"a power of two from 1 to {_LONGEST_WINDOW} or None",
        check=_checked_window,
    )
    pinning: Pinning = option(
        default="auto",
        meaning="""How threads are bound to processors: the same number on each NUMA node (equal), on as few nodes
        as possible with one thread per core (compact), not bound (none), or a list with one processor for each thread.
        "auto": one thread per processor or core if the numbers are equal, otherwise not bound. See the guide "The
        parallel layer" of the documentation.""",
        values="'auto', 'equal', 'compact', 'none' or a list of processors such as 0,2,4-7",
        check=_checked_pinning,
    )
    shards: int | None = option(
        default=None,
        meaning="""Number of parts into which the neurons of a process are divided, at least one for each thread.
        None: one for each thread; with ``stepping="async"`` cells are divided into parts that fit into a cache. With
        more shards, threads can take shards from each other, but memory is read in shorter pieces.""",
        greatest=MOST_THREADS,
    )
    stealing: Literal["auto", "none", "local_and_remote", "prefer_local", "local_only"] = option(
        default="auto",
        meaning="""From which threads a thread that would wait takes work: from no thread (none), from any thread
        (local_and_remote), first from threads of its NUMA node and then of the nearest other nodes (prefer_local), or
        only from threads of its node (local_only). The work is shards, which it updates, and, if spikes are exchanged
        in each step, arrivals with longer delays, which it delivers to the neurons of other threads. "auto": with
        ``stepping="bsp"``, only such arrivals, first from threads of its node; with ``stepping="async"``, shards of
        any thread.""",
    )
    small_blocks: Literal["auto", "heap", "pool"] = option(
        default="auto",
        meaning="""Where memory of up to 1 kB is allocated: with that of all threads, on any NUMA node (heap), or in
        pages of the thread, on its node (pool). From 64 kB on, memory is on the node of the thread in any case.
        "auto": pool, on machines with several nodes, if threads are bound to processors.""",
    )
    costs: Mapping[str, float] | Literal["measured"] | None = option(
        default=None,
        meaning="""Relative cost of a neuron of each population, by the name of the population, for example from
        `Simulation.costs` of an earlier simulation. Neurons are then divided such that all shards have the same cost.
        "measured": the costs are measured in a simulation of 100 ms, which is then discarded. None: all shards get the
        same number of neurons.""",
        values="a mapping of populations to numbers, 'measured' or None",
        check=_checked_costs,
    )
    measure_costs: bool = option(
        default=False,
        meaning="""Whether to measure the costs of the populations, for `Simulation.costs`. This takes some time
        in each step.""",
        settable=False,
    )
    trace_epochs: bool = option(
        default=False,
        meaning="Whether the times of each interval between exchanges are kept, for `Simulation.epoch_times`.",
        settable=False,
    )
    trace: int = option(
        default=0,
        meaning="""Number of pieces of work of each thread that are kept, the latest ones, for `Simulation.trace`. Each
        takes about 100 bytes of memory and 0.1 microseconds. A piece is the work for one shard in one round; there is a
        round for each epoch, and about five if processes exchange spikes.""",
        least=0,
        greatest=_MOST_PIECES,
        settable=False,
    )


@option_group
class DryRun(OptionGroup):
    """Options of a dry run: one process builds and runs rank 0 of a simulation with many processes.

    See `ranvier.forecast.dry_run`.
    """

    keyword: ClassVar[str] = "dry_run"

    ranks: int | None = option(
        default=None,
        meaning="""Number of processes of the simulation. None: no dry run. Recordings are local: they contain the
        neurons of rank 0.""",
        greatest=MOST_RANKS,
        settable=False,
    )
    invented_rate: Rates = option(
        default=None,
        meaning="""Rate, in spikes/s, at which each neuron of all processes is assumed to send spikes, instead of
        its simulated spikes, which are still recorded: a number, or one for each population by its name, such as
        `SpikeData.mean_rates` of a real run. None: the other processes are assumed to send the same spikes as this
        one.""",
        values="a number, a mapping of populations to numbers, or None",
        settable=False,
        check=_checked_rates,
    )


GROUPS: tuple[type[OptionGroup], ...] = (RunOptions, Processes, Tuning, DryRun)
"""The groups of options; the first one has those that are themselves keywords of a simulation."""

OPTIONS: Mapping[str, Option] = {name: each for group in GROUPS for name, each in group.options.items()}
"""All options by name."""


def grouped(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return keywords of `ranvier.Simulation` for options that are passed without their groups.

    >>> grouped({"threads": 2, "stealing": "local_only"})
    {'threads': 2, 'tuning': Tuning(stealing='local_only')}

    Raises
    ------
    UnknownNameError
        For an option that does not exist. Keywords that are not options (``progress``) are returned unchanged.
    """
    keywords: dict[str, Any] = {}
    for group in GROUPS:
        chosen = {name: value for name, value in options.items() if name in group.options}
        if group is RunOptions:
            keywords |= chosen
        elif chosen:
            keywords[group.keyword] = group(**chosen)
    for name, value in options.items():
        if name not in OPTIONS:
            keywords[name] = value
    return keywords


def names_options(call: Callable[Parameters, Result]) -> Callable[Parameters, Result]:
    """Return a function that takes options by name; for one of a group, its error names the group."""
    return known_keywords(call, _explain_group)


def _explain_group(call: str, positional: tuple[Any, ...], keywords: dict[str, Any], known: list[str]) -> None:
    for name in keywords:
        found = OPTIONS.get(name)
        if name not in known and found is not None and found.group in known:
            kind = next(group for group in GROUPS if name in group.options).__name__
            raise UnknownNameError(
                f"keyword of {call}()",
                f"'{name}'",
                f"it is an option of rv.{kind}",
                f"write {found.group}=rv.{kind}({name}=...)",
            ) from None


def way_to_change(name: str) -> str:
    """Return the remedy for assigning an attribute of a simulation."""
    if name in OPTIONS:
        call = f"{name}=..."
        for group in GROUPS:
            if group.keyword and name in group.options:
                call = f"{group.keyword}=rv.{group.__name__}({name}=...)"
        return f"build another simulation, rv.Simulation(net, {call})"
    if name in ("time", "step"):
        return "write sim.run(duration) or sim.run_until(time)"
    if name in ("network", "resolution", "seed"):
        return "build another simulation"
    return f"write sim.set(population, {name}=...) for a value of neurons; keep other data in variables"
