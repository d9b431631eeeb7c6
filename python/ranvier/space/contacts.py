"""Contacts of electrodes outside of cells."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from ranvier.base.hints import known_keywords
from ranvier.base.immutable import locked
from ranvier.base.memory_checks import check_room
from ranvier.base.numeric import number, number_array, positive_number, whole_number
from ranvier.base.values import FloatArray
from ranvier.errors import ShapeError, ValueOutOfBoundsError
from ranvier.space.positions import MICROMETRES, GivenPositions, Grid, Positions, check_unit, positions

__all__ = ["MOST_COORDINATE", "ContactLabels", "checked_contacts", "laminar_probe"]

# Of probes, too.
_UM = {**MICROMETRES, "m": 1e6}
MOST_COORDINATE = 1e12
"""Of contacts and boundaries, um: squares of distances must not overflow."""
_SHAPE = "it must be (contacts, 3), or (..., 3) for contacts on a grid"


@dataclass(frozen=True)
class ContactLabels:
    """Labels of contacts; None: not given.

    Attributes
    ----------
    grid_shape
        The shape of the grid of contacts, whose index grows fastest along the last dimension.
    contact_names, shanks
        Names of the contacts, and of the shank that each is on, as in the probe. Those of several probes begin with the
        name of the probe: ``"1:e7"``.
    """

    grid_shape: tuple[int, ...] | None = None
    contact_names: tuple[str, ...] | None = None
    shanks: tuple[str, ...] | None = None

    def given(self) -> dict[str, Any]:
        """Return those that are given, by name."""
        return {name: value for name, value in vars(self).items() if value is not None}


def checked_contacts(contacts: Any, unit: str | None, unit_of_cells: str) -> tuple[FloatArray, ContactLabels]:
    """Return the coordinates of contacts in um, shape ``(contacts, 3)``, and their labels.

    Parameters
    ----------
    contacts
        An array, positions, or a probe or a group of probes of probeinterface.
    unit
        Of an array: ``"mm"`` or ``"um"``; None: that of the cells.
    unit_of_cells
        Unit of the positions of the cells.
    """
    labels = ContactLabels()
    if isinstance(contacts, Positions):
        _check_no_unit(unit, "positions", contacts.unit)
        points, labels = _of_positions(contacts)
        points *= _UM[contacts.unit]
    elif hasattr(contacts, "contact_positions") or hasattr(contacts, "probes"):
        _check_no_unit(unit, "a probe", "its own unit")
        points, labels = _of_probe(contacts)
    else:
        points = _of_array(contacts)
        if points.ndim > 2:
            labels = ContactLabels(grid_shape=points.shape[:-1])
        points = points.reshape(-1, 3) * _UM[unit_of_cells if unit is None else check_unit("unit", unit)]
    wrong = np.flatnonzero(~(np.abs(points) <= MOST_COORDINATE).all(axis=1))
    if len(wrong):
        raise ValueOutOfBoundsError(
            f"contact {wrong[0]}",
            f"{tuple(points[wrong[0]].tolist())} um",
            f"coordinates must be finite, and at most {MOST_COORDINATE:g} um",
        )
    return locked(points), labels


def _check_no_unit(unit: str | None, what: str, known: str) -> None:
    if unit is not None and unit != known:
        raise ValueOutOfBoundsError("unit", repr(unit), f"{what} have {known}", "leave the unit out")


def _of_array(contacts: Any) -> npt.NDArray[np.float64]:
    points = number_array("contacts", contacts, "an array of coordinates, positions or a probe")
    if points.ndim == 1:
        points = points[np.newaxis, :]
    if points.ndim < 2 or points.shape[-1] != 3 or not points.size:
        raise ShapeError("contacts", f"an array of the shape {points.shape}", _SHAPE, "give x, y and z of each contact")
    return points


def _of_positions(contacts: Positions) -> tuple[npt.NDArray[np.float64], ContactLabels]:
    if contacts.dimensions != 3:
        raise ShapeError(
            "contacts",
            f"positions of {contacts.dimensions} dimensions",
            "contacts have three",
            "write a plane as a grid with one layer: rv.grid((20, 1, 30), ...)",
        )
    if any(contacts.periodic):
        raise ValueOutOfBoundsError("contacts", repr(contacts), "contacts are not periodic", "leave periodic out")
    if isinstance(contacts, Grid):
        check_room(f"the coordinates of {contacts.count} contacts", 48 * contacts.count, "take fewer contacts")
        first = [
            middle - 0.5 * length + 0.5 * step
            for middle, length, step in zip(contacts.center or (), contacts.extent or (), contacts.spacing, strict=True)
        ]
        axes = [
            start + step * np.arange(count)
            for start, step, count in zip(first, contacts.spacing, contacts.shape, strict=True)
        ]
        points = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1).reshape(-1, 3)
        return points, ContactLabels(grid_shape=contacts.shape)
    if isinstance(contacts, GivenPositions):
        return np.array(contacts.coordinates), ContactLabels()
    raise ValueOutOfBoundsError(
        "contacts", repr(contacts), "random positions depend on a population", "give an array of coordinates"
    )


def _of_probe(probe: Any) -> tuple[npt.NDArray[np.float64], ContactLabels]:
    """Return the coordinates of the contacts of a probe of probeinterface, or of a group of probes, um."""
    is_group = hasattr(probe, "probes")
    parts = probe.probes if is_group else [probe]
    if not parts or any(each.contact_positions is None or not len(each.contact_positions) for each in parts):
        raise ShapeError("contacts", repr(probe), "a probe needs contacts", "write probe.set_contacts(...)")
    if any(each.ndim != 3 for each in parts):
        placed = "each probe of the group in space, and group them" if is_group else "the probe in space"
        raise ShapeError(
            "contacts",
            f"a probe of {min(each.ndim for each in parts)} dimensions",
            "contacts have three",
            f"place {placed}: probe.to_3d(axes='xz')",
        )
    table = probe.to_numpy(complete=True)
    scales = np.array([_UM.get(unit, np.nan) for unit in table["si_units"].tolist()])
    if np.isnan(scales).any():
        raise ValueOutOfBoundsError("unit of a probe", str(table["si_units"][0]), "it must be um, mm or m")
    points = np.stack([table[axis] for axis in "xyz"], axis=1).astype(np.float64) * scales[:, np.newaxis]
    # Before version 0.4, probes of a group have numbers only.
    known = table.dtype.names or ()
    of_probe = (
        table["probe_id" if "probe_id" in known else "probe_index"].astype(str) if is_group else [""] * len(table)
    )
    # Probes without such names have no column of them.
    names, shanks = (
        table[name].tolist() if name in known else [""] * len(table) for name in ("contact_ids", "shank_ids")
    )
    named = tuple(
        ":".join(filter(None, (of, name or str(place))))
        for place, (of, name) in enumerate(zip(of_probe, names, strict=True))
    )
    on_shank = tuple(":".join(filter(None, pair)) for pair in zip(of_probe, shanks, strict=True))
    return points, ContactLabels(None, named if any(names) else None, on_shank if len(set(on_shank)) > 1 else None)


@known_keywords
def laminar_probe(
    contacts: int,
    spacing: float = 100.0,
    *,
    x: float = 0.0,
    y: float = 0.0,
    top: float = 0.0,
    unit: str = "um",
) -> GivenPositions:
    """Return the contacts of a laminar probe: on a line along z, from the top downwards.

    Parameters
    ----------
    contacts
        Number of contacts, >= 1.
    spacing
        Distance of neighbouring contacts, > 0.
    x, y
        Coordinates of the line.
    top
        z of the first contact. Layers of `layers` begin at 0, and z points upwards.
    unit
        Unit of all lengths, ``"um"`` or ``"mm"``.

    Returns
    -------
    GivenPositions
        Contacts of `Network.record_extracellular`.

    Raises
    ------
    ValueOutOfBoundsError
        For lengths that are not positive and finite, and coordinates that are not finite.

    Examples
    --------
    >>> net.record_extracellular(rv.laminar_probe(16, spacing=100.0, x=50.0), cells=cells)
    """
    count = whole_number("contacts of a laminar probe", contacts, 1, 2**32)
    step = positive_number("spacing of a laminar probe", spacing)
    if step > MOST_COORDINATE:
        raise ValueOutOfBoundsError(
            "spacing of a laminar probe", str(spacing), f"it must be at most {MOST_COORDINATE:g}"
        )
    check_room(f"the coordinates of {count} contacts", 48 * count, "take fewer contacts")
    points = np.empty((count, 3))
    points[:, 0], points[:, 1] = number("x of a laminar probe", x), number("y of a laminar probe", y)
    points[:, 2] = number("top of a laminar probe", top) - step * np.arange(count)
    return positions(points, unit=unit)
