"""The same spikes with combinations of `test_mpi_digests`, all of them under each family of MPI."""

from __future__ import annotations

from pathlib import Path

import pytest

from mpi_runs import WHEELS, Installation
from test_mpi_digests import FACTORS, check, covering, run_all


@pytest.mark.parametrize("ranks", FACTORS["ranks"])
@pytest.mark.parametrize("where", WHEELS, ids=str)
def test_same_spikes(where: Installation, ranks: int, tmp_path: Path) -> None:
    found = run_all(where, ranks, tmp_path, covering(WHEELS.index(where)))
    assert len(found) >= 2 * len(FACTORS["exchange"])
    check(found)
