"""
A balanced network
==================

Excitation and inhibition nearly cancel, and neurons fire irregularly (N. Brunel, Journal of Computational Neuroscience
8, 183-208, 2000).
"""

# %%
# A network is a description. Populations, projections and stimuli are handles: they show their values, which cannot be
# assigned.

import numpy as np

import ranvier as rv

net = rv.Network(resolution=0.1, seed=1, name="balanced network")
neuron = rv.iaf_psc_exp(tau_m=20.0, V_m=rv.Normal(-62.0, 4.0))
exc = net.create(neuron, 1600, name="exc")
inh = net.create(neuron, 400, name="inh")

for targets in (exc, inh):
    net.connect(exc, targets, rv.FixedIndegree(160), weight=60.0, delay=rv.Uniform(0.5, 2.0))  # pA, ms
    net.connect(inh, targets, rv.FixedIndegree(40), weight=-600.0, delay=rv.Uniform(0.5, 2.0))
    net.stimulate(targets, rv.poisson_generator(rate=9000.0), weight=30.0)  # independent spikes for each target

spikes = net.record_spikes()
print(net.summary())

# %%
# A simulation is built from the description, here with two threads. The spikes are the same for any number of threads.

sim = rv.Simulation(net, threads=2)
sim.run(1000.0)
data = sim.spikes(spikes)
print(data.mean_rates())

# %%
# Dots are spikes; the rate of the whole network is below.

figure = rv.plot.raster(data)

# %%
# The irregularity of inter-spike intervals: 0 for regular spikes, 1 for a Poisson process.

variation = np.concatenate(list(data.irregularity().values()))
print(f"coefficient of variation: {np.nanmean(variation):.2f}")
assert 0.7 < np.nanmean(variation) < 1.2
