"""Hide the constructors of objects that only calls of a network, a simulation or a recording return."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

# Calls of a network, a simulation or a recording return them.
MADE_FOR_USERS = {
    "ChannelMechanism",
    "CompartmentData",
    "CompartmentRecorder",
    "Connections",
    "Counts",
    "CrossCorrelogram",
    "CurrentSourceDensity",
    "DipoleData",
    "DipoleRecorder",
    "EquationChannel",
    "EquationNeuron",
    "EquationReceptor",
    "EquationSynapse",
    "ExtracellularData",
    "ExtracellularRecorder",
    "LfpRecorder",
    "PeristimulusHistogram",
    "Population",
    "PopulationView",
    "ProgressReport",
    "ReceptorMechanism",
    "Projection",
    "Segment",
    "SpikeData",
    "SpikeRecorder",
    "SpikeTriggeredAverage",
    "StateData",
    "StateRecorder",
    "Stimulus",
    "WeightData",
    "WeightRecorder",
}


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the functions that Sphinx calls."""
    app.connect("autodoc-process-signature", shown_signature)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def shown_signature(
    app: object, what: str, name: str, thing: object, options: object, signature: str | None, returned: str | None
) -> tuple[str, None] | None:
    """Return the signature that is shown in place of the real one; None for the real one."""
    package, _, kind = name.rpartition(".")
    return ("", None) if what == "class" and package == "ranvier" and kind in MADE_FOR_USERS else None
