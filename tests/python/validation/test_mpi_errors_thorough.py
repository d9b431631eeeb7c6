"""All errors of some ranks, under both families of MPI; as `test_mpi_command_line` and `test_mpi_failures`."""

from __future__ import annotations

from pathlib import Path

import pytest

from mpi_runs import WHEELS, Installation
from test_mpi_command_line import ERRORS, check_that_an_error_is_told_once
from test_mpi_failures import ENDS, check_that_all_ranks_catch_it_and_go_on, check_that_it_ends_the_run_of_all

any_family = pytest.mark.parametrize("where", WHEELS, ids=str)


@any_family
@pytest.mark.parametrize("arguments", ERRORS)
def test_errors_are_told_once(where: Installation, arguments: str, tmp_path: Path) -> None:
    check_that_an_error_is_told_once(where, arguments, tmp_path)


@pytest.mark.usefixtures("interrupts")
@any_family
def test_all_ranks_catch_it_and_go_on(where: Installation, tmp_path: Path) -> None:
    check_that_all_ranks_catch_it_and_go_on(where, 3, ["2", "1", ".h5", ".csv"], tmp_path)


@any_family
@pytest.mark.parametrize("how", ENDS)
def test_it_ends_the_run_of_all(where: Installation, how: str, tmp_path: Path) -> None:
    check_that_it_ends_the_run_of_all(where, how, tmp_path)
