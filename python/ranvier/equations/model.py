"""`rv.neuron`: neuron models that users write as equations."""

from __future__ import annotations

import inspect
import math
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

import numpy as np

from ranvier import _core
from ranvier.base.formulas import Formula
from ranvier.base.hints import known_keywords
from ranvier.base.immutable import Settings
from ranvier.base.names import unknown_name
from ranvier.base.user_model import UserModel
from ranvier.base.values import StoredValues, Values, store
from ranvier.equations.beginning import check_beginning
from ranvier.equations.copies import Copies
from ranvier.equations.description import Description
from ranvier.equations.documentation import documented
from ranvier.equations.formulas import is_quantity
from ranvier.equations.integration import AbsoluteTolerance, Integration
from ranvier.equations.lowering import lower
from ranvier.equations.parameters import value_in
from ranvier.equations.program import NeuronProgram
from ranvier.equations.reading import Given, describe
from ranvier.equations.units import Unit
from ranvier.errors import ValueOutOfBoundsError

__all__ = ["EquationNeuron", "neuron"]


class EquationNeuron(UserModel):
    """A neuron model of equations, made by `neuron`. It cannot be changed; call it for one with other values.

    ``n(I_e="400 pA", tau_m=rv.Normal(10.0, 1.0))`` is the model with these values of parameters, or initial values of
    variables: numbers in their units, texts with a unit, arrays with one number for each neuron, or distributions.

    Attributes
    ----------
    name
        Name of the model.
    method
        The method of integration, as given or as ``"auto"`` has chosen it.
    program
        The programs that the core executes (`ranvier.equations.program`).
    """

    method: str
    program: NeuronProgram
    core_model: _core.ProgramModel
    _given: Given
    _integration: Integration
    _description: Description
    _values: dict[str, StoredValues]

    def __init__(self, given: Given, integration: Integration, values: Mapping[str, StoredValues]) -> None:
        description = describe(given)
        check_beginning(description, {})
        lowered = lower(description, integration.method, integration.tolerances(description.variables))
        integration.check_used(lowered.method)
        self._put(
            name=description.name,
            method=lowered.method,
            program=lowered.program,
            core_model=_core.ProgramModel(lowered.program),
            _given=given,
            _integration=integration,
            _description=description,
            _values=dict(values),
        )

    def __call__(self, **values: Values | str) -> EquationNeuron:
        """Return the same model with other values of parameters, or initial values of variables.

        Raises
        ------
        UnknownNameError
            For a name that is not a parameter or a variable.
        UnitError, ValueOutOfBoundsError, WrongTypeError
            For values in another unit or outside their bounds, and for other types.
        EquationError
            For values with which something is divided by 0 at the beginning.
        """
        known = [*self._description.parameters, *self._description.variables]
        for name in values:
            if name not in known:
                unknown_name(f"parameter of {self.name}", name, known)
        stored = {**self._values, **{name: self.stored(name, value) for name, value in values.items()}}
        self.check_values(stored)
        return self._with(stored)

    def _with(self, values: Mapping[str, StoredValues]) -> EquationNeuron:
        made = object.__new__(type(self))
        made._put(**{**vars(self), "_values": dict(values)})
        return made

    def _check_bounds(self, values: Mapping[str, StoredValues]) -> None:
        """Check parameters before there are neurons; the core checks them again for each neuron."""
        full = {name: each.declared.default for name, each in self._description.parameters.items()}
        for name, value in values.items():
            if name not in full or isinstance(value, Formula):
                continue
            declared = self._description.parameters[name].declared
            for each in np.unique(np.asarray(value)).tolist():
                if not declared.contains(each):
                    bounds = next(info.bounds for info in self.core_model.parameters if info.name == name)
                    bound = f"it must be {bounds}" if math.isfinite(each) else "it must be finite"
                    bound = "it must be True or False" if declared.is_switch else bound
                    raise ValueOutOfBoundsError(f"parameter {name} of {self.name}", f"{each:g}", bound)
            full[name] = value if isinstance(value, float) else full[name]
        conflict = self.core_model.conflict(list(full.values()))
        if conflict is not None:
            raise ValueOutOfBoundsError(f"parameters of {self.name}", bound=conflict, remedy="give other values")

    def check_values(self, values: Mapping[str, StoredValues]) -> None:
        """Check bounds, and that nothing is divided by 0 at the beginning, as far as values are numbers.

        Raises
        ------
        ValueOutOfBoundsError, EquationError
            When a value is outside its bounds, or something is divided by 0.
        """
        self._check_bounds(values)
        check_beginning(self._description, {n: value for n, value in values.items() if isinstance(value, float)})

    def model_for(self, size: int) -> EquationNeuron:
        """Return the same model without values, which may be arrays of another size."""
        return self._with({})

    def stored(self, name: str, value: Any) -> StoredValues:
        """Return values of a parameter or a variable in the form in which networks keep them; texts have units."""
        what = f"parameter {name} of {self.name}"
        parameter = self._description.parameters.get(name)
        if parameter is not None and parameter.declared.is_switch and np.asarray(value).dtype == np.bool_:
            value = np.asarray(value).astype(np.float64)
        if isinstance(value, str) and is_quantity(value):
            return value_in(what, value, self._unit(name))
        return store(what, value)

    def _unit(self, name: str) -> Unit:
        return self._description.unit(name)

    @property
    def values(self) -> Mapping[str, StoredValues]:
        """The values that differ from the defaults, by the name of the parameter or variable."""
        return Settings(self._values, f"a model {self.name}", f"{self.name}(")

    @property
    def units(self) -> Mapping[str, str]:
        """The unit of each parameter, variable and subexpression; empty without a unit."""
        description = self._description
        names = [*description.parameters, *description.variables, *description.subexpressions]
        return {name: self._unit(name).text for name in names}

    @property
    def receptors(self) -> tuple[str, ...]:
        """Names of its receptors."""
        return self.program.receptors

    @property
    def equations(self) -> str:
        """Its equations, threshold, reset and receptors, as they were written."""
        return self.program.equations

    def describe(self) -> str:
        """Return the model as text.

        Equations, parameters with units, defaults and bounds, variables, which of them are held while a neuron is
        refractory, and receptors.
        """
        return documented(self.program, self.method, self._description.held)

    @property
    def __signature__(self) -> inspect.Signature:
        return self.signature

    @property
    def signature(self) -> inspect.Signature:
        """The keywords of a call, with the values that the model has."""
        description = self._description
        defaults: dict[str, Any] = {name: each.declared.default for name, each in description.parameters.items()}
        defaults |= description.initial
        keyword = inspect.Parameter.KEYWORD_ONLY
        parameters = [
            inspect.Parameter(name, keyword, default=self._values.get(name, value)) for name, value in defaults.items()
        ]
        return inspect.Signature(parameters, return_annotation=EquationNeuron)

    def _title(self) -> str:
        return f"a model {self.name}"

    def _how_to_change(self, name: str) -> str:
        if name in self._description.parameters or name in self._description.variables:
            return f"write n({name}=...), where n is the model, or give {name}=... to create()"
        return "make another one with rv.neuron()"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, EquationNeuron):
            return NotImplemented
        same = self.program == other.program and self._values.keys() == other._values.keys()
        return same and all(
            np.array_equal(np.asarray(value), np.asarray(other._values[name])) for name, value in self._values.items()
        )

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        values = "".join(f", {name}={value!r}" for name, value in self._values.items())
        return f"<neuron '{self.name}'{values}: {', '.join(self._description.variables)}; {self.method}>"

    def __reduce__(self) -> tuple[object, tuple[object, ...]]:
        given = {each.name: getattr(self._given, each.name) for each in fields(self._given)}
        return _again, (given, self._integration.given, self._values)


def _again(given: dict[str, Any], options: dict[str, Any], values: dict[str, StoredValues]) -> EquationNeuron:
    """Make a model from its pickled description."""
    locked = {name: store(name, value) for name, value in values.items()}
    return EquationNeuron(Given(**given), Integration.checked(**options), locked)


@known_keywords
def neuron(
    equations: str,
    *,
    threshold: str | None = None,
    reset: str = "",
    refractory: str | None = None,
    after_refractory: str = "",
    parameters: Mapping[str, Any] | None = None,
    receptors: Mapping[str, str] | None = None,
    initial: Mapping[str, str | float] | None = None,
    method: str = "auto",
    relative_tolerance: float | None = None,
    absolute_tolerance: AbsoluteTolerance | None = None,
    sign_chooses_receptor: bool | None = None,
    copies: Mapping[str, Copies] | None = None,
    name: str = "neuron",
    summary: str = "",
    reference: str = "",
) -> EquationNeuron:
    """Return a neuron model that is written as equations, in the notation of Brian2.

    Parameters
    ----------
    equations
        One a line: ``dx/dt = expression : unit``, the derivative of a variable; ``x = expression : unit``, a
        subexpression, which can be recorded; ``x : unit``, a parameter, or a variable that only resets and spikes
        change. The text after ``#`` is the meaning of the variable. ``I_stimulus`` is the current of stimulators (pA),
        ``dt`` the length of a step, ``xi`` (or ``xi_1``, ...) white noise.
    threshold
        The neuron fires when this condition holds at the end of a step.
    reset
        Assignments that follow, in their order: ``"v = V_reset; w += b"``.
    refractory
        Period after a spike in which the neuron does not fire: ``"2 ms"``, the name of a parameter, or an expression.
        Meanwhile, variables with the flag ``(unless refractory)`` after their unit are held; without flags, those that
        the threshold reads and the reset assigns.
    after_refractory
        Assignments at the end of the last refractory step, or, if the period is shorter than half a step, after the
        reset: ``reset="v = V_clamp"`` and ``after_refractory="v = V_reset"`` clamp a potential during a spike.
    parameters
        Values with units, by name: ``dict(tau_m="10 ms", C_m=rv.parameter("250 pF", meaning="Capacitance"))``. Time
        constants, capacitances, conductances and resistances by which is divided must be positive. Names that are
        not used do not become parameters of the model.
    receptors
        Effect of the sum ``w`` of the weights of the spikes that arrive in a step, by receptor:
        ``dict(excitatory="g_ex += w", inhibitory="g_in += -w")``. The unit of weights follows.
    initial
        Initial values of variables: the name of a parameter, a number in the unit of the variable, or ``"-65 mV"``. By
        default, a variable starts at the value that the reset assigns, if that is a parameter or a number, else at 0.
    method
        ``"exact"``: linear equations with constant coefficients, solved exactly. ``"exponential_euler"``: each equation
        as linear in its variable. ``"euler"``: of first order, with noise the method of Euler and Maruyama.
        ``"rk4"``: of fourth order. ``"adaptive"``: Taylor series of sixth and eighth order (Jorba and Zou,
        Experimental Mathematics 14, 99-117, 2005), or the method of Cash and Karp for functions without simple
        series, with as many steps as the tolerances need, separately for each neuron. ``"auto"``: ``"exact"`` if
        that is possible, else ``"adaptive"``; with noise ``"exponential_euler"`` for linear equations, else
        ``"euler"``.
    relative_tolerance, absolute_tolerance
        Error bounds of an adaptive step: ``absolute_tolerance`` in the unit of each variable, or by variable, plus
        ``relative_tolerance`` times its value, or times its change in the whole step, if this is larger.
        Both are 1e-6 unless given. Other methods have no error bound.
    sign_chooses_receptor
        Whether weights >= 0 reach the first receptor, and others the second one, for connections without a receptor;
        None: if the receptors are named ``excitatory`` and ``inhibitory``.
    copies
        Numbers of copies of names with an index, or names of the copies: with ``copies=dict(k=2)``, the line
        ``dI[k]/dt = -I[k]/tau[k] : pA`` makes ``I_1`` and ``I_2``, and ``sum(I[k])`` is their sum. Names of parameters,
        receptors and initial values may have an index, too; a list then has a value for each copy.
    name, summary, reference
        For summaries, names of populations, and documentation.

    Raises
    ------
    EquationError, UnitError, UnknownSymbolError
        For mistakes in texts; the error shows the line and the place.
    UnknownNameError, ValueOutOfBoundsError, WrongTypeError
        For other arguments.

    Examples
    --------
    >>> import ranvier as rv
    >>> n = rv.neuron(
    ...     "dv/dt = (E_L - v)/tau_m + I_e/C_m : mV",
    ...     threshold="v >= V_th",
    ...     reset="v = V_reset",
    ...     refractory="t_ref",
    ...     parameters=dict(
    ...         E_L="-70 mV", tau_m="10 ms", C_m="250 pF", V_th="-55 mV", V_reset="-70 mV", t_ref="2 ms", I_e="500 pA"
    ...     ),
    ... )
    >>> net = rv.Network()
    >>> cells = net.create(n, 3)
    """
    integration = Integration.checked(method, relative_tolerance, absolute_tolerance)
    given = Given(
        equations,
        threshold,
        reset,
        refractory,
        parameters,
        receptors,
        initial,
        sign_chooses_receptor,
        name,
        summary,
        reference,
        after_refractory,
    ).written_out(copies)
    return EquationNeuron(given, integration, {})
