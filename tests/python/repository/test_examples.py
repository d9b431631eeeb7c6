"""The examples run, and each draws or prints something. `make docs` and `make validate` run all of them."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from mpi_runs import installation, run_python
from ranvier.processes.mpi_library import MPICH
from repository import ROOT
from thorough_cases import quick_if

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))
ON_RANKS = [path for path in EXAMPLES if path.stem.endswith("_on_ranks")]

# Each figure that an example leaves open or gives a name is saved, as the gallery does.
SAVING = """
import runpy, sys
from matplotlib import pyplot
from matplotlib.figure import Figure
names = runpy.run_path(sys.argv[1])
figures = [pyplot.figure(number) for number in pyplot.get_fignums()]
figures += [value for value in names.values() if isinstance(value, Figure)]
for number, figure in enumerate(figures):
    figure.savefig(f"figure{number}.png")
"""


def test_there_are_examples() -> None:
    assert len(EXAMPLES) >= 8
    assert ON_RANKS


@pytest.mark.parametrize(
    "path",
    quick_if(
        lambda path: path.stem == "statistics_of_spikes",
        (pytest.param(path, id=path.stem) for path in EXAMPLES if path not in ON_RANKS),
    ),
)
def test_example(path: Path, tmp_path: Path) -> None:
    environment = {**os.environ, "MPLBACKEND": "agg"}
    command = [sys.executable, "-W", "error::UserWarning", "-c", SAVING, str(path)]
    done = subprocess.run(command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr
    assert list(tmp_path.glob("figure*.png"))


@pytest.mark.thorough
@pytest.mark.parametrize("path", ON_RANKS, ids=lambda path: path.stem)
def test_example_on_ranks(path: Path, tmp_path: Path) -> None:
    digests = []
    for ranks in (1, 2):
        done = run_python(installation(MPICH, "wheel"), ranks, path, folder=tmp_path)
        assert done.status == 0, done.errors
        digests += re.findall(r"digest (\w+)", done.outputs[0])
        assert all(output == "" for output in done.outputs[1:])
    assert len(digests) == 2
    assert digests[0] == digests[1]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_each_example_says_what_it_is(path: Path) -> None:
    text = path.read_text()
    assert text.startswith('"""')
    if path not in ON_RANKS:
        title, underline = text.splitlines()[1:3]
        assert underline == "=" * len(title)
