"""Networks whose cells have a receptor at several places, and the same with a receptor for each place."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

import ranvier as rv

STEP, TIME = 0.1, 40.0
IntArray = npt.NDArray[np.int64]
BoolArray = npt.NDArray[np.bool_]

SOMA = rv.Section(length=18.0, diameter=18.0)
SMALL = rv.Morphology([SOMA, rv.Section(length=300.0, diameter=2.0, parent=0, tag="basal")])
LARGE = rv.Morphology(
    [
        SOMA,
        rv.Section(length=200.0, diameter=2.0, parent=0, tag="apical"),
        rv.Section(length=150.0, diameter=1.0, parent=1, tag="apical"),
        rv.Section(length=90.0, diameter=1.5, parent=1, tag="apical"),
    ]
)
PLACES = [rv.at(1, 0.1), rv.at(1, 0.9), rv.at(0), rv.at(1, 0.5)]
"""On both trees, in different compartments."""


def cell(apart: bool, *, tree: rv.Morphology = SMALL, places: Sequence[rv.Place] = PLACES, **keys: Any) -> rv.Cell:
    """Return a cell with the receptors "exc" and "inh", or with one for each place of "exc": "exc0", "exc1", ..."""
    exc = rv.exp2syn(tau_rise=0.3, tau_decay=2.0)
    receptors: dict[str, Any] = {"exc": (exc, list(places))}
    if apart:
        receptors = {f"exc{i}": (exc, place) for i, place in enumerate(places)}
    return rv.Cell(
        tree,
        compartments=5,
        membrane=[("all", rv.hh())],
        receptors={**receptors, "inh": (rv.expsyn(tau=8.0, e=-75.0), rv.at(0))},
        probes={"tip": rv.at(1, 0.9)},
        **keys,
    )


def drawn_pairs(sources: int, targets: int, count: int, seed: int) -> tuple[IntArray, IntArray]:
    """Return indices of sources and targets of some synapses, several of some pairs, by source."""
    random = np.random.default_rng(seed)
    return np.sort(random.integers(sources, size=count)), random.integers(targets, size=count)


def spike_times(sources: int, seed: int) -> list[list[float]]:
    """Return some times for each source, on the grid."""
    random = np.random.default_rng(seed)
    return [sorted({round(int(step) * STEP, 6) for step in random.integers(1, 350, size=6)}) for _ in range(sources)]


def network(
    apart: bool,
    sites: IntArray,
    pairs: tuple[IntArray, IntArray],
    *,
    cells: int = 19,
    synapse: Callable[[rv.Network, BoolArray], Any] | str = "static_synapse",
    delays: Any = None,
    weights: Any = 8.0,
    recurrent: bool = True,
) -> rv.Network:
    """Return a network in which synapse i reaches the place sites[i], as a site or as a receptor of its own.

    `synapse` may return the model of some of the synapses.
    """
    net = rv.Network(resolution=STEP, seed=3)

    def model(own: BoolArray) -> Any:
        return synapse if isinstance(synapse, str) else synapse(net, own)

    sources = net.create_spike_generators(spike_times(9, 5))
    population = net.create(cell(apart), cells, V_m=rv.Normal(-65.0, 2.0))
    delays = np.full(len(sites), 1.0) if delays is None else np.asarray(delays)
    weights = np.broadcast_to(weights, len(sites))
    if recurrent:
        net.connect(population, population, rv.FixedIndegree(2), weight=0.5, delay=1.5, receptor="inh")
    if not apart:
        rule = rv.Explicit(pairs[0], pairs[1])
        learning = model(np.ones(len(sites), dtype=np.bool_))
        net.connect(
            sources, population, rule, weight=weights, delay=delays, receptor="exc", synapse=learning, site=sites
        )
    for site in range(len(PLACES)) if apart else ():
        own = sites == site
        rule = rv.Explicit(pairs[0][own], pairs[1][own])
        net.connect(
            sources,
            population,
            rule,
            weight=weights[own],
            delay=delays[own],
            receptor=f"exc{site}",
            synapse=model(own),
        )
    net.record_spikes(population)
    net.record_state(population, ["V_m", "tip"], interval=STEP)
    return net


def results(sim: rv.Simulation) -> tuple[str, npt.NDArray[np.float64]]:
    """Return the digest of the spikes, and the recorded state."""
    spikes, states = sim.network.recorders
    assert isinstance(spikes, rv.SpikeRecorder)
    assert isinstance(states, rv.StateRecorder)
    assert len(sim.spikes(spikes)) > 0
    return sim.spikes(spikes).digest(), sim.state(states).values


def run(net: rv.Network, duration: float = TIME, **options: Any) -> tuple[str, npt.NDArray[np.float64]]:
    """Run a network, and return its results."""
    sim = rv.Simulation(net, progress=False, **options)
    sim.run(duration)
    return results(sim)
