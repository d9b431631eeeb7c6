"""The cables of Rallpack, and what they should do.

U. S. Bhalla, D. H. Bilitch and J. M. Bower, Trends in Neurosciences 15, 453-458 (1992): a passive cable (1), a passive
tree that Rall's power law makes the same as a cable (2), and an axon with Hodgkin and Huxley's channels (3). In each, a
current of 0.1 nA flows into one end for 250 ms.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

import ranvier as rv
from ranvier_benchmarks.neuron_ring import load_neuron

__all__ = [
    "CURRENT",
    "DURATION",
    "TREE_LENGTH",
    "axon",
    "axon_in_neuron",
    "cable",
    "courses",
    "crossings",
    "expected",
    "tree",
]

FloatArray = npt.NDArray[np.float64]

CURRENT, DURATION, REST = 100.0, 250.0, -65.0  # pA, ms, mV
RESISTIVITY, LEAK, TIME_CONSTANT = 100.0, 2.5e-5, 40.0  # ohm cm, S/cm^2, ms
LEVELS = 10
TREE_LENGTH = 0.08
"""Of the cable that the tree is the same as, in length constants."""


def length_constant(diameter: float) -> float:
    """Return it in um, of a diameter in um."""
    return 1e4 * math.sqrt(diameter * 1e-4 / (4.0 * RESISTIVITY * LEAK))


def expected(time: FloatArray, place: float, length: float, diameter: float) -> FloatArray:
    """Return the potential in a cable with sealed ends, the current in one of them (W. Rall, 1969).

    Parameters
    ----------
    time
        ms.
    place, length
        In length constants.
    diameter
        um.
    """
    squares = (np.arange(1, 4001)[:, None] * np.pi / length) ** 2
    waves = np.cos(np.sqrt(squares) * place) * np.exp(-squares * time / TIME_CONSTANT) / (1.0 + squares)
    decaying = np.exp(-time / TIME_CONSTANT) * (1.0 + 2.0 * waves.sum(axis=0)) / length
    # Of a cable without an end: length constant (cm) over the area (cm^2), GOhm.
    resistance = 1e-9 * RESISTIVITY * length_constant(diameter) * 1e-4 / (math.pi * (diameter * 1e-4) ** 2 / 4.0)
    steady = math.cosh(length - place) / math.sinh(length)
    return np.asarray(REST + CURRENT * resistance * (steady - decaying))


def _cell(morphology: rv.Morphology, end: rv.Place, **keys: Any) -> rv.Cell:
    begin = rv.at(0, 0.0)
    return rv.Cell(
        morphology,
        **{"membrane": [("all", rv.pas(g=LEAK, e=REST))], **keys},
        R_a=RESISTIVITY,
        V_init=REST,
        electrode=begin,
        detector=begin,
        probes={"end": end},
    )


def cable(**keys: Any) -> rv.Cell:
    """Return a cable of 1 mm, with 1000 compartments."""
    return _cell(rv.Morphology([rv.Section(length=1000.0, diameter=1.0)]), rv.at(0, 1.0), compartments=1000, **keys)


def tree(**keys: Any) -> rv.Cell:
    """Return a tree of 1023 branches, one compartment each."""
    sections: list[rv.Section] = []
    level: list[int | None] = [None]
    for k in range(LEVELS):
        size = {"length": 32.0 * 2.0 ** (-k / 3), "diameter": 16.0 * 2.0 ** (-2 * k / 3)}
        parents = [parent for parent in level for _ in range(2 if k else 1)]
        level = list(range(len(sections), len(sections) + len(parents)))
        sections += [rv.Section(parent=parent, **size) for parent in parents]
    return _cell(rv.Morphology(sections), rv.at(len(sections) - 1, 1.0), **keys)


def axon(**keys: Any) -> rv.Cell:
    """Return the cable with the squid's channels."""
    return cable(membrane=[("all", rv.hh(gl=LEAK, el=-54.387))], **keys)


def courses(cell: rv.Cell, time: float, step: float, interval: float | None = None) -> tuple[FloatArray, FloatArray]:
    """Return times (ms), and the potentials at both ends, shape (2, times): after each step, or at intervals (ms)."""
    interval = interval or step
    net = rv.Network(resolution=step)
    recorder = net.record_state(net.create(cell, 1, I_e=CURRENT), ["V_m", "end"], interval=interval)
    simulation = rv.Simulation(net)
    simulation.run(time)
    values = simulation.state(recorder).values[:, :, 0].T
    return np.arange(1, values.shape[1] + 1) * interval, values


def crossings(time: FloatArray, potential: FloatArray) -> FloatArray:
    """Return when a potential goes through 0 mV upwards."""
    at = np.flatnonzero((potential[:-1] < 0.0) & (potential[1:] >= 0.0))
    part = -potential[at] / (potential[at + 1] - potential[at])
    return np.asarray(time[at] + part * (time[at + 1] - time[at]))


def axon_in_neuron(time: float) -> list[FloatArray]:
    """Return when the ends of the axon go through 0 mV: NEURON with the same compartments, its own steps."""
    h = load_neuron()
    section = h.Section()
    section.L, section.diam, section.nseg, section.Ra, section.cm = 1000.0, 1.0, 1000, RESISTIVITY, 1.0
    section.insert("hh")
    section.ena, section.ek = 50.0, -77.0
    for segment in section:
        segment.hh.gl, segment.hh.el = LEAK, -54.387
    electrode = h.IClamp(section(0.0005))
    electrode.delay, electrode.dur, electrode.amp = 0.0, 1e9, CURRENT / 1e3
    ends = [h.Vector().record(getattr(section(x), "_ref_v")) for x in (0.0005, 0.9995)]  # noqa: B009 - NEURON's
    times = h.Vector().record(getattr(h, "_ref_t"))  # noqa: B009
    h.usetable_hh, h.celsius = 0, 6.3
    solver = h.CVode()
    solver.active(1)
    solver.atol(1e-6)
    h.finitialize(REST)
    solver.solve(time)
    solver.active(0)
    return [crossings(np.array(list(times)), np.array(list(end))) for end in ends]
