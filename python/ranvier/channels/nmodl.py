"""Reads channels from NMODL files."""

from __future__ import annotations

import contextlib
import math
from collections.abc import Mapping
from os import PathLike
from typing import Any

from ranvier.base.encodings import decoded
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
from ranvier.channels.general import GeneralDescription
from ranvier.channels.lowering import lower_channel
from ranvier.channels.nmodl_declarations import NUMBER, Declarations, declarations_of
from ranvier.channels.nmodl_general import general_description
from ranvier.channels.nmodl_ledger import Account, Ledger
from ranvier.channels.nmodl_nodes import ADVANCED, depends_on, is_same, number_node
from ranvier.channels.nmodl_phases import Carried, Variable, execute
from ranvier.channels.nmodl_steps import derivative_of_step
from ranvier.channels.nmodl_syntax import parse_file
from ranvier.channels.reading import checked
from ranvier.channels.receptor import EquationReceptor
from ranvier.equations.description import Declared, Equation, Parameter
from ranvier.equations.places import Source, refuse
from ranvier.equations.trees import Node, names_in, nodes_of
from ranvier.equations.units import read_quantity
from ranvier.errors import EquationError

__all__ = ["account_of_nmodl", "read_nmodl"]

_LARGEST = 1 << 20
_OF_IONS = {"ena": 50.0, "ek": -77.0, "nai": 10.0, "nao": 140.0, "ki": 54.4, "ko": 2.5}
"""Default potentials (mV) of built-in mechanisms, and concentrations (mM) of NEURON."""
_DEEPEST = "expressions of the file, with the routines they call, are nested too deeply"


def read_nmodl(path: str | PathLike[str]) -> Any:
    """Read a channel or a receptor from an NMODL file (``.mod``): one with ``SUFFIX`` or ``POINT_PROCESS``.

    Blocks are executed in NEURON's order: INITIAL; in each step the currents of BREAKPOINT, then the blocks it solves.
    Names keep their values from call to call. A channel whose states are gates with linear equations, solved
    with ``METHOD cnexp`` or by a PROCEDURE with the same step written out, ``m = m + (1 - exp(-dt/tau))*(m_inf - m)``,
    and whose currents are linear in ``v``, has the fast form of `channel`; others have the general one: currents of any
    form, states that depend on each other, KINETIC, LINEAR and NONLINEAR, the methods derivimplicit, sparse, euler and
    runge, mechanisms that write ``cai``. Each statement of the file has an effect or is ignored for a reason
    (`ranvier models FILE` lists them); anything else is an error with its line.

    Parameters
    ----------
    path
        The file.

    Returns
    -------
    EquationChannel or EquationReceptor
        The channel, with the name after SUFFIX, as from `channel`; or, of a POINT_PROCESS, the receptor, which is
        placed by ``receptors={"exc": (syn(), place)}``: its NET_RECEIVE adds weights, which are in uS in the file and
        in nS in Ranvier, to states. Parameters are those of the file, with their defaults, and the reversal potentials
        (``ena``, ``ek``, mV) and concentrations (``ki``, ``ko``, mM) of its ions: in Ranvier,
        mechanisms do not share ions. As in NEURON, their values in the file are not used: the defaults are 50 mV,
        10 and 140 mM for ``na``, -77 mV, 54.4 and 2.5 mM for ``k``, and there is no default for other ions, nor for a
        potential that is read beside concentrations, from which NEURON calculates it. ``i`` is the sum of all currents,
        each of which can be recorded by its name. ``cai`` (mM) and ``eca`` are those of the `calcium_pool` at the
        place, which ``ica`` fills: see `channel`.

    Raises
    ------
    FileError
        When the file cannot be read.
    EquationError, UnknownSymbolError
        For statements that are not supported; the error shows the line and the place.
    MissingPackageError
        When Lark is not installed: ``pip install 'ranvier[nmodl]'``.

    Notes
    -----
    Units are those of the language: mV, ms, S/cm2, mA/cm2; factors of others must be in the file, as for NEURON.
    Instead of an interpolation between rows of TABLE, rates are read from tables of Ranvier, with a bounded error, for
    each step and temperature; outside the range of TABLE the values at its ends are used, as in NEURON. RANGE and
    GLOBAL are ignored: each place of a mechanism has separate parameters. Bounds of parameters (``<0, 1e9>``) hold.

    Examples
    --------
    >>> k_slow = rv.read_nmodl("k_slow.mod")
    >>> cell = rv.Cell(morphology, membrane=[("all", rv.pas()), ("soma", k_slow(gbar=0.01))])
    """
    return _read(path)[0]


def account_of_nmodl(path: str | PathLike[str]) -> tuple[EquationChannel | EquationReceptor, tuple[Account, ...]]:
    """Return the channel of a file, as `read_nmodl` does, and the account of each of its statements.

    Raises
    ------
    FileError, EquationError, UnknownSymbolError, MissingPackageError
        As `read_nmodl`.
    """
    return _read(path)


def _read(path: str | PathLike[str]) -> tuple[EquationChannel | EquationReceptor, tuple[Account, ...]]:
    file = checked_path(path, "path of an NMODL file")
    data = read_bounded(file, _LARGEST)
    text = decoded(data).replace("\r\n", "\n").replace("\r", "\n")
    source = Source(f"file {file}", text)
    made: tuple[EquationChannel | EquationReceptor, tuple[Account, ...]] | None = None
    with contextlib.suppress(RecursionError):
        made = _File(source).channel()
    if made is None:
        refuse(_File.whole_of(source), "", _DEEPEST, "write it shorter")
    return made


class _File:
    """Makes a channel or a receptor from a file."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.ledger = Ledger(source)
        self.declared = declarations_of(source, parse_file(source), self.ledger)
        self.whole = self.declared.whole

    @staticmethod
    def whole_of(source: Source) -> Any:
        """Return the place of the whole file."""
        return Declarations.whole_of(source)

    def channel(self) -> tuple[EquationChannel | EquationReceptor, tuple[Account, ...]]:
        """Return the channel or receptor, and the account of the file."""
        declared = self.declared
        if declared.name is None:
            bound = "SUFFIX or POINT_PROCESS is missing"
            refuse(self.whole, "", bound, "write NEURON { SUFFIX name }")
        if declared.breakpoint is None or not (declared.currents or declared.written):
            refuse(self.whole, "", "it has no current", "write BREAKPOINT, and the current in NEURON")
        self._check_units()
        carried, executed = execute(declared, self.ledger)
        for name, part in declared.parts.items():
            users = [each for each, nodes in carried.depends.items() if any(depends_on(n, (name,)) for n in nodes)]
            if name in declared.parameters:
                self.ledger.declare(part, users)
        form = self._form(carried)
        made: EquationChannel | EquationReceptor
        if isinstance(form, GeneralDescription) and declared.is_point_process:
            made = EquationReceptor(form)
        else:
            made = EquationChannel(form)
        return made, self.ledger.accounts(carried.depends, executed)

    def _form(self, carried: Carried) -> ChannelDescription | GeneralDescription:
        """Return the fast form if the file fits it, otherwise the general one."""
        if not self._needs_general_form(carried):
            with contextlib.suppress(EquationError):
                read = checked(self._description(carried))
                lower_channel(read)
                return read
        parameters = {name: each for name, each in self._all_parameters().items() if name != CALCIUM_REVERSAL}
        return general_description(self.declared, carried, parameters, self._summary())

    def _needs_general_form(self, carried: Carried) -> bool:
        declared = self.declared
        return bool(carried.has_statements or declared.written or declared.of_electrodes or declared.is_point_process)

    def _summary(self) -> str:
        return f"Mechanism of an NMODL file, {self.source.what.rpartition('/')[2].removeprefix('file ')}"

    def _description(self, carried: Carried) -> ChannelDescription:
        declared = self.declared
        gates = {name: self._gate(each, carried) for name, each in carried.variables.items()}
        currents = {}
        for name, place in declared.currents.items():
            flags = frozenset([CARRIED] if name in declared.carried else [])
            currents[name] = Equation(name, place, carried.currents[name], NUMBER, False, "", flags)
        initial = {
            name: each.initial
            for name, each in carried.variables.items()
            if not is_same(each.initial, _steady(gates[name].node, name))
        }
        return ChannelDescription(
            name=str(declared.name),
            summary=self._summary(),
            text=self.source.text.strip(),
            reference="",
            gates=gates,
            subexpressions=currents | self._sum(list(declared.currents)),
            parameters=self._all_parameters(),
            initial=initial,
            has_units=False,
        )

    def _gate(self, gate: Variable, carried: Carried) -> Equation:
        """Return the equation of a variable; one that is not a STATE acts at once, with a time constant of 0."""
        place = gate.place
        rate = derivative_of_step(gate.step, gate.name)
        is_solved = any(each.kind == ADVANCED for each in nodes_of(gate.step if rate is None else rate))
        rate = None if is_solved else rate
        # A gate that acts at once is in its steady state from the first step.
        begins_there = is_same(gate.initial, gate.step)
        acts_at_once = begins_there and not depends_on(gate.step, [*carried.variables, "dt"])
        if rate is None and not is_solved and acts_at_once:
            difference = Node("subtract", place, (gate.step, Node("name", place, name=gate.name)))
            rate = Node("divide", place, (difference, number_node(place, 0.0)))
        if rate is None:
            where = gate.step.place
            remedy = f"write DERIVATIVE states {{ {gate.name}' = ({gate.name}_inf - {gate.name})/tau }}"
            refuse(where, f"'{where.text}'", f"the equation of {gate.name} is not linear in it", remedy)
        for name in ("dt", "t", "diam", "area"):
            if depends_on(rate, (name,)):
                where = names_in(rate)[name].place
                refuse(where, f"'{name}'", "rates of gates cannot depend on it", "leave it out")
        return Equation(gate.name, place, rate, NUMBER, True, "")

    # ---- the mechanism -----------------------------------------------------------------------------------------------

    def _check_units(self) -> None:
        declared = self.declared
        wanted = {POTENTIAL: ("mV", "millivolt"), TEMPERATURE: ("degC",)}
        wanted |= dict.fromkeys(
            declared.currents, ("nA", "nanoamp") if declared.is_point_process else ("mA/cm2", "milliamp/cm2")
        )
        of_calcium = {CALCIUM: ("mM", "milli/liter"), CALCIUM_REVERSAL: ("mV", "millivolt")}
        wanted |= {name: units for name, units in of_calcium.items() if name in declared.of_calcium}
        for name, units in wanted.items():
            unit, place = declared.units.get(name, (units[0], self.whole))
            if unit not in units:
                remedy = "densities are per area of membrane" if units[0] == "mA/cm2" else f"write it in {units[0]}"
                refuse(place, f"'{name}' in {unit}", f"it must be in {units[0]}", remedy)

    def _all_parameters(self) -> dict[str, Parameter]:
        """Return parameters, with the reversal potentials of ions."""
        made = dict(self.declared.parameters)
        if CALCIUM_REVERSAL in self.declared.of_calcium:
            made[CALCIUM_REVERSAL] = reversal_of_calcium()
        read = self.declared.of_other_ions
        with_concentrations = {ion for name, (ion, _) in read.items() if name != f"e{ion}"}
        for name, (ion, _) in read.items():
            is_potential = name == f"e{ion}"
            default = _OF_IONS.get(name, math.nan)
            if is_potential and ion in with_concentrations:
                # NEURON calculates it from the concentrations.
                default = math.nan
            unit = read_quantity("", "1 mV" if is_potential else "1 mM").unit
            made[name] = Parameter(name, Declared(default, unit))
        # In the order of the file, then those that it does not declare.
        order = [*self.declared.parts, *made]
        return {name: made[name] for name in sorted(made, key=order.index)}

    def _sum(self, names: list[str]) -> dict[str, Equation]:
        """Return the whole current, as the sum of those with names."""
        places: Mapping[str, Any] = self.declared.currents
        if names == [CURRENT]:
            return {}
        if CURRENT in names:
            refuse(places[CURRENT], f"'{CURRENT}'", "it is the name of the sum of all currents", "choose another name")
        made = Node("name", places[names[0]], name=names[0])
        for name in names[1:]:
            made = Node("add", places[name], (made, Node("name", places[name], name=name)))
        return {CURRENT: Equation(CURRENT, made.place, made, NUMBER, False, "")}


def _steady(node: Node | None, gate: str) -> Node | None:
    """Return x_inf of (x_inf - x)/tau; None for other forms."""
    if node is not None and node.kind == "divide" and node.parts[0].kind == "subtract":
        left, right = node.parts[0].parts
        if right.kind == "name" and right.name == gate:
            return left
    return None
