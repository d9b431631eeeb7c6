"""Figures 4 and 5 and Table 1: policies of pinning threads and of stealing tasks.

As in the paper, a run is a time step of a fast multipole method by tasks: potentials and fields of uniform points at
each of them, one task for each box and operator. By default the input is also that of the paper, 1,000 points with
order 0 and depth 3, where the time is that of tasks and events; with 100,000 points, order 10 and depth 4, it is that
of work.

base   threads are not pinned, and take tasks from any other (none, local_and_remote)
EP     equal pinning, CP compact pinning
LR     tasks are taken from threads on any node (local_and_remote)
PL     first from threads on the same node (prefer_local)
LO     only from threads on the same node (local_only)
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from functools import partial
from typing import Any

from matplotlib.ticker import MaxNLocator
from rich.console import Console
from rich.padding import Padding
from rich.table import Table

from ranvier.base.memory_checks import check_room
from ranvier.errors import StateError, UnknownNameError, ValueOutOfBoundsError
from ranvier.figures.style import COLOURS, FAINT, Figure, styled
from ranvier_benchmarks._portability import Bounded, Efficiency, Platform, Policies, efficiency, portability, times_of
from ranvier_benchmarks.papers._paper import Measured, PaperResult, Progress
from ranvier_benchmarks.papers.morgenstern2020.published import INPUT, OPERATIONS, PLATFORMS
from ranvier_benchmarks.parallel import (
    DETECTED,
    TURNS,
    Subject,
    bounded_text,
    check_peak,
    find_peak,
    in_millions,
    measure_platform,
    order_nodes,
    peak_text,
    read_topology,
)

__all__ = ["FIGURE_4", "FIGURE_5", "TABLE_1", "measure_policies"]

BASE: Policies = ("none", "local_and_remote")
PLUG_IN: Mapping[str, Policies] = {
    f"{short_pinning}, {short_stealing}": (pinning, stealing)
    for short_pinning, pinning in (("EP", "equal"), ("CP", "compact"))
    for short_stealing, stealing in (("LR", "local_and_remote"), ("PL", "prefer_local"), ("LO", "local_only"))
}
_FIGURE_4 = {"base": BASE, "EP": PLUG_IN["EP, LR"], "CP": PLUG_IN["CP, LR"]}
_FIGURE_5 = {name.removeprefix("CP, "): pair for name, pair in PLUG_IN.items() if name.startswith("CP")}
_MOST_THREADS = 1024
_DISTANCES = ("measured", "reported")


# ---- measuring -------------------------------------------------------------------------------------------------------


def _threads(threads: Sequence[int], topology: str) -> list[int]:
    """Return numbers of threads, by default all up to the number of processors of the platform."""
    return sorted({1, *threads}) if threads else list(range(1, len(read_topology(topology).processors()) + 1))


def _check(
    *,
    threads: tuple[int, ...],
    runs: int,
    points: int,
    order: int,
    depth: int,
    topology: str,
    distances: str,
    peak: float,
    **_others: Any,
) -> None:
    for name, value, least, most in (
        ("runs", runs, 1, 1_000_000),
        ("points", points, 1, 100_000_000),
        ("order", order, 0, 20),
        ("depth", depth, 0, 20),
    ):
        if not isinstance(value, int) or isinstance(value, bool) or not least <= value <= most:
            raise ValueOutOfBoundsError(f"key {name}", repr(value), f"it must be a whole number from {least} to {most}")
    for number in threads:
        if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= _MOST_THREADS:
            raise ValueOutOfBoundsError(
                "key threads", repr(number), f"it must be numbers from 1 to {_MOST_THREADS}", "write (1, 2, 4)"
            )
    if distances not in _DISTANCES:
        raise UnknownNameError("key distances", repr(distances), f"there are {' and '.join(_DISTANCES)}")
    check_peak("key peak", peak or None)
    read_topology(topology)
    # Coordinates, potentials and fields of points, and expansions of boxes. A point is in one box of each level.
    boxes = sum(min(8**level, points) for level in range(depth + 1))
    check_room("points and expansions", 500 * points + 8 * boxes * (2 * (order + 1) ** 2 + 150), "give fewer points")


def measure_policies(
    progress: Progress,
    *,
    threads: tuple[int, ...] = (),
    runs: int = 200,
    points: int = 1000,
    order: int = 0,
    depth: int = 3,
    topology: str = DETECTED,
    distances: str = "measured",
    peak: float = 0.0,
) -> Measured:
    """Measure time steps with all policies of the paper, one turn after another.

    Parameters
    ----------
    progress
        Connection with the command.
    threads
        Numbers of threads; 1 is added. Without any, all numbers up to that of processors.
    runs
        Runs of each policy and number of threads, of which the 75 % quantile is taken.
    points
        Number of points.
    order
        Order of the expansions.
    depth
        Levels of the octree below its root.
    topology
        This machine (``detected``), or a synthetic one in hwloc's syntax.
    distances
        Distances of NUMA nodes: ``measured`` or ``reported``.
    peak
        Peak of the platform in GFLOP/s, if it is stated; otherwise it is measured.

    Raises
    ------
    StateError
        When runs of different policies or numbers of threads do not have the same bits.
    """
    numbers = _threads(threads, topology)
    progress.step("measuring the peak and the distances of NUMA nodes")
    subject = Subject(topology, *order_nodes(read_topology(topology), distances), find_peak(peak or None))
    policies = [BASE, *PLUG_IN.values()]
    total = min(TURNS, runs) * len(numbers) * len(policies)
    done = 0

    def advance() -> None:
        nonlocal done
        done += 1
        progress.step(f"measuring policies, {done / total:.0%}")

    checksums: set[int] = set()
    platform: Platform = {}
    for platform in measure_platform(
        subject,
        numbers,
        policies,
        runs=runs,
        measure=partial(_measure_step, points=points, order=order, depth=depth, checksums=checksums),
        advance=advance,
    ):
        progress.keep({"platform": platform})
    best = _best(platform)[0]
    alone = {
        which: {kind: asdict(phi) for kind, phi in _phi(found).items() if phi is not None}
        for which, found in _efficiencies([platform]).items()
    }
    return {
        "input": {"points": points, "order": order, "depth": depth},
        "platform": platform,
        "plug_in_policies": best,
        "efficiencies": alone,
    }


def _measure_step(team: Any, runs: int, *, points: int, order: int, depth: int, checksums: set[int]) -> Measured:
    """Measure time steps, whose potentials and fields have to be those of all measurements before, bit for bit."""
    step = team.fmm(points, order, depth, runs)
    checksums.add(step["checksum"])
    if len(checksums) > 1:
        raise StateError(
            "potentials of the fast multipole method",
            f"{len(checksums)} different results",
            "they must be the same for all policies and numbers of threads",
            "report this error",
        )
    return {"step": step}


def _efficiencies(platforms: Sequence[Platform]) -> dict[str, list[Efficiency | None]]:
    """Return those of the base and of the plug-in, which has the best policies of each platform."""
    return {
        "base": [efficiency(platform, BASE) for platform in platforms],
        "plug_in": [_best(platform)[1] for platform in platforms],
    }


def _phi(efficiencies: Sequence[Efficiency | None]) -> dict[str, Bounded | None]:
    """Return the performance portability by kind of efficiency."""
    return {
        "architectural": portability([None if one is None else one.architectural for one in efficiencies]),
        "scaling": portability([None if one is None else one.scaling for one in efficiencies]),
    }


def _best(platform: Platform) -> tuple[str, Efficiency]:
    """Return the policies of the plug-in with the lowest run time."""
    found = {name: efficiency(platform, pair) for name, pair in PLUG_IN.items()}
    best = min((one.seconds, name) for name, one in found.items() if one is not None)[1]
    chosen = found[best]
    assert chosen is not None
    return best, chosen


# ---- tables ----------------------------------------------------------------------------------------------------------


def _table(*columns: str) -> Table:
    table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
    for i, column in enumerate(columns):
        table.add_column(column, justify="left" if i == 0 else "right", no_wrap=True)
    return table


def _print(console: Console, title: str, table: Table) -> None:
    console.print(f"\n[bold]{title}[/]", soft_wrap=True)
    console.print(Padding(table, (0, 0, 0, 2)))


def _input(measured: Measured) -> str:
    """Return the input in words."""
    given = measured["input"]
    return f"{given['points']:,} points, order {given['order']}, depth {given['depth']}"


def _print_operations(measured: Measured, console: Console) -> None:
    """Print the counted operations, beside those of the paper where the input is the same."""
    operations = f"{in_millions(measured['platform']['operations'])} floating-point operations a time step"
    tasks = max(result["step_tasks"]["executed"] for result in measured["platform"]["results"])
    paper = f"; the paper counts {OPERATIONS / 1e6:.3g}" if measured["input"] == INPUT else ""
    console.print(f"\n  {_input(measured)}: {operations}, {tasks:,.0f} tasks{paper}", soft_wrap=True)


def _title(platform: Platform) -> str:
    kind = ", synthetic: not another machine" if platform["synthetic"] else ""
    nodes = f"{platform['nodes']} NUMA node{'s' if platform['nodes'] > 1 else ''}"
    return f"{platform['name']}{kind}, {nodes}, {platform['units']} processors"


def _seconds(platform: Platform, pair: Policies, threads: int) -> float | None:
    for result in platform["results"]:
        if (result["pinning"], result["stealing"], result["threads"]) == (*pair, threads):
            return float(times_of(result)["quantile_75"])
    return None


def _lowest(platform: Platform, lines: Mapping[str, Policies]) -> Table:
    table = _table("policy", "lowest time (ms)", "threads", "base / policy")
    base = efficiency(platform, BASE)
    for name, pair in lines.items():
        one = efficiency(platform, pair)
        if one is None or base is None:
            continue
        table.add_row(name, f"{1e3 * one.seconds:.3f}", str(one.threads), f"{base.seconds / one.seconds:.2f}")
    return table


def _show_figure_4(measured: Measured, console: Console) -> None:
    platform = measured["platform"]
    _print_operations(measured, console)
    _print(console, _title(platform), _lowest(platform, _FIGURE_4))
    cores = platform["cores_of_nodes"][0]
    times = [_seconds(platform, pair, cores) for pair in (BASE, PLUG_IN["CP, LR"])]
    if times[0] is not None and times[1] is not None:
        console.print(
            f"  With as many threads as a node has cores, {cores}: base / CP = {times[0] / times[1]:.2f}",
            soft_wrap=True,
        )
    table = _table("paper", "NUMA nodes", "base (ms)", "threads", "base / CP with the cores of a node", "cores")
    for one in PLATFORMS:
        table.add_row(
            one.name,
            str(one.nodes),
            f"{one.base.milliseconds:.2f}",
            str(one.base.threads or ""),
            f"{one.compact_speed_up:.1f}",
            str(one.cores_of_node),
        )
    _print(console, "In the paper, with 1,000 points, order 0 and depth 3", table)


def _show_figure_5(measured: Measured, console: Console) -> None:
    platform = measured["platform"]
    _print_operations(measured, console)
    _print(console, f"{_title(platform)}, compact pinning", _lowest(platform, {"base": BASE, **_FIGURE_5}))
    steals = _table("policy", "threads", "stolen on the node", "from other nodes")
    for name, pair in _FIGURE_5.items():
        for result in platform["results"]:
            if (result["pinning"], result["stealing"]) == pair:
                tasks = result["step_tasks"]
                counts = (tasks[which] / tasks["executed"] for which in ("stolen_locally", "stolen_remotely"))
                steals.add_row(name, str(result["threads"]), *(f"{share:.1%}" for share in counts))
    _print(console, "Tasks", steals)
    table = _table("paper", "NUMA nodes", "base (ms)", "lowest with policies (ms)", "threads", "policies")
    for one in PLATFORMS:
        table.add_row(
            one.name,
            str(one.nodes),
            f"{one.base.milliseconds:.2f}",
            f"{one.plug_in.milliseconds:.2f}",
            str(one.plug_in.threads),
            next(name for name, pair in PLUG_IN.items() if pair == one.plug_in_policies),
        )
    _print(console, "In the paper, with 1,000 points, order 0 and depth 3", table)


def _show_table_1(measured: Measured, console: Console) -> None:
    platform = measured["platform"]
    _print_operations(measured, console)
    console.print(f"  {peak_text(platform)}", soft_wrap=True)
    table = _table("policies", "lowest time (ms)", "threads", "architectural efficiency", "scaling efficiency")
    for name, pair in {"base": BASE, **PLUG_IN}.items():
        one = efficiency(platform, pair)
        if one is not None:
            table.add_row(
                name,
                f"{1e3 * one.seconds:.3f}",
                str(one.threads),
                bounded_text(one.architectural),
                bounded_text(one.scaling),
            )
    _print(console, _title(platform), table)


def _show_table_1_together(measured: Sequence[Measured], console: Console) -> None:
    platforms = [one["platform"] for one in measured if not one["platform"]["synthetic"]]
    table = _table("", "platforms", "Phi, architectural", "Phi, scaling")
    if platforms:
        for name, efficiencies in _efficiencies(platforms).items():
            table.add_row(name.replace("_", "-"), str(len(platforms)), *map(bounded_text, _phi(efficiencies).values()))
    for name in ("base", "plug_in"):
        table.add_row(f"{name.replace('_', '-')}, paper", str(len(PLATFORMS)), f"{_published_phi(name):.2g} %", "")
    _print(console, "Performance portability", table)
    left_out = len(measured) - len(platforms)
    if left_out:
        console.print("  Synthetic platforms are left out: they are not other machines", style="dim", soft_wrap=True)
    if len(platforms) < 2:
        console.print("  With fewer than two machines, it does not measure portability", style="dim", soft_wrap=True)
    console.print(
        "  Those of the paper follow from its times, peaks and operations; its text has no times of one thread",
        style="dim",
        soft_wrap=True,
    )


def _published_phi(which: str) -> float:
    """Return the architectural performance portability that follows from the numbers of the paper, in percent."""
    efficiencies = [OPERATIONS / (1e-3 * getattr(one, which).milliseconds * 1e9 * one.peak_gflops) for one in PLATFORMS]
    return 100.0 * len(efficiencies) / math.fsum(1.0 / each for each in efficiencies)


# ---- figures ---------------------------------------------------------------------------------------------------------


@styled
def _draw(measured: Sequence[Measured], lines: Mapping[str, Policies], title: str) -> Figure:
    """Draw times over threads, a panel for each platform below the other, as in the paper."""
    figure = Figure(figsize=(6.5, 0.6 + 2.6 * len(measured)), dpi=150, layout="constrained")
    inputs = " / ".join(dict.fromkeys(_input(one) for one in measured))
    figure.suptitle(f"{title}\n{inputs}", x=0.01, ha="left", fontsize=11, fontweight="bold")
    panels = figure.subplots(len(measured), 1, squeeze=False)[:, 0]
    for axes, one in zip(panels, measured, strict=True):
        platform = one["platform"]
        for i, (name, pair) in enumerate(lines.items()):
            points = sorted(
                (result["threads"], 1e3 * times_of(result)["quantile_75"])
                for result in platform["results"]
                if (result["pinning"], result["stealing"]) == pair
            )
            if points:
                marker = "os^D"[i] if len(points) < 20 else ""
                axes.plot(*zip(*points, strict=True), color=COLOURS[i], marker=marker, markersize=4, label=name)
        axes.set_title(_title(platform), fontsize=9, loc="left")
        axes.set_ylabel("run time (ms)")
        axes.set_ylim(bottom=0.0)
        axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        axes.grid(axis="y", color=FAINT, linewidth=0.8)
        axes.set_axisbelow(True)
    panels[-1].set_xlabel("threads")
    panels[0].legend(frameon=False, ncols=len(lines))
    return figure


def _draw_figure_4(measured: Sequence[Measured]) -> Figure:
    return _draw(measured, _FIGURE_4, "Time step, 75 % quantile: pinning, stealing from all (LR)")


def _draw_figure_5(measured: Sequence[Measured]) -> Figure:
    return _draw(measured, _FIGURE_5, "Time step, 75 % quantile: stealing, compact pinning (CP)")


# ----------------------------------------------------------------------------------------------------------------------

_FULL = {"runs": 1000}

FIGURE_4 = PaperResult(
    kind="figure",
    number="4",
    title="Run time of a time step over threads by pinning policy",
    minutes=0.2,
    measure=measure_policies,
    full=_FULL,
    check=_check,
    show=_show_figure_4,
    draw=_draw_figure_4,
)
FIGURE_5 = PaperResult(
    kind="figure",
    number="5",
    title="Run time of a time step over threads by stealing policy",
    minutes=0.2,
    measure=measure_policies,
    full=_FULL,
    check=_check,
    show=_show_figure_5,
    draw=_draw_figure_5,
)
TABLE_1 = PaperResult(
    kind="table",
    number="1",
    title="Performance portability without and with policies for NUMA nodes",
    minutes=0.2,
    measure=measure_policies,
    full=_FULL,
    check=_check,
    show=_show_table_1,
    show_together=_show_table_1_together,
)
