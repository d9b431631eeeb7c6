"""The synapse models that learn and come with Ranvier, written as equations with the same parameters."""

from __future__ import annotations

import ranvier as rv
from ranvier.equations.synapse import EquationSynapse
from ranvier_benchmarks._built_in_equations import BUILT_IN_SYNAPSES

__all__ = ["WRITTEN", "as_equations", "bounded", "multiplicative"]

WRITTEN = ("stdp", "stdp_nn_symm", "stdp_pl", "stdp_triplet", "vogels_sprekeler")
"""Names of the built-in models that there are."""

_PAIRS = "dx/dt = -x/tau_plus : 1\n dy/dt = -y/tau_minus : 1\n"
_TIMES = {"tau_plus": "20 ms", "tau_minus": "20 ms"}


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


def as_equations(model: str) -> EquationSynapse:
    """Return the model of this name as equations."""
    if model == "stdp_nn_symm":
        stdp = BUILT_IN_SYNAPSES["stdp"]
        events = {event: stdp[event].replace("+= 1", "= 1", 1) for event in ("on_pre", "on_post")}
        return rv.synapse(**stdp | events, name="own_stdp_nn_symm")
    return rv.synapse(**BUILT_IN_SYNAPSES[model], name=f"own_{model}")
