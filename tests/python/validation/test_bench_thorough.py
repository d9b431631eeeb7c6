"""Benchmarks against NEST with the networks that `test_bench` leaves out."""

from __future__ import annotations

from pathlib import Path

import pytest

from nest_pool import requires_nest
from test_bench import check_against_nest, check_balanced_network_against_nest


@requires_nest
def test_constant_drive(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    check_against_nest("dc", tmp_path, capfd)


@requires_nest
def test_static_synapses(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    check_balanced_network_against_nest(False, tmp_path, capfd)
