"""Potentials of point neurons by kernels, against sums over all spikes."""

from __future__ import annotations

import math
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

import ranvier as rv
from kernel_scenes import CONTACTS, LAGS, kernels, network, potentials
from mpi_runs import WHEELS, run_python
from repository import SUPPORT

FloatArray = npt.NDArray[np.float64]
_BIN = 3  # steps


def expected(steps: npt.NDArray[np.int64], spikes: rv.SpikeData, net: rv.Network) -> FloatArray:
    """Return the sum of the kernels of all spikes, each from the end of its bin on."""
    first, second = kernels()
    kernel_of = dict.fromkeys((net["exc"] + net["sources"]).ids, first.values)
    kernel_of |= dict.fromkeys(net["inh"][5:].ids, second.values)
    sums = np.zeros((len(steps), len(CONTACTS)))
    for step, neuron in zip(spikes.steps, spikes.ids, strict=True):
        values = kernel_of.get(neuron)
        for sample, at in enumerate(steps):
            lag = (at + -step // _BIN * _BIN) // _BIN
            if values is not None and 0 <= lag < values.shape[1]:
                sums[sample] += values[:, lag]
    return sums


def test_potentials_are_sums_of_the_kernels_of_all_spikes() -> None:
    net, recorder, spikes = network()
    sim = rv.Simulation(net, progress=False)
    sim.run(40.0)
    data, fired = sim.extracellular(recorder), sim.spikes(spikes)
    np.testing.assert_array_equal(data.steps, np.arange(6, 401, 6))
    wanted = expected(data.steps, fired, net)
    assert all((fired.ids == neuron).any() for neuron in (net["inh"].ids[-1], net["sources"].ids[-1]))
    np.testing.assert_allclose(data.potentials, wanted, rtol=0.0, atol=1e-13 * np.abs(wanted).max())
    assert recorder.description == "V_e at 3 contacts by kernels of exc + sources + inh every 0.6 ms"
    np.testing.assert_array_equal(sim.state(recorder)["V_e"], data.potentials)


def test_same_bits_on_threads_with_any_stepping_and_cuts(tmp_path: Path) -> None:
    """Cuts lie within bins too."""
    whole = potentials()
    for options in ({"threads": 3}, {"threads": 2, "stepping": "async"}, {"tuning": rv.Tuning(shards=4)}):
        np.testing.assert_array_equal(potentials(**options), whole)
    for to in (None, tmp_path / "lfp.h5"):
        net, recorder, _ = network(to)
        cut = rv.Simulation(net, threads=2, progress=False)
        cut.run(5.0)
        cut.extracellular(recorder)
        cut.run(2.5)
        cut.save(tmp_path / "state.h5")
        del cut
        net, recorder, _ = network(to)
        loaded = rv.Simulation.load(net, tmp_path / "state.h5", progress=False)
        # After more bins than the kernels have, and within one: the first of those that act still has a spike.
        loaded.run(7.3)
        loaded.extracellular(recorder)
        loaded.run(5.2)
        np.testing.assert_array_equal(loaded.extracellular(recorder).potentials, whole)


@pytest.mark.thorough
@pytest.mark.parametrize("ranks", [2, 5])
def test_same_bits_on_processes(ranks: int, tmp_path: Path) -> None:
    net, _, _ = network()
    sim = rv.Simulation(net, progress=False)
    sim.run(7.7)
    sim.save(tmp_path / "state.h5")
    done = run_python(WHEELS[0], ranks, SUPPORT / "kernel_scenes.py", str(tmp_path / "state.h5"), folder=tmp_path)
    assert done.status == 0, done.errors
    whole = potentials().tobytes().hex()[-200:]
    assert [output.split() for output in done.outputs] == [[whole] * 5, *[[whole] * 3] * (ranks - 1)]


def test_files_and_copies() -> None:
    net, recorder, _ = network()
    copy = pickle.loads(pickle.dumps(net))
    assert copy == net
    assert copy.recorders[0].kernels[1][1] == kernels()[1]
    assert pickle.loads(pickle.dumps(recorder)).description == recorder.description


def test_memory_does_not_grow_with_spikes() -> None:
    net, _, _ = network()
    kernel_bytes = 2 * max(LAGS) * 8 * len(CONTACTS)
    assert kernel_bytes <= rv.predict_memory(net, time=0.0)["recordings"] < 3 * kernel_bytes

    def taken(rate: float) -> tuple[int, float]:
        net = rv.Network()
        sources = net.create(rv.poisson_generator(rate=rate), 100)
        recorder = net.record_lfp({sources: kernels()[0]})
        sim = rv.Simulation(net, progress=False)
        sim.run(300.0)
        return sim.memory()["recordings"], float(np.abs(sim.extracellular(recorder).potentials).max())

    few, many = taken(1.0), taken(5000.0)
    assert many[0] == few[0]
    assert many[1] > 10.0 * few[1]


def test_bad_kernels() -> None:
    def kernel(values: Any = ((1.0, 2.0),), interval: Any = 0.1, contacts: Any = ((0.0, 0.0, 1.0),)) -> Any:
        return rv.PotentialKernel(values, interval, contacts)

    for shape in ((2,), (3, 4), (1, 0)):
        with pytest.raises(rv.errors.ShapeError, match=r"it must be \(1, lags\)"):
            kernel(np.zeros(shape))
    with pytest.raises(rv.errors.ShapeError, match="transpose it"):
        kernel(np.zeros((4, 1)))
    with pytest.raises(rv.errors.ValueOutOfBoundsError, match=r"contact 0, lag 1.*nan mV.*finite"):
        kernel([[1.0, math.nan]])
    for interval in (0.0, -1.0, math.inf):
        with pytest.raises(rv.errors.ValueOutOfBoundsError, match="interval of a kernel"):
            kernel(interval=interval)
    net = rv.Network()
    exc, inh = net.create("iaf_psc_exp", 3, name="exc"), net.create("iaf_psc_exp", 3, name="inh")
    good = kernel()
    refused: list[tuple[Any, type[Exception], str]] = [
        (good, rv.errors.WrongTypeError, "mapping"),
        ({}, rv.errors.ShapeError, "empty"),
        ({"exc": good}, rv.errors.WrongTypeError, "population"),
        ({exc: good.values}, rv.errors.WrongTypeError, r"kernel of exc.*PotentialKernel"),
        ({exc: good, exc[:2]: good}, rv.errors.ValueOutOfBoundsError, "exc"),
        ({exc: good, inh: kernel(interval=0.2)}, rv.errors.ValueOutOfBoundsError, r"kernel of inh.*0\.2 ms.*exc.*0\.1"),
        ({exc: good, inh: kernel(contacts=[[0, 0, 2.0]])}, rv.errors.ValueOutOfBoundsError, "contacts of the kernel"),
        ({rv.Network().create("iaf_psc_exp", 1): good}, rv.errors.StateError, "another network"),
        ({exc: kernel(interval=0.05)}, rv.errors.GridError, "interval of a kernel"),
    ]
    for given, error, message in refused:
        with pytest.raises(error, match=message):
            net.record_lfp(given)
    for every in (0.15, 0.3, 0.0):
        with pytest.raises(rv.errors.GridError, match="interval of a recorder of potentials"):
            net.record_lfp({exc: kernel(interval=0.2)}, every)
    assert not net.recorders
    net.record_lfp({exc: good})
    with pytest.raises(rv.errors.StateError, match="resolution"):
        net.resolution = 0.2
    sim = rv.Simulation(net, progress=False)
    later = net.record_lfp({inh: good})
    with pytest.raises(rv.errors.StateError, match="after the simulation was built"):
        sim.extracellular(later)
