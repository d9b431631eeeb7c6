"""All-gathers in steps of the simulated exchange: who sends what to whom, and when all of it has arrived."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from ranvier.errors import StateError, UnknownNameError, ValueOutOfBoundsError
from ranvier_benchmarks._exchange_simulation.engine import METHODS, Method, simulate
from ranvier_benchmarks._exchange_simulation.gathers import (
    Algorithm,
    Gathering,
    StepCosts,
    Synchronization,
    gather_steps,
)
from ranvier_benchmarks._exchange_simulation.machines import MACHINES, Machine
from ranvier_benchmarks._exchange_simulation.spikes import GivenSpikes, KnownTargets

ALGORITHMS: tuple[Algorithm, ...] = ("doubling", "bruck")
NOTHING = dict.fromkeys(Machine.parameters(), 0.0) | {
    "processes_per_node": 1,
    "cores_per_node": np.inf,
    "link_bandwidth": np.inf,
    "allgather_bandwidth": np.inf,
    "allgatherv_process": 0.0,
    "reduce_scatter_bandwidth": np.inf,
}
FREE = StepCosts(0.0, 0.0, 0.0, 0.0, 0.0)


def machine(**values: Any) -> Machine:
    """Return a machine on which only these cost anything."""
    return Machine(name="test", topology="fat_tree", **{**NOTHING, **values})


@pytest.mark.parametrize("algorithm", ALGORITHMS)
@pytest.mark.parametrize("ranks", range(1, 20))
def test_each_block_reaches_each_process_once(algorithm: Algorithm, ranks: int) -> None:
    # A number of bytes is a set of blocks.
    have = [1 << rank for rank in range(ranks)]
    steps = 0
    for target, origin, data in gather_steps(algorithm, np.array(have, dtype=np.float64)):
        before = list(have)
        for rank in range(ranks):
            if target[rank] < 0:
                assert data[rank] == 0.0
                continue
            assert origin[target[rank]] == rank != target[rank]
            sent = int(data[rank])
            assert sent & ~before[rank] == 0
            assert sent & have[target[rank]] == 0 < sent
            have[target[rank]] |= sent
        assert np.count_nonzero(origin >= 0) == np.count_nonzero(target >= 0)
        steps += 1
    assert have == [(1 << ranks) - 1] * ranks
    least = (ranks - 1).bit_length()
    is_power = ranks & (ranks - 1) == 0
    assert steps == (least if algorithm == "bruck" or is_power else least + 1)


@pytest.mark.parametrize(
    ("synchronization", "expected"),
    [
        # Of each of two steps: the work, 2 s for the blocks of the first step and 4 s for those of the second, latency.
        ("message", 2 * (1.0 + 100.0 + 0.5) + 6.0),
        ("fence", 2 * (3.0 + 100.0 + 7.0 + 40.0) + 6.0),
        # The memory is opened first.
        ("pscw", 2 * (20.0 + 3.0 + 100.0 + 0.5) + 6.0),
        ("flush", 2 * (3.0 + 100.0 + 7.0 + 20.0) + 6.0),
        # The number travels too.
        ("counter", 2 * (3.0 + 100.0 + 7.0 + 3.0 + 100.0 + 0.25) + 6.0),
    ],
)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_processes_that_begin_together(algorithm: Algorithm, synchronization: Synchronization, expected: float) -> None:
    costs = StepCosts(put=3.0, acknowledgement=7.0, notification=20.0, poll=0.25, barrier=40.0)
    hardware = machine(latency=100.0, isend=1.0, probe_receive=0.5, allgather_bandwidth=4.0)
    end = Gathering(algorithm, synchronization, costs).finish(np.zeros(4), np.full(4, 8.0), hardware)
    assert end == pytest.approx(np.full(4, expected))


def test_only_a_fence_lets_all_wait_for_one_in_the_first_step() -> None:
    hardware = machine(latency=1.0)
    late = np.array([0.0, 0.0, 50.0, 0.0])
    steps = list(gather_steps("doubling", np.ones(4)))
    after: dict[str, list[float]] = {}
    for synchronization in ("message", "fence", "pscw", "flush", "counter"):
        gathering = Gathering("doubling", synchronization, FREE)
        target, origin, data = steps[0]
        clock = gathering._step(late, target, origin, data, hardware, FREE)
        after[synchronization] = clock.tolist()
        assert gathering.finish(late, np.ones(4), hardware).min() >= 50.0
    assert after["fence"] == [51.0] * 4
    assert after["message"] == [1.0, 1.0, 50.0, 51.0]
    # The partner of the late one may write only when its memory is open.
    assert after["pscw"] == [1.0, 1.0, 51.0, 51.0]


def test_processes_of_a_node_share_its_adapter() -> None:
    hardware = machine(processes_per_node=2, link_bandwidth=1.0, allgather_bandwidth=2.0, injection_gap=0.25)
    end = Gathering("doubling", "message").finish(np.zeros(4), np.full(4, 3.0), hardware)
    # In the node by the bandwidth of a process; to the other node two messages of six bytes each.
    assert end == pytest.approx(np.full(4, 1.5 + 12.5))


def test_costs_follow_from_messages() -> None:
    hardware = MACHINES["infiniband_hdr"]
    costs = StepCosts.of(hardware, 1024)
    latency = hardware.mean_latency(1024)
    assert costs.barrier == hardware.allreduce_time(1024) > costs.notification > latency == costs.acknowledgement


def test_a_run_gathers_blocks_as_long_as_their_spikes() -> None:
    hardware = machine(allgather_bandwidth=1.0)
    targets = KnownTargets(np.arange(4), 4, [0], [1])
    spikes = GivenSpikes(4, [[(0, 0), (0, 0), (0, 3)], []])
    written = simulate(spikes, targets, hardware, METHODS["rma_bruck_counter"], intervals=2)
    # Steps of one and of two blocks: a count of four bytes, and two for each spike. Process 0 has two spikes, process 3
    # one; the clock is that of the last process.
    assert written.rounds.tolist() == [1, 1]
    assert written.total[1] == pytest.approx(4.0 + 8.0)
    assert written.total[0] == pytest.approx(8.0 + (4.0 + 2.0) + 8.0)
    fixed = Method("allgather", buffer=1, gathering=Gathering("bruck", "message"))
    sent = simulate(GivenSpikes(4, [[(0, 0), (0, 0), (0, 3)], []]), targets, hardware, fixed, intervals=2)
    # Another gathering for what does not fit.
    assert sent.rounds.tolist() == [2, 1]
    assert sent.total[1] == pytest.approx(6.0 + 12.0)


def test_cells_take_time_on_each_process() -> None:
    targets = KnownTargets([0, 1], 2, [0], [1])
    work = np.array([1.0, 3.0])
    result = simulate(
        GivenSpikes(2, [], slots=2), targets, machine(), METHODS["rma_allgather"], intervals=2, work_of_cells=work
    )
    assert result.total == pytest.approx([3.0, 3.0])
    assert result.rank_0 == pytest.approx([1.0, 1.0])
    with pytest.raises(ValueOutOfBoundsError, match="there are 2 processes"):
        simulate(GivenSpikes(2, []), targets, machine(), Method("isend"), intervals=1, work_of_cells=np.ones(3))


def test_mistakes() -> None:
    with pytest.raises(UnknownNameError, match="doubling, bruck"):
        Gathering("ring", "fence")  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match="message, fence, pscw, flush, counter"):
        Gathering("bruck", "lock")  # type: ignore[arg-type]
    with pytest.raises(ValueOutOfBoundsError, match="poll of a step"):
        StepCosts(0.0, 0.0, 0.0, -1.0, 0.0)
    with pytest.raises(StateError, match="multisend gathers nothing"):
        Method("multisend", gathering=Gathering("bruck", "fence"))
