"""A potential that leaves all bounds on one of several processes: all of them end together, soon."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from mpi_runs import WHEELS, Installation, run_python

PROGRAM = """
import json, sys
import ranvier as rv

soma = rv.Section(length=20.0, diameter=20.0)
cell = rv.Cell(
    rv.Morphology([soma, rv.Section(length=200.0, diameter=2.0, parent=0, tag="basal")]),
    compartments=2,
    membrane=[("all", rv.hh())],
    electrodes={"tip": rv.at(1, 1.0)},
    receptors={"exc": (rv.expsyn(), rv.at(0))},
)
net = rv.Network(resolution=0.025)
cells = net.create(cell, 9, name="ill")
net.connect(cells, cells, rv.FixedIndegree(3), weight=0.0, delay=1.0, receptor="exc")
net.stimulate(cells[5], rv.dc_generator(amplitude=1e5, start=3.0))
sim = rv.Simulation(net, stepping=sys.argv[1], threads=1, progress=False)
told = []
for _ in range(2):
    try:
        sim.run(5000.0)
    except rv.errors.RanvierError as error:
        told.append([type(error).__name__, str(error), sim.time])
print(json.dumps(told))
"""


@pytest.mark.parametrize(
    ("where", "ranks", "stepping"),
    [
        pytest.param(WHEELS[0], 3, "bsp", id="bsp", marks=pytest.mark.thorough),
        pytest.param(WHEELS[1], 2, "async", id="async"),
    ],
)
def test_all_ranks_end_together(where: Installation, ranks: int, stepping: str, tmp_path: Path) -> None:
    """The rank of the neuron tells it, the others that it did; so it is when the run is continued."""
    done = run_python(where, ranks, PROGRAM, stepping, folder=tmp_path, timeout=60)
    assert done.status == 0, done.errors
    ranks_told = [json.loads(text.splitlines()[-1]) for text in done.outputs]
    for first_or_again in range(2):
        told = [of_rank[first_or_again] for of_rank in ranks_told]
        assert sorted({name for name, _, _ in told}) == ["RemoteError", "StateError"]
        (message,) = [text for name, text, _ in told if name == "StateError"]
        assert "neuron 5 of population 'ill' at section 1" in message
        assert len({time for _, _, time in told}) == 1
        # Epochs of 1 ms, and processes talk about it after 16 of them.
        assert told[0][2] < 3.0 + 20.0 * (first_or_again + 1)
