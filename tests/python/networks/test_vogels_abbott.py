"""The networks of Vogels and Abbott (2005): benchmarks of Brette et al. (2007).

`test_nest_networks` compares their activity with that in NEST.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from ranvier.networks import NetworkModel, coba, coba_hh, cuba

NETWORKS: dict[str, Callable[..., NetworkModel]] = {"cuba": cuba, "coba": coba, "coba_hh": coba_hh}


def spikes_of(model: NetworkModel, time: float, threads: int = 1) -> rv.SpikeData:
    sim = rv.Simulation(model.net, threads=threads, progress=False)
    sim.run(time)
    return sim.spikes(model.spikes)


@pytest.mark.parametrize("network", NETWORKS)
def test_sizes_of_the_paper(network: str) -> None:
    net = NETWORKS[network]().net
    assert {each.name: len(each) for each in net.populations} == {"excitatory": 3200, "inhibitory": 800}
    assert net.expected_synapses == pytest.approx(0.02 * 4000 * 3999)
    assert {each.delay for each in net.projections} == {net.resolution}
    large = NETWORKS[network](neurons=40_000).net
    assert large.expected_synapses / 40_000 == pytest.approx(80.0, rel=1e-3), "the mean in-degree stays"


def test_weights_of_the_paper() -> None:
    # 1.62 mV and -9 mV times 10 nS.
    assert [each.weight for each in cuba().net.projections] == [pytest.approx(w) for w in (16.2, 16.2, -90.0, -90.0)]
    for network in (coba, coba_hh):
        assert [each.weight for each in network().net.projections] == [6.0, 6.0, -67.0, -67.0]


@pytest.mark.parametrize("network", ["cuba", "coba"])
def test_potentials_begin_between_reset_and_threshold(network: str) -> None:
    net = NETWORKS[network](neurons=1000).net
    potentials = rv.Simulation(net, progress=False).get(net["excitatory"], "V_m")
    # Five standard errors of a uniform distribution of 10 mV.
    assert potentials.mean() == pytest.approx(-55.0, abs=5 * 10.0 / math.sqrt(12 * 800))
    assert -60.0 <= potentials.min() < -59.9 < -50.1 < potentials.max() <= -50.0


# Bounds of rates, spikes/s, and of coefficients of variation, on both sides of those of five seeds.
ACTIVITY = {"cuba": ((3.0, 8.0), (0.35, 0.7)), "coba": ((8.0, 28.0), (1.1, 1.8)), "coba_hh": ((15.0, 60.0), (0.9, 1.8))}
SIZES: dict[str, dict[str, Any]] = {
    "cuba": {"neurons": 2000},
    "coba": {"neurons": 2000},
    "coba_hh": {"neurons": 800, "resolution": 0.1},
}


@pytest.mark.parametrize("network", NETWORKS)
def test_activity(network: str) -> None:
    rates, irregularities = ACTIVITY[network]
    spikes = spikes_of(NETWORKS[network](**SIZES[network]), 600.0).between(200.0)
    for population in spikes.segments:
        assert rates[0] < spikes.mean_rates()[population.name] < rates[1]
        assert irregularities[0] < np.nanmean(spikes.irregularity(population)) < irregularities[1]
    assert len(spikes.between(590.0)) > 0, "it lives on"


@pytest.mark.parametrize("network", ["coba", "coba_hh"])
def test_that_a_stimulus_begins_it(network: str) -> None:
    describe = NETWORKS[network]
    model = describe(neurons=300, stimulus_rate=0.0)
    assert len(spikes_of(model, 100.0)) == 0
    assert model.net.stimuli == ()
    assert len(spikes_of(describe(neurons=300), 60.0)) > 0
    assert [stimulus.values["stop"] for stimulus in describe().net.stimuli] == [50.0, 50.0]


GATES = ("Act_m", "Inact_h", "Act_n")


@pytest.mark.parametrize("method", ["exponential_euler", "adaptive"])
def test_channels_of_coba_hh_begin_in_equilibrium(method: str) -> None:
    net = coba_hh(neurons=5, stimulus_rate=0.0, connection_probability=0.0, method=method).net  # type: ignore[arg-type]
    sim = rv.Simulation(net, progress=False)
    begin = {name: sim.get(net["excitatory"], name)[0] for name in GATES}
    sim.run(500.0)
    potential = sim.get(net["excitatory"], "V_m")
    assert potential == pytest.approx(np.full(4, potential[0]), abs=1e-3), "all reach the same rest"
    # Near the reversal potential of the leak, since few channels are open there.
    assert potential[0] == pytest.approx(-65.0, abs=0.3)
    for name in GATES:
        assert sim.get(net["excitatory"], name)[0] == pytest.approx(begin[name], rel=0.1)


def test_methods_of_coba_hh_agree() -> None:
    first = {
        method: spikes_of(coba_hh(neurons=100, connection_probability=0.0, resolution=0.01, method=method), 15.0)
        for method in ("exponential_euler", "adaptive")
    }
    one, other = first.values()
    assert len(one) == pytest.approx(len(other), rel=0.05)
    assert one.ids[:10].tolist() == other.ids[:10].tolist()
    assert one.times[:10] == pytest.approx(other.times[:10], abs=0.1)


def test_cuba_fires_at_its_own_rate_without_synapses() -> None:
    # The potential goes from -60 mV towards -49 mV and needs 20 ms * log(11 / 1) to -50 mV; 5 ms are refractory.
    spikes = spikes_of(cuba(neurons=200, connection_probability=0.0), 1060.0).between(60.0)
    assert spikes.mean_rates()["excitatory"] == pytest.approx(1000.0 / (20.0 * math.log(11.0) + 5.0), rel=0.03)


def test_notes_say_that_small_networks_fall_silent() -> None:
    assert "fewer than 2,000" in coba(neurons=1999).notes[0] == coba_hh(neurons=100).notes[0]
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
    ("coba_hh", "neurons", 0, rv.errors.ValueOutOfBoundsError),
    ("coba_hh", "g_ex", -1.0, rv.errors.ValueOutOfBoundsError),
    ("coba_hh", "g_in", "strong", rv.errors.WrongTypeError),
    ("coba_hh", "stimulus_rate", math.nan, rv.errors.ValueOutOfBoundsError),
    ("coba_hh", "method", "euler", rv.errors.UnknownNameError),
    ("coba", "method", "exact", rv.errors.UnknownNameError),
    ("coba", "delay", 0.0, rv.errors.DelayError),
]


@pytest.mark.parametrize(("network", "key", "value", "error"), BAD)
def test_bad_values_are_refused(network: str, key: str, value: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=key):
        NETWORKS[network](**{key: value})
