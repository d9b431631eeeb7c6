"""Random scripts that build cells, some of them of hostile values: each runs, or is refused with a typed error.

What is built runs a few steps with finite potentials, and a copy by way of pickle does the same.
"""

from __future__ import annotations

import math
import pickle
import random
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import ranvier as rv
from fuzz_expressions import HOSTILE, Drawing
from fuzz_processes import Fault

__all__ = ["draw_script", "judge", "run_script"]

# Counts of compartments that are possible, but take long, are not drawn; nor what stands for parts of networks.
_NAMES = ("net", "other", "p0", "p0[:0]", "foreign", "sim", "c0", "r0", "rv", "object()")
_OWN = [
    *("rv.at(0)", "rv.at(99)", "rv.pas()", "rv.expsyn()", "('soma', rv.hh())", "(rv.at(0), 'm of hh')", "1e-7", "1e9"),
    *(
        "'m of hh'",
        "'soma'",
        "'exc'",
        "rv.tagged(9)",
        "rv.sections([7])",
        "~rv.tagged(1)",
        "rv.current_clamp(amplitude=1.0)",
    ),
    *("lambda d: d * nan", "lambda d: d[:1]", "lambda d: None", "lambda d: 'x'", "lambda d: -d", "lambda d: d[None]"),
    *("rv.max_length(30.0)", "rv.Section(length=1.0, diameter=1.0)", "np.array([0.0, inf])", "0.5", "-70.0", "100.0"),
]
_HOSTILE = [each for each in HOSTILE if each not in _NAMES] + _OWN
_RESOLUTION = 0.025
_STEPS = 5


class _Parts(Drawing):
    """Draws parts of cells."""

    def __init__(self, chance: random.Random) -> None:
        super().__init__(chance, {})
        self.share = chance.choice([0.0, 0.01, 0.03])
        self.sections = chance.choice([1, 1, 2, 3, 5])

    def value(self, expression: str, hostile: list[str] = _HOSTILE) -> str:
        return self.chance.choice(hostile) if self.chance.random() < self.share else expression

    def section(self, i: int) -> str:
        length, diameter = (repr(round(self.chance.uniform(*ends), 2)) for ends in ((5.0, 200.0), (0.5, 9.0)))
        keywords = {"tag": self.one("'basal'", "'axon'", "'apical'", "3", "7") if i else "'soma'"}
        if i:
            keywords["parent"] = str(self.chance.randrange(i))
            keywords |= self.some({"parent_position": self.one("0.0", "0.5", "1.0", "0.37")}, 0.4)
        if self.chance.random() < 0.2:
            return self.call("rv.Section", points=f"[[0, 0, 0, {diameter}], [0, {length}, 0, 1.0]]", **keywords)
        keywords |= self.some({"end_diameter": "0.7"})
        return self.call("rv.Section", length=length, diameter=diameter, **keywords)

    def place(self) -> str:
        return self.call("rv.at", str(self.chance.randrange(self.sections)), self.one("0.0", "0.5", "1.0", "0.21"))

    def region(self) -> str:
        return self.one(
            *("'all'", "'all'", "'soma'", "rv.tagged(1, 3)", "rv.sections([0])", "rv.within_distance(0.0, 50.0)"),
            *("~rv.tagged(8)", "rv.tagged(1) | rv.tagged(3)", "rv.as_region('soma') - rv.tagged(2)", "'dendrites'"),
        ).replace("rv.as_region('soma')", "rv.tagged('soma')")

    def membrane(self) -> str:
        density = self.one("0.01", "1e-4", "lambda d: 0.01 / (1.0 + d)", "lambda d: np.full(len(d), 0.001)")
        painted = [f"('all', {self.call('rv.pas', **self.some({'g': '1e-4', 'e': '-65.0'}))})"]
        for _ in range(self.chance.choice([0, 1, 1, 2])):
            name = self.one("hh", "na_transient", "k_fast", "h_current", "m_current", "k_persistent", "na_persistent")
            keyword = "gnabar" if name == "hh" else "gbar"
            painted.append(
                f"({self.value(self.region())}, {self.call(f'rv.{name}', **self.some({keyword: density}, 0.5))})"
            )
        if self.chance.random() < 0.2:
            keywords = self.some({"gamma": "0.05", "depth": "0.1", "decay": "80.0"})
            painted += [f"('soma', {self.call('rv.calcium_pool', **keywords)})", "('soma', rv.ca_hva(gbar=1e-4))"]
            painted += ["('soma', rv.sk_current(gbar=1e-3))"]
        return f"[{', '.join(painted)}]"

    def receptors(self) -> str:
        kind = self.one("expsyn", "exp2syn", "nmda")
        keywords = self.some({"tau": "2.0", "e": "0.0"} if kind == "expsyn" else {"e": "-5.0"})
        several = f"[{', '.join(self.place() for _ in range(self.chance.randrange(1, 5)))}]"
        places = self.one(self.place(), several, self.value(self.region()))
        return f"{{'exc': ({self.call(f'rv.{kind}', **keywords)}, {places})}}"

    def clamps(self) -> str:
        if self.chance.random() < 0.5:
            clamp = self.call("rv.current_clamp", amplitude="[50.0, -20.0]", duration="[0.05, inf]", start="0.03")
        else:
            clamp = self.call("rv.voltage_clamp", level="[-60.0, -70.0]", duration="[0.05, 0.05]", resistance="10.0")
        return f"{{'pulse': ({clamp}, {self.place()})}}"

    def cell(self) -> str:
        probe = self.one(
            f"({self.place()}, 'i_axial')",
            f"({self.place()}, 'i of pas')",
            self.place(),
            "'exc'",
            "'exc[0]'",
            "'i of exc[1]'",
        )
        counts = self.one("1", "3", "rv.max_length(20.0)", "rv.d_lambda(0.1)", f"[2] * {self.sections}")
        optional = {"clamps": self.clamps(), "probes": f"{{'a': {probe}, 'b': {self.value(self.place())}}}"}
        optional |= {"detector": self.place(), "electrode": self.place(), "threshold": "-20.0", "C_m": "0.9"}
        optional |= {"R_a": "150.0", "celsius": "20.0", "V_init": "-70.0", "rates": "'exact'"}
        optional |= {"scheme": "'staggered'", "name": "'c'"}
        keywords = {"compartments": counts, "membrane": self.membrane(), "receptors": self.receptors()}
        return self.call("rv.Cell", "tree", **keywords, **self.some(optional, 0.3))


def draw_script(chance: random.Random) -> list[str]:
    """Return the lines of a script that builds a cell and a network of it."""
    draw = _Parts(chance)
    lines = [f"s{i} = {draw.section(i)}" for i in range(draw.sections)]
    lines.append(f"tree = {draw.call('rv.Morphology', '[' + ', '.join(f's{i}' for i in range(draw.sections)) + ']')}")
    lines += [f"cell = {draw.cell()}", f"net = rv.Network(resolution={_RESOLUTION}, seed=1)"]
    values = draw.some({"I_e": "100.0", "V_m": draw.one("-60.0", "rv.Normal(-65.0, 2.0)", "[-60.0, -61.0]")}, 0.3)
    lines.append(f"cells = {draw.call('net.create', 'cell', '2', **values)}")
    lines.append("points = net.create_spike_generators([[0.025], [0.05]])")
    keywords = {"weight": draw.one("1.0", "0.0", "30.0", "rv.Uniform(0.5, 2.0)"), "delay": "0.025"}
    rule = draw.one("rv.OneToOne()", "rv.AllToAll()", "rv.FixedIndegree(3)")
    keywords |= draw.some({"site": draw.one("0", "1", "[0, 1]", "rv.SiteProbabilities([0.5, 1.0])")}, 0.3)
    lines.append(draw.call("net.connect", "points", "cells", rule, receptor="'exc'", **keywords))
    if chance.random() < 0.3:
        lines.append(draw.call("net.stimulate", "cells", "rv.dc_generator(amplitude=20.0)"))
    variables = draw.one("'V_m'", "['V_m', 'a']", "['V_m', 'b']", "list(cell.variables)")
    lines.append(f"states = {draw.call('net.record_state', 'cells', variables, interval=str(_RESOLUTION))}")
    return lines


def run_script(lines: list[str], *, copied: bool = False) -> dict[str, Any]:
    """Run the lines, and a few steps of what they describe; return the names."""
    names: dict[str, Any] = {"rv": rv, "np": np, "nan": math.nan, "inf": math.inf, "pickle": pickle}
    for module in ("decimal", "fractions"):
        names[module] = __import__(module)
    for line in lines:
        exec(compile(line, "<script>", "exec"), names)
        if copied and line.startswith("cell = "):
            names["cell"] = pickle.loads(pickle.dumps(names["cell"]))
    sim = rv.Simulation(names["net"], threads=1, progress=False)
    sim.run(_STEPS * _RESOLUTION)
    names["values"] = sim.state(names["states"]).values
    return names


def judge(seed: int, folder: Path) -> str:
    """Run a script; return ``"cell"``, ``"refused"`` or ``"stopped"``."""
    del folder
    lines = draw_script(random.Random(seed))
    script = "\n".join(lines)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            values = run_script(lines)["values"]
        except rv.errors.RanvierError as error:
            told = error.object and (error.bound or error.remedy) and str(error).isprintable()
            if not told:
                raise Fault(f"{type(error).__name__} that tells too little", error, script) from None
            return "refused" if not isinstance(error, rv.errors.StateError) else "stopped"
        except Exception as error:
            if _is_of_script(error):
                return "refused"
            raise Fault(f"{type(error).__name__} instead of a typed error in {_place(error)}", error, script) from None
    if not np.isfinite(values).all():
        raise Fault("values that are no numbers", script)
    if seed % 4 == 0 and "lambda" not in script:
        again = run_script(lines, copied=True)["values"]
        if not np.array_equal(values, again):
            raise Fault("a copy does something else", script)
    return "cell"


def _is_of_script(error: Exception) -> bool:
    """Whether an error is one of the script itself: a wrong keyword, an array of its own."""
    trace = error.__traceback__
    while trace is not None and trace.tb_next is not None:
        trace = trace.tb_next
    return trace is not None and trace.tb_frame.f_code.co_filename == "<script>"


def _place(error: Exception) -> str:
    trace, names = error.__traceback__, []
    while trace is not None:
        names.append(trace.tb_frame.f_code.co_name)
        trace = trace.tb_next
    return " > ".join(names[-3:])
