"""`ranvier bench stepping` and `ranvier bench containers` measure what they say."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from ranvier.errors import RanvierError, StateError, UnknownNameError, ValueOutOfBoundsError
from ranvier_benchmarks import _counters, containers, stepping
from ranvier_benchmarks._native import measurements

SMALL = ("--set", "time=5", "indegree=4", "compartments=1", "shards=3")


def bench(module: ModuleType, *arguments: str) -> int:
    parser = argparse.ArgumentParser()
    module.add_arguments(parser)
    status: int = module.main(parser.parse_args(arguments))
    return status


@pytest.mark.thorough
def test_stepping(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path, figure = tmp_path / "results.json", tmp_path / "figure.png"
    files = (f"--json={path}", f"--plot={figure}")
    assert (
        bench(
            stepping,
            *("--cells=9", "--threads=1", "--loops=0,1", "--at-once=2,8", "--repetitions=1"),
            *("--predict=2,3", "--jitter=0.1", "--latency=40", *files, *SMALL),
        )
        == 0
    )
    shown = capfd.readouterr().out
    assert "speed-up" in shown
    assert "9 hh, 3 x 1" in shown
    assert figure.stat().st_size > 10_000
    whole: dict[str, Any] = json.loads(path.read_text())
    assert whole["complete"]
    assert [(result["cells"], result["threads"], result["loops"]) for result in whole["results"]] == [
        (9, 1, 0),
        (9, 1, 1),
    ]
    assert [(one["loops"], one["steps"]) for one in whole["epochs"]] == [(0, 2), (0, 8), (1, 2), (1, 8)]
    assert [one["speed_up"] for one in whole["epochs"] if one["steps"] == 2] == [1.0, 1.0]
    assert [(one["ranks"], one["jitter"], one["latency_us"]) for one in whole["predicted"]] == [
        (2, 0.1, 40.0),
        (3, 0.1, 40.0),
    ]
    cost = whole["results"][0]["bsp"]["ns_per_compartment_step"]
    assert all(one["ns_per_compartment_step"] == pytest.approx(cost) for one in whole["predicted"])
    for result in whole["results"]:
        assert result["same_spikes"]
        assert len(result["ratios"]) == 1
        ratios = [b / a for a, b in zip(result["async"]["seconds"], result["bsp"]["seconds"], strict=True)]
        assert result["ratios"] == ratios
        assert result["bsp"]["steps_per_visit"] == pytest.approx(4.0)
        assert sum(steps * count for steps, count in enumerate(result["visits_by_steps"])) == 200 * result["shards"]


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        (["--cells=0"], ValueOutOfBoundsError, "--cells"),
        (["--cells=4,"], ValueOutOfBoundsError, "--cells"),
        (["--threads=0"], ValueOutOfBoundsError, "--threads"),
        (["--loops=-1"], ValueOutOfBoundsError, "--loops"),
        (["--repetitions=0"], ValueOutOfBoundsError, "--repetitions"),
        (["--dendrites=axon"], UnknownNameError, "axon"),
        (["--ranks=1,2000"], ValueOutOfBoundsError, "--ranks"),
        (["--mpiexec=mpiexec"], ValueOutOfBoundsError, "only with --ranks"),
        (["--set", "stepping=async"], ValueOutOfBoundsError, "both are compared"),
        (["--set", "notifications=single"], ValueOutOfBoundsError, "both are compared"),
        (["--jitter=0.1"], ValueOutOfBoundsError, "--jitter.*only with --predict"),
        (["--latency=1"], ValueOutOfBoundsError, "--latency.*only with --predict"),
        (["--predict=4,0"], ValueOutOfBoundsError, "--predict"),
        (["--predict=4", "--cells=3"], ValueOutOfBoundsError, "one cell at least.*more --cells"),
        (["--predict=1025", "--cells=2000"], ValueOutOfBoundsError, "at most 1024"),
        (["--predict=4", "--loops=1"], ValueOutOfBoundsError, "--loops.*without busy programs"),
        (["--predict=4", "--jitter=0,-0.1"], ValueOutOfBoundsError, "--jitter"),
        (["--predict=4", "--jitter=much"], ValueOutOfBoundsError, "--jitter.*much"),
        (["--predict=4", "--overhead=nan"], ValueOutOfBoundsError, "--overhead.*nan"),
        (["--at-once=0"], ValueOutOfBoundsError, "--at-once"),
        (["--set", "delay=1"], ValueOutOfBoundsError, "--at-once"),
        (["--set", "cells=5"], ValueOutOfBoundsError, "--cells"),
        (["--set", "indegrees=5"], UnknownNameError, "indegree"),
    ],
)
def test_what_cannot_be_measured(arguments: list[str], error: type[RanvierError], text: str) -> None:
    with pytest.raises(error, match=text):
        bench(stepping, *arguments)


@pytest.mark.thorough
def test_containers(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path, figure = tmp_path / "results.json", tmp_path / "figure.png"
    files = (f"--json={path}", f"--plot={figure}")
    sizes = ("--neurons=2,31", "--steps=1300", "--steps-at-once=4,12", "--repetitions=2", "--no-counts")
    assert bench(containers, *sizes, *files) == 0
    assert "instructions" in capfd.readouterr().out
    assert figure.stat().st_size > 10_000
    whole: dict[str, Any] = json.loads(path.read_text())
    assert whole["complete"]
    assert whole["counted_by"] is None
    for result in whole["results"]:
        neurons, at_once = result["neurons"], result["steps_at_once"]
        assert result["iterations"] == neurons * -(-1300 // at_once)
        # Nine events in ten steps, of which those of the last 100 steps at most are not due yet.
        assert 0.9 * 1199 * neurons <= result["events"] <= 0.9 * 1300 * neurons
    assert len({(r["neurons"], r["steps_at_once"], r["checksum"]) for r in whole["results"]}) == 4


def test_containers_that_give_something_else_are_told(monkeypatch: pytest.MonkeyPatch) -> None:
    native = measurements()
    real = native.measure_containers

    def wrong(kind: str, *arguments: int) -> tuple[float, int, int, int]:
        seconds, iterations, events, checksum = real(kind, *arguments)
        return seconds, iterations, events, checksum + (kind == "linear")

    monkeypatch.setattr(native, "measure_containers", wrong)
    assert bench(containers, "--neurons=3", "--steps=40", "--no-counts") == 1


@pytest.mark.parametrize(
    ("arguments", "error", "text"),
    [
        (["--neurons=1"], ValueOutOfBoundsError, "--neurons"),
        (["--steps=0"], ValueOutOfBoundsError, "--steps"),
        (["--steps-at-once=0"], ValueOutOfBoundsError, "--steps-at-once"),
        (["--kinds=lists"], UnknownNameError, "lists"),
    ],
)
def test_containers_that_cannot_be_measured(arguments: list[str], error: type[RanvierError], text: str) -> None:
    with pytest.raises(error, match=text):
        bench(containers, *arguments)


def test_counts_of_the_processor() -> None:
    """As perf writes them, and where it cannot count."""
    counted = "123456,,instructions:u,1000,100.00,,\n654321,,cycles:u,1000,100.00,,\n"
    assert _counters.read_perf(counted) == {"instructions:u": 123456.0, "cycles:u": 654321.0}
    assert _counters.read_perf("<not supported>,,instructions:u,0,100.00,,\n") == {}


def test_counts_of_a_simulated_processor() -> None:
    said = """
==7== I refs:        1,234,567
==7== I1  misses:        1,000
==7== D refs:          400,000  (300,000 rd   + 100,000 wr)
==7== D1  misses:       20,000  ( 15,000 rd   +   5,000 wr)
==7== LLd misses:        3,000  (  2,000 rd   +   1,000 wr)
==7== LL misses:         9,999  (  2,000 rd   +   1,000 wr)
"""
    counted = _counters.read_cachegrind(said)
    assert counted.instructions == 1_234_567
    assert counted.cycles is None
    assert counted.near_bytes == 64 * 20_000
    assert counted.far_bytes == 64 * 3_000
    with pytest.raises(StateError, match="I refs"):
        _counters.read_cachegrind("==7== error")
