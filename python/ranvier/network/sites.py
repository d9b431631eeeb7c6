"""Which sites of a receptor synapses and stimuli reach."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt

from ranvier.base.immutable import Immutable, locked
from ranvier.base.names import counted
from ranvier.base.numeric import as_array, number_array, whole_number
from ranvier.base.values import FloatArray, flatten
from ranvier.errors import ShapeError

__all__ = ["CoreSite", "SiteLike", "SiteProbabilities", "StoredSite", "site_to_core", "store_site"]

_MOST_SITES = 2**32 - 1


class SiteProbabilities(Immutable):
    """Probabilities with which synapses reach sites of a receptor: ``net.connect(..., site=rv.SiteProbabilities(p))``.

    Parameters
    ----------
    values
        One number for each site, in any unit, >= 0 and not all 0.

    Raises
    ------
    ShapeError
        Unless there is one dimension. The length is checked by `Network.connect` and `Network.stimulate`.
    """

    values: FloatArray

    def __init__(self, values: npt.ArrayLike) -> None:
        array = number_array("probabilities of sites", values, "an array of numbers")
        if array.ndim != 1:
            raise ShapeError("probabilities of sites", f"an array of shape {array.shape}", "it must have one dimension")
        self._put(values=locked(array))

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._put(values=locked(state["values"]))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SiteProbabilities) and np.array_equal(self.values, other.values)

    def __hash__(self) -> int:
        return hash(self.values.tobytes())

    def __repr__(self) -> str:
        return f"<SiteProbabilities of {counted(len(self.values), 'site')}>"


SiteLike: TypeAlias = npt.ArrayLike | SiteProbabilities | None
StoredSite: TypeAlias = int | FloatArray | SiteProbabilities | None
CoreSite: TypeAlias = int | FloatArray | tuple[FloatArray] | None


def store_site(site: SiteLike, pairs: tuple[int, int] | None = None) -> StoredSite:
    """Return sites in the form in which a network keeps them.

    Parameters
    ----------
    pairs
        Numbers of targets and sources, if arrays may have one number for each pair of them.
    """
    if site is None or isinstance(site, SiteProbabilities):
        return site
    array = as_array("site", site)
    if array is None or array.ndim == 0:
        return whole_number("site", site, 0, _MOST_SITES)
    flat = number_array("site", flatten("site", array, pairs), "a number, an array of numbers or rv.SiteProbabilities")
    if flat.ndim != 1:
        raise ShapeError("site", f"an array of shape {flat.shape}", "it must have one dimension")
    return locked(flat)


def site_to_core(site: StoredSite) -> CoreSite:
    """Return stored sites in the form in which the core takes them."""
    return (site.values,) if isinstance(site, SiteProbabilities) else site
