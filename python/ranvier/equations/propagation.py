"""Linear equations with constant coefficients, solved exactly over a step.

x(t + h) = e^(A h) x(t): constants of a step, and the injected current, are further variables that do not change.
Where a variable acts on another one directly and in no other way, the element of e^(A h) has a closed form; the core
calculates the others (`Propagator`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ranvier.equations.builder import Operand, Value
from ranvier.equations.expressions import Affine
from ranvier.equations.names import CURRENT, is_noise
from ranvier.equations.scope import Stage

__all__ = ["Matrices", "MatrixRequest", "Propagation"]

_CONSTANT = "1"
_SOURCES = (_CONSTANT, CURRENT)


@dataclass
class MatrixRequest:
    """A matrix A whose propagator the core calculates: elements by row and column, and which of e^(A h) are needed."""

    elements: list[list[Operand]]
    outputs: dict[tuple[int, int], Value] = field(default_factory=dict)


class Matrices:
    """All matrices of a model."""

    def __init__(self) -> None:
        self.requests: list[MatrixRequest] = []


class Propagation:
    """The step of some variables that depend on each other, constants and the injected current only."""

    def __init__(self, stage: Stage, matrices: Matrices, forms: Mapping[str, Affine]) -> None:
        self.stage = stage
        self.matrices = matrices
        self.forms = forms
        self._acting = {name: self._acting_on(name) for name in forms}
        self._before = {name: self._reached(name) for name in forms}
        self._elements: dict[tuple[str, str], Operand] = {}
        self._requests: dict[str, tuple[list[str], MatrixRequest]] = {}

    def _acting_on(self, name: str) -> dict[str, Operand]:
        """Return the variables that act on a variable directly, with their coefficients."""
        form = self.forms[name]
        acting = {other: each for other, each in form.coefficients.items() if other != name and not is_noise(other)}
        # The current is last: it is added to the constants.
        current = acting.pop(CURRENT, None)
        if form.constant != 0.0:
            acting[_CONSTANT] = form.constant
        if current is not None:
            acting[CURRENT] = current
        return acting

    def _reached(self, name: str) -> set[str]:
        """Return all that acts on a variable, also by way of others; itself if it is in a circle."""
        found: set[str] = set()
        waiting = list(self._acting[name])
        while waiting:
            other = waiting.pop()
            if other not in found:
                found.add(other)
                waiting += self._acting.get(other, ())
        return found

    def is_in_circle(self, name: str) -> bool:
        """Return whether a variable acts on itself by way of others."""
        return name in self._before[name]

    def decay_rate(self, name: str) -> Operand:
        """Return how fast a variable changes by itself (1/ms)."""
        return 0.0 if name in _SOURCES else self.forms[name].coefficients.get(name, 0.0)

    def step(self, name: str, state: Mapping[str, Operand], current: Operand | None) -> Operand:
        """Return a variable after a step without noise."""
        do = self.stage.do
        made = do("multiply", self.element(name, name), state[name])
        drive: Operand = 0.0
        for other in (*self.forms, *_SOURCES):
            if other == name or other not in self._before[name]:
                continue
            element = self.element(name, other)
            if other in _SOURCES:
                drive = do("add", drive, element if other == _CONSTANT else do("multiply", element, current or 0.0))
            else:
                made = do("add", made, do("multiply", element, state[other]))
        return do("add", made, drive)

    def element(self, name: str, other: str) -> Operand:
        """Return how much of another variable there is in a variable after a step."""
        key = (name, other)
        if key not in self._elements:
            self._elements[key] = (
                self._closed(name, other) if self._is_direct(name, other) else self._asked(name, other)
            )
        return self._elements[key]

    def _is_direct(self, name: str, other: str) -> bool:
        if name == other:
            return not self.is_in_circle(name)
        between = [
            each
            for each in self.forms
            if each not in (name, other) and each in self._before[name] and other in self._before[each]
        ]
        returns = other in self._before and name in self._before[other]
        return not between and not returns

    def _closed(self, name: str, other: str) -> Operand:
        do, length = self.stage.do, self.stage.length
        exponent = do("multiply", self.decay_rate(name), length) if self.decay_rate(name) != 0.0 else 0.0
        if name == other:
            return 1.0 if exponent == 0.0 else do("exp", exponent)
        gain = do("multiply", self._acting[name][other], length)
        if other in _SOURCES or self.decay_rate(other) == 0.0:
            return gain if exponent == 0.0 else do("multiply", gain, do("expm1_over", exponent))
        other_exponent = do("multiply", self.decay_rate(other), length)
        # The slower exponential is taken out of the integral, so that nothing overflows.
        slower = do("exp", do("maximum", exponent, other_exponent))
        distance = do("negate", do("absolute", do("subtract", exponent, other_exponent)))
        return do("multiply", do("multiply", gain, slower), do("expm1_over", distance))

    def _asked(self, name: str, other: str) -> Operand:
        """Return an element that the core calculates."""
        if other not in self._requests:
            order = [each for each in (*self.forms, *_SOURCES) if each == other or self._depends(each, other)]
            elements = [[self._coefficient(row, column) for column in order] for row in order]
            self._requests[other] = (order, MatrixRequest(elements))
            self.matrices.requests.append(self._requests[other][1])
        order, request = self._requests[other]
        place = (order.index(name), order.index(other))
        if place not in request.outputs:
            key = ("propagator", self.matrices.requests.index(request), place)
            request.outputs[place] = self.stage.step.input(key)
        return request.outputs[place]

    def _depends(self, name: str, other: str) -> bool:
        return name in self._before and other in self._before[name]

    def _coefficient(self, name: str, other: str) -> Operand:
        if name in _SOURCES:
            return 0.0
        return self.decay_rate(name) if name == other else self._acting[name].get(other, 0.0)
