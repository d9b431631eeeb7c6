"""General mechanisms of detailed cells: against built-in ones, SciPy and themselves in other arrangements."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.integrate import solve_ivp

import ranvier as rv
from general_forms import advanced, assigned, general, hodgkin_huxley
from ranvier.channels.general import GeneralCurrent
from ranvier.errors import EquationError, StateError, UnitError, ValueOutOfBoundsError
from thorough_cases import only

FloatArray = npt.NDArray[np.float64]
TREE = rv.Morphology(
    [
        rv.Section(length=20.0, diameter=15.0),
        rv.Section(length=150.0, diameter=2.0, parent=0),
        rv.Section(length=100.0, diameter=1.0, end_diameter=0.5, parent=1),
    ]
)
BALL = rv.Morphology([rv.Section(length=20.0, diameter=20.0)])
AREA = np.pi * 400.0
FARADAY, GAS = 96485.33212, 8.314462618


def tree(*membrane: Any, probes: dict[str, Any] | None = None, **options: Any) -> rv.Cell:
    painted = [each if isinstance(each, tuple) else ("all", each) for each in membrane]
    return rv.Cell(TREE, compartments=[1, 4, 3], membrane=painted, probes=probes, **{"celsius": 6.3, **options})


def ball(*membrane: Any, probes: dict[str, str] | None = None, **options: Any) -> rv.Cell:
    painted = [("all", each) for each in membrane]
    placed = {name: (rv.at(0, 0.5), what) for name, what in (probes or {}).items()}
    return rv.Cell(BALL, compartments=1, membrane=painted, probes=placed, **{"celsius": 6.3, **options})


def run(model: Any, time: float = 30.0, step: float = 0.025, count: int = 3, **values: Any) -> FloatArray:
    """Return all variables of some cells at each step: [time][cell, variable]."""
    net = rv.Network(resolution=step)
    currents = values.pop("I_e", np.linspace(0.0, 400.0, count))
    cells = net.create(model, count, I_e=currents, **values)
    first = model[0] if isinstance(model, list) else model
    states = net.record_state(cells, list(first.variables), interval=step)
    sim = rv.Simulation(net, threads=1, progress=False)
    sim.run(time)
    return np.asarray(sim.state(states).values).transpose(0, 2, 1)


@pytest.mark.parametrize("count", [3, 8])
def test_hodgkin_huxley_equations_do_what_the_built_in_mechanism_does(count: int) -> None:
    """With backward Euler and linear equations, both forms take the same steps. Packed, and equal cells."""
    found = []
    for mechanism, own in ((rv.hh(), ("i_Na", "i_K")), (hodgkin_huxley()(), ("ina", "ik"))):
        names = {x: f"{x} of {mechanism.name}" for x in "mhn"}
        names |= {x: f"{each} of {mechanism.name}" for x, each in zip(("na", "k"), own, strict=True)}
        probes = {x: (rv.at(1, 0.5), each) for x, each in names.items()}
        found.append(run(tree(mechanism, probes=probes, rates="exact", celsius=9.0), count=count))
    assert found[0].max() > 20.0
    np.testing.assert_allclose(found[1], found[0], rtol=0.0, atol=1e-7)


def test_the_staggered_scheme_is_of_second_order() -> None:
    cell = ball(hodgkin_huxley()(), scheme="staggered", probes={"n": "n of general"})
    reference = run(cell, 8.0, 0.0005, 1, I_e=100.0)[-1].ravel()
    built_in = run(ball(rv.hh(), scheme="staggered", rates="exact"), 8.0, 0.0005, 1, I_e=100.0)[-1].ravel()
    assert reference[0] == pytest.approx(built_in[0], abs=1e-4)
    errors = [np.abs(run(cell, 8.0, h, 1, I_e=100.0)[-1].ravel() - reference) for h in (0.02, 0.01, 0.005)]
    assert errors[0].max() > 1e-3
    np.testing.assert_allclose(errors[0] / errors[1], 4.0, atol=0.4)
    np.testing.assert_allclose(errors[1] / errors[2], 4.0, atol=0.3)


def test_backward_euler_is_of_first_order() -> None:
    found = [run(ball(hodgkin_huxley()()), 5.0, h, 1, I_e=100.0)[-1, 0] for h in (0.01, 0.005, 0.0025)]
    assert (found[0] - found[1]) / (found[1] - found[2]) == pytest.approx(2.0, abs=0.25)


def flux(v: Any, inside: Any, outside: float, celsius: float) -> Any:
    """Return 1e-3 times the equation of Goldman, Hodgkin and Katz, mV mM."""
    x = v * 2.0 * FARADAY / (GAS * (celsius + 273.15)) * 1e-3
    return 1e-3 * 2 * FARADAY * x * (inside - outside * np.exp(-x)) / (1 - np.exp(-x))


def test_a_flux_with_coupled_states_goes_as_its_equations_say() -> None:
    """A current that is not linear in v, through the fraction of a scheme of three states that is open."""
    k = 2.0 * FARADAY / GAS * 1e-3
    rates = ("a = 0.5*exp((v + 40)/25)", "b = 0.2*exp(-(v + 40)/18)")
    cell = ball(
        general(
            "cox",
            [
                f"u = v*{k!r}/(celsius + 273.15)",
                f"i = p*o*{2e-3 * FARADAY!r}*(ci*exp(u) - co)/exprel(u)",
            ],
            step=[advanced(rates, {"c": "-a*c + b*o", "o": "a*c - b*o - 0.05*o + 0.01*x", "x": "0.05*o - 0.01*x"})],
            initial=("c = 1",),
            parameters={"p": 2e-5, "ci": 1e-4, "co": 2.0},
            name="scheme",
        )(),
        rv.pas(g=1e-4, e=-60.0),
        probes={"o": "o of scheme", "i": "i of scheme"},
        celsius=25.0,
        V_init=-60.0,
        scheme="staggered",
    )

    def right(_: float, y: Any) -> list[float]:
        v, c, o, x = y
        a, b = 0.5 * np.exp((v + 40) / 25), 0.2 * np.exp(-(v + 40) / 18)
        i = 2e-5 * o * flux(v, 1e-4, 2.0, 25.0)
        into = 50.0 / AREA / 10.0  # mA/cm^2
        return [
            1e3 * (into - i - 1e-4 * (v + 60)),
            -a * c + b * o,
            a * c - b * o - 0.05 * o + 0.01 * x,
            0.05 * o - 0.01 * x,
        ]

    solved = solve_ivp(right, (0, 20), [-60.0, 1.0, 0.0, 0.0], rtol=1e-10, atol=1e-12, method="LSODA").y[:, -1]
    found = run(cell, 20.0, 0.01, 1, I_e=50.0)[-1].ravel()
    assert found[0] == pytest.approx(solved[0], abs=2e-3)
    assert found[1] == pytest.approx(solved[2], abs=2e-5)
    assert found[2] == pytest.approx(2e-5 * solved[2] * flux(solved[0], 1e-4, 2.0, 25.0), rel=1e-3)


# ---- calcium ---------------------------------------------------------------------------------------------------------

CA = ("am = 0.055*10*exp(-(v + 27)/10)", "m_inf = 1/(1 + exp(-(v + 30)/6))")


def calcium_channel() -> Any:
    return general(
        "m",
        ["ica = g*m**2*(v - eca)"],
        step=[advanced(CA, {"m": "(m_inf - m)/2"})],
        initial=("m = 1/(1 + exp(-(v + 30)/6))",),
        parameters={"g": 1e-3},
        currents=[GeneralCurrent("ica", carries_calcium=True)],
        name="ca",
    )()


def calcium_equations() -> Any:
    """Return the same channel in the fast form."""
    return rv.channel(
        """
        i = g*m**2*(v - eca) : mA/cm**2 (calcium)
        dm/dt = (1/(1 + exp(-(v + 30*mV)/(6*mV))) - m)/(2*ms) : 1
        """,
        parameters={"g": "1 mS/cm**2"},
        name="ca",
    )()


def pool(name: str = "pool") -> Any:
    """Return a shell of 0.1 um as a general mechanism."""
    return general(
        ["ca"],
        [],
        step=[advanced([], {"ca": "-0.05*ica/(2*96485.33212*0.1)*1e4 - (ca - 1e-4)/80"})],
        initial=("ca = 1e-4",),
        currents=(),
        calcium="ca",
        name=name,
    )()


@pytest.mark.parametrize("count", [3, 8])
def test_calcium_goes_the_same_way_through_both_forms_of_channels_and_pools(count: int) -> None:
    """Errors are of first order where a general mechanism takes part."""
    sk = rv.sk_current(gbar=1e-3)
    found = {}
    for channel, own in (
        (calcium_equations(), rv.calcium_pool()),
        (calcium_channel(), rv.calcium_pool()),
        (calcium_equations(), pool()),
        (calcium_channel(), pool()),
    ):
        ca = "Ca of calcium_pool" if own.name == "calcium_pool" else "Ca of pool"
        probes = {"ca": (rv.at(1, 0.5), ca), "eca": (rv.at(1, 0.5), ca.replace("Ca", "E_Ca")), "e": (rv.at(0, 0.5), ca)}
        cell = tree(rv.hh(), channel, own, sk, probes=probes, rates="exact")
        found[type(channel).__name__, channel.channel.is_general, own.name] = run(cell, 40.0, 0.0125, count)
    exact, *others = found.values()
    assert exact[-1, -1].max() > 3e-4
    for other in others:
        # Concentrations, to a part of their way; potentials are late where there are spikes.
        np.testing.assert_allclose(other[..., 1], exact[..., 1], rtol=0.02)
        assert np.quantile(np.abs(other[..., 0] - exact[..., 0]), 0.9) < 0.5


def test_calcium_that_flows_in_is_all_there(tmp_path: Path) -> None:
    """In a pool without decay: the charge that has flown, by the recorded current, and the concentration."""
    keep = general(
        ["ca"],
        [],
        step=[advanced([], {"ca": "-ica/(2*96485.33212*0.1)*1e4"})],
        initial=("ca = 1e-4",),
        currents=(),
        calcium="ca",
        name="keep",
    )()
    cell = ball(
        calcium_channel(), keep, rv.pas(g=1e-4), probes={"i": "ica of ca", "ca": "ca of keep", "c": "Ca of keep"}
    )
    found = run(cell, 20.0, 0.002, 1, I_e=60.0)[:, 0]
    charge = -np.trapezoid(found[:, 1], dx=0.002)
    assert found[-1, 2] > 2e-3
    assert found[-1, 2] - 1e-4 == pytest.approx(charge / (2 * FARADAY * 0.1) * 1e4, rel=1e-3)
    np.testing.assert_array_equal(found[:, 3], found[:, 2])


# ---- the same bits ---------------------------------------------------------------------------------------------------


def rich(scheme: Any = "backward_euler") -> list[rv.Cell]:
    """Return cells of two kinds with general mechanisms and others on different regions."""
    probes = {"n": (rv.at(1, 0.5), "n of general"), "x": (rv.at(0, 0.5), "Ca of pool")}
    other = general("y", ["i = 1e-5*y*(v + 50)"], step=[advanced([], {"y": "0.1*(v/50 - y**3)"})], name="cube")()
    gk = rv.per_cell("gk", 0.036)
    first = tree(
        hodgkin_huxley()(gna=lambda d: 0.12 - 1e-4 * d, gk=gk),
        ("soma", rv.k_persistent()),
        calcium_channel(),
        pool(),
        other,
        probes=probes,
        scheme=scheme,
    )
    second = rv.Cell(
        BALL,
        compartments=1,
        probes={"n": (rv.at(0, 0.5), "n of general"), "x": (rv.at(0, 0.5), "Ca of pool")},
        membrane=[
            ("all", each) for each in (hodgkin_huxley()(gk=gk), other, calcium_channel(), pool(), rv.sk_current())
        ],
        scheme=scheme,
        celsius=6.3,
    )
    return [first, second]


def network(scheme: Any, count: int = 21) -> tuple[rv.Network, Any]:
    net = rv.Network(resolution=0.025)
    kinds = rich(scheme)
    model = [kinds[0] if i < 9 or i % 2 else kinds[1] for i in range(count)]
    cells = net.create(model, count, I_e=np.linspace(0, 300, count), gk=np.where(np.arange(count) < 9, 0.036, 0.03))
    return net, net.record_state(cells, list(kinds[0].variables), interval=0.5)


@pytest.mark.parametrize("scheme", only(["staggered"], ["backward_euler", "staggered"]))
def test_threads_arrangements_instruction_sets_and_saving_leave_all_bits(scheme: Any, tmp_path: Path) -> None:
    found = []
    sets: Any
    for threads, sets in ((1, "auto"), (3, "auto"), (2, "baseline")):
        net, states = network(scheme)
        sim = rv.Simulation(net, threads=threads, tuning=rv.Tuning(instruction_set=sets), progress=False)
        sim.run(10.0)
        if threads == 1:
            sim.save(tmp_path / "state.h5")
        sim.run(10.0)
        found.append(np.asarray(sim.state(states).values))
    net, states = network(scheme)
    again = rv.Simulation.load(net, tmp_path / "state.h5", threads=2, progress=False)
    again.run(10.0)
    assert np.ptp(found[0][:, 0]) > 80.0
    for other in found[1:]:
        np.testing.assert_array_equal(other, found[0])
    np.testing.assert_array_equal(np.asarray(again.state(states).values), found[0])


def test_packed_cells_do_what_equal_cells_do() -> None:
    first, second = rich()
    many = run([first] * 8 + [second] * 8, 20.0, count=16, I_e=np.arange(16) * 20.0)
    few = run([first, second], 20.0, count=2, I_e=[100.0, 200.0])
    np.testing.assert_array_equal(few, many[:, [5, 10]])


# ---- parameters, errors, descriptions --------------------------------------------------------------------------------


def test_parameters_may_be_changed_between_runs() -> None:
    net = rv.Network(resolution=0.025)
    probes = {"n": "n of general", "ik": "ik of general"}
    cells = net.create(ball(hodgkin_huxley()(gk=rv.per_cell("gk", 0.036)), probes=probes), 9, I_e=0.0)
    states = net.record_state(cells, ["V_m", "n", "ik"], interval=1.0)
    sim = rv.Simulation(net, threads=1, progress=False)
    sim.run(5.0)
    sim.set(cells[3], gk=0.0)
    sim.run(5.0)
    values = np.asarray(sim.state(states).values)
    assert np.ptp(values[4, 1]) == 0.0
    assert np.abs(values[-1, 0, 3] - values[-1, 0, 0]) > 3.0
    np.testing.assert_array_equal(values[-1, :, 2], values[-1, :, 8])
    v, n, current = values[-1]
    np.testing.assert_allclose(current, np.where(np.arange(9) == 3, 0.0, 0.036 * n**4 * (v + 77.0)), rtol=1e-12)


@pytest.mark.parametrize(
    ("derivative", "words"),
    [("y**2 + 1", "state y of mechanism wild"), ("log(0.5 - t)", "state t of mechanism wild")],
)
def test_states_that_are_not_finite_are_errors_with_their_names(derivative: str, words: str) -> None:
    name = words[6]
    statement = advanced([], {name: derivative}) if name == "y" else None
    step = [statement] if statement else assigned("t = log(-1 - t*t)")
    wild = general(name, [f"i = 0*{name}"], step=step, name="wild")()
    with pytest.raises(StateError, match=words) as caught:
        run(ball(wild), 5.0, 0.1, 1)
    assert "section 0" in str(caught.value)


def test_currents_that_are_not_finite_are_errors_with_their_names() -> None:
    wild = general("y", ["i = log(0.5 - y)"], step=assigned("y = y + dt"), name="wild")()
    with pytest.raises(StateError, match="current i of mechanism wild"):
        run(ball(wild), 5.0, 0.1, 1)


def test_calcium_needs_a_pool() -> None:
    with pytest.raises(ValueOutOfBoundsError, match="calcium_pool"):
        ball(calcium_channel())


def test_mechanisms_and_their_cells_can_be_pickled() -> None:
    channel = hodgkin_huxley()
    again = pickle.loads(pickle.dumps(channel))
    assert again == channel
    cell = pickle.loads(pickle.dumps(ball(channel(gk=0.03))))
    np.testing.assert_array_equal(run(cell, 5.0), run(ball(channel(gk=0.03)), 5.0))


def test_a_mechanism_says_what_it_is() -> None:
    text = hodgkin_huxley().describe()
    for words in ("gna", "States", "m", "Currents (mA/cm^2): i, ina, ik, il", "General form"):
        assert words in text


# ---- rv.channel ------------------------------------------------------------------------------------------------------

GIVEN: dict[str, Any] = {"g": "1 mS/cm**2", "E": "-80 mV", "tau": "2 ms", "x": 2.0}
GATE = "dn/dt = (0.5 - n)/tau : 1"


@pytest.mark.parametrize(
    ("equations", "initial"),
    [
        (f"i = g*n*v*(v - E)/mV : mA/cm**2\n{GATE}", None),
        (f"i = g*exp(v/(25*mV))*(v - E) : mA/cm**2\n{GATE}", None),
        (f"i = g*(v - E)/(1 + n) : mA/cm**2\n{GATE}", None),
        (f"i = g*n**x*(v - E) : mA/cm**2\n{GATE}", None),
        (f"i = g*n**17*(v - E) : mA/cm**2\n{GATE}", None),
        (f"i = g*n*E + g*(v - E if v > E else 0*mV) : mA/cm**2\n{GATE}", None),
        ("i = g*n*(v - E) : mA/cm**2\ndn/dt = (0.5 - n**2)/tau : 1", {"n": 0.1}),
        ("i = g*n*(v - E) : mA/cm**2\ndn/dt = (m - n)/tau : 1\ndm/dt = (1 - m)/tau : 1", {"n": "1 - 0.2"}),
        ("i = g*(w - E) : mA/cm**2\ndw/dt = (v - w)/tau : mV", None),
    ],
)
def test_equations_of_any_form_are_taken(equations: str, initial: Any) -> None:
    """In small steps they go as SciPy says."""
    channel = rv.channel(equations, parameters=GIVEN, initial=initial, name="own")
    assert channel.is_general
    names = list(channel.gates)
    cell = ball(channel(), rv.pas(g=1e-4), scheme="staggered", probes={x: f"{x} of own" for x in names})
    found = run(cell, 10.0, 0.01, 1, I_e=30.0)[:, 0]
    lines = dict(line.partition(" : ")[0].split(" = ", 1) for line in equations.split("\n"))
    known = {"mV": 1.0, "g": 1e-3, "E": -80.0, "tau": 2.0, "x": 2.0, "exp": np.exp}
    codes = {name: compile(text, name, "eval") for name, text in lines.items()}

    def right(_: float, y: Any) -> list[float]:
        values = {**known, "v": y[0], **dict(zip(names, y[1:], strict=True))}
        current = eval(codes["i"], values) + 1e-4 * (y[0] + 70.0)
        return [1e3 * (3.0 / AREA - current), *(eval(codes[f"d{name}/dt"], values) for name in names)]

    begin = run(cell, 0.01, 0.01, 1, I_e=30.0)[0, 0]
    solved = solve_ivp(right, (0.01, 10), begin, rtol=1e-10, atol=1e-12, t_eval=[10.0]).y[:, -1]
    np.testing.assert_allclose(found[-1], solved, rtol=1e-4, atol=1e-4)
    if names == ["w"]:
        assert begin[1] == pytest.approx(-65.0, abs=1.0)


def test_equations_that_fit_keep_the_faster_form() -> None:
    assert not rv.channel(f"i = g*n*(v - E) : mA/cm**2\n{GATE}", parameters=GIVEN).is_general


@pytest.mark.parametrize(
    "gate", ["dn/dt = (0.5 - n**2)/tau : 1", "dn/dt = 0.5/tau : 1", "dn/dt = (m - n)/tau : 1\ndm/dt = (1 - m)/tau : 1"]
)
def test_a_state_without_a_steady_state_says_that_it_wants_a_beginning(gate: str) -> None:
    with pytest.raises(EquationError, match=r"n has no steady state.*initial=dict\(n=...\)"):
        rv.channel(f"i = g*n*(v - E) : mA/cm**2\n{gate}", parameters=GIVEN)


def test_units_of_states_and_beginnings_are_checked() -> None:
    equations = "i = g*(w - E) : mA/cm**2\ndw/dt = (v - w)/tau : mV"
    with pytest.raises(UnitError, match="w is in mV"):
        rv.channel(equations, parameters=GIVEN, initial={"w": 3.0})
    with pytest.raises(UnitError, match="left side"):
        rv.channel(equations.replace("/tau", ""), parameters=GIVEN)


def test_a_current_of_calcium_that_does_not_flow_is_refused() -> None:
    with pytest.raises(EquationError, match="is the sum of"):
        rv.channel(f"i = 2*a : mA/cm**2\na = g*n*(v - eca) : mA/cm**2 (calcium)\n{GATE}", parameters=GIVEN)
