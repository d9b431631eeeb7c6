"""Channels from NMODL files: those that come with Ranvier, too, do the same; what is not read is an error."""

from __future__ import annotations

import pickle
import random
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import ranvier as rv
from ranvier.errors import (
    EquationError,
    FileError,
    MissingPackageError,
    RanvierError,
    UnitError,
    ValueOutOfBoundsError,
    WrongTypeError,
)
from repository import DATA
from thorough_cases import only

FOLDER = DATA / "nmodl"
BALL = rv.Morphology([rv.Section(length=20.0, diameter=20.0)])
STEP = 0.025


def run(mechanism: Any, time: float = 100.0, gate: str = "m", **options: Any) -> tuple[npt.NDArray[np.float64], Any]:
    """Return potential and gate of a cell, and the times of its spikes."""
    membrane = [("all", mechanism)] if mechanism.name in ("hh", "squid") else [("all", rv.hh()), ("all", mechanism)]
    probes: dict[str, Any] = {"gate": (rv.at(0), f"{gate} of {mechanism.name}")}
    net = rv.Network(resolution=STEP)
    cells = net.create(rv.Cell(BALL, membrane=membrane, probes=probes, **options), 1, I_e=120.0)
    states = net.record_state(cells, ["V_m", "gate"], interval=STEP)
    spikes = net.record_spikes(cells)
    sim = rv.Simulation(net, threads=1, progress=False)
    sim.run(time)
    return sim.state(states).values, sim.spikes(spikes).times


@pytest.mark.parametrize("celsius", [6.3, 13.0])
def test_the_squid_axon_of_a_file_is_the_built_in_one(celsius: float) -> None:
    values, times = run(rv.hh(), celsius=celsius)
    own, own_times = run(rv.read_nmodl(FOLDER / "squid.mod")(), celsius=celsius)
    assert len(times) >= 5
    np.testing.assert_array_equal(own_times, times)
    np.testing.assert_allclose(own, values, rtol=0.0, atol=1e-6)


def test_a_potassium_channel_of_a_file_is_the_built_in_one() -> None:
    """But for a gate that begins elsewhere: with this the file differs from the built-in channel."""
    channel = rv.read_nmodl(FOLDER / "slow_potassium.mod")
    assert list(channel._description.initial) == ["h", "m"] or list(channel._description.initial) == ["m", "h"]
    text = (FOLDER / "slow_potassium.mod").read_text().replace("h = 0.25", "h = half(v, -64, -11)")
    assert "0.25" not in text
    values, times = run(rv.k_persistent(gbar=0.004), celsius=18.0)
    changed, _ = run(channel(gbar=0.004, ek=-85.0), celsius=18.0)
    assert np.abs(changed - values).max() > 1.0
    own, own_times = run(read(text)(gbar="4 mS/cm**2", ek="-85 mV"), celsius=18.0)
    np.testing.assert_array_equal(own_times, times)
    np.testing.assert_allclose(own, values, rtol=0.0, atol=1e-6)


def test_what_a_file_declares() -> None:
    channel = rv.read_nmodl(str(FOLDER / "squid.mod"))
    assert channel.name == "squid"
    assert channel.gates == ("m", "h", "n")
    assert channel.currents == ("i", "ina", "ik", "il")
    assert channel.parameters == ("gnabar", "gkbar", "gl", "el", "ena", "ek")
    assert channel.units == {
        **dict.fromkeys(("gnabar", "gkbar", "gl"), "S/cm**2"),
        **dict.fromkeys(("el", "ena", "ek"), "mV"),
    }
    assert "squid.mod" in channel.describe()
    assert pickle.loads(pickle.dumps(channel)) == channel
    with pytest.raises(UnitError):
        channel(el="3 ms")
    with pytest.raises(rv.errors.ValueOutOfBoundsError, match=">= 0"):
        channel(gl=-1.0)


def read(text: str, name: str = "test.mod") -> rv.EquationChannel:
    """Return the channel of a file with this text."""
    from tempfile import TemporaryDirectory

    with TemporaryDirectory() as folder:
        (Path(folder) / name).write_text(text)
        channel = rv.read_nmodl(Path(folder) / name)
    assert isinstance(channel, rv.EquationChannel)
    return channel


SMALL = """NEURON { SUFFIX small NONSPECIFIC_CURRENT i }
PARAMETER { g = 0.001 (S/cm2) e = -70 (mV) }
ASSIGNED { v (mV) i (mA/cm2) }
BREAKPOINT { i = g*(v - e) }
"""


def test_a_passive_file_is_pas() -> None:
    """With a parameter whose name is a constant elsewhere."""
    channel = read(SMALL)
    assert channel.gates == ()
    assert channel.currents == ("i",)

    def values(mechanism: Any) -> npt.NDArray[np.float64]:
        net = rv.Network(resolution=STEP)
        probes: dict[str, Any] = {"i": (rv.at(0), f"i of {mechanism.name}")}
        cells = net.create(rv.Cell(BALL, membrane=[("all", mechanism)], probes=probes), 1, I_e=10.0)
        recorder = net.record_state(cells, ["V_m", "i"], interval=STEP)
        sim = rv.Simulation(net, threads=1, progress=False)
        sim.run(5.0)
        return sim.state(recorder).values

    np.testing.assert_array_equal(values(channel(e=-65.0)), values(rv.pas(e=-65.0)))


GATED = """NEURON { SUFFIX gated NONSPECIFIC_CURRENT i }
PARAMETER { g = 0.001 e = -70 }
ASSIGNED { v i x celsius }
STATE { n }
INITIAL { n = 0 }
BREAKPOINT {
    SOLVE s METHOD cnexp
    i = g*n*(v - e)
}
DERIVATIVE s {
    n' = (0.5 - n)/3
}
"""


@pytest.mark.parametrize(
    ("old", "new", "line", "words"),
    [
        ("SUFFIX gated", "POINT_PROCESS gated ELECTRODE_CURRENT j", 1, "BREAKPOINT gives it no value"),
        ("SUFFIX gated", "ARTIFICIAL_CELL gated", 1, "rv.neuron"),
        ("SUFFIX gated", "RANGE g", 1, "SUFFIX or POINT_PROCESS is missing"),
        ("NONSPECIFIC_CURRENT i", "USEION ca READ cbo WRITE ica", 1, "of calcium"),
        ("NONSPECIFIC_CURRENT i", "USEION k READ inward WRITE ik", 1, "not the currents of other mechanisms"),
        ("NONSPECIFIC_CURRENT i", "USEION k READ ek WRITE ki", 1, "cannot change concentrations"),
        ("NONSPECIFIC_CURRENT i", "USEION x READ ex WRITE ix", 1, "BREAKPOINT gives it no value"),
        ("NONSPECIFIC_CURRENT i", "NONSPECIFIC_CURRENT i, j", 1, "BREAKPOINT gives it no value"),
        ("NONSPECIFIC_CURRENT i", "POINTER p NONSPECIFIC_CURRENT i", 1, "cannot access variables of others"),
        ("NONSPECIFIC_CURRENT i", "NONSPECIFIC i", 1, "not expected"),
        ("{ v i x celsius }", "{ v (V) i }", 3, "must be in mV"),
        ("{ v i x celsius }", "{ v i (nA) }", 3, "must be in mA/cm2"),
        ("SOLVE s METHOD cnexp", "SOLVE s", 7, "methods of DERIVATIVE blocks are cnexp"),
        ("SOLVE s METHOD cnexp", "SOLVE other METHOD cnexp", 7, "DERIVATIVE block of this name is missing"),
        ("SOLVE s METHOD cnexp", "", 4, "no solved DERIVATIVE block"),
        ("SOLVE s METHOD cnexp", "if (v > 0) { SOLVE s METHOD cnexp }", 7, "outside of conditions"),
        (
            "INITIAL { n = 0 }",
            "PROCEDURE go() { SOLVE s METHOD cnexp } INITIAL { go() }",
            5,
            "SOLVE belongs in BREAKPOINT",
        ),
        ("i = g*n*(v - e)", "i = g*n*(v - e", 9, "not expected"),
        ("i = g*n*(v - e)", "i = g*n*(u - e)", 8, "no such name"),
        ("i = g*n*(v - e)", "i = g*n*(v - e)*f(v)", 8, "no such name"),
        ("i = g*n*(v - e)", "i = g*n*(v - e)*exp(1, 2)", 8, "exp takes 1"),
        ("i = g*n*(v - e)", "celsius = 2", 8, "temperature of the cell and cannot be assigned"),
        ("i = g*n*(v - e)", "LOCAL y i = g*y*(v - e)", 8, "before it has a value"),
        ("i = g*n*(v - e)", "LOCAL y if (v > 0) { y = 1 } i = g*y*(v - e)", 8, "before it has a value"),
        ("i = g*n*(v - e)", "LOCAL y if (v > 0) { LOCAL y y = 1 } i = g*y*(v - e)", 8, "before it has a value"),
        ("i = g*n*(v - e)", "LOCAL y LOCAL y i = g*n*(v - e)", 8, "declared twice in one block"),
        ("i = g*n*(v - e)", "i = g*n*(v - x) x = e", 8, "assigns it afterwards"),
        ("i = g*n*(v - e)", "x = x + 1 i = g*x*n*(v - e)", 8, "assigns it afterwards"),
        ("i = g*n*(v - e)", "g = 2", 1, "BREAKPOINT gives it no value"),
        ("i = g*n*(v - e)", "if (x > 0) { x = g*v } if (x > 1) { x = 2 } i = x*n*v", 8, "assigns it afterwards"),
        ("i = g*n*(v - e)", "i = g*n*(v - e) if (n > 1) { n = 1 }", 8, "assigns it afterwards"),
        ("i = g*n*(v - e)", "if (n > 1) { n = 1 - n } i = g*n*(v - e)", 8, "assigns it afterwards"),
        ("i = g*n*(v - e)", "VERBATIM\n i = 3;\nENDVERBATIM", 8, "C code"),
        ("n' = (0.5 - n)/3", "n' = (0.5 - n*n)/3", 11, "equations that are linear in n"),
        ("n' = (0.5 - n)/3", "t = 3 n' = (0.5 - n)/3", 11, "time of the simulation and cannot be assigned"),
        ("n' = (0.5 - n)/3", "m' = (0.5 - n)/3", 11, "it is not a STATE"),
        (
            "DERIVATIVE s {\n    n' = (0.5 - n)/3",
            "KINETIC s {\n    ~ n <-> m (a, b)",
            7,
            "KINETIC blocks are solved by sparse",
        ),
        ("n = 0", "n = q", 5, "no such name"),
        ("STATE { n }", "STATE { n } NET_RECEIVE(w) { net_send(1, 2) }", 4, "no events to themselves"),
        ("STATE { n }", "STATE { n } FUNCTION f(y) { f = f(y) }", 8, ""),
        ("{ g = 0.001 e = -70 }", "{ g = 0.001 <1, 2> e = -70 }", 2, "outside its bounds"),
    ],
)
def test_what_is_not_read_is_an_error_with_its_line(old: str, new: str, line: int, words: str) -> None:
    assert old in GATED
    if "f(y)" in new:
        text = GATED.replace(old, new).replace("i = g*n", "i = f(v)*n")
        words = "20 deep"
        line = 4
    else:
        text = GATED.replace(old, new)
    with pytest.raises(EquationError) as caught:
        read(text)
    assert words in str(caught.value)
    assert f"test.mod, line {line}," in str(caught.value)
    assert "^" in caught.value.place


def test_a_good_file_is_read_whatever_it_leaves_out() -> None:
    """Comments, titles, tables, units, hints; values that INITIAL leaves, and those of a choice."""
    text = GATED.replace("INITIAL { n = 0 }", "INITIAL { x = 2^celsius n = 0 }").replace(
        "n' = (0.5 - n)/3",
        "LOCAL a, b\n"
        "if (celsius < 0 && v > 0) { a = x b = 2 } else if (v == -20 || v != -20) { a = 3*x } else { a = 4*x }\n"
        "n' = (0.5 - n)/a/exprelr(0)/ceil(0.5)*log10(10)",
    )
    text = (
        f"TITLE it's a test: {{ ( \nCOMMENT\n {'{'} ENDCOMMENT\n UNITSOFF UNITS {{ F = (faraday) (coulomb) }}\n" + text
    )
    text = text.replace("SOLVE s", "CONDUCTANCE g USEION k SOLVE s ? nothing ' here")
    with pytest.raises(EquationError):
        read(text)
    channel = read(text.replace(" ? nothing ' here METHOD", " METHOD"))
    assert channel.gates == ("n",)
    (values, _), (quarter, _) = (run(channel(), 5.0, "n", celsius=celsius) for celsius in (0.0, 2.0))
    np.testing.assert_allclose(values[0, 1, 0], 0.5 * -np.expm1(-STEP / 3.0), rtol=1e-5)
    np.testing.assert_allclose(quarter[0, 1, 0], 0.5 * -np.expm1(-STEP / 12.0), rtol=1e-5)


def test_a_file_that_is_not_there_and_lark_that_is_not(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(FileError, match="cannot be read"):
        rv.read_nmodl(tmp_path / "none.mod")
    with pytest.raises(WrongTypeError):
        rv.read_nmodl(3)  # type: ignore[arg-type]
    from ranvier.channels import nmodl_syntax

    nmodl_syntax._parser.cache_clear()
    monkeypatch.setitem(sys.modules, "lark", None)
    with pytest.raises(MissingPackageError, match=r"ranvier\[nmodl\]"):
        rv.read_nmodl(FOLDER / "squid.mod")
    nmodl_syntax._parser.cache_clear()


WORDS = [
    "{",
    "}",
    "(",
    ")",
    "=",
    "'",
    "^",
    "<",
    "0",
    "1e400",
    "if",
    "SOLVE",
    "LOCAL",
    "STATE { q }",
    "h'",
    "exp(",
    "rates(v)",
]
WORDS += ["\0", "é", "&&", "USEION k", "celsius", "dt", "x" * 300, "1/0", "pi", "INITIAL {", "__class__", "lambda", "i"]


def is_refused(text: str) -> bool:
    """Make a cell with the channel of a file; return whether it was refused with an error that names a place."""
    try:
        rv.Cell(BALL, membrane=[("all", read(text)())])
    except RanvierError as error:
        return "line" in str(error) or "mechanism" in str(error)
    return False


@pytest.mark.parametrize("seed", only([2], range(3)))
def test_damaged_files_are_read_or_refused_with_a_typed_error(seed: int) -> None:
    """Words are left out, changed, doubled and put elsewhere."""
    chance = random.Random(seed)
    texts = [file.read_text() for file in sorted(FOLDER.glob("*.mod"))]
    refused = 0
    for _ in range(20):
        text = chance.choice(texts)
        for _ in range(chance.randint(1, 3)):
            places = [found.span() for found in re.finditer(r"\w+|[^\w\s]", text)]
            (begin, end), (first, last) = chance.choice(places), chance.choice(places)
            new = chance.choice(
                ["", chance.choice(WORDS), f"{text[begin:end]} {chance.choice(WORDS)} ", text[first:last]]
            )
            text = text[:begin] + new + text[end:]
        refused += is_refused(text)
    assert refused >= 10


def test_concentrations_of_ions_are_parameters() -> None:
    """Potentials beside them have no default: NEURON would calculate them."""
    pump = read("""NEURON { SUFFIX pump
            USEION k READ ki, ko, ek WRITE ik USEION na READ nao USEION cl READ cli VALENCE -1 }
        PARAMETER { ki = 3 (mM) }
        ASSIGNED { v (mV) ko (mM) nao (mM) ek (mV) cli (mM) ik (mA/cm2) }
        BREAKPOINT { ik = 1e-4*(ki/ko - 2*nao/140 + cli)*(v - ek) }""")
    with pytest.raises(ValueOutOfBoundsError, match=r"'?ek'?"):
        rv.Cell(BALL, membrane=[("all", pump(cli=7.0))])
    with pytest.raises(ValueOutOfBoundsError, match=r"'?cli'?"):
        rv.Cell(BALL, membrane=[("all", pump(ek=-90.0))])

    def current(**values: float) -> float:
        probes = {"i": (rv.at(0), "i of pump")}
        net = rv.Network(resolution=0.1)
        cells = net.create(rv.Cell(BALL, membrane=[("all", pump(cli=7.0, ek=-90.0, **values))], probes=probes), 1)
        return float(rv.Simulation(net, progress=False).get(cells, "i")[0])

    potential = -65.0
    assert current() == pytest.approx(1e-4 * (54.4 / 2.5 - 2 + 7) * (potential + 90), rel=1e-12)
    assert current(ki=2.0, ko=1.0, nao=70.0) == pytest.approx(1e-4 * (2 - 1 + 7) * (potential + 90), rel=1e-12)
