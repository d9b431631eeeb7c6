"""Probes of a cell: variables that can be recorded."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from ranvier import _core
from ranvier.base.names import counted
from ranvier.cells.membrane import Mechanism
from ranvier.cells.places import Everywhere, Place, as_place
from ranvier.errors import UnknownNameError, ValueOutOfBoundsError, WrongTypeError

__all__ = ["CoreProbe", "ProbeLike", "core_probes"]

ProbeLike: TypeAlias = Place | Everywhere | str | tuple[Place | Everywhere, str]
CoreProbe: TypeAlias = tuple[str, str, tuple[int, float], int, int]
"""Name, kind, place, number of a mechanism, receptor, clamp or electrode, number of a gate or current."""
_EVERY_SITE = 2**32 - 1
Painted: TypeAlias = tuple[Mechanism, npt.NDArray[np.float64]]
"""A mechanism, and which part of each compartment has it."""


def core_probes(
    probes: Mapping[str, ProbeLike],
    membrane: Sequence[Painted],
    receptors: Mapping[str, int],
    clamps: Sequence[str],
    electrodes: Sequence[str],
    cut: _core.Compartments,
) -> list[CoreProbe]:
    """Return probes as the core takes them; receptors have the numbers of their sites."""
    made = []
    for name, probe in probes.items():
        what = f"probe '{name}'"
        if isinstance(probe, Everywhere):
            made += [(f"{name}[{i}]", "potential", place, 0, 0) for i, place in enumerate(_middles(cut))]
        elif isinstance(probe, Place):
            made.append((str(name), "potential", (probe.section, probe.position), 0, 0))
        elif isinstance(probe, str):
            kind, number, site = _of_name(what, probe, receptors, clamps, electrodes)
            made.append((str(name), kind, (0, 0.0), number, site))
        else:
            if not isinstance(probe, tuple | list) or len(probe) != 2:
                raise WrongTypeError(
                    what,
                    " ".join(repr(probe).split()),
                    "must be a place, the name of a receptor, or a place and a variable",
                )
            if isinstance(probe[0], Everywhere):
                made += _everywhere(str(name), probe[1], membrane, cut)
                continue
            place = as_place(f"place of {what}", probe[0])
            at = place.section, place.position
            made.append((str(name), *_at_place(what, probe[1], at, membrane, cut)))
    return made


def _middles(cut: _core.Compartments) -> list[tuple[int, float]]:
    middles = (np.array(cut.begin) + np.array(cut.end)) / 2.0
    return [(int(section), float(position)) for section, position in zip(cut.section, middles, strict=True)]


def _everywhere(name: str, variable: object, membrane: Sequence[Painted], cut: _core.Compartments) -> list[CoreProbe]:
    """Return a probe for each compartment that has a variable of a mechanism."""
    made = []
    candidates = _variables(f"probe '{name}'", variable, membrane)
    # The last candidate that a compartment has; -1: none.
    chosen = np.full(len(cut), -1)
    for k, (kind, number, _) in enumerate(candidates):
        chosen[(membrane[number][1] > 0.0) if kind != "axial_current" else slice(None)] = k
    for i, (k, place) in enumerate(zip(chosen.tolist(), _middles(cut), strict=True)):
        if k >= 0:
            kind, number, j = candidates[k]
            made.append((f"{name}[{i}]", kind, place, number, j))
    return made


def _of_name(
    what: str, probe: str, receptors: Mapping[str, int], clamps: Sequence[str], electrodes: Sequence[str]
) -> tuple[str, int, int]:
    """Return kind, number and site; clamps and electrodes have no sites."""
    known = {name: ("conductance", i) for i, name in enumerate(receptors)}
    for kind, names in (
        ("receptor_current", receptors),
        ("clamp_current", clamps),
        ("electrode_current", electrodes),
    ):
        of_kind = {f"i of {name}": (kind, i) for i, name in enumerate(names) if name}
        known.update({name: place for name, place in of_kind.items() if name not in known})
    whole, site = probe, None
    if probe not in known and (found := re.fullmatch(r"(.*)\[(\d{1,10})\]", probe, re.DOTALL)):
        whole, site = found[1], int(found[2])
    without_sites = ("clamp_current", "electrode_current")
    if whole not in known or (site is not None and known[whole][0] in without_sites):
        raise UnknownNameError(what, repr(probe), f"receptors and currents are {', '.join(known) or 'none'}")
    kind, number = known[whole]
    if kind in without_sites:
        return kind, number, 0
    sites = list(receptors.values())[number]
    if site is None:
        return kind, number, 0 if sites == 1 else _EVERY_SITE
    if site >= sites:
        raise ValueOutOfBoundsError(
            what, repr(probe), f"receptor '{list(receptors)[number]}' has {counted(sites, 'site')}, numbered from 0"
        )
    return kind, number, site


def _variables(what: str, variable: object, membrane: Sequence[Painted]) -> list[tuple[str, int, int]]:
    """Return the variables of a name: kind, number of the mechanism, number of its gate or current."""
    known: dict[str, list[tuple[str, int, int]]] = {"i_axial": [("axial_current", 0, 0)]}
    for i, (mechanism, _) in enumerate(membrane):
        variables = [("gate", gate, j) for j, gate in enumerate(mechanism.gates)]
        variables += [("current", current, j) for j, current in enumerate(mechanism.currents)]
        if mechanism.is_pool:
            variables += [("calcium", "Ca", 0), ("calcium_reversal", "E_Ca", 0)]
        for kind, number, j in variables:
            known.setdefault(f"{number} of {mechanism.name}", []).append((kind, i, j))
    if not isinstance(variable, str) or variable not in known:
        raise UnknownNameError(what, repr(variable), f"variables of places are {', '.join(known)}")
    return known[variable]


def _at_place(
    what: str, variable: object, place: tuple[int, float], membrane: Sequence[Painted], cut: _core.Compartments
) -> tuple[str, tuple[int, float], int, int]:
    """Return a variable of the last mechanism at the place that has it."""
    candidates = _variables(what, variable, membrane)
    try:
        compartment = cut.at(*place)
    except ValueOutOfBoundsError as error:
        raise ValueOutOfBoundsError(f"place of {what}", error.value, error.bound, error.remedy) from None
    there = [each for each in candidates if each[0] != "axial_current" and membrane[each[1]][1][compartment] > 0.0]
    kind, i, j = (there or candidates[:1])[-1]
    return kind, place, i, j
