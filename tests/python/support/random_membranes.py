"""Cells with a random form, and random channels, pools, receptors, clamps and probes on it."""

from __future__ import annotations

import random
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

import ranvier as rv
from channel_models import (
    big_potassium,
    high_calcium,
    hodgkin_huxley,
    k_persistent,
    k_slow,
    low_calcium,
    small_potassium,
    two_currents,
)
from ranvier import _core

__all__ = ["check_bits", "draw_cell", "recorded"]

FloatArray = npt.NDArray[np.float64]

STEP, TIME = 0.025, 4.0
CHANNELS = ["na_transient", "na_persistent", "k_transient", "k_persistent", "k_fast", "m_current", "h_current", "hh"]
OF_EQUATIONS = [hodgkin_huxley("equations"), k_persistent(), k_slow()]
OF_CALCIUM = [big_potassium(), high_calcium(), low_calcium(), small_potassium(), two_currents()]
REGIONS: list[Any] = [
    "all",
    rv.sections(0),
    ~rv.sections(0),
    rv.within_distance(20.0, 150.0),
    rv.tagged("basal", "soma"),
]


def _morphology(chance: random.Random) -> tuple[rv.Morphology, list[int]]:
    sections = [
        rv.Section(
            length=chance.uniform(5.0, 200.0),
            diameter=chance.uniform(0.3, 10.0),
            end_diameter=chance.uniform(0.3, 10.0),
            parent=chance.randrange(i) if i else None,
            parent_position=chance.choice([0.0, 1.0, 1.0, 0.37]) if i else 1.0,
            tag=chance.choice(["basal", "apical", "axon"]) if i else "soma",
        )
        for i in range(chance.randint(1, 8))
    ]
    return rv.Morphology(sections), [chance.choice([1, 1, 2, 3, 6]) for _ in sections]


def _place(chance: random.Random, morphology: rv.Morphology) -> rv.Place:
    return rv.at(chance.randrange(len(morphology)), chance.choice([0.0, 0.5, 1.0, chance.random()]))


def _membrane(chance: random.Random, channels: Sequence[str] | None) -> list[Any]:
    painted: list[Any] = [("all", rv.pas(g=chance.uniform(1e-5, 1e-3)))]
    for name in chance.sample(CHANNELS, chance.randint(0, 4)):
        if channels is not None and name not in channels:
            continue
        keys = {"gnabar": chance.uniform(0.01, 0.2)} if name == "hh" else {"gbar": 10.0 ** chance.uniform(-4.0, -1.0)}
        painted.append((chance.choice(REGIONS[:3]), getattr(rv, name)(**keys)))
    painted += [
        (chance.choice(REGIONS[:3]), channel(**_values_of(channel, chance)))
        for channel in chance.sample(OF_EQUATIONS, chance.choice([0, 0, 1, 2]))
    ]
    pools = chance.choice([(), ("all",), (rv.sections(0),), (rv.sections(0), ~rv.sections(0))])
    for region in pools:
        keys = {
            "gamma": chance.uniform(1e-4, 0.05),
            "decay": chance.uniform(5.0, 500.0),
            "depth": chance.uniform(0.1, 1.0),
        }
        painted.append((region, rv.calcium_pool(**keys)))
        names = chance.sample(["ca_hva", "ca_lva", "sk_current"], chance.randint(0, 3))
        names = [name for name in names if channels is None or name in channels]
        painted += [(region, getattr(rv, name)(gbar=10.0 ** chance.uniform(-5.0, -2.5))) for name in names]
        painted += [
            (region, channel(gbar=10.0 ** chance.uniform(-5.0, -2.5)))
            for channel in chance.sample(OF_CALCIUM, chance.choice([0, 1, 2, 3]))
        ]
    if not pools and chance.random() < 0.5 and channels is None:
        painted.append(("all", rv.ca_hva(gbar=1e-4, eca=120.0)))
    return painted


def _values_of(channel: rv.EquationChannel, chance: random.Random) -> dict[str, Any]:
    """Return a conductance, and at times a value on which rates depend, or one for each compartment."""
    name = "gnabar" if "gnabar" in channel.parameters else "gbar"
    size = 10.0 ** chance.uniform(-3.0, -1.0)
    values: dict[str, Any] = {name: chance.choice([size, lambda distance: size / (1.0 + 0.01 * distance)])}
    if "shift" in channel.parameters and chance.random() < 0.5:
        values["shift"] = chance.uniform(30.0, 50.0)
    return values


def _is_there(morphology: rv.Morphology, painted: Any) -> bool:
    try:
        rv.Cell(morphology, membrane=[(painted[0], rv.pas())])
    except rv.errors.ValueOutOfBoundsError:
        return False
    return True


def _probes(chance: random.Random, morphology: rv.Morphology, painted: list[Any]) -> dict[str, Any]:
    """Return some at places; what a place does not have is left out by `draw_cell`."""
    probes: dict[str, Any] = {"axial": (_place(chance, morphology), "i_axial"), "far": _place(chance, morphology)}
    for region, mechanism in painted:
        names = [f"{each} of {mechanism.name}" for each in (*mechanism.gates, *mechanism.currents)]
        names += [f"{each} of calcium_pool" for each in ("Ca", "E_Ca") if mechanism.is_pool]
        if region == "all":
            probes.update({name: (_place(chance, morphology), name) for name in names})
    return probes


def _choice(rates: Literal["table", "exact"] | None, chance: random.Random) -> Any:
    return chance.choice(["table", "table", "exact"]) if rates is None else rates


def draw_cell(
    seed: int, *, rates: Literal["table", "exact"] | None = None, channels: Sequence[str] | None = None
) -> rv.Cell:
    """Return a cell, with these rates and these channels of the library only, if they are given."""
    chance = random.Random(seed)
    morphology, counts = _morphology(chance)
    painted = [each for each in _membrane(chance, channels) if _is_there(morphology, each)]
    models: list[Any] = [rv.expsyn(tau=1.7), rv.exp2syn(tau_rise=0.3, tau_decay=3.0), rv.nmda(Mg=0.5)]
    receptors = {f"r{i}": (chance.choice(models), _place(chance, morphology)) for i in range(chance.randint(1, 4))}
    scheme: Any = chance.choice(["backward_euler", "staggered"])
    clamps: dict[str, Any] = {
        "pulse": (
            rv.current_clamp(amplitude=[chance.uniform(-100, 300), 20.0], duration=[1.003, 1.0], start=chance.random()),
            _place(chance, morphology),
        )
    }
    if scheme == "backward_euler" and chance.random() < 0.5:
        clamp = rv.voltage_clamp(
            level=chance.uniform(-90, 0), duration=1.5, start=1.0, resistance=chance.uniform(5, 50)
        )
        clamps["hold"] = (clamp, _place(chance, morphology))
    currents = {f"i of {name}": f"i of {name}" for name in (*receptors, *clamps)}
    return rv.Cell(
        morphology,
        compartments=counts,
        membrane=painted,
        receptors=receptors,
        clamps=clamps,
        probes={**_probes(chance, morphology, painted), **currents, "g": "r0"},
        detector=_place(chance, morphology),
        threshold=-40.0,
        electrode=_place(chance, morphology),
        celsius=chance.uniform(6.0, 37.0),
        R_a=chance.uniform(50.0, 300.0),
        scheme=scheme,
        rates=_choice(rates, chance),
    )


def _network(cell: rv.Cell, count: int) -> tuple[rv.Network, rv.StateRecorder]:
    # All cells are driven by the same spikes and currents, from potentials of their own.
    net = rv.Network(resolution=STEP, seed=7)
    cells = net.create(cell, count, V_m=-75.0 + np.arange(count), I_e=10.0 * np.arange(count))
    source = net.create_spike_generators([[0.1, 0.5, 1.3, 2.0]])
    for receptor in cell.receptors:
        net.connect(source, cells, "all_to_all", weight=0.7, delay=0.3, receptor=receptor)
    return net, net.record_state(cells, list(cell.variables), interval=STEP)


def _values(simulation: rv.Simulation, recorder: rv.StateRecorder, time: float = TIME) -> FloatArray:
    simulation.run(time)
    return simulation.state(recorder).values


def recorded(cell: rv.Cell, count: int, **options: Any) -> FloatArray:
    """Return all variables of some cells in a run with these options."""
    net, recorder = _network(cell, count)
    return _values(rv.Simulation(net, progress=False, **options), recorder)


def check_bits(seed: int, folder: Path) -> None:
    """Check that a cell does the same among many as among few, on any threads and instruction set, and after a save."""
    cell = draw_cell(seed)
    net, recorder = _network(cell, 19)
    expected = _values(rv.Simulation(net, threads=1), recorder)
    assert np.isfinite(expected).all()
    assert np.ptp(expected[:, 0]) > 1.0
    sets: list[tuple[int, Any]] = [(3, "auto"), (2, _core.instruction_sets()[:2][-1]), (1, "baseline")]
    for threads, instruction_set in sets:
        again, recorder = _network(cell, 19)
        tuning = rv.Tuning(instruction_set=instruction_set)
        values = _values(rv.Simulation(again, threads=threads, tuning=tuning), recorder)
        np.testing.assert_array_equal(values, expected)
    for count in (1, 5):
        few, recorder = _network(cell, count)
        np.testing.assert_array_equal(_values(rv.Simulation(few), recorder), expected[:, :, :count])
    net, recorder = _network(cell, 19)
    first = rv.Simulation(net, threads=2)
    begin = _values(first, recorder, 1.7)
    first.save(folder / "state.h5")
    net, recorder = _network(cell, 19)
    rest = _values(rv.Simulation.load(net, folder / "state.h5", threads=1), recorder, TIME - 1.7)
    np.testing.assert_array_equal(rest[-(len(expected) - len(begin)) :], expected[len(begin) :])
