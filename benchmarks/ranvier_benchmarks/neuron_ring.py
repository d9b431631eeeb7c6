"""The ring of branched cells in NEURON alone, or CoreNEURON: their side of `ranvier bench ring`.

Builds it, runs it and reports. The numbers of the model are written here again, independently of
`ranvier.networks.ring`, so that the comparison shows an error in one of the two. NEURON's tables of the rates of
Hodgkin and Huxley's channels are used where time is measured, as its users have them.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from ranvier_benchmarks._nest import write_report
from ranvier_benchmarks._peers import RingKeys, add_ring_arguments, choose_ring, load_peer, ring_report

__all__ = ["NeuronRing", "add_arguments", "build", "main"]

FloatArray = npt.NDArray[np.float64]


def load_neuron() -> Any:
    """Import NEURON, and return its interpreter.

    Raises
    ------
    StateError
        When it is not installed.
    """
    return load_peer("NEURON", "neuron").h


class _Cell:
    def __init__(self, h: Any, keys: RingKeys) -> None:
        self._h = h
        self.soma = h.Section()
        self.soma.L = self.soma.diam = 12.6157
        self.dendrites: list[Any] = []
        level = [self.soma]
        for _ in range(keys.depth):
            level = [self._branch(parent, keys.compartments) for parent in level for _ in range(2)]
        for section in [self.soma, *self.dendrites]:
            section.cm, section.Ra = 1.0, 100.0
            if keys.dendrites == "pas" and section is not self.soma:
                section.insert("pas")
                for segment in section:
                    segment.pas.g, segment.pas.e = 0.001, -70.0
                continue
            section.insert("hh")
            section.ena, section.ek = 50.0, -77.0
        self.synapse = h.ExpSyn((self.dendrites or [self.soma])[0](0.71))
        self.synapse.tau, self.synapse.e = 2.0, 0.0

    def _branch(self, parent: Any, compartments: int) -> Any:
        section = self._h.Section()
        section.L, section.diam, section.nseg = 50.0, 1.0, compartments
        section.connect(parent(1))
        self.dendrites.append(section)
        return section


def _potential_of(section: Any) -> Any:
    """Return NEURON's reference to the potential in the middle of a section."""
    return getattr(section(0.5), "_ref_v")  # noqa: B009 - a name of NEURON's, and no private one of ours


@dataclass
class NeuronRing:
    """A ring in NEURON, with all that must be kept while it runs.

    Attributes
    ----------
    times, cells
        Times of the spikes, ms, and the cells that fired.
    """

    h: Any
    cells: list[_Cell] = field(default_factory=list)
    kept: list[Any] = field(default_factory=list)
    times: Any = None
    sources: Any = None

    def potential(self, cell: int) -> Any:
        """Return a vector that will have the potential of a soma before each step and at the end, mV."""
        return self.h.Vector().record(_potential_of(self.cells[cell].soma))

    def spikes_of(self, cell: int) -> FloatArray:
        """Return the spike times of a cell, ms."""
        of_cell = np.array(self.sources) == cell
        times: FloatArray = np.array(self.times, dtype=np.float64)[of_cell]
        return times

    def run(self, until: float, step: float) -> None:
        """Run from the start to a time, ms."""
        self.h.celsius, self.h.dt = 6.3, step
        self.h.finitialize(-65.0)
        self.kept[0].set_maxstep(10.0)
        self.kept[0].psolve(until)


def build(keys: RingKeys) -> NeuronRing:
    """Build the ring of some keys."""
    h = load_neuron()
    parallel = h.ParallelContext()
    parallel.gid_clear()
    ring = NeuronRing(h, kept=[parallel], times=h.Vector(), sources=h.Vector())
    for i in range(keys.cells):
        cell = _Cell(h, keys)
        ring.cells.append(cell)
        parallel.set_gid2node(i, parallel.id())
        detector = h.NetCon(_potential_of(cell.soma), None, sec=cell.soma)
        detector.threshold = -10.0
        parallel.cell(i, detector)
    parallel.spike_record(-1, ring.times, ring.sources)
    for i, cell in enumerate(ring.cells):
        for distance in range(1, 11):
            connection = parallel.gid_connect((i - distance) % keys.cells, cell.synapse)
            connection.delay, connection.weight[0] = 5.0, 0.02 if distance == 1 else 0.0
            ring.kept.append(connection)
        if i % 4 == 0:
            stimulus = h.NetStim()
            stimulus.start, stimulus.number, stimulus.noise = 1.0, 1, 0
            start = h.NetCon(stimulus, cell.synapse)
            start.delay, start.weight[0] = 0.0, 0.02
            ring.kept += [stimulus, start]
    return ring


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--coreneuron", action="store_true", help="let CoreNEURON run what NEURON has built")
    add_ring_arguments(parser)


def main(arguments: argparse.Namespace) -> int:
    """Build, run and report."""
    chosen, keys = choose_ring(arguments.settings)
    begin = time.perf_counter()
    ring = build(keys)
    neuron = load_peer("NEURON", "neuron")
    h = ring.h
    if arguments.coreneuron:
        engine = load_peer("CoreNEURON", "neuron.coreneuron")
        h.CVode().cache_efficient(1)
        engine.enable, engine.verbose = True, 0
    end_of_build = time.perf_counter()
    h.celsius, h.dt = 6.3, keys.resolution
    ring.kept[0].set_maxstep(10.0)
    h.finitialize(-65.0)
    prepared = time.perf_counter()
    ring.kept[0].psolve(chosen.time)
    end = time.perf_counter()
    name = "CoreNEURON" if arguments.coreneuron else "NEURON"
    seconds = (end_of_build - begin, prepared - end_of_build, end - prepared)
    write_report(ring_report(name, neuron.__version__, chosen, keys, seconds, len(ring.times)), arguments.json)
    return 0
