"""Times are the doubles nearest to the decimal times, for any resolution and any step."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import ranvier as rv
from ranvier import errors
from ranvier.base.times import text_of, time_of, times_of

LAST = 2**63 - 1
# Decimal numbers of at most 10 digits, none of which can be taken for another fraction.
DECIMALS = st.builds(lambda digits, places: Fraction(digits, 10**places), st.integers(1, 10**10), st.integers(0, 19))
STEPS = st.integers(0, 2**53) | st.integers(-LAST - 1, LAST) | st.integers(0, 1000)


@given(DECIMALS, STEPS)
@example(Fraction(1, 10), 3)
@example(Fraction(1, 10), 2**53)
@example(Fraction(999999999999999, 10**15), LAST)
def test_of_decimal_resolutions(resolution: Fraction, step: int) -> None:
    # Python divides whole numbers exactly and rounds once.
    expected = float(step * resolution)
    assert time_of(step, float(resolution)) == expected
    assert times_of([step, 0], float(resolution)).tolist() == [expected, 0.0]


@given(st.integers(1, 1000), st.integers(1, 2**20), STEPS)
def test_of_fractions(numerator: int, denominator: int, step: int) -> None:
    resolution = Fraction(numerator, denominator)
    assert time_of(step, float(resolution)) == float(step * resolution)


@given(st.floats(2.0**-40, 2.0**40, exclude_min=True), st.integers(0, 2**53))
def test_of_any_double(resolution: float, step: int) -> None:
    # Whatever is meant rounds to this resolution.
    assert time_of(1, resolution) == resolution
    assert time_of(step, resolution) == pytest.approx(step * resolution, rel=3e-16, abs=0.0)


@pytest.mark.parametrize("resolution", ["0.1", "0.025", "0.0123", "0.3", "1.1", "2", "0.000123456789012"])
def test_many_steps_at_once(resolution: str) -> None:
    steps = np.concatenate([np.arange(2000), 2**53 - np.arange(2000), np.geomspace(1, 2**53, 2000).astype(np.int64)])
    exact = Fraction(resolution)
    expected = [float(step * exact) for step in steps.tolist()]
    assert times_of(steps, float(resolution)).tolist() == expected
    assert times_of(steps.reshape(2, -1), float(resolution)).ravel().tolist() == expected
    assert times_of(steps[::2], float(resolution)).tolist() == expected[::2]


def test_no_steps() -> None:
    assert times_of(np.empty(0, dtype=np.int64), 0.1).shape == (0,)


def test_texts() -> None:
    assert [text_of(time) for time in (0.3, 1000.0, 1234567.1, 0.0, 1e-5)] == ["0.3", "1000", "1234567.1", "0", "1e-05"]


def decimal_times(steps: np.ndarray) -> list[float]:
    return [float(Fraction(step, 10)) for step in steps.tolist()]


@pytest.mark.parametrize("suffix", [".h5", ".csv"])
def test_everywhere(tmp_path: Path, suffix: str) -> None:
    net = rv.Network(resolution=0.1)
    neurons = net.create("iaf_psc_exp", 3, I_e=900.0)
    projection = net.connect(neurons, neurons, rv.AllToAll(), weight=1.0, delay=0.3)
    spikes = net.record_spikes(to=tmp_path / f"spikes{suffix}")
    state = net.record_state(neurons, "V_m")
    weights = net.record_weights(projection, 0.3)
    sim = rv.Simulation(net)
    sim.run(0.3)
    assert sim.time == 0.3
    assert sim.spikes(spikes).stop == 0.3
    assert "at 0.3 ms" in repr(sim)
    assert sim.connections().delays.tolist() == [0.3] * 9
    sim.run(60.0)
    with pytest.raises(errors.ValueOutOfBoundsError, match=r"it is 60\.3 ms now"):
        sim.run_until(10.0)
    data = sim.spikes(spikes)
    assert len(data) > 3
    assert data.times.tolist() == decimal_times(data.steps)
    assert sim.state(state).times.tolist() == decimal_times(np.arange(1, 604))
    assert sim.weights(weights).times.tolist() == decimal_times(3 * np.arange(1, 202))
    part = data.between(0.3, 60.1)
    assert (part.start, part.stop, part.duration) == (0.3, 60.1, 59.8)
    if suffix == ".csv":
        lines = [line.split(",") for line in (tmp_path / "spikes.csv").read_text().splitlines() if line[0].isdigit()]
        assert [float(line[1]) for line in lines] == data.times.tolist()


def test_messages_of_the_core() -> None:
    net = rv.Network(resolution=0.1)
    neurons = net.create("iaf_psc_exp", 1)
    with pytest.raises(errors.GridError, match=r"nearest one is 0\.3 ms"):
        net.stimulate(neurons, rv.step_current_generator(times=[0.32], amplitudes=[1.0]))
