"""Parameters of which each synapse has a value of its own, on several processes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

import ranvier as rv
from mpi_families import any_family
from mpi_runs import Installation, run_python
from ranvier import mpi
from ranvier.errors import RanvierError
from repository import TESTS

SCRIPT = f"""
import json, sys
sys.path[:0] = [{str(TESTS / "processes")!r}, {str(TESTS / "support")!r}]
from pathlib import Path
from ranvier import mpi
from test_mpi_parameters import told
Path(f"told.{{mpi.world().rank}}.json").write_text(json.dumps(told()))
"""


def told() -> dict[str, Any]:
    """Return what a simulation tells of parameters that were drawn, given and changed; the same on all processes."""
    net = rv.Network(seed=4)
    neurons = net.create("iaf_psc_alpha", 60, I_e=rv.Uniform(350.0, 480.0), V_m=rv.Normal(-65.0, 3.0))
    random = np.random.default_rng(1)
    drawn = rv.tsodyks2(U=rv.Uniform(0.1, 0.5), tau_rec=rv.Uniform(50.0, 200.0))
    weight = rv.Normal(10.0, 20.0)
    net.connect(neurons, neurons, rv.FixedOutdegree(20), weight=weight, delay=rv.Uniform(0.5, 3.0), synapse=drawn)
    listed = rv.bernoulli(p_transmit=random.random(900))
    net.connect(neurons, neurons, rv.FixedTotalNumber(900), weight=weight, delay=1.0, synapse=drawn)
    net.connect(neurons, neurons, rv.FixedIndegree(15), weight=15.0, delay=1.0, synapse=listed)
    recorder = net.record_spikes()
    sim = rv.Simulation(net, progress=False, threads=1)
    sim.run(60.0)
    found: dict[str, Any] = {"errors": []}
    some = sim.connections(projection=net.projections[0])
    many = np.linspace(0.2, 0.8, len(some))
    wrong_on_one = many if mpi.world().rank == 0 else many[::-1]
    for values in ({"U": np.append(many[1:], 1.5)}, {"u": 0.5}, {"tau_fac": 1.0}, {"U": many[1:]}, {"V": 1.0}):
        try:
            some.set(**values)
        except RanvierError as error:
            found["errors"].append(f"{type(error).__name__}: {error}")
    if mpi.world().size > 1:
        try:
            some.set(U=wrong_on_one)
        except RanvierError:
            found["refused"] = True
    found["before"] = some.get("U").tolist()
    some.set(U=many, tau_rec=100.0)
    sim.run(60.0)
    for projection in net.projections:
        for name in projection.synapse.per_synapse_names:
            found[f"{projection.index} {name}"] = sim.connections(projection=projection).get(name).tolist()
    found["digest"] = sim.spikes(recorder).digest()
    return found


@any_family
def test_all_ranks_are_told_the_same_as_one_process(where: Installation, tmp_path: Path) -> None:
    run = run_python(where, 3, SCRIPT, folder=tmp_path)
    assert run.status == 0, run.errors
    on_ranks = [json.loads((tmp_path / f"told.{rank}.json").read_text()) for rank in range(3)]
    assert all(each.pop("refused") for each in on_ranks)
    alone = json.loads(json.dumps(told()))
    assert len(alone["errors"]) == 5
    assert all(each == alone for each in on_ranks)
