"""Random rules, weights and delays that depend on the positions or the indices of neurons."""

from __future__ import annotations

import random
from typing import Any

import ranvier as rv

__all__ = ["delay_by_pair", "rule_by_pair", "weight_by_pair"]

_SPATIAL = [
    "0.7*exp(-d**2/(2*s**2))",
    "exp(-d/s)",
    "max(0, 1 - d/s)",
    "0.5*exp(-(dx/0.2)**2 - (dy/s)**2)",
    "where(x_pre < x_post, 0.5, 0.1)",
]
_BY_INDEX = ["where(i < j, 0.3, 0.05)", "exp(-abs(i - j)/(10*s))"]


def _mask(dimensions: int, radius: float, chance: random.Random) -> Any:
    if dimensions == 2:
        return chance.choice(
            [
                None,
                rv.circle(radius),
                rv.donut(0.5 * radius, radius),
                rv.rectangle((-radius, 0.0), (radius, 0.3), angle=chance.choice([0.0, 30.0])),
                rv.ellipse((radius, 0.1)) | rv.circle(0.1, center=(0.1, 0.1)),
            ]
        )
    turned = rv.ellipsoid((radius, 0.5 * radius, 0.3), axis=(1, 1, 0), angle=40.0)
    box = rv.box((-radius,) * 3, (0.3,) * 3)
    return chance.choice([None, rv.ball(radius), box - rv.ball(0.1), turned, turned | box])


def rule_by_pair(dimensions: int | None, chance: random.Random) -> rv.Rule:
    """Return a rule with a mask, or a value that depends on the pair; `dimensions` is None without positions."""
    text = chance.choice(_BY_INDEX if dimensions is None else [*_SPATIAL, *_BY_INDEX])
    constants = {"s": chance.choice([0.05, 0.2, 0.6])} if "s" in text.replace("abs", "") else {}
    mask = None if dimensions is None else _mask(dimensions, chance.choice([0.1, 0.3]), chance)
    number = chance.choice([1, 3, 10])
    others = random.Random(chance.random())
    if others.random() < 0.3:
        return _other_rule(number, {"mask": mask, "probability": text, **constants}, others)
    shared: dict[str, Any] = {"mask": mask, "allow_autapses": chance.random() < 0.5, **constants}
    degrees = {"allow_multapses": chance.random() < 0.7, "probability": text, **shared}
    kind = chance.randrange(6)
    if kind == 0:
        return rv.FixedIndegree(number, **degrees)
    if kind == 1:
        return rv.FixedOutdegree(number, **degrees)
    if kind == 2:
        return rv.PairwisePoisson(text, **shared)
    if kind == 3:
        return rv.AllToAll(probability=text, **shared)
    return rv.PairwiseBernoulli(text, **shared)


def _other_rule(number: int, limits: dict[str, Any], chance: random.Random) -> rv.Rule:
    """Return a rule that draws its degrees, or one without random numbers of its own."""
    kind = chance.randrange(4)
    if kind == 0:
        return rv.UniformIndegree(number // 2, number, **limits)
    if kind == 1:
        return rv.FixedTotalNumber(20 * number, **limits)
    return rv.NearestNeighbors(2, **limits) if kind == 2 else rv.OneToOne(**limits)


def weight_by_pair(size: float, dimensions: int | None, chance: random.Random) -> Any:
    """Return weights of about this size and its sign that depend on the pair."""
    text = chance.choice(["w/(1 + 0.1*i)"] if dimensions is None else ["w*exp(-d/0.3)", "w*(1.5 + 0.5*cos(x_pre))"])
    return chance.choice([rv.Expression(text, w=size), rv.Expression(text, w=size) * rv.Uniform(0.5, 1.5)])


def delay_by_pair(resolution: float, dimensions: int | None, chance: random.Random) -> Any:
    """Return delays from one step on that depend on the pair."""
    text = "least + 0.01*j" if dimensions is None else "least + d/v"
    constants = {"least": resolution} if dimensions is None else {"least": resolution, "v": 0.5}
    plain = rv.Expression(text, constants)
    return chance.choice([plain, plain + rv.Uniform(0.0, 5.0 * resolution)])
