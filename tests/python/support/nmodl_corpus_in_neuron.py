"""Runs mechanisms of the NMODL corpus in NEURON, as a program in the folder where nrnivmodl has compiled them.

Its argument is a file of JSON: the protocol, the mechanisms, and the file for the results (npz).
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
from neuron import h


class Cells:
    """Cells of one mechanism, one for each pair of an initial potential and a current."""

    def __init__(self, asked: dict[str, Any], protocol: dict[str, Any]) -> None:
        self.asked, self.protocol = asked, protocol
        self.kept: list[Any] = []
        self.processes: list[Any] = []
        self.connections: list[Any] = []
        self.cells = [self._cell(current) for current in protocol["currents"]]
        self.roots = [sections[0](0.5) for sections in self.cells]
        self.lasts = [sections[-1](1.0 - 0.5 / sections[-1].nseg) for sections in self.cells]

    def _cell(self, current: float) -> list[Any]:
        """Return the sections of a cell."""
        made: list[Any] = []
        for length, diameter, count in self.protocol["sections"]:
            section = h.Section(name=f"section{len(made)}")
            section.L, section.diam, section.nseg, section.cm, section.Ra = length, diameter, count, 1.0, 100.0
            if made:
                section.connect(made[-1](1))
            made.append(section)
            self._furnish(section)
        clamp = h.IClamp(made[0](0.5))
        clamp.dur, clamp.amp = 1e9, 1e-3 * current
        self.kept.append(clamp)
        if self.asked["process"]:
            process = getattr(h, self.asked["process"])(made[-1](1.0 - 0.5 / made[-1].nseg))
            self.processes.append(process)
            if self.asked["weight"] is not None:
                connection = h.NetCon(None, process)
                connection.weight[0] = self.asked["weight"]
                self.connections.append(connection)
        return made

    def _furnish(self, section: Any) -> None:
        section.insert("pas")
        section.g_pas, section.e_pas = self.protocol["leak"]
        for name in self.asked["mechanisms"]:
            section.insert(name)
            if hasattr(h, f"usetable_{name}"):
                setattr(h, f"usetable_{name}", 0)

    def run(self) -> dict[str, Any]:
        """Return potentials and states, shapes (steps, cells)."""
        name = self.asked["name"]
        recorded: dict[str, list[Any]] = {
            "v": [h.Vector().record(segment._ref_v) for segment in self.roots],
            "last": [h.Vector().record(segment._ref_v) for segment in self.lasts],
        }
        for state in self.asked["states"]:
            if self.processes:
                pointers = [pointer(process, state, "") for process in self.processes]
            else:
                # A concentration of an ion has the name of the ion.
                suffix = "" if state in ("cai", "nai", "ki") else f"_{name}"
                pointers = [pointer(segment, state, suffix) for segment in self.lasts]
            recorded[state] = [h.Vector().record(pointer) for pointer in pointers]
        for sections, potential in zip(self.cells, self.protocol["potentials"], strict=True):
            for section in sections:
                section.v = potential
        for sections in self.cells:
            for section in sections:
                for reversal in self.asked["reversals"]:
                    setattr(section, reversal, self.protocol["reversal"])
        h.celsius, h.dt = self.protocol["celsius"], self.protocol["step"]
        h.finitialize()
        for connection in self.connections:
            for time in self.protocol["events"]:
                connection.event(time)
        while h.t < self.protocol["time"] - 0.5 * h.dt:
            h.fadvance()
        return {key: np.array([list(each) for each in values]).T[1:] for key, values in recorded.items()}


def pointer(of: Any, state: str, suffix: str) -> Any:
    """Return a pointer to a state, which may be an element of an array: ``c[2]``."""
    name, _, index = state.rstrip("]").partition("[")
    found = getattr(of, f"_ref_{name}{suffix}")
    return found[int(index)] if index else found


def main() -> None:
    """Run all mechanisms that are asked for."""
    asked = json.loads(Path(sys.argv[1]).read_text())
    made: dict[str, Any] = {}
    for mechanism in asked["mechanisms"]:
        values = Cells(mechanism, asked["protocol"]).run()
        made.update({f"{mechanism['key']}/{name}": value for name, value in values.items()})
    np.savez(asked["file"], **made)


if __name__ == "__main__":
    main()
