"""Neurons with moving thresholds, and those that fire at random, against NEST's of the same names.

NEST takes currents that spikes trigger, and synaptic currents of `gif_psc_exp`, as constant during a step, while they
are exact here. So a comparison is as close as steps are short.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy import stats

import ranvier as rv
from library_scenes import DRIVES
from membranes import Current, Experiment, Recording, Synapses, in_nest, in_ranvier
from nest_pool import nest_pool, requires_nest

pytestmark = requires_nest

IntArray = npt.NDArray[np.int64]
SIGNIFICANCE = 1e-4
KERNELS = {"tau_stc": [5.0, 100.0], "q_stc": [3.0, 20.0], "tau_sfa": [10.0, 80.0], "q_sfa": [10.0, 5.0]}


def synapses(weight: float, neurons: int, generator: np.random.Generator, receptors: IntArray | None) -> Synapses:
    count = 10 * neurons
    return Synapses(
        sources=generator.integers(0, 20, size=count),
        targets=np.sort(generator.integers(0, neurons, size=count)),
        weights=np.rint(generator.normal(0.3, 1.0, size=count) * weight * 64.0) / 64.0,
        delays=generator.integers(1, 30, size=count).astype(np.float64) * 0.1,
        receptors=receptors,
    )


def both(own: Experiment, name: str, neurons: list[dict[str, Any]], **names: str) -> tuple[Recording, Recording]:
    """Run an experiment here, and in NEST with other values of neurons; `names` are what it calls variables."""
    variables = tuple(names.get(each, each) for each in own.variables)
    waiting = nest_pool().submit(in_nest, replace(own, model=name, neurons=neurons, variables=variables))
    made = in_ranvier(own)
    return made, waiting.result()


def trains(generator: np.random.Generator, duration: float) -> list[list[float]]:
    return [np.unique(np.round(generator.uniform(1.0, duration, 20), 1)).tolist() for _ in range(20)]


def lateness(here: Recording, there: Recording) -> IntArray:
    """Return by how many steps each spike of NEST is later; neurons have the same numbers of them."""
    one, other = (np.array(sorted(each.spikes, key=lambda spike: spike[::-1])) for each in (here, there))
    assert np.array_equal(one[:, 1], other[:, 1])
    late: IntArray = other[:, 0] - one[:, 0]
    return late


LEVELS = {
    "LIF": (False, False, False),
    "LIF-R": (True, False, False),
    "LIF-ASC": (False, True, False),
    "LIF-R-ASC": (True, True, False),
    "LIF-R-ASC-A": (True, True, True),
}


def driven_levels(
    name: str, level: str, weight: float, **scale: float
) -> tuple[dict[str, bool], Experiment, dict[str, Any]]:
    """Return the switches of a level, an experiment with six neurons of it, and the values that NEST gives to each."""
    spike_dependent, currents, adapting = LEVELS[level]
    switches = {
        "spike_dependent_threshold": spike_dependent,
        "after_spike_currents": currents,
        "adapting_threshold": adapting,
    }
    generator = np.random.default_rng(3)
    amplitudes = np.linspace(200.0, 500.0, 6)
    inputs = synapses(weight, 6, generator, generator.integers(1, 3, size=60))
    if name == "glif_cond":
        # NEST's conductances take no negative weights.
        inputs = replace(inputs, weights=np.abs(inputs.weights))
    times = {"tau_syn_1": 2.0, "tau_syn_2": 0.7}
    experiment = Experiment(
        model=getattr(rv, name)(receptors=2),
        neurons=[{**switches, **times}] * 6,
        trains=trains(generator, scale["duration"]),
        synapses=inputs,
        variables=("V_m", "threshold"),
        currents=[
            # NEST emits no current at time 0.
            Current("dc_generator", {"amplitude": float(each), "start": 0.1}, slice(i, i + 1))
            for i, each in enumerate(amplitudes)
        ],
        **scale,
    )
    return switches, experiment, {**switches, "tau_syn": list(times.values())}


@pytest.mark.parametrize(
    ("name", "level"), [*(("glif_psc", level) for level in LEVELS), ("glif_cond", "LIF"), ("glif_cond", "LIF-R")]
)
def test_the_levels_of_glif_do_what_nest_does(name: str, level: str) -> None:
    switches, experiment, values = driven_levels(name, level, 20.0 if name == "glif_psc" else 2.0, duration=100.0)
    here, there = both(experiment, name, [values] * 6)
    assert len(there.spikes) > 10
    # With a threshold that follows the potential, NEST's rounding to the mean of a step moves a spike now and then.
    adapting = switches["adapting_threshold"]
    assert np.abs(lateness(here, there)).max() <= int(adapting)
    if not adapting:
        refractory = np.zeros(there.samples["V_m"].shape, dtype=bool)
        for step, neuron in there.spikes:
            # NEST records thresholds of then only when they go on.
            refractory[step - 1 : step + 38, neuron] = True
        # With conductances both methods have errors, of 1e-6 a step.
        is_close = name == "glif_psc" and not switches["after_spike_currents"]
        for variable, bound in {"V_m": 1e-9 if is_close else 1e-3, "threshold": 1e-9}.items():
            difference = np.abs(here.samples[variable][: len(refractory)] - there.samples[variable])
            assert difference[~refractory].max() <= bound, variable
        assert np.ptp(there.samples["V_m"]) > 10.0
        assert (np.ptp(there.samples["threshold"]) > 1.0) == switches["spike_dependent_threshold"]


@pytest.mark.parametrize("level", ["LIF-ASC", "LIF-R-ASC", "LIF-R-ASC-A"])
def test_currents_that_spikes_trigger_in_glif_cond_do_what_nest_does(level: str) -> None:
    """NEST's are constant in a step: a difference of 0.3 mV with steps of 0.1 ms, of 0.03 with those of 0.01 ms."""
    _, experiment, values = driven_levels("glif_cond", level, 2.0, duration=40.0, resolution=0.01)
    here, there = both(experiment, "glif_cond", [values] * 6)
    assert len(there.spikes) > 10
    assert np.abs(lateness(here, there)).max() <= 3
    for neuron in range(6):
        first, second = [step for step, fired in there.spikes if fired == neuron][:2]
        between = slice(first + 376, second - 3)
        difference = here.samples["V_m"][between, neuron] - there.samples["V_m"][between, neuron]
        assert np.abs(difference).max() < 0.05
        assert np.ptp(there.samples["V_m"][between, neuron]) > 1.0


@pytest.mark.parametrize(
    "name", ["gif_cond_exp", "gif_cond_exp_multisynapse", "gif_psc_exp", "gif_psc_exp_multisynapse"]
)
def test_gif_neurons_that_hardly_fire_at_random_do_what_nest_does(name: str) -> None:
    drive = DRIVES[name]
    generator = np.random.default_rng(5)
    numbers = drive.copies.get("receptors", 0)
    driven = synapses(drive.weight, 8, generator, generator.integers(1, numbers + 1, size=80) if numbers else None)
    if numbers and "cond" in name:
        # Conductances of NEST's receptors with numbers take no negative weights.
        driven = replace(driven, weights=np.abs(driven.weights))
    sharp = {"Delta_V": 1e-4}
    neurons: list[dict[str, Any]] = [{"I_e": float(each), **sharp} for each in np.linspace(*drive.currents, 8)]
    experiment = Experiment(
        model=getattr(rv, name)(**drive.copies)(**drive.values),
        neurons=neurons,
        trains=trains(generator, 40.0),
        synapses=driven,
        duration=40.0,
        variables=("V_m", "E_sfa", "I_stc"),
        resolution=0.01,
    )
    of_receptors: dict[str, list[float]] = {}
    for base in ("tau_syn", "E_rev") if numbers else ():
        of_each = [drive.values[key] for key in (f"{base}_1", f"{base}_2") if key in drive.values]
        of_receptors |= {base: of_each} if of_each else {}
    here, there = both(experiment, name, [{**each, **KERNELS, **of_receptors} for each in neurons])
    assert len(there.spikes) >= 10
    # The threshold is passed by a step of 0.01 ms of NEST now and then.
    assert np.abs(lateness(here, there)).max() <= 3
    first = min(step for step, _ in [*here.spikes, *there.spikes])
    difference = np.abs(here.samples["V_m"][: first - 1] - there.samples["V_m"][: first - 1])
    assert difference.max() < 0.1
    for variable, bound in {"E_sfa": 0.1, "I_stc": 0.1}.items():
        # Where spikes have the same time, up to rounding, the same follows.
        difference = np.abs(here.samples[variable][: len(there.samples[variable])] - there.samples[variable])
        assert np.ptp(there.samples[variable]) > 10.0
        assert np.median(difference) < bound, variable


@pytest.mark.parametrize("with_reset", [True, False])
def test_pp_psc_delta_that_does_not_fire_at_random_does_what_nest_does(with_reset: bool) -> None:
    """It fires for certain as soon as the potential is above the threshold."""
    generator = np.random.default_rng(6)
    shared = {"c_1": 1e9, "c_2": 0.0, "dead_time": 2.0, "with_reset": with_reset}
    neurons: list[dict[str, Any]] = [{"I_e": float(each), **shared} for each in np.linspace(-100.0, 200.0, 8)]
    drive = DRIVES["pp_psc_delta"]
    experiment = Experiment(
        model=rv.pp_psc_delta(**drive.copies)(**drive.values),
        neurons=neurons,
        trains=trains(generator, 100.0),
        synapses=synapses(2.0, 8, generator, None),
        duration=100.0,
        variables=("V_m", "E_sfa"),
    )
    kernels = {"tau_sfa": [20.0, 50.0], "q_sfa": [1.5, 0.5]}
    here, there = both(experiment, "pp_psc_delta", [{**each, **kernels} for each in neurons])
    assert here.spikes == there.spikes
    assert len(there.spikes) > 30
    difference = {name: np.abs(here.samples[name][: len(each)] - each) for name, each in there.samples.items()}
    assert difference["V_m"].max() < 1e-9
    # In the step of a spike NEST records the threshold before it.
    for step, neuron in there.spikes:
        difference["E_sfa"][min(step, len(difference["E_sfa"])) - 1, neuron] = 0.0
    assert difference["E_sfa"].max() < 1e-9


def spikes_at_random(
    name: str, values: dict[str, Any], copies: dict[str, int], count: int, duration: float
) -> IntArray:
    net = rv.Network(seed=17)
    cells = net.create(getattr(rv, name)(**copies, **values), count)
    recorder = net.record_spikes(cells)
    sim = rv.Simulation(net, progress=False)
    sim.run(duration)
    data = sim.spikes(recorder)
    return np.stack([data.steps, data.ids - cells.first_id])


def spikes_at_random_in_nest(name: str, values: dict[str, Any], count: int, duration: float) -> IntArray:
    from nest_pool import fresh_nest

    nest = fresh_nest(seed=23)
    cells = nest.Create(name, count, params=values)
    recorder = nest.Create("spike_recorder", params={"time_in_steps": True})
    nest.Connect(cells, recorder)
    nest.Simulate(duration)
    events = recorder.get("events")
    return np.stack([events["times"], events["senders"] - cells[0].global_id])


RANDOM: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {
    "gif_psc_exp": ({"I_e": 220.0, "Delta_V": 2.0}, KERNELS),
    "gif_cond_exp": ({"I_e": 220.0, "Delta_V": 2.0}, KERNELS),
    "pp_psc_delta": ({"I_e": 300.0, "dead_time": 2.0}, {"tau_sfa": [20.0, 50.0], "q_sfa": [1.5, 0.5]}),
}


@pytest.mark.thorough
@pytest.mark.parametrize("name", RANDOM)
def test_neurons_fire_as_often_and_as_regularly_as_in_nest(name: str) -> None:
    """Intervals and counts of spikes come from the same distributions, at a significance of 1e-4 for each test."""
    values, kernels = RANDOM[name]
    count, duration = 300, 300.0
    numbered = {f"{key}_{i + 1}": each for key, list_ in kernels.items() for i, each in enumerate(list_)}
    waiting = nest_pool().submit(spikes_at_random_in_nest, name, {**values, **kernels}, count, duration)
    here = spikes_at_random(name, {**values, **numbered}, DRIVES[name].copies, count, duration)
    there = waiting.result()
    counts, intervals = [], []
    for steps, ids in (here, there):
        order = np.lexsort((steps, ids))
        same = np.diff(ids[order]) == 0
        intervals.append(np.diff(steps[order])[same])
        counts.append(np.bincount(ids, minlength=count))
    assert min(len(each) for each in intervals) > 500
    assert stats.mannwhitneyu(*intervals).pvalue > SIGNIFICANCE
    # Intervals are whole steps, with ties: the test is conservative.
    assert stats.ks_2samp(*intervals).pvalue > SIGNIFICANCE
    assert stats.ttest_ind(*counts, equal_var=False).pvalue > SIGNIFICANCE
