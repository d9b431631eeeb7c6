"""Figure 1: probability that a neuron has no, one or several targets on a process.

A neuron with K targets, each of which is on any of M processes with the same probability, has n of them on one process
with the probability of the binomial distribution of K draws with probability 1/M. The paper plots this formula. Here
the targets are also counted: some neurons get K random targets each, in a network with at least one neuron on each of
the processes, and the synapses of each of them on each process are counted.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.ticker import FuncFormatter
from rich.console import Console

import ranvier as rv
from ranvier.base.memory_checks import check_room
from ranvier.errors import ValueOutOfBoundsError
from ranvier.figures.style import COLOURS, Figure, new_figure, styled
from ranvier_benchmarks.papers._paper import Measured, PaperResult, Progress
from ranvier_benchmarks.papers.jordan2018._runs import check_whole, print_comparison, print_table
from ranvier_benchmarks.papers.jordan2018.published import K_COMPUTER

__all__ = ["FIGURE_1"]

_PARTS = ("none", "one", "several")
_PROCESSES = tuple(2**power for power in range(5, 21))
# In the arrays of the count, and of a neuron in the simulation.
_BYTES_OF_SYNAPSE, _BYTES_OF_NEURON = 60, 120


def _expected(targets: int, processes: Sequence[int]) -> dict[str, list[float]]:
    """Return the probabilities of none, one and several successes of the binomial distribution."""
    probability = 1.0 / np.asarray(processes, dtype=np.float64)
    # For one process, log1p(-1) is -inf, and the probability of no target is 0.
    with np.errstate(divide="ignore"):
        failure = np.log1p(-probability)
        no_target = np.exp(targets * failure)
        one_target = targets * probability * (np.exp((targets - 1.0) * failure) if targets > 1 else 1.0)
    return {
        "none": no_target.tolist(),
        "one": one_target.tolist(),
        "several": (1.0 - no_target - one_target).clip(0.0, 1.0).tolist(),
    }


def _check(*, targets: int, processes: tuple[int, ...], neurons: int, counted: int, seed: int) -> None:
    check_whole("targets", targets, 1, 2**31 - 1)
    check_whole("neurons", neurons, 1, 2**31 - 1)
    check_whole("counted", counted, 1, 2**31 - 1)
    check_whole("seed", seed, 0, 2**63 - 1)
    if not processes:
        raise ValueOutOfBoundsError("key processes", "()", "there is nothing to count", "give some numbers")
    for count in processes:
        check_whole("processes", count, 1, 2**31 - 1)
    check_room(
        "the counted network",
        counted * targets * _BYTES_OF_SYNAPSE + neurons * _BYTES_OF_NEURON,
        "choose fewer neurons, targets or counted neurons",
    )


def measure_targets(
    progress: Progress,
    *,
    targets: int = 10_000,
    processes: tuple[int, ...] = _PROCESSES,
    neurons: int = 2**20,
    counted: int = 64,
    seed: int = 1,
) -> Measured:
    """Calculate the probabilities, and count the targets of some neurons on each process.

    Parameters
    ----------
    targets
        Targets of a neuron.
    processes
        Numbers of processes. Targets are only counted where `neurons` is a multiple of the number.
    neurons
        Neurons that can be targets, placed round-robin.
    counted
        Neurons whose targets are counted.
    seed
        Seed of the network.
    """
    progress.step(f"counting {counted * targets:,} synapses")
    net = rv.Network(seed=seed)
    receivers = net.create(rv.iaf_psc_exp(), neurons)
    senders = net.create(rv.iaf_psc_exp(), counted)
    net.connect(senders, receivers, rv.FixedOutdegree(targets), weight=1.0, delay=1.5)
    synapses = rv.Simulation(net).connections()
    sender = synapses.sources - int(senders.ids[0])
    receiver = synapses.targets - int(receivers.ids[0])
    # Else processes have different numbers of neurons, and the probabilities differ.
    counted_on = [count for count in processes if neurons % count == 0]
    found: dict[str, list[float]] = {part: [] for part in _PARTS}
    for count in counted_on:
        _, of_pair = np.unique(sender * count + receiver % count, return_counts=True)
        pairs, with_one = counted * count, int(np.count_nonzero(of_pair == 1))
        found["none"].append((pairs - len(of_pair)) / pairs)
        found["one"].append(with_one / pairs)
        found["several"].append((len(of_pair) - with_one) / pairs)
    return {
        "processes": list(processes),
        "expected": _expected(targets, processes),
        "counted_processes": counted_on,
        "counted": found,
    }


def _show(measured: Measured, console: Console) -> None:
    options = measured["options"]
    counted = dict(zip(measured["counted_processes"], zip(*measured["counted"].values(), strict=True), strict=True))
    rows = []
    for place, count in enumerate(measured["processes"]):
        found = counted.get(count, (None,) * len(_PARTS))
        cells = [
            text
            for part, value in zip(_PARTS, found, strict=True)
            for text in (f"{measured['expected'][part][place]:.4f}", "" if value is None else f"{value:.4f}")
        ]
        rows.append((f"{count:,}", *cells))
    title = f"{options['targets']:,} targets, counted for {options['counted']} of {options['neurons']:,} neurons"
    print_table(console, title, ("processes", *(head for part in _PARTS for head in (part, "counted"))), rows)
    processes, expected = measured["processes"], measured["expected"]
    most = [count for count, value in zip(processes, expected["several"], strict=True) if value > 0.5]
    none = [count for count, value in zip(processes, expected["none"], strict=True) if value > 0.5]
    ours = {}
    if most:
        ours["several"] = f"more than half: up to {max(most):,} processes"
    if none:
        ours["none"] = f"more than half: from {min(none):,} processes on"
    print_comparison(console, "1", ours)


@styled
def _draw(measured: Sequence[Measured]) -> Figure:
    first = measured[0]
    figure = new_figure(6.5, 4.0, f"{first['options']['targets']:,} targets of a neuron")
    axes = figure.add_subplot()
    layers = [np.asarray(first["expected"][part]) for part in _PARTS]
    axes.stackplot(first["processes"], *layers, labels=[*_PARTS], colors=["#3B3B3B", "#8A8A8A", "#D0D0D0"])
    lower = np.zeros(len(first["counted_processes"]))
    for part, colour in zip(_PARTS[:2], COLOURS[1:], strict=False):
        lower = lower + np.asarray(first["counted"][part])
        label = f"counted: {'no target' if part == 'none' else 'no target or one'}"
        axes.plot(first["counted_processes"], lower, "o", color=colour, label=label, markersize=4)
    if min(first["processes"]) < K_COMPUTER < max(first["processes"]):
        axes.axvline(K_COMPUTER, color="black", linestyle="--", linewidth=0.9, label="nodes of the K computer")
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda count, _: f"{count:,.0f}"))
    axes.set_xlim(min(first["processes"]), max(first["processes"]))
    axes.set_ylim(0.0, 1.0)
    axes.set_xlabel("processes")
    axes.set_ylabel("probability")
    axes.legend(loc="upper left", bbox_to_anchor=(0.0, -0.15), ncols=3, frameon=False, fontsize=9)
    return figure


FIGURE_1 = PaperResult(
    kind="figure",
    number="1",
    title="Probability of no, one or several targets of a neuron on a process: formula, and counted",
    minutes=0.1,
    measure=measure_targets,
    full={"counted": 1024},
    check=_check,
    show=_show,
    draw=_draw,
)
