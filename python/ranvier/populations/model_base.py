"""The base classes of the classes of `ranvier.models`."""

from __future__ import annotations

import copy
from collections.abc import Mapping
from typing import Any, ClassVar, Self, TypeAlias

from ranvier.base.formulas import Formula
from ranvier.base.model import Model
from ranvier.base.names import some_names
from ranvier.base.numeric import number
from ranvier.base.user_synapse import UserSynapse
from ranvier.base.values import StoredValues, Values, number_or_array, shown, store
from ranvier.errors import WrongTypeError
from ranvier.populations.populations import Neurons

__all__ = ["AnySynapse", "Model", "NeuronModel", "Stimulator", "SynapseModel"]


class NeuronModel(Model):
    """A neuron model with values for its parameters and for the initial values of its state variables."""


class SynapseModel(Model):
    """A synapse model with values for its parameters.

    All synapses of a projection share a value that is a number. The parameters in `per_synapse_names` may have one
    value per synapse, from an array or a distribution.
    """

    per_synapse_names: ClassVar[tuple[str, ...]] = ()
    """Parameters that may have one value per synapse."""
    following_names: ClassVar[Mapping[str, str]] = {}
    """Parameters whose default is the value of another parameter."""
    transmitter_name: ClassVar[str] = ""
    """The keyword for neurons whose spikes act on all synapses of a projection; empty if it has no transmitter."""
    _use = ", and give it to connect() or net.set() as synapse="
    _transmitter: Neurons | None

    def __init__(self, **values: Any) -> None:
        self._put(_transmitter=values.pop(self.transmitter_name, None))
        for name, value in values.items():
            # Other models ignore None.
            if value is None and name not in self.following_names:
                number(f"parameter {name} of {self.name}", value)
        super().__init__(**values)

    def _stored(self, name: str, value: Values) -> StoredValues:
        what = f"parameter {name} of {self.name}"
        if name in self.per_synapse_names:
            return store(what, value) if isinstance(value, str | Formula) else number_or_array(what, value)
        try:
            return number(what, value)
        except WrongTypeError as error:
            others = f"; {some_names(list(self.per_synapse_names))} may differ" if self.per_synapse_names else ""
            raise WrongTypeError(
                what,
                error.value,
                "must be a number, since all synapses of a projection share it",
                f"divide the synapses among projections{others}",
            ) from None

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        self._put(_transmitter=state["_transmitter"])

    @property
    def transmitter(self) -> Neurons | None:
        """The neurons whose spikes act on all synapses of a projection; None if the model has no transmitter."""
        return self._transmitter

    def with_transmitter(self, neurons: Neurons | None) -> Self:
        """Return the same model with other neurons, or without them."""
        made = copy.copy(self)
        made._put(_transmitter=neurons)
        return made

    def with_values(self, values: Mapping[str, StoredValues]) -> Self:
        """Return the same model with other values of some parameters."""
        made = copy.copy(self)
        made._put(_values={**self._values, **values})
        return made

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, SynapseModel):
            return NotImplemented
        return super().__eq__(other) is True and self._transmitter == other._transmitter

    __hash__ = None

    def __repr__(self) -> str:
        # In one line, however many synapses there are.
        values = [f"{name}={shown(value)}" for name, value in self._values.items()]
        if self._transmitter is not None:
            values.insert(0, f"{self.transmitter_name}={self._transmitter!r}")
        return f"{self.name}({', '.join(values)})"


AnySynapse: TypeAlias = SynapseModel | UserSynapse
"""A synapse model that comes with Ranvier, or a user-defined one."""


class Stimulator(Model):
    """A stimulator with values for its parameters."""

    emits_spikes: ClassVar[bool]
    """Whether it adds to the synaptic input of its targets, and not to their current."""
