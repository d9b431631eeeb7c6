"""Benchmarks write each result as it comes, so that an end before the last one loses nothing."""

from __future__ import annotations

import argparse
import io
import json
import os
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from ranvier.errors import RemoteError, StateError, ValueOutOfBoundsError
from ranvier.processes.mpi_library import FAMILIES
from ranvier.simulation.measurements import PARTS, PHASES
from ranvier_benchmarks import _in_turn, exchange, many_ranks, microcircuit, parallel, scaling
from ranvier_benchmarks._mpiexec import Mpiexec, run_worker
from ranvier_benchmarks._options import method_variants
from ranvier_benchmarks._results import ResultsFile


def parse(bench: Any, *arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    bench.add_arguments(parser)
    return parser.parse_args(arguments)


def read(path: Path) -> dict[str, Any]:
    whole: dict[str, Any] = json.loads(path.read_text())
    return whole


# ---- the file --------------------------------------------------------------------------------------------------------


def test_file_holds_what_there_is(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    file = ResultsFile(path, {"benchmark": "some"})
    file.update({"results": [1]})
    assert read(path) == {"benchmark": "some", "complete": False, "results": [1]}
    file.update({"results": [1, 2]})
    assert read(path)["results"] == [1, 2]
    said = io.StringIO()
    file.finish({"results": [1, 2, 3]}, Console(file=said))
    assert read(path) == {"benchmark": "some", "complete": True, "results": [1, 2, 3]}
    assert "results.json" in said.getvalue()
    assert list(tmp_path.iterdir()) == [path]


def test_pipe_gets_one_text_only(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    file = ResultsFile(path, {})
    file.update({"results": [1]})  # would wait for a reader
    reader = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
    file.finish({"results": [1, 2]}, Console(file=io.StringIO()))
    assert json.loads(os.read(reader, 1000))["results"] == [1, 2]
    os.close(reader)


def test_no_file() -> None:
    file = ResultsFile(None, {})
    file.update({})
    file.finish({}, Console(file=io.StringIO()))


# ---- variants that cannot be -----------------------------------------------------------------------------------------


def test_methods_that_need_sorted_synapses() -> None:
    assert method_variants(["alltoall", "allgather"], [True, False]) == [
        ("alltoall", True),
        ("alltoall", False),
        ("allgather", True),
    ]
    with pytest.raises(ValueOutOfBoundsError, match="sort_connections=false"):
        method_variants(["allgather", "rma_allgather"], [False])


# ---- benchmarks that fail on the way ---------------------------------------------------------------------------------


def fails_after(runs: int, result: Any) -> Any:
    """Return a function that gives so many results and then fails."""
    left = [runs]

    def run(*_arguments: object, **_options: object) -> Any:
        if left[0] == 0:
            raise StateError("this run", bound="it failed")
        left[0] -= 1
        return result

    return run


SCALING_REPORT = {
    "transport": "none",
    "sorted": True,
    "neurons": 100,
    "synapses": 4000,
    "spikes": 10,
    "events": 400,
    "fingerprint": "ab",
    "times_s": {phase: [1.0] for phase in (*PHASES, *PARTS)},
    "memory_bytes": {"synapses": [1000]},
    "memory_when_built_bytes": {"synapses": [900]},
    "rate": 5.0,
    "bursts": None,
    "resident_bytes": [1000],
}


def test_scaling(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scaling, "run_worker", fails_after(3, SCALING_REPORT))
    monkeypatch.setattr(scaling, "find_mpiexec", lambda given: Mpiexec(Path("mpiexec"), FAMILIES[0]))
    path = tmp_path / "results.json"
    settings = ["--ranks=1", "--neurons-per-rank=100", "--indegree=40", "--methods=alltoall,allgather"]
    with pytest.raises(StateError, match="it failed"):
        scaling.main(parse(scaling, *settings, "--repetitions=2", f"--json={path}"))
    whole = read(path)
    assert not whole["complete"]
    assert [result["method"] for result in whole["results"]] == ["alltoall", "alltoall", "allgather"]


def test_many_ranks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(many_ranks, "_play", fails_after(2, {}))
    monkeypatch.setattr(
        many_ranks, "_summarize", lambda prepared, case, neurons, runs, times: {"case": case, "runs": len(runs)}
    )
    path = tmp_path / "results.json"
    with pytest.raises(StateError, match="it failed"):
        many_ranks.main(parse(many_ranks, "--ranks=2,4", "--set=sort_connections=true", f"--json={path}"))
    assert [result["case"] for result in read(path)["results"]] == [["alltoall", True, 2], ["alltoall", True, 4]]


def test_exchange(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def run(*_arguments: object, on_report: Any, **_options: object) -> Any:
        on_report({"runs": ["alltoall"]})
        raise StateError("this run", bound="it failed")

    monkeypatch.setattr(exchange, "run_worker", run)
    monkeypatch.setattr(exchange, "find_mpiexec", lambda given: Mpiexec(Path("mpiexec"), FAMILIES[0]))
    monkeypatch.setattr(exchange, "make_result", lambda ranks, threads, time, report, contestants: report)
    path = tmp_path / "results.json"
    with pytest.raises(StateError, match="it failed"):
        exchange.main(parse(exchange, "--ranks=2", f"--json={path}", "--set", "cells=40", "connections=5"))
    assert read(path)["results"] == [{"runs": ["alltoall"]}]


def test_parallel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    measure, left = parallel.measure_all, [2]

    def some(*arguments: Any, **keys: Any) -> Any:
        left[0] -= 1
        if left[0] < 0:
            raise StateError("this run", bound="it failed")
        return measure(*arguments, **keys)

    monkeypatch.setattr(parallel, "measure_all", some)
    path = tmp_path / "results.json"
    settings = [
        "--threads=1",
        "--pinning=none",
        "--stealing=none",
        "--levels=3",
        "--repetitions=3",
        "--distances=reported",
    ]
    with pytest.raises(StateError, match="it failed"):
        parallel.main(parse(parallel, *settings, f"--json={path}"))
    (platform,) = read(path)["platforms"]
    assert len(platform["results"][0]["reduction_s"]["turns"]) == 2


def test_microcircuit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    report = {"mean_rate_hz": {"L4E": 3.0}, "synaptic_events": 1, "neurons": 2, "threads": 1}
    report |= {"build_s": 1.0, "init_s": 1.0, "sim_s": 2.0, "real_time_factor": 1.0, "simulated_ms": 1.0}
    report |= {"parameters": {"resolution": 0.1}, "peak_rss_bytes": 10, "synapses": 5, "spikes": 3}
    monkeypatch.setattr(_in_turn, "run_once", fails_after(3, report))
    path = tmp_path / "results.json"
    with pytest.raises(StateError, match="it failed"):
        microcircuit.main(parse(microcircuit, "--against=ranvier", "--repetitions=2", f"--json={path}"))
    contestants = read(path)["contestants"]
    assert [len(contestant["reports"]) for contestant in contestants] == [2, 1]
    assert contestants[1]["ratios"]["simulation (s)"]["all"] == [1.0]


def test_worker_that_fails_has_told_what_it_had(tmp_path: Path) -> None:
    program = tmp_path / "mpiexec"
    program.write_text(
        "#!/bin/sh\n"
        'for last; do :; done; report=$(echo "$last" | sed \'s/.*"report": "\\([^"]*\\)".*/\\1/\')\n'
        'echo "progress: first"; echo \'{"runs": [1]}\' >"$report"; echo reported; echo trouble; exit 3\n'
    )
    program.chmod(0o755)
    seen: list[Any] = []
    said: list[str] = []
    with pytest.raises(RemoteError, match="trouble"):
        run_worker(
            Mpiexec(program, FAMILIES[0]), "module", {}, ranks=1, threads=1, on_progress=said.append,
            on_report=seen.append,
        )  # fmt: skip
    assert (said, seen) == (["first"], [{"runs": [1]}])
