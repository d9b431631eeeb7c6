"""A recorder of potentials by the fast multipole method, on the processes that run this program.

Each prints how many compartments it has places of, then the memory of coupled cells and the prediction of it, then the
potentials of its cells at some contacts. The argument is the number of processes.
"""

from __future__ import annotations

import sys

import numpy as np
import numpy.typing as npt

import ranvier as rv
from electrodes import STEP, cell, population


def wide_population(count: int = 600, seed: int = 11) -> tuple[rv.Network, npt.NDArray[np.float64]]:
    """Return a network of cells of 71 compartments in a cube of 4 mm, and contacts among them."""
    net = rv.Network(resolution=STEP, seed=seed)
    random = np.random.default_rng(seed)
    net.create(
        cell(compartments=[1, 30, 20, 20], membrane=[("all", rv.pas(g=1e-4, e=-65.0))]),
        positions=rv.positions(random.uniform(-2000.0, 2000.0, (count, 3)), unit="um"),
        rotation=rv.random_rotation("x"),
        name="cells",
    )
    return net, random.uniform(-2000.0, 2000.0, (20_000, 3))


def held_compartments() -> int:
    """Return the number of compartments whose places this process has."""
    net, contacts = wide_population()
    net.record_extracellular(contacts, interval=100.0, method="fmm", accuracy=0.1, inside="surface")
    sim = rv.Simulation(net, progress=False)
    (evaluation,) = sim._store._multipoles.values()
    return evaluation.compartments_here


def coupling_memory(ranks: int) -> tuple[int, int]:
    """Return the memory of coupled cells on this process, and what is predicted for one of some processes."""
    net = rv.Network(resolution=STEP, seed=3)
    places = np.random.default_rng(3).uniform(-500.0, 500.0, (1000, 3))
    net.couple_extracellular(
        net.create(cell(), positions=rv.positions(places, unit="um"), name="cells"),
        interval=4 * STEP,
        method="fmm",
        accuracy=1e-3,
    )
    predicted = rv.predict_memory(net, ranks=ranks)["fields"]
    return rv.Simulation(net, progress=False).memory()["fields"], predicted


def potentials(**options: str) -> npt.NDArray[np.float64]:
    """Return the potentials at some contacts after some time."""
    net, contacts = population()
    recorder = net.record_extracellular(contacts, interval=20 * STEP, method="fmm", accuracy=1e-5)
    sim = rv.Simulation(net, progress=False, **options)  # type: ignore[arg-type]
    sim.run(4.0)
    return sim.extracellular(recorder).potentials[-1, ::100]


if __name__ == "__main__":
    print(held_compartments(), *coupling_memory(int(sys.argv[1])), *potentials(recordings="local"), file=sys.stdout)
