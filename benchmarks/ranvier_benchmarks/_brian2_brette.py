"""CUBA and COBA of Brette et al. (2007) in Brian2 alone, as a C++ program (standalone mode).

A script that needs Brian2 and nothing of Ranvier, since Brian2 may be installed for another Python. The numbers of the
model are written here again, independently of `ranvier.networks`, so that the comparison shows an error in one of the
two. The time is that of the compiled program's run, without compilation and without building.
"""

from __future__ import annotations

import argparse
import json
import resource
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

CUBA = """
dv/dt = (ge + gi - (v - E_L)) / tau_m : volt (unless refractory)
dge/dt = -ge / tau_ex : volt
dgi/dt = -gi / tau_in : volt
"""
COBA = """
dv/dt = (g_L * (E_L - v) + ge * (E_ex - v) + gi * (E_in - v)) / C_m : volt (unless refractory)
dge/dt = -ge / tau_ex : siemens
dgi/dt = -gi / tau_in : siemens
"""


def parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--network", choices=("cuba", "coba"), required=True)
    for name, kind in (("neurons", int), ("seed", int), ("threads", int)):
        parser.add_argument(f"--{name}", type=kind, required=True)
    for name in ("probability", "delay", "resolution", "time", "presim"):
        parser.add_argument(f"--{name}", type=float, required=True)
    parser.add_argument("--json", type=Path, required=True)
    return parser.parse_args()


def describe(arguments: argparse.Namespace, excitatory: int, b2: Any) -> tuple[Any, list[Any]]:
    """Return the neurons, and what projects to them."""
    mv, ms, ns = b2.mV, b2.ms, b2.nS
    shared = {"tau_m": 20 * ms, "tau_ex": 5 * ms, "tau_in": 10 * ms}
    if arguments.network == "cuba":
        equations, method = CUBA, "exact"
        names = {**shared, "E_L": -49 * mv}
        weights = {"ge": 1.62 * mv, "gi": -9.0 * mv}
    else:
        equations, method = COBA, "exponential_euler"
        names = {**shared, "E_L": -60 * mv, "E_ex": 0 * mv, "E_in": -80 * mv, "g_L": 10 * ns, "C_m": 200 * b2.pF}
        weights = {"ge": 6.0 * ns, "gi": 67.0 * ns}
    neurons = b2.NeuronGroup(
        arguments.neurons,
        equations,
        method=method,
        namespace=names,
        threshold="v > -50 * mV",
        reset="v = -60 * mV",
        refractory=5 * ms,
    )
    neurons.v = "-60 * mV + rand() * 10 * mV"
    inputs = []
    for variable, sources in (("ge", neurons[:excitatory]), ("gi", neurons[excitatory:])):
        synapses = b2.Synapses(
            sources, neurons, on_pre=f"{variable} += w", delay=arguments.delay * ms, namespace={"w": weights[variable]}
        )
        # Nobody is connected to itself.
        shift = 0 if variable == "ge" else excitatory
        synapses.connect(condition=f"i + {shift} != j", p=arguments.probability)
        inputs.append(synapses)
    if arguments.network == "coba":
        inputs.append(b2.PoissonInput(neurons, "ge", 1, 300 * b2.Hz, weight="6.0 * nS * int(t < 50 * ms)"))
    return neurons, inputs


def simulate(arguments: argparse.Namespace, folder: str) -> dict[str, Any]:
    """Compile and run the network; return the report."""
    import brian2 as b2

    # One thread is a program without OpenMP.
    b2.prefs.devices.cpp_standalone.openmp_threads = arguments.threads if arguments.threads > 1 else 0
    b2.set_device("cpp_standalone", directory=folder, build_on_run=False)
    b2.seed(arguments.seed)
    b2.defaultclock.dt = arguments.resolution * b2.ms
    inhibitory = arguments.neurons // 5
    excitatory = arguments.neurons - inhibitory
    neurons, inputs = describe(arguments, excitatory, b2)
    spikes = b2.SpikeMonitor(neurons, record=True)
    network = b2.Network(neurons, *inputs, spikes)
    for duration in (arguments.presim, arguments.time):
        if duration > 0.0:
            network.run(duration * b2.ms)
    begin = time.perf_counter()
    b2.device.build(directory=folder, compile=True, run=True, debug=False)
    whole = time.perf_counter() - begin
    # The program's report of its last call of run.
    seconds = float(Path(folder, "results/last_run_info.txt").read_text(encoding="utf-8").split()[0])
    senders = spikes.i[(spikes.t / b2.ms) > arguments.presim]
    counts = int((senders < excitatory).sum()), int((senders >= excitatory).sum())
    simulated = arguments.time / 1000.0
    return {
        "program": "Brian2",
        "version": b2.__version__,
        "threads": arguments.threads,
        "neurons": arguments.neurons,
        "synapses": int(sum(len(each) for each in inputs[:2])),
        "build_s": whole - seconds,
        "sim_s": seconds,
        "simulated_ms": arguments.time,
        "presim_ms": arguments.presim,
        "real_time_factor": seconds / simulated,
        "spikes": sum(counts),
        "mean_rate_hz": {
            "excitatory": counts[0] / excitatory / simulated,
            "inhibitory": counts[1] / inhibitory / simulated,
        },
        "peak_rss_bytes": resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024,
    }


def main() -> int:
    arguments = parse()
    with tempfile.TemporaryDirectory() as folder:
        report = simulate(arguments, folder)
    arguments.json.write_text(json.dumps(report))
    return 0


if __name__ == "__main__":
    sys.exit(main())
