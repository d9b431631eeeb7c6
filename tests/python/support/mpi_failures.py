"""A program for `test_mpi_failures`: rank 1 does something wrong again and again, and all ranks go on after it.

Its arguments are the number of threads, the share of the duration that is recorded until the disk is full, and the
suffixes of files for which it is. Each rank prints as JSON what it has caught, by the name of what was done wrong, and
the time and a digest of the spikes at the end.
"""

from __future__ import annotations

import contextlib
import json
import resource
import signal
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import ranvier as rv
from ranvier import mpi
from ranvier.simulation.options import grouped
from small_networks import balanced

DURATION = 400.0  # ms
ENDLESS = 1e7  # ms: whatever ends the run comes long before
Cases = dict[str, Callable[[], object]]


@contextlib.contextmanager
def files_limited_to(size: int) -> Iterator[None]:
    """No file can grow above so many bytes, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))


def wrong_when_built(wrong: bool) -> Cases:
    def build(**options: Any) -> None:
        net, _ = balanced(20)
        rv.Simulation(net, **grouped(options))

    def another_network() -> None:
        net, _ = balanced(21 if wrong else 20)
        rv.Simulation(net)

    def another_seed() -> None:
        net, _ = balanced(20, seed=2 if wrong else 1)
        rv.Simulation(net)

    def other_positions() -> None:
        net, _ = balanced(20)
        net.create("iaf_psc_exp", positions=[[0.0, 0.0], [0.0, 2.0 if wrong else 1.0]], name="pair")
        rv.Simulation(net)

    def files() -> None:
        net, _ = balanced(20)
        if wrong:
            net.record_spikes(to="only_here.h5")
        rv.Simulation(net)

    def existing_file() -> None:
        net, _ = balanced(20)
        net.record_spikes(to="existing.csv")
        if wrong:
            Path("existing.rank1.csv").write_text("precious")
        rv.Simulation(net, recordings="local")

    return {
        "bad option": lambda: build(precision="singel" if wrong else "single"),
        "unknown population": lambda: build(costs={"nobody" if wrong else name: 1.0 for name in ("exc", "inh")}),
        "short placement": lambda: build(placement=np.zeros(9 if wrong else 100, dtype=int)),
        "no memory": lambda: build(memory_limit=1 if wrong else None),
        "another method": lambda: build(exchange="allgather" if wrong else "alltoall"),
        "other recordings": lambda: build(recordings="local" if wrong else "root"),
        "another network": another_network,
        "another seed": another_seed,
        "other positions": other_positions,
        "one more file": files,
        "existing file": existing_file,
    }


def wrong_when_run(wrong: bool, sim: rv.Simulation, net: rv.Network, recorder: rv.SpikeRecorder) -> Cases:
    exc = net["exc"]
    another, other_recorder = balanced(20)

    def fail() -> None:
        raise ValueError("the reason")

    def run_with(action: Callable[[], None]) -> None:
        sim._progress = (lambda _: action()) if wrong else False
        try:
            sim.run(ENDLESS)
        finally:
            sim._progress = False

    def weights() -> None:
        some = sim.connections(targets=[1])
        same = some.weights
        some.weights = np.append(same, 0.0) if wrong else same

    return {
        "bad weights": weights,
        "bad duration": lambda: sim.run(-1.0 if wrong else 1.0),
        "another duration": lambda: sim.run(2.0 if wrong else 1.0),
        "another call": lambda: sim.connections(targets=[1]) if wrong else sim.run(1.0),
        "another call for values": lambda: sim.timers() if wrong else sim.get(exc, "V_m"),
        "the past": lambda: sim.run_until(-1.0 if wrong else sim.time + 1.0),
        "unknown variable": lambda: sim.get(exc, "V_n" if wrong else "V_m"),
        "bad value": lambda: sim.set(exc, tau_m=-1.0 if wrong else 10.0),
        "bad shape": lambda: sim.set(exc, I_e=[1.0, 2.0] if wrong else 0.0),
        "bad ids": lambda: sim.connections(targets=[10**6] if wrong else [1]),
        "another network's population": lambda: sim.count_connections(another["exc"] if wrong else exc),
        "another network's recorder": lambda: sim.spikes(other_recorder if wrong else recorder),
        "exception in a progress function": lambda: run_with(fail),
        "interrupt": lambda: run_with(lambda: signal.raise_signal(signal.SIGINT)),
    }


def full_disk(wrong: bool, suffix: str, recordings: Any, threads: int, share: float) -> Cases:
    """Return two attempts with a disk that is full on one rank only, and one after that was mended."""
    net, _ = balanced(20)
    state = net.record_state(net["inh"], "V_m", to=f"{recordings}{suffix}")
    kept = net.record_state(net["inh"], "V_m")
    sim = rv.Simulation(net, threads=threads, recordings=recordings)

    def attempt() -> None:
        with files_limited_to(round(150_000 * share) if wrong else 10**9):
            sim.run(share * DURATION)

    def mended() -> None:
        sim.run(20.0)
        written, wanted = sim.state(state), sim.state(kept)
        assert written.values.shape[0] == sim.step >= 200
        here = np.isin(written.ids, wanted.ids)
        np.testing.assert_array_equal(written.values[:, :, here], wanted.values)
        assert wanted.values.size > 0
        raise ArithmeticError("all is there")

    name = f"full disk, {recordings}{suffix}"
    return {name: attempt, f"{name}, again": attempt, f"{name}, mended": mended}


def main() -> None:
    rank, threads, share = mpi.world().rank, int(sys.argv[1]), float(sys.argv[2])
    caught: dict[str, list[str]] = {}

    def carry_out(cases: Cases) -> None:
        for name, case in cases.items():
            try:
                case()
            except (Exception, KeyboardInterrupt) as error:
                caught[name] = [type(error).__name__, str(error)]

    net, recorder = balanced(20)
    sim = rv.Simulation(net, threads=threads)
    carry_out(wrong_when_built(rank == 1))
    carry_out(wrong_when_run(rank == 1, sim, net, recorder))
    for suffix in sys.argv[3:]:
        carry_out(full_disk(rank == 1, suffix, "local", threads, share))
        carry_out(full_disk(rank == 0, suffix, "everywhere", threads, share))
    sim.run(3 * DURATION)
    print(json.dumps({"caught": caught, "time": sim.time, "digest": sim.spikes(recorder).digest()}))


if __name__ == "__main__":
    main()
