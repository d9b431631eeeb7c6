"""Electrodes of cells by name, which inject the currents of stimulators."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import ranvier as rv

STEP = 0.025
TREE = rv.Morphology(
    [
        rv.Section(length=20.0, diameter=20.0),
        rv.Section(length=300.0, diameter=1.5, parent=0, tag="basal"),
        rv.Section(length=200.0, diameter=2.0, parent=0, tag="apical"),
    ]
)
SOMA, TIP, OTHER = rv.at(0), rv.at(1, 1.0), rv.at(2, 0.5)
PLACES = {"soma": SOMA, "tip": TIP, "other": OTHER}
FloatArray = npt.NDArray[np.float64]


def cell(**keys: Any) -> rv.Cell:
    """Return a cell with channels and three electrodes, or others."""
    given: dict[str, Any] = {"electrodes": PLACES, "probes": {"tip": TIP, "other": OTHER}, **keys}
    return rv.Cell(
        TREE, compartments=[1, 5, 4], membrane=[("all", rv.pas(g=1e-4, e=-65.0)), ("soma", rv.hh())], **given
    )


CURRENTS: list[tuple[str, Any]] = [
    ("dc_generator", {"amplitude": 60.0, "start": 1.0, "stop": 4.0}),
    ("ac_generator", {"amplitude": 80.0, "frequency": 200.0}),
    ("noise_generator", {"mean": 20.0, "std": 200.0, "interval": 0.1}),
    ("step_current_generator", {"times": [0.5, 2.0, 4.5], "amplitudes": [50.0, -80.0, 30.0]}),
]


def course(model: Any, size: int | None, electrode: str | None, threads: int = 1, **keys: Any) -> FloatArray:
    """Return V_m, tip and other of cells into which all stimulators inject, shape (times, variables, cells)."""
    net = rv.Network(resolution=STEP)
    cells = net.create(model, size, I_e=15.0)
    states = net.record_state(cells, ["V_m", "tip", "other"], interval=STEP)
    for stimulator, values in CURRENTS:
        net.stimulate(cells, stimulator, weight=1.5, electrode=electrode, **values)
    simulation = rv.Simulation(net, threads=threads, tuning=rv.Tuning(**keys))
    simulation.run(6.0)
    return simulation.state(states).values


@pytest.mark.parametrize("name", PLACES)
def test_currents_flow_where_the_electrode_is(name: str) -> None:
    """As into the only electrode of a cell that has it there; I_e goes to the first one."""
    named = course(cell(), 9, name)
    first = {name: PLACES[name], **PLACES} if name != "soma" else PLACES
    as_first = course(cell(electrodes=first), 9, None)
    unnamed = course(cell(electrodes=None, electrode=PLACES[name]), 9, None)
    np.testing.assert_array_equal(as_first, unnamed)
    if name == "soma":
        np.testing.assert_array_equal(named, unnamed)
    else:
        assert (named[-1] != unnamed[-1]).any(), "I_e flows into the soma"
        none = course_without_constant(cell(), name)
        np.testing.assert_array_equal(
            none, course_without_constant(cell(electrodes=None, electrode=PLACES[name]), None)
        )
    assert np.abs(named[:, 0, 0] - named[:, 0, 1]).max() > 1e-3, "noise differs from cell to cell"


def course_without_constant(model: rv.Cell, electrode: str | None) -> FloatArray:
    """Return V_m of a cell into which a current flows."""
    net = rv.Network(resolution=STEP)
    cells = net.create(model, 2)
    states = net.record_state(cells, ["V_m", "tip"], interval=STEP)
    net.stimulate(cells, "ac_generator", amplitude=90.0, frequency=150.0, electrode=electrode)
    simulation = rv.Simulation(net)
    simulation.run(3.0)
    return simulation.state(states).values


@pytest.mark.parametrize("name", [None, "tip"])
def test_cells_get_the_same_bits_wherever_they_lie(name: str | None) -> None:
    """Packed with others or in the lanes of whole slots, on threads, with any instruction set."""
    equal = course(cell(), 16, name)
    longer = rv.Cell(
        TREE,
        compartments=[2, 9, 3],
        membrane=[("all", rv.pas())],
        electrodes=PLACES,
        probes={"tip": TIP, "other": OTHER},
    )
    kinds = [cell(), longer] * 8
    mixed = course(kinds, None, name)
    for keys in ({"threads": 3}, {"instruction_set": "baseline"}):
        np.testing.assert_array_equal(course(cell(), 16, name, **keys), equal)
        np.testing.assert_array_equal(course(kinds, None, name, **keys), mixed)
    np.testing.assert_array_equal(mixed[..., ::2], equal[..., ::2])


def test_parts_of_populations_and_point_neurons(tmp_path: Path) -> None:
    """Stimuli of parts with gaps, beside point neurons with another step; probes tell what flows; states go on."""

    def network() -> tuple[rv.Network, Any, Any]:
        net = rv.Network(resolution=STEP)
        point = net.create("iaf_psc_exp", 5, step=0.1)
        probes = {"in_soma": "i of soma", "in_tip": "i of tip", "in_other": "i of other"}
        cells = net.create([cell(probes=probes), cell(probes=probes, V_init=-66.0)] * 6, I_e=7.0)
        net.stimulate(cells[::3], "dc_generator", amplitude=40.0, start=1.0, electrode="tip")
        net.stimulate(cells[1:4], "ac_generator", amplitude=10.0, frequency=100.0, electrode="tip")
        net.stimulate([point, cells], "dc_generator", amplitude=300.0, start=2.0)
        return net, net.record_state(cells, [*probes], interval=STEP), net.record_state(point, ["V_m"], interval=0.1)

    net, states, others = network()
    simulation = rv.Simulation(net)
    simulation.run(2.0)
    simulation.save(tmp_path / "state.h5")
    simulation.run(2.0)
    values = simulation.state(states).values
    time = np.arange(1, len(values) + 1) * STEP
    flows = np.where(time > 2.0 + 1.5 * STEP, 307.0, 7.0)
    np.testing.assert_array_equal(values[:, 0], np.repeat(flows[:, None], 12, axis=1))
    np.testing.assert_array_equal(values[:, 2], 0.0)
    dc = np.where(time > 1.0 + 1.5 * STEP, 40.0, 0.0)
    np.testing.assert_array_equal(values[:, 1, [0, 6, 9]], np.repeat(dc[:, None], 3, axis=1))
    np.testing.assert_array_equal(values[:, 1, [4, 5, 7, 8, 10, 11]], 0.0)
    assert np.ptp(values[:, 1, 1]) > 9.0
    assert (simulation.state(others).values[-1] > -69.0).all()
    net, states, _ = network()
    loaded = rv.Simulation.load(net, tmp_path / "state.h5", threads=2)
    assert loaded.get(net.populations[1], "in_tip")[0] == 40.0
    loaded.run(2.0)
    np.testing.assert_array_equal(loaded.state(states).values, values[-len(loaded.state(states).values) :])


def test_stimuli_are_described() -> None:
    """Changes, copies, summaries and predictions know the electrode."""
    net = rv.Network(resolution=STEP)
    cells = net.create(cell(), 3)
    assert isinstance(cells.cell, rv.Cell)
    assert cells.cell.electrodes == ("soma", "tip", "other")
    assert rv.Cell(TREE, membrane=[("all", rv.pas())]).electrodes == ()
    stimulus = net.stimulate(cells, "dc_generator", amplitude=50.0, electrode="tip")
    assert (stimulus.electrode, stimulus.receptor) == ("tip", None)
    assert "electrode tip" in repr(stimulus)
    assert "electrode" in net.summary()
    net.set(stimulus, electrode="other")
    copy = pickle.loads(pickle.dumps(net))
    assert copy.stimuli[0].electrode == "other"
    with pytest.raises(rv.errors.UnknownNameError, match="top"):
        net.set(stimulus, electrode="top")
    assert stimulus.electrode == "other"
    simulation = rv.Simulation(copy)
    simulation.run(1.0)
    simulation.set(copy.stimuli[0], amplitude=0.0)
    simulation.run(1.0)


def test_memory_of_currents_is_predicted() -> None:
    """Only of electrodes into which a stimulus injects, and of the populations that have them."""
    taken = []
    for names in ([], ["soma"], ["soma", "tip"], ["soma", "tip", "tip"]):
        net = rv.Network(resolution=STEP)
        cells = net.create(cell(), 200)
        net.create("iaf_psc_exp", 5000)
        for name in names:
            net.stimulate(cells, "dc_generator", amplitude=1.0, electrode=name)
        simulation = rv.Simulation(net, threads=2)
        assert rv.predict_memory(net, threads=2)["inputs"] == simulation.memory()["inputs"]
        taken.append(simulation.memory()["inputs"])
    rows = taken[1] - taken[0]
    assert rows % (8 * len(cells)) == 0
    assert rows > 0
    np.testing.assert_array_equal(np.diff(taken), [rows, rows, 0])


def stimulate(net: rv.Network, **keys: Any) -> None:
    """Inject a current into cells with named electrodes."""
    net.stimulate(net.create(cell(), 2), "dc_generator", amplitude=1.0, **keys)


BAD: dict[str, tuple[Any, str]] = {
    "unknown name": (lambda net: stimulate(net, electrode="tipp"), "electrode of population.*tip"),
    "no name": (lambda net: stimulate(net, electrode=""), "name of an electrode"),
    "no text": (lambda net: stimulate(net, electrode=3), "electrode"),
    "point neurons": (
        lambda net: net.stimulate(net.create("iaf_psc_exp", 2), "dc_generator", amplitude=1.0, electrode="tip"),
        "iaf_psc_exp.*without a name",
    ),
    "an electrode without a name": (
        lambda net: net.stimulate(net.create(cell(electrodes=None), 2), "dc_generator", electrode="tip"),
        "without a name",
    ),
    "cells and point neurons": (
        lambda net: net.stimulate(
            [net.create(cell(), 2), net.create("iaf_psc_exp", 2)], "dc_generator", amplitude=1.0, electrode="tip"
        ),
        "iaf_psc_exp.*in a separate call",
    ),
    "cells with other electrodes": (
        lambda net: net.stimulate(
            [net.create(cell(), 2), net.create(cell(electrodes={"top": TIP}), 2)], "dc_generator", electrode="tip"
        ),
        "electrode of population 'cell_1'.*top",
    ),
    "spikes": (
        lambda net: net.stimulate(net.create(cell(), 2), "poisson_generator", rate=1.0, electrode="tip"),
        "are not sent to an electrode",
    ),
    "receptor of currents": (
        lambda net: net.stimulate(net.create(cell(), 2), "dc_generator", receptor="tip"),
        "are not sent to a receptor",
    ),
    "kinds with other electrodes": (
        lambda net: net.create([cell(), cell(electrodes={"soma": SOMA, "top": TIP, "other": OTHER})]),
        "electrodes of cell 1",
    ),
    "electrode and electrodes": (lambda net: cell(electrode=SOMA), "electrodes= gives"),
    "no electrodes": (lambda net: cell(electrodes={}), "at least one"),
    "no mapping": (lambda net: cell(electrodes=[SOMA]), "mapping"),
    "no place": (lambda net: cell(electrodes={"a": "soma"}), "place of electrode 'a'"),
    "a place that is not there": (lambda net: cell(electrodes={"a": rv.at(7)}), "electrode 'a'"),
    "an empty name": (lambda net: cell(electrodes={"": SOMA}), "name"),
    "a name of a clamp": (
        lambda net: cell(electrodes={"a": SOMA}, clamps={"a": (rv.current_clamp(amplitude=1.0), SOMA)}),
        "given once",
    ),
    "a probe of no electrode": (lambda net: cell(probes={"x": "i of top"}), "i of tip"),
}


@pytest.mark.parametrize(("make", "message"), BAD.values(), ids=BAD)
def test_what_does_not_fit_is_refused(make: Any, message: str) -> None:
    """With a typed error that says what is wrong."""
    net = rv.Network(resolution=STEP)
    with pytest.raises(rv.errors.RanvierError, match=message):
        make(net)
    assert not net.stimuli
