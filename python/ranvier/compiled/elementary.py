"""Elementary functions over vectors: the operations of core/base/math.hpp and core/program/operations.hpp, one by one.

A change there needs a change here: tests compare the bits of both.
"""

from __future__ import annotations

import math
from collections.abc import Callable

from ranvier.compiled.vectors import Vectors, integer, number

__all__ = ["BINARY", "UNARY", "normal_draw", "uniform_draw"]

_LEAST_NORMAL = 2.0**-1022
_GREATEST = math.nextafter(math.inf, 0.0)
_ROUNDING = float.fromhex("0x1.8p52")
_PER_LN_2 = float.fromhex("0x1.71547652b82fep0")
_LN_2_HIGH, _LN_2_LOW = float.fromhex("0x1.62e42feep-1"), float.fromhex("0x1.a39ef35793c76p-33")
# Coefficients of (e^x - 1) / x, the lowest power first.
_EXPM1 = [
    float.fromhex(each)
    for each in (
        *("0x1p0", "0x1p-1", "0x1.555555555555ap-3", "0x1.55555555538afp-5", "0x1.111111110ee1fp-7"),
        *("0x1.6c16c17aeaa0fp-10", "0x1.a01a01b3e1a4cp-13", "0x1.a019b03ac02dbp-16", "0x1.71dded747e9cbp-19"),
        *("0x1.289b3408361b3p-22", "0x1.af728283e15ecp-26"),
    )
]
_ARTANH = [1.0 / n for n in range(23, 1, -2)]
_SINE = [(1.0 if n % 4 == 3 else -1.0) / math.factorial(n) for n in range(21, 1, -2)]
_TWO_PI = float.fromhex("0x1.921fb54442d18p2")


def _expm1_series(to: Vectors, x: str) -> str:
    square = to.multiply(x, x)
    fourth = to.multiply(square, square)
    pairs = [to.add(to.multiply(x, number(b)), number(a)) for a, b in zip(_EXPM1[::2], _EXPM1[1::2], strict=False)]
    low = to.add(pairs[0], to.multiply(square, pairs[1]))
    middle = to.add(pairs[2], to.multiply(square, pairs[3]))
    high = to.add(pairs[4], to.multiply(square, number(_EXPM1[10])))
    return to.add(low, to.multiply(fourth, to.add(middle, to.multiply(fourth, high))))


def _exponential(to: Vectors, x: str) -> tuple[str, str]:
    """Return a power of 2 and a small rest: the exponential is the power times 1 + rest."""
    above = to.select(to.compare("ogt", x, number(700.0)), number(700.0), x)
    x = to.select(to.compare("olt", x, number(-700.0)), number(-700.0), above)
    shifted = to.add(to.multiply(x, number(_PER_LN_2)), number(_ROUNDING))
    k = to.subtract(shifted, number(_ROUNDING))
    r = to.subtract(x, to.multiply(k, number(_LN_2_HIGH)))
    r = to.subtract(r, to.multiply(k, number(_LN_2_LOW)))
    exponent = to.integers("add", to.bits(shifted), integer(1023))
    return to.from_bits(to.integers("shl", exponent, integer(52))), to.multiply(r, _expm1_series(to, r))


def _exp(to: Vectors, x: str) -> str:
    scale, rest = _exponential(to, x)
    return to.multiply(to.add(number(1.0), rest), scale)


def _expm1(to: Vectors, x: str) -> str:
    scale, rest = _exponential(to, x)
    return to.add(to.multiply(scale, rest), to.subtract(scale, number(1.0)))


def _expm1_over(to: Vectors, x: str) -> str:
    is_zero = to.compare("oeq", x, number(0.0))
    return to.select(is_zero, number(1.0), to.divide(_expm1(to, x), x))


def _over_expm1(to: Vectors, x: str) -> str:
    is_zero = to.compare("oeq", x, number(0.0))
    return to.select(is_zero, number(1.0), to.divide(x, _expm1(to, x)))


def _log_inside(to: Vectors, x: str) -> str:
    """Return the logarithm of numbers that are positive and normal."""
    bits = to.bits(x)
    offset = to.integers("sub", bits, integer(0x3FE6A09E667F3BCD))
    shifted = to.integers("lshr", to.integers("add", offset, integer(0x4000000000000000)), integer(52))
    exponent = to.integers("sub", shifted, integer(0x400))
    m = to.from_bits(to.integers("sub", bits, to.integers("shl", exponent, integer(52))))
    s = to.divide(to.subtract(m, number(1.0)), to.add(m, number(1.0)))
    z = to.multiply(s, s)
    p = to.polynomial(z, _ARTANH)
    small = to.from_bits(to.integers("add", exponent, integer(0x4338000000000000)))
    e = to.subtract(small, number(_ROUNDING))
    twice = to.multiply(number(2.0), s)
    tail = to.add(to.multiply(to.multiply(twice, z), p), to.multiply(e, number(_LN_2_LOW)))
    return to.add(to.multiply(e, number(_LN_2_HIGH)), to.add(twice, tail))


def _log(to: Vectors, x: str) -> str:
    inside = _log_inside(to, x)
    below = to.select(to.compare("ogt", x, number(-_LEAST_NORMAL)), number(-math.inf), number(math.nan))
    outside = to.select(to.compare("olt", x, number(_LEAST_NORMAL)), below, x)
    is_normal = to.both(to.compare("oge", x, number(_LEAST_NORMAL)), to.compare("ole", x, number(_GREATEST)))
    return to.select(is_normal, inside, outside)


def _log1p(to: Vectors, x: str) -> str:
    u = to.add(number(1.0), x)
    log = _log(to, u)
    near = to.multiply(log, to.divide(x, to.subtract(u, number(1.0))))
    is_itself = to.either(to.compare("oeq", u, number(1.0)), to.compare("oeq", u, number(math.inf)))
    other = to.select(is_itself, x, near)
    return to.select(to.compare("ogt", u, number(0.0)), other, log)


def _pow(to: Vectors, x: str, y: str) -> str:
    shifted = to.add(y, number(_ROUNDING))
    odd = to.integers("shl", to.bits(shifted), integer(63))
    inside = _exp(to, to.multiply(y, _log(to, to.absolute(x))))
    negative = to.from_bits(to.integers("xor", to.bits(inside), odd))
    is_small = to.compare("olt", to.absolute(y), number(2.0**51))
    is_whole = to.both(to.compare("oeq", to.subtract(shifted, number(_ROUNDING)), y), is_small)
    below = to.select(is_whole, negative, number(math.nan))
    at_zero = to.select(to.compare("ogt", y, number(0.0)), number(0.0), number(math.inf))
    positive = to.select(to.compare("oge", x, number(_LEAST_NORMAL)), inside, at_zero)
    defined = to.select(to.compare("ogt", x, number(-_LEAST_NORMAL)), positive, below)
    known = to.select(to.compare("ord", y, y), defined, y)
    power = to.select(to.compare("oeq", y, number(1.0)), x, known)
    return to.select(to.compare("oeq", y, number(0.0)), number(1.0), power)


def _floor(to: Vectors, x: str) -> str:
    bits = to.bits(x)
    size = to.absolute(x)
    rounded = to.subtract(to.add(size, number(2.0**52)), number(2.0**52))
    sign = to.integers("and", bits, integer(-(2**63)))
    nearest = to.from_bits(to.integers("or", to.bits(rounded), sign))
    lower = to.subtract(nearest, number(1.0))
    below = to.select(to.compare("ogt", nearest, x), lower, nearest)
    return to.select(to.compare("olt", size, number(2.0**52)), below, x)


def _sine_of_cycles(to: Vectors, x: str) -> str:
    whole = to.subtract(to.add(x, number(_ROUNDING)), number(_ROUNDING))
    f = to.subtract(x, whole)
    folded = to.select(to.compare("olt", f, number(-0.25)), to.subtract(number(-0.5), f), f)
    f = to.select(to.compare("ogt", f, number(0.25)), to.subtract(number(0.5), f), folded)
    y = to.multiply(f, number(_TWO_PI))
    z = to.multiply(y, y)
    return to.subtract(y, to.multiply(to.multiply(y, z), to.polynomial(z, _SINE)))


# Wichura (1988), as in core/base/math.hpp: numerators and denominators.
_CENTRAL = (
    [
        2.5090809287301226727e3,
        3.3430575583588128105e4,
        6.7265770927008700853e4,
        4.5921953931549871457e4,
        1.3731693765509461125e4,
        1.9715909503065514427e3,
        1.3314166789178437745e2,
        3.3871328727963666080e0,
    ],
    [
        5.2264952788528545610e3,
        2.8729085735721942674e4,
        3.9307895800092710610e4,
        2.1213794301586595867e4,
        5.3941960214247511077e3,
        6.8718700749205790830e2,
        4.2313330701600911252e1,
        1.0,
    ],
)
_MIDDLE = (
    [
        7.74545014278341407640e-4,
        2.27238449892691845833e-2,
        2.41780725177450611770e-1,
        1.27045825245236838258e0,
        3.64784832476320460504e0,
        5.76949722146069140550e0,
        4.63033784615654529590e0,
        1.42343711074968357734e0,
    ],
    [
        1.05075007164441684324e-9,
        5.47593808499534494600e-4,
        1.51986665636164571966e-2,
        1.48103976427480074590e-1,
        6.89767334985100004550e-1,
        1.67638483018380384940e0,
        2.05319162663775882187e0,
        1.0,
    ],
)
_FAR = (
    [
        2.01033439929228813265e-7,
        2.71155556874348757815e-5,
        1.24266094738807843860e-3,
        2.65321895265761230930e-2,
        2.96560571828504891230e-1,
        1.78482653991729133580e0,
        5.46378491116411436990e0,
        6.65790464350110377720e0,
    ],
    [
        2.04426310338993978564e-15,
        1.42151175831644588870e-7,
        1.84631831751005468180e-5,
        7.86869131145613259100e-4,
        1.48753612908506148525e-2,
        1.36929880922735805310e-1,
        5.99832206555887937690e-1,
        1.0,
    ],
)


def _normal_quantile(to: Vectors, u: str) -> str:
    q = to.subtract(u, number(0.5))
    smaller = to.select(to.compare("olt", q, number(0.0)), u, to.subtract(number(1.0), u))
    root = to.square_root(to.negate(_log_inside(to, smaller)))
    r = to.subtract(root, number(1.6))
    middle = to.divide(to.polynomial(r, _MIDDLE[0]), to.polynomial(r, _MIDDLE[1]))
    r = to.subtract(root, number(5.0))
    far = to.divide(to.polynomial(r, _FAR[0]), to.polynomial(r, _FAR[1]))
    tail = to.select(to.compare("ole", root, number(5.0)), middle, far)
    tail = to.select(to.compare("olt", q, number(0.0)), to.negate(tail), tail)
    r = to.subtract(number(0.180625), to.multiply(q, q))
    numerator = to.multiply(q, to.polynomial(r, _CENTRAL[0]))
    central = to.divide(numerator, to.polynomial(r, _CENTRAL[1]))
    inside = to.both(to.compare("oge", q, number(-0.425)), to.compare("ole", q, number(0.425)))
    return to.select(inside, central, tail)


def uniform_draw(to: Vectors, words: str) -> str:
    """Return numbers in (0, 1) from random bits."""
    mantissa = to.integers("lshr", words, integer(12))
    above = to.from_bits(to.integers("or", mantissa, integer(0x3FF0000000000000)))
    return to.add(to.subtract(above, number(1.0)), number(2.0**-53))


def normal_draw(to: Vectors, words: str) -> str:
    """Return numbers of the standard normal distribution from random bits."""
    return _normal_quantile(to, uniform_draw(to, words))


def _minimum(to: Vectors, a: str, b: str) -> str:
    return to.select(to.compare("olt", a, b), a, b)


def _maximum(to: Vectors, a: str, b: str) -> str:
    return to.select(to.compare("ogt", a, b), a, b)


UNARY: dict[str, Callable[[Vectors, str], str]] = {
    "negate": Vectors.negate,
    "absolute": Vectors.absolute,
    "square_root": Vectors.square_root,
    "floor": _floor,
    "exp": _exp,
    "expm1": _expm1,
    "expm1_over": _expm1_over,
    "over_expm1": _over_expm1,
    "log": _log,
    "log1p": _log1p,
    "sine_of_cycles": _sine_of_cycles,
    "not": Vectors.negation,
}
"""Operations with one operand."""

BINARY: dict[str, Callable[[Vectors, str, str], str]] = {
    "add": Vectors.add,
    "subtract": Vectors.subtract,
    "multiply": Vectors.multiply,
    "divide": Vectors.divide,
    "minimum": _minimum,
    "maximum": _maximum,
    "pow": _pow,
    "less": lambda to, a, b: to.compare("olt", a, b),
    "less_equal": lambda to, a, b: to.compare("ole", a, b),
    "equal": lambda to, a, b: to.compare("oeq", a, b),
    "both": Vectors.both,
    "either": Vectors.either,
}
"""Operations with two operands."""
