"""The ring of branched cells in Arbor alone: its side of `ranvier bench ring`.

Builds it, runs it and reports. The numbers of the model are written here again, independently of
`ranvier.networks.ring`, so that the comparison shows an error in one of the two.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np
import numpy.typing as npt

from ranvier_benchmarks._nest import write_report
from ranvier_benchmarks._peers import RingKeys, add_ring_arguments, choose_ring, load_peer, ring_report

__all__ = ["add_arguments", "build", "main"]

_SOMA, _BRANCH, _RADIUS = 12.6157, 50.0, 0.5  # um


def _cell(arbor: Any, keys: RingKeys) -> Any:
    units = arbor.units
    tree = arbor.segment_tree()
    half = _SOMA / 2.0
    soma = tree.append(arbor.mnpos, arbor.mpoint(0, 0, 0, half), arbor.mpoint(_SOMA, 0, 0, half), tag=1)
    level = [(soma, _SOMA)]
    for _ in range(keys.depth):
        level = [
            (
                tree.append(parent, arbor.mpoint(x, 0, 0, _RADIUS), arbor.mpoint(x + _BRANCH, 0, 0, _RADIUS), tag=3),
                x + _BRANCH,
            )
            for parent, x in level
            for _ in range(2)
        ]
    decor = arbor.decor()
    decor.set_property(
        Vm=-65.0 * units.mV,
        cm=0.01 * units.F / units.m2,
        rL=100.0 * units.Ohm * units.cm,
        tempK=279.45 * units.Kelvin,
    )
    decor.set_ion("na", rev_pot=50.0 * units.mV)
    decor.set_ion("k", rev_pot=-77.0 * units.mV)
    decor.paint("(all)" if keys.dendrites == "hh" else "(tag 1)", arbor.density("hh"))
    if keys.dendrites == "pas":
        decor.paint("(tag 3)", arbor.density("pas/e=-70", {"g": 0.001}))
    place = "(location 1 0.71)" if keys.depth else "(location 0 0.71)"
    decor.place(place, arbor.synapse("expsyn", {"tau": 2.0, "e": 0.0}), "synapse")
    decor.place("(location 0 0.5)", arbor.threshold_detector(-10.0 * units.mV), "detector")
    cuts = arbor.cv_policy_fixed_per_branch(keys.compartments) | arbor.cv_policy_single("(tag 1)")
    return arbor.cable_cell(arbor.morphology(tree), decor, arbor.label_dict(), cuts)


def build(keys: RingKeys, threads: int = 1, potentials: bool = False) -> Any:
    """Build the ring of some keys, with probes of the potentials of all somata on demand; return the simulation."""
    arbor = load_peer("Arbor", "arbor")
    units = arbor.units

    class Ring(arbor.recipe):  # type: ignore[misc,name-defined]
        """Arbor's recipe: its description of each cell."""

        def num_cells(self) -> int:
            return keys.cells

        def cell_kind(self, _gid: int) -> Any:
            return arbor.cell_kind.cable

        def cell_description(self, _gid: int) -> Any:
            return _cell(arbor, keys)

        def global_properties(self, _kind: Any) -> Any:
            return arbor.neuron_cable_properties()

        def connections_on(self, gid: int) -> list[Any]:
            return [
                arbor.connection(
                    ((gid - k) % keys.cells, "detector"), "synapse", 0.02 if k == 1 else 0.0, 5.0 * units.ms
                )
                for k in range(1, 11)
            ]

        def event_generators(self, gid: int) -> list[Any]:
            if gid % 4:
                return []
            return [arbor.event_generator("synapse", 0.02, arbor.explicit_schedule([1.0 * units.ms]))]

        def probes(self, _gid: int) -> list[Any]:
            return [arbor.cable_probe_membrane_voltage("(location 0 0.5)", "potential")] if potentials else []

    simulation = arbor.simulation(Ring(), arbor.context(threads=threads))
    simulation.record(arbor.spike_recording.all)
    return simulation


def run(keys: RingKeys, until: float) -> tuple[list[npt.NDArray[np.float64]], npt.NDArray[np.float64]]:
    """Return the spike times of each cell (ms), and the potential of the first soma after each step (mV)."""
    arbor = load_peer("Arbor", "arbor")
    simulation = build(keys, potentials=True)
    handle = simulation.sample((0, "potential"), arbor.regular_schedule(keys.resolution * arbor.units.ms))
    simulation.run((until + keys.resolution / 2.0) * arbor.units.ms, keys.resolution * arbor.units.ms)
    spikes = simulation.spikes()
    cells, times = spikes["source"]["gid"], spikes["time"]
    potential = np.array(simulation.samples(handle)[0][0])[:, 1]
    return [np.sort(times[cells == cell]) for cell in range(keys.cells)], potential[1:]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_ring_arguments(parser)


def main(arguments: argparse.Namespace) -> int:
    """Build, run and report."""
    chosen, keys = choose_ring(arguments.settings)
    arbor = load_peer("Arbor", "arbor")
    begin = time.perf_counter()
    simulation = build(keys, chosen.options.get("threads") or 1)
    end_of_build = time.perf_counter()
    simulation.run(chosen.time * arbor.units.ms, keys.resolution * arbor.units.ms)
    end = time.perf_counter()
    seconds = (end_of_build - begin, 0.0, end - end_of_build)
    write_report(
        ring_report("Arbor", arbor.__version__, chosen, keys, seconds, len(simulation.spikes())), arguments.json
    )
    return 0
