"""CUBA or COBA of Brette et al. (2007) in NEST alone: NEST's side of `ranvier bench cuba` and `ranvier bench coba`.

Builds it, runs it and reports. The numbers of the models are written here again, independently of `ranvier.networks`,
so that the comparison shows an error in one of the two.

R. Brette et al., Journal of Computational Neuroscience 23, 349-398 (2007), https://doi.org/10.1007/s10827-007-0038-6.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from ranvier.base.numeric import whole_number
from ranvier_benchmarks._nest import add_nest_arguments, choose_keys, measure, write_report

__all__ = ["add_arguments", "main"]

_TIME, _PRESIM = 1000.0, 100.0  # ms
_LEAK = 10.0  # nS
_NEURONS: dict[str, dict[str, Any]] = {
    "cuba": {"model": "iaf_psc_exp", "tau_m": 20.0, "E_L": -49.0},
    "coba": {"model": "iaf_cond_exp", "g_L": _LEAK, "E_L": -60.0, "E_ex": 0.0, "E_in": -80.0},
}
_SHARED = {"C_m": 200.0, "V_th": -50.0, "V_reset": -60.0, "t_ref": 5.0, "tau_syn_ex": 5.0, "tau_syn_in": 10.0}
# pA of synapses that would hold 1.62 and -9 mV if they did not decay, and nS.
_WEIGHTS = {"cuba": (1.62 * _LEAK, -9.0 * _LEAK), "coba": (6.0, -67.0)}


def _keys(
    *, neurons: int = 4000, connection_probability: float | None = None, resolution: float = 0.1, seed: int = 1
) -> tuple[int, float, float, int]:
    """Take the keys of the networks, those of `ranvier.networks.cuba`."""
    size = whole_number("key neurons", neurons, 5, 2**31 - 1)
    probability = min(1.0, 80.0 / size) if connection_probability is None else connection_probability
    return size, probability, resolution, seed


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("--network", choices=("cuba", "coba"), required=True, help="which of the two")
    add_nest_arguments(
        parser, "neurons, connection_probability, resolution and seed as for ranvier run cuba", _TIME, _PRESIM
    )


def main(arguments: argparse.Namespace) -> int:
    """Run and report."""
    chosen, (size, probability, resolution, seed) = choose_keys(arguments.settings, _keys, _TIME, _PRESIM)
    inhibitory = size // 5
    excitatory = size - inhibitory

    def build(nest: Any) -> tuple[Any, Any]:
        given = {**_SHARED, **_NEURONS[arguments.network]}
        neurons = nest.Create(given.pop("model"), size, params=given)
        neurons.V_m = nest.random.uniform(-60.0, -50.0)
        recorder = nest.Create("spike_recorder", params={"time_in_steps": True, "start": chosen.presim})
        rule = {"rule": "pairwise_bernoulli", "p": probability, "allow_autapses": False}
        sources = neurons[:excitatory], neurons[excitatory:]
        for group, weight in zip(sources, _WEIGHTS[arguments.network], strict=True):
            nest.Connect(group, neurons, rule, {"weight": weight, "delay": resolution})
        if arguments.network == "coba":
            train = nest.Create("poisson_generator", params={"rate": 300.0, "stop": 50.0})
            nest.Connect(train, neurons, "all_to_all", {"weight": 6.0, "delay": resolution})
        before = nest.num_connections - (size if arguments.network == "coba" else 0)
        nest.Connect(neurons, recorder)
        return recorder, before

    (recorder, synapses), times = measure(
        chosen, build, synapses=round(size * size * probability), resolution=resolution, seed=seed
    )
    senders = np.asarray(recorder.get("events")["senders"], dtype=np.int64)
    spikes = np.bincount(senders > excitatory, minlength=2)
    seconds = chosen.time / 1000.0
    write_report(
        {
            **times.as_json(),
            "neurons": size,
            "synapses": int(synapses),
            "spikes": int(spikes.sum()),
            "mean_rate_hz": {
                "excitatory": float(spikes[0] / excitatory / seconds),
                "inhibitory": float(spikes[1] / inhibitory / seconds),
            },
        },
        arguments.json,
    )
    return 0
