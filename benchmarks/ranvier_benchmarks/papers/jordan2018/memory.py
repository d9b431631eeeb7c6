"""Figures 2B and 4B: memory by component at maximum filling, of the fourth and the fifth generation side by side.

The upper row is the memory model of the paper with its constants. The lower row is Ranvier's prediction for the same
kernels, with dry runs beside it. Networks are as large as fits the memory of a process: in Figure 2B of the
fourth-generation kernel, in Figure 4B of the fifth-generation kernel.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator
from rich.console import Console

from ranvier.base.memory_checks import check_room
from ranvier.base.sizes import parse_bytes
from ranvier.errors import InsufficientMemoryError, ValueOutOfBoundsError
from ranvier.figures.style import GREY, Figure, new_figure, styled
from ranvier.simulation.options import MOST_RANKS
from ranvier.simulation.predictions import lasting_bytes
from ranvier_benchmarks import many_ranks
from ranvier_benchmarks._options import with_defaults
from ranvier_benchmarks._scaling_plans import largest_fitting
from ranvier_benchmarks.papers._paper import Measured, PaperResult, Progress
from ranvier_benchmarks.papers.jordan2018._runs import (
    KERNELS,
    check_names,
    check_whole,
    connection_buffer,
    print_comparison,
    print_table,
)
from ranvier_benchmarks.papers.jordan2018.memory_model import COMPONENTS, memory_of_4g, memory_of_5g
from ranvier_benchmarks.papers.jordan2018.published import FIGURES, JUQUEEN, K_COMPUTER

__all__ = ["FIGURE_2B", "FIGURE_4B"]

_MODELS: dict[str, Callable[[float, int, int, int], dict[str, float]]] = {"4g": memory_of_4g, "5g": memory_of_5g}
_KERNEL_OF = {"4g": "4g", "5g": "5g-sort"}
# Ranvier's components, in the order in which they are stacked; the small ones together.
_OTHERS = "others"
_PLAYED = "dry runs"
_WHILE_BUILT = "while built"
_STACKED = ("neurons", "inputs", "exchange", "spikes", "presynaptic", "synapses")
# As in the paper, where it has the component.
_COLOURS = {
    "neurons": "#0072B2",
    "inputs": "#56B4E9",
    "exchange": "#8A8A8A",
    "spikes": "#B9B9B9",
    "sparse tables": "#B35806",
    "several targets": "#E08214",
    "one target": "#FDCB8B",
    "sources": "#C0392B",
    "targets": "#2CA25F",
    "presynaptic": "#2CA25F",
    "synapses": "#E7A8C9",
    _OTHERS: "#444444",
}


def _prepared(
    kernel: str,
    processes: Sequence[int],
    *,
    memory_per_process: str,
    indegree: int,
    threads: int,
    rate: float,
    time: float,
    sizes: Mapping[int, int] | None = None,
) -> many_ranks.Prepared:
    method, is_sorted = KERNELS[_KERNEL_OF[kernel]]
    settings = [f"time={time}", "presim=0", f"threads={threads}", f"sort_connections={str(is_sorted).lower()}"]
    settings.append(f"connection_buffer={connection_buffer(memory_per_process)}")
    arguments = with_defaults(
        many_ranks,
        mode="fill",
        ranks=",".join(map(str, processes)),
        methods=method,
        indegree=indegree,
        memory_per_rank=memory_per_process,
        rate=rate,
        settings=settings,
    )
    return many_ranks.prepare(arguments, sizes=sizes)


def measure_memory(
    progress: Progress,
    *,
    filled: str = "5g",
    processes: tuple[int, ...] = (16, 64, 256, 1024, 4096, 16_384, 100_000),
    dry_processes: tuple[int, ...] = (64, 1024, 16_384),
    memory_per_process: str = "100MB",
    indegree: int = 1125,
    threads: int = 1,
    rate: float = 10.0,
    time: float = 50.0,
) -> Measured:
    """Predict the memory of both generations for networks that fill the memory of one, and make dry runs of some.

    Parameters
    ----------
    filled
        The generation whose memory is filled: "4g" or "5g".
    processes, dry_processes
        Numbers of processes, and those of them for which dry runs are made too.
    memory_per_process
        Memory limit of a process.
    indegree, threads
        Synapses of a neuron, and threads of a process.
    rate
        Rate of all neurons, spikes/s.
    time
        Simulated time of a dry run, ms.
    """
    size: dict[str, Any] = {
        "memory_per_process": memory_per_process,
        "indegree": indegree,
        "threads": threads,
        "rate": rate,
        "time": time,
    }
    limit = parse_bytes("key memory_per_process", memory_per_process)
    counts = sorted({*processes, *dry_processes})
    filling = _prepared(filled, counts, **size)
    sizes: dict[int, int] = {}
    for case in filling.cases:
        progress.step(f"the largest network on {case[2]:,} processes")
        sizes[case[2]] = many_ranks.network_size(filling, case)
    predicted: dict[str, Any] = {"neurons_per_process": [sizes[count] / count for count in counts]}
    for kernel in _MODELS:
        prepared = _prepared(kernel, counts, **size, sizes=sizes)
        of_count = {case[2]: many_ranks.predicted_bytes(prepared, case, sizes[case[2]]) for case in prepared.cases}
        for count in dry_processes:
            check_room(f"a dry run of {kernel} on {count:,} processes", sum(of_count[count].values()), _LESS)
        predicted[kernel] = _by_component([_merged(of_count[count]) for count in counts], (*_STACKED, _OTHERS))
        most = [float(lasting_bytes(of_count[count]) + of_count[count].get("construction", 0)) for count in counts]
        predicted.setdefault(_WHILE_BUILT, {})[kernel] = most
    done: Measured = {
        "processes": counts,
        "model": _modelled(filled, counts, limit, threads, indegree),
        "predicted": predicted,
        "dry": [],
    }
    progress.keep(done)
    for kernel in _MODELS if dry_processes else ():
        prepared = _prepared(kernel, dry_processes, **size, sizes=sizes)
        for run in many_ranks.measure(prepared, step=progress.step, predicts_times=False)["results"]:
            done["dry"].append(
                {
                    "kernel": kernel,
                    "ranks": run["ranks"],
                    "neurons": run["neurons"],
                    "memory_bytes": run["memory_bytes"],
                    "predicted_bytes": lasting_bytes(run["predicted_bytes"]),
                }
            )
            progress.keep(done)
    return done


def _modelled(filled: str, counts: Sequence[int], limit: int, threads: int, indegree: int) -> dict[str, Any]:
    """Return the neurons of a process and the bytes by component of both generations, by the paper's model."""
    sizes = []
    for count in counts:

        def needed(per_process: int, count: int = count) -> float:
            return sum(_MODELS[filled](per_process, count, threads, indegree).values())

        sizes.append(largest_fitting(needed, 1, limit))
    modelled: dict[str, Any] = {"neurons_per_process": sizes}
    for kernel, model in _MODELS.items():
        parts = [model(size, count, threads, indegree) for size, count in zip(sizes, counts, strict=True)]
        modelled[kernel] = _by_component(parts, COMPONENTS[kernel])
    return modelled


_LESS = "give less memory_per_process, or no dry_processes"


def _merged(parts: Mapping[str, int]) -> dict[str, float]:
    """Return the bytes by component that last, with the small components together."""
    named = {name: float(parts.get(name, 0)) for name in _STACKED}
    return {**named, _OTHERS: lasting_bytes(parts) - sum(named.values())}


def _by_component(parts: Sequence[Mapping[str, float]], names: Sequence[str]) -> dict[str, list[float]]:
    return {name: [each[name] for each in parts] for name in names}


def _check(
    *,
    filled: str,
    processes: tuple[int, ...],
    dry_processes: tuple[int, ...],
    memory_per_process: str,
    indegree: int,
    threads: int,
    rate: float,
    time: float,
) -> None:
    check_names("filled", [filled], tuple(_MODELS))
    if not processes:
        raise ValueOutOfBoundsError("key processes", "()", "there is nothing to predict", "give some numbers")
    for name, counts in (("processes", processes), ("dry_processes", dry_processes)):
        for count in counts:
            check_whole(name, count, 1, MOST_RANKS)
    check_whole("threads", threads, 1, 4096)
    check_whole("indegree", indegree, 1, 2**31 - 1)
    for name, value in (("rate", rate), ("time", time)):
        if not 0.0 < value < float("inf"):
            raise ValueOutOfBoundsError(f"key {name}", str(value), "it must be > 0")
    limit = parse_bytes("key memory_per_process", memory_per_process)
    for count in (min(processes), max(processes)):
        least = sum(_MODELS[filled](1, count, threads, indegree).values())
        if least > limit:
            raise InsufficientMemoryError(
                "key memory_per_process",
                memory_per_process,
                f"one neuron on each of {count:,} processes takes {least:,.0f} bytes by the paper's model",
                "give more",
            )
    if dry_processes:
        # The fourth generation takes up to four times the memory of the fifth.
        check_room("dry runs", (4 if filled == "5g" else 1) * limit, _LESS)


# ---- tables ----------------------------------------------------------------------------------------------------------


def _totals(part: Mapping[str, Any], kernel: str) -> list[float]:
    return [float(total) for total in np.sum(list(part[kernel].values()), axis=0)]


def _show(measured: Measured, console: Console) -> None:
    counts = measured["processes"]
    for title, part in (("the paper's model", measured["model"]), ("Ranvier's prediction", measured["predicted"])):
        for kernel in _MODELS:
            names = [name for name, values in part[kernel].items() if any(values)]
            totals = _totals(part, kernel)
            built = part.get(_WHILE_BUILT, {}).get(kernel)
            rows = [
                (
                    f"{count:,}",
                    f"{part['neurons_per_process'][place]:,.0f}",
                    *(f"{part[kernel][name][place] / 1e6:,.1f}" for name in names),
                    f"{totals[place] / 1e6:,.1f}",
                    *([] if built is None else [f"{built[place] / 1e6:,.1f}"]),
                )
                for place, count in enumerate(counts)
            ]
            headings = ("processes", "neurons of each", *names, "total", *([] if built is None else [_WHILE_BUILT]))
            print_table(console, f"{kernel}, {title}, MB of a process", headings, rows)
    rows = [
        (
            f"{run['kernel']}, {run['ranks']:,}",
            f"{run['neurons']:,}",
            f"{sum(run['memory_bytes'].values()) / 1e6:,.1f}",
            f"{run['predicted_bytes'] / 1e6:,.1f}",
        )
        for run in measured["dry"]
    ]
    print_table(console, "Dry runs, MB of a process", ("processes", "neurons of each", "memory", "predicted"), rows)
    figure = measured["number"]
    print_comparison(console, figure, {name: _comparison(measured, name) for name in FIGURES[figure]})


def _comparison(measured: Measured, name: str) -> str:
    """Return what the paper's model, and Ranvier's prediction, say to a statement."""
    return "; ".join(
        f"{what}: {_compared(measured, part, name)}"
        for what, part in (("model", measured["model"]), ("Ranvier", measured["predicted"]))
    )


def _compared(measured: Measured, part: Mapping[str, Any], name: str) -> str:
    counts, threads = measured["processes"], measured["options"]["threads"]
    last = len(counts) - 1
    if name == "sparse":
        if "sparse tables" not in part["4g"]:
            return "a part of the synapses"
        share = part["4g"]["sparse tables"][last] / _totals(part, "4g")[last]
        return f"{100.0 * share:.0f} % of the memory at {threads * counts[last]:,} threads"
    if name == "neurons":
        place = min(range(last + 1), key=lambda each: abs(math.log(counts[each] / JUQUEEN)))
        return f"{part['neurons_per_process'][place]:,.0f} on {counts[place]:,} processes"
    if name == "crossing":
        pairs = zip(counts, _totals(part, "4g"), _totals(part, "5g"), strict=True)
        less = [threads * count for count, fourth, fifth in pairs if fourth < fifth]
        return f"up to {max(less):,} threads" if less else "nowhere"
    targets = part["5g"]["targets" if "targets" in part["5g"] else "presynaptic"]
    share = [size / neurons for size, neurons in zip(targets, part["neurons_per_process"], strict=True)]
    return f"from {threads * counts[next(i for i in range(last + 1) if share[i] > 0.95 * share[last])]:,} threads on"


# ---- figure ----------------------------------------------------------------------------------------------------------


@styled
def _draw(measured: Sequence[Measured]) -> Figure:
    first = measured[0]
    options = first["options"]
    limit = parse_bytes("memory_per_process", options["memory_per_process"])
    title = (
        f"Networks that fill {options['memory_per_process']} with {options['filled']}, {options['indegree']:,} synapses"
    )
    figure = new_figure(10.5, 7.5, title)
    panels = figure.subplots(2, 2)
    rows = (("the paper's model", first["model"]), ("Ranvier, predicted", first["predicted"]))
    for row, (name, part) in zip(panels, rows, strict=True):
        while_built = part.get(_WHILE_BUILT, {})
        highest = (
            *_totals(part, "4g"),
            *_totals(part, "5g"),
            *(size for sizes in while_built.values() for size in sizes),
        )
        top = 1.08 * max(limit, *highest) / 1e6
        for panel, kernel in zip(row, _MODELS, strict=True):
            _stack(panel, first["processes"], part[kernel])
            panel.axhline(limit / 1e6, color="black", linestyle="--", linewidth=0.9)
            if first["processes"][0] < K_COMPUTER < first["processes"][-1]:
                panel.axvline(K_COMPUTER, color="black", linestyle="--", linewidth=0.9)
            panel.set_title(f"{kernel}: {name} (MB of a process)")
            panel.set_ylim(0.0, top)
    for panel, kernel in zip(panels[1], _MODELS, strict=True):
        built = np.asarray(first["predicted"][_WHILE_BUILT][kernel]) / 1e6
        panel.plot(first["processes"], built, ":", color="black", linewidth=1.2, label=_WHILE_BUILT)
        played = [run for run in first["dry"] if run["kernel"] == kernel]
        panel.plot(
            [run["ranks"] for run in played],
            [sum(run["memory_bytes"].values()) / 1e6 for run in played],
            "o",
            color="black",
            markerfacecolor="white",
            label=_PLAYED if played else None,
        )
        panel.set_xlabel("processes")
    for row in panels:
        handles: dict[str, Any] = {}
        for panel in row:
            found, names = panel.get_legend_handles_labels()
            handles |= dict(zip(names, found, strict=True))
        # In the order of the components, and the dry runs last.
        handles = {name: handles[name] for name in [*_COLOURS, _WHILE_BUILT, _PLAYED] if name in handles}
        row[1].legend(
            [*handles.values()], [*handles], loc="center left", bbox_to_anchor=(1.02, 0.5), frameon=False, fontsize=8
        )
    return figure


def _stack(panel: Axes, counts: Sequence[int], parts: Mapping[str, Sequence[float]]) -> None:
    names = [name for name, values in parts.items() if any(values)]
    layers = [np.asarray(parts[name]) / 1e6 for name in names]
    panel.stackplot(counts, *layers, labels=names, colors=[_COLOURS[name] for name in names])
    panel.set_xscale("log", base=2)
    panel.set_xlim(counts[0], counts[-1])
    panel.xaxis.set_major_locator(FixedLocator(list(counts)))
    panel.xaxis.set_major_formatter(FuncFormatter(lambda count, _: f"{count:,.0f}"))
    panel.xaxis.set_minor_locator(NullLocator())
    panel.tick_params(axis="x", labelrotation=45, labelsize=8, colors=GREY)


_FULL = {
    # The captions: 13 GB, and 8 threads of a process.
    "processes": (4, 16, 64, 256, 1024, 4096, 16_384, JUQUEEN, 100_000),
    "dry_processes": (),
    "memory_per_process": "13GB",
    "indegree": 11_250,
    "threads": 8,
}
FIGURE_2B = PaperResult(
    kind="figure",
    number="2B",
    title="Memory by component of networks that fill the memory with 4g: 4g and 5g, the paper's model and Ranvier",
    minutes=0.3,
    measure=partial(measure_memory, filled="4g"),
    full=_FULL,
    check=_check,
    show=_show,
    draw=_draw,
)
FIGURE_4B = PaperResult(
    kind="figure",
    number="4B",
    title="Memory by component of networks that fill the memory with 5g: 4g and 5g, the paper's model and Ranvier",
    minutes=0.3,
    measure=measure_memory,
    full=_FULL,
    check=_check,
    show=_show,
    draw=_draw,
)
