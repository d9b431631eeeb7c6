"""Synapses and spikes of rules by distance on several processes, for each placement."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mpi_runs import installation, run_python
from ranvier.processes.mpi_library import MPICH

PROGRAM = """
import json
import numpy as np
import ranvier as rv
from ranvier import mpi

def describe():
    net = rv.Network(seed=3)
    box = dict(extent=(1.0, 0.8), periodic=True)
    exc = net.create(rv.iaf_psc_exp(I_e=400.0, V_m=rv.Normal(-65.0, 3.0)), 300, positions=rv.random_positions(**box))
    inh = net.create(rv.iaf_psc_exp(I_e=390.0), positions=rv.grid((10, 8), **box))
    weight, delay = rv.Normal(15.0, 3.0), "0.5*ms + d/(0.3*mm/ms)"
    mask = rv.donut(0.05, 0.3) | rv.rectangle((0, 0), (0.4, 0.1), angle=30)
    net.connect(exc, exc + inh, rv.PairwiseBernoulli("0.4*exp(-d/l)", l=0.1), weight=weight, delay=delay)
    net.connect(inh, exc[::3], rv.PairwisePoisson("0.5*exp(-(dx/0.2)**2)", mask=mask), weight=-20.0, delay=delay)
    net.connect(exc, exc, rv.FixedIndegree(10, mask=mask, probability="exp(-d/l)", l=0.2), weight=weight)
    net.connect(exc[10:], inh, rv.FixedOutdegree(4, mask=mask, allow_multapses=False), weight=weight, delay=delay)
    net.connect(inh, inh, rv.FixedTotalNumber(500, probability="exp(-d/l)", l=0.2), weight=-10.0)
    net.connect(inh, exc, rv.AllToAll(mask=rv.circle(0.1)), weight=-10.0)
    return net

results = []
placements = [("round_robin", 1), ("space", 2), ("consecutive", 1), ("shuffle", 3)]
for placement, threads in placements:
    net = describe()
    spikes = net.record_spikes()
    sim = rv.Simulation(net, threads=threads, recordings="root", processes=rv.Processes(placement=placement))
    sim.run(50.0)
    results.append([sim.spikes(spikes).digest(), sim.count_connections()])

print(json.dumps(results))
"""


# Neuron 1234 differs from all others, which is known only when its synapses are drawn, on one of the processes.
FAILURE = """
import sys
import numpy as np
import ranvier as rv

net = rv.Network()
angle = np.linspace(0.0, 2.0 * np.pi, 5000)
points = np.stack([np.cos(angle), np.sin(angle)], axis=1)
rule = rv.FixedIndegree(10)
weight = 1.0
width = rv.Normal("where(j == 1234, 0.01, 1.0)", 0.1)
if sys.argv[1] == "few candidates":
    # There are so many candidates that only some neurons are looked at when the rule is described.
    angle = np.linspace(0.0, 2.0 * np.pi, 20000)
    points = np.stack([np.cos(angle), np.sin(angle)], axis=1)
    points[1234] = 0.0
    rule = rv.FixedIndegree(600, mask=rv.circle(0.1), allow_multapses=False)
elif sys.argv[1] == "probability":
    rule = rv.PairwiseBernoulli("where(j == 1234, 1.5 - 0.1*d, 0.001)")
elif sys.argv[1] == "width":
    weight = rv.Normal(1.0, width)
else:
    weight = rv.Uniform(0.0, width)
cells = net.create("iaf_psc_exp", positions=points, name="cells")
net.connect(cells, cells, rule, weight=weight)
rv.Simulation(net)
"""
FAILURES = {
    "few candidates": "target 1234 of 20000 (counted from 0) has 1 source ",
    "probability": "probability of rule 'pairwise_bernoulli' is 1.",
    "width": "in weight of projection 'cells to cells' is -0.",
    "bounds": "high - low of Uniform(low=0.0, high=Normal(mean='where(j == 1234, 0.01, 1.0)'",
}


@pytest.mark.parametrize("ranks", [3, *(pytest.param(ranks, marks=pytest.mark.thorough) for ranks in (2, 4, 5))])
def test_spikes_of_any_number_of_processes(ranks: int, tmp_path: Path) -> None:
    told = []
    for number in (ranks, 1):
        done = run_python(installation(MPICH, "wheel"), number, PROGRAM, folder=tmp_path, timeout=120)
        assert done.status == 0, done.errors
        told.append(json.loads(done.outputs[0]))
    assert told[1][0][1] > 8000
    assert told[0] == told[1] == [told[1][0]] * 4


@pytest.mark.parametrize("case", FAILURES)
def test_what_fails_for_one_neuron_ends_the_run_of_all_processes(case: str, tmp_path: Path) -> None:
    ranks = 2 if case == "width" else 3
    done = run_python(installation(MPICH, "wheel"), ranks, FAILURE, case, folder=tmp_path, timeout=60)
    assert done.status != 0
    assert FAILURES[case] in done.errors
    assert f"this ends the run on all {ranks} ranks" in done.errors
    if case == "probability":
        assert "at the distance" in done.errors
