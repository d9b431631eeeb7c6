"""What systems of continuous integration are told to do can be done: the files are sound, and their targets exist."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest

from repository import ROOT

WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
MAKEFILE = (ROOT / "Makefile").read_text()
PYPROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())


def targets() -> set[str]:
    """Return the targets of the Makefile, also those of each sanitizer."""
    (sanitizers,) = re.findall(r"^SANITIZERS := (.*)$", MAKEFILE, re.MULTILINE)
    return {*re.findall(r"^([a-z-]+):", MAKEFILE, re.MULTILINE), *(f"sanitize-{name}" for name in sanitizers.split())}


def called(text: str) -> list[str]:
    """Return the targets that make is called with, with each value of the job's matrix."""
    values = {name: re.findall(r"[\w.+-]+", row) for name, row in re.findall(r"^ {8}(\w+): \[(.*)\]$", text, re.M)}
    found = []
    for target in re.findall(r"\bmake ((?:[a-z-]|\$\{\{.*?\}\})+)", text):
        name = re.search(r"\$\{\{ matrix\.(\w+) \}\}", target)
        found.extend([target.replace(name[0], value) for value in values[name[1]]] if name else [target])
    return found


def test_there_are_workflows() -> None:
    assert [path.name for path in WORKFLOWS] == ["tests.yml", "validation.yml", "wheels.yml"]


@pytest.mark.parametrize("path", [*WORKFLOWS, ROOT / ".ci/run"], ids=lambda path: path.name)
def test_targets_exist(path: Path) -> None:
    found = called(path.read_text())
    assert found
    assert set(found) <= targets()


def test_a_target_that_does_not_exist_is_found() -> None:
    text = (
        "        kind: [thread, magic]\n  - run: make sanitize-${{ matrix.kind }}\n  - run: make no-such-target A=b\n"
    )
    assert set(called(text)) - targets() == {"sanitize-magic", "no-such-target"}


def test_everything_is_covered() -> None:
    tests = (ROOT / ".github/workflows/tests.yml").read_text()
    for word in ("g++", "clang++", "mpich", "openmpi", '"3.11"', '"3.12"', '"3.13"', '"3.14"'):
        assert word in tests
    assert {target for target in called(tests) if target.startswith("sanitize")} == {
        target for target in targets() if target.startswith("sanitize-")
    }


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.name)
def test_files_that_are_named_exist(path: Path) -> None:
    text = path.read_text()
    assert "\t" not in text
    for name in re.findall(r"\b(?:tools|cmake|tests)/\w+", text):
        assert (ROOT / name).exists(), name


def test_cibuildwheel_tries_what_it_builds() -> None:
    settings = PYPROJECT["tool"]["cibuildwheel"]
    (script,) = re.findall(r"\{project\}/(\S+)", settings["test-command"])
    assert (ROOT / script).is_file()
    # One wheel for each version before that of the stable interface, and one with it.
    stable = PYPROJECT["tool"]["scikit-build"]["wheel"]["py-api"]
    oldest = PYPROJECT["project"]["requires-python"].removeprefix(">=3.")
    expected = {f"cp3{minor}-manylinux_*" for minor in range(int(oldest), int(stable.removeprefix("cp3")) + 1)}
    assert set(settings["build"]) == expected
