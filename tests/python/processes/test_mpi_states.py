"""States of several processes: each gets what is its own, also on other processes. More is in `make validate`."""

from __future__ import annotations

from pathlib import Path

import pytest

from mpi_families import any_family
from mpi_runs import Installation
from mpi_states import check_other_ranks, check_recordings
from thorough_cases import only


@pytest.mark.thorough
@any_family
def test_local_recordings_go_on(where: Installation, tmp_path: Path) -> None:
    check_recordings(where, "local", tmp_path)


@pytest.mark.parametrize("models", only([["stdp_dopamine"]], [["stdp_dopamine"], ["stdp_triplet", "stdp_dopamine"]]))
@any_family
def test_other_processes_get_what_is_theirs(where: Installation, models: list[str], tmp_path: Path) -> None:
    check_other_ranks(where, tmp_path, models, (2, 3), "shuffle")


@pytest.mark.thorough
@any_family
def test_sources_that_were_forgotten(where: Installation, tmp_path: Path) -> None:
    check_other_ranks(where, tmp_path, ("stdp", "tsodyks2"), (2, 2), "consecutive", forgets=True)
