"""Memory of every synapse model in several ways to store it, and of many synapses; as `test_memory_of_synapses`."""

from __future__ import annotations

import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import pytest

import ranvier as rv
from memory_accounts import SYNAPSE_MODELS, check, model_named, network_with, run
from ranvier.processes.machine import resident_bytes
from ranvier.simulation.options import Precision
from ranvier.simulation.predictions import predict_memory

# Ranks, sorting, weights in double precision, threads, and whether all neurons fire together at first. Each value meets
# each of any other factor twice; each model takes one of the combinations in turn.
COMBINATIONS = [
    (1, True, False, 1, True),
    (1, True, True, 2, False),
    (1, False, False, 2, False),
    (1, False, True, 1, True),
    (2, True, False, 2, True),
    (2, True, True, 1, False),
    (2, False, False, 1, False),
    (2, False, True, 2, True),
]


@pytest.mark.parametrize(
    ("name", "combination"), [(name, COMBINATIONS[i % len(COMBINATIONS)]) for i, name in enumerate(SYNAPSE_MODELS)]
)
def test_synapses_of_every_model(name: str, combination: tuple[int, bool, bool, int, bool]) -> None:
    ranks, sort_connections, is_double, threads, together = combination
    model = network_with(model_named(name), 500 * threads * ranks, delay=rv.Uniform(1.0, 2.0), together=together)
    options: dict[str, Any] = {
        "sort_connections": sort_connections,
        "weight_precision": "double" if is_double else "single",
    }
    check(*run(ranks, model, threads=threads, **options))


def sizes_of_many(name: str, sort_connections: bool, weight_precision: Precision) -> tuple[int, int, int]:
    """Return what twenty million synapses take: resident, by the account, and as predicted."""
    # Some models compile their equations: the compiler's library, which the account leaves out, is loaded first.
    rv.Simulation(network_with(model_named(name), 100, rule=rv.FixedIndegree(10)).net, progress=False)
    net = network_with(model_named(name), 20_000, rule=rv.FixedIndegree(1000)).net
    processes = rv.Processes(sort_connections=sort_connections)
    before = resident_bytes()
    sim = rv.Simulation(net, threads=2, progress=False, weight_precision=weight_precision, processes=processes)
    sim.run(5.0)
    resident = resident_bytes() - before
    options: dict[str, Any] = {"threads": 2, "weight_precision": weight_precision, "processes": processes}
    return resident, sum(sim.memory().values()), sum(predict_memory(net, time=5.0, **options).values())


@pytest.mark.parametrize(
    ("name", "sort_connections", "weight_precision"),
    [
        ("static_synapse", True, "single"),
        ("static_synapse", False, "double"),
        ("stdp_pl", False, "single"),
        ("tsodyks2", True, "double"),
        ("quantal_stp", True, "single"),
        ("clopath", True, "single"),
    ],
)
def test_what_is_counted_is_resident(name: str, sort_connections: bool, weight_precision: Precision) -> None:
    # In a process of its own: what others had before may still be there.
    with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
        sizes = process.submit(sizes_of_many, name, sort_connections, weight_precision).result()
    resident, counted, predicted = sizes
    assert counted == pytest.approx(resident, rel=0.05)
    assert predicted == pytest.approx(counted, rel=0.05)
