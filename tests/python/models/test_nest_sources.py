"""Sources fire as NEST's generators do, and relays as its parrots: means differ by less than five standard deviations.

Of each train that is the number of spikes, the sum of its squared intervals, and the modulation with a period. Seeds
are fixed. NEST's generators emit one step later, so times are compared as sums over many steps only.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pytest

import ranvier as rv
from nest_pool import fresh_nest, nest_pool, requires_nest
from nest_trains import distance, measures, trains_in_nest, trains_in_ranvier
from ranvier.populations.model_base import Stimulator
from thorough_cases import every

pytestmark = requires_nest

SIGMAS = 5.0


class Pair(NamedTuple):
    """A model of both."""

    of_nest: str
    values: dict[str, Any]
    here: Stimulator
    period: float
    """Of a modulation, ms."""


SINE: dict[str, Any] = {"rate": 200.0, "amplitude": 150.0, "frequency": 10.0, "phase": 30.0}
PAIRS = {
    "Poisson": Pair("poisson_generator", {"rate": 300.0}, rv.poisson_generator(rate=300.0), 100.0),
    "sinusoidal Poisson": Pair("sinusoidal_poisson_generator", SINE, rv.sinusoidal_poisson_generator(**SINE), 100.0),
    "sinusoidal Poisson that stops": Pair(
        "sinusoidal_poisson_generator",
        {**SINE, "amplitude": 300.0},
        rv.sinusoidal_poisson_generator(**{**SINE, "amplitude": 300.0}),
        100.0,
    ),
    "sinusoidal gamma": Pair(
        "sinusoidal_gamma_generator", {**SINE, "order": 3.0}, rv.sinusoidal_gamma_generator(**SINE, shape=3.0), 100.0
    ),
    "gamma": Pair(
        "gamma_sup_generator", {"rate": 150.0, "gamma_shape": 4}, rv.gamma_generator(rate=150.0, shape=4.0), 100.0
    ),
    "dead time": Pair(
        "ppd_sup_generator", {"rate": 150.0, "dead_time": 3.0}, rv.gamma_generator(rate=150.0, dead_time=3.0), 100.0
    ),
    "pulse packets": Pair(
        "pulsepacket_generator",
        {"pulse_times": [100.0, 300.0], "activity": 20, "sdev": 10.0},
        rv.pulsepacket_generator(pulse_times=[100.0, 300.0], activity=20, sdev=10.0),
        200.0,
    ),
}


def differences(name: str, size: int, duration: float) -> dict[str, float]:
    """Return distances of the means of all measures."""
    pair = PAIRS[name]
    values = (pair.of_nest, pair.values, size, duration, True)
    there = measures(nest_pool().submit(trains_in_nest, *values).result(), pair.period)
    here = measures(trains_in_ranvier(pair.here, size, duration), pair.period)
    assert here["spikes"].mean() > 20.0
    return {measure: distance(here[measure], there[measure]) for measure in here}


@pytest.mark.parametrize("name", every(3, PAIRS))
def test_trains(name: str) -> None:
    # One step of difference moves the modulation by less than a deviation of the mean.
    assert max(differences(name, 200, 400.0).values()) < SIGMAS


def test_correlation_of_mip() -> None:
    values: dict[str, Any] = {"rate": 200.0, "p_copy": 0.4}
    there = nest_pool().submit(trains_in_nest, "mip_generator", values, 20, 4000.0, False).result()
    squares = []
    for trains in (there, trains_in_ranvier(rv.mip_generator(**values), 20, 4000.0)):
        counts, _ = np.histogram(np.concatenate(trains), bins=400, range=(0.0, 4000.0))
        squares.append((counts - counts.mean()) ** 2)
        assert abs(counts.mean() - 20 * 0.08 * 10) < SIGMAS * counts.std() / 20.0
    assert distance(*squares) < SIGMAS


def parrots_in_nest(times: list[float], multiplicities: list[int], delays: list[float]) -> list[list[float]]:
    nest = fresh_nest()
    generator = nest.Create("spike_generator", params={"spike_times": times, "spike_multiplicities": multiplicities})
    parrots = nest.Create("parrot_neuron", 2)
    nest.Connect(generator, parrots[0], syn_spec={"delay": delays[0]})
    nest.Connect(parrots[0], parrots[1], syn_spec={"delay": delays[1]})
    recorder = nest.Create("spike_recorder")
    nest.Connect(parrots, recorder)
    nest.Simulate(30.0)
    events = recorder.events
    return [sorted(events["times"][events["senders"] == parrot].tolist()) for parrot in parrots.tolist()]


def test_parrots() -> None:
    there = nest_pool().submit(parrots_in_nest, [5.0, 7.0], [3, 2], [1.5, 2.0]).result()
    net = rv.Network()
    played = net.create_spike_generators([[5.0, 5.0, 5.0, 7.0, 7.0]])
    parrots = net.create("parrot_neuron", 2)
    net.connect(played, parrots[0], "all_to_all", delay=1.5)
    net.connect(parrots[0], parrots[1], "one_to_one", delay=2.0)
    recorder = net.record_spikes(parrots)
    sim = rv.Simulation(net, progress=False)
    sim.run(30.0)
    here = [sim.spikes(recorder).of(parrot).times.tolist() for parrot in parrots]
    assert here == [pytest.approx(times) for times in there]


def fire_in_nest(values: dict[str, float]) -> list[float]:
    nest = fresh_nest()
    neuron = nest.Create("ignore_and_fire", params=values)
    recorder = nest.Create("spike_recorder")
    nest.Connect(neuron, recorder)
    nest.Simulate(500.0)
    times: list[float] = recorder.events["times"].tolist()
    return times


@pytest.mark.parametrize("values", [{"rate": 10.0, "phase": 1.0}, {"rate": 40.0, "phase": 0.25}])
def test_ignore_and_fire_is_one_step_earlier(values: dict[str, float]) -> None:
    there = nest_pool().submit(fire_in_nest, values).result()
    net = rv.Network()
    recorder = net.record_spikes(net.create(rv.ignore_and_fire(**values), 1))
    sim = rv.Simulation(net, progress=False)
    sim.run(499.9)
    assert sim.spikes(recorder).times.tolist() == pytest.approx([time - 0.1 for time in there if time < 499.95])
