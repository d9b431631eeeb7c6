"""Access to NEST, which brings no types."""

from __future__ import annotations

import importlib
import importlib.util
import os
from typing import Any

from ranvier.bench._process import processor_count

__all__ = ["load_nest", "nest_is_installed", "thread_count"]

# NEST numbers the connections of one kind on one thread with 27 bits.
_CONNECTIONS_PER_THREAD = 2**27


def nest_is_installed() -> bool:
    """Whether NEST can be imported."""
    return importlib.util.find_spec("nest") is not None


def load_nest() -> Any:
    """Import NEST without its banner and messages.

    Raises
    ------
    SystemExit
        When it is not installed; says what to install.
    """
    os.environ["PYNEST_QUIET"] = "1"
    if not nest_is_installed():
        raise SystemExit(
            "NEST is not installed in this environment: install the extra ranvier[bench], or nest-simulator"
        )
    nest: Any = importlib.import_module("nest")
    nest.verbosity = nest.VerbosityLevel.ERROR
    return nest


def thread_count(synapses: int) -> int:
    """Return how many threads NEST should have: one per processor, or the next multiple that its tables allow.

    Connections are spread over threads by their targets, which leaves some threads with more than others.
    """
    processors = processor_count()
    threads = processors
    while synapses * 1.1 > threads * _CONNECTIONS_PER_THREAD:
        threads += processors
    return threads
