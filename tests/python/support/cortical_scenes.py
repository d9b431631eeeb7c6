"""The channels of cortical cells in NEURON's language, and cells with them.

Equations are those of E. Hay et al., PLoS Computational Biology 7, e1002107 (2011), and of the papers that it cites;
`ranvier models NAME` cites each. They are written here a second time, independently of the core.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import ranvier as rv
from ranvier_benchmarks.neuron_ring import load_neuron

__all__ = ["DENSITIES", "NeuronCell", "load_mechanisms", "membrane"]

FloatArray = npt.NDArray[np.float64]

# Steady state and time constant of each gate, as NMODL; q is the factor of rates for the temperature, 1 at 21 degrees.
# E(x, y) is x / (1 - exp(-x / y)), S(x) is 1 / (1 + exp(-x)).
GATES: dict[str, dict[str, tuple[str, str]]] = {
    "na_transient": {
        "m": ("0.182*E(v+38,6) / (0.182*E(v+38,6) + 0.124*E(-v-38,6))", "1/(0.182*E(v+38,6) + 0.124*E(-v-38,6))/q"),
        "h": ("E(-v-66,6) / (E(-v-66,6) + E(v+66,6))", "1/(0.015*E(-v-66,6) + 0.015*E(v+66,6))/q"),
    },
    "na_persistent": {
        "m": ("S((v+52.6)/4.6)", "6/(0.182*E(v+38,6) + 0.124*E(-v-38,6))/q"),
        "h": ("S(-(v+48.8)/10)", "1/(2.88e-6*E(-v-17,4.63) + 6.94e-6*E(v+64.4,2.63))/q"),
    },
    "k_transient": {
        "m": ("S((v+10)/19)", "(0.34 + 0.92*exp(-((v+81)/59)^2))/q"),
        "h": ("S(-(v+76)/10)", "(8 + 49*exp(-((v+83)/23)^2))/q"),
    },
    "k_persistent": {
        "m": ("S((v+11)/12)", "(1.25 + L(v))/q"),
        "h": ("S(-(v+64)/11)", "(360 + (1010 + 24*(v+65))*exp(-((v+85)/48)^2))/q"),
    },
    "k_fast": {"m": ("S((v-18.7)/9.7)", "4*S(-(v+46.56)/44.14)")},
    "m_current": {"m": ("S((v+35)/5)", "1/(0.0033*(exp(0.1*(v+35)) + exp(-0.1*(v+35))))/q")},
    "h_current": {
        "m": (
            "0.00643*E(-v-154.9,11.9) / (0.00643*E(-v-154.9,11.9) + 0.193*exp(v/33.1))",
            "1/(0.00643*E(-v-154.9,11.9) + 0.193*exp(v/33.1))",
        )
    },
    "ca_hva": {
        "m": (
            "0.055*E(v+27,3.8) / (0.055*E(v+27,3.8) + 0.94*exp(-(75+v)/17))",
            "1/(0.055*E(v+27,3.8) + 0.94*exp(-(75+v)/17))",
        ),
        "h": (
            "0.000457*exp(-(13+v)/50) / (0.000457*exp(-(13+v)/50) + 0.0065*S((v+15)/28))",
            "1/(0.000457*exp(-(13+v)/50) + 0.0065*S((v+15)/28))",
        ),
    },
    "ca_lva": {
        "m": ("S((v+40)/6)", "(5 + 20*S(-(v+35)/5))/q"),
        "h": ("S(-(v+90)/6.4)", "(20 + 50*S(-(v+50)/7))/q"),
    },
    "sk_current": {"z": ("1/(1 + (0.00043/cai)^4.8)", "1")},
}
# Current: powers of gates and the ion, or the reversal potential of a current that belongs to none.
CURRENTS = {
    "na_transient": ("m*m*m*h", "na"),
    "na_persistent": ("m*m*m*h", "na"),
    "k_transient": ("m*m*m*m*h", "k"),
    "k_persistent": ("m*m*h", "k"),
    "k_fast": ("m", "k"),
    "m_current": ("m", "k"),
    "h_current": ("m", "-45"),
    "ca_hva": ("m*m*h", "ca"),
    "ca_lva": ("m*m*h", "ca"),
    "sk_current": ("z", "k"),
}
FUNCTIONS = """
FUNCTION E(x, y) {
    if (fabs(x/y) < 1e-6) { E = y*(1 + x/y/2) } else { E = x/(1 - exp(-x/y)) }
}
FUNCTION S(x) { S = 1/(1 + exp(-x)) }
FUNCTION L(x) {
    if (x < -60) { L = 13*exp(0.026*(x+110)) } else { L = 13*exp(-0.026*(x+10)) }
}
"""
POOL = """
NEURON { SUFFIX rv_calcium_pool USEION ca READ ica WRITE cai RANGE gamma, depth, decay, rest }
UNITS { (mM) = (milli/liter) FARADAY = (faraday) (coulombs) }
PARAMETER { gamma = 0.05 depth = 0.1 decay = 80 rest = 1e-4 }
ASSIGNED { ica }
STATE { cai }
INITIAL { cai = rest }
BREAKPOINT { SOLVE flow METHOD cnexp }
DERIVATIVE flow { cai' = -10000*gamma*ica/(2*FARADAY*depth) - (cai - rest)/decay }
"""

# S/cm^2 in the soma, and in the neurites. All of them are everywhere.
DENSITIES = {
    "na_transient": (1.5, 0.01),
    "na_persistent": (0.0005, 0.00001),
    "k_transient": (0.05, 0.005),
    "k_persistent": (0.002, 0.001),
    "k_fast": (0.5, 0.01),
    "m_current": (0.0001, 0.00007),
    "h_current": (0.0002, 0.0002),
    "ca_hva": (0.001, 0.0002),
    "ca_lva": (0.003, 0.0005),
    "sk_current": (0.02, 0.001),
}
LEAK = {"g": 5e-5, "e": -80.0}
POOLS = ({"gamma": 0.0005, "decay": 460.0}, {"gamma": 0.0005, "decay": 122.0})
CELSIUS, REST = 34.0, -80.0


def membrane() -> list[Any]:
    """Return the channels for `Cell`."""
    made: list[Any] = [("all", rv.pas(**LEAK))]
    for region, pool in zip(("soma", ~rv.tagged("soma")), POOLS, strict=True):
        made.append((region, rv.calcium_pool(**pool)))
    for name, densities in DENSITIES.items():
        for region, density in zip(("soma", ~rv.tagged("soma")), densities, strict=True):
            made.append((region, getattr(rv, name)(gbar=density)))
    return made


def _text(name: str) -> str:
    gates, (powers, ion) = GATES[name], CURRENTS[name]
    is_ion = ion.isalpha()
    current, reversal = (f"i{ion}", f"e{ion}") if is_ion else ("i", ion)
    uses = f"USEION {ion} READ e{ion} WRITE i{ion}" if is_ion else "NONSPECIFIC_CURRENT i"
    concentration = ("USEION ca READ cai", "cai") if "cai" in str(gates) else ("", "")
    names = list(gates)
    rates = "\n".join(f"    {x}inf = {steady}\n    {x}tau = {tau}" for x, (steady, tau) in gates.items())
    argument = f"v, {concentration[1]}" if concentration[1] else "v"
    return f"""
NEURON {{ SUFFIX rv_{name} {uses} {concentration[0]} RANGE gbar }}
PARAMETER {{ gbar = 0 celsius }}
ASSIGNED {{ v {current} {reversal if is_ion else ""} {concentration[1]} q {" ".join(f"{x}inf {x}tau" for x in names)} }}
STATE {{ {" ".join(names)} }}
BREAKPOINT {{ SOLVE states METHOD cnexp {current} = gbar*{powers}*(v - ({reversal})) }}
INITIAL {{ rates({argument}) {" ".join(f"{x} = {x}inf" for x in names)} }}
DERIVATIVE states {{
    rates({argument})
    {" ".join(f"{x}' = ({x}inf - {x})/{x}tau" for x in names)}
}}
PROCEDURE rates({argument}) {{
    q = 2.3^((celsius - 21)/10)
{rates}
}}
{FUNCTIONS}
"""


def load_mechanisms(folder: Path) -> Any:
    """Compile the mechanisms in a folder, and return NEURON's interpreter with them."""
    for name in GATES:
        (folder / f"rv_{name}.mod").write_text(_text(name))
    (folder / "rv_calcium_pool.mod").write_text(POOL)
    compiler = Path(sys.executable).with_name("nrnivmodl")
    done = subprocess.run([compiler], cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    h = load_neuron()
    (library,) = folder.glob("*/libnrnmech.*")
    h.nrn_load_dll(str(library))
    return h


class NeuronCell:
    """A cell with the same form, compartments and channels in NEURON.

    Parameters
    ----------
    h
        From `load_mechanisms`.
    morphology, counts
        Its form, and the compartments of each section.
    """

    def __init__(self, h: Any, morphology: rv.Morphology, counts: npt.NDArray[np.int64]) -> None:
        self._h = h
        self.sections: list[Any] = []
        for own, count in zip(morphology.sections, counts, strict=True):
            made = h.Section()
            for distance, radius in zip(own.distances, own.radii, strict=True):
                h.pt3dadd(distance, 0.0, 0.0, 2.0 * radius, sec=made)
            if own.parent is not None:
                made.connect(self.sections[own.parent](own.parent_position), 0.0)
            made.nseg, made.Ra, made.cm = int(count), 100.0, 1.0
            self._paint(made, 0 if own.tag == 1 else 1)
            self.sections.append(made)

    def _paint(self, section: Any, part: int) -> None:
        section.insert("pas")
        section.insert("rv_calcium_pool")
        for name in DENSITIES:
            section.insert(f"rv_{name}")
        section.ena, section.ek = 50.0, -85.0
        section.cao = 2.0
        for segment in section:
            segment.pas.g, segment.pas.e = LEAK["g"], LEAK["e"]
            segment.rv_calcium_pool.gamma, segment.rv_calcium_pool.decay = POOLS[part]["gamma"], POOLS[part]["decay"]
            for name, densities in DENSITIES.items():
                getattr(segment, f"rv_{name}").gbar = densities[part]

    def run(self, current: float, time: float, step: float, places: list[rv.Place]) -> FloatArray:
        """Return potentials at places, then the concentration in the soma: shape (steps, places + 1)."""
        h = self._h
        electrode = h.IClamp(self.sections[0](0.5))
        electrode.delay, electrode.dur, electrode.amp = 0.0, 1e9, current / 1e3
        of = [getattr(self.sections[place.section](place.position), "_ref_v") for place in places]  # noqa: B009
        of.append(getattr(self.sections[0](0.5), "_ref_cai"))  # noqa: B009
        vectors = [h.Vector().record(each) for each in of]
        h.celsius, h.dt, h.secondorder = CELSIUS, step, 0
        h.finitialize(REST)
        for _ in range(round(time / step)):
            h.fadvance()
        return np.array([list(vector) for vector in vectors])[:, 1:].T
