"""Traces of the work of threads, and where they say that the time of a step went."""

from __future__ import annotations

import gzip
import itertools
import json
import time
from collections import defaultdict
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import ranvier as rv
from ranvier.errors import FileError, StateError, ValueOutOfBoundsError
from ranvier.simulation.trace import CAUSES, WORK, trace_file_of_rank

EPOCH = 5  # steps
TIME = 60.0  # ms
STEPS = 600


def described() -> tuple[rv.Network, rv.SpikeRecorder]:
    net = rv.Network(resolution=0.1, seed=3)
    neurons = net.create(rv.iaf_psc_exp(V_m=rv.Normal(-60.0, 4.0)), 300, name="neurons")
    net.stimulate(neurons, rv.poisson_generator(rate=9000.0), weight=60.0)
    net.connect(neurons, neurons, rv.FixedIndegree(30), weight=20.0, delay=rv.Uniform(0.1 * EPOCH, 3.0))
    # So that the shortest delay is one of the network.
    net.connect(neurons[:1], neurons, rv.AllToAll(), weight=20.0, delay=0.1 * EPOCH)
    return net, net.record_spikes()


def simulated(trace: int = 10_000, runs: int = 1, **options: Any) -> tuple[rv.Simulation, rv.SpikeRecorder]:
    net, spikes = described()
    tuning = rv.Tuning(trace=trace, **options.pop("tuning", {}))
    sim = rv.Simulation(net, progress=False, tuning=tuning, **options)
    for _ in range(runs):
        sim.run(TIME / runs)
    return sim, spikes


def of_thread(trace: rv.Trace, thread: int) -> npt.NDArray[np.int64]:
    return np.flatnonzero(trace.thread == thread)


# ---- the pieces ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("threads", "shards"), [(1, 1), (2, 2), (2, 5), (3, 3)])
def test_each_round_has_each_shard_once_and_steps_follow_each_other(threads: int, shards: int) -> None:
    sim, _ = simulated(threads=threads, tuning={"shards": shards})
    trace = sim.trace()
    assert sim.epoch_steps == EPOCH
    assert (trace.threads, trace.shards, trace.rank, trace.ranks) == (threads, shards, 0, 1)
    rounds = np.unique(trace.round)
    # One for each epoch, and one for the spikes that are left.
    assert rounds.tolist() == list(range(1, STEPS // EPOCH + 2))
    for number in rounds.tolist():
        pieces = np.flatnonzero(trace.round == number)
        assert sorted(trace.shard[pieces].tolist()) == list(range(shards))
        is_last = number == rounds[-1]
        assert set(trace.kind[pieces]) == {"finish" if is_last else "update"}
        if not is_last:
            assert set(trace.first_step[pieces]) == {1 + EPOCH * (number - 1)}
            assert set(trace.last_step[pieces]) == {EPOCH * number}
    assert trace.events.sum() == sim.counts().synaptic_events > 10_000


@pytest.mark.parametrize("options", [{}, {"tuning": {"shards": 7}}, {"stepping": "async", "tuning": {"shards": 6}}])
def test_pieces_of_a_thread_are_in_order_and_do_not_overlap(options: dict[str, Any]) -> None:
    sim, _ = simulated(threads=2, runs=3, **options)
    trace = sim.trace()
    assert (trace.end >= trace.begin).all()
    for thread in range(2):
        pieces = of_thread(trace, thread)
        # Others may have taken over all but the ends of three runs.
        assert len(pieces) >= 9
        assert (trace.begin[pieces[1:]] >= trace.end[pieces[:-1]]).all()
        assert (np.diff(trace.round[pieces]) >= 0).all()


def test_parts_are_those_of_the_timers() -> None:
    sim, _ = simulated(threads=2, tuning={"shards": 3})
    parts, timers = sim.trace().account().parts, sim.timers().parts
    assert parts["read"] + parts["deliver"] == pytest.approx(timers["deliver"][0], rel=1e-4)
    assert parts["update"] == pytest.approx(timers["update"][0], rel=1e-4)
    assert parts["record"] == pytest.approx(timers["record"][0], rel=1e-4)
    assert (parts["update"] > 0.0).all()


def test_spikes_are_the_same_with_a_trace() -> None:
    traced, spikes = simulated(threads=2)
    net, others = described()
    plain = rv.Simulation(net, progress=False, threads=1)
    plain.run(TIME)
    assert traced.spikes(spikes).digest() == plain.spikes(others).digest()


def test_rounds_are_counted_over_runs_and_not_replayed(tmp_path: Path) -> None:
    sim, _ = simulated(runs=4, threads=2)
    sim.save(tmp_path / "state.h5")
    sim.run(EPOCH * 0.1)
    trace = sim.trace()
    assert np.unique(trace.round).tolist() == list(range(1, STEPS // EPOCH + 1 + 4 + 2))
    assert np.unique(trace.first_step[trace.kind == "update"]).tolist() == list(range(1, STEPS + EPOCH + 1, EPOCH))
    later = rv.Simulation.load(sim.network, tmp_path / "state.h5", progress=False, tuning=rv.Tuning(trace=1000))
    assert len(later.trace()) == 0
    later.run(1.0)
    again = later.trace()
    assert again.first_step[again.kind == "update"].min() == STEPS + 1


def test_reset_counts_starts_again() -> None:
    sim, _ = simulated(threads=2)
    sim.reset_counts()
    assert len(sim.trace()) == 0
    nothing = sim.trace().account()
    assert (nothing.steps, nothing.epochs, nothing.seconds) == (0, 0, 0.0)
    assert np.isnan(nothing.step)
    json.dumps(nothing.as_json(), allow_nan=False)
    sim.run(1.0)
    assert sim.trace().account().steps == 10


# ---- the account -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("options", [{"threads": 1}, {"threads": 2}, {"threads": 2, "tuning": {"shards": 5}}], ids=str)
def test_parts_add_up_to_the_time_of_each_thread(options: dict[str, Any]) -> None:
    sim, _ = simulated(**options)
    trace = sim.trace()
    account = trace.account()
    assert (account.mode, account.steps, account.epochs) == ("bsp", STEPS, STEPS // EPOCH)
    whole = (trace.end.max() - trace.begin.min()) * 1e-9
    for thread in range(options["threads"]):
        assert sum(part[thread] for part in account.parts.values()) == pytest.approx(whole, rel=1e-9)
    assert account.seconds == pytest.approx(whole, rel=1e-9)
    assert account.step * STEPS == pytest.approx(whole, rel=1e-9)
    assert whole <= sim.timers().phases["simulation"][0]
    assert all(part.min() >= -1e-8 for part in account.parts.values())
    assert account.last.sum() == account.epochs
    counts = sum(account.causes.values())
    assert np.array_equal(counts, account.last if options["threads"] > 1 else [0])


def test_time_between_runs_is_left_out() -> None:
    sim, _ = simulated(threads=2)
    time.sleep(0.5)
    sim.run(TIME)
    account = sim.trace().account()
    assert account.steps == 2 * STEPS
    assert account.seconds < sim.timers().phases["simulation"][0]


def test_rounds_that_are_not_complete_are_left_out() -> None:
    # 20 pieces of two shards each are 10 rounds: 9 epochs and the end.
    sim, _ = simulated(trace=20, threads=1, tuning={"shards": 2})
    assert len(sim.trace()) == 20
    assert sim.trace().account().steps == 9 * EPOCH
    # With 19 pieces, the first round has lost a shard.
    sim, _ = simulated(trace=19, threads=1, tuning={"shards": 2})
    account = sim.trace().account()
    assert account.epochs == 8
    assert account.steps == 8 * EPOCH


class Invented:
    """Columns of rounds of three threads, each of which takes 1 us to begin, 10 to deliver 100 events, 5 to update."""

    threads = 3

    def __init__(self) -> None:
        self.rows: list[dict[str, Any]] = []
        self.now = 1_000_000
        self.round = 0

    def add(self, kind: str = "update", steps: int = 1, **planted: Any) -> None:
        """Add a round; thread 2 has what is planted: nanoseconds of a part, or a number of events."""
        self.round += 1
        ends = []
        for thread in range(self.threads):
            parts = {"late": 1000, "read": 500, "deliver": 10_000, "update": 5000, "record": 0, "other": 200}
            parts |= {"collocate": 0, "communicate": 0, "wait": 0, "events": 100}
            if kind != "update":
                parts = dict.fromkeys(parts, 0)
            if thread == 2:
                parts |= planted
            late, other, events = (parts.pop(name) for name in ("late", "other", "events"))
            begin = self.now + late
            end = begin + sum(parts.values()) + other
            ends.append(end)
            row = {"thread": thread, "shard": thread, "kind": kind, "round": self.round, "events": events}
            first = 1 if kind == "update" else 0
            row |= {"begin": begin, "end": end, "first_step": first, "last_step": first + steps - 1 if first else -1}
            self.rows.append(row | {name: 1e-9 * value for name, value in parts.items()})
        self.now = max(ends)

    def trace(self) -> rv.Trace:
        rows = sorted(self.rows, key=lambda row: row["thread"])
        columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
        return rv.Trace(**columns, rank=0, ranks=1, threads=self.threads, shards=self.threads)


PLANTED = [
    ("late start", {"late": 9000}),
    ("read", {"read": 900}),
    ("deliver", {"deliver": 30_000, "events": 300}),
    ("update", {"update": 12_000}),
    ("record", {"record": 4000}),
    ("exchange", {"communicate": 4000}),
    ("interrupted", {"other": 4000}),
    ("interrupted", {"deliver": 50_000}),
    ("interrupted", {"update": 50_000}),
]


@pytest.mark.parametrize(("cause", "planted"), PLANTED, ids=str)
def test_who_was_last_and_why(cause: str, planted: dict[str, int]) -> None:
    invented = Invented()
    for number in range(200):
        different: dict[str, Any] = planted if number % 20 == 7 else {"other": 300}
        invented.add(**different)
    account = invented.trace().account()
    assert account.last.tolist() == [0, 0, 200]
    # In the other rounds thread 2 is last by 0.1 us.
    expected = dict.fromkeys(CAUSES, 0)
    expected["interrupted"] += 190
    expected[cause] += 10
    assert {name: int(counts[2]) for name, counts in account.causes.items()} == expected
    assert all(not counts[:2].any() for counts in account.causes.values())


def test_waiting_is_divided() -> None:
    invented = Invented()
    for _ in range(99):
        invented.add(steps=4)
        invented.add("collocate", late=100, collocate=300)
        invented.add("transfer", late=100, communicate=7000)
    invented.add(steps=4, deliver=510_000)
    account = invented.trace().account()
    assert (account.steps, account.epochs) == (400, 100)
    us = {name: 1e6 * seconds for name, seconds in account.parts.items()}
    assert us["exchange"] == pytest.approx([0.0, 0.0, 99 * 7.3])
    assert us["serial"] == pytest.approx([99 * 7.1, 99 * 7.1, 0.0])
    assert us["imbalance"] == pytest.approx([99 * 0.4 + 500.0, 99 * 0.4 + 500.0, 0.0])
    # The first round begins with the first thread.
    assert us["travel"] == pytest.approx([99.0, 99.0, 99.0 + 99 * 0.2])
    assert us["other"] == pytest.approx([20.0] * 3)
    whole = 100 * 16.7 - 1.0 + 500.0 + 99 * 7.5
    assert [sum(part[thread] for part in us.values()) for thread in range(3)] == pytest.approx([whole] * 3)
    # Of an epoch of four steps: 16.7 + 7.5 us, and 516.7 once in a hundred.
    assert 1e6 * account.step_quantiles == pytest.approx([24.2 / 4, 24.2 / 4, 24.2 / 4])
    slowest = 2 * 500.0 + 3.0
    assert account.wait_of_slowest == pytest.approx(slowest / float(1e6 * account.wait.sum()))


def test_a_thread_whose_work_others_have_taken_over_only_waits() -> None:
    invented = Invented()
    for _ in range(10):
        invented.add()
    trace = invented.trace()
    columns = {name: getattr(trace, name).copy() for name in trace.__dataclass_fields__ if name not in SIZES}
    # Thread 1 processes the shard of thread 0 in round 5, after its own.
    moved = np.flatnonzero((trace.thread == 0) & (trace.round == 5))[0]
    other = np.flatnonzero((trace.thread == 1) & (trace.round == 5))[0]
    columns["thread"][moved] = 1
    shift = trace.end[other] - trace.begin[moved]
    for name in ("begin", "end"):
        columns[name][moved] += shift
        columns[name][trace.round > 5] += shift
    account = rv.Trace(**columns, rank=0, ranks=1, threads=3, shards=3).account()
    piece = (trace.end - trace.begin)[moved] * 1e-9
    whole = (columns["end"].max() - columns["begin"].min()) * 1e-9
    assert [sum(part[thread] for part in account.parts.values()) for thread in range(3)] == pytest.approx([whole] * 3)
    # Thread 0 waits through the whole round, which begins at the end of the last one.
    assert account.parts["imbalance"] == pytest.approx([2 * piece + 1e-6, 0.0, piece])
    assert account.parts["deliver"] == pytest.approx([9e-5, 11e-5, 10e-5])


SIZES = ("rank", "ranks", "threads", "shards")


def test_visits_have_sums_of_threads() -> None:
    sim, _ = simulated(threads=2, stepping="async", tuning={"shards": 6}, runs=2)
    assert sim.stepping.mode == "async"
    trace = sim.trace()
    assert set(trace.kind) == {"visit", "finish"}
    assert not trace.round.any()
    for shard in range(6):
        visits = np.flatnonzero((trace.shard == shard) & (trace.last_step >= trace.first_step))
        visits = visits[np.argsort(trace.first_step[visits])]
        assert trace.first_step[visits[0]] == 1
        assert trace.last_step[visits[-1]] == STEPS
        assert np.array_equal(trace.first_step[visits[1:]], trace.last_step[visits[:-1]] + 1)
    assert trace.events.sum() == sim.counts().synaptic_events
    account = trace.account()
    assert (account.mode, account.steps, account.epochs) == ("async", STEPS, 0)
    assert set(account.parts) == {*WORK, "wait"}
    for thread in range(2):
        pieces = of_thread(trace, thread)
        between = trace.begin[pieces[1:]] - trace.end[pieces[:-1]]
        # Each thread ends a run with its three shards.
        ends = np.flatnonzero(trace.kind[pieces] == "finish")
        assert len(ends) == 6
        whole = trace.end[pieces[-1]] - trace.begin[pieces[0]] - between[ends[2]]
        assert sum(part[thread] for part in account.parts.values()) == pytest.approx(whole * 1e-9, rel=1e-6)
    assert account.parts["update"] == pytest.approx(sim.timers().parts["update"][0], rel=1e-4)


# ---- files -----------------------------------------------------------------------------------------------------------


def slices_by_thread(path: Path) -> dict[int, list[dict[str, Any]]]:
    data = path.read_bytes()
    found = json.loads(gzip.decompress(data) if path.suffix == ".gz" else data)
    slices = defaultdict(list)
    for event in found["traceEvents"]:
        assert event["pid"] == 0
        if event["ph"] == "X":
            assert event["ts"] >= 0.0
            assert event["dur"] >= 0.0
            slices[event["tid"]].append(event)
    names = {event["tid"]: event["args"]["name"] for event in found["traceEvents"] if event["name"] == "thread_name"}
    assert names == {thread: f"thread {thread}" for thread in names}
    assert set(slices) <= set(names)
    return slices


def nanoseconds(event: dict[str, Any]) -> tuple[int, int]:
    begin, length = round(1000 * event["ts"]), round(1000 * event["dur"])
    return begin, begin + length


@pytest.mark.parametrize("options", [{}, {"tuning": {"shards": 5}}, {"stepping": "async", "tuning": {"shards": 6}}])
@pytest.mark.parametrize("name", ["trace.json", "trace.json.gz"])
def test_slices_of_a_file_nest(options: dict[str, Any], name: str, tmp_path: Path) -> None:
    sim, _ = simulated(threads=2, **options)
    trace = sim.trace()
    assert trace.write(tmp_path / name, rounds=10**6) == tmp_path / name
    slices = slices_by_thread(tmp_path / name)
    assert min(event["ts"] for events in slices.values() for event in events) == 0.0
    for thread, events in slices.items():
        work = [event for event in events if event["cat"] == "work"]
        assert len(work) == len(of_thread(trace, thread))
        # Work and waiting do not overlap.
        outer = sorted(nanoseconds(event) for event in events if event["cat"] != "part")
        assert all(end <= begin for (_, end), (begin, _) in itertools.pairwise(outer))
        parts = sorted(nanoseconds(event) for event in events if event["cat"] == "part")
        assert all(end <= begin for (_, end), (begin, _) in itertools.pairwise(parts))
        spans = sorted(map(nanoseconds, work))
        begins = [begin for begin, _ in spans]
        for begin, end in parts:
            around = spans[int(np.searchsorted(begins, begin, side="right")) - 1]
            assert around[0] <= begin < end <= around[1]
        pieces = of_thread(trace, thread)
        assert [event["args"]["shard"] for event in work] == trace.shard[pieces].tolist()
        assert sum(event["args"]["events"] for event in work) == trace.events[pieces].sum()
        update = sum(event["dur"] for event in events if (event["cat"], event["name"]) == ("part", "update"))
        assert update == pytest.approx(1e6 * trace.update[pieces].sum(), rel=1e-2)
    causes = {event["name"] for events in slices.values() for event in events if event["cat"] == "wait"}
    assert causes <= ({"wait"} if "stepping" in options else {"imbalance", "travel"})
    assert causes


def test_only_the_latest_rounds_are_written(tmp_path: Path) -> None:
    sim, _ = simulated(threads=2, tuning={"shards": 3})
    sim.trace().write(tmp_path / "trace.json", rounds=4)
    slices = slices_by_thread(tmp_path / "trace.json")
    work = [event for events in slices.values() for event in events if event["cat"] == "work"]
    assert len(work) == 4 * 3
    last = STEPS // EPOCH + 1
    assert {event["args"]["round"] for event in work} == {last - 3, last - 2, last - 1, last}
    assert {event["args"].get("steps") for event in work} == {
        None,
        *(f"{STEPS - n + 1} to {STEPS - n + 5}" for n in (5, 10, 15)),
    }
    asynchronous, _ = simulated(threads=2, runs=2, stepping="async", tuning={"shards": 6})
    asynchronous.trace().write(tmp_path / "trace.json", rounds=4)
    for events in slices_by_thread(tmp_path / "trace.json").values():
        assert len([event for event in events if event["cat"] == "work"]) == 4


def test_files_of_ranks_have_different_names() -> None:
    assert trace_file_of_rank(Path("a/trace.json"), 0, 1) == Path("a/trace.json")
    assert trace_file_of_rank(Path("a/trace.json"), 3, 4) == Path("a/trace.rank3.json")
    assert trace_file_of_rank(Path("a.b/my.trace.json.gz"), 0, 2) == Path("a.b/my.trace.rank0.json.gz")


# ---- what is refused -------------------------------------------------------------------------------------------------


def test_a_simulation_without_a_trace() -> None:
    net, _ = described()
    sim = rv.Simulation(net, progress=False)
    with pytest.raises(StateError, match=r"no work of threads was kept.*rv\.Tuning\(trace=10_000\)"):
        sim.trace()


@pytest.mark.parametrize("pieces", [-1, 2**24 + 1])
def test_numbers_of_pieces_that_are_refused(pieces: int) -> None:
    with pytest.raises(ValueOutOfBoundsError, match="trace"):
        rv.Tuning(trace=pieces)


def test_files_that_are_refused(tmp_path: Path) -> None:
    trace = simulated(threads=1)[0].trace()
    for name in ("trace.txt", "trace", "trace.gz", ".json", "trace.json.xz"):
        with pytest.raises(FileError, match=r"its format is not known.*\.json or \.json\.gz"):
            trace.write(tmp_path / name)
    with pytest.raises(FileError, match="cannot be written"):
        trace.write(tmp_path / "missing" / "trace.json")
    with pytest.raises(ValueOutOfBoundsError, match="rounds of a trace"):
        trace.write(tmp_path / "trace.json", rounds=0)
    assert list(tmp_path.iterdir()) == []
