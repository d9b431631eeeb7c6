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
        self.balls = [h.Section(name=f"ball{index}") for index, _ in enumerate(protocol["potentials"])]
        self.kept: list[Any] = []
        self.processes: list[Any] = []
        for ball, current in zip(self.balls, protocol["currents"], strict=True):
            self._furnish(ball, current)

    def _furnish(self, ball: Any, current: float) -> None:
        ball.L = ball.diam = self.protocol["diameter"]
        ball.cm = 1.0
        ball.insert("pas")
        ball.g_pas, ball.e_pas = self.protocol["leak"]
        for name in self.asked["mechanisms"]:
            ball.insert(name)
            if hasattr(h, f"usetable_{name}"):
                setattr(h, f"usetable_{name}", 0)
        for name, value in self.asked["values"].items():
            setattr(ball, name, value)
        clamp = h.IClamp(ball(0.5))
        clamp.dur, clamp.amp = 1e9, 1e-3 * current
        self.kept.append(clamp)
        if self.asked["process"]:
            process = getattr(h, self.asked["process"])(ball(0.5))
            connection = h.NetCon(None, process)
            connection.weight[0] = self.asked["weight"]
            self.processes.append((process, connection))

    def run(self) -> dict[str, Any]:
        """Return potentials and states, shapes (steps, cells)."""
        name = self.asked["name"]
        recorded: dict[str, list[Any]] = {"v": [h.Vector().record(ball(0.5)._ref_v) for ball in self.balls]}
        for state in self.asked["states"]:
            if self.processes:
                pointers = [getattr(process, f"_ref_{state}") for process, _ in self.processes]
            else:
                pointers = [getattr(ball(0.5), f"_ref_{state}_{name}") for ball in self.balls]
            recorded[state] = [h.Vector().record(pointer) for pointer in pointers]
        for ball, potential in zip(self.balls, self.protocol["potentials"], strict=True):
            ball(0.5).v = potential
        h.celsius, h.dt = self.protocol["celsius"], self.protocol["step"]
        h.finitialize()
        for _, connection in self.processes:
            for time in self.protocol["events"]:
                connection.event(time)
        while h.t < self.protocol["time"] - 0.5 * h.dt:
            h.fadvance()
        return {key: np.array([list(each) for each in values]).T[1:] for key, values in recorded.items()}


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
