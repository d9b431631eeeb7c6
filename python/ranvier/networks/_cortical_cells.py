"""Stylised cells of a column of sensory cortex, for the potentials of its point neurons.

Depths of layers are those of E. Hagen et al., Cerebral Cortex 26, 4461-4496 (2016), under 1 mm^2. The cells are
stylisations, not reconstructions: straight cylinders with the span of dendrites that cells of these layers have, in
whose membrane there is a leak, with the time constant of the point neurons.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from ranvier.base.values import FloatArray
from ranvier.cells.cell import Cell
from ranvier.cells.compartments import max_length
from ranvier.cells.models import pas
from ranvier.cells.morphology import Morphology, Section
from ranvier.cells.places import tagged, within_distance
from ranvier.network.templates import CellTemplate
from ranvier.networks._potjans_diesmann import POPULATIONS
from ranvier.networks.network_model import Probe
from ranvier.space.contacts import laminar_probe
from ranvier.space.positions import positions
from ranvier.space.rotations import rotation

__all__ = ["LAYERS", "cortical_probe"]

LAYERS: Mapping[str, tuple[float, float]] = {
    "L1": (0.0, -81.6),
    "L23": (-81.6, -587.1),
    "L4": (-587.1, -922.2),
    "L5": (-922.2, -1170.0),
    "L6": (-1170.0, -1491.7),
}
"""Upper and lower end of each layer, um."""
# z of the end of the apical dendrite of excitatory cells, um; those of L2/3 and L5 have a tuft in L1.
_APICAL_ENDS = {"L23": -30.0, "L4": -350.0, "L5": -30.0, "L6": -600.0}
_WITH_TUFT = ("L23", "L5")
_RADIUS = 1000.0 / math.sqrt(math.pi)  # of a disc of 1 mm^2, um
_CELLS = 100
_TAU_M, _E_L = 10.0, -65.0  # ms, mV
_C_M, _R_A = 1.0, 150.0  # uF/cm^2, ohm cm
_LONGEST = 40.0  # um, of a compartment
_DENDRITES = tagged("basal") | tagged("apical")
_PERISOMATIC = within_distance(0.0, 75.0)
_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0


def cortical_probe() -> Probe:
    """Return a laminar probe in the middle of a column of 1 mm^2, and templates of its eight populations.

    The 16 contacts are 100 um apart. Cells stand evenly in a disc, with somata in the middle half of their layer.
    Excitatory synapses are spread evenly over dendrites, inhibitory ones over the soma and the first 75 um. Nothing is
    drawn, so that the potentials of a network depend on its spikes alone.
    """
    synapses = {name: _DENDRITES if name.endswith("E") else _PERISOMATIC for name in POPULATIONS}
    templates = {}
    for name in POPULATIONS:
        layer = name[:-1]
        upper, lower = LAYERS[layer]
        middle = 0.5 * (upper + lower)
        pyramidal = name.endswith("E")
        cell = _pyramidal(_APICAL_ENDS[layer] - middle, tuft=layer in _WITH_TUFT) if pyramidal else _interneuron()
        templates[name] = CellTemplate(
            cell,
            positions=positions(_places(middle, 0.5 * (upper - lower)), unit="um"),
            rotation=rotation("z", degrees=360.0 * _GOLDEN * np.arange(_CELLS)),
            synapses=synapses,
        )
    return Probe(laminar_probe(16, spacing=100.0), templates, LAYERS)


def _places(middle: float, height: float) -> FloatArray:
    """Return places of somata: a spiral in the disc, and a sequence that fills the height evenly."""
    index = np.arange(_CELLS)
    radius = _RADIUS * np.sqrt((index + 0.5) / _CELLS)
    angle = 2.0 * math.pi * _GOLDEN * index
    depth = middle + height * ((index * math.sqrt(2.0)) % 1.0 - 0.5)
    return np.stack([radius * np.cos(angle), radius * np.sin(angle), depth], axis=1)


def _pyramidal(apical: float, *, tuft: bool) -> Cell:
    """Return a pyramidal cell whose apical dendrite ends at a height above the soma, um."""
    sections = [_line((0.0, 0.0, -10.0), (0.0, 0.0, 10.0), 20.0, 20.0, None, "soma")]
    length = apical - 10.0
    begin = (0.0, 0.0, 10.0)
    trunk_end = apical - 0.25 * length if tuft else apical
    sections.append(_line(begin, (0.0, 0.0, trunk_end), 3.0, 1.5, 0, "apical", 1.0))
    for side in (-1.0, 1.0):
        if tuft:
            sections.append(_line((0.0, 0.0, trunk_end), (150.0 * side, 0.0, apical), 1.5, 1.0, 1, "apical", 1.0))
        for first in (False, True):
            end = (150.0 * side, 0.0, -100.0) if first else (0.0, 150.0 * side, -100.0)
            sections.append(_line((0.0, 0.0, -10.0), end, 2.0, 1.0, 0, "basal", 0.0))
    return _cell(sections, "stylised pyramidal cell")


def _interneuron() -> Cell:
    """Return a cell with dendrites in eight directions."""
    sections = [_line((0.0, 0.0, -7.5), (0.0, 0.0, 7.5), 15.0, 15.0, None, "soma")]
    for x in (-1.0, 1.0):
        for y in (-1.0, 1.0):
            for z in (-1.0, 1.0):
                end = (80.0 * x, 80.0 * y, 80.0 * z)
                sections.append(_line((0.0, 0.0, 0.0), end, 1.5, 1.0, 0, "basal", 0.5))
    return _cell(sections, "stylised interneuron")


def _line(
    begin: tuple[float, float, float],
    end: tuple[float, float, float],
    first: float,
    last: float,
    parent: int | None,
    tag: str,
    at: float = 1.0,
) -> Section:
    return Section(points=[(*begin, first), (*end, last)], parent=parent, parent_position=at, tag=tag)


def _cell(sections: list[Section], name: str) -> Cell:
    # uF/cm^2 / ms is 1e-3 S/cm^2.
    leak = pas(g=1e-3 * _C_M / _TAU_M, e=_E_L)
    return Cell(
        Morphology(sections),
        compartments=max_length(_LONGEST),
        membrane=[("all", leak)],
        C_m=_C_M,
        R_a=_R_A,
        V_init=_E_L,
        name=name,
    )
