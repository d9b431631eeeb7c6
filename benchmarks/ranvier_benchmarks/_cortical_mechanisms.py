"""The channels of cortical cells in NEURON's language, for comparisons with NEURON.

Equations are those of E. Hay et al., PLoS Computational Biology 7, e1002107 (2011), and of the papers that it cites;
`ranvier models NAME` cites each. They are written here a second time, independently of the core.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

from ranvier.errors import FileError, StateError
from ranvier_benchmarks.neuron_ring import load_neuron

__all__ = ["GATES", "compile_mechanisms", "load_mechanisms"]

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


def compile_mechanisms(folder: Path) -> None:
    """Compile the mechanisms in a folder.

    Raises
    ------
    StateError
        When NEURON's compiler fails; the message has the end of its output.
    """
    for name in GATES:
        (folder / f"rv_{name}.mod").write_text(_text(name), encoding="utf-8")
    (folder / "rv_calcium_pool.mod").write_text(POOL, encoding="utf-8")
    compiler = Path(sys.executable).with_name("nrnivmodl")
    done = subprocess.run([compiler], cwd=folder, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        lines = (done.stdout + done.stderr).splitlines()[-20:]
        raise StateError("nrnivmodl", bound="\n".join([f"it ended with status {done.returncode}:", *lines]))


def load_mechanisms(folder: Path) -> Any:
    """Return NEURON's interpreter with the mechanisms that `compile_mechanisms` has compiled in a folder.

    Raises
    ------
    FileError
        When the folder has no compiled mechanisms.
    """
    libraries = sorted(folder.glob("*/libnrnmech.*"))
    if len(libraries) != 1:
        raise FileError(f"folder {folder}", bound="it has no compiled mechanisms", remedy="compile them there first")
    h = load_neuron()
    h.nrn_load_dll(str(libraries[0]))
    return h
