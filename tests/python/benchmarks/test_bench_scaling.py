"""`ranvier bench scaling` scales what it says, finds runs that give other spikes, and tells what is wrong."""

import argparse
import json
import math
import resource
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib import image

import ranvier as rv
from mpi_runs import WHEELS
from ranvier import _core
from ranvier.base.sizes import parse_bytes
from ranvier.errors import FileError, InsufficientMemoryError, StateError, UnknownNameError, ValueOutOfBoundsError
from ranvier.simulation.measurements import Bursts
from ranvier_benchmarks import scaling
from ranvier_benchmarks._networks import describe
from ranvier_benchmarks._scaling_plans import Activity, fitting_plan, largest_fitting
from ranvier_benchmarks._scaling_worker import fingerprint

SMALL = ["--ranks=1,2", "--indegree=40"]
TIMES = ["--set", "time=20", "presim=5"]


def parse(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    scaling.add_arguments(parser)
    times = [] if any("time=" in argument or "presim=" in argument for argument in arguments) else TIMES
    return parser.parse_args([*SMALL, *times, *arguments])


def bench(*arguments: str) -> int:
    return scaling.main(parse(*arguments))


def results_of(path: Path, *arguments: str) -> list[dict[str, Any]]:
    assert bench(*arguments, f"--mpiexec={WHEELS[0].mpiexec}", f"--json={path}") == 0
    results: list[dict[str, Any]] = json.loads(path.read_text())["results"]
    return results


# ---- real runs -------------------------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_weak(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    figure = tmp_path / "figure.png"
    results = results_of(tmp_path / "results.json", "--mode=weak", "--neurons-per-rank=100", f"--plot={figure}")
    assert [(result["ranks"], result["sorted"]) for result in results] == [
        (1, True),
        (1, False),
        (2, True),
        (2, False),
    ]
    for result in results:
        assert result["neurons"] == 100 * result["ranks"]
        assert result["synapses"] == 40 * result["neurons"]
        assert result["method"] == "alltoall"
        assert result["spikes"] > 0
        assert result["fingerprints"] == results[0 if result["ranks"] == 1 else 2]["fingerprints"]
        assert all(0.0 < result["times_s"][phase]["greatest"] < 60.0 for phase in ("build", "init", "simulation"))
        parts = {name: size["greatest"] for name, size in result["components_bytes"].items()}
        # Recordings grow with what is simulated, and are not in it.
        whole = sum(size for name, size in parts.items() if name != "recordings")
        assert result["memory_bytes"]["greatest"] <= whole
        assert result["memory_bytes"]["greatest"] >= parts["synapses"] > 0
        assert 0 <= result["resident_bytes"]["greatest"] < 1e9
        assert result["predicted_bytes"]["synapses"] > 0
    assert results[0]["fingerprints"] != results[2]["fingerprints"]
    printed = capfd.readouterr().out
    assert "weak scaling: 100 neurons to each process" in printed
    assert "alltoall, unsorted: memory" in printed
    assert "…" not in printed.partition("All results are")[0]
    picture = image.imread(figure)
    assert len({tuple(pixel) for pixel in (picture[::2, ::2, :3].reshape(-1, 3) * 8).astype(int)}) > 10


@pytest.mark.thorough
def test_strong(tmp_path: Path) -> None:
    settings = [
        "--mode=strong",
        "--neurons=120",
        "--methods=neighbor",
        "--repetitions=2",
        "--set",
        "sort_connections=true",
    ]
    results = results_of(tmp_path / "results.json", *settings)
    assert [(result["ranks"], result["method"]) for result in results] == [
        (1, "neighbor"),
        (2, "neighbor"),
    ]
    assert {result["neurons"] for result in results} == {120}
    assert len({result["fingerprints"][0] for result in results}) == 1


@pytest.mark.thorough
def test_fill(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    settings = ["--mode=fill", "--memory-per-rank=0.4MB", "--model=interval_fire", "--ranks=2"]
    settings += ["--set", "sort_connections=true"]
    (result,) = results_of(tmp_path / "results.json", *settings)
    assert sum(result["predicted_bytes"].values()) <= 0.9 * 400_000
    more = describe("interval_fire", result["neurons"] + 2, 40, {}).net
    # From the activity of a network that is predicted to fill a quarter of it.
    known = result["predicted_from"]
    bursts = Bursts(**known["bursts"])
    assert 0.0 < known["rate"] != rv.forecast.prediction.DEFAULT_RATE
    predicted = rv.predict_memory(
        more,
        ranks=2,
        rank=0,
        threads=1,
        rate=known["rate"],
        bursts=bursts,
        processes=rv.Processes(sort_connections=True),
    )
    # Up to what the prediction may be wrong by.
    assert sum(predicted.values()) > 0.9 * 400_000
    assert result["memory_bytes"]["greatest"] <= 400_000
    # Buffers of so small a network are of a few hundred bytes each, which double or not.
    assert abs(result["deviation"]) < 0.15
    kept = sum(size for name, size in result["predicted_bytes"].items() if name != "construction")
    assert result["deviation"] == pytest.approx(result["memory_bytes"]["rank_0"] / kept - 1.0)
    assert "predicted" in capfd.readouterr().out


def activity(rate: float) -> Activity:
    return Activity(rate, Bursts(1.0, 1.0))


def planned(neurons: int) -> dict[str, Any]:
    return {"neurons": neurons, "predicted_from": None}


def test_that_the_network_that_was_tried_runs() -> None:
    """Rates that differ between networks of nearly equal size, and with them the size that is predicted to fit."""
    rates = {400: 50.0, 300: 20.0, 380: 30.0}
    sizes = {10.0: 400, 50.0: 300, 20.0: 380}
    fills = {400: 1.1, 300: 0.6, 380: 0.9}
    tried: list[int] = []

    def try_out(neurons: int) -> Activity:
        tried.append(neurons)
        return activity(rates[neurons])

    def fill(part_of_380: float) -> dict[str, Any]:
        tried.clear()
        parts = {**fills, 380: part_of_380}
        return fitting_plan(
            lambda known: planned(sizes.get(known.rate, 400)),
            lambda neurons, known: parts[neurons],
            try_out,
            1000,
            activity(10.0),
        )

    assert fill(0.9) == {"neurons": 380, "predicted_from": asdict(activity(30.0))}
    assert tried == [400, 300, 380]
    # None fills enough: the largest of those that fit.
    assert fill(0.7)["neurons"] == 380
    assert fill(0.96)["neurons"] == 300
    assert tried == [400, 300, 380, 400]


def test_that_a_network_larger_than_the_one_that_was_tried_is_not_run_twice() -> None:
    def never(*_: object) -> Any:
        pytest.fail("it is")

    assert fitting_plan(lambda known: planned(400), never, never, 300, activity(10.0)) == planned(400)


@pytest.mark.parametrize("exponent", [0.5, 1.0, 2.0])
@pytest.mark.parametrize("overhead", [0.0, 5000.0])
def test_the_largest_that_fits_is_found_in_few_calls(exponent: float, overhead: float) -> None:
    calls: list[int] = []

    def needed(count: int) -> float:
        calls.append(count)
        return overhead + 3.0 * math.pow(count, exponent)

    for limit in (overhead + 3.0, overhead + 1000.0, 1e6, 1e10):
        if limit < overhead + 3.0:
            continue
        calls.clear()
        found = largest_fitting(needed, 1, limit)
        assert needed(found) <= limit < needed(found + max(1, found // 1000) + 1)
        assert len(calls) < 40


def test_the_largest_that_fits_may_have_another_bound() -> None:
    def needed(count: int) -> float:
        return 3.0 * count if count <= 777 else math.inf

    assert largest_fitting(needed, 1, 1e9) == 777


# ---- spikes that differ ----------------------------------------------------------------------------------------------


def summary(neurons: int, is_sorted: bool, *fingerprints: str) -> dict[str, Any]:
    return {
        "neurons": neurons,
        "sorted": is_sorted,
        "method": "alltoall",
        "ranks": 2,
        "fingerprints": sorted(fingerprints),
    }


def test_that_other_spikes_of_the_same_network_are_found() -> None:
    scaling.check_same_spikes([summary(10, True, "a"), summary(20, True, "b"), summary(10, False, "a")])
    with pytest.raises(StateError, match="alltoall, unsorted on 2 ranks did not give those of alltoall, sorted"):
        scaling.check_same_spikes([summary(10, True, "a"), summary(20, True, "b"), summary(10, False, "b")])
    with pytest.raises(StateError, match="alltoall, sorted on 2 ranks"):
        scaling.check_same_spikes([summary(10, True, "a", "b")])


def test_fingerprint() -> None:
    def of(steps: list[int], neurons: list[int]) -> int:
        return fingerprint(np.array(steps, dtype=np.int64), np.array(neurons, dtype=np.int64))

    whole = of([1, 2, 2, 9], [3, 1, 4, 3])
    assert (of([1, 9], [3, 3]) + of([2, 2], [1, 4])) % 2**64 == whole
    for steps, neurons in (([1, 2, 2, 8], [3, 1, 4, 3]), ([1, 2, 2, 9], [3, 1, 3, 4]), ([1, 2, 2], [3, 1, 4])):
        assert of(steps, neurons) != whole
    assert of([], []) == 0


# ---- mistakes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "expected"),
    [("1000", 1000), ("1.5GB", 1_500_000_000), ("2 GiB", 2**31), ("0.5mb", 500_000), ("64KiB", 65536)],
)
def test_bytes(text: str, expected: int) -> None:
    assert parse_bytes("--memory-per-rank", text) == expected


@pytest.mark.parametrize("text", ["", "much", "1XB", "0", "-1GB", ".", "1.2.3MB", "nan"])
def test_bytes_that_are_none(text: str) -> None:
    with pytest.raises(ValueOutOfBoundsError, match="--memory-per-rank"):
        bench("--mode=fill", f"--memory-per-rank={text}")


@pytest.mark.parametrize(
    "argument",
    ["--ranks=0", "--ranks=two", "--neurons=0", "--indegree=0", "--repetitions=0"],
)
def test_bad_values(argument: str) -> None:
    with pytest.raises(ValueError, match=argument.partition("=")[0].strip("-")):
        bench(argument)


@pytest.mark.parametrize(
    "setting", ["time=0", "time=inf", "presim=-1", "presim=nan", "presim=0.01", "threads=0", "resolution=0", "seed=x"]
)
def test_bad_settings(setting: str) -> None:
    with pytest.raises(ValueError, match=setting.partition("=")[0]):
        bench("--set", setting)


def test_sizes_are_given_once() -> None:
    for model, key in (("hpc_benchmark", "scale"), ("hpc_benchmark", "indegree_scale"), ("interval_fire", "cells")):
        with pytest.raises(ValueOutOfBoundsError, match=f"key {key}.*give --"):
            bench(f"--model={model}", "--set", f"{key}=2")


def test_unknown_names() -> None:
    with pytest.raises(UnknownNameError, match="hpc_benchmark"):
        bench("--model=hpc_bench")
    with pytest.raises(UnknownNameError, match="neighbor"):
        bench("--methods=neighbour")


@pytest.mark.parametrize(
    ("memory", "message"), [("1000TB", "available"), ("1KB", "take more")], ids=["too much", "too little"]
)
def test_memory_that_nothing_fits(memory: str, message: str) -> None:
    with pytest.raises(InsufficientMemoryError, match=message):
        bench("--mode=fill", f"--memory-per-rank={memory}")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--neurons-per-rank=100000000"], "on 1 processes is .* available"),
        (["--mode=strong", "--neurons=100000000"], "on 1 processes is .* available"),
        (["--ranks=1,4096"], "memory for 4096 processes"),
    ],
)
def test_runs_without_room_are_not_begun(arguments: list[str], message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scaling, "find_mpiexec", lambda given: pytest.fail("it begins"))
    monkeypatch.setattr(_core, "available_memory", lambda: 4_000_000_000)
    with pytest.raises(InsufficientMemoryError, match=message):
        bench(*arguments)


def test_no_more_processes_than_the_system_allows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (3, 3))
    with pytest.raises(ValueOutOfBoundsError, match=r"--ranks is 4, .*from 1 to 3"):
        bench("--ranks=1,4")


def test_files_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(FileError):
        bench(f"--json={tmp_path / 'none' / 'results.json'}")


@pytest.mark.parametrize("model", ["hpc_benchmark", "interval_fire"])
def test_networks(model: str) -> None:
    net = describe(model, 1125, 225, {}).net
    assert net.neuron_count == 1125
    assert net.expected_synapses == pytest.approx(1125 * 225)
