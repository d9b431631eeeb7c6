"""Numbers of the paper, from its text and tables."""

from __future__ import annotations

__all__ = [
    "CONTAINERS",
    "MESSAGES",
    "NEURONS",
    "NODES",
    "SHORTEST_DELAY",
    "SHORTEST_PART",
    "SPEED_UPS",
    "SPEED_UPS_ON_NODES",
]

NEURONS = 219_247
"""Of the model whose delays Figure 2 shows."""
SHORTEST_DELAY, SHORTEST_PART = 0.1, 0.0013
"""ms, and the part of the synapses that have it."""

SPEED_UPS: dict[str, tuple[float, float]] = {
    "Intel Xeon 6140": (1.51, 1.31),
    "Intel KNL": (1.65, 1.36),
    "Intel E5-2670": (1.54, 1.35),
    "Cray XE6": (1.31, 1.26),
}
"""Figure 7 (a): of 16 and of 2,048 neurons on the Xeon 6140; of the others, the greatest and the least."""

NODES = 32
SPEED_UPS_ON_NODES: dict[int, float] = {256: 1.40, 32768: 1.16}
"""Figure 7 (b), by neurons."""

CONTAINERS: dict[str, dict[int, dict[str, tuple[float, float]]]] = {
    "bsp": {
        128: {"seconds": (2.13, 14.42), "instructions": (12.2, 50.9), "near": (1.16, 1.52)},
        256: {"seconds": (12.5, 64.3), "instructions": (53.2, 221.0), "near": (5.47, 9.53)},
        512: {"seconds": (63.7, 278.0), "instructions": (231.5, 953.4), "near": (32.1, 90.6)},
        1024: {"seconds": (294.0, 1206.0), "instructions": (1003.2, 4089.0), "near": (266.0, 902.0)},
        2048: {"seconds": (1298.0, 5182.0), "instructions": (4327.0, 17500.0), "near": (2138.0, 5065.0)},
    },
    "async": {
        128: {"seconds": (2.03, 13.6), "instructions": (11.4, 47.9), "near": (0.68, 0.96)},
        256: {"seconds": (11.9, 60.9), "instructions": (49.9, 209.0), "near": (4.29, 8.34)},
        512: {"seconds": (60.4, 263.6), "instructions": (218.3, 901.5), "near": (29.2, 78.2)},
        1024: {"seconds": (277.0, 1143.0), "instructions": (948.3, 3868.0), "near": (252.9, 818.5)},
        2048: {"seconds": (1222.0, 4913.0), "instructions": (4096.0, 16400.0), "near": (2036.0, 4655.0)},
    },
}
"""Table 1, for linear and std containers: seconds, 10^9 instructions, GB between the first and second cache."""

MESSAGES: dict[str, dict[int, dict[str, tuple[float, float]]]] = {
    "bsp": {
        512: {"seconds": (3.90, 4.07), "messages": (2168, 2327), "reductions": (100, 1600)},
        1024: {"seconds": (4.93, 5.51), "messages": (7543, 8855), "reductions": (100, 3200)},
        2048: {"seconds": (7.48, 8.70), "messages": (24.3e3, 33.4e3), "reductions": (100, 6400)},
        4096: {"seconds": (12.96, 15.66), "messages": (70.1e3, 124e3), "reductions": (100, 12.8e3)},
        8192: {"seconds": (28.38, 31.61), "messages": (188e3, 480e3), "reductions": (100, 25.6e3)},
    },
    "async": {
        512: {"seconds": (3.60, 3.80), "messages": (623e3, 665e3)},
        1024: {"seconds": (4.07, 4.42), "messages": (2.34e6, 2.72e6)},
        2048: {"seconds": (6.66, 6.53), "messages": (8.25e6, 11.09e6)},
        # As printed; elsewhere the reduce sends fewer.
        4096: {"seconds": (12.14, 13.27), "messages": (44.77e6, 25.79e6)},
        8192: {"seconds": (26.75, 28.31), "messages": (71.75e6, 181.46e6)},
    },
}
"""Table 2, with the communication reduce and without ("simple"), on 32 nodes, by neurons."""
