"""`ranvier bench many_ranks` plays ranks as they would be, and records how synapses were stored."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import ranvier as rv
from ranvier.forecast import calibration
from ranvier.forecast.calibration import Costs
from ranvier_benchmarks import many_ranks

COSTS = Costs(
    synapse=1e-8,
    exchange={"deliver": 4e-4, "collocate": 2e-4, "communicate": 1e-4, "wait": 1e-5},
    events=5e4,
    exchanges_per_delay=1.0,
    directed=True,
    neurons=(),
    stimuli=(),
)


def parse(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    many_ranks.add_arguments(parser)
    return parser.parse_args([*arguments])


@pytest.mark.thorough
def test_what_is_chosen_is_played(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    measured: list[bool] = []

    def measure(network: rv.Network, options: object, *, sorted_by_source: bool, **load: object) -> Costs:
        measured.append(sorted_by_source)
        return replace(COSTS, neurons=(1e-9,) * len(network.populations), stimuli=(1e-9,) * len(network.stimuli))

    monkeypatch.setattr(calibration, "measure", measure)
    json_path, plot_path = tmp_path / "results.json", tmp_path / "figure.png"
    size = ["--neurons-per-rank=100", "--indegree=100", "--set", "time=10", "presim=0", "sort_connections=auto"]
    size.append("plastic=false")
    files = [f"--json={json_path}", f"--plot={plot_path}"]
    assert many_ranks.main(parse("--ranks=100,200", "--methods=alltoall,allgather", *size, *files)) == 0
    results: list[dict[str, Any]] = json.loads(json_path.read_text())["results"]
    found = [(result["method"], result["ranks"], result["sorted"]) for result in results]
    # 100 synapses of each source on all ranks together; the ids that allgather sends cannot find unsorted ones.
    assert found == [
        ("alltoall", 100, True),
        ("alltoall", 200, False),
        ("allgather", 100, True),
        ("allgather", 200, True),
    ]
    assert measured == [is_sorted for *_, is_sorted in found]
    for result in results:
        predicted = sum(size for name, size in result["predicted_bytes"].items() if name != "construction")
        # So little is it that buffers, which grow by doubling, are a good part of it.
        assert predicted == pytest.approx(sum(result["memory_bytes"].values()), rel=0.2)
    printed = capsys.readouterr().out
    assert "alltoall, sorted" in printed
    assert "alltoall, unsorted" in printed
    assert "allgather, unsorted" not in printed
    assert plot_path.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("words", "error", "message"),
    [
        (["--mode=strong", "--neurons=999", "--ranks=1000"], rv.errors.ValueOutOfBoundsError, "one for each rank"),
        (["--mode=fill", "--memory-per-rank=1kB"], rv.errors.InsufficientMemoryError, "take more"),
        (["--mode=fill", "--memory-per-rank=900TB"], rv.errors.InsufficientMemoryError, "fills 900TB"),
        (["--neurons-per-rank=20000000"], rv.errors.InsufficientMemoryError, "one of 32 ranks"),
    ],
)
def test_dry_runs_without_room_are_not_begun(
    words: list[str], error: type[Exception], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(error, match=message):
        many_ranks.main(parse("--methods=alltoall", *words, "--set", "sort_connections=true"))


@pytest.mark.thorough
def test_sizes_of_dry_runs_follow_the_mode() -> None:
    """A fixed network is divided, and one that fills a memory limit needs nearly all of it."""
    settings = ["--ranks=100,1000", "--methods=alltoall", "--indegree=50"]
    settings += ["--set", "time=10", "presim=0", "sort_connections=true"]

    def play(*words: str) -> list[dict[str, Any]]:
        prepared = many_ranks.prepare(parse(*words, *settings))
        results: list[dict[str, Any]] = many_ranks.measure(prepared, step=lambda text: None, predicts_times=False)[
            "results"
        ]
        return results

    strong = play("--mode=strong", "--neurons=20000")
    assert [(run["network_neurons"], run["neurons"]) for run in strong] == [(20_000, 200), (20_000, 20)]
    for run in play("--mode=fill", "--memory-per-rank=3MB"):
        assert 2_900_000 < sum(run["predicted_bytes"].values()) <= 3_000_000
        assert run["neurons"] * run["ranks"] == pytest.approx(run["network_neurons"], rel=0.01)
        memory = run["cumulative_bytes"]
        assert 0 < memory["nodes"] < memory["connections"] < memory["end"] == sum(run["memory_bytes"].values())
