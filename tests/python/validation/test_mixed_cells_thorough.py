"""Cells of several shapes beside point neurons, with all ways to exchange spikes, and killed while they save."""

from __future__ import annotations

import itertools
import json
import random
from pathlib import Path
from typing import Any

import pytest

from killed_saves import check_what_is_left, save_until_killed, save_until_ranks_are_killed
from mixed_cells import described, result
from mpi_runs import INSTALLATIONS, Installation, run_python
from ranvier import _core, mpi
from repository import SUPPORT

PROGRAM = SUPPORT / "mixed_cells.py"


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("installation", INSTALLATIONS, ids=str)
def test_same_bits_on_processes(installation: Installation, ranks: int, tmp_path: Path) -> None:
    asked: list[tuple[bool, dict[str, Any]]] = [
        (threads == 2, {"threads": threads, "exchange": exchange, "instruction_set": instruction_set})
        for (threads, exchange), instruction_set in zip(
            itertools.product([1, 2, 3], sorted(mpi.exchanges())),
            itertools.cycle([*reversed(_core.instruction_sets()), "auto"]),
            strict=False,
        )
    ]
    (tmp_path / "asked.json").write_text(json.dumps(asked))
    done = run_python(installation, ranks, PROGRAM, "asked.json", "found.json", folder=tmp_path, timeout=1200)
    assert done.status == 0, done.errors
    found = json.loads((tmp_path / "found.json").read_text())
    expected = result(threads=1, instruction_set="baseline")
    assert [values for values, digest in zip(asked, found, strict=True) if digest != expected] == []


def test_what_kills_leave(tmp_path: Path) -> None:
    within = 0
    for seed in range(30):
        path = tmp_path / str(seed) / "state.h5"
        path.parent.mkdir()
        save_until_killed(path, random.Random(2000 + seed), described)
        within += check_what_is_left(path, described)
    # Otherwise no kill has met a save.
    assert within > 0


@pytest.mark.parametrize("installation", INSTALLATIONS, ids=str)
def test_what_is_left_when_some_of_several_processes_are_killed(installation: Installation, tmp_path: Path) -> None:
    within = 0
    for seed in range(12):
        chance = random.Random(seed)
        ranks = 2 + seed % 2
        victims = list(range(ranks)) if seed % 2 else [chance.randrange(ranks)]
        path = tmp_path / str(seed) / "states" / "state.h5"
        path.parent.mkdir(parents=True)
        save_until_ranks_are_killed(installation, ranks, victims, path, chance, described)
        within += check_what_is_left(path, described)
    assert within > 0
