"""Random files of morphologies, most of them damaged: each is a cell to the last cone, or refused as is documented."""

from __future__ import annotations

import math
import random
from collections import defaultdict
from pathlib import Path

import numpy as np

import ranvier as rv
from damaged_files import mutated
from fuzz_processes import Fault
from morphology_files import damaged_text, draw_tree, neurolucida, swc, write_damaged_hdf5
from morphology_truth import Truth, of_neurolucida, of_swc

__all__ = ["judge"]

_SOUND = 0.1
"""The part of the files that are not damaged."""


def write(path: Path, seed: int) -> Truth | str | None:
    """Write a file, and return what it says, if that is known."""
    chance = random.Random(seed)
    samples = draw_tree(chance)
    if path.suffix == ".h5":
        write_damaged_hdf5(path, samples, chance)
        if chance.random() < 0.5:
            path.write_bytes(mutated(path.read_bytes(), chance))
        return None
    text = swc(samples) if path.suffix == ".swc" else neurolucida(samples)
    data = text.encode() if chance.random() < _SOUND else damaged_text(text, chance)
    path.write_bytes(data)
    return of_swc(data) if path.suffix == ".swc" else of_neurolucida(data)


def judge(seed: int, folder: Path) -> str:
    """Read a file; return ``"cell"`` or ``"refused"``, with its kind."""
    # Files of HDF5 take ten times as long as the others.
    kind = "h5" if seed % 30 == 0 else ("swc", "asc")[seed % 2]
    path = folder / f"cell.{kind}"
    truth = write(path, seed)
    try:
        cell = rv.read_morphology(path)
    except rv.errors.FileError as error:
        if str(path) not in error.object or not error.bound or not error.remedy or not str(error).isprintable():
            raise Fault(f"{kind}: an error without file, bound or remedy", repr(str(error))) from None
        return f"{kind} refused"
    except Exception as error:
        raise Fault(f"{kind}: {type(error).__name__} instead of a FileError", error) from None
    if isinstance(truth, str):
        raise Fault(f"{kind}: taken in spite of {truth}", cell)
    check_cell(kind, cell, truth)
    if seed % 10 == 0:
        rv.Cell(cell, membrane=[("all", rv.pas())])
    return f"{kind} cell"


def check_cell(kind: str, cell: rv.Morphology, truth: Truth | None) -> None:
    """Check that nothing is missing."""
    lengths: defaultdict[int, float] = defaultdict(float)
    cones = 0
    for section in cell.sections:
        if not (np.isfinite(section.distances).all() and (section.radii > 0.0).all()):
            raise Fault(f"{kind}: numbers that are none", section)
        if section.points is not None:
            lengths[section.tag] += section.length
            cones += int(np.count_nonzero(np.diff(section.distances)))
    if truth is None:
        return
    same = all(
        math.isclose(lengths.get(tag, 0.0), truth[0].get(tag, 0.0), rel_tol=1e-4, abs_tol=1e-6) for tag in range(20)
    )
    if not same or cones != truth[1]:
        raise Fault(f"{kind}: another cell than in the file", dict(lengths), cones, truth)
