"""The behaviour of a model in a step: integrated variables, condition of a spike, refractoriness.

The blocks `update` and `onCondition` of NESTML are programs, unlike the equations of `ranvier.neuron`. The common forms
of models of neurons are recognized: a timer of refractoriness that counts down, variables that are integrated only when
it has ended, a condition under which the neuron emits a spike. Other forms are refused.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NoReturn

from ranvier.equations.places import refuse
from ranvier.equations.trees import Node, names_in
from ranvier.nestml.syntax import Assignment, Branch, Call, Condition, Model, Other, Return, Statement, Suite

__all__ = ["Behaviour", "base_of", "behaviour_of"]

_STEPS = ("resolution", "timestep")
_EQUATION = "write it as a differential equation, or as an assignment where the neuron fires"


@dataclass
class Behaviour:
    """Content of `update` and of the conditions.

    Attributes
    ----------
    timer, period
        The variable that counts the rest of the refractory period, and the value to which a spike sets it.
    counts_steps
        Whether the timer counts steps, not time.
    held
        Variables that are integrated only when the neuron is not refractory.
    integrated
        All variables that are integrated.
    previous
        Variables with the values of others at the start of the step, with these.
    arrivals
        Assignments of spikes that arrive, in the update.
    clamps
        Other assignments after the integration, which must change nothing.
    threshold
        The condition, without the one on the timer; None: it always holds.
    watches_timer
        Whether the condition asks for the timer.
    reset
        Assignments of a spike, without the one of the timer.
    """

    timer: str | None = None
    period: Node | None = None
    counts_steps: bool = False
    held: set[str] = field(default_factory=set)
    integrated: set[str] = field(default_factory=set)
    previous: dict[str, str] = field(default_factory=dict)
    arrivals: list[Assignment] = field(default_factory=list)
    clamps: list[Assignment] = field(default_factory=list)
    threshold: Node | None = None
    watches_timer: bool = False
    reset: list[Assignment] = field(default_factory=list)

    def is_ended(self, node: Node, value: Callable[[Node], float | None]) -> bool:
        """Return whether a condition holds when the neuron is not refractory."""
        if node.kind == "not":
            return self.is_running(node.parts[0], value)
        if node.kind not in ("less_equal", "equal", "less") or not self._is_timer(node.parts[0]):
            return False
        bound = value(node.parts[1])
        # A bound that is a little above 0 is one against rounding.
        return bound is not None and 0.0 <= bound <= 1e-3 and (node.kind != "less" or bound > 0.0)

    def is_running(self, node: Node, value: Callable[[Node], float | None]) -> bool:
        """Return whether a condition holds when the neuron is refractory."""
        if node.kind == "not":
            return self.is_ended(node.parts[0], value)
        if node.kind != "less" or not self._is_timer(node.parts[1]):
            return False
        bound = value(node.parts[0])
        return bound is not None and 0.0 <= bound <= 1e-3

    def _is_timer(self, node: Node) -> bool:
        return node.kind == "name" and node.name == self.timer


def base_of(name: str) -> str:
    """Return the variable whose derivative a name is."""
    return name.rstrip("'")


def behaviour_of(model: Model, value: Callable[[Node], float | None]) -> Behaviour:
    """Return the behaviour of a model in a step; `value` returns the number of an expression with the defaults.

    Raises
    ------
    EquationError
        For statements that are not of one of the forms, pointing at them.
    """
    return _Reader(model, value).read()


class _Reader:
    def __init__(self, model: Model, value: Callable[[Node], float | None]) -> None:
        self.model = model
        self.value = value
        self.made = Behaviour()
        self.variables = {base_of(name) for name in model.odes}
        self.spiking = {name for name, port in model.ports.items() if port.is_spiking}
        self.conditions = list(model.conditions)
        self.has_integrated = False
        # Variables integrated while the neuron is refractory, and otherwise.
        self.refractory: set[str] = set()
        self.free: set[str] = set()

    def read(self) -> Behaviour:
        for statement in self.model.update:
            if _fires(statement):
                assert isinstance(statement, Branch)
                if len(statement.cases) > 1 or statement.otherwise:
                    refuse(
                        statement.place,
                        "a spike under one of several conditions",
                        "there can be one",
                        "write onCondition",
                    )
                node, body = statement.cases[0]
                self.conditions.append(Condition(node, statement.place, body))
        condition = self._firing()
        self._find_timer(condition)
        for statement in self.model.update:
            if not _fires(statement):
                self._statement(statement)
            elif not self.has_integrated:
                refuse(statement.place, "a spike before the integration", "neurons fire after it", "write onCondition")
        self._compare_sets()
        self._threshold(condition)
        self._reset(condition)
        return self.made

    # ---- conditions --------------------------------------------------------------------------------------------------

    def _firing(self) -> Condition:
        firing = [each for each in self.conditions if any(_is_call(one, "emit_spike") for one in each.body)]
        for each in self.conditions:
            if each not in firing or each is not firing[0]:
                refuse(
                    each.place,
                    f"'{each.node.place.text}'" if each not in firing else "a second condition with emit_spike()",
                    "a neuron does something at once when it fires only, under one condition",
                    "join conditions by 'or', and write other changes as equations, with x > y ? a : b",
                )
        if not firing:
            refuse(
                self.model.place, f"'{self.model.name}'", "it never fires", "write onCondition(...): with emit_spike()"
            )
        return firing[0]

    def _threshold(self, condition: Condition) -> None:
        rest: list[Node] = []
        waiting = [condition.node]
        while waiting:
            node = waiting.pop()
            if node.kind == "both":
                waiting += node.parts[::-1]
            elif self.made.is_ended(node, self.value):
                self.made.watches_timer = True
            else:
                rest.append(node)
        if not rest:
            refuse(condition.place, f"'{condition.node.place.text}'", "a threshold is missing", "write V_m >= V_th")
        node = rest[0]
        for other in rest[1:]:
            node = Node("both", condition.node.place, (node, other))
        self.made.threshold = node

    def _reset(self, condition: Condition) -> None:
        spikes = [statement for statement in condition.body if _is_call(statement, "emit_spike")]
        if not self.model.has_output:
            place = spikes[0].place
            refuse(place, f"'{place.text}'", "the model has no output for spikes", "add the block output: spike")
        if len(spikes) > 1:
            place = spikes[1].place
            refuse(place, f"a second '{place.text}'", "a neuron fires at most once a step", "leave one out")
        for statement in condition.body:
            if isinstance(statement, Assignment):
                if statement.name == self.made.timer:
                    self.made.period = statement.node
                else:
                    self.made.reset.append(statement)
            elif _is_call(statement, "emit_spike"):
                assert isinstance(statement, Call)
                if statement.node.parts:
                    place = statement.place
                    refuse(place, f"'{place.text}'", "spikes of a neuron have no weight", "write emit_spike()")
            else:
                self._refuse(statement, "write x = condition ? a : b, with the present value as b")

    # ---- refractoriness ----------------------------------------------------------------------------------------------

    def _find_timer(self, condition: Condition) -> None:
        counted = dict(self._counted(self.model.update))
        for name, ode in self.model.odes.items():
            if name.count("'") == 1 and self.value(ode.node) == -1.0:
                counted[base_of(name)] = False
        set_here = [each for each in condition.body if isinstance(each, Assignment) and each.name in counted]
        if set_here:
            first = set_here[0]
            if first.operation != "=":
                refuse(first.place, f"'{first.name}'", "a timer is set to a time", f"write {first.name} = ...")
            self.made.timer, self.made.counts_steps = first.name, counted[first.name]
            declared = self.model.state.get(first.name)
            if declared is not None and declared.node is not None and self.value(declared.node) != 0.0:
                refuse(
                    declared.node.place,
                    f"'{declared.node.place.text}', the initial value of '{first.name}',",
                    "no neuron is refractory at the beginning of a simulation",
                    "let it be 0, and start with a lower potential or a later current",
                )

    def _counted(self, suite: Suite) -> list[tuple[str, bool]]:
        """Return variables that are counted down, with whether by 1."""
        found = []
        for statement in suite:
            if isinstance(statement, Branch):
                for inner in (*(body for _, body in statement.cases), statement.otherwise):
                    found += self._counted(inner)
            elif isinstance(statement, Assignment) and (by := _decrement(statement)) is not None:
                if by.kind == "call" and by.name in _STEPS:
                    found.append((statement.name, False))
                elif self.value(by) == 1.0:
                    found.append((statement.name, True))
        return found

    def _compare_sets(self) -> None:
        timer = {self.made.timer}
        self.made.integrated = self.free | self.refractory
        self.made.held = self.free - self.refractory - timer
        for name, ode in self.model.odes.items():
            base = base_of(name)
            if base == self.made.timer:
                continue
            if base not in self.made.integrated:
                refuse(ode.place, f"'{base}'", "it has an equation, but is not integrated", "write integrate_odes()")
            if base not in self.free:
                refuse(
                    ode.place,
                    f"'{base}'",
                    "it is integrated only while the neuron is refractory",
                    "integrate it always, or only when the neuron is not refractory",
                )

    # ---- the update --------------------------------------------------------------------------------------------------

    def _statement(self, statement: Statement) -> None:
        if isinstance(statement, Branch):
            self._branch(statement)
        elif _is_call(statement, "integrate_odes"):
            names = self._integrated(statement)
            self.free |= names
            self.refractory |= names
        elif isinstance(statement, Assignment):
            self._assignment(statement)
        else:
            self._refuse(statement, _EQUATION)

    def _branch(self, branch: Branch) -> None:
        node, body = branch.cases[0]
        if len(branch.cases) == 1 and self.made.is_running(node, self.value):
            sides = (body, branch.otherwise)
        elif len(branch.cases) == 1 and self.made.is_ended(node, self.value):
            sides = (branch.otherwise, body)
        else:
            refuse(
                node.place,
                f"'{node.place.text}'",
                "the update may only ask whether a timer is above 0 that is set where the neuron fires",
                "write a condition in an equation: x' = a > b ? c : d",
            )
        has_integrated = self.has_integrated
        for suite, found in zip(sides, (self.refractory, self.free), strict=True):
            self.has_integrated = has_integrated
            for statement in suite:
                if _is_call(statement, "integrate_odes"):
                    found |= self._integrated(statement)
                elif not (isinstance(statement, Assignment) and self._counts(statement)):
                    self._refuse(statement, _EQUATION)
        self.has_integrated = True

    def _counts(self, statement: Assignment) -> bool:
        return statement.name == self.made.timer and _decrement(statement) is not None

    def _integrated(self, statement: Statement) -> set[str]:
        assert isinstance(statement, Call)
        if self.has_integrated:
            place = statement.place
            refuse(place, f"'{place.text}'", "equations are integrated once a step", "name all variables in one call")
        self.has_integrated = True
        if not statement.node.parts:
            return set(self.variables)
        names = set()
        for part in statement.node.parts:
            if part.kind != "name" or base_of(part.name) not in self.variables:
                refuse(
                    part.place, f"'{part.place.text}'", "it has no differential equation", "name a variable that has"
                )
            names.add(base_of(part.name))
        return names

    def _assignment(self, statement: Assignment) -> None:
        if self._counts(statement):
            return
        node = statement.node
        if set(names_in(node)) & self.spiking:
            if not self.has_integrated:
                refuse(statement.place, f"'{statement.name}'", "spikes act after the integration", "write onReceive")
            self.made.arrivals.append(statement)
        elif (
            not self.has_integrated
            and statement.operation == "="
            and node.kind == "name"
            and node.name in self.variables
        ):
            self.made.previous[statement.name] = node.name
        elif self.has_integrated:
            self.made.clamps.append(statement)
        else:
            self._refuse(statement, _EQUATION)

    def _refuse(self, statement: Statement, remedy: str) -> NoReturn:
        place = statement.place
        match statement:
            case Other():
                refuse(place, f"'{place.text}', {statement.what}", "equations cannot express this", statement.remedy)
            case Assignment():
                refuse(
                    place, f"'{statement.name}', which is assigned", "in each step equations change variables", remedy
                )
            case Call() if statement.node.name in ("print", "println", "info", "warning"):
                refuse(place, f"'{place.text}'", "models cannot print", "remove the line; recorders show variables")
            case Return():
                refuse(place, f"'{place.text}'", "only functions return", "remove the line")
        refuse(place, f"'{place.text}'", "equations cannot express this", remedy)


def _is_call(statement: Statement, name: str) -> bool:
    return isinstance(statement, Call) and statement.node.kind == "call" and statement.node.name == name


def _fires(statement: Statement) -> bool:
    return isinstance(statement, Branch) and any(
        _is_call(one, "emit_spike") for _, body in statement.cases for one in body
    )


def _decrement(statement: Assignment) -> Node | None:
    """Return the value that an assignment subtracts from its variable, if it does only this."""
    node = statement.node
    if statement.operation == "-=":
        return node
    if statement.operation == "=" and node.kind == "subtract":
        left, right = node.parts
        if left.kind == "name" and left.name == statement.name:
            return right
    return None
