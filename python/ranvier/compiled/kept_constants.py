"""Constants as vectors in memory: written once, or for each vector of neurons if they differ between neurons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ranvier.compiled.places import ALIGNED, Places
from ranvier.compiled.vectors import Vectors

__all__ = ["KeptConstants"]


class KeptConstants:
    """Writes the code that keeps constants of a program at addresses.

    Usually one or two constants differ between neurons, such as a current. Which ones is known only in the call: it
    makes a list of them, and processes only this list for each vector of neurons.
    """

    def __init__(self, to: Vectors, places: Places, addresses: Mapping[int, Sequence[str]]) -> None:
        """Write the start: constants, by number, are stored at addresses; `write` updates the first of them."""
        self.to = to
        self.places = places
        most = max(1, len(addresses))
        self._count = to.make("alloca i64")
        self._arrays, self._targets = (to.make(f"alloca [{most} x ptr]") for _ in range(2))
        to.do(f"store i64 0, ptr {self._count}, align 8")
        shared, separate, ready = to.label(), to.label(), to.label()
        to.do(f"br i1 {places.is_shared}, label %{shared}, label %{separate}")
        to.begin(shared)
        for constant, targets in addresses.items():
            self._store(places.shared_constant(constant), targets)
        to.do(f"br label %{ready}")
        to.begin(separate)
        for constant, targets in addresses.items():
            self._store(places.neuron_constant(constant, "0"), targets)
            self._list(constant, targets[0])
        to.do(f"br label %{ready}")
        to.begin(ready)

    def _store(self, value: str, targets: Sequence[str]) -> None:
        for each in targets:
            self.to.do(f"store {self.to.numbers} {value}, ptr {each}, align {ALIGNED}")

    def _list(self, constant: int, target: str) -> None:
        """Write the addition of a constant to the list. If it is equal for all neurons, the next one overwrites it."""
        to = self.to
        count = to.make(f"load i64, ptr {self._count}, align 8")
        to.do(f"store ptr {self.places.constants[constant]}, ptr {to.element('ptr', self._arrays, count)}, align 8")
        to.do(f"store ptr {target}, ptr {to.element('ptr', self._targets, count)}, align 8")
        more = to.make(f"zext i1 {self.places.differs(constant)} to i64")
        to.do(f"store i64 {to.make(f'add i64 {count}, {more}')}, ptr {self._count}, align 8")

    def write(self, k: str) -> None:
        """Write the update of the constants of the list, for the vector of neurons that starts at k."""
        to = self.to
        count = to.make(f"load i64, ptr {self._count}, align 8")
        before, head, after = to.block, to.label(), to.label()
        to.do(f"br i1 {to.make(f'icmp eq i64 {count}, 0')}, label %{after}, label %{head}")
        to.begin(head)
        place, next_place = to.name(), to.name()
        to.do(f"{place} = phi i64 [ 0, {before} ], [ {next_place}, %{head} ]")
        array, target = (
            to.make(f"load ptr, ptr {to.element('ptr', each, place)}, align 8")
            for each in (self._arrays, self._targets)
        )
        value = to.make(f"load {to.numbers}, ptr {to.element('double', array, k)}, align {ALIGNED}")
        self._store(value, [target])
        to.do(f"{next_place} = add i64 {place}, 1")
        to.do(f"br i1 {to.make(f'icmp eq i64 {next_place}, {count}')}, label %{after}, label %{head}")
        to.begin(after)
