"""Channels of equations: they do what the same built-in mechanisms do, and what of them can be said and read."""

from __future__ import annotations

import pickle
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.integrate import solve_ivp

import ranvier as rv
from channel_models import HH, HH_PARAMETERS, hodgkin_huxley, k_persistent, k_slow, passive
from ranvier.errors import RanvierError, ShapeError, UnitError, UnknownNameError, ValueOutOfBoundsError
from thorough_cases import every

FloatArray = npt.NDArray[np.float64]
STEP = 0.025
TREE = rv.Morphology(
    [
        rv.Section(length=20.0, diameter=15.0),
        rv.Section(length=150.0, diameter=2.0, parent=0),
        rv.Section(length=100.0, diameter=1.0, end_diameter=0.5, parent=1),
    ]
)
BALL = rv.Morphology([rv.Section(length=20.0, diameter=20.0)])


def cell(*membrane: Any, probes: dict[str, Any] | None = None, **options: Any) -> rv.Cell:
    """Return a cell with mechanisms on all of its membrane, or on regions."""
    painted = [each if isinstance(each, tuple) else ("all", each) for each in membrane]
    return rv.Cell(TREE, compartments=[1, 4, 3], membrane=painted, probes=probes, **{"celsius": 6.3, **options})


def run(model: rv.Cell, time: float = 50.0, **values: Any) -> tuple[FloatArray, FloatArray]:
    """Return the probes of three cells, and the times of their spikes."""
    net = rv.Network(resolution=STEP)
    cells = net.create(model, 3, **{"I_e": [0.0, 150.0, 400.0], **values})
    states = net.record_state(cells, list(model.variables), interval=STEP)
    spikes = net.record_spikes(cells)
    sim = rv.Simulation(net, threads=1, progress=False)
    sim.run(time)
    return sim.state(states).values, sim.spikes(spikes).times


@pytest.mark.parametrize("rates", ["table", "exact"])
def test_hodgkin_huxley_equations_do_what_the_built_in_mechanism_does(rates: Any) -> None:
    """The rates agree but for their last digits; spikes to the step, and gates and currents with them."""
    found = []
    for mechanism in (rv.hh(), hodgkin_huxley()()):
        names = [f"{each} of {mechanism.name}" for each in ("m", "h", "n", "i_Na", "i_K", "i_l")]
        probes = {name.partition(" ")[0]: (rv.at(1, 0.5), name) for name in names}
        found.append(run(cell(mechanism, probes=probes, rates=rates, celsius=9.0)))
    (values, times), (own, own_times) = found
    assert len(times) >= 4
    np.testing.assert_array_equal(own_times, times)
    np.testing.assert_allclose(own, values, rtol=0.0, atol=1e-7)


def test_a_cortical_channel_does_what_the_built_in_mechanism_does() -> None:
    """Beside others, with a temperature, a choice and bounds."""
    found = [
        run(cell(rv.hh(), mechanism, celsius=20.0, probes={"h": (rv.at(1, 0.3), f"h of {mechanism.name}")}))
        for mechanism in (rv.k_persistent(gbar=0.02), k_persistent()(gbar="20 mS/cm**2"))
    ]
    np.testing.assert_allclose(found[1][0], found[0][0], rtol=0.0, atol=1e-6)
    np.testing.assert_array_equal(found[1][1], found[0][1])


def test_a_passive_channel_is_pas_bit_for_bit() -> None:
    """A current without gates is a leak."""
    probes = {"pas": (rv.at(1, 0.5), "i of pas")}, {"leak": (rv.at(1, 0.5), "i of leak")}
    built_in, _ = run(cell(rv.pas(g=2e-4, e=-68.0), probes=probes[0]))
    own, _ = run(cell(passive()(g=2e-4, E="-0.068 V"), probes=probes[1]))
    np.testing.assert_array_equal(own, built_in)


def test_parameters_differ_between_compartments_and_cells_as_those_of_built_in_mechanisms() -> None:
    def both(mechanism: Any) -> FloatArray:
        gna = rv.per_cell("gna", 0.12, profile=lambda distance: 1.0 + 0.001 * distance)
        values = mechanism(gnabar=gna, gl=np.linspace(2e-4, 4e-4, 8), el=lambda distance: -55.0 - 0.01 * distance)
        return run(cell(values), gna=[0.1, 0.12, 0.14])[0]

    np.testing.assert_allclose(both(hodgkin_huxley()), both(rv.hh), rtol=0.0, atol=1e-7)


@pytest.mark.parametrize(
    "form",
    every(
        3,
        [
            "i = -g*n*(E - v)*n*b : mA/cm**2",
            "i = g*n**2*v*b - g*n*E*b*n : mA/cm**2",
            "i = G*n**2*(v - E) : mA/cm**2\nG = g*b : S/cm**2",
            "i = n*n*(v - E)/R*b : mA/cm**2\nR = 1/g : cm**2/S",
            "i = I*b : mA/cm**2\nI = n**2*J : mA/cm**2\nJ = g*(v - E) : mA/cm**2",
            "i = 0.25*g*(n + n)**2*(v - E)*b : mA/cm**2",
        ],
        first=1,
    ),
)
def test_conductances_and_reversal_potentials_are_found_in_sums(form: str) -> None:
    """However the current is written, also where g is 0 in some compartments, and E is that of several parts."""
    gates = "\ndn/dt = (0.4 - n)/(3*ms) : 1\ndb/dt = 0.1/ms*(1 - b) - b/(7*ms) : 1"
    found = []
    for each in ("i = g*n**2*b*(v - E) : mA/cm**2", form):
        channel = rv.channel(each + gates, parameters={"g": "0.01 S/cm**2", "E": "-80 mV"}, initial={"n": "1/2 + 0.0"})
        mechanism = (
            channel(g=lambda distance: np.where(distance > 100.0, 0.0, 0.02)) if "R" not in each else channel(g=0.02)
        )
        model = cell(("all", rv.pas()), (rv.sections(0), mechanism), probes={"i": (rv.at(0), "i of channel")})
        found.append(run(model, 5.0)[0])
    assert np.ptp(found[0][:, 1]) > 1e-3
    np.testing.assert_allclose(found[1], found[0], rtol=1e-12, atol=1e-10)


def test_gates_begin_where_the_user_says() -> None:
    """At a number or an expression of the potential, else at the steady state; then they follow their equation."""
    channel = rv.channel(
        "i = g*a*b*c*(v - v_0) : mA/cm**2\n"
        + "\n".join(f"d{x}/dt = (steady - {x})/(4*ms) : 1" for x in "abc")
        + "\nsteady = 1/(1 + exp(-(v + 50*mV)/(10*mV))) : 1",
        parameters={"g": "0 S/cm**2", "v_0": "-80 mV", "begin": 0.125},
        initial={"a": "begin*2 + exp((v + 60*mV)/mV)", "b": 0.75},
    )
    assert channel.parameters == ("g", "v_0", "begin")
    probes = {name: (rv.at(0), f"{name} of channel") for name in "abc"}
    model = rv.Cell(BALL, membrane=[("all", rv.pas(g=0.0)), ("all", channel())], probes=probes, V_init=-60.0)
    values, _ = run(model, 8.0, I_e=0.0)
    t = STEP * np.arange(1, len(values) + 1)
    steady = 1.0 / (1.0 + np.exp(1.0))
    for k, begin in enumerate((1.25, 0.75, steady)):
        expected = steady + (begin - steady) * np.exp(-t / 4.0)
        np.testing.assert_allclose(values[:, k + 1, 0], expected, atol=2e-6)


@pytest.mark.parametrize(("scheme", "order"), [("backward_euler", 1), ("staggered", 2)])
@pytest.mark.parametrize("rates", ["table", "exact"])
def test_gates_with_initial_values_keep_the_order_of_the_scheme(scheme: Any, order: int, rates: Any) -> None:
    """Against an equation solver at a tight tolerance; at time 0 a gate is what was given."""
    channel = rv.channel(
        "i = g*n*(v - E_n) : mA/cm**2\ndn/dt = (steady - n)/(4*ms) : 1\nsteady = 1/(1 + exp(-(v + 50*mV)/(8*mV))) : 1",
        parameters={"g": "0.002 S/cm**2", "E_n": "-80 mV"},
        initial={"n": 0.25},
    )

    def slopes(_: float, y: FloatArray) -> list[float]:
        current = 1e-4 * (y[0] + 65.0) + 0.002 * y[1] * (y[0] + 80.0) - 300e-9 / (np.pi * 20.0**2 * 1e-8)
        return [-1000.0 * current, (1.0 / (1.0 + np.exp(-(y[0] + 50.0) / 8.0)) - y[1]) / 4.0]

    truth = solve_ivp(slopes, (0.0, 4.0), [-65.0, 0.25], "DOP853", rtol=1e-11, atol=1e-12).y[:, -1]
    model = rv.Cell(
        BALL,
        membrane=[("all", rv.pas(g=1e-4, e=-65.0)), ("all", channel())],
        probes={"n": (rv.at(0), "n of channel")},
        V_init=-65.0,
        scheme=scheme,
        rates=rates,
    )
    errors = []
    for resolution in (0.1, 0.05):
        net = rv.Network(resolution=resolution)
        cells = net.create(model, 1, I_e=300.0)
        sim = rv.Simulation(net, threads=1, progress=False)
        np.testing.assert_allclose(sim.get(cells, "n"), 0.25, rtol=1e-4 if scheme == "staggered" else 1e-12)
        sim.run(4.0)
        errors.append([float(sim.get(cells, name)[0]) - truth[i] for i, name in enumerate(("V_m", "n"))])
    np.testing.assert_allclose(np.array(errors[0]) / np.array(errors[1]), 2.0**order, rtol=0.1)


def test_a_gate_that_forgets_its_beginning_within_a_step_is_steady() -> None:
    """What a step leaves of its initial value could not be seen."""
    equations = "i = g*n*(v - E_n) : mA/cm**2\ndn/dt = (0.5 - n)/tau : 1"
    for tau, expected in ((0.025, 0.25), (0.003, 0.25), (0.0015, 0.5), (1e-6, 0.5)):
        channel = rv.channel(
            equations,
            parameters={"g": "0 S/cm**2", "E_n": "0 mV", "tau": f"{tau} ms"},
            initial={"n": 0.25},
        )
        model = cell(channel(), probes={"n": (rv.at(0), "n of channel")})
        net = rv.Network(resolution=STEP)
        cells = net.create(model, 1)
        sim = rv.Simulation(net, threads=1, progress=False)
        np.testing.assert_allclose(sim.get(cells, "n"), expected, atol=1e-9)
        sim.run(STEP)
        np.testing.assert_allclose(sim.get(cells, "n"), 0.5 + (expected - 0.5) * np.exp(-STEP / tau), atol=1e-6)


def test_a_state_is_saved_loaded_and_refused_by_another_channel(tmp_path: Path) -> None:
    def simulation(channel: rv.EquationChannel) -> tuple[rv.Simulation, rv.StateRecorder]:
        net = rv.Network(resolution=STEP)
        cells = net.create(cell(rv.hh(), channel(), probes={"b": (rv.at(0), "b of k_slow")}), 5, I_e=200.0)
        recorder = net.record_state(cells, ["V_m", "b"], interval=STEP)
        return rv.Simulation(net, threads=1, progress=False), recorder

    sim, recorder = simulation(k_slow())
    sim.run(3.0)
    sim.save(tmp_path / "state.h5")
    sim.run(4.0)
    other, recorder_again = simulation(pickle.loads(pickle.dumps(k_slow())))
    again = rv.Simulation.load(other.network, tmp_path / "state.h5", threads=2, progress=False)
    again.run(4.0)
    np.testing.assert_array_equal(again.state(recorder_again).values[-100:], sim.state(recorder).values[-100:])
    changed = rv.channel(
        k_slow().equations.replace("9*mV", "9.5*mV"),
        parameters={"gbar": "0.01 S/cm**2", "ek": "-85 mV", "shift": "45 mV"},
        initial={"b": 0.3},
        name="k_slow",
    )
    with pytest.raises(RanvierError, match="it is another one"):
        rv.Simulation.load(simulation(changed)[0].network, tmp_path / "state.h5", progress=False)


def test_cells_and_channels_are_pickled() -> None:
    channel = k_slow()
    model = cell(rv.hh(), channel(gbar=0.002))
    again = pickle.loads(pickle.dumps((channel, channel(gbar=0.002), model)))
    assert again[0] == channel
    assert again[1] == channel(gbar=0.002) != channel(gbar=0.001)
    np.testing.assert_array_equal(run(again[2], 5.0)[0], run(model, 5.0)[0])


def test_parameters_in_rates_may_differ_between_kinds_of_cells() -> None:
    """Each kind has a table of its own; a packed population does what each kind does alone."""
    channel = k_slow()
    kinds = [cell(rv.hh(), channel(shift=shift)) for shift in (40.0, "50 mV", 45.0)]
    net = rv.Network(resolution=STEP)
    together = net.create(kinds, I_e=100.0)
    alone = [net.create(kind, 1, I_e=100.0) for kind in kinds]
    recorders = [net.record_state(each, ["V_m"], interval=STEP) for each in (together, *alone)]
    sim = rv.Simulation(net, threads=1, progress=False)
    sim.run(10.0)
    packed, *single = (sim.state(recorder).values[:, 0] for recorder in recorders)
    np.testing.assert_array_equal(packed, np.hstack(single))
    assert np.abs(packed[:, 0] - packed[:, 1]).max() > 0.01


def test_what_a_channel_says_of_itself() -> None:
    channel = hodgkin_huxley()
    assert channel.gates == ("m", "h", "n")
    assert channel.currents == ("i", "i_Na", "i_K", "i_l")
    assert channel.units["gkbar"] == "mS/cm**2"
    assert channel.units["ek"] == "mV"
    text = channel.describe()
    for words in ("0.12 S/cm**2", ">= 0", "Leak", "activation of sodium", "i_Na", "dm/dt = alpha_m"):
        assert words in text
    assert repr(channel) == "<channel 'squid': m, h, n>"
    assert repr(channel(gl=0.1)) == "squid(gl=0.1)"
    assert channel(gl=0.1).values == {"gl": 0.1}
    assert "starts at 0.3" in k_slow().describe()


@pytest.mark.parametrize(
    ("values", "kind", "words"),
    [
        ({"gnaba": 0.1}, UnknownNameError, "did you mean 'gnabar'"),
        ({"gl": -0.1}, ValueOutOfBoundsError, "must be >= 0"),
        ({"gnabar": "0.1 mV"}, UnitError, "S/cm"),
        ({"gnabar": -0.1}, ValueOutOfBoundsError, "gnabar of mechanism squid"),
        ({"gnabar": np.ones(3)}, ShapeError, "8 compartments"),
        ({"gl": lambda distance: -distance}, ValueOutOfBoundsError, "must be >= 0"),
        ({"ena": np.linspace(40.0, 60.0, 8)}, ShapeError, "ena of mechanism squid"),
        ({"gkbar": rv.per_cell("gk", 36.0)}, ValueOutOfBoundsError, "S/cm\\*\\*2"),
        ({"el": float("nan")}, ValueOutOfBoundsError, "finite"),
    ],
)
def test_wrong_values_are_refused(values: dict[str, Any], kind: type[RanvierError], words: str) -> None:
    with pytest.raises(kind, match=words):
        cell(hodgkin_huxley()(**values))


def test_rates_that_are_no_numbers_are_refused_where_the_cell_is_made() -> None:
    """With what to write: x/(exp(x) - 1) has no value at 0."""
    text = HH.replace("phi/exprel(-(v + 40*mV)/(10*mV))", "0.1*phi*(v + 40*mV)/(1 - exp(-(v + 40*mV)/(10*mV)))/mV")
    channel = rv.channel(text, parameters=HH_PARAMETERS, name="squid")
    with pytest.raises(ValueOutOfBoundsError, match=r"gate m of mechanism squid.*nan at -40 mV.*exprel"):
        cell(channel())
    negative = rv.channel(
        "i = g*n*(v - E) : mA/cm**2\ndn/dt = (1 - n)/(tau*v/(100*mV)) : 1",
        parameters={"g": "1 S/cm**2", "E": "-80 mV", "tau": "1 ms"},
    )
    with pytest.raises(ValueOutOfBoundsError, match=r"time constant of -2\.5 ms at -250 mV"):
        cell(negative())


def test_a_parameter_in_rates_is_the_same_in_all_cells_and_compartments() -> None:
    channel = k_slow()
    with pytest.raises(ValueOutOfBoundsError, match="changes rates"):
        cell(channel(shift=rv.per_cell("shift", 40.0)))
    with pytest.raises(ShapeError, match="shift of mechanism k_slow"):
        cell(channel(shift=np.linspace(40.0, 50.0, 8)))


def test_two_mechanisms_of_a_cell_with_one_name_are_refused() -> None:
    """Probes could not tell them apart; the same one twice is no matter."""
    own = hodgkin_huxley("hh")
    with pytest.raises(ValueOutOfBoundsError, match="another mechanism of the cell has the same name"):
        cell(rv.hh(), own())
    cell(("all", own()), (rv.sections(0), hodgkin_huxley("hh")(gnabar=0.01)))
