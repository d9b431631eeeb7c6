"""Neurons in files of NESTML beside the same neurons as they come with Ranvier, and what drives both."""

from __future__ import annotations

import importlib.metadata
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

import ranvier as rv
from membranes import Experiment, Recording, Synapses, in_ranvier
from repository import DATA

__all__ = ["MODELS", "PUBLISHED", "TWINS", "Twin", "both", "published"]

MODELS = DATA / "nestml_models"


@dataclass(frozen=True)
class Twin:
    """A model of a file, and what it is compared with.

    Attributes
    ----------
    model
        Name of the model that comes with Ranvier.
    currents, weight
        As in `library_scenes.Drive`.
    most
        By how much the potential may differ (mV): rounding where both are solved exactly, the errors of two adaptive
        integrations (1e-6) otherwise, which grow in the upstroke of a spike.
    values
        Parameters of the model in place of its defaults, so that it is the neuron of the file.
    method
        How both are integrated.
    """

    model: str
    currents: tuple[float, float]
    weight: float
    most: float
    values: dict[str, float] = field(default_factory=dict)
    method: str = "auto"


_EXACT, _ADAPTIVE, _UPSTROKE = 1e-9, 1e-4, 0.05
TWINS = {
    "leaky_exponential": Twin("iaf_psc_exp", (300.0, 600.0), 60.0, _EXACT),
    "leaky_alpha": Twin("iaf_psc_alpha", (300.0, 600.0), 60.0, _EXACT),
    "leaky_delta": Twin("iaf_psc_delta", (300.0, 600.0), 2.0, _EXACT),
    "leaky_counted": Twin("iaf_psc_delta", (300.0, 600.0), 2.0, _EXACT),
    "conductances_exponential": Twin("iaf_cond_exp", (200.0, 700.0), 8.0, _ADAPTIVE),
    "conductances_alpha": Twin("iaf_cond_alpha", (200.0, 700.0), 8.0, _ADAPTIVE),
    "adaptive_exponential": Twin("aeif_cond_exp", (300.0, 1200.0), 8.0, _UPSTROKE, {"t_ref": 0.5}),
    "quadratic": Twin("izhikevich", (3.0, 12.0), 1.0, _EXACT, method="euler"),
    "hodgkin_huxley": Twin("hh_psc_alpha", (300.0, 1500.0), 60.0, _UPSTROKE),
}
"""By name of the file, which was written for these tests after the documentation of the language."""

_ALPHA = Twin("aeif_cond_alpha", (500.0, 1400.0), 8.0, _UPSTROKE, {"t_ref": 2.0})
PUBLISHED = {
    "iaf_psc_exp_neuron": TWINS["leaky_exponential"],
    "iaf_psc_alpha_neuron": TWINS["leaky_alpha"],
    "iaf_psc_delta_neuron": TWINS["leaky_delta"],
    "iaf_psc_delta_fixed_timestep_neuron": TWINS["leaky_counted"],
    "iaf_cond_exp_neuron": TWINS["conductances_exponential"],
    "iaf_cond_alpha_neuron": TWINS["conductances_alpha"],
    "aeif_cond_exp_neuron": replace(TWINS["adaptive_exponential"], values={"t_ref": 2.0}),
    "aeif_cond_alpha_neuron": _ALPHA,
    "aeif_cond_alpha_alt_neuron": _ALPHA,
    "izhikevich_neuron": TWINS["quadratic"],
    "hh_psc_alpha_neuron": TWINS["hodgkin_huxley"],
}
"""By name of the file that the package nestml brings."""


def published() -> dict[str, Path]:
    """Return the files of neurons of the package nestml by name; none if it is not installed."""
    try:
        files = importlib.metadata.files("nestml") or []
    except importlib.metadata.PackageNotFoundError:
        return {}
    found = [Path(str(each.locate())) for each in files if each.match("*models/neurons/*.nestml")]
    return {each.stem: each for each in found if each.is_file()}


def both(path: Path, twin: Twin, neurons: int = 6, duration: float = 100.0) -> tuple[Recording, Recording]:
    """Return what the neurons of a file do, and those of Ranvier, under the same currents and spikes."""
    generator = np.random.default_rng(7)
    count = neurons * 8
    here: Any = getattr(rv, twin.model)(**twin.values)
    experiment = Experiment(
        model=rv.read_nestml(path, method=twin.method),
        neurons=[{"I_e": float(current)} for current in np.linspace(*twin.currents, neurons)],
        trains=[np.unique(np.round(generator.uniform(1.0, duration, 20), 1)).tolist() for _ in range(10)],
        synapses=Synapses(
            sources=generator.integers(0, 10, size=count),
            targets=np.sort(generator.integers(0, neurons, size=count)),
            weights=np.rint(generator.normal(0.3, 1.0, size=count) * twin.weight * 64.0) / 64.0,
            delays=generator.integers(1, 30, size=count).astype(np.float64) * 0.1,
        ),
        duration=duration,
        variables=("V_m",),
    )
    return in_ranvier(experiment), in_ranvier(replace(experiment, model=here))
