"""A kill at any moment leaves a complete state, from which the run goes on bit for bit. More are in the slow tests."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from killed_saves import check_what_is_left, save_until_killed, save_until_ranks_are_killed
from mpi_runs import WHEELS
from thorough_cases import only


@pytest.mark.parametrize("seed", only([1], range(3)))
def test_what_a_kill_leaves(seed: int, tmp_path: Path) -> None:
    path = tmp_path / "state.h5"
    save_until_killed(path, random.Random(seed))
    check_what_is_left(path)


@pytest.mark.thorough
def test_what_is_left_when_one_of_several_processes_is_killed(tmp_path: Path) -> None:
    path = tmp_path / "states" / "state.h5"
    path.parent.mkdir()
    save_until_ranks_are_killed(WHEELS[1], 2, [1], path, random.Random(1))
    check_what_is_left(path)
