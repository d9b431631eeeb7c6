"""States of several processes: each writes its part, and recordings stay where the option `recordings` leaves them."""

from __future__ import annotations

from pathlib import Path

import pytest

from mpi_runs import WHEELS, Installation
from mpi_states import carry_out, check_other_ranks, check_recordings, memory_of_loading
from ranvier.models import SYNAPSE_MODELS

any_family = pytest.mark.parametrize("where", WHEELS, ids=str)


@any_family
@pytest.mark.parametrize("recordings", ["everywhere", "root"])
def test_recordings_go_on(where: Installation, recordings: str, tmp_path: Path) -> None:
    check_recordings(where, recordings, tmp_path)


@any_family
@pytest.mark.parametrize(
    ("ranks", "placement"), [((3, 2), "consecutive"), ((2, 4), "shuffle"), ((4, 3), "round_robin")]
)
def test_other_processes_get_what_is_theirs(
    where: Installation, ranks: tuple[int, int], placement: str, tmp_path: Path
) -> None:
    check_other_ranks(where, tmp_path, tuple(SYNAPSE_MODELS), ranks, placement)


@any_family
@pytest.mark.parametrize(("ranks", "placement"), [((2, 2), "round_robin"), ((2, 3), "shuffle")])
def test_sources_that_were_forgotten(
    where: Installation, ranks: tuple[int, int], placement: str, tmp_path: Path
) -> None:
    check_other_ranks(where, tmp_path, tuple(SYNAPSE_MODELS), ranks, placement, forgets=True)


def test_memory_of_loading_does_not_grow_with_the_network(tmp_path: Path) -> None:
    """As many synapses on each process, all of which come from another one: 2 and 4 processes."""
    two, four = (memory_of_loading(WHEELS[0], tmp_path, ranks) for ranks in (2, 4))
    assert four < 1.1 * two


@any_family
def test_files_of_ranks_need_the_same_ranks(where: Installation, tmp_path: Path) -> None:
    carry_out(where, tmp_path, 2, "save", "local")
    for ranks, recordings in ((3, "local"), (1, "everywhere")):
        told = carry_out(where, tmp_path, ranks, "load", recordings)
        assert all("StateError: files of recorders" in str(each["error"]) for each in told)
    # Nothing has happened to them.
    assert "error" not in carry_out(where, tmp_path, 2, "load", "local")[0]


@any_family
def test_a_missing_or_changed_part_is_refused(where: Installation, tmp_path: Path) -> None:
    carry_out(where, tmp_path, 2, "save", "root")
    (part,) = tmp_path.glob("state.*.rank1.h5")
    data = part.read_bytes()
    for harm in (None, data[:-1], data + b"x", data[:1000]):
        if harm is None:
            part.unlink()
        else:
            part.write_bytes(harm)
        for told in carry_out(where, tmp_path, 2, "load", "root"):
            assert str(told["error"]).startswith(("FileError", "RemoteError")), told
            assert part.name in str(told["error"])
