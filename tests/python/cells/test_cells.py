"""Detailed cells: their forms, what is on them, and what they refuse."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import ranvier as rv
from ranvier.networks.ring import ring

SOMA = rv.Section(length=20.0, diameter=20.0)
DENDRITE = rv.Section(length=300.0, diameter=2.0, parent=0, tag="basal")
AXON = rv.Section(length=100.0, diameter=1.0, parent=0, parent_position=0.0, tag="axon")
TREE = rv.Morphology([SOMA, DENDRITE, AXON])
PASSIVE = [("all", rv.pas(g=1e-4, e=-65.0))]


def run(cell: rv.Cell, time: float, resolution: float = 0.025, **values: Any) -> npt.NDArray[np.float64]:
    """Return what the variables of one cell were after each step, shape (steps, variables)."""
    net = rv.Network(resolution=resolution)
    cells = net.create(cell, 1, **values)
    recorder = net.record_state(cells, list(cell.variables), interval=resolution)
    simulation = rv.Simulation(net)
    simulation.run(time)
    return simulation.state(recorder).values[:, :, 0]


def test_areas_are_those_of_cones() -> None:
    """The surface of a truncated cone without its ends, whatever the cuts."""
    cone = rv.Section(length=30.0, diameter=8.0, end_diameter=2.0)
    for count in (1, 7):
        cell = rv.Cell(rv.Morphology([cone]), compartments=count, membrane=PASSIVE)
        assert cell.areas.sum() == pytest.approx(math.pi * 5.0 * math.hypot(30.0, 3.0), rel=1e-14)


def test_distances_follow_the_neurites() -> None:
    """A section goes on from where it is fixed to its parent."""
    cell = rv.Cell(TREE, compartments=[1, 3, 1], membrane=PASSIVE)
    np.testing.assert_allclose(cell.distances, [10.0, 70.0, 170.0, 270.0, 50.0])


@pytest.mark.parametrize(
    ("region", "covered"),
    [
        ("all", [1, 1, 1, 1, 1]),
        ("soma", [1, 0, 0, 0, 0]),
        (rv.tagged("axon", 3), [0, 1, 1, 1, 1]),
        (rv.sections([0, 2]), [1, 0, 0, 0, 1]),
        (~rv.tagged("soma"), [0, 1, 1, 1, 1]),
        (rv.tagged("basal") - rv.within_distance(0, 120), [0, 0, 1, 1, 0]),
        (rv.tagged("basal") & rv.within_distance(70, 170), [0, 0.5, 0.5, 0, 0]),
        (rv.tagged("axon") | rv.within_distance(0, 70), [1, 0.5, 0, 0, 1]),
    ],
)
def test_a_region_covers_membrane(region: rv.Region | str, covered: list[float]) -> None:
    """Half of a compartment has half of the conductance: it is the input resistance that shows it."""
    # Nearly no axial resistance: the cell is one compartment.
    cell = rv.Cell(TREE, compartments=[1, 3, 1], membrane=[(region, rv.pas(g=1e-3))], R_a=0.1)
    leak = float(np.dot(cell.areas, covered)) * 1e-3 * 10.0  # nS
    end = run(cell, 100.0, I_e=0.01 * leak)[-1, 0]
    assert end + 70.0 == pytest.approx(0.01, rel=2e-3)


def test_a_long_cable_decays_as_rall_says() -> None:
    """Steady state of a sealed cable: cosh((L - x) / lambda) / cosh(L / lambda)."""
    length, diameter, resistivity, conductance = 1000.0, 2.0, 100.0, 1e-4
    cable = rv.Morphology([rv.Section(length=length, diameter=diameter)])
    places = np.array([0.1, 0.3, 0.5, 0.7, 0.9])
    constant = 1e4 * math.sqrt(diameter * 1e-4 / 4.0 / (resistivity * conductance))  # um
    expected = np.cosh(length * (1.0 - places) / constant) / math.cosh(length / constant)
    deviations = []
    for count in (45, 135):
        cell = rv.Cell(
            cable,
            compartments=count,
            membrane=PASSIVE,
            probes={f"v{i}": rv.at(0, place) for i, place in enumerate(places)},
            electrode=rv.at(0, 0.0),
            detector=rv.at(0, 0.0),
        )
        end = run(cell, 1000.0, resolution=1.0, I_e=10.0)[-1] + 65.0
        conductance_at_begin = (
            math.pi * diameter * 1e-4 * constant * 1e-4 * conductance * math.tanh(length / constant) * 1e9
        )  # nS
        deviations.append(float(np.abs(end[1:] * conductance_at_begin / 10.0 - expected).max()))
    # Of second order in the length of the compartments.
    assert deviations[1] < 1e-5
    assert deviations[0] / deviations[1] == pytest.approx(9.0, rel=0.05)


@pytest.mark.parametrize(("scheme", "order"), [("backward_euler", 1), ("staggered", 2)])
def test_a_scheme_has_its_order(scheme: Any, order: int) -> None:
    """Half of a step has half or a quarter of the error, for a cell that fires."""

    def potentials(steps_per_millisecond: int) -> npt.NDArray[np.float64]:
        cell = rv.Cell(TREE, compartments=5, membrane=[("all", rv.hh())], scheme=scheme, rates="exact")
        values = run(cell, 8.0, resolution=1.0 / steps_per_millisecond, I_e=200.0)
        return values[steps_per_millisecond - 1 :: steps_per_millisecond, 0]

    finest = potentials(1024)
    errors = [float(np.abs(potentials(steps) - finest).max()) for steps in (32, 64)]
    assert errors[0] / errors[1] == pytest.approx(2.0**order, rel=0.2)


@pytest.mark.parametrize(
    ("receptor", "conductance"),
    [
        (rv.expsyn(tau=3.0), lambda t: np.exp(-t / 3.0)),
        (rv.exp2syn(tau_rise=1.0, tau_decay=4.0), lambda t: (np.exp(-t / 4.0) - np.exp(-t)) / (0.25 ** (1 / 3) * 0.75)),
    ],
    ids=["expsyn", "exp2syn"],
)
def test_a_conductance_has_its_course(receptor: Any, conductance: Callable[[Any], Any]) -> None:
    """A spike of 2 nS that arrives at 1 ms, after its closed formula."""
    cell = rv.Cell(TREE, membrane=PASSIVE, receptors={"syn": (receptor, rv.at(1, 0.5))}, probes={"g": "syn"})
    net = rv.Network(resolution=0.1)
    cells = net.create(cell, 3)
    source = net.create_spike_generators([[0.5]])
    net.connect(source, cells[1:], "all_to_all", weight=2.0, delay=0.5)
    recorder = net.record_state(cells, ["g"], interval=0.1)
    simulation = rv.Simulation(net)
    simulation.run(10.0)
    values = simulation.state(recorder).values[:, 0, :]
    time = np.arange(1, 101) * 0.1 - 1.0
    expected = np.where(time > -1e-9, 2.0 * conductance(np.maximum(time, 0.0)), 0.0)
    assert not values[:, 0].any()
    for k in (1, 2):
        np.testing.assert_allclose(values[:, k], expected, atol=1e-12)


def test_magnesium_blocks_nmda() -> None:
    """Without magnesium, or far above rest, the current is larger."""
    ends = []
    for magnesium in (0.0, 1.0):
        cell = rv.Cell(TREE, membrane=PASSIVE, receptors={"syn": (rv.nmda(Mg=magnesium), rv.at(0, 0.5))}, V_init=-65.0)
        net = rv.Network(resolution=0.1)
        cells = net.create(cell, 1)
        net.connect(net.create_spike_generators([[0.1]]), cells, "all_to_all", weight=0.001, delay=0.1)
        recorder = net.record_state(cells, ["V_m"], interval=10.0)
        simulation = rv.Simulation(net)
        simulation.run(10.0)
        ends.append(simulation.state(recorder).values[0, 0, 0] + 65.0)
    blocked = 1.0 / (1.0 + math.exp(0.062 * 65.0) / 3.57)
    assert ends[1] / ends[0] == pytest.approx(blocked, rel=1e-3)


def test_gates_are_read_after_the_step() -> None:
    """m, h and n at a steady potential are where they tend to; while it moves, they lie between 0 and 1."""
    cell = rv.Cell(
        TREE,
        membrane=[("soma", rv.hh()), ("basal", rv.hh(gnabar=0.01)), ("axon", rv.pas())],
        probes={"m": (rv.at(0), "m of hh"), "h": (rv.at(1), "h of hh"), "n": (rv.at(0), "n of hh")},
    )
    values = run(cell, 20.0, I_e=300.0)
    assert ((values[:, 1:] > 0.0) & (values[:, 1:] < 1.0)).all()
    assert values[:, 1].max() > 0.9
    np.testing.assert_allclose(run(cell, 0.025)[0, 1:], [0.053, 0.596, 0.318], atol=2e-3)


def build(threads: int = 1, instruction_set: Any = "auto", **keys: Any) -> tuple[rv.Simulation, Any, Any]:
    """Return a simulation of a ring with its recorders of spikes and states."""
    model = ring(cells=19, depth=2, **keys)
    states = model.net.record_state(model.net.populations[0], ["V_m"], interval=1.0)
    simulation = rv.Simulation(model.net, threads=threads, tuning=rv.Tuning(instruction_set=instruction_set))
    return simulation, model.spikes, states


@pytest.mark.parametrize("dendrites", ["hh", "pas"])
@pytest.mark.parametrize("rates", ["table", "exact"])
def test_bits_do_not_depend_on_the_machine(dendrites: str, rates: str, tmp_path: Path) -> None:
    """Threads, instruction sets, cuts, and saving and loading leave all potentials as they are."""
    keys: dict[str, Any] = {"dendrites": dendrites, "rates": rates}
    simulation, spikes, states = build(**keys)
    simulation.run(30.0)
    expected, digest = simulation.state(states).values, simulation.spikes(spikes).digest()
    assert len(simulation.spikes(spikes).times) > 20
    for threads, instruction_set in ((3, "auto"), (1, "baseline"), (2, "baseline")):
        simulation, spikes, states = build(threads, instruction_set, **keys)
        for time in (0.025, 7.975, 22.0):
            simulation.run(time)
        np.testing.assert_array_equal(simulation.state(states).values, expected)
        assert simulation.spikes(spikes).digest() == digest
    simulation, spikes, states = build(threads=2, **keys)
    simulation.run(9.0)
    simulation.save(tmp_path / "state.h5")
    model = ring(cells=19, depth=2, **keys)
    later = model.net.record_state(model.net.populations[0], ["V_m"], interval=1.0)
    loaded = rv.Simulation.load(model.net, tmp_path / "state.h5", threads=1)
    loaded.run(21.0)
    np.testing.assert_array_equal(loaded.state(later).values[-21:], expected[-21:])


def test_a_saved_state_of_another_cell_is_refused(tmp_path: Path) -> None:
    """The fingerprint of a network has all of its cells."""
    simulation, *_ = build()
    simulation.save(tmp_path / "state.h5")
    with pytest.raises(rv.errors.StateError, match="cell"):
        rv.Simulation.load(build(compartments=3)[0].network, tmp_path / "state.h5")


def test_a_saved_state_with_other_probes_is_refused(tmp_path: Path) -> None:
    """A probe of the same name at another place is another variable."""

    def made(place: float) -> rv.Network:
        net = rv.Network()
        cells = net.create(rv.Cell(TREE, membrane=PASSIVE, probes={"end": rv.at(1, place)}), 1)
        net.record_state(cells, ["end"])
        return net

    rv.Simulation(made(0.2)).save(tmp_path / "state.h5")
    rv.Simulation.load(made(0.2), tmp_path / "state.h5")
    with pytest.raises(rv.errors.StateError, match="cell"):
        rv.Simulation.load(made(0.9), tmp_path / "state.h5")


def test_a_ring_needs_steps_before_its_stimulus() -> None:
    """The stimulus comes at 1 ms."""
    for resolution in (1.0, 2.5):
        with pytest.raises(rv.errors.RanvierError, match=r"stimulus|resolution"):
            ring(cells=11, depth=1, resolution=resolution)


def test_a_cell_can_be_pickled() -> None:
    """With functions of the distance, which are evaluated when the cell is made."""
    cell = rv.Cell(TREE, compartments=4, membrane=[("all", rv.hh(gnabar=lambda distance: 0.1 / (1.0 + distance)))])
    copy = pickle.loads(pickle.dumps(cell))
    np.testing.assert_array_equal(run(copy, 5.0, I_e=100.0), run(cell, 5.0, I_e=100.0))


def test_cells_and_point_neurons_share_a_network() -> None:
    """Each reaches the other."""
    cell = rv.Cell(TREE, membrane=[("all", rv.hh())], receptors={"exc": (rv.expsyn(), rv.at(1, 0.5))})
    net = rv.Network(resolution=0.1)
    point = net.create(rv.iaf_psc_exp(), 5, I_e=1000.0)
    cells = net.create(cell, 4)
    others = net.create(rv.iaf_psc_exp(), 2)
    net.connect(point, cells, "all_to_all", weight=30.0, delay=1.0)
    net.connect(cells, others, "all_to_all", weight=3000.0, delay=1.0)
    recorder = net.record_spikes()
    simulation = rv.Simulation(net, threads=2)
    simulation.run(50.0)
    spikes = simulation.spikes(recorder)
    assert all(len(spikes.of(each).times) > 0 for each in (point, cells, others))


def test_initial_potentials_can_be_drawn() -> None:
    """The whole cell begins at V_m, with its gates in the steady state."""
    cell = rv.Cell(TREE, compartments=3, membrane=PASSIVE, probes={"end": rv.at(1, 1.0)}, R_a=1e6)
    net = rv.Network(resolution=0.001)
    cells = net.create(cell, 100, V_m=rv.Normal(-65.0, 5.0))
    recorder = net.record_state(cells, ["V_m", "end"], interval=0.001)
    simulation = rv.Simulation(net)
    simulation.run(0.001)
    values = simulation.state(recorder).values[0]
    assert np.std(values[0]) > 3.0
    np.testing.assert_allclose(values[0], values[1], atol=1e-3)


BAD_MORPHOLOGIES: dict[str, Callable[[], object]] = {
    "no section": lambda: rv.Morphology([]),
    "several roots": lambda: rv.Morphology([SOMA, SOMA]),
    "a parent after its child": lambda: rv.Morphology([SOMA, rv.Section(length=1, diameter=1, parent=2), DENDRITE]),
    "its own parent": lambda: rv.Morphology([SOMA, rv.Section(length=1.0, diameter=1.0, parent=1)]),
    "a root with a parent": lambda: rv.Morphology([DENDRITE]),
    "no section at all": lambda: rv.Morphology(3),  # type: ignore[arg-type]
    "a number": lambda: rv.Morphology([3]),  # type: ignore[list-item]
    "length 0": lambda: rv.Section(length=0.0, diameter=1.0),
    "negative diameter": lambda: rv.Section(length=1.0, diameter=-1.0),
    "nan": lambda: rv.Section(length=math.nan, diameter=1.0),
    "infinite": lambda: rv.Section(length=math.inf, diameter=1.0),
    "nothing": lambda: rv.Section(),
    "both": lambda: rv.Section(length=1.0, diameter=1.0, points=[[0, 0, 0, 1], [1, 0, 0, 1]]),
    "one point": lambda: rv.Section(points=[[0, 0, 0, 1]]),
    "points without diameter": lambda: rv.Section(points=[[0, 0, 0], [1, 0, 0]]),
    "a thin point": lambda: rv.Section(points=[[0, 0, 0, 1], [1, 0, 0, 0]]),
    "points at one place": lambda: rv.Morphology([rv.Section(points=[[0, 0, 0, 1], [0, 0, 0, 1]])]),
    "a point at nan": lambda: rv.Section(points=np.array([[0, 0, 0, 1], [math.nan, 0, 0, 1]])),
    "position 2": lambda: rv.Section(length=1.0, diameter=1.0, parent=0, parent_position=2.0),
    "an unknown tag": lambda: rv.Section(length=1.0, diameter=1.0, tag="dendrite"),
    "a negative tag": lambda: rv.Section(length=1.0, diameter=1.0, tag=-1),
    "a negative parent": lambda: rv.Section(length=1.0, diameter=1.0, parent=-1),
    "a tag that is no text": lambda: rv.Section(length=1.0, diameter=1.0, tag="\ud800"),
    "very many numbers": lambda: rv.Morphology(np.broadcast_to(1.0, 10**12)),
    "points beyond numbers": lambda: rv.Morphology([rv.Section(points=[[0.0, 0.0, 0.0, 1.0], [1e300, 0.0, 0.0, 1.0]])]),
    "too long": lambda: rv.Morphology([rv.Section(length=1e12, diameter=1.0)]),
    "too thin": lambda: rv.Morphology([rv.Section(length=1.0, diameter=1e-9)]),
}
BAD_CELLS: dict[str, dict[str, Any]] = {
    "morphology": {"morphology": "x.swc"},
    "compartments 0": {"compartments": 0},
    "compartments 2.5": {"compartments": [1, 2.5, 1]},
    "compartments of two sections": {"compartments": [1, 1]},
    "compartments of a section without end": {"compartments": 2**26},
    "compartments of a cell without end": {"compartments": [3_000_000] * 4},
    "region without membrane": {"membrane": [("apical", rv.pas())]},
    "unknown region": {"membrane": [("somata", rv.pas())]},
    "section that is missing": {"membrane": [(rv.sections(7), rv.pas())]},
    "no mechanism": {"membrane": [("all", 3)]},
    "no pair": {"membrane": ["all"]},
    "negative conductance": {"membrane": [("all", rv.pas(g=-1.0))]},
    "nan": {"membrane": [("all", rv.pas(g=math.nan))]},
    "infinite conductance": {"membrane": [("all", rv.pas(g=math.inf))]},
    "conductance beyond bounds": {"membrane": [("all", rv.pas(g=1e300))]},
    "a function without bounds": {"membrane": [("all", rv.pas(g=lambda distance: distance * math.inf))]},
    "infinite tau": {"receptors": {"exc": (rv.expsyn(tau=math.inf), rv.at(0))}},
    "tau of nothing": {"receptors": {"exc": (rv.expsyn(tau=1e-300), rv.at(0))}},
    "d_lambda with several capacitances": {"compartments": rv.d_lambda(), "C_m": [1.0, 2.0, 3.0]},
    "d_lambda without R_a": {"compartments": rv.d_lambda(), "R_a": 0.0},
    "d_lambda with an infinite R_a": {"compartments": rv.d_lambda(), "R_a": math.inf},
    "d_lambda with a negative C_m": {"compartments": rv.d_lambda(), "C_m": -1.0},
    "compartments without number": {"compartments": rv.max_length(1e-320)},
    "region that is no text": {"membrane": [("\ud800", rv.pas())]},
    "an array of another length": {"membrane": [("all", rv.pas(g=[1.0, 2.0]))]},
    "a function of another length": {"membrane": [("all", rv.pas(g=lambda distance: distance[:2]))]},
    "reversal of a gated current by place": {"membrane": [("all", rv.hh(ena=[50.0, 51.0, 52.0]))]},
    "receptor at no section": {"receptors": {"exc": (rv.expsyn(), rv.at(9))}},
    "receptor without a place": {"receptors": {"exc": rv.expsyn()}},
    "receptor without a name": {"receptors": {"": (rv.expsyn(), rv.at(0))}},
    "rise above decay": {"receptors": {"exc": (rv.exp2syn(tau_rise=3.0, tau_decay=2.0), rv.at(0))}},
    "negative tau": {"receptors": {"exc": (rv.expsyn(tau=-1.0), rv.at(0))}},
    "probe of no receptor": {"probes": {"g": "exc"}},
    "probe of no gate": {"probes": {"m": (rv.at(0), "m of hh")}},
    "probe named V_m": {"probes": {"V_m": rv.at(0)}},
    "probe at no section": {"probes": {"v": rv.at(5)}},
    "detector": {"detector": 0.5},
    "threshold": {"threshold": math.nan},
    "electrode": {"electrode": rv.at(4)},
    "C_m": {"C_m": 0.0},
    "R_a": {"R_a": -1.0},
    "celsius": {"celsius": 1000.0},
    "V_init": {"V_init": -1e4},
    "rates": {"rates": "fast"},
    "scheme": {"scheme": "euler"},
    "name": {"name": ""},
    "unknown": {"temperature": 20.0},
}


@pytest.mark.parametrize("make", BAD_MORPHOLOGIES.values(), ids=BAD_MORPHOLOGIES)
def test_a_bad_morphology_is_refused(make: Callable[[], object]) -> None:
    """With a typed error."""
    with pytest.raises(rv.errors.RanvierError) as caught:
        make()
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("keys", BAD_CELLS.values(), ids=BAD_CELLS)
def test_a_bad_cell_is_refused(keys: dict[str, Any]) -> None:
    """With a typed error."""
    with pytest.raises(rv.errors.RanvierError) as caught:
        rv.Cell(**{"morphology": TREE, "membrane": PASSIVE, **keys})
    assert str(caught.value).isprintable()


@pytest.mark.parametrize("value", ["2", [2.0], [[1.0], [1.0, 2.0]], np.broadcast_to(1.0, 10**12), None, range(10**12)])
def test_a_bad_parameter_of_a_receptor_is_refused(value: Any) -> None:
    """Before NumPy makes something of it."""
    with pytest.raises(rv.errors.RanvierError, match="tau of expsyn"):
        rv.expsyn(tau=value)


def test_probes_cannot_be_set() -> None:
    """Neither when a population is made nor while it runs."""
    cell = rv.Cell(TREE, compartments=3, membrane=PASSIVE, probes={"end": rv.at(1, 1.0)})
    net = rv.Network()
    with pytest.raises(rv.errors.ValueOutOfBoundsError, match="probe"):
        net.create(cell, 1, end=-60.0)
    cells = net.create(cell, 1)
    simulation = rv.Simulation(net)
    with pytest.raises(rv.errors.ValueOutOfBoundsError, match="probe"):
        simulation.set(cells, end=-60.0)
    simulation.set(cells, V_m=-60.0, I_e=3.0)
    assert simulation.get(cells, "V_m")[0] == -60.0
    # It is the potential of the whole cell that was set.
    assert simulation.get(cells, "end")[0] == -60.0


def test_a_synapse_needs_a_receptor() -> None:
    """Onto cells that have none, or several, or another one."""
    net = rv.Network()
    none = net.create(rv.Cell(TREE, membrane=PASSIVE), 2)
    places = {"a": (rv.expsyn(), rv.at(0)), "b": (rv.expsyn(), rv.at(1))}
    two = net.create(rv.Cell(TREE, membrane=PASSIVE, receptors=places), 2)
    with pytest.raises(rv.errors.ValueOutOfBoundsError, match="no receptor"):
        net.connect(two, none, "all_to_all", weight=1.0, delay=1.0)
    with pytest.raises(rv.errors.ValueOutOfBoundsError, match="a, b"):
        net.connect(two, two, "all_to_all", weight=1.0, delay=1.0)
    with pytest.raises(rv.errors.UnknownNameError, match="receptor"):
        net.connect(two, two, "all_to_all", weight=1.0, delay=1.0, receptor="c")
    with pytest.raises(rv.errors.UnknownNameError, match=r"receptor.*'b'.*there are no such names"):
        net.connect(two, none, "all_to_all", weight=1.0, delay=1.0, receptor="b")
    with pytest.raises(rv.errors.ValueOutOfBoundsError, match="-1"):
        net.connect(two, two, "all_to_all", weight=-1.0, delay=1.0, receptor="b")


def test_a_potential_beyond_the_tables_is_told() -> None:
    """Rates are tabulated from -250 to 250 mV; exact ones have no end there."""
    keys: dict[str, Any] = {"membrane": [("all", rv.hh())]}
    with pytest.raises(rv.errors.StateError, match=r"^potential of neuron 0 of population .cell_0. at .* 250 mV"):
        run(rv.Cell(TREE, **keys), 5.0, I_e=1e6)
    assert run(rv.Cell(TREE, rates="exact", **keys), 1.0, I_e=1e6).max() > 250.0


def test_synapses_onto_cells_learn_and_stimuli_reach_them() -> None:
    """The same weights and spikes on any number of threads."""

    def outcome(threads: int) -> tuple[str, int, npt.NDArray[np.float64]]:
        places = {"exc": (rv.expsyn(), rv.at(1, 0.7)), "inh": (rv.expsyn(e=-80.0), rv.at(0))}
        cell = rv.Cell(TREE, compartments=3, membrane=[("all", rv.hh())], receptors=places)
        net = rv.Network(resolution=0.1, seed=3)
        sources = net.create(rv.iaf_psc_exp(), 40, I_e=450.0, V_m=rv.Uniform(-70.0, -55.0))
        cells = net.create(cell, 10)
        learning = net.connect(
            sources,
            cells,
            rv.FixedIndegree(20),
            weight=6.0,
            delay=rv.Uniform(1.0, 3.0),
            receptor="exc",
            synapse=rv.stdp(W_max=12.0, learning_rate=0.05),
        )
        net.stimulate(cells, rv.poisson_generator(rate=300.0), weight=2.0, receptor="inh")
        net.stimulate(cells, rv.dc_generator(amplitude=20.0))
        recorder = net.record_spikes()
        simulation = rv.Simulation(net, threads=threads)
        simulation.run(150.0)
        spikes = simulation.spikes(recorder)
        weights = np.array(simulation.connections(projection=learning).weights)
        return spikes.digest(), len(spikes.of(cells).times), weights

    digest, fired, weights = outcome(1)
    assert fired > 10
    assert weights.std() > 0.1
    other_digest, _, other_weights = outcome(3)
    assert other_digest == digest
    np.testing.assert_array_equal(other_weights, weights)
