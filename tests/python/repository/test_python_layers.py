"""The modules of the package import along arrows, without circles among modules and among rooms.

Imports that only type checkers see count too: a circle of names is a circle.
"""

from __future__ import annotations

import ast
import functools
import warnings
from collections.abc import Iterator, Mapping
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

from repository import ROOT

PACKAGE = ROOT / "python/ranvier"

# Room, a folder of the package or a module beside the folders -> rooms that it may import. All may import `errors`
# and `_core`.
ARROWS: dict[str, set[str]] = {
    "base": set(),
    "cells": {"base"},
    "channels": {"base", "cells", "equations"},
    "compiled": {"base", "equations"},
    "equations": {"base"},
    "populations": {"base", "cells", "space"},
    "models": {"base", "populations"},
    "nestml": {"base", "equations"},
    "network": {"base", "cells", "equations", "models", "populations", "recording", "space"},
    "recording": {"base", "populations"},
    "space": {"base"},
    "simulation": {
        *("base", "cells", "compiled", "equations", "models", "mpi", "network", "populations", "processes"),
        *("recording", "space", "state"),
    },
    "state": {"base"},
    "mpi": {"processes"},
    "processes": {"base"},
    "forecast": {"base", "figures", "models", "network", "populations", "processes", "simulation", "space"},
    "figures": {"base", "cells", "equations", "network", "populations", "recording", "simulation", "space"},
    "plot": {"figures"},
    "networks": {"base", "cells", "equations", "figures", "models", "network", "populations", "recording", "space"},
    # It loads what it offers when it is used.
    "": {"*"},
    # Users do not import these.
    "commands": {"*"},
    "command_line": {"commands"},
}
EVERYBODY = {"errors", "_core"}

# Lines of a function and of a file above which a warning asks whether it has more than one subject.
LONG_FUNCTION, LONG_FILE = 100, 1000


def module_of(path: Path, root: Path) -> str:
    """Return the full name of the module in a file."""
    parts = path.relative_to(root.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


@functools.cache
def tree_of(path: Path) -> ast.Module:
    """Return what a file contains, which several tests look at and none changes."""
    return ast.parse(path.read_text())


def imported(path: Path, root: Path, modules: set[str]) -> set[str]:
    """Return the modules of the package that a file imports, wherever in it."""
    found = set()
    for node in ast.walk(tree_of(path)):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            parts = list(path.relative_to(root.parent).parts[: -node.level]) if node.level else []
            base = ".".join([*parts, *([node.module] if node.module else [])])
            names = [f"{base}.{alias.name}" for alias in node.names]
        else:
            continue
        for name in names:
            # The name itself is a module, or something in one.
            found.add(name if name in modules else name.rpartition(".")[0])
    return found & modules


@functools.cache
def graph_of(root: Path) -> dict[str, set[str]]:
    """Return for each module of a package those that it imports."""
    files = {module_of(path, root): path for path in root.rglob("*.py")}
    known = {*files, f"{root.name}._core"}
    return {module: imported(path, root, known) - {module} for module, path in files.items()}


def circle_of(graph: Mapping[str, set[str]]) -> list[str]:
    """Return modules that import each other in a circle, or nothing."""
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        circle: list[str] = error.args[1]
        return circle
    return []


def folder_of(module: str) -> str:
    """Return the room of a module: its folder, or the module itself if it lies beside the folders."""
    parts = module.split(".")
    return parts[1] if len(parts) > 1 else ""


def rooms_of(graph: Mapping[str, set[str]]) -> dict[str, set[str]]:
    """Return for each room those that its modules import."""
    rooms: dict[str, set[str]] = {}
    for module, imports in graph.items():
        room = folder_of(module)
        rooms.setdefault(room, set()).update({folder_of(used) for used in imports} - {room})
    return rooms


def test_there_is_no_circle_among_the_modules() -> None:
    assert circle_of(graph_of(PACKAGE)) == []


def test_there_is_no_circle_among_the_rooms() -> None:
    rooms = rooms_of(graph_of(PACKAGE))
    assert circle_of(rooms) == []


def test_a_circle_among_rooms_is_found() -> None:
    # No module imports itself through others: only the rooms do.
    graph = {"p.a.x": {"p.b.x"}, "p.b.x": set(), "p.b.y": {"p.a.y"}, "p.a.y": set(), "p.c": {"p.a.x"}}
    assert circle_of(graph) == []
    assert set(circle_of(rooms_of(graph))) == {"a", "b"}


def test_imports_follow_the_arrows_between_the_folders() -> None:
    graph = graph_of(PACKAGE)
    assert {folder_of(module) for module in graph} - EVERYBODY == set(ARROWS)
    wrong = {
        f"{module} imports {used}"
        for module, imports in graph.items()
        for used in imports
        if folder_of(module) not in EVERYBODY
        and folder_of(used) not in {folder_of(module)} | EVERYBODY | ARROWS[folder_of(module)]
        and "*" not in ARROWS[folder_of(module)]
    }
    assert wrong == set()


def test_no_arrow_is_there_for_nothing() -> None:
    used: dict[str, set[str]] = {folder: set() for folder in ARROWS}
    for module, imports in graph_of(PACKAGE).items():
        used.setdefault(folder_of(module), set()).update(map(folder_of, imports))
    idle = {folder: arrows - used[folder] - {"*"} for folder, arrows in ARROWS.items()}
    assert {folder: arrows for folder, arrows in idle.items() if arrows} == {}


@pytest.mark.parametrize(
    "statement",
    ["import rooms.b", "from rooms import b", "from rooms.b import x", "if TYPE_CHECKING:\n    from .b import x"],
)
def test_a_circle_is_found(tmp_path: Path, statement: str) -> None:
    package = tmp_path / "rooms"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "a.py").write_text(statement)
    (package / "b.py").write_text("def later():\n    from rooms.a import y\n")
    assert set(circle_of(graph_of(package))) == {"rooms.a", "rooms.b"}


# ---- private names ---------------------------------------------------------------------------------------------------

# Reaches into what another folder keeps to itself. An entry goes when it is not needed any more, and none comes.
PRIVATE_REACHES: set[str] = set()


def private_reaches(root: Path) -> set[str]:
    """Return the private attributes that files reach for and that no file of their folder defines."""
    defined: dict[str, set[str]] = {}
    reached: dict[str, set[tuple[str, str]]] = {}
    for path in root.rglob("*.py"):
        folder = folder_of(module_of(path, root)) if path.parent != root else path.stem
        for node in ast.walk(tree_of(path)):
            names = defined.setdefault(folder, set())
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                names.add(node.name)
            elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                names.add(node.id)
            elif isinstance(node, ast.keyword) and node.arg:
                names.add(node.arg)
            elif isinstance(node, ast.Attribute) and node.attr.startswith("_") and not node.attr.startswith("__"):
                mine = isinstance(node.value, ast.Name) and node.value.id in ("self", "cls", "argparse")
                if mine or isinstance(node.ctx, ast.Store):
                    names.add(node.attr)
                else:
                    reached.setdefault(folder, set()).add((str(path.relative_to(root)), node.attr))
    return {
        f"{path}: {name}"
        for folder, all_names in reached.items()
        for path, name in all_names
        if name not in defined[folder]
    }


def test_nobody_reaches_into_another_folder() -> None:
    assert private_reaches(PACKAGE) == PRIVATE_REACHES


# ---- sizes -----------------------------------------------------------------------------------------------------------


def long_functions(path: Path) -> Iterator[tuple[str, int]]:
    """Yield the long functions of a file, with their numbers of lines without the docstring."""
    for node in ast.walk(tree_of(path)):
        if not isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) or node.end_lineno is None:
            continue
        lines = node.end_lineno - node.lineno + 1
        if ast.get_docstring(node, clean=False) is not None:
            first = node.body[0]
            lines -= (first.end_lineno or first.lineno) - first.lineno + 1
        if lines > LONG_FUNCTION:
            yield f"function {node.name}", lines


def test_long_functions_are_found(tmp_path: Path) -> None:
    path = tmp_path / "long.py"
    lines = "    x = 1\n" * LONG_FUNCTION
    path.write_text(f"def fits():\n{lines[10:]}\ndef long():\n    '''Do.\n\n    Much.\n    '''\n{lines}")
    assert list(long_functions(path)) == [("function long", LONG_FUNCTION + 1)]


def test_long_files_and_functions_are_pointed_out() -> None:
    """Length is no fault: it asks whether a file or function has more than one subject."""
    for path in sorted((ROOT / "python").rglob("*.py")):
        name = str(path.relative_to(ROOT))
        lines = len(path.read_text().splitlines())
        for what, count in [*([("the file", lines)] if lines > LONG_FILE else []), *long_functions(path)]:
            warnings.warn(f"{name}: {what} has {count} lines", stacklevel=1)
