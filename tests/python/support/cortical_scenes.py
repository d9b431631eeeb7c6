"""Cells with the channels of cortical cells, in Ranvier and in NEURON."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

import ranvier as rv

__all__ = ["DENSITIES", "NeuronCell", "membrane"]

FloatArray = npt.NDArray[np.float64]

# S/cm^2 in the soma, and in the neurites. All of them are everywhere.
DENSITIES = {
    "na_transient": (1.5, 0.01),
    "na_persistent": (0.0005, 0.00001),
    "k_transient": (0.05, 0.005),
    "k_persistent": (0.002, 0.001),
    "k_fast": (0.5, 0.01),
    "m_current": (0.0001, 0.00007),
    "h_current": (0.0002, 0.0002),
    "ca_hva": (0.001, 0.0002),
    "ca_lva": (0.003, 0.0005),
    "sk_current": (0.02, 0.001),
}
LEAK = {"g": 5e-5, "e": -80.0}
POOLS = ({"gamma": 0.0005, "decay": 460.0}, {"gamma": 0.0005, "decay": 122.0})
CELSIUS, REST = 34.0, -80.0


def membrane() -> list[Any]:
    """Return the channels for `Cell`."""
    made: list[Any] = [("all", rv.pas(**LEAK))]
    for region, pool in zip(("soma", ~rv.tagged("soma")), POOLS, strict=True):
        made.append((region, rv.calcium_pool(**pool)))
    for name, densities in DENSITIES.items():
        for region, density in zip(("soma", ~rv.tagged("soma")), densities, strict=True):
            made.append((region, getattr(rv, name)(gbar=density)))
    return made


class NeuronCell:
    """A cell with the same form, compartments and channels in NEURON.

    Parameters
    ----------
    h
        From `load_mechanisms`.
    morphology, counts
        Its form, and the compartments of each section.
    """

    def __init__(self, h: Any, morphology: rv.Morphology, counts: npt.NDArray[np.int64]) -> None:
        self._h = h
        self.sections: list[Any] = []
        for own, count in zip(morphology.sections, counts, strict=True):
            made = h.Section()
            for distance, radius in zip(own.distances, own.radii, strict=True):
                h.pt3dadd(distance, 0.0, 0.0, 2.0 * radius, sec=made)
            if own.parent is not None:
                made.connect(self.sections[own.parent](own.parent_position), 0.0)
            made.nseg, made.Ra, made.cm = int(count), 100.0, 1.0
            self._paint(made, 0 if own.tag == 1 else 1)
            self.sections.append(made)

    def _paint(self, section: Any, part: int) -> None:
        section.insert("pas")
        section.insert("rv_calcium_pool")
        for name in DENSITIES:
            section.insert(f"rv_{name}")
        section.ena, section.ek = 50.0, -85.0
        section.cao = 2.0
        for segment in section:
            segment.pas.g, segment.pas.e = LEAK["g"], LEAK["e"]
            segment.rv_calcium_pool.gamma, segment.rv_calcium_pool.decay = POOLS[part]["gamma"], POOLS[part]["decay"]
            for name, densities in DENSITIES.items():
                getattr(segment, f"rv_{name}").gbar = densities[part]

    def run(self, current: float, time: float, step: float, places: list[rv.Place]) -> FloatArray:
        """Return potentials at places, then the concentration in the soma: shape (steps, places + 1)."""
        h = self._h
        electrode = h.IClamp(self.sections[0](0.5))
        electrode.delay, electrode.dur, electrode.amp = 0.0, 1e9, current / 1e3
        of = [getattr(self.sections[place.section](place.position), "_ref_v") for place in places]  # noqa: B009
        of.append(getattr(self.sections[0](0.5), "_ref_cai"))  # noqa: B009
        vectors = [h.Vector().record(each) for each in of]
        h.celsius, h.dt, h.secondorder = CELSIUS, step, 0
        h.finitialize(REST)
        for _ in range(round(time / step)):
            h.fadvance()
        return np.array([list(vector) for vector in vectors])[:, 1:].T
