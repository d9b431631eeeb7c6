"""`ranvier models FILE` lists the models that a file of the user defines."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from command_lines import fail, run
from ranvier.nestml.reading import read_models
from repository import DATA

NESTML = DATA / "nestml_models/leaky_exponential.nestml"
NMODL = DATA / "nmodl/slow_potassium.mod"

MODELS = """
import ranvier as rv
from models_beside_it import imported

leaky = rv.neuron(
    "dv/dt = (E_L - v)/tau_m + I_stimulus/C_m : mV  # Potential",
    threshold="v >= V_th",
    reset="v = E_L",
    parameters=dict(E_L="-70 mV", tau_m="10 ms", C_m=rv.parameter("250 pF", meaning="Capacitance"), V_th="-55 mV"),
    receptors=dict(jump="v += w"),
    name="lapicque",
    summary="Leaky neuron",
    reference="Lapicque (1907)",
)
also_leaky = leaky
noisy = leaky(tau_m=rv.Normal(10.0, 1.0), C_m="0.2 nF", v=-60.0)
learning = rv.synapse(
    "dx/dt = -x/tau : 1",
    on_pre="x += 1",
    on_post="w = min(w + lam*x, W_max)",
    parameters=dict(tau="20 ms", lam="1 pA", W_max="100 pA"),
)
strong = learning(lam=2.5)
k_slow = rv.channel(
    "i = g_max*n**4*(v - E_K) : mA/cm**2\\ndn/dt = (0.5 - n)/tau_n : 1",
    parameters=dict(g_max="0.01 S/cm**2", E_K="-77 mV", tau_n="5 ms"),
    initial=dict(n=0.25),
    name="k_slow",
)
on_dendrites = k_slow(g_max=lambda distances: 0.01 + 0.0 * distances)
cell = rv.Cell(
    rv.Morphology([rv.Section(length=12.0, diameter=12.0), rv.Section(length=30.0, diameter=1.0, parent=0)]),
    membrane=[("all", rv.hh()), ("all", k_slow())],
    receptors={"exc": (rv.expsyn(), rv.at(0)), "inh": (rv.expsyn(), rv.at(1))},
    threshold=rv.per_cell("own_threshold", -15.0),
)
shipped = rv.aeif_cond_exp(I_e=700.0)
other = [leaky]
"""


@pytest.fixture
def mine(tmp_path: Path) -> Path:
    (tmp_path / "models_beside_it.py").write_text(
        "import ranvier as rv\nimported = rv.neuron('dx/dt = -x/(1*ms) : 1', threshold='x > 1', reset='x = 0')\n"
    )
    path = tmp_path / "mine.py"
    path.write_text(MODELS)
    return path


def rows_of(printed: str, name: str) -> dict[str, list[str]]:
    """Return the rows of the table of a model, as words, by the first of them."""
    lines = printed.splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith(f"{name}  "))
    rows = {}
    for line in lines[begin + 2 :]:
        if not line.strip():
            break
        first, *others = line.split()
        rows[first] = others
    return rows


def test_models_of_a_python_file(mine: Path) -> None:
    printed = run("models", mine)
    titles = [line.split("──")[0].strip() for line in printed.splitlines() if "──" in line]
    assert titles == ["Neurons", "Detailed cells", "Mechanisms of detailed cells", "Synapses"]
    names = [line.split("  ")[0] for line in printed.splitlines() if line and line[0] != " " and "──" not in line]
    # In the order of the file, each once; no models that come with Ranvier.
    assert names == ["imported", "leaky", "noisy", "cell", "k_slow", "on_dendrites", "learning", "strong"]
    leaky = rows_of(printed, "leaky")
    assert leaky["tau_m"] == ["10", "ms", ">", "0"]
    assert leaky["C_m"] == ["250", "pF", ">", "0", "Capacitance"]
    assert leaky["v"] == ["E_L", "mV", "Potential", "(state)"]
    assert leaky["jump"] == ["mV", "Receptor"]
    assert "leaky  Leaky neuron; weights in mV; its name is lapicque" in printed
    noisy = rows_of(printed, "noisy")
    assert noisy["tau_m"][:2] == ["Normal(mean=10.0,", "std=1.0)"]
    assert (noisy["C_m"][0], noisy["v"][0]) == ("200", "-60")
    own = ["(may", "differ", "from", "synapse", "to", "synapse)"]
    assert rows_of(printed, "learning")["lam"] == ["1", "pA", *own]
    assert rows_of(printed, "strong")["lam"] == ["2.5", "pA", *own]
    assert rows_of(printed, "k_slow") == {
        "g_max": ["0.01", "S/cm**2"], "E_K": ["-77", "mV"], "tau_n": ["5", "ms", ">", "0"], "n": ["0.25", "(gate)"],
    }  # fmt: skip
    assert rows_of(printed, "on_dendrites")["g_max"] == ["a", "function", "S/cm**2"]
    cell = rows_of(printed, "cell")
    assert cell["own_threshold"][:2] == ["-15", "mV"]
    assert cell["inh"] == ["nS", "weights", ">=", "0", "Receptor"]


def test_one_model_of_a_file(mine: Path) -> None:
    printed = run("models", mine, "leaky")
    for part in ("dv/dt = (E_L - v)/tau_m", "fires when v >= V_th", "Method: solved exactly", "Lapicque (1907)"):
        assert part in printed
    assert "noisy" not in printed
    # Both models have the name that was given to the first of them.
    printed = run("models", mine, "lapicque")
    assert rows_of(printed, "leaky") != rows_of(printed, "noisy")
    printed = run("models", mine, "cell")
    for part in ("membrane: hh on 2 compartments", "membrane: k_slow on 2", "receptors: expsyn (exc, inh)"):
        assert part in printed
    assert "x += 1" in run("models", mine, "learning")
    message = fail("models", mine, "learnin")
    assert "did you mean 'learning'?" in message


def test_models_of_nestml_and_nmodl(tmp_path: Path) -> None:
    printed = run("models", NESTML)
    assert rows_of(printed, "leaky_exponential")["V_m"] == ["E_L", "mV", "Potential", "(state)"]
    assert "dV_m/dt" not in printed
    assert "dV_m/dt" in run("models", NESTML, "leaky_exponential")
    printed = run("models", NMODL, "slow_potassium")
    assert rows_of(printed, "slow_potassium")["ek"] == ["-77", "mV"]
    assert "SUFFIX slow_potassium" in printed
    other = NESTML.read_text().replace("model leaky_exponential", "model other")
    both = tmp_path / "both.nestml"
    both.write_text(NESTML.read_text() + "\n" + other)
    assert [model.name for model in read_models(both)] == ["leaky_exponential", "other"]
    assert "leaky_exponential  " in run("models", both)
    assert "leaky_exponential  " not in run("models", both, "other")
    # What is wrong with one model says nothing of the others.
    both.write_text(NESTML.read_text() + "\n" + other.replace("(E_L - V_m)", "(E_L - nothing)"))
    assert "nothing" in fail("models", both, status=2, lines=None)
    assert "leaky_exponential  " in run("models", both, "leaky_exponential")


def test_names_of_models_come_before_those_of_files(tmp_path: Path) -> None:
    (tmp_path / "iaf_psc_exp").mkdir()
    assert "Leaky integrate-and-fire" in run("models", "iaf_psc_exp", folder=tmp_path)


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["missing.py"], ["missing.py", "no such file", "check the path"]),
        (["missing.mod"], ["missing.mod", "no such file"]),
        (["folder"], ["folder", "it is a folder", "name a file in it"]),
        (["text.txt"], ["text.txt", "'.txt'", ".nestml"]),
        (["empty.py"], ["empty.py", "defines no neuron", "rv.neuron()", "outside of functions"]),
        (["empty.nestml"], ["empty.nestml", "no model", "model NAME"]),
        (["broken.py"], ["broken.py, line 1", "SyntaxError"]),
        (["raising.py"], ["raising.py, line 2", "ZeroDivisionError"]),
        (["ending.py"], ["ending.py, line 2", "SystemExit"]),
        (["refused.py"], ["refused.py, line 2", "threshold"]),
        (["iaf_psc_exp", "no_such"], ["'iaf_psc_exp no_such'", "does not exist"]),
        (["empty.py", "a", "b"], ["'b'", "at most one name"]),
        (["no_such_model"], ["'no_such_model'", "a file (.py, .toml, .nestml or .mod)"]),
        (["x" * 5000], ["does not exist"]),
    ],
    ids=lambda value: " ".join(value)[:40] if isinstance(value, list) else None,
)
def test_files_that_are_refused(arguments: list[str], parts: list[str], tmp_path: Path) -> None:
    files = {
        "text.txt": "leaky\n",
        "empty.py": "def a_network():\n    return 1\n",
        "empty.nestml": "\n",
        "broken.py": "def network(:\n",
        "raising.py": "import ranvier\n1 / 0\n",
        "ending.py": "import sys\nsys.exit(0)\n",
        "refused.py": "import ranvier as rv\nn = rv.neuron('dx/dt = -x/(1*ms) : 1')\n",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    (tmp_path / "folder").mkdir()
    message = fail("models", *arguments, folder=tmp_path)
    for part in parts:
        assert part in message
    assert str(tmp_path) not in sys.path


def test_mistakes_in_files_show_their_place(tmp_path: Path) -> None:
    path = tmp_path / "wrong.mod"
    path.write_text(NMODL.read_text().replace("ik = gk*(v - ek)", "ik = gk*(v - e_k)"))
    message = fail("models", path, lines=None)
    assert "wrong.mod, line 25" in message
    assert "e_k" in message


NETWORK = """
from __future__ import annotations

def network(size: int, rate=9000.0, kind: str | None = None, seed=1, odd: Missing = (1, 2)):
    \"\"\"A network of mine.

    Parameters
    ----------
    size
        Number of neurons.
    \"\"\"
"""


def test_a_file_lists_the_keys_of_its_network(tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(NETWORK)
    lines = [line.split() for line in run("models", path).splitlines()]
    assert ["network", "A", "network", "of", "mine"] in lines
    assert ["size", "required", "Number", "of", "neurons."] in lines
    assert ["rate", "9000.0", "a", "number"] in lines
    assert ["seed", "1", "an", "integer"] in lines
    assert ["odd", "(1,", "2)"] in lines


@pytest.mark.parametrize("command", ["run", "predict"])
def test_help_lists_the_keys_of_a_network(command: str, tmp_path: Path) -> None:
    path = tmp_path / "mine.py"
    path.write_text(NETWORK)
    help_text = run(command, path, "--help")
    keys = help_text.partition(f"Keys of the function network() in {path}, to be set with --set KEY=VALUE:")[2]
    assert "  size               required\n                     Number of neurons." in keys
    assert "  rate               a number; default 9000.0" in keys
    assert "usage: ranvier" in help_text
    assert "Keys of" not in run(command, "--help")
    assert "  order              an integer; default" in run(command, "brunel", "-h")
    assert "no such file" in fail(command, tmp_path / "missing.py", "--help")
    path.write_text("def network():\n    pass\n")
    assert f"The function network() in {path} has no additional keys." in run(command, path, "--help")


def test_what_of_a_file_of_nmodl_is_ignored_is_listed(tmp_path: Path) -> None:
    names = []
    for name, more in (("whole", ""), ("part", "INITIAL { g = 3 } PROCEDURE p() { v = 2 }"), ("bad", "DISCRETE k { }")):
        names.append(str(tmp_path / f"{name}.mod"))
        Path(names[-1]).write_text(
            "NEURON { SUFFIX x NONSPECIFIC_CURRENT i }\nPARAMETER { g = 1 }\nASSIGNED { v i }\n"
            f"BREAKPOINT {{ i = g*(v + 60) }}\n{more}\n"
        )
    lines = run("models", *names).splitlines()
    assert lines[0].startswith(f"{names[0]}: read: 2 of ")
    assert lines[1].startswith(f"{names[1]}: read, ignored in part")
    assert lines[2] == "    line 2, 'g = 1': no current and no state uses it"
    assert lines[3] == "    line 5, 'v = 2': its block is never called or solved"
    assert lines[4].startswith(f"{names[2]}: refused: line 5, ")
    assert lines[-1] == "3 files: 1 read, 1 read, ignored in part, 1 refused"
    shown = run("models", names[1])
    assert "Mechanisms of detailed cells" in shown
    assert "line 5, 'v = 2': its block" in shown
