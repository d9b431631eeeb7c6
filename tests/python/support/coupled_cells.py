"""Cells in a field that act on each other; as a program: the digest of their spikes on the processes that run it."""

from __future__ import annotations

from typing import Any

import numpy as np

import ranvier as rv
from electrodes import cell

STEP = 0.05


def network(seed: int = 5, **coupling: Any) -> tuple[rv.Network, rv.SpikeRecorder, rv.CompartmentRecorder]:
    """Return a network of cells of two kinds and sizes of blocks with a field, coupled through a poor conductor."""
    net = rv.Network(resolution=STEP, seed=seed)
    layout = rv.random_positions(extent=(80.0, 80.0, 80.0), unit="um")
    equal = net.create(cell(), 9, positions=layout, rotation=rv.random_rotation("y"), name="equal")
    kinds = [cell(compartments=[1, count, 2, 3]) for count in (4, 7)]
    packed = net.create([kinds[i % 2] for i in range(4)], positions=layout, name="packed")
    for cells in (equal, packed):
        net.set(cells, I_e=150.0)
        net.stimulate(cells, "poisson_generator", rate=800.0, weight=4.0, delay=0.5)
    net.connect(equal, packed, rv.FixedIndegree(3), weight=2.0, delay=1.0)
    net.apply_field(equal[2:8], rv.uniform_field((0.0, 40.0, 0.0), rv.sine_wave(50.0)), interval=2 * STEP)
    net.couple_extracellular([equal, packed], **{"interval": 4 * STEP, "sigma": 0.05, **coupling})
    return net, net.record_spikes(), net.record_compartments([equal, packed], interval=20 * STEP)


def run(coupling: dict[str, Any] | None = None, **options: Any) -> tuple[str, np.ndarray]:
    """Return the digest of the spikes and the membrane currents of a simulation with these options."""
    net, spikes, currents = network(**(coupling or {}))
    sim = rv.Simulation(net, progress=False, **options)
    sim.run(30.0)
    return sim.spikes(spikes).digest(), sim.state(currents).values


def words(coupling: dict[str, Any], **options: Any) -> list[str]:
    """Return the digest of a simulation, and the last bits of its currents."""
    digest, currents = run(coupling, **options)
    return [digest, currents.tobytes().hex()[-64:]]


if __name__ == "__main__":
    for stepping in ("bsp", "async"):
        for method in ("matrix", "fmm"):
            print(*words({"method": method}, stepping=stepping))
