"""Random files of morphologies, and scripts that build cells; a million is among the slow tests.

A finding tells a seed: call ``judge`` of `fuzz_morphologies` or `fuzz_cells` with it.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import fuzz_cells
import fuzz_morphologies
import ranvier as rv
from fuzz_processes import Fault, fuzz


def test_random_files_of_morphologies(tmp_path: Path) -> None:
    kinds = {fuzz_morphologies.judge(seed, tmp_path) for seed in range(150)}
    assert kinds == {f"{kind} {end}" for kind in ("swc", "asc", "h5") for end in ("cell", "refused")}


def test_random_scripts_that_build_cells(tmp_path: Path) -> None:
    ends = [fuzz_cells.judge(seed, tmp_path) for seed in range(50)]
    assert ends.count("cell") > 3
    assert ends.count("refused") > 10


def test_the_same_seed_gives_the_same_input(tmp_path: Path) -> None:
    for name in ("a.swc", "a.asc"):
        texts = [fuzz_morphologies.write(tmp_path / name, seed) or (tmp_path / name).read_bytes() for seed in (3, 3, 4)]
        assert texts[0] == texts[1] != texts[2]
    scripts = [fuzz_cells.draw_script(random.Random(seed)) for seed in (3, 3, 4)]
    assert scripts[0] == scripts[1] != scripts[2]


def test_a_cone_that_is_missing_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    whole = rv.read_morphology

    def shortened(path: Path) -> rv.Morphology:
        return rv.Morphology(whole(path).sections[:-1])

    monkeypatch.setattr(rv, "read_morphology", shortened)
    faults = []
    for seed in range(1, 40):
        try:
            fuzz_morphologies.judge(seed, tmp_path)
        except Fault as fault:
            faults.append(fault.args[0].partition(": ")[2])
    assert faults.count("another cell than in the file") > 3


def test_a_process_that_ends_is_a_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = "import os, fuzz_cells, fuzz_processes\n"
    program += "fuzz_cells.judge = lambda seed, _: os.abort() if seed == 3 else 'cell'\n"
    monkeypatch.setattr("fuzz_processes.PROGRAM", program + "fuzz_processes.main()")
    found = fuzz("fuzz_cells", 0, 10, tmp_path)
    assert [(kind, told[0]) for kind, told in found.faults.items()] == [("process of fuzz_cells ended with -6", 3)]
