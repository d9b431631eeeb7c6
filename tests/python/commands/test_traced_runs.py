"""`ranvier run MODEL --trace FILE`: the table of a step, the file for Perfetto, and the account in the results."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path
from typing import Any

import pytest

from command_lines import fail, run

NETWORK = ("n_scaling=0.01", "k_scaling=0.5", "presim=10")
SMALL = (*NETWORK, "time=20", "threads=2")
STEPS = 200


def traced(folder: Path, *arguments: str, settings: tuple[str, ...] = SMALL) -> tuple[str, dict[str, Any]]:
    """Run a microcircuit with a trace; return what is printed, and the results."""
    results = ("--json", "results.json", "--trace", "trace.json")
    printed = run("run", "microcircuit", "--set", *settings, *results, *arguments, folder=folder)
    assert "Trace in trace.json" in printed
    assert max(map(len, map(str.rstrip, printed.splitlines()))) <= 80
    return printed, json.loads((folder / "results.json").read_text())


def kinds(file: Path) -> set[str]:
    events = json.loads(file.read_text())["traceEvents"]
    return {event["name"] for event in events if event.get("cat") == "work"}


def row(printed: str, name: str) -> list[float]:
    """Return the microseconds in a row of the table of a step."""
    (line,) = re.findall(rf"^ +{name} +([\d,.]+ \u00b5s.*)$", printed.split("Where a step goes")[1], re.MULTILINE)
    return [float(number.replace(",", "")) for number in re.findall(r"([\d,.]+) \u00b5s", line)]


@pytest.mark.parametrize("keys", [(), ("shards=5",), ("shards=5", "stealing=local_and_remote")], ids=" ".join)
def test_where_a_step_goes(keys: tuple[str, ...], tmp_path: Path) -> None:
    printed, found = traced(tmp_path, settings=(*SMALL, *keys))
    (account,) = found["trace_by_rank"]
    # Without the pre-simulation.
    assert (account["mode"], account["steps"], account["epochs"]) == ("bsp", STEPS, STEPS)
    parts = account["parts_of_step_s"]
    assert sum(parts.values()) == pytest.approx(account["step_s"])
    assert 0.0 < account["step_s"] * STEPS <= found["sim_s"]
    mean, least, most = row(printed, "step")
    assert mean == pytest.approx(1e6 * account["step_s"], abs=0.01)
    # Rounds have the same limits for all threads.
    assert least == pytest.approx(mean, abs=0.02)
    assert most == pytest.approx(mean, abs=0.02)
    of_threads = [1e6 * seconds / STEPS for seconds in account["parts_of_threads_s"]["update"]]
    assert row(printed, "update") == pytest.approx([sum(of_threads) / 2, min(of_threads), max(of_threads)], abs=0.01)
    waits = [parts[name] for name in ("imbalance", "serial", "travel", "processes")]
    assert row(printed, "wait")[0] == pytest.approx(1e6 * sum(waits), abs=0.01)
    assert sum(account["last"]) == STEPS
    assert "Steps   half took up to" in printed
    assert re.search(r"^Last    thread [01] \d+%", printed, re.MULTILINE)
    # Whether a delivery is divided depends on its number of arrivals.
    assert kinds(tmp_path / "trace.json") - {"parts"} == {"update", "finish"}


def test_the_latest_steps_of_a_long_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ranvier.commands.run._TRACED_STEPS", 50)
    printed, found = traced(tmp_path)
    # There is room for twice as many, since threads may take over shards of others.
    steps = found["trace_by_rank"][0]["steps"]
    assert 49 <= steps <= 99
    assert f"Where a step goes, in the latest {steps} steps" in printed


def test_one_thread_waits_for_no_other(tmp_path: Path) -> None:
    printed, found = traced(tmp_path, settings=(*NETWORK, "time=20", "threads=1"))
    assert "Where a step goes" in printed
    assert "Last" not in printed
    assert "imbalance" not in printed
    assert found["trace_by_rank"][0]["parts_of_step_s"]["imbalance"] == 0.0


def test_asynchronous_stepping(tmp_path: Path) -> None:
    results = ("--json", "results.json", "--trace", "trace.json")
    settings = ("cells=32", "time=5", "threads=2", "stepping=async", "shards=4")
    printed = run("run", "layers", "--set", *settings, *results, folder=tmp_path)
    assert "Where a step goes" in printed
    (account,) = json.loads((tmp_path / "results.json").read_text())["trace_by_rank"]
    assert (account["mode"], account["epochs"]) == ("async", 0)
    assert row(printed, "wait")[0] == pytest.approx(1e6 * account["parts_of_step_s"]["wait"], abs=0.01)
    assert "visit" in kinds(tmp_path / "trace.json")


def test_dry_run(tmp_path: Path) -> None:
    printed, found = traced(tmp_path, "--dry-run", "4")
    account = found["trace"]
    assert (account["steps"], account["epochs"]) == (STEPS, STEPS)
    assert account["parts_of_step_s"]["exchange"] > 0.0
    assert account["parts_of_step_s"]["serial"] > 0.0
    assert row(printed, "exchange")[0] == pytest.approx(1e6 * account["parts_of_step_s"]["exchange"], abs=0.01)
    assert {"update", "collocate", "transfer", "collect", "finish"} <= kinds(tmp_path / "trace.json")


def test_resumed_run_and_compressed_file(tmp_path: Path) -> None:
    saved = run(
        "run", "microcircuit", "--set", *SMALL, "save_every=5", "--save", "s.h5", "--trace", "a.json", folder=tmp_path
    )
    longer = (*NETWORK, "time=30")
    resumed = ("--resume", "s.h5", "--trace", "b.json.gz", "--json", "results.json")
    printed = run("run", "microcircuit", "--set", *longer, *resumed, folder=tmp_path)
    plain = run("run", "microcircuit", "--set", *longer, folder=tmp_path)
    digest = re.compile(r"^Digest .*$", re.MULTILINE)
    assert digest.findall(printed) == digest.findall(plain)
    assert "Where a step goes" in saved
    assert json.loads((tmp_path / "results.json").read_text())["trace_by_rank"][0]["steps"] == 100
    assert json.loads(gzip.decompress((tmp_path / "b.json.gz").read_bytes()))["traceEvents"]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--trace", "trace.txt"), "its format is not known"),
        (("--trace", "no/trace.json"), "cannot be written"),
        (("--trace", "same.json", "--json", "same.json"), "it cannot hold both"),
        (("--trace", "no/trace.json", "--dry-run", "4"), "cannot be written"),
    ],
    ids=" ".join,
)
def test_files_are_checked_before_building(arguments: tuple[str, ...], message: str, tmp_path: Path) -> None:
    # At this scale building would need more memory than there is, which is found later.
    assert message in fail("run", "microcircuit", "--set", "scale=100", *arguments, folder=tmp_path)
    assert list(tmp_path.iterdir()) == []
