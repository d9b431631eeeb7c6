"""A program for `test_mpi_stepping`: run networks on all ranks, one way after another, without epochs.

Its arguments are a file with the ways and one for what comes of them, both JSON.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import ranvier as rv
from ranvier import mpi
from ranvier.networks import layers
from ranvier.networks.ring import ring_cell
from ranvier.simulation.options import grouped

__all__ = ["SCENES", "TIME", "outcome", "simulate"]

TIME = 12.0  # ms


def cells() -> rv.Network:
    """Cells of different sizes that are driven hard, so that each fires now and then."""
    model = layers(cells=25, indegree=6, compartments=1)
    population = model.net.populations[0]
    model.net.stimulate(population, rv.poisson_generator(rate=300.0), weight=4.0, name="more")
    model.net.record_state(population[::5], ["V_m"], interval=0.5)
    return model.net


def learning() -> rv.Network:
    """Point neurons and sources that play spikes, with synapses that learn, or have their own dynamics."""
    net = rv.Network(resolution=0.1, seed=3)
    played = net.create_spike_generators([[0.5, 1.0 + 0.3 * i, 6.0, 9.0 + 0.1 * i] for i in range(8)], name="played")
    exc = net.create(rv.iaf_psc_exp(V_m=rv.Normal(-60.0, 3.0), I_e=500.0), 40, name="exc")
    inh = net.create(rv.iaf_psc_alpha(V_m=rv.Normal(-60.0, 3.0), I_e=450.0), 10, name="inh")
    net.connect(played, exc, rv.FixedIndegree(4), weight=300.0, delay=rv.Uniform(0.3, 4.0))
    stdp = rv.stdp(learning_rate=0.1, W_max=200.0)
    net.connect(exc, exc, rv.FixedIndegree(8), weight=60.0, delay=rv.Uniform(0.4, 3.0), synapse=stdp, name="stdp")
    net.connect(exc, inh, rv.FixedIndegree(8), weight=60.0, delay=0.7, synapse=rv.tsodyks2())
    net.connect(inh, exc, rv.FixedIndegree(3), weight=-200.0, delay=rv.Uniform(0.2, 2.0))
    net.record_spikes()
    net.record_state(exc[::7], ["V_m"], interval=0.3)
    return net


def mixed() -> rv.Network:
    """Cells and point neurons; a volume transmitter; populations of longer steps."""
    net = rv.Network(resolution=0.05, seed=5)
    points = net.create(rv.iaf_psc_exp(V_m=rv.Normal(-60.0, 3.0), I_e=520.0), 24, step=0.1, name="points")
    trees = net.create(ring_cell(depth=1, compartments=1), 9, I_e=400.0, name="trees")
    dopamine = net.create(rv.iaf_psc_exp(V_m=-58.0, I_e=600.0), 3, name="dopamine")
    net.connect(points, trees, rv.FixedIndegree(5), weight=3.0, delay=rv.Uniform(0.5, 2.0))
    net.connect(trees, points, rv.FixedIndegree(3), weight=100.0, delay=rv.Uniform(0.3, 5.0))
    net.connect(points, dopamine, rv.FixedIndegree(5), weight=40.0, delay=1.0)
    modulated = rv.stdp_dopamine(dopamine=dopamine)
    net.connect(points, points, rv.FixedIndegree(6), weight=40.0, delay=rv.Uniform(0.5, 3.0), synapse=modulated)
    net.record_spikes()
    net.record_state(trees, ["V_m"], interval=0.5)
    return net


def one_cell() -> rv.Network:
    """All ranks but one have nothing to do."""
    net = rv.Network(resolution=0.1)
    cell = net.create(ring_cell(depth=1, compartments=1), 1, I_e=2000.0)
    net.connect(cell, cell, "all_to_all", weight=0.1, delay=0.5)
    net.record_spikes()
    net.record_state(cell, ["V_m"], interval=0.1)
    return net


def no_slack() -> rv.Network:
    """Delays of one step both ways between some, and none between others; sources that never fire; a long chain."""
    net = rv.Network(resolution=0.1)
    silent, loud = net.create(rv.iaf_psc_exp(), 3), net.create(rv.iaf_psc_exp(I_e=900.0), 4)
    net.connect(silent, loud, "all_to_all", delay=3.0)
    net.connect(loud[:2], loud[:2], "all_to_all", weight=200.0, delay=0.1)
    chain = net.create(rv.iaf_psc_exp(), 6)
    net.connect(loud[:1], chain[:1], "all_to_all", weight=5000.0, delay=0.2)
    net.connect(chain[:5], chain[1:], "one_to_one", weight=5000.0, delay=0.2)
    net.record_spikes()
    return net


SCENES: dict[str, Callable[[], rv.Network]] = {
    each.__name__: each for each in (cells, learning, mixed, one_cell, no_slack)
}


def simulate(scene: str, pieces: list[float], saves: bool = False, **options: Any) -> rv.Simulation:
    """Return the simulation of a scene after its run; if it `saves`, it goes on after each piece from a saved state."""
    net = SCENES[scene]()
    sim = rv.Simulation(net, progress=False, **grouped(options))
    for number, piece in enumerate(pieces):
        sim.run(piece)
        if number == 0 and scene != "one_cell":
            neurons = next(each for each in net.populations if not each.plays_spikes)
            sim.set(neurons[1:3], V_m=rv.Normal(-58.0, 1.0))
        if saves and number + 1 < len(pieces):
            path = Path(f"{scene}.{number}.h5")
            sim.save(path)
            # Turn by turn with and without epochs.
            other = {**options, "stepping": "async" if number % 2 else "bsp", "notifications": "packed"}
            sim = rv.Simulation.load(net, path, progress=False, **grouped(other))
    return sim


def outcome(sim: rv.Simulation) -> str:
    """Return a digest of all that was recorded, and of all weights."""
    result = hashlib.sha256()
    for recorder in sim.network.recorders:
        if isinstance(recorder, rv.SpikeRecorder):
            spikes = sim.spikes(recorder)
            result.update(f"{len(spikes)} {spikes.digest()}".encode())
        elif isinstance(recorder, rv.StateRecorder):
            state = sim.state(recorder)
            result.update(state.steps.tobytes() + state.values.tobytes())
    synapses = sim.connections()
    order = np.lexsort([synapses.delays, synapses.weights, synapses.targets, synapses.sources])
    for column in (synapses.sources, synapses.targets, synapses.weights):
        result.update(np.asarray(column)[order].tobytes())
    return result.hexdigest()


def main() -> None:
    results = []
    for way in json.loads(Path(sys.argv[1]).read_text()):
        # For who looks at a run that hangs.
        print(json.dumps(way), flush=True)
        sim = simulate(**way)
        traffic = sim.traffic()
        results.append(
            {
                "outcome": outcome(sim),
                "exchange": sim.exchange,
                "visits": int(sim.visits.sum()),
                "notifications": traffic.notifications,
                "messages": traffic.messages,
            }
        )
    if mpi.world().rank == 0:
        Path(sys.argv[2]).write_text(json.dumps(results))


if __name__ == "__main__":
    main()
