"""Running random networks on several processes, by each method of exchange."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path

import fuzz_networks
from fuzz_networks import NetworkRun, Outcome, draw_run, outcome, reference
from mpi_runs import Installation, run_python
from ranvier import _core

__all__ = ["METHODS", "check_on_ranks", "draw_run_on_ranks"]

METHODS = sorted(_core.exchanges())
# They send every spike to all, who find its synapses by its source: unsorted ones are refused.
_BY_SOURCE = ("allgather", "rma_allgather")


def draw_run_on_ranks(seed: int, method: str, ranks: int) -> NetworkRun:
    """Return a way to run the network of a seed on several processes."""
    chance = random.Random(f"{ranks} ranks, {method}, {seed}")
    given = {
        "exchange": method,
        "threads": chance.choice([1, 1, 2]),
        "shards": None,
        "placement": chance.choice(["round_robin", "consecutive", "shuffle"]),
        "intervals": chance.choice([1, 2]),
        "spike_buffer": chance.choice([None, 4096]),
        "allgather_spikes": chance.choice([None, 1]),
        "connection_buffer": chance.choice([None, 4096]),
    }
    if method in _BY_SOURCE:
        given["sort_connections"] = chance.choice(["auto", True])
    return draw_run(seed, 0, **given)


def check_on_ranks(
    installation: Installation, ranks: int, seeds: Sequence[int], methods: Sequence[str], folder: Path
) -> None:
    """Run networks, each by the next of the methods, and make sure that all come out as on one process."""
    runs = [draw_run_on_ranks(seed, methods[i % len(methods)], ranks) for i, seed in enumerate(seeds)]
    (folder / "runs.json").write_text(json.dumps(runs))
    program, results = Path(fuzz_networks.__file__), folder / "results.json"
    run = run_python(installation, ranks, program, "runs.json", "results.json", folder=folder, timeout=900)
    assert run.status == 0, run.errors + run.outputs[0][-2000:]
    found = [Outcome(*each) for each in json.loads(results.read_text())]
    expected = [outcome(reference(seed)) for seed in seeds]
    together = zip(runs, found, expected, strict=True)
    different = [(way, one, other) for way, one, other in together if one != other]
    assert not different, different
    assert sum(each.spikes > 0 for each in expected) > len(expected) // 2, "silent networks prove nothing"
