"""The postsynaptic potential of a synaptic current in the form of an alpha function."""

from __future__ import annotations

import math

__all__ = ["alpha_psp_height"]


def alpha_psp_height(tau_m: float, tau_syn: float, c_m: float) -> float:
    """Height in mV of the postsynaptic potential of an alpha-shaped current whose greatest value is 1 pA.

    Parameters
    ----------
    tau_m, tau_syn
        Time constants of the membrane and of the current, ms; ``tau_m > tau_syn``.
    c_m
        Capacitance of the membrane, pF.
    """
    rate = 1.0 / tau_syn - 1.0 / tau_m
    ratio = tau_m / tau_syn
    # Time at which the derivative is zero: Lambert's W on its lower branch.
    time = (-_lambert_w_lower(-math.exp(-1.0 / ratio) / ratio) - 1.0 / ratio) / rate
    decay_m, decay_syn = math.exp(-time / tau_m), math.exp(-time / tau_syn)
    return math.e / (tau_syn * c_m * rate) * ((decay_m - decay_syn) / rate - time * decay_syn)


def _lambert_w_lower(x: float) -> float:
    """Solution w <= -1 of w exp(w) = x, for -1/e < x < 0, by Newton's method on ln(-w) + w = ln(-x)."""
    w = -2.0
    for _ in range(100):
        step = (math.log(-w) + w - math.log(-x)) / (1.0 / w + 1.0)
        w -= step
        if abs(step) < 1e-14 * abs(w):
            break
    return w
