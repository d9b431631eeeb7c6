"""Recordings of all compartments: membrane currents against Kirchhoff's law and the cable equation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ranvier as rv

STEP = 0.05
SIZES = [(20.0, 20.0), (300.0, 1.5), (200.0, 2.0), (100.0, 1.0), (120.0, 0.8)]
PARENTS = [None, 0, 0, 2, 2]
TREE = rv.Morphology(
    [
        rv.Section(length=length, diameter=diameter, parent=parent, tag="soma" if parent is None else "apical")
        for (length, diameter), parent in zip(SIZES, PARENTS, strict=True)
    ]
)
TIP = rv.at(1, 1.0)
COUNTS = [1, 5, 4, 3, 3]


def cell(**keys: Any) -> rv.Cell:
    """Return a cell with branch points, an electrode at a tip, and probes of axial currents."""
    given: dict[str, Any] = {
        "compartments": COUNTS,
        "membrane": [("all", rv.pas(g=1e-4, e=-65.0)), ("soma", rv.hh())],
        "receptors": {"ampa": (rv.exp2syn(tau_rise=0.5, tau_decay=3.0), rv.at(3, 0.5))},
        "electrodes": {"soma": rv.at(0), "tip": TIP},
        "probes": {"axial": (rv.at(2, 0.5), "i_axial"), "injected": "i of tip"},
    }
    return rv.Cell(TREE, **{**given, **keys})


def network(model: Any = None, size: int | None = 3, **recorded: Any) -> tuple[rv.Network, rv.CompartmentRecorder]:
    """Return a network of cells that get synaptic input and currents at two places."""
    net = rv.Network(resolution=STEP, seed=3)
    cells = net.create(cell() if model is None else model, size, I_e=30.0, name="cells")
    net.stimulate(cells, "ac_generator", amplitude=120.0, frequency=120.0, electrode="tip")
    net.stimulate(cells, "poisson_generator", rate=400.0, weight=4.0, delay=0.5)
    return net, net.record_compartments(cells, **{"variables": ["I_m", "V_m"], "interval": 4 * STEP, **recorded})


def test_currents_of_a_cell_sum_to_what_was_injected() -> None:
    net, recorder = network()
    probes = net.record_state(net.populations[0], ["axial", "injected"], interval=4 * STEP)
    sim = rv.Simulation(net, progress=False)
    sim.run(20.0)
    data, state = sim.state(recorder), sim.state(probes)
    assert isinstance(data, rv.CompartmentData)
    assert data.values.shape == (100, 2, 3 * sum(COUNTS))
    np.testing.assert_array_equal(data.compartments, np.tile(np.arange(sum(COUNTS)), 3))
    np.testing.assert_array_equal(data.ids, np.repeat(net.populations[0].ids, sum(COUNTS)))
    sums = data["I_m"].reshape(100, 3, -1).sum(axis=2)
    largest = np.abs(data["I_m"]).max()
    assert largest > 50.0, "currents flow"
    # A sum of differences of 60 mV with conductances up to some 10^4 nS: rounding is below 1e-9 pA.
    np.testing.assert_allclose(sums, 30.0 + state["injected"], rtol=0.0, atol=1e-8)
    # The middle of the third section is the start of its third compartment.
    inner = data.of_cell(int(data.ids[-1]), "I_m")[:, 1 + 5 + 2]
    np.testing.assert_allclose(inner, state["axial"][:, 2], rtol=0.0, atol=1e-9)


def test_currents_charge_the_membrane_and_pass_its_channels() -> None:
    """With backward Euler and a passive membrane: I_m = C dV/dt + g (V - E), to rounding."""
    model = cell(membrane=[("all", rv.pas(g=2e-4, e=-70.0))], receptors={}, probes={}, scheme="backward_euler")
    net = rv.Network(resolution=STEP)
    cells = net.create(model, 1, I_e=100.0)
    recorder = net.record_compartments(cells, ["I_m", "V_m"])
    sim = rv.Simulation(net, progress=False)
    sim.run(10.0)
    data = sim.state(recorder)
    areas = 1e-8 * np.concatenate(
        [
            np.full(count, np.pi * length * diameter / count)
            for (length, diameter), count in zip(SIZES, COUNTS, strict=True)
        ]
    )
    v, i = data["V_m"], data["I_m"]
    # 1 uF/cm^2: areas in cm^2, mV/ms are V/s; amperes to pA.
    charging = 1e-6 * areas * np.diff(v, axis=0) / STEP * 1e12
    leaking = 2e-4 * areas * (v[1:] + 70.0) * 1e-3 * 1e12
    np.testing.assert_allclose(i[1:], charging + leaking, rtol=0.0, atol=1e-6)


def test_clamps_count_as_injected() -> None:
    hold = rv.voltage_clamp(level=[-50.0], duration=[100.0], resistance=20.0)
    model = cell(clamps={"hold": (hold, rv.at(0))}, probes={"c": "i of hold"})
    net = rv.Network(resolution=STEP)
    cells = net.create(model, 2)
    recorder, probe = net.record_compartments(cells), net.record_state(cells, "c")
    sim = rv.Simulation(net, progress=False)
    sim.run(3.0)
    sums = sim.state(recorder)["I_m"].reshape(60, 2, -1).sum(axis=2)
    assert np.abs(sums).max() > 10.0
    np.testing.assert_allclose(sums, sim.state(probe)["c"], rtol=0.0, atol=1e-8)


def mixed() -> list[rv.Cell]:
    """Return cells of two kinds with different numbers of compartments."""
    return [cell(), cell(compartments=[1, 7, 2, 2, 2]), cell()]


def test_cells_of_several_kinds_have_their_own_compartments() -> None:
    net, recorder = network(mixed(), None)
    sim = rv.Simulation(net, progress=False)
    sim.run(2.0)
    data = sim.state(recorder)
    assert isinstance(data, rv.CompartmentData)
    first = net.populations[0].first_id
    assert [data.of_cell(first + k, "V_m").shape[1] for k in range(3)] == [16, 14, 16]
    with pytest.raises(rv.errors.ValueOutOfBoundsError, match="recorded cells have ids"):
        data.of_cell(first + 3, "V_m")


def test_same_bits_on_threads_and_from_a_saved_state(tmp_path: Path) -> None:
    net, recorder = network(mixed(), None)
    sim = rv.Simulation(net, progress=False)
    sim.run(6.0)
    whole = sim.state(recorder)
    again_net, again_recorder = network(mixed(), None)
    cut = rv.Simulation(again_net, threads=3, progress=False)
    cut.run(2.5)
    cut.save(tmp_path / "state.h5")
    loaded = rv.Simulation.load(again_net, tmp_path / "state.h5", threads=2, progress=False)
    loaded.run(3.5)
    again = loaded.state(again_recorder)
    np.testing.assert_array_equal(again.values, whole.values)
    np.testing.assert_array_equal(again.steps, whole.steps)


@pytest.mark.parametrize("suffix", [".h5", ".csv"])
def test_files_have_the_compartments(suffix: str, tmp_path: Path) -> None:
    net, recorder = network(mixed(), None, to=tmp_path / f"currents{suffix}")
    sim = rv.Simulation(net, progress=False)
    sim.run(2.0)
    read, data = rv.read_state(tmp_path / f"currents{suffix}"), sim.state(recorder)
    assert isinstance(read, rv.CompartmentData)
    assert isinstance(data, rv.CompartmentData)
    for name in ("steps", "ids", "compartments", "values"):
        np.testing.assert_array_equal(getattr(read, name), getattr(data, name))
    frame = data.to_pandas()
    assert frame.columns.names == ["variable", "neuron", "compartment"]
    np.testing.assert_array_equal(frame["I_m"].to_numpy(), data["I_m"])


def test_what_is_recorded_is_described() -> None:
    net, recorder = network()
    assert recorder.description == "I_m, V_m of 48 compartments of 3 cells of cells every 0.2 ms"
    assert recorder.bytes_per_second == 8 * (2 * 48 + 1) * 5000
    assert "48 compartments" in str(net.summary())


def test_bad_input() -> None:
    net, _ = network()
    points = net.create("iaf_psc_exp", 4, name="points")
    with pytest.raises(rv.errors.ValueOutOfBoundsError, match=r"'points'.*has no compartments"):
        net.record_compartments(points)
    with pytest.raises(rv.errors.UnknownNameError, match="'I_m'"):
        net.record_compartments(net.populations[0], "i_m")
    with pytest.raises(rv.errors.ShapeError):
        net.record_compartments(net.populations[0], [])
    with pytest.raises(rv.errors.GridError):
        net.record_compartments(net.populations[0], interval=0.07)
