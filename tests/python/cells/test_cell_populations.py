"""Populations of cells of several kinds, and with parameters of their own: what they do, whatever lies beside them."""

from __future__ import annotations

import math
import pickle
import random
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import ranvier as rv
from test_random_cells import draw

STEP, TIME = 0.025, 6.0
SOMA = rv.Section(length=20.0, diameter=20.0)
TREE = rv.Morphology([SOMA, rv.Section(length=100.0, diameter=1.0, parent=0, tag="basal")])
FloatArray = npt.NDArray[np.float64]


def kind(seed: int, **keys: Any) -> rv.Cell:
    """Return a random tree with channels, calcium, receptors and a clamp in some of its sections."""
    sections, counts = draw(seed)
    chance = random.Random(seed)
    last = rv.at(len(sections) - 1, 0.9)
    membrane: list[Any] = [("all", rv.pas(g=2e-4, e=-66.0)), (rv.sections(0), rv.hh())]
    some = [i for i in range(len(sections)) if chance.random() < 0.4] or [0]
    membrane += [(rv.sections(some), mechanism) for mechanism in (rv.ca_hva(), rv.sk_current(), rv.calcium_pool())]
    if len(sections) > 1:
        membrane.append((rv.sections(range(1, len(sections))), rv.hh(gnabar=rv.per_cell("gna", 0.05))))
    else:
        membrane.append(("all", rv.na_persistent(gbar=rv.per_cell("gna", 0.05, 1e-3))))
    return rv.Cell(
        rv.Morphology([rv.Section(**section) for section in sections]),
        compartments=counts,
        membrane=membrane,
        receptors={"fast": (rv.expsyn(tau=2.0), last), "slow": (rv.nmda(Mg=chance.choice([0.0, 1.0])), last)},
        clamps={"pulse": (rv.current_clamp(amplitude=50.0 + seed, start=1.0, duration=2.0), last)}
        if seed % 2
        else None,
        probes={"tip": last, "m": (rv.at(0), "m of hh"), "g": "slow", "ca": (rv.at(some[0]), "Ca of calcium_pool")},
        threshold=-20.0 + seed,
        V_init=-65.0 - seed,
        **{"celsius": 25.0, **keys},
    )


def network(cells: list[rv.Cell], gna: list[float]) -> tuple[rv.Network, rv.Population, Any, Any]:
    """Return a network in which all cells get the same spikes."""
    net = rv.Network(resolution=STEP)
    population = net.create(cells, I_e=150.0, gna=gna)
    source = net.create_spike_generators([[0.5, 1.0, 3.0]])
    for receptor in ("fast", "slow"):
        net.connect(source, population, "all_to_all", weight=3.0, delay=0.5, receptor=receptor)
    states = net.record_state(population, ["V_m", "tip", "m", "g", "ca"], interval=0.5)
    return net, population, states, net.record_spikes(population)


def run(cells: list[rv.Cell], gna: list[float], threads: int = 1, instruction_set: Any = "auto") -> tuple[Any, Any]:
    """Return the recorded values, shape (times, variables, cells), and the digest of the spikes."""
    net, _, states, spikes = network(cells, gna)
    simulation = rv.Simulation(net, threads=threads, tuning=rv.Tuning(instruction_set=instruction_set))
    simulation.run(TIME)
    return simulation.state(states).values, simulation.spikes(spikes).digest()


@pytest.mark.parametrize(
    "keys", [{}, {"scheme": "staggered"}, {"rates": "exact"}], ids=["tables", "staggered", "exact"]
)
def test_what_a_cell_does_does_not_depend_on_those_beside_it(keys: dict[str, Any]) -> None:
    """Each of 9 cells of 7 kinds in one population has the bits of the first of 8 that are alike.

    Eight that are alike lie in the lanes of whole slots, others are packed.
    """
    kinds = [kind(seed, **keys) for seed in range(7)]
    cells = [*kinds, kinds[3], kinds[5]]
    gna = [0.03 + 0.01 * i for i in range(len(cells))]
    expected = np.stack([run([cell] * 8, [value] * 8)[0][:, :, 0] for cell, value in zip(cells, gna, strict=True)], -1)
    assert np.abs(np.diff(expected, axis=0)).max() > 1.0
    for threads, instruction_set in ((1, "auto"), (2, "baseline"), (4, "auto")):
        np.testing.assert_array_equal(run(cells, gna, threads, instruction_set)[0], expected)
    more = [kinds[2]] * 9 + cells[::-1] + kinds[:2]
    values, digest = run(more, [0.05] * 9 + gna[::-1] + [0.05] * 2)
    np.testing.assert_array_equal(values[:, :, 9 : 9 + len(cells)], expected[:, :, ::-1])
    assert run(more, [0.05] * 9 + gna[::-1] + [0.05] * 2, threads=3)[1] == digest


def test_many_cells_fill_several_blocks() -> None:
    """More nodes than one packed block has."""
    long = rv.Morphology([SOMA, rv.Section(length=2000.0, diameter=2.0, parent=0)])
    kinds = [
        rv.Cell(long, compartments=[1, 1500 + i], membrane=[("all", rv.hh(gl=rv.per_cell("gl", 3e-4)))])
        for i in range(4)
    ]
    ends = []
    for cells in ([kinds[3], *kinds[:3], kinds[3]], [kinds[3]] * 8):
        net = rv.Network(resolution=STEP)
        states = net.record_state(net.create(cells, I_e=300.0), ["V_m"], interval=2.0)
        simulation = rv.Simulation(net)
        simulation.run(2.0)
        ends.append(simulation.state(states).values[-1, 0])
    assert ends[0][0] == ends[0][-1] == ends[1][0]


def test_states_move_between_packings(tmp_path: Path) -> None:
    """A state that one thread has saved goes on in three, and in populations that change their parameters."""
    cells, gna = [kind(seed) for seed in range(6)] + [kind(2)] * 9, [0.05 + 0.002 * i for i in range(15)]
    net, population, states, _ = network(cells, gna)
    simulation = rv.Simulation(net)
    simulation.run(2.0)
    simulation.set(population, gna=0.06)
    simulation.run(1.0)
    simulation.save(tmp_path / "state.h5")
    simulation.run(3.0)
    expected = simulation.state(states).values
    net, _, states, _ = network(cells, gna)
    loaded = rv.Simulation.load(net, tmp_path / "state.h5", threads=3)
    loaded.run(3.0)
    np.testing.assert_array_equal(loaded.state(states).values[-6:], expected[-6:])


def test_own_parameters_are_those_of_the_mechanism() -> None:
    """A value per cell does what the same constant does, also with a profile, drawn, and set while it runs."""

    def cell(value: Any) -> rv.Cell:
        return rv.Cell(
            TREE,
            compartments=[1, 4],
            membrane=[("all", rv.hh(gnabar=value))],
            probes={"i": (rv.at(1, 0.5), "i_Na of hh")},
        )

    def course(model: Any, size: int | None, change: float | None = None, **values: Any) -> FloatArray:
        net = rv.Network(resolution=STEP)
        cells = net.create(model, size, I_e=100.0, **values)
        states = net.record_state(cells, ["V_m", "i"], interval=1.0)
        simulation = rv.Simulation(net)
        simulation.run(3.0)
        if change is not None:
            simulation.set(cells[:2], g=change)
        simulation.run(3.0)
        return simulation.state(states).values

    profile = lambda distance: 0.5 + distance / 100.0  # noqa: E731
    own = cell(rv.per_cell("g", 0.12, profile))
    constant = [cell(lambda d, v=value: v * (0.5 + d / 100.0)) for value in (0.12, 0.07)]
    given = course(own, 3, g=[0.12, 0.07, 0.12])
    for i, model in enumerate((constant[0], constant[1], constant[0])):
        np.testing.assert_array_equal(given[..., i], course(model, 8)[..., 0])
    np.testing.assert_array_equal(course(own, 8), course(constant[0], 8))
    changed = course(own, 10, change=0.07)
    np.testing.assert_array_equal(changed[..., 2:], course(own, 8))
    assert (changed[-1, 0, :2] != changed[-1, 0, 2]).all()
    drawn = course(own, 20, g=rv.Normal(0.12, 0.01))
    assert len(np.unique(drawn[-1, 0])) == 20


def test_populations_of_kinds_are_described() -> None:
    """Sizes, defaults, copies and views."""
    a = rv.Cell(TREE, membrane=[("all", rv.pas(g=rv.per_cell("g", 1e-4)))], V_init=-70.0, name="a")
    b = rv.Cell(rv.Morphology([SOMA]), membrane=[("all", rv.pas(g=rv.per_cell("g", 2e-4)))], V_init=-60.0, name="b")
    net = rv.Network()
    cells = net.create([a, b, a], name="both")
    assert cells.cell is not None
    assert (len(cells), cells.compartment_count, cells.cell.variables) == (3, 5, ("V_m",))
    net.set(cells[:1], I_e=5.0)
    copy = pickle.loads(pickle.dumps(net))
    simulation = rv.Simulation(copy)
    population = copy.populations[0]
    np.testing.assert_array_equal(simulation.get(population, "V_m"), [-70.0, -60.0, -70.0])
    np.testing.assert_array_equal(simulation.get(population, "g"), [1e-4, 2e-4, 1e-4])
    simulation.run(1.0)
    assert rv.predict_memory(copy) is not None


def cell(**keys: Any) -> rv.Cell:
    """Return a passive cell with some other keys."""
    return rv.Cell(TREE, **{"membrane": [("all", rv.pas())], **keys})


def own_cell(mechanism: Any) -> rv.Cell:
    """Return a cell with a mechanism everywhere."""
    return cell(membrane=[("all", mechanism)])


BAD: dict[str, tuple[Any, str]] = {
    "no cells": (lambda net: net.create([]), "empty"),
    "no cell": (lambda net: net.create([cell(), "hh"]), "model.1."),
    "another size": (lambda net: net.create([cell()] * 3, 4), "has 3 cells"),
    "no size": (lambda net: net.create(cell()), "size"),
    "size of None": (lambda net: net.create(cell(), None), "size"),
    "other receptors": (
        lambda net: net.create([cell(), cell(receptors={"exc": (rv.expsyn(), rv.at(0))})]),
        "receptors of cell 1",
    ),
    "other probes": (lambda net: net.create([cell(), cell(), cell(probes={"v": rv.at(0)})]), "probes of cell 2"),
    "other temperature": (lambda net: net.create([cell(), cell(celsius=20.0)]), "temperature of cell 1"),
    "other scheme": (lambda net: net.create([cell(), cell(scheme="staggered")]), "scheme of cell 1"),
    "other rates": (lambda net: net.create([cell(), cell(rates="exact")]), "rates of cell 1"),
    "other parameters": (
        lambda net: net.create([cell(), own_cell(rv.pas(g=rv.per_cell("g", 1e-4)))]),
        "parameters of cell 1",
    ),
    "two units": (lambda net: own_cell(rv.pas(g=rv.per_cell("x", 1.0), e=rv.per_cell("x", 1.0))), "same unit"),
    "two defaults": (
        lambda net: own_cell(rv.hh(gnabar=rv.per_cell("x", 0.1), gkbar=rv.per_cell("x", 0.2))),
        "one default",
    ),
    "default below 0": (lambda net: own_cell(rv.pas(g=rv.per_cell("g", -1.0))), "default of parameter 'g'"),
    "default of nan": (lambda net: own_cell(rv.pas(g=rv.per_cell("g", math.nan))), "finite|default"),
    "profile below 0": (lambda net: own_cell(rv.pas(g=rv.per_cell("g", 1e-4, -1.0))), "profile"),
    "profile of 0": (lambda net: own_cell(rv.pas(g=rv.per_cell("g", 1e-4, 0.0))), "profile"),
    "profile of nan": (
        lambda net: own_cell(rv.pas(g=rv.per_cell("g", 1e-4, lambda d: d * math.nan))),
        "profile|finite",
    ),
    "profile of another length": (
        lambda net: own_cell(rv.pas(g=rv.per_cell("g", 1e-4, [1.0, 2.0, 3.0]))),
        "compartments",
    ),
    "profile per cell": (lambda net: rv.per_cell("g", 1e-4, rv.per_cell("h", 1.0)), "profile"),  # type: ignore[arg-type]
    "name of a variable": (lambda net: own_cell(rv.pas(g=rv.per_cell("V_m", 1e-4))), "given once"),
    "name of an argument": (lambda net: rv.per_cell("size", 1e-4), "argument"),
    "name with a blank": (lambda net: rv.per_cell("g na", 1e-4), "argument"),
    "name that is none": (lambda net: rv.per_cell(3, 1e-4), "name"),  # type: ignore[arg-type]
    "value below 0": (
        lambda net: net.create(own_cell(rv.pas(g=rv.per_cell("g", 1e-4))), 3, g=[1.0, 1.0, -1.0]),
        "g of",
    ),
    "value beyond bounds": (
        lambda net: net.create(own_cell(rv.pas(g=rv.per_cell("g", 1e-4, 1e5))), 3, g=1e5),
        "g of",
    ),
    "too few values": (lambda net: net.create(own_cell(rv.pas(g=rv.per_cell("g", 1e-4))), 3, g=[1.0, 2.0]), "3"),
    "unknown": (lambda net: net.create([cell()], gna=0.1), "gna"),
}


@pytest.mark.parametrize(("make", "message"), BAD.values(), ids=BAD)
def test_what_does_not_fit_is_refused(make: Any, message: str) -> None:
    """With a typed error that says what is wrong."""
    with pytest.raises(rv.errors.RanvierError, match=message):
        make(rv.Network())
