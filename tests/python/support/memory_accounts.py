"""Runs whose account of memory is held against what was predicted."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from ranvier import _core
from ranvier.base.user_synapse import UserSynapse
from ranvier.network.rule_base import Rule
from ranvier.networks import NetworkModel
from ranvier.simulation.measurements import Bursts
from ranvier.simulation.options import grouped
from ranvier.simulation.predictions import predict_memory

TIME = 200.0  # ms


def run(
    ranks: int, model: NetworkModel, *, least_spikes: int = 1000, **options: Any
) -> tuple[dict[str, int], dict[str, int]]:
    """Return what one of so many processes takes, and what is predicted from the rate and the bursts that it had."""
    net, recorder = model.net, model.spikes
    communicator = _core.Communicator.local() if ranks == 1 else _core.Communicator.mirror(ranks)
    sim = rv.Simulation(net, recordings="local", progress=False, **grouped({**options, "communicator": communicator}))
    sim.run(TIME)
    taken = {name: size for name, size in sim.memory().items() if name not in ("recordings", "invention")}
    steps = sim.spikes(recorder).steps
    assert len(steps) > least_spikes
    bursts = Bursts.of(np.bincount(steps, minlength=sim.step + 1)[1:], sim.epoch_steps)
    rate = len(steps) / (net.neuron_count / ranks) / (TIME / 1000.0)
    predicted = predict_memory(net, ranks=ranks, rate=rate, bursts=bursts, time=TIME, **grouped(options))
    predicted.pop("construction")
    # Those of all processes; `test_too_little_memory` compares them.
    predicted.pop("recordings")
    return taken, predicted


def check(taken: dict[str, int], predicted: dict[str, int]) -> None:
    """Bound the deviation of the whole, and of what tables take."""
    assert set(taken) - set(predicted) <= {"exchange", "presynaptic"}
    whole = sum(taken.values())
    assert sum(predicted.values()) == pytest.approx(whole, rel=0.1), (predicted, taken)
    assert predicted["synapses"] == pytest.approx(taken["synapses"], rel=0.05, abs=0.01 * whole), (predicted, taken)


_DRAWN = ", drawn"
SYNAPSE_MODELS = [model.name for model in _core.synapse_models()]
SYNAPSE_MODELS += [
    model.name + _DRAWN for model in _core.synapse_models() if any(each.per_synapse for each in model.parameters)
]
"""All there are, and all whose synapses may differ: what a new one takes must be predicted, too."""


def network_with(
    synapse: Any,
    cells: int,
    *,
    delay: rv.Uniform | float = 1.5,
    rule: Rule | None = None,
    together: bool = False,
) -> NetworkModel:
    """Return a network that fires at random, or together at first, all of whose synapses are of one model."""
    net = rv.Network()
    begin = -65.0 if together else rv.Uniform(-65.0, -50.0)
    follows = synapse.name == "clopath"
    # Without what keeps it from firing fast.
    fast = rv.aeif_psc_delta_clopath(V_m=begin, b=0.0, V_th_max=-45.0)
    neurons = net.create(fast if follows else rv.iaf_psc_exp(V_m=begin), cells)
    drive = 0.5 if follows else 80.0
    net.stimulate(neurons, rv.poisson_generator(rate=9000.0), weight=drive)
    if synapse.transmitter_name:
        # Weights that grow would make the network fire more and more.
        synapse = type(synapse)(**{synapse.transmitter_name: neurons}, A_plus=0.0, A_minus=0.0)
    known: list[Any] = [synapse.core_model] if isinstance(synapse, UserSynapse) else _core.synapse_models()
    described = next(each for each in known if len(known) == 1 or each.name == synapse.name)
    weight = -0.1 if any(each.name == "W_max" and each.default < 0.0 for each in described.parameters) else 0.1
    net.connect(neurons, neurons, rule or rv.FixedIndegree(200), weight=weight, delay=delay, synapse=synapse)
    return NetworkModel(net=net, spikes=net.record_spikes(), time=TIME, source="")


def model_named(name: str) -> Any:
    """Return a synapse model of this name with the parameters that it has by default, shared or of each synapse."""
    model = getattr(rv, name.removesuffix(_DRAWN))()
    if not name.endswith(_DRAWN):
        return model
    defaults = inspect.signature(type(model)).parameters
    # Start values without a default follow another parameter.
    drawn = {name: defaults[name].default for name in model.per_synapse_names}
    return type(model)(**{name: rv.Normal(value, 0.0) for name, value in drawn.items() if value is not None})
