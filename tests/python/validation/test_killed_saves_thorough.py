"""Kills at fifty random moments of runs that save their state, and of runs on several processes."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from killed_saves import check_what_is_left, save_until_killed, save_until_ranks_are_killed
from mpi_runs import INSTALLATIONS, Installation


def test_what_kills_leave(tmp_path: Path) -> None:
    within = 0
    for seed in range(50):
        folder = tmp_path / str(seed)
        folder.mkdir()
        path = folder / "state.h5"
        save_until_killed(path, random.Random(1000 + seed))
        within += check_what_is_left(path)
    # Otherwise no kill has met a save.
    assert within > 0


@pytest.mark.parametrize("installation", INSTALLATIONS, ids=str)
def test_what_is_left_when_some_of_several_processes_are_killed(installation: Installation, tmp_path: Path) -> None:
    within = 0
    for seed in range(24):
        chance = random.Random(seed)
        ranks = 2 + seed % 3
        victims = list(range(ranks)) if seed % 2 else [chance.randrange(ranks)]
        path = tmp_path / str(seed) / "states" / "state.h5"
        path.parent.mkdir(parents=True)
        save_until_ranks_are_killed(installation, ranks, victims, path, chance)
        within += check_what_is_left(path)
    assert within > 0
