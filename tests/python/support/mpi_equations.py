"""A program for `test_mpi_equations`: neurons of equations that draw, adapt and fire, and learn, on all ranks."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path
from typing import Any

import numpy as np

import ranvier as rv
from equation_models import AEIF_COND_EXP, IAF_PSC_EXP
from ranvier import mpi
from synapse_equations import as_equations

NOISY: dict[str, Any] = {
    **IAF_PSC_EXP,
    "equations": IAF_PSC_EXP["equations"].replace("+ I_e", "+ sigma*sqrt(tau_m)*C_m/tau_m*xi + I_e"),
    "reset": "v = V_reset + 2*mV*rand()",
    "parameters": {**IAF_PSC_EXP["parameters"], "I_e": "400 pA", "sigma": "6 mV"},
    "method": "euler",
}


def simulate(threads: int) -> str:
    """Return on rank 0 a digest of the spikes, and of each sample of three variables."""
    net = rv.Network(seed=7)
    noisy = net.create(rv.neuron(**NOISY), 37, tau_m=rv.Uniform(8.0, 12.0), v=rv.Uniform(-70.0, -56.0))
    adapting = net.create(rv.neuron(**AEIF_COND_EXP), 23, I_e=rv.Normal(700.0, 200.0))
    for cells in (noisy, adapting):
        net.connect(noisy, cells, rv.FixedIndegree(8), weight=rv.Normal(4.0, 3.0), delay=rv.Uniform(0.1, 2.0))
        net.connect(adapting, cells, rv.FixedIndegree(5), weight=3.0, delay=1.5)
    learning = as_equations("stdp_triplet")(A_plus=1.0, A_minus=0.5, W_max=40.0)
    net.connect(noisy, adapting, rv.FixedIndegree(9), weight=20.0, delay=rv.Uniform(0.3, 2.0), synapse=learning)
    spikes = net.record_spikes([noisy, adapting])
    states = [net.record_state(noisy, ["v", "I_ex"], 0.1), net.record_state(adapting, ["v", "w", "I_syn"], 0.1)]
    sim = rv.Simulation(net, recordings="root", threads=threads)
    sim.run(7.3)
    sim.run(32.7)
    data = sim.spikes(spikes)
    recorded = [sim.state(each) for each in states]
    if mpi.world().rank > 0:
        return ""
    assert min(np.count_nonzero(data.ids < 37), np.count_nonzero(data.ids >= 37)) > 20
    names = (("v", "I_ex"), ("v", "w", "I_syn"))
    samples = b"".join(each[name].tobytes() for each, own in zip(recorded, names, strict=True) for name in own)
    return f"{data.digest()} {hashlib.sha256(samples).hexdigest()}"


if __name__ == "__main__":
    found = [simulate(threads) for threads in (1, 2)]
    if mpi.world().rank == 0:
        Path(sys.argv[1]).write_text("\n".join(found))
