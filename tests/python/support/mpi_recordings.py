"""A program for `test_mpi_recordings`: record in every way on all ranks, and keep what each of them gets.

Its argument is the suffix of the files. For each way of gathering it writes ``WAY.SUFFIX.RANK.pickle``; files of
recorders are in ``WAY/``.
"""

from __future__ import annotations

import pickle
import sys
from pathlib import Path
from typing import Any

import ranvier as rv
from ranvier import mpi
from ranvier.simulation import recording_memory
from ranvier.simulation.options import OPTIONS
from small_networks import balanced

PIECES = (0.0, 12.3, 27.7, 20.0)
SUFFIXES = (".h5", ".csv")


def record(folder: Path, suffix: str, recordings: Any) -> list[dict[str, Any]]:
    """Return what there is after each piece of the run."""
    net, in_memory = balanced(100)
    exc = net["exc"]
    projection = net.projections[0]
    # With consecutive placement, the first three are on one rank. Some synapses connect the same pair.
    pair = net.connect(exc[:2], exc[90:], "fixed_total_number", number=60, weight=rv.Normal(1.0, 0.3), delay=1.5)
    kept = [
        in_memory,
        net.record_state(exc[[0, 1, 2]], ["V_m", "I_syn_ex"], 0.5),
        net.record_state(net["inh"], "V_m", 1.0),
        net.record_weights(pair, 10.0),
        net.record_weights(projection, 7.0, targets=exc[:2]),
    ]
    to = [folder / f"{name}{suffix}" for name in ("spikes", "state", "all", "pair", "weights")]
    filed = [
        net.record_spikes(to=to[0]),
        net.record_state(exc[[0, 1, 2]], ["V_m", "I_syn_ex"], 0.5, to=to[1]),
        net.record_state(net["inh"], "V_m", 1.0, to=to[2]),
        net.record_weights(pair, 10.0, to=to[3]),
        net.record_weights(projection, 7.0, targets=exc[:2], to=to[4]),
    ]
    sim = rv.Simulation(net, threads=2, recordings=recordings, processes=rv.Processes(placement="consecutive"))
    results = []
    for duration in PIECES:
        sim.run(duration)
        connections = sim.connections(projection=pair)
        connections.weights = connections.weights * 1.125
        results.append({"kept": fetch(sim, kept), "filed": fetch(sim, filed)})
    return results


def fetch(sim: rv.Simulation, recorders: list[Any]) -> dict[str, Any]:
    spikes, state, everything, pair, weights = recorders
    return {
        "spikes": sim.spikes(spikes),
        "state": sim.state(state),
        "all": sim.state(everything),
        "pair": sim.weights(pair),
        "weights": sim.weights(weights),
    }


def main() -> None:
    # Many pieces, of sizes that the ranks must agree on.
    recording_memory.BUDGET = 20_000
    rank, suffix = mpi.world().rank, sys.argv[1]
    for way in OPTIONS["recordings"].choices:
        folder = Path(way)
        folder.mkdir(exist_ok=True)
        results = record(folder, suffix, way)
        Path(f"{way}{suffix}.{rank}.pickle").write_bytes(pickle.dumps(results))


if __name__ == "__main__":
    main()
