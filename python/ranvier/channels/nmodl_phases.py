"""Executes the blocks of an NMODL file in NEURON's order, and finds the variables that persist from step to step.

NEURON calculates currents from BREAKPOINT without its SOLVE, then the potentials at the end of the step, then the
solved blocks with these. Variables keep their values from call to call. So a mechanism consists of the variables that
are read before they are assigned, with their values after INITIAL and after a step, and of the currents.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from ranvier.channels.description import CALCIUM, POTENTIAL
from ranvier.channels.general_scope import Assign, Statement
from ranvier.channels.nmodl_declarations import STEP, TIME, Declarations
from ranvier.channels.nmodl_execution import Execution
from ranvier.channels.nmodl_ledger import Ledger
from ranvier.channels.nmodl_nodes import depends_on, is_same, number_node, signed_terms, substituted
from ranvier.channels.nmodl_repetition import hidden, is_settled
from ranvier.channels.nmodl_solvers import Emitted, Solver
from ranvier.channels.nmodl_steps import proportional
from ranvier.equations.places import Place, refuse
from ranvier.equations.trees import Node, names_in

__all__ = ["Carried", "Variable", "execute"]

_CALCIUM_AT_REST = 5e-5
"""NEURON's initial concentration, mM."""
_BOUNDED = "{} within its bounds"


@dataclass(frozen=True)
class Variable:
    """A variable that persists: the place of its declaration, its initial value, and its value after a step."""

    name: str
    place: Place
    initial: Node
    step: Node


@dataclass
class Carried:
    """The variables and currents of a file.

    Attributes
    ----------
    variables
        States, and other names that are read before they are assigned; `Variable.step` uses values before the step.
    currents
        Currents as functions of the potential and the variables.
    initial_statements, step_statements
        Statements of solvers, which precede those that set variables.
    jumps
        For a point process: changes of variables by a spike of weight 1 nS.
    depends
        By variable and current, all expressions that have an effect on it.
    """

    variables: dict[str, Variable]
    currents: dict[str, Node]
    initial_statements: list[Statement] = field(default_factory=list)
    step_statements: list[Statement] = field(default_factory=list)
    depends: dict[str, list[Node]] = field(default_factory=dict)
    jumps: dict[str, Node] = field(default_factory=dict)

    @property
    def has_statements(self) -> bool:
        """Whether a solver needs statements beside expressions."""
        return bool(self.initial_statements or self.step_statements)


class _Phases:
    """Executions of the blocks of a file."""

    def __init__(self, declared: Declarations, ledger: Ledger) -> None:
        self.declared = declared
        self.ledger = ledger
        self.whole = declared.whole
        self.executed: list[Any] = []
        self.received: dict[str, Node] = {}
        self.solved_initially = Emitted()
        self.solved_in_steps = Emitted()
        self.symbols = {name: declared.symbol(name) for name in declared.memory}

    def names(self) -> dict[str, Node]:
        """Return names that represent themselves: the potential, names that are never assigned, and memory."""
        made = {name: Node("name", self.whole, name=name) for name in (POTENTIAL, *self.declared.given)}
        return made | {name: Node("name", self.whole, name=symbol) for name, symbol in self.symbols.items()}

    def begin(self) -> dict[str, Node]:
        """Return the values of names before INITIAL."""
        made = self.names()
        for name in self.declared.memory:
            made[name] = number_node(self.whole, 0.0)
            if name in self.declared.parameters:
                made[name] = Node("name", self.whole, name=name)
            elif name == CALCIUM:
                made[name] = number_node(self.whole, _CALCIUM_AT_REST)
        for name in self.declared.states:
            start = self.declared.starts.get(name)
            initial = f"{name}0"
            if start is not None:
                made[name] = number_node(self.whole, start)
            elif initial in self.declared.parameters:
                made[name] = Node("name", self.whole, name=initial)
        return made

    def execution(self, values: Mapping[str, Node], phase: str) -> Execution:
        """Return the execution of a block that starts with these values."""
        declared = self.declared
        # Changes of these last until the end of the block.
        fresh = {name: Node("name", self.whole, name=name) for name in (POTENTIAL, *declared.of_ions)}
        return Execution(
            source=declared.source,
            ledger=self.ledger,
            routines=declared.routines,
            fixed=declared.fixed,
            arrays=declared.arrays,
            constants=declared.constants,
            values={**values, **fresh},
            phase=phase,
            changing=frozenset((POTENTIAL, *declared.states)),
            executed=self.executed,
        )

    def after_initial(self) -> dict[str, Node]:
        """Return the values of names after INITIAL."""
        execution = self.execution(self.begin(), "INITIAL")
        if self.declared.initial is not None:
            solver = Solver(self.declared, self.ledger, self.execution, self.solved_initially, is_initial=True)

            def solve(statement: Any) -> None:
                with self.ledger.inside(statement):
                    execution.values = solver.solved(statement, execution.values)

            execution.solve = solve
            execution.run(self.declared.initial)
        return execution.values

    def after_solved(self) -> dict[str, Node]:
        """Return the values of names after the blocks that BREAKPOINT solves."""
        values: Mapping[str, Node] = self.names()
        solver = Solver(self.declared, self.ledger, self.execution, self.solved_in_steps, is_initial=False)
        for statement in self.declared.breakpoint.children:
            if statement.data == "solve":
                with self.ledger.inside(statement):
                    values = solver.solved(statement, values)
        return dict(values)

    def after_currents(self, values: Mapping[str, Node]) -> dict[str, Node]:
        """Return the values of names after BREAKPOINT without SOLVE."""
        execution = self.execution(values, "BREAKPOINT")
        block = self.declared.breakpoint
        execution.run(block, [each for each in block.children if each.data != "solve"])
        return execution.values

    def jumps(self) -> dict[str, Node]:
        """Return the changes of names by a spike of weight 1 nS, by their symbols."""
        block = self.declared.received
        if block is None:
            return {}
        execution = self.execution(self.names(), "NET_RECEIVE")
        weight, *others = [str(each.children[0]) for each in block.children[0].children if each is not None]
        symbol = "weight of the spike"
        # Events from outside have the flag 0.
        execution.scopes = [{weight: Node("name", self.whole, name=symbol), **dict.fromkeys(others)}]
        execution.scopes[0]["flag"] = number_node(self.whole, 0.0)
        execution.run(block, block.children[1:])
        made = {}
        for name, changed_name in self.symbols.items():
            if not _is_changed(self, execution.values, name):
                continue
            self.received[changed_name] = execution.values[name]
            made[changed_name] = self._jump(changed_name, execution.values[name], symbol)
        return made

    def _jump(self, changed_name: str, node: Node, symbol: str) -> Node:
        terms = signed_terms(node)
        rest = [
            (sign, each)
            for sign, each in terms
            if not (each.kind == "name" and each.name == changed_name and sign == 1.0)
        ]
        made: Node | None = None if len(rest) != len(terms) - 1 or not rest else number_node(node.place, 0.0)
        for sign, each in rest:
            factor = proportional(each, symbol)
            if made is None or factor is None:
                bound = "a spike adds its weight, times a constant, to states"
                refuse(node.place, f"'{node.place.text}'", bound, f"write {changed_name} = {changed_name} + weight")
            made = Node("add" if sign > 0 else "subtract", node.place, (made, factor))
        if made is None:
            bound = "a spike adds its weight, times a constant, to states"
            refuse(node.place, f"'{node.place.text}'", bound, f"write {changed_name} = {changed_name} + weight")
        # Weights of the file are in uS.
        return Node("multiply", node.place, (made, number_node(node.place, 1e-3)))


def execute(declared: Declarations, ledger: Ledger) -> tuple[Carried, list[Any]]:
    """Return the variables and currents of a file, and the blocks that were executed.

    Raises
    ------
    EquationError, UnknownSymbolError
        For statements that cannot be executed, pointing at them.
    """
    phases = _Phases(declared, ledger)
    begun = phases.after_initial()
    solved = phases.after_solved()
    left = phases.after_currents(phases.names())
    # The values after BREAKPOINT if it starts with those after INITIAL.
    begun_left = begun
    if any(_is_changed(phases, left, name) for name in declared.memory):
        begun_left = phases.after_currents(begun | _next_middle(phases.whole))
    currents = {}
    for name, place in declared.currents.items():
        if not _is_changed(phases, left, name):
            refuse(place, f"'{name}'", "BREAKPOINT gives it no value", f"write {name} = g*(v - e)")
        currents[name] = left[name]
    made = _Memory(declared, phases, begun, begun_left, solved, left).variables(currents)
    return made, phases.executed


def _next_middle(place: Place) -> dict[str, Node]:
    """Return the time that the next BREAKPOINT reads, from that at the end of a step: the middle of the next one."""
    half = Node("multiply", place, (number_node(place, 0.5), Node("name", place, name=STEP)))
    return {TIME: Node("add", place, (Node("name", place, name=TIME), half))}


def _is_changed(phases: _Phases, values: Mapping[str, Node], name: str) -> bool:
    node = values[name]
    return not (node.kind == "name" and node.name == phases.symbols[name])


@dataclass
class _Memory:
    """Finds the variables that are read before they are assigned."""

    declared: Declarations
    phases: _Phases
    begun: Mapping[str, Node]
    begun_left: Mapping[str, Node]
    solved: Mapping[str, Node]
    left: Mapping[str, Node]

    def __post_init__(self) -> None:
        self.by_symbol = {changed_name: name for name, changed_name in self.phases.symbols.items()}
        self.jumping: frozenset[str] = frozenset()
        # Assignments of BREAKPOINT to names before they are solved, if these need no results of the solution.
        unknown = (POTENTIAL, TIME, *self.declared.external)
        self.bounded = {
            changed_name: self.left[name]
            for name, changed_name in self.phases.symbols.items()
            if name in self.declared.states
            and _is_changed(self.phases, self.left, name)
            and not depends_on(self.left[name], unknown)
        }
        for reads in self.phases.solved_in_steps.outcomes.values():
            read = {name for node in reads for name in names_in(node)}
            reads += [node for changed_name, node in self.bounded.items() if changed_name in read]

    def variables(self, currents: dict[str, Node]) -> Carried:
        """Return variables and currents, without those variables that are the same in every step."""
        found: dict[str, Variable] = {}
        roots = list(currents.values())
        if CALCIUM in self.declared.written:
            roots.append(Node("name", self.phases.whole, name=self.phases.symbols[CALCIUM]))
        jumps = self.phases.jumps()
        waiting = self._read(roots)
        while waiting:
            name = waiting.pop()
            if name in found:
                continue
            found[name] = self._variable(name)
            # States that INITIAL solves together with it are needed, too.
            jump = filter(None, [jumps.get(self.phases.symbols[name])])
            waiting += self._read([found[name].step, found[name].initial, *jump])
        self._check_once(found, currents)
        jumps = {changed_name: node for changed_name, node in jumps.items() if self.by_symbol[changed_name] in found}
        self.jumping = frozenset(jumps)
        ordered = {name: found[name] for name in self.declared.memory if name in found}
        depends = self._depends(ordered, currents)
        for name in depends:
            known = {name, *self._names(depends[name])[0]}
            depends[name] = [
                *depends[name],
                *(
                    self.phases.received[changed_name]
                    for changed_name in jumps
                    if changed_name in known or self.by_symbol[changed_name] in known
                ),
            ]
        self._check_solved(ordered)
        values: dict[str, Node] = {}
        while constant := self._constants(ordered):
            values = {name: substituted(node, constant) for name, node in values.items()} | constant
            ordered = {
                name: Variable(
                    changed_name.name,
                    changed_name.place,
                    changed_name.initial,
                    substituted(changed_name.step, constant),
                )
                for name, changed_name in ordered.items()
                if changed_name.name not in constant
            }
        made = {name: substituted(node, values) for name, node in currents.items()}
        used = self._names(
            [
                *made.values(),
                *(node for changed_name in ordered.values() for node in (changed_name.step, changed_name.initial)),
            ]
        )[0]
        return Carried(
            {each.name: each for each in ordered.values()},
            made,
            self.phases.solved_initially.with_values(values, used),
            self._with_bounds(self.phases.solved_in_steps.with_values(values, used), ordered, values),
            depends,
            self._jumps({changed_name: substituted(node, values) for changed_name, node in jumps.items()}, ordered),
        )

    def _with_bounds(
        self, solving: list[Statement], variables: Mapping[str, Variable], values: Mapping[str, Node]
    ) -> list[Statement]:
        """Return statements that solve, after statements that set states as BREAKPOINT does."""
        if not solving:
            return []
        changed_name = [each for each in variables.values() if each.name in self.bounded]
        made: list[Statement] = [
            Assign(_BOUNDED.format(each.name), substituted(self.bounded[each.name], values)) for each in changed_name
        ]
        made += [Assign(each.name, Node("name", each.place, name=_BOUNDED.format(each.name))) for each in changed_name]
        return [*made, *solving]

    def _jumps(self, jumps: dict[str, Node], variables: Mapping[str, Variable]) -> dict[str, Node]:
        """Return the changes by a spike, after a check that they are constant."""
        changing = (POTENTIAL, TIME, STEP, *(each.name for each in variables.values()), *self.declared.of_ions)
        for changed_name, node in jumps.items():
            if depends_on(node, changing):
                bound = "a spike adds its weight, times a constant, to states"
                refuse(node.place, f"'{node.place.text}'", bound, f"write {changed_name} = {changed_name} + weight")
        return jumps

    def _read(self, nodes: Iterable[Node]) -> list[str]:
        """Return the names of memory that expressions read, directly or through solutions."""
        return [self.by_symbol[name] for name in self._names(nodes)[0] if name in self.by_symbol]

    def _names(self, nodes: Iterable[Node]) -> tuple[set[str], list[Node]]:
        """Return the names that expressions use, and the expressions of the solvers whose results they use."""
        outcomes = self.phases.solved_initially.outcomes | self.phases.solved_in_steps.outcomes
        found: set[str] = set()
        others: list[Node] = []
        waiting = list(nodes)
        while waiting:
            new = names_in(waiting.pop()).keys() - found
            found |= new
            solved = [node for name in new for node in outcomes.get(name, ())]
            waiting += solved
            others += solved
        return found, others

    def _variable(self, name: str) -> Variable:
        symbol = self.phases.symbols[name]
        place = self.declared.places.get(name, self.phases.whole)
        if symbol in self.bounded or not _is_changed(self.phases, self.left, name):
            return Variable(symbol, place, self.begun[name], substituted(self.solved[name], self.bounded))
        before = {
            changed_name: substituted(self.solved[each], self.bounded)
            for each, changed_name in self.phases.symbols.items()
        }
        before |= _next_middle(self.phases.whole)
        return Variable(symbol, place, self.begun_left[name], substituted(self.left[name], before))

    def _check_once(self, found: Iterable[str], currents: Mapping[str, Node]) -> None:
        """Refuse names that BREAKPOINT reads and changes, unless a second execution has no effect: NEURON does two."""
        changed = {self.phases.symbols[name]: self.left[name] for name in found if self._is_left_changed(name)}
        places = {self.phases.symbols[name]: place for name, place in self.declared.currents.items()}
        for changed_name, node in changed.items():
            others = {each: left for each, left in changed.items() if each != changed_name}
            self._check_reads(hidden(node, others.values()), others)
            if not is_settled(node, changed_name, POTENTIAL):
                place = names_in(node)[changed_name].place
                self._refuse_repetition(
                    changed_name, places.get(changed_name, place) if place == self.phases.whole else place
                )
        for node in currents.values():
            self._check_reads(hidden(node, changed.values()), changed)

    def _check_reads(self, node: Node, changed: Mapping[str, Node]) -> None:
        """Refuse an expression that reads a name which BREAKPOINT changes afterwards."""
        for changed_name in changed:
            if depends_on(node, (changed_name,)):
                self._refuse_repetition(changed_name, names_in(node)[changed_name].place)

    def _refuse_repetition(self, changed_name: str, place: Place) -> None:
        bound = "BREAKPOINT reads it and assigns it afterwards: its value depends on the number of calls"
        refuse(place, f"'{self.by_symbol[changed_name]}'", bound, "assign it first, or in a block that is solved")

    def _is_left_changed(self, name: str) -> bool:
        return _is_changed(self.phases, self.left, name)

    def _constants(self, variables: Mapping[str, Variable]) -> dict[str, Node]:
        """Return the variables that keep their initial values, which depend on nothing that changes."""
        changing = {POTENTIAL, TIME, STEP, *self.declared.external, *(each.name for each in variables.values())}
        changing |= self.phases.solved_initially.outcomes.keys() | self.phases.solved_in_steps.outcomes.keys()
        made = {}
        for each in variables.values():
            stays = each.step.kind == "name" and each.step.name == each.name
            if depends_on(each.initial, changing) or not (stays or is_same(each.step, each.initial)):
                continue
            if each.name in self.jumping:
                continue
            if each.name != CALCIUM:
                made[each.name] = each.initial
        return made

    def _check_solved(self, variables: Mapping[str, Variable]) -> None:
        """Refuse states whose equations nothing solves."""
        for name, changed_name in variables.items():
            stays = changed_name.step.kind == "name" and changed_name.step.name == changed_name.name
            if name in self.declared.states and stays and self.declared.has_equation(name):
                refuse(
                    changed_name.place,
                    f"'{name}'",
                    "no solved DERIVATIVE block has its equation",
                    "write SOLVE in BREAKPOINT",
                )

    def _depends(self, variables: Mapping[str, Variable], currents: Mapping[str, Node]) -> dict[str, list[Node]]:
        made: dict[str, list[Node]] = {}
        for name, changed_name in [*currents.items(), *((name, each.step) for name, each in variables.items())]:
            nodes = [changed_name] if name in currents else [changed_name, variables[name].initial]
            known = {name} if name in variables else set()
            waiting = self._read(nodes)
            while waiting:
                each = waiting.pop()
                if each not in known:
                    known.add(each)
                    new = [variables[each].step, variables[each].initial]
                    nodes += new
                    waiting += self._read(new)
            made[name] = nodes + self._names(nodes)[1]
        return made
