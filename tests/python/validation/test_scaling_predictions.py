"""What `ranvier bench scaling` and `many_ranks` predict of memory and times, beside what they measure."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import pytest

from mpi_runs import WHEELS
from ranvier.bench import many_ranks, scaling

# By how much a prediction of memory may be off: the largest process of a real run differs from the mean, too.
TOLERANCE = 0.05
# By which factor the predicted ratio of two times may be off. Single times depend on what else the machine does.
FACTOR = 2.0


def results_of(bench: Any, path: Path, *arguments: str) -> list[dict[str, Any]]:
    parser = argparse.ArgumentParser()
    bench.add_arguments(parser)
    assert bench.main(parser.parse_args([*arguments, f"--json={path}"])) == 0
    results: list[dict[str, Any]] = json.loads(path.read_text())["results"]
    return results


@pytest.mark.parametrize("model", ["hpc_benchmark", "interval_fire"])
def test_memory_of_all_methods(model: str, tmp_path: Path) -> None:
    settings = ["--mode=weak", "--ranks=1,2,4", "--methods=all", f"--model={model}", "--time=300"]
    results = results_of(scaling, tmp_path / "weak.json", *settings, f"--mpiexec={WHEELS[0].mpiexec}")
    assert len(results) == 3 * (10 + 7)
    off = {
        (result["ranks"], result["method"], result["sorted"]): round(result["deviation"], 3)
        for result in results
        if abs(result["deviation"]) > TOLERANCE
    }
    assert off == {}


@pytest.mark.parametrize("memory", ["50MB", "200MB"])
def test_largest_network(memory: str, tmp_path: Path) -> None:
    settings = ["--mode=fill", "--ranks=1,2", f"--memory-per-rank={memory}", "--time=300"]
    results = results_of(scaling, tmp_path / "fill.json", *settings, f"--mpiexec={WHEELS[0].mpiexec}")
    for result in results:
        assert result["memory_bytes"]["greatest"] <= scaling.parse_bytes("memory", memory)
        # The activity is that of a network of a quarter of it.
        assert abs(result["deviation"]) < 2.0 * TOLERANCE, result["sorted"]


@pytest.mark.parametrize(
    ("exchange", "order"), [("alltoall", "--sorted"), ("alltoall", "--unsorted"), ("allgather", "--sorted")]
)
def test_ratios_of_times(exchange: str, order: str, tmp_path: Path) -> None:
    ranks = [32, 512, 8192] if exchange == "allgather" else [32, 512, 8192, 100_000]
    settings = [f"--ranks={','.join(map(str, ranks))}", f"--methods={exchange}", order, "--repetitions=3", "--time=50"]
    results = results_of(many_ranks, tmp_path / "many.json", *settings)
    measured = [result["simulation_s_per_s"] for result in results]
    predicted = [result["predicted_simulation_s_per_s"] for result in results]
    for few in range(len(ranks)):
        for many in range(few + 1, len(ranks)):
            off = predicted[many] / predicted[few] / (measured[many] / measured[few])
            assert 1.0 / FACTOR < off < FACTOR, (ranks[few], ranks[many], predicted, measured)
