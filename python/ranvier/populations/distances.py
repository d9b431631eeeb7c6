"""Displacements and distances between neurons."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from ranvier.base.memory_checks import check_room
from ranvier.base.texts import name_type
from ranvier.errors import StateError, WrongTypeError
from ranvier.populations.populations import PopulationView, common_period
from ranvier.space.displacements import displacements, lengths

__all__ = ["displacement", "distance"]

FloatArray = npt.NDArray[np.float64]


def displacement(sources: PopulationView, targets: PopulationView) -> FloatArray:
    """Return the displacements between all neurons of two views: the position of a target minus that of a source.

    On periodic axes, the shortest of all images counts.

    Parameters
    ----------
    sources, targets
        Populations or views of one network, with positions.

    Returns
    -------
    array of shape ``(len(targets), len(sources), dimensions)``
        In the unit of the positions.

    Raises
    ------
    StateError
        When neurons have no positions, or the views belong to different networks.
    ShapeError, ValueOutOfBoundsError
        When the positions have different dimensions, units or periods.
    InsufficientMemoryError
        When there is not enough memory for the array.

    Examples
    --------
    >>> import ranvier as rv
    >>> net = rv.Network()
    >>> ring = net.create("iaf_psc_exp", positions=rv.grid((8, 1), periodic=(True, False)))
    >>> rv.displacement(ring[0], ring[7])[0, 0]
    array([-0.125,  0.   ])
    """
    for what, view in (("sources", sources), ("targets", targets)):
        if not isinstance(view, PopulationView):
            raise WrongTypeError(what, name_type(view), "must be a population or a view")
    if sources.network is not targets.network:
        raise StateError(f"population {targets.name}", bound=f"it belongs to another network than {sources.name}")
    period = common_period(sources, targets)
    pairs = len(sources) * len(targets)
    check_room(f"displacements of {pairs} pairs", 16 * len(period) * pairs, "ask for those of fewer neurons")
    return displacements(sources.positions[None, :, :], targets.positions[:, None, :], period)


def distance(sources: PopulationView, targets: PopulationView) -> FloatArray:
    """Return the distances between all neurons of two views: the lengths of their displacements.

    Parameters
    ----------
    sources, targets
        As for `displacement`.

    Returns
    -------
    array of shape ``(len(targets), len(sources))``
        In the unit of the positions.

    Raises
    ------
    StateError, ShapeError, ValueOutOfBoundsError, InsufficientMemoryError
        As for `displacement`.
    """
    return lengths(displacement(sources, targets))
