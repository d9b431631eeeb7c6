"""What neurons do does not depend on how many there are: the last ones of a group are updated in smaller parts."""

from __future__ import annotations

import numpy as np
import pytest

import ranvier as rv
from thorough_cases import one_of_each

MOST = 150


def spikes_of(model: str, size: int, *, own: bool, driven: bool) -> list[list[float]]:
    """Return the trains of the first neurons of a group, which have currents of their own, or a stimulus has."""
    currents = np.linspace(380.0, 900.0, MOST)[:size]
    net = rv.Network()
    cells = net.create(model, size, I_e=currents if own else 500.0)
    if driven:
        for cell in range(size):
            net.stimulate(cells[cell : cell + 1], rv.dc_generator(amplitude=currents[cell] / 4.0))
    recorder = net.record_spikes(cells)
    sim = rv.Simulation(net, threads=1)
    sim.run(60.0)
    data = sim.spikes(recorder)
    return [data.times[data.ids == cell].tolist() for cell in range(size)]


@pytest.mark.parametrize(
    ("model", "own", "driven"),
    one_of_each(
        ["iaf_psc_exp", "iaf_psc_alpha", "iaf_psc_delta", "iaf_psc_exp_multisynapse"],
        [(False, False), (True, False), (False, True), (True, True)],
    ),
)
def test_neurons_fire_the_same_in_groups_of_any_size(model: str, own: bool, driven: bool) -> None:
    most = spikes_of(model, MOST, own=own, driven=driven)
    assert len({tuple(train) for train in most}) > 10 or not (own or driven)
    assert all(most)
    for size in (1, 15, 16, 17, 31, 63, 64, 65, 80, 127, 129):
        assert spikes_of(model, size, own=own, driven=driven) == most[:size], size
