"""Ten million connections of a file: the memory of the process that converts and builds them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import h5py
import numpy as np

ROWS = 10_000_000
NEURONS = 20_000

PROGRAM = """
import json, pathlib, threading
import ranvier as rv

# Pages that belong to this process alone: mapped files are not among them.
def anonymous():
    lines = pathlib.Path("/proc/self/status").read_text().splitlines()
    return next(1024 * int(line.split()[1]) for line in lines if line.startswith("RssAnon"))

peak, done = 0, threading.Event()
def watch():
    global peak
    while not done.wait(0.005):
        peak = max(peak, anonymous())
watcher = threading.Thread(target=watch)
before = anonymous()
watcher.start()
edges = rv.EdgeFile("edges.h5", source="pre", target="post", first=0, weight="w", delay="d", store="store")
converted, peak = peak - before, 0
net = rv.Network()
neurons = net.create("iaf_psc_exp", 20_000)
net.connect(neurons, neurons, edges)
predicted = rv.predict_memory(net, threads=1)
before = anonymous()
sim = rv.Simulation(net, threads=1)
done.set()
watcher.join()
print(json.dumps({"converted": converted, "built": peak - before, "predicted": sum(predicted.values()),
                  "synapses": sim.count_connections()}))
"""


def test_memory(tmp_path: Path) -> None:
    random = np.random.default_rng(1)
    with h5py.File(tmp_path / "edges.h5", "w") as file:
        file["pre"] = random.integers(0, NEURONS, ROWS, dtype=np.int32)
        file["post"] = random.integers(0, NEURONS, ROWS, dtype=np.int32)
        file["w"] = random.integers(1, 1000, ROWS) / np.float32(8.0)
        file["d"] = random.integers(1, 30, ROWS) / np.float32(10.0)
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], cwd=tmp_path, capture_output=True, text=True, check=True, timeout=300
    )
    told = json.loads(done.stdout)
    assert told["synapses"] == ROWS
    # A range of 2^22 rows is sorted at a time; all rows take 320 MB.
    assert told["converted"] < 250e6
    # The tables, and what building them takes for a while.
    assert told["built"] < 1.3 * told["predicted"] + 30e6
