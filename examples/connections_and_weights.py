"""
Connections and their weights
=============================

You can get the synapses of a simulation as arrays, and change their weights.
"""

# %%
# A network with fixed in-degrees and random weights.

import numpy as np
from matplotlib import pyplot as plt

import ranvier as rv

net = rv.Network(seed=7)
exc = net.create(rv.iaf_psc_exp(), 400, name="exc")
inh = net.create(rv.iaf_psc_exp(), 100, name="inh")
net.connect(exc, inh, rv.FixedIndegree(40), weight=rv.LogNormal(3.0, 0.5), delay=rv.Uniform(0.5, 2.0))
net.connect(inh, exc, rv.PairwiseBernoulli(0.1), weight=-100.0)

sim = rv.Simulation(net, threads=1)

# %%
# All synapses from one population to another. You can also select a part of a population.

synapses = sim.connections(sources=exc, targets=inh)
print(synapses, len(synapses))
indegrees = np.bincount(synapses.targets - inh.first_id, minlength=len(inh))
outdegrees = np.bincount(synapses.sources - exc.first_id, minlength=len(exc))
assert (indegrees == 40).all()

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 3.5))
left.hist(outdegrees, bins=np.arange(outdegrees.max() + 2) - 0.5)
left.set(xlabel="out-degree", ylabel="neurons of exc")
right.hist(synapses.weights, bins=60)
right.set(xlabel="weight (pA)", ylabel="synapses")
figure.tight_layout()

# %%
# Weights are changed by assignment: all of them, or those selected by a mask. New weights apply to spikes that arrive
# later.

synapses.weights = 0.5 * synapses.weights
strong = synapses[synapses.weights > 20.0]
strong.weights = np.full(len(strong), 20.0)

again = sim.connections(sources=exc, targets=inh)
print(again.weights.max())
assert again.weights.max() == 20.0
