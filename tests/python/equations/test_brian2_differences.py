"""The rows of the tables of differences from Brian2 (`coming_from.md`, `equations.md`): what each simulator does.

The results of Brian2 2.9 are stored. With RANVIER_BRIAN2_PYTHON, the Python that Brian2 is installed for, they are
calculated again.
"""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from repository import SUPPORT

SCRIPT = SUPPORT.joinpath("brian2_differences.py")
PYTHON = os.environ.get("RANVIER_BRIAN2_PYTHON")
PAIRS: list[tuple[list[float], list[float], float]] = [
    ([10.0, 30.0], [10.4, 29.0, 31.5], 0.4),
    ([10.0, 20.0, 30.0], [9.0, 24.2, 33.0], 1.5),
]
BRIAN2: dict[str, Any] = {
    "held": {"0.0": 0.3, "0.1": 0.3, "1.0": 1.2, "2.0": 2.2},
    "not held": {"0.0": 0.3, "0.1": 0.3, "1.0": 1.0, "2.0": 2.0},
    "rounded": {"0.12": 0.1, "0.15": 0.1, "0.18": 0.1, "0.2": 0.2},
    "generator": {"0.1": 1.2, "0.5": 1.6},
    "timed": [0.0, 0.0, 0.0, 0.1, 0.2, 0.4, 0.6, 0.8, 1.0, 1.2],
    "learned": [0.5062839961005947, 0.503704838901422],
    "noise": 1.288370250676039,
}
JUMPS = rv.neuron("v : 1\ng : 1", threshold="v > 0.5", reset="v = 0", receptors={"jump": "v += w", "other": "g += w"})


@pytest.mark.skipif(PYTHON is None, reason="RANVIER_BRIAN2_PYTHON is not set")
def test_brian2_does_so() -> None:
    command = [str(PYTHON), str(SCRIPT), json.dumps(PAIRS)]
    run = subprocess.run(command, capture_output=True, text=True, check=False)
    assert run.returncode == 0, run.stderr[-2000:]
    results: dict[str, Any] = json.loads(run.stdout)
    assert set(results) == set(BRIAN2)
    for name in ("held", "not held", "rounded"):
        assert set(results[name]) == set(BRIAN2[name])
        for period, intervals in results[name].items():
            assert intervals == pytest.approx(3 * [BRIAN2[name][period]]), (name, period)
    for name in ("generator", "timed", "learned"):
        assert results[name] == pytest.approx(BRIAN2[name], rel=1e-9, abs=1e-12), name
    assert results["noise"] == pytest.approx(BRIAN2["noise"], abs=0.03)


def fired(model: Any, time: float = 10.0) -> Any:
    net = rv.Network(resolution=0.1)
    spikes = net.record_spikes(net.create(model, 1))
    simulation = rv.Simulation(net, threads=1)
    simulation.run(time)
    return simulation.spikes(spikes).times


def ramp(refractory: str, flag: str = "", threshold: float = 0.25) -> Any:
    return rv.neuron(
        f"dv/dt = rate : 1 {flag}",
        threshold=f"v > {threshold}",
        reset="v = 0",
        refractory=refractory,
        parameters={"rate": "1/ms"},
    )


@pytest.mark.parametrize("period", ["0.1", "1.0", "2.0"])
def test_refractory_periods_without_the_step_of_the_spike_are_those_of_brian2(period: str) -> None:
    for name, flag in (("held", ""), ("held", "(unless refractory)"), ("not held", "(always)")):
        intervals = np.diff(fired(ramp(f"{period}*ms - dt", flag)))
        assert intervals[:3] == pytest.approx(3 * [BRIAN2[name][period]]), (name, flag)
        longer = np.diff(fired(ramp(f"{period} ms", flag)))
        expected = BRIAN2[name][period] + (0.1 if name == "held" or float(period) > 0.3 else 0.0)
        assert longer[:3] == pytest.approx(3 * [expected]), (name, flag)


def test_periods_are_rounded_to_the_nearest_step() -> None:
    for period, steps in (("0.12", 1), ("0.15", 2), ("0.18", 2), ("0.2", 2)):
        intervals = np.diff(fired(ramp(f"{period} ms", threshold=0.05)))
        assert intervals[:3] == pytest.approx(3 * [0.1 * (steps + 1)]), period


@pytest.mark.parametrize("delay", ["0.1", "0.5"])
def test_spikes_of_a_generator_act_a_step_earlier(delay: str) -> None:
    """One step is added to the time, which is the step's end. The target fires in the step of the arrival.

    In Brian2 it fires in the next step, whose beginning is the end of ours.
    """
    net = rv.Network(resolution=0.1)
    source = net.create_spike_generators([[1.0 + 0.1]])
    targets = net.create(JUMPS, 1)
    net.connect(source, targets, rv.OneToOne(), weight=1.0, delay=float(delay), receptor="jump")
    spikes = net.record_spikes(targets)
    simulation = rv.Simulation(net, threads=1)
    simulation.run(3.0)
    assert simulation.spikes(spikes).times == pytest.approx([BRIAN2["generator"][delay]])


def test_a_current_with_a_course_flows_one_step_later() -> None:
    model = rv.neuron("dv/dt = I_stimulus/C : 1", threshold="v > 99", reset="v = 0", parameters={"C": "1 pA*ms"})
    net = rv.Network(resolution=0.1)
    neurons = net.create(model, 1)
    net.stimulate(neurons, rv.step_current_generator(times=[0.0, 0.2, 0.4], amplitudes=[0.0, 1.0, 2.0]))
    recorder = net.record_state(neurons, ["v"], interval=0.1)
    simulation = rv.Simulation(net, threads=1)
    simulation.run(1.1)
    state = simulation.state(recorder)
    assert state.times[0] == pytest.approx(0.1)
    assert np.ravel(state["v"])[1:10] == pytest.approx(BRIAN2["timed"][1:], abs=1e-12)


@pytest.mark.parametrize("case", range(len(PAIRS)))
def test_the_delay_of_learning_synapses_of_brian2_is_axonal(case: int) -> None:
    before, after, delay = PAIRS[case]
    model = rv.synapse(
        "dx/dt = -x/tau_x : 1\ndy/dt = -y/tau_y : 1",
        on_pre="x += 1; w = clip(w - 0.012*w*y, 0, 1)",
        on_post="y += 1; w = clip(w + 0.01*(1 - w)*x, 0, 1)",
        parameters={"tau_x": "20 ms", "tau_y": "15 ms"},
    )
    weights = []
    for fraction in (0.0, 1.0):
        net = rv.Network(resolution=0.1)
        source = net.create_spike_generators([before])
        driver = net.create_spike_generators([[time - 0.1 for time in after]])
        targets = net.create(JUMPS, 1)
        net.connect(driver, targets, rv.OneToOne(), weight=1.0, delay=0.1, receptor="jump")
        learning = net.connect(
            source,
            targets,
            rv.OneToOne(),
            weight=0.5,
            delay=delay,
            receptor="other",
            synapse=model(axonal_fraction=fraction),
        )
        simulation = rv.Simulation(net, threads=1)
        simulation.run(100.0)
        weights.append(float(simulation.connections(projection=learning).weights[0]))
    assert weights[1] == pytest.approx(BRIAN2["learned"][case], abs=3e-7)
    assert abs(weights[0] - BRIAN2["learned"][case]) > 1e-4


def test_noise_with_a_factor_is_in_the_sense_of_ito() -> None:
    """The mean stays (Itô) or grows by exp(0.25) (Stratonovich); 20,000 neurons, five standard errors of 0.0057."""
    model = rv.neuron(
        "dv/dt = 0.5*v*tau**-0.5*xi : 1",
        threshold="v > 1e9",
        reset="v = 0",
        initial={"v": 1.0},
        parameters={"tau": "1 ms"},
    )
    assert model.method == "euler"
    net = rv.Network(resolution=0.1, seed=1)
    neurons = net.create(model, 20_000)
    simulation = rv.Simulation(net, threads=1)
    simulation.run(2.0)
    assert float(np.mean(simulation.get(neurons, "v"))) == pytest.approx(1.0, abs=0.03)
    assert pytest.approx(np.exp(0.25), abs=0.03) == BRIAN2["noise"]
