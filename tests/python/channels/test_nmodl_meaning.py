"""Statements of NMODL files have NEURON's meaning: files in odd forms do what plain ones do, or are refused."""

from __future__ import annotations

import copy
import pickle
import random
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import ranvier as rv
from ranvier.channels.nmodl import account_of_nmodl
from ranvier.errors import EquationError
from thorough_cases import only

BALL = rv.Morphology([rv.Section(length=20.0, diameter=20.0)])
STEP = 0.1


def written(folder: Path, text: str) -> Path:
    """Return a file with this text."""
    file = folder / "test.mod"
    file.write_text(text)
    return file


def trace(channel: rv.EquationChannel, **values: Any) -> npt.NDArray[np.float64]:
    """Return the potential and the current of a cell with the channel, which moves up and down."""
    net = rv.Network(resolution=STEP)
    probes: dict[str, Any] = {"i": (rv.at(0), f"i of {channel.name}")}
    membrane = [("all", rv.pas(g=1e-3, e=-60.0)), ("all", channel(**values))]
    cell = rv.Cell(BALL, membrane=membrane, probes=probes, celsius=16.3, rates="exact")
    cells = net.create(cell, 3, V_m=[-65.0, -80.0, -30.0], I_e=[300.0, -60.0, 20.0])
    recorder = net.record_state(cells, ["V_m", "i"], interval=STEP)
    sim = rv.Simulation(net, threads=1, progress=False)
    sim.run(8.0)
    return sim.state(recorder).values


PARTS = {
    "neuron": "SUFFIX x RANGE g, k NONSPECIFIC_CURRENT i",
    "parameter": "g = 0.003 e = -20 k = 2",
    "assigned": "v i celsius a minf mtau",
    "states": "m",
    "initial": "rates(v) m = minf",
    "breakpoint": "SOLVE s METHOD cnexp i = g*m*(v - e)",
    "solved": "DERIVATIVE s { rates(v) m' = (minf - m)/mtau }",
    "rates": "minf = 1/(1 + exp(-(u + 50)/9)) mtau = 1 + 4/(1 + exp((u + 55)/12))",
    "more": "",
}


def text_of(**changed: str) -> str:
    """Return a file of a gate, with some parts changed."""
    parts = PARTS | changed
    return f"""NEURON {{ {parts["neuron"]} }}
PARAMETER {{ {parts["parameter"]} }}
ASSIGNED {{ {parts["assigned"]} }}
STATE {{ {parts["states"]} }}
INITIAL {{ {parts["initial"]} }}
BREAKPOINT {{ {parts["breakpoint"]} }}
{parts["solved"]}
PROCEDURE rates(u) {{ {parts["rates"]} }}
{parts["more"]}
"""


def solved(right: str, before: str = "rates(v)") -> str:
    """Return a DERIVATIVE block with a right side."""
    return f"DERIVATIVE s {{ {before} m' = {right} }}"


PLAIN: dict[str, str] = {}
WARM = {"solved": solved("k*(minf - m)/mtau")}
SCALED = {"breakpoint": "SOLVE s METHOD cnexp i = g*k*m*(v - e)"}
SHIFTED = {"rates": PARTS["rates"].replace("u +", "u + 2 +")}
SAME = {
    "a condition around equations": (
        {"solved": "DERIVATIVE s { rates(v) IF (k > 1) { m' = k*(minf - m)/mtau } ELSE { m' = -m } }"},
        WARM,
    ),
    "a chain of conditions": (
        {
            "solved": "DERIVATIVE s { rates(v) if (k > 3) { m' = 1 - m } else if (k < 1) { m' = -m } else if (k == 2) "
            "{ m' = k*(minf - m)/mtau } else { m' = 2 - m } }"
        },
        WARM,
    ),
    "a condition that depends on the potential": (
        {"rates": PARTS["rates"] + " if (u > -40) { mtau = 2 } else { mtau = 3 }"},
        {"solved": solved("(minf - m)/(2 + (v <= -40))")},
    ),
    "an equation under a condition of the potential": (
        {"solved": "DERIVATIVE s { rates(v) if (v > -45) { m' = (minf - m)/mtau } else { m' = (1 - m)/9 } }"},
        {"solved": solved("(where1*minf + (1 - where1) - m)/(where1*mtau + (1 - where1)*9)", "rates(v) w()")}
        | {"more": "PROCEDURE w() { where1 = v > -45 }", "assigned": PARTS["assigned"] + " where1"},
    ),
    "inner blocks have names of their own": (
        {
            "breakpoint": "LOCAL y SOLVE s METHOD cnexp y = g if (k > 0) { LOCAL y y = 7 if (k > 1) { LOCAL y y = 9 } }"
            " i = y*m*(v - e)"
        },
        PLAIN,
    ),
    "names of inner blocks are assigned from further inside": (
        {"breakpoint": "LOCAL y SOLVE s METHOD cnexp y = g if (k > 0) { LOCAL z z = k y = y*z } i = y*m*(v - e)"},
        SCALED,
    ),
    "the potential is shifted and put back": (
        {"rates": "v = v + 2 + k " + PARTS["rates"].replace("u +", "v - k +") + " v = v - k v = v - 2"},
        SHIFTED,
    ),
    "the potential is shifted up to the end of the block": (
        {"solved": solved("(minf - m)/mtau", "v = v + 2 rates(v)"), "initial": "v = v + 2 rates(v) m = minf"},
        SHIFTED,
    ),
    "a step that is written out": (
        {
            "breakpoint": "SOLVE s i = g*m*(v - e)",
            "solved": "PROCEDURE s() { rates(v) m = m + (1 - exp(-dt/mtau))*(minf - m) }",
        },
        PLAIN,
    ),
    "a step with a factor of the file": (
        {
            "breakpoint": "SOLVE s i = g*m*(v - e)",
            "parameter": PARTS["parameter"] + " dt = 0.7",
            "solved": "LOCAL mexp PROCEDURE s() { rates(v) m = m + mexp*(minf - m) VERBATIM\n return 0;\nENDVERBATIM }",
            "rates": "LOCAL tinc " + PARTS["rates"] + " tinc = -dt*k mexp = 1 - exp(tinc/mtau)",
        },
        WARM,
    ),
    "a step towards the end": (
        {
            "breakpoint": "SOLVE s i = g*m*(v - e)",
            "solved": "PROCEDURE s() { rates(v) m = minf - (minf - m)*exp(-dt/mtau) }",
        },
        PLAIN,
    ),
    "a step down": (
        {
            "breakpoint": "SOLVE s i = g*m*(v - e)",
            "solved": "PROCEDURE s() { rates(v) m = m - (1 - exp(-dt/mtau))*(m - minf) }",
        },
        PLAIN,
    ),
    "a parameter that is assigned": (
        {"parameter": "g = 1 e = -20 k = 2", "initial": "g = 0.003 rates(v) m = minf"},
        PLAIN,
    ),
    "a parameter that is scaled": ({"initial": "g = g*k rates(v) m = minf"}, SCALED),
    "what INITIAL leaves": (
        {"initial": "a = 2 rates(v) m = minf", "breakpoint": SCALED["breakpoint"].replace("k", "a")},
        SCALED,
    ),
    "what BREAKPOINT leaves for itself, the same each time": (
        {"initial": "a = k rates(v) m = minf", "breakpoint": "SOLVE s METHOD cnexp i = g*k*m*(v - e) a = k"},
        SCALED,
    ),
    "a name that is never assigned is 0": ({"solved": solved("(minf - m + a)/mtau")}, PLAIN),
    "one that can be set is a parameter": (
        {"neuron": "SUFFIX x RANGE g, k, a NONSPECIFIC_CURRENT i", "solved": solved("(minf - m + a)/mtau")},
        PLAIN,
    ),
    "truths are numbers": ({"breakpoint": "SOLVE s METHOD cnexp i = g*m*(v - e)*(1 + (k > 1))"}, SCALED),
    "numbers are truths": (
        {"breakpoint": "SOLVE s METHOD cnexp if (k && !(k - 2)) { a = k } else { a = 9 } i = g*a*m*(v - e)"},
        SCALED,
    ),
    "begins of states": (
        {"parameter": PARTS["parameter"] + " m0 = 0.25", "initial": "rates(v)"},
        {"initial": "rates(v) m = 0.25"},
    ),
    "loops and arrays": (
        {
            "assigned": PARTS["assigned"] + " w[N]",
            "neuron": "SUFFIX x NONSPECIFIC_CURRENT i",
            "breakpoint": "SOLVE s METHOD cnexp w[0] = 0 FROM j = 1 TO N-1 { w[j] = w[j - 1] + j if (j == 2) "
            "{ w[j] = w[j] - 1 } } i = g*w[2]*m*(v - e)",
            "more": "DEFINE N 3",
        },
        SCALED,
    ),
    "numbers of UNITS": (
        {
            "more": "UNITS { (mV) = (millivolt) h = 2 (1) PI = (pi) (1) }",
            "breakpoint": SCALED["breakpoint"].replace("k", "h*PI/PI"),
        },
        SCALED,
    ),
    "constants": ({"more": "CONSTANT { h = 2 }", "breakpoint": SCALED["breakpoint"].replace("k", "h")}, SCALED),
    "tables end where they end": (
        {"rates": "TABLE minf, mtau FROM -55 TO -45 WITH 200 " + PARTS["rates"]},
        {"rates": PARTS["rates"].replace("u +", "fmin(fmax(u, -55), -45) +")},
    ),
    "an argument with the name of the potential": (
        {"more": "FUNCTION f(v) { f = v v = 3 }", "solved": solved("(minf - m)/f(mtau)")},
        PLAIN,
    ),
}


COUPLED = "DERIVATIVE s { rates(v) m' = (minf - m)/mtau + 0.1*m*m }"
GENERAL = {
    "two equations for a state, one after the other": (
        {"solved": "DERIVATIVE s { rates(v) m' = (minf - m)/mtau m' = (0.2 - m)/9 }"},
        {
            "solved": "PROCEDURE s() { LOCAL x rates(v) x = minf + (m - minf)*exp(-dt/mtau)"
            " m = 0.2 + (x - 0.2)*exp(-dt/9) }",
            "breakpoint": "SOLVE s i = g*m*(v - e)",
        },
    ),
    "a step of Euler": (
        {"solved": COUPLED, "breakpoint": "SOLVE s METHOD euler i = g*m*(v - e)"},
        {
            "solved": "PROCEDURE s() { rates(v) m = m + dt*((minf - m)/mtau + 0.1*m*m) }",
            "breakpoint": "SOLVE s i = g*m*(v - e)",
        },
    ),
    "an implicit step": (
        {"solved": solved("(minf - m)/mtau"), "breakpoint": "SOLVE s METHOD derivimplicit i = g*m*(v - e)"},
        {
            "solved": "PROCEDURE s() { rates(v) m = (m + dt*minf/mtau)/(1 + dt/mtau) }",
            "breakpoint": "SOLVE s i = g*m*(v - e)",
        },
    ),
    "reactions": (
        {
            "solved": "KINETIC s { rates(v) ~ m <-> c (a, 1/mtau - a) CONSERVE m + c = 1 }",
            "breakpoint": "SOLVE s METHOD sparse i = g*m*(v - e)",
            "rates": PARTS["rates"] + " a = (1 - minf)/mtau",
            "states": "m c",
            "initial": "rates(v) m = minf c = 1 - m",
        },
        {"solved": solved("(minf - m)/mtau"), "breakpoint": "SOLVE s METHOD derivimplicit i = g*m*(v - e)"},
    ),
    "steady states of reactions": (
        {
            "solved": "KINETIC s { rates(v) ~ m <-> c (a, 1/mtau - a) CONSERVE m + c = 1 }",
            "breakpoint": "SOLVE s METHOD sparse i = g*m*(v - e)",
            "rates": PARTS["rates"] + " a = (1 - minf)/mtau",
            "states": "m c",
            "initial": "SOLVE s STEADYSTATE sparse",
        },
        {"solved": solved("(minf - m)/mtau"), "breakpoint": "SOLVE s METHOD derivimplicit i = g*m*(v - e)"},
    ),
    "a condition around the current": (
        {"breakpoint": "SOLVE s METHOD cnexp if (v > -55) { i = g*m*(v - e) } else { i = 2*g*m*(v - e) }"},
        {"breakpoint": "SOLVE s METHOD cnexp i = g*m*(v - e)*(1 + (v <= -55))"},
    ),
    "gates that read what earlier ones have become": (
        {
            "states": "m h",
            "initial": "rates(v) m = minf h = m",
            "solved": "DERIVATIVE s { rates(v) m' = (minf - m)/mtau h' = (m - h)/2 }",
            "breakpoint": "SOLVE s METHOD cnexp i = g*h*(v - e)",
        },
        {
            "states": "m h",
            "initial": "rates(v) m = minf h = m",
            "solved": "PROCEDURE s() { rates(v) m = minf + (m - minf)*exp(-dt/mtau) h = m + (h - m)*exp(-dt/2) }",
            "breakpoint": "SOLVE s i = g*h*(v - e)",
        },
    ),
    "what BREAKPOINT leaves for what it solves": (
        {
            "initial": "rates(v) m = minf",
            "breakpoint": "SOLVE s METHOD cnexp a = 1/(1 + exp(-(v + 50)/9)) i = g*m*(v - e)",
            "solved": "DERIVATIVE s { m' = (a - m)/3 }",
        },
        {
            "states": "m a",
            "assigned": "v i celsius minf mtau",
            "initial": "rates(v) m = minf a = minf",
            "breakpoint": "SOLVE s i = g*m*(v - e)",
            "solved": "PROCEDURE s() { m = a + (m - a)*exp(-dt/3) a = 1/(1 + exp(-(v + 50)/9)) }",
        },
    ),
}
SAME |= GENERAL


@pytest.fixture(scope="module")
def plain(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return trace(rv.read_nmodl(written(tmp_path_factory.mktemp("plain"), text_of())))


@pytest.mark.parametrize("name", SAME)
def test_two_files_do_the_same(tmp_path: Path, name: str, plain: Any) -> None:
    own, other = SAME[name]
    channels = [rv.read_nmodl(written(tmp_path, text_of(**parts))) for parts in (own, other)]
    assert name in GENERAL or not any(each.is_general for each in channels)
    assert pickle.loads(pickle.dumps(channels[0])) == channels[0]
    found, wanted = map(trace, channels)
    np.testing.assert_allclose(found, wanted, rtol=1e-7, atol=1e-12)
    assert other == PLAIN or np.abs(wanted - plain).max() > 1e-3, "the test cannot see the difference"


def test_an_equation_under_a_condition_alone_holds_the_state(tmp_path: Path) -> None:
    text = text_of(solved="DERIVATIVE s { rates(v) IF (k > 2) { m' = (minf - m)/mtau } }", initial="m = 0.3 rates(v)")
    channel = rv.read_nmodl(written(tmp_path, text))
    held = rv.read_nmodl(written(tmp_path, text_of(solved=solved("(0.3 - m)/1e9"), initial="m = 0.3 rates(v)")))
    np.testing.assert_allclose(trace(channel), trace(held), rtol=1e-6, atol=1e-9)
    follows = rv.read_nmodl(written(tmp_path, text_of(initial="m = 0.3 rates(v)")))
    np.testing.assert_allclose(trace(channel, k=3.0), trace(follows), rtol=1e-9)


def test_what_a_solved_block_assigns_reaches_the_current(tmp_path: Path) -> None:
    """It is what this step has calculated; the first currents have what INITIAL has left."""
    parts = {"breakpoint": "SOLVE s METHOD cnexp i = g*a*(v - e)", "initial": "a = 0.5 rates(v) m = minf"}
    block = "DERIVATIVE s { rates(v) m' = -m a = minf }"
    channel = rv.read_nmodl(written(tmp_path, text_of(solved=block, **parts)))
    values = trace(channel)
    potential, current = values[:, 0], values[:, 1]
    assert channel.gates == ("a",)
    assert channel.is_general
    np.testing.assert_allclose(current, 0.003 / (1 + np.exp(-(potential + 50) / 9)) * (potential + 20), rtol=0.3)
    parts["initial"] = "rates(v) a = minf m = minf"
    fast = rv.read_nmodl(written(tmp_path, text_of(solved=block, **parts)))
    assert not fast.is_general
    first, later = trace(fast)[:, 0], potential
    assert np.abs(first[0] - later[0]).max() > 1e-3, "the first step differs"


def test_numbers_of_ions_are_not_those_of_the_file(tmp_path: Path) -> None:
    neuron = "SUFFIX x USEION k READ ek WRITE ik RANGE g"
    parts = {"neuron": neuron, "breakpoint": "SOLVE s METHOD cnexp ik = g*m*(v - ek)", "assigned": "v ik minf mtau"}
    text = text_of(**parts, parameter="g = 0.003 ek = -11 (mV) k = 2")
    channel, accounts = account_of_nmodl(written(tmp_path, text))
    assert channel.__signature__.parameters["ek"].default == -77.0
    [account] = [each for each in accounts if each.text.startswith("ek =")]
    assert "ion" in account.reason
    assert not account.effects


REFUSED = [
    ({"more": "PROCEDURE rates(u) { }"}, 9, "declared twice"),
    ({"more": "INITIAL { }"}, 9, "declared twice"),
    ({"more": "BREAKPOINT { }"}, 9, "declared twice"),
    ({"more": "DERIVATIVE s { }"}, 9, "declared twice"),
    ({"more": "PARAMETER { g = 1 }"}, 9, "declared twice"),
    ({"more": "ASSIGNED { k }"}, 9, "declared twice"),
    ({"more": "FUNCTION f(x, x) { f = x }"}, 9, "two arguments"),
    ({"neuron": "SUFFIX x SUFFIX y NONSPECIFIC_CURRENT i"}, 1, "declared twice"),
    ({"neuron": "SUFFIX x NONSPECIFIC_CURRENT i, i"}, 1, "declared twice"),
    ({"initial": "m' = 3"}, 5, "derivatives belong in DERIVATIVE"),
    ({"rates": "TABLE minf FROM -100 TO 100 WITH 10 " + PARTS["rates"]}, 7, "TABLE does not list it"),
    ({"rates": "TABLE minf, mtau FROM -100 TO 100 WITH 10 minf = v mtau = 1"}, 8, "cannot depend on it"),
    ({"more": "FUNCTION f(x, y) { TABLE FROM 0 TO 1 WITH 9 f = x }", "initial": "m = f(v, 1)"}, 9, "with one argument"),
    ({"initial": "VERBATIM\n m = 3;\nENDVERBATIM"}, 5, "C code"),
    ({"initial": "VERBATIM return 0; ENDVERBATIM m = 3"}, 5, "skips statements"),
    ({"initial": "FROM j = 0 TO k { m = 1 }"}, 5, "not known when the file is read"),
    ({"initial": "FROM j = 0 TO 1e9 { m = 1 }"}, 5, "at most"),
    ({"initial": "m = g[0]"}, 5, "not an array"),
    ({"assigned": PARTS["assigned"] + " w[2]", "initial": "w[2] = 1"}, 5, "from 0 to 1"),
    ({"assigned": PARTS["assigned"] + " w[2]", "initial": "w = 1"}, 5, "array of 2"),
    ({"more": "UNITS { F = (faraday) (volt) }"}, 9, "not measured in"),
    ({"more": "UNITS { F = (parsnip) (volt) }"}, 9, "unit is not known"),
    ({"breakpoint": "SOLVE s STEADYSTATE cnexp i = g*m*(v - e)"}, 6, "steady states"),
]


@pytest.mark.parametrize(("parts", "line", "words"), REFUSED)
def test_what_cannot_be_carried_out_is_refused_with_its_line(
    tmp_path: Path, parts: dict[str, str], line: int, words: str
) -> None:
    with pytest.raises(EquationError) as caught:
        rv.read_nmodl(written(tmp_path, text_of(**parts)))
    assert words in str(caught.value)
    assert f", line {line}," in str(caught.value)
    assert caught.value.__context__ is None, "one message"


def test_a_syntax_error_is_one_message(tmp_path: Path) -> None:
    with pytest.raises(EquationError, match="not expected") as caught:
        rv.read_nmodl(written(tmp_path, text_of(initial="m = = 3")))
    assert caught.value.__context__ is None


def test_each_statement_has_an_effect_or_a_reason(tmp_path: Path) -> None:
    parts = {
        "parameter": PARTS["parameter"] + " never = 3 celsius = 6.3",
        "breakpoint": "SOLVE s METHOD cnexp a = g*m i = a*(v - e) a = 3",
        "more": "PROCEDURE unused() { a = 4 }\nVERBATIM\n#include <math.h>\nENDVERBATIM\n"
        "INDEPENDENT { t FROM 0 TO 1 WITH 1 }",
    }
    _, accounts = account_of_nmodl(written(tmp_path, text_of(**parts)))
    by_text = {each.text: each for each in accounts}
    assert by_text["a = g*m"].effects == ("i",)
    assert by_text["minf = 1/(1 + exp(-(u + 50)/9))"].effects == ("i", "m")
    assert by_text["m' = (minf - m)/mtau"].effects == ("i", "m")
    assert by_text["g = 0.003"].effects == ("i",)
    for text in ("a = 3", "a = 4", "never = 3", "celsius = 6.3", "VERBATIM #include <math.h> ENDVERBATIM"):
        assert by_text[text].effects == ()
        assert by_text[text].reason
    assert all(bool(each.effects) != bool(each.reason) for each in accounts)
    ignored = {each.text for each in accounts if not each.effects and not each.is_hint}
    assert {"a = 3", "a = 4", "celsius = 6.3"} <= ignored
    assert not {"g = 0.003", "rates(v)"} & ignored


def deep_text(kind: str) -> str:
    """Return a file with a long sum, many conditions, deep brackets or deep blocks."""
    match kind:
        case "sum":
            return text_of(rates=PARTS["rates"] + " mtau = mtau" + " + 0.001*u" * 600 + " + 99*fabs(u)")
        case "conditions":
            conditions = " ".join(f"if (u > {k}) {{ mtau = mtau + 1 }}" for k in range(300))
            return text_of(rates=f"{PARTS['rates']} {conditions}")
        case "chain":
            return text_of(rates=PARTS["rates"] + " if (u > 400) { mtau = 1 }" + " else if (u > 2) { mtau = 3 }" * 300)
        case "brackets":
            return text_of(rates=PARTS["rates"] + " mtau = mtau + " + "(" * 900 + "1" + " + 0)" * 900)
    depth = 2000 if kind == "deeper blocks" else 1100
    return text_of(rates=PARTS["rates"] + "if (u > 2) { " * depth + "mtau = 2" + " }" * depth)


@pytest.mark.parametrize(
    "kind", only(["sum", "brackets", "blocks"], ["sum", "conditions", "chain", "brackets", "blocks", "deeper blocks"])
)
def test_long_and_deep_files_are_read_or_refused_with_a_typed_error(tmp_path: Path, kind: str) -> None:
    file = written(tmp_path, deep_text(kind))
    if kind.endswith("blocks"):
        with pytest.raises(EquationError, match="too deep"):
            rv.read_nmodl(file)
        return
    channel = rv.read_nmodl(file)
    assert pickle.loads(pickle.dumps(channel)) == channel
    assert copy.deepcopy(channel) == channel


def test_networks_with_channels_of_files_are_pickled(tmp_path: Path) -> None:
    channel = rv.read_nmodl(written(tmp_path, text_of()))
    net = rv.Network(resolution=STEP)
    cells = net.create(rv.Cell(BALL, membrane=[("all", channel(g=0.002))]), 2, I_e=50.0)
    net.record_spikes(cells)
    again = pickle.loads(pickle.dumps(net))
    ends = []
    for each in (net, again):
        sim = rv.Simulation(each, threads=1, progress=False)
        sim.run(5.0)
        ends.append(sim.get(each.populations[0], "V_m"))
    np.testing.assert_array_equal(ends[0], ends[1])


SYNAPSE = """NEURON { POINT_PROCESS syn RANGE tau, e, i NONSPECIFIC_CURRENT i }
PARAMETER { tau = 3 (ms) e = 0 (mV) }
ASSIGNED { v (mV) i (nA) factor }
STATE { g }
INITIAL { g = 0 factor = 2/3 }
BREAKPOINT { SOLVE s METHOD cnexp i = g*(v - e) }
DERIVATIVE s { g' = -g/tau }
NET_RECEIVE(weight (uS)) { g = g + factor*weight }
"""


def test_a_point_process_is_a_receptor(tmp_path: Path) -> None:
    made = rv.read_nmodl(written(tmp_path, SYNAPSE))
    assert made.parameters == ("tau", "e")
    _, accounts = account_of_nmodl(tmp_path / "test.mod")
    assert [each.text for each in accounts if not (each.effects or each.is_hint)] == []
    assert pickle.loads(pickle.dumps(made)).program == made.program
    ends = []
    for receptor, weight in ((made(tau=4.0), 3.0), (rv.expsyn(tau=4.0), 2.0)):
        net = rv.Network(resolution=STEP)
        cell = rv.Cell(BALL, membrane=[("all", rv.pas())], receptors={"exc": (receptor, rv.at(0))})
        cells = net.create(cell, 1)
        spikes = net.create_spike_generators([[1.0, 3.0]])
        net.connect(spikes, cells, rule=rv.OneToOne(), weight=weight, delay=1.0, receptor="exc")
        recorder = net.record_state(cells, "V_m", interval=STEP)
        sim = rv.Simulation(net, threads=1, progress=False)
        sim.run(20.0)
        ends.append(sim.state(recorder).values)
    assert np.ptp(ends[0]) > 1.0
    np.testing.assert_allclose(ends[0], ends[1], rtol=0.0, atol=1e-6)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("g = g + factor*weight", "g = weight", "a spike adds its weight"),
        ("g = g + factor*weight", "g = 2*g + weight", "a spike adds its weight"),
        ("g = g + factor*weight", "g = g + 1", "a spike adds its weight"),
        ("g = g + factor*weight", "g = g + weight*weight", "a spike adds its weight"),
        ("g = g + factor*weight", "g = g + weight*(1 - g)", "a spike adds its weight"),
        ("g = g + factor*weight", "g = g + weight*v", "a spike adds its weight"),
        ("g = g + factor*weight", "g = g + weight*t", "a spike adds its weight"),
        ("i (nA)", "i (mA/cm2)", "it must be in nA"),
        ("weight (uS)", "weight, more", "before it has a value"),
    ],
)
def test_what_spikes_cannot_do_is_refused(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert old in SYNAPSE
    text = SYNAPSE.replace(old, new)
    text = text.replace("factor*weight", "more*weight") if "more" in new else text
    with pytest.raises(EquationError, match=words):
        rv.read_nmodl(written(tmp_path, text))


@pytest.mark.parametrize("count", only([12], [12, 25]))
def test_random_changes_have_an_effect_or_are_listed(count: int, tmp_path: Path) -> None:
    """A statement that the account lists as ignored can be left out; one with an effect cannot."""
    chance = random.Random(5)
    pool = ["a = g*m", "a = 2", "k = 3", "mtau = mtau*2", "minf = minf*minf", "m = 0.5", "a = a + 0", "v = v", "e = a"]
    checked = 0
    for _ in range(count):
        extra = chance.sample(pool, 2)
        block = chance.choice(["initial", "breakpoint", "rates"])
        text = text_of(**{block: f"{PARTS[block]} {extra[0]} {extra[1]}"})
        try:
            file = written(tmp_path, text)
            channel, accounts = rv.read_nmodl(file), account_of_nmodl(file)[1]
        except EquationError:
            continue
        for each in accounts:
            if each.text not in extra or text.count(each.text) != 1:
                continue
            try:
                without = rv.read_nmodl(written(tmp_path, text.replace(each.text, "")))
            except EquationError:
                continue
            is_equal = np.array_equal(trace(channel), trace(without))
            assert is_equal or each.effects, (text, each)
            checked += 1
    assert checked >= count * 3 // 5
