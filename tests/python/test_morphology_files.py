"""Morphologies from files, and files that are none."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import numpy as np
import pytest

import ranvier as rv

CELL = """# a soma, two dendrites, an axon
1 1 0 0 0 10 -1
2 3 10 0 0 1 1
3 3 60 0 0 0.5 2
4 3 100 20 0 0.5 3
5 3 100 -20 0 0.4 3
6 3 150 -20 0 0.3 5
7 2 0 -10 0 1 1
8 2 0 -100 0 0.5 7
"""
ASC = """("CellBody"
  (Color Red) (CellBody)
  (-5 -5 0 0.1) (5 -5 0 0.1) (5 5 0 0.1) (-5 5 0 0.1)
)
((Color Cyan) (Dendrite)
  (5 0 0 2.0)
  (55 0 0 1.0)
)
"""
BAD = {
    "a loop": ("1 1 0 0 0 10 -1\n2 3 10 0 0 1 3\n3 3 60 0 0 0.5 2\n", "line 2"),
    "a sample twice": ("1 1 0 0 0 10 -1\n2 3 10 0 0 1 1\n2 3 60 0 0 0.5 2\n", "line 3"),
    "a missing parent": ("1 1 0 0 0 10 -1\n2 3 10 0 0 1 7\n", "line 2"),
    "nothing": ("", "no samples"),
    "comments": ("# nothing\n", "no samples"),
    "text": ("hello world\n", "no samples"),
    "two roots": ("1 1 0 0 0 1 -1\n2 3 10 0 0 1 -1\n3 3 20 0 0 1 2\n", "line 2"),
    "two neurites and no soma": ("1 3 0 0 0 1 -1\n2 3 9 0 0 1 1\n3 3 0 5 0 1 -1\n4 3 0 9 0 1 3\n", "no soma"),
    "not a number": ("1 1 0 0 0 nan -1\n2 3 1 0 0 1 1\n3 3 5 0 0 1 2\n", "line 1"),
    "no thickness": ("1 1 0 0 0 10 -1\n2 3 10 0 0 0 1\n3 3 60 0 0 0 2\n", "line 2"),
    "negative thickness": ("1 1 0 0 0 10 -1\n2 3 10 0 0 -1 1\n3 3 60 0 0 0.5 2\n", "line 2"),
    "a kind that is unknown": ("1 1 0 0 0 10 -1\n2 300 10 0 0 1 1\n3 300 20 0 0 1 2\n", "line 2"),
    "a single point": ("1 1 0 0 0 10 -1\n2 3 10 0 0 1 1\n", "single point"),
    "no length": ("1 1 0 0 0 10 -1\n2 3 10 0 0 1 1\n3 3 10 0 0 1 2\n", "long"),
    "a soma of size 0": ("1 1 0 0 0 0 -1\n2 3 10 0 0 1 1\n3 3 60 0 0 0.5 2\n", "line 1"),
}


def write(folder: Path, text: str, name: str = "cell.swc") -> Path:
    """Write a file."""
    path = folder / name
    path.write_text(text)
    return path


def test_a_cell_is_read_from_a_file(tmp_path: Path) -> None:
    """Sections, where they begin, their points, and the surface of the soma."""
    cell = rv.read_morphology(write(tmp_path, CELL))
    assert [section.parent for section in cell.sections] == [None, 0, 1, 1, 0]
    assert [section.parent_position for section in cell.sections[1:]] == [0.5, 1.0, 1.0, 0.5]
    assert cell.tags.tolist() == [1, 3, 3, 3, 2]
    np.testing.assert_allclose(cell.lengths, [20.0, 50.0, np.hypot(40, 20), np.hypot(40, 20) + 50.0, 90.0], rtol=1e-6)
    assert rv.Cell(cell, membrane=[("all", rv.pas())]).areas[0] == pytest.approx(4.0 * np.pi * 100.0)
    np.testing.assert_allclose(cell.sections[3].radii, [0.5, 0.4, 0.3], rtol=1e-6)
    assert cell.name == "cell"


def test_a_cell_is_read_from_a_neurolucida_file(tmp_path: Path) -> None:
    """A contour has a surface, and a dendrite."""
    cell = rv.read_morphology(write(tmp_path, ASC, "cell.asc"))
    assert cell.tags.tolist() == [1, 3]
    # The corners of the contour are sqrt(50) um from their centre.
    assert cell.lengths[0] == pytest.approx(2.0 * np.sqrt(50.0))
    assert cell.lengths[1] == pytest.approx(50.0)


def test_without_a_soma_the_neurite_is_the_root(tmp_path: Path) -> None:
    """If there is one only."""
    cell = rv.read_morphology(write(tmp_path, "1 3 0 0 0 1 -1\n2 3 10 0 0 1 1\n"))
    assert [section.parent for section in cell.sections] == [None]


@pytest.mark.parametrize(("text", "words"), BAD.values(), ids=BAD)
def test_a_bad_file_is_refused(text: str, words: str, tmp_path: Path) -> None:
    """With an error that names the file, and the line where there is one."""
    with pytest.raises(rv.errors.FileError, match=words) as caught:
        rv.read_morphology(write(tmp_path, text))
    assert "cell.swc" in str(caught.value)
    assert "\x1b" not in str(caught.value)


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    """Neither a folder nor a file of another kind is a morphology."""
    for path in (tmp_path / "none.swc", tmp_path, write(tmp_path, CELL, "cell.txt")):
        with pytest.raises(rv.errors.FileError):
            rv.read_morphology(path)


def test_morphio_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the words that install it."""
    monkeypatch.setitem(sys.modules, "morphio", None)
    with pytest.raises(rv.errors.MissingPackageError, match=r"ranvier\[morphology\]"):
        rv.read_morphology(write(tmp_path, CELL))


def test_changed_files_give_a_cell_or_a_typed_error(tmp_path: Path) -> None:
    """Bytes and words of a file that are changed at random."""
    chance = random.Random(1)
    cells = 0
    for _ in range(300):
        text = list(CELL)
        for _ in range(chance.randint(1, 4)):
            place = chance.randrange(len(text))
            text[place : place + chance.randint(0, 3)] = chance.choice(
                ["", "-", "0", "9", " ", "\n", "e", ".", "x", "1e9"]
            )
        try:
            cell = rv.read_morphology(write(tmp_path, "".join(text)))
            rv.Cell(cell, membrane=[("all", rv.pas())])
            cells += 1
        except rv.errors.RanvierError:
            continue
    assert 20 < cells < 280
