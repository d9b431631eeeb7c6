"""`rv.channel`: mechanisms of detailed cells that users write as equations."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ranvier import _core
from ranvier.base.hints import known_keywords
from ranvier.base.immutable import locked
from ranvier.base.numeric import number_array
from ranvier.base.values import FloatArray
from ranvier.cells.membrane import DensityValue, Mechanism
from ranvier.cells.per_cell import PerCell
from ranvier.channels.description import ChannelDescription
from ranvier.channels.equation_mechanism import EquationMechanism, PlacedEquations, check_values
from ranvier.channels.form import chosen_form
from ranvier.channels.general import GeneralDescription
from ranvier.channels.general_lowering import lower_general
from ranvier.channels.lowering import derived_nodes, direct_parameter, lower_channel
from ranvier.channels.reading import GivenChannel, describe_channel
from ranvier.equations.parameters import value_in
from ranvier.errors import ShapeError, ValueOutOfBoundsError

__all__ = ["ChannelMechanism", "EquationChannel", "channel", "description_of"]


class EquationChannel(EquationMechanism):
    """A channel of equations, made by `channel` or `read_nmodl`. It cannot be changed.

    Call it for a mechanism that is placed on membrane: ``("soma", k_slow(g_max="0.02 S/cm**2"))``. Parameters are
    numbers in their units, texts with a unit, or values as for built-in mechanisms: arrays with one number for each
    compartment, functions of distances (um), and `per_cell`.

    Attributes
    ----------
    name
        Name of the channel.
    gates, currents
        Names of its gates, or of its states, and of its currents: ``i`` is the total current.
    is_general
        Whether it has the general form, which takes more time per step: see `channel`.
    is_pool
        Whether it holds a concentration of calcium.
    program
        The programs that the core runs (`ranvier.channels.program`, or `general_program` for the general form).
    """

    name: str
    gates: tuple[str, ...]
    currents: tuple[str, ...]
    is_general: bool
    is_pool: bool
    program: Any
    core_model: _core.UserMechanism
    _description: ChannelDescription | GeneralDescription
    _derived: tuple[tuple[str | None, frozenset[str]], ...]
    _kind = "channel"
    _remade_by = "make another one with rv.channel()"

    def __init__(self, description: ChannelDescription | GeneralDescription) -> None:
        if isinstance(description, GeneralDescription):
            if description.jumps is not None:
                # Its currents are in nA, not densities.
                raise ShapeError(
                    f"mechanism '{description.name}'",
                    "a point process",
                    "mechanisms of the membrane are spread over it",
                    "make a rv.EquationReceptor of it, and pass it in receptors=",
                )
            self._put(
                gates=tuple(description.states),
                is_general=True,
                is_pool=bool(description.calcium),
                program=lower_general(description),
                _derived=_direct(description),
            )
            self._put(core_model=_core.GeneralMechanism(self.program))
        else:
            self._put(
                gates=tuple(description.gates),
                is_general=False,
                is_pool=False,
                program=lower_channel(description),
                _derived=_derived(description),
            )
            self._put(core_model=_core.Channel(self.program))
        self._put(name=description.name, _description=description)
        self._put(currents=tuple(each.name for each in self.program.currents))

    def __call__(self, **values: DensityValue | str | None) -> ChannelMechanism:
        """Return the mechanism with these values of parameters.

        Raises
        ------
        UnknownNameError
            For a name that is not a parameter.
        UnitError, ValueOutOfBoundsError, WrongTypeError
            For values in another unit or outside their bounds, and for other types.
        """
        return ChannelMechanism(self, self._given(values))

    def _stored(self, name: str, value: Any) -> Any:
        what = f"parameter {name} of {self.name}"
        declared = self._description.parameters[name].declared
        if callable(value) or isinstance(value, PerCell):
            return value
        if isinstance(value, str):
            value = value_in(what, value, declared.unit)
        elif declared.is_switch and np.asarray(value).dtype == np.bool_:
            value = np.asarray(value).astype(np.float64)
        array = number_array(what, value, "a number, an array or a function of distances")
        check_values(what, declared, array)
        return float(array) if array.ndim == 0 else locked(array)

    @staticmethod
    def _placed() -> type:
        return ChannelMechanism

    def __repr__(self) -> str:
        return f"<channel '{self.name}': {', '.join(self.gates) or 'no gates'}>"


class ChannelMechanism(PlacedEquations, Mechanism):
    """A channel of equations with values for its parameters, made by a call of the channel.

    Attributes
    ----------
    channel
        The channel.
    """

    channel: EquationChannel
    _kind = "mechanism"

    def __new__(cls, channel: EquationChannel, values: Mapping[str, Any]) -> ChannelMechanism:
        """Make one; the channel has checked the values."""
        return object.__new__(cls)

    def __init__(self, channel: EquationChannel, values: Mapping[str, Any]) -> None:
        self._put(channel=channel, name=channel.name, gates=channel.gates, currents=channel.currents)
        self._put(is_pool=channel.is_pool, _values=dict(values))

    def _equations(self) -> EquationChannel:
        return self.channel

    def _follows_temperature(self) -> str | None:
        if self.channel.follows_temperature:
            return f"the equations of {self.name} depend on it"
        return super()._follows_temperature()

    def _parameters(self, distances: FloatArray, celsius: float) -> list[FloatArray]:
        given = []
        for name, parameter in self.channel._description.parameters.items():
            value: Any = self._values.get(name, parameter.declared.default)
            what = f"{name} of {self.name}"
            array = self._numbers(what, value, distances)
            if callable(value):
                check_values(what, parameter.declared, array)
            given.append(array)
        if self.channel.is_general:
            return given
        assert isinstance(self.channel.core_model, _core.Channel)
        count = max((len(array) for array in given), default=1)
        rows = np.stack([np.broadcast_to(array, (count,)) for array in [*given, np.array([celsius])]], axis=1)
        derive = self.channel.core_model.derive
        made = np.array([derive(row) for row in rows.tolist()]).reshape(count, -1)
        columns = [np.ascontiguousarray(column) for column in made.T]
        # A value that is not given is NaN everywhere.
        is_one = [(column == column[0]).all() or np.isnan(column).all() for column in columns]
        return [column[:1] if one else column for one, column in zip(is_one, columns, strict=True)]

    def _per_cell(self) -> list[PerCell | None]:
        made: list[PerCell | None] = []
        for direct, used in self.channel._derived:
            value = self._values.get(direct) if direct is not None else None
            made.append(value if isinstance(value, PerCell) else None)
            for name in used if direct is None else ():
                if isinstance(self._values.get(name), PerCell):
                    raise ValueOutOfBoundsError(
                        f"{name} of {self.name}",
                        repr(self._values[name]),
                        "only a conductance in S/cm**2 or a reversal potential in mV, as a single name in the "
                        "equations, can have a value per cell",
                        f"write i = {name}*(powers of gates)*(v - E), and factors into {name}",
                    )
        return made


def description_of(made: EquationChannel) -> ChannelDescription | GeneralDescription:
    """Return the description from which a channel was made."""
    return made._description


def _direct(read: GeneralDescription) -> tuple[tuple[str | None, frozenset[str]], ...]:
    """Return the mechanism with the parameters of the core."""
    return tuple((name, frozenset((name,))) for name in read.parameters)


def _derived(read: ChannelDescription) -> tuple[tuple[str | None, frozenset[str]], ...]:
    """Return, of each parameter of the core, the parameter that it is, or None, and those that it depends on."""
    made: list[tuple[str | None, frozenset[str]]] = [(name, frozenset((name,))) for name in read.rate_names()]
    for node, unit in derived_nodes(read):
        used = frozenset(name for name in read.used([node]) if name in read.parameters)
        made.append((direct_parameter(read, node, unit), used))
    return tuple(made)


@known_keywords
def channel(
    equations: str,
    *,
    parameters: Mapping[str, Any] | None = None,
    initial: Mapping[str, str | float] | None = None,
    name: str = "channel",
    summary: str = "",
    reference: str = "",
) -> EquationChannel:
    """Return a channel of detailed cells that is written as equations, in the notation of `neuron`.

    Channels may depend on the concentration of calcium and carry calcium: see ``cai`` and ``(calcium)``.

    Parameters
    ----------
    equations
        One a line: ``i = expression : mA/cm**2``, the density of the current out of the cell; ``dn/dt = expression :
        1``, a gate; ``x = expression : unit``, a subexpression; ``x : unit``, a parameter. ``v`` is the potential of
        the membrane (mV), ``celsius`` the temperature of the cell in degrees Celsius, a number. If ``i`` is a sum
        of names, each of these can be recorded, too.

        The fast form has a current that is linear in ``v``, with a conductance that is a sum of products of powers of
        gates: ``g*m**3*h*(v - E)``. The equation of a gate is linear in this gate, with coefficients that depend on
        ``v``, ``cai``, ``celsius`` and parameters: ``(n_inf - n)/tau_n``, or ``alpha*(1 - n) - beta*n``. It is solved
        exactly for the potential at the start of a step, as for built-in mechanisms.

        Any other equations have the general form (`EquationChannel.is_general`): states that depend on each other, with
        any units, and currents of any form, such as that of Goldman, Hodgkin and Katz. They are evaluated in each
        step, which takes about as long as ``rates="exact"``, three times as long as tables. Currents are linearised at
        the potential at the start of a step. A state whose equation is linear in it and reads no other state is solved
        exactly, others with errors of second order in the step. A state without a steady state needs an initial value.

        ``cai`` is the concentration of calcium in the cell (mM), of the `calcium_pool` at the place, which is required.
        Gates of a channel that depend on both ``v`` and ``cai`` are calculated in each step, without a table. ``i =
        g*m**2*h*(v - eca) : mA/cm**2 (calcium)``, or one of the terms of ``i``, is a current that calcium carries: it
        fills the pool at its place, which determines ``eca``, the reversal potential (mV). Without a pool, `eca` is a
        parameter without a default: ``channel(eca="120 mV")``.
    parameters
        Values with units, by name: ``dict(g_max="0.01 S/cm**2", E_K=rv.parameter("-77 mV", low="-120 mV"))``. Names
        that are not used in the equations do not become parameters of the channel.
    initial
        Initial values of gates and states: numbers, or expressions of ``v``, ``cai``, ``celsius`` and parameters. The
        default is the steady state.
    name
        Name of the channel, for example in probes: ``(place, "n of k_slow")``.
    summary, reference
        For documentation.

    Raises
    ------
    EquationError, UnitError, UnknownSymbolError
        For mistakes in texts, and for states that need an initial value; the error shows the line and the place.
    UnknownNameError, ValueOutOfBoundsError, WrongTypeError
        For other arguments.

    Examples
    --------
    >>> import ranvier as rv
    >>> k_slow = rv.channel(
    ...     '''
    ...     i = g_max*n**4*(v - E_K) : mA/cm**2
    ...     dn/dt = (n_inf - n)/tau_n : 1
    ...     n_inf = 1/(1 + exp(-(v + 35*mV)/(10*mV))) : 1
    ...     tau_n = 5*ms + 20*ms/(1 + exp((v + 40*mV)/(15*mV))) : ms
    ...     ''',
    ...     parameters=dict(g_max="0.01 S/cm**2", E_K="-77 mV"),
    ...     name="k_slow",
    ... )
    >>> soma = rv.Morphology([rv.Section(length=12.0, diameter=12.0)])
    >>> cell = rv.Cell(soma, membrane=[("all", rv.hh()), ("all", k_slow(g_max="0.002 S/cm**2"))])
    """
    given = GivenChannel(equations, parameters, initial, name, summary, reference)
    return EquationChannel(chosen_form(describe_channel(given)))
