"""`ranvier paper magalhaes2019`: what its numbers mean, with tiny networks."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from ranvier.errors import FileError, InsufficientMemoryError, MissingPackageError, ValueOutOfBoundsError
from ranvier_benchmarks import neuron_column
from ranvier_benchmarks.papers import _command
from ranvier_benchmarks.papers.magalhaes2019 import PAPER, published
from ranvier_benchmarks.papers.magalhaes2019._runs import folder_of
from ranvier_benchmarks.papers.magalhaes2019.messages import bulk_synchronous_messages
from ranvier_benchmarks.papers.magalhaes2019.steps import quantiles
from trimmed_results import show_trimmed

TINY: dict[str, Any] = {
    "compartment_length": 200.0,
    "separate_sites": False,
    "morphologies": "drawn",
    "synapses": 60,
    "probability": 0.5,
    "seed": 1,
}


def run(*words: str) -> int:
    parser = argparse.ArgumentParser()
    _command.add_arguments(parser)
    return _command.main(parser.parse_args(["magalhaes2019", *words]))


def measured(kind: str, number: str) -> Any:
    path = Path(f"magalhaes2019_{kind}_{number}.json")
    # The stored file is enough for the tables and the figure.
    show_trimmed(path)
    return json.loads(path.read_text())


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_figure_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--figure", "2", "--set", "cells=400") == 0
    found = measured("figure", "2")
    assert sum(found["counts"]) == found["synapses"] > 100_000
    assert found["shortest_ms"] == pytest.approx(published.SHORTEST_DELAY)
    # A part of 0.13 % in the paper; here delays are multiples of 0.025 ms, and the bar ends between 0.125 and 0.15 ms.
    assert 0.0004 < found["counts"][0] / found["synapses"] < 0.002
    # The most frequent delays are near the mode of the distribution, 0.8 ms.
    assert 6 <= int(np.argmax(found["counts"])) <= 10
    assert Path("magalhaes2019_figure_2.png").stat().st_size > 10_000
    assert "0.13%" in capsys.readouterr().out


def test_figure_7c(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--figure", "7c", "--set", "cells=(8,24)", "time=5", "synapses=60", "probability=0.3") == 0
    networks = measured("figure", "7C")["networks"]
    for each in networks:
        steps = np.arange(len(each["visits_by_steps"]))
        # All cells take all steps.
        assert np.dot(each["visits_by_steps"], steps) == 200 * each["cells"]
        assert each["mean"] >= 4.0
    assert networks[0]["mean"] > networks[1]["mean"]
    assert networks[0]["sources_of_cell"] < networks[1]["sources_of_cell"]
    assert "24" in capsys.readouterr().out


def test_quantiles_of_visits() -> None:
    assert quantiles([0, 0, 5, 0, 4, 1], (0.1, 0.5, 0.9, 1.0)) == [2, 2, 4, 5]


def test_table_1(capsys: pytest.CaptureFixture[str]) -> None:
    assert run("--table", "1", "--set", "neurons=(16,)", "steps=120", "repetitions=1", "counts=false") == 0
    found = measured("table", "1")
    assert found["different"] == []
    assert {(each["model"], each["steps_at_once"]) for each in found["results"]} == {("bsp", 4), ("async", 12)}
    # Iterations are turns of neurons: a third as many with three times the steps.
    turns = {each["model"]: each["iterations"] for each in found["results"]}
    assert turns["bsp"] == 3 * turns["async"]
    assert "std/linear" in capsys.readouterr().out
    assert published.CONTAINERS["bsp"][128]["seconds"] == (2.13, 14.42)


def test_bulk_synchronous_messages_are_counted_from_spikes_and_synapses() -> None:
    """On as many processes as cells, a message to a process is one to a cell."""
    found = {ranks: bulk_synchronous_messages({**TINY, "cells": 8}, ranks, 30.0) for ranks in (1, 2, 8)}
    assert found[1]["messages"] == {"reduce": 0, "simple": 0}
    assert found[8]["messages"]["reduce"] == found[8]["messages"]["simple"] > 0
    assert 0 < found[2]["messages"]["reduce"] < found[2]["messages"]["simple"] < found[8]["messages"]["simple"]
    # 300 epochs of 0.1 ms.
    assert found[2]["reductions"] == {"reduce": 300, "simple": 1200}


@pytest.mark.thorough
def test_table_2(capsys: pytest.CaptureFixture[str]) -> None:
    keys = ["cells=(8,)", "time=10", "ranks=2", "repetitions=1", "synapses=60", "probability=0.5"]
    assert run("--table", "2", "--set", *keys) == 0
    (network,) = measured("table", "2")["networks"]
    assert network["same_spikes"]
    assert 0 < network["async"]["reduce"]["messages"][0] < network["async"]["simple"]["messages"][0]
    assert "44,770,000" in capsys.readouterr().out


@pytest.mark.thorough
def test_figure_7b(capsys: pytest.CaptureFixture[str]) -> None:
    keys = ["cells=(8,)", "ranks=(2,)", "predicted=(2,8)", "time=5", "repetitions=1", "compartment_length=200"]
    assert run("--figure", "7b", "--set", *keys, "synapses=60") == 0
    (network,) = measured("figure", "7B")["networks"]
    assert [each["ranks"] for each in network["real"]] == [1, 2]
    assert all(each["same_spikes"] for each in network["real"])
    assert [(each["ranks"], each["jitter"]) for each in network["predicted"]] == [(2, 0), (2, 0.2), (8, 0), (8, 0.2)]
    assert all(each["async"]["steps_per_visit"] > each["bsp"]["steps_per_visit"] for each in network["predicted"])
    assert "Cray" in capsys.readouterr().out


@pytest.mark.thorough
def test_figure_7a(capsys: pytest.CaptureFixture[str]) -> None:
    keys = ["cells=(5,)", "time=5", "repetitions=1", "compartment_length=200", "synapses=20", "at_once=(1,8)"]
    assert run("--figure", "7a", "--set", *keys) == 0
    (network,) = measured("figure", "7A")["networks"]
    assert network["same_spikes"]
    assert set(network["speed_ups"]) == {"bsp", "bsp, cells together", "NEURON"}
    assert set(network["at_once"]) == {"1", "8"}
    assert network["neuron_spikes"] == network["spikes"]
    assert network["bytes_of_step"]["inputs"] == 20 * 16
    assert np.dot(network["visits_by_steps"], np.arange(len(network["visits_by_steps"]))) == 5 * 200
    assert "1.31" in capsys.readouterr().out


def test_a_figure_without_neuron_needs_no_compiler() -> None:
    keys = ["cells=(5,)", "time=1", "repetitions=1", "compartment_length=200", "synapses=20", "at_once=()"]
    assert run("--figure", "7a", "--set", *keys, "neuron=false") == 0
    (network,) = measured("figure", "7A")["networks"]
    assert network["neuron_spikes"] is None
    assert network["same_spikes"]


@pytest.mark.parametrize(
    ("result", "key", "error", "text"),
    [
        (("figure", "2"), "cells=1", ValueOutOfBoundsError, "key cells"),
        (("figure", "7A"), "cells=()", ValueOutOfBoundsError, "key cells"),
        (("figure", "7A"), "cells=(5000,)", ValueOutOfBoundsError, "key cells"),
        (("figure", "7A"), "threads=20", ValueOutOfBoundsError, "key threads"),
        (("figure", "7A"), "at_once=(0,)", ValueOutOfBoundsError, "key at_once"),
        (("figure", "7A"), "time=0", ValueOutOfBoundsError, "key time"),
        (("figure", "7A"), "morphologies=nowhere", FileError, "nowhere"),
        (("figure", "7B"), "ranks=(1,)", ValueOutOfBoundsError, "key ranks"),
        (("figure", "7B"), "predicted=(100,)", ValueOutOfBoundsError, "key predicted"),
        (("figure", "7B"), "jitter=2", ValueOutOfBoundsError, "key jitter"),
        (("figure", "7C"), "probability=2", ValueOutOfBoundsError, "probability"),
        (("table", "1"), "neurons=()", ValueOutOfBoundsError, "key neurons"),
        (("table", "1"), "steps=1", ValueOutOfBoundsError, "key steps"),
        (("table", "2"), "ranks=1", ValueOutOfBoundsError, "key ranks"),
        (("table", "2"), "repetitions=0", ValueOutOfBoundsError, "key repetitions"),
    ],
)
def test_bad_keys_are_refused(result: tuple[str, str], key: str, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=text):
        run(f"--{result[0]}", result[1], "--set", key)
    assert not list(Path().iterdir())


def test_networks_without_room_are_refused() -> None:
    with pytest.raises(InsufficientMemoryError, match="4096 cells"):
        run("--figure", "7A", "--set", "cells=(4096,)", "synapses=60000")


def test_bmtk_is_named_where_it_is_missing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingPackageError, match="bmtk"):
        folder_of("bmtk")
    assert folder_of("drawn") == ""
    assert folder_of("cells") == "cells"


def test_neuron_takes_no_options_of_ranvier(tmp_path: Path) -> None:
    parser = argparse.ArgumentParser()
    neuron_column.add_arguments(parser)
    for setting in ("stepping=async", "presim=5"):
        with pytest.raises(Exception, match=setting.partition("=")[0]):
            neuron_column.main(parser.parse_args(["--mechanisms", str(tmp_path), "--set", setting]))


def test_the_paper_has_its_results() -> None:
    assert [result.name for result in PAPER.results] == [
        "figure 2",
        "figure 7A",
        "figure 7B",
        "figure 7C",
        "table 1",
        "table 2",
    ]
