"""What the pages of the site say can be done: their programs run, their commands exist, and nothing is left out.

`make docs` makes the site itself, runs the examples for it, and stops at a link that leads nowhere.
"""

from __future__ import annotations

import importlib.util
import pkgutil
import re
import shlex
import sys
from pathlib import Path
from types import ModuleType

import pytest

import ranvier as rv
from ranvier import _core
from ranvier.command_line import make_parser
from ranvier.commands.keys import shipped_networks
from ranvier.equations.neurons import NAMES
from repository import ROOT

DOCS = ROOT / "docs"
PAGES = sorted(
    path for path in DOCS.rglob("*.md") if not {"gallery", "generated", "_build"} & set(path.relative_to(DOCS).parts)
)


def blocks(path: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", path.read_text(), re.MULTILINE | re.DOTALL)


def extension(name: str) -> ModuleType:
    """Return a module of those with which the site is made."""
    spec = importlib.util.spec_from_file_location(name, DOCS / f"_ext/{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def generated(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the pages that are made from descriptions."""
    folder = tmp_path_factory.mktemp("generated")
    extension("described_pages").write_pages(folder)
    return folder


def test_there_is_a_page_for_all_that_has_a_description(generated: Path) -> None:
    for kind, names in {
        "neurons": [*(model.name for model in _core.neuron_models()), *NAMES],
        "stimulators": [model.name for model in _core.stimulator_models()],
        "rules": [rule.name for rule in _core.rules()],
        "networks": list(shipped_networks()),
        "commands": ["run", "predict", "models", "compile", "info", "bench", "bench_exchange", "paper"],
    }.items():
        index = (generated / kind / "index.md").read_text()
        for name in names:
            assert f"]({name}.md)" in index
            assert (generated / kind / f"{name}.md").read_text().startswith("# ")


def test_pages_of_models_hold_their_parameters(generated: Path) -> None:
    page = (generated / "neurons/iaf_psc_exp.md").read_text()
    assert "| `tau_m` | 10 | ms | &gt; 0 | Time constant of the membrane |" in page.replace("| > 0 |", "| &gt; 0 |")
    assert "## Equations" in page
    assert "| `stealing` |" in (generated / "options.md").read_text()
    assert "InsufficientMemoryError" in (generated / "errors.md").read_text()


def test_what_is_gone_has_no_page(tmp_path: Path) -> None:
    (tmp_path / "neurons").mkdir()
    (tmp_path / "neurons/gone.md").write_text("# gone")
    extension("described_pages").write_pages(tmp_path)
    assert not (tmp_path / "neurons/gone.md").exists()
    assert (tmp_path / "neurons/iaf_psc_exp.md").exists()


def test_all_that_can_be_imported_is_in_the_reference() -> None:
    listed = set(re.findall(r"^   (\w+)$", (DOCS / "reference/python.md").read_text(), re.MULTILINE))
    models = {
        *NAMES,
        *rv.cells.models.__all__,
        *rv.models.NEURON_MODELS,
        *rv.models.SYNAPSE_MODELS,
        *rv.models.STIMULATORS,
    }
    # Bases of classes that are listed, and modules with pages of their own.
    assert set(rv.__all__) - listed - models - {"__source_revision__", "__version__", "errors"} == set()
    assert [name for name in listed if not hasattr(rv, name) and name != "mpi"] == []


def test_constructors_that_nobody_calls_are_not_shown() -> None:
    signatures = extension("signatures")
    assert set(rv.__all__) >= signatures.MADE_FOR_USERS
    for name in rv.__all__:
        shown = signatures.shown_signature(None, "class", f"ranvier.{name}", None, None, "(network, core)", None)
        assert (shown == ("", None)) == (name in signatures.MADE_FOR_USERS)
    # Their docstrings have no parameters, but attributes.
    for name in signatures.MADE_FOR_USERS:
        assert "Parameters\n" not in (getattr(rv, name).__doc__ or ""), name


def docstrings_for_users() -> dict[str, str]:
    things = {name: getattr(rv, name) for name in rv.__all__ if not name.startswith("__")}
    members = {
        f"{name}.{key}": value
        for name, thing in things.items()
        for key, value in vars(thing).items()
        if isinstance(thing, type) and not key.startswith("_")
    }
    return {name: thing.__doc__ or "" for name, thing in {**things, **members}.items()}


def test_what_docstrings_name_has_a_page() -> None:
    reference = (DOCS / "reference/python.md").read_text()
    for name, text in docstrings_for_users().items():
        assert "docs/" not in text, f"{name} names a file that the site does not have"
        for path in re.findall(r"`ranvier((?:\.\w+)+)`", text):
            pkgutil.resolve_name(f"ranvier{path}")
            pages = [path[1:].rsplit(".", count)[0] for count in range(3)]
            assert any(f"   {page}\n" in reference for page in pages), f"{name} names ranvier{path}, which has no page"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: str(path.relative_to(DOCS)))
def test_programs_compile_and_commands_exist(path: Path) -> None:
    for text in blocks(path, "python"):
        compile(text, str(path), "exec")
    parser = make_parser()
    for line in "".join(blocks(path, "sh")).splitlines():
        words = shlex.split(line, comments=True)
        while (words and words[0] in ("mpiexec", "srun", "-n")) or (words and words[0].isdigit()):
            words = words[1:]
        if words[:1] == ["ranvier"]:
            # It ends the program where a word is none that the command knows.
            assert parser.parse_args(words[1:]).execute


IN_ROOT = [ROOT / f"{name}.md" for name in ("README", "CHANGELOG", "CONTRIBUTING")]


@pytest.mark.parametrize("path", [*PAGES, *IN_ROOT], ids=lambda path: path.stem)
def test_files_of_the_sources_that_pages_name_exist(path: Path) -> None:
    folders = "benchmarks|bindings|cmake|core|docs|examples|include|python|tests|tools"
    # Names in capitals, such as NAME.toml, are to be replaced.
    for name in re.findall(rf"`((?:{folders})/[\w./]+)`", path.read_text()):
        assert (ROOT / name).exists() or re.search(r"/[A-Z]+\.", name), name


# The tour, which `test_readme` runs, begins with them.
@pytest.mark.thorough
def test_the_first_steps_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(sys.modules, "start", ModuleType("start"))
    names: dict[str, object] = {}
    for text in blocks(DOCS / "start.md", "python"):
        exec(text, names)
    rates = names["data"].mean_rates()  # type: ignore[attr-defined]
    assert all(5.0 < rate < 40.0 for rate in rates.values())
    assert (tmp_path / "raster.png").stat().st_size > 10_000


@pytest.mark.parametrize("page", ["concepts/neurons.md", "concepts/equations.md"])
def test_the_programs_of_a_page_run_one_after_the_other(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, text in re.findall(r"`(\w+\.toml)`:\n\n```toml\n(.*?)^```$", (DOCS / page).read_text(), re.M | re.S):
        Path(name).write_text(text)
    names: dict[str, object] = {"__name__": "page"}
    for text in blocks(DOCS / page, "python"):
        exec(text, names)
    assert isinstance(names["net"], rv.Network)


def test_the_guide_has_all_methods_of_exchange() -> None:
    text = (DOCS / "guides/processes.md").read_text()
    (table,) = re.findall(r"^\| method \| how \|\n(.*?)\n\n", text, re.M | re.S)
    assert set(re.findall(r"^\| `(\w+)`", table, re.M)) == set(_core.exchanges())


def test_examples_have_a_place_in_the_gallery() -> None:
    text = (DOCS / "_ext/gallery.py").read_text()
    listed = re.findall(r'^    "(\w+)",$', text, re.MULTILINE)
    there = sorted(path.stem for path in (ROOT / "examples").glob("*.py") if not path.stem.endswith("_on_ranks"))
    assert sorted(listed) == there
