"""Names of a model, and expressions with them in the notation of `ranvier.neuron`."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

from ranvier.equations.expressions import CONSTANTS, Units, in_unit
from ranvier.equations.names import CURRENT, STEP, check_new_name
from ranvier.equations.places import Place, refuse, refuse_name, refuse_unit
from ranvier.equations.trees import Node, names_in, nodes_of, walked
from ranvier.equations.units import NONE, TIME, UNITS, Dimension, Unit, scaled
from ranvier.nestml.algebra import number_of, replaced
from ranvier.nestml.functions import MATHEMATICS
from ranvier.nestml.syntax import Function, Model, Other, Return

__all__ = ["SPIKES", "Names"]

SPIKES = "@"
"""Prefix of names for the spikes of a port, as impulses."""

_LONG = {
    "V": "volt",
    "s": "second",
    "A": "ampere",
    "S": "siemens",
    "F": "farad",
    "C": "coulomb",
    "m": "metre",
    "K": "kelvin",
}
_UNIT_VALUES = {name: scaled(1.0, unit.exponent) for name, unit in UNITS.items() if len(name) > 1}
_CALLS = ("convolve", "delta", "steps", "resolution", "timestep", "random_normal", "random_uniform")
_LARGEST = 5000  # nodes of an expression
_DEEPEST = 20  # functions that call each other
_SECOND = "second"


class Names:
    """The names of a model.

    Attributes
    ----------
    equation_names
        Names in equations by those of the file: without the letters ' and $.
    dimensions, units
        Dimensions and units of declared names, by the name in equations.
    values
        Values of parameters by default and of internals, and of units, in mV, ms, pA and so on.
    infinite
        Parameters that are infinite, and therefore no parameters.
    impulses
        Expressions that contain spikes as impulses, by the name of the inline expression.
    """

    def __init__(self, model: Model) -> None:
        self.model = model
        self.equation_names: dict[str, str] = {}
        self.dimensions: dict[str, Dimension] = {STEP: TIME, CURRENT: UNITS["pA"].dimension}
        self.units: dict[str, Unit] = {}
        self.values: dict[str, float] = {**_UNIT_VALUES, **CONSTANTS, "inf": math.inf}
        self.infinite: dict[str, float] = {}
        self.impulses: dict[str, Node] = {}
        self.previous: dict[str, str] = {}
        self.timer: str | None = None
        self.convolution: Callable[[Node, str, str], Node] | None = None
        self._places: dict[str, Place] = {}
        self._taken: set[str] = set()
        # Functions that are being written out, and the arguments of the innermost.
        self._open: list[str] = []
        self.arguments: dict[str, Node] = {}
        for table in (model.parameters, model.internals, model.inlines, model.state):
            for name, each in table.items():
                self._declare(name, each.place)
        for name, port in model.ports.items():
            self._declare(name, port.place)
        self.weight = "weight" if "w" in self._taken else "w"
        if self.weight in self._taken:
            refuse(model.place, "'w' and 'weight'", "one of both is the weight of spikes here", "rename one")

    def _declare(self, name: str, place: Place) -> None:
        if name in self._places:
            line = self._places[name].line
            refuse(place, f"'{name}'", f"line {line} declares the same name", "choose another name")
        plain = name.replace("'", "_prime").replace("$", "_D")
        if plain in self._taken:
            refuse(
                place, f"'{name}'", f"its name in equations, '{plain}', is used by another name", "choose another name"
            )
        check_new_name(place, plain, "a variable or parameter")
        self._places[name] = place
        self._taken.add(plain)
        self.equation_names[name] = plain

    def new(self, name: str, dimension: Dimension) -> str:
        """Return a name for a new variable."""
        plain = name.replace("'", "_prime").replace("$", "_D")
        while plain in self._taken or plain in self.dimensions or plain in CONSTANTS:
            plain += "_"
        self.dimensions[plain] = dimension
        return plain

    def declare_unit(self, name: str, unit: Unit) -> None:
        """Set the unit of a name, which expressions may use then."""
        self.units[self.equation_names[name]] = unit
        self.dimensions[self.equation_names[name]] = unit.dimension

    # ---- values ------------------------------------------------------------------------------------------------------

    def value(self, node: Node) -> float | None:
        """Return the value of an expression of the file with the defaults, or None if it has no value."""
        names = {name: self.values[plain] for name, plain in self.equation_names.items() if plain in self.values}
        if any(part.kind == "call" for part in nodes_of(node)):
            return None
        return number_of(replaced(node, self._unit), {**self.values, **names, **self.infinite})

    def _unit(self, node: Node) -> Node | None:
        if node.kind == "name" and node.name not in self.equation_names and node.name in _LONG:
            return replace_name(node, _LONG[node.name])
        return None

    def number(self, node: Node, unit: Unit, what: str) -> float:
        """Return the value of a resolved expression as a number in a unit."""
        self.check_unit(node, unit, what)
        value = number_of(node, self.values)
        if value is None:
            refuse(
                node.place, f"'{node.place.text}'", f"{what} must be a number when the model is read", "write a number"
            )
        return scaled(value, -unit.exponent)

    def converted(self, node: Node, unit: Unit, what: str) -> float:
        """Return the value of a resolved expression as a number in a unit, or without a unit where it has another.

        NESTML converts implicitly: numbers to quantities, and quantities to numbers in mV, ms,
        pA and so on.
        """
        self.refuse_impulses(node)
        found = walked(node, Units(self.dimensions))
        if isinstance(found, Dimension) and found != unit.dimension and NONE in (found, unit.dimension):
            return self.number(node, Unit(found, unit.exponent if found == NONE else 0, ""), what)
        return self.number(node, unit, what)

    def refuse_impulses(self, node: Node) -> None:
        """Raise an error for spikes in an expression that is not an equation of a variable."""
        for part in nodes_of(node):
            if part.kind == "name" and part.name.startswith(SPIKES):
                place = part.place
                refuse(place, f"'{place.text}'", "spikes are impulses, which only change variables", "write onReceive")

    def check_unit(self, node: Node, unit: Unit, what: str) -> None:
        """Refuse an expression that is in another unit."""
        self.refuse_impulses(node)
        found = walked(node, Units(self.dimensions))
        if found == "truth":
            refuse(node.place, f"'{node.place.text}'", "it is a condition, not a number", "write x > y ? 1 : 0")
        if found not in ("zero", unit.dimension):
            wanted = in_unit(unit.dimension)
            refuse_unit(node.place, in_unit(found), f"{what} is {wanted}", "give both the same unit")

    # ---- expressions -------------------------------------------------------------------------------------------------

    def resolved(self, node: Node, port: str | None = None) -> Node:
        """Return an expression in the notation of equations; `port` is the one whose spikes have a weight.

        Raises
        ------
        EquationError
            For names that do not exist, and for constructs that equations do not have.
        """

        def change(part: Node) -> Node | None:
            match part.kind:
                case "name":
                    return self._name(part, port)
                case "call":
                    return self._call(part, port)
                case "truth":
                    ends = (0.0, 1.0) if part.number else (1.0, 0.0)
                    return Node("less", part.place, tuple(Node("number", part.place, number=each) for each in ends))
                case "text":
                    refuse(part.place, part.place.text, "equations have no texts", "write a number")
                case "minimum" | "maximum":
                    return self._bounded(part, port)
            return None

        made = replaced(node, change)
        self._check_size(made)
        return made

    def finite(self, node: Node, port: str | None = None) -> Node:
        """Return a resolved expression, in which nothing is infinite."""
        made = self.resolved(node, port)
        for part in nodes_of(made):
            if part.kind == "number" and math.isinf(part.number):
                refuse(part.place, f"'{part.place.text}'", "equations have finite numbers only", "write a large number")
        return made

    def _check_size(self, node: Node) -> None:
        sizes: dict[int, int] = {}

        def size(part: Node) -> int:
            if id(part) not in sizes:
                sizes[id(part)] = 1 + sum(size(each) for each in part.parts)
            return sizes[id(part)]

        if size(node) > _LARGEST:
            refuse(
                node.place,
                f"'{node.place.text}', written out with {size(node)} operations",
                f"an expression may have {_LARGEST}",
                "divide it by inline expressions",
            )

    def _bounded(self, node: Node, port: str | None) -> Node | None:
        """Return a minimum or maximum without a side that is infinite."""
        beyond = math.inf if node.kind == "minimum" else -math.inf
        parts = [self.resolved(part, port) for part in node.parts]
        for one, other in (parts, parts[::-1]):
            if number_of(one, self.values) == beyond:
                return other
        return Node(node.kind, node.place, tuple(parts))

    def _name(self, node: Node, port: str | None) -> Node:  # noqa: RET503
        name = node.name
        if name in self.arguments:
            return self.arguments[name]
        if name in self.model.ports:
            return self._port(node, port)
        if name == self.timer:
            refuse(
                node.place,
                f"'{name}'",
                "the timer of the refractory period has no value here",
                "ask refr_t > 0 in update",
            )
        if name in self.previous:
            return Node("before", node.place, (replace_name(node, self.equation_names[self.previous[name]]),))
        if name in self.infinite or name == "inf":
            return Node("number", node.place, number=self.infinite.get(name, math.inf))
        if name in self.impulses:
            return self.impulses[name]
        if name in self.equation_names:
            return self._declared(node)
        if name in CONSTANTS:
            return node
        if name == "t":
            refuse(node.place, "'t'", "the time cannot be used", "make it a variable: x' = 1")
        known = _LONG.get(name, name)
        if known in _UNIT_VALUES:
            return replace_name(node, known)
        refuse_name(
            node.place, name, [*self.equation_names, *CONSTANTS], "declare it, or write a unit such as mV or 1/ms"
        )

    def _declared(self, node: Node) -> Node:
        plain = self.equation_names[node.name]
        if plain not in self.dimensions and node.name in self.model.state:
            why = "parameters, internals and initial values depend on parameters and internals only"
            refuse(node.place, f"'{node.name}', a variable", why, "write the parameter of its initial value")
        if plain not in self.dimensions:
            line = self._places[node.name].line
            refuse(
                node.place,
                f"'{node.name}'",
                f"it is declared further down, in line {line}",
                "declare it before its use",
            )
        made = replace_name(node, plain)
        declared = self.model.parameters.get(node.name)
        if declared is not None and declared.type == "boolean":
            return Node("less", node.place, (Node("number", node.place), made))
        return made

    def _port(self, node: Node, port: str | None) -> Node:
        if not self.model.ports[node.name].is_spiking:
            return replace_name(node, CURRENT)
        if port is None:
            return replace_name(node, SPIKES + node.name)
        if node.name != port:
            refuse(node.place, f"'{node.name}'", f"only spikes of {port} arrive here", f"write onReceive({node.name}):")
        return Node("divide", node.place, (replace_name(node, self.weight), replace_name(node, _SECOND)))

    def _call(self, node: Node, port: str | None) -> Node:  # noqa: RET503
        name, parts = node.name, node.parts
        if name in self.model.functions:
            return self._inlined(self.model.functions[name], node, port)
        if name not in _CALLS:
            known = [*MATHEMATICS, *_CALLS, *self.model.functions]
            refuse_name(node.place, name, known, f"functions are {', '.join(known)}")
        wanted = {"resolution": 0, "timestep": 0, "steps": 1, "delta": 1}.get(name, 2)
        if len(parts) != wanted:
            refuse(node.place, f"'{node.place.text}', with {len(parts)} arguments", f"{name} takes {wanted}")
        step = replace_name(node, STEP)
        match name:
            case "resolution" | "timestep":
                return step
            case "steps":
                half = Node("number", node.place, number=0.5)
                steps = Node("divide", node.place, (self.resolved(parts[0], port), step))
                return Node("floor", node.place, (Node("add", node.place, (steps, half)),))
            case "convolve":
                if any(part.kind != "name" for part in parts) or self.convolution is None:
                    refuse(
                        node.place, f"'{node.place.text}'", "it takes a kernel and a port", "write convolve(g, spikes)"
                    )
                return self.convolution(node, parts[0].name, parts[1].name)
            case "random_normal" | "random_uniform":
                draw = Node("draw", node.place, name="randn" if name == "random_normal" else "rand")
                first, second = (self.resolved(part, port) for part in parts)
                return Node("add", node.place, (first, Node("multiply", node.place, (second, draw))))
        refuse(node.place, f"'{node.place.text}'", "only a kernel can be delta(t)", "write kernel K = delta(t)")

    def _inlined(self, function: Function, call: Node, port: str | None) -> Node:
        """Return the result of a function of the file for some arguments."""
        if len(call.parts) != len(function.arguments):
            place = call.place
            refuse(place, f"'{place.text}'", f"{function.name} takes {len(function.arguments)} arguments")
        if function.name in self._open:
            refuse(call.place, f"'{function.name}'", "a function cannot call itself", "write an equation")
        if len(self._open) >= _DEEPEST:
            refuse(
                call.place,
                f"'{function.name}'",
                f"{_DEEPEST} functions can call each other",
                "write inline expressions",
            )
        given: dict[str, Node] = {}
        for declared, part in zip(function.arguments, call.parts, strict=True):
            given[declared.name] = self._of_type(self.resolved(part, port), declared.type, declared.unit, declared.name)
        outer, self.arguments = self.arguments, given
        self._open.append(function.name)
        try:
            made = self._returned(function, port)
        finally:
            self._open.pop()
            self.arguments = outer
        return made if function.returned is None else self._of_type(made, "", function.returned, function.name)

    def _returned(self, function: Function, port: str | None) -> Node:  # noqa: RET503
        """Return the value of a function whose arguments are known: local variables, then an expression."""
        for statement in function.body:
            if isinstance(statement, Return) and statement.node is not None:
                return self.resolved(statement.node, port)
            local = statement.local if isinstance(statement, Other) else None
            if local is None or local.node is None:
                break
            value = self.resolved(local.node, port)
            self.arguments[local.name] = self._of_type(value, local.type, local.unit, local.name)
        refuse(
            function.place,
            f"'{function.name}'",
            "functions have local variables with values, and return one expression",
            "write return ..., with x > y ? a : b",
        )

    def _of_type(self, node: Node, kind: str, unit: Unit, name: str) -> Node:
        """Return a part of a function, whose unit must be the declared one as far as it is known."""
        known = {*self.dimensions, *CONSTANTS, *_UNIT_VALUES}
        if kind != "boolean" and all(each in known for each in names_in(node)):
            self.check_unit(node, unit, name)
        return node


def replace_name(node: Node, name: str) -> Node:
    """Return a name at the place of a node."""
    return replace(node, kind="name", parts=(), name=name)
