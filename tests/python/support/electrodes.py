"""Cells with electrodes beside them; as a program: the potentials on the processes that run it."""

from __future__ import annotations

import math
import sys
from typing import Any

import numpy as np
import numpy.typing as npt

import ranvier as rv

STEP = 0.05
CONTACTS = np.array([[30.0, y, 5.0] for y in range(-150, 350, 50)])


def cell(**keys: Any) -> rv.Cell:
    """Return a cell with sections in space."""
    points = [
        [(0.0, -10.0, 0.0, 20.0), (0.0, 10.0, 0.0, 20.0)],
        [(0.0, 10.0, 0.0, 3.0), (20.0, 150.0, 10.0, 2.0), (0.0, 300.0, 0.0, 1.0)],
        [(0.0, -10.0, 0.0, 2.0), (-80.0, -90.0, 20.0, 1.5)],
        [(0.0, -10.0, 0.0, 2.0), (70.0, -100.0, -30.0, 1.0)],
    ]
    tree = rv.Morphology(
        [
            rv.Section(points=each, parent=None if i == 0 else 0, parent_position=float(i == 1))
            for i, each in enumerate(points)
        ]
    )
    given: dict[str, Any] = {
        "compartments": [1, 6, 3, 3],
        "membrane": [("all", rv.pas(g=1e-4, e=-65.0)), ("soma", rv.hh())],
        "receptors": {"ampa": (rv.exp2syn(tau_rise=0.5, tau_decay=3.0), rv.at(1, 0.9))},
    }
    return rv.Cell(tree, **{**given, **keys})


def network(seed: int = 3, **recorded: Any) -> tuple[rv.Network, rv.ExtracellularRecorder, rv.CompartmentRecorder]:
    """Return a network of cells that get synaptic input, with contacts beside them."""
    net = rv.Network(resolution=STEP, seed=seed)
    positions = rv.positions([[0.0, 0.0, 0.0], [120.0, 20.0, -40.0], [-60.0, 10.0, 90.0]], unit="um")
    cells = net.create(cell(), positions=positions, rotation=rv.random_rotation("y"), I_e=200.0, name="cells")
    net.stimulate(cells, "poisson_generator", rate=800.0, weight=4.0, delay=0.5)
    potentials = net.record_extracellular(CONTACTS, interval=4 * STEP, cells=cells, **recorded)
    return net, potentials, net.record_compartments(cells, interval=4 * STEP)


def population(count: int = 30, seed: int = 7, *, beyond: float = 0.0) -> tuple[rv.Network, npt.NDArray[np.float64]]:
    """Return a network of cells with many compartments, and contacts outside of them, in a cube of 500 um at x < 0."""
    net = rv.Network(resolution=STEP, seed=seed)
    random = np.random.default_rng(seed)
    places = random.uniform(-500.0, -200.0, (count, 3)) + np.array([beyond, 0.0, 0.0])
    cells = net.create(
        cell(compartments=[1, 30, 20, 20], membrane=[("all", rv.pas(g=1e-4, e=-65.0))]),
        positions=rv.positions(places, unit="um"),
        rotation=rv.random_rotation("x"),
        name="cells",
    )
    net.stimulate(cells, "poisson_generator", rate=800.0, weight=4.0, delay=0.5)
    contacts = random.uniform(-500.0, 0.0, (1200, 3))
    middles = np.concatenate([cells.compartment_lines(i).middle for i in range(count)])
    squares = (contacts**2).sum(axis=1)[:, np.newaxis] + (middles**2).sum(axis=1) - 2.0 * contacts @ middles.T
    return net, contacts[squares.min(axis=1) > 400.0]


def fields(**options: Any) -> npt.NDArray[np.float64]:
    """Return the potentials by the fast multipole method of a simulation with these options."""
    net, contacts = population()
    recorder = net.record_extracellular(contacts, interval=2 * STEP, method="fmm", accuracy=1e-2)
    sim = rv.Simulation(net, progress=False, **options)
    sim.run(2.0)
    return sim.extracellular(recorder).potentials


def potentials(**options: Any) -> npt.NDArray[np.float64]:
    """Return the recorded potentials of a simulation with these options, and dipole moments of all and of each cell."""
    net, recorder, _ = network()
    dipoles = [net.record_dipole(net.populations[0], 4 * STEP, per_cell=per_cell) for per_cell in (False, True)]
    sim = rv.Simulation(net, progress=False, **options)
    sim.run(6.0)
    recorded = [sim.extracellular(recorder).potentials, *(sim.dipole(each).values for each in dipoles)]
    return np.concatenate([each.reshape(len(each), math.prod(each.shape[1:])) for each in recorded], axis=1)


if __name__ == "__main__":
    for placement in ("round_robin", "shuffle"):
        for recordings in ("everywhere", "root"):
            values = potentials(recordings=recordings, processes=rv.Processes(placement=placement))
            if values.size:
                print(values.tobytes().hex()[-200:], file=sys.stdout)
    values = fields()
    print(values.tobytes().hex()[-200:], file=sys.stdout)
