"""Potentials of points by FMM3D alone: the other side of `ranvier bench fmm --against fmm3d`.

A script that needs fmm3dpy and nothing of Ranvier, since it may be installed for another Python. The input is a file of
arrays: `sources` and `targets` (3 x n), `strengths`. The report has the seconds of each run at each precision, which
include the tree that FMM3D makes in each call; potentials are written to `potentials_EPS.npy` beside the input.
"""

from __future__ import annotations

import argparse
import importlib
import importlib.metadata
import json
import time
from pathlib import Path

import numpy as np


def main() -> None:
    """Run what the arguments say."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--input", type=Path, required=True)
    parser.add_argument("--precisions", required=True)
    parser.add_argument("--repetitions", type=int, required=True)
    parser.add_argument("--json", type=Path, required=True)
    arguments = parser.parse_args()
    fmm3dpy = importlib.import_module("fmm3dpy")
    with np.load(arguments.input) as arrays:
        sources, targets, strengths = (np.asfortranarray(arrays[key]) for key in ("sources", "targets", "strengths"))
    runs = []
    for text in arguments.precisions.split(","):
        seconds = []
        # The first run is not measured.
        for repetition in range(arguments.repetitions + 1):
            begin = time.perf_counter()
            found = fmm3dpy.lfmm3d(eps=float(text), sources=sources, charges=strengths, targets=targets, pgt=1)
            if repetition > 0:
                seconds.append(time.perf_counter() - begin)
        # Its potentials are q / (4 pi r).
        np.save(arguments.input.with_name(f"potentials_{text}.npy"), 4.0 * np.pi * found.pottarg)
        runs.append({"precision": float(text), "seconds": seconds})
    report = {"version": importlib.metadata.version("fmm3dpy"), "runs": runs}
    arguments.json.write_text(json.dumps(report), encoding="utf-8")


if __name__ == "__main__":
    main()
