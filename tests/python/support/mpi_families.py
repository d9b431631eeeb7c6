"""Both families of MPI as parameters of a test."""

from __future__ import annotations

import pytest

from mpi_runs import WHEELS
from ranvier.processes.mpi_library import MPICH
from thorough_cases import quick_if

__all__ = ["any_family"]

any_family = pytest.mark.parametrize("where", quick_if(lambda where: where.family is MPICH, WHEELS), ids=str)
"""The wheel of MPICH, which starts fastest, in `make test`; that of Open MPI, too, in `make validate`."""
