"""Adaptive integration: as many small steps as the error bound needs, separately for each neuron.

Equations are integrated by Taylor series (`ranvier.equations.series`) if these are simple. Others have stages: J.
R. Cash and A. H. Karp, "A variable order Runge-Kutta method for initial value problems with rapidly varying right-
hand sides", ACM Transactions on Mathematical Software 16 (1990): a method of fifth order with one of fourth order in
it, whose difference is the estimated error.

The whole step is tried first, before the loop, with numbers that are known before the step: this is enough for nearly
all neurons. Others halve the part until the error is within its bound, so that no state has to be kept for the next
step. After a reset, the whole remainder is tried again. A part is the remainder divided by a power of two, so that
parts add up to the step without rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ranvier.equations.builder import Builder, Operand
from ranvier.equations.methods import Begin, State, derivatives, weighted_sum
from ranvier.equations.scope import Stage
from ranvier.equations.series import Expanded, Series, series_of

__all__ = ["MOST_PARTS", "Crossing", "Tolerances", "adaptive"]

_STAGES = (
    (),
    (1 / 5,),
    (3 / 40, 9 / 40),
    (3 / 10, -9 / 10, 6 / 5),
    (-11 / 54, 5 / 2, -70 / 27, 35 / 27),
    (1631 / 55296, 175 / 512, 575 / 13824, 44275 / 110592, 253 / 4096),
)
_FIFTH = (37 / 378, 0.0, 250 / 621, 125 / 594, 0.0, 512 / 1771)
_FOURTH = (2825 / 27648, 0.0, 18575 / 48384, 13525 / 55296, 277 / 14336, 1 / 4)
_ERROR = tuple(fifth - fourth for fifth, fourth in zip(_FIFTH, _FOURTH, strict=True))

# Half of a step has an error 2^5 times smaller.
_HALVED = 32.0
MOST_PARTS = 4000
# Orders of Taylor's method: the high one is for whole steps in which the low one is not enough, as where conductances
# decay within few steps, and for parts of steps, which neurons need whose potential explodes.
_ORDER = 6
_HIGH_ORDER = 8
# The last term is much larger than the error, but in the upstroke of a spike, where terms fall slowly, errors of parts
# add up. With this factor, errors of adaptive exponential neurons are those that the method of Cash and Karp leaves.
_SAFETY = 32.0
# The last term of the series of an exponential bounds the remainder only if its argument changes by less than this:
# the first six terms of exp(70 s) do not show a steep upstroke in the middle of the part.
_MOST_GROWTH = 12.0
# The terms of its series that matter; errors of variables show if later terms are large.
_GROWTH_TERMS = 3


@dataclass(frozen=True)
class Tolerances:
    """Error bounds of a part of a step: `absolute` in the unit of each variable, plus `relative` times its value.

    If `relative` times the change in a whole step, at the rate at the start of the part, is larger, this is the bound:
    the error corresponds to a spike that is early or late by a fraction `relative` of a step. Without it, most parts
    would be spent on the last bit of a potential that diverges.
    """

    relative: float
    absolute: Mapping[str, float]


@dataclass(frozen=True)
class Crossing:
    """Spikes within a step: threshold and reset.

    Attributes
    ----------
    fires
        Function from a state to the truth that the threshold holds.
    reset
        Function to the state after a reset.
    assigned
        Variables that a reset changes.
    holds_after
        The truth that held variables are constant for the rest of the step, since the neuron is refractory.
    """

    fires: Callable[[Mapping[str, Operand]], Operand]
    reset: Callable[[Mapping[str, Operand]], State]
    assigned: frozenset[str]
    holds_after: Operand


def adaptive(
    stage: Stage, begin: Begin, moving: list[str], bounded: list[str], tolerances: Tolerances, crossing: Crossing
) -> tuple[State, Operand, Operand]:
    """Integrate over a step. The threshold is looked at after each part.

    `moving` are the variables that change, `bounded` those whose error is. Returns the state, the truth that the neuron
    has fired, and the truth that the integration has ended.
    """
    integration = _Adaptive(stage, begin, moving, bounded, tolerances, crossing)
    return integration.parts(integration.whole())


class _Adaptive:
    """See `adaptive`."""

    def __init__(
        self,
        stage: Stage,
        begin: Begin,
        moving: list[str],
        bounded: list[str],
        tolerances: Tolerances,
        crossing: Crossing,
    ) -> None:
        self.stage = stage
        self.begin = begin
        self.moving = moving
        self.bounded = bounded
        self.tolerances = tolerances
        self.crossing = crossing
        self.fixed = {name: value for name, value in begin.state.items() if name not in moving}

    def whole(self) -> list[Operand]:
        """Try the whole step, which is enough for nearly all neurons, with numbers that are known before it.

        Returns the initial values of the loop over parts.
        """
        do, step, begin = self.stage.do, self.stage.step, self.begin
        old = {name: begin.state[name] for name in self.moving}
        series = self._series(old, begin.refractory)
        moved = self._moved(series, _ORDER, old, begin.refractory, _Part(1.0))
        resolved = self._resolved(series, old, moved)
        first = self._tried(old, moved, False, resolved, True)
        state = [do("select", first.fits, first.new[n], old[n]) for n in self.moving]
        if series is None:
            return [do("select", first.fits, 1.0, 0.0), first.factor, 1.0, first.fires, *state]
        # The others add the next terms of the series if these will be small enough: this loop has at most one turn.
        more = Builder(2, step)
        fits = more.input(0, "truth")
        with step.deferring(more):
            moved = self._moved(series, _HIGH_ORDER, old, begin.refractory, _Part(1.0))
            second = self._tried(old, moved, False, resolved, True)
            after = [do("select", second.fits, second.new[n], old[n]) for n in self.moving]
        goes_on = do("both", do("not", fits), self._promises(series, first))
        results = [goes_on, second.fits, second.factor, second.fires, *after]
        fits, factor, fires, *ends, _ = step.loop([first.fits, 1.0, first.fires, *state], more, results, 1)
        return [do("select", fits, 1.0, 0.0), factor, factor, fires, *ends]

    def _resolved(
        self, series: Expanded | None, old: Mapping[str, Operand], moved: tuple[State, dict[str, _Error]]
    ) -> Operand:
        """Return the truth that nothing steep is hidden in a whole step."""
        do, step = self.stage.do, self.stage.step
        if series is None or not series.exponents:
            return True
        # Neurons that need it, which are few, calculate their derivatives again: this loop has at most one turn.
        check = Builder(2, step)
        known = check.input(0, "truth")
        with step.deferring(check):
            agrees = self._agrees(series, old, moved)
            for exponent in series.exponents:
                small = do("less_equal", _growth(self.stage, exponent, _Part(1.0)), _MOST_GROWTH)
                agrees = do("both", agrees, do("either", small, self._is_monotonic(exponent)))
        grown = self._within(_growths(self.stage, series, _Part(1.0)), _MOST_GROWTH)
        resolved, _ = step.loop([grown], check, [do("not", known), agrees], 1)
        return resolved

    def _is_monotonic(self, exponent: Series) -> Operand:
        """Return the truth that an argument is monotonic in a whole step.

        Then its exponential is largest at an end of the step, and not in the middle of it.
        """
        do = self.stage.do
        rest: Operand = 0.0
        for order in range(2, _GROWTH_TERMS + 1):
            rest = do("add", rest, do("multiply", do("absolute", exponent[order]), float(order)))
        return do("less_equal", rest, do("absolute", exponent[1]))

    def _within(self, sizes: list[Operand], bound: float) -> Operand:
        """Return the truth that no size is above the bound, nor NaN."""
        made: Operand = True
        for each in sizes:
            made = self.stage.do("both", made, self.stage.do("less_equal", each, bound))
        return made

    def _or_short(self, resolved: Operand, part: Operand) -> Operand:
        """Return the truth that a part is resolved, or so short that a spike may be anywhere in it."""
        if resolved is True:
            return True
        return self.stage.do("either", resolved, self.stage.do("less_equal", part, self.tolerances.relative))

    def _agrees(self, series: Expanded, old: Mapping[str, Operand], moved: tuple[State, dict[str, _Error]]) -> Operand:
        """Return the truth that the equations also hold at the end of a whole step, which then has no steep upstroke.

        The derivatives of the series there are compared with those of the equations.
        """
        do, begin = self.stage.do, self.begin
        new, errors = moved
        slopes = derivatives(self.stage, {**self.fixed, **new}, begin.others, begin.held, begin.refractory)
        made: Operand = True
        for name, bound in self._bounds(old, new, errors).items():
            slope: Operand = 0.0
            for order in range(_ORDER, 0, -1):
                slope = do("add", slope, do("multiply", series.variables[name][order], float(order)))
            missed = do("absolute", do("subtract", do("multiply", slopes[name], self.stage.length), slope))
            made = do("both", made, do("less_equal", missed, bound))
        return made

    def _promises(self, series: Expanded, first: _Tried) -> Operand:
        """Return the truth that the high order may be enough, by an extrapolation of the terms."""
        do = self.stage.do
        made: Operand = True
        for name, bound in first.bounds.items():
            last, before = (do("absolute", series.variables[name][order]) for order in (_ORDER, _ORDER - 1))
            left, right = do("multiply", last, _SAFETY), bound
            for _ in range(_HIGH_ORDER - _ORDER):
                left, right = do("multiply", left, last), do("multiply", right, before)
            fits = do("less_equal", first.errors[name], bound)
            made = do("both", made, do("either", fits, do("less_equal", left, right)))
        return made

    def parts(self, initial: list[Operand]) -> tuple[State, Operand, Operand]:
        """Take parts of the step until it is done."""
        do = self.stage.do
        body = Builder(2, self.stage.step)
        done, part, scale, fired = body.input(0), body.input(1), body.input(2), body.input(3, "truth")
        old = {name: body.input(4 + i) for i, name in enumerate(self.moving)}
        is_held = do("either", self.begin.refractory, do("both", fired, self.crossing.holds_after))
        series = self._series(old, is_held, scale)
        whole = _Part(part) if series is None else _Part(part, do("divide", 1.0, scale))
        growths = _growths(self.stage, series, whole)
        turn = self._tried(
            old,
            self._moved(series, _HIGH_ORDER, old, is_held, whole),
            fired,
            self._or_short(self._within(growths, _MOST_GROWTH), part),
            self._within(growths, _MOST_GROWTH / 2.0),
        )
        goes_on = do("less", done, 1.0)
        next_done = do("select", turn.fits, do("add", done, part), done)
        left = do("subtract", 1.0, next_done)

        def following_part(size: Operand, after_reset: Operand) -> Operand:
            larger = do("select", turn.fits_twice, do("add", size, size), size)
            # After a reset, the reason for short parts is gone.
            larger = do("select", turn.fires, after_reset, larger)
            return do("select", turn.fits, larger, do("multiply", size, turn.factor))

        next_part = do("minimum", following_part(part, left), left)
        following = [do("select", turn.fits, turn.new[n], old[n]) for n in self.moving]
        next_scale = 1.0 if series is None else following_part(scale, 1.0)
        results = [goes_on, next_done, next_part, next_scale, do("either", fired, turn.fires), *following]
        _, _, _, has_fired, *ends, in_time = self.stage.step.loop(initial, body, results, MOST_PARTS)
        # If a neuron is reset very often in a step, the rest of the step is skipped.
        ended = do("either", in_time, has_fired)
        return {**self.fixed, **dict(zip(self.moving, ends, strict=True))}, has_fired, ended

    def _series(self, old: Mapping[str, Operand], is_held: Operand, scale: Operand = 1.0) -> Expanded | None:
        return series_of(self.stage, {**self.fixed, **old}, self.begin, self.moving, self.bounded, is_held, scale)

    def _moved(
        self,
        series: Expanded | None,
        order: int,
        old: Mapping[str, Operand],
        is_held: Operand,
        part: _Part,
    ) -> tuple[State, dict[str, _Error]]:
        """Return the state after a part of a step, and the errors of variables."""
        if series is not None:
            return _polynomial(self.stage, series, order, part)
        return _runge_kutta(self.stage, {**self.fixed, **old}, self.begin, is_held, part.size, self.moving)

    def _bounds(self, old: Mapping[str, Operand], new: State, errors: Mapping[str, _Error]) -> State:
        """Return the error bounds of a part."""
        do = self.stage.do
        bounds: State = {}
        for name in self.bounded:
            size = do("maximum", do("absolute", old[name]), do("absolute", new[name]))
            bound = do("add", do("multiply", size, self.tolerances.relative), self.tolerances.absolute[name])
            change = do("multiply", do("absolute", errors[name].change), self.tolerances.relative)
            bounds[name] = do("maximum", bound, change)
        return bounds

    def _tried(
        self,
        old: Mapping[str, Operand],
        moved: tuple[State, dict[str, _Error]],
        has_fired: Operand,
        resolved: Operand,
        resolved_twice: Operand,
    ) -> _Tried:
        """Compare errors with their bounds, and let neurons fire for which these fit.

        `resolved` is the truth that the errors are known, `resolved_twice` that they will be for twice the part.
        """
        do = self.stage.do
        new, errors = moved
        bounds = self._bounds(old, new, errors)

        def within(factor: float) -> Operand:
            # No error fits that is not a number.
            made: Operand = True
            for name, bound in bounds.items():
                made = do("both", made, do("less_equal", errors[name].size, do("multiply", bound, factor)))
            return made

        state = {**self.fixed, **new}
        # A neuron that is not refractory after its spike may be reset again, without another spike.
        silent = do("not", do("either", self.begin.refractory, do("both", has_fired, self.crossing.holds_after)))
        threshold = self.crossing.fires(state)
        after = self.crossing.reset(state)
        # A part that is too long may lead to infinities and NaN.
        fits = do("both", do("both", within(1.0), resolved), self._sound(new, threshold, after))
        fires = do("both", do("both", fits, silent), threshold)
        shrunk = do("select", within(_HALVED * _HALVED), 0.25, 0.125)
        return _Tried(
            fits=fits,
            fits_twice=do("both", within(1.0 / (2.0 * _HALVED)), resolved_twice),
            factor=do("select", within(_HALVED), 0.5, shrunk),
            new={n: do("select", fires, after[n], new[n]) for n in self.moving},
            fires=fires,
            errors={name: errors[name].size for name in bounds},
            bounds=bounds,
        )

    def _sound(self, new: State, threshold: Operand, after: State) -> Operand:
        """Return whether no infinity or NaN is hidden in a part of a step."""
        assigned = self.crossing.assigned
        return self.stage.finiteness.sound(
            [each for name, each in new.items() if name not in assigned],
            [threshold, *(each for name, each in new.items() if name in assigned)],
            [(threshold, after[name]) for name in self.moving if name in assigned],
        )


@dataclass(frozen=True)
class _Tried:
    """Result of an attempted part of a step.

    Attributes
    ----------
    fits, fits_twice
        The truths that errors are within their bounds, for the part and for twice the part.
    factor
        Factor for a part that is too long.
    new
        The state, after a reset if the neuron fires.
    fires
        The truth that it does.
    errors, bounds
        Errors and bounds of variables whose error is bounded.
    """

    fits: Operand
    fits_twice: Operand
    factor: Operand
    new: State
    fires: Operand
    errors: State
    bounds: State


@dataclass(frozen=True)
class _Part:
    """A part of a step, and the inverse of the scale of series, a power of two.

    In the upstroke of a spike, the eighth coefficient of a series may be too large for floating point where parts are
    so small that its term is not: so series are of time in parts. This changes no other bit.
    """

    size: Operand
    per_scale: Operand = 1.0


@dataclass(frozen=True)
class _Error:
    """Size of the error of a variable, and its change in a step at the rate at the start of the part."""

    size: Operand
    change: Operand


def _powers(stage: Stage, order: int, part: _Part) -> list[Operand]:
    """Return the powers of a part in time of the series, from 0 to `order`."""
    powers: list[Operand] = [1.0, stage.do("multiply", part.size, part.per_scale)]
    while len(powers) <= order:
        half = len(powers) // 2
        powers.append(stage.do("multiply", powers[half], powers[len(powers) - half]))
    return powers


def _growths(stage: Stage, series: Expanded | None, part: _Part) -> list[Operand]:
    """Return bounds of how much the argument of each exponential changes in a part."""
    return [] if series is None else [_growth(stage, each, part) for each in series.exponents]


def _growth(stage: Stage, exponent: Series, part: _Part) -> Operand:
    """Return a bound of how much an argument changes in a part, as far as its series is known."""
    do, powers = stage.do, _powers(stage, _GROWTH_TERMS, part)
    made: Operand = 0.0
    for i in range(1, _GROWTH_TERMS + 1):
        made = do("add", made, do("absolute", do("multiply", exponent[i], powers[i])))
    return made


def _polynomial(stage: Stage, series: Expanded, order: int, part: _Part) -> tuple[State, dict[str, _Error]]:
    """Return variables after a part of a step by their series, and errors."""
    do = stage.do
    powers = _powers(stage, order, part)
    new, errors = {}, {}
    for name, coefficients in series.variables.items():
        terms = [do("multiply", coefficients[i], powers[i]) for i in range(order + 1)]
        change = terms[1]
        for each in terms[2:]:
            change = do("add", change, each)
        new[name] = do("add", terms[0], change)
        last, before = (do("absolute", each) for each in (terms[-1], terms[-2]))
        # The last term may be small by chance.
        size = do("maximum", do("multiply", last, _SAFETY), before)
        errors[name] = _Error(size, do("multiply", coefficients[1], part.per_scale))
    return new, errors


def _runge_kutta(
    stage: Stage, old: State, begin: Begin, is_held: Operand, part: Operand, moving: list[str]
) -> tuple[State, dict[str, _Error]]:
    """Return variables after a part of a step by the method of Cash and Karp, and errors."""
    do = stage.do
    length = do("multiply", part, stage.length)
    slopes: list[State] = []

    def moved(name: str, weights: tuple[float, ...]) -> Operand:
        return do("multiply", weighted_sum(do, weights, [each[name] for each in slopes]), length)

    for weights in _STAGES:
        state = {n: do("add", old[n], moved(n, weights)) if slopes and n in moving else old[n] for n in old}
        slopes.append(derivatives(stage, state, begin.others, begin.held, is_held))
    new = {name: do("add", old[name], moved(name, _FIFTH)) for name in moving}
    return new, {
        name: _Error(do("absolute", moved(name, _ERROR)), do("multiply", slopes[0][name], stage.length))
        for name in moving
    }
