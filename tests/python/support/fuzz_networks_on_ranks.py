"""Running random networks on several processes, by each method of exchange, and without epochs."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import fuzz_networks
from fuzz_networks import NetworkRun, Outcome, draw_run, outcome, reference
from mpi_runs import Installation, run_python
from ranvier import _core

__all__ = ["METHODS", "NOTIFICATIONS", "check_between_ranks", "check_on_ranks", "draw_run_on_ranks"]

METHODS = sorted(_core.exchanges())
NOTIFICATIONS = ["packed", "single"]
"""Ways to tell other processes how far the own shards are, where these do not wait for all others."""
# They send every spike to all, who find its synapses by its source: unsorted ones are refused.
_BY_SOURCE = sorted(name for name, traits in _core.exchange_traits().items() if not traits["directed"])


def draw_run_on_ranks(seed: int, method: str, ranks: int, *, saves: bool = False) -> NetworkRun:
    """Return a way to run the network of a seed on several processes; if it `saves`, it goes on by other methods.

    A method is one of exchanging spikes in epochs, or one of notifying each other.
    """
    chance = random.Random(f"{ranks} ranks, {method}, {seed}")
    methods = iter([method])

    def draw_given(_: random.Random) -> dict[str, Any]:
        present = next(methods, chance.choice(METHODS + NOTIFICATIONS))
        threads = chance.choice([1, 1, 2])
        placement = chance.choice(["round_robin", "consecutive", "shuffle"])
        if present in NOTIFICATIONS:
            return {
                "stepping": "async",
                "notifications": present,
                "threads": threads,
                "shards": chance.choice([None, threads, threads + 1, threads + 4]),
                "placement": placement,
                "row_numbering": chance.choice(["auto", "dense", "compact"]),
                "connection_buffer": chance.choice([None, 4096]),
            }
        given = {
            "exchange": present,
            "stepping": "bsp",
            "threads": threads,
            "shards": None,
            "placement": placement,
            "intervals": chance.choice([1, 2]),
            "spike_buffer": chance.choice([None, 4096]),
            "allgather_spikes": chance.choice([None, 1]),
            "connection_buffer": chance.choice([None, 4096]),
        }
        if given["exchange"] in _BY_SOURCE:
            given["sort_connections"] = chance.choice(["auto", True])
        return given

    return draw_run(seed, 0, saves=saves, draw_given=draw_given)


def check_on_ranks(
    installation: Installation,
    ranks: int,
    seeds: Sequence[int],
    methods: Sequence[str],
    folder: Path,
    *,
    saves: bool = False,
) -> None:
    """Run networks, each by the next of the methods, and make sure that all come out as on one process."""
    runs = [draw_run_on_ranks(seed, methods[i % len(methods)], ranks, saves=saves) for i, seed in enumerate(seeds)]
    _check(runs, _run_on_ranks(installation, ranks, runs, folder))


def check_between_ranks(
    installation: Installation, ranks: tuple[int, int], seeds: Sequence[int], methods: Sequence[str], folder: Path
) -> None:
    """Run networks, on so many processes until a state is saved, and then on so many others."""
    runs = [draw_run_on_ranks(seed, methods[i % len(methods)], 2, saves=True) for i, seed in enumerate(seeds)]
    _run_on_ranks(installation, ranks[0], runs, folder, "begin")
    _check(runs, _run_on_ranks(installation, ranks[1], runs, folder, "end"))


def _run_on_ranks(
    installation: Installation, ranks: int, runs: Sequence[NetworkRun], folder: Path, *part: str
) -> list[Outcome]:
    (folder / "runs.json").write_text(json.dumps(runs))
    program, results = Path(fuzz_networks.__file__), folder / "results.json"
    run = run_python(installation, ranks, program, "runs.json", "results.json", *part, folder=folder, timeout=900)
    assert run.status == 0, run.errors + run.outputs[0][-2000:]
    return [Outcome(*each) for each in json.loads(results.read_text())]


def _check(runs: Sequence[NetworkRun], found: Sequence[Outcome]) -> None:
    expected = [outcome(reference(run.seed)) for run in runs]
    together = zip(runs, found, expected, strict=True)
    different = [(way, one, other) for way, one, other in together if one != other]
    assert not different, different
    assert sum(each.spikes > 0 for each in expected) > len(expected) // 2, "silent networks prove nothing"
