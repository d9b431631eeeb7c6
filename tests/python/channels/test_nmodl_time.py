"""Time in NMODL files: ``t``, ``dt`` in all blocks, currents of electrodes that depend on the time."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import ranvier as rv
from ranvier.errors import ValueOutOfBoundsError

STEP = 0.1
BALL = rv.Morphology([rv.Section(length=20.0, diameter=20.0)])
TREE = rv.Morphology(
    [rv.Section(length=20.0, diameter=20.0), rv.Section(length=200.0, diameter=2.0, parent=0, tag="basal")]
)
CLOCK = """NEURON {{ SUFFIX clock NONSPECIFIC_CURRENT i RANGE g }}
PARAMETER {{ g = 0.001 }}
ASSIGNED {{ v i }}
STATE {{ m }}
INITIAL {{ m = {initial} }}
BREAKPOINT {{ SOLVE s METHOD cnexp i = {current} }}
DERIVATIVE s {{ m' = {rate} }}
"""
PULSE = """NEURON { POINT_PROCESS pulse RANGE del, dur, amp, i ELECTRODE_CURRENT i }
PARAMETER { del = 2 (ms) dur = 3 (ms) amp = 0.2 (nA) }
ASSIGNED { i (nA) }
BREAKPOINT {
    at_time(del)
    if (t > del && t < del + dur) { i = amp } else { i = 0 }
}
"""


def written(folder: Path, text: str) -> Any:
    """Return what is read of a file with this text."""
    file = folder / "test.mod"
    file.write_text(text)
    return rv.read_nmodl(file)


def clock(folder: Path, *, initial: str = "0", current: str = "g*m*(v + 20)", rate: str = "0") -> Any:
    """Return a channel with these expressions."""
    return written(folder, CLOCK.format(initial=initial, current=current, rate=rate))


def trace(
    channel: Any, time: float = 5.0, *, step: float = STEP, scheme: Any = "backward_euler"
) -> npt.NDArray[np.float64]:
    """Return the potential, the state and the current of a cell with the channel."""
    net = rv.Network(resolution=STEP if step == STEP else 0.05)
    probes: dict[str, Any] = {"m": (rv.at(0), "m of clock"), "i": (rv.at(0), "i of clock")}
    membrane = [("all", rv.pas(g=1e-3, e=-60.0)), ("all", channel())]
    cell = rv.Cell(BALL, membrane=membrane, probes=probes, celsius=16.3, scheme=scheme)
    cells = net.create(cell, 1, V_m=-65.0, step=step)
    recorder = net.record_state(cells, ["V_m", "m", "i"], interval=step)
    sim = rv.Simulation(net, threads=1, progress=False)
    sim.run(time)
    return sim.state(recorder).values[:, :, 0]


@pytest.mark.parametrize("step", [0.1, 0.2])
def test_dt_is_the_step_in_all_blocks(tmp_path: Path, step: float) -> None:
    values = trace(clock(tmp_path, initial="dt", current="g*dt*m*(v + 20)"), step=step)
    potential, state, current = values.T
    np.testing.assert_array_equal(state, step)
    np.testing.assert_allclose(current, 0.001 * step * step * (potential + 20), rtol=1e-12)


@pytest.mark.parametrize("scheme", ["backward_euler", "staggered"])
@pytest.mark.parametrize("step", [0.1, 0.2])
def test_time_passes_for_states_and_currents(tmp_path: Path, scheme: Any, step: float) -> None:
    """States are advanced with the time at the end of the step; recorded currents are those of the time."""
    channel = clock(tmp_path, initial="7 + t", current="g*t*(v + 20) + 0*m", rate="t")
    potential, state, current = trace(channel, step=step, scheme=scheme).T
    times = step * np.arange(1, len(state) + 1)
    np.testing.assert_allclose(current, 0.001 * times * (potential + 20), rtol=1e-12)
    if scheme == "backward_euler":
        np.testing.assert_allclose(state, 7 + step * np.cumsum(times), rtol=1e-12)
    assert np.ptp(potential) > 10.0


def test_currents_of_the_staggered_scheme_are_of_second_order_in_time(tmp_path: Path) -> None:
    channel = clock(tmp_path, current="0.01*sin(2*t) + 0*m")
    capacity, leak = 1e-3, 1e-3  # ms S/cm2, S/cm2
    rate = leak / capacity
    end = 3.0
    # v' = -rate (v + 60) - 10 sin(2 t), from -65.
    forced = -10.0 * (rate * np.sin(2 * end) - 2.0 * np.cos(2 * end)) / (rate**2 + 4.0)
    decayed = (-5.0 - 20.0 / (rate**2 + 4.0)) * np.exp(-rate * end)
    errors = [
        abs(trace(channel, end, step=step, scheme="staggered")[-1, 0] - (-60.0 + forced + decayed))
        for step in (0.2, 0.1)
    ]
    assert 0.0 < errors[1] < 0.02
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.15)


@pytest.mark.parametrize("count", [1, 11])
@pytest.mark.parametrize("scheme", ["backward_euler", "staggered"])
def test_an_electrode_of_a_file_does_what_a_current_clamp_does(tmp_path: Path, count: int, scheme: Any) -> None:
    process = written(tmp_path, PULSE)
    place = rv.at(1, 0.5)
    clamp = rv.current_clamp(amplitude=-300.0, duration=3.0, start=2.0)
    found = []
    for parts in (
        {"receptors": {"electrode": (process(amp=-0.3), place)}},
        {"clamps": {"electrode": (clamp, place)}},
    ):
        net = rv.Network(resolution=STEP)
        cell = rv.Cell(TREE, membrane=[("all", rv.pas())], compartments=3, scheme=scheme, **parts)
        cells = net.create(cell, count, V_m=np.linspace(-70.0, -60.0, count))
        recorder = net.record_state(cells, "V_m", interval=STEP)
        sim = rv.Simulation(net, threads=2, progress=False)
        sim.run(10.0)
        found.append(sim.state(recorder).values)
    assert np.ptp(found[0][:, 0, 0]) > 5.0
    np.testing.assert_allclose(found[0], found[1], rtol=0.0, atol=1e-9)


def test_a_point_process_is_described_with_currents_in_na(tmp_path: Path) -> None:
    assert "Currents (nA): i\n" in written(tmp_path, PULSE).describe()
    assert "Currents (mA/cm^2): i\n" in clock(tmp_path, current="g*t*m").describe()


def test_time_goes_on_from_a_saved_state(tmp_path: Path) -> None:
    channel = clock(tmp_path, initial="0.3", current="g*(1 + sin(t))*m*(v + 20)", rate="0.1*cos(t) - 0.02*m")

    def network() -> tuple[rv.Network, Any]:
        net = rv.Network(resolution=STEP)
        cell = rv.Cell(BALL, membrane=[("all", rv.pas()), ("all", channel())])
        cells = net.create(cell, 5, V_m=np.linspace(-80.0, -40.0, 5))
        return net, net.record_state(cells, "V_m", interval=STEP)

    found = []
    for threads in (1, 3):
        net, recorder = network()
        sim = rv.Simulation(net, threads=threads, progress=False)
        sim.run(3.0)
        sim.save(tmp_path / "state.h5")
        sim.run(4.0)
        found.append(sim.state(recorder).values)
    net, recorder = network()
    again = rv.Simulation.load(net, tmp_path / "state.h5", threads=2, progress=False)
    again.run(4.0)
    np.testing.assert_array_equal(found[1], found[0])
    np.testing.assert_array_equal(again.state(recorder).values, found[0])
    assert np.ptp(found[0][:, 0, 0]) > 1.0


@pytest.mark.parametrize("receptor", [None, "electrode"])
def test_spikes_that_would_change_nothing_are_refused(tmp_path: Path, receptor: Any) -> None:
    process = written(tmp_path, PULSE)
    assert not process.takes_spikes
    cell, other = (
        rv.Cell(morphology, membrane=[("all", rv.pas())], receptors={"electrode": (process(), rv.at(0))})
        for morphology in (BALL, TREE)
    )
    for model in (cell, [other, cell]):
        net = rv.Network(resolution=STEP)
        cells = net.create(model, 2)
        spikes = net.create_spike_generators([[1.0]])
        with pytest.raises(ValueOutOfBoundsError, match="no NET_RECEIVE"):
            net.connect(spikes, cells, rv.AllToAll(), receptor=receptor)
        with pytest.raises(ValueOutOfBoundsError, match="no NET_RECEIVE"):
            net.stimulate(cells, rv.poisson_generator(rate=5.0), receptor=receptor)
