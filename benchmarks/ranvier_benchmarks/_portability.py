"""Performance portability of what was measured on several platforms (Morgenstern et al. 2020, Definition 2).

It is the harmonic mean of an efficiency over a set of platforms, and depends on which efficiency that is. The paper
takes two, both for the 75 % quantile of the time t(n) on the number n of threads that is fastest, and so do we:

architectural  F / (P t(n)): floating-point operations of a run per second, relative to the peak P of the platform. F
               is counted; P is stated, or measured with fused multiply-adds on all processors.
scaling        t(1) / (n t(n)): strong scaling efficiency with the same policies.

Bounds are the least and the greatest of the turns in which everything was measured. An efficiency above 1 is due to
noise; it counts as 1.

A platform is a dictionary as `ranvier bench parallel` writes it: its ``name``, whether it is ``synthetic``, its
``processors``, the ``operations`` of a run, the ``flops_per_second`` of its ``peak``, and its ``results``. Each result
has the keys ``pinning``, ``stealing``, ``threads`` and ``reduction_s``, the times of a sum up a tree. Results of
`ranvier paper morgenstern2020` have ``step_s`` instead, the times of a time step of the fast multipole method.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from ranvier.errors import FileError

__all__ = [
    "Bounded",
    "Efficiency",
    "Platform",
    "Policies",
    "counted",
    "efficiency",
    "portability",
    "read_platforms",
    "times_of",
]

Platform: TypeAlias = dict[str, Any]
Policies: TypeAlias = tuple[str, str]
"""The policies of pinning and of stealing."""


@dataclass(frozen=True)
class Bounded:
    """A number that was measured in several turns: of all of them, and the least and the greatest of a turn."""

    value: float
    least: float
    greatest: float


@dataclass(frozen=True)
class Efficiency:
    """The efficiency of policies on a platform, at the fastest number of threads."""

    architectural: Bounded
    scaling: Bounded
    threads: int
    seconds: float
    """75 % quantile of the time with these threads."""


def times_of(result: dict[str, Any]) -> dict[str, Any]:
    """Return the times of the runs of a result: of time steps, or of sums up a tree."""
    times: dict[str, Any] = result["step_s"] if "step_s" in result else result["reduction_s"]
    return times


def efficiency(platform: Platform, policies: Policies) -> Efficiency | None:
    """Return that of a platform with these policies; None where these, or one thread of them, were not measured."""
    by_threads = {
        result["threads"]: times_of(result)
        for result in platform["results"]
        if (result["pinning"], result["stealing"]) == policies
    }
    if 1 not in by_threads:
        return None
    threads = min(by_threads, key=lambda number: (by_threads[number]["quantile_75"], number))
    alone, fastest = by_threads[1], by_threads[threads]
    # The time in which the platform would be done at its peak.
    shortest = platform["operations"] / platform["peak"]["flops_per_second"]
    # Turn by turn, so that what slowed the machine down for a while slowed down both.
    turns = list(zip(alone["turns"], fastest["turns"], strict=True))

    def bounded(value: float, of_turns: Sequence[float]) -> Bounded:
        return Bounded(value, min([value, *of_turns]), max([value, *of_turns]))

    return Efficiency(
        bounded(shortest / fastest["quantile_75"], [shortest / time for _, time in turns]),
        bounded(
            alone["quantile_75"] / (threads * fastest["quantile_75"]), [one / (threads * time) for one, time in turns]
        ),
        threads,
        fastest["quantile_75"],
    )


def counted(platforms: Sequence[Platform], *, with_synthetic: bool) -> list[Platform]:
    """Return the platforms over which portability is computed: a synthetic one is not another machine."""
    return [platform for platform in platforms if with_synthetic or not platform["synthetic"]]


def portability(efficiencies: Sequence[Bounded | None]) -> Bounded | None:
    """Return the harmonic mean over platforms, 0 if one of them does not support it; None for no platforms."""
    if not efficiencies:
        return None
    found = [one for one in efficiencies if one is not None]
    if len(found) < len(efficiencies):
        return Bounded(0.0, 0.0, 0.0)

    def mean(values: Sequence[float]) -> float:
        return len(values) / sum(1.0 / min(value, 1.0) for value in values)

    return Bounded(
        mean([one.value for one in found]), mean([one.least for one in found]), mean([one.greatest for one in found])
    )


def read_platforms(path: Path) -> list[Platform]:
    """Return the platforms that were measured elsewhere.

    Raises
    ------
    FileError
        When the file cannot be read, or is not what `ranvier bench parallel --json` writes.
    """
    try:
        whole = json.loads(path.read_text(encoding="utf-8"))
        if whole["benchmark"] != "parallel":
            raise ValueError(f"it is of the benchmark '{whole['benchmark']}'")
        return [_check(platform) for platform in whole["platforms"]]
    except OSError as error:
        raise FileError(f"file {path}", bound=f"it cannot be read ({error.strerror or error})") from error
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        raise FileError(
            f"file {path}",
            bound=f"it does not hold what was measured on platforms ({type(error).__name__}: {error})",
            remedy="write it with: ranvier bench parallel --json FILE",
        ) from error


def _check(platform: Platform) -> Platform:
    if not isinstance(platform["name"], str):
        raise TypeError("the name of a platform must be text")
    if not isinstance(platform["synthetic"], bool):
        raise TypeError("whether a platform is synthetic must be true or false")
    _check_count("processors", platform["processors"])
    _check_count("operations", platform["operations"])
    if not 0.0 < float(platform["peak"]["flops_per_second"]) < float("inf"):
        raise ValueError(f"a peak of {platform['peak']['flops_per_second']} operations per second")
    turns = set()
    for result in platform["results"]:
        if not isinstance(result["pinning"], str) or not isinstance(result["stealing"], str):
            raise TypeError("policies must be text")
        _check_count("threads", result["threads"])
        times = result["reduction_s"]
        for time in (times["quantile_75"], *times["turns"]):
            if not 0.0 < float(time) < float("inf"):
                raise ValueError(f"a time of {time} s")
        turns.add(len(times["turns"]))
    if len(turns) > 1:
        raise ValueError("results of different numbers of turns")
    return platform


def _check_count(name: str, value: object) -> None:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        raise ValueError(f"{value} {name}")
