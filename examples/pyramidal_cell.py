"""
A pyramidal cell
================

A cell with dendrites, sodium, potassium and calcium channels: its form, where its channels are, and a spike that runs
from the soma into the dendrites.
"""

# %%
# The package draws a pyramidal cell of layer 5. Read a reconstructed one with ``rv.read_morphology("cell.swc")``.

import numpy as np

import ranvier as rv
from ranvier.networks.l5_pair import drawn_pyramidal_cell, l5_cell

form = drawn_pyramidal_cell()
hot = rv.within_distance(685.0, 885.0)
picture = rv.plot.cell(form, regions={"all of it": "all", "many calcium channels": hot}, title=repr(form))

# %%
# A clamp injects a current into the soma. There is a probe in each compartment.

cell = l5_cell(
    form,
    clamps={"electrode": (rv.current_clamp(start=20.0, amplitude=900.0), rv.at(0))},
    probes={"V": rv.everywhere},
)
net = rv.Network(resolution=0.025)
population = net.create(cell, 1)
spikes = net.record_spikes(population)
states = net.record_state(population, cell.variables)
sim = rv.Simulation(net, threads=1)
sim.run(60.0)

data = sim.state(states)
print(sim.spikes(spikes))
rv.plot.state(data, "V_m", title="In the soma")

# %%
# One millisecond after the spike, it has reached the apical dendrite.

time = float(sim.spikes(spikes).times[0]) + 1.0
sample = int(np.argmin(np.abs(data.times - time)))
potentials = [data[f"V[{i}]"][sample, 0] for i in range(cell.compartment_count)]
spreading = rv.plot.cell(cell, values=potentials, label="V (mV)", title=f"{time:.2f} ms")
