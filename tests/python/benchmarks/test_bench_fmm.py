"""`ranvier bench fmm`: error and time of the fast multipole method."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from ranvier_benchmarks import fmm
from ranvier_benchmarks._native import measurements

# Stands for FMM3D: sums directly, with its form of potentials.
FAKE_FMM3D = """
import json, sys
from pathlib import Path
import numpy as np
options = dict(word.split("=", 1) for word in sys.argv if "=" in word)
path = Path(options["--input"])
arrays = np.load(path)
sources, strengths = arrays["sources"], arrays["strengths"]
exact = np.array([(strengths / np.linalg.norm(x[:, None] - sources, axis=0)).sum() for x in arrays["targets"].T])
runs = []
for text in options["--precisions"].split(","):
    np.save(path.with_name(f"potentials_{text}.npy"), (1.0 + float(text)) * exact)
    runs.append({"precision": float(text), "seconds": [1.0, 3.0, 2.0]})
Path(sys.argv[sys.argv.index("--json") + 1]).write_text(json.dumps({"version": "0", "runs": runs}))
"""


def run(*words: str) -> int:
    parser = argparse.ArgumentParser()
    fmm.add_arguments(parser)
    return fmm.main(parser.parse_args([*words]))


def test_tables_have_errors_and_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    script = tmp_path / "fake.py"
    script.write_text(FAKE_FMM3D)
    monkeypatch.setattr(fmm, "_FMM3D", script)
    monkeypatch.setattr(fmm, "_ACCURACIES", (1e-2, 1e-3))
    monkeypatch.setattr(fmm, "_PEER_PRECISIONS", ("1e-2", "1e-3"))
    path = tmp_path / "results.json"
    words = ["--points=2000", "--orders=2,4,6", "--capacities=10,40", "--threads=1,2", "--repetitions=1", "--growth"]
    assert run(*words, "--against=fmm3d", f"--fmm3d-python={sys.executable}", f"--json={path}") == 0
    printed = capsys.readouterr().out
    for title in ("Orders", "Capacities", "Chosen by accuracy", "FMM3D 0", "Growth from 2,000", "Cells of a column"):
        assert title in printed
    whole: dict[str, Any] = json.loads(path.read_text())
    assert whole["complete"]
    for kind in ("points", "lines"):
        rows = {name: [row for row in whole[name] if row["kind"] == kind] for name in ("orders", "accuracy", "against")}
        errors = [row["error"] for row in rows["orders"]]
        assert errors[0] > 3.0 * errors[1] > 9.0 * errors[2] > 0.0
        assert all(set(row["seconds"]) == {"1", "2"} for row in rows["orders"])
        assert all(row["error"] <= row["accuracy"] for row in rows["accuracy"])
        # The error that FMM3D states, or that of four points instead of a line piece.
        for row in rows["against"]:
            assert row["nodes_of_piece"] == (1 if kind == "points" else 4)
            assert row["seconds_of_fmm3d"] == {"1": 2.0, "2": 2.0}
            if kind == "points":
                assert row["error_of_fmm3d"] == pytest.approx(row["precision_of_fmm3d"], rel=1e-6)
            assert row["ranvier"]["error"] <= row["error_of_fmm3d"]
    assert [row["points"] for row in whole["growth"]] == [20_000, 20_000]
    assert [row["points"] for row in whole["column"]] == [100, 1000, 10_000]
    assert all(row["error"] <= 1e-3 for row in whole["column"])


def test_cells_of_the_column_are_connected_and_neutral() -> None:
    problem = fmm._column_problem(200, 2000)
    pieces = problem.pieces.reshape(4, 5, 10, 7)
    assert np.array_equal(pieces[:, :, 1:, :3], pieces[:, :, :-1, 3:6])
    assert np.array_equal(pieces[:, :, 0, :3], np.broadcast_to(pieces[:, :1, 0, :3], (4, 5, 3)))
    assert problem.strengths.reshape(4, 50, 16).sum(axis=1) == pytest.approx(0.0, abs=1e-12)
    assert len(np.unique(problem.targets, axis=0)) == 2000


def test_potentials_are_those_of_formulas() -> None:
    """One point, and one line piece along z seen from its end: log((a + b + L) / (a + b - L)) / L."""
    pieces = np.array([[0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0], [5.0, 0.0, 0.0, 5.0, 0.0, 2.0, 0.0]])
    target = np.array([5.0, 0.0, 4.0])
    expected = 3.0 / np.sqrt(41.0) + 7.0 * np.log(2.0) / 2.0
    potentials = measurements().sum_fields_directly(pieces.ravel(), target, np.array([3.0, 7.0]), 1)
    assert potentials == pytest.approx([expected], rel=1e-14)


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--points=99"], rv.errors.ValueOutOfBoundsError),
        (["--orders=21"], rv.errors.ValueOutOfBoundsError),
        (["--capacities=0"], rv.errors.ValueOutOfBoundsError),
        (["--threads=none"], rv.errors.ValueOutOfBoundsError),
        (["--repetitions=0"], rv.errors.ValueOutOfBoundsError),
        (["--kinds=balls"], rv.errors.UnknownNameError),
        (["--against=pvfmm"], rv.errors.UnknownNameError),
        (["--against=fmm3d"], rv.errors.StateError),
        (["--against=fmm3d", "--fmm3d-python=/nowhere/python"], rv.errors.FileError),
        (["--fmm3d-python=python3"], rv.errors.ValueOutOfBoundsError),
    ],
)
def test_bad_arguments_measure_nothing(words: list[str], error: type[Exception], tmp_path: Path) -> None:
    with pytest.raises(error):
        run(*words, f"--json={tmp_path / 'results.json'}")
    assert not list(tmp_path.iterdir())
