"""`before(v)` in thresholds and resets: what a variable was at the beginning of the step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import ranvier as rv

LINEAR = "dv/dt = u - v/second : mV\ndu/dt = -k*v : mV/ms"
FREQUENCIES = {"k": "0.04/ms**2"}


def oscillator(**arguments: Any) -> rv.EquationNeuron:
    # Linear equations would have no parts of steps.
    equations = LINEAR if arguments.get("method") == "exact" else LINEAR.replace("k*v", "k*v*(1 + (v/volt)**2)")
    return rv.neuron(equations, parameters=FREQUENCIES, **{"initial": {"v": -5.0, "u": 1.0}, **arguments})


@pytest.mark.parametrize("programs", ["interpreted", "compiled"])
@pytest.mark.parametrize("method", ["exact", "euler", "rk4", "adaptive"])
def test_a_neuron_fires_at_peaks(method: str, programs: Any) -> None:
    model = oscillator(threshold="v >= 1*mV and v < before(v)", refractory="8 ms", method=method)
    net = rv.Network()
    cells = net.create(model, 3, u=[0.2, 1.0, -2.0])
    states, spikes = net.record_state(cells, "v", 0.1), net.record_spikes(cells)
    sim = rv.Simulation(net, tuning=rv.Tuning(programs=programs))
    begin = sim.get(cells, "v")
    sim.run(150.0)
    v = np.vstack([begin, sim.state(states)["v"]])
    steps = [np.flatnonzero((v[1:, i] >= 1.0) & (v[1:, i] < v[:-1, i])) + 1 for i in range(3)]
    expected = [[s for s in own if not np.any((own < s) & (own >= s - 80))] for own in steps]
    found = sim.spikes(spikes)
    assert [found.steps[found.ids == cells.first_id + i].tolist() for i in range(3)] == expected
    assert len(found) >= 12


def test_a_threshold_with_it_is_looked_at_when_the_step_has_ended() -> None:
    """The long step begins downhill above the bound, and ends uphill."""
    model = oscillator(threshold="v >= -4.9*mV and v < before(v)", method="adaptive", initial={"v": -4.0, "u": -1.0})
    net = rv.Network(resolution=16.0)
    cells = net.create(model, 1)
    spikes = net.record_spikes(cells)
    sim = rv.Simulation(net)
    sim.run(16.0)
    assert sim.get(cells, "v")[0] > 3.0
    assert len(sim.spikes(spikes)) == 0


@pytest.mark.parametrize("method", ["exact", "adaptive"])
def test_a_reset_may_use_it(method: str) -> None:
    model = rv.neuron(
        "dv/dt = 1*mV/ms : mV\nlast : mV", threshold="v > 1.05*mV", reset="last = before(v); v = 0*mV", method=method
    )
    net = rv.Network()
    cells = net.create(model, 1)
    sim = rv.Simulation(net)
    sim.run(1.5)
    assert sim.get(cells, "last")[0] == pytest.approx(1.0)
    assert sim.get(cells, "v")[0] == pytest.approx(0.4)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"threshold": "v > before(v + 1*mV)"}, "takes a variable"),
        ({"threshold": "v**2 > before(k)*mV**2*ms**2"}, "'k', but it is not a variable"),
        ({"threshold": "v > 1*mV", "reset": "v = before(w)"}, "but no such name"),
        ({"threshold": "v > 1*mV", "receptors": {"a": "v += w*before(v)/mV"}}, "only the threshold, the reset and"),
        ({"threshold": "v > before(v, u)"}, "takes 1"),
        ({"threshold": "before(v) > 1"}, "in mV"),
    ],
)
def test_where_it_cannot_stand(changes: dict[str, Any], text: str) -> None:
    with pytest.raises(rv.errors.RanvierError, match=text.replace("(", "[(]")):
        oscillator(**changes)


def test_equations_do_not_know_it() -> None:
    with pytest.raises(rv.errors.EquationError, match="only the threshold, the reset and"):
        rv.neuron("dv/dt = -before(v)/ms : mV", threshold="v > 1*mV")
