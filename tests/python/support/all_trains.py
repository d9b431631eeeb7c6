"""Trains of all stimulators that emit spikes. As a program: run them on all ranks, in several ways.

Its arguments are a file with the options and one for what comes of them, both JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

import ranvier as rv
from ranvier import mpi
from ranvier.populations.model_base import Stimulator
from ranvier.simulation.options import grouped

__all__ = ["TRAINS", "model_of", "spikes_of_all"]

TRAINS: dict[str, dict[str, Any]] = {
    "poisson_generator": {"rate": 150.0},
    "inhomogeneous_poisson_generator": {"times": [0.0, 20.0], "rates": [100.0, 400.0]},
    "sinusoidal_poisson_generator": {"rate": 150.0, "amplitude": 100.0, "frequency": 30.0},
    "gamma_generator": {"rate": 150.0, "shape": 3.0, "dead_time": 1.0},
    "inhomogeneous_gamma_generator": {"times": [0.0, 20.0], "rates": [100.0, 400.0], "shape": 0.5},
    "sinusoidal_gamma_generator": {"rate": 150.0, "amplitude": 100.0, "frequency": 30.0, "shape": 4.0},
    "mip_generator": {"rate": 300.0, "p_copy": 0.5},
    "pulsepacket_generator": {"pulse_times": [10.0, 40.0], "activity": 5, "sdev": 2.0},
}


def model_of(name: str, **others: Any) -> Stimulator:
    made: Stimulator = getattr(rv, name)(**{**TRAINS[name], **others})
    return made


def spikes_of_all(**options: Any) -> tuple[str, int]:
    """Return the digest and the number of spikes of sources and targets of all trains, some of whose values change."""
    net = rv.Network(seed=5)
    for name, values in TRAINS.items():
        # Values of their own.
        others = {"rate": np.linspace(50.0, 400.0, 33)} if "rate" in values else {}
        net.create(model_of(name, **others), 33, name=name)
        net.stimulate(net.create("parrot_neuron", 7), model_of(name), delay=0.3)
    recorder = net.record_spikes(list(net.populations))
    sim = rv.Simulation(net, recordings="root", progress=False, **grouped(options))
    sim.run(20.3)
    for population in net.populations:
        if "rate" in TRAINS.get(population.name, {}):
            sim.set(population, rate=rv.Uniform(100.0, 600.0))
        if "rates" in TRAINS.get(population.name, {}):
            sim.set(population, times=[0.0, 30.0], rates=[300.0, 20.0])
    sim.run(29.7)
    spikes = sim.spikes(recorder)
    return spikes.digest(), len(spikes)


def main() -> None:
    """Run all configurations."""
    asked, found = (Path(each) for each in sys.argv[1:])
    results = [spikes_of_all(**options) for options in json.loads(asked.read_text())]
    if mpi.world().rank == 0:
        found.write_text(json.dumps(results))


if __name__ == "__main__":
    main()
