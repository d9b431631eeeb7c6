"""Makes the rate equations of a KINETIC block from its reactions, sources, volumes and conserved sums.

A reaction ``~ a + 2 b <-> c (kf, kb)`` flows forward with ``f_flux = kf*a*b^2`` and back with ``b_flux = kb*c``.
Reactants that are not states are constant: they are factors of the fluxes, without an equation.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace

from ranvier.channels.general_scope import Assign
from ranvier.channels.implicit_integration import Conserved, Implicit
from ranvier.equations.places import Place, refuse
from ranvier.equations.trees import Node

__all__ = ["Reaction", "Scheme", "Side"]

Side = Mapping[str, int]
"""The reactants of one side of a reaction with their stoichiometric coefficients."""


@dataclass(frozen=True)
class Reaction:
    """A reaction, or a flow out of the scheme if `right` is empty; rates are expressions."""

    place: Place
    left: Side
    right: Side
    forward: Node
    backward: Node | None = None

    def fluxes(self, values: Mapping[str, Node]) -> tuple[Node, Node]:
        """Return ``f_flux`` and ``b_flux`` for these values of reactants."""
        forward = _flux(self.place, self.forward, self.left, values)
        if self.backward is None:
            return forward, Node("number", self.place, number=0.0)
        return forward, _flux(self.place, self.backward, self.right, values)


@dataclass
class Scheme:
    """The contents of a KINETIC, LINEAR or NONLINEAR block.

    Attributes
    ----------
    reactions
        In their order.
    sources
        States and the flows into them: ``~ x << (expression)``.
    volumes
        Volumes of states in a COMPARTMENT.
    sums
        Sums of CONSERVE: the place, the factors of states, and the total.
    equations
        Equations of LINEAR and NONLINEAR blocks: expressions that must be 0.
    """

    reactions: list[Reaction] = field(default_factory=list)
    sources: list[tuple[str, Node]] = field(default_factory=list)
    volumes: dict[str, Node] = field(default_factory=dict)
    sums: list[tuple[Place, Side, Node]] = field(default_factory=list)
    equations: list[Node] = field(default_factory=list)

    def derivatives(self, values: Mapping[str, Node], states: Iterable[str]) -> dict[str, Node]:
        """Return the net flow into each state that takes part; divided by the volume it is the derivative."""
        known = set(states)
        made: dict[str, Node] = {}
        for each in self.reactions:
            forward, backward = each.fluxes(values)
            net = forward
            if each.backward is not None:
                net = Node("subtract", each.place, (forward, backward))
            for name in {**each.left, **each.right}:
                count = each.right.get(name, 0) - each.left.get(name, 0)
                if name in known and count != 0:
                    made[name] = _with(made.get(name), count, net)
        for name, node in self.sources:
            if name in known:
                made[name] = _with(made.get(name), 1, node)
        return made

    def statement(self, values: Mapping[str, Node], states: Iterable[str], steady: bool = False) -> Implicit:
        """Return the statement that advances the states that take part by a step, or to the steady state.

        Raises
        ------
        EquationError
            For a conserved sum with a state that is in no reaction, and for more sums than states.
        """
        before, scheme = self._with_named_rates()
        derivatives = scheme.derivatives(values, states)
        conserved: list[Conserved] = []
        for place, factors, total in self.sums:
            free = [
                each for each in factors if each in derivatives and all(each != taken.instead for taken in conserved)
            ]
            if not free or any(each not in derivatives for each in factors):
                bound = "a conserved sum needs states that are in reactions, one of them in no other sum"
                refuse(place, f"'{place.text}'", bound, "leave it out")
            made = {name: self._weight(place, name, count) for name, count in factors.items()}
            conserved.append(Conserved(free[-1], made, total))
        volumes = {name: node for name, node in self.volumes.items() if name in derivatives}
        return Implicit(before, derivatives, tuple(conserved), volumes, steady)

    def _with_named_rates(self) -> tuple[tuple[Assign, ...], Scheme]:
        """Return assignments to rates, and the scheme with their names, so that derivatives stay short."""
        before: list[Assign] = []

        def named(node: Node | None) -> Node | None:
            if node is None or node.kind in ("name", "number"):
                return node
            before.append(Assign(f"rate {len(before)}", node))
            return Node("name", node.place, name=before[-1].name)

        reactions = []
        for each in self.reactions:
            forward, backward = named(each.forward), named(each.backward)
            assert forward is not None
            reactions.append(replace(each, forward=forward, backward=backward))
        return tuple(before), replace(self, reactions=reactions)

    def _weight(self, place: Place, name: str, count: int) -> Node:
        """Return the factor of a state in a sum: the amount is conserved, not the concentration."""
        number = Node("number", place, number=float(count))
        return Node("multiply", place, (number, self.volumes[name])) if name in self.volumes else number


def _flux(place: Place, rate: Node, side: Side, values: Mapping[str, Node]) -> Node:
    made = rate
    for name, count in side.items():
        for _ in range(count):
            made = Node("multiply", place, (made, values[name]))
    return made


def _with(total: Node | None, count: int, flow: Node) -> Node:
    """Return a sum with a flow added `count` times; None: the sum is empty."""
    place = flow.place
    term = flow if abs(count) == 1 else Node("multiply", place, (Node("number", place, number=float(abs(count))), flow))
    if total is None:
        return term if count > 0 else Node("negate", place, (term,))
    return Node("add" if count > 0 else "subtract", place, (total, term))
