"""Access to NEST, which brings no types."""

from __future__ import annotations

import importlib
import importlib.util
import os
from typing import Any

from ranvier.errors import StateError
from ranvier.processes.machine import usable_processors

__all__ = ["load_nest", "require_nest", "thread_count"]

# NEST numbers the connections of one kind on one thread with 27 bits.
_CONNECTIONS_PER_THREAD = 2**27


def require_nest() -> None:
    """Check that NEST can be imported.

    Raises
    ------
    StateError
        When it is not installed.
    """
    if importlib.util.find_spec("nest") is None:
        raise StateError(
            "NEST", bound="it is not installed beside Ranvier", remedy="pip install 'ranvier[bench]', or nest-simulator"
        )


def load_nest() -> Any:
    """Import NEST without its banner and messages.

    Raises
    ------
    StateError
        When it is not installed.
    """
    require_nest()
    os.environ["PYNEST_QUIET"] = "1"
    # Threads that keep a processor busy while they wait for each other make NEST many times slower as soon as they are
    # more than the processors, or something else runs; where neither is so, they save it some microseconds a step.
    os.environ.setdefault("OMP_WAIT_POLICY", "passive")
    nest: Any = importlib.import_module("nest")
    nest.verbosity = nest.VerbosityLevel.ERROR
    return nest


def thread_count(synapses: int) -> int:
    """Return how many threads NEST should have: one per processor, or the next multiple that its tables allow.

    Connections are spread over threads by their targets, which leaves some threads with more than others.
    """
    processors = usable_processors()
    threads = processors
    while synapses * 1.1 > threads * _CONNECTIONS_PER_THREAD:
        threads += processors
    return threads
