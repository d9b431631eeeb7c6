"""A program for `test_mpi_digests`: run many configurations on all ranks, one after another.

Its arguments are a file with the configurations and one for what comes of them, both JSON.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

import ranvier as rv
from ranvier import mpi, networks
from ranvier.simulation.options import grouped

# With what they are made, and for how long they run (ms): in three pieces, none of which is whole epochs.
NETWORKS: dict[str, tuple[dict[str, Any], tuple[float, ...]]] = {
    # Delays from one step on: spikes are exchanged in every step.
    "microcircuit": ({"n_scaling": 0.003, "k_scaling": 0.01, "drive": "poisson"}, (0.3, 14.4, 10.3)),
    # 15 steps.
    "brunel": ({"version": "delta", "scale": 0.02}, (7.7, 50.0, 32.3)),
    # 20 steps.
    "interval_fire": (
        {"cells": 150, "connections": 20, "spread": 30, "weight": 0.02, "burst": True, "resolution": 0.05},
        (3.3, 20.0, 36.7),
    ),
}
GIVEN = "array"


def simulate(name: str, **options: Any) -> tuple[rv.Simulation, rv.SpikeData]:
    """Return the simulation of a network after its run, and its spikes on rank 0."""
    keywords, pieces = NETWORKS[name]
    model = getattr(networks, name)(**keywords)
    if name == "microcircuit":
        # So small a one is silent.
        for population in model.net.populations:
            model.net.stimulate(population, rv.poisson_generator(rate=20000.0), weight=150.0)
    if options.get("placement") == GIVEN:
        # Unevenly, and the last rank gets hardly any.
        ranks = mpi.world().size
        chances = np.arange(ranks, 0, -1.0) ** 2 if ranks > 1 else np.ones(1)
        units = sum(len(population) for population in model.net.populations)
        options["placement"] = np.random.default_rng(1).choice(ranks, units, p=chances / chances.sum())
    sim = rv.Simulation(model.net, recordings="root", **grouped(options))
    for number, piece in enumerate(pieces):
        sim.run(piece)
        change(sim, number)
    return sim, sim.spikes(model.spikes)


def change(sim: rv.Simulation, number: int) -> None:
    """Change some neurons and stimuli, with values that are drawn for each."""
    neurons = sim.network.populations[0]
    if number > 0:
        return
    if neurons.model == "interval_fire":
        sim.set(neurons, m=rv.Uniform(0.0, 0.9))
        return
    sim.set([neurons[:9], sim.network.populations[1]], V_m=rv.Normal(-60.0, 4.0), t_ref=rv.Uniform(1.0, 3.0))
    if sim.network.stimuli:
        sim.set(sim.network.stimuli[0], rate=rv.Uniform(2e4, 3e4))


def run(name: str, options: dict[str, Any]) -> dict[str, Any]:
    begin = time.monotonic()
    sim, spikes = simulate(name, **options)
    traffic = sim.traffic()
    return {
        "digest": spikes.digest(),
        "epoch_steps": sim.epoch_steps,
        "exchange": sim.exchange,
        "sorts_connections": sim.sorts_connections,
        "exchanges": traffic.exchanges,
        "rounds": traffic.rounds,
        "build_rounds": traffic.build_rounds,
        "seconds": time.monotonic() - begin,
    }


def main() -> None:
    configurations = json.loads(Path(sys.argv[1]).read_text())
    results = []
    for configuration in configurations:
        # For who looks at a run that hangs.
        print(json.dumps(configuration), flush=True)
        results.append(run(**configuration))
    if mpi.world().rank == 0:
        Path(sys.argv[2]).write_text(json.dumps(results))


if __name__ == "__main__":
    main()
