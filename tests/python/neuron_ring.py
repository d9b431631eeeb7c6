"""The ring of branched cells in NEURON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from neuron import h


@dataclass(frozen=True)
class Ring:
    """What a ring did.

    Attributes
    ----------
    spikes
        Spike times by cell, ms.
    potential
        That of the first cell's soma after each step, mV.
    """

    spikes: list[npt.NDArray[np.float64]]
    potential: npt.NDArray[np.float64]


class _Cell:
    def __init__(self, depth: int, compartments: int, dendrites: str) -> None:
        self.soma = h.Section()
        self.soma.L = self.soma.diam = 12.6157
        self.dendrites: list[Any] = []
        level = [self.soma]
        for _ in range(depth):
            level = [self._branch(parent, compartments) for parent in level for _ in range(2)]
        for section in [self.soma, *self.dendrites]:
            section.cm, section.Ra = 1.0, 100.0
            if dendrites == "pas" and section is not self.soma:
                section.insert("pas")
                for segment in section:
                    segment.pas.g, segment.pas.e = 0.001, -70.0
                continue
            section.insert("hh")
            section.ena, section.ek = 50.0, -77.0
        self.synapse = h.ExpSyn(self.dendrites[0](0.5))
        self.synapse.tau, self.synapse.e = 2.0, 0.0
        self.detector = self.connect_to(None)
        self.times = h.Vector()
        self.detector.record(self.times)

    def _branch(self, parent: Any, compartments: int) -> Any:
        section = h.Section()
        section.L, section.diam, section.nseg = 50.0, 1.0, compartments
        section.connect(parent(1))
        self.dendrites.append(section)
        return section

    def connect_to(self, target: Any) -> Any:
        """Return a connection from its soma."""
        connection = h.NetCon(self.soma(0.5)._ref_v, target, sec=self.soma)
        connection.threshold = -10.0
        return connection


def run_ring(
    *,
    cells: int,
    depth: int,
    compartments: int,
    dendrites: str,
    time: float,
    step: float = 0.025,
    second_order: bool = False,
) -> Ring:
    """Run the ring of `ranvier.networks.ring`, without its connections of weight 0."""
    made = [_Cell(depth, compartments, dendrites) for _ in range(cells)]
    keep: list[Any] = []
    for i, cell in enumerate(made):
        connection = made[i - 1].connect_to(cell.synapse)
        connection.delay, connection.weight[0] = 5.0, 0.02
        keep.append(connection)
        if i % 4 == 0:
            stimulus = h.NetStim()
            stimulus.start, stimulus.number, stimulus.noise = 1.0, 1, 0
            start = h.NetCon(stimulus, cell.synapse)
            start.delay, start.weight[0] = 0.0, 0.02
            keep += [stimulus, start]
    potential = h.Vector().record(made[0].soma(0.5)._ref_v)
    # Its own tables of rates are coarser than what is compared.
    h.usetable_hh = 0
    h.celsius, h.dt, h.secondorder = 6.3, step, 2 if second_order else 0
    h.finitialize(-65.0)
    for _ in range(round(time / step)):
        h.fadvance()
    h.secondorder = 0
    return Ring([np.array(cell.times) for cell in made], np.array(potential)[1:])
