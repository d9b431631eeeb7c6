"""
Recordings in files
===================

Recordings that are too long for memory are written to files while the simulation runs. Later you read them: all data,
or a window of time.
"""

# %%
# ``to=`` names a file. Its suffix determines the format, HDF5 or CSV.

import tempfile
from pathlib import Path

import h5py
from matplotlib import pyplot as plt

import ranvier as rv

folder = Path(tempfile.mkdtemp())

net = rv.Network(seed=5)
neurons = net.create(rv.iaf_psc_exp(V_m=rv.Normal(-62.0, 4.0)), 200, name="neurons")
net.stimulate(neurons, rv.poisson_generator(rate=9000.0), weight=20.0)
net.record_spikes(neurons, to=folder / "spikes.h5")
net.record_state(neurons[:3], ["V_m", "I_syn_ex"], to=folder / "state.csv", interval=0.5)

rv.Simulation(net, threads=1).run(300.0)

# %%
# The files contain a description of the recording, so you can read them without the network.

spikes = rv.read_spikes(folder / "spikes.h5")
print(spikes)
print(spikes.between(100.0, 200.0).mean_rates())

state = rv.read_state(folder / "state.csv")
figure, axes = plt.subplots()
axes.plot(state.times, state["V_m"])
axes.set(xlabel="time (ms)", ylabel="membrane potential (mV)")

# %%
# Any program that supports HDF5 can read the file.

with h5py.File(folder / "spikes.h5") as file:
    file.visititems(lambda name, item: print(name, getattr(item, "shape", "")))
