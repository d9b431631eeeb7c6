"""Access to NEST, which brings no types."""

from __future__ import annotations

import argparse
import importlib
import importlib.util
import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from ranvier.base.names import unknown_name
from ranvier.base.paths import write_text
from ranvier.commands.keys import add_settings, signature_keys
from ranvier.errors import StateError
from ranvier.processes.machine import peak_resident_bytes, usable_processors
from ranvier_benchmarks._settings import Chosen, choose

__all__ = [
    "Times",
    "add_nest_arguments",
    "choose_keys",
    "load_nest",
    "measure",
    "require_nest",
    "thread_count",
    "write_report",
]

Keys = TypeVar("Keys")
Built = TypeVar("Built")

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
        raise StateError("NEST", bound="it is not installed beside Ranvier", remedy="pip install nest-simulator")


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


def add_nest_arguments(parser: argparse.ArgumentParser, keys: str, time_ms: float, presim_ms: float) -> None:
    """Declare ``--set`` and ``--json``; `keys` names the parameters of the network."""
    add_settings(
        parser,
        f"{keys}, time ({time_ms:g}), presim ({presim_ms:g}), threads (the processors, or more where NEST's tables "
        "need them)",
    )
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the report there instead of to the terminal")


def choose_keys(
    settings: Sequence[str], keys: Callable[..., Keys], time_ms: float, presim_ms: float
) -> tuple[Chosen, Keys]:
    """Return what ``--set`` says; `keys` takes the parameters of the network.

    Raises
    ------
    UnknownNameError
        For an option of Ranvier's simulations other than the number of threads.
    """
    chosen = choose(settings, keys, time=time_ms, presim=presim_ms)
    for name in chosen.options:
        if name != "threads":
            unknown_name("key", name, ["time", "presim", "threads", *signature_keys(keys)])
    return chosen, keys(**chosen.network)


@dataclass(frozen=True)
class Times:
    """Times of building and running a network in NEST, and the number of threads.

    Attributes
    ----------
    build, init, sim
        Seconds that the calls of Create and Connect, Prepare, and Run took.
    """

    chosen: Chosen
    version: str
    threads: int
    build: float
    init: float
    sim: float

    def as_json(self) -> dict[str, Any]:
        """Return the part of the report that all networks have."""
        return {
            "program": "NEST",
            "version": self.version,
            "threads": self.threads,
            "build_s": self.build,
            "init_s": self.init,
            "sim_s": self.sim,
            "simulated_ms": self.chosen.time,
            "presim_ms": self.chosen.presim,
            "real_time_factor": self.sim / (self.chosen.time / 1000.0),
            "peak_rss_bytes": peak_resident_bytes(),
        }


def measure(
    chosen: Chosen, build: Callable[[Any], Built], *, synapses: int, resolution: float, seed: int
) -> tuple[Built, Times]:
    """Build a network of so many synapses with a function of NEST's module, and run it; return what was built."""
    threads = chosen.options.get("threads") or thread_count(synapses)
    nest = load_nest()
    nest.set(resolution=resolution, local_num_threads=threads, rng_seed=seed, print_time=False)
    start = time.perf_counter()
    built = build(nest)
    end_of_build = time.perf_counter()
    nest.Prepare()
    prepared = time.perf_counter()
    if chosen.presim > 0.0:
        nest.Run(chosen.presim)
    begin = time.perf_counter()
    nest.Run(chosen.time)
    end = time.perf_counter()
    nest.Cleanup()
    times = Times(
        chosen=chosen,
        version=nest.build_info["version"],
        threads=threads,
        build=end_of_build - start,
        init=prepared - end_of_build,
        sim=end - begin,
    )
    return built, times


def write_report(report: dict[str, Any], path: Path | None) -> None:
    """Write the report into a file, or to the terminal where none is given."""
    text = json.dumps(report, indent=2) + "\n"
    if path is None:
        sys.stdout.write(text)
    else:
        write_text(path, text)
