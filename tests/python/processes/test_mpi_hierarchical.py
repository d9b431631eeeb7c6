"""The exchange in two levels: groups of processes that act as hosts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import ranvier as rv
from mpi_digests import simulate
from mpi_families import any_family
from mpi_runs import Installation, installation, run_python
from ranvier.errors import StateError, ValueOutOfBoundsError
from ranvier.forecast.dry_run import PlayedProcess, play
from ranvier.processes.mpi_library import MPICH, OPEN_MPI
from ranvier.simulation.options import grouped
from repository import SUPPORT

HELPERS = {"PYTHONPATH": str(SUPPORT)}

# Groups of different sizes, in the order of ranks, and lists that do not fit into buffers.
CONFIGURATIONS: list[dict[str, Any]] = [
    {"host_ranks": None, "threads": 2},
    {"host_ranks": 1},
    {"host_ranks": 2, "threads": 2, "spike_buffer": 1},
    {"host_ranks": 2, "placement": "shuffle", "keep_sources": False},
    {"host_ranks": 3, "sort_connections": False},
]

PROGRAM = """
import dataclasses, json, sys
import ranvier as rv
from mpi_digests import simulate
from ranvier import mpi

found = []
for options in json.loads(sys.argv[1]):
    sim, spikes = simulate("brunel", exchange="hierarchical", **{"threads": 1, **options})
    found.append({"digest": spikes.digest(), "exchange": sim.exchange, "traffic": dataclasses.asdict(sim.traffic())})

automatic = simulate("brunel", exchange="auto", threads=1, host_ranks=2)[1].digest()
net = rv.networks.brunel(order=20).net
errors = []
for options in ({"exchange": "hierarchical", "host_ranks": mpi.world().size + 1}, {"host_ranks": 1}):
    try:
        rv.Simulation(net, threads=1, processes=rv.Processes(**options))
    except Exception as error:
        errors.append([type(error).__name__, str(error)])
print(json.dumps({"found": found, "automatic": automatic, "errors": errors}))
"""


def check_groups(
    where: Installation, ranks: int, folder: Path, configurations: list[dict[str, Any]] = CONFIGURATIONS
) -> None:
    chosen = [options for options in configurations if (options["host_ranks"] or 0) <= ranks]
    done = run_python(where, ranks, PROGRAM, json.dumps(chosen), folder=folder, environment=HELPERS, timeout=240)
    assert done.status == 0, done.errors
    told = [json.loads(output) for output in done.outputs]
    expected = simulate("brunel", threads=1)[1].digest()
    for number, options in enumerate(chosen):
        of_ranks = [each["found"][number] for each in told]
        # Rank 0 has the recordings.
        assert of_ranks[0]["digest"] == expected, options
        traffic = [each["traffic"] for each in of_ranks]
        assert all(each["exchange"] == "hierarchical" for each in of_ranks)
        sent, received = (sum(each[name] for each in traffic) for name in ("spikes_sent", "spikes_received"))
        assert sent == received > 0
        # Only the first rank of each group sends.
        size = options["host_ranks"] or ranks
        groups = -(-ranks // size)
        for rank, each in enumerate(traffic):
            assert (each["messages"] > 0) == (rank % size == 0 and groups > 1), (rank, options)
            assert each["presynaptic_bytes"] == 0 or not options.get("keep_sources", True)
    assert told[0]["automatic"] == expected
    for each in told:
        (kind, bound), (other_kind, other_bound) = each["errors"]
        assert (kind, other_kind) == (ValueOutOfBoundsError.__name__, StateError.__name__)
        assert f"it must be at most {ranks}, the number of processes of this host" in bound
        assert "exchange=alltoall does not group processes by host" in other_bound
        assert "use it with exchange=hierarchical or auto" in other_bound


def test_groups_have_the_same_spikes(tmp_path: Path) -> None:
    check_groups(installation(OPEN_MPI, "wheel"), 3, tmp_path, CONFIGURATIONS[2:])


@pytest.mark.thorough
@pytest.mark.parametrize("ranks", [2, 4])
@any_family
def test_any_ranks_have_the_same_spikes(where: Installation, ranks: int, tmp_path: Path) -> None:
    check_groups(where, ranks, tmp_path)


def played(method: str, threads: int, **options: Any) -> PlayedProcess:
    net = rv.networks.hpc_benchmark(scale=0.1, indegree_scale=0.2, plastic=False).net
    chosen = {"exchange": method, "threads": threads, "row_numbering": "compact", "sort_connections": True, **options}
    return play(net, 4, duration=15.0, rate=20.0, progress=False, **grouped(chosen))


def test_a_spike_is_sent_once_to_a_process_with_several_threads() -> None:
    one, three = (played("hierarchical", threads, host_ranks=1) for threads in (1, 3))
    # As many rows as with other methods, which send a spike for each of them.
    expected = played("alltoallv", 3)
    assert one.events == three.events == expected.events
    assert (
        three.traffic["spikes_received"] == expected.traffic["spikes_received"] > 2.5 * one.traffic["spikes_received"]
    )
    assert three.traffic["bytes_sent"] == one.traffic["bytes_sent"] < expected.traffic["bytes_sent"] / 2
    # On hosts of two processes, even half of them.
    two = played("hierarchical", 3, host_ranks=2)
    assert two.traffic["bytes_sent"] < 0.7 * one.traffic["bytes_sent"]


KILLED = """
import os, signal, sys, threading, time
import ranvier as rv
from ranvier import mpi
from small_networks import balanced

net, recorder = balanced(20)
sim = rv.Simulation(net, threads=1, processes=rv.Processes(exchange="hierarchical", host_ranks=2))
sim.run(10.0)

def kill():
    time.sleep(0.3)
    os.kill(os.getpid(), signal.SIGKILL)

if mpi.world().rank == int(sys.argv[1]):
    threading.Thread(target=kill).start()
sim.run(10000000.0)
"""


# A leader, on whom the other members of its group wait in shared memory, and a member.
@pytest.mark.parametrize("rank", [2, pytest.param(1, marks=pytest.mark.thorough)])
def test_a_killed_process_ends_all(rank: int, tmp_path: Path) -> None:
    where = installation(MPICH, "wheel")
    done = run_python(where, 4, KILLED, str(rank), folder=tmp_path, environment=HELPERS, timeout=60)
    assert done.status != 0
