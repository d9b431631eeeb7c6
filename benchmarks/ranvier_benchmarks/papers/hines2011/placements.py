"""Table 3: bursts, connections of neighbours and three distributions of cells, with three methods.

Bursts of an eighth of the cells last 50 ms, so that 200 ms have four of them. The simulated Blue Gene/P has 256 cells
in each process, as the paper's. Of neighbours, real processes have more cells and fewer inputs, so that the targets of
a cell are on few processes if cells are placed consecutively.
"""

from __future__ import annotations

from collections.abc import Sequence

from rich.console import Console

from ranvier_benchmarks.papers._paper import Measured, PaperResult, Progress
from ranvier_benchmarks.papers.hines2011 import published
from ranvier_benchmarks.papers.hines2011._runs import (
    KINDS,
    Kind,
    Load,
    Run,
    Topology,
    Variant,
    check_loads,
    check_numbers,
    empty_table,
    measure,
    of_kind,
    print_indented,
    seconds_text,
    show_head,
)

__all__ = ["TABLE_3"]

_K = 1024
_PROCESSES = 16 * _K
_REAL = {"Multisend": ("multisend", 2), "two-phase": ("two_phase", 2), "replay": ("persistent", 1)}
_VARIANTS = [
    Variant(name, _REAL[name][0], simulated, _REAL[name][1]) for name, simulated in published.METHODS_3.items()
]
_COLUMNS: tuple[tuple[Topology, bool], ...] = (
    ("random", False),
    ("random", True),
    ("adjacent", False),
    ("adjacent", True),
)
_TITLES = ("random", "random, bursts", "adjacent", "adjacent, bursts")


# ---- measurements ----------------------------------------------------------------------------------------------------


def _loads(
    simulated_processes: int,
    processes: int,
    cells_per_process: int,
    connections: int,
    simulated_connections: int,
    time: float,
) -> list[Load]:
    kinds: list[tuple[Kind, int, int, int]] = [
        ("simulated", simulated_processes, published.CELLS_PER_PROCESS[1000], simulated_connections),
        ("real", processes, cells_per_process, connections),
    ]
    return [
        Load(kind, count, count * cells, inputs, time, burst, topology, placement)
        for kind, count, cells, inputs in kinds
        if count != 0
        for topology, burst in _COLUMNS
        for placement in published.PLACEMENTS.values()
    ]


def _check(
    *,
    simulated_processes: int,
    simulated_connections: int,
    processes: int,
    cells_per_process: int,
    connections: int,
    time: float,
    repetitions: int,
    slots: int,
    seed: int,
) -> None:
    del seed
    check_numbers("cells_per_process", [cells_per_process], 1, 1 << 24)
    loads = _loads(simulated_processes, processes, cells_per_process, connections, simulated_connections, time)
    check_loads(loads, repetitions=repetitions, slots=slots)


def measure_placements(
    progress: Progress,
    *,
    simulated_processes: int = 2 * _K,
    simulated_connections: int = 1000,
    processes: int = 4,
    cells_per_process: int = 1024,
    connections: int = 100,
    time: float = 200.0,
    repetitions: int = 3,
    slots: int = 10,
    seed: int = 1,
) -> Measured:
    """Measure all combinations of the table.

    Parameters
    ----------
    simulated_processes, simulated_connections
        Processes of the simulated machine, with 256 cells each, and inputs of a cell; no processes: not simulated.
    processes, cells_per_process, connections
        Real processes, cells of each, and inputs of a cell; no processes: none are started.
    time
        Simulated time, ms.
    repetitions
        Real runs of each.
    slots
        Times that a simulated process polls in a millisecond.
    seed
        Seed of the networks.
    """
    loads = _loads(simulated_processes, processes, cells_per_process, connections, simulated_connections, time)
    return measure(progress, loads, lambda load: _VARIANTS, repetitions=repetitions, slots=slots, seed=seed)


# ---- table -----------------------------------------------------------------------------------------------------------


def _show(measured: Measured, console: Console) -> None:
    for kind in KINDS:
        runs = of_kind(measured, kind)
        if not runs:
            continue
        first = runs[0]
        title = f"{kind.capitalize()}: {first['processes']:,} processes, {first['cells']:,} cells, "
        title += f"{first['connections']:,} inputs, {first['time']:g} ms"
        show_head(console, measured, kind, title)
        beside = kind == "simulated" and (first["connections"], first["time"]) == (1000, 200.0)
        _show_runs(console, runs, beside=beside)
        if beside:
            console.print(
                f"\n  The paper's have {_PROCESSES:,} processes, with as many cells in each. * Parameters were fitted "
                "to its numbers.",
                style="dim",
                soft_wrap=True,
            )
    if of_kind(measured, "real"):
        names = ", ".join(
            f"{name} is {method}{' with two intervals' if intervals == 2 else ''}"
            for name, (method, intervals) in _REAL.items()
        )
        console.print(f"\n  Of real processes, {names}.", style="dim", soft_wrap=True)


def _show_runs(console: Console, runs: Sequence[Run], *, beside: bool) -> None:
    unit = "ms" if runs[0]["kind"] == "real" else "s"
    headings = [text for title in _TITLES for text in (f"{title}\ncomp ({unit})", f"\nrun ({unit})")]
    table = empty_table("", *headings)
    found = {(run["placement"], run["variant"], run["topology"], run["burst"]): run for run in runs}
    for name, placement in published.PLACEMENTS.items():
        table.add_row(f"[bold]{name}[/]")
        for method in _REAL:
            texts = []
            for topology, burst in _COLUMNS:
                is_fitted = beside and (name, method, topology, burst) in published.FITTED_3
                mark = "*" if is_fitted else " "
                texts += [f"{text}{mark}" for text in seconds_text(found.get((placement, method, topology, burst)))]
            table.add_row(f"  {method}", *texts)
            if beside:
                said = [published.TABLE_3[name, method, topology, burst] for topology, burst in _COLUMNS]
                table.add_row("    paper", *(f"{value:.2f} " for pair in said for value in pair), style="dim")
    print_indented(console, table)


TABLE_3 = PaperResult(
    "table",
    "3",
    "Bursts, connections of neighbours and three distributions of cells, with three methods",
    3.0,
    measure_placements,
    _show,
    full={"simulated_processes": _PROCESSES},
    check=_check,
)
