"""`ranvier bench exchange` measures what it says, finds methods that give other spikes, and tells what is wrong."""

import argparse
import json
import os
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from matplotlib import image

from mpi_runs import WHEELS
from ranvier import mpi
from ranvier.errors import (
    CommunicationError,
    FileError,
    RemoteError,
    RuleError,
    StateError,
    UnknownNameError,
    ValueOutOfBoundsError,
)
from ranvier_benchmarks import _exchange_worker, _options, exchange
from ranvier_benchmarks._exchange_worker import Run
from ranvier_benchmarks._mpiexec import Mpiexec, find_mpiexec
from ranvier_benchmarks._mpiexec import run_worker as run_module
from shared_folders import filled_once
from thorough_cases import only

SMALL = ["--ranks=2", "--repetitions=2", "--set", "cells=64", "connections=20", "resolution=0.1"]
TIME = "time=60"


def bench(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    exchange.add_arguments(parser)
    return exchange.main(parser.parse_args(arguments))


def fake_mpiexec(path: Path, code: str) -> Path:
    """Return a program that says it is MPICH's mpiexec and does something else."""
    path.write_text(
        f"#!{sys.executable}\nimport json, sys\nif '--version' in sys.argv:\n    sys.exit(print('HYDRA'))\n{code}"
    )
    path.chmod(0o755)
    return path


def one_run(contestant: int, digest: str = "right", total: float = 1.0, **ranks: list[float]) -> Run:
    of_ranks = {name: [0.0, 0.0] for name in (*_exchange_worker.TIMES, *_exchange_worker.TRAFFIC)}
    return Run(
        contestant=contestant,
        exchange="alltoall",
        interval_steps=10,
        interval_count=2,
        digest=digest,
        neurons=4,
        synapses=8,
        spikes=1,
        events=2,
        build=0.1,
        ranks={**of_ranks, "total": [total, total], **ranks},
        intervals={name: [total / 2, total / 2] for name in ("rank_0", "mean", "greatest", "total")},
        interval_counts={name: [0, contestant] for name in ("spikes", "messages", "spikes_received", "failed_checks")},
        greatest_fan_out={"rank_0": 1, "all": 1},
        imbalance={"computation": 1.5, "spikes_received": 1.0, "synaptic_events": 1.0},
    )


# ---- real runs -------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[dict[str, Any], Path]:
    def measure(folder: Path) -> None:
        methods = "--methods=alltoall,multisend"
        destinations = [f"--json={folder / 'results.json'}", f"--plot={folder / 'figure.png'}"]
        assert bench(*SMALL[1:], TIME, "--ranks=2,3", methods, f"--mpiexec={WHEELS[0].mpiexec}", *destinations) == 0

    folder = filled_once(tmp_path_factory, "exchange", measure)
    results: dict[str, Any] = json.loads((folder / "results.json").read_text())
    return results, folder


@pytest.mark.thorough
def test_results(measured: tuple[dict[str, Any], Path]) -> None:
    whole, _ = measured
    assert len(whole["digest"]) == 64
    assert whole["machine"]["usable_processors"] >= 1
    assert [result["ranks"] for result in whole["results"]] == [2, 3]
    for result in whole["results"]:
        assert result["neurons"] == 64
        assert result["spikes"] > 64
        assert result["transport"].startswith(WHEELS[0].family.name)
        # Only multisend can make use of a second interval.
        assert [(method["method"], method["intervals"], method["barrier"]) for method in result["methods"]] == [
            (name, intervals, barrier)
            for barrier in (True, False)
            for name, intervals in (("alltoall", 1), ("multisend", 1), ("multisend", 2))
        ]
        for method in result["methods"]:
            assert method["digests"] == [whole["digest"]]
            assert method["interval_count"] == 60 * method["intervals"]
            assert method["interval_steps"] == 10 // method["intervals"]
            assert {len(values) for values in method["per_interval_s"].values()} == {method["interval_count"]}
            assert len(method["total_of_runs_s"]) == 2
            for time in ("total_s", "computation_s", "waiting_and_exchange_s", "exchange_s"):
                assert 0.0 < method[time]["least"] <= method[time]["median"] <= method[time]["greatest"] < 60.0
            assert method["spikes_sent"] == method["spikes_received"] > 0
            assert method["bytes_sent"] > 0
            assert method["rounds"] >= method["interval_count"]
            assert all(1.0 <= value < result["ranks"] + 1e-9 for value in method["imbalance"].values())


@pytest.mark.parametrize("methods", only(["alltoall,shared_memory"], ["alltoall,shared_memory", "all"]))
def test_methods_are_measured(methods: str, tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    small = ["--repetitions=1", "--intervals=1", "--barrier=without", "--set", "cells=16", "connections=4", "time=10"]
    assert bench(*small, "--ranks=2", f"--methods={methods}", f"--mpiexec={WHEELS[0].mpiexec}", f"--json={path}") == 0
    found = json.loads(path.read_text())["results"][0]["methods"]
    assert {method["method"] for method in found} == set(mpi.exchanges() if methods == "all" else methods.split(","))
    # In shared memory, threads exchange spikes while they wait.
    assert {method["method"] for method in found if method["exchange_s"]["greatest"] == 0.0} == {"shared_memory"}


def test_bursts_on_consecutive_processes_are_imbalanced(tmp_path: Path) -> None:
    """As in Table 3 of the paper, by counts: cells that burst together, and their targets, are on one process."""
    imbalance = {}
    for placement in ("consecutive", "round_robin"):
        path = tmp_path / f"{placement}.json"
        keys = ["cells=160", "connections=10", "topology=adjacent", "burst=true", "resolution=0.1", "time=200"]
        arguments = ["--repetitions=1", "--ranks=2", "--methods=multisend", "--intervals=1", f"--json={path}"]
        assert bench(*arguments, f"--mpiexec={WHEELS[0].mpiexec}", "--set", *keys, f"placement={placement}") == 0
        result = json.loads(path.read_text())["results"][0]
        method = result["methods"][0]
        imbalance[placement] = method["imbalance"]["synaptic_events"]
        assert method["greatest_fan_out"] == {"rank_0": 1, "all": 1}
        counts = method["per_interval"]
        assert {len(values) for values in counts.values()} == {200}
        assert 0 < sum(counts["spikes"]) < result["spikes"]
        assert sum(counts["messages"]) <= sum(counts["spikes"]), "a spike goes to one other process at most"
        assert min(counts["failed_checks"]) >= 0
    # In 200 ms, groups of the first process burst: 20 of its 80 cells fire five times as often, (60 + 5 * 20) / 80 = 2
    # times the spikes of the other process, so the greatest is 4 / 3 of the mean.
    assert imbalance["round_robin"] < 1.1
    assert imbalance["consecutive"] > 1.25


@pytest.mark.thorough
def test_times_of_parts_add_up(measured: tuple[dict[str, Any], Path]) -> None:
    whole, _ = measured
    for result in whole["results"]:
        for method in result["methods"]:
            arrays = {name: np.array(values) for name, values in method["per_interval_s"].items()}
            # Medians of two runs are means, which keep sums and what is greater.
            assert arrays["greatest"].sum() <= arrays["total"].sum()
            assert (arrays["mean"] <= arrays["greatest"] * (1.0 + 1e-9)).all()
            assert arrays["rank_0"].sum() == pytest.approx(method["computation_s"]["rank_0"], rel=1e-6)
            parts = sum(method[f"{part}_s"]["rank_0"] for part in ("computation", "waiting", "exchange"))
            assert parts <= method["total_s"]["rank_0"] * 1.001


@pytest.mark.thorough
def test_figures(measured: tuple[dict[str, Any], Path]) -> None:
    _, folder = measured
    names = ["figure.png", "figure_2_ranks.png", "figure_3_ranks.png"]
    assert sorted(path.name for path in folder.glob("*.png")) == names
    for name in names:
        picture = image.imread(folder / name)
        # Lines of several colours, beside white and what text has.
        colours = {tuple(pixel) for pixel in (picture[::2, ::2, :3].reshape(-1, 3) * 8).astype(int)}
        assert len(colours) > 10


@pytest.mark.thorough
def test_tables(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    # As long as "auto" needs to settle.
    settings = ["burst=true", "time=150", "--methods=rma_allgather,auto", "--repetitions=1"]
    bench(*SMALL, *settings, f"--mpiexec={WHEELS[0].mpiexec}")
    printed = capfd.readouterr().out
    assert "64 cells" in printed
    assert "bursts" in printed
    assert "With a barrier before each exchange" in printed
    assert "Without a barrier before each exchange" in printed
    assert printed.count("best") == 4  # in each table, the header and the fastest
    assert "rma_allgather" in printed
    assert "auto ended as" in printed
    assert "…" not in printed.partition("All gave")[0]
    assert max(map(len, printed.splitlines())) <= 80


@pytest.mark.thorough
def test_that_a_failing_worker_tells_why() -> None:
    mpiexec = find_mpiexec(WHEELS[0].mpiexec)
    with pytest.raises(RemoteError, match=r"(?s)status.*KeyError.*contestants"):
        run_module(
            mpiexec, "ranvier_benchmarks._exchange_worker", {}, ranks=2, threads=1, on_progress=lambda text: None
        )


# ---- spikes that differ ----------------------------------------------------------------------------------------------


def results_of(digests: Sequence[Sequence[str]]) -> list[dict[str, Any]]:
    return [
        {"ranks": 2 + i, "methods": [exchange.summarize(f"method{k}", 1, [one_run(k, d)]) for k, d in enumerate(row)]}
        for i, row in enumerate(digests)
    ]


def test_digests_that_agree() -> None:
    assert exchange.check_digests(results_of([["right"] * 3] * 2)) == "right"


def test_that_a_method_with_other_spikes_is_named() -> None:
    with pytest.raises(StateError, match=r"method2 on 3 ranks did not give those that 5 others") as caught:
        exchange.check_digests(results_of([["right"] * 3, ["right", "right", "wrong"]]))
    assert "method1" not in str(caught.value)


def test_that_repetitions_are_compared() -> None:
    runs = [one_run(0), one_run(0, "wrong")]
    summary = exchange.summarize("alltoall", 1, runs)
    with pytest.raises(StateError, match="alltoall on 2 ranks"):
        exchange.check_digests([{"ranks": 2, "methods": [summary]}])


def test_that_a_worker_that_lies_is_found(tmp_path: Path) -> None:
    runs = [one_run(i, digest) for i, digest in enumerate(["right", "right", "wrong"])]
    code = f"""
from pathlib import Path
Path(json.loads(sys.argv[-1])["report"]).write_text({json.dumps({"transport": "none", "runs": runs})!r})
"""
    mpiexec = fake_mpiexec(tmp_path / "mpiexec", code)
    path = tmp_path / "results.json"
    with pytest.raises(StateError, match="neighbor on 2 ranks did not give"):
        bench(
            *SMALL,
            f"--mpiexec={mpiexec}",
            "--methods=alltoall,alltoallv,neighbor",
            "--intervals=1",
            "--barrier=with",
            f"--json={path}",
        )
    assert not path.exists()


@pytest.mark.parametrize("methods", ["alltoall", "alltoall,neighbor"])
def test_hosts_need_a_method_that_groups_by_host(methods: str) -> None:
    with pytest.raises(StateError, match=f"host_ranks is 2, but {methods} do not group processes by host"):
        bench(*SMALL, "host_ranks=2", f"--methods={methods}")
    exchange_options = _options.method_options("alltoall", True), _options.method_options("hierarchical", True)
    assert [options.get("host_ranks", "kept") for options in exchange_options] == [None, "kept"]


# ---- sums and medians ------------------------------------------------------------------------------------------------


def test_medians() -> None:
    runs = [
        one_run(0, total=total, spikes_sent=[sent, 10.0], rounds=[sent, 4.0], waiting=[total, 2.0])
        for total, sent in ((5.0, 1.0), (1.0, 3.0), (3.0, 2.0))
    ]
    summary = exchange.summarize("alltoall", 1, runs)
    assert summary["total_s"]["rank_0"] == 3.0
    assert summary["total_of_runs_s"] == [5.0, 1.0, 3.0]
    assert summary["waiting_s"] == {"rank_0": 3.0, "least": 2.0, "median": 2.5, "greatest": 3.0}
    assert summary["spikes_sent"] == 12
    assert summary["rounds"] == 4
    assert summary["rounds_per_interval"] == 2.0
    assert summary["per_interval_s"]["mean"] == [1.5, 1.5]


def test_waiting_and_exchange_of_the_same_run_are_added() -> None:
    # The medians of both have another sum.
    runs = [one_run(0, waiting=[w, 0.0], exchange=[e, 0.0]) for w, e in ((1.0, 9.0), (2.0, 1.0), (3.0, 5.0))]
    summary = exchange.summarize("alltoall", 1, runs, barrier=False)
    assert summary["waiting_and_exchange_s"]["rank_0"] == 8.0
    assert exchange.label(summary) == "alltoall without a barrier"


def test_each_method_runs_with_and_without_a_barrier() -> None:
    both = exchange.make_contestants(["alltoall", "shared_memory"], (1, 2), (True, False))
    assert both == [
        ("alltoall", 1, True),
        ("alltoall", 2, True),
        ("shared_memory", 1, False),
        ("shared_memory", 2, False),
        ("alltoall", 1, False),
        ("alltoall", 2, False),
    ]
    assert exchange.make_contestants(["shared_memory"], (1,), (True,)) == [("shared_memory", 1, False)]


def test_imbalance() -> None:
    # Twice the mean in the first interval, which has three times as much as the second, where all are alike.
    by_rank = np.array([[6.0, 1.0], [0.0, 1.0]])
    assert _exchange_worker.imbalance(by_rank) == pytest.approx(7.0 / 4.0)
    assert _exchange_worker.imbalance(np.zeros((3, 5))) == 1.0


# ---- mistakes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ranks", ["1", "0", "2,x", "", "2,,3", "-2", "99999999"])
def test_bad_ranks(ranks: str) -> None:
    with pytest.raises(ValueOutOfBoundsError, match="--ranks"):
        bench(*SMALL, f"--ranks={ranks}")


def test_unknown_method() -> None:
    with pytest.raises(UnknownNameError, match="alltoallv"):
        bench(*SMALL, "--methods=alltoall,altoallv")


@pytest.mark.parametrize(
    "argument",
    [
        "--repetitions=0",
        "threads=0",
        "time=0",
        "time=nan",
        "time=0.01",
        "spike_buffer=0",
        "resolution=nan",
        "burst=maybe",
        "stealing=nobody",
    ],
)
def test_bad_values(argument: str) -> None:
    with pytest.raises((ValueError, UnknownNameError), match=argument.partition("=")[0].strip("-")):
        bench(*SMALL, argument)


def test_too_few_cells() -> None:
    with pytest.raises(ValueOutOfBoundsError, match="key cells"):
        bench("--ranks=2", "--set", "cells=1")


@pytest.mark.parametrize(
    ("setting", "remedy"),
    [
        ("exchange=alltoall", "give --methods"),
        ("intervals=2", "give --intervals"),
        ("wait_apart=true", "give --barrier"),
        ("sort_connections=false", "leave it out"),
        ("presim=10", "leave it out"),
    ],
)
def test_what_the_benchmark_sets_itself(setting: str, remedy: str) -> None:
    with pytest.raises(ValueOutOfBoundsError, match=f"key {setting.partition('=')[0]}.*{remedy}"):
        bench(*SMALL, setting)


def test_that_a_bad_network_is_told_before_anything_runs(tmp_path: Path) -> None:
    with pytest.raises(RuleError):
        bench(
            "--ranks=2", "--set", "cells=64", "topology=adjacent", "connections=100", f"--mpiexec={tmp_path / 'none'}"
        )


def test_files_that_cannot_be_written(tmp_path: Path) -> None:
    with pytest.raises(FileError):
        bench(*SMALL, f"--json={tmp_path / 'none' / 'results.json'}")
    with pytest.raises(FileError, match="format"):
        bench(*SMALL, f"--plot={tmp_path / 'figure.xyz'}")


def test_no_mpiexec(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(CommunicationError, match=r"no such program.*pip install"):
        bench(*SMALL, f"--mpiexec={tmp_path / 'mpiexec'}")
    monkeypatch.setattr("sys.prefix", str(tmp_path))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(
        CommunicationError, match=r"there is none in the Python environment or on the PATH.*pip install"
    ):
        bench(*SMALL)


def test_mpiexec_of_an_unknown_family(tmp_path: Path) -> None:
    program = tmp_path / "mpiexec"
    program.write_text("#!/bin/sh\necho MyPI 1.0\n")
    program.chmod(0o755)
    with pytest.raises(CommunicationError, match="not known"):
        bench(*SMALL, f"--mpiexec={program}")


def test_that_the_environment_comes_before_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder in ("environment/bin", "path"):
        (tmp_path / folder).mkdir(parents=True)
    on_path = fake_mpiexec(tmp_path / "path/mpiexec", "")
    monkeypatch.setattr("sys.prefix", str(tmp_path / "environment"))
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    assert find_mpiexec().path == on_path
    beside = fake_mpiexec(tmp_path / "environment/bin/mpiexec", "")
    assert find_mpiexec().path == beside
    assert find_mpiexec(on_path).path == on_path


def test_that_it_does_not_start_under_mpiexec(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMPI_COMM_WORLD_SIZE", "2")
    with pytest.raises(StateError, match="without mpiexec"):
        bench(*SMALL)


def test_settings_of_mpiexec(monkeypatch: pytest.MonkeyPatch) -> None:
    families = {found.family.package: Mpiexec(Path("mpiexec"), found.family) for found in WHEELS}
    for name in list(os.environ):
        if name.startswith(("OMPI_", "PRTE_", "MPIR_")):
            monkeypatch.delenv(name)
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    open_mpi = families["openmpi"]
    assert "--oversubscribe" in open_mpi.command(3, True)
    assert "--oversubscribe" not in open_mpi.command(3, False)
    assert not any(name.startswith(("OMPI_", "PRTE_")) for name in open_mpi.environment(False))
    assert open_mpi.environment(True)["OMPI_MCA_mpi_yield_when_idle"] == "1"
    monkeypatch.setenv("OMPI_MCA_mpi_yield_when_idle", "0")
    assert open_mpi.environment(True)["OMPI_MCA_mpi_yield_when_idle"] == "0"
    monkeypatch.setattr("os.geteuid", lambda: 0)
    assert open_mpi.environment(False)["OMPI_ALLOW_RUN_AS_ROOT"] == "1"
    assert "OMPI_ALLOW_RUN_AS_ROOT" not in families["mpich"].environment(False)
    assert families["mpich"].command(3, True)[1:3] == ["-n", "3"]
