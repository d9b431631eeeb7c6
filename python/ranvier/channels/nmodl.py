"""Reads channels from NMODL files."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from os import PathLike
from typing import Any, TypeAlias

from ranvier.base.paths import checked_path, read_bounded
from ranvier.channels.channel import EquationChannel
from ranvier.channels.description import (
    CALCIUM,
    CALCIUM_REVERSAL,
    CARRIED,
    CURRENT,
    POTENTIAL,
    TEMPERATURE,
    ChannelDescription,
    reversal_of_calcium,
)
from ranvier.channels.nmodl_execution import Execution, Routine, Solved, place_of
from ranvier.channels.nmodl_syntax import parse_file
from ranvier.channels.reading import checked
from ranvier.equations.description import Declared, Equation, Parameter
from ranvier.equations.places import Place, Source, refuse
from ranvier.equations.trees import Node, names_in
from ranvier.equations.units import NONE, Unit, read_quantity
from ranvier.errors import EquationError

__all__ = ["read_nmodl"]

_LARGEST = 1 << 20
_REVERSAL = {"na": 50.0, "k": -77.0}
"""Of ions, mV, where a file gives none: those of built-in mechanisms."""
_CALCIUM_CURRENT = "ica"
_NUMBER = Unit(NONE, 0, "")
Equations: TypeAlias = dict[str, Equation]
_READERS = {"initial": "_initial_statements"}


def read_nmodl(path: str | PathLike[str]) -> EquationChannel:
    """Read a channel from an NMODL file (``.mod``) of a density mechanism: one with ``SUFFIX``.

    What is read: the blocks NEURON, PARAMETER, CONSTANT, ASSIGNED, STATE, INITIAL, BREAKPOINT, DERIVATIVE, PROCEDURE
    and FUNCTION, with assignments, calls, LOCAL and IF. States are gates that are linear in themselves, solved with
    ``METHOD cnexp``; currents are linear in ``v``, as those of `channel`. Anything else is an error with its line.

    Parameters
    ----------
    path
        The file.

    Returns
    -------
    EquationChannel
        The channel, with the name after SUFFIX, as from `channel`. Parameters are those of the file, with their
        defaults, and the reversal potentials of its ions (``ena``, ``ek``, mV): Ranvier has no ions that mechanisms
        share, so that each has its own. Where the file gives no number, they are 50 and -77 mV for ``na`` and ``k``.
        ``i`` is the sum of all currents, each of which can be recorded by its name. Of calcium, ``cai`` (mM) and
        ``eca`` are those of the `calcium_pool` at the place, which ``ica`` fills: see `channel`. Numbers that the file
        gives to them are not used.

    Raises
    ------
    FileError
        When the file cannot be read.
    EquationError, UnknownSymbolError
        For what is not read; the error shows the line and the place.
    MissingPackageError
        When Lark is not installed: ``pip install 'ranvier[nmodl]'``.

    Notes
    -----
    Units are those of the language: mV, ms, S/cm2, mA/cm2; factors of others must stand in the file, as they do for
    NEURON. TABLE is left out: rates come from tables of Ranvier, with a bounded error, for each step and temperature.
    RANGE and GLOBAL are left out: each place where a mechanism is has its own parameters. Bounds behind parameters
    (``<0, 1e9>``) hold.

    Examples
    --------
    >>> k_slow = rv.read_nmodl("k_slow.mod")
    >>> cell = rv.Cell(morphology, membrane=[("all", rv.pas()), ("soma", k_slow(gbar=0.01))])
    """
    file = checked_path(path, "path of an NMODL file")
    data = read_bounded(file, _LARGEST)
    source = Source(f"file {file}", data.decode(errors="replace").replace("\r\n", "\n"))
    return EquationChannel(checked(_File(source).description()))


@dataclass
class _Blocks:
    """What the blocks of a file declare."""

    name: Any = None
    currents: list[Any] = field(default_factory=list)
    of_calcium: set[str] = field(default_factory=set)
    reversals: dict[str, tuple[str, Place]] = field(default_factory=dict)
    parameters: dict[str, Parameter] = field(default_factory=dict)
    constants: dict[str, Node] = field(default_factory=dict)
    units: dict[str, tuple[str, Place]] = field(default_factory=dict)
    assigned: list[str] = field(default_factory=list)
    states: dict[str, Place] = field(default_factory=dict)
    routines: dict[str, Routine] = field(default_factory=dict)
    derivatives: dict[str, Any] = field(default_factory=dict)
    initial: list[Any] = field(default_factory=list)
    breakpoint: Any = None


class _File:
    """Makes a description of a file."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.whole = Place(source, 0, max(1, len(source.text.split("\n")[0])))
        self.blocks = _Blocks()
        for block in parse_file(source).children:
            getattr(self, _READERS.get(str(block.data), f"_{block.data}"))(block)

    def description(self) -> ChannelDescription:
        """Return it."""
        blocks = self.blocks
        if blocks.name is None:
            refuse(
                self.whole, "", "there is no SUFFIX: only density mechanisms are read", "write NEURON { SUFFIX name }"
            )
        if blocks.breakpoint is None or not blocks.currents:
            refuse(self.whole, "", "there is no current", "write BREAKPOINT, and the current in NEURON")
        self._check_units()
        parameters = self._all_parameters()
        fixed = self._fixed(parameters)
        begin, left = self._begun(fixed)
        currents, gates = self._carried_out(fixed, left)
        # Gates begin at their steady states unless something else is said.
        initial = {n: each for n, each in begin.items() if not _is_same(each, _steady(gates[n].node, n))}
        names = [str(each) for each in blocks.currents]
        return ChannelDescription(
            name=str(blocks.name),
            summary=f"Mechanism of an NMODL file, {self.source.what.rpartition('/')[2].removeprefix('file ')}",
            text=self.source.text.strip(),
            reference="",
            gates=gates,
            subexpressions=currents | self._sum(names),
            parameters=parameters,
            initial=initial,
            has_units=False,
        )

    # ---- blocks ------------------------------------------------------------------------------------------------------

    def _place(self, part: Any) -> Place:
        return place_of(self.source, part)

    def _neuron(self, block: Any) -> None:
        for item in block.children:
            if item.data == "suffix":
                self.blocks.name = item.children[0]
            elif item.data == "nonspecific":
                self.blocks.currents += item.children[0].children
            elif item.data == "ion":
                self._ion(item)

    def _ion(self, item: Any) -> None:
        ion, reads, writes, valence = item.children[:4]
        if ion == "ca":
            self._calcium(reads, writes, valence)
            return
        for name in reads.children[0].children if reads else ():
            if name != f"e{ion}":
                refuse(self._place(name), f"'{name}'", "concentrations are not known", f"read e{ion}")
            self.blocks.reversals[str(name)] = (str(ion), self._place(name))
        for name in writes.children[0].children if writes else ():
            if name != f"i{ion}":
                refuse(self._place(name), f"'{name}'", "mechanisms change no concentrations", f"write i{ion}")
            self.blocks.currents.append(name)

    def _calcium(self, reads: Any, writes: Any, valence: Any) -> None:
        """Take what a file reads and writes of calcium, which is that of the pools."""
        if valence is not None and _number(valence) != 2.0:
            place = self._place(valence)
            refuse(place, f"'{place.text}'", "calcium has the valence 2", "leave VALENCE out")
        for name in reads.children[0].children if reads else ():
            if name not in (CALCIUM, CALCIUM_REVERSAL):
                bound = f"of calcium, {CALCIUM} and {CALCIUM_REVERSAL} are known"
                refuse(self._place(name), f"'{name}'", bound, "leave it out; rv.calcium_pool() gives both")
            self.blocks.of_calcium.add(str(name))
        for name in writes.children[0].children if writes else ():
            if name != _CALCIUM_CURRENT:
                bound = "only a pool changes concentrations"
                refuse(self._place(name), f"'{name}'", bound, f"see rv.calcium_pool(), or write {_CALCIUM_CURRENT}")
            self.blocks.of_calcium.add(str(name))
            self.blocks.currents.append(name)

    def _parameters(self, block: Any) -> None:
        for each in block.children:
            name, value, unit, low, high = each.children
            if unit is not None:
                self.blocks.units[str(name)] = (_unit_text(unit), self._place(unit))
            if value is None or name in (POTENTIAL, TEMPERATURE):
                # The temperature is that of the cell.
                self.blocks.assigned.append(str(name))
                continue
            lowest, highest = (-math.inf, math.inf) if low is None else (_number(low), _number(high))
            declared = Declared(_number(value), _unit(unit), lowest, highest)
            if not declared.contains(declared.default):
                refuse(self._place(each), f"'{self._place(each).text}'", "the value is outside its bounds")
            self.blocks.parameters[str(name)] = Parameter(str(name), declared)

    def _constants(self, block: Any) -> None:
        for each in block.children:
            name, value, *_ = each.children
            if value is None:
                refuse(self._place(each), f"'{name}'", "the constant has no value", f"write {name} = 1")
            self.blocks.constants[str(name)] = Node("number", self._place(each), number=_number(value))

    def _assigned(self, block: Any) -> None:
        for each in block.children:
            name, unit = each.children[0], each.children[-1]
            self.blocks.assigned.append(str(name))
            if unit is not None:
                self.blocks.units[str(name)] = (_unit_text(unit), self._place(unit))

    def _states(self, block: Any) -> None:
        self.blocks.states |= {str(each.children[0]): self._place(each.children[0]) for each in block.children}

    def _initial_statements(self, block: Any) -> None:
        self.blocks.initial += block.children

    def _breakpoint(self, block: Any) -> None:
        self.blocks.breakpoint = block

    def _derivative(self, block: Any) -> None:
        self.blocks.derivatives[str(block.children[0])] = block

    def _procedure(self, block: Any) -> None:
        name, arguments, _, *statements = block.children
        names = tuple(str(each.children[0]) for each in arguments.children if each is not None)
        self.blocks.routines[str(name)] = Routine(str(name), names, tuple(statements))

    _function = _procedure

    # ---- the mechanism -----------------------------------------------------------------------------------------------

    def _check_units(self) -> None:
        wanted = {POTENTIAL: ("mV", "millivolt"), TEMPERATURE: ("degC",)}
        wanted |= {str(name): ("mA/cm2", "milliamp/cm2") for name in self.blocks.currents}
        of_calcium = {CALCIUM: ("mM", "milli/liter"), CALCIUM_REVERSAL: ("mV", "millivolt")}
        wanted |= {name: units for name, units in of_calcium.items() if name in self.blocks.of_calcium}
        for name, units in wanted.items():
            unit, place = self.blocks.units.get(name, (units[0], self.whole))
            if unit not in units:
                remedy = "densities are per area of membrane" if units[0] == "mA/cm2" else f"write it in {units[0]}"
                refuse(place, f"'{name}' in {unit}", f"it must be in {units[0]}", remedy)

    def _all_parameters(self) -> dict[str, Parameter]:
        """Return parameters, with the reversal potentials of ions."""
        made = {name: each for name, each in self.blocks.parameters.items() if name not in self.blocks.of_calcium}
        if CALCIUM_REVERSAL in self.blocks.of_calcium:
            made[CALCIUM_REVERSAL] = reversal_of_calcium()
        for name, (ion, place) in self.blocks.reversals.items():
            if name in made:
                continue
            if ion not in _REVERSAL:
                refuse(place, f"'{name}'", "its value is not known", f"write PARAMETER {{ {name} = 0 (mV) }}")
            made[name] = Parameter(name, Declared(_REVERSAL[ion], read_quantity("", "1 mV").unit))
        return made

    def _fixed(self, parameters: Mapping[str, Parameter]) -> dict[str, Node]:
        names = [POTENTIAL, TEMPERATURE, *parameters, *self.blocks.states, *self.blocks.of_calcium & {CALCIUM}]
        return {name: Node("name", self.whole, name=name) for name in names}

    def _execution(self, fixed: Mapping[str, Node], values: Mapping[str, Node], states: list[str]) -> Execution:
        """Return what carries out a block; `states` are those that it may assign."""
        blocks = self.blocks
        names = {*blocks.assigned, *(str(each) for each in blocks.currents)} - set(fixed)
        known = {name: each for name, each in fixed.items() if name not in states}
        made = Execution(self.source, blocks.routines, known, frozenset({*names, *states}))
        made.values.update({**blocks.constants, **values})
        return made

    def _carried_out(self, fixed: Mapping[str, Node], values: Mapping[str, Node]) -> tuple[Equations, Equations]:
        """Return the currents and the gates; `values` are those that INITIAL has left."""
        blocks = self.blocks
        execution = self._execution(fixed, values, [])
        execution.run(blocks.breakpoint.children)
        currents = {}
        for name in blocks.currents:
            if str(name) not in execution.values:
                refuse(self._place(name), f"'{name}'", "BREAKPOINT gives it no value", f"write {name} = g*(v - e)")
            node = execution.values[str(name)]
            flags = frozenset([CARRIED] if name in self.blocks.of_calcium else [])
            currents[str(name)] = Equation(str(name), self._place(name), node, _NUMBER, False, "", flags)
        rates: dict[str, Node] = {}
        for solved in execution.solved:
            rates |= self._rates(fixed, solved)
        for name, place in blocks.states.items():
            if name not in rates:
                refuse(place, f"'{name}'", "no DERIVATIVE block that is solved has it", f"write {name}' = ...")
        gates = {n: Equation(n, place, rates[n], _NUMBER, True, "") for n, place in blocks.states.items()}
        return currents, gates

    def _rates(self, fixed: Mapping[str, Node], solved: Solved) -> dict[str, Node]:
        place, name = solved.place, solved.name
        if name not in self.blocks.derivatives:
            refuse(place, f"'{place.text}'", "there is no DERIVATIVE block of this name", "write one")
        if solved.method != "cnexp":
            refuse(place, f"'{place.text}'", "the method is another than cnexp", f"write SOLVE {name} METHOD cnexp")
        block = self.blocks.derivatives[name]
        execution = self._execution(fixed, solved.values, [])
        execution.run(block.children[1:])
        for other in execution.rates:
            if other not in self.blocks.states:
                refuse(self._place(block), f"{other}'", "it is no STATE", f"write STATE {{ {other} }}")
        return execution.rates

    def _begun(self, fixed: Mapping[str, Node]) -> tuple[dict[str, Node], dict[str, Node]]:
        """Return what states begin at, and what other names stand for after INITIAL if it does not change any more."""
        states = list(self.blocks.states)
        execution = self._execution(fixed, {}, states)
        execution.run(self.blocks.initial)
        begin = {name: execution.values.get(name, Node("number", self.whole)) for name in states}
        changing = {POTENTIAL, *(self.blocks.of_calcium & {CALCIUM}), *states}
        kept = {name: node for name, node in execution.values.items() if not changing & set(names_in(node))}
        return begin, {name: node for name, node in kept.items() if name not in states}

    def _sum(self, names: list[str]) -> dict[str, Equation]:
        """Return the whole current, as the sum of those with names."""
        if names == [CURRENT]:
            return {}
        if CURRENT in names:
            place = self._place(self.blocks.currents[names.index(CURRENT)])
            refuse(place, f"'{CURRENT}'", "it is the name of the sum of all currents", "choose another name")
        made = Node("name", self._place(self.blocks.currents[0]), name=names[0])
        for token in self.blocks.currents[1:]:
            place = self._place(token)
            made = Node("add", place, (made, Node("name", place, name=str(token))))
        return {CURRENT: Equation(CURRENT, made.place, made, _NUMBER, False, "")}


def _number(tree: Any) -> float:
    sign, value = tree.children
    return -float(value) if sign == "-" else float(value)


def _unit_text(token: Any) -> str:
    return str(token)[1:-1].replace(" ", "")


def _unit(token: Any) -> Unit:
    """Return a unit so that users may give texts such as ``0.1 S/cm**2``; what is not known is a number."""
    if token is None:
        return _NUMBER
    text = re.sub(r"([A-Za-z])(\d)", r"\1**\2", _unit_text(token).replace("mho", "S"))
    try:
        return read_quantity("", f"1 {text}").unit
    except EquationError:
        return _NUMBER


def _steady(node: Node | None, gate: str) -> Node | None:
    """Return x_inf of (x_inf - x)/tau; None for other forms."""
    if node is not None and node.kind == "divide" and node.parts[0].kind == "subtract":
        left, right = node.parts[0].parts
        if right.kind == "name" and right.name == gate:
            return left
    return None


def _is_same(one: Node, other: Node | None) -> bool:
    """Return whether two expressions calculate the same in the same way."""
    seen: set[tuple[int, int]] = set()
    waiting: list[tuple[Node, Node | None]] = [(one, other)]
    while waiting:
        a, b = waiting.pop()
        if b is None or (a.kind, a.number, a.name, len(a.parts)) != (b.kind, b.number, b.name, len(b.parts)):
            return False
        if (id(a), id(b)) not in seen:
            seen.add((id(a), id(b)))
            waiting += zip(a.parts, b.parts, strict=True)
    return True
