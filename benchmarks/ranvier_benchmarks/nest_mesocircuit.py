"""The sheet of cortex of Senk et al. (2018) in NEST alone: NEST's side of `ranvier bench mesocircuit`.

Builds it, runs it and reports. In-degrees and currents are calculated here again, independently of
`ranvier.networks.mesocircuit`, from the numbers of the microcircuit in `nest_microcircuit`.

J. Senk, E. Hagen, S. J. van Albada and M. Diesmann, arXiv:1805.10235 (2018).
"""

from __future__ import annotations

import argparse
import math
import sys
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ranvier.base.names import check_choice
from ranvier.errors import ValueOutOfBoundsError
from ranvier_benchmarks._nest import add_nest_arguments, choose_keys, measure, write_report
from ranvier_benchmarks.nest_microcircuit import (
    EXTERNAL_DELAY,
    EXTERNAL_INDEGREES,
    EXTERNAL_RATE,
    INITIAL_POTENTIALS,
    NEURON,
    PERCENT_CONNECTED,
    POPULATIONS,
    SIZES,
    STRENGTH,
    TAU_SYN,
    activity,
    connect,
    height_of_potential,
)

__all__ = ["add_arguments", "main"]

FloatArray = npt.NDArray[np.float64]

# mm, by source and target: E to E, I to E, E to I, I to I.
DECAYS = {("E", "E"): 0.232, ("I", "E"): 0.161, ("E", "I"): 0.125, ("I", "I"): 0.120}
DELAY, SPEED, SPREAD_OF_DELAY = 0.5, 0.3, 0.5  # ms, mm/ms, relative
# Mean rates with which external input is replaced, spikes/s.
RATES = (0.943, 3.026, 4.368, 5.882, 7.733, 8.664, 1.096, 7.851)
RADIUS_OF_MICROCIRCUIT = math.pi**-0.5  # mm
_TIME, _PRESIM = 500.0, 200.0  # ms


@dataclass(frozen=True)
class Sheet:
    """The parameters of the sheet; arrays have targets as rows and sources as columns."""

    extent: float
    sizes: tuple[int, ...]
    peaks: FloatArray
    """Connection probability, or mean number of synapses where it exceeds 1, at the distance 0."""
    decays: FloatArray
    synapses: FloatArray
    weights: FloatArray
    rates: tuple[float, ...]
    """Of the external Poisson trains, spikes/s."""
    external_weight: float
    currents: FloatArray


def mass(decay: float, radius: float) -> float:
    """Return the integral of exp(-r/decay) over a disc, mm²."""
    whole = 2.0 * math.pi * decay * decay
    return whole - whole * math.exp(-radius / decay) * (radius / decay + 1.0)


def describe(n_scaling: float, k_scaling: float, extent: float, drive: str) -> Sheet:
    """Return the parameters of the sheet for scalings of its density and in-degrees."""
    number = len(POPULATIONS)
    full_sizes = np.array(SIZES, dtype=np.float64)
    pairs = np.outer(full_sizes, full_sizes)
    connected = np.array(PERCENT_CONNECTED.split(), dtype=np.float64).reshape(number, number) / 100.0
    local = np.log(1.0 - connected) / np.log(1.0 - 1.0 / pairs) / full_sizes[:, np.newaxis]
    decays = np.array([[DECAYS[source[-1], target[-1]] for source in POPULATIONS] for target in POPULATIONS])
    ratios = [[mass(decay, extent / 2) / mass(decay, RADIUS_OF_MICROCIRCUIT) for decay in row] for row in decays]
    indegrees = local * np.array(ratios)
    unit = 0.15 / height_of_potential()
    weights = np.array([[STRENGTH[source[-1]] * unit for source in POPULATIONS] for _ in POPULATIONS])
    weights[0, 2] *= 2.0
    rates = np.array(RATES)
    external = EXTERNAL_INDEGREES - ((indegrees - local) * weights) @ rates / (unit * EXTERNAL_RATE)
    # Charge of one spike of weight 1 pA is tau_syn; with spikes/s and ms that leaves a factor of 0.001.
    recurrent_mean = 0.001 * TAU_SYN * (indegrees * weights) @ rates
    external_mean = 0.001 * TAU_SYN * external * unit * EXTERNAL_RATE
    lost = 1.0 - math.sqrt(k_scaling)
    sizes = tuple(max(1, round(size * n_scaling * extent**2)) for size in SIZES)
    densities = np.array(sizes) / extent**2
    masses = np.array([[mass(decay, extent / 2) for decay in row] for row in decays])
    return Sheet(
        extent=extent,
        sizes=sizes,
        peaks=k_scaling * indegrees / (densities * masses),
        decays=decays,
        synapses=k_scaling * indegrees * np.array(sizes)[:, np.newaxis],
        weights=weights / math.sqrt(k_scaling),
        rates=tuple(round(k_scaling * each) * EXTERNAL_RATE for each in external.tolist()),
        external_weight=unit / math.sqrt(k_scaling),
        currents=(1.0 if drive == "dc" else lost) * external_mean + lost * recurrent_mean,
    )


def build(nest: Any, sheet: Sheet, drive: str, presim: float) -> tuple[list[Any], Any]:
    """Create populations and recorder; return the populations and the recorder."""
    half = sheet.extent / 2
    populations = []
    for size, (mean, deviation), current in zip(sheet.sizes, INITIAL_POTENTIALS, sheet.currents, strict=True):
        places = nest.spatial.free(
            nest.random.uniform(-half, half), extent=[sheet.extent, sheet.extent], edge_wrap=True
        )
        population = nest.Create("iaf_psc_exp", size, params={**NEURON, "I_e": float(current)}, positions=places)
        population.V_m = nest.random.normal(mean, deviation)
        populations.append(population)
    recorder = nest.Create("spike_recorder", params={"time_in_steps": True, "start": presim})
    distance = nest.spatial.distance
    for row, target in enumerate(populations):
        for column, source in enumerate(populations):
            peak = float(sheet.peaks[row, column])
            if peak == 0.0:
                continue
            profile = peak * nest.spatial_distributions.exponential(distance, beta=float(sheet.decays[row, column]))
            far = DELAY + distance / SPEED
            delay = far * nest.random.normal(1.0, SPREAD_OF_DELAY)
            rule: dict[str, Any] = {"mask": {"circular": {"radius": half}}}
            if peak <= 1.0:
                rule |= {"rule": "pairwise_bernoulli", "p": profile}
            else:
                rule |= {"rule": "pairwise_poisson", "pairwise_avg_num_conns": profile}
            connect(nest, source, target, rule, float(sheet.weights[row, column]), delay)
        if drive == "poisson":
            generator = nest.Create("poisson_generator", params={"rate": sheet.rates[row]})
            nest.Connect(generator, target, "all_to_all", {"weight": sheet.external_weight, "delay": EXTERNAL_DELAY})
        nest.Connect(target, recorder)
    return populations, recorder


@dataclass(frozen=True)
class _Keys:
    """The settings of the sheet by ``--set``."""

    n_scaling: float
    k_scaling: float
    extent: float
    drive: str
    resolution: float
    seed: int


def _keys(
    *,
    scale: float = 0.1,
    n_scaling: float | None = None,
    k_scaling: float | None = None,
    extent: float = 4.0,
    pulses: bool = False,
    drive: str = "poisson",
    resolution: float = 0.1,
    seed: int = 1,
) -> _Keys:
    """Take the keys of the sheet, those of `ranvier.networks.mesocircuit`."""
    if pulses:
        raise ValueOutOfBoundsError("key pulses", "True", "NEST's side has no thalamic neurons", "leave it out")
    check_choice("key drive", drive, ("dc", "poisson"))
    n = scale if n_scaling is None else n_scaling
    k = scale if k_scaling is None else k_scaling
    return _Keys(n, k, extent, drive, resolution, seed)


def simulate(arguments: argparse.Namespace) -> dict[str, Any]:
    """Build and run the sheet; return the report."""
    chosen, keys = choose_keys(arguments.settings, _keys, _TIME, _PRESIM)
    sheet = describe(keys.n_scaling, keys.k_scaling, keys.extent, keys.drive)
    (populations, recorder), times = measure(
        chosen,
        lambda nest: build(nest, sheet, keys.drive, chosen.presim),
        synapses=round(float(sheet.synapses.sum())),
        resolution=keys.resolution,
        seed=keys.seed,
    )
    import nest

    # Each neuron has a connection to the recorder, and one from a generator.
    synapses = int(nest.num_connections) - sum(sheet.sizes) * (2 if keys.drive == "poisson" else 1)
    senders = np.asarray(recorder.get("events")["senders"], dtype=np.int64) - int(populations[0][0].global_id)
    return {
        **times.as_json(),
        "synapses": synapses,
        "parameters": {"resolution": keys.resolution, "seed": keys.seed, "drive": keys.drive},
        **activity(senders, sheet.sizes, sheet.synapses, chosen.time),
    }


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_nest_arguments(
        parser,
        "scale, n_scaling, k_scaling, extent, drive (poisson), resolution and seed as for ranvier run mesocircuit",
        _TIME,
        _PRESIM,
    )


def main(arguments: argparse.Namespace) -> int:
    """Run and report."""
    write_report(simulate(arguments), arguments.json)
    return 0


if __name__ == "__main__":
    own_parser = argparse.ArgumentParser()
    add_arguments(own_parser)
    sys.exit(main(own_parser.parse_args()))
