"""No command imports anything from the folder where the user stands, nor do the processes that it starts."""

from __future__ import annotations

from pathlib import Path

import pytest

from test_hostile_folder import hostile_folder, run

__all__ = ["hostile_folder"]

COMMANDS = [
    "info",
    "models",
    "models iaf_psc_exp",
    "run brunel --json {out}.json --plot {out}.png --set order=20 time=10",
    "run hpc_benchmark --dry-run 10 --rate 5 --set scale=0.02 time=10",
    "predict hpc_benchmark --ranks 10 --plot {out}.png --set scale=0.02",
    "bench parallel --threads 1,2 --repetitions 2 --levels 4 --json {out}.json",
    "bench exchange --ranks 2 --methods allgather --repetitions 1 --set cells=64 connections=10 time=10",
    "bench scaling --ranks 1,2 --neurons-per-rank 1000 --indegree 10 --repetitions 1 --set time=10",
    "bench many_ranks --methods alltoall --ranks 4,8 --neurons-per-rank 90 --indegree 20 --repetitions 1 --set time=10",
    "bench microcircuit --repetitions 1 --against nest --json {out}.json --set scale=0.02 time=10",
]


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.usefixtures("hostile_folder")
def test_command(command: str, tmp_path: Path) -> None:
    run(*command.format(out=tmp_path / "out").split())
