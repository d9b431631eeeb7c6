"""The cortical microcircuit in NEST alone: NEST's side of `ranvier bench microcircuit`.

Builds it, runs it and reports. The numbers of the model are written here again, independently of
`ranvier.networks.microcircuit`, so that the comparison shows an error in one of the two.

Potjans and Diesmann, Cerebral Cortex 24, 785-806 (2014), https://doi.org/10.1093/cercor/bhs358.
"""

from __future__ import annotations

import argparse
import math
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from ranvier.base.names import check_choice
from ranvier_benchmarks._nest import add_nest_arguments, choose_keys, measure, write_report

__all__ = ["add_arguments", "main"]

FloatArray = npt.NDArray[np.float64]

POPULATIONS = ("L23E", "L23I", "L4E", "L4I", "L5E", "L5I", "L6E", "L6I")
SIZES = (20683, 5834, 21915, 5479, 4850, 1065, 14395, 2948)
EXTERNAL_INDEGREES = (1600, 1500, 2100, 1900, 2000, 1900, 2900, 2100)
EXTERNAL_RATE = 8.0  # spikes/s
PUBLISHED_RATES = (0.903, 2.965, 4.414, 5.876, 7.569, 8.633, 1.105, 7.829)  # spikes/s
INITIAL_POTENTIALS = (  # mean and standard deviation, mV
    (-68.28, 5.36),
    (-63.16, 4.57),
    (-63.33, 4.74),
    (-63.45, 4.94),
    (-63.11, 4.94),
    (-61.66, 4.55),
    (-66.72, 5.46),
    (-61.43, 4.48),
)
# In percent; one line for each target, one column for each source.
PERCENT_CONNECTED = """
10.09 16.89  4.37  8.18  3.23  0     0.76  0
13.46 13.71  3.16  5.15  7.55  0     0.42  0
 0.77  0.59  4.97 13.5   0.67  0.03  4.53  0
 6.91  0.29  7.94 15.97  0.33  0    10.57  0
10.04  6.22  5.05  0.57  8.31 37.26  2.04  0
 5.48  2.69  2.57  0.22  6.0  31.58  0.86  0
 1.56  0.66  2.11  1.66  5.72  1.97  3.96 22.52
 3.64  0.1   0.34  0.05  2.77  0.8   6.58 14.43
"""
C_M, TAU_M, TAU_SYN = 250.0, 10.0, 0.5  # pF, ms, ms
NEURON = {
    "E_L": -65.0,
    "V_th": -50.0,
    "V_reset": -65.0,
    "C_m": C_M,
    "tau_m": TAU_M,
    "tau_syn_ex": TAU_SYN,
    "tau_syn_in": TAU_SYN,
    "t_ref": 2.0,
}
# By kind of source: mean delay in ms, and sign and strength relative to an excitatory synapse.
MEAN_DELAY = {"E": 1.5, "I": 0.75}
STRENGTH = {"E": 1.0, "I": -4.0}
EXTERNAL_DELAY = 1.5
_TIME, _PRESIM = 1000.0, 100.0  # ms


@dataclass(frozen=True)
class Circuit:
    """The parameters of the circuit at a given scale; arrays have targets as rows and sources as columns."""

    sizes: tuple[int, ...]
    synapses: npt.NDArray[np.int64]
    weights: FloatArray  # mean, pA
    external_indegrees: tuple[int, ...]
    external_weight: float  # pA
    currents: FloatArray  # constant current of each population, pA


def describe(n_scaling: float, k_scaling: float, drive: str) -> Circuit:
    """Return the parameters of the circuit for scalings of its neurons and in-degrees."""
    full_sizes = np.array(SIZES, dtype=np.float64)
    pairs = full_sizes[:, np.newaxis] * full_sizes
    connected = np.array(PERCENT_CONNECTED.split(), dtype=np.float64).reshape(pairs.shape) / 100.0
    # log1p would be more exact, but would give two synapses more than other implementations have.
    full_synapses = np.log(1.0 - connected) / np.log(1.0 - 1.0 / pairs)

    unit_weight = 0.15 / height_of_potential()
    full_weights = np.empty_like(pairs)
    for column, source in enumerate(POPULATIONS):
        full_weights[:, column] = STRENGTH[source[-1]] * unit_weight
    full_weights[0, 2] = 2.0 * unit_weight

    # Charge of one spike of weight 1 pA is tau_syn; with spikes/s and ms that leaves a factor of 0.001.
    charge = 0.001 * TAU_SYN
    recurrent_mean = charge * (full_synapses * full_weights / full_sizes[:, np.newaxis]) @ np.array(PUBLISHED_RATES)
    external_mean = charge * EXTERNAL_RATE * unit_weight * np.array(EXTERNAL_INDEGREES, dtype=np.float64)
    lost = 1.0 - math.sqrt(k_scaling)
    kept_external = 1.0 if drive == "dc" else lost
    return Circuit(
        sizes=tuple(round(n_scaling * size) for size in SIZES),
        synapses=np.rint(n_scaling * k_scaling * full_synapses).astype(np.int64),
        weights=full_weights / math.sqrt(k_scaling),
        external_indegrees=tuple(round(k_scaling * indegree) for indegree in EXTERNAL_INDEGREES),
        external_weight=unit_weight / math.sqrt(k_scaling),
        currents=kept_external * external_mean + lost * recurrent_mean,
    )


def height_of_potential() -> float:
    """Return the peak, mV, of the potential caused by an exponential current with an initial value of 1 pA."""
    peak_time = math.log(TAU_M / TAU_SYN) * TAU_M * TAU_SYN / (TAU_M - TAU_SYN)
    difference = math.exp(-peak_time / TAU_M) - math.exp(-peak_time / TAU_SYN)
    return difference * TAU_M * TAU_SYN / (C_M * (TAU_M - TAU_SYN))


def connect(nest: Any, source: Any, target: Any, rule: dict[str, Any], mean: float, delay: Any) -> None:
    """Connect two populations with normally distributed weights of one sign, pA, and with random delays, ms."""
    infinity = float("inf")
    bounds = {"min": 0.0, "max": infinity} if mean > 0.0 else {"min": -infinity, "max": 0.0}
    synapse = {
        "synapse_model": "static_synapse",
        "weight": nest.math.redraw(nest.random.normal(mean, 0.1 * abs(mean)), **bounds),
        # NEST rounds delays to its grid.
        "delay": nest.math.redraw(delay, min=0.5 * nest.resolution, max=infinity),
    }
    nest.Connect(source, target, rule, synapse)


def build(nest: Any, circuit: Circuit, drive: str, presim: float) -> tuple[list[Any], Any]:
    """Create populations and recorder; return the populations and the recorder.

    NEST's random objects draw random parameters in parallel, without copies in Python.
    """
    populations = []
    for size, (mean, deviation), current in zip(circuit.sizes, INITIAL_POTENTIALS, circuit.currents, strict=True):
        population = nest.Create("iaf_psc_exp", size, params={**NEURON, "I_e": float(current)})
        population.V_m = nest.random.normal(mean, deviation)
        populations.append(population)
    recorder = nest.Create("spike_recorder", params={"time_in_steps": True, "start": presim})
    for row, target in enumerate(populations):
        for column, source in enumerate(populations):
            number = int(circuit.synapses[row, column])
            if number == 0:
                continue
            mean_delay = MEAN_DELAY[POPULATIONS[column][-1]]
            delay = nest.random.normal(mean_delay, 0.5 * mean_delay)
            rule = {"rule": "fixed_total_number", "N": number}
            connect(nest, source, target, rule, float(circuit.weights[row, column]), delay)
        if drive == "poisson":
            rate = EXTERNAL_RATE * circuit.external_indegrees[row]
            generator = nest.Create("poisson_generator", params={"rate": rate})
            nest.Connect(generator, target, "all_to_all", {"weight": circuit.external_weight, "delay": EXTERNAL_DELAY})
        nest.Connect(target, recorder)
    return populations, recorder


@dataclass(frozen=True)
class _Keys:
    """The settings of the circuit by ``--set``."""

    n_scaling: float
    k_scaling: float
    drive: str
    resolution: float
    seed: int


def _keys(
    *,
    scale: float = 1.0,
    n_scaling: float | None = None,
    k_scaling: float | None = None,
    drive: str = "dc",
    resolution: float = 0.1,
    seed: int = 1,
) -> _Keys:
    """Take the keys of the circuit, those of `ranvier.networks.microcircuit`."""
    check_choice("key drive", drive, ("dc", "poisson"))
    n = scale if n_scaling is None else n_scaling
    k = scale if k_scaling is None else k_scaling
    return _Keys(n, k, drive, resolution, seed)


def simulate(arguments: argparse.Namespace) -> dict[str, Any]:
    """Build and run the circuit; return the report."""
    chosen, keys = choose_keys(arguments.settings, _keys, _TIME, _PRESIM)
    circuit = describe(keys.n_scaling, keys.k_scaling, keys.drive)
    synapses = int(circuit.synapses.sum())
    (populations, recorder), times = measure(
        chosen,
        lambda nest: build(nest, circuit, keys.drive, chosen.presim),
        synapses=synapses,
        resolution=keys.resolution,
        seed=keys.seed,
    )

    events = recorder.get("events")
    steps = np.asarray(events["times"], dtype=np.int64)
    neurons = np.asarray(events["senders"], dtype=np.int64) - int(populations[0][0].global_id)
    if arguments.spikes:
        np.savez(arguments.spikes, steps=steps, neurons=neurons, sizes=circuit.sizes)
    return {
        **times.as_json(),
        "synapses": synapses,
        "parameters": {"resolution": keys.resolution, "seed": keys.seed, "drive": keys.drive},
        **activity(neurons, circuit.sizes, circuit.synapses, chosen.time),
    }


def activity(
    senders: npt.NDArray[np.int64], sizes: Sequence[int], synapses: npt.NDArray[Any], time: float
) -> dict[str, Any]:
    """Return the part of the report about spikes.

    Parameters
    ----------
    senders
        The neuron of each spike, counted from 0.
    sizes
        Of the populations.
    synapses
        Between them; row: target, column: source.
    time
        In which the spikes were recorded, ms.
    """
    spikes = np.bincount(np.searchsorted(np.cumsum(sizes), senders, side="right"), minlength=len(sizes))
    rates = spikes / np.array(sizes) / (time / 1000.0)
    return {
        "neurons": sum(sizes),
        "spikes": int(spikes.sum()),
        # NEST does not count events: compute them from the spikes of each population and its mean out-degree.
        "synaptic_events": round(float(spikes @ (synapses.sum(axis=0) / np.array(sizes)))),
        "mean_rate_hz": dict(zip(POPULATIONS, rates.tolist(), strict=True)),
    }


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_nest_arguments(
        parser,
        "scale, n_scaling, k_scaling, drive (dc), resolution and seed as for ranvier run microcircuit",
        _TIME,
        _PRESIM,
    )
    parser.add_argument("--spikes", type=Path, metavar="FILE", help="write the spikes there (.npz)")


def main(arguments: argparse.Namespace) -> int:
    """Run and report."""
    write_report(simulate(arguments), arguments.json)
    return 0


if __name__ == "__main__":
    own_parser = argparse.ArgumentParser()
    add_arguments(own_parser)
    sys.exit(main(own_parser.parse_args()))
