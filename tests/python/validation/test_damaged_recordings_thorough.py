"""Thousands of damaged recordings and hundreds of killed writers; as `test_damaged_recordings`."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from damaged_files import check_reading, mutated, record_all
from killed_writers import truth_after, write_until_killed

SUFFIXES = [".h5", ".csv"]
MUTATIONS = 5000
KILLS = 300


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_damaged(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"damaged{suffix}"
    outcomes = {"whole": 0, "shorter": 0, "part": 0, "refused": 0}
    truths = [(truth, truth.path.read_bytes()) for truth in record_all(tmp_path, suffix)]
    for seed in range(MUTATIONS):
        chance = random.Random(1000 + seed)
        truth, whole = chance.choice(truths)
        damaged = mutated(whole, chance)
        path.write_bytes(damaged)
        outcome = check_reading(path, truth)
        assert outcome != "shorter"
        outcomes[outcome] += 1
    assert outcomes["refused"] > MUTATIONS // 10


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_killed(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"spikes{suffix}"
    chance = random.Random(2)
    outcomes = {"whole": 0, "shorter": 0, "part": 0, "refused": 0}
    for _ in range(KILLS):
        pieces = write_until_killed(path, chance)
        outcomes[check_reading(path, truth_after(path, pieces + 1))] += 1
    # Before the first piece is whole there is nothing to read; all are killed later.
    # Whether one of the kills meets a piece that is written in part is chance; the mutations above cut files anywhere.
    assert outcomes["refused"] == 0
    assert sum(outcomes.values()) == KILLS
