"""Time of one spike at one synapse that learns, for rows of several lengths, models and precisions.

Sources that fire at random intervals project to neurons that fire as a Poisson process of the same rate, whatever the
synapses add. A row is what one source reaches on one thread. All cases have as many synapses, so short rows come from
many sources.

An event is a spike that arrives at a synapse. Its time is that of the delivery, on one thread: each synapse learns from
the spikes of its target since the last event, then from the present spike, and adds its weight. If dopamine or another
transmitter modulates what is learnt, some neurons more fire at the same rate and release it. Potentiations per event
are the spikes of the targets times the inputs of a neuron, divided by the events. Times are medians over the
repetitions, in which all cases take turns; brackets show the minimum and the maximum.
"""

from __future__ import annotations

import argparse
import statistics
from dataclasses import dataclass
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table

from ranvier import _core, models
from ranvier.base.names import unknown_name
from ranvier.base.numeric import number, whole_number
from ranvier.base.paths import check_writable
from ranvier.commands import info
from ranvier.commands.keys import signature_keys
from ranvier.commands.result_files import add_result_files
from ranvier.equations.model import EquationNeuron
from ranvier.equations.models import aeif_psc_delta_clopath
from ranvier.errors import ValueOutOfBoundsError
from ranvier.network.network import Network
from ranvier.network.recorders import SpikeRecorder
from ranvier.network.rules import FixedIndegree
from ranvier.populations.model_base import NeuronModel, SynapseModel
from ranvier.simulation.options import grouped
from ranvier.simulation.simulation import Simulation
from ranvier_benchmarks._results import ResultsFile
from ranvier_benchmarks._settings import Chosen, add_bench_settings, choose, recorded_options

__all__ = ["add_arguments", "main"]

_TIME, _PRESIM = 200.0, 150.0
_MOST = 2**31 - 1
_PRECISIONS = ("single", "double")


@dataclass(frozen=True)
class _Case:
    name: str
    model: SynapseModel
    row: int
    precision: str


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "--models",
        default="stdp stdp_pl stdp_dopamine",
        metavar="'NAME[:KEY=VALUE,...] ...'",
        help="synapse models, e.g. 'stdp:mu_plus=0,mu_minus=0 stdp_pl' (default: '%(default)s')",
    )
    parser.add_argument(
        "--rows", default="4500,300,50", metavar="N,...", help="synapses of a source on a thread (default: %(default)s)"
    )
    parser.add_argument(
        "--precisions", default="single,double", metavar="NAME,...", help="of the weights (default: %(default)s)"
    )
    parser.add_argument("--repetitions", type=int, default=3, help="number of runs of each (default: %(default)s)")
    add_bench_settings(
        parser, f"time={_TIME:g} presim={_PRESIM:g} threads=1; keys synapses, targets, releasing and rate"
    )
    add_result_files(parser)


def main(arguments: argparse.Namespace) -> int:
    """Measure all cases in turn, and print the results."""
    chosen = choose(
        arguments.settings,
        _describe,
        time=_TIME,
        presim=_PRESIM,
        network=signature_keys(_describe),
        options={"threads": 1},
        refused={"weight_precision": "give --precisions", "recordings": "leave it out"},
    )
    repetitions = whole_number("--repetitions", arguments.repetitions, 1, 1_000_000)
    cases = _cases(arguments)
    for case in cases:
        _network(case, chosen)
    grouped(chosen.options)
    if arguments.json is not None:
        check_writable(arguments.json)
    console = Console(highlight=False)
    file = ResultsFile(
        arguments.json,
        {"benchmark": "plasticity", "options": recorded_options(arguments, chosen), "machine": info.gather()},
    )
    runs: list[list[dict[str, float]]] = [[] for _ in cases]
    with console.status("") as status:
        for turn in range(repetitions):
            for case, of_case in zip(cases, runs, strict=True):
                status.update(f"turn {turn + 1} of {repetitions}: {case.name}, rows of {case.row}, {case.precision}")
                of_case.append(_measure(case, chosen))
                file.update({"results": _results(cases, runs)})
    results = _results(cases, runs)
    _show(console, results, chosen, repetitions)
    file.finish({"results": results}, console)
    return 0


# ---- what is measured ------------------------------------------------------------------------------------------------


def _describe(
    *,
    synapses: int = 10_000_000,
    targets: int = 4500,
    releasing: int = 10,
    rate: float = 17.7,
    resolution: float = 0.1,
    seed: int = 1,
) -> dict[str, Any]:
    """Return the keys of the network: synapses and targets of one thread, neurons that release, and spikes/s of all."""
    return {
        "synapses": whole_number("key synapses", synapses, 1, _MOST),
        "targets": whole_number("key targets", targets, 1, _MOST),
        "releasing": whole_number("key releasing", releasing, 1, _MOST),
        "rate": number("key rate", rate),
        "resolution": resolution,
        "seed": seed,
    }


def _cases(arguments: argparse.Namespace) -> list[_Case]:
    rows = []
    for text in arguments.rows.split(","):
        if not text.strip().isdecimal() or not 1 <= int(text) <= _MOST:
            raise ValueOutOfBoundsError("--rows", f"'{text}'", f"must be numbers from 1 to {_MOST}")
        rows.append(int(text))
    precisions = [text.strip() for text in arguments.precisions.split(",")]
    for precision in precisions:
        if precision not in _PRECISIONS:
            unknown_name("--precisions", precision, list(_PRECISIONS))
    named = [(text, _model(text)) for text in arguments.models.split()]
    if not named:
        raise ValueOutOfBoundsError("--models", f"'{arguments.models}'", "must name at least one model")
    return [_Case(text, model, row, precision) for text, model in named for row in rows for precision in precisions]


def _model(text: str) -> SynapseModel:
    name, _, values = text.partition(":")
    learning = [model.name for model in _core.synapse_models() if model.learns]
    if name not in learning:
        unknown_name("--models", name, learning)
    parameters = {}
    for value in values.split(",") if values else []:
        key, _, given = value.partition("=")
        try:
            parameters[key] = float(given)
        except ValueError:
            raise ValueOutOfBoundsError("--models", f"'{text}'", "must be name:key=number,...") from None
    return models.SYNAPSE_MODELS[name](**parameters)


def _network(case: _Case, chosen: Chosen) -> tuple[Network, SpikeRecorder, int]:
    keys = _describe(**chosen.network)
    targets, indegree = keys["targets"], round(keys["synapses"] / keys["targets"])
    sources = round(keys["targets"] * indegree / case.row)
    if keys["synapses"] < max(targets, case.row):
        raise ValueOutOfBoundsError(
            "key synapses",
            str(keys["synapses"]),
            f"must be at least the number of targets, {targets}, and the length of a row, {case.row}",
        )
    rate = keys["rate"]
    if not 1.0 <= rate <= 400.0:
        raise ValueOutOfBoundsError("key rate", f"{rate:g} spikes/s", "must be from 1 to 400 spikes/s")
    interval = 1000.0 / rate
    net = Network(resolution=keys["resolution"], seed=keys["seed"], name=f"rows of {case.row}")
    firing = models.interval_fire(tau=interval, interval_min=1.0, interval_max=2.0 * interval - 1.0)
    pre = net.create(firing, sources, name="sources")
    synapse = case.model
    # The threshold is so high that only the stimulus makes it fire, and each of its spikes does.
    far = 1e9
    kind: NeuronModel | EquationNeuron = models.iaf_psc_delta(V_th=far, t_ref=0.0)
    if synapse.name == "clopath":
        # Its spikes have a height. Weights are so small that only those of the stimulus make it fire.
        values: dict[str, Any] = {"W_max": 1e-3, **synapse.values}
        synapse, kind = models.clopath(**values), aeif_psc_delta_clopath()
        far = 100.0
    post = net.create(kind, targets * chosen.threads, name="targets")
    net.stimulate(post, models.poisson_generator(rate=rate), weight=4.0 * far)
    if synapse.transmitter_name:
        released = {synapse.transmitter_name: net.create(firing, keys["releasing"], name="releasing")}
        synapse = type(synapse)(**synapse.values, **released)
    net.connect(pre, post, FixedIndegree(indegree), weight=_weight(synapse), delay=1.5, synapse=synapse)
    return net, net.record_spikes(post), indegree


def _weight(model: SynapseModel) -> float:
    """Return a weight within the bounds of the model."""
    described = next(one for one in _core.synapse_models() if one.name == model.name)
    defaults = {parameter.name: parameter.default for parameter in described.parameters}
    greatest = {**defaults, **model.values}.get("W_max", 100.0)
    assert isinstance(greatest, int | float)
    return 0.45 * greatest


def _measure(case: _Case, chosen: Chosen) -> dict[str, float]:
    net, recorder, indegree = _network(case, chosen)
    simulation = Simulation(net, progress=False, **grouped({**chosen.options, "weight_precision": case.precision}))
    if chosen.presim > 0.0:
        simulation.run(chosen.presim)
    simulation.reset_counts()
    simulation.run(chosen.time)
    events = simulation.counts().synaptic_events
    if events == 0:
        raise ValueOutOfBoundsError("key time", f"{chosen.time:g} ms", "no spike has arrived", "simulate for longer")
    spikes = len(simulation.spikes(recorder).between(chosen.presim, chosen.presim + chosen.time).times)
    phases = simulation.phases
    return {
        "events": events,
        "deliver_s": phases["deliver"],
        "update_s": phases["update"],
        "simulation_s": phases["simulation"],
        "ns_per_event": 1e9 * phases["deliver"] * chosen.threads / events,
        "potentiations_per_event": spikes * indegree / events,
    }


# ---- what comes out --------------------------------------------------------------------------------------------------


def _results(cases: list[_Case], runs: list[list[dict[str, float]]]) -> list[dict[str, Any]]:
    return [
        {
            "model": case.name,
            "row": case.row,
            "precision": case.precision,
            "ns_per_event": statistics.median(run["ns_per_event"] for run in of_case),
            "potentiations_per_event": statistics.median(run["potentiations_per_event"] for run in of_case),
            "runs": of_case,
        }
        for case, of_case in zip(cases, runs, strict=True)
        if of_case
    ]


def _show(console: Console, results: list[dict[str, Any]], chosen: Chosen, repetitions: int) -> None:
    keys = chosen.network
    console.print(
        f"\n[bold]Synapses that learn[/]: {keys['synapses']:,} a thread, {keys['targets']:,} targets, "
        f"{keys['rate']:g} spikes/s\n"
        f"{chosen.time:g} ms after {chosen.presim:g} ms on {chosen.threads} threads, medians of {repetitions}\n",
        soft_wrap=True,
    )
    table = Table(box=None, padding=(0, 2), collapse_padding=True, pad_edge=False, header_style="dim")
    table.add_column("model")
    for column in ("row", "weights", "ns per event", "", "potentiations\nper event"):
        table.add_column(column, justify="right", no_wrap=True)
    for result in results:
        times = [run["ns_per_event"] for run in result["runs"]]
        table.add_row(
            result["model"],
            f"{result['row']:,}",
            result["precision"],
            f"{result['ns_per_event']:.1f}",
            f"({min(times):.1f}-{max(times):.1f})",
            f"{result['potentiations_per_event']:.2f}",
        )
    console.print(Padding(table, (0, 0, 0, 2)))
