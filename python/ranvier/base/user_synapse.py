"""Synapse models that users describe."""

from __future__ import annotations

import abc
from collections.abc import Mapping
from typing import ClassVar, Self

from ranvier import _core
from ranvier.base.immutable import Immutable
from ranvier.base.values import StoredValues

__all__ = ["UserSynapse"]


class UserSynapse(Immutable, abc.ABC):
    """A synapse model that was made of a user's description, and that `Network.connect` takes as it does built-in ones.

    A class that derives from this one gives its objects the two attributes. They are pickled with the network.

    Attributes
    ----------
    name
        Name of the model.
    core_model
        The same model, checked by the core.
    """

    name: str
    core_model: _core.OwnSynapse
    transmitter_name: ClassVar[str] = ""
    """As of built-in models: there is no transmitter."""

    @property
    def parameters(self) -> tuple[str, ...]:
        """Names of the parameters."""
        return tuple(parameter.name for parameter in self.core_model.parameters)

    @property
    def per_synapse_names(self) -> tuple[str, ...]:
        """Parameters of which each synapse may have a value of its own."""
        return tuple(parameter.name for parameter in self.core_model.parameters if parameter.per_synapse)

    @property
    def values(self) -> Mapping[str, StoredValues]:
        """Values of parameters that were given in place of the defaults."""
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
