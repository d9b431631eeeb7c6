"""Random NMODL files in odd forms: for comparisons with NEURON's own compiler."""

from __future__ import annotations

import random

__all__ = ["random_file"]

_HEAD = """NEURON {{ SUFFIX {name} {reads} RANGE g, k, a, b }}
PARAMETER {{ g = 0.0007 e = -41 k = 1.7 d = 0.4 {parameters} }}
ASSIGNED {{ v {assigned} a b minf mtau hinf htau }}
STATE {{ m h }}
"""


class _Writer:
    """Writes statements; `names` are those that may be read."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance

    def number(self, names: list[str], depth: int = 2, *, has_truths: bool = True) -> str:
        """Return an expression, bounded for all values that occur; NEURON reads no truths in derivatives."""
        chance = self.chance
        if depth == 0 or chance.random() < 0.3:
            return chance.choice([*names, f"{chance.uniform(0.2, 1.5):.3f}"])
        one, two = (self.number(names, depth - 1, has_truths=has_truths) for _ in range(2))
        forms = (f"({one} + {two})", f"({one}*{two})", f"(1 - 0.3*{one})", f"(0.2 + {one}/(1.5 + {two}*{two}))")
        truths = [f"(({one} > {two}) + 0.5)"] if has_truths else []
        return chance.choice([*forms, f"exp(-0.2*{one}*{one})", *truths])

    def condition(self, names: list[str]) -> str:
        """Return a condition: of numbers that stay, or of the potential."""
        chance = self.chance
        if chance.random() < 0.5:
            return f"v {chance.choice(['<', '>', '<=', '>='])} {chance.choice([-71.3, -63.7, -55.1, -48.9])}"
        one = f"{self.number(names, 1)} {chance.choice(['<', '>'])} {self.number(names, 1)}"
        return chance.choice([one, f"!({one})", f"{one} && k < 3", f"{one} || d > 1"])

    def assignments(self, targets: list[str], names: list[str], depth: int = 1) -> str:
        """Return a few assignments to targets, some under conditions and in blocks with names of their own."""
        chance, made, known = self.chance, [], list(names)
        for target in targets:
            kind = chance.randrange(7 if depth else 2)
            if kind < 3:
                made.append(f"{target} = {self.number(known)}")
            elif kind == 3:
                made.append(f"IF ({self.condition(known)}) {{ {target} = {self.number(known)} }}")
                made[-1] += f" ELSE {{ {target} = {self.number(known)} }}"
            elif kind == 4:
                made.append(f"{target} = {self.number(known)} if ({self.condition(known)})")
                made[-1] += f" {{ {target} = {self.number([*known, target])} }}"
            elif kind == 5:
                inner = self.assignments(["x"], known, 0)
                made.append(f"{target} = {self.number(known)} if (k > 1) {{ LOCAL x {inner} {target} = x*{target} }}")
            else:
                made.append(f"v = v + 3 {target} = 1/(1 + exp(-(v + 52)/11)) v = v - 3")
            known.append(target)
        return "\n    ".join(made)


def random_file(seed: int, name: str) -> str:
    """Return a file: rates with conditions, names that are kept from block to block, two gates, one or two currents."""
    chance = random.Random(seed)
    write = _Writer(chance)
    has_ion = chance.random() < 0.4
    current = "ik" if has_ion else "i"
    reversal = "ek" if has_ion else "e"
    rates = f"""minf = 1/(1 + exp(-(v + {chance.uniform(40, 60):.2f})/{chance.uniform(5, 12):.2f}))
    mtau = 0.6 + 3/(1 + exp((v + 50)/9))
    hinf = 1/(1 + exp((v + {chance.uniform(50, 70):.2f})/7))
    htau = 2 + {chance.uniform(1, 9):.2f}/(1 + exp(-(v + 60)/11))"""
    kept = chance.choice(
        ["", write.assignments(["a"], ["k", "d", "minf"]), write.assignments(["b", "a"], ["k", "hinf"])]
    )
    initial = chance.choice(["rates() m = minf h = hinf", "rates() h = 0.3", "m = 0.2 rates() h = 1 - hinf", "rates()"])
    initial += chance.choice(["", " " + write.assignments(["a"], ["k", "d"]), " k = k*1.2", " b = d + k"])
    gates = []
    for gate in ("m", "h"):
        equation = f"{gate}' = ({gate}inf - {gate})/{gate}tau"
        other = f"{gate}' = {write.number(['k', 'd'], 1, has_truths=False)}*(0.4 - {gate})"
        gates.append(
            chance.choice(
                [
                    equation,
                    f"IF ({write.condition(['k', 'd'])}) {{ {equation} }} ELSE {{ {other} }}",
                    f"IF ({write.condition(['k', 'd'])}) {{ {equation} }}",
                    f"{equation} {other}",
                ]
                if chance.random() < 0.6
                else [equation]
            )
        )
    is_written_out = chance.random() < 0.25
    if is_written_out:
        gates = [f"{gate} = {gate} + (1 - exp(-dt/{gate}tau))*({gate}inf - {gate})" for gate in ("m", "h")]
    before = chance.choice(["", write.assignments(["b"], ["k", "d"])])
    factor = chance.choice(["1", "k", "a", "b", "(1 + a)", "a*b", "d*(1 + b)"])
    block = "PROCEDURE s()" if is_written_out else "DERIVATIVE s"
    head = _HEAD.format(
        name=name,
        reads="USEION k READ ek WRITE ik" if has_ion else "NONSPECIFIC_CURRENT i",
        parameters=chance.choice(["", "m0 = 0.35", "h0 = 0.6 m0 = 0.1", "ek = -12" if has_ion else "dt = 3"]),
        assigned=f"{current} {'ek' if has_ion else ''}",
    )
    if is_written_out and "dt = 3" not in head:
        head = head.replace("ASSIGNED { v", "ASSIGNED { v dt")
    if "ek = -12" in head:
        head = head.replace(f"{current} ek", current)
    return f"""{head}
INITIAL {{
    {initial}
}}
BREAKPOINT {{
    SOLVE s{"" if is_written_out else " METHOD cnexp"}
    {before}
    {current} = g*{factor}*m{chance.choice(["", "*h", "^2*h"])}*(v - {reversal})
}}
{block} {{
    rates()
    {gates[0]}
    {gates[1]}
    {kept if chance.random() < 0.7 else ""}
}}
PROCEDURE rates() {{
    {rates}
    {chance.choice(["", kept])}
}}
"""
