"""`mpiexec -n 3 ranvier run` is one run, with one report."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from mpi_runs import WHEELS, Installation, Run, run_ranks
from ranvier import mpi
from ranvier.simulation.measurements import PARTS, PHASES
from thorough_cases import only

SMALL = ("n_scaling=0.01", "k_scaling=0.5", "time=60", "presim=40", "threads=2")


def ranvier(where: Installation, ranks: int, *arguments: str, folder: Path) -> Run:
    command = [sys.executable, "-m", "ranvier.command_line", *arguments]
    return run_ranks(where, ranks, command, folder=folder)


def run(where: Installation, ranks: int, *arguments: str, folder: Path) -> str:
    done = ranvier(where, ranks, *arguments, folder=folder)
    assert (done.status, done.errors) == (0, "")
    assert done.outputs[1:] == [""] * (ranks - 1)
    return done.outputs[0]


@pytest.fixture(scope="module")
def digest() -> str:
    model = rv.networks.microcircuit(n_scaling=0.01, k_scaling=0.5)
    sim = rv.Simulation(model.net, threads=1)
    sim.run(100.0)
    spikes = sim.spikes(model.spikes).between(40.0)
    assert len(spikes) > 100
    return spikes.digest()


@pytest.mark.parametrize(("where", "ranks"), only([(WHEELS[1], 2)], [(WHEELS[1], 2), (WHEELS[0], 3)]), ids=str)
def test_microcircuit(where: Installation, ranks: int, tmp_path: Path, digest: str) -> None:
    keys = ["exchange=alltoallv", "placement=shuffle", "wait_apart=true"]
    results = ["--json", "results.json", "--plot", "raster.png"]
    printed = run(where, ranks, "run", "microcircuit", "--set", *SMALL, *keys, *results, folder=tmp_path)
    for part in (
        f"{ranks} ranks \u00d7 2 threads",
        where.family.name,
        "exchange alltoallv",
        "median",
        "spikes sent",
        digest,
    ):
        assert part in printed
    assert max(map(len, map(str.rstrip, printed.splitlines()))) <= 80
    assert (tmp_path / "raster.png").read_bytes().startswith(b"\x89PNG")
    found: dict[str, Any] = json.loads((tmp_path / "results.json").read_text())
    assert found["spike_digest"] == digest
    assert (found["ranks"], found["threads"], found["threads_by_rank"]) == (ranks, 2, [2] * ranks)
    assert found["transport"].startswith(where.family.name)
    assert found["parameters"]["placement"] == "shuffle"
    timers = found["timers_s"]
    assert set(timers) == {*PHASES, *PARTS}
    for name in PHASES:
        assert len(timers[name]) == ranks
        assert found["phases_s"][name] == max(timers[name]) > 0.0
    for name in PARTS:
        assert [len(times) for times in timers[name]] == [2] * ranks
    for rank in range(ranks):
        for thread in range(2):
            # They leave out only what lies between the phases.
            assert sum(timers[name][rank][thread] for name in PARTS) <= 1.05 * timers["simulation"][rank]
    assert all(0.0 < time < timers["simulation"][0] for time in (timers["update"][0][0], timers["communicate"][0][0]))
    traffic = found["traffic_by_rank"]
    assert len(traffic) == ranks
    assert sum(one["spikes_sent"] for one in traffic) == sum(one["spikes_received"] for one in traffic)
    assert found["spikes"] <= sum(one["spikes_sent"] for one in traffic) <= ranks * found["spikes"]
    assert all(one["exchanges"] == 600 for one in traffic)
    assert found["memory_bytes"]["synapses"] == sum(one["synapses"] for one in found["memory_bytes_by_rank"])
    assert found["peak_rss_bytes"] == sum(found["peak_rss_bytes_by_rank"])
    assert all(peak > 2e7 for peak in found["peak_rss_bytes_by_rank"])


@pytest.mark.parametrize(
    "keys",
    [
        ("recordings=local", "spike_buffer=64", "connection_buffer=1000", "keep_sources=false"),
        pytest.param(
            ("recordings=everywhere", "exchange=allgather", "allgather_spikes=1", "row_numbering=compact"),
            marks=pytest.mark.thorough,
        ),
        pytest.param(
            ("sort_connections=false", "placement=consecutive", "intervals=2", "exchange=overlap"),
            marks=pytest.mark.thorough,
        ),
    ],
    ids=" ".join,
)
def test_keys(keys: tuple[str, ...], tmp_path: Path, digest: str) -> None:
    arguments = ["--set", *SMALL, *keys, "--json", "results.json"]
    printed = run(WHEELS[1], 2, "run", "microcircuit", *arguments, folder=tmp_path)
    assert digest in printed
    assert max(map(len, map(str.rstrip, printed.splitlines()))) <= 80
    given = dict(setting.split("=") for setting in keys)
    found = json.loads((tmp_path / "results.json").read_text())
    assert {key: str(found["parameters"][key]).lower() for key in given} == given
    assert found["sorts_connections"] == (given.get("sort_connections") != "false")
    assert ("not sorted" in printed) != found["sorts_connections"]


@pytest.mark.parametrize("keys", [(), ("wait_apart=true",)], ids=str)
def test_trace(keys: tuple[str, ...], tmp_path: Path) -> None:
    results = ["--json", "results.json", "--trace", "trace.json"]
    printed = run(WHEELS[1], 2, "run", "microcircuit", "--set", *SMALL, *keys, *results, folder=tmp_path)
    assert "Where a step goes" in printed
    assert "Trace in trace.rank0.json ... trace.rank1.json" in printed
    assert re.search(r"^Last    thread [01] of rank [01] \d+%", printed, re.MULTILINE)
    assert max(map(len, map(str.rstrip, printed.splitlines()))) <= 80
    assert not (tmp_path / "trace.json").exists()
    accounts = json.loads((tmp_path / "results.json").read_text())["trace_by_rank"]
    assert [account["steps"] for account in accounts] == [600, 600]
    for rank, account in enumerate(accounts):
        parts = account["parts_of_step_s"]
        assert sum(parts.values()) == pytest.approx(account["step_s"])
        assert all(parts[name] > 0.0 for name in ("deliver", "update", "exchange", "imbalance", "serial", "travel"))
        assert (parts["processes"] > 0.0) == bool(keys)
        # The other thread waits for the one that communicates.
        of_threads = account["parts_of_threads_s"]
        assert np.argmax(of_threads["exchange"]) == np.argmin(of_threads["serial"])
        events = json.loads((tmp_path / f"trace.rank{rank}.json").read_text())["traceEvents"]
        assert {event["pid"] for event in events} == {rank}
        kinds = {event["name"] for event in events if event.get("cat") == "work"}
        assert {"update", "collocate", "transfer", "collect", "finish"} <= kinds
    # The clock is common: both runs are at the same time.
    spans = []
    for rank in range(2):
        slices = json.loads((tmp_path / f"trace.rank{rank}.json").read_text())["traceEvents"]
        begins = [event["ts"] for event in slices if event["ph"] == "X"]
        spans.append((min(begins), max(begins)))
    assert max(begin for begin, _ in spans) < min(end for _, end in spans)


@pytest.mark.thorough
def test_synapses_that_are_not_sorted_by_choice(tmp_path: Path) -> None:
    # Two synapses of each cell, on four threads of all ranks.
    keys = ["cells=200", "connections=2", "time=20", "threads=2"]
    printed = run(WHEELS[0], 2, "run", "interval_fire", "--set", *keys, "--json", "results.json", folder=tmp_path)
    found = json.loads((tmp_path / "results.json").read_text())
    assert found["sorts_connections"] is False
    assert found["parameters"]["sort_connections"] == "auto"
    assert "not sorted" in printed


def test_one_process_under_mpiexec(tmp_path: Path, digest: str) -> None:
    printed = run(WHEELS[1], 1, "run", "microcircuit", "--set", *SMALL, folder=tmp_path)
    assert digest in printed
    assert "rank" not in printed


MODEL = """
import os
import ranvier as rv

def network(size=50, failing=-1, resolution=0.1):
    rank = int(os.environ.get("OMPI_COMM_WORLD_RANK", os.environ.get("PMI_RANK", 0)))
    if rank == failing:
        raise ValueError("only here")
    net = rv.Network(resolution=resolution)
    net.create("iaf_psc_exp", size + (1000 if failing == 100 + rank else 0), I_e=500.0)
    return net
"""


# By the arguments. `make validate` tries all with both families.
ERRORS = {
    "microcirciut": "did you mean 'microcircuit'?",
    "microcircuit --set exchange=alltoal": "did you mean 'alltoall'?",
    "microcircuit --set intervals=3 scale=0.01": "intervals is 3",
    "microcircuit --set scale=100": "bytes",
    "model.py --set failing=1": "ValueError: only here",
    "model.py --set failing=102": "not the same on all ranks",
    "model.py --json missing/results.json": "missing/results.json",
    "model.py --json /dev/full --set time=1": "/dev/full",
}


@pytest.mark.parametrize("arguments", ["model.py --set failing=1"])
def test_errors_are_told_once(arguments: str, tmp_path: Path) -> None:
    check_that_an_error_is_told_once(WHEELS[1], arguments, tmp_path)


def check_that_an_error_is_told_once(where: Installation, arguments: str, tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text(MODEL)
    done = ranvier(where, 3, "run", *arguments.split(), folder=tmp_path)
    assert done.status != 0
    told = [line for line in done.errors.splitlines() if line.startswith("ranvier: error: ")]
    assert len(told) == 1, done.errors
    assert ERRORS[arguments] in told[0]
    assert "Traceback" not in done.errors


def test_methods_are_listed() -> None:
    assert {"allgather", "alltoall", "auto"} <= set(mpi.exchanges())
    assert all(mpi.exchanges().values())
