"""Figure 2: distribution of synaptic delays."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.ticker import PercentFormatter
from rich.console import Console

from ranvier.errors import ValueOutOfBoundsError
from ranvier.figures.style import COLOURS, Figure, new_figure, styled
from ranvier.networks._cortical_delays import LONGEST
from ranvier.networks.column import plan_column
from ranvier_benchmarks.papers._paper import Measured, PaperResult, Progress
from ranvier_benchmarks.papers.magalhaes2019 import published
from ranvier_benchmarks.papers.magalhaes2019._runs import print_table

__all__ = ["FIGURE_2"]

_STEP = 0.025  # ms
_BIN = 0.1  # ms, as in the paper


def _check(*, cells: int, synapses: int, seed: int) -> None:
    if not isinstance(cells, int) or not 2 <= cells <= 20_000:
        raise ValueOutOfBoundsError("key cells", str(cells), "it must be a whole number from 2 to 20000")
    if not isinstance(synapses, int) or not 5 <= synapses <= 10_000:
        raise ValueOutOfBoundsError("key synapses", str(synapses), "it must be a whole number from 5 to 10000")


def measure_delays(progress: Progress, *, cells: int = 1000, synapses: int = 1000, seed: int = 1) -> Measured:
    """Count the delays of the network `column`.

    Parameters
    ----------
    cells, synapses
        Number of cells, and of synapses of each.
    seed
        Seed of the network.
    """
    progress.step("drawing delays")
    plan = plan_column(
        cells=cells,
        kinds=1,
        probability=0.2,
        contacts=5,
        synapses=synapses,
        current=0.0,
        delay=None,
        resolution=_STEP,
        seed=seed,
    )
    # Around multiples of 0.1 ms: the first bar is at the shortest delay, as in the paper. Edges are between delays.
    counts = np.bincount(np.floor(plan.delays / _BIN + 0.5 + 1e-9).astype(np.int64))[1:]
    return {
        "synapses": len(plan.delays),
        "bin_ms": _BIN,
        "counts": counts.tolist(),
        "shortest_ms": float(plan.delays.min()),
        "shortest_part": float(counts[0] / len(plan.delays)),
        "quantiles_ms": np.quantile(plan.delays, [0.1, 0.5, 0.9]).tolist(),
    }


def _show(measured: Measured, console: Console) -> None:
    tenth, half, nine_tenths = measured["quantiles_ms"]
    rows = [
        ("shortest delay (ms)", f"{measured['shortest_ms']:.3g}", f"{published.SHORTEST_DELAY:g}"),
        ("synapses in the first bar", f"{measured['shortest_part']:.2%}", f"{published.SHORTEST_PART:.2%}"),
        ("a tenth is at most (ms)", f"{tenth:.2f}", ""),
        ("half (ms)", f"{half:.2f}", ""),
        ("nine tenths (ms)", f"{nine_tenths:.2f}", ""),
        ("synapses", f"{measured['synapses']:,}", ""),
    ]
    print_table(console, "Delays of synapses", ("", "column", "paper"), rows)


@styled
def _draw(measured: Sequence[Measured]) -> Figure:
    first = measured[0]
    counts = np.asarray(first["counts"], dtype=np.float64)
    figure = new_figure(6.5, 3.6, f"Delays of {first['synapses']:,} synapses")
    axes = figure.add_subplot()
    axes.bar(
        first["bin_ms"] * (np.arange(len(counts)) + 1.0),
        counts,
        width=0.9 * first["bin_ms"],
        color=COLOURS[0],
        linewidth=0,
    )
    axes.set(xlabel="synaptic delay (ms)", ylabel="synapses", xlim=(0.0, LONGEST + first["bin_ms"]))
    shares = axes.secondary_yaxis(
        "right", functions=(lambda n: n / first["synapses"], lambda share: share * first["synapses"])
    )
    shares.yaxis.set_major_formatter(PercentFormatter(1.0, decimals=1))
    shares.set_ylabel("of all synapses")
    return figure


FIGURE_2 = PaperResult(
    kind="figure",
    number="2",
    title="Distribution of synaptic delays",
    minutes=0.1,
    measure=measure_delays,
    check=_check,
    show=_show,
    draw=_draw,
)
