"""Files of NESTML with mistakes, with what equations cannot do, and files that are none: errors that show the place."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

import ranvier as rv
from nestml_scenes import MODELS
from ranvier.errors import EquationError, FileError, RanvierError, UnitError, UnknownSymbolError

TEXT = (MODELS / "leaky_exponential.nestml").read_text()
NAMES = ("leaky_exponential", "leaky_alpha", "leaky_delta", "leaky_counted", "conductances_alpha", "hodgkin_huxley")


def read(folder: Path, text: str | bytes) -> rv.EquationNeuron:
    file = folder / "a.nestml"
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return rv.read_nestml(file)


# What is replaced, by what, the error, and words of it; the error shows the line of the new text.
MISTAKES: list[tuple[str, str, type[Exception], str]] = [
    ("I_ex' = -I_ex / tau_ex", "I_ex' = -I_ex / tau_exs", UnknownSymbolError, "did you mean 'tau_ex'"),
    ("I_ex' = -I_ex / tau_ex", "I_ex' = -I_ex / C_m", UnitError, "the left side is in pA/ms"),
    ("I_ex' = -I_ex / tau_ex", "I_ex' = -I_ex ^ tau_ex", EquationError, "'^'"),
    ("I_ex' = -I_ex / tau_ex", "I_ex' = -I_ex % tau_ex", EquationError, "floor"),
    ("I_ex' = -I_ex / tau_ex", "I_ex' = -I_ex / tau_ex * t", EquationError, "the time cannot be used"),
    ("I_ex' = -I_ex / tau_ex", "I_ex' = -I_ex / tau_ex[1]", EquationError, "vectors are not read"),
    ("I_ex' = -I_ex / tau_ex", "I_ex' = -I_ex / tau_ex + erf(2) * pA/ms", UnknownSymbolError, "erf"),
    ("I_ex' = -I_ex / tau_ex", "I_ex' = -I_ex * inf / tau_ex", EquationError, "finite"),
    ("I_ex' = -I_ex / tau_ex", "I_ex' = -I_ex / tau_ex + ex * ex * pA", EquationError, "in proportion"),
    ("I_ex' = -I_ex / tau_ex", "I_ex' = -I_ex / tau_ex + convolve(K, ex) * pA/ms", UnknownSymbolError, "'K'"),
    ("I_ex' = -I_ex / tau_ex", "I_ex' = -I_ex / tau_ex + random_normal(0, 1) * pA/ms", EquationError, "white noise"),
    ("I_ex' = -I_ex / tau_ex", "I_ex' = (1 ms**0.5)", EquationError, "whole number"),
    ("I_ex' = -I_ex / tau_ex", "I_exc' = -I_ex / tau_ex", EquationError, "no differential equation"),
    ("tau_m ms = 0.01 s", "tau_m mS = 0.01 s", UnitError, "tau_m is in"),
    ("tau_m ms = 0.01 s", "tau_m parsec = 0.01 s", UnknownSymbolError, "parsec"),
    ("tau_m ms = 0.01 s", 'tau_m string = "10"', EquationError, "a number with a unit"),
    ("tau_m ms = 0.01 s", "tau_m ms = 1 s / 0", EquationError, "it has no value"),
    ("tau_m ms = 0.01 s", "tau_m ms = resolution()", EquationError, "when the model is read"),
    ("tau_m ms = 0.01 s", "tau_m ms = 0.01 s [[tau_m > 1 s]]", EquationError, "outside of its guard"),
    ("tau_m ms = 0.01 s", "tau_m ms = 0.01 s\n        tau_m ms = 2 ms", EquationError, "has the same name"),
    ("tau_m ms = 0.01 s", "tau_m ms = 0.01 s\n        V_m ms = 2 ms", EquationError, "declares the same name"),
    ("tau_m ms = 0.01 s", "tau_m ms = 0.01 s\n        size ms = 2 ms", EquationError, "choose another name"),
    ("tau_m ms = 0.01 s", "tau_m ms = tau_ex", EquationError, "declared further down"),
    ("tau_m ms = 0.01 s", "tau_m ms = ex * 1 s * 1 ms", EquationError, "spikes are impulses"),
    ("I_ex, I_in pA = 0 pA", "I_ex, I_in pA = ex * 1 s * 1 pA", EquationError, "spikes are impulses"),
    ("wait = t_ref", "wait = t_ref * ex * 1 s", EquationError, "spikes are impulses"),
    ("V_m = V_reset\n", "V_m = V_reset * ex * 1 s\n", EquationError, "spikes are impulses"),
    ("    input:", "    internals:\n        q ms = ex * 1 s * 1 ms\n    input:", EquationError, "spikes are impulses"),
    ("tau_m ms = 0.01 s", "tau_m ms = 1e999 ms", EquationError, "too large"),
    ("ex <- excitatory spike", "ex pA <- excitatory spike", EquationError, "spikes have no unit"),
    ("ex <- excitatory spike", "ex[3] <- excitatory spike", EquationError, "vectors are not read"),
    ("ex <- excitatory spike", "ex <- excitatory spike\n        more <- spike", EquationError, "its spikes do nothing"),
    ("I_stim pA <- continuous", "I_stim mV <- continuous", EquationError, "stimulators give currents"),
    ("I_ex += ex * 1 pA * 1 s", "I_ex += ex * 1 pA", UnitError, "a weight"),
    ("I_ex += ex * 1 pA * 1 s", "I_ex = ex * 1 pA * 1 s", EquationError, "several spikes may arrive"),
    ("I_ex += ex * 1 pA * 1 s", "I_ex += inh * 1 pA * 1 s", EquationError, "only spikes of ex arrive here"),
    ("I_ex += ex * 1 pA * 1 s", "I_ex += 1 pA", EquationError, "proportional to the weight"),
    ("I_ex += ex * 1 pA * 1 s", "V_m += ex * 1 mV * 1 s", EquationError, "while the neuron is refractory"),
    ("I_ex += ex * 1 pA * 1 s", 'print("spike")', EquationError, "spikes only add"),
    ("        if wait > 0 ms:", "        if V_m > 0 mV:", EquationError, "may only ask whether a timer"),
    ("        if wait > 0 ms:", "        V_m = E_L\n        if wait > 0 ms:", EquationError, "in each step equations"),
    ("        if wait > 0 ms:", "        while wait > 0 ms:", EquationError, "not allowed here"),
    ("        if wait > 0 ms:", "        integrate_odes()\n        if wait > 0 ms:", EquationError, "once a step"),
    (
        "integrate_odes(V_m, I_ex, I_in)",
        "integrate_odes(V_m, I_in)",
        EquationError,
        "only while the neuron is refractory",
    ),
    ("integrate_odes(V_m, I_ex, I_in)", "integrate_odes(E_L)", EquationError, "no differential equation"),
    ("V_m = V_reset\n", "E_L = V_reset\n", EquationError, "only variables"),
    ("V_m = V_reset\n", "V_m = V_reset\n        for i in 0 ... 3:\n            V_m = E_L\n", EquationError, "a loop"),
    ("V_m = V_reset\n", "x real = 1\n        V_m = V_reset\n", EquationError, "a local variable"),
    ("emit_spike()", "emit_spike(2)", EquationError, "spikes of a neuron have no weight"),
    ("emit_spike()", "I_ex = 0 pA", EquationError, "when it fires only"),
    ("onCondition(V_m >= V_th and wait <= 0 ms)", "onCondition(wait <= 0 ms)", EquationError, "a threshold is missing"),
    (
        "onCondition(V_m >= V_th and wait <= 0 ms)",
        "onCondition(V_m and wait <= 0 ms)",
        EquationError,
        "a condition, not a number",
    ),
    ("wait = t_ref", "wait = V_m * 1 ms/mV", EquationError, "V_m"),
    ("emit_spike()", "emit_spike()\n        emit_spike()", EquationError, "at most once a step"),
    ("wait ms = 0 ms", "wait ms = 5 ms", EquationError, "no neuron is refractory at the beginning"),
    ("wait ms = 0 ms", "wait ms = t_ref", EquationError, "no neuron is refractory at the beginning"),
    ("    output:\n        spike\n", "", EquationError, "no output for spikes"),
    ("tau_m ms = 0.01 s", "tau_m ms = 1e-999 ms", EquationError, "too small"),
    ("    output:", "    outputs:", EquationError, "allowed here:"),
    ("    output:", "     output:", EquationError, "indented"),
]


@pytest.mark.parametrize(("old", "new", "error", "words"), MISTAKES)
def test_mistakes_show_their_place(tmp_path: Path, old: str, new: str, error: type[Exception], words: str) -> None:
    assert TEXT.count(old) == 1
    with pytest.raises(error) as caught:
        read(tmp_path, TEXT.replace(old, new))
    raised = caught.value
    assert isinstance(raised, EquationError)
    assert words in str(raised)
    assert raised.object.startswith(f"file {tmp_path / 'a.nestml'}, line ")
    assert ", column " in raised.object
    assert "^" in raised.place


@pytest.mark.parametrize(
    ("text", "error", "words"),
    [
        (b"", FileError, "no model"),
        (b"\n\n# only a comment", FileError, "no model"),
        (bytes(range(256)), FileError, "UTF-8"),
        (b"\x00\x01model a:", FileError, "zero"),
        (b"model a:\n", EquationError, "indented"),
        (b"model a:\n    state:\n        x real = 0\n", EquationError, "it never fires"),
        ("modèle a:\n", EquationError, "not allowed here"),
        ("model a:\n" + "    state:\n        x real = 0\n" * 2, EquationError, "each of its blocks once"),
        ("model a:\n  state:\n      x real = 0\n     y real = 1\n", EquationError, "indented"),
        ("x" * 200_000, EquationError, "may have"),
        ("\n" * 1_000_000, FileError, "more than"),
        ("model a:\n    internals:\n        x real = " + "(" * 40_000 + "\n", EquationError, "not allowed here"),
        ("model a:\n    internals:\n        x real = " + "-" * 10_000 + "1\n", EquationError, "inside each other"),
        ("model a:\n    internals:\n        x real = " + "1 + " * 5_000 + "1\n", EquationError, "inside each other"),
        *(
            pytest.param(
                f"model a:\n    internals:\n        x real = {part}1\n",
                EquationError,
                "inside each other",
                marks=pytest.mark.thorough,
            )
            for part in ("-" * 40_000, "1 + " * 20_000)
        ),
        (
            "model a:\n    update:\n" + "".join(" " * (5 + i) + "if true:\n" for i in range(300)) + " " * 400 + "f()\n",
            EquationError,
            "conditions inside each other",
        ),
        (
            "model a:\n    parameters:\n"
            + "".join(
                f"        p{i} real = p{i - 1} + p{i - 1}\n" if i else "        p0 real = 1\n" for i in range(2000)
            ),
            EquationError,
            "too large",
        ),
    ],
)
def test_files_that_are_no_models(tmp_path: Path, text: str | bytes, error: type[Exception], words: str) -> None:
    with pytest.raises(error) as caught:
        read(tmp_path, text)
    assert words in str(caught.value)
    assert str(tmp_path) in str(caught.value)


def test_a_folder_or_a_missing_file(tmp_path: Path) -> None:
    for path in (tmp_path, tmp_path / "missing.nestml"):
        with pytest.raises(FileError):
            rv.read_nestml(path)


@pytest.mark.parametrize(
    "functions",
    [
        # One that calls itself, two that call each other, and ones whose expressions double with each.
        ["function f(x real) real:", "    return f(x)"],
        ["function f(x real) real:", "    return g(x)", "function g(x real) real:", "    return f(x)"],
        [
            *(
                line
                for i in range(60)
                for line in (f"function f{i}(x real) real:", f"    return f{i + 1}(x) + f{i + 1}(x)")
            ),
            *("function f60(x real) real:", "    return x", "function f(x real) real:", "    return f0(x)"),
        ],
        [
            *(line for i in range(14) for line in (f"function f{i}(x real) real:", f"    return f{i + 1}(x + x)")),
            *("function f14(x real) real:", "    return x", "function f(x real) real:", "    return f0(x)"),
        ],
    ],
)
def test_functions_that_would_not_end(tmp_path: Path, functions: list[str]) -> None:
    added = "".join(f"    {line}\n" for line in functions)
    text = TEXT.replace("    update:", f"{added}    update:").replace("-I_ex / tau_ex", "-I_ex / tau_ex * f(V_m / mV)")
    began = time.monotonic()
    with pytest.raises(EquationError, match=r"cannot call itself|call each other|written out"):
        read(tmp_path, text)
    assert time.monotonic() - began < 20.0


FUNCTION = """\
    function f(x ms, y mV) real:
        z mV = x * y / ms
        return z / mV

    update:"""


@pytest.mark.parametrize(
    ("function", "call", "words"),
    [
        (FUNCTION, "f(V_m, tau_ex)", "in mV, but x is in ms"),
        (FUNCTION.replace("z / mV", "z"), "f(tau_ex, V_m)", "in mV, but f is a number without unit"),
        (FUNCTION.replace("z mV =", "z ms ="), "f(tau_ex, V_m)", "in mV, but z is in ms"),
        (FUNCTION.replace("return z", "if x > 1 ms:\n            return z"), "f(tau_ex, V_m)", "return one expression"),
        (FUNCTION, "f(tau_ex)", "takes 2 arguments"),
        (FUNCTION, "g(tau_ex, V_m)", "'g'"),
    ],
)
def test_mistakes_in_functions(tmp_path: Path, function: str, call: str, words: str) -> None:
    text = TEXT.replace("    update:", function)
    good = text.replace("-I_ex / tau_ex", "-I_ex / tau_ex * f(tau_ex, V_m)")
    if function == FUNCTION:
        assert "tau_ex*V_m/ms/mV" in read(tmp_path, good).equations
    with pytest.raises(EquationError) as caught:
        read(tmp_path, text.replace("-I_ex / tau_ex", f"-I_ex / tau_ex * {call}"))
    assert words in str(caught.value)
    assert f"file {tmp_path}" in str(caught.value)


def mutated(text: str, draw: random.Random) -> str:
    """Return a text with some lines, letters or words changed."""
    lines = text.split("\n")
    words = [word for line in lines for word in line.split()]
    for _ in range(draw.randint(1, 3)):
        i = draw.randrange(len(lines))
        match draw.randrange(6):
            case 0:
                del lines[i]
            case 1:
                lines.insert(i, draw.choice(lines))
            case 2:
                lines[i] = lines[i].replace(draw.choice(words), draw.choice(words))
            case 3:
                at = draw.randrange(len(lines[i]) + 1)
                lines[i] = lines[i][:at] + draw.choice("()[]:'\"#\\;,.*/+-=<>?$@!%&|^~0 1eE\t\u00e9\n") + lines[i][at:]
            case 4:
                lines[i] = " " * draw.randrange(13) + lines[i].lstrip()
            case 5:
                at = draw.randrange(len(lines[i]) + 1)
                lines[i] = lines[i][:at] + lines[i][at + 1 :]
        lines = lines or [""]
    return "\n".join(lines)


def tries_that_end(folder: Path, seed: int, count: int) -> tuple[int, int]:
    """Return how many mutated files make a model, and how many are refused; every other end is a failure."""
    draw = random.Random(seed)
    texts = [(MODELS / f"{name}.nestml").read_text() for name in NAMES]
    made, refused = 0, 0
    for _ in range(count):
        try:
            model = read(folder, mutated(draw.choice(texts), draw))
        except RanvierError:
            refused += 1
        else:
            model.describe()
            made += 1
    return made, refused


def test_damaged_files_make_models_or_typed_errors(tmp_path: Path) -> None:
    made, refused = tries_that_end(tmp_path, 1, 60)
    assert made > 5
    assert refused > 10


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(2, 8))
def test_many_damaged_files_make_models_or_typed_errors(tmp_path: Path, seed: int) -> None:
    made, refused = tries_that_end(tmp_path, seed, 500)
    assert made > 50
    assert refused > 100
