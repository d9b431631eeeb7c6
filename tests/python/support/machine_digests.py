"""Digests of spikes, membrane potentials and learned weights, to compare machines of different architectures.

As a program, it writes those of all scenes to a file (JSON), computed by different numbers of threads. Its arguments
are the file and, if not all, the first letters of the scenes. `make try-wheel-aarch64` runs it on this machine and with
an emulator of another one.
"""

from __future__ import annotations

import functools
import hashlib
import json
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import all_trains
import clopath_scenes
import dopamine_scenes
import library_scenes
import plasticity_scenes
import quantal_scenes
import ranvier as rv
import short_term_scenes
from ranvier import networks
from ranvier.simulation.options import grouped
from small_networks import LIBRARY_NETWORKS, NETWORKS

__all__ = ["SCENES", "THREADS"]

THREADS = (1, 3)
_DURATION = 100.0  # ms
# Native code needs llvmlite, and gives the same bits (test_network_digests.py).
_OPTIONS: dict[str, Any] = {"programs": "interpreted", "progress": False}
_CELLS: dict[str, dict[str, Any]] = {
    "ring hh": {"cells": 12, "depth": 2},
    "ring pas, exact rates": {"cells": 12, "depth": 3, "dendrites": "pas", "rates": "exact"},
    "ring of different trees": {"cells": 12, "depth": 3, "shapes": "different"},
    "layers": {"cells": 24, "compartments": 1},
    "l5_pair": {},
}
_POINT_NEURONS: dict[str, dict[str, Any]] = {
    "iaf_cond_nmda": {"I_e": 500.0},
    "iaf_psc_alpha": {"I_e": 400.0},
    "iaf_psc_delta": {"I_e": 400.0},
    "iaf_psc_exp": {"I_e": 550.0},
}
_SYNAPSES: dict[str, Any] = {"iaf_cond_nmda": rv.saturating_nmda(), "iaf_psc_exp": rv.bernoulli(p_transmit=0.6)}
_CURRENTS: dict[str, dict[str, Any]] = {
    "ac_generator": {"amplitude": 300.0, "frequency": 50.0, "phase": 30.0, "offset": 400.0},
    "dc_generator": {"amplitude": 600.0, "start": 5.0},
    "noise_generator": {"mean": 400.0, "std": 300.0, "interval": 0.2},
    "step_current_generator": {"times": [5.0, 20.0, 60.0], "amplitudes": [700.0, 100.0, 550.0]},
}
_DISTRIBUTIONS: dict[str, Any] = {
    "normal, redrawn": rv.Normal(20.0, 15.0, low=0.0, high=45.0),
    "normal, clipped": rv.Normal(20.0, 15.0, low=0.0, high=45.0, mode="clip"),
    "lognormal": rv.LogNormal(2.5, 0.7),
    "lognormal, redrawn": rv.LogNormal(2.5, 0.7, high=30.0),
    "exponential": rv.Exponential(20.0, high=60.0),
    "uniform": rv.Uniform(5.0, 40.0),
}


def _hash(*arrays: npt.ArrayLike) -> str:
    found = hashlib.sha256()
    for array in arrays:
        found.update(np.ascontiguousarray(array).tobytes())
    return found.hexdigest()[:16]


def _shipped(name: str, parameters: dict[str, Any], threads: int, duration: float = _DURATION) -> str:
    model = getattr(networks, name.split()[0].rstrip(","))(**parameters)
    sim = rv.Simulation(model.net, **grouped({**_OPTIONS, "threads": threads}))
    sim.run(duration)
    return _digest_of(sim.spikes(model.spikes))


def _digest_of(spikes: Any) -> str:
    assert len(spikes) > 0, "a silent network proves nothing"
    return f"{spikes.digest()} of {len(spikes)} spikes"


def _of_library(name: str, threads: int) -> str:
    net, cells = library_scenes.network(name)
    return _fired(net, cells, "V_m", threads)


def _fired(net: rv.Network, cells: rv.Population, variable: str, threads: int) -> str:
    spikes, states = net.record_spikes(cells), net.record_state(cells, variable, 0.5)
    sim = rv.Simulation(net, **grouped({**_OPTIONS, "threads": threads}))
    sim.run(_DURATION)
    return f"{_digest_of(sim.spikes(spikes))}, {variable} {_hash(sim.state(states)[variable])}"


def _point_neurons(name: str, threads: int) -> str:
    net = rv.Network(seed=3)
    cells = net.create(name, 40, V_m=rv.Uniform(-72.0, -60.0), **_POINT_NEURONS[name])
    weight = rv.Normal(2.0 if name != "iaf_psc_delta" else 0.1, 0.02)
    receptor = "NMDA" if name == "iaf_cond_nmda" else None
    synapse = _SYNAPSES.get(name, "static_synapse")
    delay = rv.Uniform(0.3, 4.0)
    net.connect(cells, cells, rv.FixedIndegree(5), weight=weight, delay=delay, receptor=receptor, synapse=synapse)
    return _fired(net, cells, "V_m", threads)


def _ignore_and_fire(threads: int) -> str:
    net = rv.Network(seed=7)
    recorder = net.record_spikes(
        net.create("ignore_and_fire", 100, rate=rv.Uniform(5.0, 200.0), phase=rv.Uniform(0.1, 1.0))
    )
    sim = rv.Simulation(net, threads=threads, progress=False)
    sim.run(_DURATION)
    return _digest_of(sim.spikes(recorder))


def _current(name: str, threads: int) -> str:
    net = rv.Network(seed=4)
    cells = net.create("iaf_psc_exp", 20, V_m=rv.Uniform(-70.0, -60.0))
    net.stimulate(cells, getattr(rv, name)(**_CURRENTS[name]))
    return _fired(net, cells, "V_m", threads)


def _trains(threads: int) -> str:
    digest, count = all_trains.spikes_of_all(threads=threads)
    return f"{digest} of {count} spikes"


def _drawn(name: str, threads: int) -> str:
    net = rv.Network(seed=6)
    cells = net.create("iaf_psc_exp", 100)
    delays = rv.LogNormal(0.5, 0.6, low=0.1, high=20.0)
    projection = net.connect(cells, cells, rv.FixedIndegree(30), weight=_DISTRIBUTIONS[name], delay=delays)
    found = rv.Simulation(net, threads=threads, weight_precision="double", progress=False)
    synapses = found.connections(projection=projection)
    return _hash(synapses.sources, synapses.targets, synapses.weights, synapses.delays)


def _learned(name: str, threads: int) -> str:
    return _hash(
        *(
            plasticity_scenes.in_ranvier(
                plasticity_scenes.irregular_scene(name, weight, parameters, seed),
                threads=threads,
                weight_precision=precision,
            )
            for weight, parameters in plasticity_scenes.MODELS[name]
            for seed in (1, 2)
            for precision in ("single", "double")
        )
    )


def _short_term(threads: int) -> str:
    cases = short_term_scenes.CASES
    found = [short_term_scenes.in_ranvier(getattr(rv, name)(**each), threads=threads) for name, each in cases]
    return _hash(*(inputs for links in found for inputs in links))


def _dopamine(threads: int) -> str:
    scenes = [dopamine_scenes.scene_of(case) for case in range(len(dopamine_scenes.CASES))]
    return _hash(*(dopamine_scenes.in_ranvier(scene, threads=threads) for scene in scenes))


def _clopath(threads: int) -> str:
    times = [float(time) for time in range(10, 190, 20)]
    protocol = clopath_scenes.Protocol(times, [time + 4.0 for time in times[:-1]])
    found = clopath_scenes.in_ranvier(protocol, threads=threads, progress=False)
    return _hash(found.weights, *(found.potentials[name] for name in sorted(found.potentials)))


def _quantal(threads: int) -> str:
    return _hash(quantal_scenes.in_ranvier(quantal_scenes.CASES[1], threads=threads))


def _scenes() -> dict[str, Callable[[int], str]]:
    found: dict[str, Callable[[int], str]] = {}

    def add(kind: str, scene: Callable[..., str], names: Any) -> None:
        for name in names:
            found[f"{kind} {name}"] = functools.partial(scene, name)

    add("network", lambda name, threads: _shipped(name, NETWORKS[name], threads), NETWORKS)
    add("network", lambda name, threads: _shipped(name, LIBRARY_NETWORKS[name], threads), LIBRARY_NETWORKS)
    add("cells", lambda name, threads: _shipped(name, _CELLS[name], threads, 60.0), _CELLS)
    add("neuron", _point_neurons, _POINT_NEURONS)
    add("neuron", _of_library, library_scenes.DRIVES)
    found["neuron ignore_and_fire"] = _ignore_and_fire
    add("current", _current, _CURRENTS)
    add("distribution", _drawn, _DISTRIBUTIONS)
    add("synapse", _learned, plasticity_scenes.MODELS)
    found["synapse tsodyks and tsodyks2"] = _short_term
    found["synapse stdp_dopamine"] = _dopamine
    found["synapse clopath"] = _clopath
    found["synapse quantal_stp"] = _quantal
    found["trains of all generators"] = _trains
    return found


SCENES = _scenes()
"""By name: what returns the digests of a scene, given the number of threads."""


def main() -> None:
    """Run the scenes."""
    path, *chosen = sys.argv[1:]
    digests: dict[str, dict[str, str]] = {}
    for name, scene in SCENES.items():
        if chosen and not name.startswith(tuple(chosen)):
            continue
        begin = time.monotonic()
        digests[name] = {str(threads): scene(threads) for threads in THREADS}
        print(f"{name}: {time.monotonic() - begin:.1f} s", flush=True)
        Path(path).write_text(json.dumps(digests, indent=1))


if __name__ == "__main__":
    main()
