"""Adaptive integration: as many small steps as the error bound needs, for each neuron on its own.

J. R. Cash and A. H. Karp, "A variable order Runge-Kutta method for initial value problems with rapidly varying
right-hand sides", ACM Transactions on Mathematical Software 16 (1990): a method of fifth order with one of fourth order
in it, whose difference is the estimated error.

Each step begins with the whole of it, and halves what it takes until the error fits, so that nothing of one step has to
be kept for the next. After a reset, the rest is tried as a whole again. Parts are a rest divided by a power of two, so
that they add up to the step without rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from ranvier.equations.builder import Builder, Operand
from ranvier.equations.methods import Begin, State, derivatives, weighted_sum
from ranvier.equations.scope import Stage

__all__ = ["Crossing", "Tolerances", "adaptive"]

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
_MOST_PARTS = 4000


@dataclass(frozen=True)
class Tolerances:
    """Error bounds of a part of a step: `absolute` in the unit of each variable, plus `relative` times its value.

    Where `relative` times what the variable would change by in a whole step, at the rate that it has at the begin of
    the part, is more, this is the bound: such an error is that of a spike so little of a step too early or too late.
    Without it, most parts would be spent on the last bit of a potential that explodes.
    """

    relative: float
    absolute: Mapping[str, float]


@dataclass(frozen=True)
class Crossing:
    """What happens when a neuron fires within a step.

    Attributes
    ----------
    fires
        Gives the truth that the threshold holds, for a state.
    reset
        Gives the state after a reset.
    holds_after
        The truth that held variables stay for the rest of the step, since the neuron is refractory.
    """

    fires: Callable[[Mapping[str, Operand]], Operand]
    reset: Callable[[Mapping[str, Operand]], State]
    holds_after: Operand


def adaptive(
    stage: Stage, begin: Begin, moving: list[str], bounded: list[str], tolerances: Tolerances, crossing: Crossing
) -> tuple[State, Operand, Operand]:
    """Integrate over a step. The threshold is looked at after each part.

    `moving` are the variables that change, `bounded` those whose error is. Returns the state, the truth that the neuron
    has fired, and the truth that the integration has ended.
    """
    body = Builder(2, stage.step)
    done, part, fired = body.input(0), body.input(1), body.input(2, "truth")
    old: State = {name: body.input(3 + i) for i, name in enumerate(moving)}
    goes_on = stage.do("less", done, 1.0)
    fixed = {name: value for name, value in begin.state.items() if name not in moving}
    is_held = stage.do("either", begin.refractory, stage.do("both", fired, crossing.holds_after))
    new, ratios = _part(stage, {**fixed, **old}, begin, is_held, part, moving, bounded, tolerances)
    do = stage.do

    accepted: Operand = True
    worst = ratios[0]
    for ratio in ratios:
        # What is not a number is not accepted.
        accepted = do("both", accepted, do("less_equal", ratio, 1.0))
        worst = worst if ratio is worst else do("maximum", worst, ratio)
    silent = do("not", do("either", begin.refractory, fired))
    fires = do("both", do("both", accepted, silent), crossing.fires(new))
    after = crossing.reset(new)
    following = {n: do("select", accepted, do("select", fires, after[n], new[n]), old[n]) for n in moving}

    next_done = do("select", accepted, do("add", done, part), done)
    left = do("subtract", 1.0, next_done)
    larger = do("select", do("less", worst, 1.0 / (2.0 * _HALVED)), do("add", part, part), part)
    # What made parts small has nothing to do with what comes after a reset.
    larger = do("select", fires, left, larger)
    shrunk = do("select", do("less_equal", worst, _HALVED * _HALVED), 0.25, 0.125)
    factor = do("select", do("less_equal", worst, _HALVED), 0.5, shrunk)
    next_part = do("minimum", do("select", accepted, larger, do("multiply", part, factor)), left)
    results = [goes_on, next_done, next_part, do("either", fired, fires), *(following[n] for n in moving)]
    initial = [0.0, 1.0, False, *(begin.state[name] for name in moving)]
    _, _, has_fired, *ends, ended = stage.step.loop(initial, body, results, _MOST_PARTS)
    return {**fixed, **dict(zip(moving, ends, strict=True))}, has_fired, ended


def _part(
    stage: Stage,
    old: State,
    begin: Begin,
    is_held: Operand,
    part: Operand,
    moving: list[str],
    bounded: list[str],
    tolerances: Tolerances,
) -> tuple[State, list[Operand]]:
    """Return the state after a part of a step, and of each bounded variable the error over its bound."""
    do = stage.do
    length = do("multiply", part, stage.length)
    slopes: list[State] = []

    def moved(name: str, weights: tuple[float, ...]) -> Operand:
        return do("multiply", weighted_sum(do, weights, [each[name] for each in slopes]), length)

    for weights in _STAGES:
        state = {n: do("add", old[n], moved(n, weights)) if slopes and n in moving else old[n] for n in old}
        slopes.append(derivatives(stage, state, begin.others, begin.held, is_held))
    new = {name: do("add", value, moved(name, _FIFTH)) if name in moving else value for name, value in old.items()}
    ratios = []
    for name in bounded:
        size = do("maximum", do("absolute", old[name]), do("absolute", new[name]))
        bound = do("add", do("multiply", size, tolerances.relative), tolerances.absolute[name])
        change = do("multiply", do("absolute", slopes[0][name]), do("multiply", stage.length, tolerances.relative))
        bound = do("maximum", bound, change)
        ratios.append(do("divide", do("absolute", moved(name, _ERROR)), bound))
    return new, ratios
