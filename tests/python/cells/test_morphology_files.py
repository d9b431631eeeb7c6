"""Morphologies from files, and files that are none."""

from __future__ import annotations

import random
import sys
from pathlib import Path

import h5py
import numpy as np
import pytest

import ranvier as rv
from thorough_cases import only

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
    "text": ("hello world\n", "line 1"),
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
BAD_SWC = {
    "a field that is missing": ("1 1 0 0 0 10 -1\n2 3.5 0.5 0 1 1\n3 3 9 0 0 1 2\n", "line 2.*the tag"),
    "fields that are missing": ("1 1 0 0 0 10 -1\n2 3 5 0 1 1\n3 3 9 0 0 1 2\n", "line 2.*6 fields"),
    "a parent with an exponent": ("1 1 0 0 0 10 -1\n2 3 5 0 0 1 1\n3 3 9 0 0 1 2e0\n", "line 3.*whole number"),
    "a place that is no number": ("1 1 0 nan 0 10 -1\n2 3 5 0 0 1 1\n3 3 9 0 0 1 2\n", "line 1.*the y"),
    "a place far away": ("1 1 0 0 1e400 10 -1\n2 3 5 0 0 1 1\n3 3 9 0 0 1 2\n", "line 1"),
    "no kind in the middle": ("1 1 0 0 0 9 -1\n2 3 5 0 0 1 1\n3 3 9 0 0 1 2\n4 0 12 0 0 1 3\n", "line 4.*no kind"),
    "old ends of lines": ("1 1 0 0 0 10 -1\r2 3 5 0 0 1 1\r3 3 9 0 0 1 2\r", "line 1.*Macintosh"),
    "a neurite of one point": ("1 1 0 0 0 9 -1\n2 3 5 0 0 1 1\n3 3 7 0 0 1 2\n4 2 9 0 0 1 1\n", "line 4.*single"),
}
SOMA = "((CellBody) (-5 -5 0 0.1) (5 -5 0 0.1) (5 5 0 0.1))\n"
BAD_ASC = {
    "a neurite without a kind": (SOMA + "((Color Red)\n (5 0 0 1) (9 0 0 1))", "line 2.*no kind"),
    "a neurite with half of its kind": (SOMA + "(Axo\n (5 0 0 1) (9 0 0 1)\n Normal\n)", "line 2.*no kind"),
    "a fork without a kind": (SOMA + "(Axo\n (5 0 0 1)\n ((6 0 0 1) | (7 0 0 1)))", "line 2.*no kind"),
    "points without a kind in lists of lists": (SOMA + "((Color Red)\n(Axo (5 0 0 1) (9 0 0 1)))", "line 2.*no kind"),
    "a word in place of points": (SOMA + "((Axon)\nrmal)", "line 2.*without points ends in the word 'rmal'"),
    "a soma without a kind": ('("CellBody" (-5 -5 0 1) (5 5 0 1))\n((Axon) (5 0 0 1) (9 0 0 1))', "line 1.*no kind"),
    "two kinds": (SOMA + "((Axon) (Dendrite) (5 0 0 1) (9 0 0 1))", "line 2.*axon and dendrite"),
    "a soma that takes in a neurite": (
        '("CellBody" (CellBodi\n(-5 -5 0 1) (5 -5 0 1) (5 5 0 1))\n(Axon) (5 0 0 1) (9 0 0 1))',
        "line 1.*axon and cellbody",
    ),
    "one parenthesis more": (SOMA + ")\n((Axon) (5 0 0 1) (9 0 0 1))", "line 2.*not opened"),
    "one parenthesis less": (SOMA + "((Axon) (5 0 0 1) (9 0 0 1)", "line 2.*not closed"),
    "a point outside": (SOMA + "(5 0 0 1)\n((Axon) (5 0 0 1) (9 0 0 1))", "line 2.*not in a neurite"),
    "words outside": (SOMA + "Axon", "line 2.*outside"),
    "a place that is no number": (SOMA + "((Axon) (5 0 0 1)\n (nan 0 0 1) (9 0 0 1))", "line 3.*not a point"),
    "a digit of another script": (SOMA + "((Axon) (5 0 0 1)\n(\u0661 7 0 1) (9 0 0 1))", "line 3.*not a point"),
    "a word among numbers": (SOMA + "((Axon) (5 0 0 1)\n (abc 7 0 1) (9 0 0 1))", "line 3.*not a point"),
    "letters in a diameter": (SOMA + "((Axon) (5 0 0 1)\n (7 0 0 1.2x) (9 0 0 1))", "line 3.*not a point"),
    "a neurite in a colour": (SOMA + "((Color\n(Dendrite)\n(5 0 0 1) (9 0 0 1)))", "line 2.*within \\(Color"),
    "a fork in a marker": (
        SOMA + "((Axon) (5 0 0 1)\n(Dot ((9 0 0 1) (9 1 0 1) | (9 3 0 1))))",
        "line 3.*within \\(Dot",
    ),
    "lists in lists in a marker": (
        SOMA + "((Axon) (5 0 0 1)\n(Dot " + "(" * 300_000 + ")" * 300_000 + "))",
        "line 3.*parentheses are open",
    ),
    "a branch of a word and numbers": (
        SOMA + "((Axon) (5 0 0 1) (9 0 0 1)\n((abc 1 2 nan) |\n(9 0 1 1) (9 0 2 1)))",
        "line 3.*no points",
    ),
    "a fork that begins with a fork": (
        SOMA + "((Axon) (5 0 0 1) (9 0 0 1)\n(((9 0 1 1) | (9 0 2 1)) | (9 0 4 1)))",
        "line 3.*starts with a fork",
    ),
    "a fork that begins with its end": (
        SOMA + "((Axon) (5 0 0 1) (9 0 0 1)\n(Normal (10 0 0 1) | (9 5 0 1)))",
        "line 3.*word Normal",
    ),
    "a branch after its end": (SOMA + "((Axon) (5 0 0 1)\nNormal\n(9 0 0 1))", "line 4.*after the word Normal"),
    "a branch after a fork": (SOMA + "((Axon) (5 0 0 1) ((7 0 0 1)|(7 1 0 1))\n(9 0 0 1))", "line 3.*after a fork"),
    "no thickness": (SOMA + "((Axon) (5 0 0 1)\n(9 0 0 0))", "line 3.*thickness"),
    "a text without an end": (SOMA + '((Axon) (Name "a) (5 0 0 1)\n(9 0 0 1))', "line 2.*quotes"),
    "what is no text": (SOMA + "((Axon) \udcff (5 0 0 1) (9 0 0 1))", "cell.asc"),
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


def test_a_section_ends_where_the_tag_changes(tmp_path: Path) -> None:
    """An axon that begins on a dendrite; too many changes in a row would end the process."""
    text = "1 1 0 0 0 5 -1\n2 3 5 0 0 1 1\n3 3 6 0 0 1 2\n4 2 8 0 0 0.5 3\n5 2 9 0 0 0.5 4\n"
    cell = rv.read_morphology(write(tmp_path, text))
    assert cell.tags.tolist() == [1, 3, 2]
    assert cell.lengths[1:].tolist() == [1.0, 3.0]
    assert cell.sections[2].parent == 1
    np.testing.assert_array_equal(cell.sections[2].radii, [1.0, 0.5, 0.5])
    text = "1 1 0 0 0 5 -1\n" + "".join(f"{i + 2} {3 + i % 2} {5 + i} 0 0 1 {i + 1}\n" for i in range(100_000))
    with pytest.raises(rv.errors.FileError, match=r"line 5002.*5000 forks and changes"):
        rv.read_morphology(write(tmp_path, text))


@pytest.mark.parametrize("kind", ["at a fork", "at the soma"])
def test_too_many_branches_at_one_point_are_refused(kind: str, tmp_path: Path) -> None:
    """MorphIO takes time in proportion to the square of their number."""
    count, text = 100_001, "1 1 0 0 0 5 -1\n2 3 5 0 0 1 1\n3 3 6 0 0 1 2\n"
    if kind == "at a fork":
        text += "".join(f"{i + 4} 3 9 {i} 0 1 3\n" for i in range(count))
    else:
        text += "".join(f"{2 * i + 4} 3 5 {i} 0 1 1\n{2 * i + 5} 3 9 {i} 0 1 {2 * i + 4}\n" for i in range(count - 1))
    with pytest.raises(rv.errors.FileError, match=r"100001 branches.*100000"):
        rv.read_morphology(write(tmp_path, text))


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


@pytest.mark.parametrize(("text", "words"), BAD_SWC.values(), ids=BAD_SWC)
def test_what_morphio_reads_otherwise_is_refused(text: str, words: str, tmp_path: Path) -> None:
    """MorphIO makes another cell of these, without a word."""
    with pytest.raises(rv.errors.FileError, match=words):
        rv.read_morphology(write(tmp_path, text))


@pytest.mark.parametrize(("text", "words"), BAD_ASC.values(), ids=BAD_ASC)
def test_what_morphio_leaves_out_is_refused(text: str, words: str, tmp_path: Path) -> None:
    """It drops neurites, points and whatever follows, or hands on errors of Python."""
    path = tmp_path / "cell.asc"
    path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(rv.errors.FileError, match=words):
        rv.read_morphology(path)


STRUCTURE = [[0, 1, -1], [3, 3, 0], [5, 3, 1], [7, 3, 1]]
POINTS = [[x, x % 2, 0.0, 1.0] for x in (-5.0, 4.0, 5.0, 5.0, 9.0, 9.0, 12.0, 9.0, 13.0)]


@pytest.mark.parametrize(
    ("row", "column", "value"),
    [(1, 0, 100), (1, 0, -3), (2, 0, 1), (2, 2, 7), (2, 2, 2), (1, 2, -1), (3, 2, -5), (1, 1, 0), (0, 0, 2), (2, 1, 1)],
)
def test_a_damaged_structure_in_hdf5_is_refused(row: int, column: int, value: int, tmp_path: Path) -> None:
    """MorphIO reads outside of its memory for some of these."""
    path = tmp_path / "cell.h5"
    for number in (None, value):
        structure = np.array(STRUCTURE)
        if number is not None:
            structure[row, column] = number
        with h5py.File(path, "w") as file:
            file["points"], file["structure"] = np.array(POINTS, dtype=np.float32), structure
        if number is None:
            assert len(rv.read_morphology(path)) == 4
        else:
            with pytest.raises(rv.errors.FileError, match="section"):
                rv.read_morphology(path)


def test_a_soma_in_hdf5_without_a_size_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cell.h5"
    points = np.array(POINTS, dtype=np.float32)
    points[:3] = 0.0
    with h5py.File(path, "w") as file:
        file["points"], file["structure"] = points, np.array(STRUCTURE)
    with pytest.raises(rv.errors.FileError, match=r"a soma with a diameter of 0 um.*correct the points"):
        rv.read_morphology(path)


@pytest.mark.parametrize("kind", ["swc", "asc"])
def test_too_many_forks_in_a_row_are_refused(kind: str, tmp_path: Path) -> None:
    """MorphIO goes from fork to fork in calls of calls: 100,000 of them end the process."""
    count = 6000
    if kind == "swc":
        twigs = "".join(
            f"{2 * i} 3 {i} 0 0 1 {2 * i - 2}\n{2 * i + 1} 3 {i} 1 0 1 {2 * i - 2}\n" for i in range(2, count)
        )
        text = "1 1 0 0 0 5 -1\n2 3 1 0 0 1 1\n" + twigs
    else:
        text = SOMA + "((Axon) " + "(5 0 0 1) ((6 0 0 1) | " * count + "(7 0 0 1)" + ")" * count + ")"
    with pytest.raises(rv.errors.FileError, match=r"line \d+.*5000 forks"):
        rv.read_morphology(write(tmp_path, text, f"cell.{kind}"))


@pytest.mark.parametrize("kind", ["swc", "asc"])
def test_a_fork_at_the_soma_with_one_point(kind: str, tmp_path: Path) -> None:
    """Its branches begin at the soma, with this point."""
    text = "1 1 0 0 0 5 -1\n2 3 5 0 0 1 1\n3 3 9 0 0 1 2\n4 3 5 7 0 1 2\n"
    if kind == "asc":
        text = SOMA + "((Dendrite) (5 0 0 2) ((9 0 0 2) | (5 7 0 2)))"
    cell = rv.read_morphology(write(tmp_path, text, f"cell.{kind}"))
    assert [(section.parent, section.parent_position) for section in cell.sections[1:]] == [(0, 0.5), (0, 0.5)]
    assert cell.lengths[1:].tolist() == [4.0, 7.0]


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


@pytest.mark.parametrize("count", only([150], [150, 300]))
def test_changed_files_give_a_cell_or_a_typed_error(count: int, tmp_path: Path) -> None:
    """Bytes and words of a file that are changed at random."""
    chance = random.Random(1)
    cells = 0
    for _ in range(count):
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
    assert count // 15 < cells < count - count // 15
