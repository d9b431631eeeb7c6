"""`ranvier bench placement` counts the work of processes as a plain loop does, and finds the same spikes everywhere."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
import pytest

from mpi_runs import WHEELS
from ranvier.errors import UnknownNameError, ValueOutOfBoundsError
from ranvier_benchmarks import placement
from ranvier_benchmarks._sheet import sheet
from ranvier_benchmarks.placement import Divided, divide


def plain(ranks: list[int], pairs: list[tuple[int, int]], spikes: list[tuple[int, int]]) -> Divided:
    """Count spike by spike and synapse by synapse."""
    count = max(ranks) + 1
    sends = {source: {ranks[target] for of, target in pairs if of == source} for source, _ in pairs}
    messages = sum(len(sends.get(sender, set()) - {ranks[sender]}) for sender, _ in spikes)
    links = {(ranks[source], ranks[target]) for source, target in pairs if ranks[source] != ranks[target]}
    intervals = sorted({interval for _, interval in spikes})
    greatest, mean = [0.0, 0.0], [0.0, 0.0]
    for interval in intervals:
        events, emitted = [0] * count, [0] * count
        for sender, of in spikes:
            if of != interval:
                continue
            emitted[ranks[sender]] += 1
            for source, target in pairs:
                events[ranks[target]] += source == sender
        for i, work in enumerate((events, emitted)):
            greatest[i] += max(work)
            mean[i] += sum(work) / count
    return Divided(messages, len(links) / count, greatest[0] / mean[0], greatest[1] / mean[1])


@pytest.mark.parametrize("seed", range(5))
def test_counts(seed: int) -> None:
    draw = np.random.default_rng(seed)
    ranks = draw.integers(0, 4, 20)
    pairs = draw.integers(0, 20, (60, 2))
    spikes = np.column_stack([draw.integers(0, 20, 30), draw.integers(0, 5, 30)])
    found = divide(ranks, pairs[:, 0], pairs[:, 1], spikes[:, 0], spikes[:, 1])
    wanted = plain(
        ranks.tolist(), [tuple(pair) for pair in pairs.tolist()], [tuple(spike) for spike in spikes.tolist()]
    )
    assert found == pytest.approx(wanted)


def test_no_spikes() -> None:
    nothing = np.array([], dtype=np.int64)
    assert divide(np.array([0, 1]), np.array([0]), np.array([1]), nothing, nothing) == Divided(0, 0.5, 1.0, 1.0)


def bench(*arguments: str) -> int:
    parser = argparse.ArgumentParser()
    placement.add_arguments(parser)
    return placement.main(parser.parse_args(arguments))


SMALL = ("--many=4", "--repetitions=1", "--methods=alltoall", "--set", "neurons=200", "indegree=20", "time=30")


@pytest.mark.thorough
@pytest.mark.skipif(not WHEELS, reason="no MPI is installed")
def test_run(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, figure = tmp_path / "placement.json", tmp_path / "placement.png"
    assert bench("--ranks=2", f"--json={file}", f"--plot={figure}", *SMALL) == 0
    results = json.loads(file.read_text())
    assert results["complete"]
    assert {(row["activity"], row["placement"]) for row in results["counted"]} == {
        (activity, each) for activity in ("even", "bump") for each in placement.PLACEMENTS
    }
    measured = results["measured"]
    assert len(measured) == 6
    # What is counted for a placement on two processes is what two processes send.
    assert all(row["spikes_received"] > 0 for row in measured)
    assert figure.stat().st_size > 1000
    assert "bump" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (("--many=1",), ValueOutOfBoundsError),
        (("--many=300", "--set", "neurons=200"), ValueOutOfBoundsError),
        (("--set", "activity=even"), ValueOutOfBoundsError),
        (("--methods=alltoal",), UnknownNameError),
        (("--repetitions=0",), ValueOutOfBoundsError),
    ],
)
def test_bad_arguments(arguments: tuple[str, ...], error: type[Exception]) -> None:
    with pytest.raises(error):
        bench(*arguments)


def test_bump() -> None:
    """The drive is stronger in the middle, so that neurons there fire more."""
    import ranvier as rv

    model = sheet(neurons=500, indegree=20, activity="bump")
    sim = rv.Simulation(model.net, progress=False, threads=1)
    sim.run(100.0)
    spikes = sim.spikes(model.spikes)
    positions = np.concatenate([population.positions for population in model.net.populations])
    is_middle = (positions**2).sum(axis=1) < 0.15**2
    counts = np.bincount(spikes.ids, minlength=500)
    assert counts[is_middle].mean() > 3 * counts[~is_middle].mean()
