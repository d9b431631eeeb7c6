"""Programs with which `ranvier bench models` compares Ranvier: which models they have, and how one is run there."""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any, ClassVar, Protocol, TypeAlias

from ranvier.processes.machine import usable_processors
from ranvier_benchmarks._brian2 import add_brian2_python, python_of_brian2, refuse_brian2_python
from ranvier_benchmarks._brian2_equations import BRIAN2_MODELS, as_brian2_gets_it
from ranvier_benchmarks._in_turn import Contestant, run_once
from ranvier_benchmarks._model_loads import DELAY, SOURCE_RATE, SPREAD, Load
from ranvier_benchmarks._nest import require_nest
from ranvier_benchmarks._options import parse_peers
from ranvier_benchmarks._settings import Chosen
from ranvier_benchmarks.nest_models import node_models

__all__ = ["PEER_NAMES", "Peer", "add_peer_arguments", "chosen_peers"]

PEER_NAMES = {"nest": "NEST", "brian2": "Brian2"}
"""Names in tables, by those of ``--against`` and of the JSON file."""
Measured: TypeAlias = dict[str, float]
_SCRIPT = Path(__file__).with_name("_brian2_neurons.py")
_MEASURES = ("ns_per_neuron_and_step", "ns_per_event", "spikes")


class Peer(Protocol):
    """A program to compare with.

    Attributes
    ----------
    key
        Its name in ``--against`` and in the JSON file.
    """

    key: ClassVar[str]

    def has(self, model: str) -> bool:
        """Return whether it has a model."""

    def method(self, model: str) -> str | None:
        """Return how it integrates a model that it has; None where it does not let users choose."""

    def run(self, load: Load, chosen: Chosen) -> Measured:
        """Run a model that it has without and with events, in another process; return times in ns, and spikes.

        Raises
        ------
        StateError
            When the run fails; the message has the end of its output.
        """


class _Nest:
    key: ClassVar[str] = "nest"

    def __init__(self) -> None:
        require_nest()
        self._models = set(node_models())

    def has(self, model: str) -> bool:
        return model in self._models

    def method(self, model: str) -> str | None:
        return None

    def run(self, load: Load, chosen: Chosen) -> Measured:
        settings = {
            "neurons": load.neurons,
            "indegree": load.indegree,
            "resolution": load.resolution,
            "seed": load.seed,
            "time": chosen.time,
            "presim": chosen.presim,
            "threads": chosen.threads,
        }
        given = [f"{key}={value}" for key, value in settings.items()]
        current = [] if load.current is None else [f"--current={load.current!r}"]
        arguments = ("bench", "nest_models", f"--model={load.model}", *current, "--set", *given)
        return _measured(run_once(Contestant("NEST", arguments)))


class _Brian2:
    key: ClassVar[str] = "brian2"

    def __init__(self, python: Path | None, folder: Path) -> None:
        self._python = python_of_brian2(python)
        self._folder = folder

    def has(self, model: str) -> bool:
        return model in BRIAN2_MODELS

    def method(self, model: str) -> str | None:
        return BRIAN2_MODELS[model].method

    def run(self, load: Load, chosen: Chosen) -> Measured:
        work = {
            "model": as_brian2_gets_it(load.model),
            "current": load.current,
            "spread": SPREAD,
            "neurons": load.neurons,
            "indegree": load.indegree,
            "source_rate": SOURCE_RATE,
            "delay": DELAY,
            "resolution": load.resolution,
            "seed": load.seed,
            "time": chosen.time,
            "presim": chosen.presim,
            "threads": chosen.threads,
            "compilers": usable_processors(),
        }
        # Each model has a folder, in which its programs stay: in the next turn they need not be compiled again.
        arguments = (f"--work={json.dumps(work)}", f"--folder={self._folder / load.model}")
        return _measured(run_once(Contestant("Brian2", arguments, program=(*self._python, str(_SCRIPT)))))


def add_peer_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare ``--against`` and ``--brian2-python``."""
    parser.add_argument(
        "--against", default="", metavar="NAME,...", help=f"programs to compare with: {', '.join(PEER_NAMES)}"
    )
    add_brian2_python(parser)


def chosen_peers(arguments: argparse.Namespace, folder: Path) -> list[Peer]:
    """Return the programs that arguments name; `folder` is for what they compile, as long as they are used.

    Raises
    ------
    UnknownNameError
        For an unknown program.
    StateError
        When one is not installed.
    ValueOutOfBoundsError
        For a Python of Brian2 without Brian2.
    """
    names = parse_peers(arguments.against, list(PEER_NAMES))
    if "brian2" not in names:
        refuse_brian2_python(arguments.brian2_python)
    made: dict[str, Any] = {"nest": _Nest, "brian2": lambda: _Brian2(arguments.brian2_python, folder)}
    return [made[name]() for name in names]


def _measured(report: dict[str, Any]) -> Measured:
    return {key: report[key] for key in _MEASURES if key in report}
