"""Time of one model of neurons in NEST alone: NEST's side of `ranvier bench models`.

It has the same name there; where no model is given, those that NEST has are listed. Neurons get a constant current,
drawn within 5 percent. For the time of an event, sources that ignore their input project to them with weights of 0: an
event costs what this run takes longer.
"""

from __future__ import annotations

import argparse
import math
from typing import Any

import numpy as np

from ranvier.base.names import unknown_name
from ranvier.base.numeric import whole_number
from ranvier.errors import ValueOutOfBoundsError
from ranvier_benchmarks._in_turn import Contestant, run_once
from ranvier_benchmarks._model_loads import DELAY, SOURCE_RATE, SPREAD
from ranvier_benchmarks._nest import add_nest_arguments, choose_keys, load_nest, measure, write_report
from ranvier_benchmarks._settings import Chosen

__all__ = ["add_arguments", "main", "node_models"]

_TIME, _PRESIM = 100.0, 300.0  # ms
_MOST = 2**31 - 1
# NEST gives excitatory and inhibitory synapses of these models the ports 1 and 2, and no port 0.
_PORTS = ("multisynapse", "iaf_cond_alpha_mc", "glif")


def node_models() -> list[str]:
    """Return the names of NEST's models of neurons and devices; NEST is loaded by another process."""
    return list(run_once(Contestant("NEST", ("bench", "nest_models")))["models"])


def _keys(
    *, neurons: int = 10_000, indegree: int = 100, resolution: float = 0.1, seed: int = 1
) -> tuple[int, int, float, int]:
    """Take the keys of the network, those of `ranvier bench models`."""
    return (
        whole_number("key neurons", neurons, 1, _MOST),
        whole_number("key indegree", indegree, 0, _MOST),
        resolution,
        seed,
    )


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--model", metavar="NAME", help="model of neurons (default: list all)")
    parser.add_argument("--current", type=float, metavar="PA", help="constant current, pA (default: that of the model)")
    add_nest_arguments(parser, "neurons (10000), indegree (100), resolution, seed", _TIME, _PRESIM)


def main(arguments: argparse.Namespace) -> int:
    """Run the model without and with events, and report."""
    known = [str(name) for name in load_nest().node_models]
    if arguments.model is None:
        write_report({"models": known}, arguments.json)
        return 0
    if arguments.model not in known:
        unknown_name("--model", arguments.model, known)
    if arguments.current is not None and not math.isfinite(arguments.current):
        raise ValueOutOfBoundsError("--current", f"{arguments.current} pA", "must be a number")
    chosen, (neurons, indegree, resolution, seed) = choose_keys(arguments.settings, _keys, _TIME, _PRESIM)
    report = _simulate(arguments.model, arguments.current, chosen, neurons, 0, resolution, seed)
    if indegree > 0:
        with_events = _simulate(arguments.model, arguments.current, chosen, neurons, indegree, resolution, seed)
        events = neurons * indegree * SOURCE_RATE * chosen.time / 1000.0
        longer = with_events["sim_s"] - report["sim_s"]
        report["ns_per_event"] = 1e9 * longer * report["threads"] / events
    write_report(report, arguments.json)
    return 0


def _simulate(
    model: str, current: float | None, chosen: Chosen, neurons: int, indegree: int, resolution: float, seed: int
) -> dict[str, Any]:
    nest = load_nest()
    nest.ResetKernel()

    def build(nest: Any) -> Any:
        population = nest.Create(model, neurons)
        if current is not None:
            random = np.random.default_rng(seed)
            population.I_e = random.uniform((1.0 - SPREAD) * current, (1.0 + SPREAD) * current, neurons)
        if indegree == 0:
            # Else its threads would meet after each step, where those of a network with synapses need not.
            nest.set(min_delay=DELAY, max_delay=DELAY)
        else:
            sources = nest.Create("ignore_and_fire", neurons, params={"rate": SOURCE_RATE})
            sources.phase = np.random.default_rng(seed + 1).uniform(0.001, 1.0, neurons)
            synapse: dict[str, Any] = {"weight": 0.0, "delay": DELAY}
            if any(part in model for part in _PORTS):
                synapse["receptor_type"] = 1
            nest.Connect(sources, population, {"rule": "fixed_indegree", "indegree": indegree}, synapse)
        return population

    _, times = measure(chosen, build, synapses=neurons * indegree, resolution=resolution, seed=seed)
    steps = chosen.time / resolution
    report = times.as_json()
    report["ns_per_neuron_and_step"] = 1e9 * times.sim * times.threads / (neurons * steps)
    report["neurons"] = neurons
    # Spikes of the last call of Run; with events, including those of the sources.
    report["spikes"] = float(nest.local_spike_counter)
    return report
