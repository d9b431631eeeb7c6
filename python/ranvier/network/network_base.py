"""The contents of a network, and the calls that made them."""

from __future__ import annotations

import threading
from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, ClassVar, TypeVar

import numpy as np

from ranvier import _core
from ranvier.base.attributes import NamedAttributes
from ranvier.base.immutable import locked
from ranvier.base.interrupts import interrupts_deferred
from ranvier.base.keywords import known_keywords
from ranvier.base.names import counted, unknown_name
from ranvier.base.numeric import number
from ranvier.errors import ReadOnlyError
from ranvier.network import summary
from ranvier.network.calls import Call, ChangeableCall
from ranvier.network.checks import check_seed, check_text
from ranvier.network.contents import Contents, Handle, Parts
from ranvier.network.other_simulators import IN_PLACE_OF_CALLS
from ranvier.network.populations import Population, PopulationView
from ranvier.network.projections import Projection, Stimulus
from ranvier.network.recorders import Recorder

__all__ = ["NetworkBase", "contents_of", "snapshot_of"]

Made = TypeVar("Made", bound=Handle)


class NetworkBase(NamedAttributes):
    """Base of `Network`, without the calls that add or change parts.

    It can be copied and pickled: it remembers, as plain data, the calls that the core has accepted, and repeats them.
    Several threads may call it at the same time.
    """

    _instead: ClassVar[Mapping[str, str]] = {
        **IN_PLACE_OF_CALLS,
        "Create": "write net.create(model, size)",
        "get": "write net.populations[0].values for what was set, or sim.get(population, names) in a simulation",
        "spikes": "write sim = rv.Simulation(net), sim.run(duration), sim.spikes(recorder)",
        "connections": "write sim = rv.Simulation(net), sim.connections()",
    }

    @known_keywords
    def __init__(self, resolution: float = 0.1, seed: int = 1, name: str = "network") -> None:
        self.name = name
        self._begin(number("resolution", resolution), check_seed(seed))

    def _begin(self, resolution: float, seed: int) -> None:
        self._contents = Contents(self, _core.Network(resolution, seed))
        self._lock = threading.RLock()
        self._calls: list[Call[Any]] = []
        self._places: dict[tuple[type, int], int] = {}  # place of the call that made a part, by the part's kind, index

    def __setattr__(self, name: str, value: object) -> None:
        # An attribute that was assigned by mistake would have no effect, and would be lost in a copy.
        known = ("name", "resolution", "seed")
        if not name.startswith("_") and name not in known and type(self).__module__.startswith("ranvier."):
            raise ReadOnlyError(
                f"{name} of network {self.name}",
                bound=f"it cannot be assigned, only {', '.join(known)} can",
                remedy="change parts of the network with net.set(...), and keep other values in variables of your own",
            )
        super().__setattr__(name, value)

    @property
    def name(self) -> str:
        """Name of the network in summaries and reports."""
        return self._name

    @name.setter
    def name(self, name: str) -> None:
        self._name = check_text("name of a network", name)

    @property
    def resolution(self) -> float:
        """Length of a step, ms. Changing it raises StateError once the network has times or delays on its grid."""
        return self._contents.core.resolution

    @resolution.setter
    def resolution(self, resolution: float) -> None:
        before = self.resolution
        self._contents.core.set_resolution(number("resolution", resolution))
        self._contents.revision += self.resolution != before

    @property
    def seed(self) -> int:
        """Seed of all random numbers."""
        return self._contents.core.seed

    @seed.setter
    def seed(self, seed: int) -> None:
        before = self.seed
        self._contents.core.set_seed(check_seed(seed))
        self._contents.revision += self.seed != before

    @property
    def populations(self) -> tuple[Population, ...]:
        """All populations, in the order of creation; ``net["exc"]`` is the one of that name."""
        return Parts(self._contents.populations)

    @property
    def projections(self) -> tuple[Projection, ...]:
        """All projections, in the order of creation."""
        return Parts(self._contents.projections)

    @property
    def stimuli(self) -> tuple[Stimulus, ...]:
        """All stimuli, in the order of creation."""
        return Parts(self._contents.stimuli)

    @property
    def recorders(self) -> tuple[Recorder, ...]:
        """All recorders, in the order of creation."""
        return Parts(self._contents.recorders)

    @property
    def neuron_count(self) -> int:
        """Number of neurons; sources, whose spikes are given or drawn, are not counted."""
        return self._contents.core.neuron_count

    @property
    def expected_synapses(self) -> float:
        """Number of synapses: exact if the rules determine it, otherwise its expected value."""
        return self._contents.core.expected_synapses

    def __getitem__(self, name: str) -> Population:
        """Return the population of that name.

        Raises
        ------
        UnknownNameError
            When there is none; the message suggests the nearest name.
        """
        for population in self._contents.populations:
            if isinstance(name, str) and population.name == name:
                return population
        return unknown_name("population", name, [population.name for population in self._contents.populations])

    def __contains__(self, item: object) -> bool:
        """Whether there is a population of that name, or whether a handle belongs to this network."""
        if isinstance(item, str):
            return any(population.name == item for population in self._contents.populations)
        return isinstance(item, PopulationView | Projection | Stimulus | Recorder) and item.network is self

    def __iter__(self) -> Iterator[Population]:
        """Go through the populations, in the order of creation."""
        return iter(self.populations)

    def __len__(self) -> int:
        """Return the number of populations."""
        return len(self._contents.populations)

    def __bool__(self) -> bool:
        """Return True, also where there is no population yet."""
        return True

    def to_steps(self, milliseconds: float, what: str = "time") -> int:
        """Return the number of steps that a time takes.

        Raises
        ------
        GridError
            When it is not a multiple of the resolution; the message calls the time `what`.
        """
        return self._contents.core.to_steps(number(what, milliseconds), what)

    def summary(self) -> str:
        """Return tables of the parts of the network, as text."""
        return summary.as_text(self)

    def _repr_html_(self) -> str:
        return summary.as_html(self)

    def __repr__(self) -> str:
        return (
            f"<Network {self.name}: {counted(self.neuron_count, 'neuron')} in "
            f"{counted(len(self._contents.populations), 'population')}, "
            f"{counted(self.expected_synapses, 'synapse', '.0f')} in "
            f"{counted(len(self._contents.projections), 'projection')}>"
        )

    def __eq__(self, other: object) -> bool:
        """Whether another network has the same parts, resolution, seed and name."""
        if not isinstance(other, NetworkBase):
            return NotImplemented
        return _are_alike(self.__getstate__(), other.__getstate__())

    # A network is mutable.
    __hash__ = None  # type: ignore[assignment]

    # ---- calls, and calls made again ---------------------------------------------------------------------------------

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            return {"name": self.name, "resolution": self.resolution, "seed": self.seed, "calls": list(self._calls)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.name = state["name"]
        self._begin(state["resolution"], state["seed"])
        for call in state["calls"]:
            self._make(_locked(call))

    def _make(self, call: Call[Made]) -> Made:
        """Carry out a call, and remember it if it was accepted."""
        # Neither another thread nor Ctrl-C may come between these statements.
        with self._lock, interrupts_deferred():
            made = call.make(self._contents)
            self._places[type(made), made.index] = len(self._calls)
            self._calls.append(call)
            self._contents.revision += 1
        return made

    def _call_of(self, made: Handle) -> Call[Any]:
        """Return the call that made a part."""
        return self._calls[self._places[type(made), made.index]]

    def _change(self, changes: list[tuple[Handle, ChangeableCall[Any]]]) -> None:
        """Replace the calls that made some parts: all of them, or none if the core refuses one."""
        with self._lock, interrupts_deferred():
            present = [(made, self._call_of(made)) for made, _ in changes]
            for number_done, (made, call) in enumerate(changes):
                try:
                    call.change(self._contents, made)
                except BaseException:
                    for earlier, before in present[:number_done]:
                        before.change(self._contents, earlier)  # type: ignore[attr-defined]
                    raise
            for made, call in changes:
                self._calls[self._places[type(made), made.index]] = call
            self._contents.revision += 1


def contents_of(network: NetworkBase) -> Contents:
    """Return the contents of a network, for building it and for predicting what it needs."""
    return network._contents


def snapshot_of(network: NetworkBase) -> Contents:
    """Return a copy of the contents of a network, from which a simulation is built; later changes do not affect it."""
    with network._lock:
        now = network._contents
        now.built_revision = now.revision
        return Contents(
            network,
            _core.Network(now.core),
            list(now.populations),
            list(now.projections),
            list(now.stimuli),
            list(now.recorders),
            now.revision,
        )


def _are_alike(a: Any, b: Any) -> bool:
    """Return whether two arguments of calls, which may contain arrays, are equal."""
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return isinstance(a, np.ndarray) and isinstance(b, np.ndarray) and np.array_equal(a, b)
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(_are_alike(value, b[key]) for key, value in a.items())
    if isinstance(a, list | tuple) and isinstance(b, list | tuple):
        return len(a) == len(b) and all(map(_are_alike, a, b))
    if is_dataclass(a) and type(a) is type(b) and isinstance(a, Call):
        return all(_are_alike(getattr(a, each.name), getattr(b, each.name)) for each in fields(a))
    return bool(a == b)


def _locked(argument: Any) -> Any:
    """Make arrays read-only again after copying or unpickling, which made them writable."""
    if isinstance(argument, np.ndarray):
        return locked(argument)
    if isinstance(argument, dict):
        return {name: _locked(value) for name, value in argument.items()}
    if isinstance(argument, tuple):
        return tuple(map(_locked, argument))
    if isinstance(argument, Call):
        return replace(argument, **{each.name: _locked(getattr(argument, each.name)) for each in fields(argument)})
    return argument
