"""The benchmark of equations measures what it says."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pytest

from ranvier.compiled import llvm
from ranvier.errors import RanvierError, StateError, UnknownNameError, ValueOutOfBoundsError
from ranvier_benchmarks import equations
from ranvier_benchmarks._built_in_equations import BUILT_IN, BUILT_IN_SYNAPSES

SMALL = ["neurons=100", "time=40", "presim=0", "threads=1", "rate=50"]


def bench(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    equations.add_arguments(parser)
    return equations.main(parser.parse_args(arguments))


@pytest.mark.thorough
def test_built_in_models_and_their_equations_in_turn(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "results.json"
    assert bench("--compile=iaf_cond_exp,mat2_psc_exp", "--repetitions=2", "--json", str(path), "--set", *SMALL) == 0
    whole: dict[str, Any] = json.loads(path.read_text())
    assert whole["complete"]
    assert [each["model"] for each in whole["steps"]] == list(BUILT_IN)
    learning = [(each["model"], each["precision"]) for each in whole["learning"]]
    assert learning == [(name, precision) for name in BUILT_IN_SYNAPSES for precision in ("single", "double")]
    for each in (*whole["steps"], *whole["learning"]):
        assert all(len(runs) == 2 and min(runs) > 0.0 for runs in each["runs"].values())
        ratios = [a / b for a, b in zip(each["runs"]["compiled"], each["runs"]["built_in"], strict=True)]
        assert each["compiled_ratio"] == pytest.approx(sum(ratios) / 2)
    assert [each["model"] for each in whole["compilation"]] == [*BUILT_IN, "iaf_cond_exp", "mat2_psc_exp"]
    adaptive = {each["model"]: each["adaptive"] for each in whole["compilation"]}
    assert adaptive["iaf_cond_exp"]
    assert not adaptive["iaf_psc_exp"]
    printed = capfd.readouterr().out
    assert all(name in printed for name in adaptive)
    assert max(len(line.rstrip()) for line in printed.splitlines() if str(path) not in line) <= 80


@pytest.mark.parametrize(
    ("arguments", "error", "told"),
    [
        (["--compile=iaf_psc_exp"], UnknownNameError, "--compile"),
        (["--repetitions=0"], ValueOutOfBoundsError, "--repetitions"),
        (["--set", "rate=0"], ValueOutOfBoundsError, "key rate"),
        (["--set", "neurons=0"], ValueOutOfBoundsError, "key neurons"),
        (["--set", "programs=interpreted"], ValueOutOfBoundsError, "key programs"),
        (["--set", "weight_precision=single"], ValueOutOfBoundsError, "key weight_precision"),
    ],
)
def test_bad_inputs(arguments: list[str], error: type[RanvierError], told: str) -> None:
    with pytest.raises(error, match=told):
        bench(*arguments)


def test_without_a_compiler_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(llvm, "unusable", lambda: "llvmlite is not installed: pip install ranvier[llvm]")
    with pytest.raises(StateError, match="llvmlite is not installed"):
        bench()
