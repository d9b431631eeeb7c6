"""Neurons of equations on several processes: the same bits, also of what they draw."""

from __future__ import annotations

from pathlib import Path

import pytest

from mpi_equations import simulate
from mpi_families import any_family
from mpi_runs import Installation, run_python
from repository import SUPPORT


@pytest.mark.thorough
@any_family
def test_two_ranks_give_the_same_bits(where: Installation, tmp_path: Path) -> None:
    expected = simulate(1)
    done = run_python(where, 2, SUPPORT.joinpath("mpi_equations.py"), "found", folder=tmp_path)
    assert done.status == 0, done.errors
    assert (tmp_path / "found").read_text().splitlines() == [expected] * 2
