"""What `ranvier info` tells of the machine and of where threads would run."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import shlex
import subprocess
import sys
from typing import Any

import pytest
from rich.console import Console

from ranvier import _core, errors
from ranvier.command_line import main
from ranvier.commands import info, latencies, machine_tree
from ranvier.commands.thread_places import place
from repository import ROOT


def drawing(
    description: str,
    *,
    threads: int | None = None,
    pinning: str = "equal",
    ranks: int = 1,
    width: int = 100,
    **changes: Any,
) -> list[str]:
    """Return the lines of the tree of a made-up machine, of whose description something may be changed."""
    topology = _core.Topology.synthetic(description)
    places = place(topology, threads=threads, pinning=pinning, ranks=ranks, quota=None)
    console = Console(file=io.StringIO(), width=width)
    console.print(machine_tree.draw({**topology.describe(), "name": "Machine", **changes}, places))
    assert isinstance(console.file, io.StringIO)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


# ---- the tree --------------------------------------------------------------------------------------------------------


def test_two_nodes() -> None:
    assert drawing("node:2(memory=16GiB) core:12 pu:2", threads=25) == [
        "Machine  32 GiB, 2 NUMA nodes, 24 cores, 48 processors",
        "├── NUMA node 0  16 GiB  distances 10 20 (assumed)",
        "│   ├── core 0",
        "│   │   ├── processor 0  thread 0",
        "│   │   └── processor 1  thread 12",
        "│   └── cores 1-11",
        "│       ├── processors 2, 4 .. 22  threads 1-11",
        "│       └── processors 3, 5 .. 23  idle",
        "└── NUMA node 1  16 GiB  distances 20 10 (assumed)",
        "    └── cores 12-23",
        "        ├── processors 24, 26 .. 46  threads 13-24",
        "        └── processors 25, 27 .. 47  idle",
    ]


def test_caches() -> None:
    assert drawing("l3:2(size=16MiB) l2:4(size=512KiB) l1d:1(size=32KiB) core:1 pu:1", threads=4)[2:] == [
        "    ├── L3 16 MiB",
        "    │   └── cores 0-3  L2 512 KiB, L1 32 KiB each",
        "    │       └── processors 0-3  threads 0-3",
        "    └── L3 16 MiB",
        "        └── cores 4-7  L2 512 KiB, L1 32 KiB each",
        "            └── processors 4-7  idle",
    ]
    assert drawing("l3:2(size=16MiB) l2:2(size=2MiB) core:2 pu:1")[2:] == [
        "    └── 2 x L3 16 MiB, each for 4 cores",
        "        └── 4 x L2 2 MiB, each for 2 cores",
        "            └── cores 0-7",
        "                └── processors 0-7  threads 0-7",
    ]


def test_groups_with_the_same_pattern() -> None:
    # The second hardware thread of the first core below each cache is in use.
    threads = ",".join(str(10 * cache + unit) for cache in range(3) for unit in (0, 1, 2, 4, 6, 8))
    assert drawing("l3:3(size=8MiB) core:5 pu:2", threads=18, pinning=threads)[2:] == [
        "    └── 3 x L3 8 MiB, each for 5 cores",
        "        ├── cores 0, 5, 10",
        "        │   ├── processors 0, 10, 20  threads 0, 6, 12",
        "        │   └── processors 1, 11, 21  threads 1, 7, 13",
        "        └── cores 1-4, 6-9, 11-14",
        "            ├── processors 2, 4 .. 8, 12, 14 .. 18, 22, 24 .. 28  threads 2-5, 8-11, 14-17",
        "            └── processors 3, 5 .. 9, 13, 15 .. 19, 23, 25 .. 29  idle",
    ]


def test_many_nodes_are_drawn_as_one_where_they_are_alike() -> None:
    lines = drawing("node:16(memory=2GiB) core:2 pu:2", threads=16)
    assert lines[1] == "└── NUMA nodes 0-15  2 GiB each  distances 10 to 20 (assumed)"
    assert len(lines) == 8
    # The first three have one thread more than the others.
    lines = drawing("node:16(memory=2GiB) core:2 pu:2", threads=19)
    assert lines[1] == "├── NUMA nodes 0-2  2 GiB each  distances 10 to 20 (assumed)"
    assert lines[5] == "└── NUMA nodes 3-15  2 GiB each  distances 10 to 20 (assumed)"


def test_processes_that_share_a_machine() -> None:
    lines = drawing("node:2 core:4 pu:1", ranks=4)
    assert lines[3] == "│       └── processors 0-3  ranks 0-1: threads 0-1 each"
    assert lines[6] == "        └── processors 4-7  ranks 2-3: threads 0-1 each"
    # More processes than processors: some share one.
    lines = drawing("core:2 pu:1", ranks=3)
    assert lines[2:] == [
        "    ├── core 0",
        "    │   └── processor 0  ranks 0-1: thread 0 each",
        "    └── core 1",
        "        └── processor 1  rank 2: thread 0",
    ]


def test_threads_that_are_not_pinned_are_nowhere() -> None:
    assert drawing("core:2 pu:1", pinning="none")[-1].strip() == "└── processors 0-1"


def test_what_is_known_of_memory_and_distances() -> None:
    nodes = [
        {"os_index": 0, "memory_bytes": 3 * 2**30, "free_bytes": 2**29, "cores": [{"os_index": 0, "processors": [0]}]},
        {"os_index": 4, "memory_bytes": 2**20, "free_bytes": 0, "cores": []},
    ]
    lines = drawing("core:1 pu:1", nodes=nodes, distances=[[10, 21], [21, 10]], distance_source="reported")
    assert lines[1] == "├── NUMA node 0  3 GiB, 512 MiB free  distances 10 21"
    assert lines[-1] == "└── NUMA node 4  1 MiB, 0 bytes free, memory without cores  distances 21 10"


@pytest.mark.parametrize(
    "description",
    [
        "node:2 l3:8(size=32MiB) l2:8(size=1MiB) l1d:1(size=32KiB) core:1 pu:2(indexes=2*128:1*2)",
        "node:8 l3:2(size=32MiB) core:8 pu:2",
        "node:64 core:2 pu:1",
    ],
)
@pytest.mark.parametrize("pinning", ["equal", "compact", "none"])
def test_a_large_machine_fits_a_screen(description: str, pinning: str) -> None:
    for threads, ranks in ((None, 1), (5, 1), (40, 2), (8, 16), (20, 16), (1, 128)):
        assert len(drawing(description, threads=threads, pinning=pinning, ranks=ranks)) <= 50


@pytest.mark.parametrize(
    "machine", ["node:3 l3:2(size=1MiB) core:4 pu:2(indexes=2*24:1*2)", "node:8 l3:2(size=1MiB) l2:2 core:2 pu:2"]
)
def test_every_thread_is_drawn_where_it_is(machine: str) -> None:
    """Whatever is drawn as one, the numbers of processors and of threads come in the same order."""
    topology = _core.Topology.synthetic(machine)
    for threads in (1, 5, 13, 24, 30, 48, 60):
        for pinning in ("equal", "compact"):
            places = place(topology, threads=threads, pinning=pinning, quota=None)
            drawn = {}
            for line in drawing(machine, threads=threads, pinning=pinning, width=2000):
                found = re.search(r"processors? (.+)  threads? (.+)", line)
                if found is None:
                    continue
                processors, numbers = read_ranges(found[1]), read_ranges(found[2])
                # As many on each of them.
                each = len(numbers) // len(processors)
                drawn.update({thread: processors[index // each] for index, thread in enumerate(numbers)})
            assert [drawn[thread] for thread in range(threads)] == places.ranks[0].threads


def read_ranges(text: str) -> list[int]:
    numbers: list[int] = []
    for part in text.split(", "):
        if ".." in part:
            second, last = map(int, part.split(" .. "))
            numbers += range(second, last + 1, second - numbers[-1])
        else:
            first, _, final = part.partition("-")
            numbers += range(int(first), int(final or first) + 1)
    return numbers


@pytest.mark.parametrize(
    ("numbers", "text"),
    [
        ([], ""),
        ([3], "3"),
        ([0, 1, 2, 3, 8], "0-3, 8"),
        ([0, 2], "0, 2"),
        ([0, 2, 4], "0, 2, 4"),
        ([0, 2, 4, 6, 7], "0, 2 .. 6, 7"),
        ([5, 4, 3], "5, 4, 3"),
        ([0, 0, 1], "0, 0-1"),
        ([0, 1, 0, 1], "0-1, 0-1"),
    ],
)
def test_ranges(numbers: list[int], text: str) -> None:
    assert machine_tree.range_text(numbers) == text


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 bytes"),
        (48 * 2**10, "48 KiB"),
        (2**20, "1 MiB"),
        (2**20 - 1, "1 MiB"),
        (25_276_510_208, "23.5 GiB"),
        (6 * 2**40, "6 TiB"),
    ],
)
def test_sizes(size: int, text: str) -> None:
    assert machine_tree.size_text(size) == text


def test_the_guide_shows_what_is_drawn() -> None:
    guide = (ROOT / "docs/guides/machine.md").read_text()
    (command,) = re.findall(r"^ranvier info (--topology .*)$", guide, re.MULTILINE)
    (shown,) = re.findall(r"^```text\n(node:.*?)```$", guide, re.MULTILINE | re.DOTALL)
    assert shown in told(*shlex.split(command))


# ---- what lies below it ----------------------------------------------------------------------------------------------


def test_default_threads() -> None:
    topology = _core.Topology.synthetic("node:2 core:4 pu:2")

    def counts(ranks: int, quota: int | None, pinning: str = "equal") -> list[int]:
        return [len(rank.threads) for rank in place(topology, ranks=ranks, quota=quota, pinning=pinning).ranks]

    assert counts(1, None) == [16]
    assert counts(1, 2) == [2]
    assert counts(3, None) == [4, 6, 6]
    assert counts(2, 5) == [3, 3]
    assert counts(1, None, "0,2,4") == [3]


def test_quota_of_this_process() -> None:
    quota = _core.processor_quota()
    assert quota is None or quota >= 1
    assert info.gather()["processor_quota"] == quota


# ---- the command -----------------------------------------------------------------------------------------------------


def call(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run the command here, or where the environment is to be another in a process of its own."""
    if not environment:
        output, errors = io.StringIO(), io.StringIO()
        with contextlib.redirect_stdout(output), contextlib.redirect_stderr(errors):
            status = main(["info", *arguments])
        return subprocess.CompletedProcess(arguments, status, output.getvalue(), errors.getvalue())
    command = [sys.executable, "-m", "ranvier.command_line", "info", *arguments]
    return subprocess.run(
        command, capture_output=True, text=True, timeout=120, env={**os.environ, "PYTHONUTF8": "1", **environment}
    )


def told(*arguments: str, **environment: str) -> str:
    done = call(*arguments, **environment)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    return done.stdout


def test_this_machine() -> None:
    printed = told("--set", "threads=1", "pinning=equal")
    assert "NUMA node 0" in printed
    assert "usable processors" in printed
    assert "thread 0" in printed
    assert "1 thread, pinned (equal)" in printed
    assert "synthetic" not in printed
    facts = json.loads(told("--set", "threads=1", "pinning=compact", "--json"))
    processors = sorted(os.sched_getaffinity(0))
    assert facts["placement"]["ranks"] == [{"processors": processors, "threads": [processors[0]]}]
    topology = facts["topology"]
    assert [topology["synthetic"], topology["note"]] == [False, ""]
    found = [number for node in topology["nodes"] for core in node["cores"] for number in core["processors"]]
    assert sorted(found) == processors
    for node in topology["nodes"]:
        assert 0 <= node["free_bytes"] <= node["memory_bytes"]
    assert all(set(cache["processors"]) <= set(processors) for cache in topology["caches"])


def test_latencies_are_measured_on_demand() -> None:
    assert "latencies_ns" not in json.loads(told("--json"))["topology"]
    topology = json.loads(told("--measure", "--json"))["topology"]
    assert topology["distance_source"] == "measured"
    nodes = topology["nodes"]
    assert len(topology["latencies_ns"]) == len(nodes)
    for index, (node, row, distances) in enumerate(
        zip(nodes, topology["latencies_ns"], topology["distances"], strict=True)
    ):
        assert all((latency > 0.0) == bool(node["cores"]) for latency in row)
        assert distances[index] == 10 == min(distances)


def test_measured_distances_are_shown(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    synthetic = _core.Topology.synthetic("node:2 core:2 pu:1")
    measured = synthetic.with_latencies([80.0, 130.0, 140.0, 100.0])
    assert measured.describe()["distances"] == [[10, 16], [14, 10]]
    monkeypatch.setattr(latencies, "measure", lambda topology: (measured, [[80.0, 130.0], [140.0, 100.0]]))
    assert main(["info", "--measure"]) == 0
    printed = capsys.readouterr().out
    assert "distances 10 16 (measured)" in printed
    assert re.search(r"node 1 +140\.0 +100\.0", printed)


def test_part_of_this_machine() -> None:
    last = max(os.sched_getaffinity(0))
    command = [sys.executable, "-m", "ranvier.command_line", "info", "--json"]
    done = subprocess.run(
        ["taskset", "--cpu-list", str(last), *command], capture_output=True, text=True, timeout=120, check=True
    )
    facts = json.loads(done.stdout)
    assert facts["usable_processors"] == 1
    assert facts["placement"]["ranks"] == [{"processors": [last], "threads": [last]}]


def test_a_made_up_machine() -> None:
    arguments = ["--topology", "node:2 core:2 pu:2", "--set", "threads=3", "pinning=compact"]
    printed = told(*arguments)
    assert "3 threads, pinned (compact)" in printed
    assert "A synthetic machine" in printed
    assert "share the execution units" not in printed
    facts = json.loads(told(*arguments, "--ranks-per-host", "2", "--json"))
    assert facts["topology"]["name"] == "node:2 core:2 pu:2"
    assert facts["topology"]["distances"] == [[10, 20], [20, 10]]
    assert facts["topology"]["distance_source"] == "assumed"
    assert facts["topology"]["nodes"][1]["cores"][1] == {"os_index": 3, "processors": [6, 7]}
    assert facts["placement"] == {
        "pinning": "compact",
        "threads": 6,
        "ranks": [
            {"processors": [0, 1, 2, 3], "threads": [0, 2, 1]},
            {"processors": [4, 5, 6, 7], "threads": [4, 6, 5]},
        ],
        "most_threads_on_processor": 1,
        "most_threads_on_core": 2,
        "oversubscribed": False,
    }


def test_crowding_is_said() -> None:
    shared = "share the execution units of one core"
    made_up = ["--topology", "core:2 pu:2"]
    assert shared not in told(*made_up, "--set", "threads=2")
    assert f"Up to 2 threads {shared}." in told(*made_up, "--set", "threads=3")
    printed = told(*made_up, "--set", "threads=5")
    assert "Oversubscribed: up to 2 threads take turns on one processor." in printed
    assert shared not in printed
    assert "Oversubscribed: up to 3 threads" in told(*made_up, "--set", "threads=9", "pinning=none")
    assert "Oversubscribed: up to 2 threads" in told(*made_up, "--set", "pinning=0,1,1")
    assert "3 processes of 1 to 2 threads" in told(*made_up, "--ranks-per-host", "3")


def test_a_quota_is_the_default_and_is_said(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(_core, "processor_quota", lambda: 1)
    assert main(["info", "--set", "pinning=equal"]) == 0
    printed = capsys.readouterr().out
    assert "1 thread, pinned" in printed
    assert "control group" not in printed
    assert main(["info", "--set", "threads=2"]) == 0
    assert "The control group allows the time of one processor" in capsys.readouterr().out
    # That of this machine says nothing of a made-up one.
    assert main(["info", "--topology", "pu:4"]) == 0
    printed = capsys.readouterr().out
    assert "4 threads, pinned" in printed
    assert "control group" not in printed


@pytest.mark.thorough
def test_without_hwloc_the_machine_is_flat() -> None:
    """A variable of hwloc's own makes it useless: it describes another machine."""
    printed = told(HWLOC_SYNTHETIC="node:2 pu:64")
    assert "Treated as flat, without caches and NUMA nodes: hwloc is configured to describe another machine." in printed
    facts = json.loads(told("--json", HWLOC_SYNTHETIC="node:2 pu:64"))
    assert len(facts["topology"]["nodes"]) == 1
    assert facts["topology"]["nodes"][0]["free_bytes"] is None


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--topology", "pu:2", "--measure"], "latencies of 'pu:2': a synthetic machine has no memory to measure"),
        (["--topology", "nonsense"], "synthetic topology is 'nonsense', but hwloc does not accept this description"),
        (["--set", "pinning=compct"], "did you mean 'compact'?"),
        (["--set", "pinning=0,-1"], "processors are numbered from 0"),
        (["--topology", "pu:2", "--set", "pinning=2"], "processor to pin to is 2, but this process may not use it"),
        (["--set", "pinning=0", "threads=2"], "there are 2 threads"),
        (["--set", "threads=0"], "threads is 0"),
        (["--ranks-per-host", "-1"], "--ranks-per-host is -1"),
    ],
)
def test_mistakes(arguments: list[str], complaint: str) -> None:
    done = call(*arguments)
    assert done.returncode == 2
    assert done.stdout == ""
    (line,) = done.stderr.splitlines()
    assert line.startswith("ranvier: error: ")
    assert complaint in line


# ---- the bindings ----------------------------------------------------------------------------------------------------


def test_topologies() -> None:
    topology = _core.Topology.synthetic("node:2 core:2 pu:1")
    assert topology.restricted([1, 3]).processors() == [1, 3]
    assert topology.shared_out(1, 2).processors() == [2, 3]
    assert set(_core.Topology.detect().processors()) == os.sched_getaffinity(0)
    assert _core.Topology.flat([4, 2]).describe()["nodes"][0]["cores"][0] == {"os_index": -1, "processors": [2]}
    assert _core.place_threads(topology, 3, "compact") == [(0, 0), (1, 0), (2, 1)]
    assert _core.place_threads(topology, 1, "none") == [(-1, 0)]
    assert _core.occupancy(topology, [(0, 0), (0, 0), (1, 0)]) == (2, 2)
    assert _core.parse_pinning("2,0-1") == ("list", [2, 0, 1])
    with pytest.raises(errors.ValueOutOfBoundsError, match="place of a process on its host is 2"):
        topology.shared_out(2, 2)


@pytest.mark.parametrize(
    ("description", "accepted"),
    [
        ("node:2 core:12 pu:2", True),
        ("[NUMANode(memory=99999999)] core:4 pu:2", True),
        ("4 4 2", True),
        ("core:4097 pu:1", False),
        ("node:999999999 core:999999999 pu:9", False),
        ("99999999999999999999999999 2", False),
        ("node:2 core:100 pu:100", False),
    ],
)
def test_synthetic_machines_have_a_bound(description: str, accepted: bool) -> None:
    """Beyond it, hwloc takes minutes."""
    if accepted:
        assert 0 < len(_core.Topology.synthetic(description).processors()) <= 4096
    else:
        with pytest.raises(errors.ValueOutOfBoundsError, match="more than 4096 processing units"):
            _core.Topology.synthetic(description)
