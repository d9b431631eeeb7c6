"""The delays of synapses in a reconstructed cortex.

Those of Figure 2 of B. R. C. Magalhães et al. (2019), for a model of 219,247 neurons: 0.13 % of the synapses have the
shortest delay, 0.1 ms, and most delays lie between 0.5 and 4 ms.
"""

from __future__ import annotations

import math

from ranvier.base.distributions import LogNormal

__all__ = ["LONGEST", "MEDIAN", "SHORTEST", "SHORTEST_PART", "SIGMA", "cortical_delays"]

SHORTEST, MEDIAN, LONGEST = 0.1, 1.4, 10.0  # ms
SHORTEST_PART = 0.0013
_QUANTILE = -3.01  # of the normal distribution, for that part
SIGMA = math.log(0.15 / MEDIAN) / _QUANTILE


def cortical_delays() -> LogNormal:
    """Return their distribution, ms: that of the logarithm is normal, and the shortest part is 0.1 ms."""
    return LogNormal(math.log(MEDIAN), SIGMA, low=SHORTEST, high=LONGEST, mode="clip")
