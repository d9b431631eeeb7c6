"""Real runs and dry runs of the kernels that the paper compares, and what its figures share."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, fields
from typing import Any, Literal

from rich.console import Console
from rich.padding import Padding
from rich.table import Table

from ranvier.base.memory_checks import check_room
from ranvier.base.sizes import parse_bytes
from ranvier.errors import ValueOutOfBoundsError
from ranvier.simulation.options import MOST_RANKS
from ranvier_benchmarks import many_ranks, scaling
from ranvier_benchmarks._mpiexec import check_startable, find_mpiexec
from ranvier_benchmarks._options import FOURTH_GENERATION, with_defaults
from ranvier_benchmarks.papers._paper import Measured, Progress
from ranvier_benchmarks.papers.jordan2018.published import FIGURES

__all__ = [
    "KERNELS",
    "Mode",
    "Run",
    "RunKeys",
    "Runs",
    "build_of",
    "check_names",
    "check_whole",
    "compared",
    "connection_buffer",
    "dry_of",
    "init_of",
    "kernel_of",
    "megabytes_of",
    "print_comparison",
    "print_table",
    "ratio_at",
    "real_of",
    "seconds_text",
    "show_phases",
    "sim_of",
]

Run = dict[str, Any]
"""A result of `ranvier bench scaling` or `ranvier bench many_ranks`."""
Mode = Literal["weak", "strong", "fill"]
KERNELS: dict[str, tuple[str, bool]] = {
    "4g": (FOURTH_GENERATION, True),
    "5g-sort": ("alltoall", True),
    "5g-nosort": ("alltoall", False),
}
"""By the paper's name: method of exchange, and whether synapses are sorted by source."""


@dataclass(frozen=True)
class Runs:
    """The runs of a figure.

    Attributes
    ----------
    mode
        As for `ranvier bench scaling`.
    kernels
        Names of `KERNELS`.
    real_processes, processes
        Numbers of processes of real runs and of dry runs.
    threads
        Threads of a process.
    indegree
        Synapses of a neuron.
    rate
        Rate of all neurons in dry runs, spikes/s.
    time, presim
        Simulated time that is measured, and before that, ms.
    real, dry
        Sizes of the networks, as arguments of `ranvier bench scaling` and `ranvier bench many_ranks`.
    """

    mode: Mode
    kernels: tuple[str, ...]
    real_processes: tuple[int, ...]
    processes: tuple[int, ...]
    threads: int
    indegree: int
    rate: float
    time: float
    presim: float
    real: dict[str, Any] = field(default_factory=dict)
    dry: dict[str, Any] = field(default_factory=dict)

    def check_keys(self) -> None:
        """Raise ValueOutOfBoundsError for keys out of bounds, and for more processes than mpiexec can start."""
        check_names("kernels", self.kernels, tuple(KERNELS))
        if not self.real_processes and not self.processes:
            raise ValueOutOfBoundsError("key processes", "()", "there is nothing to run", "give some numbers")
        check_whole("threads", self.threads, 1, 4096)
        check_whole("indegree", self.indegree, 1, 2**31 - 1)
        for name, value in (("rate", self.rate), ("time", self.time)):
            if not 0.0 < value < float("inf"):
                raise ValueOutOfBoundsError(f"key {name}", str(value), "it must be > 0")
        if not 0.0 <= self.presim < float("inf"):
            raise ValueOutOfBoundsError("key presim", str(self.presim), "it must be >= 0")
        for sizes in (self.real, self.dry):
            for name, value in sizes.items():
                if name == "memory_per_rank":
                    parse_bytes("key memory_per_process", value)
                else:
                    check_whole(_KEYS.get(name, name), value, 1, 2**62)
        for count in self.processes:
            check_whole("processes", count, 1, MOST_RANKS)
        check_startable("key real_processes", self.real_processes)
        if self.mode == "fill" and self.real_processes:
            memory = self.real["memory_per_rank"]
            most = max(self.real_processes)
            check_room(
                f"{most} processes that fill {memory}",
                most * parse_bytes("key memory_per_process", memory),
                "give less memory_per_process, or fewer real_processes",
            )

    def check(self) -> None:
        """Check all keys, and that the machine has room for the runs, before any of them starts.

        Raises
        ------
        ValueOutOfBoundsError
            For values out of bounds.
        InsufficientMemoryError
            When the machine has too little memory.
        """
        self.check_keys()
        self._prepare()

    def measure(self, progress: Progress) -> Measured:
        """Make all runs, those of real processes first."""
        real, dry = self._prepare()
        mpiexec = find_mpiexec(progress.mpiexec) if real else None
        done: Measured = {"real": [], "dry": []}
        for prepared in real:
            assert mpiexec is not None
            result = scaling.measure(prepared, mpiexec, step=progress.step)
            done["real"] += result["results"]
            done["transport"] = result["transport"]
            progress.keep(done)
        scaling.check_same_spikes(done["real"])
        for played in dry:
            done["dry"] += many_ranks.measure(played, step=progress.step, predicts_times=False)["results"]
            progress.keep(done)
        return done

    def _prepare(self) -> tuple[list[scaling.Prepared], list[many_ranks.Prepared]]:
        real, dry = [], []
        for kernel in self.kernels:
            method, is_sorted = KERNELS[kernel]
            settings = [f"time={self.time}", f"presim={self.presim}", f"threads={self.threads}"]
            if self.mode == "fill":
                memory = {**self.real, **self.dry}["memory_per_rank"]
                settings.append(f"connection_buffer={connection_buffer(memory)}")
            shared = {
                "mode": self.mode,
                "indegree": self.indegree,
                "methods": method,
                "settings": [*settings, f"sort_connections={str(is_sorted).lower()}"],
            }
            if self.real_processes:
                ranks = ",".join(map(str, self.real_processes))
                real.append(scaling.prepare(with_defaults(scaling, ranks=ranks, **shared, **self.real)))
            if self.processes:
                ranks = ",".join(map(str, self.processes))
                words = {**shared, **self.dry, "rate": self.rate}
                dry.append(many_ranks.prepare(with_defaults(many_ranks, ranks=ranks, **words)))
        return real, dry


@dataclass(frozen=True, kw_only=True)
class RunKeys(ABC):
    """Keys that figures with real runs and dry runs share.

    Attributes
    ----------
    kernels
        Kernels to compare.
    real_processes, processes
        Numbers of processes that are started, and that dry runs simulate one of.
    indegree, threads
        Synapses of a neuron, and threads of a process.
    rate
        Rate of all neurons in dry runs, spikes/s. In real runs, it is that of the network.
    time, presim
        Simulated time, and simulated time before that, ms.
    """

    kernels: tuple[str, ...] = tuple(KERNELS)
    real_processes: tuple[int, ...] = (1, 2, 4)
    processes: tuple[int, ...]
    indegree: int = 1125
    threads: int = 1
    rate: float = 10.0
    time: float = 100.0
    presim: float = 10.0

    def check(self) -> None:
        """Check all keys, and that the machine has room for the runs; see `Runs.check`."""
        self._runs().check()

    def measure(self, progress: Progress) -> Measured:
        """Make all runs."""
        return self._runs().measure(progress)

    @abstractmethod
    def _runs(self) -> Runs:
        """Return the runs with these keys."""

    def _runs_of(self, mode: Mode, real: dict[str, Any], dry: dict[str, Any]) -> Runs:
        """Return the runs with networks of these sizes."""
        shared = {each.name: getattr(self, each.name) for each in fields(RunKeys)}
        return Runs(mode, **shared, real=real, dry=dry)


def connection_buffer(memory_per_process: str) -> int:
    """Return the largest buffer of the construction of the presynaptic tables: a hundredth of the memory.

    The paper has 128 MB of 13 GB (sections 3.1.3 and 3.4). A buffer of this size would be most of a small memory.
    """
    return max(1 << 16, parse_bytes("key memory_per_process", memory_per_process) // 100)


_KEYS = {"neurons_per_rank": "neurons_per_process"}


def check_whole(name: str, value: object, least: int, most: int) -> None:
    """Raise ValueOutOfBoundsError for a key that is not a whole number within bounds."""
    if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
        raise ValueOutOfBoundsError(f"key {name}", str(value), f"it must be whole numbers from {least} to {most}")


def check_names(name: str, values: Sequence[str], known: Sequence[str]) -> None:
    """Raise ValueOutOfBoundsError for a list of names that is empty or has an unknown one."""
    for value in values or [""]:
        if value not in known:
            raise ValueOutOfBoundsError(f"key {name}", f"'{value}'", f"it must be some of {', '.join(known)}")


# ---- results ---------------------------------------------------------------------------------------------------------


def kernel_of(run: Run) -> str:
    """Return the paper's name of the kernel of a run."""
    return next(name for name, each in KERNELS.items() if each == (run["method"], run["sorted"]))


def real_of(measured: Measured, kernel: str) -> list[Run]:
    """Return the real runs of a kernel, by the number of processes, in the form of dry runs."""
    simulated = measured["options"]["time"] / 1000.0
    return sorted(
        (
            {
                "ranks": run["ranks"],
                "threads": run["threads"],
                "crowded": run["crowded"],
                "network_neurons": run["neurons"],
                "neurons": run["neurons"] / run["ranks"],
                "synapses": run["synapses"] / run["ranks"],
                "build_s": run["times_s"]["build"]["greatest"],
                "init_s": run["times_s"]["init"]["greatest"],
                "simulation_s_per_s": run["times_s"]["simulation"]["greatest"] / simulated,
                "parts_s_per_s": {name: seconds / simulated for name, seconds in run["parts_s"].items()},
                "cumulative_bytes": run["cumulative_bytes"],
                "predicted_bytes": run["predicted_bytes"],
            }
            for run in measured["real"]
            if kernel_of(run) == kernel
        ),
        key=_ranks_of,
    )


def dry_of(measured: Measured, kernel: str) -> list[Run]:
    """Return the dry runs of a kernel, by the number of processes."""
    return sorted((run for run in measured["dry"] if kernel_of(run) == kernel), key=_ranks_of)


def _ranks_of(run: Run) -> int:
    return int(run["ranks"])


def ratio_at(
    first: Sequence[Run], second: Sequence[Run], value: Callable[[Run], float], *, last: bool
) -> tuple[int, float] | None:
    """Return the ratio of a value of two kernels, at the least or the largest number of processes that both have."""
    values = [{run["ranks"]: value(run) for run in runs} for runs in (first, second)]
    common = sorted(set(values[0]) & set(values[1]))
    if not common:
        return None
    ranks = common[-1 if last else 0]
    return ranks, values[0][ranks] / values[1][ranks]


def build_of(run: Run) -> float:
    """Return the time of the build, s."""
    return float(run["build_s"])


def init_of(run: Run) -> float:
    """Return the time of init, s."""
    return float(run["init_s"])


def sim_of(run: Run) -> float:
    """Return the time of a simulated second, s."""
    return float(run["simulation_s_per_s"])


def megabytes_of(phase: str) -> Callable[[Run], float]:
    """Return a function that returns the memory after "nodes", after "connections" or at the "end", MB."""
    return lambda run: float(run["cumulative_bytes"][phase] / 1e6)


# ---- tables ----------------------------------------------------------------------------------------------------------


def print_table(console: Console, title: str, headings: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a table of numbers; its first column is aligned to the left."""
    if not rows:
        return
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for place, heading in enumerate(headings):
        table.add_column(heading, justify="left" if place == 0 else "right", no_wrap=True)
    for row in rows:
        table.add_row(*row)
    console.print(f"\n[bold]{title}[/]", soft_wrap=True)
    console.print(Padding(table, (0, 0, 0, 2)))


def show_phases(measured: Measured, console: Console) -> None:
    """Print times and memory of each kernel, those of real processes and those of dry runs."""
    for kernel in KERNELS:
        for what, runs in (("this machine", real_of(measured, kernel)), ("dry runs", dry_of(measured, kernel))):
            rows = [
                (
                    f"{run['ranks']:,}",
                    f"{run['network_neurons']:,}",
                    seconds_text(build_of(run)),
                    seconds_text(init_of(run)),
                    seconds_text(sim_of(run)),
                    *(f"{megabytes_of(phase)(run):,.1f}" for phase in ("nodes", "connections", "end")),
                )
                for run in runs
            ]
            headings = ("processes", "neurons", "build", "init", "sim, 1 s", "nodes (MB)", "connections", "end")
            print_table(console, f"{kernel}, {what}", headings, rows)


def print_comparison(console: Console, figure: str, ours: dict[str, str]) -> None:
    """Print what the paper says of a figure beside our results, by the names in `FIGURES`."""
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    table.add_column("")
    for heading in ("paper", "here", "section"):
        table.add_column(heading)
    for name, statement in FIGURES[figure].items():
        table.add_row(statement.what, statement.value, ours.get(name, "not measured"), statement.where)
    console.print("\n[bold]The paper's text, and this machine[/]")
    console.print(Padding(table, (0, 0, 0, 2)))


def compared(found: tuple[int, float] | None) -> str:
    """Return the text of a ratio at a number of processes."""
    return "not measured" if found is None else f"{found[1]:.2f} ({found[0]:,} processes)"


def seconds_text(value: float) -> str:
    """Return a time of a table."""
    return f"{value:.3g} s" if value < 100.0 else f"{value:,.0f} s"
