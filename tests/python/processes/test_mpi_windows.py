"""Methods that write to remote memory say so where an MPI library cannot do it, and `auto` does without them."""

from __future__ import annotations

from pathlib import Path

from mpi_runs import installation, run_python
from ranvier.processes.mpi_library import OPEN_MPI

PROGRAM = """
import ranvier as rv
from ranvier.errors import CommunicationError
from ranvier.networks import interval_fire

for method in ("rma_allgather", "rma_bruck_pscw", "auto"):
    model = interval_fire(cells=16, connections=4)
    try:
        simulation = rv.Simulation(model.net, threads=1, progress=False, processes=rv.Processes(exchange=method))
        simulation.run(5.0)
        print(simulation.exchange)
    except CommunicationError as error:
        print(error)
"""


def test_a_library_without_windows(tmp_path: Path) -> None:
    where = installation(OPEN_MPI, "wheel")
    # All of Open MPI's components for one-sided communication.
    done = run_python(where, 2, PROGRAM, folder=tmp_path, environment={"OMPI_MCA_osc": "^sm,rdma,ucx,pt2pt"})
    assert done.status == 0, done.errors
    for output in done.outputs:
        fence, partners, automatic = output.splitlines()
        for text in (fence, partners):
            assert "MPI_Win_allocate" in text
            assert "choose a method of exchange that does not write to remote memory" in text
        assert automatic == "auto"
