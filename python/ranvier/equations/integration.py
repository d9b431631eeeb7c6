"""Options of the integration of equations: the method, and the error bounds of an adaptive one."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from ranvier.base.names import check_choice, unknown_name
from ranvier.base.numeric import number
from ranvier.equations.adaptive import Tolerances
from ranvier.equations.methods import METHODS
from ranvier.errors import ValueOutOfBoundsError

__all__ = ["AbsoluteTolerance", "Integration"]

AbsoluteTolerance: TypeAlias = float | Mapping[str, float]
"""For all variables, or by variable."""

_DEFAULT = 1e-6


@dataclass(frozen=True)
class Integration:
    """The method of integration, and error bounds, which are None unless they are given. It can be a key."""

    method: str
    relative_tolerance: float | None = None
    absolute_tolerance: float | tuple[tuple[str, float], ...] | None = None

    @classmethod
    def checked(
        cls,
        method: Any,
        relative_tolerance: Any = None,
        absolute_tolerance: Any = None,
        *,
        known: Iterable[str] = METHODS,
    ) -> Integration:
        """Return checked options.

        Raises
        ------
        UnknownNameError, WrongTypeError, ValueOutOfBoundsError
            For a method that is not `known`, and for bounds that are not positive numbers.
        """
        check_choice("method", method, list(known))
        relative: float | None = None
        absolute: float | tuple[tuple[str, float], ...] | None = None
        if relative_tolerance is not None:
            relative = _positive("relative_tolerance", relative_tolerance)
            if not 1e-13 <= relative <= 0.1:
                raise ValueOutOfBoundsError("relative_tolerance", f"{relative:g}", "it must be >= 1e-13 and <= 0.1")
        if isinstance(absolute_tolerance, Mapping):
            pairs = absolute_tolerance.items()
            absolute = tuple(sorted((str(n), _positive(f"absolute_tolerance of {n}", each)) for n, each in pairs))
        elif absolute_tolerance is not None:
            absolute = _positive("absolute_tolerance", absolute_tolerance)
        return cls(method, relative, absolute)

    @property
    def given(self) -> dict[str, Any]:
        """The keywords of `checked` that were given."""
        absolute = self.absolute_tolerance
        values = {
            "method": self.method,
            "relative_tolerance": self.relative_tolerance,
            "absolute_tolerance": dict(absolute) if isinstance(absolute, tuple) else absolute,
        }
        return {name: value for name, value in values.items() if value is not None}

    def tolerances(self, variables: Iterable[str]) -> Tolerances:
        """Return the error bounds of these variables.

        Raises
        ------
        UnknownNameError
            When there is a bound for another variable.
        """
        names = list(variables)
        relative = _DEFAULT if self.relative_tolerance is None else self.relative_tolerance
        absolute = self.absolute_tolerance
        if not isinstance(absolute, tuple):
            return Tolerances(relative, dict.fromkeys(names, _DEFAULT if absolute is None else absolute))
        for name, _ in absolute:
            if name not in names:
                unknown_name("variable in absolute_tolerance", name, names)
        return Tolerances(relative, {**dict.fromkeys(names, _DEFAULT), **dict(absolute)})

    def check_used(self, method: str) -> None:
        """Check that the method that is executed has error bounds if there are any.

        Raises
        ------
        ValueOutOfBoundsError
            When the method has no error bounds.
        """
        for name in ("relative_tolerance", "absolute_tolerance"):
            if method != "adaptive" and name in self.given:
                raise ValueOutOfBoundsError(
                    name,
                    str(self.given[name]),
                    f'the method is "{method}", which has no error bound',
                    f'leave {name} out, or write method="adaptive"',
                )


def _positive(what: str, value: object) -> float:
    given = number(what, value)
    if not 0.0 < given < math.inf:
        raise ValueOutOfBoundsError(what, f"{given:g}", "it must be > 0 and finite")
    return given
