"""A C++ program outside this project builds against an installed tree and gives the spikes of Python."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ranvier as rv
from repository import ROOT

BUILD = ROOT / "build/package"


def call(*command: object) -> str:
    # CMake is there where this Python is, and perhaps not elsewhere.
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    arguments = [str(word) for word in command]
    done = subprocess.run(arguments, capture_output=True, text=True, cwd=ROOT, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def prefix(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("installed")


@pytest.fixture(scope="module")
def programs(prefix: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Run the commands of the guide after the build of Ranvier; return the folder with the programs."""
    folder = tmp_path_factory.mktemp("programs")
    (commands,) = re.findall(r"^```sh\n(.*?)^```$", (ROOT / "docs/guides/cpp.md").read_text(), re.M | re.S)
    configure, build, *rest, run = commands.splitlines()
    assert (configure, build) == ("cmake -S . -B build/cpp", "cmake --build build/cpp --parallel $(nproc)")
    assert run == "build/cmake_project/balanced_network 2"
    for command in rest:
        replaced = command.replace("build/cpp", str(BUILD)).replace("~/.local", str(prefix))
        call(*shlex.split(replaced.replace("build/cmake_project", str(folder))))
    return folder


@pytest.mark.usefixtures("programs")
def test_only_public_headers_are_installed(prefix: Path) -> None:
    installed = {path.relative_to(prefix / "include") for path in prefix.rglob("*.hpp")}
    assert installed == {path.relative_to(ROOT / "include") for path in (ROOT / "include").rglob("*.hpp")}
    assert {path.parts[0] for path in installed} == {"ranvier"}


@pytest.mark.usefixtures("programs")
def test_installed_files_do_not_name_the_source_tree(prefix: Path) -> None:
    for path in prefix.rglob("*.cmake"):
        assert str(ROOT) not in path.read_text(), path


def test_a_program_has_the_spikes_of_python(programs: Path) -> None:
    net = rv.Network(resolution=0.1, seed=1)
    potentials = rv.Normal(-65.0, 3.0)
    excitatory = net.create(rv.iaf_psc_exp(V_m=potentials), 800, name="exc")
    inhibitory = net.create(rv.iaf_psc_exp(V_m=potentials), 200, name="inh")
    everything = [excitatory, inhibitory]
    net.connect(excitatory, everything, rv.FixedIndegree(80), weight=100.0, delay=1.5)
    net.connect(inhibitory, everything, rv.FixedIndegree(20), weight=-1200.0, delay=1.5)
    net.stimulate(everything, rv.poisson_generator(rate=3000.0), weight=120.0)
    recorder = net.record_spikes()
    sim = rv.Simulation(net)
    sim.run(500.0)
    data = sim.spikes(recorder)
    expected = np.column_stack([data.steps, data.ids])
    for threads in (1, 2):
        printed = call(programs / "balanced_network", threads)
        found = np.array([line.split() for line in printed.splitlines()], dtype=int)
        assert len(found) > 1000
        assert np.array_equal(found, expected)


def test_a_program_reports_errors_of_its_input(programs: Path) -> None:
    done = subprocess.run([programs / "balanced_network", "100000000"], capture_output=True, text=True)
    assert done.returncode == 1
    assert "threads" in done.stderr


def test_the_parallel_layer_is_used_alone(programs: Path) -> None:
    lines = call(programs / "places").splitlines()
    assert len(lines) == 2
    processors = {int(re.fullmatch(r"processor (\d+), NUMA node \d+", line)[1]) for line in lines}  # type: ignore[index]
    assert processors <= os.sched_getaffinity(0)


@pytest.mark.parametrize("stealing", ["prefer_local", "local_only"])
def test_the_tree_reduction_is_built_outside_of_the_tree(programs: Path, stealing: str) -> None:
    printed = call(
        programs / "tree_reduction", "--levels", 6, "--threads", 3, "--pinning", "none", "--stealing", stealing
    )
    workers = [line.split() for line in printed.splitlines() if re.match(r" *\d", line)]
    assert len(workers) == 3
    assert sum(int(worker[3]) for worker in workers) == 2**6 - 1
    assert "They are the same, bit for bit." in printed


@pytest.mark.usefixtures("programs")
def test_an_unknown_component_is_refused_by_name(prefix: Path, tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text(
        "cmake_minimum_required(VERSION 3.22)\nproject(wrong LANGUAGES CXX)\n"
        "find_package(ranvier REQUIRED COMPONENTS tasks neurons)\n"
    )
    environment = {**os.environ, "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    command = ["cmake", "-S", str(tmp_path), "-B", str(tmp_path / "build"), f"-DCMAKE_PREFIX_PATH={prefix}"]
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode != 0
    assert "no component 'neurons'" in re.sub(r"\s+", " ", done.stderr)
