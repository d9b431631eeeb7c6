"""Executes SOLVE in NMODL files: chooses the method for a block, and returns the values after it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ranvier.channels.general_scope import Assign, Statement
from ranvier.channels.implicit_integration import Explicit, Implicit
from ranvier.channels.nmodl_declarations import Declarations
from ranvier.channels.nmodl_execution import Execution
from ranvier.channels.nmodl_kinetic import Scheme
from ranvier.channels.nmodl_ledger import Ledger, place_of
from ranvier.channels.nmodl_nodes import number_node, rate_name, substituted
from ranvier.channels.packing import mapped_nodes
from ranvier.channels.simultaneous_equations import Simultaneous
from ranvier.equations.places import Place, refuse
from ranvier.equations.trees import Node, names_in

__all__ = ["Emitted", "Solver"]

_EXPLICIT = {"euler": 1, "runge": 4}
_IMPLICIT = ("derivimplicit",)
_KINETIC = ("sparse",)
_KNOWN = ("cnexp", *_IMPLICIT, *_EXPLICIT)
_BEFORE, _SOLVED, _STEADY = "{} before solution {}", "{} of solution {}", "{} of steady state {}"


def _hides_state(statement: Any) -> bool:
    """Return whether the state of an equation is in the argument of a function, or in a divisor."""
    target, right = statement.children
    parts = [each for call in right.find_data("call") for each in call.children[1:]]
    parts += [quotient.children[1] for quotient in right.find_data("divide")]
    state = str(target.children[0])
    names = [name for part in parts for kind in ("name", "element") for name in _found(part, kind)]
    return any(str(each.children[0]) == state for each in names)


def _found(part: Any, kind: str) -> list[Any]:
    return [] if part is None else list(part.find_data(kind))


@dataclass
class Emitted:
    """Statements of solvers, which cannot be expressions.

    Attributes
    ----------
    solutions
        For each: the names of its results, and the statements.
    outcomes
        By the name of a result: the expressions that it follows from.
    places
        Places of the SOLVE statements.
    """

    solutions: list[tuple[set[str], list[Statement]]] = field(default_factory=list)
    outcomes: dict[str, list[Node]] = field(default_factory=dict)
    places: list[Place] = field(default_factory=list)

    def with_values(self, values: Mapping[str, Node], used: Iterable[str]) -> list[Statement]:
        """Return the statements with expressions substituted for names, without solutions that are not used."""
        names = set(used)
        kept = [each for solution, statements in self.solutions if names & solution for each in statements]
        return [mapped_nodes(each, lambda node: substituted(node, values)) for each in kept]


@dataclass
class Solver:
    """Solves blocks one after the other.

    Attributes
    ----------
    execution
        Makes the execution of a block, from values of names and a description for messages.
    emitted
        Collects the statements of solvers.
    is_initial
        Whether SOLVE is in INITIAL, where it sets states to their steady states.
    """

    declared: Declarations
    ledger: Ledger
    execution: Callable[[Mapping[str, Node], str], Execution]
    emitted: Emitted
    is_initial: bool

    def solved(self, statement: Any, values: Mapping[str, Node]) -> dict[str, Node]:
        """Return the values of names after a block is solved.

        Raises
        ------
        EquationError
            For a block that does not exist, and for a method that cannot solve it.
        """
        name, steady, method = (None if each is None else str(each) for each in statement.children)
        assert name is not None
        place = place_of(self.declared.source, statement)
        if name in self.declared.systems:
            if steady or method:
                refuse(place, f"'{place.text}'", "LINEAR and NONLINEAR blocks have no method", f"write SOLVE {name}")
            return self._of_equations(name, place, self.execution(values, f"{name}, which is solved"))
        if self.is_initial != (steady is not None):
            bound = "INITIAL solves for steady states, with STEADYSTATE, and BREAKPOINT without it"
            refuse(place, f"'{place.text}'", bound, "see SOLVE")
        execution = self.execution(values, f"{name}, which is solved")
        if name in self.declared.routines and method is None and steady is None:
            return self._of_procedure(name, place, execution)
        if name in self.declared.kinetics:
            if (steady or method or "sparse") not in _KINETIC:
                refuse(
                    place, f"'{place.text}'", "KINETIC blocks are solved by sparse", f"write SOLVE {name} METHOD sparse"
                )
            return self._of_scheme(name, place, execution)
        if name not in self.declared.derivatives:
            refuse(place, f"'{place.text}'", "a DERIVATIVE block of this name is missing", "write one")
        if (steady or method) not in _KNOWN or (steady and steady not in _IMPLICIT):
            bound = f"methods of DERIVATIVE blocks are {', '.join(_KNOWN)}"
            refuse(place, f"'{place.text}'", bound, f"write SOLVE {name} METHOD cnexp")
        block = self.declared.derivatives[name]
        if method == "cnexp" and any(_hides_state(each) for each in block.find_data("derivative_of")):
            # NEURON cannot differentiate the equation, and solves the whole block so.
            method = "derivimplicit"
        if method == "cnexp":
            execution.states = frozenset(self.declared.states)
            execution.run(block, block.children[1:])
            return execution.values
        return self._of_system(name, steady or method or "", place, execution)

    def _of_procedure(self, name: str, place: Place, execution: Execution) -> dict[str, Node]:
        routine = self.declared.routines[name]
        if routine.arguments:
            refuse(place, f"'{place.text}'", f"{name} has arguments", "solve a PROCEDURE without any")
        execution.depth = 1
        execution.scopes = [{}]
        execution.run(routine.block, routine.statements)
        return execution.values

    def _of_system(self, name: str, method: str, place: Place, execution: Execution) -> dict[str, Node]:
        """Solve the derivatives of a block together."""
        block = self.declared.derivatives[name]
        states = list(self.declared.states)
        begun = self._begin(place, execution)
        nothing = {each: number_node(place, 0.0) for each in states}
        execution.values |= {rate_name(each): node for each, node in nothing.items()}
        execution.states, execution.is_simultaneous = frozenset(states), True
        execution.run(block, block.children[1:])
        rates = {each: execution.values.pop(rate_name(each)) for each in states}
        derivatives = {each: node for each, node in rates.items() if node is not nothing[each]}
        if not derivatives:
            refuse(place, f"'{place.text}'", "the block has no equation", f"write DERIVATIVE {name} {{ x' = ... }}")
        made: Statement
        if method in _EXPLICIT:
            made = Explicit((), derivatives, _EXPLICIT[method])
        else:
            made = Implicit((), derivatives, steady=self.is_initial)
        return self._emit(made, place, begun, list(derivatives), execution)

    def _of_scheme(self, name: str, place: Place, execution: Execution) -> dict[str, Node]:
        block = self.declared.kinetics[name]
        states = list(self.declared.states)
        begun = self._begin(place, execution)
        execution.scheme = Scheme()
        zero = number_node(place, 0.0)
        execution.values |= {"f_flux": zero, "b_flux": zero}
        execution.run(block, block.children[1:])
        if not execution.scheme.reactions and not execution.scheme.sources:
            refuse(
                place, f"'{place.text}'", "the block has no reaction", f"write KINETIC {name} {{ ~ a <-> b (f, g) }}"
            )
        made = execution.scheme.statement(execution.values, states, steady=self.is_initial)
        del execution.values["f_flux"], execution.values["b_flux"]
        return self._emit(made, place, begun, list(made.derivatives), execution)

    def _of_equations(self, name: str, place: Place, execution: Execution) -> dict[str, Node]:
        """Solve the equations of a LINEAR or NONLINEAR block for the states in them."""
        block = self.declared.systems[name]
        begun = self._begin(place, execution)
        execution.scheme = Scheme()
        execution.run(block, block.children[1:])
        residuals = execution.scheme.equations
        used = {each for node in residuals for each in names_in(node)}
        states = [each for each in self.declared.states if each in used]
        if not states:
            refuse(place, f"'{place.text}'", "the block has no equation with a state", f"write {name} {{ ~ x = 1 }}")
        return self._emit(Simultaneous(place, tuple(states), tuple(residuals)), place, begun, states, execution)

    def _begin(self, place: Place, execution: Execution) -> dict[str, Node]:
        """Let states represent themselves; return their values before."""
        begun = {}
        for name in self.declared.states:
            begun[name] = execution.values[name]
            is_itself = begun[name].kind == "name" and begun[name].name == name
            if not self.is_initial and not is_itself:
                refuse(
                    place, f"'{place.text}'", f"another block has changed {name} in the same step", "solve one of them"
                )
            execution.values[name] = Node("name", place, name=name)
        return begun

    def _emit(
        self, made: Statement, place: Place, begun: Mapping[str, Node], states: list[str], execution: Execution
    ) -> dict[str, Node]:
        """Add a statement that sets states; let these represent its results, and restore other names."""
        number = len(self.emitted.places)
        self.emitted.places.append(place)
        reads = list(made.names())
        statements: list[Statement] = []
        outcomes: set[str] = set()
        self.emitted.solutions.append((outcomes, statements))
        used = {*states, *(each for node in reads for each in names_in(node))}
        for name, node in begun.items():
            if name not in used:
                continue
            # Outside of the solution, states keep their values at the start of the step.
            statements.append(Assign(_BEFORE.format(name, number), Node("name", place, name=name)))
            if self.is_initial:
                statements.append(Assign(name, node))
        statements.append(made)
        for name in begun:
            if name not in used:
                execution.values[name] = begun[name]
                continue
            solved = (_STEADY if self.is_initial else _SOLVED).format(name, number)
            statements.append(Assign(solved, Node("name", place, name=name)))
            statements.append(Assign(name, Node("name", place, name=_BEFORE.format(name, number))))
            if name in states:
                results = [*reads, *(begun[each] for each in states)]
                outcomes.add(solved)
                self.emitted.outcomes[solved] = results
                execution.values[name] = Node("name", place, name=solved)
            else:
                execution.values[name] = begun[name]
        if isinstance(made, Implicit | Simultaneous):
            # Other names of the block follow from the states that solve its equations.
            ends = {name: execution.values[name] for name in states}
            for name, node in execution.values.items():
                if name not in begun:
                    execution.values[name] = substituted(node, ends)
        return execution.values
