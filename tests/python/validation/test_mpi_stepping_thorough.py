"""Asynchronous stepping on several processes: all ways with both families, on more threads, and the benchmark."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from mpi_runs import WHEELS, Installation
from mpi_stepping import SCENES
from ranvier_benchmarks import stepping
from test_bench_stepping import SMALL, bench
from test_mpi_stepping import WAYS, check_ways

MORE: list[dict[str, Any]] = [
    {"scene": scene, "threads": 2, "shards": 5, "notifications": notifications}
    for scene in SCENES
    for notifications in ("packed", "single")
]


@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("where", WHEELS, ids=str)
def test_same_bits(where: Installation, ranks: int, tmp_path: Path) -> None:
    check_ways(where, ranks, WAYS + MORE, tmp_path)


def test_stepping_is_measured_on_several_processes(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    options = ("--ranks=2", f"--mpiexec={WHEELS[0].mpiexec}", "--cells=6", "--repetitions=1", f"--json={path}")
    assert bench(stepping, *options, *SMALL) == 0
    (result,) = json.loads(path.read_text())["results"]
    assert (result["ranks"], result["shards"], result["same_spikes"]) == (2, 6, True)
    assert result["async"]["messages"] > 0
    # The communication reduce, and without it.
    assert result["single"]["messages"] >= result["single"]["notifications"] > 0
    assert result["async"]["notifications"] > 0
    assert sum(steps * count for steps, count in enumerate(result["visits_by_steps"])) == 200 * result["shards"]
