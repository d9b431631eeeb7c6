"""
Memory before you run
=====================

How much memory does a network need, and how large can it be? You can find out without building it.
"""

# %%
# The balanced network of benchmarks of simulators, at a scale that is too large for a laptop.

from matplotlib import pyplot as plt

import ranvier as rv

net = rv.networks.hpc_benchmark(scale=100.0).net
print(net)

ranks = [16, 32, 64, 128, 256]
predicted = [rv.predict_memory(net, ranks=n, threads=8) for n in ranks]

# %%
# Bytes of one process, by component. During construction, some more memory is needed.

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
# ``ranvier predict`` prints the same on the command line, with times and the largest network that fits.
