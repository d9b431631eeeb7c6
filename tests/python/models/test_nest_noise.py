"""Random stimulators act on a membrane as NEST's do: the same distributions, in the same steps.

Design: many unconnected neurons without a threshold get independent trains or noise. Their potentials, and the changes
of these in one step, are compared at a few times by the two-sample Kolmogorov-Smirnov test, for which the neurons are
independent samples. The p-values of one comparison are corrected after Bonferroni, so that the chance that a right
stimulator fails is at most `SIGNIFICANCE`; seeds are fixed, so that it fails always or never. What the tests can see is
tested too: a rate that is 10 % off, a standard deviation that is 25 % off and a value that is held for half as long
again are found. Where a stimulus begins and ends is compared exactly.

Spikes of Poisson generators are emitted in start < t <= stop, as the documentation of both says. NEST does this shifted
by one step: spikes of `poisson_generator` come one step later and rates of `inhomogeneous_poisson_generator` change one
step earlier. The comparison allows for that.
"""

from typing import Any

import numpy as np
import pytest
from scipy import stats

from membranes import Current, Experiment, FloatArray, Recording, Synapses, in_nest, in_ranvier
from nest_pool import nest_pool, requires_nest
from thorough_cases import only

pytestmark = requires_nest

SIGNIFICANCE = 0.001
NEURONS = 2000
DURATION = 60.0  # ms
STEPS_COMPARED = (160, 250, 255, 340, 480, 570)

NO_SYNAPSES = Synapses(*(np.empty(0, dtype=np.int64),) * 2, *(np.empty(0),) * 2)
STIMULI: dict[str, dict[str, Any]] = {
    "Poisson": {"stimulator": "poisson_generator", "parameters": {"rate": 5000.0}, "weight": 0.5, "delay": 1.5},
    "few Poisson": {"stimulator": "poisson_generator", "parameters": {"rate": 200.0}, "weight": 3.0},
    "very many Poisson": {"stimulator": "poisson_generator", "parameters": {"rate": 2e6}, "weight": -0.01},
    "Poisson for a while": {
        "stimulator": "poisson_generator",
        "parameters": {"rate": 30000.0, "start": 5.0, "stop": 30.0},
        "delay": 0.7,
    },
    "Poisson of changing rate": {
        "stimulator": "inhomogeneous_poisson_generator",
        "parameters": {"times": [3.0, 20.0, 33.3, 50.0], "rates": [40000.0, 4000.0, 20000.0, 0.0]},
        "delay": 0.4,
    },
    "noise": {
        "stimulator": "noise_generator",
        "parameters": {"mean": 50.0, "std": 200.0, "interval": 1.0, "start": 0.1},
    },
    "noise of every step": {
        "stimulator": "noise_generator",
        "parameters": {"mean": -20.0, "std": 500.0, "interval": 0.1, "start": 0.1},
        "delay": 0.5,
    },
    "noise for a while": {
        "stimulator": "noise_generator",
        "parameters": {"std": 300.0, "interval": 0.7, "start": 4.2, "stop": 45.0},
        "weight": 0.8,
        "delay": 2.0,
    },
    "modulated noise": {
        "stimulator": "noise_generator",
        "parameters": {"std": 300.0, "std_mod": 280.0, "frequency": 40.0, "phase": 25.0, "interval": 0.3, "start": 0.1},
    },
}


NEST_IS_LATE = {"poisson_generator": 1, "inhomogeneous_poisson_generator": -1, "noise_generator": 0}  # steps


def experiment_of(settings: dict[str, Any]) -> Experiment:
    neuron = {"E_L": 0.0, "V_m": 0.0, "V_reset": 0.0, "V_th": 1e6, "C_m": 200.0, "tau_m": 8.0, "t_ref": 2.0}
    return Experiment(
        model="iaf_psc_delta",
        neurons=[neuron] * NEURONS,
        trains=[],
        synapses=NO_SYNAPSES,
        duration=DURATION,
        variables=("V_m",),
        currents=[Current(targets=slice(0, NEURONS), **settings)],
    )


def smallest_p_value(ours: Recording, theirs: Recording, late: int) -> float:
    """Return the smallest p-value over all that is compared, corrected for how many there are."""
    p_values = []
    for step in STEPS_COMPARED:
        now, then = potentials(ours, step), potentials(theirs, step + late)
        p_values.append(stats.ks_2samp(now, then).pvalue)
        now, then = now - potentials(ours, step - 1), then - potentials(theirs, step + late - 1)
        p_values.append(stats.ks_2samp(now, then).pvalue)
    return min(1.0, float(min(p_values)) * len(p_values))


def potentials(recording: Recording, step: int) -> FloatArray:
    """Return the potentials of all neurons after a step."""
    assert recording.steps[step - 1] == step
    result: FloatArray = recording.samples["V_m"][step - 1]
    return result


def active_steps(recording: Recording, last: int) -> tuple[int, int]:
    """Return the first and the last step, up to `last`, in which something but the decay changed a potential."""
    samples = recording.samples["V_m"][:last]
    before = np.vstack([np.zeros(NEURONS), samples[:-1]])
    changed = np.any(np.abs(samples - before * np.exp(-0.1 / 8.0)) > 1e-9, axis=1)
    steps = recording.steps[:last][changed]
    return int(steps[0]), int(steps[-1])


# The others are as slow, and go through the same code.
QUICK = ("noise",)


@pytest.mark.parametrize("name", only(QUICK, STIMULI))
def test_distribution_of_potentials(name: str) -> None:
    experiment = experiment_of(STIMULI[name])
    future = nest_pool().submit(in_nest, experiment)
    ours = in_ranvier(experiment)
    theirs = future.result()
    late = NEST_IS_LATE[STIMULI[name]["stimulator"]]
    last = 575  # NEST's recording ends some delays before the run does
    first_step, last_step = active_steps(ours, last)
    assert active_steps(theirs, last + late) == (first_step + late, last_step + late)
    assert smallest_p_value(ours, theirs, late) > SIGNIFICANCE


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("name", "parameter", "factor"),
    [
        ("Poisson", "rate", 1.1),
        ("noise", "std", 1.25),
        ("noise of every step", "std", 1.25),
        ("noise", "interval", 1.5),
    ],
)
def test_that_a_wrong_stimulus_is_found(name: str, parameter: str, factor: float) -> None:
    right = STIMULI[name]
    parameters = {**right["parameters"], parameter: right["parameters"][parameter] * factor}
    theirs = nest_pool().submit(in_nest, experiment_of(right))
    ours = in_ranvier(experiment_of({**right, "parameters": parameters}))
    assert smallest_p_value(ours, theirs.result(), NEST_IS_LATE[right["stimulator"]]) < SIGNIFICANCE
