"""`ranvier paper morgenstern2020`: policies of pinning and of stealing, and performance portability."""

from __future__ import annotations

import argparse
import copy
import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from ranvier import _core
from ranvier_benchmarks.papers import _command
from ranvier_benchmarks.papers.morgenstern2020 import policies
from ranvier_benchmarks.papers.morgenstern2020.published import INPUT, OPERATIONS, PLATFORMS
from trimmed_results import show_trimmed

QUICK = ["runs=2", "points=100", "depth=2", "distances=reported", "peak=10.0"]


def run(*words: str) -> int:
    parser = argparse.ArgumentParser()
    _command.add_arguments(parser)
    return _command.main(parser.parse_args(["morgenstern2020", *words]))


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Results go to the working directory unless they are named."""
    monkeypatch.chdir(tmp_path)


def stored(name: str) -> dict[str, Any]:
    path = Path(f"morgenstern2020_{name}.json")
    whole: dict[str, Any] = json.loads(path.read_text())
    # The stored file is enough for the tables and the figure.
    show_trimmed(path)
    return whole


def with_times(platform: dict[str, Any], times: dict[tuple[str, int], float], **changes: Any) -> dict[str, Any]:
    """Return a platform whose policies, "base" or such as "CP, LO", took these seconds on so many threads."""
    changed = copy.deepcopy(platform)
    pairs = {"base": policies.BASE, **policies.PLUG_IN}
    changed["results"] = [
        {
            "pinning": pairs[name][0],
            "stealing": pairs[name][1],
            "threads": threads,
            "step_s": {"quantile_75": seconds, "turns": [seconds]},
            "step_tasks": {"executed": 1.0, "stolen_locally": 0.0, "stolen_remotely": 0.0},
        }
        for (name, threads), seconds in times.items()
    ]
    changed.update(changes)
    return changed


@pytest.mark.parametrize(("kind", "number"), [("figure", "4"), ("figure", "5"), ("table", "1")])
def test_each_result_has_all_policies_and_threads(kind: str, number: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(f"--{kind}", number, "--set", *QUICK, "threads=(2,)") == 0
    printed = capsys.readouterr().out
    whole = stored(f"{kind}_{number}")
    assert whole["complete"]
    platform = whole["platform"]
    assert {(r["pinning"], r["stealing"], r["threads"]) for r in platform["results"]} == {
        (*pair, threads) for pair in (policies.BASE, *policies.PLUG_IN.values()) for threads in (1, 2)
    }
    assert whole["input"] == {"points": 100, "order": 0, "depth": 2}
    # All pairs of near boxes, of 23 operations each with fields, are most of it.
    assert 23 * 100 * 10 < platform["operations"] < 30 * 100 * 100
    # Each of the 64 boxes has at most five tasks, each of those above at most three.
    tasks = {result["step_tasks"]["executed"] for result in platform["results"]}
    assert len(tasks) == 1
    assert 64 < tasks.pop() <= 64 * 5 + 9 * 3
    for result in platform["results"]:
        assert 0.0 < result["step_s"]["median"] <= result["step_s"]["quantile_75"] * (1.0 + 1e-12)
    assert "100 points, order 0, depth 2" in printed
    assert "the paper counts" not in printed
    assert PLATFORMS[0].name in printed or kind == "table"
    if kind == "figure":
        assert Path(f"morgenstern2020_figure_{number}.png").read_bytes().startswith(b"\x89PNG")


def test_the_input_of_the_paper_is_the_default(capsys: pytest.CaptureFixture[str]) -> None:
    """Its count of operations stands beside ours, for the same input."""
    assert policies.TABLE_1.preset(full=True).items() >= {**INPUT, "runs": 1000}.items()
    assert run("--table", "1", "--set", "runs=1", "threads=(1,)", "distances=reported", "peak=10.0") == 0
    platform = stored("table_1")["platform"]
    assert 1e6 < platform["operations"] < OPERATIONS
    assert "the paper counts 2.4" in capsys.readouterr().out


def test_different_bits_are_an_error() -> None:
    class Team:
        """A team whose results depend on the order of its tasks."""

        checksum = 0

        def fmm(self, *_input: int) -> dict[str, int]:
            self.checksum += 1
            return {"checksum": self.checksum}

    team = Team()
    found: set[int] = set()
    policies._measure_step(team, 1, points=1, order=0, depth=0, checksums=found)
    with pytest.raises(rv.errors.StateError, match="2 different results"):
        policies._measure_step(team, 1, points=1, order=0, depth=0, checksums=found)


def test_numbers_of_threads_are_those_of_the_platform() -> None:
    """All of them, as in the paper, unless some are named."""
    assert policies._threads((), "node:2 core:3 pu:1") == [1, 2, 3, 4, 5, 6]
    assert policies._threads((4, 2), "detected") == [1, 2, 4]
    assert len(policies._threads((), "detected")) == len(_core.Topology.detect().processors())


def test_several_machines_join(capsys: pytest.CaptureFixture[str]) -> None:
    """Performance portability is the harmonic mean over machines, of the best policies of each one."""
    assert run("--table", "1", "--set", *QUICK, "threads=(1,)") == 0
    capsys.readouterr()
    whole = stored("table_1")
    peak = {"flops_per_second": 1e9, "source": "stated"}
    common = {"operations": 1_000_000, "peak": peak, "synthetic": False}
    times = {("base", 1): 8e-3, ("base", 4): 4e-3, ("EP, LR", 1): 8e-3, ("CP, LO", 1): 8e-3, ("CP, LO", 4): 2.5e-3}
    first = with_times(whole["platform"], times, name="first machine", **common)
    times = {("base", 1): 10e-3, ("base", 2): 5e-3, ("EP, LR", 1): 10e-3, ("EP, LR", 2): 6.25e-3}
    second = with_times(whole["platform"], times, name="second machine", **common)
    synthetic = with_times(whole["platform"], times, **{**common, "name": "made up", "synthetic": True})
    for number, platform in enumerate((first, second, synthetic)):
        Path(f"{number}.json").write_text(json.dumps({**whole, "platform": platform}))
    assert run("--table", "1", "--from", "0.json", "1.json", "2.json") == 0
    printed = capsys.readouterr().out
    assert "first machine" in printed
    assert "made up, synthetic: not another machine" in printed
    assert "Synthetic platforms are left out" in printed
    # Base: 1 ms at the peak / 4 and 5 ms, and 8 / (4 x 4) and 10 / (2 x 5). Plug-in: 2.5 and 6.25 ms, 0.8 and 0.8.
    base, plug_in = (
        re.findall(r"(\d+) % ", line) for line in printed.splitlines() if re.match(r" +(base|plug-in) +2 ", line)
    )
    assert base == [f"{100 * 2 / (4 + 5):.0f}", f"{100 * 2 / (2 + 1):.0f}"]
    assert plug_in == [f"{100 * 2 / (2.5 + 6.25):.0f}", "80"]


def test_figures_have_a_panel_for_each_machine(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--figure", "4", "--set", *QUICK, "threads=(1,)", "topology=pack:2 node:2 core:1 pu:1") == 0
    whole = stored("figure_4")
    assert whole["platform"]["synthetic"]
    assert whole["platform"]["cores_of_nodes"] == [1, 1, 1, 1]
    other = {**whole, "platform": {**whole["platform"], "name": "another machine", "synthetic": False}}
    figure = policies.FIGURE_4.draw
    assert figure is not None
    drawn = figure([whole, other])
    assert len(drawn.axes) == 2
    assert "synthetic: not another machine" in drawn.axes[0].get_title(loc="left")
    assert drawn.axes[1].get_title(loc="left").startswith("another machine")
    assert [line.get_label() for line in drawn.axes[0].get_lines()] == ["base", "EP", "CP"]
    points = np.asarray(drawn.axes[0].get_lines()[2].get_xydata())
    (expected,) = (
        1e3 * r["step_s"]["quantile_75"]
        for r in whole["platform"]["results"]
        if (r["pinning"], r["stealing"]) == ("compact", "local_and_remote")
    )
    assert points.tolist() == [[1.0, expected]]
    Path("other.json").write_text(json.dumps(other))
    assert run("--figure", "4", "--from", "morgenstern2020_figure_4.json", "other.json") == 0
    assert "another machine" in capsys.readouterr().out


def test_published_numbers_agree_with_each_other() -> None:
    two, four = PLATFORMS
    # The abstract: 21 % less. Section 5: 480 and 448 GFLOP/s a socket.
    assert 1.0 - two.plug_in.milliseconds / two.base.milliseconds == pytest.approx(0.21, abs=0.01)
    assert (two.peak_gflops, four.peak_gflops) == (2 * 480.0, 4 * 448.0)
    efficiencies = [OPERATIONS / (1e-3 * one.base.milliseconds * 1e9 * one.peak_gflops) for one in PLATFORMS]
    assert policies._published_phi("base") == pytest.approx(
        100.0 * 2.0 / (1.0 / efficiencies[0] + 1.0 / efficiencies[1])
    )
    assert policies._published_phi("plug_in") > policies._published_phi("base")


@pytest.mark.parametrize(
    ("key", "error"),
    [
        ("threads=(0,)", rv.errors.ValueOutOfBoundsError),
        ("threads=(1.5,)", rv.errors.ValueOutOfBoundsError),
        ("threads=(1025,)", rv.errors.ValueOutOfBoundsError),
        ("runs=0", rv.errors.ValueOutOfBoundsError),
        ("points=0", rv.errors.ValueOutOfBoundsError),
        ("order=21", rv.errors.ValueOutOfBoundsError),
        ("depth=21", rv.errors.ValueOutOfBoundsError),
        ("topology=nonsense", rv.errors.ValueOutOfBoundsError),
        ("distances=guessed", rv.errors.UnknownNameError),
        ("peak=-1.0", rv.errors.ValueOutOfBoundsError),
        ("policy=EP", rv.errors.UnknownNameError),
    ],
)
def test_bad_keys_measure_nothing(key: str, error: type[Exception]) -> None:
    with pytest.raises(error):
        run("--figure", "4", "--set", key)
    assert not list(Path().iterdir())
