"""What models of neurons of `ranvier bench models` do in Brian2: run with a Python that has Brian2, without Ranvier.

Of each model, the first neuron gets spikes at each receptor, and a current that keeps it below the threshold; others
get currents alone.
"""

from __future__ import annotations

import importlib.util
import json
import sys
from pathlib import Path
from typing import Any

import brian2 as b2
import numpy as np


def load(path: str) -> Any:
    specification = importlib.util.spec_from_file_location("brian2_neurons", path)
    assert specification is not None
    assert specification.loader is not None
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def build(script: Any, scene: dict[str, Any], network: Any) -> tuple[Any, Any]:
    """Add a model to the network; return the monitors of the first neuron and of all spikes."""
    model, currents = scene["model"], np.array(scene["currents"])
    neurons = script.neurons_of(b2, model, len(currents), currents)
    for receptor, given in scene["input"].items():
        source = b2.SpikeGeneratorGroup(1, [0] * len(given["times"]), np.array(given["times"]) * b2.ms)
        synapses = script.synapses_of(b2, model, receptor, source, neurons, scene["delay"])
        synapses.connect(i=[0], j=[0])
        synapses.weight = script.quantity(b2, given["weight"], model["weight_unit"])
        network.add(source, synapses)
    # At the end of each step, as Ranvier records.
    potentials = b2.StateMonitor(neurons, "V_m", record=[0], when="end")
    spikes = b2.SpikeMonitor(neurons)
    network.add(neurons, potentials, spikes)
    return potentials, spikes


def main() -> None:
    script_path, scenes_path, results_path = sys.argv[1:4]
    script = load(script_path)
    whole = json.loads(Path(scenes_path).read_text())
    # Its C++ code, of some hundred files, would take minutes to compile; that in Python is made from the same.
    b2.prefs.codegen.target = "numpy"
    b2.seed(1)
    b2.defaultclock.dt = whole["resolution"] * b2.ms
    network = b2.Network()
    built = {scene["model"]["name"]: build(script, scene, network) for scene in whole["scenes"]}
    network.run(whole["time"] * b2.ms)
    results = {
        name: {
            "V_m": [float(value) for value in potentials.V_m[0] / b2.mV],
            "senders": [int(sender) for sender in spikes.i],
            "times": [float(time) for time in spikes.t / b2.ms],
        }
        for name, (potentials, spikes) in built.items()
    }
    Path(results_path).write_text(json.dumps(results))


main()
