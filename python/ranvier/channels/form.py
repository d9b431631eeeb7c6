"""Chooses the form of a channel: the fast one if its equations fit it, otherwise the general one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ranvier.channels.currents import addends
from ranvier.channels.description import CALCIUM_REVERSAL, CURRENT, ChannelDescription
from ranvier.channels.general import Assign, GeneralCurrent, GeneralDescription, GeneralState, Statement
from ranvier.channels.general_integration import Advance
from ranvier.channels.general_scope import ProgramScope
from ranvier.channels.lowering import lower_channel
from ranvier.channels.reading import check_form
from ranvier.equations.places import refuse
from ranvier.equations.trees import Node
from ranvier.errors import EquationError

__all__ = ["chosen_form"]


def chosen_form(read: ChannelDescription) -> ChannelDescription | GeneralDescription:
    """Return a description in the fast form if its equations fit it, otherwise in the general form.

    Raises
    ------
    EquationError
        For a state without a steady state whose initial value is not given.
    """
    try:
        check_form(read)
        lower_channel(read)
    except EquationError:
        return general_form(read)
    return read


def general_form(read: ChannelDescription) -> GeneralDescription:
    """Return the same channel in the general form."""
    derivatives = {name: each.node for name, each in read.gates.items() if each.node is not None}
    before = _assigned(read, *derivatives.values())
    advance = Advance(before, derivatives)
    assert read.current.node is not None
    parts = addends(read, CURRENT)
    names = [CURRENT] if parts is None else parts
    carried = read.calcium_currents
    for name in carried:
        if name not in (CURRENT, *names):
            place = read.subexpressions[name].place
            bound = f"calcium carries {CURRENT}, or currents that {CURRENT} is the sum of"
            refuse(place, f"'{name}'", bound, f"write {CURRENT} = {name} + ..., or leave (calcium) out")
    current = (*_assigned(read, read.current.node), Assign(CURRENT, read.current.node))
    hidden = {CALCIUM_REVERSAL} if read.has_calcium_reversal else set()
    return GeneralDescription(
        name=read.name,
        summary=read.summary,
        text=read.text,
        reference=read.reference,
        parameters={name: each for name, each in read.parameters.items() if name not in hidden},
        states={name: GeneralState(name, each.unit, each.meaning) for name, each in read.gates.items()},
        initial=_initial(read, advance),
        step=(advance,) if derivatives else (),
        current=current,
        currents=tuple(GeneralCurrent(name, name in carried or CURRENT in carried) for name in names),
        has_units=read.has_units,
    )


def _assigned(read: ChannelDescription, *nodes: Node) -> tuple[Assign, ...]:
    made = [(name, read.subexpressions[name].node) for name in read.needed(nodes)]
    return tuple(Assign(name, node) for name, node in made if node is not None)


def _initial(read: ChannelDescription, advance: Advance) -> tuple[Statement, ...]:
    made: list[Statement] = []
    for name, node in read.initial.items():
        made += [*_assigned(read, node), Assign(name, node)]
    for name in read.gates:
        if name not in read.initial:
            made.append(_SteadyState(name, advance))
    return tuple(made)


@dataclass(frozen=True)
class _SteadyState:
    """Sets a state to its steady state, if its derivative is linear in it and reads no other state."""

    state: str
    advance: Advance

    def names(self) -> Iterator[Node]:
        """See `Statement`."""
        yield from self.advance.names()

    def emit(self, scope: ProgramScope) -> None:
        """See `Statement`."""
        steady = self.advance.steady_state(scope, self.state)
        if steady is None:
            node = self.advance.derivatives[self.state]
            bound = f"{self.state} has no steady state that can be found: its equation is not linear in it alone"
            refuse(node.place, f"'{node.place.text}'", bound, f"give its initial value: initial=dict({self.state}=...)")
        scope.operands[self.state] = steady
