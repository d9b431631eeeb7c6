"""Which wheels are built and tried, with the Pythons that a machine has. `make try-wheel` builds and tries them."""

from __future__ import annotations

import importlib.machinery
import importlib.util
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

TOOLS = Path(__file__).parents[2] / "tools"


def load(name: str) -> ModuleType:
    loader = importlib.machinery.SourceFileLoader(name, str(TOOLS / name))
    spec = importlib.util.spec_from_loader(name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def python(folder: Path, version: str) -> str:
    """Return what looks like a Python of a version."""
    path = folder / f"python{version}"
    path.write_text(f"#!/bin/sh\necho {version.replace('.', ' ')}\n")
    path.chmod(0o755)
    return str(path)


def test_one_wheel_serves_all_later_versions(tmp_path: Path) -> None:
    found = {version: python(tmp_path, version) for version in ("3.11", "3.12", "3.13", "3.14")}
    without_headers = python(tmp_path, "")
    choose = load("build_wheels").choose
    candidates = ["/no/such/python", without_headers, found["3.11"], found["3.13"], found["3.12"], found["3.14"]]
    assert choose(candidates) == {"cp311": found["3.11"], "abi3": found["3.13"]}
    assert choose(candidates[:3]) == {"cp311": found["3.11"]}
    assert choose(candidates[:2]) == {}


def test_this_python_can_build_one() -> None:
    assert list(load("build_wheels").choose([sys.executable])) == [
        "abi3" if sys.version_info >= (3, 12) else f"cp3{sys.version_info.minor}"
    ]


@pytest.mark.parametrize(
    ("tool", "complaint"), [("build_wheels", "None of /no/such/python"), ("try_wheels", "no Python")]
)
def test_where_there_is_no_python(tmp_path: Path, tool: str, complaint: str) -> None:
    (tmp_path / "ranvier-0.0.tar.gz").touch()
    command = [sys.executable, str(TOOLS / tool), str(tmp_path), "/no/such/python"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert complaint in done.stderr
