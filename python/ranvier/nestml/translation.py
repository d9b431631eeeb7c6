"""Translates a model of NESTML into the arguments of `ranvier.neuron`."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace

from ranvier.equations.checks import check_names, check_noise_and_draws, check_units, weight_unit
from ranvier.equations.description import Declared, Description, Equation, Parameter, Statement
from ranvier.equations.places import refuse
from ranvier.equations.reading import Given
from ranvier.equations.trees import Node, names_in, nodes_of
from ranvier.equations.units import NONE, Unit
from ranvier.nestml.algebra import rendered
from ranvier.nestml.behaviour import base_of, behaviour_of
from ranvier.nestml.convolutions import Convolutions
from ranvier.nestml.names import SPIKES, Names
from ranvier.nestml.syntax import Assignment, Branch, Declaration, Inline, Model, Suite

__all__ = ["given_of"]

_OPERATIONS = {"=": "", "+=": "add", "-=": "subtract", "*=": "multiply", "/=": "divide"}
_SIGNS = {"": "=", "add": "+=", "subtract": "-=", "multiply": "*=", "divide": "/="}
_NO_UNIT = Unit(NONE, 0, "")
_MAXIMUM = 20_000


def given_of(model: Model, summary: str) -> Given:
    """Return the arguments of `ranvier.neuron` that make a model.

    Raises
    ------
    EquationError, UnitError, UnknownSymbolError
        For mistakes, and for constructs that equations cannot express; the error shows the place in the file.
    """
    return _Translator(model).given(summary)


class _Translator:
    def __init__(self, model: Model) -> None:
        self.model = model
        self.names = Names(model)
        self.parameters: dict[str, Parameter] = {}
        self.internals: dict[str, Equation] = {}
        self.inlines: dict[str, Equation] = {}
        self.variables: dict[str, Equation] = {}
        self.reset: list[Statement] = []
        for port in model.ports.values():
            self._check_port(port.name)
        for each in model.parameters.values():
            self._parameter(each)
        self.behaviour = behaviour_of(model, self.names.value)
        self.names.timer = self.behaviour.timer
        self.names.previous = self.behaviour.previous
        self.convolutions = Convolutions(model, self.names)
        self.names.convolution = self.convolutions.convolved
        self.effects = self.convolutions.effects
        # The variables of the model: without its timer, copies of earlier values, and kernels.
        left_out = {self.behaviour.timer, *self.behaviour.previous, *self.convolutions.variables_of_kernels}
        self.state = {name: each for name, each in model.state.items() if name not in left_out}

    def given(self, summary: str) -> Given:
        """Return the arguments."""
        for each in self.model.internals.values():
            self._internal(each)
        for name, each in self.state.items():
            self.names.declare_unit(name, each.unit)
        for inline in self.model.inlines.values():
            self._inline(inline)
        self._equations()
        self._reset()
        self._arrivals()
        self._clamps()
        period = self._period()
        assert self.behaviour.threshold is not None
        threshold = self.names.finite(self.behaviour.threshold)
        self.names.refuse_impulses(threshold)
        return self._written(self._description(threshold, period, summary))

    # ---- declarations ------------------------------------------------------------------------------------------------

    def _check_port(self, name: str) -> None:
        port = self.model.ports[name]
        if port.is_spiking:
            return
        wanted = self.names.dimensions["I_stimulus"]
        if port.unit is None or port.unit.dimension != wanted:
            refuse(port.place, f"'{name}'", "stimulators give currents", f"write {name} pA <- continuous")
        others = [each.name for each in self.model.ports.values() if not each.is_spiking]
        if others[0] != name:
            refuse(
                port.place, f"'{name}'", f"a neuron has one input of currents, and {others[0]} is one", "leave one out"
            )

    def _parameter(self, each: Declaration) -> None:
        plain = self.names.equation_names[each.name]
        if each.type == "string" or each.node is None:
            problem = "a text" if each.type == "string" else "without a value"
            refuse(
                each.place,
                f"'{each.name}', {problem}",
                "a parameter is a number with a unit",
                f"write {each.name} ms = 2 ms",
            )
        if each.type == "boolean":
            if each.node.kind != "truth":
                refuse(each.node.place, f"'{each.node.place.text}'", "it must be true or false")
            declared = Declared(each.node.number, _NO_UNIT, 0.0, 1.0, meaning=each.meaning, is_switch=True)
        else:
            value = self.names.number(self.names.resolved(each.node), each.unit, f"parameter {each.name}")
            if math.isinf(value):
                self.names.infinite[each.name] = value
                return
            declared = self._guarded(each, Declared(value, each.unit, meaning=each.meaning))
            self.names.values[plain] = value * 10.0**each.unit.exponent
        self.parameters[plain] = Parameter(plain, declared)
        self.names.declare_unit(each.name, each.unit)

    def _guarded(self, each: Declaration, declared: Declared) -> Declared:
        """Return a parameter with the bounds of its guard."""
        waiting = [] if each.guard is None else [each.guard]
        while waiting:
            node = waiting.pop()
            if node.kind == "both":
                waiting += node.parts
                continue
            is_name = [part.kind == "name" and part.name == each.name for part in node.parts]
            if node.kind not in ("less", "less_equal") or sum(is_name) != 1:
                refuse(
                    node.place,
                    f"'{node.place.text}'",
                    "a guard is a bound of its parameter",
                    f"write {each.name} > 0 ms",
                )
            is_upper, is_open = is_name[0], node.kind == "less"
            bound = self.names.number(self.names.resolved(node.parts[is_name[0]]), each.unit, "a bound")
            if is_upper:
                declared = replace(declared, upper=bound, upper_open=is_open)
            else:
                declared = replace(declared, lower=bound, lower_open=is_open)
        if not declared.contains(declared.default):
            refuse(each.place, f"'{each.name}'", "its default is outside of its guard", "change one of both")
        return declared

    def _internal(self, each: Declaration) -> None:
        if each.node is None or each.type in ("string", "boolean"):
            refuse(each.place, f"'{each.name}'", "an internal is a number", f"write {each.name} real = ...")
        node = self.names.finite(each.node)
        self.names.check_unit(node, each.unit, f"internal {each.name}")
        value = self.names.value(each.node)
        plain = self.names.equation_names[each.name]
        if value is not None:
            self.names.values[plain] = value
        self.names.declare_unit(each.name, each.unit)
        self.internals[plain] = Equation(plain, each.place, node, each.unit, False, each.meaning)

    def _inline(self, inline: Inline) -> None:
        assert inline.unit is not None
        node = self.names.finite(inline.node)
        if any(part.kind == "name" and part.name.startswith(SPIKES) for part in nodes_of(node)):
            self.names.impulses[inline.name] = node
            return
        self.names.declare_unit(inline.name, inline.unit)
        plain = self.names.equation_names[inline.name]
        self.inlines[plain] = Equation(plain, inline.place, node, inline.unit, False, inline.meaning)

    # ---- equations ---------------------------------------------------------------------------------------------------

    def _equations(self) -> None:
        behaviour, state = self.behaviour, self.state
        kept: dict[str, Node | None] = {}
        for name, ode in self.model.odes.items():
            base, order = base_of(name), name.count("'")
            if base == behaviour.timer:
                continue
            for i in range(order):
                lower = base + "'" * i
                if lower not in state:
                    refuse(ode.place, f"'{lower}'", "it is not declared in the block state", f"write {lower} mV = ...")
                if i + 1 < order:
                    following = self.names.equation_names.get(lower + "'", lower)
                    kept[lower] = Node("name", ode.place, name=following)
            plain = self.names.equation_names[base + "'" * (order - 1)]
            kept[base + "'" * (order - 1)] = self.convolutions.without_impulses(plain, self.names.finite(ode.node))
        changed = {each.name for each in [*behaviour.reset, *self._assigned_by_spikes()]}
        for name, each in state.items():
            if name not in kept and name not in changed:
                clamped = any(one.name == name for one in behaviour.clamps)
                why = "only the update assigns it" if clamped else "nothing changes it"
                refuse(each.place, f"'{name}'", why, "make it an inline expression, a parameter, or write its equation")
            plain = self.names.equation_names[name]
            flags = self._flags(name, changed)
            node = kept.get(name)
            if node is None and behaviour.timer is not None:
                # A flag, that it is not held, needs an equation.
                node, flags = Node("number", each.place, number=0.0), frozenset(["always"])
            self.variables[plain] = Equation(plain, each.place, node, each.unit, node is not None, each.meaning, flags)
        self.variables |= self.convolutions.equations

    def _flags(self, name: str, reset: set[str]) -> frozenset[str]:
        """Return the variables that are held while the neuron is refractory, or, without any, those that are not."""
        held = self.behaviour.held
        if self.behaviour.timer is None or name not in {
            base_of(each) + "'" * i for each in self.model.odes for i in range(5)
        }:
            return frozenset()
        if base_of(name) in held:
            return frozenset(["unless refractory"])
        return frozenset(["always"]) if not held and name in reset else frozenset()

    # ---- spikes ------------------------------------------------------------------------------------------------------

    def _reset(self) -> None:
        for each in self.behaviour.reset:
            if each.name not in self.state:
                refuse(each.place, f"'{each.name}'", "only variables of the block state can be assigned")
            if each.operation not in _OPERATIONS:
                refuse(each.place, f"'{each.operation}'", "this assignment is not supported", "write x = ...")
            node = self.names.finite(each.node)
            self.names.refuse_impulses(node)
            self.reset.append(
                Statement(self.names.equation_names[each.name], _OPERATIONS[each.operation], node, each.place)
            )

    def _handled(self) -> list[tuple[str, Assignment, bool]]:
        """Return effects of spikes in handlers: port, assignment, whether only when the neuron is not refractory."""
        found = []
        for handler in self.model.handlers:
            if handler.port not in self.model.ports or not self.model.ports[handler.port].is_spiking:
                refuse(
                    handler.place, f"'{handler.port}'", "this port of spikes does not exist", "write onReceive(port):"
                )
            found += [(handler.port, each, False) for each in self._assignments(handler.body)]
            for statement in handler.body:
                if isinstance(statement, Branch):
                    inner = self._assignments(statement.cases[0][1], is_guarded=True)
                    found += [(handler.port, each, True) for each in inner]
        for each in self.behaviour.arrivals:
            ports = [name for name in names_in(each.node) if name in self.model.ports]
            found.append((ports[0], each, False))
        return found

    def _assignments(self, suite: Suite, is_guarded: bool = False) -> list[Assignment]:
        found = []
        for statement in suite:
            if isinstance(statement, Assignment):
                found.append(statement)
            elif not (
                isinstance(statement, Branch)
                and not is_guarded
                and len(statement.cases) == 1
                and not statement.otherwise
                and self.behaviour.is_ended(statement.cases[0][0], self.names.value)
            ):
                remedy = "write x += ..., with no condition but that the neuron is not refractory"
                refuse(statement.place, f"'{statement.place.text}'", "spikes only add to variables", remedy)
        return found

    def _assigned_by_spikes(self) -> list[Assignment]:
        return [each for _, each, _ in self._handled()]

    def _arrivals(self) -> None:
        for port, each, is_guarded in self._handled():
            if each.name not in self.state:
                refuse(each.place, f"'{each.name}'", "only variables of the block state can be assigned")
            if each.operation not in ("+=", "-="):
                refuse(each.place, f"'{each.name}'", "several spikes may arrive in a step", f"write {each.name} += ...")
            is_held = base_of(each.name) in self.behaviour.held
            if is_held != is_guarded:
                refuse(
                    each.place,
                    f"'{each.name}'",
                    "spikes would change it while the neuron is refractory, though it is held then"
                    if is_held
                    else "spikes would not change it while the neuron is refractory, though it is not held then",
                    f"write convolve(K, {port}) in its equation, with kernel K = delta(t)"
                    if is_held
                    else "integrate it only when the neuron is not refractory",
                )
            node = self.names.finite(each.node, port)
            self.names.refuse_impulses(node)
            self.convolutions.add(
                port, self.names.equation_names[each.name], node, each.place, _OPERATIONS[each.operation]
            )

    def _clamps(self) -> None:
        for each in self.behaviour.clamps:
            node = self.names.resolved(each.node)
            plain = self.names.equation_names.get(each.name)
            if each.operation != "=" or node.kind != "name" or node.name != plain:
                refuse(
                    each.place,
                    f"'{each.name}', assigned after the integration",
                    "in each step equations change variables, and nothing else",
                    "write an equation or an inline expression; bounds are possible in equations: max(V_min, V_m)",
                )

    def _period(self) -> Node | None:
        behaviour = self.behaviour
        if behaviour.timer is None:
            return None
        assert behaviour.period is not None
        node = self._without_internals(behaviour.period)
        if behaviour.counts_steps:
            if node.kind == "call" and node.name == "steps" and len(node.parts) == 1:
                node = self._without_internals(node.parts[0])
            else:
                node = Node("multiply", node.place, (node, Node("call", node.place, name="resolution")))
        made = self.names.finite(node)
        self.names.refuse_impulses(made)
        if not behaviour.watches_timer and not behaviour.held:
            refuse(
                behaviour.period.place,
                f"'{behaviour.timer}'",
                "the condition of a spike does not ask for it, and nothing is held",
                f"write onCondition({behaviour.timer} <= 0 ms and ...)",
            )
        return made

    def _without_internals(self, node: Node) -> Node:
        """Return an expression of the file with the definitions of internals, since a period depends on parameters."""
        for _ in range(20):
            if node.kind == "name" and node.name in self.model.internals:
                inner = self.model.internals[node.name].node
                node = node if inner is None else inner
        return node

    # ---- the whole ---------------------------------------------------------------------------------------------------

    def _receptors(self) -> tuple[dict[str, tuple[Statement, ...]], bool]:
        """Return the effects of spikes by port, and whether the sign of a weight chooses between the first two."""
        ports = [port for port in self.model.ports.values() if port.is_spiking]
        one_sided = [port for port in ports if len(port.qualifiers) == 1]
        by_sign = {next(iter(port.qualifiers)): port for port in one_sided}
        chooses = len(one_sided) == 2 and len(by_sign) == 2
        if chooses:
            first = [by_sign["excitatory"], by_sign["inhibitory"]]
            ports = first + [port for port in ports if port not in first]
        for port in ports:
            if not self.effects.get(port.name):
                refuse(
                    port.place,
                    f"'{port.name}'",
                    "its spikes do nothing",
                    f"write onReceive({port.name}): ..., or leave it out",
                )
        return {self.names.equation_names[port.name]: tuple(self.effects[port.name]) for port in ports}, chooses

    def _description(self, threshold: Node, period: Node | None, summary: str) -> Description:
        receptors, chooses = self._receptors()
        inlines = dict(self.inlines)
        used = [each.node for each in (*self.variables.values(), *inlines.values()) if each.node is not None]
        used += [threshold, *(each.node for each in self.reset)]
        used += [each.node for effects in receptors.values() for each in effects]
        waiting = [name for node in used for name in names_in(node)]
        internals: set[str] = set()
        while waiting:
            name = waiting.pop()
            if name in self.internals and name not in internals:
                internals.add(name)
                node = self.internals[name].node
                waiting += list(names_in(node)) if node is not None else []
        made = Description(
            name=self.model.name,
            summary=summary,
            text="",
            reference="",
            variables=self.variables,
            subexpressions={**{n: each for n, each in self.internals.items() if n in internals}, **inlines},
            parameters=self.parameters,
            threshold=threshold,
            reset=tuple(self.reset),
            refractory=period,
            receptors=receptors,
            weight_unit=_NO_UNIT,
            sign_chooses_receptor=chooses,
            held=frozenset(),
            initial={},
            weight_name=self.names.weight,
        )
        check_names(made)
        check_noise_and_draws(made)
        weight_unit(made, check_units(made))
        return replace(made, initial=self._initial())

    def _initial(self) -> Mapping[str, str | float]:
        made: dict[str, str | float] = {}
        for name, each in self.state.items():
            if each.node is None:
                continue
            plain, node = self.names.equation_names[name], self.names.resolved(each.node)
            declared = self.parameters.get(node.name) if node.kind == "name" else None
            if declared is not None and declared.declared.unit.exponent == each.unit.exponent:
                self.names.check_unit(node, each.unit, f"variable {name}")
                made[plain] = node.name
            else:
                made[plain] = self.names.converted(node, each.unit, f"variable {name}")
        return made

    def _written(self, made: Description) -> Given:
        lines = [_line(each) for each in (*made.variables.values(), *made.subexpressions.values())]
        return Given(
            equations="\n".join(lines),
            threshold=rendered(made.threshold),
            reset="; ".join(_assignment(each) for each in made.reset),
            refractory=None if made.refractory is None else rendered(made.refractory),
            parameters={name: each.declared for name, each in made.parameters.items()},
            receptors={
                name: "; ".join(_assignment(each) for each in effects) for name, effects in made.receptors.items()
            },
            initial=made.initial,
            sign_chooses_receptor=made.sign_chooses_receptor,
            name=made.name,
            summary=made.summary,
            reference=made.reference,
        )


def _line(equation: Equation) -> str:
    name = f"d{equation.name}/dt" if equation.is_differential else equation.name
    right = "" if equation.node is None else f" = {rendered(equation.node)}"
    flags = f" ({', '.join(sorted(equation.flags))})" if equation.flags else ""
    meaning = f"  # {equation.meaning}" if equation.meaning else ""
    return f"{name}{right} : {equation.unit.text or 1}{flags}{meaning}"


def _assignment(statement: Statement) -> str:
    return f"{statement.name} {_SIGNS[statement.operation]} {rendered(statement.node)}"
