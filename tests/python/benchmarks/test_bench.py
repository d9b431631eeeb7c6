"""The benchmarks run, tell what they should, and compare the same work."""

import argparse
import contextlib
import json
import statistics
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rich.console import Console

import ranvier as rv
from nest_pool import requires_nest
from ranvier.errors import RanvierError, StateError, UnknownNameError, ValueOutOfBoundsError
from ranvier_benchmarks import hpc_benchmark, microcircuit, nest_hpc_benchmark, nest_microcircuit
from ranvier_benchmarks._in_turn import Comparison, Contestant, Measure
from ranvier_benchmarks._nest import thread_count
from thorough_cases import only

NETWORK = ["--set", "scale=0.02", "time=20", "presim=10"]
SMALL = ["--repetitions=2", *NETWORK]


def bench(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    microcircuit.add_arguments(parser)
    return microcircuit.main(parser.parse_args(arguments))


def results_of(path: Path) -> dict[str, Any]:
    results: dict[str, Any] = json.loads(path.read_text())
    return results


@pytest.mark.thorough
def test_options_in_turn(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "results.json"
    compared = ["--compare", "threads=1,2", "--compare", "precision=double,single"]
    assert bench("--repetitions=1", *NETWORK, *compared, "--json", str(path)) == 0
    printed = capfd.readouterr().out
    assert "threads=2, precision=single" in printed
    assert "D/A" in printed
    results = results_of(path)
    assert [contestant["name"] for contestant in results["contestants"]] == [
        f"Ranvier, threads={threads}, precision={precision}" for threads in (1, 2) for precision in ("double", "single")
    ]
    for contestant, threads in zip(results["contestants"], (1, 1, 2, 2), strict=True):
        assert [report["threads"] for report in contestant["reports"]] == [threads]
    assert results["contestants"][0]["ratios"] == {}
    ratios = results["contestants"][1]["ratios"]["simulation (s)"]
    times = [[report["sim_s"] for report in contestant["reports"]] for contestant in results["contestants"][:2]]
    assert ratios["all"] == pytest.approx([other / first for first, other in zip(*times, strict=True)])
    assert ratios["median"] == pytest.approx(statistics.median(ratios["all"]))
    assert results["machine"]["usable_processors"] >= 1


@pytest.mark.parametrize("repetitions", only([1], [1, 2]))
def test_against_itself(repetitions: int, tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    assert bench(f"--repetitions={repetitions}", *NETWORK, "--against=ranvier", "--json", str(path)) == 0
    first, again = results_of(path)["contestants"]
    digests = {report["spike_digest"] for contestant in (first, again) for report in contestant["reports"]}
    assert len(digests) == 1


@requires_nest
@pytest.mark.thorough
def test_against_nest(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    check_against_nest("poisson", tmp_path, capfd)


def check_against_nest(drive: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "results.json"
    assert (
        bench("--repetitions=1", *NETWORK, f"drive={drive}", "--against=nest", "--nest-threads=1", "--json", str(path))
        == 0
    )
    assert "NEST" in capfd.readouterr().out
    ours, theirs = results_of(path)["contestants"]
    for first, other in zip(ours["reports"], theirs["reports"], strict=True):
        for key in ("neurons", "synapses", "simulated_ms", "presim_ms"):
            assert first[key] == other[key], key
        assert first["mean_rate_hz"].keys() == other["mean_rate_hz"].keys()
        assert other["threads"] == 1
        assert 0 < other["peak_rss_bytes"] < 1e9
    assert set(theirs["ratios"]) >= {"build (s)", "simulation (s)", "peak memory (GB)"}


@requires_nest
@pytest.mark.thorough
def test_plastic_network_against_nest(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    check_balanced_network_against_nest(True, tmp_path, capfd)


def check_balanced_network_against_nest(plastic: bool, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    parser = argparse.ArgumentParser()
    hpc_benchmark.add_arguments(parser)
    path = tmp_path / "results.json"
    settings = ["scale=0.1", "indegree_scale=0.02", "time=40", "presim=10", f"plastic={str(plastic).lower()}"]
    arguments = ["--repetitions=1", "--against=nest", "--nest-threads=1", "--json", str(path), "--set", *settings]
    assert hpc_benchmark.main(parser.parse_args(arguments)) == 0
    assert ("plastic" if plastic else "static") in capfd.readouterr().out
    (ours,), (theirs,) = (contestant["reports"] for contestant in results_of(path)["contestants"])
    for key in ("neurons", "synapses", "simulated_ms", "presim_ms"):
        assert ours[key] == theirs[key], key
    for name, rate in theirs["mean_rate_hz"].items():
        # Some 60 spikes/s of hundreds of neurons that fire nearly together.
        assert ours["mean_rate_hz"][name] == pytest.approx(rate, rel=0.25)


def test_weight_of_the_balanced_network_is_that_of_nest() -> None:
    net = rv.networks.hpc_benchmark(scale=0.01, indegree_scale=0.01).net
    assert net.projections[0].weight == pytest.approx(nest_hpc_benchmark.excitatory_weight(), rel=1e-12)


@pytest.mark.parametrize("drive", ["dc", "poisson"])
@pytest.mark.parametrize("scalings", [(1.0, 1.0), (0.1, 0.1), (0.3, 0.05)])
def test_that_both_sides_describe_the_same_circuit(drive: str, scalings: tuple[float, float]) -> None:
    theirs = nest_microcircuit.describe(*scalings, drive)
    n_scaling, k_scaling = scalings
    silent = drive == "dc" and k_scaling < 0.2
    with pytest.warns(UserWarning, match="populations silent") if silent else contextlib.nullcontext():
        net = rv.networks.microcircuit(
            n_scaling=n_scaling, k_scaling=k_scaling, drive="dc" if drive == "dc" else "poisson"
        ).net
    assert [population.name for population in net.populations] == list(nest_microcircuit.POPULATIONS)
    assert tuple(len(population) for population in net.populations) == theirs.sizes
    assert net.expected_synapses == theirs.synapses.sum()
    for population, current in zip(net.populations, theirs.currents, strict=True):
        assert population.values.get("I_e", 0.0) == pytest.approx(current, rel=1e-12)
    order = list(nest_microcircuit.POPULATIONS)
    seen = np.zeros_like(theirs.synapses)
    for projection in net.projections:
        i, j = order.index(projection.targets.name), order.index(projection.sources.name)
        assert isinstance(projection.rule, rv.FixedTotalNumber)
        seen[i, j] = projection.rule.number
        assert isinstance(projection.weight, rv.Normal)
        assert projection.weight.mean == pytest.approx(theirs.weights[i, j], rel=1e-12)
        assert isinstance(projection.delay, rv.Normal)
        assert projection.delay.mean == nest_microcircuit.MEAN_DELAY[projection.sources.name[-1]]
    np.testing.assert_array_equal(seen, theirs.synapses)
    for stimulus, indegree in zip(net.stimuli, theirs.external_indegrees, strict=drive == "poisson"):
        assert stimulus.values["rate"] == pytest.approx(indegree * nest_microcircuit.EXTERNAL_RATE)
        assert stimulus.weight == pytest.approx(theirs.external_weight, rel=1e-12)


def test_number_of_synapses_at_full_scale() -> None:
    assert nest_microcircuit.describe(1.0, 1.0, "dc").synapses.sum() == 298_880_968


def test_threads_that_nest_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    for processors, expected in ((1, 3), (2, 4), (3, 3), (16, 16)):
        monkeypatch.setattr("ranvier_benchmarks._nest.usable_processors", lambda processors=processors: processors)
        assert thread_count(298_880_968) == expected


@pytest.mark.thorough
def test_that_different_work_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    assert bench(*SMALL, "--repetitions=1", "--compare", "n_scaling=0.01,0.02") == 1
    assert "not the same" in " ".join(capfd.readouterr().out.split())


@pytest.mark.parametrize(
    "argument", ["--compare=threads", "--compare=threads=", "--compare=scale=0.02,0.03", "--repetitions=0"]
)
def test_bad_arguments(argument: str) -> None:
    with pytest.raises(ValueOutOfBoundsError):
        bench(*SMALL, argument)


def test_that_a_failure_tells_what_was_printed() -> None:
    with pytest.raises(StateError, match=r"(?s)status 2.*presm.*presim"):
        bench(*SMALL, "--compare", "presm=3,4")


def test_that_a_misspelt_key_is_told_before_anything_runs() -> None:
    with pytest.raises(UnknownNameError, match="scale"):
        bench("--set", "scael=0.02")


def test_keys_of_the_side_of_nest() -> None:
    parser = argparse.ArgumentParser()
    nest_microcircuit.add_arguments(parser)
    for setting, named in (("drive=ac", "poisson"), ("precision=single", "key"), ("time=0", "time")):
        with pytest.raises(RanvierError, match=named):
            nest_microcircuit.main(parser.parse_args(["--set", setting]))


def test_nest_that_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(StateError, match="pip install nest-simulator"):
        bench(*SMALL, "--against=nest")


def test_medians_of_ratios() -> None:
    measure = Measure("time (s)", lambda report: report["s"])
    contestants = (Contestant("A", ()), Contestant("B", ()))
    comparison = Comparison(contestants, [[{"s": 1.0}, {"s": 2.0}, {"s": 8.0}], [{"s": 3.0}, {"s": 4.0}, {"s": 4.0}]])
    assert comparison.ratios(measure, 1) == [3.0, 2.0, 0.5]
    assert comparison.ratios(measure, 0) is None
    console = Console(width=80, force_terminal=False)
    with console.capture() as capture:
        console.print(comparison.table([measure]))
    assert capture.get().split() == ["A", "B", "ratio", "time", "(s)", "2.00", "4.00", "2"]
