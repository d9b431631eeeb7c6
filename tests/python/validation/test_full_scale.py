"""The microcircuit at full scale has the published rates and, with constant drive, those of a run in NEST.

One run's mean rate of each population is compared with the runs of Ranvier with several seeds: it must lie within the
interval in which a further run of Ranvier lies with the probability 1 - `SIGNIFICANCE`, for all populations together
(Student's t for one further value, corrected after Bonferroni). Rates of runs are close to normal: they are means over
thousands of neurons. The published run was longer than ours and so varies less: the test is on the safe side.

The published rates are those with Poisson drive. A constant drive of the same mean has no fluctuations of its own, and
some rates are a few percent lower or higher with it.
"""

import functools
import importlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from scipy import stats

import ranvier as rv
from nest_pool import requires_nest

pytestmark = pytest.mark.timeout(3600)

SIGNIFICANCE = 0.01
SEEDS = range(1, 8)
PRESIM, TIME = 500.0, 2000.0  # ms
MEMORY_OF_NEST = 16e9  # bytes
PUBLISHED = rv.networks.microcircuit().published_rates

Drive = Literal["dc", "poisson"]


def rates_of(drive: Drive, seed: int) -> list[float]:
    """Return the mean rate of each population in one run."""
    model = rv.networks.microcircuit(drive=drive, seed=seed)
    simulation = rv.Simulation(model.net)
    simulation.run(PRESIM + TIME)
    return list(simulation.spikes(model.spikes).between(PRESIM).mean_rates().values())


@functools.cache
def our_runs(drive: Drive) -> tuple[tuple[float, ...], ...]:
    """Return the rates of the populations in all runs."""
    return tuple(tuple(rates_of(drive, seed)) for seed in SEEDS)


def outside(rates: list[float], drive: Drive) -> dict[str, str]:
    """Return the populations whose rate no further run of ours would have, with their interval."""
    runs = np.array(our_runs(drive))
    number = len(runs)
    quantile = stats.t.ppf(1.0 - 0.5 * SIGNIFICANCE / len(PUBLISHED), number - 1)
    reach = quantile * runs.std(axis=0, ddof=1) * np.sqrt(1.0 + 1.0 / number)
    found = {}
    for name, rate, mean, distance in zip(PUBLISHED, rates, runs.mean(axis=0), reach, strict=True):
        print(f"{name}: {rate:.3f}, ours {mean:.3f} +- {distance:.3f} spikes/s")
        if abs(rate - mean) > distance:
            found[name] = f"{rate:.3f} is not in {mean:.3f} +- {distance:.3f}"
    return found


def test_published_rates() -> None:
    assert outside(list(PUBLISHED.values()), "poisson") == {}


def test_rates_with_constant_drive_are_near_the_published_ones() -> None:
    rates = np.array(our_runs("dc")).mean(axis=0)
    np.testing.assert_allclose(rates, list(PUBLISHED.values()), rtol=0.1)


@pytest.mark.parametrize("drive", ["poisson", "dc"])
def test_that_weaker_inhibition_is_found(drive: Drive, monkeypatch: pytest.MonkeyPatch) -> None:
    our_runs(drive)  # before anything is wrong
    monkeypatch.setattr(importlib.import_module("ranvier.networks._potjans_diesmann"), "_INHIBITION", -4.0 * 0.95)
    assert outside(rates_of(drive, 1), drive) != {}


def test_that_constant_drive_is_told_from_poisson_drive() -> None:
    assert outside(rates_of("dc", 1), "poisson") != {}


@requires_nest
@pytest.mark.skipif(
    os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_AVPHYS_PAGES") < MEMORY_OF_NEST,
    reason="NEST needs 16 GB of free memory for the circuit at full scale",
)
def test_rates_of_nest_with_constant_drive(tmp_path: Path) -> None:
    report = tmp_path / "report.json"
    times = ["--set", f"presim={PRESIM}", f"time={TIME}"]
    command = [
        sys.executable,
        "-m",
        "ranvier.command_line",
        "bench",
        "nest_microcircuit",
        *times,
        "--json",
        str(report),
    ]
    subprocess.run(command, check=True)
    rates = json.loads(report.read_text())["mean_rate_hz"]
    assert list(rates) == list(PUBLISHED)
    assert outside(list(rates.values()), "dc") == {}
