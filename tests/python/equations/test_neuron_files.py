"""Neuron models in files: those that come with Ranvier, and those of users."""

from __future__ import annotations

import math
import pickle
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

import pytest

import ranvier as rv
from ranvier.command_line import main
from ranvier.equations.files import load
from ranvier.equations.library import built
from ranvier.equations.neurons import NAMES, file_of
from ranvier.errors import (
    EquationError,
    FileError,
    RanvierError,
    UnitError,
    UnknownNameError,
    UnknownSymbolError,
    ValueOutOfBoundsError,
    WrongTypeError,
)
from thorough_cases import every

LEAKY = '''
summary = "Leaky neuron"
references = ["A. Author (1999)", "B. Author (2000)"]
equations = """
dv/dt = (E_L - v)/tau_m + (g*mV + I_e*GOhm)/tau_m : mV  # potential
dg/dt = -g/tau[k] : 1  # input
"""
threshold = "v >= V_th"
reset = "v = E_L"
refractory = "t_ref"
method = "adaptive"
relative_tolerance = 1e-4

[receptors]
spikes = "g += w"

[initial]
v = "E_L"
g = 0.5

[parameters]
E_L = "-70 mV"
tau_m = { default = "10 ms", bounds = "> 0", meaning = "Time constant" }
V_th = { default = "-55 mV", bounds = ">= -60 mV and < 0.1 V" }
t_ref = { default = "2 ms", bounds = "<= 10" }
I_e = "500 pA"
'''
PLAIN = LEAKY.replace("tau[k]", "tau_m")


def written(folder: Path, text: str, name: str = "leaky.toml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


# ---- what a file says ------------------------------------------------------------------------------------------------


def test_a_file_is_what_its_texts_are_to_neuron(tmp_path: Path) -> None:
    model = rv.read_neuron(written(tmp_path, PLAIN))
    given = tomllib.loads(PLAIN)
    same = rv.neuron(
        **{key: given[key] for key in ("equations", "threshold", "reset", "refractory", "receptors", "initial")},
        parameters={
            "E_L": "-70 mV",
            "tau_m": rv.parameter("10 ms", low=0.0, low_open=True, meaning="Time constant"),
            "V_th": rv.parameter("-55 mV", low=-60.0, high="0.1 V", high_open=True),
            "t_ref": rv.parameter("2 ms", high=10.0),
            "I_e": "500 pA",
        },
        method="adaptive",
        relative_tolerance=1e-4,
        name="leaky",
        summary="Leaky neuron",
        reference="A. Author (1999); B. Author (2000)",
    )
    assert model == same
    assert model.describe() == same.describe()
    bounds = {
        each.name: (each.lower, each.upper, each.lower_open, each.upper_open) for each in model.program.parameters
    }
    assert bounds["tau_m"] == (0.0, math.inf, True, False)
    assert bounds["V_th"] == (-60.0, 100.0, False, True)
    assert bounds["t_ref"] == (0.0, 10.0, False, False)
    assert pickle.loads(pickle.dumps(model)) == model


def test_a_parameter_may_be_a_number_or_a_switch(tmp_path: Path) -> None:
    text = PLAIN.replace("g*mV", "g*mV*scale*on") + "scale = 2\non = { default = false, meaning = 'Whether' }\n"
    model = rv.read_neuron(written(tmp_path, text))
    defaults = {each.name: each.default for each in model.core_model.parameters}
    assert (defaults["scale"], defaults["on"]) == (2.0, 0.0)
    assert model(on=True).values == {"on": 1.0}


def test_the_keywords_replace_the_integration_of_the_file(tmp_path: Path) -> None:
    path = written(tmp_path, PLAIN)
    assert rv.read_neuron(path, relative_tolerance=1e-4) == rv.read_neuron(path)
    assert rv.read_neuron(path, relative_tolerance=1e-8) != rv.read_neuron(path)
    euler = rv.read_neuron(path, method="euler")
    assert euler.method == "euler"
    with pytest.raises(ValueOutOfBoundsError, match="no error bound"):
        rv.read_neuron(path, method="euler", relative_tolerance=1e-4)


def test_copies_have_defaults_and_other_numbers(tmp_path: Path) -> None:
    text = LEAKY.replace("dg/dt = -g/tau[k]", "dg[k]/dt = -g[k]/tau[k]").replace("(g*mV", "(sum(g[k])*mV")
    text = text.replace('spikes = "g += w"', '"receptor[k]" = "g[k] += w"').replace("g = 0.5", '"g[k]" = 0.5')
    text += '"tau[k]" = ["2 ms", "20 ms"]\n[copies]\nk = { default = 2, meaning = "Number" }\n'
    path = written(tmp_path, text)

    def times(model: rv.EquationNeuron) -> dict[str, float]:
        return {each.name: each.default for each in model.core_model.parameters if each.name.startswith("tau_")}

    model = rv.read_neuron(path)
    assert times(model) == {"tau_m": 10.0, "tau_1": 2.0, "tau_2": 20.0}
    assert model.receptors == ("receptor_1", "receptor_2")
    named = rv.read_neuron(path, copies={"k": ["AMPA", "NMDA", "GABA"]})
    assert times(named) == {"tau_m": 10.0, "tau_AMPA": 2.0, "tau_NMDA": 20.0, "tau_GABA": 20.0}
    assert named.receptors == ("AMPA", "NMDA", "GABA")
    with pytest.raises(UnknownNameError, match="did you mean 'k'"):
        rv.read_neuron(path, copies={"kk": 1})
    with pytest.raises(WrongTypeError, match="mapping"):
        rv.read_neuron(path, copies=3)  # type: ignore[arg-type]
    path.write_text(text.replace('["2 ms", "20 ms"]', '["2 ms", "20 ms", "3 ms"]'))
    with pytest.raises(ValueOutOfBoundsError, match=r"parameter tau\[k\], default is a list of 3 values.*2 copies"):
        rv.read_neuron(path)


def test_spikes_of_a_file_are_those_of_its_equations(tmp_path: Path) -> None:
    """A copy of a file of the library is the model of the library."""
    copy = written(tmp_path, file_of("aeif_cond_exp").read_text(), "mine.toml")
    digests = []
    for model in (rv.read_neuron(copy), rv.aeif_cond_exp()):
        net = rv.Network(seed=3)
        cells = net.create(model, 50)
        net.stimulate(cells, rv.poisson_generator(rate=20_000.0), weight=6.0)
        spikes = net.record_spikes(cells)
        sim = rv.Simulation(net, threads=2, progress=False)
        sim.run(200.0)
        assert len(sim.spikes(spikes)) > 80
        digests.append(sim.spikes(spikes).digest())
    assert digests[0] == digests[1]


# ---- the library -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", every(3, NAMES))
def test_each_model_of_the_library_is_its_file(name: str) -> None:
    read = load(file_of(name))
    assert rv.read_neuron(file_of(name)) == built(name)
    assert read.arguments["summary"]
    assert read.arguments["reference"]
    assert all(read.meanings.values())
    # A file names everything that it has: neuron() would leave out a parameter that nothing uses.
    suffixes = built(name).program.parameters
    assert len(suffixes) >= len(read.arguments["parameters"])


def test_only_the_file_of_a_model_that_is_used_is_read() -> None:
    program = """if True:
        import sys
        opened = []
        sys.addaudithook(lambda event, given: opened.append(str(given[0])) if event == "open" else None)
        import ranvier as rv
        rv.Network().create(rv.iaf_psc_exp(), 3)
        assert "izhikevich" in dir(rv)
        assert not [name for name in opened if name.endswith(".toml")], opened
        rv.izhikevich()
        assert {name.split("/")[-1] for name in opened if name.endswith(".toml")} == {"izhikevich.toml"}, opened
    """
    subprocess.run([sys.executable, "-c", program], check=True)


def test_a_file_is_shown_on_the_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, file_of("glif_cond").read_text(), "mine.toml")
    assert main(["models", str(path)]) == 0
    table = capsys.readouterr().out
    assert "mine  Generalized leaky integrate-and-fire neuron" in table
    assert "Number of receptors" in table
    assert "th_spike_decay" in table
    assert main(["models", str(path), "mine"]) == 0
    shown = capsys.readouterr().out
    assert "spike at receptor_2: x_2 += w*e/tau_syn_2" in shown
    assert "C. Teeter et al." in shown


# ---- mistakes --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("old", "new", "kind", "words"),
    [
        ("summary =", "sumary =", UnknownNameError, "did you mean 'summary'"),
        ("references = [", "reference = [", UnknownNameError, "references"),
        ('"B. Author (2000)"', "2000", WrongTypeError, "references must be a list of texts"),
        ('threshold = "v >= V_th"', "threshold = 3", WrongTypeError, "threshold must be a string"),
        ('threshold = "v >= V_th"', "", EquationError, "threshold"),
        ("equations =", "x =", UnknownNameError, "x"),
        ("[initial]", "[[initial]]", WrongTypeError, "initial must be a table, not list"),
        ('method = "adaptive"', 'method = "best"', UnknownNameError, "method"),
        ("relative_tolerance = 1e-4", "relative_tolerance = 2.0", ValueOutOfBoundsError, "relative_tolerance"),
        ('E_L = "-70 mV"', "E_L = 2026-11-26", WrongTypeError, "parameter E_L, default"),
        ('E_L = "-70 mV"', "E_L = nan", RanvierError, "parameter E_L, default"),
        ('E_L = "-70 mV"', "E_L = [1.0]", ValueOutOfBoundsError, "parameter E_L, default is a list of 1 values"),
        ('E_L = "-70 mV"', 'E_L = { bounds = "> 0" }', WrongTypeError, "parameter E_L, default: the key is missing"),
        ('E_L = "-70 mV"', 'E_L = { default = "-70 mV", low = 0 }', UnknownNameError, "parameter E_L, key"),
        ('E_L = "-70 mV"', 'E_L = "-70 mW"', EquationError, "parameter E_L, default"),
        ('bounds = "> 0"', 'bounds = "0"', EquationError, "parameter tau_m, bounds is '0'"),
        ('bounds = "> 0"', 'bounds = "> 0 and > 1"', EquationError, "parameter tau_m, bounds"),
        ('bounds = "> 0"', 'bounds = "> 0 mV"', UnitError, "parameter tau_m, low"),
        ('bounds = "> 0"', 'bounds = "> nan"', EquationError, "parameter tau_m, bounds is '> nan'"),
        ('bounds = "> 0"', "bounds = 0", WrongTypeError, "parameter tau_m, bounds must be a string"),
        ('bounds = "<= 10"', 'bounds = "<= 1"', ValueOutOfBoundsError, "parameter t_ref, default is 2 ms"),
        ('meaning = "Time constant"', "meaning = 3", WrongTypeError, "parameter tau_m, meaning must be a string"),
        ("(E_L - v)/tau_m +", "(E_L - vv)/tau_m +", UnknownSymbolError, "the equations, line 1"),
        ("(E_L - v)/tau_m +", "(E_L - v) +", UnitError, "the equations, line 1"),
        ("I_e =", "I_e = 3\nI_e =", FileError, "it is not TOML: .*line"),
        ("[parameters]", "[parameters", FileError, "it is not TOML"),
        ("Leaky", "\\u0000", ValueOutOfBoundsError, "without NUL"),
        ("I_e", "\ud800", FileError, "it is not text in UTF-8 at byte"),
        ("[parameters]", "[copies]\nk = 3\n[parameters]", UnknownNameError, "index of copies"),
        ("[parameters]", "[copies]\nk = 'a'\n[parameters]", WrongTypeError, r"copies of \[k\]"),
        ("[parameters]", "[copies]\nk = { meaning = 'a' }\n[parameters]", WrongTypeError, "the key is missing"),
    ],
)
def test_mistakes_name_the_file_and_the_place(
    old: str, new: str, kind: type[Exception], words: str, tmp_path: Path
) -> None:
    assert PLAIN.count(old) >= 1
    path = tmp_path / "leaky.toml"
    path.write_bytes(PLAIN.replace(old, new, 1).encode("utf-8", "surrogatepass"))
    with pytest.raises(kind, match=f"(?s)file {path}.*{words}") as caught:
        rv.read_neuron(path)
    assert type(caught.value) in (kind, *kind.__subclasses__())


def test_indices_without_copies_are_refused(tmp_path: Path) -> None:
    with pytest.raises(EquationError, match=r"tau\[k\]|\[k\]"):
        rv.read_neuron(written(tmp_path, LEAKY))


def test_files_that_cannot_be_read_are_refused(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="No such file"):
        rv.read_neuron(tmp_path / "absent.toml")
    with pytest.raises(FileError, match="not a regular file"):
        rv.read_neuron(tmp_path)
    with pytest.raises(FileError, match="more than 1000000 bytes"):
        rv.read_neuron(written(tmp_path, "#" * 1_000_001))
    with pytest.raises(FileError, match=r"nested too deeply|not TOML"):
        rv.read_neuron(written(tmp_path, f"summary = {'[' * 100_000}"))


def test_a_truncated_file_is_an_error_or_a_whole_table(tmp_path: Path) -> None:
    """No part of a file raises an error without type; few parts end at the end of a line, and are files themselves."""
    whole = file_of("iaf_cond_exp").read_text()
    path = tmp_path / "part.toml"
    made: list[int] = []
    messages: list[str] = []
    for end in range(0, len(whole), 7):
        path.write_text(whole[:end])
        try:
            load(path)
            made.append(end)
        except RanvierError as error:
            messages.append(str(error))
    assert all(f"file {path}" in each for each in messages)
    assert 0 < len(made) < len(messages)


def test_errors_can_be_pickled(tmp_path: Path) -> None:
    with pytest.raises(UnitError) as caught:
        rv.read_neuron(written(tmp_path, PLAIN.replace("(E_L - v)/tau_m +", "(E_L - v) +")))
    again: Any = pickle.loads(pickle.dumps(caught.value))
    assert str(again) == str(caught.value)
    assert "^^^" in again.place
