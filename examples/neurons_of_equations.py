"""
Neurons of equations
====================

A neuron model is a few equations. The adaptive exponential neuron (Brette and Gerstner 2005) fires in
different patterns, depending on its parameters; here are four of those of Naud and others (2008).
"""

# %%
# ``v`` is the potential, ``w`` the adaptation current, which increases with every spike. The unit of each variable
# stands after the colon.

import numpy as np
from matplotlib import pyplot as plt

import ranvier as rv

adex = rv.neuron(
    """
    dv/dt = (g_L*(E_L - v) + g_L*Delta_T*exp((v - V_T)/Delta_T) - w + I_e)/C_m : mV  # potential
    dw/dt = (a*(v - E_L) - w)/tau_w : pA  # adaptation
    """,
    threshold="v >= V_peak",
    reset="v = V_reset; w += b",
    initial={"v": "E_L"},
    parameters={
        "C_m": "200 pF",
        "g_L": rv.parameter("10 nS", meaning="Conductance of the leak"),
        "E_L": "-70 mV",
        "V_T": "-50 mV",
        "Delta_T": "2 mV",
        "V_peak": "0 mV",
        "V_reset": "-58 mV",
        "a": "2 nS",
        "b": "0 pA",
        "tau_w": "30 ms",
        "I_e": "500 pA",
    },
    name="adex",
)
print(adex.describe())

# %%
# The equations are not linear, so they are integrated with an error bound. Near a spike, a step is divided into many
# parts.

assert adex.method == "adaptive"

# %%
# One population with four neurons; arrays give each neuron its parameters.

patterns = ["tonic", "adapting", "initial burst", "bursting"]
net = rv.Network(resolution=0.1)
neurons = net.create(
    adex,
    4,
    C_m=[200.0, 200.0, 130.0, 200.0],
    g_L=[10.0, 12.0, 18.0, 10.0],
    E_L=[-70.0, -70.0, -58.0, -58.0],
    V_reset=[-58.0, -58.0, -50.0, -46.0],
    a=[2.0, 2.0, 4.0, 2.0],
    b=[0.0, 60.0, 120.0, 100.0],
    tau_w=[30.0, 300.0, 150.0, 120.0],
    I_e=[500.0, 500.0, 400.0, 210.0],
)
spikes = net.record_spikes(neurons)
states = net.record_state(neurons, ["v", "w"], interval=0.1)

sim = rv.Simulation(net, threads=1)
sim.run(400.0)

# %%
# A potential is reset in the step in which it reaches the peak; vertical lines show the spikes. Below are the
# adaptation currents.

data, trains = sim.state(states), sim.spikes(spikes).trains(neurons)
figure, axes = plt.subplots(2, 4, figsize=(9.0, 4.0), sharex=True, sharey="row", layout="constrained")
for column, pattern in enumerate(patterns):
    axes[0, column].plot(data.times, data["v"][:, column], linewidth=0.8)
    axes[0, column].vlines(trains[column], -40.0, 20.0, linewidth=0.8)
    axes[0, column].set(title=pattern)
    axes[1, column].plot(data.times, data["w"][:, column], color="C1")
    axes[1, column].set(xlabel="time (ms)")
axes[0, 0].set(ylabel="v (mV)")
axes[1, 0].set(ylabel="w (pA)")

# %%
# Intervals between spikes distinguish the patterns.

intervals = [np.diff(train) for train in trains]
for pattern, each in zip(patterns, intervals, strict=True):
    print(f"{pattern}: {each.round(1)} ms")

assert np.ptp(intervals[0][3:]) < 1.0, "tonic: nearly equal"
assert intervals[1][-1] > 5.0 * intervals[1][0], "adapting: longer and longer"
assert intervals[2][0] < 10.0 < intervals[2][3], "initial burst: short at the beginning only"
assert intervals[3].min() < 10.0 < 100.0 < intervals[3].max(), "bursting: short within bursts, long between them"
