"""
The cortical microcircuit
=========================

The circuit under a square millimetre of cortex (T. C. Potjans and M. Diesmann, Cerebral Cortex 24, 785-806, 2014), here
with a tenth of its neurons. ``ranvier run microcircuit`` runs it at full scale, with 2.2 GB of memory.
"""

# %%
# The networks in ``rv.networks`` are functions. They return a network with its recorders.

import ranvier as rv

model = rv.networks.microcircuit(scale=0.1, drive="poisson")
net = model.net
print(net.summary().splitlines()[0])

sim = rv.Simulation(net, threads=2)
sim.run(model.presim)
sim.run(200.0)

# %%
# Rates of the eight populations, without the initial transient.

data = sim.spikes(model.spikes).between(model.presim)
for name, rate in data.mean_rates().items():
    print(f"{name:5} {rate:6.2f} spikes/s")

figure = rv.plot.raster(data)
