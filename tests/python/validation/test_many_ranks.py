"""What is predicted, what dry runs do and what real runs on many processes do: all three agree.

That the program's account is what it really allocates, tests/cpp/test_memory_account.cpp checks, which counts every
byte.
"""

from __future__ import annotations

import json
import statistics
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import pytest

import ranvier as rv
from mpi_runs import WHEELS, run_python
from ranvier import _core
from ranvier.forecast.dry_run import PlayedProcess, play
from ranvier.networks import NetworkModel
from ranvier.simulation.options import grouped
from ranvier.simulation.predictions import predict_memory

TOLERANCE = 0.05

# By the number of ranks: with about as much on each of them, as far as the network goes.
NETWORKS: dict[str, Callable[[int], NetworkModel]] = {
    "microcircuit": lambda ranks: rv.networks.microcircuit(scale=min(1.0, 0.05 * ranks)),
    "brunel": lambda ranks: rv.networks.brunel(order=300 * ranks, epsilon=min(0.1, 0.5 / ranks)),
    "interval_fire": lambda ranks: rv.networks.interval_fire(cells=2000 * ranks, connections=500),
    "hpc_benchmark": lambda ranks: rv.networks.hpc_benchmark(scale=0.1 * ranks, indegree_scale=0.1),
}
Numbering = Literal["auto", "dense", "compact"]


def total(memory: dict[str, int]) -> int:
    """Return all bytes but those that nobody predicts."""
    return sum(size for name, size in memory.items() if name not in ("recordings", "construction", "invention"))


# ---- predicted and counted -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("tables", ["auto", "dense", "compact", "unsorted"])
@pytest.mark.parametrize("ranks", [1, 2, 16, 128, 2048])
@pytest.mark.parametrize("name", NETWORKS)
def test_prediction(name: str, ranks: int, tables: str, threads: int) -> None:
    model = NETWORKS[name](ranks)
    options: dict[str, Any] = {"threads": threads}
    if tables == "unsorted":
        options["sort_connections"] = False
    else:
        options["row_numbering"] = tables
    # Buffers are as large as the largest burst needs, which nobody can know before. Here there is none.
    played = play(model.net, ranks, duration=100.0, rate=10.0, progress=False, **grouped(options))
    assert played.sorts_connections or tables in ("unsorted", "auto")
    predicted = predict_memory(model.net, ranks=ranks, rate=10.0, time=100.0, **grouped(options))
    if model.net.neuron_count / ranks < 100:
        # A dry run lets all ranks fire at once. Where a rank fires once in a hundred steps only, thousands of spikes
        # then come together or none, and how often two such bursts meet in the lists is a matter of chance.
        for part in ("spikes", "exchange"):
            assert 0.4 < predicted.pop(part) / played.memory.pop(part) < 2.5, part
    assert total(predicted) == pytest.approx(total(played.memory), rel=TOLERANCE), (predicted, played.memory)


# Persistent messages are set up when a neuron first fires, so that they take the more the longer a run is.
@pytest.mark.parametrize(
    "exchange",
    sorted(
        name
        for name, traits in _core.exchange_traits().items()
        if not traits["on_host"] and name not in ("auto", "persistent", "persistent_reduce_scatter")
    ),
)
def test_prediction_of_buffers(exchange: str) -> None:
    for ranks in (4, 512):
        net = NETWORKS["hpc_benchmark"](ranks).net
        played = play(net, ranks, duration=50.0, threads=1, rate=20.0, **grouped({"exchange": exchange}))
        predicted = predict_memory(net, ranks=ranks, rate=20.0, time=50.0, threads=1, **grouped({"exchange": exchange}))
        assert total(predicted) == pytest.approx(total(played.memory), rel=TOLERANCE), (predicted, played.memory)


# ---- played and real -------------------------------------------------------------------------------------------------


REAL = """
import dataclasses, json, sys
import ranvier as rv
from ranvier import mpi
from ranvier.simulation.options import grouped

name, keywords, options = sys.argv[1], json.loads(sys.argv[2]), json.loads(sys.argv[3])
net = getattr(rv.networks, name)(**keywords).net
sim = rv.Simulation(net, threads=1, recordings="local", **grouped(options))
sim.run(500.0)
counts = sim.counts()
traffic = dataclasses.asdict(sim.traffic())
rates = {name: spikes / len(net[name]) / 0.5 for name, spikes in counts.population_spikes.items()}
print(json.dumps({"memory": sim.memory(), "events": counts.synaptic_events, "traffic": traffic, "rates": rates}))
"""

REAL_NETWORKS: dict[str, dict[str, Any]] = {
    # Large enough that the inputs of all delays exceed the cache on each of four ranks. Ranks whose longest delays
    # differ then choose the same layout of tables.
    "microcircuit": {"n_scaling": 0.16, "k_scaling": 0.6, "drive": "poisson"},
    "brunel": {"order": 800},
    "interval_fire": {"cells": 4000, "connections": 500},
    "hpc_benchmark": {"scale": 0.4, "indegree_scale": 0.1},
}

# A rank that hears itself from everywhere has fewer sources that differ, and they fire more together. Small networks
# whose neurons share many of their sources then fire more than in a real run: they are told the rates of that.
FIRE_THE_SAME = ("brunel", "interval_fire")


@pytest.mark.parametrize(
    "options", [{}, {"sort_connections": False}, {"exchange": "neighbor"}, {"exchange": "allgather"}]
)
@pytest.mark.parametrize("ranks", [2, 3, 4])
@pytest.mark.parametrize("name", REAL_NETWORKS)
def test_played_rank_is_like_real_ones(name: str, ranks: int, options: dict[str, Any], tmp_path: Path) -> None:
    keywords = REAL_NETWORKS[name]
    run = run_python(
        WHEELS[0], ranks, REAL, name, json.dumps(keywords), json.dumps(options), folder=tmp_path, timeout=300
    )
    assert run.status == 0, run.errors
    real = [json.loads(output) for output in run.outputs]
    net = getattr(rv.networks, name)(**keywords).net
    rates = None if name in FIRE_THE_SAME else real[0]["rates"]
    played = play(net, ranks, duration=500.0, threads=1, rate=rates, **grouped(options))
    played.memory.pop("invention", None)
    memory = {part: statistics.mean(rank["memory"][part] for rank in real) for part in real[0]["memory"]}
    # Buffers of spikes grow by doubling, with the largest burst. Where others do what a rank does, bursts are larger;
    # there are none in spikes that were invented.
    for part in ("spikes", "exchange"):
        held, in_real = played.memory.pop(part), memory.pop(part)
        assert rates is not None or held > 0.45 * in_real, part
    assert total(played.memory) == pytest.approx(sum(memory.values()) - memory["recordings"], rel=TOLERANCE)
    for part in ("synapses", "neurons", "inputs", "presynaptic"):
        assert played.memory.get(part, 0) == pytest.approx(memory.get(part, 0), rel=TOLERANCE), part
    # Of all ranks together in a real run.
    assert played.events == pytest.approx(real[0]["events"] / ranks, rel=TOLERANCE)
    received = statistics.mean(rank["traffic"]["spikes_received"] for rank in real)
    assert played.traffic["spikes_received"] == pytest.approx(received, rel=TOLERANCE)


# ---- very many -------------------------------------------------------------------------------------------------------


def play_load(ranks: int, neurons: int, indegree: int, exchange: str | None = None) -> PlayedProcess:
    """Play a rank with a fixed load: so many neurons with so many sources each, at 10 spikes/s."""
    net = rv.networks.hpc_benchmark(scale=neurons * ranks / 11250, indegree_scale=indegree / 11250).net
    return play(
        net,
        ranks,
        duration=60.0,
        presim=15.0,
        rate=10.0,
        threads=1,
        **grouped({} if exchange is None else {"exchange": exchange}),
        progress=False,
    )


# As in docs/measurements/kernels.json, where one in four sources with a target on one of 2,048 ranks has several; and
# with so few targets that nearly every one is alone.
@pytest.mark.parametrize(("neurons", "indegree"), [(1125, 1125), (4500, 225)])
def test_memory_of_all_components_does_not_grow(neurons: int, indegree: int) -> None:
    few, many = (play_load(ranks, neurons, indegree) for ranks in (2048, 100_000))
    assert (few.exchange, many.exchange) == ("alltoall", "grid")
    assert sum(many.memory.values()) < 1.05 * sum(few.memory.values()), (few.memory, many.memory)
    # So does the work of a step: as many exchanges, spikes, bytes and synapses.
    assert many.traffic["exchanges"] == few.traffic["exchanges"]
    assert many.traffic["spikes_received"] == pytest.approx(few.traffic["spikes_received"], rel=0.03)
    assert many.traffic["bytes_sent"] < 1.05 * few.traffic["bytes_sent"]
    assert many.traffic["messages"] < few.traffic["messages"]
    assert many.events == pytest.approx(few.events, rel=0.03)


# Collectives of all processes have buffers, or lengths, for each.
@pytest.mark.parametrize(("exchange", "of_a_rank"), [("alltoall", 70), ("alltoallv", 70), ("neighbor", 45)])
def test_methods_that_hold_something_for_each_rank(exchange: str, of_a_rank: int) -> None:
    few, many = (play_load(ranks, 1125, 225, exchange) for ranks in (2048, 100_000))
    of_grid = play_load(100_000, 1125, 225).memory["exchange"]
    assert few.memory["exchange"] < many.memory["exchange"] < few.memory["exchange"] + of_a_rank * 100_000
    assert many.memory["exchange"] > 5 * of_grid


def test_what_grows_for_those_who_send_to_all() -> None:
    few, many = (play_load(ranks, 1125, 225, "allgather") for ranks in (256, 4096))
    assert many.traffic["spikes_received"] > 10 * few.traffic["spikes_received"]
    assert many.events == pytest.approx(few.events, rel=0.05)
