"""Figure 1: probability that a neuron has no, one or several targets on a process.

A neuron with K targets, each of which is on any of M processes with the same probability, has n of them on one process
with the probability of the binomial distribution of K draws with probability 1/M. The paper plots this formula. Here
the targets are also counted, in the synapses of a network that has been built. Its N neurons have K inputs each, as in
the paper, so the number of targets varies: on a process with N/M neurons, a neuron has as many targets as K N/M draws
with probability 1/(N - 1) give.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.ticker import FuncFormatter
from rich.console import Console
from rich.padding import Padding
from rich.table import Table

import ranvier as rv
from ranvier.base.memory_checks import check_room
from ranvier.errors import ValueOutOfBoundsError
from ranvier.figures.style import COLOURS, Figure, new_figure, styled
from ranvier_benchmarks.papers._paper import Measured, PaperResult, Progress

__all__ = ["FIGURE_1"]

_PARTS = ("none", "one", "several")
_PROCESSES = tuple(2**power for power in range(5, 21))
_BYTES_OF_SYNAPSE = 40  # in the arrays of the count


def _expected(draws: Sequence[float], probabilities: Sequence[float]) -> dict[str, list[float]]:
    """Return the probabilities of none, one and several successes of the binomial distribution."""
    count, probability = np.asarray(draws, dtype=np.float64), np.asarray(probabilities, dtype=np.float64)
    # For one process, log1p(-1) is -inf, and the probability of no target is 0.
    with np.errstate(divide="ignore"):
        failure = np.log1p(-probability)
        no_target = np.exp(count * failure)
        one_target = count * probability * np.exp((count - 1.0) * failure)
    return {
        "none": no_target.tolist(),
        "one": one_target.tolist(),
        "several": (1.0 - no_target - one_target).clip(0.0, 1.0).tolist(),
    }


def _check(*, targets: int, processes: tuple[int, ...], counted_neurons: int, counted_targets: int, seed: int) -> None:
    for name, value, least in (("targets", targets, 1), ("counted_neurons", counted_neurons, 1)):
        if value < least:
            raise ValueOutOfBoundsError(f"key {name}", str(value), f"it must be at least {least}")
    if not 1 <= counted_targets < counted_neurons:
        raise ValueOutOfBoundsError(
            "key counted_targets",
            str(counted_targets),
            f"it must be from 1 to {counted_neurons - 1}, the other neurons",
        )
    for count in processes:
        if not isinstance(count, int) or not 1 <= count <= 2**31 - 1:
            raise ValueOutOfBoundsError("key processes", str(count), "it must be whole numbers from 1 to 2147483647")
    check_room(
        "the counted network",
        counted_neurons * counted_targets * _BYTES_OF_SYNAPSE,
        "choose fewer counted_neurons or counted_targets",
    )


def measure_targets(
    progress: Progress,
    *,
    targets: int = 10_000,
    processes: tuple[int, ...] = _PROCESSES,
    counted_neurons: int = 4096,
    counted_targets: int = 1000,
    seed: int = 1,
) -> Measured:
    """Calculate the probabilities, and count targets in a network whose neurons have random inputs.

    Parameters
    ----------
    targets
        Targets of a neuron in the formula.
    processes
        Numbers of processes.
    counted_neurons, counted_targets
        Neurons of the network, and the mean number of targets of each of them. Neurons are placed on as many
        processes as there are neurons at most.
    seed
        Seed of the network.
    """
    progress.step(f"counting {counted_neurons * counted_targets:,} synapses")
    net = rv.Network(seed=seed)
    neurons = net.create(rv.iaf_psc_exp(), counted_neurons)
    net.connect(neurons, neurons, rv.FixedIndegree(counted_targets, allow_autapses=False), weight=1.0, delay=1.5)
    synapses = rv.Simulation(net).connections()
    counted_on = [count for count in processes if count <= counted_neurons]
    counted: dict[str, list[float]] = {part: [] for part in _PARTS}
    first = int(neurons.ids[0])
    for count in counted_on:
        # Neurons are dealt to processes round-robin.
        place = (synapses.sources - first) * count + (synapses.targets - first) % count
        of_pair = np.bincount(np.bincount(place, minlength=counted_neurons * count), minlength=2)
        pairs = counted_neurons * count
        counted["none"].append(float(of_pair[0] / pairs))
        counted["one"].append(float(of_pair[1] / pairs))
        counted["several"].append(float(of_pair[2:].sum() / pairs))
    return {
        "processes": list(processes),
        "expected": _expected([targets] * len(processes), [1.0 / count for count in processes]),
        "counted_processes": counted_on,
        "counted": counted,
        "counted_expected": _expected(
            [counted_targets * counted_neurons / count for count in counted_on],
            [1.0 / (counted_neurons - 1)] * len(counted_on),
        ),
    }


def _show(measured: Measured, console: Console) -> None:
    options = measured["options"]
    for title, counts, columns in (
        (f"{options['targets']:,} targets, as in the paper", measured["processes"], (("", measured["expected"]),)),
        (
            f"{options['counted_targets']:,} targets, in a network of {options['counted_neurons']:,} neurons",
            measured["counted_processes"],
            (("", measured["counted_expected"]), (", counted", measured["counted"])),
        ),
    ):
        table = Table(box=None, padding=(0, 2, 0, 0), header_style="dim")
        for heading in ("processes", *(f"{part}{which}" for part in _PARTS for which, _ in columns)):
            table.add_column(heading, justify="right", no_wrap=True)
        for place, count in enumerate(counts):
            values = [f"{values[part][place]:.4f}" for part in _PARTS for _, values in columns]
            table.add_row(f"{count:,}", *values)
        console.print(f"\n[bold]{title}[/]")
        console.print(Padding(table, (0, 0, 0, 2)))


@styled
def _draw(measured: Sequence[Measured]) -> Figure:
    first = measured[0]
    figure = new_figure(6.5, 4.0, f"{first['options']['targets']:,} targets of a neuron")
    axes = figure.add_subplot()
    layers = [np.asarray(first["expected"][part]) for part in _PARTS]
    axes.stackplot(first["processes"], *layers, labels=[*_PARTS], colors=["#3B3B3B", "#8A8A8A", "#D0D0D0"])
    lower = np.zeros(len(first["counted_processes"]))
    for part, colour in zip(_PARTS[:2], COLOURS, strict=False):
        lower = lower + np.asarray(first["counted"][part])
        label = f"{first['options']['counted_targets']:,} targets, counted: {'no' if part == 'none' else 'up to one'}"
        axes.plot(first["counted_processes"], lower, "o", color=colour, label=label, markersize=4)
    axes.set_xscale("log", base=2)
    axes.xaxis.set_major_formatter(FuncFormatter(lambda count, _: f"{count:,.0f}"))
    axes.set_xlim(min(first["processes"]), max(first["processes"]))
    axes.set_ylim(0.0, 1.0)
    axes.set_xlabel("processes")
    axes.set_ylabel("probability")
    axes.legend(loc="upper left", bbox_to_anchor=(0.0, -0.15), ncols=2, frameon=False)
    return figure


FIGURE_1 = PaperResult(
    kind="figure",
    number="1",
    title="Probability of no, one or several targets of a neuron on a process",
    minutes=0.1,
    measure=measure_targets,
    check=_check,
    show=_show,
    draw=_draw,
)
