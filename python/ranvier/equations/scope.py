"""Operands of expressions of a model: parameters, variables at some time, inputs, and random numbers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from ranvier.equations.builder import Builder, Operand, operate
from ranvier.equations.description import Declared, Description
from ranvier.equations.expressions import CONSTANTS, Affine, AffineSums, Instructions, unit_number
from ranvier.equations.finiteness import Finiteness
from ranvier.equations.guards import Guards
from ranvier.equations.names import CURRENT, STEP, is_noise
from ranvier.equations.ranges import Ranges
from ranvier.equations.trees import Node, walked

__all__ = ["Scope", "Stage"]


class Stage:
    """The builders of a model, before a step and in the step, with the values of names in each.

    Attributes
    ----------
    description
        The model.
    prepare, step
        The builders.
    length
        The length of a step, ms.
    conditions
        Truths that must hold for the constants of a step, with the reasons of failures.
    positive
        Parameters that are always above 0.
    noises
        Names of white noise, in the order of their draws.
    finiteness
        Checks a step for hidden infinities and NaN.
    """

    def __init__(self, description: Description) -> None:
        self.description = description
        self.prepare = Builder(0)
        self.step = Builder(1, self.prepare)
        self.length = self.prepare.input(STEP)
        self.conditions: list[tuple[Operand, str]] = []
        equations = [each.node for each in description.variables.values() if each.node is not None]
        self.noises = [name for name in description.used(equations) if is_noise(name)]
        self._draws: dict[int, tuple[int, Node]] = {}
        self.positive = frozenset(name for name, each in description.parameters.items() if _is_positive(each.declared))
        bounds = {name: (each.declared.lower, each.declared.upper) for name, each in description.parameters.items()}
        self.finiteness = Finiteness(self.prepare, Ranges(bounds))
        self._guards = Guards(
            description.roots,
            description.subexpressions,
            lambda name: (
                name in description.parameters or name == STEP or unit_number(name) is not None or name in CONSTANTS
            ),
            lambda node: Scope(self, {}).value(node),
        )
        self.parameters: dict[str, Operand] = {STEP: self.length}
        for name in description.parameters:
            given = self.prepare.input(("parameter", name))
            self.parameters[name] = self.scaled(given, description.unit(name).exponent)
            if description.parameters[name].declared.is_switch:
                is_off, is_on = (self.do("equal", given, number) for number in (0.0, 1.0))
                self.conditions.append((self.do("either", is_off, is_on), f"{name} must be True or False, 1 or 0"))

    def do(self, op: str, *operands: Operand) -> Operand:
        """Return the outcome of an operation, calculated as early as possible."""
        return operate(self.prepare, op, *operands)

    def used(self, node: Node) -> Operand:
        """Return the truth that an expression is used, where this depends on parameters; otherwise True."""
        return self._guards.used(node, self.do)

    def scaled(self, value: Operand, exponent: int) -> Operand:
        """Return a value times a power of ten."""
        if exponent == 0:
            return value
        return self.do("multiply" if exponent > 0 else "divide", value, 10.0 ** abs(exponent))

    def exponent(self, variable: str) -> int:
        """Return the power of ten of the unit of a variable."""
        return self.description.variables[variable].unit.exponent

    def noise(self, name: str) -> Operand:
        """Return the draw of a step for a white noise."""
        return self.step.draw("normal_draw", self.noises.index(name))

    def draw(self, node: Node) -> Operand:
        """Return the random number that a call of rand() or randn() gives in a step."""
        index, _ = self._draws.setdefault(id(node), (len(self.noises) + len(self._draws), node))
        return self.step.draw("uniform_draw" if node.name == "rand" else "normal_draw", index)


def _is_positive(declared: Declared) -> bool:
    return declared.lower > 0.0 or (declared.lower == 0.0 and declared.lower_open)


class Scope:
    """Values of all names at some time of a step.

    `state` has the variables, in their units; `others` further names, in the units of calculations.
    """

    def __init__(self, stage: Stage, state: Mapping[str, Operand], others: Mapping[str, Operand] | None = None) -> None:
        self.stage = stage
        self.names: dict[str, Operand] = dict(stage.parameters)
        self.names |= {name: stage.scaled(value, stage.exponent(name)) for name, value in state.items()}
        self.names |= others or {}
        self.instructions = Instructions(
            stage.prepare, self.names, stage.draw, stage.conditions, stage.positive, stage.used
        )

    def value(self, node: Node) -> Operand:
        """Return the value of an expression, in the units of calculations."""
        description = self.stage.description
        for name in description.needed(node):
            found = description.subexpressions[name].node
            if name not in self.names and found is not None:
                self.names[name] = walked(found, self.instructions)
        return walked(node, self.instructions)

    def rate(self, variable: str) -> Operand:
        """Return the derivative of a variable, in its unit over ms."""
        node = self.stage.description.variables[variable].node
        return 0.0 if node is None else self.stage.scaled(self.value(node), -self.stage.exponent(variable))

    def affine(self, node: Node, linear: Iterable[str]) -> Affine:
        """Return an expression as a sum that is linear in some names, in the units of calculations.

        Coefficients of variables are for their numbers in their units.
        """
        stage = self.stage
        names = {
            name: Affine(
                {name: stage.scaled(1.0, stage.exponent(name)) if name in stage.description.variables else 1.0}
            )
            for name in linear
        }
        sums = AffineSums(self.instructions, names)
        for name in stage.description.needed(node):
            found = stage.description.subexpressions[name].node
            if found is not None:
                names[name] = walked(found, sums)
        return walked(node, sums)

    def affine_rate(self, variable: str, linear: Iterable[str]) -> Affine:
        """Return the derivative of a variable, in its unit over ms, as a linear sum."""
        node = self.stage.description.variables[variable].node
        if node is None:
            return Affine({})
        found = self.affine(node, linear)
        if found.prevented_by is not None:
            return found
        exponent = -self.stage.exponent(variable)
        return Affine(
            {name: self.stage.scaled(each, exponent) for name, each in found.coefficients.items()},
            self.stage.scaled(found.constant, exponent),
        )


def current_names(description: Description) -> list[str]:
    """Return the name of the injected current if equations use it."""
    nodes = [each.node for each in description.variables.values() if each.node is not None]
    return [CURRENT] if CURRENT in description.used([*nodes, description.threshold]) else []
