"""Neurons under given spikes and currents, without a network among them, in Ranvier and in NEST.

How the time axes correspond: with step h, both know a neuron's state only at the times n h. NEST's multimeter labels
the state after the update that ends at n h with the time n h; `Network.record_state` labels it with step n. So the
samples are compared where these are equal, and nothing is shifted. The multimeter of a run to time T holds the samples
of h to T less the shortest delay. A spike that is found in that update has the time n h in NEST and the step n here. A
spike that is sent at time t with delay d is part of the state at t + d, as an increment of a synaptic current or, for
`iaf_psc_delta`, of the potential. A current that a stimulator emits from time t on, with delay d, flows from t + d on:
the first state that it changes is that of t + d + h.
"""

from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
import numpy.typing as npt

import ranvier as rv
from nest_pool import fresh_nest

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

# What NEST calls otherwise.
_NEST_NAMES = {
    "step_current_generator": {"times": "amplitude_times", "amplitudes": "amplitude_values"},
    "inhomogeneous_poisson_generator": {"times": "rate_times", "rates": "rate_values"},
    "noise_generator": {"interval": "dt"},
}


@dataclass(frozen=True)
class Synapses:
    """Connections of spike generators with neurons; one array element each. Unused where there are no generators."""

    sources: IntArray
    targets: IntArray
    weights: FloatArray
    delays: FloatArray  # ms
    receptors: IntArray | None = None  # from 1, for models in which they have numbers


@dataclass(frozen=True)
class Current:
    """A stimulator that acts on some neurons."""

    stimulator: str
    parameters: dict[str, Any]
    targets: slice
    weight: float = 1.0
    delay: float = 0.1  # ms


@dataclass(frozen=True)
class Experiment:
    """What both simulators are given."""

    model: str | rv.EquationNeuron
    neurons: list[dict[str, float]]  # parameters and initial values
    trains: list[list[float]]  # times of the spikes of each generator, ms
    synapses: Synapses
    duration: float  # ms
    variables: tuple[str, ...]
    currents: list[Current] = field(default_factory=list)
    resolution: float = 0.1  # ms


@dataclass(frozen=True)
class Recording:
    """What came out: samples, shape (steps, neurons) for each variable, and spikes as (step, neuron)."""

    steps: IntArray
    samples: dict[str, FloatArray]
    spikes: list[tuple[int, int]]


def in_ranvier(
    experiment: Experiment,
    *,
    weight_precision: Literal["single", "double"] = "single",
) -> Recording:
    """Run the experiment in Ranvier."""
    net = rv.Network(resolution=experiment.resolution)
    names = experiment.neurons[0].keys()
    values: dict[str, Any] = {name: np.array([neuron[name] for neuron in experiment.neurons]) for name in names}
    neurons = net.create(experiment.model, len(experiment.neurons), name="neurons", **values)
    synapses = experiment.synapses
    if experiment.trains:
        generators = net.create_spike_generators(experiment.trains, name="generators")
        for receptor, those in _by_receptor(synapses):
            rule = rv.Explicit(synapses.sources[those], synapses.targets[those])
            weights, delays = synapses.weights[those], synapses.delays[those]
            name = f"receptor_{receptor}" if receptor else None
            net.connect(generators, neurons, rule, weight=weights, delay=delays, receptor=name)
    for current in experiment.currents:
        net.stimulate(
            neurons[current.targets],
            current.stimulator,
            weight=current.weight,
            delay=current.delay,
            **current.parameters,
        )
    recorder = net.record_state(neurons, experiment.variables, experiment.resolution)
    spike_recorder = net.record_spikes(neurons)
    simulation = rv.Simulation(net, weight_precision=weight_precision)
    if experiment.trains and weight_precision == "single":
        # Else the two would not have had the same weights.
        stored = simulation.connections()
        np.testing.assert_array_equal(np.sort(stored.weights), np.sort(synapses.weights))
    simulation.run(experiment.duration)
    membranes = simulation.state(recorder)
    spikes = simulation.spikes(spike_recorder)
    return Recording(
        steps=membranes.steps,
        samples={variable: membranes[variable] for variable in experiment.variables},
        spikes=sorted(zip(spikes.steps.tolist(), (spikes.ids - neurons.first_id).tolist(), strict=True)),
    )


def in_nest(experiment: Experiment) -> Recording:
    """Run the experiment in NEST; to be called in a process of the pool."""
    nest = fresh_nest(resolution=experiment.resolution)
    neurons = nest.Create(experiment.model, len(experiment.neurons), params=experiment.neurons)
    if experiment.trains:
        _connect_trains(nest, experiment, neurons)
    for current in experiment.currents:
        names = _NEST_NAMES.get(current.stimulator, {})
        parameters = {names.get(name, name): value for name, value in current.parameters.items()}
        generator = nest.Create(current.stimulator, params=parameters)
        synapse = {"weight": current.weight, "delay": current.delay}
        nest.Connect(generator, neurons[current.targets], "all_to_all", synapse)
    multimeter = nest.Create(
        "multimeter", params={"interval": experiment.resolution, "record_from": list(experiment.variables)}
    )
    nest.Connect(multimeter, neurons)
    recorder = nest.Create("spike_recorder", params={"time_in_steps": True})
    nest.Connect(neurons, recorder)
    nest.Simulate(experiment.duration)

    first = neurons[0].global_id
    samples = multimeter.get("events")
    order = np.lexsort((samples["senders"], samples["times"]))
    shape = (-1, len(experiment.neurons))
    steps = np.rint(samples["times"][order].reshape(shape)[:, 0] / experiment.resolution).astype(np.int64)
    spikes = recorder.get("events")
    return Recording(
        steps=steps,
        samples={variable: samples[variable][order].reshape(shape) for variable in experiment.variables},
        spikes=sorted(zip(spikes["times"].tolist(), (spikes["senders"] - first).tolist(), strict=True)),
    )


def _connect_trains(nest: Any, experiment: Experiment, neurons: Any) -> None:
    trains = []
    for train in experiment.trains:
        times, counts = np.unique(train, return_counts=True)
        trains.append({"spike_times": times, "spike_multiplicities": counts.astype(np.int64)})
    generators = nest.Create("spike_generator", len(trains), params=trains)
    synapses = experiment.synapses
    for receptor, those in _by_receptor(synapses):
        nest.Connect(
            generators[0].global_id + synapses.sources[those],
            neurons[0].global_id + synapses.targets[those],
            "one_to_one",
            {
                "weight": synapses.weights[those],
                "delay": synapses.delays[those],
                "receptor_type": receptor,
                "synapse_model": "static_synapse",
            },
        )


def _by_receptor(synapses: Synapses) -> list[tuple[int, npt.NDArray[np.bool_]]]:
    """Return each receptor, 0 if they have no numbers, with the truth of each synapse that it reaches it."""
    if synapses.receptors is None:
        return [(0, np.ones(len(synapses.sources), dtype=bool))]
    return [(receptor, synapses.receptors == receptor) for receptor in np.unique(synapses.receptors).tolist()]


def defaults_in_nest(model: str) -> dict[str, Any]:
    """Return the defaults that NEST has for the parameters of a model. Run in a process of its own."""
    import nest

    kinds = (float, bool, np.ndarray)
    return {name: value for name, value in nest.GetDefaults(model).items() if isinstance(value, kinds)}
