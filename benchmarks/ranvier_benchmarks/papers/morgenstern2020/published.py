"""Numbers of the paper: times of one time step of its fast multipole method.

From its text. The text also defines Table 1, whose performance portability follows from these numbers; the values that
are printed in the table are not in it.
"""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["INPUT", "OPERATIONS", "PLATFORMS", "Lowest", "PublishedPlatform"]

INPUT = {"points": 1000, "order": 0, "depth": 3}
"""Points with uniform charges and positions, order of the expansions, and depth of the octree."""

OPERATIONS = 2.4e6
"""Floating-point operations of one time step."""


@dataclass(frozen=True)
class Lowest:
    """The lowest run time (75 % quantile) over numbers of threads, with the threads."""

    milliseconds: float
    threads: int | None = None
    """None if the paper does not say it."""


@dataclass(frozen=True)
class PublishedPlatform:
    """A machine of the paper."""

    name: str
    nodes: int
    cores_of_node: int
    peak_gflops: float
    base: Lowest
    """Without any policy for NUMA nodes."""
    plug_in: Lowest
    """The best policies of pinning and of stealing."""
    plug_in_policies: tuple[str, str]
    compact_speed_up: float
    """Time of the base implementation / time with compact pinning, with as many threads as one node has cores."""


PLATFORMS = (
    PublishedPlatform(
        name="2 x Xeon E5-2680 v3",
        nodes=2,
        cores_of_node=12,
        peak_gflops=960.0,
        base=Lowest(1.48),
        plug_in=Lowest(1.16, 48),
        plug_in_policies=("compact", "local_only"),
        compact_speed_up=1.6,
    ),
    PublishedPlatform(
        name="4 x Xeon E7-4830 v4",
        nodes=4,
        cores_of_node=14,
        peak_gflops=1792.0,
        base=Lowest(1.77, 97),
        plug_in=Lowest(1.83, 14),
        plug_in_policies=("compact", "local_and_remote"),
        compact_speed_up=2.1,
    ),
)
