"""`ranvier bench contention` runs networks beside busy programs that it starts itself, and compares their spikes."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pytest

import ranvier as rv
from mpi_runs import WHEELS
from ranvier.processes.mpi_library import MPICH
from ranvier_benchmarks import contention


def parse(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    contention.add_arguments(parser)
    return parser.parse_args([*arguments])


@pytest.mark.thorough
def test_results_are_written(tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    arguments = (
        "--networks=brunel",
        "--loops=1",
        "--repetitions=1",
        "--set",
        "threads=2",
        "order=100",
        "time=20",
        "presim=5",
    )
    assert contention.main(parse(*arguments, "--json", str(file))) == 0
    written = json.loads(file.read_text())
    assert written["complete"]
    (result,) = written["results"]
    assert (result["network"], result["busy_programs"]) == ("brunel", 1)
    assert result["ratio"] == pytest.approx(result["several_threads"][0] / result["one_thread"][0])
    assert written["options"]["loops"] == "1"
    assert (written["options"]["threads"], written["options"]["order"]) == (2, 100)


@pytest.mark.thorough
def test_ranks_are_held_against_one_process(tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    arguments = (
        "--networks=brunel",
        "--ranks=2",
        "--loops=0",
        "--repetitions=1",
        "--set",
        "order=100",
        "time=20",
        "presim=5",
    )
    (mpiexec,) = [where.mpiexec for where in WHEELS if where.family is MPICH]
    assert contention.main(parse(*arguments, f"--mpiexec={mpiexec}", "--json", str(file))) == 0
    written = json.loads(file.read_text())
    (result,) = written["results"]
    assert result["ratio"] == pytest.approx(result["several_ranks"][0] / result["one_thread"][0])
    assert result["asleep_s"] == [pytest.approx(0.0, abs=60.0)]
    assert (written["options"]["ranks"], written["options"]["mpi"]) == (2, "MPICH")


def test_busy_programs_are_busy_until_the_end() -> None:
    with contention.busy_programs(2) as programs:
        assert [program.poll() for program in programs] == [None, None]
    assert all(program.returncode is not None for program in programs)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("--networks=brunell",), "--networks"),
        (("--loops=1,x",), "--loops"),
        (("--loops=-1",), "--loops"),
        (("--loops=1000000",), "--loops"),
        (("--set=threads=1",), "key threads"),
        (("--ranks=2", "--set=threads=2"), "key threads"),
        (("--set=time=-1",), "key time"),
        (("--set=recordings=local",), "key recordings"),
        (("--ranks=1",), "--ranks"),
        (("--ranks=1000000",), "--ranks"),
        (("--mpiexec=mpiexec",), "--mpiexec"),
        (("--repetitions=0",), "--repetitions"),
    ],
)
def test_bad_options(arguments: tuple[str, ...], named: str) -> None:
    with pytest.raises(rv.errors.ValueOutOfBoundsError, match=named):
        contention.main(parse(*arguments))
