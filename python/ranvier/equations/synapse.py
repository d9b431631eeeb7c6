"""`rv.synapse`: synapse models that users write as equations, which learn or add a part of the weight."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from dataclasses import fields, replace
from typing import Any, Self

import numpy as np

from ranvier import _core
from ranvier.base.distributions import is_plain
from ranvier.base.formulas import Formula, Text
from ranvier.base.hints import known_keywords
from ranvier.base.immutable import Settings
from ranvier.base.names import some_names, unknown_name
from ranvier.base.numeric import number
from ranvier.base.user_synapse import UserSynapse
from ranvier.base.values import StoredValues, Values, ends_of, number_or_array, same_values, shown, store
from ranvier.equations.documentation import documented_synapse
from ranvier.equations.formulas import is_quantity, read_text
from ranvier.equations.parameters import value_in
from ranvier.equations.program import ProgramParameter, ReleaseProgram, SynapseProgram
from ranvier.equations.release_lowering import lower_release
from ranvier.equations.synapse_description import AXONAL, SynapseDescription
from ranvier.equations.synapse_lowering import keeping_weights, lower_synapse
from ranvier.equations.synapse_reading import GivenSynapse, describe_synapse
from ranvier.equations.units import NONE, Unit
from ranvier.errors import EquationError, ValueOutOfBoundsError, WrongTypeError

__all__ = ["EquationSynapse", "synapse"]


class EquationSynapse(UserSynapse):
    """A synapse model of equations, made by `synapse`. It cannot be changed; call it for one with other values.

    ``s(tau_plus="15 ms", lam=0.02)`` is the model with these values of parameters: numbers in their units, or texts
    with a unit, which all synapses of a projection share. Of the parameters in `per_synapse_names`, each synapse may
    have a different value, from an array or a distribution: ``s(W_max=rv.Uniform(50.0, 100.0))``.

    Attributes
    ----------
    name
        Name of the model.
    program
        The programs that the core executes (`ranvier.equations.program`).
    """

    program: SynapseProgram | ReleaseProgram
    core_model: _core.ProgramSynapse | _core.ProgramRelease
    _given: GivenSynapse
    _description: SynapseDescription
    _values: dict[str, StoredValues]

    def __init__(self, given: GivenSynapse, values: Mapping[str, StoredValues]) -> None:
        description = describe_synapse(given)
        program = lower_release(description) if description.releases else lower_synapse(description)
        self._put(
            name=description.name,
            program=program,
            core_model=_core_model(program),
            _given=given,
            _description=description,
            _values={},
        )
        self._check_events()
        self._put(_values={name: self._stored(name, value) for name, value in values.items()})

    def __call__(self, **values: Values | str) -> EquationSynapse:
        """Return the same model with other values of parameters.

        Raises
        ------
        UnknownNameError
            For a name that is not a parameter.
        UnitError, ValueOutOfBoundsError, WrongTypeError
            For values in another unit or outside their bounds, that contradict each other, or are not numbers.
        """
        return self.with_values({name: self._stored(name, value) for name, value in values.items()})

    def with_values(self, values: Mapping[str, StoredValues]) -> Self:
        """Return the same model with other values of some parameters."""
        made = object.__new__(type(self))
        made._put(**{**vars(self), "_values": {**self._values, **values}})
        # The bounds of an expression are known where synapses are made; the core then checks them.
        is_known = all(is_plain(each) or not isinstance(each, Formula) for each in made._values.values())
        conflict = made._conflict() if is_known else None
        if conflict is not None:
            raise ValueOutOfBoundsError(f"parameters of {self.name}", bound=conflict, remedy="give other values")
        return made

    def _idle(self) -> EquationSynapse:
        # Weights stay where spikes add a part of them.
        idle = self.program if isinstance(self.program, ReleaseProgram) else keeping_weights(self.program)
        program = replace(idle, weight_unit="")
        made = object.__new__(type(self))
        made._put(**{**vars(self), "program": program, "core_model": _core_model(program)})
        return made

    def _all_values(self) -> list[float]:
        """Return all values; for per-synapse parameters, the largest one."""
        return self._ends()[1]

    def _ends(self) -> tuple[list[float], list[float]]:
        """Return the least and the greatest value of each parameter."""
        ends = [ends_of(self._values.get(each.name, each.default)) for each in self.program.parameters]
        return [least for least, _ in ends], [greatest for _, greatest in ends]

    @property
    def per_synapse_indices(self) -> list[int]:
        """Indices of the parameters with one value per synapse."""
        values = [self._values.get(each.name, each.default) for each in self.program.parameters]
        return [i for i, value in enumerate(values) if not isinstance(value, float | int)]

    def _conflict(self) -> str | None:
        if isinstance(self.core_model, _core.ProgramRelease):
            return self.core_model.conflict(self._all_values())
        return self.core_model.conflict(*self._ends(), self.per_synapse_indices)

    def _conflict_of_events(self) -> str | None:
        if isinstance(self.core_model, _core.ProgramRelease):
            return self.core_model.conflict_of_events(self._all_values())
        return self.core_model.conflict_of_events(*self._ends())

    def _check_events(self) -> None:
        """Raise an error for events that might change the sign of weights; values are checked when they are used."""
        conflict = self._conflict()
        if conflict is not None and conflict == self._conflict_of_events():
            raise EquationError(f"the events of {self.name}", "", conflict, "see help(rv.synapse)")

    def _parameter(self, name: str) -> ProgramParameter:
        found = {each.name: each for each in self.program.parameters}
        if name not in found:
            unknown_name(f"parameter of {self.name}", name, list(found))
        return found[name]

    def _unit(self, name: str) -> Unit:
        return Unit(NONE, 0, "") if name == AXONAL else self._description.unit(name)

    def _stored(self, name: str, value: Any) -> StoredValues:
        declared = self._parameter(name)
        what = f"parameter {name} of {self.name}"
        if name in self.per_synapse_names and not (isinstance(value, str) and is_quantity(value)):
            if isinstance(value, str):
                # Names may be constants of the call that makes synapses.
                read_text(Text(value), what)
            if isinstance(value, str | Formula):
                return store(what, value)
            stored = number_or_array(what, value)
            # Bounds of arrays are checked when synapses are made, with the element in the error.
            if isinstance(stored, np.ndarray):
                return stored
        if isinstance(value, str):
            made = value_in(what, value, self._unit(name))
        else:
            is_switch = name != AXONAL and self._description.parameters[name].declared.is_switch
            try:
                made = float(value) if is_switch and isinstance(value, bool | np.bool_) else number(what, value)
            except WrongTypeError as error:
                raise WrongTypeError(
                    what,
                    error.value,
                    "must be a number, since all synapses of a projection share it",
                    f"divide the synapses among projections{self._may_differ()}",
                ) from None
        bounds = next(info.bounds for info in self.core_model.parameters if info.name == name)
        above = made > declared.lower if declared.lower_open else made >= declared.lower
        below = made < declared.upper if declared.upper_open else made <= declared.upper
        if not (above and below and np.isfinite(made)):
            bound = f"it must be {bounds}" if np.isfinite(made) else "it must be finite"
            raise ValueOutOfBoundsError(what, f"{made:g}", bound)
        return made

    def _may_differ(self) -> str:
        names = list(self.per_synapse_names)
        return f"; {some_names(names)} may differ" if names else ""

    @property
    def values(self) -> Mapping[str, StoredValues]:
        """The values that differ from the defaults, by the name of the parameter."""
        return Settings(self._values, f"a model {self.name}", f"{self.name}(")

    @property
    def units(self) -> Mapping[str, str]:
        """The unit of each parameter; empty without a unit."""
        return {each.name: each.unit for each in self.program.parameters}

    @property
    def weight_unit(self) -> str:
        """The unit of weights; empty where all fit."""
        return self.program.weight_unit

    @property
    def weight_range(self) -> tuple[float, float]:
        """The weights that synapses keep to, with the values that the model has; an end may be infinite.

        If spikes add a part of the weight, the weight is constant and its unit is arbitrary.

        Raises
        ------
        ValueOutOfBoundsError
            When no range can be proven.
        """
        if isinstance(self.core_model, _core.ProgramRelease):
            return -math.inf, math.inf
        found = self.core_model.weight_range(*self._ends())
        if found is None:
            conflict = self._conflict()
            raise ValueOutOfBoundsError(f"parameters of {self.name}", bound=conflict or "", remedy="give other values")
        return found

    @property
    def equations(self) -> str:
        """Its equations and events, as they were written."""
        return self.program.equations

    def describe(self) -> str:
        """Return the model in words: equations, parameters with units, defaults and bounds."""
        return documented_synapse(self.program)

    @property
    def __signature__(self) -> inspect.Signature:
        return self.signature

    @property
    def signature(self) -> inspect.Signature:
        """The keywords of a call, with the values that the model has."""
        keyword = inspect.Parameter.KEYWORD_ONLY
        values = [(each.name, self._values.get(each.name, each.default)) for each in self.program.parameters]
        parameters = [inspect.Parameter(name, keyword, default=value) for name, value in values]
        return inspect.Signature(parameters, return_annotation=EquationSynapse)

    def _title(self) -> str:
        return f"a model {self.name}"

    def _how_to_change(self, name: str) -> str:
        if name in self.parameters:
            return f"write s({name}=...), where s is the model, and give it to connect() or net.set() as synapse="
        return "make another one with rv.synapse()"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, EquationSynapse):
            return NotImplemented
        return self.program == other.program and same_values(self._values, other._values)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        values = "".join(f", {name}={shown(value)}" for name, value in self._values.items())
        variables = ", ".join([*self._description.traces, *self._description.variables])
        return f"<synapse '{self.name}'{values}: {variables or 'no variables'}>"

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        given = {each.name: getattr(self._given, each.name) for each in fields(self._given)}
        return _again, (given, self._values)


def _core_model(program: SynapseProgram | ReleaseProgram) -> _core.ProgramSynapse | _core.ProgramRelease:
    return _core.ProgramRelease(program) if isinstance(program, ReleaseProgram) else _core.ProgramSynapse(program)


def _again(given: dict[str, Any], values: dict[str, StoredValues]) -> EquationSynapse:
    """Make a model from its pickled description."""
    return EquationSynapse(GivenSynapse(**given), values)


@known_keywords
def synapse(
    equations: str = "",
    *,
    on_pre: str = "",
    on_post: str = "",
    parameters: Mapping[str, Any] | None = None,
    name: str = "synapse",
    summary: str = "",
    reference: str = "",
) -> EquationSynapse:
    """Return a synapse model that is written as equations, in the notation of Brian2.

    It is plastic, or its spikes add a part of the weight that depends on earlier spikes of the source (see Notes).

    Parameters
    ----------
    equations
        One a line: ``dx/dt = -x/tau : unit``, a trace, which decays; ``x = expression : unit``, a subexpression;
        ``x : unit``, a parameter; ``w : unit``, the unit of weights, which by default follows from the other units. The
        text after ``#`` is the meaning.
    on_pre, on_post
        Effect of a spike that arrives at the synapse from its source, or from its target: assignments, which are
        executed in their order. They change the weight ``w`` and raise traces: ``x += 1`` if all spikes count,
        ``x = 1`` if only the last one does, or by another expression of parameters. A statement before ``x += 1`` reads
        `x` as it was before the spike. The spikes of one side raise a trace, and both sides may read it; each event can
        read one trace of the other side and one of the same side. The weight after ``on_pre`` is the weight that
        reaches the target. Spikes that arrive in the same step do not affect each other; that of the target is
        processed first.
    parameters
        Values with units, by name: ``dict(tau="20 ms", W_max=rv.parameter("100 pA", meaning="Greatest weight"))``.
        Plastic models also have the parameter ``axonal_fraction``, as `rv.stdp` has it.
    name, summary, reference
        For summaries and documentation.

    Notes
    -----
    Most parameters of a plastic model may have one value per synapse, from an array or a distribution:
    ``s(lam=rv.Uniform(0.01, 0.02))``. `EquationSynapse.per_synapse_names` names these parameters.

    Weights must keep their sign for any spikes, and this must follow from the equations: write
    ``w = max(w - ..., 0)`` if an event lowers them, or ``w = clip(w + ..., 0, W_max)``. The bounds of weights follow
    from such expressions. If weights are stored in single precision, parameters are rounded to it, too.

    If `on_pre` assigns ``release``, the weight is constant, and a spike adds ``release*w`` to the input of the target,
    as with short-term plasticity. All synapses of a source share the variables, up to four, each of which returns to
    its value at rest between spikes: ``dx/dt = (1 - x)/tau : 1``. This is the initial value. `on_pre` changes them and
    assigns ``release`` once, from variables and parameters. It must follow that it is >= 0 and at most 256: write
    ``release = clip(u*x, 0, 1)``. Then there is no `on_post`.

    Raises
    ------
    EquationError, UnitError, UnknownSymbolError
        For mistakes in texts; the error shows the line and the place.
    WrongTypeError, ValueOutOfBoundsError
        For other arguments.

    Examples
    --------
    >>> import ranvier as rv
    >>> s = rv.synapse(
    ...     '''dx/dt = -x/tau_plus : 1
    ...        dy/dt = -y/tau_minus : 1''',
    ...     on_pre="x += 1; w = max(w - lam*alpha*w*y, 0)",
    ...     on_post="y += 1; w = min(w + lam*(W_max - w)*x, W_max)",
    ...     parameters=dict(tau_plus="20 ms", tau_minus="20 ms", lam=0.01, alpha=1.0, W_max="100 pA"),
    ... )
    >>> s.weight_range
    (0.0, 100.0)
    >>> net = rv.Network()
    >>> cells = net.create("iaf_psc_exp", 10)
    >>> learning = net.connect(cells, cells, rv.FixedIndegree(2), weight=50.0, delay=1.5, synapse=s(lam=0.02))

    Short-term depression and facilitation (M. Tsodyks and H. Markram, 1997), as `rv.tsodyks2`:

    >>> depressing = rv.synapse(
    ...     '''du/dt = -u/tau_facil : 1
    ...        dx/dt = (1 - x)/tau_rec : 1''',
    ...     on_pre="u += U*(1 - u); release = clip(u*x, 0, 1); x -= release",
    ...     parameters=dict(U=0.5, tau_facil="50 ms", tau_rec="800 ms"),
    ... )
    >>> releasing = net.connect(cells, cells, rv.FixedIndegree(2), weight=50.0, delay=1.5, synapse=depressing)
    """
    return EquationSynapse(GivenSynapse(equations, on_pre, on_post, parameters, name, summary, reference), {})
