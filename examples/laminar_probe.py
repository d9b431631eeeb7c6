"""
A laminar probe in the cortical microcircuit
============================================

The potentials that an electrode would record across the layers of a network of point neurons: the spikes of each
population, convolved with its kernel, which detailed cells give.
"""

# %%
# A tenth of the microcircuit. ``ranvier run microcircuit --lfp`` records the same in the whole one.

import numpy as np
from matplotlib import pyplot as plt

import ranvier as rv

model = rv.networks.microcircuit(scale=0.1, drive="poisson")
net = model.net

# %%
# The network comes with a probe: the places of its contacts, the depths of the layers, and for each population a
# *template*, a detailed cell that stands for its neurons. Templates of the package are stylised: pyramidal cells whose
# apical dendrites end in different layers, and interneurons with dendrites on all sides.

probe = model.probe()
figure, axes = plt.subplots(figsize=(7.0, 4.5), layout="constrained")
drawn = rv.Network()
for place, (name, template) in enumerate(probe.templates.items()):
    depth = np.mean(template.positions.coordinates[:, 2])
    cell = drawn.create(template.cell, positions=rv.positions([[250.0 * place, 0.0, depth]], unit="um"))
    colour = "C0" if name.endswith("E") else "C3"
    for section in cell.morphology_points():
        axes.plot(section[:, 0], section[:, 2], color=colour, linewidth=1.5)
    axes.plot(250.0 * place, depth, "o", color=colour, markersize=7.0)
    axes.text(250.0 * place, -1560.0, name, ha="center")
for layer, (upper, lower) in probe.layers.items():
    axes.axhline(lower, color="0.7", linewidth=0.8, linestyle=":")
    axes.text(1950.0, (upper + lower) / 2, layer, va="center", color="0.4")
depths = probe.contacts.coordinates[:, 2]
axes.plot(np.full(len(depths), -180.0), depths, "s", color="0.3", markersize=4.0)
axes.set(ylabel="z (µm)", xticks=[], ylim=(-1600.0, 40.0), xlim=(-260.0, 2150.0))
axes.spines[["top", "right", "bottom"]].set_visible(False)

# %%
# What one spike of each population adds to the potentials. Numbers of synapses, weights, delays and the course of
# currents follow from the network; a hundred copies of each cell stand in a disc of a square millimetre.

templates = {net[name]: template for name, template in probe.templates.items()}
kernels = rv.unitary_potentials(net, templates, probe.contacts, duration=60.0)
figure, panels = plt.subplots(2, 4, figsize=(11.0, 6.0), sharex=True, sharey=True, layout="constrained")
for axes, (population, kernel) in zip(panels.T.flat, kernels.items(), strict=True):
    shown = kernel.lags <= 30.0
    scale = 120.0 / np.abs(kernel.values).max()
    axes.plot(kernel.lags[shown], depths + scale * kernel.values[:, shown].T, color="C0", linewidth=0.9)
    axes.set_title(f"{population.name}: up to {1e3 * np.abs(kernel.values).max():.2g} µV", fontsize=10)
for axes in panels[1]:
    axes.set_xlabel("time since the spike (ms)")
for axes in panels[:, 0]:
    axes.set_ylabel("z (µm)")

# %%
# A spike of an inhibitory neuron acts near the somata of its targets: a source there, and a sink at their dendrites.
# Synapses of excitatory neurons are spread over dendrites, so their sinks and sources nearly cancel.
#
# The recorder counts spikes, and convolves them with the kernels.

lfp = net.record_lfp(kernels, interval=0.5)
sim = rv.Simulation(net, threads=2)
sim.run(model.presim + 400.0)
data = sim.extracellular(lfp)
rv.plot.extracellular(data, start=model.presim, title="Potentials of the microcircuit")

# %%
# The current source density shows where currents flow out of cells and into them.

rv.plot.csd(data.current_source_density(), start=model.presim)

# %%
# The potential around spikes of one population. It is not the kernel: neurons of the other populations fire at the
# same time.

spikes = sim.spikes(model.spikes).between(model.presim)
average = data.spike_triggered_average(spikes, net["L4I"], after=20.0)
rv.plot.extracellular(average, title="Around spikes of L4I")
assert np.abs(kernels[net["L4I"]].values).max() > 10.0 * np.abs(kernels[net["L4E"]].values).max()
