"""Kills at fifty random moments of runs that save their state; as `test_killed_saves`."""

from __future__ import annotations

import random
from pathlib import Path

from killed_saves import check_what_is_left, save_until_killed


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
