"""Methods of integration, which advance the variables by a step. Spikes, threshold and reset follow after it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import NoReturn

from ranvier.equations.builder import Operand, Value
from ranvier.equations.expressions import Affine
from ranvier.equations.names import CURRENT
from ranvier.equations.places import Place
from ranvier.equations.propagation import Matrices, Propagation
from ranvier.equations.scope import Scope, Stage
from ranvier.errors import EquationError

__all__ = ["METHODS", "Begin", "LinearPart", "euler", "exact", "exponential_euler", "rk4"]

METHODS = ("auto", "exact", "exponential_euler", "euler", "rk4", "adaptive")

State = dict[str, Operand]


@dataclass(frozen=True)
class Begin:
    """State at the start of a step: variables in their units, the injected current, whether neurons are refractory."""

    state: Mapping[str, Operand]
    current: Operand | None
    refractory: Operand
    held: frozenset[str]

    @property
    def others(self) -> dict[str, Operand]:
        """Inputs of expressions beside variables and parameters."""
        return {} if self.current is None else {CURRENT: self.current}


class LinearPart:
    """The variables that are linear with constant coefficients, and depend on each other only.

    Attributes
    ----------
    forms
        Their derivatives.
    prevented_by
        For each other variable, the place of the part that prevents it.
    """

    def __init__(self, stage: Stage, forms: Mapping[str, Affine]) -> None:
        self.stage = stage
        self.matrices = Matrices()
        linear = {name: form for name, form in forms.items() if form.prevented_by is None}
        self.prevented_by: dict[str, Place] = {
            name: form.prevented_by.place for name, form in forms.items() if form.prevented_by is not None
        }
        while True:
            lost = {n: o for n, f in linear.items() for o in f.coefficients if o in forms and o not in linear}
            if not lost:
                break
            for name, other in lost.items():
                del linear[name]
                self.prevented_by[name] = self.prevented_by[other]
        self.forms = linear

    def step(self, begin: Begin, wanted: Iterable[str]) -> State:
        """Return variables after a step, without noise."""
        free = Propagation(self.stage, self.matrices, self.forms)
        # Held variables are constants for the others.
        still = {name: Affine({}) if name in begin.held else form for name, form in self.forms.items()}
        held = Propagation(self.stage, self.matrices, still)
        made: State = {}
        for name in wanted:
            made[name] = free.step(name, begin.state, begin.current)
            if name not in begin.held and begin.held & free._before[name]:
                other = held.step(name, begin.state, begin.current)
                made[name] = self.stage.do("select", begin.refractory, other, made[name])
        return made

    def with_noise(self, state: State) -> State:
        """Return variables with the noise of a step added."""
        do = self.stage.do
        free = Propagation(self.stage, self.matrices, self.forms)
        made = dict(state)
        for name in state:
            for noise in self.stage.noises:
                factor = self.forms[name].coefficients.get(noise, 0.0)
                if factor != 0.0:
                    rate = 0.0 if free.is_in_circle(name) else free.decay_rate(name)
                    spread = do("multiply", factor, _spread(self.stage, rate))
                    made[name] = do("add", made[name], do("multiply", spread, self.stage.noise(noise)))
        return made

    def noise_that_spreads(self) -> str | None:
        """Return a variable whose noise acts on another one within a step, if there is one."""
        free = Propagation(self.stage, self.matrices, self.forms)
        noisy = [n for n, form in self.forms.items() if any(each in form.coefficients for each in self.stage.noises)]
        return next((name for name in noisy for other in self.forms if name in free._before[other]), None)


def _spread(stage: Stage, rate: Operand) -> Operand:
    """Return the standard deviation of white noise of unit strength in a step, for a variable that decays at a rate."""
    do, length = stage.do, stage.length
    if rate == 0.0:
        return do("square_root", length)
    twice = do("multiply", do("multiply", rate, length), 2.0)
    return do("square_root", do("multiply", length, do("expm1_over", twice)))


def exact(linear: LinearPart, begin: Begin) -> State:
    """Solve linear equations exactly; the noise of each variable has the exact variance at the end of a step."""
    return linear.with_noise(linear.step(begin, begin.state))


def exponential_euler(stage: Stage, linear: LinearPart, begin: Begin) -> State:
    """Advance each equation as linear in its variable, with the others constant during the step."""
    do, length = stage.do, stage.length
    scope = Scope(stage, begin.state, begin.others)
    made = linear.with_noise(linear.step(begin, linear.forms))
    for name, old in begin.state.items():
        if name in made:
            continue
        # A sum can be linear only in a name that is left out of the scope.
        form = scope.affine_rate(name, [name, *stage.noises])
        if form.prevented_by is not None:
            not_linear(
                "exponential_euler", name, form.prevented_by.place, f"the equation of {name} is not linear in {name}"
            )
        rate, rest = form.coefficients.get(name, 0.0), form.constant
        if rate == 0.0:
            new = do("add", old, do("multiply", rest, length))
        elif isinstance(rate, Value) and rate.level > stage.prepare.level:
            grown = do("multiply", length, do("expm1_over", do("multiply", rate, length)))
            new = do("add", old, do("multiply", do("add", do("multiply", rate, old), rest), grown))
        else:
            step = do("multiply", rate, length)
            gain = do("multiply", length, do("expm1_over", step))
            new = do("add", do("multiply", do("exp", step), old), do("multiply", rest, gain))
        made[name] = _noisy(stage, new, form, rate)
    return made


def _noisy(stage: Stage, value: Operand, form: Affine, rate: Operand) -> Operand:
    do = stage.do
    for noise in stage.noises:
        factor = form.coefficients.get(noise, 0.0)
        if factor != 0.0:
            spread = do("multiply", factor, _spread(stage, rate))
            value = do("add", value, do("multiply", spread, stage.noise(noise)))
    return value


def euler(stage: Stage, begin: Begin) -> State:
    """Advance along the derivatives at the start of the step; with noise, the method of Euler and Maruyama (Ito)."""
    scope = Scope(stage, begin.state, begin.others)
    made: State = {}
    for name, old in begin.state.items():
        form = scope.affine_rate(name, stage.noises)
        if form.prevented_by is not None:
            not_linear("euler", name, form.prevented_by.place, "noise can only be added, or multiplied by a factor")
        rate = form.constant
        if name in begin.held:
            rate = stage.do("select", begin.refractory, 0.0, rate)
        new = stage.do("add", old, stage.do("multiply", rate, stage.length))
        made[name] = _noisy(stage, new, form, 0.0)
    return made


def derivatives(
    stage: Stage, state: Mapping[str, Operand], others: Mapping[str, Operand], held: frozenset[str], is_held: Operand
) -> State:
    """Return the derivative of each variable; 0 for held variables."""
    scope = Scope(stage, state, others)
    made: State = {}
    for name in state:
        rate = scope.rate(name)
        made[name] = stage.do("select", is_held, 0.0, rate) if name in held else rate
    return made


def weighted_sum(do: Callable[..., Operand], weights: Iterable[float], values: Iterable[Operand]) -> Operand:
    """Return a sum of values times weights."""
    made: Operand = 0.0
    for weight, value in zip(weights, values, strict=False):
        if weight != 0.0:
            made = do("add", made, do("multiply", value, weight))
    return made


def rk4(stage: Stage, begin: Begin) -> State:
    """Take a step of the classical method of Runge and Kutta, of fourth order."""
    do, length = stage.do, stage.length
    slopes: list[State] = []
    for part in (0.0, 0.5, 0.5, 1.0):
        state = dict(begin.state)
        if slopes:
            share = do("multiply", length, part)
            state = {n: do("add", old, do("multiply", slopes[-1][n], share)) for n, old in state.items()}
        slopes.append(derivatives(stage, state, begin.others, begin.held, begin.refractory))
    sixth = do("divide", length, 6.0)
    return {
        name: do("add", old, do("multiply", weighted_sum(do, (1.0, 2.0, 2.0, 1.0), [s[name] for s in slopes]), sixth))
        for name, old in begin.state.items()
    }


def not_linear(method: str, variable: str, place: Place, why: str) -> NoReturn:
    """Raise an error for a method, with the part of an equation that prevents it."""
    raise EquationError(
        f'method "{method}"',
        "",
        f"it cannot integrate {variable}: {why}, because of '{place.text}' ({place.called()})",
        'write method="adaptive", or "auto"',
        place.shown(),
    )
