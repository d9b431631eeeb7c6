"""Channels of NMODL files do what they do in NEURON, which compiles the same files."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import ranvier as rv
from repository import DATA, SUPPORT

PROGRAM = SUPPORT / "nmodl_in_neuron.py"
STEP, TIME, CURRENT = 0.025, 100.0, 120.0  # ms, ms, pA


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder in which NEURON has compiled the files."""
    made = tmp_path_factory.mktemp("compiled")
    # Of the other files, NEURON's compiler does not know exprelr.
    for name in ("squid", "slow_potassium"):
        shutil.copy(DATA / f"nmodl/{name}.mod", made)
    compiler = Path(sys.executable).parent / "nrnivmodl"
    done = subprocess.run([compiler, "."], cwd=made, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    return made


def of_neuron(folder: Path, mechanisms: dict[str, dict[str, float]], celsius: float) -> npt.NDArray[np.float64]:
    asked = json.dumps({"mechanisms": mechanisms, "celsius": celsius, "file": str(folder / "potentials.npy")})
    done = subprocess.run([sys.executable, PROGRAM, asked], cwd=folder, capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr
    return np.load(folder / "potentials.npy")  # type: ignore[no-any-return]


def of_ranvier(mechanisms: list[Any], celsius: float) -> npt.NDArray[np.float64]:
    ball = rv.Morphology([rv.Section(length=20.0, diameter=20.0)])
    membrane = [("all", each) for each in mechanisms]
    net = rv.Network(resolution=STEP)
    cells = net.create(rv.Cell(ball, membrane=membrane, celsius=celsius, rates="exact"), 1, I_e=CURRENT)
    recorder = net.record_state(cells, ["V_m"], interval=STEP)
    sim = rv.Simulation(net, threads=1, progress=False)
    sim.run(TIME)
    return sim.state(recorder).values[:, 0, 0]


@pytest.mark.parametrize("celsius", [6.3, 13.0])
@pytest.mark.parametrize("name", ["hh", "squid"])
def test_the_squid_axon(name: str, celsius: float, folder: Path) -> None:
    """NEURON's own, and that of the file: after 7 or 12 spikes they differ by 1e-9 mV."""
    own = of_ranvier([rv.read_nmodl(DATA / "nmodl/squid.mod")()], celsius)
    np.testing.assert_allclose(own, of_neuron(folder, {name: {}}, celsius), rtol=0.0, atol=1e-6)


def test_a_potassium_channel_that_begins_away_from_its_steady_state(folder: Path) -> None:
    """NEURON's gates follow at the end of a step, ours at its begin, so that they are a step apart at first."""
    channels = {name: rv.read_nmodl(DATA / f"nmodl/{name}.mod") for name in ("squid", "slow_potassium")}
    own = of_ranvier([channels["squid"](), channels["slow_potassium"](gbar=0.004, ek=-77.0)], 18.0)
    neuron = of_neuron(folder, {"squid": {}, "slow_potassium": {"gbar_slow_potassium": 0.004, "ek": -77.0}}, 18.0)
    assert ((own[1:] >= 0.0) & (own[:-1] < 0.0)).sum() >= 10
    np.testing.assert_allclose(own, neuron, rtol=0.0, atol=0.05)
