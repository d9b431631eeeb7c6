"""Makes the programs of a neuron model from its description."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from ranvier.equations.adaptive import MOST_PARTS, Crossing, Tolerances, adaptive
from ranvier.equations.assembly import Parts, assembled
from ranvier.equations.builder import Builder, Operand, Value
from ranvier.equations.description import Description, Statement
from ranvier.equations.expressions import Affine, before
from ranvier.equations.methods import Begin, LinearPart, State, euler, exact, exponential_euler, not_linear, rk4
from ranvier.equations.names import CURRENT, is_noise
from ranvier.equations.places import refuse
from ranvier.equations.program import NeuronProgram, ProgramDerived
from ranvier.equations.scope import Scope, Stage, current_names
from ranvier.equations.simplification import linear_form
from ranvier.equations.trees import nodes_of
from ranvier.errors import EquationError

__all__ = ["Lowered", "lower"]


@dataclass(frozen=True)
class Lowered:
    """The programs of a model, and the method of integration that they have."""

    program: NeuronProgram
    method: str


def lower(description: Description, method: str, tolerances: Tolerances) -> Lowered:
    """Return the programs of a model.

    Raises
    ------
    EquationError
        When the method cannot integrate the equations, and for values that are not finite; the error shows the place.
    """
    stage = Stage(description)
    linear = _linear_part(stage)
    chosen = _chosen(stage, linear, method)
    step = _Step(stage, linear, chosen, tolerances)
    step.make()
    parts = Parts(step.results, step.failure, step.observer, step.observed, step.period, step.takes_current)
    return Lowered(assembled(stage, linear.matrices.requests, parts), chosen)


def _linear_part(stage: Stage) -> LinearPart:
    description = stage.description
    names = [*description.variables, CURRENT, *stage.noises]
    scope = Scope(stage, {})
    forms: dict[str, Affine] = {}
    for name in description.variables:
        form = scope.affine_rate(name, names)
        forms[name] = form if form.prevented_by is None else linear_form(scope, name, names, form)
    return LinearPart(stage, forms)


def _chosen(stage: Stage, linear: LinearPart, method: str) -> str:
    """Return the method that is meant, which can be used."""
    not_exact = next(iter(linear.prevented_by.items()), None)
    spreading = linear.noise_that_spreads() if not_exact is None else None
    if method == "exact":
        if not_exact is not None:
            not_linear(method, not_exact[0], not_exact[1], "the equations are not linear with constant coefficients")
        if spreading is not None:
            place = stage.description.variables[spreading].place
            not_linear(method, spreading, place, "its noise acts on another variable within a step")
    if method == "auto":
        if not_exact is None:
            # Linear variables have their exact values with both, but noise that acts on others is of first order.
            return "exact" if spreading is None else "exponential_euler"
        return "euler" if stage.noises else "adaptive"
    if stage.noises and method in ("rk4", "adaptive"):
        used = stage.description.used([e.node for e in stage.description.variables.values() if e.node is not None])
        place = used[stage.noises[0]].place
        raise EquationError(
            f'method "{method}"',
            "",
            f"it cannot integrate noise, '{place.text}' ({place.called()})",
            'write method="euler"',
            place.shown(),
        )
    return method


class _Step:
    """The programs of a step and of observed values."""

    def __init__(self, stage: Stage, linear: LinearPart, method: str, tolerances: Tolerances) -> None:
        self.stage = stage
        self.linear = linear
        self.method = method
        self.tolerances = tolerances
        description = stage.description
        self.takes_current = bool(current_names(description))
        self.refractory = stage.step.input("refractory", "truth")
        self.period = None if description.refractory is None else Scope(stage, {}).value(description.refractory)
        self.begin = Begin(
            {name: stage.step.input(("variable", name)) for name in description.variables},
            stage.step.input("current") if self.takes_current else None,
            self.refractory if self.period is not None else False,
            description.held,
        )
        has_last = bool(description.after_refractory)
        self.last_refractory: Operand = stage.step.input("last refractory", "truth") if has_last else False
        self.results: list[Operand] = []
        self.failure = ""
        self.observed: list[tuple[ProgramDerived, Operand]] = []
        self.observer = Builder(1, stage.prepare)

    def make(self) -> None:
        """Make the results of both programs."""
        do, begin, description = self.stage.do, self.begin, self.stage.description
        moved, fired, ended = self._moved()
        moved = {name: moved[name] for name in begin.state}
        is_held = (
            begin.refractory if fired is False else do("either", begin.refractory, do("both", fired, self._holds()))
        )
        state = self._with_inputs(moved, is_held)
        threshold = self._threshold(state)
        silent = do("not", do("either", begin.refractory, fired))
        fires = do("both", threshold, silent)
        after = self._after_spike(state)
        state = {name: do("select", fires, after[name], value) for name, value in state.items()}
        free = self._after(description.after_refractory, state)
        state = {name: do("select", self.last_refractory, free[name], value) for name, value in state.items()}
        fires = do("either", fired, fires)
        assigned = description.assigned
        sound = self.stage.finiteness.sound(
            [value for name, value in state.items() if name not in assigned],
            [fires, *(value for name, value in state.items() if name in assigned)],
        )
        self.results = [
            *state.values(),
            fires,
            *([] if ended is None else [ended]),
            *([] if sound is True else [sound]),
        ]
        self.failure = self._failure(ended is not None, sound is not True)
        self._check_reset()
        self._observe()

    def _failure(self, is_adaptive: bool, has_vanishing: bool) -> str:
        """Return the reason of the failure if one of the truths after a step does not hold."""
        finiteness = self.stage.finiteness
        made = [f"the integration has not ended within {MOST_PARTS} parts of a step"] if is_adaptive else []
        return ", or ".join(made + ([finiteness.text()] if finiteness.nodes or has_vanishing else []))

    def _moved(self) -> tuple[State, Operand, Operand | None]:
        """Return the state after integration, whether neurons have fired meanwhile, and whether loops have ended."""
        match self.method:
            case "exact":
                return exact(self.linear, self.begin), False, None
            case "exponential_euler":
                return exponential_euler(self.stage, self.linear, self.begin), False, None
            case "euler":
                return euler(self.stage, self.begin), False, None
            case "rk4":
                return rk4(self.stage, self.begin), False, None
        return self._adaptive()

    def _adaptive(self) -> tuple[State, Operand, Operand | None]:
        description = self.stage.description
        assigned = description.assigned
        moving = [n for n, each in description.variables.items() if each.node is not None or n in assigned]
        # Exact at the end of a step, whatever the parts.
        apart = [name for name in self.linear.forms if name in moving and name not in assigned | description.held]
        bounded = [n for n in moving if n not in apart and description.variables[n].node is not None]
        if not bounded:
            return exact(self.linear, self.begin), False, None
        fires = (lambda _: False) if description.fires_at_ends else self._threshold
        crossing = Crossing(fires, self._after_spike, assigned, self._holds())
        state, fired, ended = adaptive(self.stage, self.begin, moving, bounded, self.tolerances, crossing)
        return {**state, **self.linear.step(self.begin, self._undisturbed(apart))}, fired, ended

    def _undisturbed(self, names: list[str]) -> list[str]:
        """Return the variables that do not depend on variables that are held or reset within a step."""
        description = self.stage.description
        disturbed = set(description.held | description.assigned)
        while True:
            more = {n for n in names if n not in disturbed and disturbed & set(self.linear.forms[n].coefficients)}
            if not more:
                return [name for name in names if name not in disturbed]
            disturbed |= more

    def _holds(self) -> Operand:
        """Return the truth that a neuron which fires is refractory for a step at least."""
        if self.period is None:
            return False
        do = self.stage.do
        # As the core rounds it.
        return do("less_equal", 1.0, do("add", do("divide", self.period, self.stage.length), 0.5))

    def _with_inputs(self, moved: State, is_held: Operand) -> State:
        do, description = self.stage.do, self.stage.description
        begin = self.begin.state
        still = {n: do("select", is_held, begin[n], v) if n in description.held else v for n, v in moved.items()}
        if self.method == "adaptive":
            # Held variables did not change, or were reset within the step.
            still = dict(moved)
        state = dict(moved)
        for receptor, statements in description.receptors.items():
            weights = self.stage.step.input(("receptor", receptor))
            for statement in statements:
                state[statement.name] = do(
                    statement.operation, state[statement.name], self._input(statement, weights, still)
                )
        return {n: do("select", is_held, still[n], v) if n in description.held else v for n, v in state.items()}

    def _input(self, statement: Statement, weights: Operand, state: State) -> Operand:
        """Return the change of a variable by the spikes of a step, in its unit."""
        stage = self.stage
        name = stage.description.weight_name
        sums = Scope(stage, state).affine(statement.node, [name])
        factor = stage.scaled(sums.coefficients[name], stage.description.weight_unit.exponent)
        return stage.do("multiply", weights, stage.scaled(factor, -stage.exponent(statement.name)))

    def _threshold(self, state: Mapping[str, Operand]) -> Operand:
        others = {**self.begin.others, **self._before()}
        return Scope(self.stage, state, others).value(self.stage.description.threshold)

    def _before(self) -> State:
        """Return the variables at the beginning of the step, under the names that expressions have for them."""
        return {before(n): self.stage.scaled(v, self.stage.exponent(n)) for n, v in self.begin.state.items()}

    def _after_spike(self, state: Mapping[str, Operand]) -> State:
        """Return the state after a reset, and, without a refractory period, after the assignments at its end."""
        after = self._after(self.stage.description.reset, state)
        if not self.stage.description.after_refractory:
            return after
        free = self._after(self.stage.description.after_refractory, after)
        holds = self._holds()
        return {name: self.stage.do("select", holds, value, free[name]) for name, value in after.items()}

    def _after(self, statements: Iterable[Statement], state: Mapping[str, Operand]) -> State:
        """Return the state after assignments."""
        made = dict(state)
        for statement in statements:
            value = Scope(self.stage, made, self._before()).value(statement.node)
            exponent = -self.stage.exponent(statement.name)
            if statement.operation in ("multiply", "divide"):
                made[statement.name] = self.stage.do(statement.operation, made[statement.name], value)
                continue
            value = self.stage.scaled(value, exponent)
            if statement.operation:
                value = self.stage.do(statement.operation, made[statement.name], value)
            made[statement.name] = value
        return made

    def _check_reset(self) -> None:
        """Note that a neuron must not be above its threshold after a reset, where this depends on parameters only."""
        description = self.stage.description
        unknown = Builder(1, self.stage.prepare)
        state = {name: unknown.input(("variable", name)) for name in description.variables}
        others = {} if not self.takes_current else {CURRENT: unknown.input("current")}
        if _is_uncertain(description):
            return
        after = self._after(description.after_refractory, self._after(description.reset, state))
        fires = Scope(self.stage, after, others).value(description.threshold)
        text = f"'{description.threshold.place.text}' must not hold after a reset: the neuron would fire in each step"
        if fires is True:
            refuse(description.threshold.place, f"'{description.threshold.place.text}'", "it holds always", text)
        if isinstance(fires, Value) and fires.builder is self.stage.prepare:
            self.stage.conditions.append((self.stage.do("not", fires), text))

    def _observe(self) -> None:
        description = self.stage.description
        state = {name: self.observer.input(("variable", name)) for name in description.variables}
        scope = Scope(self.stage, state)
        for name, equation in description.subexpressions.items():
            assert equation.node is not None
            used = description.used([equation.node])
            if CURRENT in used or any(is_noise(each) for each in used):
                continue
            value = scope.value(equation.node)
            if _is_truth(value):
                continue
            about = ProgramDerived(name, equation.unit.text, equation.meaning)
            self.observed.append((about, self.stage.scaled(value, -equation.unit.exponent)))


def _is_uncertain(description: Description) -> bool:
    """Return whether the threshold after a reset depends on more than the variables and parameters."""
    statements = (*description.reset, *description.after_refractory)
    nodes = [description.threshold, *(each.node for each in statements)]
    return any(part.kind in ("draw", "before") for node in nodes for part in nodes_of(node))


def _is_truth(value: Operand) -> bool:
    return value.type == "truth" if isinstance(value, Value) else isinstance(value, bool)
