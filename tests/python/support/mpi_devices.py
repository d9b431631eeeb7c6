"""A program for `test_mpi_devices`: a network on emulated devices of several ranks, in all that a user does with it.

Its arguments are what to do, and a device. Rank 0 prints what came of it as JSON, or each rank what it has caught.
"""

from __future__ import annotations

import hashlib
import json
import random
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import ranvier as rv
from ranvier import mpi
from ranvier.simulation.options import grouped
from repository import ROOT

sys.path.append(str(ROOT / "tests/python/validation"))

METHODS = [name for name in sorted(mpi.exchanges()) if name != "shared_memory"]
PIECE = 15.3  # ms: no whole number of epochs of 3, 7 or 10 steps


class Scene(NamedTuple):
    """A network and its recordings."""

    net: rv.Network
    spikes: rv.SpikeRecorder
    states: rv.StateRecorder


def scene(to_files: bool = False) -> Scene:
    """Return a network of two populations, with delays from 0.7 to 4 ms, and recordings."""
    net = rv.Network(resolution=0.1, seed=3)
    first = net.create("iaf_psc_exp", 83, I_e=rv.Uniform(390.0, 500.0), name="first")
    second = net.create("aeif_cond_exp", 14, I_e=rv.Uniform(650.0, 800.0), name="second")
    net.connect(first, first, rv.FixedIndegree(7), weight=rv.Normal(45.0, 4.0), delay=rv.Uniform(0.7, 4.0))
    net.connect(first, second, rv.FixedIndegree(5), weight=2.0, delay=1.3)
    net.connect(second, first, rv.FixedIndegree(2), weight=-60.0, delay=rv.Uniform(0.7, 0.9))
    net.stimulate(first[::2], rv.poisson_generator(rate=4000.0), weight=20.0)
    states = net.record_state(first[::3], "V_m", interval=1.1, to="states.csv" if to_files else None)
    return Scene(net, net.record_spikes([first, second], to="spikes.csv" if to_files else None), states)


def outcome(drawn: Scene, sim: rv.Simulation) -> dict[str, Any]:
    """Return digests of recordings and of the state, and the counts."""
    states = hashlib.sha256(sim.state(drawn.states).values.tobytes())
    for population in drawn.net.populations:
        states.update(sim.get(population, "V_m").tobytes())
    counts = sim.counts()
    return {
        "spikes": sim.spikes(drawn.spikes).digest(),
        "states": states.hexdigest(),
        "counts": [counts.spikes, counts.synaptic_events, counts.synapses, counts.steps],
    }


def change(drawn: Scene, sim: rv.Simulation) -> None:
    """Change weights with spikes in transit, a parameter and a potential, and run in between."""
    first, second = drawn.net.populations
    sim.run(PIECE)
    synapses = sim.connections(first, first)
    synapses.weights = 1.25 * synapses.weights
    sim.run(PIECE)
    sim.set(first, I_e=520.0)
    sim.run(0.1)
    sim.set(second, V_m=-66.0)
    sim.set(drawn.net.stimuli[0], rate=9000.0)
    sim.run(PIECE)


def options_of(device: str, **more: Any) -> dict[str, Any]:
    """Return the options of a simulation with a device, whose blocks differ between ranks."""
    emulated = {"shards": 2 + mpi.world().rank} if device != "cpu" else {}
    return {"progress": False, **grouped({"threads": 1, "device": device, **emulated, **more})}


def caught(action: Callable[[], object]) -> list[str]:
    """Return the name and the text of the error of an action."""
    try:
        action()
    except (rv.errors.RanvierError, KeyboardInterrupt) as error:
        return [type(error).__name__, str(error)]
    return []


def failing(device: str) -> dict[str, Any]:
    """Return what is caught when one rank fails or is interrupted, and what comes of going on."""
    told: dict[str, Any] = {}
    drawn = scene(to_files=True)
    sim = rv.Simulation(drawn.net, **options_of(device, placement="consecutive"))
    sim.run(PIECE)
    here = mpi.world().rank == 1

    sim._progress = (lambda _: signal.raise_signal(signal.SIGINT)) if here else False
    told["interrupted"] = caught(lambda: sim.run(1e6))
    sim._progress = False
    told["step"] = sim.step
    sim.run(PIECE)
    # Only the last rank has neurons that fail.
    second = drawn.net.populations[1]
    told["before"] = sim.step
    sim.set(second[-1], I_e=-1e300)
    told["failed"] = caught(lambda: sim.run(200.0))
    told["end"] = sim.step
    told["again"] = caught(lambda: sim.run(1.0))
    told["save"] = caught(lambda: sim.save("lost.h5"))
    told["get"] = caught(lambda: sim.get(second, "V_m"))
    return told


def random_outcome(seed: int, device: str) -> list[Any]:
    """Return what came of a random network of `test_devices_thorough`, exchanged by a random method."""
    from test_devices_thorough import outcome as outcome_of

    chance = random.Random(f"{mpi.world().size} ranks, {seed}")
    chosen = {
        "exchange": chance.choice(METHODS),
        "placement": chance.choice(["round_robin", "consecutive", "shuffle"]),
        "intervals": chance.choice([1, 2]),
        "row_numbering": chance.choice(["auto", "dense", "compact"]),
        "spike_buffer": chance.choice([None, 4096]),
    }
    try:
        digest, spikes, states = outcome_of(
            seed, chance.choice([1, 2, 3]), threads=1, device=device, shards=chance.randrange(1, 6), **chosen
        )
    except rv.errors.RemoteError:
        # As on the rank that has failed.
        digest, spikes, states = "failed", 0, b""
    except rv.errors.StateError as error:
        # As in one process: weights between 0 and a large one. All ranks refuse it.
        if "adds weights exactly in 64 bits" not in str(error):
            raise
        digest, spikes, states = "refused", 0, b""
    return [digest, spikes, hashlib.sha256(states).hexdigest()]


def main() -> None:
    what, device, *others = sys.argv[1:]
    rank = mpi.world().rank
    told: Any = None
    if what == "change":
        drawn = scene()
        told = []
        for exchange in others:
            sim = rv.Simulation(drawn.net, **options_of(device, exchange=exchange))
            change(drawn, sim)
            told.append(outcome(drawn, sim))
    elif what == "save":
        drawn = scene()
        sim = rv.Simulation(drawn.net, **options_of(device))
        sim.run(PIECE)
        sim.save("state.h5")
    elif what == "load":
        drawn = scene()
        sim = rv.Simulation.load(drawn.net, "state.h5", **options_of(device))
        change(drawn, sim)
        told = outcome(drawn, sim)
    elif what == "files":
        drawn = scene(to_files=True)
        sim = rv.Simulation(drawn.net, **options_of(device, recordings=others[0]))
        change(drawn, sim)
        told = outcome(drawn, sim) if others[0] == "everywhere" else None
    elif what == "fail":
        told = failing(device)
    elif what == "random":
        told = [random_outcome(seed, device) for seed in range(int(others[0]), int(others[1]))]
    Path(f"told.{rank}.json").write_text(json.dumps(told))


if __name__ == "__main__":
    main()
