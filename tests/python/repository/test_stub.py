"""The stored type stubs are those of the bindings and the models: a change of the interface shows in the diff."""

import subprocess
import sys
from pathlib import Path

from ranvier import _core
from repository import ROOT


def test_stored_stub_is_up_to_date(tmp_path: Path) -> None:
    fresh = tmp_path / "_core.pyi"
    generate = ["nanobind.stubgen", "--quiet", "--module", _core.__name__, "--exclude-docstrings", "--exclude-values"]
    subprocess.run([sys.executable, "-m", *generate, "--output-file", fresh], check=True, cwd=tmp_path)
    settings = ROOT / "pyproject.toml"
    subprocess.run([sys.executable, "-m", "ruff", "format", "--quiet", "--config", settings, fresh], check=True)
    stored = ROOT / "python/ranvier/_core.pyi"
    assert stored.read_text() == fresh.read_text(), "the bindings changed: make stub"


def test_stored_stubs_of_models_and_names_are_up_to_date(tmp_path: Path) -> None:
    subprocess.run([sys.executable, ROOT / "tools/write_stubs.py", tmp_path], check=True)
    fresh = {path.relative_to(tmp_path): path.read_text() for path in tmp_path.rglob("*.pyi")}
    stored = {path: (ROOT / "python/ranvier" / path).read_text() for path in fresh}
    assert len(fresh) == 5
    assert stored == fresh, "the models or the names of the package changed: make stub"
