"""The balanced random network of Jordan et al. (2018) in NEST alone: NEST's side of `ranvier bench hpc_benchmark`.

Builds it, runs it and reports. The numbers of the model are written here again, independently of
`ranvier.networks.hpc_benchmark`, so that the comparison shows an error in one of the two.

Jordan et al., Frontiers in Neuroinformatics 12, 2 (2018), https://doi.org/10.3389/fninf.2018.00002.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import lambertw

from ranvier.base.names import unknown_name
from ranvier.base.paths import write_text
from ranvier.bench._nest import load_nest, thread_count
from ranvier.bench._settings import Chosen, choose
from ranvier.commands.keys import add_settings, signature_keys
from ranvier.processes.machine import peak_resident_bytes

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


def _choose(settings: Sequence[str]) -> tuple[Chosen, _Keys]:
    chosen = choose(settings, _keys, time=_TIME, presim=_PRESIM)
    for name in chosen.options:
        if name != "threads":
            unknown_name("key", name, ["time", "presim", "threads", *signature_keys(_keys)])
    return chosen, _keys(**chosen.network)


def simulate(arguments: argparse.Namespace) -> dict[str, Any]:
    """Build and run the network; return the report."""
    chosen, keys = _choose(arguments.settings)
    sizes = np.array([round(size * keys.scale) for size in (EXCITATORY, INHIBITORY)])
    indegrees = np.array([round(size * keys.indegree_scale) for size in (EXCITATORY, INHIBITORY)])
    synapses = int(indegrees.sum() * sizes.sum())
    threads = chosen.options.get("threads") or thread_count(synapses)
    nest = load_nest()
    nest.set(resolution=keys.resolution, local_num_threads=threads, rng_seed=keys.seed, print_time=False)

    start = time.perf_counter()
    excitatory, _, recorder = build(nest, keys, chosen.presim)
    built = time.perf_counter()
    nest.Prepare()
    prepared = time.perf_counter()
    if chosen.presim > 0.0:
        nest.Run(chosen.presim)
    begin = time.perf_counter()
    nest.Run(chosen.time)
    end = time.perf_counter()
    nest.Cleanup()

    senders = np.asarray(recorder.get("events")["senders"], dtype=np.int64)
    spikes = np.bincount(senders > int(excitatory[-1].global_id), minlength=2)
    seconds = chosen.time / 1000.0
    return {
        "program": "NEST",
        "version": nest.build_info["version"],
        "neurons": int(sizes.sum()),
        "synapses": synapses,
        "threads": threads,
        "build_s": built - start,
        "init_s": prepared - built,
        "sim_s": end - begin,
        "simulated_ms": chosen.time,
        "presim_ms": chosen.presim,
        "parameters": {"resolution": keys.resolution, "seed": keys.seed, "plastic": keys.plastic},
        "real_time_factor": (end - begin) / seconds,
        "spikes": int(spikes.sum()),
        # NEST does not count events: compute them from the spikes and the mean out-degrees.
        "synaptic_events": round(float(spikes @ (indegrees * sizes.sum() / sizes))),
        "mean_rate_hz": dict(zip(("excitatory", "inhibitory"), (spikes / sizes / seconds).tolist(), strict=True)),
        "peak_rss_bytes": peak_resident_bytes(),
    }


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    add_settings(
        parser,
        "scale, indegree_scale, plastic, resolution and seed as for ranvier run hpc_benchmark, "
        f"time ({_TIME:g}), presim ({_PRESIM:g}), threads (the processors, or more where NEST's tables need them)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the report there instead of to the terminal")


def main(arguments: argparse.Namespace) -> int:
    """Run and report."""
    report = json.dumps(simulate(arguments), indent=2)
    if arguments.json is None:
        sys.stdout.write(report + "\n")
    else:
        write_text(arguments.json, report + "\n")
    return 0
