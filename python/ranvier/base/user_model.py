"""Base of neuron models that users define."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from ranvier import _core
from ranvier.base.immutable import Immutable
from ranvier.base.values import StoredValues, store

__all__ = ["UserModel"]


class UserModel(Immutable):
    """A user-defined neuron model, which `Network.create` accepts like a built-in model.

    A derived class sets the two attributes of its objects. They are pickled with the network.

    Attributes
    ----------
    name
        Name of the model, from which default names of populations are derived.
    core_model
        The same model, checked by the core.
    """

    name: str
    core_model: _core.UserModel

    receptor_remedy: ClassVar[str] = "give its model receptors, such as rv.neuron(..., receptors=dict(exc='v += w'))"
    """Remedy of the error for a model without receptors."""

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters."""
        return tuple(parameter.name for parameter in self.core_model.parameters)

    @property
    def variables(self) -> tuple[str, ...]:
        """Names of the variables that can be recorded."""
        return tuple(variable.name for variable in self.core_model.variables)

    @property
    def values(self) -> Mapping[str, StoredValues]:
        """Values of parameters and variables that populations have unless they are given others."""
        return {}

    @property
    def counted(self) -> tuple[str, ...]:
        """Keywords of the class of the model for numbers of copies, which are not parameters of a population."""
        return ()

    def stored(self, name: str, value: Any) -> StoredValues:
        """Return values of a parameter or a variable, as a user gives them, in the form in which networks keep them."""
        return store(f"parameter {name} of {self.name}", value)

    def check_values(self, values: Mapping[str, StoredValues]) -> None:
        """Check values of a population that the core cannot check.

        Raises
        ------
        RanvierError
            When neurons cannot start with these values.
        """

    def model_for(self, size: int) -> object:
        """Return the argument of `Network.create` for another population of the same model, with another size."""
        return self
