"""Models that benchmarks run in Brian2 are those of Ranvier: the same potentials and spikes, with the same input.

RANVIER_BRIAN2_PYTHON is the Python that Brian2 is installed for; without it, what needs Brian2 is skipped.
"""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from ranvier_benchmarks import models
from ranvier_benchmarks._brian2 import python_of_brian2
from ranvier_benchmarks._brian2_equations import BRIAN2_MODELS, as_brian2_gets_it
from ranvier_benchmarks._model_loads import current_for, described_model
from repository import SUPPORT
from test_bench_models import NEURONS, results_of

SCRIPT = Path(models.__file__).with_name("_brian2_neurons.py")
PYTHON = os.environ.get("RANVIER_BRIAN2_PYTHON")
requires_brian2 = pytest.mark.skipif(PYTHON is None, reason="RANVIER_BRIAN2_PYTHON is not set")

TIME, STEP, DELAY = 120.0, 0.1, 1.0  # ms
# Some defaults are 0, or so that different things are equal.
_KERNELS = {"tau_stc_1": 30.0, "q_stc_1": 40.0, "tau_sfa_1": 10.0, "q_sfa_1": 10.0}
OTHER_VALUES: dict[str, dict[str, float]] = {
    "amat2_psc_exp": {"beta": 0.2, "alpha_2": 3.0},
    "iaf_cond_beta": {"tau_rise_ex": 0.3, "tau_decay_ex": 1.5, "tau_rise_in": 2.5, "tau_decay_in": 0.7},
    "pp_psc_delta": {"tau_sfa_1": 20.0, "q_sfa_1": 1.5},
    **{name: _KERNELS for name in BRIAN2_MODELS if name.startswith("gif_")},
}
WEIGHTS = {"mV": 3.0, "pA": 200.0, "nS": 5.0}
# Below the threshold, even of a neuron that fires at random at all potentials.
LOW = {"izhikevich": 0.5, "pp_psc_delta": -1000.0, "hh_cond_exp_traub": -500.0}
AT_RANDOM = [name for name, model in BRIAN2_MODELS.items() if "rand()" in model.threshold]
# Exponential Euler of Ranvier takes a conductance or current together with what it grows by, that of Brian2 each
# variable by itself; for iaf_cond_nmda Ranvier has one method, which Brian2 does not have.
OTHERWISE = ("glif_cond", "hh_psc_alpha", "hh_psc_alpha_clopath", "iaf_cond_alpha", "iaf_cond_beta", "iaf_cond_nmda")


def scene(name: str) -> dict[str, Any]:
    """Return the currents of neurons of a model, and the spikes that the first of them gets, at which receptor."""
    model = as_brian2_gets_it(name)
    for parameter, value in OTHER_VALUES.get(name, {}).items():
        model["parameters"][parameter][0] = value
    current = current_for(name, 20.0, STEP)
    currents = [LOW.get(name, -100.0)]
    if current is not None:
        currents += 300 * [current] if name in AT_RANDOM else [factor * current for factor in (1.1, 1.3, 1.5)]
    weight = WEIGHTS[model["weight_unit"]]
    spikes = {
        receptor: {
            "times": [20.0 + 7.0 * k, 20.5 + 7.0 * k, 60.0, 61.0, 80.0 + k],
            "weight": -weight if receptor == "inhibitory" else weight,
        }
        for k, receptor in enumerate(model["receptors"])
    }
    return {"model": model, "currents": currents, "input": spikes, "delay": DELAY}


def in_ranvier(given: dict[str, Any], resolution: float) -> tuple[Any, Any, Any]:
    """Return the potential of the first neuron after each step, and the senders and times of spikes.

    Models are integrated by the method of Brian2, where users can choose it.
    """
    name, method = given["model"]["name"], given["model"]["method"]
    described = described_model(name)
    values: dict[str, Any] = dict(OTHER_VALUES.get(name, {}))
    if "I_e" in given["model"]["parameters"]:
        values["I_e"] = np.array(given["currents"])
    net = rv.Network(resolution=resolution, seed=3)
    chooses = method != "exact" and name not in ("izhikevich", *OTHERWISE)
    cells = net.create(getattr(rv, name)(method=method) if chooses else name, len(given["currents"]), **values)
    for receptor, spikes in given["input"].items():
        source = net.create_spike_generators([spikes["times"]])
        named = not described.sign_chooses_receptor and len(described.receptors) > 1
        net.connect(
            source,
            cells[:1],
            rv.AllToAll(),
            weight=spikes["weight"],
            delay=DELAY,
            receptor=receptor if named else None,
        )
    state, fired = net.record_state(cells[:1], ["V_m"]), net.record_spikes(cells)
    simulation = rv.Simulation(net, progress=False)
    simulation.run(TIME)
    data = simulation.spikes(fired)
    first = int(np.asarray(cells.ids)[0])
    return simulation.state(state)["V_m"].ravel(), np.asarray(data.ids) - first, np.asarray(data.times)


def in_brian2(folder: Path, scenes: list[dict[str, Any]], resolution: float) -> dict[str, Any]:
    """Run all scenes in one process."""
    # Ranvier names a step after its end, Brian2 after its beginning.
    shifted = [
        {
            **each,
            "input": {
                receptor: {**spikes, "times": [time - resolution for time in spikes["times"]]}
                for receptor, spikes in each["input"].items()
            },
        }
        for each in scenes
    ]
    path, results = folder / f"scenes_{resolution}.json", folder / f"results_{resolution}.json"
    path.write_text(json.dumps({"resolution": resolution, "time": TIME, "scenes": shifted}))
    python = python_of_brian2(Path(PYTHON or sys.executable))
    command = [*python, str(SUPPORT / "brian2_traces.py"), str(SCRIPT), str(path), str(results)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-2000:]
    whole: dict[str, Any] = json.loads(results.read_text())
    for each in whole.values():
        each["times"] = [time + resolution for time in each["times"]]
    return whole


@pytest.fixture(scope="module")
def scenes() -> dict[str, dict[str, Any]]:
    return {name: scene(name) for name in BRIAN2_MODELS}


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory, scenes: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return in_brian2(tmp_path_factory.mktemp("all"), list(scenes.values()), STEP)


@pytest.fixture(scope="module")
def halved(tmp_path_factory: pytest.TempPathFactory, scenes: dict[str, dict[str, Any]]) -> dict[str, Any]:
    return in_brian2(tmp_path_factory.mktemp("halved"), [scenes[name] for name in OTHERWISE], STEP / 2)


def by_sender(senders: Any, times: Any) -> list[tuple[int, float]]:
    return sorted(zip((int(each) for each in senders), np.round(times, 6).tolist(), strict=True))


@requires_brian2
@pytest.mark.thorough
@pytest.mark.parametrize("name", [name for name in BRIAN2_MODELS if name not in OTHERWISE])
def test_potentials_and_spikes(name: str, scenes: dict[str, dict[str, Any]], theirs: dict[str, Any]) -> None:
    """With the same method, both programs calculate the same."""
    potentials, senders, times = in_ranvier(scenes[name], STEP)
    other = theirs[name]
    assert np.ptp(potentials) > 1.0
    assert np.abs(potentials - other["V_m"]).max() < 1e-9
    if name in AT_RANDOM:
        assert len(times) > 300
        assert abs(len(times) - len(other["times"])) < 5.0 * math.sqrt(len(times) + len(other["times"]))
        return
    ours, other_spikes = by_sender(senders, times), by_sender(other["senders"], other["times"])
    if name.startswith("hh_"):
        # A spike is the peak in Ranvier, and the crossing of the threshold in Brian2.
        assert [sender for sender, _ in ours] == [sender for sender, _ in other_spikes]
        late = [time - before for (_, time), (_, before) in zip(ours, other_spikes, strict=True)]
        assert 0.0 <= min(late) <= max(late) < 0.6
    else:
        assert ours == other_spikes
    # Those of the Allen Institute have no constant current.
    assert len(times) >= 3 or name.startswith("glif_")


@requires_brian2
@pytest.mark.thorough
@pytest.mark.parametrize("name", OTHERWISE)
def test_potentials_with_another_method(
    name: str, scenes: dict[str, dict[str, Any]], theirs: dict[str, Any], halved: dict[str, Any]
) -> None:
    """Brian2's error is proportional to the step; without it, known from two steps, potentials are Ranvier's."""
    potentials, senders, times = in_ranvier(scenes[name], STEP)
    whole = np.array(theirs[name]["V_m"])
    error = np.abs(potentials - whole).max()
    assert np.abs(2.0 * np.array(halved[name]["V_m"])[1::2] - whole - potentials).max() < 0.08 * error
    assert error < 0.25 * np.ptp(potentials)
    size = len(scenes[name]["currents"])
    ours, other = (
        np.bincount(np.array(each, dtype=int), minlength=size) for each in (senders, halved[name]["senders"])
    )
    assert np.abs(ours - other).max() <= 1
    assert len(times) >= 3 or name == "glif_cond"


def test_which_models_brian2_has() -> None:
    assert sorted(set(NEURONS) - set(BRIAN2_MODELS)) == [
        "iaf_wang_2002",
        "ignore_and_fire",
        "interval_fire",
    ]


@requires_brian2
@pytest.mark.thorough
def test_against_brian2(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """One model, since each of its programs takes a while to compile; in the second turn they are there already."""
    (result,) = results_of(
        tmp_path / "results.json",
        "--models=iaf_psc_exp",
        "--against=brian2",
        f"--brian2-python={PYTHON}",
        "--repetitions=2",
        "--set",
        *["neurons=400", "time=200", "presim=50", "indegree=10", "threads=1", "rate=40"],
    )
    assert "exact" in capfd.readouterr().out
    theirs = result["brian2"]
    assert theirs["method"] == "exact"
    assert len(theirs["runs"]) == 2
    # Both are drawn: 5 percent of the current is more than that of the rate.
    assert theirs["spikes"] == pytest.approx(result["spikes"], rel=0.1)
    assert theirs["ns_per_neuron_and_step"] > 0.0
