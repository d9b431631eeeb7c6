"""`ranvier paper` lists the figures and tables of papers, measures them, and draws stored results."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from ranvier.command_line import make_parser
from ranvier_benchmarks.papers import _command
from ranvier_benchmarks.papers._command import known_papers

RESULTS = [(paper, result) for paper in known_papers() for result in paper.results]


def run(*words: str) -> int:
    parser = argparse.ArgumentParser()
    _command.add_arguments(parser)
    return _command.main(parser.parse_args([*words]))


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Results go to the working directory unless they are named."""
    monkeypatch.chdir(tmp_path)


def test_each_result_is_listed_with_its_time(capsys: pytest.CaptureFixture[str]) -> None:
    assert run() == 0
    printed = capsys.readouterr().out
    for paper, result in RESULTS:
        assert f"ranvier paper {paper.name}" in printed
        assert f"--{result.kind} {result.number} " in printed
        assert result.title[:40] in printed
        # The presets for a laptop take less than ten minutes.
        assert 0.0 < result.minutes < 10.0


@pytest.mark.parametrize(("paper", "result"), RESULTS, ids=[f"{p.name}-{r.kind}-{r.number}" for p, r in RESULTS])
def test_presets_pass_the_checks_of_their_results(paper: Any, result: Any, capsys: pytest.CaptureFixture[str]) -> None:
    result.check(**result.preset(full=False))
    assert set(result.full) <= set(result.preset(full=False))
    assert run(paper.name, f"--{result.kind}", result.number, "--keys") == 0
    printed = capsys.readouterr().out
    assert all(name in printed for name in result.preset(full=False))


def test_a_paper_has_each_number_once() -> None:
    for paper in known_papers():
        names = [result.name for result in paper.results]
        assert len(names) == len(set(names))


def test_a_figure_is_measured_stored_and_drawn_again(capsys: pytest.CaptureFixture[str]) -> None:
    keys = ["neurons=64", "targets=20", "counted=8", "processes=(1, 8, 32)"]
    assert run("jordan2018", "--figure", "1", "--set", *keys) == 0
    printed = capsys.readouterr().out
    stored = json.loads(Path("jordan2018_figure_1.json").read_text())
    assert stored["complete"]
    assert stored["options"]["neurons"] == 64
    assert Path("jordan2018_figure_1.png").read_bytes().startswith(b"\x89PNG")
    assert run("jordan2018", "--figure=1", "--from", "jordan2018_figure_1.json", "--plot", "again.svg") == 0
    again = capsys.readouterr().out
    assert "<svg" in Path("again.svg").read_text()
    assert [line for line in again.splitlines() if "0." in line] == [
        line for line in printed.splitlines() if "0." in line
    ]


def test_counted_targets_follow_the_binomial_distribution() -> None:
    """Counts on M processes differ from the expectation like those of as many independent draws.

    At most by 4 standard deviations, each with a significance of 6e-5. The counts of one neuron are not independent,
    but that makes their sums vary less.
    """
    keys = ["neurons=2048", "targets=100", "counted=256", "processes=(32, 128, 2048, 3000)"]
    assert run("jordan2018", "--figure", "1", "--set", *keys) == 0
    stored = json.loads(Path("jordan2018_figure_1.json").read_text())
    # 2,048 neurons cannot be placed on 3,000 processes evenly.
    assert stored["counted_processes"] == [32, 128, 2048]
    processes = np.asarray(stored["processes"], dtype=np.float64)
    assert stored["expected"]["none"] == pytest.approx((1.0 - 1.0 / processes) ** 100)
    assert stored["expected"]["one"] == pytest.approx(100 / processes * (1.0 - 1.0 / processes) ** 99)
    for part in ("none", "one", "several"):
        expected = np.asarray(stored["expected"][part])[:3]
        error = np.sqrt(expected * (1.0 - expected) / (256 * processes[:3]))
        assert np.all(np.abs(np.asarray(stored["counted"][part]) - expected) <= 4.0 * error + 1e-12)


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["hines2012"], rv.errors.UnknownNameError),
        (["jordan2018", "--figure", "99"], rv.errors.UnknownNameError),
        (["jordan2018", "--table", "1"], rv.errors.UnknownNameError),
        (["jordan2018", "--figure", "1", "--set", "neuron=1"], rv.errors.UnknownNameError),
        (["jordan2018", "--figure", "1", "--set", "progress=1"], rv.errors.UnknownNameError),
        (["jordan2018", "--figure", "1", "--set", "threads=1"], rv.errors.UnknownNameError),
        (["jordan2018", "--figure", "1", "--set", "counted=0"], rv.errors.ValueOutOfBoundsError),
        (["jordan2018", "--figure", "1", "--set", "processes=(0,)"], rv.errors.ValueOutOfBoundsError),
        (["jordan2018", "--figure", "1", "--set", "processes=()"], rv.errors.ValueOutOfBoundsError),
        (
            ["jordan2018", "--figure", "1", "--set", "counted=100000000", "targets=100000"],
            rv.errors.InsufficientMemoryError,
        ),
        (["jordan2018", "--full"], rv.errors.StateError),
        (["--figure", "1"], rv.errors.StateError),
        (["jordan2018", "--figure", "1", "--json", "/nowhere/x.json"], rv.errors.FileError),
        (["jordan2018", "--figure", "1", "--from", "no.json"], rv.errors.FileError),
    ],
)
def test_wrong_arguments_measure_nothing(words: list[str], error: type[Exception]) -> None:
    with pytest.raises(error):
        run(*words)
    assert not list(Path().iterdir())


def test_an_unknown_key_names_only_keys_of_the_figure() -> None:
    with pytest.raises(rv.errors.UnknownNameError, match="processes") as caught:
        run("jordan2018", "--figure", "1", "--set", "process=(1,)")
    assert "allgather_spikes" not in str(caught.value)


def test_an_unknown_figure_names_those_that_there_are() -> None:
    with pytest.raises(rv.errors.UnknownNameError, match="1"):
        run("jordan2018", "--figure", "99")


@pytest.mark.parametrize(
    ("text", "bound"),
    [
        ("{", "not JSON"),
        ("[]", "does not hold figure 1"),
        ('{"paper": "jordan2018", "kind": "figure", "number": "2"}', "does not hold figure 1"),
        ('{"paper": "jordan2018", "kind": "figure", "number": "1", "complete": false}', "did not finish"),
    ],
)
def test_files_of_other_results_are_refused(text: str, bound: str) -> None:
    Path("stored.json").write_text(text)
    with pytest.raises(rv.errors.FileError, match=bound):
        run("jordan2018", "--figure", "1", "--from", "stored.json")


def test_the_command_is_one_of_ranvier() -> None:
    options = make_parser(["paper"]).parse_args(["paper", "jordan2018", "--figure", "1"])
    assert options.execute is _command.main
