"""Arrays of a wrong shape give a ShapeError, and leave everything as it was."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import ranvier as rv
from bad_input import check, neurons
from ranvier import errors


@pytest.mark.parametrize(
    "call",
    [
        lambda p: p.network.create("iaf_psc_exp", 3, tau_m=[1.0, 2.0]),
        lambda p: p.network.create("iaf_psc_exp", 3, tau_m=np.ones((3, 1))),
        lambda p: p.network.create("iaf_psc_exp", 3, V_m=[]),
        lambda p: p.network.connect(p, p, rv.OneToOne(), weight=np.ones(9)),
        lambda p: p.network.connect(p, p, rv.OneToOne(), delay=np.ones(11)),
        lambda p: p.network.connect(p, p, rv.OneToOne(), weight=np.ones((10, 10))),
        lambda p: p.network.connect(p, p, rv.AllToAll(), weight=np.ones((10, 9))),
        lambda p: p.network.connect(p, p, rv.PairwiseBernoulli(0.5), weight=np.ones(50)),
        lambda p: p.network.connect(p, p, rv.Explicit([0, 1], [1])),
        lambda p: p.network.connect(p, p, rv.Explicit([[0, 1]], [[1, 0]])),
        lambda p: p.network.stimulate(p, rv.poisson_generator(rate=[1.0, 2.0])),
        lambda p: p.network.stimulate(p, rv.poisson_generator(rate=1.0), weight=[1.0, 2.0]),
        lambda p: p.network.stimulate(p, rv.step_current_generator(times=1.0, amplitudes=1.0)),
        lambda p: p.network.record_state(p, []),
        lambda p: rv.Simulation(p.network).set(p, V_m=[1.0, 2.0]),
    ],
)
def test_wrong_shape(call: Callable[[rv.Population], object]) -> None:
    population = neurons()
    before = population.network.summary()
    with pytest.raises(errors.ShapeError) as caught:
        call(population)
    check(caught.value)
    assert population.network.summary() == before


def test_sequences_of_different_lengths() -> None:
    population = neurons()
    with pytest.raises(errors.RanvierError):
        population.network.stimulate(population, rv.step_current_generator(times=[1.0, 2.0], amplitudes=[1.0]))
    assert not population.network.stimuli
