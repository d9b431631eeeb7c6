"""What `ranvier bench stepping` predicts follows the rules of the engine, and nothing but the given times."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import ranvier as rv
from ranvier.errors import ValueOutOfBoundsError
from ranvier.networks import layers
from ranvier_benchmarks._stepping_events import Machine, Shards, run_async, run_bsp
from ranvier_benchmarks._stepping_forecast import Forecast, deal, predict

FREE = Machine(threads=1, visit=0.0, latency=0.0, overhead=0.0)


def ring(ranks: int, least: int, seconds: float = 1.0) -> Shards:
    """One shard on each rank, which reads the one before."""
    each = np.arange(ranks)
    return Shards(each, np.full(ranks, seconds), each, (each + 1) % ranks, np.full(ranks, least))


@pytest.mark.parametrize("cells", [256, 520])
def test_shards_advance_as_in_the_engine(cells: int) -> None:
    """On one thread the order is the same whatever takes how long: so are all visits."""
    sim = rv.Simulation(layers(cells=cells, compartments=1).net, threads=1, stepping="async", progress=False)
    sim.run(10.0)
    (found,) = predict({"compartments": 1}, cells, "hh", 1e-8, Forecast([1], [1], [0.0], FREE, 10.0))
    assert found["shards"] == sim.shards > 1
    assert found["async"]["steps_per_visit"] == pytest.approx(sim.stepping.steps_per_visit, rel=1e-12)


def test_without_messages_the_work_is_what_takes_time() -> None:
    shards = Shards(
        np.zeros(2, int), np.array([1.0, 3.0]), np.array([0, 1]), np.array([1, 0]), np.array([2, 2], dtype=np.int64)
    )
    for run in (run_bsp, run_async):
        found = run(shards, FREE, 10)
        assert found.seconds == pytest.approx(40.0)
        assert found.wait == pytest.approx(0.0, abs=1e-12)
        assert found.messages == 0


def test_bsp_waits_for_the_slowest_and_for_the_exchange() -> None:
    """Epochs of 2 steps: 5 of them; 3 processes exchange in two rounds."""
    machine = replace(FREE, visit=0.25, latency=0.5, overhead=0.125)
    shards = replace(ring(3, 2), seconds=np.array([1.0, 1.0, 4.0]))
    found = run_bsp(shards, machine, 10)
    assert found.seconds == pytest.approx(5 * (0.25 + 2 * 4.0 + 2 * (0.5 + 2 * 0.125)))
    assert found.wait == pytest.approx(1.0 - 5 * (2.25 + 2.25 + 8.25) / (3 * found.seconds))
    assert found.messages == 3 * 2 * 5


def test_async_waits_for_messages() -> None:
    """Two shards with a delay of one step both ways: each step waits for one message."""
    found = run_async(ring(2, 1), replace(FREE, latency=0.5, overhead=0.125), 8)
    # The last step is followed by a message that nobody waits for.
    assert found.seconds == pytest.approx(8 * (1.0 + 0.5 + 2 * 0.125), abs=0.13)
    assert found.messages == 16
    assert found.steps_per_visit == 1.0


def test_a_long_delay_hides_the_way_of_messages() -> None:
    """It takes 4 steps until half of the delay is told, and the message arrives before the other half has passed."""
    found = run_async(ring(4, 8), replace(FREE, latency=3.0), 200)
    assert found.seconds == pytest.approx(200.0, abs=3.1)
    assert run_bsp(ring(4, 8), replace(FREE, latency=3.0), 200).seconds == pytest.approx(200.0 + 25 * 2 * 3.0)


def test_a_shard_tells_within_a_long_visit() -> None:
    """One that reads nobody goes far at a time: who reads it would start that much later if it told at the end only."""
    shards = Shards(np.arange(2), np.ones(2), np.array([0]), np.array([1]), np.array([4]))
    assert run_async(shards, FREE, 100).seconds == pytest.approx(100.0)


def test_uneven_threads_cost_bsp_more() -> None:
    """Speeds are the same for both; the mean speed is 1."""
    machine = replace(FREE, jitter=0.3, jitter_period=1.0)
    shards = ring(6, 8, 0.05)
    bsp, own = run_bsp(shards, machine, 4000), run_async(shards, machine, 4000)
    assert bsp.seconds > 1.15 * own.seconds > 1.15 * 190.0
    again = run_async(shards, replace(machine, seed=2), 4000)
    assert again.seconds != own.seconds
    assert run_async(shards, machine, 4000) == own


def test_neurons_are_dealt_as_in_the_engine() -> None:
    assert deal(7, 2, 2).tolist() == [0, 2, 0, 2, 1, 3, 1]


def test_each_process_has_a_cell() -> None:
    with pytest.raises(ValueOutOfBoundsError, match=r"30 cells are not one for each process.*fewer processes"):
        predict({}, 30, "hh", 1e-8, Forecast([31], [1], [0.0], FREE, 1.0))
