"""Random expressions of Python: ordinary arguments of the public interface, and ones that nobody expects."""

from __future__ import annotations

import random
from collections.abc import Mapping

import ranvier as rv

__all__ = ["HOSTILE_DURATIONS", "Drawing", "Names"]

Names = Mapping[str, object]
"""What earlier lines have made, by name."""

HOSTILE_CHANCE = 0.06

HOSTILE = [
    *("nan", "np.float64(nan)", "np.array([1.0, nan])", "np.ma.masked", "np.ma.masked_array([1, 2], mask=True)"),
    "np.ma.masked_array([1.0, 2.0, 3.0], mask=[0, 1, 0])",
    *("inf", "-inf", "-0.0", "0", "-1", "2**31", "2**31 - 1", "2**32", "2**63", "-2**63", "2**64", "10**18", "10**400"),
    *("1e308", "-1e308", "1e-310", "1e30", "5e-324", "True", "np.bool_(True)", "np.float32(0.1)", "np.float16(1.5)"),
    *(
        "np.int8(3)",
        "np.uint64(2**63)",
        "np.longdouble(0.1)",
        "1j",
        "np.complex128(1)",
        "'abc'",
        "'a\\0b'",
        "'\\ud800'",
    ),
    *(
        "''",
        "'1'",
        "'\\ud800'",
        "b'x'",
        "bytearray(b'x')",
        "None",
        "...",
        "[]",
        "()",
        "{}",
        "{'a': 1}",
        "[None]",
        "['a']",
    ),
    *("[1.0, 2.0]", "[[1.0], [1.0, 2.0]]", "[[1.0, 2.0]]", "[[[0]]]", "[1, 'a']", "[2**70]", "[nan, None]"),
    *("np.array([])", "np.array(1.0)", "np.array(['a'])", "np.array([1, 2], dtype=object)", "np.zeros((2, 2, 2))"),
    *("np.array([1.0, 2.0], dtype='>f4')", "np.zeros(3, dtype=[('a', float)])", "np.array([2**63], dtype='uint64')"),
    *("np.ma.masked_array([1.0, 2.0])", "np.broadcast_to(1.0, 10**12)", "np.broadcast_to(np.int64(1), (10**6, 10**6))"),
    *("np.datetime64('2020-01-01')", "np.timedelta64(1)", "decimal.Decimal('0.1')", "fractions.Fraction(1, 3)"),
    *("range(3)", "range(10**15)", "slice(None)", "object()", "int", "rv", "lambda: 1", "iter([1.0])", "{1.0, 2.0}"),
    *(
        "rv.Normal(0.0, 1.0)",
        "rv.LogNormal(0.0, 700.0)",
        "rv.AllToAll()",
        "rv.Rule()",
        "rv.Distribution()",
    ),
    *("net", "other", "p0", "p0[:0]", "foreign", "sim", "c0", "r0"),
]
# Numbers of steps that could be simulated, but not within the life of anybody, are not drawn as durations.
HOSTILE_DURATIONS = [
    each for each in HOSTILE if each not in ("2**31", "2**31 - 1", "2**32", "10**18", "1e30", "np.int8(3)")
]


class Drawing:
    """Draws expressions."""

    def __init__(self, chance: random.Random, names: Names) -> None:
        self.chance = chance
        self.names = names

    def one(self, *choices: str) -> str:
        """Return one of some texts."""
        return self.chance.choice(choices)

    def made(self, kind: type, nothing: str = "None") -> str:
        """Return the name of something that an earlier line made."""
        known = [name for name, value in self.names.items() if isinstance(value, kind) and name != "foreign"]
        return self.chance.choice(known) if known else nothing

    def value(self, expression: str, hostile: list[str] = HOSTILE) -> str:
        """Return the expression or, seldom, a hostile one."""
        return self.chance.choice(hostile) if self.chance.random() < HOSTILE_CHANCE else expression

    def call(self, function: str, *positional: str, **keywords: str) -> str:
        """Return a call; any of the arguments may be replaced, and seldom one is missing, or there is one too many."""
        arguments = [self.value(each) for each in positional]
        arguments += [f"{name}={self.value(each)}" for name, each in keywords.items()]
        if self.chance.random() < 0.01 and arguments:
            arguments.pop(self.chance.randrange(len(arguments)))
        if self.chance.random() < 0.01:
            arguments.append("nonsense=1")
        return f"{function}({', '.join(arguments)})"

    def some(self, keywords: dict[str, str], share: float = 0.2) -> dict[str, str]:
        """Return some of the keywords."""
        return {name: value for name, value in keywords.items() if self.chance.random() < share}

    def distribution(self) -> str:
        """Return a distribution of values around 1."""
        kind = self.chance.randrange(5)
        if kind == 0:
            return self.call("rv.Normal", "1.0", "0.2", **self.some({"low": "0.5", "high": "3.0", "mode": "'clip'"}))
        if kind == 1:
            return self.call("rv.LogNormal", "0.0", "0.5", **self.some({"low": "0.5", "high": "3.0"}))
        if kind == 2:
            return self.call("rv.Uniform", "0.5", "2.0")
        if kind == 3:
            return self.call("rv.Exponential", "0.5", **self.some({"shift": "0.5", "high": "20.0", "mode": "'redraw'"}))
        return self.call("rv.Normal", mean="1.0", std="0.0")

    def numbers(self, unit: float, size: str) -> str:
        """Return one number, one for each of some, or a distribution; none is below a tenth of the unit."""
        kind = self.chance.randrange(6)
        if kind < 3:
            return repr(round(unit * self.chance.uniform(0.5, 2.0), 3))
        if kind == 3:
            return f"np.full({size}, {unit})"
        if kind == 4:
            return f"[{unit}] * ({size})"
        return self.distribution() if unit == 1.0 else self.call("rv.Uniform", f"{unit}", f"{2.0 * unit}")

    def view(self) -> str:
        """Return a population, a view or seldom a sequence of them."""
        if self.chance.randrange(16) == 0:
            return f"[{self.made(rv.Population)}, {self.value(self.made(rv.Population))}]"
        return self.one_view()

    def one_view(self) -> str:
        """Return a population or a view."""
        population = self.made(rv.Population)
        kind = self.chance.randrange(15)
        if kind == 0:
            return f"{population}[{self.value('1:3', [f'{each}:' for each in HOSTILE])}]"
        if kind == 1:
            return f"{population}[{self.value('0')}]"
        if kind == 2:
            return (
                f"{population}[{self.value(self.one('::2', '1::2', '::3', '-2:'), ['::' + each for each in HOSTILE])}]"
            )
        if kind == 3:
            index = self.one("[0, 1]", "[1]", "[]", "[0, -1]", f"np.arange(len({population})) % 2 == 0")
            return f"{population}[{self.value(index)}]"
        if kind == 4:
            return f"{population} + {self.made(rv.Population)}[{self.one(':1', '1:', '::2', '[0]')}]"
        return population

    def model(self, size: str) -> str:
        """Return a neuron model."""
        name = self.one("iaf_psc_exp", "iaf_psc_alpha", "iaf_psc_delta", "interval_fire")
        values = {"tau": "10.0", "interval_min": "5.0", "m": "0.0", "burst_factor": "2.0"}
        if name != "interval_fire":
            values = {"tau_m": self.numbers(10.0, size), "C_m": self.numbers(250.0, size), "V_th": "-50.0"}
            values |= {"I_e": self.numbers(700.0, size), "t_ref": "2.0", "V_m": "rv.Normal(-65.0, 3.0)"}
        if name in ("iaf_psc_exp", "iaf_psc_alpha"):
            values |= {"tau_syn_ex": self.numbers(0.5, size), "I_syn_in": "-1.0"}
        return self.call(f"rv.{name}", **self.some(values, 0.4)) if self.chance.random() < 0.8 else f"'{name}'"

    def synapse(self) -> str:
        """Return a synapse model."""
        kind = self.chance.randrange(10)
        split = self.some({"axonal_fraction": self.one("0.0", "0.3", "1.0"), "tau_plus": "15.0"})
        if kind < 2:
            return self.call(
                self.one("rv.stdp", *(f"rv.stdp_nn_{each}" for each in ("symm", "restr", "pre_centered"))),
                W_max="100.0",
                **split,
                **self.some({"mu_plus": "0.0"}),
            )
        if kind == 2:
            return self.call("rv.stdp_pl", learning_rate="0.1", **split)
        if kind == 3:
            return self.call("rv.vogels_sprekeler", W_max=self.one("100.0", "-100.0"))
        if kind == 4:
            return self.call("rv.stdp_triplet", W_max="100.0", **split, **self.some({"A_minus_triplet": "0.1"}))
        if kind == 5:
            return self.call("rv.tsodyks2", **self.some({"tau_fac": "50.0", "U": "0.2"}))
        if kind == 6:
            return self.one("rv.bernoulli(p_transmit=0.5)", "rv.quantal_stp(n=3)", "rv.quantal_stp(n=2.5)")
        if kind == 7:
            values = self.some({"b": "0.1", "dopamine_delay": self.one("0.5", "0.05")})
            return self.call("rv.stdp_dopamine", dopamine=self.one("p0", "p0[::2]", "[p0]", "p0[:0]"), **values)
        return self.one("'static_synapse'", "'stdp'", "'stdp_pl'", "rv.static_synapse()")

    def stimulator(self) -> str:
        """Return a stimulator."""
        span = self.some({"start": "1.0", "stop": "50.0"})
        kind = self.chance.randrange(6)
        if kind < 2:
            return self.call("rv.poisson_generator", rate=self.numbers(8000.0, "len(p0)"), **span)
        if kind == 2:
            return self.call("rv.dc_generator", amplitude=self.numbers(100.0, "len(p0)"), **span)
        if kind == 3:
            keywords = self.some({"std_mod": "1.0", "frequency": "10.0", "phase": "90.0"})
            return self.call("rv.noise_generator", mean="100.0", std="50.0", interval="0.5", **keywords, **span)
        if kind == 4:
            return self.call("rv.step_current_generator", times="[1.0, 2.0]", amplitudes="[100.0, 0.0]", **span)
        return self.call("rv.inhomogeneous_poisson_generator", times="[1.0, 2.0]", rates="[9000.0, 0.0]", **span)

    def rule(self) -> str:
        """Return a rule."""
        flags = self.some({"allow_autapses": "False", "allow_multapses": "True"})
        autapses = self.some({"allow_autapses": "False"})
        kind = self.chance.randrange(10)
        if kind < 2:
            return self.call("rv.FixedIndegree", "2", **flags)
        if kind == 2:
            return self.call("rv.FixedOutdegree", "2", **flags)
        if kind == 3:
            return self.call("rv.FixedTotalNumber", "5", **flags)
        if kind == 4:
            return self.call("rv.PairwiseBernoulli", "0.3", **autapses)
        if kind == 5:
            return self.call(self.one("rv.AllToAll", "rv.OneToOne"), **autapses)
        if kind == 6:
            return self.call("rv.UniformIndegree", "1", "3", **flags)
        if kind == 7:
            return self.call("rv.Explicit", "[0, 0, 1]", "np.array([1, 0, 1])", **flags)
        return self.call("rv.NearestNeighbors", "2") if kind == 8 else self.call("rv.SmallWorld", "2", "0.5")
