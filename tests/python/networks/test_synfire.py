"""The synfire chain: packets that are large and short enough survive, others die out.

Packets of 45 to 55 spikes with a spread of 1 ms do either, from seed to seed; those of the tests are far on one side.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from ranvier.figures.packets import packet_of
from ranvier.networks import NetworkModel, synfire
from thorough_cases import one_of_each


def spikes_of(model: NetworkModel) -> rv.SpikeData:
    sim = rv.Simulation(model.net, progress=False)
    sim.run(model.presim + model.time)
    return sim.spikes(model.spikes).between(model.presim)


def packets_of(**keys: Any) -> list[tuple[int, float]]:
    """Return the size and the spread of the packet in each group."""
    model = synfire(**keys)
    assert model.figure is not None
    spikes = spikes_of(model)
    begins = model.figure.begins(len(spikes.segments))  # type: ignore[attr-defined]
    return [packet_of(spikes, each.name, begin) for each, begin in zip(spikes.segments, begins, strict=True)]


@pytest.mark.parametrize(("activity", "sdev", "seed"), one_of_each([(85, 1.0), (70, 0.0), (110, 3.0)], [1, 2, 3]))
def test_a_large_packet_survives(activity: int, sdev: float, seed: int) -> None:
    packets = packets_of(activity=activity, sdev=sdev, seed=seed)
    for size, spread in packets[-3:]:
        # All 100 neurons, and some that fire by chance within 10 ms.
        assert 97 <= size < 115
        assert spread < 0.5
    assert packets[0][1] > packets[-1][1], "it becomes shorter"


@pytest.mark.parametrize(("activity", "sdev", "seed"), one_of_each([(25, 1.0), (45, 4.0)], [1, 2, 3]))
def test_a_small_or_a_long_packet_dies_out(activity: int, sdev: float, seed: int) -> None:
    for size, spread in packets_of(activity=activity, sdev=sdev, seed=seed)[-3:]:
        assert size < 25, "what fires by chance"
        assert spread > 1.0


def test_a_chain_without_a_packet_fires_at_random() -> None:
    rates = spikes_of(synfire(activity=0)).mean_rates()
    # 130 ms of 1,000 neurons: 260 to 650 spikes.
    assert 2.0 < np.mean(list(rates.values())) < 5.0
    assert max(rates.values()) < 10.0


def test_packets_travel_with_the_delay() -> None:
    for delay in (3.0, 8.0):
        model = synfire(activity=100, delay=delay)
        spikes = spikes_of(model)
        medians = []
        for i, segment in enumerate(spikes.segments):
            times = spikes.times[segment.holds(spikes.ids)]
            middle = 120.0 + (i + 1) * (delay + 0.7)
            medians.append(np.median(times[np.abs(times - middle) < 4.0]))
        assert np.diff(medians) == pytest.approx(delay + 0.6, abs=0.4)


def test_background_of_the_paper() -> None:
    """The free potential has the mean and the standard deviation that follow from the shape of the potentials."""
    model = synfire(groups=1, activity=0, group_size=400)
    recorder = model.net.record_state(model.net["group 1"], "V_m", interval=10.0)
    model.net.set(model.net["group 1"], V_th=100.0)
    sim = rv.Simulation(model.net, progress=False)
    sim.run(200.0)
    potentials = sim.state(recorder)["V_m"][5:].ravel()
    # Fifteen samples of 400 neurons, of which those in 20 ms are about independent: five standard errors.
    assert potentials.mean() == pytest.approx(-61.6, abs=5 * 2.9 / math.sqrt(400 * 7))
    assert potentials.std() == pytest.approx(2.9, abs=5 * 2.9 / math.sqrt(2 * 400 * 7))


def test_connections() -> None:
    net = synfire(groups=3, group_size=20).net
    assert [(each.sources.population.name, each.targets.population.name) for each in net.projections] == [
        ("packet", "group 1"),
        ("group 1", "group 2"),
        ("group 2", "group 3"),
    ]
    assert net.expected_synapses == 20 + 2 * 20 * 20
    # That of the potential of 0.14 mV in NEST's network of the same neurons.
    assert net.projections[1].weight == pytest.approx(45.6, abs=0.1)
    assert [each.values["rate"] for each in net.stimuli] == [35_200.0, 30_000.0] * 3


def test_packet_of() -> None:
    times = [1.0, 2.0, 30.0, 30.2, 30.4, 30.6, 55.0]
    net = rv.Network()
    players = net.create_spike_generators([times[:3], times[3:]], name="played")
    relays = net.create("parrot_neuron", 2, name="relays")
    net.connect(players, relays, "one_to_one", weight=1.0, delay=0.1)
    recorder = net.record_spikes(relays)
    sim = rv.Simulation(net, progress=False)
    sim.run(70.0)
    spikes = sim.spikes(recorder)
    assert packet_of(spikes, "relays", 0.0) == pytest.approx((4, 0.3 / 1.349))
    assert packet_of(spikes, "relays", 40.0) == (1, 0.0)
    assert packet_of(spikes, "relays", 60.0) == (0, 0.0)


def test_figure() -> None:
    model = synfire(groups=3)
    assert model.figure is not None
    figure = model.figure(spikes_of(model), "Chain")
    left, right = figure.axes
    assert [label.get_text() for label in left.get_yticklabels()] == ["group 1", "group 2", "group 3"]
    assert len(right.lines[0].get_xdata()) == 4, "the input and three groups"  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("key", "value", "error"),
    [
        ("groups", 0, rv.errors.ValueOutOfBoundsError),
        ("group_size", 0, rv.errors.ValueOutOfBoundsError),
        ("activity", 10.5, rv.errors.WrongTypeError),
        ("activity", -1, rv.errors.ValueOutOfBoundsError),
        ("sdev", -1.0, rv.errors.ValueOutOfBoundsError),
        ("sdev", math.nan, rv.errors.ValueOutOfBoundsError),
        ("delay", "long", rv.errors.WrongTypeError),
        ("delay", 0.0, rv.errors.DelayError),
    ],
)
def test_bad_values_are_refused(key: str, value: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=key):
        synfire(**{key: value})
