"""
Statistics of spikes
====================

Rates, irregularity and correlations of recorded spikes, and conversion for other tools.
"""

# %%
# In one population, each neuron gets independent Poisson trains; in the other, all neurons share half of the input.

import numpy as np
from matplotlib import pyplot as plt

import ranvier as rv

net = rv.Network(seed=11)
model = rv.iaf_psc_exp(tau_m=20.0, V_m=rv.Normal(-62.0, 4.0))
apart = net.create(model, 100, name="apart")
shared = net.create(model, 100, name="shared")

# %%
# A stimulus gives each target an independent spike train. Shared input comes from a population that is connected to all
# targets.

net.stimulate(apart, rv.poisson_generator(rate=1500.0), weight=60.0)
net.stimulate(shared, rv.poisson_generator(rate=750.0), weight=60.0)
rng = np.random.default_rng(1)
common = net.create_spike_generators(
    [np.sort(rng.uniform(0.1, 2000.0, 100)).round(1) for _ in range(15)], name="common"
)
net.connect(common, shared, rv.AllToAll(), weight=60.0, delay=1.0)

spikes = net.record_spikes([apart, shared])
sim = rv.Simulation(net, threads=1)
sim.run(2000.0)
data = sim.spikes(spikes).between(200.0)
print(data.mean_rates())

# %%
# Correlation coefficients of the spike counts of all pairs: shared input correlates the neurons.

figure, axes = plt.subplots()
for population in (apart, shared):
    pairs = data.correlations(population, bin_width=5.0)[np.triu_indices(len(population), 1)]
    axes.hist(pairs, bins=40, histtype="step", label=f"{population.name}: mean {np.nanmean(pairs):.3f}")
    if population is shared:
        assert np.nanmean(pairs) > 0.05
axes.set(xlabel="correlation of counts in 5 ms", ylabel="pairs")
axes.legend()

# %%
# How often spikes follow other spikes, for each lag.

figure, axes = plt.subplots()
for population in (apart, shared):
    correlogram = data.cross_correlogram(population, reach=40.0, bin_width=1.0)
    axes.plot(correlogram.lags, correlogram.rates, label=population.name)
axes.set(xlabel="lag (ms)", ylabel="spikes/s of the others", ylim=(0.0, None))
axes.legend()

# %%
# Most tools need a spike train for each neuron; ``data.to_neo()`` and ``data.to_pandas()`` convert the data for Neo and
# pandas.

trains = data.trains(shared)
print(len(trains), trains[0][:5])
assert sum(len(train) for train in trains) == data.counts(shared).sum()
