"""Synapses and spikes of rules that lists, matrices, other projections and functions give, on several processes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mpi_runs import installation, run_python
from ranvier.processes.mpi_library import MPICH

PROGRAM = """
import json, random
import csa
import numpy as np
import ranvier as rv
from ranvier import mpi

def nearby(targets, sources, generator):
    chosen = targets[:, None] + generator.integers(-9, 10, (len(targets), 5))
    return chosen.ravel() % sources, np.repeat(targets, 5)

def of_rank(targets, sources, generator):
    return (targets + mpi.world().rank) % sources, targets

net = rv.Network(seed=3)
neurons = net.create(rv.iaf_psc_exp(I_e=400.0, V_m=rv.Normal(-65.0, 3.0)), 120, name="neurons")
others = net.create(rv.iaf_psc_exp(I_e=390.0), 80, name="others")
weight, delay = rv.Normal(15.0, 3.0), rv.Uniform(0.5, 3.0)
half = net.connect(neurons, neurons, rv.UnorderedBernoulli(0.1), weight=weight, delay=delay)
net.connect(neurons, neurons, rv.Reversed(half))
forward = net.connect(neurons, others[::2], rv.FixedIndegree(5), weight=weight, delay=delay)
net.connect(others[::2], neurons, rv.Reversed(forward), weight=weight)
net.connect(neurons, neurons, rv.SmallWorld(6, 0.2), weight=weight, delay=delay)
matrix = np.random.default_rng(1).integers(0, 30, (80, 120)) * 1.0
matrix[matrix < 20.0] = 0.0
net.connect(neurons, others, rv.FromMatrix(matrix, delay=0.5 + matrix / 10.0))
net.connect(neurons, others, rv.FunctionRule(nearby, block=9), weight=weight, delay=delay)
random.seed(1)
net.connect(neurons, others, rv.ConnectionSet(csa.random(0.05)), weight=weight, delay=delay)
spikes = net.record_spikes()
sim = rv.Simulation(net, threads=2, recordings="root")
sim.run(50.0)
told = {"digest": sim.spikes(spikes).digest(), "synapses": sim.count_connections()}

other = rv.Network()
a = other.create("iaf_psc_exp", 20)
other.connect(a, a, rv.FunctionRule(of_rank), name="function of the rank")
error = ""
try:
    rv.Simulation(other)
except rv.errors.RemoteError as raised:
    error = str(raised)
print(json.dumps([told, error]))
"""


@pytest.mark.parametrize("ranks", [2, 3, pytest.param(5, marks=pytest.mark.thorough)])
def test_spikes_of_any_number_of_processes(ranks: int, tmp_path: Path) -> None:
    told = []
    for number in (ranks, 1):
        done = run_python(installation(MPICH, "wheel"), number, PROGRAM, folder=tmp_path, timeout=120)
        assert done.status == 0, done.errors
        told.append(json.loads(done.outputs[0]))
    assert told[0][0] == told[1][0]
    assert told[0][0]["synapses"] > 4000
    # A function that depends on the rank.
    assert "its projection 'function of the rank' is not the same on all ranks" in told[0][1]
    assert not told[1][1]
