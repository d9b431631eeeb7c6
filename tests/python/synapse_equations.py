"""The synapse models that learn and come with Ranvier, written as equations with the same parameters."""

from __future__ import annotations

import ranvier as rv
from ranvier.equations.synapse import EquationSynapse

__all__ = ["WRITTEN", "as_equations", "bounded", "multiplicative"]

WRITTEN = ("stdp", "stdp_nn_symm", "stdp_pl", "stdp_triplet", "vogels_sprekeler")
"""Names of the built-in models that there are."""

_PAIRS = "dx/dt = -x/tau_plus : 1\n dy/dt = -y/tau_minus : 1\n"
_TIMES = {"tau_plus": "20 ms", "tau_minus": "20 ms"}
_SIGN = "s = sign(W_max) : 1\n"


def _stdp(raised: str) -> EquationSynapse:
    return rv.synapse(
        _PAIRS,
        on_pre=f"x {raised} 1; w = W_max*max(w/W_max - learning_rate*alpha*(w/W_max)**mu_minus*y, 0)",
        on_post=f"y {raised} 1; w = W_max*min(w/W_max + learning_rate*(1 - w/W_max)**mu_plus*x, 1)",
        parameters=dict(**_TIMES, learning_rate=0.01, alpha=1.0, mu_plus=1.0, mu_minus=1.0, W_max=100.0),
        name="own_stdp",
    )


def multiplicative(plus: int, minus: int) -> EquationSynapse:
    """Return `stdp` with exponents 0 or 1: operation by operation that which the built-in model does."""
    up, down = "(1 - w/W_max)*" if plus else "", "*(w/W_max)" if minus else ""
    return rv.synapse(
        _PAIRS,
        on_pre=f"x += 1; w = W_max*max(w/W_max - learning_rate*alpha{down}*y, 0)",
        on_post=f"y += 1; w = W_max*min(w/W_max + learning_rate*{up}x, 1)",
        parameters=dict(**_TIMES, learning_rate=0.01, alpha=1.0, W_max=100.0),
        name="own_multiplicative",
    )


def bounded(raised: str) -> EquationSynapse:
    """Return `stdp` so that its bounds can be seen where `W_max` differs between synapses: `x` is raised by += or =."""
    return rv.synapse(
        _PAIRS + "part = clip(w/W_max, 0, 1) : 1\n",
        on_pre=f"x {raised} 1; w = W_max*max(part - learning_rate*alpha*part**mu_minus*y, 0)",
        on_post=f"y {raised} 1; w = W_max*min(part + learning_rate*(1 - part)**mu_plus*x, 1)",
        parameters=dict(**_TIMES, learning_rate=0.01, alpha=1.0, mu_plus=1.0, mu_minus=1.0, W_max=100.0),
        name="own_bounded",
    )


def _stdp_pl() -> EquationSynapse:
    return rv.synapse(
        _PAIRS,
        on_pre="x += 1; w = max(w - learning_rate*alpha*w*y, 0)",
        on_post="y += 1; w += learning_rate*w**mu*x",
        parameters=dict(**_TIMES, learning_rate=0.1, alpha=1.0, mu=0.4),
        name="own_power_law",
    )


def _triplet() -> EquationSynapse:
    return rv.synapse(
        _PAIRS + "dx_slow/dt = -x_slow/tau_plus_triplet : 1\n dy_slow/dt = -y_slow/tau_minus_triplet : 1\n" + _SIGN,
        on_pre="w = s*max(s*w - y*(A_minus + A_minus_triplet*x_slow), 0); x += 1; x_slow += 1",
        on_post="w = s*min(s*w + x*(A_plus + A_plus_triplet*y_slow), abs(W_max)); y += 1; y_slow += 1",
        parameters={
            "tau_plus": "16.8 ms",
            "tau_minus": "33.7 ms",
            "tau_plus_triplet": "101 ms",
            "tau_minus_triplet": "125 ms",
            "A_plus": 5e-10,
            "A_minus": 7e-3,
            "A_plus_triplet": 6.2e-3,
            "A_minus_triplet": 2.3e-4,
            "W_max": 100.0,
        },
        name="own_triplet",
    )


def _vogels() -> EquationSynapse:
    return rv.synapse(
        "dx/dt = -x/tau : 1\n dy/dt = -y/tau : 1\n" + _SIGN,
        on_pre="x += 1; w = s*max(min(s*w + learning_rate*y, abs(W_max)) - learning_rate*alpha, 0)",
        on_post="y += 1; w = s*min(s*w + learning_rate*x, abs(W_max))",
        parameters={"tau": "20 ms", "learning_rate": 0.001, "alpha": 0.12, "W_max": -100.0},
        name="own_vogels",
    )


def as_equations(model: str) -> EquationSynapse:
    """Return the model of this name as equations."""
    made = {
        "stdp": lambda: _stdp("+="),
        "stdp_nn_symm": lambda: _stdp("="),
        "stdp_pl": _stdp_pl,
        "stdp_triplet": _triplet,
        "vogels_sprekeler": _vogels,
    }
    return made[model]()
