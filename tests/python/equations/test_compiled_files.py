"""`ranvier compile`: neuron models of equations as programs for simulations in C++."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from ranvier.command_line import main
from ranvier.equations.library import built
from ranvier.equations.neurons import NAMES, file_of
from ranvier.equations.program import OPERATIONS

ROOT = Path(__file__).parents[3]
BUILD = ROOT / "build/package"
PROGRAM = BUILD / "examples/equation_neurons"


def compiled(*arguments: object) -> int:
    return main(["compile", *map(str, arguments)])


def test_the_build_compiles_the_models_that_come_with_ranvier() -> None:
    folder = BUILD / "programs"
    assert folder.is_dir(), "make test-programs"
    assert sorted(path.stem for path in folder.glob("*.program")) == sorted(NAMES)
    for name in NAMES:
        assert (folder / f"{name}.program").read_text() == built(name).core_model.text


@pytest.mark.parametrize(
    ("name", "settings", "weight", "rate", "current"),
    [
        ("aeif_cond_exp", [], 6.0, 8000.0, 500.0),
        ("hh_psc_alpha", [], 40.0, 3000.0, 800.0),
        ("gif_psc_exp_multisynapse", ["receptors=AMPA,NMDA", "stc=2"], 20.0, 5000.0, 150.0),
    ],
)
def test_a_simulation_in_cpp_has_the_same_spikes(
    name: str, settings: list[str], weight: float, rate: float, current: float, tmp_path: Path
) -> None:
    assert PROGRAM.is_file(), "make test-programs"
    path = tmp_path / "model.program"
    assert compiled(name, "--output", path, *(["--set", *settings] if settings else [])) == 0
    given = {"--weight": weight, "--rate": rate, "--set": f"I_e={current}"}
    words = [str(word) for pair in given.items() for word in pair]
    printed = subprocess.run([PROGRAM, path, *words], check=True, capture_output=True, text=True).stdout
    spikes = np.array([line.split() for line in printed.splitlines()], dtype="<i8")

    copies: dict[str, Any] = {"receptors": ["AMPA", "NMDA"], "stc": 2} if settings else {}
    model = built(name, **copies)
    net = rv.Network(resolution=0.1, seed=1)
    cells = net.create(model, 100, name="neurons", I_e=current)
    receptor = model.receptors[0]
    net.connect(cells, cells, rv.FixedIndegree(10), weight=weight, delay=1.5, receptor=receptor)
    net.stimulate(cells, rv.poisson_generator(rate=rate), weight=weight, receptor=receptor)
    recorder = net.record_spikes(cells)
    sim = rv.Simulation(net, threads=1, progress=False)
    sim.run(200.0)
    assert len(spikes) > 100
    assert hashlib.sha256(spikes.tobytes()).hexdigest() == sim.spikes(recorder).digest()


def test_files_have_the_names_of_the_models(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("mine.toml").write_text(file_of("izhikevich").read_text())
    assert compiled("mine.toml", "iaf_cond_exp", "--set", "method=rk4") == 0
    assert Path("mine.program").read_text() == rv.read_neuron("mine.toml", method="rk4").core_model.text
    assert Path("iaf_cond_exp.program").read_text() == rv.iaf_cond_exp(method="rk4").core_model.text
    assert capsys.readouterr().out == "mine: mine.program\niaf_cond_exp: iaf_cond_exp.program\n"
    Path("folder").mkdir()
    assert compiled("mine.toml", "--output", "folder") == 0
    assert Path("folder/mine.program").is_file()


def test_tolerances_and_files_of_nestml_are_compiled(tmp_path: Path) -> None:
    path = tmp_path / "a.program"
    assert compiled("iaf_cond_exp", "--output", path, "--set", "relative_tolerance=1e-8") == 0
    assert path.read_text() == rv.iaf_cond_exp(relative_tolerance=1e-8).core_model.text
    nestml = next((ROOT / "tests/python/data").rglob("*.nestml"))
    assert compiled(nestml, "--output", path) == 0
    assert path.read_text() == rv.read_nestml(nestml).core_model.text


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "name one, or write --all"),
        (["iaf_cond_ex"], "did you mean 'iaf_cond_exp'"),
        (["iaf_psc_exp"], "neuron"),
        (["absent.toml"], "No such file"),
        (["izhikevich", "iaf_cond_exp", "--output", "one.program"], "there are 2 neurons"),
        (["izhikevich", "--output", "absent/one.program"], "cannot be written"),
        (["izhikevich", "--set", "method"], "KEY=VALUE"),
        (["izhikevich", "--set", "receptors=2"], "index of copies"),
        (["izhikevich", "--set", "method=best"], "method"),
        (["iaf_cond_exp", "--set", "absolute_tolerance=x"], "it must be a number"),
        (["glif_psc", "--set", "receptors=101"], "100"),
    ],
)
def test_mistakes_are_errors(
    arguments: list[str],
    words: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    assert compiled(*arguments) == 2
    assert words in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


def test_a_file_that_is_changed_is_refused_in_cpp(tmp_path: Path) -> None:
    text = built("izhikevich").core_model.text
    path = tmp_path / "model.program"
    for changed, words in (
        (text.replace(" -65 ", " -66 ", 1), "was changed"),
        (text[: len(text) // 2], "truncated"),
        (text.replace("program 1", "program 2", 1), "another version"),
    ):
        assert changed != text
        path.write_text(changed)
        done = subprocess.run([PROGRAM, path], check=False, capture_output=True, text=True)
        assert done.returncode == 2
        assert f"of file {path}" in done.stderr
        assert words in done.stderr


def test_the_page_of_the_format_describes_all_lines_and_operations() -> None:
    page = (ROOT / "docs/design/programs.md").read_text()
    described = {word for words in re.findall(r"`([a-z_0-9 ]+)`", page) for word in words.split()}
    assert {*OPERATIONS, "loop"} <= described
    lines = built("glif_cond").core_model.text.splitlines()
    assert f"`{lines[0]}` is the first line" in page
    keys = {line.split()[0] for line in lines}
    assert {key for key in keys if not re.fullmatch(r"v\d+", key)} <= described


@pytest.mark.thorough
def test_the_interpreter_of_the_package_is_all_that_the_build_needs(tmp_path: Path) -> None:
    """The tool of the target `ranvier_programs`, which loads the extension module of the build folder."""
    module = next(BUILD.glob("_core*.so"))
    subprocess.run([sys.executable, "-I", ROOT / "tools/write_programs.py", module, tmp_path], check=True)
    assert len(list(tmp_path.glob("*.program"))) == len(NAMES)
