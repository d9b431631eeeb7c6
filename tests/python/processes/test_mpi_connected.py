"""The exchange among connected processes, on independent networks of several sizes."""

from __future__ import annotations

import json
from pathlib import Path

from mpi_runs import installation, run_python
from ranvier.processes.mpi_library import MPICH

PROGRAM = """
import dataclasses, json, sys
import numpy as np
import ranvier as rv
from ranvier import mpi

# Two rings of populations without synapses between them. The first is on ranks 0 and 2, the second on rank 1.
net = rv.Network(seed=3)
rings = []
for drive in (400.0, 450.0):
    ring = net.create(rv.iaf_psc_exp(I_e=drive, V_m=rv.Normal(-65.0, 3.0)), 60)
    net.connect(ring, ring, rv.FixedIndegree(10), weight=20.0, delay=1.5)
    rings.append(ring)
spikes = net.record_spikes()
digests = {}
for method in sys.argv[1:]:
    options = {} if mpi.world().size == 1 else {
        "exchange": method, "placement": np.array([0, 2] * 30 + [1] * 60)
    }
    sim = rv.Simulation(net, threads=1, recordings="root", processes=rv.Processes(**options))
    sim.run(50.0)
    traffic = dataclasses.asdict(sim.traffic())
    digests[method] = {"digest": sim.spikes(spikes).digest(), "spikes": len(sim.spikes(spikes)), **traffic}
print(json.dumps(digests))
"""


def test_parts_have_the_spikes_of_one_process(tmp_path: Path) -> None:
    methods = ("connected", "alltoall")
    done = run_python(installation(MPICH, "wheel"), 3, PROGRAM, *methods, folder=tmp_path, timeout=120)
    assert done.status == 0, done.errors
    told = [json.loads(output) for output in done.outputs]
    alone = run_python(installation(MPICH, "wheel"), 1, PROGRAM, "none", folder=tmp_path, timeout=120)
    assert alone.status == 0, alone.errors
    expected = json.loads(alone.outputs[0])["none"]
    assert expected["spikes"] > 100
    assert {told[0][method]["digest"] for method in methods} == {expected["digest"]}
    messages = [each["connected"]["messages"] for each in told]
    rounds = [each["connected"]["rounds"] for each in told]
    assert messages == [rounds[0], 0, rounds[2]]
    assert rounds[0] == rounds[2]
    assert all(each["alltoall"]["messages"] == 2 * each["alltoall"]["rounds"] for each in told)
