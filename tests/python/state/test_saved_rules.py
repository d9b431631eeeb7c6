"""Saved states of networks whose connections are lists, files or those of other projections."""

from __future__ import annotations

from pathlib import Path

import h5py
import numpy as np
import pytest

import ranvier as rv
from ranvier import errors

HALF = 25.0


def described(folder: Path) -> tuple[rv.Network, rv.SpikeRecorder]:
    net = rv.Network(seed=3)
    a = net.create(rv.iaf_psc_exp(I_e=400.0, V_m=rv.Normal(-65.0, 3.0)), 100, name="a")
    b = net.create(rv.iaf_psc_exp(I_e=390.0), 80, name="b")
    half = net.connect(
        a,
        a,
        rv.UnorderedBernoulli(0.1),
        weight=rv.Uniform(10.0, 20.0),
        delay=rv.Uniform(0.5, 3.0),
        synapse=rv.stdp_pl(),
    )
    net.connect(a, a, rv.Reversed(half), synapse=rv.stdp_pl())
    edges = rv.EdgeFile(
        folder / "edges.h5",
        source="pre",
        target="post",
        first=0,
        weight="w",
        delay="d",
        values=["U"],
        store=folder / "store",
    )
    net.connect(a, b, edges, synapse=rv.tsodyks2(U=edges["U"]))
    net.connect(b, a, rv.FromMatrix(np.add.outer(np.arange(100), np.arange(80)) % 9 == 0), weight=10.0)
    net.connect(a, a, rv.SmallWorld(6, 0.2), weight=10.0)
    return net, net.record_spikes()


def write_edges(path: Path, seed: int = 1) -> None:
    random = np.random.default_rng(seed)
    with h5py.File(path, "w") as file:
        file["pre"] = random.integers(0, 100, 2000)
        file["post"] = random.integers(0, 80, 2000)
        file["w"] = random.normal(20.0, 3.0, 2000)
        file["d"] = random.integers(1, 30, 2000) / 10.0
        file["U"] = random.random(2000)


def test_the_second_half_of_a_run(tmp_path: Path) -> None:
    write_edges(tmp_path / "edges.h5")
    net, recorder = described(tmp_path)
    whole = rv.Simulation(net, threads=1)
    whole.run(2 * HALF)
    spikes = whole.spikes(recorder)
    assert np.count_nonzero(spikes.times > HALF) > 100
    first = rv.Simulation(net, threads=2)
    first.run(HALF)
    first.save(tmp_path / "state.h5")
    again, recorder = described(tmp_path)
    loaded = rv.Simulation.load(again, tmp_path / "state.h5", threads=3)
    loaded.run(HALF)
    later = loaded.spikes(recorder)
    for name in ("times", "ids"):
        assert np.array_equal(getattr(later, name)[later.times > HALF], getattr(spikes, name)[spikes.times > HALF])
    for projection in range(5):
        expected, found = (
            np.sort(sim.connections(projection=sim.network.projections[projection]).weights) for sim in (whole, loaded)
        )
        assert np.array_equal(found, expected)


def test_another_file(tmp_path: Path) -> None:
    write_edges(tmp_path / "edges.h5")
    sim = rv.Simulation(described(tmp_path)[0], threads=1)
    sim.run(1.0)
    sim.save(tmp_path / "state.h5")
    write_edges(tmp_path / "edges.h5", seed=2)
    with pytest.raises(errors.RanvierError, match="rule of projection 'a to b'"):
        rv.Simulation.load(described(tmp_path)[0], tmp_path / "state.h5", threads=1)
