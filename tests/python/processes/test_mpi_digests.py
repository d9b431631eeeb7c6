"""The same network and seed give the same spikes, bit for bit, however the work is dealt to processes."""

from __future__ import annotations

import functools
import itertools
import json
import random
from pathlib import Path
from typing import Any

import pytest

import ranvier as rv
from mpi_digests import GIVEN, NETWORKS, simulate
from mpi_runs import WHEELS, Installation, installation, run_python
from ranvier import _core, mpi
from ranvier.processes.mpi_library import MPICH
from repository import SUPPORT

Configuration = dict[str, Any]

# Shards of each rank. On all of three ranks there are so many that most of them have no synapse from most sources.
MANY = 10

FACTORS: dict[str, list[Any]] = {
    "exchange": sorted(mpi.exchanges()),
    "ranks": [1, 2, 3, 4],
    "threads": [1, 2],
    "name": list(NETWORKS),
    "placement": ["round_robin", "consecutive", "shuffle", GIVEN],
    "spike_buffer": [None, 1],
    "allgather_spikes": [None, 1],
    "connection_buffer": [None, 1],
    "sort_connections": [True, False, "auto"],
    "keep_sources": [True, False],
    "row_numbering": ["auto", "dense", "compact", "sparse"],
    "intervals": [1, 2],
}
# They send ids of sources, which they must be able to find synapses by.
UNDIRECTED = {name for name, traits in _core.exchange_traits().items() if not traits["directed"]}


def is_possible(values: Configuration) -> bool:
    unsorted = values.get("sort_connections", True) is False
    keeps = values.get("keep_sources", True)
    numbering = values.get("row_numbering", "auto")
    if unsorted and numbering != "auto":
        return False
    if numbering == "sparse" and (not keeps or values.get("exchange", "allgather") not in UNDIRECTED):
        return False
    return values.get("exchange") not in UNDIRECTED or (keeps and not unsorted)


def pairs_of(values: Configuration) -> set[frozenset[tuple[str, Any]]]:
    return {frozenset(pair) for pair in itertools.combinations(values.items(), 2)}


def all_pairs() -> set[frozenset[tuple[str, Any]]]:
    return {
        frozenset([(one, a), (other, b)])
        for (one, values), (other, others) in itertools.combinations(FACTORS.items(), 2)
        for a in values
        for b in others
        if is_possible({one: a, other: b})
    }


@functools.cache
def covering(seed: int) -> list[Configuration]:
    """Return configurations: each method with each number of ranks and threads, and each pair of any two values."""
    draw = random.Random(seed)
    missing = all_pairs()
    chosen: list[Configuration] = []

    def choose(fixed: Configuration) -> None:
        candidates = [{name: draw.choice(values) for name, values in FACTORS.items()} | fixed for _ in range(200)]
        best = max(filter(is_possible, candidates), key=lambda values: len(pairs_of(values) & missing))
        missing.difference_update(pairs_of(best))
        chosen.append(best)

    for exchange, ranks, threads in itertools.product(*(FACTORS[name] for name in ("exchange", "ranks", "threads"))):
        choose({"exchange": exchange, "ranks": ranks, "threads": threads})
    for exchange in FACTORS["exchange"]:
        # Unsorted by choice, where that is possible.
        by_choice = {"name": "interval_fire", "shards": MANY, "sort_connections": "auto", "row_numbering": "auto"}
        choose({"exchange": exchange, "ranks": 3, **by_choice})
    while missing:
        choose(dict(min(missing, key=repr)))
    return chosen


@functools.cache
def reference(name: str) -> rv.SpikeData:
    return simulate(name, threads=1, instruction_set="baseline")[1]


def share_of(where: Installation) -> list[Configuration]:
    """Return what one of the families runs of the configurations, so that both together run all with few processes.

    MPICH, which waits in loops, gets those with as many processes as machines have processors at least.
    tests/python/validation runs all with each family, those with more processes, too.
    """
    ranks = (2,) if where.family is MPICH else (1, 3)
    return [values for values in covering(0) if values["ranks"] in ranks]


def run_all(
    where: Installation, ranks: int, folder: Path, configurations: list[Configuration]
) -> list[tuple[Configuration, dict[str, Any]]]:
    """Return the configurations with so many ranks, each with what came of it."""
    chosen = [values for values in configurations if values["ranks"] == ranks]
    asked = [
        {"name": values["name"], "options": {k: v for k, v in values.items() if k not in ("name", "ranks")}}
        for values in chosen
    ]
    (folder / "asked.json").write_text(json.dumps(asked))
    program = SUPPORT / "mpi_digests.py"
    done = run_python(where, ranks, program, "asked.json", "found.json", folder=folder, timeout=240)
    assert done.status == 0, f"{done.outputs[0].splitlines()[-1:]} {done.errors}"
    return list(zip(chosen, json.loads((folder / "found.json").read_text()), strict=True))


def test_networks_can_tell_something() -> None:
    epochs = {"microcircuit": 1, "brunel": 15, "interval_fire": 20}
    for name, steps in epochs.items():
        spikes = reference(name)
        assert len(spikes) > 200, name
        # Several spikes in many epochs, so that buffers of one entry overflow.
        by_epoch: dict[int, int] = {}
        for step in spikes.steps.tolist():
            by_epoch[(step - 1) // steps] = by_epoch.get((step - 1) // steps, 0) + 1
        assert sum(count >= 4 for count in by_epoch.values()) >= 5, name


def test_everything_is_combined() -> None:
    for seed in range(len(WHEELS)):
        found = set().union(*map(pairs_of, covering(seed)))
        assert found >= all_pairs()
        assert all(map(is_possible, covering(seed)))
    assert covering(0) != covering(1)
    shares = [share_of(where) for where in WHEELS]
    few = [values for values in covering(0) if values["ranks"] <= 3]
    assert sorted(itertools.chain(*shares), key=repr) == sorted(few, key=repr)
    for share in shares:
        assert {values["exchange"] for values in share} == set(FACTORS["exchange"])


SHARES = [
    pytest.param(where, ranks, id=f"{where}-{ranks}")
    for where in WHEELS
    for ranks in sorted({values["ranks"] for values in share_of(where)})
]


@pytest.mark.thorough
@pytest.mark.parametrize(("where", "ranks"), SHARES)
def test_same_spikes(where: Installation, ranks: int, tmp_path: Path) -> None:
    check(run_all(where, ranks, tmp_path, share_of(where)))


def test_each_method_has_the_same_spikes(tmp_path: Path) -> None:
    """One configuration of each method of exchange; `make validate` has all."""
    where = installation(MPICH, "wheel")
    share = sorted(share_of(where), key=lambda values: str(values["exchange"]))
    chosen = [next(group) for _, group in itertools.groupby(share, key=lambda values: values["exchange"])]
    assert len(chosen) == len(FACTORS["exchange"])
    check(run_all(where, 2, tmp_path, chosen))


def check(found: list[tuple[Configuration, dict[str, Any]]]) -> None:
    """Assert that the spikes are right, and that each configuration did what it is for."""
    wrong = [values for values, result in found if result["digest"] != reference(values["name"]).digest()]
    assert wrong == []
    unsorted = [values for values, result in found if not result["sorts_connections"]]
    assert all(values["sort_connections"] is not True for values in unsorted)
    for values, result in found:
        if values["sort_connections"] == "auto":
            # Where they have been made for it; with given numbers and few shards it depends on the network.
            made_for_it = (values.get("shards"), values["row_numbering"]) == (MANY, "auto")
            possible = values["exchange"] not in UNDIRECTED
            assert result["sorts_connections"] != (made_for_it and possible), values
        check_exchange(values, result)


def check_exchange(values: Configuration, result: dict[str, Any]) -> None:
    ranks = values["ranks"]
    if ranks == 1 and values["sort_connections"]:
        assert result["exchange"] == "none"
        return
    epochs = round(10 * sum(NETWORKS[values["name"]][1]) / result["epoch_steps"])
    assert result["exchanges"] >= epochs, values
    if values["exchange"] in ("alltoall", "allgather", "allgather_overlap", "overlap"):
        assert result["exchange"] == values["exchange"]
    if values["exchange"] in ("allgather_overlap", "overlap"):
        # The only delay of microcircuit that matters is one step, which cannot be divided.
        steps = {"microcircuit": 1, "brunel": 15, "interval_fire": 20}[values["name"]]
        assert result["epoch_steps"] == max(1, steps // values["intervals"])
    if values["exchange"] == "alltoall" and values["spike_buffer"] == 1 and ranks > 1:
        assert result["rounds"] > result["exchanges"] + 50, values
    if values["connection_buffer"] == 1 and ranks > 1 and values["exchange"] not in UNDIRECTED:
        assert result["build_rounds"] > 20, values
