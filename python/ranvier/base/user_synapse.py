"""Base of synapse models that users define."""

from __future__ import annotations

import abc
from collections.abc import Mapping
from typing import ClassVar, Self

from ranvier import _core
from ranvier.base.immutable import Immutable
from ranvier.base.values import StoredValues

__all__ = ["UserSynapse"]


class UserSynapse(Immutable, abc.ABC):
    """A user-defined synapse model, which `Network.connect` accepts like a built-in model.

    A derived class sets the two attributes of its objects. They are pickled with the network.

    Attributes
    ----------
    name
        Name of the model.
    core_model
        The same model, checked by the core.
    """

    name: str
    core_model: _core.UserSynapse
    transmitter_name: ClassVar[str] = ""
    """Empty: there is no transmitter."""

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters."""
        return tuple(parameter.name for parameter in self.core_model.parameters)

    @property
    def per_synapse_names(self) -> tuple[str, ...]:
        """Parameters that may have one value per synapse."""
        return tuple(parameter.name for parameter in self.core_model.parameters if parameter.per_synapse)

    @property
    def values(self) -> Mapping[str, StoredValues]:
        """Values of parameters that differ from the defaults."""
        return {}

    @property
    def transmitter(self) -> None:
        """None: the spikes of other neurons do not act on the synapses."""
        return None

    def with_transmitter(self, neurons: object) -> Self:
        """Return itself: synapses of users have no transmitter."""
        assert neurons is None
        return self

    @abc.abstractmethod
    def _idle(self) -> UserSynapse:
        """Return a model that calculates as much, but keeps its weights, which may have any unit."""

    @abc.abstractmethod
    def with_values(self, values: Mapping[str, StoredValues]) -> Self:
        """Return the same model with other values of some parameters."""
