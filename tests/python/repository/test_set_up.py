"""What `make` looks at before it builds, on any machine and in any order of its targets."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from repository import ROOT

TOOLS = ROOT / "tools"
MAKEFILE = (ROOT / "Makefile").read_text()


def call(*command: str | Path, environment: Mapping[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        list(map(str, command)), env={**os.environ, **(environment or {})}, capture_output=True, text=True, timeout=60
    )


def program(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


def prerequisites(target: str) -> list[str]:
    (found,) = re.findall(rf"^{re.escape(target)}:([^=\n#]*)", MAKEFILE, re.MULTILINE)
    return str(found).split()


def test_the_package_is_built_anew_when_the_machine_has_changed() -> None:
    assert "build/found" in prerequisites("$(STAMPS)/package")
    # What the machine lacks is installed before the build looks at it.
    for target in ("build-tests-cpp", "test-programs"):
        assert prerequisites(target)[:2] == ["machine", "$(STAMPS)/package"], target
    assert prerequisites("$(STAMPS)/benchmarks")[0] == "$(STAMPS)/package"
    for target in ("test-python", "validate"):
        assert prerequisites(target)[:2] == ["machine", "$(STAMPS)/benchmarks"], target
    # Who runs simulations needs no benchmarks.
    assert prerequisites("run") == ["$(STAMPS)/package"]
    # It makes the package, with what comes after this.
    for target in ("setup", "test"):
        assert prerequisites(target) == ["machine", "$(STAMPS)/build-tools"], target
    assert prerequisites("test-cpp") == ["build-tests-cpp"]


def test_tests_check_the_bindings_against_the_stable_interface() -> None:
    """On Python 3.11, whose modules use all of the interface, nothing else would."""
    text = (ROOT / "CMakeLists.txt").read_text()
    assert "add_dependencies(tests check_stable_interface)" in text
    assert "ranvier_check_stable_interface()" in text
    check = (ROOT / "cmake/RanvierPython.cmake").read_text()
    assert 'find_python" --newest 3.12' in check
    assert "-DPy_LIMITED_API=0x030C0000" in check
    assert "BUILD) build/package --target tests" in MAKEFILE


def test_a_version_names_an_environment(tmp_path: Path) -> None:
    """As in make PYTHON=3.13, which finds an interpreter that is not on PATH."""
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    managed = tmp_path / "pyenv/versions/mine/bin"
    managed.mkdir(parents=True)
    program(managed / "python3", f'exec "{sys.executable}" "$@"')
    where = {"PYENV_ROOT": str(tmp_path / "pyenv")}
    found = call(TOOLS / "find_python", version, environment=where).stdout.strip()
    own = make_environment(tmp_path / "own", tmp_path / "own")
    # As in a virtual environment of the interpreter that was found; that of Debian has no pip of its own.
    (tmp_path / "pip.py").touch()
    program(own / "bin/python", f'PYTHONPATH="{tmp_path}" exec "{found}" "$@"')
    assert call(TOOLS / "environment_is_sound", own, version, environment=where).returncode == 0
    assert call(TOOLS / "environment_is_sound", own, "3.999", environment=where).returncode == 1


def test_of_what_make_does_side_by_side_one_builds() -> None:
    """Two that look at the machine for a build overwrite what the other has found."""
    side_by_side = re.findall(r"\$\(MAKE\) --no-print-directory (\S+) (?:>\S+ 2>&1 )?& ", MAKEFILE)
    assert side_by_side == ["$(STAMPS)/development", "$(STAMPS)/development", "lint"]  # of setup and test
    found = set(side_by_side)
    targets = set(re.findall(r"^([^\s:#]+):(?!=)", MAKEFILE, re.MULTILINE))
    while more := {name for target in found & targets for name in prerequisites(target)} - found:
        found |= more
    assert "$(STAMPS)/environment" in found
    assert not found & {"build/found", "$(STAMPS)/package"}


def found(**environment: str) -> dict[str, list[str]]:
    done = call(TOOLS / "describe_build_machine", sys.executable, environment=environment)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    return {
        "anew": [line for line in lines if line.startswith("anew: ")],
        "again": [line for line in lines if not line.startswith("anew: ")],
    }


def test_a_header_that_came_is_seen(tmp_path: Path) -> None:
    # A compiler for which there is a header when there is a file.
    compiler = program(tmp_path / "c++", f'[ -f {tmp_path}/there ] && echo "# 1 \\"{tmp_path}/hwloc.h\\" 1"')
    before = found(CXX=str(compiler))
    assert before == found(CXX=str(compiler))
    (tmp_path / "there").touch()
    after = found(CXX=str(compiler))
    assert after["again"] != before["again"]
    assert f'hwloc: # 1 "{tmp_path}/hwloc.h" 1' in after["again"]


def test_an_mpi_that_came_is_seen(tmp_path: Path) -> None:
    before = found()
    program(tmp_path / "mpicc", "")
    after = found(PATH=f"{tmp_path}:{os.environ['PATH']}")
    assert after["anew"] == before["anew"]
    assert f"MPI: {tmp_path}/mpicc" in after["again"]
    assert f"MPI: {tmp_path}/mpicc" not in before["again"]


@pytest.mark.parametrize("name", ["CXX", "CXXFLAGS", "LDFLAGS", "CMAKE_ARGS"])
def test_other_tools_build_anew(tmp_path: Path, name: str) -> None:
    other = str(program(tmp_path / "compiler", "echo a compiler")) if name == "CXX" else "-Dnothing"
    assert found()["anew"] != found(**{name: other})["anew"]


def test_a_new_version_of_the_compiler_builds_anew(tmp_path: Path) -> None:
    compiler = program(tmp_path / "compiler", "echo version 1")
    before = found(CXX=str(compiler))
    program(compiler, "echo version 2")
    assert found(CXX=str(compiler))["anew"] != before["anew"]


def make_environment(folder: Path, made_at: Path, python: str = sys.executable) -> Path:
    """Return what looks like a virtual environment of this Python."""
    (folder / "bin").mkdir(parents=True)
    (folder / "pyvenv.cfg").write_text(f"command = /usr/bin/python3 -m venv {made_at}\n")
    program(folder / "bin/python", f'exec "{python}" "$@"')
    return folder


def test_environments_that_are_sound(tmp_path: Path) -> None:
    sound = make_environment(tmp_path / "sound", tmp_path / "sound")
    assert call(TOOLS / "environment_is_sound", sound).returncode == 0
    assert call(TOOLS / "environment_is_sound", sound, sys.executable).returncode == 0


def test_environments_that_are_not_sound(tmp_path: Path) -> None:
    def is_sound(*arguments: str | Path) -> bool:
        return call(TOOLS / "environment_is_sound", *arguments).returncode == 0

    assert not is_sound(tmp_path / "missing")
    assert not is_sound(make_environment(tmp_path / "moved", tmp_path / "elsewhere/moved"))
    # Its end is the end of another folder's name.
    assert not is_sound(make_environment(tmp_path / "end", Path(f"/elsewhere{tmp_path}/end")))
    without_python = make_environment(tmp_path / "without", tmp_path / "without", python="/no/such/python")
    assert not is_sound(without_python)
    # The system has got another Python, whose folder of packages is another one.
    updated = make_environment(tmp_path / "updated", tmp_path / "updated")
    program(updated / "bin/python", f'exec "{sys.executable}" -I -S "$@"')
    assert not is_sound(updated)
    # Another Python is asked for.
    other = program(tmp_path / "python", f"echo yes 4.0 {tmp_path}/python")
    assert not is_sound(make_environment(tmp_path / "another", tmp_path / "another"), other)


def test_what_only_helps_is_not_needed(tmp_path: Path) -> None:
    """As for a user who is not root, on a machine without packages of Debian."""
    for name in ("dirname", "tr", "sed", "id"):
        path = shutil.which(name)
        assert path is not None
        (tmp_path / name).symlink_to(path)
    program(tmp_path / "c++", "exit 1")
    environment = {"PATH": str(tmp_path), "CXX": str(tmp_path / "c++")}
    shell = "/bin/sh"
    done = call(shell, TOOLS / "prepare_machine", "perhaps", "hwloc", environment=environment)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    done = call(shell, TOOLS / "prepare_machine", "hwloc", environment=environment)
    assert done.returncode == 1
    assert "hwloc 2 with its header" in done.stderr
