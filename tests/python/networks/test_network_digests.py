"""Networks that ship give the same spikes, bit for bit, for any number of threads and each instruction set.

`test_digests` does so more thoroughly with other networks.
"""

from __future__ import annotations

import functools

import pytest

import ranvier as rv
from ranvier import _core, networks
from ranvier.simulation.options import grouped
from small_networks import LIBRARY_NETWORKS
from thorough_cases import one_of_each

DURATION = 160.0  # ms: a packet in synfire has begun its way


@functools.cache
def digest(name: str, threads: int, instruction_set: str, program: str = "auto") -> str:
    model = getattr(networks, name.split()[0])(**LIBRARY_NETWORKS[name])
    options = grouped({"threads": threads, "instruction_set": instruction_set, "programs": program})
    sim = rv.Simulation(model.net, progress=False, **options)
    sim.run(DURATION)
    spikes = sim.spikes(model.spikes)
    assert len(spikes) > 200, "a silent network proves nothing"
    return spikes.digest()


@pytest.mark.parametrize(
    ("name", "instruction_set", "threads"), one_of_each(LIBRARY_NETWORKS, _core.instruction_sets(), [3, 1, 2])
)
def test_same_spikes(name: str, instruction_set: str, threads: int) -> None:
    assert digest(name, threads, instruction_set) == digest(name, 1, "baseline")


@pytest.mark.parametrize("name", LIBRARY_NETWORKS)
def test_same_spikes_without_a_compiler(name: str) -> None:
    assert digest(name, 2, "baseline", "interpreted") == digest(name, 1, "baseline")
