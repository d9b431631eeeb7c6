"""Convolutions of kernels with the spikes of ports, as variables that spikes change."""

from __future__ import annotations

from ranvier.equations.description import Equation, Statement
from ranvier.equations.expressions import Units
from ranvier.equations.places import Place, refuse, refuse_name
from ranvier.equations.trees import Node, nodes_of, walked
from ranvier.equations.units import NONE, TIME, UNITS, Dimension, Unit
from ranvier.nestml.algebra import product, split, total
from ranvier.nestml.behaviour import base_of
from ranvier.nestml.kernels import terms_of
from ranvier.nestml.names import SPIKES, Names, replace_name
from ranvier.nestml.syntax import Inline, Model

__all__ = ["Convolutions"]

_DELTA = f"{SPIKES}delta "


class Convolutions:
    """Effects of spikes on variables.

    Attributes
    ----------
    equations
        Those of the variables of convolutions.
    effects
        Effect of a spike, by the name of the port.
    variables_of_kernels
        Names of the block state that are initial values of kernels, not variables.
    """

    def __init__(self, model: Model, names: Names) -> None:
        self.model = model
        self.names = names
        self.equations: dict[str, Equation] = {}
        self.effects: dict[str, list[Statement]] = {}
        self._groups: dict[str, tuple[Inline, ...]] = {}
        self._made: dict[tuple[str, str], Node] = {}
        self.variables_of_kernels: set[str] = set()
        for group in model.kernels:
            for each in group:
                base = base_of(each.name)
                if base in self._groups:
                    refuse(each.place, f"'{base}'", "another kernel has the same name", "choose another name")
                self._groups[base] = group
                if each.name != base:
                    self.variables_of_kernels |= {base + "'" * i for i in range(each.name.count("'"))}

    def convolved(self, call: Node, kernel: str, port: str) -> Node:
        """Return the convolution of a kernel with the spikes of a port."""
        place = call.parts[0].place
        if kernel not in self._groups:
            refuse_name(place, kernel, list(self._groups), "write kernel g = exp(-t/tau)")
        if port not in self.model.ports or not self.model.ports[port].is_spiking:
            ports = [each.name for each in self.model.ports.values() if each.is_spiking]
            refuse_name(call.parts[1].place, port, ports, "write port <- spike in the block input")
        key = (kernel, port)
        if key not in self._made:
            group = self._groups[kernel]
            definition = group[0].node
            if len(group) == 1 and group[0].name == kernel and definition.kind == "call" and definition.name == "delta":
                self._made[key] = replace_name(call, _DELTA + port)
            elif len(group) == 1 and group[0].name == kernel:
                self._made[key] = self._of_time(kernel, port, definition)
            else:
                self._made[key] = self._of_equations(kernel, port, group)
        return replace_place(self._made[key], call.place)

    def add(self, port: str, variable: str, node: Node, place: Place, operation: str = "add") -> None:
        """Note that a spike changes a variable by an expression that contains its weight."""
        if "inhibitory" in self.model.ports[port].qualifiers and len(self.model.ports[port].qualifiers) == 1:
            # NESTML gives the magnitude of negative weights.
            operation = "subtract" if operation == "add" else "add"
        self.effects.setdefault(port, []).append(Statement(variable, operation, node, place))

    def without_impulses(self, variable: str, node: Node) -> Node:
        """Return a right side without spikes, which become jumps of the variable."""
        found = {
            part.name: part.place for part in nodes_of(node) if part.kind == "name" and part.name.startswith(SPIKES)
        }
        rest: Node | None = node
        for name, place in found.items():
            if rest is None:
                break
            factor, rest = split(rest, name)
            if factor is None:
                continue
            if any(part.kind == "name" and part.name.startswith(SPIKES) for part in nodes_of(factor)):
                refuse(place, f"'{node.place.text}'", "spikes act in proportion to their weight", "write a factor")
            port = name.removeprefix(_DELTA).removeprefix(SPIKES)
            jump = product(factor, Node("name", place, name=self.names.weight))
            # A convolution with a delta function has no unit: as published models have it, one event in each ms.
            unit = "ms" if name.startswith(_DELTA) else ""
            jump = Node("multiply", place, (jump, Node("name", place, name=unit))) if unit else jump
            self.add(port, variable, jump, place)
        return rest if rest is not None else Node("number", node.place, number=0.0)

    # ---- kernels -----------------------------------------------------------------------------------------------------

    def _variable(self, name: str, place: Place, dimension: Dimension, node: Node, meaning: str) -> None:
        text = str(dimension)
        exponent = UNITS[text].exponent if text in UNITS else 0
        unit = Unit(dimension, exponent, "" if dimension == NONE else text)
        self.equations[name] = Equation(name, place, node, unit, True, meaning)

    def _of_time(self, kernel: str, port: str, definition: Node) -> Node:
        """Return the convolution with a kernel that is a function of time."""
        terms = terms_of(definition)
        place = definition.place
        made: Node | None = None
        for i, term in enumerate(terms):
            assert term.rate is not None
            factor, rate = self.names.finite(term.factor), self.names.finite(term.rate)
            self.names.refuse_impulses(Node("add", place, (factor, rate)))
            found = walked(factor, Units(self.names.dimensions))
            dimension = found if isinstance(found, Dimension) else NONE
            dimension = dimension * TIME if term.power else dimension
            suffix = f"_{i + 1}" if len(terms) > 1 else ""
            plain = self.names.new(f"{kernel}_{port}{suffix}", dimension)
            decay = product(rate, Node("name", place, name=plain))
            rises = plain
            if term.power:
                rises = self.names.new(f"{plain}_rise", dimension / TIME)
                growth = product(rate, Node("name", place, name=rises))
                self._variable(rises, place, dimension / TIME, growth, f"Rate of growth of {plain}")
                whole = total(Node("name", place, name=rises), decay)
                assert whole is not None
                decay = whole
            self._variable(plain, place, dimension, decay, f"Convolution of {kernel} with {port}")
            weight = Node("name", place, name=self.names.weight)
            self.add(port, rises, product(factor, weight), place)
            made = total(made, Node("name", place, name=plain))
        assert made is not None
        return made

    def _of_equations(self, kernel: str, port: str, group: tuple[Inline, ...]) -> Node:
        """Return the convolution with a kernel that solves equations, with initial values of the block state."""
        new: dict[str, str] = {}
        for each in group:
            base = base_of(each.name)
            if each.name == base:
                refuse(each.place, f"'{base}'", "kernels in one line are differential equations", "write several lines")
            for i in range(each.name.count("'")):
                name = base + "'" * i
                if name not in self.model.state:
                    refuse(each.place, f"'{name}'", "it is not declared in the block state", f"write {name} real = ...")
                unit = self.model.state[name].unit
                new[name] = self.names.new(f"{name}_{port}", unit.dimension)
        for each in group:
            base, order = base_of(each.name), each.name.count("'")
            for i in range(order):
                name = base + "'" * i
                below = (
                    self._renamed(each.node, new) if i + 1 == order else Node("name", each.place, name=new[name + "'"])
                )
                self._variable(
                    new[name], each.place, self.model.state[name].unit.dimension, below, f"Convolution of {name}"
                )
                initial = self.model.state[name].node
                if initial is not None and self.names.value(initial) != 0.0:
                    weight = Node("name", each.place, name=self.names.weight)
                    factor = self.names.finite(initial)
                    self.names.refuse_impulses(factor)
                    self.add(port, new[name], product(factor, weight), initial.place)
        return Node("name", group[0].place, name=new[kernel])

    def _renamed(self, node: Node, new: dict[str, str]) -> Node:
        outer, self.names.arguments = (
            self.names.arguments,
            {name: Node("name", node.place, name=plain) for name, plain in new.items()},
        )
        try:
            return self.names.finite(node)
        finally:
            self.names.arguments = outer


def replace_place(node: Node, place: Place) -> Node:
    """Return the same expression for another place."""
    return Node(node.kind, place, node.parts, node.number, node.name)
