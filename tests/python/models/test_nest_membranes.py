"""The membrane of each neuron model agrees with NEST's at every step; `membranes` tells how the times correspond."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from membranes import Current, Experiment, FloatArray, Recording, Synapses, in_nest, in_ranvier
from nest_pool import nest_pool, requires_nest
from thorough_cases import one_of_each

pytestmark = requires_nest

MODELS = {
    "iaf_psc_exp": ("V_m", "I_syn_ex", "I_syn_in"),
    "iaf_psc_alpha": ("V_m", "I_syn_ex", "I_syn_in"),
    "iaf_psc_delta": ("V_m",),
}
RELATIVE_ERROR = 1e-9
NEURONS = 12
GENERATORS = 40
STEPS = 4000
RESOLUTION = 0.1  # ms, unless told otherwise
SINGLE_STEP = 2.0**-10  # mV or pA: single precision holds every multiple below 2**14 exactly


def heterogeneous_neurons(model: str, generator: np.random.Generator, resolution: float) -> list[dict[str, float]]:
    """Return neurons that differ in every parameter and start at different potentials."""
    neurons = []
    for i in range(NEURONS):
        resting = generator.uniform(-75.0, -60.0)
        neuron = {
            "E_L": resting,
            "C_m": generator.uniform(150.0, 350.0),
            "tau_m": generator.uniform(6.0, 20.0),
            "t_ref": resolution * (1 + 4 * i),
            "V_th": resting + generator.uniform(8.0, 16.0),
            "V_reset": resting - generator.uniform(-3.0, 5.0),
            "I_e": generator.uniform(0.0, 300.0),
            "V_m": resting + generator.uniform(-10.0, 8.0),
        }
        if model != "iaf_psc_delta":
            neuron["tau_syn_ex"] = generator.uniform(0.2, 3.0)
            neuron["tau_syn_in"] = generator.uniform(0.2, 6.0)
        neurons.append(neuron)
    return neurons


def dense_trains(generator: np.random.Generator, resolution: float) -> list[list[float]]:
    """Return trains with steps that several share, spikes in successive steps and, in the first, several at once."""
    trains = [np.sort(generator.choice(np.arange(1, STEPS), size=45, replace=False)) for _ in range(GENERATORS)]
    together = np.arange(100, STEPS, 250)
    trains[0] = np.sort(np.concatenate([together, together, together, trains[0]]))
    trains[1] = together
    trains[2] = together
    trains[3] = np.arange(500, 600)
    return [[resolution * float(step) for step in train] for train in trains]


def random_synapses(
    model: str, generator: np.random.Generator, resolution: float, *, exact_in_single: bool
) -> Synapses:
    """Return synapses of both signs with delays of 1 to 30 steps, several of them between some pairs."""
    count = NEURONS * 60
    strength = 1.5 if model == "iaf_psc_delta" else 120.0
    weights = generator.normal(1.2 * strength, 1.5 * strength, size=count)
    if exact_in_single:
        weights = np.rint(weights / SINGLE_STEP) * SINGLE_STEP
    return Synapses(
        sources=generator.integers(0, GENERATORS, size=count),
        targets=np.sort(generator.integers(0, NEURONS, size=count)),
        weights=weights,
        delays=generator.integers(1, 31, size=count).astype(np.float64) * resolution,
    )


def experiment_of(model: str, seed: int, *, exact_in_single: bool = True, resolution: float = RESOLUTION) -> Experiment:
    """Return neurons under dense random spikes."""
    generator = np.random.default_rng(seed)
    return Experiment(
        model=model,
        neurons=heterogeneous_neurons(model, generator, resolution),
        trains=dense_trains(generator, resolution),
        synapses=random_synapses(model, generator, resolution, exact_in_single=exact_in_single),
        duration=STEPS * resolution,
        variables=MODELS[model],
        resolution=resolution,
    )


def nest_recording(experiment: Experiment) -> Recording:
    return nest_pool().submit(in_nest, experiment).result()


def largest_relative_error(ours: FloatArray, theirs: FloatArray) -> float:
    """Return the largest error relative to the value itself, at its own time, in NEST."""
    error = np.abs(ours - theirs)
    return float(np.max(np.divide(error, np.abs(theirs), out=np.where(error > 0.0, np.inf, 0.0), where=theirs != 0.0)))


def assert_agreement(ours: Recording, theirs: Recording) -> None:
    """Check that spikes are the same, and that all variables agree at every step."""
    assert ours.spikes == theirs.spikes
    assert theirs.steps[0] == 1
    np.testing.assert_array_equal(np.diff(theirs.steps), 1)
    common = np.isin(ours.steps, theirs.steps)
    assert common.sum() == len(theirs.steps)
    for variable in theirs.samples:
        error = largest_relative_error(ours.samples[variable][common], theirs.samples[variable])
        assert error <= RELATIVE_ERROR, f"{variable}: {error}"


def assert_lively(recording: Recording, least_spikes: int, least_neurons: int = NEURONS) -> None:
    """Check that the comparison has met thresholds and refractoriness: neurons have fired, and often."""
    assert len({neuron for _, neuron in recording.spikes}) >= least_neurons
    assert len(recording.spikes) >= least_spikes


@pytest.mark.parametrize(("model", "seed"), one_of_each(MODELS, [1, 2]))
def test_spikes_of_both_signs(model: str, seed: int) -> None:
    experiment = experiment_of(model, seed)
    theirs = nest_recording(experiment)
    assert_lively(theirs, 150)
    assert_agreement(in_ranvier(experiment), theirs)


@pytest.mark.parametrize("model", MODELS)
def test_weights_that_only_double_precision_holds(model: str) -> None:
    experiment = experiment_of(model, 3, exact_in_single=False)
    theirs = nest_recording(experiment)
    assert_lively(theirs, 150)
    assert_agreement(in_ranvier(experiment, weight_precision="double"), theirs)


@pytest.mark.parametrize("model", ["iaf_psc_exp", "iaf_psc_alpha"])
def test_synaptic_time_constants_equal_to_that_of_the_membrane(model: str) -> None:
    experiment = experiment_of(model, 8)
    for i, neuron in enumerate(experiment.neurons):
        if i % 3 != 0:
            neuron["tau_syn_ex"] = neuron["tau_m"]
        if i % 3 != 1:
            neuron["tau_syn_in"] = neuron["tau_m"]
    theirs = nest_recording(experiment)
    assert_lively(theirs, 300, 10)
    assert_agreement(in_ranvier(experiment), theirs)


@pytest.mark.parametrize("model", ["iaf_psc_alpha", "iaf_psc_delta"])
def test_lower_limit_of_the_potential(model: str) -> None:
    experiment = experiment_of(model, 5)
    for neuron in experiment.neurons:
        neuron["V_min"] = neuron["E_L"] - 6.0
        neuron["V_reset"] = neuron["E_L"]
    theirs = nest_recording(experiment)
    limits = np.array([neuron["V_min"] for neuron in experiment.neurons])
    assert np.count_nonzero(np.isclose(theirs.samples["V_m"], limits, rtol=1e-15)) > 100
    assert_agreement(in_ranvier(experiment), theirs)


@pytest.mark.parametrize(("model", "resolution"), one_of_each(MODELS, [0.5, 0.02]))
def test_other_resolutions(model: str, resolution: float) -> None:
    experiment = experiment_of(model, 9, resolution=resolution)
    theirs = nest_recording(experiment)
    assert_lively(theirs, 100, 9)
    assert_agreement(in_ranvier(experiment), theirs)


@pytest.mark.parametrize("model", MODELS)
def test_awkward_parameters(model: str) -> None:
    experiment = experiment_of(model, 10)
    for i, neuron in enumerate(experiment.neurons):
        neuron["t_ref"] = (0.04, 0.1, 0.14, 0.16, 2.05, 3.999)[i % 6]  # between the points of the grid
        if i % 2 == 0:
            neuron["V_m"] = neuron["V_th"] + i  # fires in the first step, or before it comes to that
        if model != "iaf_psc_delta":
            neuron["tau_syn_ex"] = neuron["tau_m"] * (1.0 + 10.0 ** -(1.0 + i))  # ever nearer to a division by zero
            neuron["tau_syn_in"] = 0.01 * (1 + i)  # less than the resolution
    theirs = nest_recording(experiment)
    assert_lively(theirs, 300)
    assert_agreement(in_ranvier(experiment), theirs)


# NEST emits no current at time 0, Ranvier does: those that would start there start a step later.
CURRENTS: dict[str, dict[str, Any]] = {
    "constant": {"stimulator": "dc_generator", "parameters": {"amplitude": 420.0, "start": 0.1}},
    "constant for a while": {
        "stimulator": "dc_generator",
        "parameters": {"amplitude": 600.0, "start": 30.0, "stop": 280.0},
        "delay": 1.0,
    },
    "constant, weighted": {
        "stimulator": "dc_generator",
        "parameters": {"amplitude": -200.0, "start": 0.1},
        "weight": -2.5,
        "delay": 0.3,
    },
    "steps": {
        "stimulator": "step_current_generator",
        "parameters": {
            "times": [0.1, 20.0, 20.1, 150.0, 151.5, 300.0],
            "amplitudes": [300.0, -100.0, 700.0, -50.0, 900.0, 450.0],
        },
    },
    "steps for a while": {
        "stimulator": "step_current_generator",
        "parameters": {"times": [50.0, 100.0], "amplitudes": [500.0, 800.0], "start": 60.0, "stop": 320.0},
        "delay": 2.4,
    },
    "alternating": {
        "stimulator": "ac_generator",
        "parameters": {"amplitude": 500.0, "offset": 250.0, "frequency": 35.0, "phase": 50.0, "start": 0.1},
    },
    "alternating for a while": {
        "stimulator": "ac_generator",
        "parameters": {"amplitude": 900.0, "frequency": 7.0, "phase": -20.0, "start": 12.3, "stop": 345.6},
        "delay": 1.7,
    },
}


@pytest.mark.parametrize(("model", "current"), one_of_each(MODELS, CURRENTS))
def test_currents(model: str, current: str) -> None:
    experiment = experiment_of(model, 6)
    # Two neurons get nothing: a selection must not reach further.
    stimulus = Current(targets=slice(0, NEURONS - 2), **CURRENTS[current])
    experiment = replace(experiment, trains=[], currents=[stimulus])
    theirs = nest_recording(experiment)
    assert len(theirs.spikes) >= 50
    assert_agreement(in_ranvier(experiment), theirs)


@pytest.mark.parametrize("model", MODELS)
def test_spikes_and_several_currents_at_once(model: str) -> None:
    stimuli = [Current(targets=slice(0, NEURONS - i), **settings) for i, settings in enumerate(CURRENTS.values())]
    experiment = replace(experiment_of(model, 7), currents=stimuli)
    theirs = nest_recording(experiment)
    assert_lively(theirs, 500)
    assert_agreement(in_ranvier(experiment), theirs)
