"""`after_refractory`: what is assigned when a neuron is no longer refractory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from equation_models import lowered

CLAMPED: dict[str, Any] = {
    "equations": "dv/dt = (V_inf - v)/tau_m : mV\ndu/dt = (v - u)/tau_m : mV",
    "threshold": "v >= V_th",
    "reset": "v = V_clamp",
    "refractory": "t_clamp",
    "after_refractory": "v = V_reset",
    "parameters": {
        "V_inf": "-40 mV",
        "tau_m": "10 ms",
        "V_th": "-50 mV",
        "V_clamp": "30 mV",
        "V_reset": "-60 mV",
        "t_clamp": "2 ms",
    },
    "initial": {"v": "V_reset", "u": "V_reset"},
}
CLAMPS = [2.0, 0.1, 0.05, 0.04, 0.0]


def run(method: str, programs: Any = "interpreted") -> tuple[np.ndarray, np.ndarray, rv.SpikeData, int]:
    """Return potentials and what follows them, by step and neuron, and spikes."""
    net = rv.Network()
    cells = net.create(rv.neuron(**CLAMPED, method=method), len(CLAMPS), t_clamp=CLAMPS)
    states, spikes = net.record_state(cells, ["v", "u"], 0.1), net.record_spikes(cells)
    sim = rv.Simulation(net, tuning=rv.Tuning(programs=programs))
    sim.run(40.0)
    data = sim.state(states)
    return data["v"], data["u"], sim.spikes(spikes), cells.first_id


@pytest.mark.parametrize("programs", ["interpreted", "compiled"])
@pytest.mark.parametrize("method", ["exact", "exponential_euler", "euler", "rk4", "adaptive"])
def test_a_clamp_ends_at_the_end_of_its_last_step(method: str, programs: Any) -> None:
    v, _, spikes, first = run(method, programs)
    for neuron, steps in enumerate((20, 1, 1, 0, 0)):
        fired = spikes.steps[spikes.ids == first + neuron]
        assert len(fired) >= 4
        for step in fired[:-1].tolist():
            # The first sample is that of step 1.
            after = v[step - 1 :, neuron]
            assert np.all(after[:steps] == 30.0)
            assert after[steps] == -60.0 or (steps == 0 and method == "adaptive" and -60.0 < after[0] < -59.7)
            assert -60.0 < after[steps + 1] < -59.7


@pytest.mark.parametrize("method", ["exponential_euler", "euler", "rk4"])
def test_others_follow_what_is_clamped(method: str) -> None:
    v, u, spikes, first = run(method)
    step = int(spikes.steps[spikes.ids == first][0])
    clamped = u[step - 1 : step + 20, 0]
    expected = 30.0 + (clamped[0] - 30.0) * np.exp(-0.01 * np.arange(21))
    assert np.abs(clamped - expected).max() < (0.1 if method == "euler" else 1e-5)
    assert v[step - 2, 0] < -50.0


@pytest.mark.parametrize("until", [8.0, 8.9, 9.0, 9.1])
def test_a_state_that_is_saved_during_a_clamp_goes_on(until: float, tmp_path: Path) -> None:
    net = rv.Network()
    cells = net.create(rv.neuron(**CLAMPED), 3, t_clamp=[2.0, 1.0, 0.5])
    states = net.record_state(cells, "v", 0.1)
    sim = rv.Simulation(net)
    sim.run(30.0)
    expected = sim.state(states)["v"][-1]
    before = rv.Simulation(net)
    before.run(until)
    before.save(tmp_path / "state.h5")
    after = rv.Simulation.load(net, tmp_path / "state.h5")
    after.run(30.0 - until)
    assert np.array_equal(after.get(cells, "v"), expected)


def test_what_is_assigned_may_have_copies() -> None:
    model = rv.neuron(
        "dv/dt = 1*mV/ms : mV\nx[k] : 1",
        threshold="v >= 0.95*mV",
        reset="v = 0*mV",
        refractory="0.5 ms",
        after_refractory="x[k] += v/mV + a[k]",
        parameters={"a[k]": [1.0, 2.0]},
        copies={"k": 2},
    )
    net = rv.Network()
    cells = net.create(model, 1)
    sim = rv.Simulation(net)
    sim.run(1.4)
    assert [sim.get(cells, name)[0] for name in ("x_1", "x_2")] == [0.0, 0.0]
    sim.run(0.1)
    assert [sim.get(cells, name)[0] for name in ("x_1", "x_2")] == [1.0, 2.0]
    assert "after that x_1 += v/mV + a_1; x_2 += v/mV + a_2" in model.equations


@pytest.mark.parametrize(
    ("changes", "error", "words"),
    [
        ({"refractory": None}, rv.errors.EquationError, "no refractory period"),
        ({"after_refractory": "v = 1"}, rv.errors.UnitError, "it must be in mV, as v"),
        ({"after_refractory": "V_th = v"}, rv.errors.EquationError, "only variables can be assigned"),
        ({"after_refractory": "v = V_rest"}, rv.errors.UnknownSymbolError, "did you mean 'V_reset'"),
        ({"after_refractory": "v"}, rv.errors.EquationError, "not an assignment"),
        ({"after_refractory": "v = xi*mV"}, rv.errors.EquationError, "white noise has values in equations only"),
        ({"after_refractory": "v = before(V_th)"}, rv.errors.EquationError, "it is not a variable"),
        ({"after_refractory": "v = V_th"}, rv.errors.EquationError, "must not hold after a reset"),
        ({"after_refractory": 3}, rv.errors.WrongTypeError, "after_refractory"),
    ],
)
def test_mistakes_are_errors(changes: dict[str, Any], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        lowered({**CLAMPED, **changes})
