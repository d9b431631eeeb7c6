"""One process that plays one of many."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import ranvier as rv
from mpi_families import any_family
from mpi_runs import Installation, run_python
from ranvier.command_line import main
from ranvier.forecast.dry_run import play

NETWORK = """
import ranvier as rv


def network(size=2000, drive=20000.0):
    net = rv.Network(seed=4, name="two populations")
    exc = net.create(rv.iaf_psc_exp(V_m=rv.Normal(-60.0, 5.0)), size, name="exc")
    inh = net.create(rv.iaf_psc_exp(V_m=rv.Normal(-60.0, 5.0)), size // 4, name="inh")
    for target in (exc, inh):
        net.connect(exc, target, rv.FixedIndegree(160), weight=20.0, delay=1.5)
        net.connect(inh, target, rv.FixedIndegree(40), weight=-100.0, delay=1.5)
        net.stimulate(target, rv.poisson_generator(rate=drive), weight=20.0)
    return net
"""


@pytest.fixture
def network_file(tmp_path: Path) -> Path:
    path = tmp_path / "two_populations.py"
    path.write_text(NETWORK)
    return path


def describe(size: int = 2000, drive: float = 20_000.0) -> rv.Network:
    names: dict[str, object] = {}
    exec(NETWORK, names)
    network = names["network"]
    assert callable(network)
    net = network(size=size, drive=drive)
    assert isinstance(net, rv.Network)
    return net


def test_rank_of_a_dry_run() -> None:
    net = describe()
    spikes = net.record_spikes()
    played = play(net, 10, duration=100.0, presim=50.0, threads=2)
    sim = rv.Simulation(net, recordings="local", threads=1, dry_run=rv.DryRun(ranks=10))
    sim.run(50.0)
    sim.reset_counts()
    sim.run(100.0)
    data = sim.spikes(spikes).between(50.0)
    assert (played.ranks, played.threads, played.neurons) == (10, 2, 250)
    assert played.synapses == 250 * 200
    assert played.spikes == len(data) > 100
    assert played.rate == pytest.approx(len(data) / 250 / 0.1)
    assert played.events == sim.counts().synaptic_events // 10
    assert played.simulated == pytest.approx(100.0)
    assert played.traffic["spikes_sent"] == played.traffic["spikes_received"] > played.spikes
    assert played.memory["presynaptic"] > 0
    assert played.resident > played.resident_before > 0
    assert sum(played.memory.values()) >= sum(played.memory_when_built.values()) > 0
    assert played.real_time_factor == pytest.approx(played.phases["simulation"] / 0.1)


def test_invented_spikes_do_not_depend_on_threads() -> None:
    net = describe()
    net.record_spikes()
    one, two = (play(net, 40, duration=200.0, rate=30.0, threads=threads) for threads in (1, 2))
    assert one.invented
    assert one.rate == 30.0
    assert one.events == two.events
    # 63 neurons, 0.2 s; each spike reaches 200 synapses, here or elsewhere. Five standard deviations.
    spikes = 63 * 0.2 * 30.0
    assert one.events == pytest.approx(spikes * 200, rel=5.0 * spikes**-0.5)
    # What the neurons do here is recorded, and is something else.
    assert one.spikes != round(spikes)


def test_no_spikes() -> None:
    # The random potentials with which they begin make some neurons fire at once.
    played = play(describe(drive=0.0), 4, duration=50.0, presim=20.0)
    assert (played.spikes, played.rate, played.events) == (0, 0.0, 0)


def test_placements_that_make_ranks_differ() -> None:
    with pytest.raises(rv.errors.StateError, match="round_robin"):
        play(describe(), 4, duration=10.0, processes=rv.Processes(placement="shuffle"))


# ---- beside a real run -----------------------------------------------------------------------------------------------


REAL = """
import json, sys
import ranvier as rv
from ranvier import mpi

sys.path.insert(0, sys.argv[1])
import two_populations

net = two_populations.network()
net.record_spikes()
sim = rv.Simulation(net, threads=1, recordings="local",
                    processes=rv.Processes(sort_connections=sys.argv[2] == "sorted"))
sim.run(200.0)
counts = sim.counts()
print(json.dumps({"memory": sim.memory(), "events": counts.synaptic_events, "spikes": counts.spikes}))
"""


@pytest.mark.parametrize("order", ["sorted", pytest.param("unsorted", marks=pytest.mark.thorough)])
@any_family
def test_rank_is_like_a_real_one(network_file: Path, where: Installation, tmp_path: Path, order: str) -> None:
    # More of them are in tests/python/validation.
    real = run_python(where, 2, REAL, str(network_file.parent), order, folder=tmp_path)
    assert real.status == 0, real.errors
    ranks = [json.loads(output) for output in real.outputs]
    net = describe()
    net.record_spikes()
    played = play(net, 2, duration=200.0, threads=1, processes=rv.Processes(sort_connections=order == "sorted"))
    memory = {name: sum(rank["memory"][name] for rank in ranks) / 2 for name in ranks[0]["memory"]}
    del memory["recordings"], played.memory["recordings"]
    for name, size in memory.items():
        # Within 5 %, or what it takes to round a buffer up. Sections are as long as the largest burst of late needed,
        # which differs by up to a third from the mean over six seeds, in real runs and in those that are played. Lists
        # of spikes are as long as the largest of all, which is larger where all ranks do what one does.
        tolerance = {"exchange": 0.5, "spikes": 0.25}.get(name, 0.05)
        assert played.memory[name] == pytest.approx(size, rel=tolerance, abs=20_000), name
    assert sum(played.memory.values()) == pytest.approx(sum(memory.values()), rel=0.05)
    assert played.events == pytest.approx(ranks[0]["events"] / 2, rel=0.05)


# ---- the command -----------------------------------------------------------------------------------------------------


def test_command(network_file: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "played.json"
    settings = ["size=4000", "time=50", "presim=20", "threads=1", "exchange=neighbor"]
    arguments = ["run", str(network_file), "--set", *settings, "--json", str(path)]
    assert main([*arguments, "--dry-run", "100", "--rate", "25"]) == 0
    printed = capsys.readouterr()
    assert printed.err == ""
    results = json.loads(path.read_text())
    assert (results["ranks"], results["neurons"], results["exchange"]) == (100, 50, "neighbor")
    assert results["parameters"]["size"] == 4000
    assert results["rate"] == 25.0
    assert results["memory"]["synapses"] > 0
    for part in ("rank 0 of 100", "50 of 5,000 neurons", "25 spikes/s", "presynaptic", "collocate", "resident", "sent"):
        assert part in printed.out


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--rate", "3"], "add --dry-run"),
        (["--dry-run", "0"], "ranks of a dry run"),
        (["--dry-run", "2", "--rate", "-3"], "invented_rate"),
        (["--dry-run", "2", "--plot", "spikes.png"], "--plot"),
        (["--dry-run", "2", "--set", "placement=consecutive"], "round_robin"),
    ],
)
def test_mistakes(arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["run", "brunel", "--set", "order=20", "time=1", "presim=0", *arguments]) == 2
    assert complaint in capsys.readouterr().err


@any_family
def test_not_under_mpiexec(network_file: Path, where: Installation, tmp_path: Path) -> None:
    script = "import sys; from ranvier.command_line import main; sys.exit(main(sys.argv[1:]))"
    run = run_python(where, 2, script, "run", str(network_file), "--dry-run", "4", folder=tmp_path)
    assert run.status != 0
    assert "without mpiexec" in run.errors


def test_rates_of_a_run_are_taken_from_its_results(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    results, played = tmp_path / "run.json", tmp_path / "played.json"
    arguments = ["run", "brunel", "--set", "order=50", "time=50", "threads=1", "--json"]
    assert main([*arguments, str(results)]) == 0
    told = json.loads(results.read_text())
    assert main([*arguments, str(played), "--dry-run", "2", "--rate", str(results)]) == 0
    rates = told["mean_rate_hz"]
    assert json.loads(played.read_text())["rate"] == pytest.approx(
        0.8 * rates["excitatory"] + 0.2 * rates["inhibitory"]
    )
    capsys.readouterr()


def test_rates_need_one_for_each_population() -> None:
    net = rv.networks.brunel(order=10).net
    first, second = (population.name for population in net.populations)
    with pytest.raises(rv.errors.ShapeError, match=second):
        play(net, 2, duration=1.0, rate={first: 1.0})
    with pytest.raises(rv.errors.UnknownNameError, match="nobody"):
        play(net, 2, duration=1.0, rate={first: 1.0, second: 1.0, "nobody": 1.0})
