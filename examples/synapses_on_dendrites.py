"""
Synapses on dendrites
=====================

A thousand synapses that are spread at random over the dendrites of a pyramidal cell: where they are, and what they do
there.
"""

# %%
# A receptor may be at any number of places, its *sites*. Here, there is one for each 10 um of dendrite, on average.

import numpy as np

import ranvier as rv
from ranvier.networks.l5_pair import drawn_pyramidal_cell, l5_cell

form = drawn_pyramidal_cell()
places = rv.random_places(form, "dendrites", density=0.1)
cell = l5_cell(form, places, probes={"V": rv.everywhere, "in all": "ampa", "at the first": "ampa[0]"})
print(cell, len(cell.sites["ampa"]), "sites")

# %%
# Each synapse reaches one of the sites, which is drawn for it. The sources fire at random, 15 spikes/s each.

random = np.random.default_rng(1)
times = [np.unique(random.integers(1, 4000, size=random.poisson(1.5))) * 0.025 for _ in range(500)]
net = rv.Network(resolution=0.025, seed=1)
sources = net.create_spike_generators(times)
population = net.create(cell, 1)
for receptor, weight in (("ampa", 1.0), ("nmda", 0.5)):
    net.connect(sources, population, rv.FixedIndegree(1000), weight=weight, delay=1.0, receptor=receptor)
spikes = net.record_spikes(population)
states = net.record_state(population, cell.variables, interval=0.1)
sim = rv.Simulation(net, threads=1)
sim.run(100.0)
print(sim.spikes(spikes))

# %%
# The number of AMPA synapses in each compartment.

sites = sim.connections(receptor="ampa").sites
compartments = np.array([cell.compartment_at(place) for place in cell.sites["ampa"]])
counts = np.bincount(compartments[sites], minlength=cell.compartment_count)
where = rv.plot.cell(cell, values=counts, label="synapses", title=f"{len(sites)} synapses")

# %%
# Branches that have more of them are more depolarized.

data = sim.state(states)
means = [float(data[f"V[{i}]"].mean()) for i in range(cell.compartment_count)]
depolarized = rv.plot.cell(cell, values=means, label="V (mV)", title="mean over 100 ms")
rv.plot.state(data, "in all", title="AMPA conductance of all sites")
