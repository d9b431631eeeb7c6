"""Parts of another network, and parts that are too new, give a StateError."""

from __future__ import annotations

import pytest

import ranvier as rv
from bad_input import neurons
from ranvier import errors


def test_objects_of_another_network() -> None:
    mine, other = neurons(), neurons()
    net = mine.network
    sim = rv.Simulation(net)
    other_projection = other.network.connect(other, other, rv.OneToOne())
    for call in (
        lambda: net.connect(mine, other, rv.OneToOne()),
        lambda: net.stimulate(other, rv.dc_generator(amplitude=1.0)),
        lambda: net.record_spikes(other),
        lambda: net.record_state(other, "V_m"),
        lambda: net.record_weights(other_projection, 1.0),
        lambda: sim.get(other, "V_m"),
        lambda: sim.connections(sources=other),
        lambda: sim.connections(projection=other_projection),
        lambda: sim.spikes(other.network.record_spikes()),
    ):
        with pytest.raises(errors.StateError, match="another network"):
            call()


def test_objects_made_after_the_simulation_was_built() -> None:
    population = neurons()
    net = population.network
    sim = rv.Simulation(net)
    late = net.create("iaf_psc_exp", 1)
    recorder = net.record_spikes()
    with pytest.raises(errors.StateError, match="after"):
        sim.get(late, "V_m")
    with pytest.raises(errors.StateError, match="after"):
        sim.spikes(recorder)
    with pytest.raises(errors.StateError, match="after"):
        sim.connections(projection=net.connect(population, population, rv.OneToOne()))
    with pytest.warns(errors.ChangedNetworkWarning):
        sim.run(1.0)
