"""The networks of Vogels and Abbott (2005): benchmarks of Brette et al. (2007).

`test_nest_networks` compares their activity with that in NEST.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest

import ranvier as rv
from ranvier.networks import NetworkModel, coba, cuba

NETWORKS: dict[str, Callable[..., NetworkModel]] = {"cuba": cuba, "coba": coba}


def spikes_of(model: NetworkModel, time: float, threads: int = 1) -> rv.SpikeData:
    sim = rv.Simulation(model.net, threads=threads, progress=False)
    sim.run(time)
    return sim.spikes(model.spikes)


@pytest.mark.parametrize("network", NETWORKS)
def test_sizes_of_the_paper(network: str) -> None:
    net = NETWORKS[network]().net
    assert {each.name: len(each) for each in net.populations} == {"excitatory": 3200, "inhibitory": 800}
    assert net.expected_synapses == pytest.approx(0.02 * 4000 * 3999)
    assert {each.delay for each in net.projections} == {0.1}
    large = NETWORKS[network](neurons=40_000).net
    assert large.expected_synapses / 40_000 == pytest.approx(80.0, rel=1e-3), "the mean in-degree stays"


def test_weights_of_the_paper() -> None:
    # 1.62 mV and -9 mV times 10 nS.
    assert [each.weight for each in cuba().net.projections] == [pytest.approx(w) for w in (16.2, 16.2, -90.0, -90.0)]
    assert [each.weight for each in coba().net.projections] == [6.0, 6.0, -67.0, -67.0]


@pytest.mark.parametrize("network", NETWORKS)
def test_potentials_begin_between_reset_and_threshold(network: str) -> None:
    net = NETWORKS[network](neurons=1000).net
    potentials = rv.Simulation(net, progress=False).get(net["excitatory"], "V_m")
    # Five standard errors of a uniform distribution of 10 mV.
    assert potentials.mean() == pytest.approx(-55.0, abs=5 * 10.0 / math.sqrt(12 * 800))
    assert -60.0 <= potentials.min() < -59.9 < -50.1 < potentials.max() <= -50.0


# Rates of five seeds were 4.6 to 5.6 and 12 to 21 spikes/s, coefficients of variation 0.48 to 0.57 and 1.38 to 1.52.
ACTIVITY = {"cuba": ((3.0, 8.0), (0.35, 0.7)), "coba": ((8.0, 28.0), (1.1, 1.8))}


@pytest.mark.parametrize("network", NETWORKS)
def test_activity(network: str) -> None:
    rates, irregularities = ACTIVITY[network]
    spikes = spikes_of(NETWORKS[network](neurons=2000), 700.0).between(200.0)
    for population in spikes.segments:
        assert rates[0] < spikes.mean_rates()[population.name] < rates[1]
        assert irregularities[0] < spikes.irregularity()[population.name].mean() < irregularities[1]
    assert len(spikes.between(690.0)) > 0, "it lives on"


def test_coba_needs_a_stimulus_to_begin() -> None:
    model = coba(neurons=500, stimulus_rate=0.0)
    assert len(spikes_of(model, 200.0)) == 0
    assert model.net.stimuli == ()
    assert len(spikes_of(coba(neurons=500), 60.0)) > 0
    assert [stimulus.values["stop"] for stimulus in coba().net.stimuli] == [50.0, 50.0]


def test_cuba_fires_at_its_own_rate_without_synapses() -> None:
    # The potential goes from -60 mV towards -49 mV and needs 20 ms * log(11 / 1) to -50 mV; 5 ms are refractory.
    spikes = spikes_of(cuba(neurons=200, connection_probability=0.0), 1060.0).between(60.0)
    assert spikes.mean_rates()["excitatory"] == pytest.approx(1000.0 / (20.0 * math.log(11.0) + 5.0), rel=0.03)


def test_notes_say_that_small_networks_fall_silent() -> None:
    assert "fewer than 2,000" in coba(neurons=1999).notes[0]
    assert coba(neurons=2000).notes == cuba(neurons=100).notes == ()


@pytest.mark.parametrize("network", NETWORKS)
def test_keys(network: str) -> None:
    net = NETWORKS[network](neurons=50, connection_probability=0.5, delay=2.0, resolution=0.2, seed=3).net
    assert (net.neuron_count, net.resolution, net.seed) == (50, 0.2, 3)
    assert net.expected_synapses == pytest.approx(0.5 * 50 * 49)
    assert {each.delay for each in net.projections} == {2.0}
    assert NETWORKS[network](neurons=7).net.expected_synapses == 42, "all pairs, where there are fewer than 80"


BAD: list[tuple[str, str, Any, type[Exception]]] = [
    ("cuba", "neurons", 4, rv.errors.ValueOutOfBoundsError),
    ("coba", "neurons", 100.0, rv.errors.WrongTypeError),
    ("cuba", "connection_probability", 1.5, rv.errors.ValueOutOfBoundsError),
    ("coba", "connection_probability", math.nan, rv.errors.ValueOutOfBoundsError),
    ("cuba", "J_ex", -1.0, rv.errors.ValueOutOfBoundsError),
    ("cuba", "J_in", 1.0, rv.errors.ValueOutOfBoundsError),
    ("cuba", "J_in", "strong", rv.errors.WrongTypeError),
    ("coba", "g_ex", math.inf, rv.errors.ValueOutOfBoundsError),
    ("coba", "g_in", -67.0, rv.errors.ValueOutOfBoundsError),
    ("coba", "stimulus_rate", -1.0, rv.errors.ValueOutOfBoundsError),
    ("coba", "delay", 0.0, rv.errors.DelayError),
]


@pytest.mark.parametrize(("network", "key", "value", "error"), BAD)
def test_bad_values_are_refused(network: str, key: str, value: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=key):
        NETWORKS[network](**{key: value})
