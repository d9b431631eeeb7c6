"""The stored type stub of ranvier._core is that of its bindings: a change of the interface shows in the diff."""

import subprocess
import sys
from pathlib import Path

from ranvier import _core

ROOT = Path(__file__).parents[2]


def test_stored_stub_is_up_to_date(tmp_path: Path) -> None:
    fresh = tmp_path / "_core.pyi"
    generate = ["nanobind.stubgen", "--quiet", "--module", _core.__name__, "--exclude-docstrings", "--exclude-values"]
    subprocess.run([sys.executable, "-m", *generate, "--output-file", fresh], check=True, cwd=tmp_path)
    settings = ROOT / "pyproject.toml"
    subprocess.run([sys.executable, "-m", "ruff", "format", "--quiet", "--config", settings, fresh], check=True)
    stored = ROOT / "python/ranvier/_core.pyi"
    assert stored.read_text() == fresh.read_text(), "the bindings changed: make stub"
