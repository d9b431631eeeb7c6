"""Rotations of cells, and where the points of their morphologies are."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.spatial.transform import Rotation as Reference

import ranvier as rv
from ranvier.errors import (
    IndexOutOfBoundsError,
    ReadOnlyError,
    ShapeError,
    StateError,
    UnknownNameError,
    ValueOutOfBoundsError,
    WrongTypeError,
)

SIGNIFICANCE = 1e-6


def ball_and_stick() -> rv.Cell:
    soma = rv.Section(points=[[0.0, 0.0, 0.0, 10.0], [0.0, 10.0, 0.0, 10.0]])
    apical = rv.Section(
        points=[[0.0, 10.0, 0.0, 2.0], [0.0, 60.0, 10.0, 2.0], [5.0, 90.0, 10.0, 1.0]], parent=0, tag="apical"
    )
    axon = rv.Section(length=30.0, diameter=1.0, parent=0, parent_position=0.0, tag="axon")
    return rv.Cell(rv.Morphology([soma, apical, axon]), membrane=[("all", rv.pas())])


def population(size: int, rotation: rv.Rotation | None, **layout: Any) -> rv.Population:
    layout = layout or {"positions": rv.random_positions(extent=(1.0, 1.0, 1.0))}
    return rv.Network(seed=3).create(ball_and_stick(), size, rotation=rotation, **layout)


@pytest.mark.parametrize("axis", ["x", "y", "z", (1.0, -2.0, 0.5)])
@pytest.mark.parametrize("degrees", [0.0, 90.0, -33.0, 1000.0])
def test_rotations_are_those_of_an_axis_and_an_angle(axis: Any, degrees: float) -> None:
    vector = np.eye(3)["xyz".index(axis)] if isinstance(axis, str) else np.array(axis)
    expected = Reference.from_rotvec(np.radians(degrees) * vector / np.linalg.norm(vector)).as_matrix()
    for given in (rv.rotation(axis, degrees=degrees), rv.rotation(axis, radians=np.radians(degrees))):
        assert np.allclose(population(2, given).rotations, expected, rtol=0.0, atol=1e-12)


def test_each_cell_can_have_an_angle() -> None:
    degrees = np.array([0.0, 45.0, 270.0])
    cells = population(3, rv.rotation("z", degrees=degrees))
    expected = Reference.from_euler("z", degrees[:, None], degrees=True).as_matrix()
    assert np.allclose(cells.rotations, expected, rtol=0.0, atol=1e-14)
    assert np.array_equal(cells[[0, 2]].rotations, cells.rotations[[0, 2]])


def test_rotations_follow_each_other() -> None:
    upright = rv.rotation("x", degrees=90.0)
    cells = population(4, rv.rotation("z", degrees=30.0) @ upright)
    expected = Reference.from_euler("xz", [90.0, 30.0], degrees=True).as_matrix()
    assert np.allclose(cells.rotations, expected, rtol=0.0, atol=1e-14)
    # What points along y points along z, whatever the angle about z.
    cells = population(4, rv.random_rotation("z") @ upright)
    assert np.allclose(cells.rotations @ [0.0, 1.0, 0.0], [0.0, 0.0, 1.0], rtol=0.0, atol=1e-14)


def test_random_angles_about_an_axis_are_uniform() -> None:
    cells = population(4000, rv.random_rotation("y"))
    x = cells.rotations @ [1.0, 0.0, 0.0]
    assert np.array_equal(x[:, 1], np.zeros(4000))
    turns = np.arctan2(x[:, 2], x[:, 0]) / (2.0 * np.pi) + 0.5
    assert stats.kstest(turns, "uniform").pvalue > SIGNIFICANCE


def test_random_rotations_are_uniform_among_all() -> None:
    matrices = population(4000, rv.random_rotation()).rotations
    assert np.allclose(matrices @ matrices.swapaxes(1, 2), np.eye(3), rtol=0.0, atol=1e-14)
    assert np.allclose(np.linalg.det(matrices), 1.0, rtol=0.0, atol=1e-14)
    # Each coordinate of a rotated unit vector is uniform on [-1, 1] (Archimedes), and the angle has the density
    # (1 - cos a) / pi.
    for row in range(3):
        for column in range(3):
            assert stats.kstest(0.5 + 0.5 * matrices[:, row, column], "uniform").pvalue > SIGNIFICANCE
    angles = np.arccos(np.clip(0.5 * (np.trace(matrices, axis1=1, axis2=2) - 1.0), -1.0, 1.0))
    assert stats.kstest((angles - np.sin(angles)) / np.pi, "uniform").pvalue > SIGNIFICANCE


def test_random_rotations_depend_on_seed_population_and_index_only() -> None:
    cells = population(20, rv.random_rotation())
    assert np.array_equal(population(7, rv.random_rotation()).rotations, cells.rotations[:7])
    net = cells.network
    other = net.create(ball_and_stick(), 20, positions=rv.grid((4, 5)), rotation=rv.random_rotation())
    assert not np.allclose(other.rotations, cells.rotations)
    before = cells.rotations
    net.seed += 1
    assert not np.allclose(before, cells.rotations)


def test_cells_without_rotation_have_the_identity() -> None:
    assert np.array_equal(population(2, None).rotations, [np.eye(3)] * 2)


@pytest.mark.parametrize("unit", ["mm", "um"])
@pytest.mark.parametrize("dimensions", [2, 3])
def test_morphologies_are_rotated_about_the_soma_and_moved(dimensions: int, unit: str) -> None:
    layout = rv.random_positions(extent=(1.0,) * dimensions, unit=unit)
    cells = population(3, rv.random_rotation(), positions=layout)
    form = ball_and_stick().morphology
    for i in range(3):
        sections = cells.morphology_points(i, unit="um")
        assert [len(points) for points in sections] == [2, 3, 2]
        place = np.zeros(3)
        place[:dimensions] = cells.positions[i] * (1.0 if unit == "um" else 1000.0)
        assert np.allclose(sections[0].mean(axis=0), place, rtol=0.0, atol=1e-12)
        apical = form.sections[1].points
        assert apical is not None
        expected = (apical - [0.0, 5.0, 0.0]) @ cells.rotations[i].T + place
        assert np.allclose(sections[1], expected, rtol=0.0, atol=1e-10)
        # A section without coordinates begins on its parent, and has its length.
        assert np.allclose(sections[2][0], sections[0][0], rtol=0.0, atol=1e-10)
        assert np.linalg.norm(sections[2][1] - sections[2][0]) == pytest.approx(30.0)
        in_unit = cells[i].morphology_points()
        assert np.allclose(np.concatenate(in_unit) * (1.0 if unit == "um" else 1000.0), np.concatenate(sections))


def test_cells_of_several_forms_have_their_points() -> None:
    short = rv.Cell(rv.Morphology([rv.Section(length=8.0, diameter=8.0)]), membrane=[("all", rv.pas())])
    net = rv.Network()
    cells = net.create([ball_and_stick(), short], positions=[[0.0, 0.0], [1.0, 0.0]])
    assert [len(cells.morphology_points(i)) for i in (0, 1)] == [3, 1]
    assert np.allclose(cells.morphology_points(1, unit="um")[0].mean(axis=0), [1000.0, 0.0, 0.0])


def test_rotations_are_copied_with_the_network() -> None:
    given = rv.random_rotation("z") @ rv.rotation((1, 1, 0), degrees=[10.0, 20.0])
    cells = population(2, given)
    copy = pickle.loads(pickle.dumps(cells.network))
    assert np.array_equal(copy.populations[0].rotations, cells.rotations)
    assert copy.populations[0].rotation == given != rv.random_rotation("z")
    upright = rv.random_rotation("z") @ rv.rotation("x", degrees=90.0)
    assert repr(upright) == "random_rotation('z') @ rotation('x', degrees=90)"
    with pytest.raises(ReadOnlyError, match="rotation of population"):
        cells.network.set(cells, rotation=upright)


BAD: list[tuple[Callable[[], Any], type[Exception], str]] = [
    (lambda: rv.rotation("z"), WrongTypeError, "in degrees or in radians"),
    (lambda: rv.rotation("z", degrees=1.0, radians=1.0), WrongTypeError, "in degrees or in radians"),
    (lambda: rv.rotation("w", degrees=1.0), UnknownNameError, "w"),
    (lambda: rv.rotation((0.0, 0.0, 0.0), degrees=1.0), ValueOutOfBoundsError, "its length must be > 0"),
    (lambda: rv.rotation((0.0, np.nan, 0.0), degrees=1.0), ValueOutOfBoundsError, "its length must be > 0"),
    (lambda: rv.rotation((0.0, 1.0), degrees=1.0), ShapeError, "it has three numbers"),
    (lambda: rv.rotation("z", degrees=np.inf), ValueOutOfBoundsError, "angle of a rotation is inf turns"),
    (lambda: rv.rotation("z", degrees=[[1.0]]), ShapeError, "one for all cells, or one for each"),
    (lambda: rv.rotation("z", degrees="90"), WrongTypeError, "angle of a rotation"),
    (lambda: rv.rotation("z", degrees=[1.0, 2.0]) @ rv.rotation("z", degrees=[1.0] * 3), ShapeError, "2 and 3"),
    (lambda: rv.rotation("z", degrees=1.0) @ 3, WrongTypeError, "must be a rotation"),  # type: ignore[operator]
    (
        lambda: population(3, rv.rotation("z", degrees=[1.0, 2.0])),
        ShapeError,
        "number of angles .* is 2, but .* 3 cells",
    ),
    (lambda: population(3, "z"), WrongTypeError, "must be made by rv.rotation"),  # type: ignore[arg-type]
    (lambda: population(3, rv.random_rotation(), positions=None), ValueOutOfBoundsError, "the cells have no positions"),
    (
        lambda: rv.Network().create("iaf_psc_exp", positions=rv.grid((2, 2)), rotation=rv.random_rotation()),
        ValueOutOfBoundsError,
        "neurons of the model iaf_psc_exp are points",
    ),
    (lambda: rv.Network().create("iaf_psc_exp", positions=rv.grid((2, 2))).rotations, StateError, "are points"),
    (lambda: population(2, None).morphology_points(2), IndexOutOfBoundsError, "2"),
    (lambda: population(2, None).morphology_points(0, unit="m"), UnknownNameError, "m"),
]


@pytest.mark.parametrize(("call", "error", "message"), BAD)
def test_bad_rotations_are_refused(call: Callable[[], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        call()
