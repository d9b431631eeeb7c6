"""Point neurons whose potentials follow from kernels; as a program: the potentials on the processes that run it."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import ranvier as rv

FloatArray = npt.NDArray[np.float64]
CONTACTS = np.array([[0.0, 0.0, -100.0], [0.0, 0.0, -300.0], [0.0, 0.0, -500.0]])
BIN = 0.3
"""Interval of the kernels, ms: 3 steps."""
LAGS = (40, 25)


def kernels() -> list[rv.PotentialKernel]:
    """Return kernels of different lengths."""
    random = np.random.default_rng(1)
    return [rv.PotentialKernel(random.normal(size=(len(CONTACTS), lags)), BIN, CONTACTS) for lags in LAGS]


def network(to: Path | None = None) -> tuple[rv.Network, rv.LfpRecorder, rv.SpikeRecorder]:
    """Return a network of neurons and sources with a recorder of potentials, every second of whose bins is sampled."""
    net = rv.Network(seed=3)
    exc = net.create(rv.iaf_psc_exp(), 80, name="exc")
    sources = net.create(rv.poisson_generator(rate=80.0), 20, name="sources")
    inh = net.create(rv.iaf_psc_exp(), 20, name="inh")
    net.stimulate(exc + inh, rv.poisson_generator(rate=9000.0), weight=60.0)
    net.connect(sources, inh, rv.FixedIndegree(10), weight=50.0, delay=1.5)
    first, second = kernels()
    recorder = net.record_lfp({inh[5:]: second, exc + sources: first}, 2 * BIN, to=to)
    return net, recorder, net.record_spikes([exc, sources, inh])


def potentials(**options: Any) -> FloatArray:
    """Return the recorded potentials of a simulation with these options."""
    net, recorder, _ = network()
    sim = rv.Simulation(net, progress=False, **options)
    for duration in (4.0, 10.1, 5.9):
        sim.run(duration)
    return sim.extracellular(recorder).potentials


if __name__ == "__main__":
    for placement in ("round_robin", "shuffle"):
        for recordings in ("everywhere", "root"):
            values = potentials(recordings=recordings, processes=rv.Processes(placement=placement))
            if len(values):
                print(values.tobytes().hex()[-200:])
    # A state that was saved by one process.
    net, recorder, _ = network()
    sim = rv.Simulation.load(net, sys.argv[1], progress=False)
    sim.run(20.0 - sim.time)
    print(sim.extracellular(recorder).potentials.tobytes().hex()[-200:])
