"""Random scripts that build cells, some of them of hostile values: each runs, or is refused with a typed error.

What is built runs a few steps with finite potentials, and a copy by way of pickle does the same. So does a cell with
numbers in place of the values that each cell has, and a simulation that is not told what it refuses.
"""

from __future__ import annotations

import math
import pickle
import random
import re
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
    *("rv.per_cell('h', 1.0)", "rv.per_cell('h', nan)", "rv.per_cell('h', -1.0, 2.0)", "rv.per_cell('h', 1e300)"),
    *("rv.per_cell('h', inf, [1.0, 2.0])", "rv.per_cell('h', 1.0, lambda d: d)", "rv.per_cell('step', 1.0)"),
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
        self.own: dict[str, str] = {}
        self.owns = chance.random() < 0.5
        self.is_stimulated = False

    def each(self, number: str) -> str:
        """Return a number, or a value for each cell with this default."""
        if not self.owns or self.chance.random() < 0.5:
            return number
        name = f"o{len(self.own)}"
        self.own[name] = number
        return f"rv.per_cell('{name}', {number})"

    def own_values(self) -> dict[str, str]:
        """Return other values for some of what each cell has, most of them possible."""
        factors = ("1.0", "1.5", "0.7", "np.array([1.0, 1.2])", "np.array([0.9, 1.0])")
        return self.some({name: f"{number} * {self.one(*factors)}" for name, number in self.own.items()}, 0.4)

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
        leak = self.some({"g": self.each("1e-4"), "e": self.each("-65.0")})
        painted = [f"('all', {self.call('rv.pas', **leak)})"]
        for _ in range(self.chance.choice([0, 1, 1, 2])):
            name = self.one("hh", "na_transient", "k_fast", "h_current", "m_current", "k_persistent", "na_persistent")
            keyword = "gnabar" if name == "hh" else "gbar"
            made = self.call(f"rv.{name}", **self.some({keyword: density}, 0.5))
            if self.chance.random() < 0.2:
                made = f"{self.channel()}({self.one('', f'g={density}', 'E=-80.0', 'tau=3.0')})"
            painted.append(f"({self.value(self.region())}, {made})")
        if self.chance.random() < 0.2:
            keywords = self.some({"gamma": "0.05", "depth": self.each("0.1"), "decay": self.each("80.0")})
            painted += [f"('soma', {self.call('rv.calcium_pool', **keywords)})", "('soma', rv.ca_hva(gbar=1e-4))"]
            painted += ["('soma', rv.sk_current(gbar=1e-3))"]
        return f"[{', '.join(painted)}]"

    def channel(self) -> str:
        """Return a channel of equations."""
        gate = self.one(
            "(0.4 - n)/tau",
            "1/tau*(1 - n) - n/tau*exp(-v/(20*mV))",
            "(exp(v/(30*mV)) - n)/tau",
            "n/tau",
            "(1/(1 + cai/uM) - n)/tau",
        )
        plain = [f"{each} : mA/cm**2" for each in ("g*n*(v - E)", "g*n**2*(v - E) + g*(v - E)", "g*n*v*v/mV", "g*n*E")]
        current = self.one(*plain, "g*n*(v - eca) : mA/cm**2 (calcium)")
        parameters = "dict(g='1 mS/cm**2', E='-70 mV', tau='2 ms')"
        text = f"i = {current}\ndn/dt = {gate} : 1"
        return self.call("rv.channel", repr(text), parameters=parameters, initial=self.one("None", "{'n': 0.1}"))

    def receptors(self) -> str:
        kind = self.one("expsyn", "exp2syn", "nmda")
        rise = {"e": self.each("-5.0"), "tau_rise": self.each("0.4"), "tau_decay": self.each("1.1")}
        keywords = self.some({"tau": self.each("2.0"), "e": self.each("0.5")} if kind == "expsyn" else rise)
        several = f"[{', '.join(self.place() for _ in range(self.chance.randrange(1, 5)))}]"
        places = self.one(self.place(), several, self.value(self.region()))
        return f"{{'exc': ({self.call(f'rv.{kind}', **keywords)}, {places})}}"

    def clamps(self) -> str:
        if self.chance.random() < 0.5:
            amplitudes = f"[{self.each('50.0')}, {self.each('-20.0')}]"
            durations = f"[{self.each('0.05')}, inf]"
            clamp = self.call("rv.current_clamp", amplitude=amplitudes, duration=durations, start=self.each("0.03"))
        else:
            levels, resistance = f"[{self.each('-60.0')}, -70.0]", self.each("10.0")
            clamp = self.call("rv.voltage_clamp", level=levels, duration="[0.05, 0.05]", resistance=resistance)
        return f"{{'pulse': ({clamp}, {self.place()})}}"

    def electrodes(self) -> str:
        return f"{{'a': {self.place()}, 'b': {self.place()}}}"

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
        probes = {"probes": f"{{'a': {probe}, 'b': {self.value(self.place())}}}"}
        optional = {"clamps": self.clamps()}
        optional |= {"detector": self.place(), "threshold": self.each("-20.0"), "C_m": self.each("0.9")}
        optional |= {"R_a": self.each("150.0"), "V_init": self.each("-70.0"), "rates": "'exact'"}
        optional |= {"scheme": "'staggered'", "name": "'c'"}
        optional |= {"t_ref": self.one("2.0", "0.01"), "separate_sites": "True"}
        optional |= {"electrodes": self.electrodes()} if self.chance.random() < 0.7 else {"electrode": self.place()}
        keywords = {"compartments": counts, "membrane": self.membrane(), "receptors": self.receptors()}
        # Most mechanisms refuse a cell without a temperature, and most recorders one without these probes.
        keywords |= self.some({"celsius": "20.0", **probes}, 0.95)
        cell = self.call("rv.Cell", "tree", **keywords, **self.some(optional, 0.3))
        # Of what was drawn, but left out, there are no values.
        self.own = {name: number for name, number in self.own.items() if f"'{name}'" in cell}
        return cell

    def action(self) -> str:
        """Return what is done while the simulation runs."""
        kind = self.chance.choice(["set", "set", "run", "again"] + ["stimulus"] * self.is_stimulated)
        if kind == "again":
            return "sim = again(sim)"
        if kind == "run":
            return f"sim.run({_RESOLUTION})"
        if kind == "stimulus":
            return self.call("sim.set", "net.stimuli[0]", amplitude=self.one("30.0", "-5.0"))
        values = self.own_values() | self.some({"I_e": "40.0", "V_m": "-63.0"}, 0.3)
        if self.chance.random() < 0.3 and self.own:
            wrong = (
                "nan",
                "inf",
                "-inf",
                "1e300",
                "-1e300",
                "'1'",
                "True",
                "None",
                "[1.0, 2.0, 3.0]",
                "np.ones((2, 1))",
            )
            values[self.chance.choice(list(self.own))] = self.chance.choice(wrong)
        return self.call("sim.set", self.one("cells", "cells", "cells[:1]", "cells[5:]"), **values)


def draw_script(chance: random.Random) -> list[str]:
    """Return the lines of a script that builds a cell and a network of it."""
    draw = _Parts(chance)
    lines = [f"s{i} = {draw.section(i)}" for i in range(draw.sections)]
    lines.append(f"tree = {draw.call('rv.Morphology', '[' + ', '.join(f's{i}' for i in range(draw.sections)) + ']')}")
    lines += [f"cell = {draw.cell()}", f"net = rv.Network(resolution={_RESOLUTION}, seed=1)"]
    values = draw.some({"I_e": "100.0", "V_m": draw.one("-60.0", "rv.Normal(-65.0, 2.0)", "[-60.0, -61.0]")}, 0.3)
    own = draw.own_values()
    lines.append(f"own = dict({', '.join(f'{name}={draw.value(value)}' for name, value in own.items())})")
    size = draw.one("2", "2", "9")
    lines.append(f"cells = {draw.call('net.create', 'cell', size, **values)[:-1]}, **own)")
    lines.append("points = net.create_spike_generators([[0.025], [0.05]])")
    keywords = {"weight": draw.one("1.0", "0.0", "30.0", "rv.Uniform(0.5, 2.0)"), "delay": "0.025"}
    rule = draw.one("rv.OneToOne()", "rv.AllToAll()", "rv.FixedIndegree(3)")
    keywords |= draw.some({"site": draw.one("0", "1", "[0, 1]", "rv.SiteProbabilities([0.5, 1.0])")}, 0.3)
    lines.append(draw.call("net.connect", "points", "cells", rule, receptor="'exc'", **keywords))
    if chance.random() < 0.3:
        draw.is_stimulated = True
        electrode = draw.some({"electrode": draw.one("'a'", "'b'")})
        lines.append(draw.call("net.stimulate", "cells", "rv.dc_generator(amplitude=20.0)", **electrode))
    variables = draw.one("'V_m'", "['V_m', 'a']", "['V_m', 'b']", "list(cell.variables)")
    lines.append(f"states = {draw.call('net.record_state', 'cells', variables, interval=str(_RESOLUTION))}")
    return lines + [draw.action() for _ in range(chance.choice([0, 1, 3, 5]))]


def run_script(lines: list[str], folder: Path, *, copied: bool = False) -> dict[str, Any]:
    """Run the lines, and a few steps of what they describe; return the names.

    Among these are the last ``values`` that were recorded, and what was ``refused`` of what is done between steps.
    """
    names: dict[str, Any] = {"rv": rv, "np": np, "nan": math.nan, "inf": math.inf, "pickle": pickle}
    for module in ("decimal", "fractions"):
        names[module] = __import__(module)

    def again(sim: rv.Simulation) -> rv.Simulation:
        sim.save(folder / "state.h5")
        return rv.Simulation.load(names["net"], folder / "state.h5", threads=2, progress=False)

    actions = [line for line in lines if line.startswith("sim")]
    for line in lines[: len(lines) - len(actions)]:
        exec(compile(line, "<script>", "exec"), names)
        if copied and line.startswith("cell = "):
            names["cell"] = pickle.loads(pickle.dumps(names["cell"]))
    names |= {"again": again, "refused": [], "sim": rv.Simulation(names["net"], threads=1, progress=False)}
    names["sim"].run(_STEPS * _RESOLUTION)
    for line in actions:
        try:
            exec(compile(line, "<script>", "exec"), names)
        except rv.errors.RanvierError as error:
            _check_told(error, "\n".join(lines))
            names["refused"].append(line)
    names["sim"].run(_STEPS * _RESOLUTION)
    values = names["sim"].state(names["states"]).values
    # An interval may be longer than the run.
    names["values"] = values[-1] if len(values) > 0 else values
    return names


def _check_told(error: rv.errors.RanvierError, script: str) -> None:
    # Errors of equations show the line, with marks below it.
    text = str(error).replace("\n", "") if isinstance(error, rv.errors.EquationError) else str(error)
    told = error.object and (error.bound or error.remedy) and text.isprintable()
    if not told:
        raise Fault(f"{type(error).__name__} that tells too little", error, script) from None


def judge(seed: int, folder: Path) -> str:
    """Run a script; return ``"cell"``, ``"refused"`` or ``"stopped"``."""
    lines = draw_script(random.Random(seed))
    script = "\n".join(lines)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        try:
            names = run_script(lines, folder)
        except rv.errors.RanvierError as error:
            _check_told(error, script)
            return "refused" if not isinstance(error, rv.errors.StateError) else "stopped"
        except Exception as error:
            if _is_of_script(error):
                return "refused"
            raise Fault(f"{type(error).__name__} instead of a typed error in {_place(error)}", error, script) from None
    values = names["values"]
    if not np.isfinite(values).all():
        raise Fault("values that are no numbers", script)
    if seed % 4 == 0 and "lambda" not in script:
        again = run_script(lines, folder, copied=True)["values"]
        if not np.array_equal(values, again):
            raise Fault("a copy does something else", script)
    if names["refused"]:
        accepted = [line for line in lines if line not in names["refused"]]
        if not np.array_equal(values, run_script(accepted, folder)["values"]):
            raise Fault("what was refused has changed something", script)
    if seed % 4 == 1:
        _compare_with_numbers(lines, folder)
    return "cell"


def _compare_with_numbers(lines: list[str], folder: Path) -> None:
    """Hold values of each cell against the same numbers in their place."""
    defaults = ["own = {}" if line.startswith("own") else line for line in lines if not line.startswith("sim")]
    numbers = [re.sub(r"rv\.per_cell\('o\d+', ([^()]*)\)", r"\1", line) for line in defaults]
    if numbers == defaults:
        return
    try:
        found, expected = (run_script(each, folder)["values"] for each in (defaults, numbers))
    except rv.errors.RanvierError:
        # One of the values that are left out made what is hostile possible.
        return
    if not np.array_equal(found, expected):
        raise Fault("values of each cell are not what numbers are", "\n".join(defaults))


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
