"""Declarations of the blocks of an NMODL file."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Any

from ranvier.channels.description import CALCIUM, CALCIUM_REVERSAL, POTENTIAL, TEMPERATURE
from ranvier.channels.nmodl_code import check_code
from ranvier.channels.nmodl_execution import Routine
from ranvier.channels.nmodl_ledger import Ledger, place_of
from ranvier.channels.nmodl_nodes import array_size, element_name
from ranvier.channels.nmodl_units import constant_of_nature
from ranvier.equations.description import Declared, Parameter
from ranvier.equations.places import Place, Source, refuse
from ranvier.equations.units import NONE, Unit, read_quantity
from ranvier.errors import EquationError

__all__ = ["NUMBER", "STEP", "TIME", "Declarations", "declarations_of"]

NUMBER = Unit(NONE, 0, "")
_CALCIUM_CURRENT = "ica"
_CALCIUM_OUTSIDE = "cao"
STEP, TIME = "dt", "t"
_PROVIDED = {
    TEMPERATURE: "it is the temperature of the cell",
    STEP: "it is the step of the simulation",
    TIME: "it is the time of the simulation",
    "diam": "it is the diameter of the compartment",
    "area": "it is the surface of the compartment",
}
_OF_THE_ION = "the ion has this value"


@dataclass
class Declarations:
    """The declarations of a file.

    Attributes
    ----------
    is_point_process
        Whether it is a receptor, whose currents are in nA, rather than a mechanism of the membrane.
    received
        The block NET_RECEIVE.
    currents
        Names of currents, with their places.
    carried
        Currents that calcium carries.
    of_electrodes
        Currents into the cell.
    of_other_ions
        Reversal potentials and concentrations that are read of ions other than calcium, with ion and place.
    of_calcium
        Variables of calcium that are read or written.
    written
        Concentrations that are written, with their places.
    parameters
        With their values in the file.
    memory
        Names that statements may assign, in the order of the file: they keep their values from call to call.
    constants
        Named numbers that cannot be assigned.
    places
        Places of the declarations of names.
    units
        Units of names, as texts, with their places.
    """

    source: Source
    whole: Place
    name: Any = None
    is_point_process: bool = False
    currents: dict[str, Place] = field(default_factory=dict)
    carried: set[str] = field(default_factory=set)
    of_electrodes: set[str] = field(default_factory=set)
    of_other_ions: dict[str, tuple[str, Place]] = field(default_factory=dict)
    of_calcium: set[str] = field(default_factory=set)
    written: dict[str, Place] = field(default_factory=dict)
    parameters: dict[str, Parameter] = field(default_factory=dict)
    memory: list[str] = field(default_factory=list)
    states: dict[str, Place] = field(default_factory=dict)
    starts: dict[str, float] = field(default_factory=dict)
    constants: dict[str, float] = field(default_factory=dict)
    arrays: dict[str, int] = field(default_factory=dict)
    routines: dict[str, Routine] = field(default_factory=dict)
    derivatives: dict[str, Any] = field(default_factory=dict)
    kinetics: dict[str, Any] = field(default_factory=dict)
    systems: dict[str, Any] = field(default_factory=dict)
    initial: Any = None
    breakpoint: Any = None
    received: Any = None
    places: dict[str, Place] = field(default_factory=dict)
    units: dict[str, tuple[str, Place]] = field(default_factory=dict)
    parts: dict[str, Any] = field(default_factory=dict)
    assigned: frozenset[str] = frozenset()
    with_equations: frozenset[str] = frozenset()

    @staticmethod
    def whole_of(source: Source) -> Place:
        """Return the place of a whole file."""
        return Place(source, 0, max(1, len(source.text.split("\n")[0])))

    @property
    def external(self) -> frozenset[str]:
        """Names that other mechanisms change: the concentration of calcium and the values that depend on it."""
        return frozenset(self.of_calcium - self.carried - self.written.keys())

    @property
    def fixed(self) -> dict[str, str]:
        """Names that cannot be assigned, with the reason."""
        return dict(_PROVIDED)

    @property
    def of_ions(self) -> list[str]:
        """Names whose values are read from the ion whenever a block is executed."""
        return [*self.of_other_ions, *self.external]

    @property
    def given(self) -> list[str]:
        """Names that represent themselves."""
        return [*self.fixed, *self.of_ions, *(name for name in self.parameters if name not in self.memory)]

    def symbol(self, name: str) -> str:
        """Return the symbol of the remembered value of a name: assigned parameters and currents have two values."""
        made = f"{name}_now" if name in self.parameters else f"{name}_last" if name in self.currents else name
        while made != name and made in self.places:
            made += "_"
        return made

    def has_equation(self, name: str) -> bool:
        """Return whether a DERIVATIVE block has an equation of a state."""
        return name.partition("[")[0] in self.with_equations


def declarations_of(source: Source, tree: Any, ledger: Ledger) -> Declarations:
    """Return the declarations of a file.

    Raises
    ------
    EquationError
        For names that are declared twice, and for declarations that are not read.
    """
    reader = _Reader(Declarations(source, Declarations.whole_of(source)), ledger)
    for block in tree.children:
        if block.data == "define":
            reader.define(block)
    for block in tree.children:
        getattr(reader, f"read_{block.data}")(block)
        ledger.open(block)
    reader.finish(tree)
    return reader.made


class _Reader:
    """Reads one block after the other."""

    def __init__(self, made: Declarations, ledger: Ledger) -> None:
        self.made = made
        self.ledger = ledger
        self.accessible: set[str] = set()

    def _place(self, part: Any) -> Place:
        return place_of(self.made.source, part)

    def _once(self, what: str, part: Any, taken: bool) -> None:
        if taken:
            refuse(self._place(part), what, "it is declared twice", "leave one of them out")

    def _declare(self, part: Any, name: str) -> None:
        self._once(f"'{name}'", part, name in self.made.places and name not in (POTENTIAL, *_PROVIDED))
        self.made.places[name] = self._place(part)
        self.made.parts[name] = part

    # ---- NEURON ------------------------------------------------------------------------------------------------------

    def read_neuron(self, block: Any) -> None:
        for item in block.children:
            match item.data:
                case "suffix" | "point_process":
                    self.made.is_point_process = item.data == "point_process"
                    self._once(f"'{item.children[0]}'", item, self.made.name is not None)
                    self.made.name = item.children[0]
                case "nonspecific":
                    for name in item.children[0].children:
                        self._current(name)
                case "electrode":
                    for name in item.children[0].children:
                        self._current(name)
                        self.made.of_electrodes.add(str(name))
                case "ion":
                    self._ion(item)
                case "range" | "global":
                    self.accessible |= {str(each) for each in item.children[0].children}
                    reason = "each place of a mechanism has separate parameters and variables"
                    self.ledger.ignore(item, reason, is_hint=True)
                case _:
                    self.ledger.ignore(item, "a hint to other compilers", is_hint=True)

    def _current(self, name: Any) -> None:
        self._once(f"'{name}'", name, str(name) in self.made.currents)
        self.made.currents[str(name)] = self._place(name)

    def _ion(self, item: Any) -> None:
        ion, reads, writes, valence = item.children[:4]
        read = [] if reads is None else list(reads.children[0].children)
        written = [] if writes is None else list(writes.children[0].children)
        if ion == "ca":
            self._calcium(read, written, valence)
            return
        for name in read:
            if name == f"i{ion}" and name in written:
                continue
            known = (f"e{ion}", f"{ion}i", f"{ion}o")
            if name not in known:
                bound = f"of {ion}, only {', '.join(known)} can be read, not the currents of other mechanisms"
                refuse(self._place(name), f"'{name}'", bound, "leave it out")
            self.made.of_other_ions[str(name)] = (str(ion), self._place(name))
        for name in written:
            if name != f"i{ion}":
                refuse(
                    self._place(name),
                    f"'{name}'",
                    "mechanisms cannot change concentrations of this ion",
                    f"write i{ion}",
                )
            self._current(name)

    def _calcium(self, read: list[Any], written: list[Any], valence: Any) -> None:
        """Take the variables of calcium that a file reads and writes; pools provide them."""
        if valence is not None and _number(valence) != 2.0:
            place = self._place(valence)
            refuse(place, f"'{place.text}'", "calcium has the valence 2", "leave VALENCE out")
        known = (CALCIUM, CALCIUM_REVERSAL, _CALCIUM_OUTSIDE, _CALCIUM_CURRENT)
        for name in read:
            if name not in known:
                bound = f"of calcium, {', '.join(known)} can be read"
                refuse(self._place(name), f"'{name}'", bound, "leave it out; rv.calcium_pool() gives both")
            self.made.of_calcium.add(str(name))
        for name in written:
            if name not in (_CALCIUM_CURRENT, CALCIUM):
                bound = f"mechanisms write {_CALCIUM_CURRENT} or {CALCIUM}"
                refuse(self._place(name), f"'{name}'", bound, f"see rv.calcium_pool(), or write {_CALCIUM_CURRENT}")
            self.made.of_calcium.add(str(name))
            if name == CALCIUM:
                self.made.written[CALCIUM] = self._place(name)
            else:
                self.made.carried.add(str(name))
                self._current(name)

    # ---- names -------------------------------------------------------------------------------------------------------

    def define(self, block: Any) -> None:
        name, number = (str(each) for each in block.children)
        self._once(f"'{name}'", block.children[0], name in self.made.constants)
        self.made.constants[name] = float(number)
        self.ledger.ignore(block, "names are replaced by their numbers", is_hint=True)

    def read_define(self, block: Any) -> None:
        """See `define`, which is executed first: sizes of arrays need it."""

    def read_units(self, block: Any) -> None:
        for each in block.children:
            if each.data == "unit_name":
                self.ledger.ignore(each, "units are those of the language", is_hint=True)
                continue
            name, *rest = each.children
            self._declare(name, str(name))
            if each.data == "unit_number":
                value = _number(rest[0])
            else:
                value = constant_of_nature(str(rest[0])[1:-1], str(rest[1])[1:-1], self._place(each))
            self.made.constants[str(name)] = value
            self.ledger.ignore(each, "names are replaced by their numbers", is_hint=True)

    def read_parameters(self, block: Any) -> None:
        for each in block.children:
            name, size, value, unit, low, high = each.children
            text = str(name)
            if size is not None:
                refuse(self._place(each), f"'{text}'", "parameters cannot be arrays", "write one for each element")
            if unit is not None:
                self.made.units[text] = (_unit_text(unit), self._place(unit))
            self._declare(name, text)
            self.made.parts[text] = each
            if text in (POTENTIAL, *_PROVIDED):
                is_number = value is not None
                reason = _PROVIDED.get(text, "it is the potential of the membrane")
                self.ledger.ignore(each, reason if is_number else "it declares a name", is_hint=not is_number)
                continue
            if value is None:
                self._remember(text)
                continue
            lowest, highest = (-math.inf, math.inf) if low is None else (_number(low), _number(high))
            declared = Declared(_number(value), unit_of(unit), lowest, highest)
            if not declared.contains(declared.default):
                refuse(self._place(each), f"'{self._place(each).text}'", "the value is outside its bounds")
            self.made.parameters[text] = Parameter(text, declared)

    def read_constants(self, block: Any) -> None:
        for each in block.children:
            name, _, value, *_ = each.children
            if value is None:
                refuse(self._place(each), f"'{name}'", "the constant has no value", f"write {name} = 1")
            self._declare(name, str(name))
            self.made.constants[str(name)] = _number(value)
            self.ledger.ignore(each, "names are replaced by their numbers", is_hint=True)

    def read_assigned(self, block: Any) -> None:
        for each in block.children:
            self._elements(each)

    def read_states(self, block: Any) -> None:
        for each in block.children:
            start = each.children[4]
            for name in self._elements(each):
                self.made.states[name] = self._place(each.children[0])
                if start is not None:
                    self.made.starts[name] = _number(start)

    def read_file_local(self, block: Any) -> None:
        for each in block.children[0].children:
            self._elements(each)

    def _elements(self, each: Any) -> list[str]:
        """Declare a name, or the elements of an array."""
        name, size = each.children[:2]
        text = str(name)
        self._declare(name, text)
        unit = each.children[5] if len(each.children) > 5 else None
        if unit is not None:
            self.made.units[text] = (_unit_text(unit), self._place(unit))
        self.ledger.ignore(each, "it declares a name", is_hint=True)
        names = [text]
        if size is not None:
            count = array_size(size, self.made.constants, self._place(size))
            self.made.arrays[text] = count
            names = [element_name(text, k) for k in range(count)]
        for element in names:
            self.made.places[element] = self._place(name)
            self._remember(element)
        return names

    def _remember(self, name: str) -> None:
        if name != POTENTIAL and name not in _PROVIDED:
            self.made.memory.append(name)

    # ---- blocks of statements ----------------------------------------------------------------------------------------

    def read_initial(self, block: Any) -> None:
        self._once("'INITIAL'", block, self.made.initial is not None)
        self.made.initial = block

    def read_breakpoint(self, block: Any) -> None:
        self._once("'BREAKPOINT'", block, self.made.breakpoint is not None)
        self.made.breakpoint = block

    def read_derivative(self, block: Any) -> None:
        name = str(block.children[0])
        self._once(f"'{name}'", block.children[0], name in self.made.derivatives or name in self.made.kinetics)
        self.made.derivatives[name] = block

    def read_procedure(self, block: Any) -> None:
        name, arguments, _, *statements = block.children
        self._once(f"'{name}'", name, str(name) in self.made.routines)
        names = tuple(str(each.children[0]) for each in arguments.children if each is not None)
        if len(set(names)) < len(names):
            refuse(
                self._place(arguments),
                f"'{self._place(arguments).text}'",
                "two arguments have the same name",
                "rename one",
            )
        self.made.routines[str(name)] = Routine(str(name), names, tuple(statements), block)

    read_function = read_procedure

    def read_kinetic(self, block: Any) -> None:
        name = str(block.children[0])
        self._once(f"'{name}'", block.children[0], name in self.made.kinetics or name in self.made.derivatives)
        self.made.kinetics[name] = block

    def read_system(self, block: Any) -> None:
        name = str(block.children[0])
        others = (self.made.derivatives, self.made.kinetics, self.made.systems)
        self._once(f"'{name}'", block.children[0], any(name in each for each in others))
        self.made.systems[name] = block

    def read_net_receive(self, block: Any) -> None:
        self._once("'NET_RECEIVE'", block, self.made.received is not None)
        self.made.received = block

    def read_independent_block(self, block: Any) -> None:
        self.ledger.ignore(block, "the time is that of the simulation", is_hint=True)

    def read_hint(self, block: Any) -> None:
        self.ledger.ignore(block, "a hint to other compilers", is_hint=True)

    def read_verbatim(self, block: Any) -> None:
        """Code outside of blocks: declarations and includes are ignored, the rest is refused where it is read."""
        check_code(self.ledger, block, self._place(block), is_last=False)

    # ---- the whole file ----------------------------------------------------------------------------------------------

    def finish(self, tree: Any) -> None:
        """Decide which names are parameters, and which are remembered."""
        made = self.made
        assigned = {str(each.children[0].children[0]) for each in tree.find_data("assign")}
        made.with_equations = frozenset(str(each.children[0].children[0]) for each in tree.find_data("derivative_of"))
        made.assigned = frozenset(assigned)
        of_ions = {*made.of_other_ions, *made.external}
        for name, place in made.written.items():
            if name not in assigned | made.states.keys():
                refuse(place, f"'{name}'", "nothing assigns it", f"write {name} = ..., or leave it out")
        for name in of_ions:
            if made.parameters.pop(name, None) is not None:
                reason = f"{_OF_THE_ION}, as in NEURON: give the mechanism {name}=, or a pool"
                self.ledger.ignore(made.parts[name], reason)
        for name in made.currents:
            if name not in made.places:
                self._remember(name)
        if CALCIUM in made.written and CALCIUM not in made.places:
            self._remember(CALCIUM)
        made.memory = [name for name in made.memory if name not in of_ions]
        # Parameters that are assigned are remembered; names that can be set and are never assigned are parameters.
        made.memory += [name for name in made.parameters if name in assigned and name not in made.memory]
        for name in list(made.memory):
            settable = name in self.accessible and name not in made.states and name not in made.currents
            if settable and name.partition("[")[0] not in assigned and name in made.places and "[" not in name:
                made.memory.remove(name)
                unit = made.units.get(name)
                made.parameters[name] = Parameter(name, Declared(0.0, NUMBER if unit is None else _unit(unit[0])))


def _number(tree: Any) -> float:
    sign, value = tree.children
    return -float(value) if sign == "-" else float(value)


def _unit_text(token: Any) -> str:
    return str(token)[1:-1].replace(" ", "")


def unit_of(token: Any) -> Unit:
    """Return a unit, so that users may give texts such as ``0.1 S/cm**2``; without one for unknown units."""
    return NUMBER if token is None else _unit(_unit_text(token))


def _unit(given: str) -> Unit:
    text = re.sub(r"([A-Za-z])(\d)", r"\1**\2", given.replace("mho", "S"))
    try:
        return read_quantity("", f"1 {text}").unit
    except EquationError:
        return NUMBER
