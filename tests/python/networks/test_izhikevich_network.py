"""The network of Izhikevich (2003), beside a program in NumPy that is written after the description in the paper."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import ranvier as rv
from ranvier.networks import izhikevich

FloatArray = npt.NDArray[np.float64]


class Program:
    """The network in NumPy, which a spike reaches one step later than in the paper."""

    def __init__(self, a: FloatArray, b: FloatArray, c: FloatArray, d: FloatArray, weights: FloatArray) -> None:
        """Take the weight from each source (column) to each target (row)."""
        self.a, self.b, self.c, self.d, self.weights = a, b, c, d, weights

    def run(self, potentials: FloatArray, recoveries: FloatArray, noise: FloatArray) -> list[tuple[int, int]]:
        """Return the step and the neuron of each spike; `noise` has a row of currents for each step."""
        v, u = potentials.copy(), recoveries.copy()
        spikes = []
        late = np.zeros(len(v))
        for step, currents in enumerate(noise, start=1):
            arrived = currents + late
            late = self.weights @ (v >= 30.0)
            u = np.where(v >= 30.0, u + self.d, u)
            v = np.where(v >= 30.0, self.c, v)
            for _ in range(2):
                v = v + 0.5 * (0.04 * v**2 + 5.0 * v + 140.0 - u + arrived)
            u = u + self.a * (self.b * v - u)
            spikes += [(step, int(neuron)) for neuron in np.flatnonzero(v >= 30.0)]
        return spikes


def draw(random: np.random.Generator) -> Program:
    """Draw the network of the paper."""
    ex, in_ = random.random(800), random.random(200)
    return Program(
        np.concatenate([np.full(800, 0.02), 0.02 + 0.08 * in_]),
        np.concatenate([np.full(800, 0.2), 0.25 - 0.05 * in_]),
        np.concatenate([-65.0 + 15.0 * ex**2, np.full(200, -65.0)]),
        np.concatenate([8.0 - 6.0 * ex**2, np.full(200, 2.0)]),
        np.concatenate([0.5 * random.random((1000, 800)), -random.random((1000, 200))], axis=1),
    )


def values_of(sim: rv.Simulation, name: str) -> FloatArray:
    return np.concatenate([np.asarray(sim.get(each, name), dtype=float) for each in sim.network.populations])


def test_same_spikes_as_the_program() -> None:
    net = izhikevich(neurons=100, noise_ex=0.0, noise_in=0.0).net
    spikes = net.record_spikes()
    sim = rv.Simulation(net, weight_precision="double", progress=False)
    for population in net.populations:
        # Half of the neurons soon fire.
        sim.set(population, V_m=np.linspace(-70.0, -20.0, len(population)))
    synapses = sim.connections()
    weights = np.zeros((100, 100))
    np.add.at(weights, (synapses.targets.astype(int), synapses.sources.astype(int)), synapses.weights)
    a, b, c, d = (values_of(sim, name) for name in "abcd")
    program = Program(a, b, c, d, weights)
    potentials, recoveries = values_of(sim, "V_m"), values_of(sim, "U_m")
    sim.run(60.0)
    data = sim.spikes(spikes)
    found = sorted(zip(data.steps.tolist(), data.ids.tolist(), strict=True))
    assert len(found) > 100
    assert found == program.run(potentials, recoveries, np.zeros((60, 100)))


def test_rates_are_those_of_the_program() -> None:
    random = np.random.default_rng(1)
    program = draw(random)
    noise = np.concatenate([np.full(800, 5.0), np.full(200, 2.0)]) * random.standard_normal((400, 1000))
    ran = np.array(program.run(np.full(1000, -65.0), -65.0 * program.b, noise))
    model = izhikevich()
    sim = rv.Simulation(model.net, progress=False)
    sim.run(400.0)
    rates = sim.spikes(model.spikes).mean_rates()
    # Eight seeds of each differed by at most 8 % between seeds, and by 2 % in the mean.
    assert rates["excitatory"] == pytest.approx((ran[:, 1] < 800).sum() / 800 / 0.4, rel=0.15)
    assert rates["inhibitory"] == pytest.approx((ran[:, 1] >= 800).sum() / 200 / 0.4, rel=0.15)


def test_rhythm() -> None:
    model = izhikevich()
    sim = rv.Simulation(model.net, progress=False)
    sim.run(1000.0)
    counts = np.bincount(sim.spikes(model.spikes).steps, minlength=1001)[1:]
    # 1 for independent Poisson trains; 5.6 to 9.6 in four seeds.
    assert counts.var() / counts.mean() > 3.0
    power = np.abs(np.fft.rfft(counts - counts.mean())) ** 2
    frequencies = np.fft.rfftfreq(1000, 0.001)
    # A fortieth of all frequencies; 35 to 48 % of the power in four seeds.
    slow = (frequencies >= 3.0) & (frequencies < 15.0)
    assert power[slow].sum() > 0.2 * power.sum()


def test_neurons_of_the_paper() -> None:
    net = izhikevich().net
    sim = rv.Simulation(net, progress=False)
    assert {each.name: len(each) for each in net.populations} == {"excitatory": 800, "inhibitory": 200}
    assert net.expected_synapses == 1000 * 1000
    c, d = (np.asarray(sim.get(net["excitatory"], name)) for name in "cd")
    assert d == pytest.approx(8.0 - 6.0 * (c + 65.0) / 15.0), "both follow from the same square"
    # A uniform number squared is less than a quarter with a probability of a half; five standard errors.
    assert ((c + 65.0) / 15.0 < 0.25).mean() == pytest.approx(0.5, abs=5 * 0.5 / math.sqrt(800))
    a, b = (np.asarray(sim.get(net["inhibitory"], name)) for name in "ab")
    assert b == pytest.approx(0.25 - 0.05 * (a - 0.02) / 0.08)
    assert np.asarray(sim.get(net["inhibitory"], "U_m")) == pytest.approx(-65.0 * b)
    weights = sim.connections(sources=net["inhibitory"]).weights
    assert weights.mean() == pytest.approx(-0.5, abs=5 * 1.0 / math.sqrt(12 * 200_000))
    assert -1.0 <= weights.min() < -0.999 < -0.001 < weights.max() <= 0.0


def test_weights_are_scaled_with_the_number_of_neurons() -> None:
    for neurons in (100, 1000):
        for projection, bound in zip(izhikevich(neurons=neurons).net.projections, (0.5, 0.5, -1.0, -1.0), strict=True):
            weight: Any = projection.weight
            assert weight.low + weight.high == pytest.approx(bound * 1000 / neurons)
    assert [each.weight for each in izhikevich(S_in=0.0).net.projections[2:]] == [0.0, 0.0]


@pytest.mark.parametrize(
    ("key", "value", "error"),
    [
        ("neurons", 4, rv.errors.ValueOutOfBoundsError),
        ("neurons", "many", rv.errors.WrongTypeError),
        ("S_ex", -0.5, rv.errors.ValueOutOfBoundsError),
        ("S_in", 1.0, rv.errors.ValueOutOfBoundsError),
        ("noise_ex", math.inf, rv.errors.ValueOutOfBoundsError),
        ("noise_in", -2.0, rv.errors.ValueOutOfBoundsError),
    ],
)
def test_bad_values_are_refused(key: str, value: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=key):
        izhikevich(**{key: value})
