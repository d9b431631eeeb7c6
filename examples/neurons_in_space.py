"""
Neurons in space
================

Neurons with positions, connections that depend on their distance, and pictures of both.
"""

# %%
# A sheet of 2 x 2 mm² that repeats itself: excitatory neurons on a grid, inhibitory neurons at random. A connection is
# the less probable the farther the neurons are apart, and the longer it is, the later spikes arrive.

import numpy as np
from matplotlib import pyplot as plt

import ranvier as rv

net = rv.Network(seed=4)
exc = net.create(rv.iaf_psc_exp(), positions=rv.grid((40, 40), extent=(2.0, 2.0), periodic=True), name="exc")
inh = net.create(rv.iaf_psc_exp(), 400, positions=rv.random_positions(extent=(2.0, 2.0), periodic=True), name="inh")
gaussian = rv.PairwiseBernoulli("0.6*exp(-d**2/(2*sigma**2))", sigma=0.1, allow_autapses=False)
near = rv.PairwiseBernoulli(0.4, mask=rv.circle(0.4))
recurrent = net.connect(exc, exc, gaussian, weight=60.0, delay="0.5 + d/0.2", name="exc to exc")
net.connect(exc, inh, gaussian, weight=60.0, delay="0.5 + d/0.2")
net.connect(inh, exc, near, weight=-150.0, delay=1.0)
net.connect(inh, inh, near, weight=-150.0, delay=1.0)
for population in (exc, inh):
    net.stimulate(population, rv.poisson_generator(rate=6000.0), weight=60.0)

# %%
# Neurons in the middle get a current from 100 to 110 ms.

middle = exc.within(rv.circle(0.25), around=(0.0, 0.0))
net.stimulate(middle, rv.dc_generator(amplitude=1500.0, start=100.0, stop=110.0))
recorder = net.record_spikes()
sim = rv.Simulation(net, threads=1)
sim.run(200.0)

# %%
# The neurons, and the targets of one of them: its Gaussian neighbourhood continues at the other side of the sheet.

rv.plot.neurons([exc, inh])
rv.plot.targets(sim, exc[39])

# %%
# The sources of an inhibitory neuron are inhibitory neurons within the mask, and excitatory ones nearby.

rv.plot.sources(sim, inh[0])

# %%
# Connections by distance, divided by the pairs of neurons at this distance. The fit finds the kernel from which they
# were drawn.

found = sim.distance_histogram(recurrent)
fit = found.fit("gaussian")
print(fit)
rv.plot.distances(found, kernel=rv.Expression("0.6*exp(-d**2/(2*sigma**2))", sigma=0.1), fits=["exponential", fit])

# %%
# Activity after the current. A movie shows all of it: ``rv.plot.movie(spikes, exc, bin=2.0, to="waves.gif")``.

spikes = sim.spikes(recorder)
figure, axes = plt.subplots(1, 3, figsize=(11, 3), layout="constrained")
for axis, start in zip(axes, (90.0, 100.0, 110.0), strict=True):
    rates = spikes.between(start, start + 10.0).rates(exc)
    rv.plot.neurons(exc, values=rates, limits=(0.0, 200.0), label="spikes/s", title=f"from {start:g} ms", ax=axis)

# %%
# Neurons near the middle fire more while the current flows.

during = spikes.between(100.0, 110.0).rates(exc)
distances = np.hypot(*exc.positions.T)
assert abs(fit.parameters["sigma"] - 0.1) < 4.5 * fit.errors["sigma"]
assert during[distances < 0.25].mean() > 3.0 * during[distances > 0.6].mean()
