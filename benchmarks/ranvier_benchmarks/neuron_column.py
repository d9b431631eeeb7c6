"""The sample of a cortical column in NEURON: the bulk-synchronous side of `ranvier paper magalhaes2019 --figure 7A`.

Connections, delays and currents are those of `ranvier.networks.column`; mechanisms, receptors and units are written
here again, independently of it, so that a comparison of spikes shows an error in one of the two. Each synapse is a
point process, as in the paper's model.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ranvier.base.names import unknown_name
from ranvier.commands.keys import signature_keys
from ranvier.errors import ValueOutOfBoundsError
from ranvier.networks import column
from ranvier_benchmarks._cortical_mechanisms import load_mechanisms
from ranvier_benchmarks._nest import write_report
from ranvier_benchmarks._peers import load_peer
from ranvier_benchmarks._settings import add_bench_settings, choose

__all__ = ["NeuronColumn", "add_arguments", "build", "main"]

# S/cm^2 in the soma, and in the neurites.
_DENSITIES = {
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
_POOLS = ((0.0005, 460.0), (0.0005, 122.0))
# Rise, decay (ms), reversal potential (mV), weight (uS).
_RECEPTORS = (("exc", 0.2, 1.7, 0.0, 0.3e-3), ("inh", 0.5, 8.0, -80.0, 0.8e-3))
_CELSIUS, _REST, _THRESHOLD = 34.0, -80.0, -10.0


@dataclass
class NeuronColumn:
    """A column in NEURON, with all that must be kept while it runs.

    Attributes
    ----------
    times, cells
        Times of the spikes, ms, and the cells that fired.
    """

    h: Any
    parallel: Any
    compartments: int = 0
    synapses: int = 0
    kept: list[Any] = field(default_factory=list)
    times: Any = None
    cells: Any = None

    def spikes(self) -> npt.NDArray[np.float64]:
        """Return time (ms) and cell of each spike, shape ``(spikes, 2)``."""
        return np.column_stack([np.array(self.times), np.array(self.cells)])

    def prepare(self, step: float) -> None:
        """Set all states to their initial values."""
        self.h.celsius, self.h.dt, self.h.secondorder = _CELSIUS, step, 0
        self.parallel.set_maxstep(10.0)
        self.h.finitialize(_REST)


def build(h: Any, keys: dict[str, Any], threads: int = 1) -> NeuronColumn:
    """Build the column of some keys of `column`.

    Parameters
    ----------
    h
        From `load_mechanisms`.
    """
    model = column(**keys)
    (population,) = model.net.populations
    cells: Any = population.user_model
    parallel = h.ParallelContext()
    parallel.gid_clear()
    made = NeuronColumn(h, parallel, times=h.Vector(), cells=h.Vector())
    places: list[dict[str, Any]] = []
    sections: list[list[Any]] = []
    currents = np.asarray(population.values["I_e"])
    kinds = getattr(cells, "kinds", None)
    for index in range(len(population)):
        cell = cells.kinds[cells.kind_of[index]] if kinds is not None else cells
        sections.append(_sections(h, cell, keys["compartment_length"]))
        made.compartments += cell.compartment_count
        made.kept.append(electrode := h.IClamp(sections[-1][0](0.5)))
        electrode.delay, electrode.dur, electrode.amp = 0.0, 1e9, 1e-3 * float(currents[index])
        points: dict[str, Any] = {}
        for name, rise, decay, reversal, _ in _RECEPTORS:
            points[name] = []
            for place in cell.sites[name]:
                point = h.Exp2Syn(sections[-1][place.section](place.position))
                point.tau1, point.tau2, point.e = rise, decay, reversal
                points[name].append(point)
        places.append(points)
        parallel.set_gid2node(index, parallel.id())
        soma = sections[-1][0]
        detector = h.NetCon(getattr(soma(0.5), "_ref_v"), None, sec=soma)  # noqa: B009 - a name of NEURON's
        detector.threshold = _THRESHOLD
        parallel.cell(index, detector)
    parallel.spike_record(-1, made.times, made.cells)
    weights = {name: weight for name, *_, weight in _RECEPTORS}
    for projection in model.net.projections:
        rule: Any = projection.rule
        delays, sites = np.asarray(projection.delay), np.asarray(projection.site)
        for source, target, delay, site in zip(
            rule.sources, rule.targets, np.broadcast_to(delays, len(rule.sources)), sites, strict=True
        ):
            point = places[int(target)][projection.name][int(site)]
            connection = parallel.gid_connect(int(source), point)
            connection.delay, connection.weight[0] = float(delay), weights[projection.name]
            made.kept.append(connection)
            made.synapses += 1
    made.kept += [sections, places]
    if threads > 1:
        parallel.nthread(threads)
    return made


def _sections(h: Any, cell: Any, compartment_length: float) -> list[Any]:
    form = cell.morphology
    sections: list[Any] = []
    for own, length in zip(form.sections, form.lengths, strict=True):
        made = h.Section()
        for distance, radius in zip(own.distances, own.radii, strict=True):
            h.pt3dadd(distance, 0.0, 0.0, 2.0 * radius, sec=made)
        if own.parent is not None:
            made.connect(sections[own.parent](own.parent_position), 0.0)
        made.nseg, made.Ra, made.cm = max(1, math.ceil(length / compartment_length)), 100.0, 1.0
        _paint(made, 0 if own.tag == 1 else 1)
        sections.append(made)
    return sections


def _paint(section: Any, part: int) -> None:
    for name in ("pas", "rv_calcium_pool", *(f"rv_{name}" for name in _DENSITIES)):
        section.insert(name)
    section.ena, section.ek, section.cao = 50.0, -85.0, 2.0
    for segment in section:
        segment.pas.g, segment.pas.e = 5e-5, -80.0
        segment.rv_calcium_pool.gamma, segment.rv_calcium_pool.decay = _POOLS[part]
        for name, densities in _DENSITIES.items():
            getattr(segment, f"rv_{name}").gbar = densities[part]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--mechanisms", type=Path, required=True, metavar="FOLDER", help="folder of compiled mechanisms"
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="file of the report")
    add_bench_settings(parser, "threads=1")


def main(arguments: argparse.Namespace) -> int:
    """Build, run and report."""
    chosen = choose(arguments.settings, column, time=100.0, presim=0.0, network=signature_keys(column))
    for name in chosen.options:
        if name != "threads":
            unknown_name("key", name, ["time", "threads", *signature_keys(column)])
    if chosen.presim > 0.0:
        raise ValueOutOfBoundsError("key presim", f"{chosen.presim} ms", "NEURON's run starts at 0", "leave it out")
    keys = {name: value for name, value in chosen.network.items() if value is not None}
    neuron = load_peer("NEURON", "neuron")
    begin = time.perf_counter()
    made = build(load_mechanisms(arguments.mechanisms), keys, chosen.options.get("threads") or 1)
    built = time.perf_counter()
    made.prepare(keys["resolution"])
    prepared = time.perf_counter()
    made.parallel.psolve(chosen.time)
    seconds = time.perf_counter() - prepared
    steps = round(chosen.time / keys["resolution"])
    report = {
        "program": f"NEURON {neuron.__version__}",
        "build_s": built - begin,
        "init_s": prepared - built,
        "sim_s": seconds,
        "simulated_ms": chosen.time,
        "compartments": made.compartments,
        "synapses": made.synapses,
        "spikes": len(made.times),
        "ns_per_compartment_step": 1e9 * seconds / (made.compartments * steps),
    }
    write_report(report, arguments.json)
    return 0


if __name__ == "__main__":
    given = argparse.ArgumentParser(prog="neuron_column")
    add_arguments(given)
    sys.exit(main(given.parse_args()))
