"""Electrodes that inject a given current, or hold a given potential."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

import numpy as np

from ranvier.base.immutable import Immutable
from ranvier.base.numeric import number_array
from ranvier.cells.per_cell import PerCell, PerCellParameters, PerCellValue, number_or_per_cell
from ranvier.cells.places import Place, as_place
from ranvier.errors import ShapeError, WrongTypeError

__all__ = ["Clamp", "current_clamp", "voltage_clamp"]

Numbers: TypeAlias = float | Sequence[float] | PerCell | Sequence[PerCellValue]


class Clamp(Immutable):
    """An electrode, for ``clamps=`` of `Cell`: made by `current_clamp` or `voltage_clamp`."""

    kind: str
    start: PerCellValue
    levels: tuple[PerCellValue, ...]
    durations: tuple[PerCellValue, ...]
    resistance: PerCellValue

    def __init__(
        self,
        kind: str,
        start: PerCellValue,
        levels: tuple[PerCellValue, ...],
        durations: tuple[PerCellValue, ...],
        resistance: PerCellValue,
    ) -> None:
        self._put(kind=kind, start=start, levels=levels, durations=durations, resistance=resistance)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self._put(**state)

    def _content(self) -> tuple[object, ...]:
        return self.kind, self.start, self.levels, self.durations, self.resistance

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Clamp) and self._content() == other._content()

    def __hash__(self) -> int:
        return hash(self._content())

    def __repr__(self) -> str:
        named = "amplitude" if self.kind == "current" else "level"
        resistance = f", resistance={_text(self.resistance)}" if self.kind == "voltage" else ""
        return (
            f"{self.kind}_clamp({named}={list(self.levels)}, duration={list(self.durations)}, "
            f"start={_text(self.start)}{resistance})"
        )


def _text(value: PerCellValue) -> str:
    return repr(value) if isinstance(value, PerCell) else f"{value:g}"


def current_clamp(*, amplitude: Numbers, duration: Numbers = math.inf, start: PerCellValue = 0.0) -> Clamp:
    """Return a clamp that injects currents.

    Parameters
    ----------
    amplitude
        Current, pA: one number, or several for successive intervals.
    duration
        Duration of each interval, ms. The last one may be infinite.
    start
        Start of the first interval, ms. Before and after there is no current.

    Notes
    -----
    A current that begins or ends within a step is averaged over the step. Several current clamps
    may be at one place: their currents add up. Currents of stimulators and ``I_e`` flow into the electrode of the cell.
    Each number may be `per_cell`.

    Raises
    ------
    WrongTypeError, ShapeError
        For other types than numbers and lists of numbers. Values are checked when the cell is made.
    """
    return Clamp(
        "current",
        number_or_per_cell("start", start),
        _numbers("amplitude", amplitude),
        _numbers("duration", duration),
        0.0,
    )


def voltage_clamp(
    *, level: Numbers, duration: Numbers = math.inf, start: PerCellValue = 0.0, resistance: PerCellValue = 1.0
) -> Clamp:
    """Return a clamp with a single electrode that holds potentials.

    Parameters
    ----------
    level
        Potential, mV: one number, or several for successive intervals.
    duration
        Duration of each interval, ms. The last one may be infinite.
    start
        Start of the first interval, ms. Before and after, the electrode is disconnected.
    resistance
        Resistance of the electrode, in series with the membrane, MOhm: the current is (level - V) / resistance.

    Notes
    -----
    Cells with the staggered scheme, which oscillates at a clamped potential, cannot have one. A compartment has one
    voltage clamp at a time. Each number may be `per_cell`.

    Raises
    ------
    WrongTypeError, ShapeError
        For other types than numbers and lists of numbers. Values are checked when the cell is made.
    """
    return Clamp(
        "voltage",
        number_or_per_cell("start", start),
        _numbers("level", level),
        _numbers("duration", duration),
        number_or_per_cell("resistance", resistance),
    )


def _numbers(what: str, values: Numbers) -> tuple[PerCellValue, ...]:
    if isinstance(values, PerCell):
        return tuple(values.parts(what))
    if isinstance(values, list | tuple) and any(isinstance(value, PerCell) for value in values):
        return tuple(number_or_per_cell(f"{what}[{i}]", value) for i, value in enumerate(values))
    array = np.atleast_1d(number_array(what, values, "a number or a list of numbers"))
    if array.ndim != 1:
        raise ShapeError(what, f"an array of shape {array.shape}", "it must have one dimension")
    return tuple(array.tolist())


CoreClamp: TypeAlias = tuple[str, str, tuple[int, float], float, list[float], list[float], float]


def core_clamps(clamps: Mapping[str, tuple[Clamp, Place]], cell_parameters: PerCellParameters) -> list[CoreClamp]:
    """Return clamps as the core takes them."""
    made = []
    for i, (name, pair) in enumerate(clamps.items()):
        what = f"clamp '{name}'"
        if not isinstance(pair, tuple | list) or len(pair) != 2 or not isinstance(pair[0], Clamp):
            raise WrongTypeError(
                what, repr(pair), "must be a clamp and a place", "write (rv.current_clamp(amplitude=100.0), rv.at(0))"
            )
        clamp, place = pair[0], as_place(f"place of {what}", pair[1])
        at = place.section, place.position
        level = "amplitude" if clamp.kind == "current" else "level"
        start = cell_parameters.number("clamp_start", f"start of {what}", clamp.start, i)
        levels = [
            cell_parameters.number("clamp_level", f"{level} of {what}", value, i, k)
            for k, value in enumerate(clamp.levels)
        ]
        durations = [
            cell_parameters.number("clamp_duration", f"duration of {what}", value, i, k)
            for k, value in enumerate(clamp.durations)
        ]
        resistance = cell_parameters.number("clamp_resistance", f"resistance of {what}", clamp.resistance, i)
        made.append((str(name), clamp.kind, at, start, levels, durations, resistance))
    return made
