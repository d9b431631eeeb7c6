"""The four regimes of Brunel (2000): how regular single neurons fire, and how synchronous the network is.

The networks have as many synapses for each neuron as in the paper, and 5,000 neurons instead of 12,500. The bounds are
far on both sides of what three seeds gave.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from ranvier.networks import brunel

REGIMES = ["SR", "SI_fast", "AI", "SI_slow"]


@dataclass(frozen=True)
class Activity:
    """Statistics of one run.

    Attributes
    ----------
    rate
        Mean rate of excitatory neurons, spikes/s.
    irregularity
        Mean coefficient of variation of their inter-spike intervals.
    synchrony
        Variance over mean of the number of spikes of the network in 1 ms: 1 for independent Poisson trains.
    swing
        Standard deviation over mean of the same.
    peak
        Frequency with the greatest power, Hz.
    share
        Share of the power that this frequency has.
    """

    rate: float
    irregularity: float
    synchrony: float
    swing: float
    peak: float
    share: float


@functools.cache
def activity(regime: Any, time: int = 200) -> Activity:
    model = brunel(regime=regime, scale=0.4, epsilon=0.25)
    sim = rv.Simulation(model.net, progress=False)
    sim.run(100.0 + time)
    spikes = sim.spikes(model.spikes).between(100.0)
    counts = np.bincount((spikes.steps - spikes.begin - 1) // 10, minlength=time).astype(float)
    power = np.abs(np.fft.rfft(counts - counts.mean())) ** 2
    return Activity(
        rate=spikes.mean_rates()["excitatory"],
        irregularity=float(np.nanmean(spikes.irregularity("excitatory"))),
        synchrony=counts.var() / counts.mean(),
        swing=counts.std() / counts.mean(),
        peak=float(np.fft.rfftfreq(time, 0.001)[power.argmax()]),
        share=power.max() / power.sum(),
    )


def test_synchronous_regular() -> None:
    found = activity("SR", 60)
    assert found.irregularity < 0.05
    assert found.synchrony > 500.0
    assert found.peak == pytest.approx(found.rate, abs=17.0), "all neurons fire in each cycle"


@pytest.mark.thorough
def test_synchronous_irregular_with_a_fast_oscillation() -> None:
    found = activity("SI_fast")
    assert 0.6 < found.irregularity < 1.2
    assert found.synchrony > 250.0
    assert found.share > 0.2
    assert 140.0 < found.peak < 220.0
    assert found.peak > 2.0 * found.rate, "a neuron fires in few of the cycles"


def test_asynchronous_irregular() -> None:
    found = activity("AI")
    assert 0.25 < found.irregularity < 0.7
    assert 30.0 < found.rate < 45.0
    assert found.share < 0.2, "there is no oscillation"
    assert found.synchrony < 0.8 * activity("SI_fast").synchrony


@pytest.mark.thorough
def test_synchronous_irregular_with_a_slow_oscillation() -> None:
    found = activity("SI_slow", 500)
    assert 0.2 < found.irregularity < 0.7
    assert 3.0 < found.rate < 12.0
    assert found.peak < 60.0
    assert found.swing > 1.6, "silence between bursts"
    assert max(activity(regime).swing for regime in ("SI_fast", "AI")) < 1.3


@pytest.mark.parametrize("regime", REGIMES)
def test_values_of_the_paper(regime: Any) -> None:
    g, eta = {"SR": (3.0, 2.0), "SI_fast": (6.0, 4.0), "AI": (5.0, 2.0), "SI_slow": (4.5, 0.9)}[regime]
    net = brunel(regime=regime).net
    assert net.expected_synapses == 12_500 * 1_250
    assert [projection.weight for projection in net.projections] == pytest.approx([0.1, -0.1 * g] * 2)
    # The rate that brings the mean potential to the threshold is 20 mV / (0.1 mV * 20 ms) = 10 spikes/ms.
    assert [stimulus.values["rate"] for stimulus in net.stimuli] == pytest.approx([10_000.0 * eta] * 2)
    assert net["excitatory"].values["V_reset"] == net["inhibitory"].values["V_reset"] == 10.0


def test_other_keys_change_a_regime() -> None:
    net = brunel(regime="SR", g=4.0, V_reset=-5.0).net
    assert net.projections[1].weight == pytest.approx(-0.4)
    assert net["excitatory"].values["V_reset"] == -5.0
    assert net.stimuli[0].values["rate"] == pytest.approx(20_000.0), "eta stays that of the regime"


@pytest.mark.parametrize(
    ("key", "value", "error"),
    [
        ("regime", "ai", rv.errors.UnknownNameError),
        ("regime", 1, rv.errors.WrongTypeError),
        ("V_reset", 20.0, rv.errors.ValueOutOfBoundsError),
        ("V_reset", "low", rv.errors.WrongTypeError),
    ],
)
def test_bad_values_are_refused(key: str, value: Any, error: type[Exception]) -> None:
    with pytest.raises(error, match=key):
        brunel(**{key: value})
