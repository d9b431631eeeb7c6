"""`ranvier bench lfp`: potentials of detailed cells, by Ranvier and by LFPykit."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pytest

import ranvier as rv
from ranvier_benchmarks import lfp


def run(*words: str) -> int:
    parser = argparse.ArgumentParser()
    lfp.add_arguments(parser)
    return lfp.main(parser.parse_args([*words]))


def test_both_compute_the_same(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("lfpykit")
    path = tmp_path / "results.json"
    words = ["--cells=11", "--contacts=3", "--time=0.4", "--threads=1", "--repetitions=1", f"--json={path}"]
    assert run(*words) == 0
    whole: dict[str, Any] = json.loads(path.read_text())
    assert whole["complete"]
    rows = whole["potentials"]
    assert [(row["network"], row["contacts"], row["contestant"]) for row in rows] == [
        (network, 3, contestant) for network in ("ring", "column") for contestant in ("plain", "matrix", "lfpykit")
    ]
    assert all(row["error"] < 1e-9 for row in rows if row["contestant"] == "matrix")
    assert all(row["samples"] == 4 and row["total_s"] > 0.0 for row in rows)
    assert {"build", "run", "take", "matrix", "product"} == rows[2]["seconds"].keys()
    printed = capsys.readouterr().out
    assert "LFPykit / extra" in printed
    assert "1,375 compartments" in printed, "eleven cells of the ring have 125 compartments each"


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
