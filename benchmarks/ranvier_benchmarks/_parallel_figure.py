"""The figure of `ranvier bench parallel`: times over numbers of threads, as Figures 4 and 5 of Morgenstern et al."""

from __future__ import annotations

from collections.abc import Sequence

from matplotlib.ticker import FixedLocator, NullLocator

from ranvier.figures.style import COLOURS, FAINT, Figure, styled
from ranvier_benchmarks._portability import Platform

__all__ = ["draw"]

_LINES = ("-", "--", ":", "-.")
_MARKERS = "osD^vP"


@styled
def draw(platforms: Sequence[Platform]) -> Figure:
    """Plot the 75 % quantile of the sum up a tree, a panel per platform and a line per pinning and stealing.

    Parameters
    ----------
    platforms
        Measurements of `ranvier bench parallel`.
    """
    figure = Figure(figsize=(1.8 + 3.8 * len(platforms), 4.4), dpi=150, layout="constrained")
    figure.suptitle("Sum up a tree, 75 % quantile (ms)", x=0.01, ha="left", fontsize=12, fontweight="bold")
    panels = figure.subplots(1, len(platforms), squeeze=False)[0]
    results = [result for platform in platforms for result in platform["results"]]
    pinnings = list(dict.fromkeys(result["pinning"] for result in results))
    stealings = list(dict.fromkeys(result["stealing"] for result in results))
    for axes, platform in zip(panels, platforms, strict=True):
        for i, pinning in enumerate(pinnings):
            for k, stealing in enumerate(stealings):
                points = sorted(
                    (result["threads"], 1e3 * result["reduction_s"]["quantile_75"])
                    for result in platform["results"]
                    if (result["pinning"], result["stealing"]) == (pinning, stealing)
                )
                if not points:
                    continue
                axes.plot(
                    *zip(*points, strict=True),
                    color=COLOURS[i % len(COLOURS)],
                    linestyle=_LINES[k % len(_LINES)],
                    marker=_MARKERS[k % len(_MARKERS)],
                    markersize=4,
                    linewidth=1.2,
                    label=f"{pinning}, {stealing}",
                )
        ticks = sorted({result["threads"] for result in platform["results"]})
        axes.set_title(platform["name"])
        axes.set_xlabel("threads")
        axes.set_xscale("log", base=2)
        axes.xaxis.set_major_locator(FixedLocator(ticks))
        axes.set_xticklabels([str(tick) for tick in ticks])
        axes.xaxis.set_minor_locator(NullLocator())
        axes.set_ylim(bottom=0.0)
        axes.grid(axis="y", color=FAINT, linewidth=0.8)
        axes.set_axisbelow(True)
    legend = {name: handle for axes in panels for handle, name in zip(*axes.get_legend_handles_labels(), strict=True)}
    figure.legend(list(legend.values()), list(legend), loc="outside right center", frameon=False, fontsize=8)
    return figure
