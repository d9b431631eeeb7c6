"""Random models of synapses, for random networks."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

import ranvier as rv
from ranvier.base.times import time_of
from ranvier.equations.synapse import EquationSynapse
from synapse_equations import WRITTEN, as_equations

__all__ = ["as_equations_at_times", "following", "learning", "short_term", "with_varied_parameters"]


def learning(net: rv.Network, chance: random.Random, steps: int) -> tuple[Any, rv.populations.model_base.SynapseModel]:
    """Return weights and how they learn."""
    # A delay of one step cannot be divided.
    fraction = chance.choice([0.0, 0.0, 0.3, 0.5, 0.8, 1.0] if steps > 15 else [0.0, 1.0])
    sign = chance.choice([1.0, 1.0, -1.0])
    weight = chance.choice([sign * 30.0, sign * 1.0, rv.Uniform(*sorted((sign * 2.0, sign * 60.0)))])
    rate, bound = 10.0 ** chance.uniform(-3.0, -0.5), sign * chance.choice([60.0, 100.0])
    kind = chance.randrange(8)
    if kind == 0 and sign > 0.0:
        return weight, rv.stdp_pl(learning_rate=rate, tau_minus=30.0, axonal_fraction=fraction)
    if kind == 1:
        return weight, rv.vogels_sprekeler(learning_rate=10.0 * rate, W_max=bound, axonal_fraction=fraction)
    if kind == 2:
        sizes = {name: 10.0 * rate * chance.random() for name in ("A_plus", "A_minus", "A_plus_triplet")}
        return weight, rv.stdp_triplet(**sizes, A_minus_triplet=rate, W_max=bound, axonal_fraction=fraction)
    if kind == 3:
        given: dict[str, Any] = {"A_plus": rate, "A_minus": 0.7 * rate, "b": chance.choice([0.0, 0.1])}
        given["dopamine"] = chance.choice(net.populations)[:: chance.choice([1, 3])]
        given["dopamine_delay"] = time_of(chance.choice([1, 5, 30]), net.resolution)
        low, high = sorted((0.0, bound))
        return weight, rv.stdp_dopamine(**given, W_min=low, W_max=high, axonal_fraction=fraction)
    model = chance.choice([rv.stdp, rv.stdp_nn_symm, rv.stdp_nn_restr, rv.stdp_nn_pre_centered])
    powers = chance.choice([0.0, 0.4, 1.0])
    return weight, model(learning_rate=rate, W_max=bound, mu_plus=powers, mu_minus=powers, axonal_fraction=fraction)


def following(most: float, chance: random.Random) -> tuple[Any, rv.clopath]:
    """Return weights up to a bound, and how they follow the potentials of neurons that have filtered ones."""
    rate = most * 10.0 ** chance.uniform(-5.0, -3.0)
    given: dict[str, Any] = {"A_LTP": rate, "A_LTD": 10.0 * rate, "W_max": most, "tau_x": chance.choice([2.0, 15.0])}
    # Some of these let each step potentiate weights.
    given |= {"theta_plus": chance.choice([-90.0, -45.3]), "theta_minus": chance.choice([-90.0, -70.6])}
    given |= {"delay_u_bars": chance.choice([0.0, 5.0]), "A_LTD_const": chance.choice([0.0, 1.0])}
    return chance.choice([0.5 * most, rv.Uniform(0.0, most)]), rv.clopath(**given, u_rest=chance.choice([0.0, -70.0]))


def as_equations_at_times(
    synapse: rv.populations.model_base.SynapseModel, chance: random.Random
) -> rv.populations.model_base.AnySynapse:
    """Return a model as it is, or, where that is possible, now and then as equations."""
    if synapse.name not in WRITTEN or chance.random() < 0.6:
        return synapse
    return as_equations(synapse.name)(**{name: float(np.asarray(value)) for name, value in synapse.values.items()})


def short_term(chance: random.Random) -> rv.populations.model_base.AnySynapse:
    """Return how weights are used that stay."""
    part, recovery = chance.choice([0.05, 0.5, 1.0]), chance.choice([0.1, 20.0, 800.0])
    facilitation = chance.choice([0.0, 50.0, 1000.0])
    kind = chance.randrange(6)
    if kind == 5:
        return rv.saturating_nmda(alpha=chance.choice([0.05, 0.5, 5.0]), tau_decay=chance.choice([20.0, 100.0]))
    if kind == 4:
        on_pre = chance.choice(
            ["u += U*(1 - u); release = clip(u*x, 0, 1); x -= release", "release = clip(x + u, 0, 3); u += U"]
        )
        return rv.synapse(
            "du/dt = -u/tau_fac : 1\ndx/dt = (1 - x)/tau_rec : 1",
            on_pre=on_pre,
            parameters={"U": part, "tau_fac": "50 ms", "tau_rec": rv.parameter(f"{recovery} ms")},
            name="releasing",
        )
    if kind == 3:
        sites = chance.choice([1, 6, 300])
        return rv.quantal_stp(n=sites, U=part, u=0.5, tau_rec=recovery, tau_fac=facilitation, depleted=sites // 2)
    if kind == 0:
        return rv.bernoulli(p_transmit=chance.choice([0.0, 0.3, 0.9, 1.0]))
    if kind == 1:
        return rv.tsodyks2(U=part, u=part, tau_rec=recovery, tau_fac=facilitation)
    return rv.tsodyks(U=part, tau_psc=chance.choice([0.1, 3.0]), tau_rec=recovery, tau_fac=facilitation)


def with_varied_parameters(
    synapse: rv.populations.model_base.AnySynapse, rule: rv.Rule, chance: random.Random
) -> rv.populations.model_base.AnySynapse:
    """Return a model of which each synapse may have parameters of its own, drawn or listed."""
    bounds = {
        "p_transmit": (0.0, 1.0),
        "U": (0.05, 1.0),
        "u": (0.05, 1.0),
        "tau_psc": (0.1, 5.0),
        "tau_rec": (0.1, 300.0),
        "tau_fac": (0.0, 100.0),
        "x": (0.0, 0.5),
        "y": (0.0, 0.5),
        "learning_rate": (0.001, 0.1),
        "alpha": (0.5, 1.5),
        "mu_plus": (0.0, 1.0),
        "mu_minus": (0.0, 1.0),
        **dict.fromkeys(("tau", "tau_plus", "tau_minus", "tau_plus_triplet", "tau_minus_triplet"), (0.5, 60.0)),
        **dict.fromkeys(("A_plus", "A_minus", "A_plus_triplet", "A_minus_triplet"), (0.01, 2.0)),
    }
    if "W_max" in synapse.per_synapse_names:
        # The weights are as great.
        greatest = synapse.values.get("W_max", 0.0)
        assert isinstance(greatest, float)
        bounds["W_max"] = (-120.0, -60.0) if greatest < 0.0 else (60.0, 120.0)
    if isinstance(synapse, rv.quantal_stp):
        sites = synapse.values.get("n", 1.0)
        assert isinstance(sites, float)
        bounds |= {"n": (sites, 2.0 * sites)}
    drawn: dict[str, Any] = {}
    for name in synapse.per_synapse_names:
        if name not in bounds or chance.random() < 0.5:
            continue
        low, high = bounds[name]
        if isinstance(rule, rv.Explicit) and chance.random() < 0.5:
            values = np.array([chance.uniform(low, high) for _ in np.asarray(rule.sources)])
            drawn[name] = np.floor(values) if name == "n" else values
        else:
            drawn[name] = rv.Uniform(low, high + 0.4 * (name == "n"))
    if not drawn:
        return synapse
    if isinstance(synapse, EquationSynapse):
        # Whether weights keep their sign can be seen only where all have the same bound.
        drawn.pop("W_max", None)
        return synapse(**drawn)
    return type(synapse)(**{**synapse.values, **drawn})
