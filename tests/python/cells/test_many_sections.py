"""Cells with very many sections, or points: nothing takes the product of two large numbers, or nests too deep."""

from __future__ import annotations

import pickle
import random
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

import ranvier as rv
from morphology_files import draw_tree, swc
from ranvier.cells import swc_check
from thorough_cases import only

any_count = pytest.mark.parametrize("count", only([6_000], [6_000, 20_000]))


def cell_of(parent: Callable[[int], int], count: int) -> rv.Morphology:
    """Return a cell of short sections."""
    soma = rv.Section(length=10.0, diameter=10.0)
    return rv.Morphology(
        [soma]
        + [rv.Section(length=1.0, diameter=0.5, parent=parent(i), tag="basal" if i % 2 else 2) for i in range(1, count)]
    )


@any_count
@pytest.mark.parametrize(
    "parent", [lambda i: i - 1, lambda i: 0, lambda i: (i - 1) // 2], ids=["chain", "star", "tree"]
)
def test_many_sections(parent: Callable[[int], int], count: int) -> None:
    """A chain without branches, a soma with that many dendrites, and a tree with 12 or 14 forks in a row."""
    form = cell_of(parent, count)
    assert len(form.sections) == count
    assert form.sections[-1].parent == parent(count - 1)
    region = rv.tagged("basal") & rv.within_distance(10.5, 12.0) | rv.sections([0, count - 1])
    cell = rv.Cell(
        form,
        membrane=[("all", rv.pas()), (region, rv.hh()), ("soma", rv.hh())],
        probes={"V": rv.everywhere, "m": (rv.everywhere, "m of hh")},
    )
    of_hh = sum(name.startswith("m[") for name in cell.variables)
    assert len(cell.variables) == 1 + count + of_hh
    assert of_hh == np.count_nonzero(region.covered(form, form._cut([1])))
    places = rv.places_at_distance(form, 10.75, "dendrites" if parent(2) == 0 else "all")
    assert len(places) == sum(1 for i in range(1, count) if parent(i) == 0 and (i % 2 or parent(2)))
    copy = pickle.loads(pickle.dumps(form))
    np.testing.assert_array_equal(copy._cut([1]).distance, form._cut([1]).distance)
    net = rv.Network(resolution=0.025)
    states = net.record_state(net.create(cell, 1, I_e=1000.0), ["V_m", f"V[{count - 1}]"])
    sim = rv.Simulation(net, threads=1, progress=False)
    sim.run(0.1)
    assert np.isfinite(sim.state(states).values).all()


def test_a_section_of_many_points_and_compartments() -> None:
    """The membrane of all compartments is that of all cones, and a region ends where it should."""
    count = 20_000
    along = np.arange(count, dtype=np.float64)
    points = np.column_stack([along, 0.0 * along, 0.0 * along, 1.0 + 0.5 * np.sin(along)])
    form = rv.Morphology([rv.Section(points=points)])
    cut = form._cut([3 * count])
    radii = points[:, 3] / 2.0
    cones = np.pi * (radii[1:] + radii[:-1]) * np.hypot(1.0, np.diff(radii))
    assert np.sum(cut.area) == pytest.approx(cones.sum())
    covered = rv.within_distance(100.0, 5000.25).covered(form, cut)
    assert np.sum(covered) * (count - 1) / (3 * count) == pytest.approx(4900.25, rel=1e-5)
    assert np.count_nonzero((covered > 0.0) & (covered < 1.0)) <= 2


def test_regions_are_what_their_parts_say() -> None:
    """Expressions that are drawn at random, place by place."""
    chance = random.Random(5)

    def draw(depth: int) -> tuple[rv.Region, Callable[[int, float, float], bool]]:
        kind = chance.randrange(4 if depth else 1)
        if kind == 1:
            (first, is_first), (second, is_second) = draw(depth - 1), draw(depth - 1)
            return first | second, lambda *place: is_first(*place) or is_second(*place)
        if kind == 2:
            (first, is_first), (second, is_second) = draw(depth - 1), draw(depth - 1)
            return first & second, lambda *place: is_first(*place) and is_second(*place)
        if kind == 3:
            inner, is_inner = draw(depth - 1)
            return ~inner, lambda *place: not is_inner(*place)
        if chance.random() < 0.3:
            tag = chance.choice([1, 3, 4])
            return rv.tagged(tag), lambda i, position, distance: form.sections[i].tag == tag
        low = chance.uniform(0.0, 60.0)
        high = low + chance.choice([5.0, 20.0, 80.0])
        return rv.within_distance(low, high), lambda i, position, distance: low <= distance < high

    for _ in range(60):
        sections = [rv.Section(length=10.0, diameter=10.0)]
        for i in range(1, 7):
            parent, tag = chance.randrange(i), chance.choice([3, 4])
            sections.append(rv.Section(length=chance.uniform(5, 50), diameter=1.0, parent=parent, tag=tag))
        form = rv.Morphology(sections)
        region, holds = draw(4)
        # Small compartments: each but those at an end is wholly inside or outside.
        cut = form._cut([101])
        covered = region.covered(form, cut)
        middles = (np.array(cut.begin) + np.array(cut.end)) / 2.0
        told = [bool(holds(*place)) for place in zip(cut.section.tolist(), middles, cut.distance, strict=True)]
        assert np.count_nonzero(np.abs(covered - told) > 0.51) == 0
        assert np.count_nonzero((covered > 0.0) & (covered < 1.0)) <= 2 * 5 * len(sections)


@any_count
def test_long_expressions_of_regions(count: int) -> None:
    """A region of many parts is no deeper than one of two; one that nests is refused before Python ends."""
    form = cell_of(lambda i: (i - 1) // 2, count)
    region = rv.sections([0])
    for i in range(1, 3000):
        region = region | rv.sections([i])
    np.testing.assert_array_equal(np.flatnonzero(region.covered(form, form._cut([1]))), np.arange(3000))
    assert str(rv.sections(range(100))) == "sections(100 from 0 to 99)"

    def nested() -> rv.Region:
        own = region
        for _ in range(3000):
            own = (own | rv.tagged(3)) & rv.tagged(3)
        return own

    with pytest.raises(rv.errors.ValueOutOfBoundsError, match="nested"):
        nested()


def test_swc_files_are_read_in_pieces(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Lines that are plain, others, and boundaries anywhere give the same cell, and errors the same lines."""
    text = swc(draw_tree(random.Random(8)))
    lines = text.splitlines()
    (tmp_path / "plain.swc").write_text(text)
    plain = rv.read_morphology(tmp_path / "plain.swc")
    mixed = "\n".join(line + ("  # a comment" if i % 3 else "  7 8") for i, line in enumerate(lines))
    (tmp_path / "mixed.swc").write_text(f"# begin\n\n  \n{mixed}")
    (tmp_path / "bad.swc").write_text("\n".join([*lines, "", "x y z"]))
    for size in (10, 60, 10**6):
        monkeypatch.setattr(swc_check, "_PIECE", size)
        for name in ("plain", "mixed"):
            again = rv.read_morphology(tmp_path / f"{name}.swc")
            np.testing.assert_array_equal(again._cut([3]).area, plain._cut([3]).area)
        with pytest.raises(rv.errors.FileError, match=f"line {len(lines) + 2}: the number of the sample is 'x'"):
            rv.read_morphology(tmp_path / "bad.swc")
