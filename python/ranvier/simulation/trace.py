"""Traces of simulations: what each thread did when, and where the time of a step went."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ranvier.base.numeric import whole_number
from ranvier.base.paths import check_writable, checked_path, write_whole
from ranvier.base.values import FloatArray
from ranvier.errors import FileError
from ranvier.recording.data import IntArray

__all__ = ["CAUSES", "WORK", "Trace", "TraceAccount", "check_trace_file", "trace_file_of_rank"]

WORK = ("read", "deliver", "update", "record", "exchange", "other")
"""The parts of a step in which a thread works."""
_WAITS = ("imbalance", "serial", "travel", "processes")
CAUSES = ("late start", "read", "deliver", "update", "record", "exchange", "interrupted")
"""Reasons for which a thread is the last one to end a round."""

_SUFFIXES = (".json", ".json.gz")
_MEASURED = ("read", "deliver", "update", "record", "collocate", "communicate", "wait")
# A part that takes this many times as long as its amount of work explains was interrupted.
_MUCH_LONGER = 3.0
_QUANTILES = (0.5, 0.9, 0.99)
_SLOWEST = 0.01
_MOST_ROUNDS = 2**31 - 1


@dataclass(frozen=True)
class TraceAccount:
    """Where the time of steps went, according to a `Trace`.

    Attributes
    ----------
    mode
        ``"bsp"`` or ``"async"``: how the shards advanced.
    steps
        Number of steps of the simulation that the account covers. With ``"async"``, threads trace different steps, and
        this is the number of steps from the first to the last one.
    epochs
        Number of epochs in which these steps were taken; 0 with ``"async"``.
    parts
        Seconds of each thread in each part, shape ``(threads,)``. Together they are the whole time of the thread.
        Work: *read* (spikes of other shards), *deliver*, *update*, *record*, *exchange* (collocation and communication
        with other processes, including the time for which it waits for them), *other*. Waiting: *imbalance* (from the
        end of the thread's work to the end of the last thread's work in a round), *serial* (while the first shard alone
        exchanges spikes with other processes), *travel* (from the end of the last thread's work to the begin of the
        thread's work in the next round: cache lines travel between processors, and threads that sleep wake up) and
        *processes* (before an exchange, with ``wait_apart``). With ``"async"``, waiting is not divided: *wait*.
    step_quantiles
        Seconds within which half of the steps, 90 % and 99 % of them were taken, shape ``(3,)``. A step of an epoch
        takes the time of the epoch divided by its steps. NaN with ``"async"``.
    wait_of_slowest
        Fraction of the waiting that falls into the slowest 1 % of the epochs, which some thread was too late for, for
        example because the system had suspended it. NaN with ``"async"``.
    last
        How often each thread was the last one to end its work in a round that updates neurons, shape ``(threads,)``.
    causes
        For each of `CAUSES`: how often each thread was last for this reason, shape ``(threads,)``. It is the part of
        the thread's time that exceeds the median of the other threads most. A *late start* is a long way to the begin
        of the round; *interrupted* stands for a part that takes more than three times as long as its amount of work
        explains, or for a time between parts: usually the system has suspended the thread.
    """

    mode: str
    steps: int
    epochs: int
    parts: dict[str, FloatArray]
    step_quantiles: FloatArray
    wait_of_slowest: float
    last: IntArray
    causes: dict[str, IntArray]

    @property
    def threads(self) -> int:
        """Number of threads."""
        return len(self.last)

    @property
    def seconds(self) -> float:
        """Seconds that the account covers, mean of the threads."""
        return float(sum(seconds.mean() for seconds in self.parts.values()))

    @property
    def per_step(self) -> dict[str, float]:
        """Seconds of each part for one step, mean of the threads; NaN without steps."""
        return {
            name: float(seconds.mean()) / self.steps if self.steps else np.nan for name, seconds in self.parts.items()
        }

    @property
    def step(self) -> float:
        """Seconds of a step, the sum of all parts; NaN without steps."""
        return float(sum(self.per_step.values()))

    @property
    def wait(self) -> FloatArray:
        """Seconds for which each thread waited, shape ``(threads,)``."""
        waits = [seconds for name, seconds in self.parts.items() if name not in WORK]
        return np.asarray(np.sum(waits, axis=0), dtype=np.float64)

    def as_json(self) -> dict[str, Any]:
        """Return the account for JSON; NaN as None."""
        return {
            "mode": self.mode,
            "steps": self.steps,
            "epochs": self.epochs,
            "step_s": _or_none(self.step),
            "parts_of_step_s": {name: _or_none(seconds) for name, seconds in self.per_step.items()},
            "parts_of_threads_s": {name: seconds.tolist() for name, seconds in self.parts.items()},
            "step_quantiles_s": {
                f"{quantile:g}": _or_none(float(value))
                for quantile, value in zip(_QUANTILES, self.step_quantiles, strict=True)
            },
            "wait_of_slowest_percent": _or_none(self.wait_of_slowest),
            "last": self.last.tolist(),
            "causes": {name: counts.tolist() for name, counts in self.causes.items()},
        }


@dataclass(frozen=True)
class Trace:
    """The latest pieces of work of each thread of a process, from `Simulation.trace`.

    A piece is the work of a thread for one shard in one round, or in one visit with ``stepping="async"``. In a round,
    each shard is processed once, and a round begins when all shards of the previous one are done. Each epoch has one
    round that delivers the spikes of the previous epoch and updates the neurons; if the process exchanges spikes with
    others, further rounds follow. The last round of a run delivers the spikes that are left. Arrivals with longer
    delays may be added after the shard is done, in pieces that any thread may take.

    All columns have the shape ``(pieces,)``: first the pieces of thread 0, in the order of time, then those of the next
    one. The clock is the monotonic clock of the system, which all threads and processes of a machine have in common.

    Attributes
    ----------
    thread
        Number of the thread.
    shard
        Number of the shard.
    kind
        What was done: ``"update"`` (also delivers the spikes of the previous epoch), ``"collocate"``, ``"transfer"``,
        ``"collect"``, ``"renew"`` (parts of an exchange; transfer and renew are work of shard 0 alone), ``"finish"``
        (delivers the spikes that are left at the end of a run), ``"parts"`` (adds arrivals that the delivery of the
        round has left for later) or ``"visit"`` (with ``stepping="async"``).
    round
        Number of the round since the simulation was built, from 1; 0 with ``stepping="async"``.
    first_step, last_step
        Steps that the shard has advanced by; none if ``last_step < first_step``.
    events
        Number of spikes that were delivered, counted at each synapse.
    begin, end
        Begin and end, nanoseconds of the clock.
    read, deliver, update, record, collocate, communicate, wait
        Seconds of the parts of the piece: reading the spikes of other shards (with an exchange, this is part of
        *deliver*), delivering them to synapses, updating neurons, recording, copying spikes to the buffers of the
        exchange, the exchange itself, and waiting for other processes, if ``wait_apart`` measures this separately.
    rank, ranks
        Number of this process, and number of processes.
    threads, shards
        Number of threads and of shards of this process.
    """

    thread: IntArray
    shard: IntArray
    kind: npt.NDArray[np.str_]
    round: IntArray
    first_step: IntArray
    last_step: IntArray
    events: IntArray
    begin: IntArray
    end: IntArray
    read: FloatArray
    deliver: FloatArray
    update: FloatArray
    record: FloatArray
    collocate: FloatArray
    communicate: FloatArray
    wait: FloatArray
    rank: int
    ranks: int
    threads: int
    shards: int

    @staticmethod
    def of(columns: Mapping[str, Any], *, rank: int, ranks: int, threads: int, shards: int) -> Trace:
        """Return a trace of the columns of the core."""
        kinds = np.array(columns["kinds"])
        arrays = {each.name: columns[each.name] for each in fields(Trace) if each.name in columns}
        arrays["kind"] = kinds[columns["kind"]]
        return Trace(**arrays, rank=rank, ranks=ranks, threads=threads, shards=shards)

    def __len__(self) -> int:
        """Return the number of pieces."""
        return len(self.thread)

    @property
    def is_asynchronous(self) -> bool:
        """Whether shards advanced independently, in visits."""
        return bool((self.kind == "visit").any())

    def account(self) -> TraceAccount:
        """Return where the time of the steps in the trace went.

        With ``stepping="bsp"``, the account covers the epochs whose rounds the trace has completely, of all shards. It
        begins with the first of the latest rounds without a gap, and includes the last round of a run, but not the
        time between two runs.
        """
        return _account_of_visits(self) if self.is_asynchronous else _account_of_rounds(self, _Rounds(self))

    def write(self, path: str | PathLike[str], *, rounds: int = 1000, origin: int | None = None) -> Path:
        """Write the end of the trace as a file for Perfetto (ui.perfetto.dev) or chrome://tracing.

        Each thread is a row of slices: one for each piece of work, with its parts below it, and one for each time of
        waiting, with its cause. The parts are sums over the steps of the piece, and are drawn one after another.

        Parameters
        ----------
        path
            The file, ``.json`` or compressed ``.json.gz``. If several processes share the network, each writes a
            separate file: ``trace.json`` becomes ``trace.rank0.json``, ``trace.rank1.json`` and so on.
        rounds
            Maximum number of rounds, the latest ones; with ``stepping="async"``, of visits of each thread.
        origin
            Time 0 of the file, nanoseconds of the clock; None: the begin of its first piece.

        Returns
        -------
        Path
            The file that was written.

        Raises
        ------
        FileError
            When the file cannot be written, or has another suffix. An old file is replaced only by a complete one.
        """
        file = check_trace_file(path, self.rank, self.ranks)
        kept = whole_number("rounds of a trace", rounds, 1, _MOST_ROUNDS)
        events = [*_slices_of_visits(self, kept)] if self.is_asynchronous else [*_slices_of_rounds(self, kept)]
        zero = min((event["ts"] for event in events), default=0) if origin is None else origin
        for event in events:
            # Whole nanoseconds, in microseconds.
            event["ts"] = (event["ts"] - zero) / 1000
            event["dur"] /= 1000
        text = json.dumps(
            {
                "traceEvents": [*_names(self), *events],
                "displayTimeUnit": "ns",
                "otherData": {
                    "parts": "sums over the steps of a piece of work, drawn one after another",
                    "origin_ns": int(zero),
                },
            },
            separators=(",", ":"),
        )
        data = text.encode()
        write_whole(file, gzip.compress(data, compresslevel=6, mtime=0) if file.suffix == ".gz" else data)
        return file


def check_trace_file(path: str | PathLike[str], rank: int = 0, ranks: int = 1) -> Path:
    """Return the file to which a process writes its trace, checked to be writable.

    Raises
    ------
    FileError
        When it cannot be written, or has another suffix than ``.json`` or ``.json.gz``.
    """
    file = trace_file_of_rank(checked_path(path), rank, ranks)
    check_writable(file)
    return file


def trace_file_of_rank(path: Path, rank: int, ranks: int) -> Path:
    """Return the name of the file to which one of several processes writes its trace.

    Raises
    ------
    FileError
        For another suffix than ``.json`` or ``.json.gz``.
    """
    for suffix in _SUFFIXES:
        stem = path.name[: -len(suffix)]
        if stem and path.name.lower().endswith(suffix):
            return path if ranks == 1 else path.with_name(f"{stem}.rank{rank}{path.name[len(stem) :]}")
    raise FileError(
        f"file {path}", bound=f"its format is not known: '{path.suffix}'", remedy=f"name it {' or '.join(_SUFFIXES)}"
    )


# ---- rounds ----------------------------------------------------------------------------------------------------------


class _Rounds:
    """The complete rounds at the end of a trace, as arrays over rounds and threads.

    All threads share the limits of a round: it starts when the last shard was done in the previous round, or, in the
    first round of a run or of the trace, when the first thread begins. It ends when its last shard is done. Within it,
    a thread first waits (*travel*), then works, and waits again (*imbalance*, *serial*). It may still add parts of
    deliveries after the end.

    Attributes
    ----------
    pieces
        Indices of the pieces in these rounds.
    row
        The index of the round of each of them.
    kind
        Kind of work of each round, shape ``(rounds,)``, as all others without another shape.
    starts, ends
        Limits, nanoseconds.
    steps
        Number of steps by which neurons advance in the round.
    begins, stops
        When each thread begins its first piece and ends its last one, nanoseconds, shape ``(rounds, threads)``. Both
        are `free_from` for a thread that has no piece.
    done
        When its last shard is done; `free_from` for a thread that has none, shape ``(rounds, threads)``.
    free_from
        When each thread could begin: the start of the round, or later, at the end of a part of a delivery of an
        earlier one, shape ``(rounds, threads)``.
    has_work
        Whether the thread has a shard, shape ``(rounds, threads)``.
    """

    def __init__(self, trace: Trace) -> None:
        self.pieces = _complete(trace)
        numbers = trace.round[self.pieces]
        first = int(numbers.min()) if len(numbers) else 1
        count = int(numbers.max()) - first + 1 if len(numbers) else 0
        self.row = numbers - first
        self.threads = trace.threads
        self._thread = trace.thread[self.pieces]
        of_shard = trace.kind[self.pieces] != "parts"
        one = np.zeros(count, dtype=np.int64)
        one[self.row[of_shard]] = self.pieces[of_shard]
        self.kind = trace.kind[one]
        self.steps = np.maximum(trace.last_step[one] - trace.first_step[one] + 1, 0)
        latest = np.iinfo(np.int64).max
        self.begins = np.full((count, self.threads), latest)
        self.stops = np.full((count, self.threads), -latest)
        np.minimum.at(self.begins, (self.row, self._thread), trace.begin[self.pieces])
        np.maximum.at(self.stops, (self.row, self._thread), trace.end[self.pieces])
        self.done = np.full((count, self.threads), -latest)
        np.maximum.at(self.done, (self.row[of_shard], self._thread[of_shard]), trace.end[self.pieces[of_shard]])
        self.has_work = self.done > -latest
        self.ends = self.done.max(axis=1, initial=-latest)
        self.starts = self.begins.min(axis=1, initial=latest)
        follows = np.flatnonzero(self.kind[:-1] != "finish") + 1
        self.starts[follows] = self.ends[follows - 1]
        none = self.begins == latest
        self.free_from = np.repeat(self.starts[:, None], self.threads, axis=1)
        until_now = np.maximum.accumulate(self.stops, axis=0)
        self.free_from[follows] = np.maximum(self.free_from[follows], until_now[follows - 1])
        for times, missing in ((self.begins, none), (self.stops, none), (self.done, ~self.has_work)):
            np.copyto(times, self.free_from, where=missing)

    def __len__(self) -> int:
        return len(self.kind)

    def sums(self, values: npt.NDArray[Any]) -> FloatArray:
        """Return the sum of a column of the trace for each round and thread, shape ``(rounds, threads)``."""
        place = self.row * self.threads + self._thread
        summed = np.bincount(place, values[self.pieces], minlength=len(self) * self.threads)
        return np.asarray(summed, dtype=np.float64).reshape(len(self), self.threads)

    def parts(self, trace: Trace) -> dict[str, FloatArray]:
        """Return the seconds of each part of a step for each round and thread, shape ``(rounds, threads)``."""
        parts = {name: self.sums(getattr(trace, name)) for name in ("read", "deliver", "update", "record")}
        parts["exchange"] = self.sums(trace.collocate) + self.sums(trace.communicate)
        processes = self.sums(trace.wait)
        # Whole nanoseconds, so that a thread that has not waited gets 0.
        working = self.sums(trace.end - trace.begin)
        rest = 1e-9 * ((np.maximum(self.ends[:, None], self.stops) - self.begins) - working)
        serial = np.isin(self.kind, ("transfer", "renew"))[:, None]
        parts["other"] = 1e-9 * working - sum(parts.values()) - processes
        parts["imbalance"] = np.where(serial, 0.0, rest)
        parts["serial"] = np.where(serial, rest, 0.0)
        parts["travel"] = 1e-9 * (self.begins - np.minimum(self.free_from, self.begins))
        parts["processes"] = processes
        return parts


def _complete(trace: Trace) -> IntArray:
    """Return the indices of the pieces in the latest rounds of which the trace has all shards, without a gap."""
    if len(trace) == 0:
        return np.empty(0, dtype=np.int64)
    first = int(trace.round.min())
    counts = np.bincount((trace.round - first)[trace.kind != "parts"])
    gaps = np.flatnonzero(counts != trace.shards)
    begin = first + (int(gaps[-1]) + 1 if len(gaps) else 0)
    return np.flatnonzero(trace.round >= begin)


def _account_of_rounds(trace: Trace, rounds: _Rounds) -> TraceAccount:
    updates = np.flatnonzero(rounds.kind == "update")
    parts = rounds.parts(trace)
    none = np.zeros(trace.threads, dtype=np.int64)
    if len(updates) == 0:
        silent: dict[str, FloatArray] = {name: np.zeros(trace.threads) for name in parts}
        return TraceAccount("bsp", 0, 0, silent, np.full(3, np.nan), np.nan, none, dict.fromkeys(CAUSES, none))
    # An epoch is a round that updates, with those that follow it.
    seconds = np.add.reduceat((rounds.ends - rounds.starts) * 1e-9, updates)
    waiting = sum(parts[name] for name in _WAITS)
    waits = np.add.reduceat(np.sum(waiting, axis=1), updates)
    slowest = np.argsort(-seconds, kind="stable")[: int(np.ceil(_SLOWEST * len(updates)))]
    last, causes = _find_causes(rounds, parts, rounds.sums(trace.events), updates)
    return TraceAccount(
        mode="bsp",
        steps=int(rounds.steps.sum()),
        epochs=len(updates),
        parts={name: part[updates[0] :].sum(axis=0) for name, part in parts.items()},
        step_quantiles=_weighted_quantiles(seconds / rounds.steps[updates], rounds.steps[updates]),
        wait_of_slowest=float(waits[slowest].sum() / waits.sum()) if waits.sum() > 0.0 else 0.0,
        last=last,
        causes=causes,
    )


def _weighted_quantiles(values: FloatArray, weights: IntArray) -> FloatArray:
    order = np.argsort(values)
    reached = np.cumsum(weights[order])
    places = [int(np.searchsorted(reached, quantile * reached[-1])) for quantile in _QUANTILES]
    return values[order][places]


def _find_causes(
    rounds: _Rounds, all_parts: dict[str, FloatArray], all_events: FloatArray, updates: IntArray
) -> tuple[IntArray, dict[str, IntArray]]:
    """Return how often each thread was the last one in a round of `updates`, in all and by cause."""
    rows = np.arange(len(updates))
    last = np.argmax(np.where(rounds.has_work[updates], rounds.done[updates], -1), axis=1)
    threads = rounds.threads
    counts = np.bincount(last, minlength=threads)
    by_cause = {name: np.zeros(threads, dtype=np.int64) for name in CAUSES}
    if threads == 1:
        return counts, by_cause
    names = ("travel", *WORK)
    parts = {name: all_parts[name][updates] for name in names}
    excess = np.stack([part[rows, last] - _median_of_others(part, last) for part in parts.values()])
    cause = np.argmax(excess, axis=0)
    interrupted = len(names) - 1
    for number, name in enumerate(names):
        expected = _expected(name, parts[name], all_events[updates], rounds.steps[updates])
        if expected is not None:
            far = parts[name][rows, last] > _MUCH_LONGER * expected[rows, last]
            cause[(cause == number) & far] = interrupted
    for number, name in enumerate(CAUSES):
        by_cause[name] = np.bincount(last[cause == number], minlength=threads)
    return counts, by_cause


def _median_of_others(values: FloatArray, left_out: IntArray) -> FloatArray:
    """Return the median of each row of `values` without one column."""
    others = values.copy()
    rows = np.arange(len(values))
    others[rows, left_out] = values[:, -1]
    return np.median(others[:, :-1], axis=1)


def _expected(name: str, values: FloatArray, events: FloatArray, steps: IntArray) -> FloatArray | None:
    """Return the seconds that a part should take for its amount of work; None if they are not known."""
    if name == "deliver":
        working = events > 0
        per_event = float(np.median(values[working] / events[working])) if working.any() else 0.0
        # Even a few events take some time.
        return np.maximum(per_event * events, np.median(values, axis=0))
    if name in ("read", "update"):
        # Populations with longer time steps are updated in some steps only.
        return np.quantile(values / steps[:, None], 0.9, axis=0) * steps[:, None]
    return None


# ---- visits ----------------------------------------------------------------------------------------------------------


def _waits_between_visits(trace: Trace) -> npt.NDArray[np.bool_]:
    """Return for each piece but the first whether its thread has waited since the previous piece of the trace."""
    same_thread = trace.thread[1:] == trace.thread[:-1]
    # Between two runs, threads do not wait for each other. At the end of a run, a thread finishes its shards in their
    # order; if others have taken over all its visits, it has nothing else.
    begins_run = (trace.kind[1:] == "visit") | (trace.shard[1:] <= trace.shard[:-1])
    is_next_run = (trace.kind[:-1] == "finish") & begins_run
    return np.asarray(same_thread & ~is_next_run, dtype=np.bool_)


def _account_of_visits(trace: Trace) -> TraceAccount:
    def of_threads(values: npt.NDArray[Any], threads: IntArray = trace.thread) -> FloatArray:
        return np.asarray(np.bincount(threads, values, minlength=trace.threads), dtype=np.float64)

    parts = {name: of_threads(getattr(trace, name)) for name in ("read", "deliver", "update", "record")}
    parts["exchange"] = of_threads(trace.collocate) + of_threads(trace.communicate)
    parts["other"] = of_threads((trace.end - trace.begin) * 1e-9) - sum(parts.values())
    waits = _waits_between_visits(trace)
    parts["wait"] = of_threads(((trace.begin[1:] - trace.end[:-1]) * 1e-9)[waits], trace.thread[1:][waits])
    moved = trace.last_step >= trace.first_step
    steps = int(trace.last_step[moved].max() - trace.first_step[moved].min() + 1) if moved.any() else 0
    none = np.zeros(trace.threads, dtype=np.int64)
    causes = dict.fromkeys(CAUSES, none)
    return TraceAccount("async", steps, 0, parts, np.full(3, np.nan), np.nan, none, causes)


# ---- slices ----------------------------------------------------------------------------------------------------------

_Slice = dict[str, Any]


def _names(trace: Trace) -> Iterator[_Slice]:
    """Yield the names of the process and its threads."""
    yield {"ph": "M", "name": "process_name", "pid": trace.rank, "args": {"name": f"rank {trace.rank}"}}
    yield {"ph": "M", "name": "process_sort_index", "pid": trace.rank, "args": {"sort_index": trace.rank}}
    for thread in range(trace.threads):
        where = {"pid": trace.rank, "tid": thread}
        yield {"ph": "M", "name": "thread_name", **where, "args": {"name": f"thread {thread}"}}
        yield {"ph": "M", "name": "thread_sort_index", **where, "args": {"sort_index": thread}}


def _slices_of_pieces(trace: Trace, pieces: IntArray) -> Iterator[_Slice]:
    """Yield a slice for each piece of work, and one for each of its parts; times in nanoseconds."""
    names = ("thread", "shard", "kind", "round", "first_step", "last_step", "events", "begin", "end")
    columns = [getattr(trace, name)[pieces].tolist() for name in names]
    lengths = [np.rint(1e9 * getattr(trace, name)[pieces]).astype(np.int64).tolist() for name in _MEASURED]
    for piece, parts in zip(zip(*columns, strict=True), zip(*lengths, strict=True), strict=True):
        thread, shard, kind, number, first, last, events, begin, end = piece
        where = {"ph": "X", "pid": trace.rank, "tid": thread}
        arguments: dict[str, Any] = {"shard": shard, "events": events}
        if last >= first:
            arguments["steps"] = f"{first} to {last}"
        if number > 0:
            arguments["round"] = number
        yield {**where, "name": kind, "cat": "work", "ts": begin, "dur": end - begin, "args": arguments}
        for name, measured in zip(_MEASURED, parts, strict=True):
            length = min(measured, end - begin)
            if length > 0:
                yield {**where, "name": name, "cat": "part", "ts": begin, "dur": length}
                begin += length


def _slices_of_rounds(trace: Trace, most: int) -> Iterator[_Slice]:
    rounds = _Rounds(trace)
    earliest = max(0, len(rounds) - most)
    yield from _slices_of_pieces(trace, rounds.pieces[rounds.row >= earliest])
    last = np.argmax(np.where(rounds.has_work, rounds.done, -1), axis=1) if len(rounds) else rounds.row
    for row in range(earliest, len(rounds)):
        cause = "serial" if rounds.kind[row] in ("transfer", "renew") else "imbalance"
        end = int(rounds.ends[row])
        limits = (times[row].tolist() for times in (rounds.free_from, rounds.begins, rounds.stops))
        for thread, (free, begin, stop) in enumerate(zip(*limits, strict=True)):
            # In the first round, the end of the previous one is not known.
            if row > earliest and begin > free:
                yield _wait_slice(trace, thread, free, begin, "travel", {})
            if end > stop:
                yield _wait_slice(trace, thread, stop, end, cause, {"for thread": int(last[row])})


def _slices_of_visits(trace: Trace, most: int) -> Iterator[_Slice]:
    counts = np.bincount(trace.thread, minlength=trace.threads)
    # The number of pieces of the same thread from each piece on.
    left = np.cumsum(counts)[trace.thread] - np.arange(len(trace))
    kept = np.flatnonzero(left <= most)
    yield from _slices_of_pieces(trace, kept)
    waits = _waits_between_visits(trace)
    for index in kept.tolist():
        if index > 0 and left[index] < most and waits[index - 1]:
            before, begin = int(trace.end[index - 1]), int(trace.begin[index])
            if begin > before:
                yield _wait_slice(trace, int(trace.thread[index]), before, begin, "wait", {})


def _wait_slice(trace: Trace, thread: int, begin: int, end: int, cause: str, arguments: dict[str, Any]) -> _Slice:
    where = {"ph": "X", "pid": trace.rank, "tid": thread}
    return {**where, "name": cause, "cat": "wait", "ts": begin, "dur": end - begin, "args": arguments}


def _or_none(value: float) -> float | None:
    return value if np.isfinite(value) else None
