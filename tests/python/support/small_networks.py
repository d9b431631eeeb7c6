"""Networks for tests: small, but alive."""

from __future__ import annotations

from typing import Any

import ranvier as rv
from ranvier import networks
from ranvier.networks import NetworkModel


def balanced(size: int = 100, seed: int = 1) -> tuple[rv.Network, rv.SpikeRecorder]:
    """Excitatory and inhibitory neurons with Poisson drive; fires at some 10 spikes/s."""
    net = rv.Network(resolution=0.1, seed=seed, name="balanced")
    exc = net.create(rv.iaf_psc_exp(V_m=rv.Normal(-65.0, 3.0)), 4 * size, name="exc")
    inh = net.create("iaf_psc_exp", size, name="inh")
    for sources, weight in ((exc, 30.0), (inh, -150.0)):
        for targets in (exc, inh):
            net.connect(
                sources,
                targets,
                rv.FixedIndegree(10),
                weight=rv.Normal(weight, 3.0, low=0.0) if weight > 0 else rv.Normal(weight, 15.0, high=0.0),
                delay=rv.Normal(1.5, 0.5, low=0.1),
            )
    for targets in (exc, inh):
        net.stimulate(targets, rv.poisson_generator(rate=8000.0), weight=50.0)
    return net, net.record_spikes()


NETWORKS: dict[str, dict[str, Any]] = {
    "microcircuit dc": {"n_scaling": 0.01, "k_scaling": 0.5, "drive": "dc"},
    "microcircuit poisson": {"n_scaling": 0.02, "k_scaling": 0.2, "drive": "poisson"},
    "brunel delta": {"version": "delta", "scale": 0.04},
    "brunel alpha": {"version": "alpha", "scale": 0.04},
    "hpc_benchmark": {"scale": 0.04, "indegree_scale": 0.02},
    "interval_fire random": {"cells": 250, "connections": 40, "spread": 60, "weight": 0.02, "burst": True},
    "interval_fire adjacent": {"cells": 250, "connections": 30, "topology": "adjacent", "resolution": 0.05},
}

LIBRARY_NETWORKS: dict[str, dict[str, Any]] = {
    "cuba": {"neurons": 600},
    "coba": {"neurons": 300},
    "coba_hh": {"neurons": 300, "resolution": 0.1},
    "izhikevich": {"neurons": 400},
    "synfire": {},
    "vogels": {"neurons": 150},
    "ring_attractor": {"neurons": 1200},
    "topographic_map": {"side": 8, "sigma": 1.5, "duration": 200.0},
}
"""Networks of neurons that are equations."""


def shipped(name: str) -> NetworkModel:
    """Return one of the networks that ship, made small."""
    model: NetworkModel = getattr(networks, name.split()[0])(**NETWORKS[name])
    return model


def with_noise(size: float = 1000, indegree: int = 100) -> rv.Network:
    """Return two populations, of which one inhibits and one has Poisson input."""
    net = rv.Network(resolution=0.1)
    exc = net.create(rv.iaf_psc_exp(), int(size), name="exc")
    inh = net.create(rv.iaf_psc_exp(), int(size) // 4, name="inh")
    net.connect(exc, exc, rv.FixedIndegree(indegree), weight=1.0, delay=2.0)
    net.connect(inh, exc, rv.FixedIndegree(indegree // 4), weight=-1.0, delay=rv.Uniform(1.5, 3.0))
    net.stimulate(exc, rv.poisson_generator(rate=100.0), weight=1.0)
    return net
