"""The commands and programs of README.md, of the tour and of the guides run.

Blocks marked ``sh slow`` are not run as they stand: of their commands, those that run the microcircuit are run at a
small scale, and of the others it is checked that make or the command knows them. Those of mpiexec run for a short time,
with that of a wheel, benchmarks and predictions with small networks; `make validate` runs the benchmarks and other
commands that take more than a second, and predicts what stands there.
"""

from __future__ import annotations

import contextlib
import doctest
import inspect
import io
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from mpi_runs import installation, run_ranks
from ranvier.command_line import make_parser
from ranvier.processes.mpi_library import MPICH
from repository import ROOT
from thorough_cases import quick_if

README = (ROOT / "README.md").read_text()
CHANGELOG = (ROOT / "CHANGELOG.md").read_text()
GUIDES = ("install", "command_line", "user_files", "processes", "machine", "forecast")
PAGES = ("README.md", "docs/benchmarks.md", *(f"docs/guides/{guide}.md" for guide in GUIDES))


def read_blocks(page: str) -> list[tuple[str, str, str]]:
    """Return the language of each block, whether it is slow, and its text."""
    return re.findall(r"^```(\w+)( slow)?\n(.*?)^```$", (ROOT / page).read_text(), re.MULTILINE | re.DOTALL)


BLOCKS = [block for page in PAGES for block in read_blocks(page)]
SMALL = ["--set", "n_scaling=0.01", "k_scaling=0.5"]
SHORT = ["time=100"]
SMALLER = {"scale=3277": "scale=16", "2048": "8", "16GB": "400MB"}
SMALL_BENCHMARKS = {
    "exchange": ["--ranks=2", "--repetitions=1", "--set", "cells=64", "connections=20", "time=20"],
    "scaling": ["--ranks=2", "--neurons-per-rank=100", "--memory-per-rank=2MB", "--indegree=40", "--set=time=5"],
}


def run(arguments: list[str], folder: Path) -> str:
    # The programs draw without a screen, and what is built lies where this Python is.
    environment = {**os.environ, "MPLBACKEND": "agg", "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    done = subprocess.run(arguments, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, f"{shlex.join(arguments)}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def run_under_mpiexec(ranks: int, arguments: list[str], folder: Path) -> list[str]:
    wheel = installation(MPICH, "wheel")
    programs = Path(sys.executable).parent
    environment = {"LD_LIBRARY_PATH": str(Path(wheel.library).parent), "MPI4PY_MPIABI": "mpich"}
    command: list[str | Path] = [programs / arguments[0], *arguments[1:]]
    done = run_ranks(wheel, ranks, command, folder=folder, environment=environment, timeout=300)
    assert done.status == 0, f"{shlex.join(arguments)}\n{done.errors}"
    return done.outputs


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("readme")
    for language, _, text in BLOCKS:
        if language == "python" and (match := re.match(r"# (\w+\.py)\n", text)):
            (folder / match[1]).write_text(text)
    return folder


def programs_of(page: str) -> str:
    return "\n".join(text for language, _, text in read_blocks(page) if language == "python")


def test_the_tour_continues_the_first_steps(folder: Path) -> None:
    (folder / "tour.py").write_text(f"{programs_of('docs/start.md')}\n{programs_of('docs/tour.md')}")
    printed = run([sys.executable, "tour.py"], folder)
    assert "2,050 neurons" in printed
    assert "(400, 5)" in printed
    assert "did you mean 'tau_m'?" in printed


def test_the_first_network_is_asynchronous_and_irregular(tmp_path: Path) -> None:
    names: dict[str, Any] = {}
    printed = io.StringIO()
    with contextlib.chdir(tmp_path), contextlib.redirect_stdout(printed):
        exec(programs_of("README.md"), names)
    assert (tmp_path / "raster.png").stat().st_size > 10_000
    assert re.match(r"\{'exc': [\d.]+, 'inh': [\d.]+\}$", printed.getvalue())
    data = names["data"].between(100.0)
    for population in (names["exc"], names["inh"]):
        assert 5.0 < data.mean_rates(population) < 30.0
        assert 0.7 < np.nanmean(data.irregularity(population)) < 1.2
    counts, _ = np.histogram(data.steps, bins=np.arange(data.begin, data.end + 1, 20) + 0.5)
    # Independent Poisson trains give 1; this network gives 6, and one that fires in volleys several hundred.
    assert counts.var() / counts.mean() < 10.0


# Each once, though several pages have some of them.
COMMANDS = list(
    dict.fromkeys(
        (line, bool(slow)) for language, slow, text in BLOCKS if language == "sh" for line in text.strip().splitlines()
    )
)


# The tests of these commands run similar ones.
TESTED_ELSEWHERE = (
    "ranvier bench ",
    "ranvier info",
    "ranvier models",
    "ranvier predict ",
    "ranvier run brunel --set regime=SI_fast scale=0.2 epsilon=0.5 time=100 --plot",
    "ranvier run hpc_benchmark",
    "ranvier run interval_fire",
    "ranvier run my_network.py",
    "ranvier run microcircuit --set time=10000",
    "mpiexec -n 4 ranvier",
)


@pytest.mark.parametrize(
    ("command", "slow"),
    quick_if(
        lambda command, slow: not command.startswith(TESTED_ELSEWHERE),
        (pytest.param(*each, id=each[0]) for each in COMMANDS),
    ),
)
def test_commands(command: str, slow: bool, folder: Path) -> None:
    arguments = shlex.split(command)
    if arguments[:2] == ["mpiexec", "-n"]:
        small = {"microcircuit": [*SMALL[1:], *SHORT], "brunel": ["order=250", *SHORT]}
        more = next((small[name] for name in small if name in arguments), [])
        outputs = run_under_mpiexec(int(arguments[2]), [*arguments[3:], *more], folder)
        assert any("spikes" in output.lower() for output in outputs)
    elif arguments[:3] == ["ranvier", "run", "microcircuit"]:
        # Half of the in-degrees of a tenth of the neurons keep the network alive.
        if "--resume" in arguments:
            saved = arguments[arguments.index("--resume") + 1]
            saving = next(shlex.split(line) for line, _ in COMMANDS if line.endswith(f"--save {saved}"))
            run([*saving, *SMALL], folder)
        run([*arguments, *SMALL], folder)
        written = [folder / arguments[i + 1] for i, word in enumerate(arguments) if word in ("--json", "--plot")]
        assert all(path.stat().st_size > 500 for path in written)
    elif arguments[:2] == ["ranvier", "bench"]:
        mpiexec = f"--mpiexec={installation(MPICH, 'wheel').mpiexec}"
        assert run([*arguments, *SMALL_BENCHMARKS[arguments[2]], mpiexec], folder)
    elif arguments[:2] == ["ranvier", "predict"]:
        assert SMALLER.keys() <= set(arguments) or arguments[2].endswith(".py")
        assert run([SMALLER.get(argument, argument) for argument in arguments], folder)
    elif not slow:
        assert arguments[0] == "ranvier"
        assert run(arguments, folder)
    elif arguments[:2] == ["ranvier", "models"]:
        assert make_parser().parse_args(arguments[1:]).execute is not None
    elif arguments[0] == "make":
        assert re.search(rf"^{arguments[1]}:", (ROOT / "Makefile").read_text(), re.MULTILINE)
    else:
        assert command in ("pip install .", "pip install mpich")


@pytest.mark.parametrize("documented", [rv, rv.Network, rv.Simulation], ids=lambda documented: documented.__name__)
def test_examples_in_docstrings(documented: object) -> None:
    examples = doctest.DocTestParser().get_examples(inspect.getdoc(documented) or "")
    assert len(examples) >= 6
    names: dict[str, object] = {}
    for example in examples:
        exec(example.source, names)
    assert isinstance(names["net"], rv.Network)
    assert names["net"].neuron_count > 0


def test_files_that_are_linked_exist() -> None:
    for link in re.findall(r"\]\(([^)#:]+)\)", README):
        assert (ROOT / link).exists(), link


def test_models_that_are_listed_exist() -> None:
    from ranvier import _core
    from ranvier.equations.neurons import NAMES

    families = r"(?:iaf|aeif|hh|gif|glif|pp|a?mat2)_\w+"
    listed = set(re.findall(rf"`({families}|izhikevich|interval_fire|parrot_neuron|ignore_and_fire)`", CHANGELOG))
    built_in = {model.name for model in _core.neuron_models() if not model.plays_spikes}
    assert listed
    assert listed <= {*built_in, *NAMES}
