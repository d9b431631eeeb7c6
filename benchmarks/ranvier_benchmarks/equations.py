"""Models that users write as equations beside the built-in ones: time per neuron and step or event, and to compile.

The built-in point neurons are written as equations, too. Both get a constant current, so strong that they fire at the
rate that is asked for; for each neuron it is drawn within 5 percent. Equations are carried out as compiled code and by
the interpreter, all in turn, and ratios are medians of the ratios of consecutive runs. Time per neuron and step is
that of the whole run, times the threads, divided by neurons and steps.

So are synapses that learn. They connect neurons that fire at the same rate, whatever arrives, each of which gets 1,000
synapses, or as many as there are neurons. An event is a spike that arrives at a synapse: its time is that of the
delivery, times the threads, divided by events.

The time to compile is that of LLVM for a step function, the least of some turns, for these models and for all models of
the library that are equations. Compiled programs are kept in the user's cache folder.
"""

from __future__ import annotations

import argparse
import statistics
import time
from collections.abc import Mapping
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table

from ranvier import _core
from ranvier.base.distributions import Uniform
from ranvier.base.names import unknown_name
from ranvier.base.numeric import number, whole_number
from ranvier.base.paths import check_writable
from ranvier.commands import info
from ranvier.commands.keys import signature_keys
from ranvier.commands.result_files import add_result_files
from ranvier.compiled import llvm
from ranvier.compiled.emission import step_function
from ranvier.equations.library import built
from ranvier.equations.model import EquationNeuron, neuron
from ranvier.equations.neurons import NAMES
from ranvier.equations.synapse import EquationSynapse, synapse
from ranvier.errors import StateError, ValueOutOfBoundsError
from ranvier.models import ignore_and_fire
from ranvier.network.network import Network
from ranvier.network.rules import FixedIndegree
from ranvier.processes.machine import usable_processors
from ranvier.simulation.options import grouped
from ranvier.simulation.simulation import Simulation
from ranvier_benchmarks._built_in_equations import BUILT_IN, BUILT_IN_SYNAPSES
from ranvier_benchmarks._model_loads import SPREAD, current_for
from ranvier_benchmarks._results import ResultsFile
from ranvier_benchmarks._settings import Chosen, add_bench_settings, choose, recorded_options

__all__ = ["add_arguments", "main"]

_TIME, _PRESIM = 500.0, 100.0
_MOST = 2**31 - 1
_WAYS = ("built_in", "compiled", "interpreted")
_PRECISIONS = ("single", "double")
_LEARNING, _INDEGREE = 2000, 1000


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--compile", metavar="NAME,...", help="models of the library to compile beside these (default: all)"
    )
    parser.add_argument("--repetitions", type=int, default=3, help="number of runs of each (default: %(default)s)")
    add_bench_settings(
        parser,
        f"time={_TIME:g} presim={_PRESIM:g} threads={usable_processors()}; keys neurons and rate",
    )
    add_result_files(parser)


def main(arguments: argparse.Namespace) -> int:
    """Measure all models in turn, and print the results."""
    chosen = choose(
        arguments.settings,
        _describe,
        time=_TIME,
        presim=_PRESIM,
        network=signature_keys(_describe),
        options={"threads": usable_processors()},
        refused={
            "programs": "leave it out: equations are carried out in both ways",
            "weight_precision": "leave it out: weights are stored in both",
        },
    )
    _describe(**chosen.network)
    repetitions = whole_number("--repetitions", arguments.repetitions, 1, 1_000_000)
    names = _names(arguments.compile)
    reason = llvm.unusable()
    if reason:
        raise StateError("benchmark", "'equations'", reason, "pip install ranvier[llvm]")
    grouped(chosen.options)
    if arguments.json is not None:
        check_writable(arguments.json)
    console = Console(highlight=False)
    head = {"benchmark": "equations", "options": recorded_options(arguments, chosen), "machine": info.gather()}
    file = ResultsFile(arguments.json, head)
    models = {name: neuron(**keywords) for name, keywords in BUILT_IN.items()}
    measured: dict[str, Any] = {}
    with console.status("") as status:
        runs: dict[str, dict[str, list[float]]] = {name: {way: [] for way in _WAYS} for name in models}
        currents = {name: current_for(name, chosen.network["rate"], chosen.network["resolution"]) for name in models}
        for turn in range(repetitions):
            for name, model in models.items():
                status.update(f"turn {turn + 1} of {repetitions}: {name}")
                for way in _WAYS:
                    runs[name][way].append(_time_of(name if way == "built_in" else model, way, currents[name], chosen))
                measured["steps"] = [_ratios(each, runs[each]) for each in models if runs[each]["interpreted"]]
                file.update(measured)
        measured["learning"] = []
        for name, keywords in BUILT_IN_SYNAPSES.items():
            for precision in _PRECISIONS:
                status.update(f"{name}, weights in {precision} precision")
                measured["learning"].append(_learning(name, synapse(**keywords), precision, chosen, repetitions))
                file.update(measured)
        measured["compilation"] = []
        for name, model in [*models.items(), *((name, built(name)) for name in names)]:
            status.update(f"compiles {name}")
            measured["compilation"].append(_compilation(name, model, chosen, repetitions))
            file.update(measured)
    _show(console, measured, chosen, repetitions)
    file.finish(measured, console)
    return 0


def _describe(*, neurons: int = 10_000, rate: float = 10.0, resolution: float = 0.1, seed: int = 1) -> dict[str, Any]:
    """Return the keys of the network: neurons, and their rate in spikes/s."""
    found = number("key rate", rate)
    if not 0.1 <= found <= 500.0:
        raise ValueOutOfBoundsError("key rate", f"{found:g} spikes/s", "must be from 0.1 to 500 spikes/s")
    return {
        "neurons": whole_number("key neurons", neurons, 1, _MOST),
        "rate": found,
        "resolution": resolution,
        "seed": seed,
    }


def _names(text: str | None) -> list[str]:
    names = list(NAMES) if text is None else [name.strip() for name in text.split(",")]
    for name in names:
        if name not in NAMES:
            unknown_name("--compile", name, list(NAMES))
    return names


# ---- what is measured ------------------------------------------------------------------------------------------------


def _time_of(model: str | EquationNeuron, way: str, current: float | None, chosen: Chosen) -> float:
    """Return the time of a neuron and step, ns of one thread."""
    assert current is not None
    network = chosen.network
    net = Network(resolution=network["resolution"], seed=network["seed"])
    net.create(model, network["neurons"], I_e=Uniform((1.0 - SPREAD) * current, (1.0 + SPREAD) * current))
    programs = {} if way == "built_in" else {"programs": way}
    simulation = Simulation(net, progress=False, **grouped({**chosen.options, **programs}))
    if chosen.presim > 0.0:
        simulation.run(chosen.presim)
    simulation.reset_counts()
    simulation.run(chosen.time)
    seconds = simulation.phases["simulation"]
    return float(1e9 * seconds * chosen.threads / (network["neurons"] * simulation.counts().steps))


def _learning(name: str, model: EquationSynapse, precision: str, chosen: Chosen, repetitions: int) -> dict[str, Any]:
    runs: dict[str, list[float]] = {way: [] for way in _WAYS}
    for _ in range(repetitions):
        for way in _WAYS:
            runs[way].append(_time_of_event(name if way == "built_in" else model, model, way, precision, chosen))
    return {"precision": precision, **_ratios(name, runs)}


def _time_of_event(
    learning: str | EquationSynapse, model: EquationSynapse, way: str, precision: str, chosen: Chosen
) -> float:
    """Return the time of a spike at a synapse, ns of one thread."""
    network = chosen.network
    net = Network(resolution=network["resolution"], seed=network["seed"])
    size = min(network["neurons"], _LEARNING)
    neurons = net.create(ignore_and_fire(rate=network["rate"], phase=Uniform(0.0, 1.0)), size)
    low, high = model.weight_range
    weight = 30.0 if high > 0.0 else -30.0
    assert low <= weight <= high
    rule = FixedIndegree(min(_INDEGREE, size))
    net.connect(neurons, neurons, rule, weight=weight, delay=1.5, synapse=learning)
    programs = {} if way == "built_in" else {"programs": way}
    options = {**chosen.options, **programs, "weight_precision": precision}
    simulation = Simulation(net, progress=False, **grouped(options))
    if chosen.presim > 0.0:
        simulation.run(chosen.presim)
    simulation.reset_counts()
    simulation.run(chosen.time)
    events = simulation.counts().synaptic_events
    return float(1e9 * simulation.phases["deliver"] * chosen.threads / max(events, 1))


def _ratios(name: str, runs: Mapping[str, list[float]]) -> dict[str, Any]:
    found: dict[str, Any] = {"model": name, "runs": {way: list(seconds) for way, seconds in runs.items()}}
    for way, seconds in runs.items():
        found[f"{way}_ns"] = statistics.median(seconds)
    for way in _WAYS[1:]:
        pairs = zip(runs[way], runs["built_in"], strict=False)
        found[f"{way}_ratio"] = statistics.median(seconds / built_in for seconds, built_in in pairs)
    return found


def _compilation(name: str, model: EquationNeuron, chosen: Chosen, repetitions: int) -> dict[str, Any]:
    instruction_set = chosen.options.get("instruction_set", "auto")
    target = llvm.Target.of(_core.instruction_sets()[-1] if instruction_set == "auto" else instruction_set)
    times = []
    for _ in range(repetitions):
        begin = time.perf_counter()
        text = step_function(model.program, target.attributes, target.truths_are_bits, target.lanes_of_loops)
        code = llvm.object_code(text, target)
        times.append(1e3 * (time.perf_counter() - begin))
    adaptive = any(each.body is not None for each in model.program.step.instructions)
    return {"model": name, "ms": min(times), "bytes": len(code), "adaptive": adaptive}


# ---- what comes out --------------------------------------------------------------------------------------------------


def _show(console: Console, measured: Mapping[str, Any], chosen: Chosen, repetitions: int) -> None:
    console.print(
        f"\n[bold]Equations beside built-in models[/]: {chosen.network['neurons']:,} neurons at about "
        f"{chosen.network['rate']:g} spikes/s\n{chosen.time:g} ms after {chosen.presim:g} ms on {chosen.threads} "
        f"threads, medians of {repetitions}\n",
        soft_wrap=True,
    )
    keys = ("built_in_ns", "compiled_ns", "compiled_ratio", "interpreted_ns", "interpreted_ratio")
    for each in ("steps", "learning"):
        table = _table("built in\nns", "compiled\nns", "ratio\n", "interpreted\nns", "ratio\n")
        for result in measured[each]:
            name = result["model"] if each == "steps" else f"{result['model']}, {result['precision']}"
            table.add_row(name, *(f"{result[key]:.3g}" for key in keys))
        console.print(f"  {'A step of a neuron' if each == 'steps' else 'A spike at a synapse that learns'}")
        console.print(Padding(table, (0, 0, 1, 2)))
    table = _table("to compile\nms", "code\nkB")
    for each in measured["compilation"]:
        table.add_row(each["model"], f"{each['ms']:.3g}", f"{each['bytes'] / 1e3:.3g}")
    console.print(Padding(table, (0, 0, 0, 2)))


def _table(*columns: str) -> Table:
    table = Table(box=None, padding=(0, 2), collapse_padding=True, pad_edge=False, header_style="dim")
    table.add_column("", no_wrap=True)
    for column in columns:
        table.add_column(column, justify="right", no_wrap=True)
    return table
