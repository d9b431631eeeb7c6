"""Networks that come with Ranvier. Each is a function whose keywords are the parameters of the network."""

from ranvier.networks.brunel import brunel
from ranvier.networks.coba import coba
from ranvier.networks.coba_hh import coba_hh
from ranvier.networks.column import column
from ranvier.networks.cuba import cuba
from ranvier.networks.hpc_benchmark import hpc_benchmark
from ranvier.networks.interval_fire import interval_fire
from ranvier.networks.izhikevich import izhikevich
from ranvier.networks.l5_pair import l5_pair
from ranvier.networks.layers import layers
from ranvier.networks.mesocircuit import mesocircuit
from ranvier.networks.microcircuit import microcircuit
from ranvier.networks.network_model import NetworkModel, Probe
from ranvier.networks.ring import ring
from ranvier.networks.ring_attractor import ring_attractor
from ranvier.networks.synfire import synfire
from ranvier.networks.topographic_map import topographic_map
from ranvier.networks.vogels import vogels

__all__ = [
    "NetworkModel",
    "Probe",
    "brunel",
    "coba",
    "coba_hh",
    "column",
    "cuba",
    "hpc_benchmark",
    "interval_fire",
    "izhikevich",
    "l5_pair",
    "layers",
    "mesocircuit",
    "microcircuit",
    "ring",
    "ring_attractor",
    "synfire",
    "topographic_map",
    "vogels",
]


def __dir__() -> list[str]:
    return sorted(__all__)
