"""The same network and seed give the same spikes, bit for bit, however the work is cut."""

from __future__ import annotations

import functools
from typing import Any

import pytest

import ranvier as rv
from ranvier import _core
from ranvier.simulation.options import grouped
from small_networks import NETWORKS, shipped
from thorough_cases import one_of_each

DURATION = 150.0  # ms


def digest(name: str, pieces: tuple[float, ...] = (DURATION,), **options: Any) -> str:
    model = shipped(name)
    sim = rv.Simulation(model.net, **grouped(options))
    for piece in pieces:
        sim.run(piece)
    spikes = sim.spikes(model.spikes)
    assert spikes.stop == pytest.approx(DURATION)
    assert len(spikes) > 500, "a silent network proves nothing"
    return spikes.digest()


@functools.cache
def reference(name: str, precision: str = "double", weight_precision: str = "single") -> str:
    return digest(name, threads=1, instruction_set="baseline", precision=precision, weight_precision=weight_precision)


@pytest.mark.parametrize(
    ("name", "threads", "instruction_set", "weight_precision"),
    one_of_each(NETWORKS, [1, 2, 3, 4, 7], _core.instruction_sets(), ["single", "double"]),
)
def test_same_for_threads_and_instruction_sets(
    name: str, threads: int, instruction_set: str, weight_precision: str
) -> None:
    # Each combination is also cut into other runs, none of which need be whole epochs.
    pieces = (0.1 * threads, 20.0, 30.3, 0.0, round(DURATION - 50.3 - 0.1 * threads, 1))
    found = digest(name, pieces, threads=threads, instruction_set=instruction_set, weight_precision=weight_precision)
    assert found == reference(name, weight_precision=weight_precision)


@pytest.mark.parametrize(("name", "threads"), one_of_each(NETWORKS, [4, 7, 1, 2, 3]))
def test_same_in_one_run(name: str, threads: int) -> None:
    assert digest(name, threads=threads) == reference(name)


@pytest.mark.parametrize(("name", "table_layout"), one_of_each(NETWORKS, ["runs", "ring", "blocks"]))
def test_same_for_table_layouts(name: str, table_layout: str) -> None:
    assert digest(name, threads=3, table_layout=table_layout) == reference(name)


@pytest.mark.parametrize(("name", "delivery_window"), one_of_each(NETWORKS, [1, 2, 64]))
def test_same_for_delivery_windows(name: str, delivery_window: int) -> None:
    assert digest(name, threads=2, table_layout="runs", delivery_window=delivery_window) == reference(name)


@pytest.mark.parametrize(("name", "instruction_set"), one_of_each(NETWORKS, _core.instruction_sets()))
def test_same_in_single_precision(name: str, instruction_set: str) -> None:
    found = digest(name, (60.0, 90.0), threads=2, instruction_set=instruction_set, precision="single")
    assert found == reference(name, precision="single")


@pytest.mark.parametrize("stealing", ["none", "local_and_remote", "prefer_local", "local_only"])
@pytest.mark.parametrize("pinning", ["auto", "equal", "compact", "none"])
def test_same_under_each_policy(pinning: str, stealing: str) -> None:
    found = digest("brunel alpha", threads=2, pinning=pinning, shards=5, stealing=stealing)
    assert found == reference("brunel alpha")


def test_another_seed_gives_other_spikes() -> None:
    digests = set()
    for seed in (1, 2, 3):
        model = rv.networks.brunel(scale=0.04, seed=seed)
        sim = rv.Simulation(model.net, threads=1)
        sim.run(20.0)
        digests.add(sim.spikes(model.spikes).digest())
    assert len(digests) == 3
