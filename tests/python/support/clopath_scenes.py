"""Synapses that learn from potentials, in Ranvier, in NEST and as NumPy calculates them from the paper.

C. Clopath, L. Buesing, E. Vasilaki and W. Gerstner, Nature Neuroscience 13, 344-352 (2010).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

import ranvier as rv
from nest_pool import fresh_nest

__all__ = ["POTENTIALS", "Protocol", "Weights", "expected", "in_nest", "in_ranvier"]

FloatArray = npt.NDArray[np.float64]
POTENTIALS = ("V_m", "u_bar_plus", "u_bar_minus", "u_bar_bar")


@dataclass(frozen=True)
class Protocol:
    """Presynaptic spikes, and currents or spikes that make one neuron fire.

    Attributes
    ----------
    before
        Times of presynaptic spikes, ms.
    kicks
        Times of spikes that make the neuron fire a ms later, at once.
    values, learning
        Parameters of the neuron, and of the synapse by its names here.
    """

    before: list[float]
    kicks: list[float] = field(default_factory=list)
    values: dict[str, Any] = field(default_factory=dict)
    learning: dict[str, Any] = field(default_factory=dict)
    model: str = "aeif_psc_delta_clopath"
    weight: float = 0.5
    delay: float = 1.0
    duration: float = 200.0
    resolution: float = 0.125


@dataclass(frozen=True)
class Weights:
    """Potentials after each step, spikes of the neuron (ms), and the weight that each presynaptic spike has."""

    potentials: dict[str, FloatArray]
    spikes: list[float]
    weights: FloatArray


def in_ranvier(protocol: Protocol, **options: Any) -> Weights:
    """Run the protocol in Ranvier; the weight is read when its spike has just arrived at the synapse."""
    net = rv.Network(resolution=protocol.resolution)
    cell = net.create(protocol.model, 1, **protocol.values)
    source = net.create_spike_generators([protocol.before])
    learning = rv.clopath(**protocol.learning)
    net.connect(source, cell, rv.OneToOne(), weight=protocol.weight, delay=protocol.delay, synapse=learning)
    if protocol.kicks:
        kicks = net.create_spike_generators([protocol.kicks])
        net.connect(kicks, cell, rv.OneToOne(), weight=120.0, delay=1.0)
    states, spikes = net.record_state(cell, POTENTIALS, protocol.resolution), net.record_spikes(cell)
    sim = rv.Simulation(net, weight_precision="double", **options)
    synapse = sim.connections(projection=net.projections[0])
    weights = []
    for time in protocol.before:
        sim.run(time - sim.time)
        weights.append(float(synapse.weights[0]))
    sim.run(protocol.duration - sim.time)
    found = sim.state(states)
    potentials = {name: found[name][:, 0] for name in POTENTIALS}
    return Weights(potentials, sim.spikes(spikes).times.tolist(), np.array(weights))


def in_nest(protocol: Protocol) -> Weights:
    """Run the protocol in NEST; to be called in a process of the pool.

    A connection with a delay of one step is there to shorten what NEST does at a time: at spikes that are no multiple
    of the shortest delay it finds no depression.
    """
    nest = fresh_nest(resolution=protocol.resolution)
    names = {"W_min": "Wmin", "W_max": "Wmax", "tau_x": "tau_x"}
    synapse = {names[name]: value for name, value in protocol.learning.items() if name in names}
    of_neuron = {name: value for name, value in protocol.learning.items() if name not in names}
    if "A_LTD_const" in of_neuron:
        of_neuron["A_LTD_const"] = bool(of_neuron["A_LTD_const"])
    cell = nest.Create(protocol.model, params={**protocol.values, **of_neuron})
    recorder = nest.Create("weight_recorder")
    nest.CopyModel("clopath_synapse", "learning", {"weight_recorder": recorder})
    source, relay = nest.Create("spike_generator"), nest.Create("parrot_neuron")
    source.spike_times = [time - 1.0 for time in protocol.before]
    nest.Connect(source, relay, syn_spec={"delay": 1.0})
    learning = {"synapse_model": "learning", "weight": protocol.weight, "delay": protocol.delay, **synapse}
    nest.Connect(relay, cell, syn_spec=learning)
    if protocol.kicks:
        kicks = nest.Create("spike_generator", params={"spike_times": protocol.kicks})
        nest.Connect(kicks, cell, syn_spec={"weight": 120.0, "delay": 1.0})
    short = nest.Create("parrot_neuron", 2)
    nest.Connect(short[0], short[1], syn_spec={"delay": protocol.resolution})
    meter = nest.Create("multimeter", params={"interval": protocol.resolution, "record_from": POTENTIALS})
    nest.Connect(meter, cell)
    spikes = nest.Create("spike_recorder")
    nest.Connect(cell, spikes)
    nest.Simulate(protocol.duration)
    potentials = {name: np.array(meter.events[name]) for name in POTENTIALS}
    return Weights(potentials, spikes.events["times"].tolist(), np.array(recorder.events["weights"]))


def expected(protocol: Protocol, potentials: dict[str, FloatArray], **beginning: float) -> FloatArray:
    """Return the weight that each presynaptic spike has, after the equations of the paper, from recorded potentials.

    `beginning` has those before the first step. What happens in a step acts with the potentials at its end.
    """
    p = {
        "A_LTD": 14e-5,
        "A_LTP": 8e-5,
        "theta_minus": -70.6,
        "theta_plus": -45.3,
        "tau_x": 15.0,
        "delay_u_bars": 5.0,
        "A_LTD_const": 1.0,
        "u_ref_squared": 60.0,
        "u_rest": 0.0,
        "W_min": 0.0,
        "W_max": 100.0,
        **protocol.learning,
    }
    h = protocol.resolution
    back, delay = round(p["delay_u_bars"] / h), round(protocol.delay / h)

    def at(name: str, step: int) -> float:
        return float(potentials[name][step - 1]) if step > 0 else beginning[name]

    weight, trace, last = protocol.weight, 0.0, None
    weights = []
    for spike in (round(time / h) for time in protocol.before):
        if last is not None:
            for step in range(last - delay + 1, spike - delay + 1):
                above = max(at("V_m", step) - p["theta_plus"], 0.0)
                filtered = max(at("u_bar_plus", step - back) - p["theta_minus"], 0.0)
                left = trace * np.exp(-(step + delay - last) * h / p["tau_x"])
                weight = min(weight + h * p["A_LTP"] * left * above * filtered, p["W_max"])
            trace *= np.exp(-(spike - last) * h / p["tau_x"])
        size = p["A_LTD"]
        if not p["A_LTD_const"]:
            size *= (at("u_bar_bar", spike - delay) - p["u_rest"]) ** 2 / p["u_ref_squared"]
        depolarized = max(at("u_bar_minus", spike - delay - back) - p["theta_minus"], 0.0)
        weight = max(weight - size * depolarized, p["W_min"])
        trace, last = trace + 1.0 / p["tau_x"], spike
        weights.append(weight)
    return np.array(weights)
