"""
Memory before you run
=====================

How much would a network take, and how large may it be? Nothing is built to find out.
"""

# %%
# The balanced network with which simulators are measured, at a scale that no laptop holds.

from matplotlib import pyplot as plt

import ranvier as rv

net = rv.networks.hpc_benchmark(scale=100.0).net
print(net)

ranks = [16, 32, 64, 128, 256]
predicted = [rv.predict_memory(net, ranks=n, threads=8) for n in ranks]

# %%
# Bytes of one process, by component. Construction needs some more for a while.

figure, axes = plt.subplots()
bottom = [0.0] * len(ranks)
positions = range(len(ranks))
for component in predicted[0]:
    gigabytes = [memory[component] / 1e9 for memory in predicted]
    if max(gigabytes) > 0.01 * max(sum(memory.values()) for memory in predicted) / 1e9:
        axes.bar(positions, gigabytes, bottom=bottom, label=component)
        bottom = [low + high for low, high in zip(bottom, gigabytes, strict=True)]
axes.set_xticks(positions, [str(n) for n in ranks])
axes.set(xlabel="processes", ylabel="memory of each (GB)")
axes.legend()

# %%
# ``ranvier predict`` tells the same on the command line, with times and the largest network that fits.
