"""A process that waits for a call that others do not make says so."""

from __future__ import annotations

from pathlib import Path

import pytest

from mpi_families import any_family
from mpi_runs import Installation, run_python
from thorough_cases import only

PROGRAM = """
import sys, time
import ranvier as rv
from ranvier import mpi
from ranvier.processes import agreement

net = rv.Network()
recorder = net.record_spikes(net.create(rv.iaf_psc_exp(I_e=500.0), 4))
sim = rv.Simulation(net, threads=1, progress=False)
sim.run(20.0)
sim.spikes(recorder)
agreement.SECONDS_UNTIL_NOTICE = 0.5
if mpi.world().rank == 1:
    time.sleep(float(sys.argv[1]))
sim.spikes(recorder)
"""


@pytest.mark.parametrize("seconds", only([1.0], [1.0, 2.0]))
@any_family
def test_who_waits_for_a_call_of_others_says_so(where: Installation, seconds: float, tmp_path: Path) -> None:
    """Once, and only the process that waits; the call goes on when all have come."""
    done = run_python(where, 2, PROGRAM, str(seconds), folder=tmp_path, timeout=60)
    assert done.status == 0, done.errors
    told = [line for line in done.errors.splitlines() if "has waited" in line]
    assert len(told) == 1, done.errors
    assert "rank 0 of 2 has waited for 0.5 s at 'recordings', which goes on when all ranks make this call" in told[0]
