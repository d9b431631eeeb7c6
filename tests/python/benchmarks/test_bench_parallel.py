"""`ranvier bench parallel` measures what it is asked for, and reckons performance portability as it is defined."""

import argparse
import json
import re
from dataclasses import astuple
from pathlib import Path
from typing import Any

import pytest
from matplotlib import image

from ranvier import _core
from ranvier.commands import latencies
from ranvier.errors import FileError, ShapeError, UnknownNameError, ValueOutOfBoundsError
from ranvier_benchmarks import parallel
from ranvier_benchmarks._native import measurements
from ranvier_benchmarks._portability import Bounded, counted, efficiency, portability, read_platforms
from repository import ROOT

SMALL = ["--repetitions=3", "--levels=5", "--distances=reported", "--peak=10"]
POLICIES = ("local_and_remote", "prefer_local", "local_only", "none")


def bench(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    parallel.add_arguments(parser)
    return parallel.main(parser.parse_args([*SMALL, *arguments]))


def platforms_of(path: Path, *arguments: str) -> list[dict[str, Any]]:
    assert bench(*arguments, f"--json={path}") == 0
    platforms: list[dict[str, Any]] = json.loads(path.read_text())["platforms"]
    return platforms


def hwloc_makes_machines_up() -> bool:
    try:
        _core.Topology.synthetic("node:1 core:1 pu:1")
    except RuntimeError:
        return False
    return True


requires_hwloc = pytest.mark.skipif(not hwloc_makes_machines_up(), reason="hwloc is not there")


# ---- real runs -------------------------------------------------------------------------------------------------------


@pytest.mark.thorough
def test_all_policies(tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    figure = tmp_path / "figure.png"
    (platform,) = platforms_of(tmp_path / "results.json", "--threads=2", f"--plot={figure}")
    assert not platform["synthetic"]
    assert {(r["threads"], r["pinning"], r["stealing"]) for r in platform["results"]} == {
        (threads, pinning, stealing)
        for threads in (1, 2)
        for pinning in ("equal", "compact", "none")
        for stealing in POLICIES
    }
    for result in platform["results"]:
        assert len(result["places"]) == result["threads"]
        for name in ("barrier_s", "round_s", "job_s", "task_s"):
            assert 0.0 <= result[name] < 1.0
        for name, tasks in (("reduction", 2**5 - 1), ("unbalanced", 2583)):
            assert 0.0 < result[f"{name}_s"]["median"] <= result[f"{name}_s"]["quantile_75"] * (1.0 + 1e-12) < 10.0
            counts = result[f"{name}_tasks"]
            assert counts["executed"] == tasks
            stolen = counts["stolen_locally"] + counts["stolen_remotely"]
            assert 0 <= stolen <= tasks
            if result["threads"] == 1 or result["stealing"] == "none":
                assert stolen == 0
        if result["pinning"] == "none":
            assert {processor for processor, _ in result["places"]} == {-1}
    printed = capfd.readouterr().out
    assert "barrier (us)" in printed
    assert "Performance portability" in printed
    assert "…" not in printed.partition("All results are")[0]
    picture = image.imread(figure)
    assert len({tuple(pixel) for pixel in (picture[::2, ::2, :3].reshape(-1, 3) * 8).astype(int)}) > 10


@requires_hwloc
def test_made_up_machines(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    here, elsewhere = tmp_path / "here.json", tmp_path / "elsewhere.json"
    settings = ["--threads=1,4", "--pinning=equal,none", "--stealing=local_only,prefer_local"]
    (platform,) = platforms_of(elsewhere, *settings, "--topology=node:4 core:2 pu:1")
    assert platform["synthetic"]
    assert platform["nodes"] == 4
    assert platform["units"] == 8
    there = set(_core.Topology.detect().processors())
    for result in platform["results"]:
        nodes = [node for _, node in result["places"]]
        if result["pinning"] == "equal":
            assert nodes == list(range(result["threads"]))
            assert {processor for processor, _ in result["places"]} <= there
        if result["stealing"] == "local_only":
            assert result["reduction_tasks"]["stolen_remotely"] == 0
    assert "laid over" in capfd.readouterr().out

    # Together with what was measured elsewhere. A synthetic platform is not another machine.
    settings = ["--threads=1", "--pinning=equal", "--stealing=all", "--topology=node:1 core:2 pu:1"]
    assert bench(*settings, f"--platforms={elsewhere}", f"--json={here}") == 0
    found = json.loads(here.read_text())["portability"]
    assert (found["over"], found["left_out"]) == ([], ["node:1 core:2 pu:1", "node:4 core:2 pu:1"])
    assert {(result["phi_architectural"], result["phi_scaling"]) for result in found["results"]} == {(None, None)}
    assert "not part of Phi" in capfd.readouterr().out

    assert bench(*settings, f"--platforms={elsewhere}", f"--json={here}", "--with-synthetic") == 0
    whole = json.loads(here.read_text())
    assert whole["complete"]
    assert whole["portability"]["over"] == ["node:1 core:2 pu:1", "node:4 core:2 pu:1"]
    phi = {result["stealing"]: result["phi_scaling"] for result in whole["portability"]["results"]}
    assert phi["local_and_remote"]["value"] == phi["none"]["value"] == 0.0  # not measured there
    near = efficiency(whole["platforms"][0], ("equal", "local_only"))
    far = efficiency(platform, ("equal", "local_only"))
    assert near is not None
    assert far is not None
    # 16 lowest boxes of 1000 divisions and 1000 additions, and 15 boxes with one addition.
    assert platform["operations"] == 16 * 2000 + 15
    assert far.architectural.value == pytest.approx(platform["operations"] / 10e9 / far.seconds)
    expected = 2.0 / (1.0 / min(1.0, near.scaling.value) + 1.0 / min(1.0, far.scaling.value))
    assert phi["local_only"]["value"] == pytest.approx(expected)
    assert "not there" in capfd.readouterr().out


@requires_hwloc
def test_division_by_cost_balances_an_uneven_tree(tmp_path: Path) -> None:
    settings = ["--threads=4", "--pinning=equal", "--stealing=none", "--topology=pack:2 node:2 core:1 pu:1"]
    (platform,) = platforms_of(tmp_path / "results.json", *settings, "--levels=8")
    assert platform["distances"][0] == [10, 15, 20, 20]
    assert platform["distance_source"] == "assumed"
    by_threads = {result["threads"]: result for result in platform["results"]}
    # Boxes grow linearly: the last of four nodes has 7/16 of the numbers. By cost, one box at most is too much.
    assert by_threads[4]["uneven_by_level_imbalance"] == pytest.approx(4 * 7 / 16, rel=0.01)
    assert 1.0 <= by_threads[4]["uneven_by_cost_imbalance"] < 1.0 + 4 * 2 / 64
    assert by_threads[1]["uneven_by_level_imbalance"] == 1.0


def test_distances_are_a_square() -> None:
    with pytest.raises(ShapeError, match="distances"):
        measurements().ParallelMeasurement([(-1, 0), (-1, 1)], "prefer_local", [[10, 20], [20]])
    team = measurements().ParallelMeasurement([(-1, 0), (-1, 1)], "prefer_local", [[10, 20], [20, 10]])
    assert sum(worker["executed"] for worker in team.tree_reduction(5, 2)["workers"]) == 2 * 31


def test_latencies_are_measured_unless_reported_ones_are_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def measured(topology: _core.Topology) -> tuple[_core.Topology, list[list[float]]]:
        nodes = len(topology.describe()["nodes"])
        return topology.with_latencies([90.0] * nodes**2), [[90.0] * nodes] * nodes

    monkeypatch.setattr(latencies, "measure", measured)
    settings = ["--threads=1", "--pinning=none", "--stealing=none", "--distances=measured"]
    (platform,) = platforms_of(tmp_path / "results.json", *settings)
    assert platform["distance_source"] == "measured"
    assert platform["latencies_ns"][0][0] == 90.0
    assert "latency (ns) from" in capsys.readouterr().out


def test_the_peak_is_measured() -> None:
    """At most 64 operations in one cycle of 6 GHz."""
    processors = _core.Topology.detect().processors()
    per_second, instruction_set, per_instruction = measurements().measure_peak(processors[:1], 0.01)
    assert instruction_set in _core.instruction_sets()
    assert per_instruction in {2, 4, 8, 16}
    assert 0.0 < per_second < 64 * 6e9
    with pytest.raises(ValueOutOfBoundsError, match="seconds"):
        measurements().measure_peak(processors, 0.0)
    with pytest.raises(ShapeError):
        measurements().measure_peak([], 0.1)
    found = parallel.find_peak(None)
    assert found["source"] == "measured"
    assert found["processors"] == len(processors)
    assert parallel.find_peak(960.0) == {"flops_per_second": 960e9, "source": "stated"}


def test_measurements_refuse_what_cannot_be() -> None:
    team = measurements().ParallelMeasurement([(-1, 0), (-1, 3)], "local_only")
    assert team.places() == [(-1, 0), (-1, 3)]
    assert len(team.barrier(10, 4)) == len(team.rounds(10, 4)) == len(team.job(4)) == 4
    assert team.empty_tasks(10, 2)["tasks"] == 2 * (10 + 1)
    with pytest.raises(ValueOutOfBoundsError, match="levels"):
        team.tree_reduction(21, 1)
    with pytest.raises(ValueOutOfBoundsError, match="repetitions"):
        team.tree_reduction(3, 0)
    with pytest.raises(ValueOutOfBoundsError, match="rounds"):
        team.barrier(0, 1)
    with pytest.raises(UnknownNameError, match="prefer_local"):
        measurements().ParallelMeasurement([(-1, 0)], "prefer_locals")
    with pytest.raises(ShapeError):
        measurements().ParallelMeasurement([], "none")


# ---- performance portability -----------------------------------------------------------------------------------------


def platform_with(
    times: dict[int, float], *, processors: int = 4, synthetic: bool = False, turns: tuple[float, ...] = (1.0,)
) -> dict[str, Any]:
    """Return a platform whose sum took these seconds by threads, and in its turns these multiples of it."""
    return {
        "name": "somewhere",
        "synthetic": synthetic,
        "processors": processors,
        "operations": 40,
        "peak": {"flops_per_second": 20.0},
        "results": [result_with(threads, seconds, turns) for threads, seconds in times.items()],
    }


def result_with(
    threads: int, seconds: float, turns: tuple[float, ...] = (1.0,), stealing: str = "none"
) -> dict[str, Any]:
    times = {"quantile_75": seconds, "turns": [seconds * turn for turn in turns]}
    return {"pinning": "equal", "stealing": stealing, "threads": threads, "reduction_s": times}


POLICY = ("equal", "none")


def test_efficiencies_are_those_of_the_fastest_number_of_threads() -> None:
    found = efficiency(platform_with({1: 8.0, 2: 5.0, 4: 2.5, 8: 3.0}, processors=8), POLICY)
    assert found is not None
    assert (found.threads, found.seconds) == (4, 2.5)
    assert found.scaling.value == pytest.approx(8.0 / (4 * 2.5))
    # 40 operations in 2.5 s, of 20 a second that are possible.
    assert found.architectural.value == pytest.approx(40 / 2.5 / 20.0)
    # Without one thread, there is no strong scaling.
    assert efficiency(platform_with({2: 3.0}), POLICY) is None
    assert efficiency(platform_with({1: 1.0}), ("compact", "none")) is None


def test_scaling_is_that_of_one_policy() -> None:
    platform = platform_with({1: 8.0, 2: 5.0}, processors=2)
    platform["results"].append(result_with(1, 4.0, stealing="local_only"))
    found = efficiency(platform, POLICY)
    assert found is not None
    assert found.scaling.value == pytest.approx(8.0 / (2 * 5.0))
    alone = efficiency(platform, ("equal", "local_only"))
    assert alone is not None
    assert (alone.threads, alone.scaling.value) == (1, 1.0)


def test_bounds_are_those_of_turns() -> None:
    platform = platform_with({1: 4.0}, processors=2, turns=(1.0, 2.0, 1.0))
    platform["results"].append(result_with(2, 2.5, (1.0, 1.0, 0.5)))
    found = efficiency(platform, POLICY)
    assert found is not None
    assert astuple(found.scaling) == pytest.approx((0.8, 0.8, 1.6))
    assert astuple(found.architectural) == pytest.approx((0.8, 0.8, 1.6))


def test_portability_is_the_harmonic_mean() -> None:
    found = [Bounded(0.5, 0.4, 0.6), Bounded(0.25, 0.2, 0.3), Bounded(1.33, 0.5, 1.5)]
    # What lies above the peak counts as the peak.
    phi = portability(found)
    assert phi is not None
    expected = (3.0 / (2.0 + 4.0 + 1.0), 3.0 / (2.5 + 5.0 + 2.0), 3.0 / (1.0 / 0.6 + 1.0 / 0.3 + 1.0))
    assert astuple(phi) == pytest.approx(expected)
    assert portability([*found, None]) == Bounded(0.0, 0.0, 0.0)
    assert portability([]) is None


def test_made_up_platforms_do_not_count() -> None:
    real, made_up = platform_with({1: 1.0}), platform_with({1: 1.0}, synthetic=True)
    assert counted([real, made_up], with_synthetic=False) == [real]
    assert counted([real, made_up], with_synthetic=True) == [real, made_up]


# ---- mistakes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "argument", ["--threads=0", "--threads=two", "--repetitions=0", "--levels=0", "--levels=21", "--peak=0"]
)
def test_bad_values(argument: str) -> None:
    with pytest.raises(ValueOutOfBoundsError, match=argument.partition("=")[0].strip("-")):
        bench(argument)


def test_unknown_names() -> None:
    with pytest.raises(UnknownNameError, match="compact"):
        bench("--pinning=compakt")
    with pytest.raises(UnknownNameError, match="local_only"):
        bench("--stealing=prefer_local,locals_only")


@pytest.mark.parametrize(
    "text",
    [
        "no json",
        "[]",
        '{"benchmark": "scaling"}',
        '{"benchmark": "parallel", "platforms": [{"name": "a"}]}',
        json.dumps({"benchmark": "parallel", "platforms": [platform_with({1: -1.0})]}),
        json.dumps({"benchmark": "parallel", "platforms": [platform_with({1: 1.0}, processors=0)]}),
        json.dumps({"benchmark": "parallel", "platforms": [{**platform_with({1: 1.0}), "synthetic": None}]}),
        json.dumps({"benchmark": "parallel", "platforms": [{**platform_with({1: 1.0}), "operations": 0}]}),
        json.dumps({"benchmark": "parallel", "platforms": [{**platform_with({1: 1.0}), "peak": {}}]}),
        json.dumps({"benchmark": "parallel", "platforms": [platform_with({1: 1.0}, turns=(1.0, float("inf")))]}),
    ],
)
def test_files_that_hold_something_else(tmp_path: Path, text: str) -> None:
    path = tmp_path / "results.json"
    path.write_text(text)
    with pytest.raises(FileError, match=r"results\.json"):
        bench(f"--platforms={path}")
    path.write_text(json.dumps({"benchmark": "parallel", "platforms": [platform_with({1: 1.0})]}))
    assert len(read_platforms(path)) == 1


def test_files_that_are_not_there(tmp_path: Path) -> None:
    with pytest.raises(FileError):
        bench(f"--platforms={tmp_path / 'none.json'}")
    with pytest.raises(FileError):
        bench(f"--json={tmp_path / 'none' / 'results.json'}")


# ---- documentation ---------------------------------------------------------------------------------------------------


def test_the_page_quotes_the_example() -> None:
    quotes = re.findall(r"^```cpp\n(.*?)^```$", (ROOT / "docs/parallel.md").read_text(), re.MULTILINE | re.DOTALL)
    example = (ROOT / "examples/tree_reduction.cpp").read_text()
    assert len(quotes) >= 3
    for quote in quotes:
        assert quote in example


def test_the_page_names_parts_that_are_there() -> None:
    page = (ROOT / "docs/parallel.md").read_text()
    for name in re.findall(r"`([\w/]+\.[ch]pp)`", page):
        assert any(
            (folder / name).is_file() for folder in (ROOT, ROOT / "core/parallel", ROOT / "include/ranvier/parallel")
        ), name
    for policy in POLICIES:
        assert f"`{policy}`" in page
