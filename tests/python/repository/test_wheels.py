"""Which Pythons are found, and which wheels are built and tried with them. `make try-wheel` builds and tries wheels."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import os
import platform
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import all_trains
import machine_digests
import ranvier as rv
from repository import ROOT
from thorough_cases import only, quick_if

TOOLS = ROOT / "tools"
TOOLCHAIN = ROOT / "cmake" / "aarch64-linux-gnu.cmake"
THIS_VERSION = f"3.{sys.version_info.minor}"


def load(name: str, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    monkeypatch.syspath_prepend(TOOLS)
    loader = importlib.machinery.SourceFileLoader(name, str(TOOLS / name))
    spec = importlib.util.spec_from_loader(name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def python(path: Path, answer: str) -> str:
    """Return the path of a program that answers as a Python of a version that can be used does, or with a reason."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\necho '{f'yes {answer} {path}' if answer[0].isdigit() else f'no {answer}'}'\n")
    path.chmod(0o755)
    return str(path)


def find(home: Path, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run find_python where only this home and a folder `bin` in it have Pythons, beside those in /usr and /opt."""
    kept = {name: value for name, value in os.environ.items() if name in ("LANG", "LD_LIBRARY_PATH", "TMPDIR")}
    kept |= {"HOME": str(home), "PATH": f"{home}/bin:/usr/bin:/bin", **environment}
    return subprocess.run([TOOLS / "find_python", *arguments], env=kept, capture_output=True, text=True, timeout=60)


PLACES = [
    ".pyenv/versions/3.99.1",
    ".local/share/uv/python/cpython-3.99.1-linux-x86_64-gnu",
    "miniconda3",
    "miniforge3/envs/science",
    "anaconda3/envs/science",
    "micromamba/envs/science",
    ".asdf/installs/python/3.99.1",
    ".local/share/mise/installs/python/3.99",
    ".rye/py/cpython@3.99.1",
    ".local/share/pdm/python/cpython@3.99.1",
    ".local/share/hatch/pythons/3.99/python",
]


def test_pythons_of_version_managers_are_found(tmp_path: Path) -> None:
    versions = {f"3.{80 + number}": place for number, place in enumerate(PLACES)}
    expected = [f"{version} {python(tmp_path / place / 'bin/python3', version)}" for version, place in versions.items()]
    assert find(tmp_path, "--all").stdout.splitlines()[-len(PLACES) :] == expected


@pytest.mark.parametrize("place", only(PLACES[:1], PLACES))
def test_a_shim_that_runs_nothing_is_passed_over(tmp_path: Path, place: str) -> None:
    path = python(tmp_path / place / "bin/python3", "3.99")
    assert find(tmp_path, "--all").stdout.splitlines()[-1] == f"3.99 {path}"
    # A shim, which runs nothing unless its version is activated.
    (tmp_path / "bin").mkdir()
    shim = tmp_path / "bin/python3.99"
    shim.write_text("#!/bin/sh\necho 'pyenv: python3.99: command not found' >&2\nexit 127\n")
    shim.chmod(0o755)
    assert find(tmp_path, "python3.99").stdout.strip() == path


@pytest.mark.parametrize(
    ("name", "folder"),
    quick_if(
        lambda name, _: name in ("CONDA_PREFIX", "PYENV_ROOT"),
        [
            ("PYENV_ROOT", "versions/a"),
            ("UV_PYTHON_INSTALL_DIR", "a"),
            ("XDG_DATA_HOME", "uv/python/a"),
            ("ASDF_DATA_DIR", "installs/python/a"),
            ("MISE_DATA_DIR", "installs/python/a"),
            ("RYE_HOME", "py/a"),
            ("CONDA_PREFIX", "envs/a"),
            ("CONDA_PREFIX", "."),
            ("MAMBA_ROOT_PREFIX", "envs/a"),
        ],
    ),
)
def test_version_managers_elsewhere_are_found(tmp_path: Path, name: str, folder: str) -> None:
    path = python(tmp_path / "else where" / folder / "bin/python3", "3.99")
    found = find(tmp_path, "3.99", **{name: str(tmp_path / "else where")})
    assert Path(found.stdout.strip()) == Path(path)


def test_one_that_is_asked_for_is_the_only_one(tmp_path: Path) -> None:
    python(tmp_path / ".pyenv/versions/3.98.1/bin/python3", "3.98")
    for asked in ("3.97", "python3.97", "/no/such/python", "pypy3"):
        done = find(tmp_path, asked)
        assert (done.returncode, done.stdout) == (1, "")
        assert f"{asked} cannot build Ranvier. Tried:\n" in done.stderr
    # That of the asked version is told apart from one whose version begins with the same digits.
    python(tmp_path / ".pyenv/versions/3.9.1/bin/python3", "3.9")
    assert find(tmp_path, "3.9").stdout.strip().endswith("3.9.1/bin/python3")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("echo no is Python 3.10\\; 3.11 or newer is needed", "is Python 3.10; 3.11 or newer is needed"),
        ("echo something else", "is not Python"),
        ("exit 3", "does not run: "),
        ("echo broken >&2; exit 1", "does not run: broken"),
        ("echo a warning >&2; echo no is pypy", "is pypy"),
    ],
)
def test_the_reason_is_given(tmp_path: Path, text: str, reason: str) -> None:
    path = tmp_path / "python3"
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    done = find(tmp_path, str(path))
    assert done.returncode == 1
    assert f"  {path} {reason}" in done.stderr


def test_this_python_is_found() -> None:
    done = find(Path.home(), "--with-version", sys.executable)
    assert done.stdout.strip() == f"{THIS_VERSION} {sys.executable}"


def test_one_without_headers_can_install_a_wheel(tmp_path: Path) -> None:
    # The headers of this one are elsewhere.
    path = tmp_path / "python3"
    path.write_text(
        "#!/bin/sh\nshift\n"
        f'code="import sysconfig; sysconfig.get_path = lambda name: \\"/no/such\\"\n$1"; shift\n'
        f'exec {sys.executable} -c "$code" "$@"\n'
    )
    path.chmod(0o755)
    done = find(tmp_path, str(path))
    assert "without the headers for extension modules (python3-dev)" in done.stderr
    assert find(tmp_path, str(path), RANVIER_PYTHON_HEADERS="no").stdout.strip() == sys.executable


def test_the_newest_is_found(tmp_path: Path) -> None:
    paths = [python(tmp_path / f".pyenv/versions/{version}/bin/python3", version) for version in ("3.99", "3.100")]
    assert find(tmp_path, "--newest", "3.98").stdout.strip() == paths[1]
    assert find(tmp_path, "--newest", "3.101").returncode == 1


def test_where_there_is_none(tmp_path: Path) -> None:
    done = find(tmp_path, "--newest", "3.999")
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr.startswith("No Python 3.999 or newer was found. Tried:")


def test_one_wheel_serves_all_later_versions(monkeypatch: pytest.MonkeyPatch) -> None:
    choose = load("build_wheels", monkeypatch).choose
    found = {version: f"/python{version}" for version in ("3.11", "3.12", "3.13", "3.14")}
    assert choose(found) == {"cp311": "/python3.11", "abi3": "/python3.12"}
    assert choose({"3.13": "/python3.13", "3.11": "/python3.11"}) == {"abi3": "/python3.13", "cp311": "/python3.11"}
    assert choose({"3.11": "/python3.11"}) == {"cp311": "/python3.11"}


def test_pythons_that_are_named_are_the_only_ones(monkeypatch: pytest.MonkeyPatch) -> None:
    found = load("pythons.py", monkeypatch).find([sys.executable, sys.executable])
    assert found == {THIS_VERSION: sys.executable}


@pytest.mark.parametrize("tool", ["build_wheels", "try_wheels"])
def test_one_that_is_named_and_cannot_be_used_is_an_error(tmp_path: Path, tool: str) -> None:
    (tmp_path / "ranvier-0.0.tar.gz").touch()
    command = [sys.executable, str(TOOLS / tool), str(tmp_path), sys.executable, "/no/such/python"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert done.stdout == ""
    assert "/no/such/python cannot build Ranvier. Tried:\n  /no/such/python does not exist" in done.stderr


def test_a_wheel_that_is_not_there_is_named(tmp_path: Path) -> None:
    command = [sys.executable, str(TOOLS / "try_wheels"), str(tmp_path), sys.executable]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert f"For Python {THIS_VERSION}, one wheel" in done.stderr


def test_wheels_for_other_machines_are_not_tried(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for machine in ("aarch64", "x86_64"):
        (tmp_path / f"ranvier-0.0-cp311-cp311-manylinux_2_34_{machine}.whl").touch()
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    found = load("try_wheels", monkeypatch).wheels_for_this_machine(tmp_path)
    assert [path.name for path in found] == ["ranvier-0.0-cp311-cp311-manylinux_2_34_aarch64.whl"]


def test_a_missing_cross_compiler_is_named(tmp_path: Path) -> None:
    (tmp_path / "CMakeLists.txt").write_text("cmake_minimum_required(VERSION 3.22)\nproject(nothing LANGUAGES CXX)\n")
    cmake = Path(sys.executable).with_name("cmake")
    command: list[str | Path] = [cmake, "-S", tmp_path, "-B", tmp_path / "build", "--toolchain", TOOLCHAIN]
    environment = {**os.environ, "PATH": str(tmp_path)}
    done = subprocess.run(command, env=environment, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert "There is no cross compiler for 64-bit ARM" in done.stderr


def test_machines_are_compared_with_all_models() -> None:
    """Those of cells, networks and trains contain more than one."""
    in_networks = {
        "interval_fire",
        "parrot_neuron",
        "static_synapse",
        "bernoulli",
        "saturating_nmda",
        *all_trains.TRAINS,
    }
    named = {word for name in machine_digests.SCENES for word in re.findall(r"\w+", name)}
    assert set(rv.models.__all__) <= named | in_networks
