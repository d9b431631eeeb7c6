"""The simulation of the exchange of spikes: analytic cases, real spikes, and an event for each message."""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from ranvier.errors import RanvierError, StateError, UnknownNameError, ValueOutOfBoundsError
from ranvier_benchmarks._exchange_simulation.engine import METHODS, Method, Simulated, serve, simulate
from ranvier_benchmarks._exchange_simulation.machines import BLUE_GENE_P, MACHINES, Machine
from ranvier_benchmarks._exchange_simulation.spikes import (
    DrawnTargets,
    GivenSpikes,
    IntervalFire,
    KnownTargets,
    NeighborTargets,
)

# ---- spikes and targets ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("burst", "resolution"), [(False, 0.025), (False, 0.1), (True, 0.1)])
def test_spikes_are_those_of_the_network(burst: bool, resolution: float) -> None:
    model = rv.networks.interval_fire(cells=64, connections=2, burst=burst, resolution=resolution, seed=5)
    sim = rv.Simulation(model.net, threads=1, progress=False)
    sim.run(150.0)
    real = sim.spikes(model.spikes)
    order = np.lexsort((real.ids, real.steps))
    drawn = IntervalFire(64, resolution=resolution, seed=5, burst=burst, slots=2)
    steps, cells = drawn.steps_until(round(150.0 / resolution))
    assert len(steps) > 200
    assert np.array_equal(steps, real.steps[order])
    assert np.array_equal(cells, real.ids[order] - model.net.populations[0].first_id)


def test_intervals_have_the_spikes_of_all_steps() -> None:
    steps, cells = IntervalFire(50, slots=5).steps_until(80 * 40)
    spikes = IntervalFire(50, slots=5)
    fired: set[int] = set()
    for index in range(80):
        of_interval, slots, first = spikes.interval(index)
        inside = (steps > 40 * index) & (steps <= 40 * (index + 1))
        assert sorted(of_interval) == sorted(cells[inside])
        of_slot = {cell: (step - 1) % 40 // 8 for step, cell in zip(steps[inside], cells[inside], strict=True)}
        assert [of_slot[cell] for cell in of_interval] == list(slots)
        assert list(first) == [cell not in fired for cell in of_interval]
        fired |= set(of_interval.tolist())
    assert len(fired) == 50


def test_numbers_of_targets_are_binomial() -> None:
    """As in Hines et al. (2011): 1129 of 4 M cells, 16 K processes and 1 k connections, at most."""
    cells, ranks, connections = 100_000, 512, 300
    targets = DrawnTargets(cells, ranks, connections=connections)
    needed = 1.0 - math.exp(-connections / ranks)
    mean, deviation = (ranks - 1) * needed, math.sqrt((ranks - 1) * needed * (1.0 - needed))
    # Five standard deviations of the mean, and of the variance.
    assert targets.fanout.mean() == pytest.approx(mean, abs=5.0 * deviation / math.sqrt(cells))
    assert targets.fanout.var() == pytest.approx(deviation**2, rel=5.0 * math.sqrt(2.0 / cells))
    # In a network that is built, they are the same.
    model = rv.networks.interval_fire(cells=2048, connections=64)
    synapses = rv.Simulation(model.net, threads=1, progress=False).connections()
    first = model.net.populations[0].first_id
    known = KnownTargets(np.arange(2048) % 64, 64, synapses.sources - first, synapses.targets - first)
    drawn = DrawnTargets(2048, 64, connections=64)
    assert known.fanout.mean() == pytest.approx(drawn.fanout.mean(), rel=0.02)
    assert known.fanout.std() == pytest.approx(drawn.fanout.std(), rel=0.1)


@pytest.mark.parametrize("relays", [False, True])
def test_drawn_and_known_targets_conserve_messages(relays: bool) -> None:
    rng = np.random.default_rng(1)
    sources, targets = rng.integers(60, size=(2, 900))
    known = KnownTargets(np.arange(60) % 7, 7, sources, targets)
    for each, synapses in ((known, 900.0), (DrawnTargets(60, 7, connections=15), None)):
        cells = np.arange(60)
        direct, relayed, reached = each.draw(cells, relays)
        assert direct.sum() + relayed.sum() == each.fanout.sum()
        squares = sum(math.ceil(math.sqrt(count)) for count in each.fanout)
        assert direct.sum() == (squares if relays else each.fanout.sum())
        if synapses is not None:
            assert reached.sum() == synapses
            assert np.array_equal(reached, np.bincount(targets % 7, minlength=7))
    pairs = {(source, target % 7) for source, target in zip(sources, targets, strict=True) if source % 7 != target % 7}
    assert list(known.fanout) == [sum(pair[0] == cell for pair in pairs) for cell in range(60)]


@pytest.mark.parametrize("placement", ["round_robin", "consecutive", "shuffled"])
@pytest.mark.parametrize(
    ("cells", "ranks", "connections"),
    [(60, 7, 14), (64, 8, 6), (60, 60, 58), (61, 7, 60), (13, 4, 2), (50, 1, 10), (128, 4, 30)],
)
def test_targets_of_neighbors_are_those_of_each_synapse(
    placement: Any, cells: int, ranks: int, connections: int
) -> None:
    """Cell i has inputs from the cells i - connections / 2 to i + connections / 2 of a ring, but not from itself."""
    near = NeighborTargets(cells, ranks, connections=connections, placement=placement)
    half = connections // 2
    pairs = [((target + d) % cells, target) for target in range(cells) for d in range(-half, half + 1) if d]
    known = KnownTargets(near.rank_of, ranks, *zip(*pairs, strict=True))
    assert np.array_equal(near.fanout, known.fanout)
    rng = np.random.default_rng(cells)
    for count in (0, 1, cells // 3, cells):
        fired = rng.permutation(cells)[:count]
        for one, other in zip(near.draw(fired, False), known.draw(fired, False), strict=True):
            assert np.array_equal(one, other)
        direct, relayed, _ = near.draw(fired, True)
        assert direct.sum() == sum(math.ceil(math.sqrt(known.fanout[cell])) for cell in fired)
        assert np.array_equal(direct + relayed, known.draw(fired, False)[0])
        assert direct.min() >= 0 <= relayed.min()


@pytest.mark.parametrize("connections", [0, 7, 10])
def test_bad_numbers_of_neighbors(connections: int) -> None:
    with pytest.raises(ValueOutOfBoundsError, match="even"):
        NeighborTargets(10, 2, connections=connections)


# ---- analytic cases --------------------------------------------------------------------------------------------------

_NOTHING = {
    name: math.inf if name.endswith("bandwidth") or name == "cores_per_node" else 0.0 for name in Machine.parameters()
}


def machine(**values: Any) -> Machine:
    """Return a machine on which only these cost anything."""
    given = {"processes_per_node": 1, "topology": "fat_tree", **values}
    return Machine(name="test", **{**_NOTHING, **given})


def to_all(cells: int, ranks: int) -> KnownTargets:
    """Every cell has a target on each process."""
    return KnownTargets(
        np.arange(cells) % ranks, ranks, np.repeat(np.arange(cells), ranks), np.tile(np.arange(ranks), cells)
    )


def test_one_message_takes_its_overheads_and_latency() -> None:
    costs = machine(latency=5.0, isend=1.0, probe_receive=2.0, message=0.5, event=0.25, spike=0.125, allreduce=0.01)
    targets = KnownTargets([0, 1], 2, [0], [1])
    result = simulate(GivenSpikes(2, [[(0, 0)]]), targets, costs, Method("isend"), intervals=2)
    # The sender fires and sends. Reductions repeat until the message has left by 1.125, travelled for 5, and arrived:
    # the first one after 6.125 ends when it has been received.
    first, second = result.total
    assert 1.125 + 5.0 + 2.5 <= first <= 1.125 + 5.0 + 2.5 + 0.03
    # The delayed event.
    assert second == pytest.approx(0.25 + 0.01)
    assert list(result.messages) == [1, 0]
    assert list(result.sent_by_rank_0) == [1, 0]
    assert list(result.received_by_rank_0) == [0, 0]
    assert result.iterations[0] == pytest.approx(500, abs=3)
    assert result.iterations[1] == 0
    assert list(result.rank_0) == pytest.approx([1.125, 0.0])


def test_multicast_costs_a_call_and_each_target() -> None:
    costs = machine(send_call=3.0, send_target=0.5, replay_call=0.25, allreduce=1.0)
    spikes: Any = [[(0, 0)], [(0, 0)]]
    multisend = simulate(GivenSpikes(8, spikes), to_all(8, 8), costs, Method("multisend"), intervals=2)
    assert list(multisend.rank_0) == pytest.approx([3.0 + 7 * 0.5] * 2)
    # A list is recorded once.
    replay = simulate(GivenSpikes(8, spikes), to_all(8, 8), costs, Method("replay"), intervals=2)
    assert list(replay.rank_0) == pytest.approx([3.0 + 7 * 0.5 + 0.25, 0.25])


def test_greatest_fan_outs_leave_out_the_process_of_the_cell() -> None:
    # Cells 0 and 2 are on process 0, with two and one other processes as targets; cell 1 has three.
    targets = KnownTargets([0, 1, 0, 2, 3], 4, [0, 0, 0, 1, 1, 1, 2], [1, 3, 2, 0, 3, 4, 1])
    result = simulate(GivenSpikes(5, []), targets, machine(), Method("multisend"), intervals=1)
    assert (result.greatest_fanout, result.greatest_fanout_of_rank_0) == (3, 2)


@pytest.mark.parametrize(
    ("cores", "longest", "turns"), [(1.0, 4.0, 11.0), (2.0, 4.0, 5.5), (4.0, 4.0, 2.75), (8.0, 4.0, 1.375)]
)
def test_processes_that_share_cores_take_turns(cores: float, longest: float, turns: float) -> None:
    """Eight processes of a node: process 3 has four events, the others one each."""
    targets = np.array([0, 1, 2, 3, 3, 3, 3, 4, 5, 6, 7])
    known = KnownTargets(np.arange(8), 8, np.zeros(len(targets), dtype=np.int64), targets)
    costs = machine(event=1.0, allreduce=0.125, allreduce_turn=0.0625, processes_per_node=8, cores_per_node=cores)
    result = simulate(GivenSpikes(8, [[(0, 0)]]), known, costs, Method("multisend"), intervals=2)
    # With a core for each, no process waits for its turn.
    reduction = 0.125 + (8.0 / cores * 0.0625 if cores < 8.0 else 0.0)
    assert result.total[1] == pytest.approx(max(longest, turns) + reduction)
    # Computation is the work of each process.
    assert (result.rank_0[1], result.greatest[1]) == (1.0, 4.0)
    # Eight nodes with as many cores have one process each.
    alone = machine(event=1.0, allreduce=0.125, cores_per_node=cores)
    result = simulate(GivenSpikes(8, [[(0, 0)]]), known, alone, Method("multisend"), intervals=2)
    assert result.total[1] == pytest.approx(4.125)


@pytest.mark.parametrize("per_node", [1, 4])
def test_injection_limits_an_exchange_of_all_with_all(per_node: int) -> None:
    ranks = 32
    costs = machine(injection_gap=1e-3, latency=0.1, processes_per_node=per_node, allreduce=1e-4)
    spikes: Any = [[(0, cell) for cell in range(ranks)]]
    result = simulate(GivenSpikes(ranks, spikes), to_all(ranks, ranks), costs, Method("multisend"), intervals=1)
    assert result.messages.sum() == ranks * (ranks - 1)
    # The adapter of a node sends one after the other; the last one travels after that.
    assert result.run_time == pytest.approx(per_node * (ranks - 1) * 1e-3 + 0.1, rel=2e-3)


def test_reception_limits_many_senders_to_one() -> None:
    ranks = 33
    costs = machine(reception_gap=1e-2, latency=0.1, allreduce=1e-4)
    targets = KnownTargets(np.arange(ranks), ranks, np.arange(1, ranks), np.zeros(ranks - 1, dtype=np.int64))
    spikes: Any = [[(0, cell) for cell in range(1, ranks)]]
    result = simulate(GivenSpikes(ranks, spikes), targets, costs, Method("multisend"), intervals=1)
    assert result.run_time == pytest.approx(32 * 1e-2 + 0.1, rel=0.02)
    assert result.received_by_rank_0[0] == 32


@pytest.mark.thorough
def test_links_limit_all_together() -> None:
    ranks = 64
    costs = machine(link_bandwidth=100.0, message_bytes=10.0, topology="torus", allreduce=1e-4)
    spikes: Any = [[(0, cell) for cell in range(ranks)]]
    result = simulate(GivenSpikes(ranks, spikes), to_all(ranks, ranks), costs, Method("multisend"), intervals=1)
    # Half of all bytes cross the middle, in two directions, by 2 * 64^(2/3) links each; and a message takes 0.1 s.
    expected = ranks * (ranks - 1) * 10.0 / 2.0 / (2.0 * 2.0 * 16.0 * 100.0) + 0.1
    assert result.run_time == pytest.approx(expected, rel=0.02)
    assert costs.message_rate(64) == pytest.approx(4.0 * 32.0 * 10.0)


def test_two_intervals_hide_a_long_way() -> None:
    costs = machine(latency=0.9, step=1.0, allreduce=0.01)
    spikes: Any = [[(1, 0)] for _ in range(4)]
    one = simulate(GivenSpikes(4, spikes, slots=2), to_all(4, 4), costs, Method("multisend"), intervals=4)
    assert (one.iterations > 80).all()
    two = simulate(GivenSpikes(4, spikes, slots=2), to_all(4, 4), costs, Method("multisend", intervals=2), intervals=4)
    # All but the last, which waits for everything.
    assert (two.iterations[:-1] == 0).all()
    assert two.run_time < one.run_time
    # Messages arrive in the interval after the one for which they count.
    assert list(two.spikes_of_rank_0) == [0, 1] * 4
    for result in (one, two):
        assert result.sent_by_rank_0.sum() == 3 * 4
        assert result.received_by_rank_0.sum() == 0
    spikes = [[(1, 1)] for _ in range(4)]
    other = simulate(
        GivenSpikes(4, spikes, slots=2), to_all(4, 4), costs, Method("multisend", intervals=2), intervals=4
    )
    assert list(other.received_by_rank_0) == [0, 1] * 4


def test_relays_wait_for_the_next_interval() -> None:
    costs = machine(send_call=1.0, send_target=0.1, step=2.0, allreduce=0.01)
    targets = to_all(17, 17)
    spikes: Any = [[(0, 0)], [], []]
    both = {}
    for relay in ("next", "any"):
        method = Method("multisend", phases=2, intervals=2, relay=relay)
        both[relay] = simulate(GivenSpikes(17, spikes, slots=8), targets, costs, method, intervals=3)
        assert both[relay].messages.sum() == 16
        assert both[relay].sent_by_rank_0[0] == 4
        assert both[relay].rank_0[0] == pytest.approx(4 * 2.0 + 1.0 + 4 * 0.1)
        # Each of four relays sends to three others; there are 24 slots.
        assert both[relay].mean.sum() == pytest.approx(24 * 2.0 + (1.4 + 4 * 1.3) / 17)
    assert (both["next"].messages[0], both["next"].messages[1]) == (4, 12)
    assert both["any"].messages[0] == 16
    # With a single interval, all happens before the next one, with three reductions: sent, relayed, received.
    one = simulate(GivenSpikes(17, spikes, slots=8), targets, costs, Method("multisend", phases=2), intervals=3)
    assert one.messages[0] == 16


@pytest.mark.parametrize(("fired", "rounds"), [(1, 1), (3, 1), (4, 2)])
def test_allgather_overflows(fired: int, rounds: int) -> None:
    costs = machine(
        allgather=1.0, allgather_bandwidth=100.0, allgatherv_process=0.5, scan_process=0.25, search=0.125, message=2.0
    )
    cells = 8 * fired
    spikes: Any = [[(0, cell) for cell in range(0, cells, 8)]]
    method = Method("allgather", buffer=3, spike_bytes=2.0)
    # The spikes of process 0 are needed on process 1 only.
    targets = KnownTargets(np.arange(cells) % 8, 8, np.arange(0, cells, 8), np.ones(fired, dtype=np.int64))
    result = simulate(GivenSpikes(cells, spikes), targets, costs, method, intervals=1)
    assert list(result.rounds) == [rounds]
    gathered = 1.0 + 8 * (4.0 + 3 * 2.0) / 100.0
    rest = 0.0 if rounds == 1 else 1.0 + 8 * 0.5 + 2.0 / 100.0
    # Process 1 works longest: it finds every spike.
    assert result.run_time == pytest.approx(gathered + rest + 8 * 0.25 + fired * 2.0)
    assert result.computation == pytest.approx(8 * 0.25)
    assert result.mean[0] == pytest.approx(8 * 0.25 + (fired * 2.0 + 6 * fired * 0.125) / 8)


def test_reduce_scatter_counts_and_waits_once() -> None:
    costs = machine(
        latency=1.0, message=0.5, count_target=0.25, allreduce=0.125, reduce_scatter_bandwidth=64.0, send_call=1.0
    )
    spikes: Any = [[(0, 0)]]
    method = Method("multisend", completion="reduce_scatter")
    result = simulate(GivenSpikes(4, spikes), to_all(4, 4), costs, method, intervals=1)
    assert list(result.rounds) == [1]
    # It counts three targets. The message has left within the second of the call, and arrives after another.
    assert result.computation == pytest.approx(1.0 + 3 * 0.25)
    reduced = 1.75 + 0.125 + 4 * 4.0 / 64.0
    assert reduced == 2.125
    assert result.run_time == pytest.approx(2.125 + 0.5, rel=0.01)


def test_queues_serve_in_turn() -> None:
    begin, end = serve(
        np.array([[0.0, 1.0, 5.0], [0.0, 0.0, 0.0]]), np.array([[2.0, 2.0, 1.0], [1.0, 1.0, 1.0]]), np.array([0.5, 3.0])
    )
    assert begin.tolist() == [[0.5, 2.5, 5.0], [3.0, 4.0, 5.0]]
    assert end.tolist() == [[2.5, 4.5, 6.0], [4.0, 5.0, 6.0]]


# ---- an event for each message ---------------------------------------------------------------------------------------


def message_by_message(
    spikes: list[list[tuple[int, int]]], targets: KnownTargets, costs: Machine, slots: int, pairs: dict[int, list[int]]
) -> list[float]:
    """Return the time of each interval of multisend, from a simulation with an event for each message.

    Written for this test, with a heap in place of arrays; the costs that it knows are those of the machine of the test.
    """
    ranks = targets.ranks
    latency = costs.mean_latency(ranks)
    clocks = [0.0] * ranks
    leaving = [0.0] * costs.nodes(ranks)
    inboxes: list[list[float]] = [[] for _ in range(ranks)]
    events: dict[tuple[int, int], int] = defaultdict(int)
    times, before = [], 0.0
    for index, of_interval in enumerate(spikes):
        missing = 0
        coming: dict[tuple[int, int], int] = defaultdict(int)
        queue = [(clocks[rank], rank, 0) for rank in range(ranks)]
        heapq.heapify(queue)
        while queue:
            now, rank, slot = heapq.heappop(queue)
            while inboxes[rank] and inboxes[rank][0] <= now:
                heapq.heappop(inboxes[rank])
                missing -= 1
                clocks[rank] += costs.message
            clocks[rank] += events[rank, slot] * costs.event
            fired = [cell for at, cell in of_interval if at == slot and targets.rank_of[cell] == rank]
            clocks[rank] += len(fired) * costs.spike
            for cell in fired:
                node = rank // costs.processes_per_node
                ready = clocks[rank]
                others = [there for there in pairs[cell] if there != rank]
                for there in pairs[cell]:
                    coming[there, slot] += 1
                for place, there in enumerate(others):
                    started = ready + costs.send_call + (place + 1) * costs.send_target
                    leaving[node] = max(leaving[node] + costs.injection_gap, started)
                    heapq.heappush(inboxes[there], leaving[node] + latency)
                missing += len(others)
                clocks[rank] += costs.send_call + len(others) * costs.send_target
            if slot + 1 < slots:
                heapq.heappush(queue, (clocks[rank], rank, slot + 1))
        while True:
            for rank in range(ranks):
                now = clocks[rank]
                while inboxes[rank] and inboxes[rank][0] <= now:
                    heapq.heappop(inboxes[rank])
                    missing -= 1
                    clocks[rank] += costs.message
            clocks = [max(clocks) + costs.allreduce_time(ranks)] * ranks
            if missing == 0:
                break
        events = coming
        times.append(clocks[0] - before)
        before = clocks[0]
        del index
    return times


@pytest.mark.parametrize("gap", [1e-8, 2e-6], ids=["computation", "injection"])
def test_arrays_agree_with_an_event_for_each_message(gap: float) -> None:
    """Intervals differ by 5 % or a reduction, the sum by 2 %: arrays have the times of a batch at 129 points."""
    cells, ranks, slots = 512, 64, 4
    costs = machine(
        processes_per_node=4,
        latency=3e-6,
        injection_gap=gap,
        send_call=6e-6,
        send_target=5e-7,
        event=1e-6,
        message=3e-6,
        spike=1.5e-6,
        allreduce=5e-6,
        allreduce_round=1e-6,
    )
    model = rv.networks.interval_fire(cells=cells, connections=100)
    synapses = rv.Simulation(model.net, threads=1, progress=False).connections()
    first = model.net.populations[0].first_id
    sources = synapses.sources - first
    there = (synapses.targets - first) % ranks
    targets = KnownTargets(np.arange(cells) % ranks, ranks, sources, synapses.targets - first)
    pairs = {cell: sorted(set(there[sources == cell].tolist())) for cell in range(cells)}
    drawn = IntervalFire(cells, slots=slots)
    spikes = []
    for index in range(50):
        fired, at, _ = drawn.interval(index)
        spikes.append([(int(slot), int(cell)) for slot, cell in zip(at, fired, strict=True)])
    # One synapse for each pair: the other simulation knows no more.
    found = np.unique(sources * ranks + there)
    once = KnownTargets(np.arange(cells) % ranks, ranks, found // ranks, found % ranks)
    assert np.array_equal(once.fanout, targets.fanout)
    exact = np.array(message_by_message(spikes, once, costs, slots, pairs))
    arrays = simulate(GivenSpikes(cells, spikes, slots=slots), once, costs, Method("multisend"), intervals=50)
    assert arrays.messages.sum() == sum(once.fanout[cell] for of in spikes for _, cell in of)
    assert np.count_nonzero(exact > 2e-5) > 20
    assert arrays.run_time == pytest.approx(exact.sum(), rel=0.02)
    assert arrays.total == pytest.approx(exact, rel=0.05, abs=1.1 * costs.allreduce_time(ranks))


# ---- the paper -------------------------------------------------------------------------------------------------------


def paper_run(name: str, cells: int, connections: int, ranks: int, time: int = 60) -> Simulated:
    spikes = IntervalFire(cells, slots=10)
    targets = DrawnTargets(cells, ranks, connections=connections)
    return simulate(spikes, targets, BLUE_GENE_P, METHODS[name], intervals=time)


@pytest.mark.thorough
def test_what_the_paper_says_of_its_methods() -> None:
    results = {name: paper_run(name, 8192, 500, 512) for name in METHODS}
    busy = slice(-20, None)
    # MPI_Isend is the slowest, and relays in the next interval balance best (Hines et al. 2011, Figures 4 and 6).
    of_lists = ("multisend", "multisend 2", "two-phase", "two-phase 2", "replay")
    assert all(results["isend"].run_time > 1.5 * results[name].run_time for name in of_lists)
    imbalance = {name: one.greatest[busy].sum() / one.mean[busy].sum() for name, one in results.items()}
    assert imbalance["two-phase 2"] < imbalance["multisend"] < imbalance["multisend 2"]
    assert results["two-phase 2"].run_time < results["multisend 2"].run_time
    # A smaller buffer overflows.
    small = simulate(
        IntervalFire(8192, slots=10),
        DrawnTargets(8192, 512, connections=500),
        BLUE_GENE_P,
        replace(METHODS["allgather"], buffer=1),
        intervals=60,
    )
    assert small.rounds.sum() > results["allgather"].rounds.sum()
    # Nothing is lost, whichever the method.
    for name, one in results.items():
        expected = one.spikes if METHODS[name].transport == "allgather" else results["multisend"].messages
        assert one.messages.sum() == expected.sum()
        assert one.spikes.sum() == results["multisend"].spikes.sum()
        assert (one.greatest >= one.mean).all()
        assert (one.total >= one.rank_0 - 1e-12).all()


# ---- parameters ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MACHINES)
def test_every_parameter_has_a_source(name: str) -> None:
    known = MACHINES[name]
    assert known.sources is not None
    assert set(known.sources) == set(Machine.parameters())
    assert all(known.sources.values())
    assert {each.name for each in fields(Machine)} == {*Machine.parameters(), "name", "topology", "sources"}


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: machine(latency=-1.0), ValueOutOfBoundsError),
        (lambda: machine(latency=math.nan), ValueOutOfBoundsError),
        (lambda: machine(event=math.inf), ValueOutOfBoundsError),
        (lambda: machine(link_bandwidth=0.0), ValueOutOfBoundsError),
        (lambda: machine(processes_per_node=0), ValueOutOfBoundsError),
        (lambda: machine(cores_per_node=0.5), ValueOutOfBoundsError),
        (lambda: machine(topology="ring"), ValueOutOfBoundsError),
        (lambda: Method("pigeon"), UnknownNameError),  # type: ignore[arg-type]
        (lambda: Method("isend", phases=3), ValueOutOfBoundsError),
        (lambda: Method("isend", intervals=0), ValueOutOfBoundsError),
        (lambda: Method("replay", phases=2), StateError),
        (lambda: Method("allgather", intervals=2), StateError),
        (lambda: Method("multisend", phases=2, completion="reduce_scatter"), StateError),
        (lambda: Method("allgather", buffer=-1), ValueOutOfBoundsError),
        (lambda: DrawnTargets(10, 11, connections=2), ValueOutOfBoundsError),
        (lambda: DrawnTargets(10, 2, connections=10), ValueOutOfBoundsError),
        (lambda: DrawnTargets(10, 2, connections=2, placement="heap"), UnknownNameError),  # type: ignore[arg-type]
        (lambda: KnownTargets([0, 3], 2, [0], [1]), ValueOutOfBoundsError),
        (lambda: IntervalFire(0), ValueOutOfBoundsError),
        (lambda: IntervalFire(5, slots=0), ValueOutOfBoundsError),
        (lambda: IntervalFire(5, delay=0.06), ValueOutOfBoundsError),
        (lambda: IntervalFire(5).interval(1), ValueOutOfBoundsError),
        (lambda: GivenSpikes(2, [[(0, 2)]]), ValueOutOfBoundsError),
    ],
)
def test_bad_parameters(make: Any, error: type[RanvierError]) -> None:
    with pytest.raises(error):
        make()


@pytest.mark.parametrize(
    "arguments", [{"intervals": 0}, {"method": Method("multisend", intervals=2)}, {"spikes": GivenSpikes(3, [])}]
)
def test_bad_runs(arguments: dict[str, Any]) -> None:
    given = {"spikes": GivenSpikes(2, []), "targets": to_all(2, 2), "machine": machine(), "method": Method("multisend")}
    with pytest.raises(ValueOutOfBoundsError):
        simulate(**{**given, "intervals": 1, **arguments})
