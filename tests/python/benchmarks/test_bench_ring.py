"""`ranvier bench ring` compares Ranvier with itself, and cells of different shapes do the same work as equal ones."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from ranvier.networks.ring import ring_cell
from ranvier_benchmarks import ring

SMALL = ("--repetitions=1", "--set", "cells=12", "depth=2", "compartments=3", "time=10")


def parse(*arguments: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    ring.add_arguments(parser)
    return parser.parse_args([*arguments])


@pytest.mark.thorough
def test_variants_of_the_ring_are_run(tmp_path: Path) -> None:
    path = tmp_path / "results.json"
    assert ring.main(parse("--against=different,two_threads", *SMALL, f"--json={path}")) == 0
    results = json.loads(path.read_text())
    assert [program["name"] for program in results["programs"]] == ["Ranvier", "Different shapes", "Two threads"]
    reports = [contestant["reports"][0] for contestant in results["contestants"]]
    assert [report["parameters"]["shapes"] for report in reports] == ["equal", "different", "equal"]
    assert [report["threads"] for report in reports] == [1, 1, 2]
    assert {report["compartments"] for report in reports} == {12 * (1 + 6 * 3)}
    assert reports[0]["spikes"] == reports[2]["spikes"] > 0


@pytest.mark.thorough
def test_a_program_that_does_other_work_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two threads fire what one does; here the second program has other cells."""
    monkeypatch.setitem(ring._VARIANTS, "two_threads", ("Two threads", {"time": 2.0}))
    assert ring.main(parse("--against=two_threads", *SMALL)) == 1


def test_unknown_programs_are_refused() -> None:
    with pytest.raises(rv.errors.UnknownNameError, match="diferent"):
        ring.main(parse("--against=diferent"))


def spikes(**others: Any) -> list[tuple[float, int]]:
    model = rv.networks.ring(cells=12, depth=3, compartments=2, shapes="different", **others)
    simulation = rv.Simulation(model.net)
    simulation.run(20.0)
    found = simulation.spikes(model.spikes)
    return list(zip(found.times.tolist(), found.ids.tolist(), strict=True))


def test_trees_of_different_cells() -> None:
    """Each has a tree of its own, which follows from the seed, and as many branches and compartments."""
    cells = [ring_cell(depth=5, compartments=2, random=np.random.default_rng(seed)) for seed in (1, 1, 2)]
    parents = [[section.parent for section in cell.morphology.sections] for cell in cells]
    assert parents[0] == parents[1] != parents[2]
    for cell in cells:
        assert len(cell.morphology.sections) == 63
        assert cell.compartment_count == 125
        counts = [1 + cell.compartment_at(rv.at(i, 1.0)) - cell.compartment_at(rv.at(i, 0.0)) for i in range(63)]
        assert counts[0] == 1
        assert set(counts[1:]) == {1, 2, 3}


def test_cells_of_different_shapes() -> None:
    assert spikes() == spikes() != spikes(seed=2)
    assert spikes()
    with pytest.raises(rv.errors.RanvierError, match="shapes"):
        rv.networks.ring(shapes="other")  # type: ignore[arg-type]
