"""As `test_mpi_recordings`, under the other family of MPI."""

from __future__ import annotations

from pathlib import Path

import pytest

import test_mpi_recordings as quick
from mpi_recordings import SUFFIXES
from mpi_runs import WHEELS
from test_mpi_recordings import expected, parts

__all__ = ["expected", "folder", "parts", "suffix"]

globals().update({name: value for name, value in vars(quick).items() if name.startswith("test_")})


@pytest.fixture(scope="module", params=SUFFIXES)
def suffix(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="module")
def folder(suffix: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return quick.recorded_under(WHEELS[0], suffix, tmp_path_factory.mktemp("recordings"))
