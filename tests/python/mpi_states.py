"""A program for tests that saves a state on several processes, and one that goes on from it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import ranvier as rv
from mpi_runs import WHEELS, run_python
from state_scenes import HALF, with_synapses

__all__ = ["carry_out", "check_recordings"]

TESTS = Path(__file__).parent

SCRIPT = f"""
import json, sys
sys.path.insert(0, {str(TESTS)!r})
import ranvier as rv
from pathlib import Path
from ranvier import mpi
from state_scenes import HALF, with_synapses

__all__ = ["carry_out", "check_recordings"]

def described():
    net = with_synapses("stdp")
    net.record_spikes(to="spikes.h5")
    return net

net, told = described(), {{}}
options = dict(recordings=sys.argv[2], progress=False, threads=1)
if sys.argv[1] == "save":
    sim = rv.Simulation(net, **options)
    sim.run(HALF)
    sim.save("state.h5")
else:
    try:
        sim = rv.Simulation.load(net, "state.h5", **options)
        sim.run(HALF)
        told["counts"] = [sim.counts().spikes, sim.counts().steps]
        memory = sim.spikes(net.recorders[0])
        told["spikes"] = [memory.steps.tolist(), memory.ids.tolist()]
    except rv.errors.RanvierError as error:
        told["error"] = f"{{type(error).__name__}}: {{error}}"
Path(f"told.{{mpi.world().rank}}.json").write_text(json.dumps(told))
"""


def carry_out(folder: Path, ranks: int, *arguments: str) -> list[dict[str, Any]]:
    run = run_python(WHEELS[0], ranks, SCRIPT, *arguments, folder=folder)
    assert run.status == 0, run.errors
    return [json.loads((folder / f"told.{rank}.json").read_text()) for rank in range(ranks)]


def check_recordings(recordings: str, tmp_path: Path) -> None:
    """Save on two processes, go on, and make sure that each has what it should have."""
    carry_out(tmp_path, 2, "save", recordings)
    assert len(list(tmp_path.glob("state.*.rank1.h5"))) == 1
    told = carry_out(tmp_path, 2, "load", recordings)
    net = with_synapses("stdp")
    plain = rv.Simulation(net, progress=False)
    plain.run(2.0 * HALF)
    expected = plain.spikes(net.recorders[0])  # type: ignore[arg-type]
    assert rv.read_spikes(tmp_path / "spikes.h5").digest() == expected.digest()
    spikes = [list(zip(*each["spikes"], strict=True)) for each in told]
    all_of_them = list(zip(expected.steps.tolist(), expected.ids.tolist(), strict=True))
    wanted = {
        "everywhere": [all_of_them, all_of_them],
        "root": [all_of_them, []],
        "local": [[each for each in all_of_them if each[1] % 2 == rank] for rank in range(2)],
    }
    assert spikes == wanted[recordings]
    assert all(each["counts"] == [plain.counts().spikes, plain.counts().steps] for each in told)
