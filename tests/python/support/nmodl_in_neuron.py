"""Potentials of a ball with mechanisms of NMODL files in NEURON, as a program: it loads what is compiled there.

Its argument is JSON: mechanisms with values of their parameters, the temperature, and a file for the potentials.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
from neuron import h

STEP, TIME, CURRENT = 0.025, 100.0, 0.12  # ms, ms, nA


def main() -> None:
    asked = json.loads(sys.argv[1])
    ball = h.Section(name="ball")
    ball.L = ball.diam = 20.0
    for name, values in asked["mechanisms"].items():
        ball.insert(name)
        for parameter, value in values.items():
            setattr(ball, parameter, value)
        table = f"usetable_{name}"
        if hasattr(h, table):
            setattr(h, table, 0)
    clamp = h.IClamp(ball(0.5))
    clamp.dur, clamp.amp = 1e9, CURRENT
    h.celsius, h.dt = asked["celsius"], STEP
    potential = h.Vector().record(ball(0.5)._ref_v)
    h.finitialize(-65.0)
    while h.t < TIME - 0.5 * STEP:
        h.fadvance()
    np.save(Path(asked["file"]), np.array(potential)[1:])


if __name__ == "__main__":
    main()
