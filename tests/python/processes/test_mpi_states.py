"""States of several processes: each gets what is its own, also on other processes. More is in `make validate`."""

from __future__ import annotations

from pathlib import Path

import pytest

from mpi_states import check_other_ranks, check_recordings


@pytest.mark.thorough
def test_local_recordings_go_on(tmp_path: Path) -> None:
    check_recordings("local", tmp_path)


def test_other_processes_get_what_is_theirs(tmp_path: Path) -> None:
    check_other_ranks(tmp_path, ("stdp_dopamine",), (2, 3), "shuffle")


@pytest.mark.thorough
def test_sources_that_were_forgotten(tmp_path: Path) -> None:
    check_other_ranks(tmp_path, ("stdp", "tsodyks2"), (2, 2), "consecutive", forgets=True)
