"""What Brian2 does in each row of the tables of differences: run with a Python that has Brian2, without Ranvier.

It prints the results as JSON; `test_brian2_differences.py` compares them.
"""

from __future__ import annotations

import json
import sys
from typing import Any

import brian2 as b2
import numpy as np

RAMP = "dv/dt = 1/ms : 1"


def ran(time: float, *parts: Any) -> None:
    b2.Network(*parts).run(time * b2.ms)


def intervals(equations: str, refractory: float, threshold: float = 0.25) -> list[float]:
    """Return the intervals of a neuron whose potential rises by 0.1 a step."""
    group = b2.NeuronGroup(1, equations, threshold=f"v > {threshold}", reset="v = 0", refractory=refractory * b2.ms)
    spikes = b2.SpikeMonitor(group)
    ran(10.0, group, spikes)
    return [float(value) for value in np.diff(spikes.t / b2.ms)[:3]]


def generator(delay: float) -> float:
    """Return when a neuron fires that gets a spike of a generator with the time 1 ms."""
    source = b2.SpikeGeneratorGroup(1, [0], [1.0] * b2.ms)
    group = b2.NeuronGroup(1, "v : 1", threshold="v > 0.5", reset="v = 0")
    synapses = b2.Synapses(source, group, on_pre="v += 1", delay=delay * b2.ms)
    synapses.connect()
    spikes = b2.SpikeMonitor(group)
    ran(3.0, source, group, synapses, spikes)
    return float(spikes.t[0] / b2.ms)


def timed_current() -> list[float]:
    current = b2.TimedArray([0, 1, 2], dt=0.2 * b2.ms)
    group = b2.NeuronGroup(1, "dv/dt = current(t)/ms : 1", method="euler", namespace={"current": current})
    state = b2.StateMonitor(group, "v", record=0)
    ran(1.0, group, state)
    return [float(value) for value in state.v[0]]


def learned(before: list[float], after: list[float], delay: float) -> float:
    """Return the weight after spikes of both sides."""
    sides = [b2.SpikeGeneratorGroup(1, [0] * len(times), times * b2.ms) for times in (before, after)]
    synapses = b2.Synapses(
        *sides,
        "w : 1\ndx/dt = -x/(20*ms) : 1 (event-driven)\ndy/dt = -y/(15*ms) : 1 (event-driven)",
        on_pre="x += 1; w = clip(w - 0.012*w*y, 0, 1)",
        on_post="y += 1; w = clip(w + 0.01*(1 - w)*x, 0, 1)",
    )
    synapses.connect()
    synapses.w = 0.5
    synapses.pre.delay = delay * b2.ms
    ran(100.0, *sides, synapses)
    return float(synapses.w[0])


def mean_of_noise() -> float:
    group = b2.NeuronGroup(20_000, "dv/dt = 0.5*v*ms**-0.5*xi : 1", threshold="v > 1e9", reset="v = 0")
    group.v = 1
    ran(2.0, group)
    return float(np.mean(group.v[:]))


def main() -> None:
    b2.prefs.codegen.target = "numpy"
    b2.BrianLogger.suppress_hierarchy("brian2")
    b2.seed(1)
    b2.defaultclock.dt = 0.1 * b2.ms
    held = RAMP + " (unless refractory)"
    periods = (0.0, 0.1, 1.0, 2.0)
    results = {
        "held": {str(period): intervals(held, period) for period in periods},
        "not held": {str(period): intervals(RAMP, period) for period in periods},
        "rounded": {str(period): intervals(RAMP, period, 0.05) for period in (0.12, 0.15, 0.18, 0.2)},
        "generator": {str(delay): generator(delay) for delay in (0.1, 0.5)},
        "timed": timed_current(),
        "learned": [learned(*pairs) for pairs in json.loads(sys.argv[1])],
        "noise": mean_of_noise(),
    }
    json.dump(results, sys.stdout)


if __name__ == "__main__":
    main()
