"""States of several processes: recordings stay where the option `recordings` leaves them. More is in the slow tests."""

from __future__ import annotations

from pathlib import Path

from mpi_states import check_recordings


def test_local_recordings_go_on(tmp_path: Path) -> None:
    check_recordings("local", tmp_path)
