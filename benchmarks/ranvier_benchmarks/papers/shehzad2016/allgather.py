"""Tables 1 to 3 and Figures 4, 6 and 7: MPI_Allgather, and the same by writing into memory of other processes.

Each number of processes is started by an mpiexec, and runs the network with each method, `repetitions` times. With a
barrier before each exchange, waiting and exchange are separate; without one, as in the paper, communication is both.
Times are medians of the runs, run times those of rank 0, and other times medians over the processes. All methods and
numbers of processes must give the same spikes. The exchange of more processes is simulated (`simulated`).

The networks are those of `networks`, which says what is known of the paper's. Figure 4 shows the numbers of Table 1,
Figure 6 those of Table 2, and Figure 7 those of Table 3.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ranvier.base.memory_checks import check_room
from ranvier.errors import StateError, ValueOutOfBoundsError
from ranvier.processes.machine import usable_processors
from ranvier_benchmarks._exchange_simulation.machines import MACHINES
from ranvier_benchmarks._mpiexec import Mpiexec, check_startable, find_mpiexec, run_worker
from ranvier_benchmarks._options import parse_methods
from ranvier_benchmarks.exchange import check_digests, make_contestants, make_result
from ranvier_benchmarks.papers._paper import Measured, PaperResult, Progress, check_with, measure_with
from ranvier_benchmarks.papers.shehzad2016 import networks
from ranvier_benchmarks.papers.shehzad2016._draw import draw_comparison, draw_limits
from ranvier_benchmarks.papers.shehzad2016._rows import PLAIN
from ranvier_benchmarks.papers.shehzad2016._show import show_comparison, show_limits
from ranvier_benchmarks.papers.shehzad2016.published import PROCESSES, RUNS, TIME
from ranvier_benchmarks.papers.shehzad2016.simulated import COSTS, OneProcess, check_machine, simulate_processes

__all__ = ["FIGURE_4", "FIGURE_6", "FIGURE_7", "TABLE_1", "TABLE_2", "TABLE_3"]

_METHODS = "allgather,rma_allgather,rma_allgather_counter"
_KEPT = (
    "method", "intervals", "barrier", "digests", "interval_count", "total_s", "computation_s", "waiting_s",
    "exchange_s", "waiting_and_exchange_s", "spikes_sent", "bytes_sent", "messages", "rounds",
)  # fmt: skip


# ---- measurements ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, kw_only=True)
class NetworkKeys(ABC):
    """Keys that all results share.

    Attributes
    ----------
    processes
        Numbers of processes.
    repetitions
        Number of runs.
    seed
        Seed of the network.
    simulated
        Numbers of processes whose exchange is simulated.
    machine
        Name of the simulated machine, as in `ranvier bench exchange_simulation`.
    put, acknowledgement, notification, poll, barrier
        Costs of a step of theirs (`StepCosts`), microseconds; None: those that follow from the machine.
    """

    processes: tuple[int, ...] = PROCESSES
    repetitions: int = 3
    seed: int = 1
    simulated: tuple[int, ...] = (64, 128, 256)
    machine: str = "infiniband_hdr"
    put: float | None = None
    acknowledgement: float | None = None
    notification: float | None = None
    poll: float | None = None
    barrier: float | None = None

    @property
    def network(self) -> str:
        """Name of a function of `networks`."""
        return "scalebush"

    @property
    @abstractmethod
    def sizes(self) -> list[tuple[int, float]]:
        """Numbers of cells with simulated times, ms."""

    @property
    def method_names(self) -> str:
        """Methods of exchange with commas between."""
        return PLAIN

    @property
    def costs(self) -> dict[str, float | None]:
        """Costs of a step, microseconds."""
        return {name: getattr(self, name) for name in COSTS}

    def check(self) -> None:
        """Raise for values out of bounds, or if the machine has too little memory."""
        check_startable("key processes", self.processes)
        if min(self.processes, default=0) < 2:
            found = str(min(self.processes)) if self.processes else "()"
            raise ValueOutOfBoundsError("key processes", found, "one process exchanges nothing", "give more")
        for ranks in self.simulated:
            if not isinstance(ranks, int) or ranks < 2:
                raise ValueOutOfBoundsError("key simulated", str(ranks), "it must be numbers of processes, from 2")
        for name in ("cells", "time"):
            if getattr(self, name) == ():
                raise ValueOutOfBoundsError(f"key {name}", "()", "it must have at least one value")
        least = max(networks.LEAST_CELLS, *self.processes, *self.simulated)
        for cells, time in self.sizes:
            if not isinstance(cells, int) or not least <= cells <= networks.MOST_CELLS:
                bound = f"it must be whole numbers from {least} to {networks.MOST_CELLS}"
                raise ValueOutOfBoundsError("key cells", str(cells), bound, "each process needs a cell")
            if not isinstance(time, int | float) or not 1.0 <= time <= networks.LONGEST:
                bound = f"it must be from 1 to {networks.LONGEST:g} ms"
                raise ValueOutOfBoundsError("key time", str(time), bound)
        if self.repetitions < 1:
            raise ValueOutOfBoundsError("key repetitions", str(self.repetitions), "it must be at least one")
        if PLAIN not in parse_methods(self.method_names):
            raise ValueOutOfBoundsError(
                "key methods", f"'{self.method_names}'", f"{PLAIN}, with which others are compared, is missing"
            )
        check_machine(self.machine, self.costs)
        most = max(cells for cells, _ in self.sizes)
        check_room(f"a network of {most:,} cells", most * networks.BYTES_OF_CELL, "choose fewer cells")

    def measure(self, progress: Progress) -> Measured:
        """Run each size on each number of processes, and simulate the others."""
        mpiexec = find_mpiexec(progress.mpiexec)
        methods = parse_methods(self.method_names)
        beyond: Measured | None = None
        if self.simulated:
            beyond = {"machine": MACHINES[self.machine].name, "rows": []}
        measured: Measured = {
            "network": self.network,
            "processors": usable_processors(),
            "rows": [],
            "simulated": beyond,
        }
        for cells, time in self.sizes:
            rows: list[dict[str, Any]] = []
            for ranks in self.processes:
                rows.append(self._run(progress, mpiexec, ranks, cells, time, methods))
                measured["rows"].append(rows[-1])
                check_digests(rows)
                progress.keep(measured)
            if beyond is not None:
                digest = rows[0]["methods"][0]["digests"][0]
                beyond["rows"] += self._simulate(progress, cells, time, methods, digest)
                progress.keep(measured)
        return measured

    def _run(
        self, progress: Progress, mpiexec: Mpiexec, ranks: int, cells: int, time: float, methods: Sequence[str]
    ) -> dict[str, Any]:
        title = f"{ranks} processes, {cells:,} cells, {time:g} ms"
        progress.step(title)
        contestants = make_contestants(methods, (1,), (False, True))
        report = run_worker(
            mpiexec,
            "ranvier_benchmarks._exchange_worker",
            {
                "function": f"{networks.__name__}:{self.network}",
                "network": {"cells": cells, "seed": self.seed},
                "options": {},
                "time": time,
                "contestants": contestants,
                "repetitions": self.repetitions,
                "once": False,
            },
            ranks=ranks,
            threads=1,
            on_progress=lambda text: progress.step(f"{title}: {text}"),
        )
        result = make_result(ranks, 1, time, report, contestants)
        return {
            **{key: result[key] for key in ("ranks", "crowded", "transport", "synapses", "spikes")},
            "cells": cells,
            "time": time,
            "methods": [{key: method[key] for key in _KEPT} for method in result["methods"]],
        }

    def _simulate(
        self, progress: Progress, cells: int, time: float, methods: Sequence[str], digest: str
    ) -> list[dict[str, Any]]:
        progress.step(f"{cells:,} cells, {time:g} ms: one process")
        network = OneProcess(self.network, cells, time, self.seed)
        if network.digest != digest:
            raise StateError(
                f"network {self.network}", bound="one process did not give the spikes of several", remedy="report this"
            )
        rows = []
        for ranks in self.simulated:
            progress.step(f"{ranks} processes, {cells:,} cells, {time:g} ms: simulation")
            found = simulate_processes(network, ranks, methods, self.machine, self.costs)
            rows.append({"ranks": ranks, "cells": cells, "time": time, "spikes": network.spikes, "methods": found})
        return rows


@dataclass(frozen=True, kw_only=True)
class LimitKeys(NetworkKeys):
    """MPI_Allgather on the network like Parscalebush.

    Attributes
    ----------
    cells
        Number of cells.
    time
        Simulated time, ms.
    """

    cells: int = 500
    time: float = 500.0

    @property
    def sizes(self) -> list[tuple[int, float]]:
        """Numbers of cells with simulated times, ms."""
        return [(self.cells, self.time)]


@dataclass(frozen=True, kw_only=True)
class CellKeys(NetworkKeys):
    """Methods on the network like Parbulbnet, for several numbers of cells.

    Attributes
    ----------
    cells
        Numbers of cells; the paper's are not known.
    time
        Simulated time, ms; the paper's is not known.
    methods
        Methods of exchange with commas between, allgather among them.
    """

    cells: tuple[int, ...] = (505, 1010)
    time: float = 100.0
    methods: str = _METHODS

    @property
    def network(self) -> str:
        """Name of a function of `networks`."""
        return "bulbnet"

    @property
    def sizes(self) -> list[tuple[int, float]]:
        """Numbers of cells with simulated times, ms."""
        return [(size, self.time) for size in self.cells]

    @property
    def method_names(self) -> str:
        """Methods of exchange with commas between."""
        return self.methods


@dataclass(frozen=True, kw_only=True)
class TimeKeys(NetworkKeys):
    """Methods on the network like Parscalebush, for several simulated times.

    Attributes
    ----------
    cells
        Number of cells.
    time
        Simulated times, ms; of the paper's, only that of Table 1 is known.
    methods
        Methods of exchange with commas between, allgather among them.
    """

    cells: int = 500
    time: tuple[float, ...] = (50.0, 100.0)
    methods: str = _METHODS

    @property
    def sizes(self) -> list[tuple[int, float]]:
        """Numbers of cells with simulated times, ms."""
        return [(self.cells, duration) for duration in self.time]

    @property
    def method_names(self) -> str:
        """Methods of exchange with commas between."""
        return self.methods


# ---- results ---------------------------------------------------------------------------------------------------------


_FULL = {"repetitions": RUNS}
_LIMITS: dict[str, Any] = {
    "minutes": 1.0,
    "measure": measure_with(LimitKeys),
    "full": {**_FULL, "time": TIME},
    "check": check_with(LimitKeys),
    "show": show_limits,
}
_CELLS: dict[str, Any] = {
    "minutes": 3.0,
    "measure": measure_with(CellKeys),
    "full": {**_FULL, "cells": (505, 2525, 10_100), "time": 1000.0},
    "check": check_with(CellKeys),
    "show": show_comparison,
}
_TIMES: dict[str, Any] = {
    "minutes": 3.0,
    "measure": measure_with(TimeKeys),
    "full": {**_FULL, "time": (1000.0, 2500.0, TIME)},
    "check": check_with(TimeKeys),
    "show": show_comparison,
}

TABLE_1 = PaperResult("table", "1", "Run time and communication with MPI_Allgather on 2 to 32 processes", **_LIMITS)
TABLE_2 = PaperResult("table", "2", "MPI_Allgather and RMA_Allgather for more processes and cells", **_CELLS)
TABLE_3 = PaperResult("table", "3", "MPI_Allgather and RMA_Allgather for more processes and longer runs", **_TIMES)
FIGURE_4 = PaperResult("figure", "4", "Table 1 as a figure", **_LIMITS, draw=draw_limits)
FIGURE_6 = PaperResult("figure", "6", "Table 2 as a figure: communication", **_CELLS, draw=draw_comparison)
FIGURE_7 = PaperResult("figure", "7", "Table 3 as a figure: communication", **_TIMES, draw=draw_comparison)
