"""Every verb, on every number of ranks, and every failure, under every mpiexec; as `test_mpi_communicator`."""

from __future__ import annotations

from pathlib import Path

import pytest

from mpi_runs import INSTALLATIONS, Installation
from test_mpi_communicator import (
    FAILURES,
    check_that_a_failing_rank_ends_the_run,
    check_that_processes_tell_whether_they_are_alike,
    run_verbs,
)


@pytest.mark.parametrize("settings", [{}, {"most_bytes": "1000"}], ids=["", "too large for one call"])
@pytest.mark.parametrize("ranks", [1, 2, 3, 4])
@pytest.mark.parametrize("where", INSTALLATIONS, ids=str)
def test_every_verb(where: Installation, ranks: int, settings: dict[str, str], tmp_path: Path) -> None:
    run_verbs(where, ranks, tmp_path, **settings)


@pytest.mark.parametrize("where", INSTALLATIONS, ids=str)
def test_waiting_when_threads_outnumber_processors(where: Installation, tmp_path: Path) -> None:
    run_verbs(where, 2, tmp_path, threads="1000")


@pytest.mark.parametrize("where", INSTALLATIONS, ids=str)
def test_processes_tell_whether_they_are_alike(where: Installation, tmp_path: Path) -> None:
    check_that_processes_tell_whether_they_are_alike(where, tmp_path)


@pytest.mark.usefixtures("interrupts")
@pytest.mark.parametrize("how", FAILURES)
@pytest.mark.parametrize("where", INSTALLATIONS, ids=str)
def test_a_failing_rank_ends_the_run(where: Installation, how: str, tmp_path: Path) -> None:
    check_that_a_failing_rank_ends_the_run(where, how, tmp_path)
