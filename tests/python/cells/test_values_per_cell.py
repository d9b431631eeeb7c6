"""Values per cell: a population with them has the bits of cells with the same numbers."""

from __future__ import annotations

import math
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import ranvier as rv
from thorough_cases import every

STEP, TIME = 0.025, 6.0
TREE = rv.Morphology(
    [
        rv.Section(length=20.0, diameter=20.0),
        rv.Section(length=150.0, diameter=1.5, parent=0, tag="basal"),
        rv.Section(length=80.0, diameter=1.0, parent=1, tag="apical"),
        rv.Section(length=60.0, diameter=0.8, parent=1, tag="apical"),
    ]
)
FloatArray = npt.NDArray[np.float64]
Maker = Callable[[Any], rv.Cell]
PROBES: dict[str, Any] = {
    "tip": rv.at(2, 1.0),
    "i_Na": (rv.at(0), "i_Na of hh"),
    "i_ca": (rv.at(0), "i of ca_hva"),
    "ca": (rv.at(0), "Ca of calcium_pool"),
    "e_ca": (rv.at(0), "E_Ca of calcium_pool"),
    "g": "slow",
    "i_fast": "i of fast",
    "i_block": "i of block",
    "i_pulse": "i of pulse",
    "i_hold": "i of hold",
    "i_axial": (rv.at(1, 0.5), "i_axial"),
}


def cell(
    *,
    hh: Any = None,
    pool: Any = None,
    fast: Any = None,
    slow: Any = None,
    block: Any = None,
    pulse: Any = None,
    hold: Any = None,
    **keys: Any,
) -> rv.Cell:
    """Return a cell that has one of everything, with some arguments of its parts."""
    given = {"amplitude": [80.0, -40.0], "duration": [2.0, 1.5], "start": 1.0, **(pulse or {})}
    held = {"level": [-60.0, -75.0], "duration": [0.5, 0.5], "start": 4.1, "resistance": 20.0, **(hold or {})}
    return rv.Cell(
        TREE,
        compartments=[1, 3, 2, 2],
        membrane=[
            ("all", rv.pas(g=2e-4, e=-66.0)),
            ("soma", rv.hh(**(hh or {}))),
            ("soma", rv.ca_hva(gbar=0.002)),
            ("soma", rv.sk_current(gbar=0.01)),
            ("soma", rv.calcium_pool(**(pool or {}))),
            ("apical", rv.na_persistent(**({"ena": hh["ena"]} if hh and "ena" in hh else {}))),
        ],
        receptors={
            "fast": (rv.expsyn(**{"tau": 2.0, **(fast or {})}), rv.at(1, 0.7)),
            "slow": (rv.exp2syn(**(slow or {})), rv.at(2, 0.5)),
            "block": (rv.nmda(**(block or {})), rv.at(3, 0.5)),
        },
        clamps={
            "pulse": (rv.current_clamp(**given), rv.at(1, 0.2)),
            "hold": (rv.voltage_clamp(**held), rv.at(3, 1.0)),
        },
        probes=PROBES,
        **{"celsius": 25.0, "threshold": -40.0, "name": "cell", **keys},
    )


CASES: dict[str, tuple[Maker, list[float]]] = {
    "C_m": (lambda v: cell(C_m=v), [1.0, 0.7, 1.9]),
    "C_m of a region": (lambda v: cell(C_m=[("all", 1.0), ("apical", v)]), [2.0, 0.7, 1.9]),
    "R_a": (lambda v: cell(R_a=v), [100.0, 35.4, 290.0]),
    "threshold": (lambda v: cell(threshold=v), [-40.0, -30.0, 10.0]),
    "V_init": (lambda v: cell(V_init=v), [-65.0, -80.0, -50.0]),
    "tau of expsyn": (lambda v: cell(fast={"tau": v}), [2.0, 0.3, 9.0]),
    "e of expsyn": (lambda v: cell(fast={"e": v}), [0.0, -80.0, -3.0]),
    "tau_decay of exp2syn": (lambda v: cell(slow={"tau_decay": v}), [2.0, 0.6, 20.0]),
    "Mg of nmda": (lambda v: cell(block={"Mg": v}), [1.0, 0.0, 3.0]),
    "amplitude": (lambda v: cell(pulse={"amplitude": [v, -40.0]}), [80.0, -10.0, 200.0]),
    "duration": (lambda v: cell(pulse={"duration": [2.0, v]}), [1.5, 0.013, math.inf]),
    "start": (lambda v: cell(pulse={"start": v}), [1.0, 0.0, 3.337]),
    "level": (lambda v: cell(hold={"level": [-60.0, v]}), [-75.0, -20.0, -90.0]),
    "start of a voltage clamp": (lambda v: cell(hold={"start": v}), [4.1, 0.0, 4.9]),
    "resistance": (lambda v: cell(hold={"resistance": v}), [20.0, 1.0, 400.0]),
    "reversal of a gated current": (lambda v: cell(hh={"ena": v}), [50.0, 45.0, 61.0]),
    "decay of calcium": (lambda v: cell(pool={"decay": v}), [80.0, 5.0, 300.0]),
    "depth of the pool": (lambda v: cell(pool={"depth": v}), [0.1, 0.02, 1.0]),
    "calcium at rest": (lambda v: cell(pool={"Ca_rest": v}), [1e-4, 5e-5, 1e-3]),
    "calcium outside": (lambda v: cell(pool={"Ca_out": v}), [2.0, 0.5, 4.0]),
}


def network(model: Any, size: int | None, **values: Any) -> tuple[rv.Network, rv.Population, Any, Any]:
    """Return a network in which all cells get the same spikes."""
    net = rv.Network(resolution=STEP)
    cells = net.create(model, size, I_e=60.0, **values)
    source = net.create_spike_generators([[0.5, 1.0, 2.5]])
    for receptor in ("fast", "slow", "block"):
        net.connect(source, cells, "all_to_all", weight=4.0, delay=0.5, receptor=receptor)
    states = net.record_state(cells, ["V_m", *PROBES], interval=5 * STEP)
    return net, cells, states, net.record_spikes(cells)


def course(model: Any, size: int | None = None, threads: int = 1, **values: Any) -> tuple[FloatArray, list[FloatArray]]:
    """Return recorded values, shape (times, variables, cells), and the spikes of each cell."""
    instruction_set = values.pop("instruction_set", "auto")
    net, cells, states, spikes = network(model, size, **values)
    simulation = rv.Simulation(net, threads=threads, tuning=rv.Tuning(instruction_set=instruction_set))
    simulation.run(TIME)
    found = simulation.spikes(spikes)
    times = [found.times[found.ids == cells.first_id + i] for i in range(len(cells))]
    return simulation.state(states).values, times


@pytest.mark.parametrize(("make", "values"), every(4, CASES.values()), ids=CASES)
def test_a_value_of_a_cell_is_the_constant(make: Maker, values: list[float]) -> None:
    """In whole slots, packed beside others, on threads, and with other instruction sets."""
    own = make(rv.per_cell("x", values[0]))
    alone = [course([make(value)] * 8) for value in values]
    first = [values_of[..., 0] for values_of, _ in alone]
    for values_of, times in alone[1:]:
        differs = not np.array_equal(values_of, alone[0][0]) or not np.array_equal(times[0], alone[0][1][0])
        assert differs, "the value makes no difference"
    for which, keys in (
        ([0] * 8 + [1, 2], {}),
        ([0, 1, 2], {"instruction_set": "baseline"}),
        ([0, 2, 1, 1, 0, 2, 2, 1], {"threads": 2}),
    ):
        recorded, times = course(own, len(which), x=[values[i] for i in which], **keys)
        for place, i in enumerate(which):
            np.testing.assert_array_equal(recorded[..., place], first[i])
            np.testing.assert_array_equal(times[place], alone[i][1][0])


def test_values_are_set_while_a_simulation_runs(tmp_path: Path) -> None:
    """Those of some cells, with the bits of a cell that has them from then on; a state that was saved has them, too."""
    keys: dict[str, Any] = {
        "C_m": ("c", 1.0, 1.4),
        "R_a": ("r", 100.0, 60.0),
        "threshold": ("t", -40.0, -30.0),
    }
    parts: dict[str, Any] = {
        "fast": {"tau": ("tau", 2.0, 5.0)},
        "pulse": {"amplitude": ("a", 80.0, -20.0), "duration": ("d", 2.5, 4.0)},
        "hold": {"level": [("l", -60.0, -50.0), -75.0]},
        "pool": {"decay": ("p", 80.0, 20.0)},
    }

    def filled(pattern: Any, choose: Any) -> Any:
        if isinstance(pattern, dict):
            return {key: filled(value, choose) for key, value in pattern.items()}
        if isinstance(pattern, list):
            return [filled(value, choose) for value in pattern]
        return choose(*pattern) if isinstance(pattern, tuple) else pattern

    model = cell(**filled({**keys, **parts}, lambda name, first, _: rv.per_cell(name, first)))
    later: dict[str, float] = {}
    filled({**keys, **parts}, lambda name, _, second: later.setdefault(name, second))

    def run(size: int, changed: Any, path: Path | None = None, threads: int = 1) -> FloatArray:
        net, cells, states, _ = network(model, size)
        simulation = rv.Simulation(net)
        simulation.run(2.0)
        simulation.set(cells[changed], **later)
        simulation.run(1.0)
        if path is not None:
            simulation.save(path)
            net, _, states, _ = network(model, size)
            simulation = rv.Simulation.load(net, path, threads=threads)
        simulation.run(2.0)
        return simulation.state(states).values[-16:]

    both = run(9, slice(None)), run(9, slice(0, 0))
    mixed = run(11, [1, 10])
    for place in range(11):
        np.testing.assert_array_equal(mixed[..., place], both[0 if place in (1, 10) else 1][..., 0])
    np.testing.assert_array_equal(run(11, [1, 10], tmp_path / "state.h5", threads=2), mixed)
    again = pickle.loads(pickle.dumps(model))
    assert [info.name for info in again.core_model.parameters] == [info.name for info in model.core_model.parameters]
    copy, _, states, _ = network(again, 9)
    simulation = rv.Simulation(copy)
    simulation.run(2.0)
    net, _, others, _ = network(model, 9)
    expected = rv.Simulation(net)
    expected.run(2.0)
    np.testing.assert_array_equal(simulation.state(states).values, expected.state(others).values)


def test_profiles_scale_values() -> None:
    """Of the capacitance in each compartment, of levels and durations of clamps one by one, else of a cell."""
    profile = np.linspace(0.5, 2.0, 8)
    pairs = [
        (cell(C_m=rv.per_cell("x", 1.5, profile)), cell(C_m=1.5 * profile)),
        (cell(C_m=rv.per_cell("x", 1.5, lambda d: 1.0 + d / 100.0)), cell(C_m=1.5 * (1.0 + cell().distances / 100.0))),
        (cell(R_a=rv.per_cell("x", 1.5, 100.0)), cell(R_a=150.0)),
        (cell(pulse={"amplitude": rv.per_cell("x", 1.5, [80.0, -20.0])}), cell(pulse={"amplitude": [120.0, -30.0]})),
        (cell(pulse={"duration": rv.per_cell("x", 1.5, [1.0, 2.0])}), cell(pulse={"duration": [1.5, 3.0]})),
        (cell(fast={"e": rv.per_cell("x", 1.5, -40.0)}), cell(fast={"e": -60.0})),
    ]
    for own, constant in pairs:
        np.testing.assert_array_equal(course(own, 2)[0], course(constant, 2)[0])


def test_cells_begin_at_a_value_of_their_own() -> None:
    """Which a leak may share, and V_m replaces; while it runs, it cannot change."""
    own = rv.per_cell("rest", -70.0)
    model = rv.Cell(TREE, membrane=[("all", rv.pas(e=own))], V_init=own)
    net = rv.Network(resolution=STEP)
    cells = net.create(model, 4, rest=[-60.0, -70.0, -80.0, -65.5])
    given = net.create(model, 2, rest=-50.0, V_m=[-60.0, -61.0])
    only = net.create(rv.Cell(TREE, membrane=[("all", rv.pas())], V_init=own), 2, rest=[-60.0, -75.0])
    simulation = rv.Simulation(net)
    np.testing.assert_array_equal(simulation.get(only, "V_m"), [-60.0, -75.0])
    np.testing.assert_array_equal(simulation.get(given, "V_m"), [-60.0, -61.0])
    simulation.run(1.0)
    np.testing.assert_allclose(simulation.get(cells, "V_m"), [-60.0, -70.0, -80.0, -65.5], rtol=1e-12)
    simulation.set(cells[:1], rest=-62.0)
    with pytest.raises(rv.errors.ValueOutOfBoundsError, match="set V_m"):
        simulation.set(only, rest=-60.0)


def test_kinds_share_values() -> None:
    """In which they stand for other things, with defaults of their own."""
    a_membrane: list[Any] = [("all", rv.pas(g=rv.per_cell("x", 1e-4)))]
    a = rv.Cell(TREE, membrane=a_membrane, V_init=rv.per_cell("v", -70.0))
    b = rv.Cell(TREE, membrane=[("all", rv.hh(gl=rv.per_cell("x", 3e-4)))], V_init=rv.per_cell("v", -60.0))
    net = rv.Network(resolution=STEP)
    cells = net.create([a, b, a])
    simulation = rv.Simulation(net)
    np.testing.assert_array_equal(simulation.get(cells, "V_m"), [-70.0, -60.0, -70.0])
    np.testing.assert_array_equal(simulation.get(cells, "x"), [1e-4, 3e-4, 1e-4])
    with pytest.raises(rv.errors.ValueOutOfBoundsError, match="per-cell parameters of V_init of cell 1"):
        net.create([a, rv.Cell(TREE, membrane=a_membrane, threshold=rv.per_cell("v", -60.0))])


def held(**second: Any) -> rv.Cell:
    """Return a cell in which two voltage clamps hold one compartment, one after the other."""
    clamps = {
        "first": (rv.voltage_clamp(level=-60.0, start=1.0, duration=rv.per_cell("d", 2.0)), rv.at(0)),
        "second": (rv.voltage_clamp(**{"level": -70.0, "start": 3.0, "duration": 1.0, **second}), rv.at(0)),
    }
    return rv.Cell(TREE, membrane=[("all", rv.pas())], clamps=clamps)


def rising(**values: Any) -> rv.Cell:
    """Return a cell with a receptor with two time constants."""
    return rv.Cell(TREE, membrane=[("all", rv.pas())], receptors={"exc": (rv.exp2syn(**values), rv.at(0))})


BAD: dict[str, tuple[Any, str]] = {
    "celsius": (lambda net: cell(celsius=rv.per_cell("x", 25.0)), "a population for each temperature"),
    "place": (lambda net: cell(detector=rv.per_cell("x", 1.0)), "detector"),
    "function of a resistivity": (lambda net: cell(R_a=rv.per_cell("x", 1.0, lambda d: d)), "one number for R_a"),
    "array of a threshold": (lambda net: cell(threshold=rv.per_cell("x", 1.0, [1.0, 2.0])), "one number for threshold"),
    "function of levels": (lambda net: cell(pulse={"amplitude": rv.per_cell("x", 1.0, lambda d: d)}), "one number"),
    "as many profiles as levels": (
        lambda net: cell(pulse={"amplitude": rv.per_cell("x", 1.0, [1.0, 2.0, 3.0])}),
        "it has 3 levels",
    ),
    "profile of C_m": (lambda net: cell(C_m=rv.per_cell("x", 1.0, [1.0, 2.0])), "8 compartments"),
    "capacitance of 0": (lambda net: cell(C_m=rv.per_cell("x", 1.0, [0.0] + [1.0] * 7)), "capacitance"),
    "capacitance below 0": (lambda net: cell(C_m=rv.per_cell("x", 1.0, -1.0)), "profile of C_m"),
    "default of R_a": (lambda net: cell(R_a=rv.per_cell("x", 0.0)), "default of parameter 'x'"),
    "default of nan": (lambda net: cell(threshold=rv.per_cell("x", math.nan)), "default of rv.per_cell"),
    "infinite amplitude": (lambda net: cell(pulse={"amplitude": rv.per_cell("x", math.inf, [1, 1])}), "default"),
    "infinite duration before the last": (
        lambda net: cell(pulse={"duration": [rv.per_cell("x", math.inf), 1.0]}),
        "only the duration of the last",
    ),
    "profile of 0": (lambda net: cell(threshold=rv.per_cell("x", 1.0, 0.0)), "0 everywhere"),
    "profile of 0 of a time": (lambda net: cell(fast={"tau": rv.per_cell("x", 1.0, 0.0)}), "profile of tau"),
    "profile below 0 of a time": (lambda net: cell(pool={"decay": rv.per_cell("x", 1.0, -2.0)}), "profile of decay"),
    "two units": (lambda net: cell(R_a=rv.per_cell("x", 50.0), threshold=rv.per_cell("x", 50.0)), "same unit"),
    "two defaults": (lambda net: cell(R_a=rv.per_cell("x", 50.0), C_m=rv.per_cell("x", 51.0)), "one default"),
    "distribution": (lambda net: cell(fast={"tau": rv.Normal(2.0, 1.0)}), "tau"),
    "distribution of a profile": (lambda net: rv.per_cell("x", 1.0, rv.Normal(2.0, 1.0)), "profile"),  # type: ignore[arg-type]
    "name of the step": (lambda net: rv.per_cell("step", 1.0), "argument"),
    "resistivity of 0": (lambda net: net.create(cell(R_a=rv.per_cell("x", 50.0)), 3, x=[1.0, 0.0, 2.0]), "x of"),
    "nan": (lambda net: net.create(cell(R_a=rv.per_cell("x", 50.0)), 3, x=[1.0, math.nan, 2.0]), "x of"),
    "potential": (lambda net: net.create(cell(threshold=rv.per_cell("x", 0.0, 2.0)), 2, x=126.0), "x of"),
    "amplitude": (lambda net: net.create(cell(pulse={"amplitude": [rv.per_cell("x", 0), 1]}), 2, x=1e300), "x of"),
    "infinite": (lambda net: net.create(cell(pulse={"amplitude": [rv.per_cell("x", 0), 1]}), 2, x=math.inf), "x of"),
    "text": (lambda net: net.create(cell(R_a=rv.per_cell("x", 50.0)), 3, x="1"), "x"),
    "boolean": (lambda net: net.create(cell(R_a=rv.per_cell("x", 50.0)), 3, x=True), "x"),
    "length": (lambda net: net.create(cell(R_a=rv.per_cell("x", 50.0)), 3, x=[1.0, 2.0]), "3"),
    "rise that is slower": (
        lambda net: net.create(rising(tau_rise=rv.per_cell("x", 1.0)), 3, x=[1.0, 1.9, 2.0]),
        "element 2.*tau_rise",
    ),
    "rise that may be slower": (
        lambda net: net.create(
            rising(tau_rise=rv.per_cell("x", 1.0), tau_decay=rv.per_cell("y", 2.0)),
            3,
            x=rv.Uniform(1.0, 2.0),
            y=rv.Uniform(1.5, 3.0),
        ),
        "tau_rise.*restrict",
    ),
    "potential held twice": (lambda net: net.create(held(), 3, d=[2.0, 2.001, 1.0]), "element 1.*same time"),
    "potential that may be held twice": (lambda net: net.create(held(), 3, d=rv.Uniform(1.0, 2.1)), "same time"),
    "potential that is held between": (
        lambda net: net.create(held(start=rv.per_cell("s", 3.0)), 2, s=rv.Uniform(0.0, 8.0)),
        "same time",
    ),
}


@pytest.mark.parametrize(("make", "message"), BAD.values(), ids=BAD)
def test_what_does_not_fit_is_refused(make: Any, message: str) -> None:
    """With a typed error that says what is wrong."""
    net = rv.Network(resolution=STEP)
    with pytest.raises(rv.errors.RanvierError, match=message):
        make(net)
    assert not net.populations


def test_what_fits_is_taken() -> None:
    """Whatever is drawn, one clamp ends before the other starts; kinds for which it is not so are others."""
    net = rv.Network(resolution=STEP)
    net.create(held(), 3, d=rv.Uniform(0.5, 2.0))
    net.create(held(start=rv.per_cell("s", 3.0)), 2, s=rv.Uniform(4.0, 8.0), d=rv.Uniform(1.0, 3.0))
    slow, fast = rising(tau_rise=rv.per_cell("x", 5.0), tau_decay=9.0), rising(tau_rise=rv.per_cell("x", 1.0))
    net.create([slow, fast])
    net.create([slow, fast], x=[8.0, 1.5])
    with pytest.raises(rv.errors.ValueOutOfBoundsError, match="element 1"):
        net.create([slow, fast], x=[8.0, 2.5])
    with pytest.raises(rv.errors.ValueOutOfBoundsError, match="tau_rise"):
        net.create([slow, fast], x=2.5)
    rv.Simulation(net).run(1.0)


@pytest.mark.parametrize("threads", [1, 2])
def test_a_refused_set_leaves_nothing_changed(threads: int) -> None:
    """Whatever is wrong with one of the values."""
    model = rv.Cell(
        TREE,
        membrane=[("all", rv.pas())],
        C_m=rv.per_cell("c", 1.0),
        receptors={"exc": (rv.exp2syn(tau_rise=rv.per_cell("x", 0.5)), rv.at(0))},
        clamps={"hold": (rv.current_clamp(amplitude=rv.per_cell("a", 10.0)), rv.at(0))},
    )

    def run(attack: bool) -> FloatArray:
        net = rv.Network(resolution=STEP)
        cells = net.create(model, 9)
        states = net.record_state(cells, ["V_m"], interval=STEP)
        simulation = rv.Simulation(net, threads=threads)
        simulation.run(1.0)
        for values in (
            {"c": 2.0, "x": [0.5] * 8 + [2.5]},
            {"a": 20.0, "c": 0.0},
            {"a": 1e31},
            {"c": [2.0] * 8},
            {"x": 3.0},
            {"a": math.nan, "c": 2.0},
            {"a": math.inf},
            {"c": "2"},
            {"c": True},
            {"unknown": 1.0, "c": 2.0},
        ):
            if not attack:
                break
            with pytest.raises(rv.errors.RanvierError):
                simulation.set(cells, **values)
            np.testing.assert_array_equal(simulation.get(cells, "c"), [1.0] * 9)
        simulation.run(1.0)
        return simulation.state(states).values

    np.testing.assert_array_equal(run(True), run(False))
