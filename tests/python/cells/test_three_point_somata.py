"""A soma of three points in an SWC file is a sphere, however its samples are numbered and wherever neurites begin."""

from __future__ import annotations

import itertools
import random
from pathlib import Path

import numpy as np
import pytest

import ranvier as rv

RADIUS = 6.75
SPHERE = 4.0 * np.pi * RADIUS**2


def samples(begin: int) -> list[tuple[int, int, str, int]]:
    """Return numbers, tags, coordinates with the radius, and parents of a cell whose dendrite begins at `begin`."""
    return [
        (1, 1, f"0 0 0 {RADIUS}", -1),
        (2, 1, f"0 {RADIUS} 0 {RADIUS}", 1),
        (3, 1, f"0 -{RADIUS} 0 {RADIUS}", 1),
        (4, 3, "10 0 0 1.25", begin),
        (5, 3, "20 0 0 1", 4),
        (6, 3, "30 5 0 0.5", 5),
        (7, 4, "0 10 0 2", 1),
        (8, 4, "0 90 0 1", 7),
        (9, 3, "30 -5 0 0.5", 5),
    ]


def read(folder: Path, rows: list[tuple[int, int, str, int]], mark: str = "") -> rv.Morphology:
    path = folder / "cell.swc"
    lines = [f"{number} {tag} {place} {parent}" for number, tag, place, parent in rows]
    path.write_text(mark + "# a cell\n\n" + "  # a remark\n".join(lines) + "\n", encoding="utf-8")
    return rv.read_morphology(path)


def outline(morphology: rv.Morphology) -> list[tuple[int, float, float]]:
    return [
        (section.tag, round(section.length, 6), round(float(section.radii[-1]), 6)) for section in morphology.sections
    ]


def surface(morphology: rv.Morphology) -> float:
    soma = morphology.sections[0]
    return float(2.0 * np.pi * soma.radii[0] * soma.length)


@pytest.mark.parametrize("begin", [1, 2, 3])
def test_numbers_and_order_do_not_matter(begin: int, tmp_path: Path) -> None:
    wanted = read(tmp_path, samples(1))
    assert surface(wanted) == pytest.approx(SPHERE, rel=1e-6)
    generator = random.Random(begin)
    for _ in range(40):
        rows = samples(begin)
        numbers = dict(zip(range(1, 10), generator.sample(range(1, 500), 9), strict=True))
        rows = [(numbers[n], tag, place, numbers.get(parent, -1)) for n, tag, place, parent in rows]
        # Of sections, the order in the file counts.
        soma, rest = rows[:3], rows[3:]
        place = generator.randrange(len(rest) + 1)
        if place:
            generator.shuffle(soma)
        found = read(tmp_path, [*rest[:place], *soma, *rest[place:]])
        assert surface(found) == pytest.approx(SPHERE, rel=1e-6)
        assert outline(found) == outline(wanted)


def test_any_order_of_the_first_three_numbers(tmp_path: Path) -> None:
    wanted = outline(read(tmp_path, samples(1)))
    for numbers in itertools.permutations((1, 2, 3)):
        for lines in itertools.permutations((0, 1, 2)):
            new = {**dict(zip((1, 2, 3), numbers, strict=True)), **{n: n for n in range(4, 10)}, -1: -1}
            rows = [(new[n], tag, place, new[parent]) for n, tag, place, parent in samples(2)]
            found = read(tmp_path, [*(rows[i] for i in lines), *rows[3:]])
            assert surface(found) == pytest.approx(SPHERE, rel=1e-6)
            assert outline(found) == wanted


def test_other_somata_are_what_they_were(tmp_path: Path) -> None:
    """A chain of three points has two cylinders; more points than three add up."""
    chain = [(1, 1, f"0 0 0 {RADIUS}", -1), (2, 1, f"0 5 0 {RADIUS}", 1), (3, 1, f"0 10 0 {RADIUS}", 2)]
    rest = samples(1)[3:]
    assert surface(read(tmp_path, [*chain, *rest])) == pytest.approx(2.0 * np.pi * RADIUS * 10.0, rel=1e-6)
    numbered = [(n + 20, tag, place, parent + 20 if parent > 0 else -1) for n, tag, place, parent in [*chain, *rest]]
    assert outline(read(tmp_path, numbered)) == outline(read(tmp_path, [*chain, *rest]))


def test_errors_name_the_line_of_the_file(tmp_path: Path) -> None:
    rows = [(n + 10, tag, place, parent + 10 if parent > 0 else -1) for n, tag, place, parent in samples(3)]
    rows[5] = (16, 3, "30 5 0 0", 15)
    with pytest.raises(rv.errors.FileError, match=r"line 8 is sample 16 with radius 0"):
        read(tmp_path, rows)
