"""Performance portability of what was measured on several platforms (Morgenstern et al. 2020, Definition 2).

A platform is a dictionary as `ranvier bench parallel` writes it: its ``name``, and ``results``, of which each has the
keys ``pinning``, ``stealing``, ``threads`` and ``reduction_s``.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeAlias

from ranvier.errors import FileError

__all__ = ["Efficiency", "Platform", "Policies", "efficiency", "portability", "read_platforms"]

Platform: TypeAlias = dict[str, Any]
Policies: TypeAlias = tuple[str, str]
"""The policies of pinning and of stealing."""


@dataclass(frozen=True)
class Efficiency:
    """The efficiency of strong scaling, t(1) / (n t(n)), at the number n of threads that was fastest."""

    value: float
    threads: int


def efficiency(platform: Platform, policies: Policies) -> Efficiency | None:
    """Return that of a platform with these policies, by the 75 % quantile; None where these were not measured there."""
    times = {
        result["threads"]: result["reduction_s"]["quantile_75"]
        for result in platform["results"]
        if (result["pinning"], result["stealing"]) == policies
    }
    if 1 not in times:
        return None
    threads = min(times, key=lambda number: (times[number], number))
    return Efficiency(times[1] / (threads * times[threads]), threads)


def portability(efficiencies: Sequence[Efficiency | None]) -> float:
    """Return the harmonic mean over a set of platforms, 0 if one of them does not support it."""
    values = [found.value if found is not None else 0.0 for found in efficiencies]
    if not values or min(values) <= 0.0:
        return 0.0
    return len(values) / sum(1.0 / value for value in values)


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
    for result in platform["results"]:
        if not isinstance(result["pinning"], str) or not isinstance(result["stealing"], str):
            raise TypeError("policies must be text")
        if not isinstance(result["threads"], int) or result["threads"] < 1:
            raise ValueError(f"{result['threads']} threads")
        if not float(result["reduction_s"]["quantile_75"]) > 0.0:
            raise ValueError(f"a time of {result['reduction_s']['quantile_75']} s")
    return platform
