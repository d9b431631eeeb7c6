"""Connections from a file, which all processes convert and read at the same time."""

from __future__ import annotations

import json
from pathlib import Path

import h5py
import numpy as np

from mpi_runs import installation, run_python
from ranvier.processes.mpi_library import MPICH

PROGRAM = """
import json, sys
import ranvier as rv

net = rv.Network(seed=3)
neurons = net.create(rv.iaf_psc_exp(I_e=400.0, V_m=rv.Normal(-65.0, 3.0)), 300)
edges = rv.EdgeFile("edges.h5", source="pre", target="post", first=1, weight="w", delay="d", store="store")
net.connect(neurons, neurons, edges)
spikes = net.record_spikes()
sim = rv.Simulation(net, threads=2, recordings="root")
sim.run(50.0)
print(json.dumps({"digest": sim.spikes(spikes).digest(), "synapses": sim.count_connections()}))
"""


def test_spikes_of_any_number_of_processes(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    rows = 20_000
    with h5py.File(tmp_path / "edges.h5", "w") as file:
        file["pre"] = random.integers(1, 301, rows)
        file["post"] = random.integers(1, 301, rows)
        file["w"] = random.normal(15.0, 3.0, rows)
        file["d"] = random.integers(1, 30, rows) / 10.0
    told = []
    for ranks in (3, 1):
        done = run_python(installation(MPICH, "wheel"), ranks, PROGRAM, folder=tmp_path, timeout=120)
        assert done.status == 0, done.errors
        told.append(json.loads(done.outputs[0]))
    assert told[0] == told[1]
    assert told[0]["synapses"] == rows
    # The first process has converted the file for all of them.
    assert len([each for each in (tmp_path / "store").iterdir() if each.is_dir()]) == 1
