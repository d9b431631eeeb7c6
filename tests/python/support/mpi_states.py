"""A program for tests that saves a state on several processes, and one that goes on from it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import ranvier as rv
from mpi_runs import Installation, run_python
from state_scenes import HALF, whole, with_synapses

__all__ = ["carry_out", "check_other_ranks", "check_recordings", "memory_of_loading"]

TESTS = Path(__file__).parent

SCRIPT = f"""
import json, sys
sys.path.insert(0, {str(TESTS)!r})
import ranvier as rv
from pathlib import Path
from ranvier import mpi
from state_scenes import HALF, with_synapses

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


def carry_out(where: Installation, folder: Path, ranks: int, *arguments: str) -> list[dict[str, Any]]:
    run = run_python(where, ranks, SCRIPT, *arguments, folder=folder)
    assert run.status == 0, run.errors
    return [json.loads((folder / f"told.{rank}.json").read_text()) for rank in range(ranks)]


def check_recordings(where: Installation, recordings: str, tmp_path: Path) -> None:
    """Save on two processes, go on, and make sure that each has what it should have."""
    carry_out(where, tmp_path, 2, "save", recordings)
    assert len(list(tmp_path.glob("state.*.rank1.h5"))) == 1
    told = carry_out(where, tmp_path, 2, "load", recordings)
    net = with_synapses("stdp")
    plain = rv.Simulation(net, progress=False)
    plain.run(2.0 * HALF)
    recorder = net.recorders[0]
    assert isinstance(recorder, rv.SpikeRecorder)
    expected = plain.spikes(recorder)
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


OTHER_RANKS = f"""
import json, sys
sys.path.insert(0, {str(TESTS)!r})
import ranvier as rv
from pathlib import Path
from ranvier import mpi
from state_scenes import outcome, saved_half_way, second_half, with_synapses

what, placement, forgets, *models = sys.argv[1:]
told, keeps = {{}}, not int(forgets)
for model in models:
    net, path = with_synapses(model, records_weights=keeps), model + ".h5"
    sorts = what == "save"
    processes = rv.Processes(
        placement=placement,
        sort_connections=sorts,
        keep_sources=keeps,
        row_numbering="auto" if keeps or not sorts else "compact",
    )
    options = dict(threads=2, processes=processes)
    if what == "save":
        saved_half_way(net, path, **options)
    else:
        sim = rv.Simulation.load(net, path, recordings="local", progress=False, **options)
        own = sim.spikes(net.recorders[0])
        told[model + " before"] = [own.steps.tolist(), own.ids.tolist()]
        told[model] = second_half(rv.Simulation.load(net, path, progress=False, **options), keeps)
Path(f"told.{{mpi.world().rank}}.json").write_text(json.dumps(told))
"""


def check_other_ranks(
    where: Installation,
    folder: Path,
    models: Sequence[str],
    ranks: tuple[int, int],
    placement: str,
    forgets: bool = False,
) -> None:
    """Save on some processes, and go on with other ones; each gets the recordings of its own neurons."""
    for count, arguments in zip(ranks, (("save", "round_robin"), ("load", placement)), strict=True):
        run = run_python(where, count, OTHER_RANKS, *arguments, str(int(forgets)), *models, folder=folder)
        assert run.status == 0, run.errors
    told = [json.loads((folder / f"told.{rank}.json").read_text()) for rank in range(ranks[1])]
    for model in models:
        net = with_synapses(model, records_weights=not forgets)
        plain = rv.Simulation(net, progress=False)
        plain.run(HALF)
        recorder = net.recorders[0]
        assert isinstance(recorder, rv.SpikeRecorder)
        expected = plain.spikes(recorder)
        spikes = [set(zip(*each[model + " before"], strict=True)) for each in told]
        assert sum(map(len, spikes)) == len(expected)
        assert set.union(*spikes) == set(zip(expected.steps.tolist(), expected.ids.tolist(), strict=True))
        assert all({neuron for _, neuron in own} for own in spikes)
        assert [each[model] for each in told] == [whole(net, not forgets)] * ranks[1], model


MEMORY = """
import json, sys
import ranvier as rv
import ranvier.simulation.simulation as simulation
from pathlib import Path
from ranvier import mpi

what, placement = sys.argv[1:]
world = mpi.world()

def status(key):
    (line,) = (line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(key))
    return 1024 * int(line.split()[1])

def measured(*arguments):
    Path("/proc/self/clear_refs").write_text("5")
    before = status("VmRSS")
    load_state(*arguments)
    Path(f"told.{world.rank}.json").write_text(json.dumps(status("VmHWM") - before))

load_state, simulation.load_state = simulation.load_state, measured
net = rv.Network(seed=3)
neurons = net.create(rv.iaf_psc_exp(I_e=rv.Uniform(370.0, 400.0)), 4000 * world.size)
synapse = rv.stdp(W_max=1.0, axonal_fraction=0.5)
net.connect(neurons, neurons, rv.FixedIndegree(1000), weight=0.1, delay=rv.Uniform(0.5, 3.0), synapse=synapse)
options = dict(threads=1, progress=False, processes=rv.Processes(placement=placement))
if what == "save":
    sim = rv.Simulation(net, **options)
    sim.run(30.0)
    sim.save("state.h5")
else:
    rv.Simulation.load(net, "state.h5", **options)
"""


def memory_of_loading(where: Installation, folder: Path, ranks: int) -> int:
    """Return the bytes that loading takes beside the network, where it takes most; each process has 4 M synapses."""
    for arguments in (("save", "round_robin"), ("load", "shuffle")):
        run = run_python(where, ranks, MEMORY, *arguments, folder=folder)
        assert run.status == 0, run.errors
    return max(int(json.loads((folder / f"told.{rank}.json").read_text())) for rank in range(ranks))
