"""The sources follow the arrows of the architecture: a layer uses those below it, and nothing else."""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]

# Layer of the core -> the layers that it may include.
CORE_ARROWS = {
    "base": set(),
    "parallel": {"base"},
    "comm": {"base"},
    "connect": {"parallel", "base"},
    "models": {"base"},
    "engine": {"models", "connect", "comm", "parallel", "base"},
}

# Headers that CMake makes.
GENERATED_HEADERS = {"base/build_info.hpp", "base/source_revision.hpp"}

QUOTED_INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
ANY_INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)


def sources(folder: Path) -> Iterator[Path]:
    """Yield the C++ files below a folder."""
    return (path for path in sorted(folder.rglob("*")) if path.suffix in {".hpp", ".cpp"})


def wrong_includes(core: Path, arrows: Mapping[str, set[str]]) -> list[str]:
    """Return a line for each include below `core` that no arrow allows, or that leads nowhere."""
    wrong = []
    for path in sources(core):
        name = path.relative_to(core)
        layer = name.parts[0]
        for include in QUOTED_INCLUDE.findall(path.read_text()):
            used = include.split("/")[0]
            if used != layer and used not in arrows.get(layer, set()):
                wrong.append(f"{name} includes {include}: {layer} does not know {used}")
            elif include not in GENERATED_HEADERS and not (core / include).is_file():
                wrong.append(f"{name} includes {include}, which does not exist (includes are relative to core/)")
    return wrong


def test_core_includes_follow_the_arrows() -> None:
    assert wrong_includes(ROOT / "core", CORE_ARROWS) == []


@pytest.mark.parametrize(
    ("include", "complaint"),
    [
        ("engine/simulation.hpp", "base does not know engine"),
        ("ids.hpp", "base does not know ids.hpp"),
        ("base/nowhere.hpp", "which does not exist"),
    ],
)
def test_a_wrong_include_is_found(tmp_path: Path, include: str, complaint: str) -> None:
    for name in ("base/ids.hpp", "engine/simulation.hpp"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("#pragma once\n")
    (tmp_path / "base/ids.cpp").write_text(f'#include "base/ids.hpp"\n#include "{include}"\n')
    (found,) = wrong_includes(tmp_path, CORE_ARROWS)
    assert complaint in found


def test_every_folder_of_the_core_is_a_layer() -> None:
    assert {path.name for path in (ROOT / "core").iterdir()} == set(CORE_ARROWS)


def test_cmake_links_along_the_same_arrows() -> None:
    declared = re.findall(
        r"^ranvier_add_layer\((\w+)(?: USES ([\w ]+))?\)", (ROOT / "CMakeLists.txt").read_text(), re.M
    )
    assert {layer: set(uses.split()) for layer, uses in declared} == CORE_ARROWS


def test_the_core_does_not_know_python() -> None:
    knowing = [
        f"{path.relative_to(ROOT)}: {include}"
        for path in sources(ROOT / "core")
        for include in ANY_INCLUDE.findall(path.read_text())
        if include == "Python.h" or include.startswith(("nanobind", "numpy"))
    ]
    assert knowing == []
