"""What drives the models of equations that come with Ranvier, so that all of their dynamics are seen."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import ranvier as rv

__all__ = ["DRIVES", "Drive", "network"]


@dataclass(frozen=True)
class Drive:
    """What a model is given.

    Attributes
    ----------
    currents
        Constant currents with which it fires, from the least to the greatest (pA).
    weight
        A weight of which a few together make a difference.
    values
        Parameters in place of the defaults.
    copies
        How many receptors and kernels the model has, if these can be chosen.
    """

    currents: tuple[float, float]
    weight: float
    values: dict[str, Any] = field(default_factory=dict)
    copies: dict[str, int] = field(default_factory=dict)


_BETA = {"tau_rise_ex": 0.3, "tau_decay_ex": 1.5, "tau_rise_in": 2.5, "tau_decay_in": 0.7}
_KERNELS = {
    "tau_stc_1": 5.0,
    "q_stc_1": 3.0,
    "tau_stc_2": 100.0,
    "q_stc_2": 20.0,
    "tau_sfa_1": 10.0,
    "q_sfa_1": 10.0,
    "tau_sfa_2": 80.0,
    "q_sfa_2": 5.0,
}
_TWO: dict[str, Any] = {"copies": {"receptors": 2}}
_TWO_REVERSALS = {"E_rev_1": 0.0, "E_rev_2": -85.0}
DRIVES = {
    "aeif_cond_alpha": Drive((300.0, 1200.0), 8.0),
    "aeif_cond_exp": Drive((300.0, 1200.0), 8.0),
    "aeif_cond_alpha_multisynapse": Drive(
        (500.0, 1500.0), 5.0, {"tau_syn_1": 0.5, "tau_syn_2": 3.0, **_TWO_REVERSALS}, **_TWO
    ),
    "aeif_cond_beta_multisynapse": Drive(
        (500.0, 1500.0),
        5.0,
        {"tau_rise_1": 0.3, "tau_rise_2": 2.0, "tau_decay_1": 3.0, "tau_decay_2": 5.0, **_TWO_REVERSALS},
        **_TWO,
    ),
    "aeif_psc_delta": Drive((300.0, 1200.0), 4.0),
    "aeif_psc_delta_clopath": Drive((600.0, 1200.0), 4.0),
    "aeif_psc_alpha": Drive((300.0, 1200.0), 90.0),
    "aeif_psc_exp": Drive((300.0, 1200.0), 90.0),
    "amat2_psc_exp": Drive((100.0, 400.0), 100.0, {"beta": 0.2, "alpha_2": 3.0}),
    "gif_cond_exp": Drive((150.0, 400.0), 3.0, _KERNELS, {"stc": 2, "sfa": 2}),
    "gif_cond_exp_multisynapse": Drive(
        (500.0, 1200.0),
        3.0,
        {**_KERNELS, "tau_syn_1": 0.5, "tau_syn_2": 3.0, **_TWO_REVERSALS},
        {"stc": 2, "sfa": 2, "receptors": 2},
    ),
    "gif_psc_exp": Drive((150.0, 400.0), 60.0, _KERNELS, {"stc": 2, "sfa": 2}),
    "gif_psc_exp_multisynapse": Drive(
        (150.0, 400.0),
        60.0,
        {**_KERNELS, "tau_syn_1": 0.5, "tau_syn_2": 3.0},
        {"stc": 2, "sfa": 2, "receptors": 2},
    ),
    "glif_cond": Drive(
        (200.0, 500.0),
        4.0,
        {"spike_dependent_threshold": True, "after_spike_currents": True, "adapting_threshold": True},
    ),
    "glif_psc": Drive(
        (200.0, 500.0),
        60.0,
        {"spike_dependent_threshold": True, "after_spike_currents": True, "adapting_threshold": True},
        {"receptors": 2},
    ),
    "hh_cond_exp_traub": Drive((100.0, 1500.0), 12.0),
    "hh_psc_alpha": Drive((300.0, 1500.0), 60.0),
    "hh_psc_alpha_clopath": Drive((300.0, 1500.0), 60.0),
    "iaf_cond_alpha": Drive((0.0, 400.0), 8.0),
    "iaf_cond_beta": Drive((0.0, 400.0), 8.0, _BETA),
    "iaf_cond_exp": Drive((0.0, 400.0), 8.0),
    "iaf_wang_2002": Drive((450.0, 900.0), 8.0),
    "iaf_psc_alpha_multisynapse": Drive((300.0, 600.0), 60.0, {"tau_syn_1": 0.5, "tau_syn_2": 3.0}, **_TWO),
    "iaf_psc_exp_multisynapse": Drive((350.0, 700.0), 60.0, {"tau_syn_1": 0.5, "tau_syn_2": 8.0}, **_TWO),
    "izhikevich": Drive((3.0, 12.0), 1.0),
    "mat2_psc_exp": Drive((300.0, 900.0), 100.0),
    "pp_psc_delta": Drive(
        (200.0, 600.0), 2.0, {"tau_sfa_1": 20.0, "q_sfa_1": 1.5, "tau_sfa_2": 50.0, "q_sfa_2": 0.5}, {"sfa": 2}
    ),
}
"""By model."""


def network(name: str, size: int = 20) -> tuple[rv.Network, rv.Population]:
    """Return neurons of a model that excite and inhibit each other, with a current that begins late."""
    drive = DRIVES[name]
    net = rv.Network(seed=5)
    low, high = drive.currents
    kind = getattr(rv, name)(**drive.copies)
    current: dict[str, Any] = {"I_e": rv.Uniform(0.5 * (low + high), high)} if "I_e" in kind.parameters else {}
    cells = net.create(kind, size, name="cells", **current, **drive.values)
    if not current:
        net.stimulate(cells, rv.dc_generator(amplitude=0.75 * high + 0.25 * low))
    by_sign = kind.program.sign_chooses_receptor
    for sign in (1.0, -1.0) if by_sign else (1.0,):
        for receptor in [None] if by_sign else kind.receptors:
            weight = rv.Uniform(*sorted((0.0, sign * drive.weight)))
            net.connect(cells, cells, rv.FixedIndegree(3), weight=weight, delay=rv.Uniform(0.5, 3.0), receptor=receptor)
    net.stimulate(cells[: size // 2], rv.dc_generator(amplitude=0.2 * high, start=5.0))
    net.record_spikes(cells)
    return net, cells
