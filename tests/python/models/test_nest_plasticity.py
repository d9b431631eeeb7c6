"""Weights that learn agree with NEST's, where NEST has the model; there the whole delay is dendritic."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from nest_pool import nest_pool, requires_nest
from plasticity_scenes import MODELS, in_nest, in_ranvier, irregular_scene
from thorough_cases import every

pytestmark = requires_nest

CASES = [(model, case) for model, cases in MODELS.items() for case in range(len(cases))]


@pytest.mark.parametrize(("model", "case"), every(2, CASES))
def test_weights_are_those_of_nest(model: str, case: int) -> None:
    """Also where spikes meet in the same step at the synapse, and at the bounds."""
    weight, parameters = MODELS[model][case]
    scene = irregular_scene(model, weight, parameters, seed=20 + case)
    if model in ("stdp_nn_symm", "stdp_nn_restr"):
        # NEST's synapses take time 0 for a first presynaptic spike. Here each source fires before any target does.
        pre = [sorted({25, *train}) for train in scene.pre]
        scene = replace(scene, pre=pre, post=[[step for step in train if step > 70] for train in scene.post])
    nest = nest_pool().submit(in_nest, scene).result()
    np.testing.assert_allclose(in_ranvier(scene, weight_precision="double"), nest, rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(in_ranvier(scene), nest, rtol=1e-5, atol=1e-5)
