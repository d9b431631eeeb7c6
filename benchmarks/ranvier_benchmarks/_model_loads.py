"""Networks with which `ranvier bench models` times a model of neurons."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ranvier import _core, models
from ranvier.base.distributions import Uniform
from ranvier.equations.library import described
from ranvier.errors import ValueOutOfBoundsError
from ranvier.network.network import Network
from ranvier.network.rules import FixedIndegree
from ranvier.populations.populations import Population
from ranvier.simulation.options import grouped
from ranvier.simulation.simulation import Simulation
from ranvier_benchmarks._settings import Chosen

__all__ = ["DELAY", "SOURCE_RATE", "SPREAD", "Load", "current_for", "described_model", "events_of", "time_of"]

SPREAD = 0.05
"""Part of the current by which that of a neuron may differ."""
SOURCE_RATE = 20.0
"""Spikes/s of sources of events."""
DELAY = 1.0
"""Delay of their synapses, ms."""
_GREATEST_CURRENT = 1e6  # pA
_LONG = 1000.0  # ms, in which a rate is measured


@dataclass(frozen=True)
class Load:
    """Neurons of a model, the constant current that they get, in pA, and the keys of the benchmark."""

    model: str
    current: float | None
    neurons: int
    rate: float
    indegree: int
    resolution: float
    seed: int


def current_for(model: str, rate: float, resolution: float) -> float | None:
    """Return the constant current, pA, with which neurons fire at a rate in spikes/s; None where the model takes none.

    It is searched by halving, until the rate is within 10 percent or the interval is 1/1000 of the current.

    Raises
    ------
    ValueOutOfBoundsError
        When no current up to 10^6 pA makes them fire so fast.
    """
    if "I_e" not in _parameters(model):
        return None
    low, high = 0.0, 1.0
    while _rate(model, high, resolution) < rate:
        low, high = high, 2.0 * high
        if high > _GREATEST_CURRENT:
            raise ValueOutOfBoundsError(
                "key rate", f"{rate:g} spikes/s", f"neurons of model {model} fire more slowly with {high / 2:g} pA"
            )
    while high - low > 1e-3 * high:
        middle = 0.5 * (low + high)
        found = _rate(model, middle, resolution)
        if abs(found - rate) < 0.1 * rate:
            return middle
        low, high = (middle, high) if found < rate else (low, middle)
    return high


def time_of(load: Load, chosen: Chosen) -> dict[str, float]:
    """Return the time of a neuron and step, ns of one thread, and the number of spikes."""
    net = Network(resolution=load.resolution, seed=load.seed)
    _neurons(net, load)
    simulation = _run(net, chosen)
    counts = simulation.counts()
    seconds = simulation.phases["simulation"]
    return {
        "ns_per_neuron_and_step": 1e9 * seconds * chosen.threads / (load.neurons * counts.steps),
        "simulation_s": seconds,
        "spikes": float(counts.spikes),
    }


def events_of(load: Load, chosen: Chosen) -> dict[str, float]:
    """Return the time of an event, ns of one thread, and the number of events."""
    net = Network(resolution=load.resolution, seed=load.seed)
    neurons = _neurons(net, load)
    interval = 1000.0 / SOURCE_RATE
    sources = net.create(
        models.interval_fire(tau=interval, interval_min=1.0, interval_max=2.0 * interval - 1.0), load.neurons
    )
    net.connect(
        sources, neurons, FixedIndegree(load.indegree), weight=0.0, delay=DELAY, receptor=_first_receptor(load.model)
    )
    simulation = _run(net, chosen)
    events = simulation.counts().synaptic_events
    if events == 0:
        raise ValueOutOfBoundsError("key time", f"{chosen.time:g} ms", "no spike has arrived", "simulate for longer")
    return {
        "ns_per_event": 1e9 * simulation.phases["deliver"] * chosen.threads / events,
        "events": float(events),
    }


def described_model(model: str) -> Any:
    """Return what a model of Ranvier is, one that is built in or one of equations."""
    return next((each for each in _core.neuron_models() if each.name == model), None) or described(model)


def _first_receptor(model: str) -> str | None:
    """Return the receptor that has to be named, if the sign of a weight does not choose one."""
    model_told = described_model(model)
    return None if model_told.sign_chooses_receptor else model_told.receptors[0]


def _parameters(model: str) -> list[str]:
    return [parameter.name for parameter in described_model(model).parameters]


def _neurons(net: Network, load: Load) -> Population:
    if load.current is None:
        return net.create(load.model, load.neurons)
    return net.create(
        load.model,
        load.neurons,
        I_e=Uniform((1.0 - SPREAD) * load.current, (1.0 + SPREAD) * load.current),
    )


def _run(net: Network, chosen: Chosen) -> Simulation:
    simulation = Simulation(net, progress=False, **grouped(chosen.options))
    if chosen.presim > 0.0:
        simulation.run(chosen.presim)
    simulation.reset_counts()
    simulation.run(chosen.time)
    return simulation


def _rate(model: str, current: float, resolution: float) -> float:
    net = Network(resolution=resolution)
    net.create(model, 10, I_e=current)
    simulation = Simulation(net, progress=False)
    simulation.run(_LONG)
    return simulation.counts().spikes / 10 / (_LONG / 1000.0)
