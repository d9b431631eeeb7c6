"""Values of expressions at the start, calculated as plain numbers, to find a division by 0 before a run."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from ranvier.equations.description import Description
from ranvier.equations.expressions import CONSTANTS, unit_number
from ranvier.equations.names import CURRENT, STEP, is_noise
from ranvier.equations.places import refuse
from ranvier.equations.trees import Node, walked
from ranvier.equations.units import scaled

__all__ = ["Numbers", "Trouble", "check_beginning"]


@dataclass(frozen=True, slots=True)
class Trouble:
    """An operation that has no finite outcome."""

    node: Node
    is_division: bool


Found: TypeAlias = float | bool | Trouble

_OPERATIONS: dict[str, Callable[..., float | bool]] = {
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b,
    "power": lambda a, b: a**b,
    "negate": lambda a: -a,
    "before": lambda a: a,
    "absolute": abs,
    "square_root": math.sqrt,
    "minimum": min,
    "maximum": max,
    "floor": lambda a: float(math.floor(a)),
    "expm1_over": lambda a: math.expm1(a) / a if a else 1.0,
    "less": lambda a, b: a < b,
    "less_equal": lambda a, b: a <= b,
    "equal": lambda a, b: a == b,
    "both": lambda a, b: a and b,
    "either": lambda a, b: a or b,
    "not": lambda a: not a,
    **{name: getattr(math, name) for name in ("exp", "expm1", "log", "log1p")},
    **{name: getattr(math, name) for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
}


class Numbers:
    """Calculates an expression; `names` has the values of names, in the units of calculations."""

    def __init__(self, names: Mapping[str, Found]) -> None:
        self.names = names

    def leaf(self, node: Node) -> Found:
        """Return a number, or the value of a name."""
        if node.kind == "number":
            return node.number
        if node.kind == "draw":
            return 0.5
        if node.name in self.names:
            return self.names[node.name]
        number = CONSTANTS.get(node.name) or unit_number(node.name)
        return 0.0 if number is None else number

    def operation(self, node: Node, parts: list[Found]) -> Found:
        """Return the outcome of an operation, or the error that occurs."""
        if node.kind == "where" and not isinstance(parts[0], Trouble):
            # Errors of the branch that is not chosen are ignored.
            return parts[1] if parts[0] else parts[2]
        for part in parts:
            if isinstance(part, Trouble):
                return part
        try:
            found = _OPERATIONS[node.kind](*parts)
        except ZeroDivisionError:
            return Trouble(node, True)
        except (ArithmeticError, ValueError):
            return Trouble(node, False)
        is_number = not isinstance(found, complex) and math.isfinite(found)
        return found if is_number else Trouble(node, False)


def check_beginning(description: Description, values: Mapping[str, float]) -> None:
    """Calculate all equations at the beginning.

    `values` are numbers of parameters and initial values of variables, in their units, which replace the defaults.

    Raises
    ------
    EquationError
        For a division by 0, or another outcome that is not finite.
    """
    given: dict[str, float] = {name: each.declared.default for name, each in description.parameters.items()}
    given |= {name: value for name, value in values.items() if name in given}
    for name, begin in description.initial.items():
        given[name] = values.get(name, given[begin] if isinstance(begin, str) else begin)
    names: dict[str, Found] = {name: scaled(each, description.unit(name).exponent) for name, each in given.items()}
    names |= {STEP: 0.1, CURRENT: 0.0, description.weight_name: 1.0}
    nodes = [each.node for each in description.variables.values() if each.node is not None]
    nodes += [description.threshold, *([] if description.refractory is None else [description.refractory])]
    names |= {name: 0.0 for name in description.used(nodes) if is_noise(name)}
    numbers = Numbers(names)
    for name, equation in description.subexpressions.items():
        if equation.node is not None:
            names[name] = walked(equation.node, numbers)
    for node in nodes:
        found = walked(node, numbers)
        if isinstance(found, Trouble):
            _refuse(found, description, names)


def _refuse(trouble: Trouble, description: Description, names: Mapping[str, Found]) -> None:
    node = trouble.node.parts[1] if trouble.is_division and trouble.node.kind == "divide" else trouble.node
    used = [
        name for name in description.used([node]) if name in description.variables or name in description.parameters
    ]
    shown = []
    for name in used[:6]:
        value = names[name]
        unit = description.unit(name)
        if not isinstance(value, Trouble):
            shown.append(f"{name} = {scaled(value, -unit.exponent):g} {unit.text}".strip())
    values = f" with {', '.join(shown)}" if shown else ""
    variables = [name for name in used if name in description.variables]
    remedy = f"choose another initial value: initial=dict({variables[0]}=...)" if variables else "give other values"
    if trouble.is_division and node is not trouble.node:
        refuse(
            node.place,
            f"'{node.place.text}'",
            f"it is 0 at the beginning{values}, and something is divided by it",
            remedy,
        )
    refuse(node.place, f"'{node.place.text}'", f"it is not a finite number at the beginning{values}", remedy)
