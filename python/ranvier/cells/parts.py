"""Texts that describe the parts of a cell."""

from __future__ import annotations

from collections.abc import Iterator

from ranvier.base.names import some_names
from ranvier.cells.cell import Cell

__all__ = ["parts_of"]


def parts_of(cell: Cell) -> Iterator[str]:
    """Yield lines with its mechanisms, receptors, clamps and electrodes, by their names."""
    for which, covered, *_ in cell._given["mechanisms"]:
        called = which if isinstance(which, str) else which.name
        count = int((covered > 0.0).sum())
        yield f"membrane: {called} on {count:,} compartment{'s' if count > 1 else ''}"
    kinds: dict[str, list[str]] = {}
    for receptor, kind, *_ in cell._given["receptors"]:
        kinds.setdefault(kind if isinstance(kind, str) else kind.name, []).append(receptor)
    for kind, names in kinds.items():
        yield f"receptors: {kind} ({some_names(names)})"
    for what, electrodes in (("clamps", cell.clamps), ("electrodes", cell.electrodes)):
        if electrodes:
            yield f"{what}: {some_names(electrodes)}"
