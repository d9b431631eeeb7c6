"""`ranvier bench predictions` tells what is predicted beside what is measured. Whether it is true, validation tests."""

from __future__ import annotations

import argparse
import json
import math
from pathlib import Path
from typing import Any

import pytest

from ranvier.errors import RanvierError, UnknownNameError, ValueOutOfBoundsError
from ranvier_benchmarks import predictions


def parse(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    predictions.add_arguments(parser)
    return parser.parse_args([*arguments])


SMALL = ("--neurons-per-rank=40", "--indegree=40", "--repetitions=1", "--ranks=3,200", "--threads=1")


@pytest.mark.thorough
def test_all_that_is_predicted_is_measured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    path = tmp_path / "results.json"
    arguments = [*SMALL, "--methods=alltoall,allgather", "--most-received=2000", "--networks=none", f"--json={path}"]
    arguments += ["--set", "time=5", "precision=single"]
    assert predictions.main(parse(*arguments)) == 0
    whole = json.loads(path.read_text())
    assert whole["complete"]
    results: list[dict[str, Any]] = whole["results"]
    # 200 ranks would receive 80,000 spikes a second by allgather.
    assert [(result["method"], result["sorted"], result["ranks"]) for result in results] == [
        ("alltoall", True, 3),
        ("alltoall", True, 200),
        ("alltoall", False, 3),
        ("alltoall", False, 200),
        ("allgather", True, 3),
    ]
    for result in results:
        for kind in ("simulation", "build"):
            (predicted,), (measured,) = ([one[kind] for one in result[name]] for name in ("predicted", "measured"))
            assert result[f"{kind}_ratio"] == pytest.approx(predicted / measured)
            assert 0.0 < result[f"{kind}_ratio"] < math.inf
    ratios = [result["simulation_ratio"] for result in results]
    assert predictions.spread(results) == pytest.approx(max(ratios) / min(ratios))
    assert f"{predictions.spread(results):.2f}" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ("--networks=mircocircuit", UnknownNameError),
        ("--methods=alltoal", UnknownNameError),
        ("--threads=0", RanvierError),
        ("--ranks=two", RanvierError),
        ("--rate=nan", RanvierError),
        ("--set=time=0", RanvierError),
        ("--set=threads=2", ValueOutOfBoundsError),
        ("--set=scale=2", UnknownNameError),
        ("--json=/nowhere/there.json", RanvierError),
    ],
)
def test_what_cannot_be_measured(wrong: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        predictions.main(parse(*SMALL, "--methods=alltoall", "--networks=none", wrong))
