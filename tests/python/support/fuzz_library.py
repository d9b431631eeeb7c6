"""Neurons of equations that come with Ranvier, in random networks."""

from __future__ import annotations

import random
from typing import Any

import ranvier as rv
from library_scenes import DRIVES
from ranvier.equations.library import is_integrated

__all__ = ["create_library_neurons", "equations_of", "weight_onto"]


def create_library_neurons(net: rv.Network, chance: random.Random) -> None:
    """Create neurons of a model that is drawn, some of which fire without input."""
    name = chance.choice(list(DRIVES))
    drive = DRIVES[name]
    model: rv.EquationNeuron = getattr(rv, name)(**drive.copies, **_integration(name, chance))
    low, high = drive.currents
    values: dict[str, Any] = dict(drive.values)
    if "I_e" in model.parameters:
        values["I_e"] = rv.Uniform(low, chance.uniform(low + 0.5 * (high - low), high))
    if chance.random() < 0.3 and "V_m" in model.variables and name != "pp_psc_delta":
        values["V_m"] = rv.Normal(-65.0, 3.0)
    cells = net.create(model, chance.choice([1, 7, 20, 64]), **values)
    if "I_e" not in model.parameters:
        net.stimulate(cells, rv.dc_generator(amplitude=chance.uniform(low, high)))


def _integration(name: str, chance: random.Random) -> dict[str, Any]:
    """Return keywords of the integration of a model, which do not let it leave all bounds; often none."""
    if not is_integrated(name) or chance.random() < 0.5:
        return {}
    # The equation of the potential is not linear in it.
    if chance.random() < 0.5 and not name.startswith(("aeif", "izhikevich", "iaf_wang")):
        return {"method": "exponential_euler"}
    bounds = {"relative_tolerance": chance.choice([1e-3, 1e-9]), "absolute_tolerance": chance.choice([1e-3, 1e-9])}
    return {"method": "adaptive", **bounds}


def equations_of(population: rv.Population) -> rv.EquationNeuron | None:
    """Return the model of neurons of equations; None of others."""
    model = population.user_model
    return model if isinstance(model, rv.EquationNeuron) else None


def weight_onto(population: rv.Population, chance: random.Random) -> Any:
    """Return a weight of synapses onto such neurons, whose equations larger ones may drive out of all bounds."""
    most = DRIVES[population.model].weight
    model = equations_of(population)
    if model is not None and model.program.sign_chooses_receptor and chance.random() < 0.3:
        return chance.choice([-most, rv.Uniform(-most, 0.0)])
    return chance.choice([most, 0.1 * most, rv.Uniform(0.0, most)])
