"""The neuron models that come with Ranvier as equations, one file each.

`ranvier.equations.files` reads the files. Names, units and defaults are those of NEST.
"""

from __future__ import annotations

from pathlib import Path

__all__ = ["NAMES", "file_of"]

_FOLDER = Path(__file__).parent

NAMES = tuple(sorted(path.stem for path in _FOLDER.glob("*.toml")))
"""Names of the models, which are those of the files."""


def file_of(name: str) -> Path:
    """Return the file of a model."""
    return _FOLDER / f"{name}.toml"
