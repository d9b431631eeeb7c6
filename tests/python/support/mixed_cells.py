"""A network of cells of several shapes, and of point neurons with other steps, that has one of everything.

As a program: run it on all ranks with several exchange methods, one after another. Its arguments are a file with the
options of each run and one for what comes of them, both JSON.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import ranvier as rv
from channel_models import big_potassium, high_calcium, k_persistent, k_slow, small_potassium, two_currents
from ranvier import mpi
from ranvier.simulation.options import grouped
from state_scenes import outcome

STEP = 0.025
PIECES = (1.3, 0.4, 4.3)
"""In three runs (ms): neither are whole epochs, nor the first ones whole steps of the point neurons."""


def _cell(lengths: list[float], branches: int, counts: int, *, threshold: float = -30.0) -> rv.Cell:
    """Return a cell whose dendrite goes on in several branches."""
    sections = [rv.Section(length=18.0, diameter=18.0)]
    sections += [rv.Section(length=lengths[0], diameter=1.5, parent=0, tag="basal")]
    sections += [rv.Section(length=length, diameter=1.0, parent=1, tag="apical") for length in lengths[:branches]]
    tip, middle = rv.at(len(sections) - 1, 1.0), rv.at(1, 0.5)
    pulse = rv.current_clamp(amplitude=rv.per_cell("pulse", 150.0), duration=2.0, start=rv.per_cell("onset", 1.0))
    hold = rv.voltage_clamp(level=[-50.0, -75.0], duration=[0.7, 0.3], start=2.05, resistance=50.0)
    return rv.Cell(
        rv.Morphology(sections),
        compartments=[1] + [counts] * (len(sections) - 1),
        membrane=[
            ("all", rv.pas(g=rv.per_cell("leak", 2e-4), e=-67.0)),
            ("soma", rv.hh(gnabar=rv.per_cell("gna", 0.12))),
            ("apical", rv.hh(gnabar=0.06)),
            ("apical", k_persistent()(gbar=rv.per_cell("leak", 2e-4, profile=10.0))),
            ("apical", k_slow()(gbar=1e-3, shift=40.0 + counts)),
            (rv.sections([0, 1]), rv.ca_hva(gbar=0.001)),
            (rv.sections([0, 1]), rv.calcium_pool()),
            ("soma", rv.sk_current(gbar=0.005)),
            ("soma", high_calcium()(gbar=5e-4)),
            ("apical", rv.calcium_pool(decay=20.0 + counts)),
            ("apical", two_currents()(gbar=rv.per_cell("leak", 2e-4, profile=3.0))),
            ("apical", small_potassium()(gbar=0.002)),
            (rv.tagged("soma", "apical"), big_potassium()(gbar=lambda d: 1e-3 / (1.0 + d))),
        ],
        receptors={
            "fast": (rv.expsyn(tau=rv.per_cell("tau", 2.0)), middle),
            "slow": (rv.exp2syn(), tip),
            "block": (rv.nmda(Mg=1.0), tip),
            "inh": (rv.expsyn(tau=6.0, e=-75.0), rv.at(0)),
        },
        clamps={"pulse": (pulse, tip), "hold": (hold, middle)},
        electrodes={"soma": rv.at(0), "tip": tip},
        probes={"tip": tip, "Ca": (rv.at(0), "Ca of calcium_pool"), "g": "block", "i": "i of hold", "in": "i of tip"},
        threshold=rv.per_cell("threshold", threshold),
        C_m=[("all", 1.0), ("apical", 1.4)],
        celsius=20.0,
    )


def described(point_step: float = 0.1) -> rv.Network:
    """Return the network, whose point neurons have this step."""
    net = rv.Network(resolution=STEP, seed=7)
    shapes = [_cell([60.0, 90.0, 120.0], branches, counts) for branches, counts in ((1, 2), (2, 3), (3, 2), (2, 5))]
    equal = net.create(shapes[1], 20, "equal", onset=rv.Uniform(0.0, 2.0), threshold=rv.Uniform(-40.0, -20.0))
    packed = net.create(
        [shapes[i % 4] for i in range(9)],
        name="packed",
        gna=rv.Uniform(0.1, 0.13),
        leak=rv.Uniform(1e-4, 3e-4),
        tau=rv.Uniform(1.0, 4.0),
        pulse=rv.Uniform(-50.0, 300.0),
    )
    point = net.create("iaf_psc_exp", 15, "point", step=point_step, V_m=rv.Uniform(-60.0, -55.0), I_e=500.0)
    source = net.create_spike_generators([[0.5, 1.0, 3.5], [0.75, 2.0]], "source")
    cells = [equal, packed]
    net.connect(source, cells, "all_to_all", weight=6.0, delay=0.5, receptor="fast")
    net.connect(
        cells, cells, rv.FixedIndegree(4), weight=3.0, delay=rv.Uniform(0.4, 1.0), receptor="block", synapse=rv.stdp()
    )
    net.connect(cells, cells, rv.FixedIndegree(3), weight=2.0, delay=0.6, receptor="inh")
    net.connect(cells, point, rv.FixedIndegree(5), weight=150.0, delay=0.8, synapse=rv.tsodyks2())
    net.connect(point, cells, rv.FixedIndegree(3), weight=4.0, delay=0.7, receptor="slow", synapse=rv.stdp_triplet())
    net.stimulate(cells, "noise_generator", mean=20.0, std=60.0, interval=0.1, electrode="tip")
    net.stimulate([point, *cells], "dc_generator", amplitude=40.0, start=0.4)
    net.stimulate(equal[::3], "poisson_generator", rate=900.0, weight=3.0, receptor="slow")
    net.record_spikes([equal, packed, point])
    for population in cells:
        net.record_state(population, ["V_m", "tip", "Ca", "g", "i", "in"], interval=8 * STEP)
    net.record_state(point, ["V_m"], interval=0.2)
    return net


def change(sim: rv.Simulation) -> None:
    """Change values of cells while they run, some of which move these to other lanes."""
    equal, packed, *_ = sim.network.populations
    sim.set(equal[3:9], gna=0.11, pulse=rv.Uniform(0.0, 100.0))
    sim.set(packed, tau=3.0)
    sim.set(sim.network.stimuli[0], std=30.0)


def result(
    path: Path | None = None, again: dict[str, Any] | None = None, point_step: float = 0.1, **options: Any
) -> str:
    """Return a digest of all that comes of a run, which saves its state before the last piece and loads it again."""
    sim = rv.Simulation(described(point_step), progress=False, **grouped(options))
    sim.run(PIECES[0])
    change(sim)
    sim.run(PIECES[1])
    if path is not None:
        sim.save(path)
        sim = rv.Simulation.load(
            described(point_step), path, progress=False, **grouped(options if again is None else again)
        )
    sim.run(PIECES[2])
    return outcome(sim)


def main() -> None:
    results = [
        result(Path("state.h5") if saves else None, **options)
        for saves, options in json.loads(Path(sys.argv[1]).read_text())
    ]
    if mpi.world().rank == 0:
        Path(sys.argv[2]).write_text(json.dumps(results))


if __name__ == "__main__":
    main()
