"""The sources follow the arrows of the architecture: a layer uses those below it, and nothing else."""

import ast
import functools
import os
import re
import shutil
import subprocess
import sys
import warnings
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from repository import ROOT

# Layer of the core -> the layers that it may include.
CORE_ARROWS = {
    "base": set(),
    "parallel": {"base"},
    "comm": {"base"},
    "connect": {"program", "comm", "parallel", "base"},
    "fmm": {"parallel", "base"},
    "program": {"base"},
    "device": {"program", "base"},
    "models": {"program", "connect", "base"},
    "cable": {"models", "device", "program", "base"},
    "network": {"models", "connect", "base"},
    "engine": {"network", "models", "connect", "comm", "device", "fmm", "parallel", "base"},
}

# Folder of a layer -> the folders of the same layer that it may include, besides what lies in no folder.
FOLDER_ARROWS: dict[str, set[str]] = {
    "parallel/tasks": set(),
    "device/kernel": set(),
    "device/backend": {"device/kernel"},
    "device/emulator": {"device/backend", "device/kernel"},
    "device/cuda": {"device/backend", "device/kernel"},
    "comm/exchange": set(),
    "comm/mpi": set(),
    "comm/progress": {"comm/exchange"},
    "connect/space": set(),
    "connect/placement": {"connect/space"},
    "connect/rules": {"connect/space"},
    "connect/tables": {"connect/placement", "connect/rules", "connect/space"},
    "connect/plasticity": {"connect/tables"},
    "connect/routing": {"connect/placement", "connect/tables"},
    "models/neurons": set(),
    "models/synapses": set(),
    "models/stimulators": set(),
    "models/equations": {"models/synapses"},
    "cable/kernels": set(),
    "cable/mechanisms": {"cable/kernels"},
    "cable/cell": {"cable/kernels", "cable/mechanisms"},
    "cable/plans": {"cable/cell", "cable/kernels", "cable/mechanisms"},
    "cable/groups": {"cable/plans", "cable/cell", "cable/kernels", "cable/mechanisms"},
    "network/lowering": set(),
    "engine/shard": set(),
    "engine/fields": {"engine/shard"},
    "engine/stepping": {"engine/shard"},
    "engine/devices": {"engine/shard", "engine/stepping"},
    "engine/forecast": {"engine/shard", "engine/fields", "engine/devices"},
    "engine/queries": {"engine/shard", "engine/forecast"},
    "engine/simulation": {
        "engine/shard",
        "engine/devices",
        "engine/fields",
        "engine/forecast",
        "engine/queries",
        "engine/stepping",
    },
    "engine/state": {"engine/shard", "engine/simulation"},
}

# Headers that CMake makes.
GENERATED_HEADERS = {"base/build_info.hpp", "base/source_revision.hpp"}

# Lines of a function and of a file above which a warning asks whether it has more than one subject.
LONG_FUNCTION, LONG_FILE = 100, 1000

QUOTED_INCLUDE = re.compile(r'^\s*#\s*include\s*"([^"]+)"', re.MULTILINE)
ANY_INCLUDE = re.compile(r'^\s*#\s*include\s*[<"]([^>"]+)[>"]', re.MULTILINE)


def sources(folder: Path) -> Iterator[Path]:
    """Yield the C++ files below a folder."""
    return (path for path in sorted(folder.rglob("*")) if path.suffix in {".hpp", ".cpp"})


def files_of_layers(root: Path) -> Iterator[tuple[str, Path]]:
    """Yield each file of the core with its name relative to core/ or to include/ranvier/."""
    for folder in (root / "core", root / "include/ranvier"):
        for path in sources(folder):
            yield str(path.relative_to(folder)), path


def wrong_includes(root: Path, arrows: Mapping[str, set[str]]) -> list[str]:
    """Return a line for each include without an arrow or a file, and for private ones in public headers."""
    wrong = []
    for name, path in files_of_layers(root):
        layer = name.split("/")[0]
        is_public = "include" in path.relative_to(root).parts
        for include in QUOTED_INCLUDE.findall(path.read_text()):
            header = include.removeprefix("ranvier/")
            used = header.split("/")[0]
            folder = "include/ranvier" if header != include else "core"
            if used != layer and used not in arrows.get(layer, set()):
                wrong.append(f"{name} includes {include}: {layer} does not know {used}")
            elif include not in GENERATED_HEADERS and not (root / folder / header).is_file():
                wrong.append(f"{name} includes {include}, which does not exist")
            elif is_public and header == include:
                wrong.append(f"{name} includes {include}: the public header needs a private one")
    return wrong


def test_core_includes_follow_the_arrows() -> None:
    assert wrong_includes(ROOT, CORE_ARROWS) == []


@pytest.mark.parametrize(
    ("include", "complaint"),
    [
        ("engine/shard.hpp", "base does not know engine"),
        ("ranvier/engine/simulation.hpp", "base does not know engine"),
        ("ids.hpp", "base does not know ids.hpp"),
        ("base/nowhere.hpp", "which does not exist"),
        ("base/ids.hpp", "which does not exist"),
        ("ranvier/base/hidden.hpp", "which does not exist"),
    ],
)
def test_a_wrong_include_is_found(tmp_path: Path, include: str, complaint: str) -> None:
    for name in ("include/ranvier/base/ids.hpp", "core/base/hidden.hpp", "core/engine/shard.hpp"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("#pragma once\n")
    (tmp_path / "core/base/ids.cpp").write_text(f'#include "ranvier/base/ids.hpp"\n#include "{include}"\n')
    (found,) = wrong_includes(tmp_path, CORE_ARROWS)
    assert complaint in found


def test_a_private_header_in_a_public_one_is_found(tmp_path: Path) -> None:
    for name in ("include/ranvier/base", "core/base"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "core/base/hidden.hpp").write_text("#pragma once\n")
    (tmp_path / "include/ranvier/base/ids.hpp").write_text('#include "base/hidden.hpp"\n')
    (found,) = wrong_includes(tmp_path, CORE_ARROWS)
    assert "needs a private one" in found


def without_prefix(include: str) -> str:
    """Return the name of a public or private header relative to its tree."""
    return include.removeprefix("ranvier/")


def folder_of(name: str) -> str:
    """Return the folder of a file named relative to the core, empty for one that lies in its layer itself."""
    folder = name.rpartition("/")[0]
    return folder if "/" in folder else ""


def test_includes_follow_the_arrows_between_the_folders_of_a_layer() -> None:
    folders, wrong = set(), []
    for name, path in files_of_layers(ROOT):
        own = folder_of(name)
        folders.add(own)
        for include in map(without_prefix, QUOTED_INCLUDE.findall(path.read_text())):
            used = folder_of(include)
            same_layer = include.split("/")[0] == name.split("/")[0]
            # What lies in the layer itself, such as the communicator, stands below its folders.
            if used != own and same_layer and used not in FOLDER_ARROWS.get(own, set()) | {""}:
                wrong.append(f"{name} includes {include}: {own} does not know {used}")
    assert wrong == []
    assert folders - {""} == set(FOLDER_ARROWS)


def test_no_arrow_between_folders_closes_a_circle() -> None:
    """Each folder stands before those that use it, so there is an order in which all can be read."""
    read: set[str] = set()
    for folder, used in FOLDER_ARROWS.items():
        assert used <= read, folder
        read.add(folder)


def test_every_folder_of_the_core_is_a_layer() -> None:
    assert {path.name for path in (ROOT / "core").iterdir()} == set(CORE_ARROWS)


def test_cmake_links_along_the_same_arrows() -> None:
    declared = re.findall(
        r"^ranvier_add_layer\((\w+)(?: USES ([\w ]+))?\)", (ROOT / "CMakeLists.txt").read_text(), re.M
    )
    assert {layer: set(uses.split()) for layer, uses in declared} == CORE_ARROWS


def test_only_headers_that_do_not_change_are_precompiled() -> None:
    """A header of a layer would compile its whole layer whenever it changes; that of intrinsic functions never does."""
    listed = (ROOT / "cmake/RanvierPrecompiled.cmake").read_text()
    (standard,) = re.findall(r"^set\(RANVIER_STANDARD_HEADERS\n(.*?)\)$", listed, re.M | re.S)
    headers = re.sub("#.*", "", standard).split()
    assert [header for header in headers if not re.fullmatch(r"<\w+>", header)] == [
        '"${PROJECT_SOURCE_DIR}/core/base/x86_intrinsics.hpp"'
    ]
    asked = [ROOT / "tests/cpp/CMakeLists.txt", *(ROOT / "cmake").glob("*.cmake")]
    found = {
        header
        for path in asked
        for arguments in re.findall(r"^ *ranvier_precompile\(\S+ ((?!REUSE_FROM).*)\)$", path.read_text(), re.M)
        for header in arguments.split()
    }
    assert found == {"${RANVIER_STANDARD_HEADERS}", "<gtest/gtest.h>"}


COMMENT_OR_LITERAL = re.compile(
    r"""//[^\n]* | /\*.*?\*/ | R"(\w*)\(.*?\)\1" | "(?:\\.|[^"\\\n])*" | (?<!\w)'(?:\\.|[^'\\\n])+' | ^[ ]*\#[^\n]*""",
    re.VERBOSE | re.DOTALL | re.MULTILINE,
)


def function_lengths(text: str) -> Iterator[tuple[str, int]]:
    """Yield the name and the number of lines of each function that a C++ file defines, lambdas in it included."""
    code = COMMENT_OR_LITERAL.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), text)
    scopes: list[tuple[str, str, int]] = []  # kind, what stands before the brace, where that begins
    begin = 0
    for found in re.finditer(r"[{};]", code):
        at_top = all(kind == "scope" for kind, _, _ in scopes)
        if found[0] == "{":
            head = code[begin : found.start()]
            if re.search(r"\b(namespace|class|struct|union|enum)\b[^()]*$", head):
                kind = "scope"
            else:
                kind = "function" if at_top and "(" in head else "other"
            scopes.append((kind, head.strip(), begin + len(head) - len(head.lstrip())))
        elif found[0] == "}":
            kind, head, first = scopes.pop()
            if kind == "function":
                name = re.search(r"([~\w]+)\s*\(", head)
                yield (name[1] if name else head), code.count("\n", first, found.start()) + 1
        begin = found.end()


def test_the_lengths_of_functions_are_found() -> None:
    text = """
    namespace a {
    struct B : C {
        explicit B(int x)  // not {
            : x_{x} {}
        template <class T>
        void run(T t) const {
            const auto f = [&] { return "}"; };
            for (;;) {
            }
        }
        int x_{0};
    };
    const Table table{
        {1, 2},
    };
    void nothing() {}
    }
    """
    assert list(function_lengths(text)) == [("B", 2), ("run", 6), ("nothing", 1)]


def test_long_files_and_functions_are_pointed_out() -> None:
    """Length is no fault: it asks whether a file or function has more than one subject."""
    found = 0
    for path in (each for folder in ("core", "include", "bindings", "tests/cpp") for each in sources(ROOT / folder)):
        text = path.read_text()
        long = {"the file": text.count("\n")} if text.count("\n") > LONG_FILE else {}
        lengths = dict(function_lengths(text))
        found += len(lengths)
        long |= {f"function {name}": lines for name, lines in lengths.items() if lines > LONG_FUNCTION}
        for what, lines in long.items():
            warnings.warn(f"{path.relative_to(ROOT)}: {what} has {lines} lines", stacklevel=1)
    assert found > 1000


def test_the_core_does_not_know_python() -> None:
    knowing = [
        f"{path.relative_to(ROOT)}: {include}"
        for _, path in files_of_layers(ROOT)
        for include in ANY_INCLUDE.findall(path.read_text())
        if include == "Python.h" or include.startswith(("nanobind", "numpy"))
    ]
    assert knowing == []


@pytest.fixture(scope="module")
def parallel_layer(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with copies of the sources that the layer `parallel` consists of and stands on."""
    folder = tmp_path_factory.mktemp("layer")
    for tree in ("core", "include/ranvier"):
        for layer in ("base", "parallel"):
            shutil.copytree(ROOT / tree / layer, folder / tree / layer)
    return folder


def compiler(layer: Path) -> list[str | Path]:
    return [os.environ.get("CXX", "c++"), "-std=c++20", "-pthread", f"-I{layer / 'include'}", f"-I{layer / 'core'}"]


def test_headers_of_the_parallel_layer_stand_alone(parallel_layer: Path) -> None:
    """The source of each includes it first; those that have none are compiled."""
    alone = []
    for name, header in files_of_layers(parallel_layer):
        if header.suffix == ".cpp" or not name.startswith("parallel/"):
            continue
        source = (parallel_layer / "core" / name).with_suffix(".cpp")
        if not source.exists():
            alone.append(header)
        else:
            assert without_prefix(ANY_INCLUDE.findall(source.read_text())[0]) == name
    assert alone
    call([*compiler(parallel_layer), "-fsyntax-only", "-x", "c++-header", *alone])


PROGRAM = """
#include <iostream>

#include "ranvier/parallel/pinning.hpp"
#include "ranvier/parallel/topology.hpp"

int main() {
    using namespace ranvier::parallel;
    const Topology machine = Topology::detect();
    for (const Place& place : place_threads(machine, 2, parse_pinning("compact"))) {
        std::cout << place.processor << "\\n";
    }
    std::cout << machine.note() << "\\n";
}
"""


@pytest.mark.thorough
def test_the_parallel_layer_stands_alone_without_hwloc(parallel_layer: Path, tmp_path: Path) -> None:
    """It and `base` are all that another program needs; examples/tree_reduction.cpp is one with hwloc."""
    layer = tmp_path / "layer"
    shutil.copytree(parallel_layer, layer)
    header = layer / "core/parallel/hwloc_library.hpp"
    header.write_text(header.read_text().replace("<hwloc.h>", "<hwloc-of-nobody.h>"))
    (tmp_path / "program.cpp").write_text(PROGRAM)
    # What knows hwloc is compiled anew, and the rest comes from the libraries of the build.
    knowing = [path for path in (layer / "core/parallel").rglob("*.cpp") if "hwloc_library.hpp" in path.read_text()]
    libraries = [ROOT / f"build/package/libranvier_{layer}.a" for layer in ("parallel", "base")]
    program = tmp_path / "program"
    call([*compiler(layer), "-o", program, tmp_path / "program.cpp", *knowing, *libraries, "-ldl"])
    *processors, note = call([program]).splitlines()
    assert {int(number) for number in processors} <= os.sched_getaffinity(0)
    assert len(processors) == 2
    assert note == "this package was built without the header of hwloc"


def call(command: list[str | Path]) -> str:
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stdout


@functools.cache
def imports(path: Path, package_root: Path) -> set[str]:
    """Return the full names of all that a Python file imports, also inside its functions."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            parts: list[str] = []
            if node.level:
                parts.extend(path.relative_to(package_root).parts[: -node.level])
            if node.module:
                parts.append(node.module)
            found.update(".".join([*parts, alias.name]) for alias in node.names)
    return found


def importers(package_root: Path, module: str) -> set[str]:
    """Return the files below a folder that import a module or something from it."""
    return {
        str(path.relative_to(package_root))
        for path in package_root.rglob("*.py")
        if any(f"{name}.".startswith(f"{module}.") for name in imports(path, package_root))
    }


@pytest.mark.parametrize(
    "statement",
    [
        "import ranvier.command_line",
        "from ranvier import command_line",
        "from ranvier.command_line import main",
        "from .. import command_line",
        "def later() -> None:\n    from ..command_line import main",
    ],
)
def test_an_import_is_found(tmp_path: Path, statement: str) -> None:
    (tmp_path / "ranvier/networks").mkdir(parents=True)
    (tmp_path / "ranvier/networks/other.py").write_text("from ranvier import command_lines\n")
    (tmp_path / "ranvier/networks/brunel.py").write_text(statement)
    assert importers(tmp_path, "ranvier.command_line") == {"ranvier/networks/brunel.py"}


def test_nothing_in_the_package_knows_its_command_line() -> None:
    assert importers(ROOT / "python", "ranvier.command_line") <= {"ranvier/__main__.py"}


@pytest.mark.parametrize("module", ["arbor", "brian2", "nest", "neuron", "ranvier_benchmarks"])
def test_only_benchmarks_know_other_simulators(module: str) -> None:
    """The package imports none of them, and `ranvier bench` loads the benchmarks by their name."""
    assert importers(ROOT / "python", module) == set()


@pytest.mark.parametrize(
    ("module", "late"),
    [
        ("ranvier", {"h5py", "matplotlib", "nest", "numpy", "ranvier._core", "rich", "scipy", "sympy"}),
        ("ranvier; ranvier.Simulation, ranvier.networks", {"h5py", "matplotlib", "nest", "rich", "scipy", "sympy"}),
        (
            "ranvier.command_line; ranvier.command_line.make_parser([])",
            {
                "h5py",
                "matplotlib",
                "nest",
                "numpy",
                "rich",
                "scipy",
                "sympy",
                "ranvier.network",
                "ranvier.commands.run",
            },
        ),
        (
            "ranvier.command_line; ranvier.command_line.make_parser()",
            {"matplotlib", "nest", "neuron", "arbor", "scipy"},
        ),
    ],
    ids=["package", "simulation", "commands", "options"],
)
def test_what_only_some_need_is_loaded_late(module: str, late: set[str]) -> None:
    """Importing takes no time for plots, chooses no plotting backend, and needs no other simulator."""
    code = f"import sys, {module}\nsys.exit(', '.join({late} & set(sys.modules)) or None)"
    subprocess.run([sys.executable, "-c", code], check=True)
