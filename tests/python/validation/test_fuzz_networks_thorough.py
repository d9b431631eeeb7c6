"""Six hundred random networks, and a hundred more on processes; as `test_fuzz_networks`."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz_networks import draw_run, outcome, reference
from fuzz_networks_on_ranks import METHODS, check_on_ranks
from mpi_runs import INSTALLATIONS, Installation

NETWORKS = 600
WAYS = 4
OF_INSTALLATION = 30


def test_same_in_many_ways() -> None:
    firing = 0
    for seed in range(1000, 1000 + NETWORKS):
        expected = outcome(reference(seed))
        firing += expected.spikes > 0
        for number in range(WAYS):
            run = draw_run(seed, number)
            assert outcome(run) == expected, run
    assert firing > 0.8 * NETWORKS


@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("installation", INSTALLATIONS, ids=str)
def test_same_on_ranks(installation: Installation, ranks: int, tmp_path: Path) -> None:
    first = 10_000 * ranks + 1000 * INSTALLATIONS.index(installation)
    check_on_ranks(installation, ranks, range(first, first + OF_INSTALLATION), METHODS, tmp_path)
