"""The methods by which potentials of compartments are computed: their choice and memory, and checks of the medium."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal, TypeAlias

import numpy as np

from ranvier import _core
from ranvier.base.names import check_choice
from ranvier.base.numeric import number
from ranvier.base.texts import name_type
from ranvier.base.values import FloatArray
from ranvier.errors import StateError, ValueOutOfBoundsError, WrongTypeError
from ranvier.populations.lines import compartment_counts
from ranvier.populations.populations import Population, PopulationView
from ranvier.space.boundary import BoundaryPlane

__all__ = [
    "Method",
    "all_cells",
    "check_side",
    "chosen_coupling",
    "chosen_recording",
    "evaluation_bytes",
    "samples_at_once",
]

Method: TypeAlias = Literal["auto", "matrix", "fmm"]

# A weight of the matrix is read from memory for each sample: it takes about the time of some 20 operations of the fast
# multipole method. The exact method is chosen unless it takes clearly longer.
_OPERATIONS_OF_WEIGHT = 8
# Compartments up to which coupled cells have a matrix: 134 MB, in about the time of the fast multipole method.
_MOST_IN_MATRIX = 4096
_MOST_SAMPLES = 64
_BLOCK_BYTES = 256 << 20


def all_cells(populations: Sequence[Population]) -> PopulationView:
    """Return all detailed cells with positions."""
    found = [each for each in populations if each.cell is not None and each.layout is not None]
    if not found:
        raise StateError(
            "cells",
            bound="the network has no detailed cells with positions",
            remedy="create some first: net.create(rv.Cell(...), size, positions=...)",
        )
    view: PopulationView = found[0]
    for other in found[1:]:
        view = view + other
    return view


def check_side(contacts: FloatArray, boundary: BoundaryPlane | None) -> None:
    """Check that contacts, um, are on the side of the cells."""
    if boundary is None:
        return
    if not isinstance(boundary, BoundaryPlane):
        raise WrongTypeError("boundary", name_type(boundary), "must be a rv.BoundaryPlane or None")
    beyond = np.flatnonzero(boundary.distances(contacts) < 0.0)
    if len(beyond):
        raise ValueOutOfBoundsError(
            f"contact {beyond[0]}",
            f"{tuple(contacts[beyond[0]].tolist())} um",
            "it is beyond the boundary of the medium",
            "move it or the plane, or turn the normal, which points away from the cells",
        )


def chosen_recording(
    method: Method, accuracy: float, cells: PopulationView, contacts: int
) -> tuple[Literal["matrix", "fmm"], float]:
    """Return the method by which potentials of cells at contacts are computed, and its accuracy: 0 of the matrix."""
    _check(method, accuracy)
    counts = compartment_counts(cells)
    if method == "auto":
        method = _method_for(int(counts.sum()), contacts, accuracy)
    return method, float(accuracy) if method == "fmm" else 0.0


def chosen_coupling(method: Method, accuracy: float, cells: PopulationView) -> tuple[Literal["matrix", "fmm"], float]:
    """Return the method by which potentials of coupled cells are computed, and its accuracy: 0 of the matrix."""
    _check(method, accuracy)
    counts = compartment_counts(cells)
    if method == "auto":
        method = "matrix" if counts.sum() <= _MOST_IN_MATRIX else "fmm"
    return method, float(accuracy) if method == "fmm" else 0.0


def _check(method: Method, accuracy: float) -> None:
    check_choice("method", method, ("auto", "matrix", "fmm"))
    # Refuses an accuracy out of bounds.
    _core.choose_field_options(number("accuracy", accuracy), 1, 1)


def _method_for(compartments: int, contacts: int, accuracy: float) -> Literal["matrix", "fmm"]:
    """Return the method with fewer operations.

    The operations of the fast multipole method are estimated: with the best capacity of boxes, the root of the product
    of both numbers times that capacity; the factor is that of the operations that were counted for cells in a column,
    to 2.5 times. So the choice depends on nothing but these numbers, and the same network gives the same bits
    everywhere.
    """
    pairs = float(compartments) * float(contacts)
    _, capacity, _ = _core.choose_field_options(accuracy, 1, 1)
    return "fmm" if _OPERATIONS_OF_WEIGHT * pairs > 500.0 * capacity * math.sqrt(pairs) else "matrix"


def _expansions(compartments: int, contacts: int, accuracy: float) -> tuple[int, float, int]:
    """Return order, number of boxes and bytes of a number: of boxes at most, for lines and contacts that fill space."""
    order, capacity, precision = _core.choose_field_options(accuracy, compartments, contacts)
    return order, 1.0 + 8.0 * (compartments + contacts) / capacity, 4 if precision == "float32" else 8


def _sample_bytes(compartments: int, contacts: int, accuracy: float) -> float:
    """Return the bytes of one sample while it is evaluated, at most."""
    order, boxes, number = _expansions(compartments, contacts, accuracy)
    coefficients = -(-((order + 1) ** 2) // 16) * 16
    # Expansions, strengths of the parts of lines, sums of near and far sources; currents and potentials twice.
    return (
        boxes * 2 * coefficients * number + 2 * compartments * number + 16 * contacts + 16 * (compartments + contacts)
    )


def samples_at_once(compartments: int, contacts: int, accuracy: float) -> int:
    """Return how many samples are evaluated at once: a multiple of 8, or 1 where these would take too much memory."""
    size = _sample_bytes(compartments, contacts, accuracy)
    most = int(min(_MOST_SAMPLES, _BLOCK_BYTES / size)) // 8 * 8
    return most if most > 0 else 8 if 8 * size < 16 * _BLOCK_BYTES else 1


def evaluation_bytes(compartments: int, contacts: int, accuracy: float) -> tuple[int, int]:
    """Return the bytes that the fast multipole method takes: at most, without those of the recording.

    The first number is that of each process; the processes divide the second one.
    """
    order, boxes, number = _expansions(compartments, contacts, accuracy)
    matrices = 56 * (order + 1) ** 4 * number
    # Lists of boxes and tasks; lines and their parts; contacts, by box.
    divided = boxes * 2250 + compartments * (2 * 56 + 2 * 160) + contacts * (24 + 3 * number + 16)
    samples = samples_at_once(compartments, contacts, accuracy)
    divided += samples * _sample_bytes(compartments, contacts, accuracy)
    return round(boxes * 250 + matrices), round(divided)
