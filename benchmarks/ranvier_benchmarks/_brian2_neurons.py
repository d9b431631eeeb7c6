"""Time of one model of neurons in Brian2 alone, as a C++ program (standalone mode): Brian2's side of `bench models`.

A script that needs Brian2 and nothing of Ranvier, since Brian2 may be installed for another Python. It gets the model
and the load as JSON; `ranvier_benchmarks._brian2_equations` has the models. Times are those of the compiled program's
run, without compilation and without building. A program that is compiled already for the same work, in a folder that is
kept, is run again at once.
"""

from __future__ import annotations

import argparse
import functools
import json
import operator
import sys
from pathlib import Path
from typing import Any

import numpy as np


def quantity(b2: Any, value: float, unit: str) -> Any:
    """Return a number with a unit such as "mV", "mV/ms" or "1/ms"."""
    others = {"": 1.0, "1": 1.0, "s": b2.second}
    factors = [others[name] if name in others else getattr(b2, name) for name in unit.split("/")]
    return value * functools.reduce(operator.truediv, factors)


def neurons_of(b2: Any, model: dict[str, Any], count: int, current: Any) -> Any:
    """Return neurons in their initial state; `current` is that of each in pA, or None where the model has none."""
    names = {name: quantity(b2, *given) for name, given in model["parameters"].items() if name != "I_e"}
    neurons = b2.NeuronGroup(
        count,
        model["equations"],
        method=model["method"],
        threshold=model["threshold"],
        reset=model["reset"] or None,
        refractory=model["refractory"] or False,
        namespace=names,
    )
    for variable, value in model["begin"].items():
        setattr(neurons, variable, value)
    if "I_e" in model["parameters"]:
        neurons.I_e = (0.0 if current is None else current) * b2.pA
    return neurons


def synapses_of(b2: Any, model: dict[str, Any], receptor: str, sources: Any, neurons: Any, delay: float) -> Any:
    """Return synapses of a receptor, each with its weight, which are not connected yet; delay in ms."""
    unit = {"mV": "volt", "pA": "amp", "nS": "siemens"}[model["weight_unit"]]
    return b2.Synapses(
        sources,
        neurons,
        f"weight : {unit} (constant)",
        on_pre=model["receptors"][receptor],
        delay=delay * b2.ms,
        # They see parameters of the receptor, such as time constants.
        namespace=neurons.namespace,
    )


def describe(b2: Any, work: dict[str, Any], indegree: int) -> tuple[Any, list[Any]]:
    """Return the neurons, and what sends events to them."""
    count, current = work["neurons"], work["current"]
    currents = None
    if current is not None:
        low, high = ((1.0 + sign * work["spread"]) * current for sign in (-1.0, 1.0))
        currents = np.random.default_rng(work["seed"]).uniform(low, high, count)
    neurons = neurons_of(b2, work["model"], count, currents)
    if indegree == 0:
        return neurons, []
    sources = b2.NeuronGroup(
        count,
        "dphase/dt = rate : 1",
        method="euler",
        threshold="phase >= 1",
        reset="phase -= 1",
        namespace={"rate": work["source_rate"] * b2.Hz},
    )
    random = np.random.default_rng(work["seed"] + 1)
    sources.phase = random.uniform(0.0, 1.0, count)
    synapses = synapses_of(b2, work["model"], next(iter(work["model"]["receptors"])), sources, neurons, work["delay"])
    synapses.connect(i=random.integers(0, count, count * indegree), j=np.repeat(np.arange(count), indegree))
    return neurons, [sources, synapses]


def simulate(b2: Any, work: dict[str, Any], indegree: int, folder: Path) -> tuple[float, int]:
    """Compile the program if need be, and run it; return the seconds of what is measured, and the spikes in it."""
    b2.device.reinit()
    b2.device.activate(directory=str(folder), build_on_run=False)
    b2.seed(work["seed"])
    b2.defaultclock.dt = work["resolution"] * b2.ms
    neurons, inputs = describe(b2, work, indegree)
    network = b2.Network(neurons, *inputs)
    if work["presim"] > 0.0:
        network.run(work["presim"] * b2.ms)
    # It counts only what comes now, and keeps no times.
    spikes = b2.SpikeMonitor(neurons, record=False)
    network.add(spikes)
    network.run(work["time"] * b2.ms)
    b2.device.build(directory=str(folder), compile=True, run=True, debug=False)
    # The program's report of its last call of run.
    text = (folder / "results/last_run_info.txt").read_text(encoding="utf-8")
    return float(text.split()[0]), int(spikes.num_spikes)


def report_of(work: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Run the model without and with events; return the report."""
    import brian2 as b2

    # One thread is a program without OpenMP.
    b2.prefs.devices.cpp_standalone.openmp_threads = work["threads"] if work["threads"] > 1 else 0
    # Else it would start a compiler for each file at once.
    b2.prefs.devices.cpp_standalone.extra_make_args_unix = [f"-j{work['compilers']}"]
    b2.set_device("cpp_standalone", build_on_run=False)
    steps = work["time"] / work["resolution"]
    seconds, spikes = simulate(b2, work, 0, folder / "without_events")
    report = {
        "program": "Brian2",
        "version": b2.__version__,
        "threads": work["threads"],
        "neurons": work["neurons"],
        "sim_s": seconds,
        "ns_per_neuron_and_step": 1e9 * seconds * work["threads"] / (work["neurons"] * steps),
        "spikes": float(spikes),
    }
    if work["indegree"] > 0:
        longer = simulate(b2, work, work["indegree"], folder / "with_events")[0] - seconds
        events = work["neurons"] * work["indegree"] * work["source_rate"] * work["time"] / 1000.0
        report["ns_per_event"] = 1e9 * longer * work["threads"] / events
    return report


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--work", required=True, help="the model and its load, as JSON")
    parser.add_argument("--folder", type=Path, required=True, help="for the programs")
    parser.add_argument("--json", type=Path, required=True)
    arguments = parser.parse_args()
    report = report_of(json.loads(arguments.work), arguments.folder)
    arguments.json.write_text(json.dumps(report))
    return 0


if __name__ == "__main__":
    sys.exit(main())
