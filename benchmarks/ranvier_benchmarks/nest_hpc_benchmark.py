"""The balanced random network of Jordan et al. (2018) in NEST alone: NEST's side of `ranvier bench hpc_benchmark`.

Builds it, runs it and reports. The numbers of the model are written here again, independently of
`ranvier.networks.hpc_benchmark`, so that the comparison shows an error in one of the two.

Jordan et al., Frontiers in Neuroinformatics 12, 2 (2018), https://doi.org/10.3389/fninf.2018.00002.
"""

from __future__ import annotations

import argparse
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ranvier_benchmarks._nest import add_nest_arguments, choose_keys, measure, write_report

__all__ = ["add_arguments", "build", "excitatory_weight", "main"]

EXCITATORY, INHIBITORY = 9000, 2250
TAU_M, TAU_SYN, C_M, V_TH = 10.0, 0.32582722403722841, 250.0, 20.0  # ms, ms, pF, mV
DELAY = 1.5  # ms
LEARNING = {"alpha": 0.0513, "lambda": 0.1, "mu": 0.4, "tau_plus": 15.0}
TAU_MINUS = 30.0  # ms
_TIME, _PRESIM = 250.0, 50.0  # ms


@dataclass(frozen=True)
class _Keys:
    """The settings of the network by ``--set``."""

    scale: float
    indegree_scale: float
    plastic: bool
    resolution: float
    seed: int


def _keys(
    *,
    scale: float = 1.0,
    indegree_scale: float = 1.0,
    plastic: bool = True,
    resolution: float = 0.1,
    seed: int = 1,
) -> _Keys:
    """Take the keys of the network, those of `ranvier.networks.hpc_benchmark`."""
    return _Keys(scale, indegree_scale, plastic, resolution, seed)


def excitatory_weight() -> float:
    """Return the weight, pA, of a postsynaptic potential of 0.14 mV."""
    # It comes with NEST's extra; all other commands work without.
    from scipy.special import lambertw

    ratio, difference = TAU_M / TAU_SYN, 1.0 / TAU_SYN - 1.0 / TAU_M
    peak = (-float(lambertw(-math.exp(-1.0 / ratio) / ratio, -1).real) - 1.0 / ratio) / difference
    slow, fast = math.exp(-peak / TAU_M), math.exp(-peak / TAU_SYN)
    return 0.14 / (math.e / (TAU_SYN * C_M * difference) * ((slow - fast) / difference - peak * fast))


def build(nest: Any, keys: _Keys, presim: float) -> tuple[Any, Any, Any]:
    """Create the network; return both populations and the recorder."""
    neuron = {
        "E_L": 0.0,
        "V_th": V_TH,
        "V_reset": 0.0,
        "C_m": C_M,
        "tau_m": TAU_M,
        "t_ref": 0.5,
        "tau_syn_ex": TAU_SYN,
        "tau_syn_in": TAU_SYN,
        "tau_minus": TAU_MINUS,
    }
    populations = [
        nest.Create("iaf_psc_alpha", round(size * keys.scale), params=neuron) for size in (EXCITATORY, INHIBITORY)
    ]
    for population in populations:
        population.V_m = nest.random.normal(5.7, 7.2)
    weight = excitatory_weight()
    threshold_rate = V_TH / (EXCITATORY * TAU_M / C_M * weight * math.e * TAU_SYN)
    generator = nest.Create("poisson_generator", params={"rate": 1000.0 * 1.685 * threshold_rate * EXCITATORY})
    recorder = nest.Create("spike_recorder", params={"time_in_steps": True, "start": presim})
    nest.CopyModel("stdp_pl_synapse_hom", "learning", LEARNING)
    for target in populations:
        nest.Connect(generator, target, "all_to_all", {"weight": weight, "delay": DELAY})
        for source, size, strength in zip(populations, (EXCITATORY, INHIBITORY), (1.0, -5.0), strict=True):
            learns = keys.plastic and source is target is populations[0]
            nest.Connect(
                source,
                target,
                {"rule": "fixed_indegree", "indegree": round(size * keys.indegree_scale), "allow_autapses": False},
                {
                    "synapse_model": "learning" if learns else "static_synapse",
                    "weight": strength * weight,
                    "delay": DELAY,
                },
            )
        nest.Connect(target, recorder)
    return populations[0], populations[1], recorder


def simulate(arguments: argparse.Namespace) -> dict[str, Any]:
    """Build and run the network; return the report."""
    chosen, keys = choose_keys(arguments.settings, _keys, _TIME, _PRESIM)
    sizes = np.array([round(size * keys.scale) for size in (EXCITATORY, INHIBITORY)])
    indegrees = np.array([round(size * keys.indegree_scale) for size in (EXCITATORY, INHIBITORY)])
    synapses = int(indegrees.sum() * sizes.sum())
    (excitatory, _, recorder), times = measure(
        chosen,
        lambda nest: build(nest, keys, chosen.presim),
        synapses=synapses,
        resolution=keys.resolution,
        seed=keys.seed,
    )

    senders = np.asarray(recorder.get("events")["senders"], dtype=np.int64)
    spikes = np.bincount(senders > int(excitatory[-1].global_id), minlength=2)
    seconds = chosen.time / 1000.0
    return {
        **times.as_json(),
        "neurons": int(sizes.sum()),
        "synapses": synapses,
        "parameters": {"resolution": keys.resolution, "seed": keys.seed, "plastic": keys.plastic},
        "spikes": int(spikes.sum()),
        # NEST does not count events: compute them from the spikes and the mean out-degrees.
        "synaptic_events": round(float(spikes @ (indegrees * sizes.sum() / sizes))),
        "mean_rate_hz": dict(zip(("excitatory", "inhibitory"), (spikes / sizes / seconds).tolist(), strict=True)),
    }


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_nest_arguments(
        parser, "scale, indegree_scale, plastic, resolution and seed as for ranvier run hpc_benchmark", _TIME, _PRESIM
    )


def main(arguments: argparse.Namespace) -> int:
    """Run and report."""
    write_report(simulate(arguments), arguments.json)
    return 0
