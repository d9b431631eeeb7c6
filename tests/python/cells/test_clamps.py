"""Electrodes that inject currents or hold potentials."""

from __future__ import annotations

import math
import pickle
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import ranvier as rv
from ranvier_benchmarks.neuron_ring import load_neuron

STEP = 0.025
AREA = math.pi * 20.0**2
BALL = rv.Morphology([rv.Section(length=20.0, diameter=20.0)])
TREE = rv.Morphology(
    [rv.Section(length=20.0, diameter=20.0), rv.Section(length=200.0, diameter=2.0, parent=0, tag="basal")]
)
PASSIVE: list[Any] = [("all", rv.pas(g=1e-4, e=-65.0))]


def run(cell: rv.Cell, time: float, step: float = STEP) -> npt.NDArray[np.float64]:
    """Return what variables were after each step, shape (steps, variables)."""
    net = rv.Network(resolution=step)
    recorder = net.record_state(net.create(cell, 1), list(cell.variables), interval=step)
    simulation = rv.Simulation(net)
    simulation.run(time)
    return simulation.state(recorder).values[:, :, 0]


def ball(clamps: dict[str, Any], **keys: Any) -> rv.Cell:
    """Return a passive compartment with the currents of its clamps as probes."""
    return rv.Cell(BALL, membrane=PASSIVE, clamps=clamps, probes={name: f"i of {name}" for name in clamps}, **keys)


def test_a_current_is_injected_while_it_lasts() -> None:
    """Several levels, and several clamps at one place, which add up."""
    clamps = {
        "first": (rv.current_clamp(amplitude=[10.0, -20.0], duration=[1.0, 2.0], start=0.5), rv.at(0)),
        "second": (rv.current_clamp(amplitude=5.0, start=2.0), rv.at(0)),
    }
    values = run(ball(clamps), 5.0)
    time = np.arange(1, len(values) + 1) * STEP - STEP / 2  # the middle of each step
    first = np.where((time > 0.5) & (time < 1.5), 10.0, np.where((time > 1.5) & (time < 3.5), -20.0, 0.0))
    second = np.where(time > 2.0, 5.0, 0.0)
    np.testing.assert_array_equal(values[:, 1], first)
    np.testing.assert_array_equal(values[:, 2], second)
    expected, capacity, leak = [-65.0], AREA * 0.01 / STEP, AREA * 1e-3
    for current in first + second:
        expected.append((capacity * expected[-1] - leak * 65.0 + current) / (capacity + leak))
    np.testing.assert_allclose(values[:, 0], expected[1:], rtol=1e-13)


def test_the_charge_of_a_current_does_not_depend_on_the_grid() -> None:
    """A pulse between two points of it."""
    clamps = {"pulse": (rv.current_clamp(amplitude=7.0, start=0.3333, duration=0.0171), rv.at(0))}
    for step in (0.1, 0.01, 0.003):
        values = run(ball(clamps), 0.6, step)
        assert values[:, 1].sum() * step == pytest.approx(7.0 * 0.0171, rel=1e-9)


def test_a_potential_is_held() -> None:
    """Through the resistance of the electrode; before and after it is disconnected."""
    clamps = {
        "hold": (rv.voltage_clamp(level=[0.0, -90.0], duration=[30.0, 30.0], start=5.0, resistance=20.0), rv.at(0))
    }
    values = run(ball(clamps), 70.0)
    v, current = values.T
    conductance, leak = 1e3 / 20.0, AREA * 1e-3
    for end, level in ((35.0, 0.0), (65.0, -90.0)):
        steady = (conductance * level - leak * 65.0) / (conductance + leak)
        last = round(end / STEP) - 1
        assert v[last] == pytest.approx(steady, rel=1e-9)
        assert current[last] == pytest.approx(conductance * (level - steady), rel=1e-6)
    assert not current[: round(5.0 / STEP)].any()
    assert not current[round(65.0 / STEP) :].any()
    assert (v[: round(5.0 / STEP)] == -65.0).all()
    assert abs(v[-1] + 65.0) < abs(v[round(65.0 / STEP) - 1] + 65.0)


def test_charge_is_kept() -> None:
    """In each step: what clamps inject and what flows along the neurite goes through the membrane."""
    cell = rv.Cell(
        TREE,
        compartments=[1, 3],
        membrane=[("all", rv.hh())],
        receptors={"exc": (rv.nmda(), rv.at(0))},
        clamps={
            "pulse": (rv.current_clamp(amplitude=300.0, start=1.0), rv.at(0)),
            "hold": (rv.voltage_clamp(level=-50.0, start=5.0, resistance=50.0), rv.at(0)),
        },
        probes={
            "axial": (rv.at(0), "i_axial"),
            "pulse": "i of pulse",
            "hold": "i of hold",
            "synapse": "i of exc",
            "g": "exc",
            **{name: (rv.at(0), f"{name} of hh") for name in ("m", "h", "n", "i_Na", "i_K", "i_l")},
        },
    )
    net = rv.Network(resolution=STEP)
    cells = net.create(cell, 1)
    net.connect(net.create_spike_generators([[3.0]]), cells, "all_to_all", weight=30.0, delay=1.0)
    recorder = net.record_state(cells, list(cell.variables), interval=STEP)
    simulation = rv.Simulation(net)
    simulation.run(12.0)
    values = dict(zip(cell.variables, simulation.state(recorder).values[:, :, 0].T, strict=True))
    v, area = values["V_m"], cell.areas[0]
    assert v.max() > 0.0
    np.testing.assert_allclose(values["i_Na"], 0.12 * values["m"] ** 3 * values["h"] * (v - 50.0), rtol=1e-9)
    np.testing.assert_allclose(values["i_K"], 0.036 * values["n"] ** 4 * (v + 77.0), rtol=1e-9)
    np.testing.assert_allclose(values["i_l"], 0.0003 * (v + 54.3), rtol=1e-9)
    block = 1.0 / (1.0 + np.exp(-0.062 * v) / 3.57)
    assert values["g"].max() > 1.0
    np.testing.assert_allclose(values["synapse"], values["g"] * block * v, rtol=1e-9)
    # Gates have followed the potential at the end of a step by then; in the step there were those before.
    gates = {name: np.concatenate(([np.nan], values[name][:-1])) for name in ("m", "h", "n")}
    channels = 0.12 * gates["m"] ** 3 * gates["h"] * (v - 50.0) + 0.036 * gates["n"] ** 4 * (v + 77.0) + values["i_l"]
    before = np.concatenate(([np.nan], v[:-1]))
    blocked = np.exp(-0.062 * before) / 3.57
    conductance = np.concatenate(([0.0], values["g"][:-1])) / (1.0 + blocked)
    slope = conductance * 0.062 * blocked / (1.0 + blocked) * before
    synapse = conductance * v + slope * (v - before)
    through = area * (10.0 * channels + 0.01 * (v - before) / STEP) + synapse
    inside = values["axial"] + values["pulse"] + values["hold"]
    np.testing.assert_allclose(through[1:], inside[1:], atol=1e-7)
    assert np.abs(values["hold"]).max() > 10.0


@pytest.mark.parametrize("kind", ["current", "voltage"])
def test_clamps_do_as_in_neuron(kind: str) -> None:
    """IClamp and SEClamp in a dendrite with channels, at the same step."""
    h = load_neuron()
    soma, dendrite = h.Section(), h.Section()
    soma.L = soma.diam = 20.0
    dendrite.L, dendrite.diam, dendrite.nseg = 200.0, 2.0, 5
    dendrite.connect(soma(1))
    for section in (soma, dendrite):
        section.insert("hh")
        section.Ra, section.cm = 100.0, 1.0
    place = dendrite(0.7)
    if kind == "current":
        electrode = h.IClamp(place)
        electrode.delay, electrode.dur, electrode.amp = 2.0, 5.0, 0.4
        own: Any = rv.current_clamp(amplitude=400.0, start=2.0, duration=5.0)
    else:
        electrode = h.SEClamp(place)
        electrode.rs = 5.0
        electrode.dur1, electrode.amp1, electrode.dur2, electrode.amp2, electrode.dur3 = 2.0, -70.0, 6.0, -20.0, 0.0
        own = rv.voltage_clamp(level=[-70.0, -20.0], duration=[2.0, 6.0], resistance=5.0)
    vectors = [h.Vector().record(getattr(at, "_ref_v")) for at in (soma(0.5), place)]  # noqa: B009 - a name of NEURON's
    injected = h.Vector().record(getattr(electrode, "_ref_i"))  # noqa: B009
    h.usetable_hh, h.celsius, h.dt, h.secondorder = 0, 6.3, STEP, 0
    h.finitialize(-65.0)
    for _ in range(400):
        h.fadvance()
    expected = np.array([list(vector) for vector in vectors])[:, 1:]

    cell = rv.Cell(
        TREE,
        compartments=[1, 5],
        membrane=[("all", rv.hh())],
        clamps={"own": (own, rv.at(1, 0.7))},
        probes={"place": rv.at(1, 0.7), "i": "i of own"},
        rates="exact",
    )
    values = run(cell, 10.0).T
    assert np.ptp(expected[0]) > 50.0
    # NEURON keeps forms in single precision.
    assert np.abs(values[:2] - expected).max() < 1e-3
    if kind == "voltage":
        during = slice(round(1.0 / STEP), round(7.9 / STEP))
        currents = 1e3 * np.array(list(injected))[1:]
        # NEURON tells the current at the end of a step; at a jump of the level it has the new one already.
        apart = np.abs(values[2] - currents)[during]
        assert np.sort(apart)[:-2].max() < 1.0 < np.abs(currents).max() / 1000.0


def test_a_cell_with_clamps_can_be_pickled() -> None:
    """And clamps can be compared."""
    clamp = rv.voltage_clamp(level=[1.0, 2.0], duration=[1.0, math.inf])
    assert pickle.loads(pickle.dumps(clamp)) == clamp == eval(repr(clamp), {**vars(rv), "inf": math.inf})
    assert clamp != rv.voltage_clamp(level=[1.0, 2.0], duration=[1.0, 3.0])
    cell = ball({"own": (clamp, rv.at(0))})
    np.testing.assert_array_equal(run(pickle.loads(pickle.dumps(cell)), 3.0), run(cell, 3.0))
    assert cell.clamps == ("own",)


HOLD = rv.voltage_clamp(level=0.0, duration=10.0, start=5.0)
PULSE = rv.current_clamp(amplitude=1.0)
BAD: dict[str, dict[str, Any]] = {
    "no place": {"clamps": {"a": PULSE}},
    "no clamp": {"clamps": {"a": (3, rv.at(0))}},
    "a receptor": {"clamps": {"a": (rv.expsyn(), rv.at(0))}},
    "outside of the tree": {"clamps": {"a": (PULSE, rv.at(7))}},
    "no mapping": {"clamps": [(PULSE, rv.at(0))]},
    "no name": {"clamps": {"": (PULSE, rv.at(0))}},
    "the name of a receptor": {"clamps": {"a": (PULSE, rv.at(0))}, "receptors": {"a": (rv.expsyn(), rv.at(0))}},
    "two at once": {"clamps": {"a": (HOLD, rv.at(0)), "b": (HOLD, rv.at(0, 0.1))}},
    "probe of no clamp": {"probes": {"i": "i of a"}},
    "voltage without bounds": {"clamps": {"a": (rv.voltage_clamp(level=1e4), rv.at(0))}},
    "nan": {"clamps": {"a": (rv.current_clamp(amplitude=math.nan), rv.at(0))}},
    "infinite current": {"clamps": {"a": (rv.current_clamp(amplitude=math.inf), rv.at(0))}},
    "no level": {"clamps": {"a": (rv.current_clamp(amplitude=[], duration=[]), rv.at(0))}},
    "levels without durations": {"clamps": {"a": (rv.current_clamp(amplitude=[1.0, 2.0]), rv.at(0))}},
    "negative start": {"clamps": {"a": (rv.current_clamp(amplitude=1.0, start=-1.0), rv.at(0))}},
    "duration 0": {"clamps": {"a": (rv.current_clamp(amplitude=1.0, duration=0.0), rv.at(0))}},
    "negative duration": {"clamps": {"a": (rv.voltage_clamp(level=1.0, duration=-1.0), rv.at(0))}},
    "after eternity": {"clamps": {"a": (rv.voltage_clamp(level=[1.0, 2.0], duration=[math.inf, 1.0]), rv.at(0))}},
    "staggered": {"clamps": {"a": (HOLD, rv.at(0))}, "scheme": "staggered"},
    "resistance 0": {"clamps": {"a": (rv.voltage_clamp(level=1.0, resistance=0.0), rv.at(0))}},
    "negative resistance": {"clamps": {"a": (rv.voltage_clamp(level=1.0, resistance=-1.0), rv.at(0))}},
}


@pytest.mark.parametrize("keys", BAD.values(), ids=BAD)
def test_a_bad_clamp_is_refused(keys: dict[str, Any]) -> None:
    """With a typed error."""
    with pytest.raises(rv.errors.RanvierError):
        rv.Cell(**{"morphology": BALL, "membrane": PASSIVE, **keys})


@pytest.mark.parametrize("value", [None, "1", [[1.0]], {}, object(), True, [None], b"1"])
def test_a_clamp_takes_numbers_only(value: Any) -> None:
    """With a typed error."""
    for name in ("amplitude", "duration", "start"):
        with pytest.raises(rv.errors.RanvierError):
            rv.current_clamp(**{"amplitude": 1.0, name: value})
    with pytest.raises(rv.errors.RanvierError):
        rv.voltage_clamp(level=0.0, resistance=value)


def test_voltage_clamps_may_follow_each_other() -> None:
    """At one place; and hold different places at the same time."""
    after = rv.voltage_clamp(level=-50.0, start=15.0)
    places = {"a": (HOLD, rv.at(0)), "b": (after, rv.at(0)), "c": (HOLD, rv.at(1, 1.0))}
    values = run(rv.Cell(TREE, membrane=PASSIVE, clamps=places, probes={"c": rv.at(1, 1.0)}), 40.0)
    assert values[round(14.9 / STEP), 0] == pytest.approx(0.0, abs=0.1)
    assert values[-1, 0] == pytest.approx(-50.0, abs=0.1)
