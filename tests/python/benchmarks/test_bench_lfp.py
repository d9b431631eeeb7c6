"""`ranvier bench lfp`: potentials of detailed cells, by Ranvier and by LFPykit; `ranvier bench coupling`."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pytest

import ranvier as rv
from ranvier_benchmarks import coupling, lfp


def run(*words: str) -> int:
    parser = argparse.ArgumentParser()
    lfp.add_arguments(parser)
    return lfp.main(parser.parse_args([*words]))


@pytest.mark.parametrize("network", ["ring", pytest.param("column", marks=pytest.mark.thorough)])
def test_both_compute_the_same(network: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("lfpykit")
    path = tmp_path / "results.json"
    words = [
        "--methods=matrix,auto,fmm",
        "--cells=11",
        "--contacts=3",
        "--time=0.4",
        "--threads=1",
        "--repetitions=1",
        f"--json={path}",
    ]
    assert run(f"--networks={network}", *words) == 0
    whole: dict[str, Any] = json.loads(path.read_text())
    assert whole["complete"]
    rows = whole["potentials"]
    contestants = ["plain", "matrix", "auto", "fmm", "lfpykit"]
    assert [(row["network"], row["contacts"], row["contestant"]) for row in rows] == [
        (network, 3, contestant) for contestant in contestants
    ]
    assert all(row["error"] < 1e-9 for row in rows if row["method"] == "matrix")
    assert all(1e-9 < row["error"] < 1e-2 for row in rows if row["method"] == "fmm")
    assert [row["method"] for row in rows] == [None, "matrix", "matrix", "fmm", None]
    assert all(row["samples"] == 4 and row["total_s"] > 0.0 for row in rows)
    assert {"build", "run", "take", "matrix", "product"} == rows[4]["seconds"].keys()
    printed = capsys.readouterr().out
    assert "LFPykit / extra" in printed
    if network == "ring":
        assert "1,375 compartments" in printed, "eleven cells of 125 compartments each"


@pytest.mark.parametrize(
    ("word", "match"),
    [
        ("--networks=rings", "ring, column"),
        ("--methods=none", "matrix"),
        ("--cells=3", "at least 11"),
        ("--contacts=0", "1 to 10000000"),
        ("--time=0", "positive"),
        ("--interval=-1", "positive"),
    ],
)
def test_bad_arguments(word: str, match: str) -> None:
    with pytest.raises(rv.errors.RanvierError, match=match):
        run(word)


def test_coupled_cells(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser()
    coupling.add_arguments(parser)
    path = tmp_path / "results.json"
    words = ["--cells=11", "--accuracies=0,1e-2", "--time=0.2", "--threads=1", "--repetitions=1", f"--json={path}"]
    assert coupling.main(parser.parse_args(words)) == 0
    rows = json.loads(path.read_text())["coupling"]
    assert [row["method"] for row in rows] == ["none", "matrix", "fmm"]
    assert all(row["compartments"] == 1375 and row["ratio"] > 0.0 for row in rows)
    assert "coupled / uncoupled" in capsys.readouterr().out
    bad = {
        "--network=rings": "--network",
        "--accuracies=x": "--accuracies",
        "--accuracies=1": "accuracy",
        "--interval=0.03": "interval",
        "--interval=-1": "--interval",
        "--time=0": "--time",
    }
    for word, match in bad.items():
        with pytest.raises(rv.errors.RanvierError, match=match):
            coupling.main(parser.parse_args(["--cells=11", word]))
