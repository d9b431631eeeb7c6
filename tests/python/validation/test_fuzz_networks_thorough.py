"""Six hundred random networks, and several hundred more on processes; as `test_fuzz_networks`."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz_networks import FIELDS, draw_asynchronous, draw_run, is_asynchronous, outcome, reference
from fuzz_networks_on_ranks import METHODS, NOTIFICATIONS, check_between_ranks, check_on_ranks
from mpi_runs import INSTALLATIONS, Installation

NETWORKS = 600
WAYS = 4
ASYNCHRONOUS = 200
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


def test_same_asynchronously() -> None:
    firing, asynchronous = 0, 0
    for seed in range(7000, 7000 + ASYNCHRONOUS):
        expected = outcome(reference(seed))
        firing += expected.spikes > 0
        for number in range(3):
            run = draw_run(seed, number, saves=number == 2, draw_given=draw_asynchronous)
            assert outcome(run) == expected, run
            asynchronous += is_asynchronous(run)
    assert firing > 0.8 * ASYNCHRONOUS
    assert asynchronous > ASYNCHRONOUS


def test_same_from_saved_states() -> None:
    firing = 0
    for seed in range(5000, 5000 + NETWORKS):
        expected = outcome(reference(seed))
        firing += expected.spikes > 0
        run = draw_run(seed, 0, saves=True)
        assert outcome(run) == expected, run
    assert firing > 0.8 * NETWORKS


def test_same_with_fields() -> None:
    firing = 0
    for seed in range(FIELDS + 1000, FIELDS + 1000 + NETWORKS // 4):
        expected = outcome(reference(seed))
        firing += expected.spikes > 0
        for number, saves in ((0, False), (1, True), (2, True)):
            run = draw_run(seed, number, saves=saves, draw_given=draw_asynchronous if number == 2 else None)
            assert outcome(run) == expected, run
    assert firing > 0.2 * NETWORKS


@pytest.mark.parametrize("saves", [False, True])
@pytest.mark.parametrize("ranks", [2, 3])
def test_same_with_fields_on_ranks(ranks: int, saves: bool, tmp_path: Path) -> None:
    first = FIELDS + 10_000 * ranks + 1000 * saves
    seeds = range(first, first + OF_INSTALLATION)
    check_on_ranks(INSTALLATIONS[0], ranks, seeds, METHODS + NOTIFICATIONS, tmp_path, saves=saves)


@pytest.mark.parametrize("ranks", [(1, 2), (2, 3), (3, 1)], ids=str)
def test_same_with_fields_on_other_ranks(ranks: tuple[int, int], tmp_path: Path) -> None:
    first = FIELDS + 50_000 + 1000 * ranks[0]
    seeds = range(first, first + OF_INSTALLATION)
    check_between_ranks(INSTALLATIONS[0], ranks, seeds, METHODS, tmp_path)


@pytest.mark.parametrize("ranks", [(1, 2), (2, 3), (3, 1), (4, 2)], ids=str)
@pytest.mark.parametrize("installation", INSTALLATIONS, ids=str)
def test_same_on_other_ranks(installation: Installation, ranks: tuple[int, int], tmp_path: Path) -> None:
    first = 100_000 + 1000 * ranks[0] + 100 * INSTALLATIONS.index(installation)
    check_between_ranks(installation, ranks, range(first, first + OF_INSTALLATION), METHODS, tmp_path)


@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("installation", INSTALLATIONS, ids=str)
def test_same_on_ranks(installation: Installation, ranks: int, tmp_path: Path) -> None:
    first = 10_000 * ranks + 1000 * INSTALLATIONS.index(installation)
    check_on_ranks(installation, ranks, range(first, first + OF_INSTALLATION), METHODS, tmp_path)


@pytest.mark.parametrize("saves", [False, True])
@pytest.mark.parametrize("ranks", [2, 3])
@pytest.mark.parametrize("installation", INSTALLATIONS, ids=str)
def test_same_without_epochs_on_ranks(installation: Installation, ranks: int, saves: bool, tmp_path: Path) -> None:
    first = 200_000 + 10_000 * ranks + 1000 * INSTALLATIONS.index(installation) + 500 * saves
    check_on_ranks(
        installation, ranks, range(first, first + OF_INSTALLATION // 2), NOTIFICATIONS, tmp_path, saves=saves
    )
