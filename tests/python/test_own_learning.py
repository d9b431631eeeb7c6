"""Synapses that learn, each with parameters of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from nest_pool import nest_pool, requires_nest
from plasticity_scenes import MODELS, Scene, in_nest_with_own, in_ranvier, irregular_scene
from ranvier.errors import ValueOutOfBoundsError
from ranvier.models import SYNAPSE_MODELS

CASES = [
    (model, case)
    for model, cases in MODELS.items()
    for case in range(len(cases))
    if SYNAPSE_MODELS[model].per_synapse_names
]
KINDS = np.array([[(source + 2 * target) % 3 for source in range(4)] for target in range(4)])
"""Of the synapses from each source to each target: which of three sets of parameters they have."""


def scene_of(model: str, case: int, **others: float) -> tuple[Scene, list[dict[str, float]]]:
    """Return a scene, and three sets of parameters for it that differ where they may."""
    weight, parameters = MODELS[model][case]
    scene = irregular_scene(model, weight, {**parameters, **others}, seed=20 + case)
    if model in ("stdp_nn_symm", "stdp_nn_restr"):
        # NEST's synapses take time 0 for a first presynaptic spike. Here each source fires before any target does.
        pre = [sorted({25, *train}) for train in scene.pre]
        scene = replace(scene, pre=pre, post=[[step for step in train if step > 70] for train in scene.post])
    own = SYNAPSE_MODELS[model].per_synapse_names
    factors = [dict.fromkeys(own, factor) for factor in (1.0, 0.5, 1.3)]
    factors[2] = {name: 0.0 if name.startswith("mu_") else 1.3 for name in own}
    sets = [{name: value * each.get(name, 1.0) for name, value in scene.parameters.items()} for each in factors]
    return scene, sets


def own_values(model: str, sets: list[dict[str, float]]) -> dict[str, Any]:
    names = [name for name in SYNAPSE_MODELS[model].per_synapse_names if name in sets[0]]
    return {name: np.array([each[name] for each in sets])[KINDS] for name in names}


OPTIONS: list[dict[str, Any]] = [
    {},
    {"threads": 2, "tuning": rv.Tuning(instruction_set="baseline")},
    {"processes": rv.Processes(sort_connections=False)},
]


@pytest.mark.parametrize("fraction", [0.0, 0.5, 1.0])
@pytest.mark.parametrize(("model", "case"), CASES)
def test_each_synapse_learns_as_if_all_had_its_parameters(model: str, case: int, fraction: float) -> None:
    """Bit for bit in double precision; delays are long enough to be divided."""
    scene, sets = scene_of(model, case, axonal_fraction=fraction)
    scene = replace(scene, delays=[2, 15])
    shared = [in_ranvier(replace(scene, parameters=each), weight_precision="double") for each in sets]
    assert (shared[0] != shared[1]).any()
    expected = np.choose(KINDS.T[..., None], shared)
    scene = replace(scene, parameters={**scene.parameters, **own_values(model, sets)})
    for options in OPTIONS:
        found = in_ranvier(scene, weight_precision="double", **options)
        np.testing.assert_array_equal(found, expected, err_msg=str(options))


@requires_nest
@pytest.mark.parametrize(("model", "case"), CASES)
def test_weights_are_those_of_nest(model: str, case: int) -> None:
    scene, sets = scene_of(model, case)
    own = own_values(model, sets)
    nest = nest_pool().submit(in_nest_with_own, scene, own).result()
    scene = replace(scene, parameters={**scene.parameters, **own})
    np.testing.assert_allclose(in_ranvier(scene, weight_precision="double"), nest, rtol=1e-9, atol=1e-12)
    greatest = abs(MODELS[model][case][1]["W_max"])
    np.testing.assert_allclose(in_ranvier(scene), nest, rtol=1e-5, atol=1e-6 * greatest)


def test_rates_that_single_precision_would_lose_are_refused() -> None:
    for rate in ([0.01, 0.0, 1e-9, 0.01], rv.Uniform(1e-9, 0.01)):
        net = rv.Network()
        neurons = net.create("iaf_psc_exp", 4)
        net.connect(neurons, neurons, rv.OneToOne(), weight=5.0, synapse=rv.stdp(learning_rate=rate))
        with pytest.raises(ValueOutOfBoundsError, match="learning_rate"):
            rv.Simulation(net, progress=False)
        rv.Simulation(net, progress=False, weight_precision="double")


def test_learning_stays_as_it_was_given() -> None:
    net = rv.Network()
    neurons = net.create("iaf_psc_exp", 4)
    net.connect(neurons, neurons, rv.OneToOne(), weight=5.0, synapse=rv.stdp(alpha=[0.5, 1.0, 1.5, 2.0]))
    connections = rv.Simulation(net, progress=False).connections()
    np.testing.assert_array_equal(connections.get("alpha"), [0.5, 1.0, 1.5, 2.0])
    with pytest.raises(ValueOutOfBoundsError, match="stays as it was given"):
        connections.set(alpha=1.0)
