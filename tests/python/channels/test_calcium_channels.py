"""Channels of equations that calcium carries or opens: they do what built-in mechanisms do, and what is refused."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import ranvier as rv
from channel_models import (
    HIGH_CALCIUM,
    SMALL_POTASSIUM,
    big_potassium,
    high_calcium,
    low_calcium,
    small_potassium,
    two_currents,
)
from ranvier import _core
from ranvier.errors import (
    EquationError,
    RanvierError,
    ShapeError,
    UnitError,
    UnknownNameError,
    UnknownSymbolError,
    ValueOutOfBoundsError,
)
from repository import DATA
from thorough_cases import only

FloatArray = npt.NDArray[np.float64]
NMODL = DATA / "nmodl"
STEP = 0.025
BALL = rv.Morphology([rv.Section(length=20.0, diameter=20.0)])
TREE = rv.Morphology(
    [
        rv.Section(length=20.0, diameter=15.0),
        rv.Section(length=150.0, diameter=2.0, parent=0, tag="basal"),
        rv.Section(length=100.0, diameter=1.0, end_diameter=0.5, parent=1, tag="apical"),
    ]
)
POOL: Any = ("all", rv.calcium_pool(gamma=0.05, decay=20.0, depth=0.1))
PASSIVE: Any = ("all", rv.pas(g=1e-4, e=-70.0))


def build(model: Any, count: int = 3, **values: Any) -> tuple[rv.Network, rv.StateRecorder]:
    """Return a network of cells, and a recorder of all that they have."""
    net = rv.Network(resolution=STEP)
    cells = net.create(model, count, **{"I_e": np.linspace(100.0, 700.0, count), **values})
    variables = (model[0] if isinstance(model, list) else model).variables
    return net, net.record_state(cells, list(variables), interval=STEP)


def run(model: Any, time: float = 40.0, count: int = 3, **values: Any) -> FloatArray:
    """Return what was recorded (time, variable, cell)."""
    net, recorder = build(model, count, **values)
    sim = rv.Simulation(net, threads=1, progress=False)
    sim.run(time)
    return sim.state(recorder).values


def tree(high: Any, low: Any, small: Any, **options: Any) -> rv.Cell:
    """Return a cell with pools in two sections, and with a calcium current in the third, where there is none."""
    membrane: list[Any] = [
        PASSIVE,
        ("soma", rv.calcium_pool(decay=30.0)),
        ("basal", rv.calcium_pool(gamma=0.02, Ca_rest=lambda distance: 1e-4 * (1.0 + distance / 1000.0))),
        (rv.tagged("soma", "basal"), high(gbar=lambda distance: 0.003 / (1.0 + 0.01 * distance))),
        (rv.tagged("soma", "basal"), small(gbar=0.004)),
        ("apical", low(gbar=0.002, eca=120.0)),
    ]
    names = [mechanism.name for _, mechanism in membrane[3:]]
    probes: dict[str, Any] = {
        "Ca": (rv.at(1, 0.3), "Ca of calcium_pool"),
        "tip": rv.at(2, 1.0),
        "m": (rv.at(1, 0.3), f"m of {names[0]}"),
        "z": (rv.at(0), f"z of {names[1]}"),
        "i_Ca": (rv.at(1, 0.3), f"i of {names[0]}"),
        "i_K": (rv.at(0), f"i of {names[1]}"),
        "i_low": (rv.at(2, 0.5), f"i of {names[2]}"),
    }
    keys = {"compartments": [1, 4, 3], "celsius": 34.0, "V_init": -80.0, **options}
    return rv.Cell(TREE, membrane=membrane, probes=probes, **{"celsius": 6.3, **keys})


@pytest.mark.parametrize(
    "options", [{}, {"rates": "exact"}, {"scheme": "staggered"}], ids=["table", "exact", "staggered"]
)
def test_equations_of_calcium_do_what_built_in_mechanisms_do(options: dict[str, Any]) -> None:
    """But for the last digits: rates are rounded elsewhere, and the concentration comes from its logarithm."""
    expected = run(tree(rv.ca_hva, rv.ca_lva, rv.sk_current, **options))
    own = run(tree(high_calcium(), low_calcium(), small_potassium(), **options))
    spans = np.ptp(expected, axis=(0, 2))
    assert spans[0] > 50.0  # mV
    assert spans[1] > 1e-3  # mM
    assert spans[4] > 0.5
    assert (np.abs(own - expected).max(axis=(0, 2)) < 1e-9 * spans).all()


def test_files_of_nmodl_do_what_built_in_mechanisms_do() -> None:
    """They read `cai` and `eca`, which are those of the pools, whatever numbers the file has."""
    channels = [rv.read_nmodl(NMODL / f"{name}.mod") for name in ("high_calcium", "small_potassium")]
    assert channels[0].parameters == ("gbar", "eca")
    assert channels[1].parameters == ("gbar", "ek", "half")
    assert channels[0].units["eca"] == "mV"

    def ball(high: Any, small: Any) -> rv.Cell:
        return rv.Cell(BALL, membrane=[PASSIVE, POOL, ("all", high), ("all", small)], celsius=34.0, V_init=-80.0)

    expected = run(ball(rv.ca_hva(gbar=0.002), rv.sk_current(gbar=0.004)))
    own = run(ball(channels[0](gbar=0.002), channels[1](gbar="4 mS/cm**2", ek=-85.0)))
    assert np.ptp(expected) > 50.0
    np.testing.assert_allclose(own, expected, rtol=0.0, atol=1e-7)
    without = [("all", channels[0](eca="0.12 V")), ("all", rv.ca_hva(eca=120.0))]
    one, other = (run(rv.Cell(BALL, membrane=[PASSIVE, each]), 5.0) for each in without)
    np.testing.assert_allclose(one, other, rtol=0.0, atol=1e-7)


# ---- gates that follow both ------------------------------------------------------------------------------------------


def both(**options: Any) -> rv.Cell:
    """Return a cell with a channel that potential and calcium open, and what fills its pool."""
    probes: dict[str, Any] = {
        "Ca": (rv.at(0), "Ca of calcium_pool"),
        "n": (rv.at(0), "n of big"),
        "m": (rv.at(0), "m of two"),
        "q": (rv.at(0), "q of two"),
        "i": (rv.at(0), "i of two"),
        "i_Ca": (rv.at(0), "i_Ca of two"),
        "i_K": (rv.at(0), "i_K of two"),
        "E": (rv.at(0), "E_Ca of calcium_pool"),
    }
    membrane: list[Any] = [PASSIVE, POOL, ("all", big_potassium()()), ("all", two_currents()(gbar=0.004))]
    return rv.Cell(BALL, membrane=membrane, probes=probes, V_init=-75.0, **{"celsius": 6.3, **options})


def test_gates_that_follow_potential_and_calcium_go_as_their_equations_say() -> None:
    """Each step is the exact solution at the potential and the concentration before it; currents are their products."""
    values = run(both())
    v, calcium, n, m, q, i, i_calcium, i_potassium, reversal = np.moveaxis(values, 1, 0)
    assert np.ptp(v) > 10.0
    assert np.ptp(calcium) > 1e-3
    assert np.ptp(n) > 0.1
    assert np.ptp(q) > 0.3
    half = -30.0 - 15.0 * np.log(calcium / 1e-3)
    rates = {
        "n": (n, 1.0 / (1.0 + np.exp(-(v - half) / 9.0)), 1.0 + 3.0 / (1.0 + np.exp((v - half) / 20.0))),
        "q": (q, 1.0 / (1.0 + calcium / 0.4e-3), np.full_like(v, 8.0)),
        "m": (m, 1.0 / (1.0 + np.exp(-(v + 35.0) / 6.0)), np.full_like(v, 2.0)),
    }
    for gate, steady, tau in rates.values():
        # A gate that is read has followed the present potential and concentration already.
        expected = gate[:-1] + (steady[1:] - gate[:-1]) * (-np.expm1(-STEP / tau[1:]))
        np.testing.assert_allclose(gate[1:], expected, rtol=1e-11)
    np.testing.assert_allclose(i_calcium, 0.004 * m * q * (v - reversal), rtol=1e-11)
    np.testing.assert_allclose(i_potassium, 0.0008 * m * (v + 80.0), rtol=1e-11)
    np.testing.assert_allclose(i, i_calcium + i_potassium, rtol=1e-11)


def test_rates_of_two_arguments_come_from_no_table() -> None:
    """With or without tables, the bits are the same where no other gate has one; of one argument they are not."""
    np.testing.assert_array_equal(run(both(), 10.0), run(both(rates="exact"), 10.0))
    one = [
        rv.Cell(BALL, membrane=[PASSIVE, POOL, ("all", rv.ca_hva(gbar=0.002))], rates=rates, celsius=6.3)
        for rates in ("table", "exact")
    ]
    assert (run(one[0], 10.0, I_e=0.0) != run(one[1], 10.0, I_e=0.0)).any()


def test_gates_begin_where_calcium_lets_them() -> None:
    """At an expression of the concentration, or their steady state, in each compartment."""
    channel = rv.channel(
        "i = g*a*b*(v - E) : mA/cm**2\nda/dt = (0.5 - a)/(1e9*ms) : 1\ndb/dt = (1/(1 + cai/(0.2*uM)) - b)/(1e9*ms) : 1",
        parameters={"g": "0 S/cm**2", "E": "-80 mV"},
        initial={"a": "0.1 + cai/mM"},
        name="slow",
    )
    assert channel.program.follows == "calcium"
    rest = rv.calcium_pool(Ca_rest=lambda distance: 1e-4 * (1.0 + distance))
    probes: dict[str, Any] = {}
    for k, place in enumerate((rv.at(0), rv.at(1, 0.1), rv.at(2, 0.9))):
        probes |= {f"{x}{k}": (place, f"{x} of slow") for x in "ab"} | {f"Ca{k}": (place, "Ca of calcium_pool")}
    model = rv.Cell(
        TREE, compartments=[1, 4, 3], membrane=[PASSIVE, ("all", rest), ("all", channel())], probes=probes, celsius=6.3
    )
    begin = run(model, STEP)[0, 1:, 0].reshape(3, 3)
    assert len(np.unique(begin[:, 2])) == 3
    np.testing.assert_allclose(begin[:, 0], 0.1 + begin[:, 2], rtol=1e-6)
    np.testing.assert_allclose(begin[:, 1], 1.0 / (1.0 + begin[:, 2] / 2e-4), rtol=1e-6)


# ---- bits ------------------------------------------------------------------------------------------------------------


def kinds() -> list[rv.Cell]:
    """Return cells of several forms, whose gates follow potential, calcium and both, in different compartments."""
    made = []
    for count, region in ((1, "all"), (2, "basal"), (3, rv.tagged("soma", "apical")), (4, "all")):
        membrane: list[Any] = [
            PASSIVE,
            (region, rv.calcium_pool(decay=10.0 * count)),
            (region, high_calcium()(gbar=0.002)),
            (region, two_currents()(gbar=lambda distance: 0.002 / (1.0 + distance))),
            (region, big_potassium()(gbar=0.001, shift=-30.0 - count)),
            (region, rv.sk_current(gbar=0.001)),
            ("soma", rv.hh()),
        ]
        made.append(
            rv.Cell(TREE, compartments=[1, count, 3], membrane=membrane, probes={"tip": rv.at(2, 1.0)}, celsius=6.3)
        )
    return made


@pytest.mark.parametrize("rates", only(["table"], ["table", "exact"]))
def test_packed_cells_do_what_equal_cells_do(rates: Any, tmp_path: Path) -> None:
    """In any arrangement, on any threads and instruction sets, and after a saved state."""
    shapes = kinds() if rates == "table" else [both(rates="exact"), *[both(rates="exact", C_m=1.1)] * 2]
    currents = np.linspace(100.0, 600.0, 3 * len(shapes))
    packed, recorder = build([shapes[i % len(shapes)] for i in range(len(currents))], len(currents), I_e=currents)
    sim = rv.Simulation(packed, threads=1, progress=False)
    sim.run(6.0)
    sim.save(tmp_path / "state.h5")
    sim.run(6.0)
    expected = sim.state(recorder).values
    for kind, shape in enumerate(shapes):
        own = currents[kind :: len(shapes)]
        # Eight alike make a block of equal cells.
        alone = run(shape, 12.0, 8, I_e=np.append(own, np.zeros(8 - len(own))))
        np.testing.assert_array_equal(alone[:, :, : len(own)], expected[:, :, kind :: len(shapes)])
    machines: list[tuple[int, Any]] = [(3, "auto"), (1, "baseline"), (2, _core.instruction_sets()[:2][-1])]
    for threads, instruction_set in machines:
        net, recorder = build([shapes[i % len(shapes)] for i in range(len(currents))], len(currents), I_e=currents)
        tuning = rv.Tuning(instruction_set=instruction_set)
        again = rv.Simulation.load(net, tmp_path / "state.h5", threads=threads, tuning=tuning, progress=False)
        again.run(6.0)
        values = again.state(recorder).values
        np.testing.assert_array_equal(values[-240:], expected[-240:])


# ---- what a channel says of itself -----------------------------------------------------------------------------------


def test_what_a_channel_of_calcium_says_of_itself(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    from ranvier.command_line import main

    carried, opened = high_calcium(), small_potassium()
    assert "Calcium carries i: it fills the calcium_pool at its place, which gives eca" in carried.describe()
    assert "nan" not in carried.describe()
    assert "Calcium carries i_Ca" in two_currents().describe()
    assert "Gates follow cai, the concentration of the calcium_pool at their place (mM)" in opened.describe()
    assert "cai" not in carried.describe()
    assert str(carried.__signature__).startswith("(*, gbar=0.0001, eca=None)")
    for channel in (carried, opened, big_potassium(), two_currents()):
        assert pickle.loads(pickle.dumps(channel)) == channel
        assert pickle.loads(pickle.dumps(channel(gbar=0.5))) == channel(gbar=0.5) != channel()
    assert carried(eca=None) == carried()
    assert carried(eca="0.1 V").values["eca"] == 100.0
    text = f"import ranvier as rv\nmine = rv.channel('''{HIGH_CALCIUM}''', parameters=dict(gbar='1 S/cm**2'))\n"
    (tmp_path / "mine.py").write_text(text + "given = mine(eca=130.0)\n")
    assert main(["models", str(tmp_path / "mine.py"), "mine"]) == 0
    printed = capsys.readouterr().out
    assert "mA/cm**2 (calcium)" in printed
    assert "nan" not in printed
    assert main(["models", str(NMODL / "small_potassium.mod")]) == 0
    assert "small_potassium" in capsys.readouterr().out


def test_a_saved_state_of_another_channel_is_refused(tmp_path: Path) -> None:
    """What carries a current, and what a gate follows, are parts of a channel."""
    plain = HIGH_CALCIUM.replace(" (calcium)", "")
    channels = [
        high_calcium()(gbar=0.001, eca=120.0),
        rv.channel(plain, parameters={"gbar": "1 S/cm**2", "eca": "120 mV"}, name="high")(gbar=0.001),
    ]
    models = [rv.Cell(BALL, membrane=[PASSIVE, ("all", each)]) for each in channels]
    np.testing.assert_array_equal(run(models[0], 5.0), run(models[1], 5.0))
    sim = rv.Simulation(build(models[0])[0], progress=False)
    sim.run(1.0)
    sim.save(tmp_path / "state.h5")
    with pytest.raises(RanvierError, match="it is another one"):
        rv.Simulation.load(build(models[1])[0], tmp_path / "state.h5", progress=False)


def test_a_reversal_potential_may_differ_between_cells() -> None:
    """Where there is no pool, as that of built-in mechanisms."""
    eca = rv.per_cell("eca", 120.0)
    models = [
        rv.Cell(BALL, membrane=[PASSIVE, ("all", each)]) for each in (rv.ca_hva(eca=eca), high_calcium()(eca=eca))
    ]
    built_in, own = (run(model, 5.0, eca=[100.0, 120.0, 140.0]) for model in models)
    assert len(np.unique(own[-1])) == 3
    np.testing.assert_allclose(own, built_in, rtol=1e-9)


# ---- errors ----------------------------------------------------------------------------------------------------------

SOMA: Any = ("soma", rv.calcium_pool())


@pytest.mark.parametrize(
    ("membrane", "words"),
    [
        ([("all", small_potassium()())], "mechanism small.*section 0.*gates follow calcium.*paint a calcium_pool"),
        ([SOMA, ("all", small_potassium()())], "mechanism small.*section 1.*gates follow calcium"),
        ([SOMA, ("all", big_potassium()())], "mechanism big.*section 1.*gates follow calcium"),
        ([SOMA, ("all", high_calcium()())], "mechanism high.*section 1.*needs a reversal potential.*give eca"),
        (
            [SOMA, ("all", high_calcium()(eca=120.0))],
            "eca of mechanism high.*120.*a calcium_pool gives it in section 0",
        ),
        ([("all", two_currents()(eca=120.0))], "mechanism two.*section 0.*gates follow calcium"),
        ([("all", high_calcium()(eca=1e5))], "eca of mechanism high"),
        ([("all", high_calcium()(eca=lambda distance: distance))], "eca of mechanism high.*each compartment"),
    ],
)
def test_channels_without_a_pool_are_refused(membrane: list[Any], words: str) -> None:
    """The error names channel, place and remedy, as those of built-in mechanisms."""
    with pytest.raises((ValueOutOfBoundsError, ShapeError), match=words):
        rv.Cell(TREE, membrane=[PASSIVE, *membrane])


@pytest.mark.parametrize("value", [np.nan, np.inf, "3 mM", [np.nan, 120.0, 120.0]])
def test_wrong_reversal_potentials_are_refused(value: Any) -> None:
    with pytest.raises((ValueOutOfBoundsError, UnitError)):
        high_calcium()(eca=value)


@pytest.mark.parametrize(
    ("z_inf", "words"),
    [
        ("log(cai/mM - 0.5)", "gate z of mechanism small.*steady state of nan at .* mM of calcium.*concentrations"),
        ("log(cai/mM - 0.5)*exp(v/mV*0)", "steady state of nan at -250 mV and .* mM of calcium.*potentials from -250"),
    ],
)
def test_rates_that_are_no_numbers_are_refused_where_the_cell_is_made(z_inf: str, words: str) -> None:
    equations = SMALL_POTASSIUM.replace("1/(1 + (0.00043*mM/cai)**4.8)", z_inf)
    channel = rv.channel(equations, parameters={"gbar": "0.001 S/cm**2", "ek": "-85 mV"}, name="small")
    with pytest.raises(ValueOutOfBoundsError, match=words):
        rv.Cell(BALL, membrane=[PASSIVE, POOL, ("all", channel())])


CURRENT = "i = g*n*(v - eca) : mA/cm**2 (calcium)"
GATE = "dn/dt = (0.5 - n)/tau : 1"


@pytest.mark.parametrize(
    ("current", "gate", "kind", "place", "words"),
    [
        ("i = g*n*(v - eca) : mA/cm**2", GATE, UnknownSymbolError, "eca", "write (calcium) behind the unit"),
        ("i = g*n*(v - eca) : mA/cm**2 (sodium)", GATE, EquationError, "(sodium)", "flags are calcium"),
        ("i = 2*a : mA/cm**2\na = g*n*(v - eca) : mA/cm**2 (calcium)", GATE, EquationError, "a", "is the sum of"),
        (f"{CURRENT}\nk = 2*g : S/cm**2 (calcium)", GATE, UnitError, "k", "a density"),
        (f"{CURRENT}\neca : mV", GATE, EquationError, "eca", "of a calcium_pool"),
        (f"{CURRENT}\ncai = 1*mM : mM", GATE, EquationError, "cai", "concentration of calcium"),
        (CURRENT, "dn/dt = (0.5 - n)/tau : 1 (calcium)", EquationError, "n", "only a current is carried by calcium"),
        (CURRENT, "dn/dt = (cai - n)/tau : 1", UnitError, "cai - n", ""),
        (CURRENT, "dn/dt = (cai/mV - n)/tau : 1", UnitError, "cai/mV - n", ""),
        (CURRENT, "dn/dt = (Cai/mM - n)/tau : 1", UnknownSymbolError, "Cai", "did you mean 'cai'"),
    ],
)  # fmt: skip
def test_mistakes_in_equations_are_refused_at_their_place(
    current: str, gate: str, kind: type[EquationError], place: str, words: str
) -> None:
    with pytest.raises(kind) as caught:
        rv.channel(f"{current}\n{gate}", parameters={"g": "1 S/cm**2", "E": "-80 mV", "tau": "2 ms"})
    line, marks = caught.value.place.split("\n")
    assert line[marks.index("^") : marks.rindex("^") + 1] == place
    assert words in str(caught.value)


@pytest.mark.parametrize(
    ("parameters", "words"),
    [({"cai": "1 mM"}, "concentration of calcium"), ({"eca": "120 mV"}, "reversal potential of calcium")],
)
def test_names_of_calcium_are_taken(parameters: dict[str, Any], words: str) -> None:
    with pytest.raises(EquationError, match=f"it would shadow the {words}"):
        rv.channel(f"{CURRENT}\n{GATE}", parameters={"g": "1 S/cm**2", "tau": "2 ms", **parameters})


def test_the_core_refuses_what_does_not_fit_together() -> None:
    """Whoever makes programs by hand."""
    program = big_potassium().program
    assert program.follows == "both"
    for change in ({"follows": "calcium"}, {"terms": (replace(program.terms[0], gates=(), carries_calcium=True),)}):
        with pytest.raises(ShapeError):
            _core.Channel(replace(program, **change))
    with pytest.raises(UnknownNameError):
        _core.Channel(replace(program, follows="sodium"))


def refused(change: Callable[[str], str], file: str, tmp_path: Path) -> str:
    text = (NMODL / f"{file}.mod").read_text()
    assert change(text) != text
    (tmp_path / "changed.mod").write_text(change(text))
    with pytest.raises(EquationError) as caught:
        rv.read_nmodl(tmp_path / "changed.mod")
    assert "changed.mod, line" in str(caught.value)
    assert "^" in caught.value.place
    return str(caught.value)


@pytest.mark.parametrize(
    ("file", "old", "new", "words"),
    [
        ("high_calcium", "WRITE ica", "WRITE ica, cai", "nothing assigns it"),
        ("high_calcium", "READ eca", "READ eca, cbo", "of calcium, cai, eca, cao, ica can be read"),
        ("small_potassium", "READ cai", "READ cai, cat", "of calcium, cai, eca, cao, ica can be read"),
        ("high_calcium", "VALENCE 2", "VALENCE 1", "calcium has the valence 2"),
        ("high_calcium", "eca (mV)", "eca (V)", "it must be in mV"),
        ("small_potassium", "cai = 50e-6 (mM)", "cai (uM)", "it must be in mM"),
    ],
)
def test_what_is_not_read_of_a_file_is_an_error_with_its_line(
    file: str, old: str, new: str, words: str, tmp_path: Path
) -> None:
    assert words in refused(lambda text: text.replace(old, new), file, tmp_path)


def test_a_name_of_a_file_is_the_concentration_only_where_the_ion_is_read(tmp_path: Path) -> None:
    text = (NMODL / "small_potassium.mod").read_text().replace("USEION ca READ cai", "")
    (tmp_path / "fixed.mod").write_text(text)
    channel = rv.read_nmodl(tmp_path / "fixed.mod")
    assert channel.program.follows == "potential"
    assert "cai" in channel.parameters
    rv.Cell(BALL, membrane=[PASSIVE, ("all", channel())])
