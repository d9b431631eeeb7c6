"""`ranvier paper jordan2018`: what is measured for each figure, the memory model of the paper, and bad input."""

from __future__ import annotations

import argparse
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from mpi_runs import WHEELS
from ranvier import _core
from ranvier_benchmarks.papers import _command
from ranvier_benchmarks.papers.jordan2018 import PAPER
from ranvier_benchmarks.papers.jordan2018._runs import dry_of, kernel_of, real_of
from ranvier_benchmarks.papers.jordan2018.memory_model import COMPONENTS, memory_of_4g, memory_of_5g
from ranvier_benchmarks.papers.jordan2018.published import FIGURES

TINY = ["indegree=40", "time=10.0", "presim=3.0"]
ALL = "kernels=('4g', '5g-sort', '5g-nosort')"


def run(*words: str) -> int:
    parser = argparse.ArgumentParser()
    _command.add_arguments(parser)
    return _command.main(parser.parse_args(["jordan2018", *words]))


def measured(figure: str, *settings: str) -> dict[str, Any]:
    """Measure a figure with small keys, and return its file."""
    assert run(f"--figure={figure}", f"--mpiexec={WHEELS[0].mpiexec}", "--set", *TINY, *settings) == 0
    stored: dict[str, Any] = json.loads(Path(f"jordan2018_figure_{figure}.json").read_text())
    assert stored["complete"]
    assert Path(f"jordan2018_figure_{figure}.png").read_bytes().startswith(b"\x89PNG")
    return stored


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_each_figure_has_statements_of_the_paper() -> None:
    assert {result.number for result in PAPER.results} == set(FIGURES)


# ---- runs ------------------------------------------------------------------------------------------------------------


def check_run(run_: Mapping[str, Any]) -> None:
    memory = run_["cumulative_bytes"]
    assert 0 < memory["nodes"] < memory["connections"] < memory["end"]
    assert run_["build_s"] > 0.0
    assert run_["init_s"] >= 0.0
    parts = run_["parts_s_per_s"]
    assert all(parts[name] >= 0.0 for name in ("update", "collocate", "communicate", "deliver"))
    assert 0.0 < sum(parts.values()) <= 1.5 * run_["simulation_s_per_s"]


SMALL = ["kernels=('5g-sort',)", "real_processes=(2,)", "processes=(50,)", "neurons_per_process=60"]


def test_real_runs_and_dry_runs_have_the_same_load(capsys: pytest.CaptureFixture[str]) -> None:
    stored = measured("7", *SMALL)
    (real,), (dry,) = real_of(stored, "5g-sort"), dry_of(stored, "5g-sort")
    assert (real["ranks"], real["network_neurons"], real["synapses"]) == (2, 120, 60 * 40)
    assert (dry["ranks"], dry["network_neurons"], dry["synapses"]) == (50, 3000, 60 * 40)
    for each in (real, dry):
        check_run(each)
    # A time of 10 ms is shown for a simulated second.
    assert real["simulation_s_per_s"] == pytest.approx(stored["real"][0]["times_s"]["simulation"]["greatest"] * 100.0)
    printed = capsys.readouterr().out
    assert "0.70 to 0.75" in printed  # The build time in the paper's text.
    assert "not measured" in printed  # 4g, with which it is compared.


@pytest.mark.thorough
def test_one_measurement_is_drawn_as_figures_7_8_and_12() -> None:
    stored = measured("7", *SMALL)
    for figure in ("8", "12"):
        words = ["--from", "jordan2018_figure_7.json", "jordan2018_figure_7.json", "--plot", f"{figure}.svg"]
        assert run(f"--figure={figure}", *words) == 0
        assert "<svg" in Path(f"{figure}.svg").read_text()
    assert stored["machine"]["processor"] in Path("8.svg").read_text()
    with pytest.raises(rv.errors.FileError, match="figure 9 or A5"):
        run("--figure=9", "--from", "jordan2018_figure_7.json")


@pytest.mark.thorough
def test_kernels_differ_as_they_must() -> None:
    stored = measured("7", ALL, "real_processes=(1, 2)", "processes=(50, 20000)", "neurons_per_process=100")
    assert {kernel_of(each) for each in stored["real"]} == {"4g", "5g-sort", "5g-nosort"}
    dry = {(kernel_of(each), each["ranks"]): each for each in stored["dry"]}
    # The index over all neurons of the network: at least two bits for each of two million.
    memory = {name: sum(each["memory_bytes"].values()) for name, each in dry.items()}
    assert memory["4g", 20_000] - memory["4g", 50] > 2_000_000 / 4
    assert memory["5g-sort", 20_000] < memory["4g", 20_000]
    # All processes get all spikes; in the other kernels, those that they need.
    received = {name: each["traffic"]["spikes_received"] for name, each in dry.items()}
    assert received["4g", 20_000] > 50 * received["5g-sort", 20_000]
    assert received["5g-nosort", 50] >= received["5g-sort", 50]
    for kernel in ("4g", "5g-sort", "5g-nosort"):
        for each in (*real_of(stored, kernel), *dry_of(stored, kernel)):
            check_run(each)


@pytest.mark.thorough
def test_strong_scaling_divides_one_network(capsys: pytest.CaptureFixture[str]) -> None:
    settings = ["kernels=('5g-sort',)", "real_processes=(1, 2)", "processes=(50, 500)", "real_neurons=200"]
    stored = measured("9", *settings, "neurons=2000")
    assert [each["network_neurons"] for each in real_of(stored, "5g-sort")] == [200, 200]
    assert [each["neurons"] for each in dry_of(stored, "5g-sort")] == [40, 4]
    assert run("--figure=A5", "--from", "jordan2018_figure_9.json") == 0
    assert "times that of perfect scaling" in capsys.readouterr().out


@pytest.mark.thorough
def test_filling_takes_nearly_all_of_the_memory() -> None:
    stored = measured("10", "real_processes=(1,)", "processes=(50, 500)", "memory_per_process=2MB")
    for each in dry_of(stored, "5g-sort"):
        assert 1_900_000 < sum(each["predicted_bytes"].values()) <= 2_000_000
        check_run(each)
    (real,) = real_of(stored, "5g-sort")
    assert 1_000_000 < real["cumulative_bytes"]["end"] <= 2_000_000


@pytest.mark.thorough
def test_the_laptop() -> None:
    stored = measured("11", "neurons=200", "threads=1", "repetitions=2")
    assert [kernel_of(each) for each in stored["real"]] == ["4g", "5g-sort", "5g-nosort"]
    assert {each["ranks"] for each in stored["real"]} == {2}
    assert len({each["fingerprints"][0] for each in stored["real"]}) == 1


@pytest.mark.thorough
def test_threads() -> None:
    stored = measured("A4", "kernels=('4g', '5g-sort')", "processes=100", "threads=(1, 2)", "neurons_per_process=60")
    assert sorted((kernel_of(each), each["threads"]) for each in stored["dry"]) == [
        ("4g", 1),
        ("4g", 2),
        ("5g-sort", 1),
        ("5g-sort", 2),
    ]


# ---- the memory model ------------------------------------------------------------------------------------------------


def test_the_model_counts_sources_as_drawing_them_does() -> None:
    """Numbers of sources with one and several targets on a thread, drawn 200 times (4 standard errors, p < 1e-4)."""
    processes, threads, neurons, indegree = 20, 2, 30, 25
    random = np.random.default_rng(5)
    drawn = []
    for _ in range(200):
        sources = random.integers(processes * neurons, size=neurons // threads * indegree)
        counts = np.bincount(sources)
        drawn.append((np.count_nonzero(counts == 1), np.count_nonzero(counts > 1)))
    mean, error = np.mean(drawn, axis=0), np.std(drawn, axis=0) / np.sqrt(200)
    model = memory_of_4g(neurons, processes, threads, indegree)
    assert abs(model["one target"] / 24 / threads - mean[0]) < 4.0 * error[0]
    assert abs(model["several targets"] / 128 / threads - mean[1]) < 4.0 * error[1]


def test_the_model_agrees_with_the_text_of_the_paper() -> None:
    """Sections 3.4 and 3.5.3: 13 GB, 8 threads, 11,250 synapses."""

    def totals(processes: int, neurons: float) -> tuple[float, float]:
        arguments = (neurons, processes, 8, 11_250)
        return sum(memory_of_4g(*arguments).values()), sum(memory_of_5g(*arguments).values())

    # 730 million neurons fill JUQUEEN; the base memory and the buffers are not in the model.
    assert totals(28_672, 730e6 / 28_672)[1] == pytest.approx(12.1e9, rel=0.005)
    # The previous kernel takes less memory below about 1,000 threads, and more above.
    for processes in (8, 32):
        fourth, fifth = totals(processes, 18_000)
        assert fourth < fifth
    for processes in (512, 2048, 16_384, 82_944):
        fourth, fifth = totals(processes, 18_000)
        assert fourth > fifth
    # Above 10,000 threads, the presynaptic part takes constant memory.
    targets = [memory_of_5g(18_000, processes, 8, 11_250)["targets"] for processes in (1024, 1407, 28_672)]
    assert targets[0] < targets[1] == targets[2] == 18_000 * 11_250 * 8


@pytest.mark.parametrize("filled", ["4g", "5g"])
def test_networks_fill_the_memory_of_one_generation(filled: str) -> None:
    figure = {"4g": "2B", "5g": "4B"}[filled]
    words = ["indegree=40", "processes=(10, 100, 2000)", "dry_processes=()", "memory_per_process=2MB"]
    assert run(f"--figure={figure}", "--set", *words) == 0
    stored = json.loads(Path(f"jordan2018_figure_{figure}.json").read_text())
    assert stored["options"]["filled"] == filled
    totals = {
        (part, kernel): np.sum(list(stored[part][kernel].values()), axis=0)
        for part in ("model", "predicted")
        for kernel in ("4g", "5g")
    }
    assert np.all(totals["model", filled] <= 2e6)
    assert np.all(totals["model", filled] > 1.97e6)
    assert np.all(totals["predicted", filled] <= 2e6)
    assert set(stored["model"]["4g"]) == set(COMPONENTS["4g"])
    # On so many processes, the index over all neurons and the spikes of all make the fourth generation larger.
    assert totals["model", "4g"][-1] > totals["model", "5g"][-1]
    assert totals["predicted", "4g"][-1] > totals["predicted", "5g"][-1]


@pytest.mark.thorough
def test_dry_runs_take_the_predicted_memory() -> None:
    words = ["indegree=60", "processes=(10, 100)", "dry_processes=(100,)", "memory_per_process=3MB", "time=20.0"]
    assert run("--figure=4B", "--set", *words) == 0
    dry = json.loads(Path("jordan2018_figure_4B.json").read_text())["dry"]
    assert [(each["kernel"], each["ranks"]) for each in dry] == [("4g", 100), ("5g", 100)]
    for each in dry:
        assert sum(each["memory_bytes"].values()) == pytest.approx(each["predicted_bytes"], rel=0.1)


# ---- bad input -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("figure", "settings", "match"),
    [
        ("7", ["kernels=('3g',)"], "key kernels is '3g'.*4g, 5g-sort, 5g-nosort"),
        ("7", ["kernels=()"], "key kernels"),
        ("7", ["real_processes=()", "processes=()"], "key processes"),
        ("7", ["real_processes=(0,)"], "key real_processes is 0"),
        ("7", ["real_processes=(5000,)"], "key real_processes is 5000.*mpiexec can start"),
        ("7", ["real_processes=('two',)"], "key real_processes is two"),
        ("7", ["real_processes=2"], "key real_processes"),
        ("7", ["processes=(1.5,)"], "key processes is 1.5"),
        ("7", ["threads=0"], "key threads"),
        ("7", ["indegree=0"], "key indegree"),
        ("7", ["neurons_per_process=0"], "key neurons_per_process"),
        ("7", ["rate=0"], "key rate"),
        ("7", ["time=0"], "key time"),
        ("7", ["presim=-1"], "key presim"),
        ("9", ["neurons=50", "processes=(64,)"], "one for each rank"),
        ("10", ["memory_per_process=much"], "memory_per_process"),
        ("11", ["processes=0"], "key real_processes is 0"),
        ("A4", ["threads=()"], "key threads"),
        ("A4", ["threads=(1, 0)"], "key threads is 0"),
        ("4B", ["filled=3g"], "key filled"),
        ("4B", ["processes=()"], "key processes"),
        ("4B", ["dry_processes=(0,)"], "key dry_processes is 0"),
        ("4B", ["memory_per_process=1kB"], "key memory_per_process"),
    ],
)
def test_bad_keys_are_refused_first(figure: str, settings: Sequence[str], match: str) -> None:
    with pytest.raises(rv.errors.RanvierError, match=match):
        run(f"--figure={figure}", "--set", *settings)
    assert not list(Path().iterdir())


@pytest.mark.parametrize(
    ("figure", "words"),
    [
        ("7", ["--full"]),
        ("7", ["--set", "real_processes=(500,)"]),
        ("7", ["--set", "real_processes=()", "neurons_per_process=4000000"]),
        ("9", ["--set", "real_neurons=20000000"]),
        ("10", ["--full"]),
        ("10", ["--set", "real_processes=()", "memory_per_process=8GB"]),
        ("11", ["--set", "neurons=2000000"]),
        ("A4", ["--full"]),
        ("4B", ["--set", "memory_per_process=3GB"]),
    ],
)
def test_too_little_memory_is_said_first(figure: str, words: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_core, "available_memory", lambda: 4_000_000_000)
    with pytest.raises(rv.errors.InsufficientMemoryError):
        run(f"--figure={figure}", *words)
    assert not list(Path().iterdir())
