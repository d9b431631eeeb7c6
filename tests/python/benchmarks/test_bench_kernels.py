"""`ranvier bench kernels` runs the kernels of the paper, on real processes and in dry runs, and draws them."""

from __future__ import annotations

import argparse
import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import ranvier as rv
from ranvier.forecast import calibration
from ranvier.simulation.options import grouped
from ranvier_benchmarks import kernels
from ranvier_benchmarks._options import DEFAULT_METHOD, FOURTH_GENERATION, is_directed, method_options, parse_methods
from test_bench_many_ranks import COSTS


def parse(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    kernels.add_arguments(parser)
    return parser.parse_args([*arguments])


@pytest.mark.thorough
def test_all_kernels_are_run_and_drawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def measure(network: rv.Network, *asked: object, **load: object) -> Any:
        return replace(COSTS, neurons=(1e-9,) * len(network.populations), stimuli=(1e-9,) * len(network.stimuli))

    monkeypatch.setattr(calibration, "measure", measure)
    json_path, plot_path = tmp_path / "results.json", tmp_path / "figure.png"
    size = ["--neurons-per-rank=100", "--indegree=50", "--set", "time=10", "presim=0"]
    files = [f"--json={json_path}", f"--plot={plot_path}"]
    assert kernels.main(parse("--ranks=2", "--dry-ranks=100,20000", *size, *files)) == 0
    results = json.loads(json_path.read_text())
    assert results["complete"]
    names = [("4g", True), ("default", True), ("default", False)]
    for part, ranks in (("measured", (2,)), ("dry", (100, 20000))):
        found = {(result["method"], result["sorted"], result["ranks"]) for result in results[part]}
        assert found == {(*name, count) for name in names for count in ranks}
    memory = {
        (result["method"], result["ranks"]): sum(result["memory_bytes"].values())
        for result in results["dry"]
        if result["sorted"]
    }
    # The index over all neurons, 16 bytes for 48 of them, and one table for each sign of weights.
    index = 20_000 * 100 * 16 / 48
    assert memory["4g", 20_000] - memory["4g", 100] > index
    assert memory["default", 20_000] < memory["4g", 20_000] / 2
    assert plot_path.read_bytes().startswith(b"\x89PNG")


def test_the_fourth_generation_is_no_method_of_exchange() -> None:
    assert parse_methods("4g,alltoall", kernels=True) == ["4g", "alltoall"]
    for name in ("4g", "default"):
        with pytest.raises(rv.errors.UnknownNameError, match=name):
            parse_methods(name)
    assert not is_directed(FOURTH_GENERATION)
    assert is_directed(DEFAULT_METHOD)
    assert method_options(DEFAULT_METHOD, False)["exchange"] is None
    # It gives the same spikes as any other.
    options = method_options(FOURTH_GENERATION, True)
    digests = set()
    for chosen in ({}, options):
        model = rv.networks.hpc_benchmark(scale=0.02, indegree_scale=0.01)
        sim = rv.Simulation(model.net, threads=2, **grouped(chosen))
        sim.run(50.0)
        digests.add(sim.spikes(model.spikes).digest())
    assert len(digests) == 1


@pytest.mark.parametrize(
    ("words", "error"),
    [
        (["--ranks=0"], rv.errors.ValueOutOfBoundsError),
        (["--dry-ranks=1,x"], rv.errors.ValueOutOfBoundsError),
        (["--rate=nan"], rv.errors.ValueOutOfBoundsError),
        (["--set", "sort_connections=true"], rv.errors.StateError),
        (["--set", "exchange=alltoall"], rv.errors.ValueOutOfBoundsError),
        (["--set", "tme=1"], rv.errors.UnknownNameError),
    ],
)
def test_bad_input_is_refused_first(words: list[str], error: type[Exception]) -> None:
    with pytest.raises(error):
        kernels.main(parse(*words))


@pytest.mark.parametrize(
    "options",
    [
        {"row_numbering": "sparse"},
        {"row_numbering": "sparse", "exchange": "alltoall"},
        {"row_numbering": "compact", "sort_connections": False},
    ],
)
def test_numbers_of_rows_that_nothing_would_look_for_are_refused(options: dict[str, Any]) -> None:
    net = rv.Network()
    net.create("iaf_psc_exp", 2)
    with pytest.raises(rv.errors.StateError, match="row_numbering"):
        rv.Simulation(net, threads=1, **grouped(options))
