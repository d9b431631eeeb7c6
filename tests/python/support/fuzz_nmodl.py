"""Random NMODL files: conditions, calls, LOCALs and assignments in any order, names that are read before they are set.

All values stay near 1, so that two programs that do the same differ by rounding alone.
"""

from __future__ import annotations

import random

__all__ = ["random_mechanism"]


def random_mechanism(seed: int) -> str:
    """Return the text of a density mechanism, whose name is ``fuzz_<seed>``.

    In two of three, a block reads no name that it has not assigned before; in the others, names keep values from call
    to call. In every second one, the current is linear in the potential and in gates.
    """
    return _Writer(seed, has_memory=seed % 3 == 2).text()


class _Writer:
    """Writes one file."""

    def __init__(self, seed: int, has_memory: bool) -> None:
        self.seed = seed
        self.has_memory = has_memory
        self.set: set[str] = set()
        self.chance = random.Random(seed)
        self.assigned = [f"a{i}" for i in range(self.chance.randint(1, 4))]
        self.parameters = [f"p{i}" for i in range(self.chance.randint(1, 3))]
        self.states = [f"s{i}" for i in range(self.chance.randint(0, 2))]
        self.calls_function = self.chance.random() < 0.7
        self.calls_procedure = self.chance.random() < 0.7
        self.reads_states = self.chance.random() < 0.5
        self.is_plain = seed % 2 == 0
        if self.is_plain:
            self.states = self.states or ["s0"]
            self.reads_states = False

    def text(self) -> str:
        """Return it."""
        chance = self.chance
        parts = [f"NEURON {{ SUFFIX fuzz_{self.seed} NONSPECIFIC_CURRENT i RANGE {', '.join(self.parameters)} }}"]
        values = " ".join(f"{name} = {chance.uniform(-1.0, 1.0):.3g}" for name in self.parameters)
        parts += [f"PARAMETER {{ {values} }}", f"ASSIGNED {{ v (mV) i (mA/cm2) {' '.join(self.assigned)} }}"]
        parts += [f"STATE {{ {' '.join(self.states)} }}"] if self.states else []
        parts += self._blocks()
        if self.calls_procedure:
            self.set.clear()
            self.calls_procedure = False
            parts.append(f"PROCEDURE p(y) {{\n{self.statements(['y'], 2)}}}")
        if self.calls_function:
            self.set.clear()
            self.calls_function = False
            statements = self.statements(["y"], 1)
            parts.append(f"FUNCTION f(y) {{\n{statements}    f = {self.value(['y'], 1)}\n}}")
        return "\n".join(parts) + "\n"

    def _blocks(self) -> list[str]:
        chance = self.chance
        initial = self.statements([], chance.randint(0, 3))
        starts = "".join(f"    {name} = {self.value([], 1)}\n" for name in self.states if chance.random() < 0.8)
        self.set.clear()
        before = self.statements([], chance.randint(0, 2))
        solve = "    SOLVE d METHOD cnexp\n" if self.states else ""
        after = self.statements([], chance.randint(0, 2), has_local=False)
        conductance = f"0.0002*(1.5 + {self.chance.choice(self.states) if self.is_plain else self.bounded([])})"
        breakpoint_ = f"BREAKPOINT {{\n{before}{solve}{after}    i = {conductance}*(v + {chance.randint(20, 60)})\n}}"
        made = [f"INITIAL {{\n{initial}{starts}}}", breakpoint_]
        chance.shuffle(made)
        self.set.clear()
        if self.states:
            statements = self.statements([], chance.randint(0, 3))
            equations = "".join(self._equation(name) for name in self.states)
            made.append(f"DERIVATIVE d {{\n{statements}{equations}}}")
        return made

    def _equation(self, name: str) -> str:
        # An equation that is not linear in its state would be solved by another method.
        states, self.states = self.states, [each for each in self.states if each != name]
        one, two = (
            f"{name}' = ({self.bounded([])} + 0.2*{self.value([], 0)} - {name})/{self.chance.randint(2, 30)}"
            for _ in range(2)
        )
        self.states = states
        # What is solved otherwise, since equations read states, has one equation of each.
        match 5 if self.reads_states else self.chance.randint(0, 5):
            case 0:
                return f"    if ({self.condition([])}) {{ {one} }} else {{ {two} }}\n"
            case 1:
                return f"    if ({self.condition([])}) {{ {one} }}\n"
        return f"    {one}\n"

    # ---- statements and expressions; `local` are names that stand for something in the block -------------------------

    def statements(self, local: list[str], count: int, depth: int = 0, has_local: bool = True) -> str:
        """Return lines of a block; their LOCAL names are not known after it."""
        chance = self.chance
        known = list(local)
        made = ""
        indent = "    " * (depth + 1)
        if has_local and chance.random() < 0.3 and count > 0:
            name = chance.choice([f"l{depth}", "l0"])
            made += f"{indent}LOCAL {name}\n{indent}{name} = {self.value(known, 1)}\n"
            known.append(name)
        for _ in range(count):
            kind = chance.randint(0, 9)
            if kind == 0 and self.calls_procedure:
                made += f"{indent}p({self.value(known, 1)})\n"
            elif kind in (1, 2, 3) and depth < 2:
                before = set(self.set)
                made += f"{indent}if ({self.condition(known)}) {{\n"
                made += self.statements(known, chance.randint(1, 2), depth + 1) + f"{indent}}}"
                one, self.set = self.set, set(before)
                if chance.random() < 0.5:
                    inner = self.statements(known, chance.randint(1, 2), depth + 1)
                    made += f" else {{\n{inner}{indent}}}"
                self.set &= one
                made += "\n"
            else:
                name = chance.choice([*self.assigned, *known])
                made += f"{indent}{name} = {self.value(known, 2)}\n"
                self.set.add(name)
        return made

    def value(self, local: list[str], depth: int) -> str:
        """Return an expression, at most about 1."""
        chance = self.chance
        if depth == 0:
            assigned = self.assigned if self.has_memory else [each for each in self.assigned if each in self.set]
            states = self.states if self.reads_states else []
            names = [*assigned, *self.parameters, *states, *local]
            number = f"{chance.uniform(-1.0, 1.0):.2g}"
            others = [number, number, "v/90"] if self.is_plain else [number, number, "v/90", "dt"]
            return chance.choice([*names, *names, *others])
        a, b = self.value(local, depth - 1), self.value(local, depth - 1)
        match chance.randint(0, 5):
            case 0 if self.calls_function:
                return f"(0.8*f({a}))"
            case 1:
                return f"(0.6*({a}) - 0.3*{b})"
            case 2:
                return f"(0.5*({a})*({b}))"
            case 3:
                return f"tanh({a} + {b})"
        return f"(0.4*({a}) + 0.5*({b}))"

    def bounded(self, local: list[str]) -> str:
        """Return an expression between 0 and 1."""
        return f"1/(1 + exp(-2*{self.value(local, 2)} - (v + {self.chance.randint(30, 70)})/12))"

    def condition(self, local: list[str]) -> str:
        """Return a truth."""
        chance = self.chance
        # Not an initial potential: NEURON takes slopes of currents between v and v + 0.001 mV.
        one = f"v > {chance.randint(-70, -30)}.3"
        two = f"{self.value(local, 1)} < {chance.uniform(-0.5, 0.5):.2g}"
        return chance.choice([one, one, two, f"{one} && {two}", f"{two} || {one}"])
