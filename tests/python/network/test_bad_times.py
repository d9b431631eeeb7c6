"""Times and delays off the grid or out of bounds give typed errors, and leave everything as it was."""

from __future__ import annotations

import random
from collections.abc import Callable
from decimal import Decimal
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from bad_input import check, neurons
from ranvier import errors


@pytest.mark.parametrize(
    "delay", [0.0, 0.05, -1.0, float("nan"), float("inf"), 1e9, [1.0] * 9 + [0.04], rv.Normal(1.0, 1.0)], ids=str
)
def test_delay(delay: Any) -> None:
    population = neurons()
    with pytest.raises(errors.DelayError) as caught:
        population.network.connect(population, population, rv.OneToOne(), delay=delay)
    check(caught.value, "ms")
    assert not population.network.projections


def test_delay_of_a_stimulus() -> None:
    population = neurons()
    with pytest.raises(errors.DelayError):
        population.network.stimulate(population, rv.poisson_generator(rate=1.0), delay=0.0)


@pytest.mark.parametrize(
    "call",
    [
        lambda p: p.network.connect(p, p, rv.OneToOne(), delay=0.15),
        lambda p: p.network.stimulate(p, rv.poisson_generator(rate=1.0), delay=0.15),
        lambda p: p.network.stimulate(p, rv.dc_generator(start=0.15)),
        lambda p: p.network.stimulate(p, rv.step_current_generator(times=[0.15], amplitudes=[1.0])),
        lambda p: p.network.record_state(p, "V_m", interval=0.15),
        lambda p: p.network.record_weights(p.network.connect(p, p, rv.OneToOne()), interval=0.15),
        lambda p: p.network.create_spike_generators([[1.0, 1.15]]),
        lambda p: rv.Simulation(p.network, threads=1).run(0.15),
    ],
    ids=["connect", "stimulate", "start", "times", "record", "record_weights", "spike times", "run"],
)
def test_times_off_the_grid(call: Callable[[rv.Population], None]) -> None:
    with pytest.raises(errors.GridError) as caught:
        call(neurons())
    check(caught.value, ".15 ms", "multiple of the resolution, 0.1 ms")


def test_delays_of_single_synapses_are_rounded() -> None:
    """Those of an array as those that are drawn: to the nearest step, half a step up."""
    population = neurons(4)
    population.network.connect(population, population, rv.OneToOne(), delay=[0.05, 1.04, 1.06, 2.0])
    population.network.connect(population, population, rv.OneToOne(), delay=rv.Normal(1.04, 0.0))
    delays = rv.Simulation(population.network, threads=1).connections().delays
    assert sorted(delays) == [0.1, 1.0, 1.0, 1.0, 1.0, 1.0, 1.1, 2.0]


@pytest.mark.parametrize("resolution", ["0.1", "0.01", "0.05", "0.025", "0.001", "0.2", "1", "0.125", "0.02"])
def test_half_a_step_of_a_delay_is_rounded_up_in_decimal(resolution: str) -> None:
    """Of what was written: 0.145 is 14.5 steps of 0.01, although the quotient of the doubles is a little less."""
    generator = random.Random(resolution)
    h = Decimal(resolution)
    steps = sorted({*range(1, 40), *(generator.randrange(1, 60_000) for _ in range(400))})
    written = [h * (step + Decimal("0.5")) for step in steps]
    written += [h * (step + Decimal("0.49999999")) for step in steps]
    net = rv.Network(resolution=float(h))
    one = net.create("iaf_psc_exp", len(written))
    net.connect(one, one, rv.OneToOne(), delay=[float(each) for each in written])
    expected = [step + 1 for step in steps] + steps
    delays = rv.Simulation(net, threads=1).connections().delays
    np.testing.assert_array_equal(np.rint(delays / float(h)), expected)


@pytest.mark.parametrize("delay", [0.145, 0.285, 0.565, 0.575])
def test_a_delay_for_longer_steps_is_rounded_in_decimal(delay: float) -> None:
    net = rv.Network(resolution=0.005)
    population = net.create("iaf_psc_exp", 1, step=0.01)
    net.connect(population, population, rv.OneToOne(), delay=delay)
    delays = rv.Simulation(net, threads=1).connections().delays
    assert delays.tolist() == [float(Decimal(str(delay)) + Decimal("0.005"))]


def test_windows_off_the_grid_have_the_spikes_between_their_ends() -> None:
    net = rv.Network(resolution=0.1)
    data = net.create_spike_generators([[0.1, 0.2, 0.3, 0.4]])
    recorder = net.record_spikes(data)
    sim = rv.Simulation(net, threads=1)
    sim.run(1.0)
    spikes = sim.spikes(recorder)
    for start, stop in [(0.16, 0.34), (0.14, 0.36), (0.2, 0.3), (0.15, 0.25), (0.1999, 0.2001), (0.3, 0.39999)]:
        expected = [time for time in (0.1, 0.2, 0.3, 0.4) if start < time <= stop]
        assert spikes.between(start, stop).times.tolist() == expected


@pytest.mark.parametrize("duration", [0.05, float("nan"), float("inf")])
def test_duration_off_the_grid(duration: float) -> None:
    sim = rv.Simulation(neurons().network)
    with pytest.raises(errors.GridError):
        sim.run(duration)
    sim.run(1.0)
    assert sim.time == 1.0


def test_running_backwards() -> None:
    sim = rv.Simulation(neurons().network)
    sim.run(1.0)
    with pytest.raises(errors.ValueOutOfBoundsError):
        sim.run(-0.5)
    with pytest.raises(errors.ValueOutOfBoundsError, match="past"):
        sim.run_until(0.5)
    assert sim.time == 1.0


@pytest.mark.parametrize(
    "put_on_grid",
    [
        lambda p: p.network.connect(p, p, rv.OneToOne()),
        lambda p: p.network.stimulate(p, rv.poisson_generator(rate=1.0)),
        lambda p: p.network.record_state(p, "V_m"),
        lambda p: p.network.create_spike_generators([[1.0]]),
    ],
    ids=["connect", "stimulate", "record", "spikes"],
)
def test_resolution_changed_after_something_was_put_on_its_grid(put_on_grid: Callable[[rv.Population], None]) -> None:
    population = neurons()
    net = population.network
    net.resolution = 0.2
    put_on_grid(population)
    with pytest.raises(errors.StateError) as caught:
        net.resolution = 0.1
    check(caught.value, "resolution", "0.2 ms")
    assert net.resolution == 0.2
    rv.Simulation(net).run(1.0)
