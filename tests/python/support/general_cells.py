"""Random cells with general mechanisms and receptors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

import ranvier as rv
from channel_models import big_potassium
from general_forms import advanced, general, hodgkin_huxley, point
from ranvier.channels.general import GeneralCurrent
from ranvier.simulation.options import grouped

__all__ = ["draw_kinds", "of_all", "run"]

FloatArray = npt.NDArray[np.float64]
HH = hodgkin_huxley()
CUBE = general("y", ["i = 1e-5*y*(v + 50)"], step=[advanced([], {"y": "0.1*(v/50 - y**3)"})], name="cube")
TWO = general(
    "ab",
    ["ia = 1e-5*a*(v - 20)", "ib = 1e-5*b*b*(v + 80)"],
    step=[advanced(["r = exp((v + 50)/20)"], {"a": "r*b - a*a", "b": "-0.5*r*b + 0.1*a"})],
    initial=["a = 0.2", "b = 0.5 + v/1000"],
    currents=["ia", "ib"],
    name="two",
)
CALCIUM = general(
    "m",
    ["ica = g*m**2*(v - eca) + 0*cai"],
    step=[advanced([], {"m": "(1/(1 + exp(-(v + 30)/6)) - m)/2"})],
    parameters={"g": 3e-4},
    currents=[GeneralCurrent("ica", carries_calcium=True)],
    name="ca",
)
POOL = general(
    ["ca"],
    [],
    step=[advanced([], {"ca": "-0.05*ica/(2*96485.33212*depth)*1e4 - (ca - 1e-4)/80"})],
    initial=["ca = 1e-4"],
    currents=(),
    parameters={"depth": 0.1},
    calcium="ca",
    name="pool",
)
SATURATING = point(
    "xs",
    ["i = 1e-3*s*v/(1 + exp(-0.06*v)/3)"],
    step=[advanced([], {"x": "-x/2", "s": "0.5*x*(1 - s) - s/20"})],
    jumps={"x": "1"},
    name="saturating",
)


def mechanism(random: np.random.Generator) -> Any:
    made = [HH(gna=random.uniform(0.05, 0.15)), CUBE(), TWO(), CALCIUM(), rv.hh(), rv.k_persistent(gbar=0.003)]
    return made[random.integers(len(made))]


def cell(random: np.random.Generator, receptor: Any, **options: Any) -> rv.Cell:
    sections = [rv.Section(length=random.uniform(10, 25), diameter=15.0)]
    for _ in range(random.integers(5)):
        parent = int(random.integers(len(sections)))
        sections.append(
            rv.Section(length=random.uniform(30, 150), diameter=random.uniform(0.5, 3), parent=parent),
        )
    membrane: dict[str, Any] = {"pas": ("all", rv.pas(g=1e-4))}
    for _ in range(random.integers(1, 5)):
        made = mechanism(random)
        near = rv.within_distance(0.0, random.uniform(20, 150))
        everywhere = made.name == "ca" or random.random() < 0.5
        membrane.setdefault(made.name, ("all" if everywhere else near, made))
    if "ca" in membrane:
        membrane["pool"] = ("all", POOL() if random.random() < 0.5 else rv.calcium_pool())
    places = [rv.at(int(random.integers(len(sections))), random.random()) for _ in range(3)]
    return rv.Cell(
        rv.Morphology(sections),
        compartments=[int(random.integers(1, 5)) for _ in sections],
        membrane=list(membrane.values()),
        receptors={"exc": (receptor, places)},
        probes={"v": places[0], "i": "i of exc"},
        **options,
    )


def of_all(seed: int, scheme: Literal["backward_euler", "staggered"]) -> rv.Cell:
    """Return a cell of one section with all mechanisms, and with gates of equations that have no table."""
    random = np.random.default_rng(seed)
    painted = [HH(gna=random.uniform(0.05, 0.15)), CUBE(), TWO(), CALCIUM(), POOL(), big_potassium()(gbar=1e-3)]
    return rv.Cell(
        rv.Morphology([rv.Section(length=20.0, diameter=15.0)]),
        membrane=[("all", rv.pas(g=1e-4)), *(("all", made) for made in painted)],
        receptors={"exc": (SATURATING(), rv.at(0))},
        scheme=scheme,
        celsius=20.0,
    )


def draw_kinds(seed: int, rates: Literal["table", "exact"] | None = None) -> list[rv.Cell]:
    """Return some cells with the same receptor, with these rates if they are given."""
    random = np.random.default_rng(seed)
    options: Any = {
        "scheme": ("backward_euler", "staggered")[random.integers(2)],
        "rates": rates or ("table", "exact")[random.integers(2)],
        "celsius": random.uniform(6.3, 36.0),
    }
    receptor = SATURATING() if random.random() < 0.7 else rv.expsyn(tau=2.0)
    return [cell(random, receptor, **options) for _ in range(random.integers(1, 4))]


def run(kinds: Sequence[rv.Cell], pattern: Sequence[int], **options: Any) -> FloatArray:
    """Return what is recorded of cells of these kinds."""
    net = rv.Network(resolution=0.025)
    cells = net.create([kinds[k] for k in pattern], len(pattern), I_e=30.0)
    for site in range(3):
        source = net.create_spike_generators([[1.0 + site, 2.5 + site]])
        net.connect(source, cells, rv.AllToAll(), receptor="exc", site=site, weight=2.0 + site, delay=0.5)
    states = net.record_state(cells, ["V_m", "v", "i"], interval=0.5)
    sim = rv.Simulation(net, progress=False, **grouped(options))
    sim.run(8.0)
    return np.asarray(sim.state(states).values)
