"""Trains of spikes follow the laws that their models state: as `test_trains.py`, with more values."""

from __future__ import annotations

import pytest

from test_trains import (
    RENEWAL,
    SINES,
    check_begin,
    check_intervals,
    check_regularity,
    check_sines,
    check_time_rescaling,
)


@pytest.mark.parametrize(("rate", "shape", "dead_time"), RENEWAL)
def test_intervals_of_gamma_processes(rate: float, shape: float, dead_time: float) -> None:
    check_intervals(rate, shape, dead_time)


@pytest.mark.parametrize(("rate", "shape", "dead_time"), RENEWAL)
def test_gamma_processes_begin_in_equilibrium(rate: float, shape: float, dead_time: float) -> None:
    check_begin(rate, shape, dead_time)


@pytest.mark.parametrize(("shape", "dead_time"), [(1.0, 0.0), (4.0, 0.0), (0.5, 0.0), (1.0, 5.0)])
def test_regularity(shape: float, dead_time: float) -> None:
    check_regularity(shape, dead_time)


@pytest.mark.parametrize("values", SINES)
@pytest.mark.parametrize("model", ["sinusoidal_poisson_generator", "sinusoidal_gamma_generator"])
def test_sines(model: str, values: dict[str, float]) -> None:
    check_sines(model, values)


@pytest.mark.parametrize("dead_time", [0.0, 2.0])
@pytest.mark.parametrize("shape", [0.5, 1.0, 6.0])
def test_time_rescaling(shape: float, dead_time: float) -> None:
    check_time_rescaling(shape, dead_time)
