"""`ranvier run MODEL`: build and run a network, and report.

MODEL is the name of a network of the package (`ranvier models` lists them with their keys), or a Python file that
defines a function ``network``. Its keywords are keys of ``--set``; `ranvier run MODEL --help` lists them. It returns a
`ranvier.Network`, or a `ranvier.networks.NetworkModel`, which also contains the simulated time::

    import ranvier as rv

    def network(size=100, rate=9000.0, seed=1):
        net = rv.Network(seed=seed)
        neurons = net.create(rv.iaf_psc_exp(), size, name="neurons")
        net.stimulate(neurons, rv.poisson_generator(rate=rate), weight=60.0)
        return net

Every run also has the following keys.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import shlex
import socket
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.console import Console

from ranvier import mpi
from ranvier.base.names import counted, with_article
from ranvier.base.paths import check_destinations, save_figure, write_text
from ranvier.base.times import text_of, time_of
from ranvier.commands import dry_report, potentials, report
from ranvier.commands.files_of_users import call_user_code, describe_network, find_network
from ranvier.commands.keys import (
    RUN_KEYS,
    add_settings,
    help_of_keys,
    parse_settings,
    shipped_networks,
    signature_keys,
)
from ranvier.commands.network_tables import HelpWithKeys
from ranvier.commands.result_files import add_result_files
from ranvier.errors import FileError, RanvierError, RemoteError, StateError, ValueOutOfBoundsError
from ranvier.network.network import Network
from ranvier.networks import NetworkModel
from ranvier.populations.populations import PopulationView
from ranvier.processes.agreement import agree, reporting_rank, values_of_all
from ranvier.recording.correlations import whole_steps
from ranvier.simulation.options import grouped
from ranvier.simulation.simulation import Simulation
from ranvier.simulation.trace import Trace, check_trace_file, trace_file_of_rank
from ranvier.state.index_files import check_target

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["add_arguments"]

# Number of steps of which a trace has the work of all threads, and of rounds of each if processes exchange spikes.
_TRACED_STEPS = 20_000
_ROUNDS_OF_EXCHANGE = 5
# With asynchronous stepping; it divides the neurons of a thread into at most so many parts.
_SHARDS_OF_THREAD = 16

# The exit status of shells after Ctrl-C.
_INTERRUPTED = 130


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.description = f"{__doc__}{help_of_keys()}"
    parser.add_argument("-h", "--help", action=HelpWithKeys)
    parser.add_argument("model", metavar="MODEL", help="name of a network of the package, or a Python file")
    add_settings(parser)
    add_result_files(parser, "the spikes")
    parser.add_argument(
        "--movie",
        metavar="FILE",
        type=Path,
        help="write a movie of the rates of all recorded neurons that have positions to this file (gif, mp4)",
    )
    parser.add_argument(
        "--movie-bin", metavar="MS", type=float, default=5.0, help="simulated time of a frame, ms; default 5"
    )
    parser.add_argument(
        "--save",
        metavar="FILE",
        type=Path,
        help="save the state to this file (h5) at the end; see also the key save_every",
    )
    parser.add_argument("--resume", metavar="FILE", type=Path, help="continue the state in this file")
    parser.add_argument(
        "--trace",
        metavar="FILE",
        type=Path,
        help="report where the time of a step goes, and write the work of each thread at the end of the run to this "
        "file (json, json.gz), which Perfetto (ui.perfetto.dev) and chrome://tracing show",
    )
    potentials.add_arguments(parser)
    dry_report.add_arguments(parser)
    parser.set_defaults(execute=execute)


@dataclass(frozen=True)
class _Task:
    """The arguments of the command line, checked."""

    model: NetworkModel
    keys: dict[str, Any]
    parameters: dict[str, Any]


def execute(options: argparse.Namespace) -> int:
    """Build, run and report, on all processes of the run."""
    dry_report.check_arguments(options)
    world = mpi.world()
    try:
        return _execute(options, world)
    except RanvierError as error:
        rank = reporting_rank(error)
        if rank is None:
            raise
        # All processes have failed: one of them prints the error, and then all end.
        if rank == world.rank:
            print(f"ranvier: error: {error}", file=sys.stderr, flush=True)
        world.barrier()
        return 2


def _execute(options: argparse.Namespace, world: mpi.Communicator) -> int:
    task = agree(world, "command line", lambda: _understand(options, world))
    model, keys = task.model, task.keys
    if options.dry_run is not None:
        _run_dry(options, task)
        return 0
    chosen = {name: value for name, value in keys.items() if name not in ("time", "presim", "save_every")}
    chosen["communicator"] = world
    if options.trace is not None:
        chosen["trace"] = _traced_pieces(options, task, world)
    recorded = potentials.record(options, model)
    if options.resume is None:
        simulation = Simulation(model.net, **grouped(chosen))
    else:
        simulation = Simulation.load(model.net, options.resume, **grouped(chosen))
    resumed = simulation.time
    interrupted = _is_interrupted(simulation, keys, options.save)
    if interrupted and simulation.step == 0:
        raise KeyboardInterrupt
    if options.save is not None:
        simulation.save(options.save)
    # A run that was interrupted earlier has the spikes of the pre-simulation only.
    presim = keys["presim"] if simulation.time > keys["presim"] else 0.0
    results = report.gather(simulation, model, options.model, presim, keys["recordings"], task.parameters)
    end = keys["presim"] + keys["time"]
    probe = potentials.gather(simulation, recorded, presim)
    results = dataclasses.replace(
        results, potentials=probe, resumed_ms=resumed, interrupted_of_ms=end if interrupted else None
    )
    trace = None if options.trace is None else simulation.trace()
    if trace is not None:
        results = dataclasses.replace(results, traces=values_of_all(world, trace.account()))
    written = False
    try:
        if trace is not None:
            origin = None if world.size == 1 else _begin_on_host(world, trace)
            agree(world, "trace", lambda: trace.write(options.trace, origin=origin))
            written = True
    finally:
        # If the trace cannot be written, the results are still reported.
        if world.rank == 0:
            _report(options, results, model, has_trace=written)
            if interrupted:
                _print_how_to_continue(options, simulation.time, end)
    return _INTERRUPTED if interrupted else 0


def _traced_pieces(options: argparse.Namespace, task: _Task, world: mpi.Communicator) -> int:
    """Return the number of pieces of work of a thread to be kept: those of the whole run, or of its latest steps."""
    keys = task.keys
    steps = min(_TRACED_STEPS, task.model.net.to_steps(keys["time"], "key time") + 1)
    if keys["shards"] is None:
        shards = _SHARDS_OF_THREAD if keys["stepping"] == "async" else 1
    else:
        threads = keys["threads"]
        shards = -(-keys["shards"] // (1 if threads in (None, "auto") else threads))
    exchanges = world.size > 1 or options.dry_run is not None
    # While other programs use the processors, a thread also processes shards of others.
    return 2 * steps * shards * (_ROUNDS_OF_EXCHANGE if exchanges else 1)


def _begin_on_host(world: mpi.Communicator, trace: Trace) -> int | None:
    """Return the begin of the traces of all processes on this host, whose clock is common; None if all are empty."""
    here = (socket.gethostname(), int(trace.begin.min()) if len(trace) else None)
    begins = [begin for host, begin in values_of_all(world, here) if host == here[0] and begin is not None]
    return min(begins, default=None)


def _is_interrupted(simulation: Simulation, keys: dict[str, Any], save: Path | None) -> bool:
    """Simulate; return whether Ctrl-C stopped the run, on this process or on another one."""
    try:
        _simulate(simulation, keys, save)
    except KeyboardInterrupt:
        return True
    except RemoteError as error:
        if "(KeyboardInterrupt" not in error.bound:
            raise
        return True
    return False


def _print_how_to_continue(options: argparse.Namespace, time: float, end: float) -> None:
    message = f"Interrupted at {text_of(time)} of {text_of(end)} ms: the results above are for the time until then."
    chosen = ["--lfp"] if options.lfp else []
    chosen += [] if options.lfp_file is None else ["--lfp-file", str(options.lfp_file)]
    words = ["ranvier", "run", options.model, *chosen, *(word for each in options.settings for word in ("--set", each))]
    if options.save is not None:
        command = shlex.join([*words, "--resume", str(options.save), "--save", str(options.save)])
        message += f"\nThe state is in {options.save}. To continue:\n  {command}"
    else:
        message += "\nThe state was not saved. A run with --save FILE can be continued with --resume FILE."
    print(message, file=sys.stderr, flush=True)


def _simulate(simulation: Simulation, keys: dict[str, Any], save: Path | None) -> None:
    """Run up to the end, from the start or from the loaded state."""
    saves = {} if keys["save_every"] is None else {"save_every": keys["save_every"], "to": save}
    grid = simulation.resolution
    presim = simulation.network.to_steps(keys["presim"], "key presim")
    end = presim + simulation.network.to_steps(keys["time"], "key time")
    if simulation.step > end:
        raise ValueOutOfBoundsError(
            "end of the run",
            f"{text_of(time_of(end, grid))} ms",
            f"the loaded state is that of {text_of(simulation.time)} ms",
            "set a longer time",
        )
    if simulation.step <= presim:
        simulation.run(time_of(presim - simulation.step, grid), **saves)
        simulation.reset_counts()
    simulation.run(time_of(end - simulation.step, grid), **saves)


def _run_dry(options: argparse.Namespace, task: _Task) -> None:
    keys = task.keys
    if options.trace is not None:
        keys = {**keys, "trace": _traced_pieces(options, task, mpi.world())}
    played = dry_report.play(options, task.model, keys)
    if options.json is not None:
        text = json.dumps(played.as_json() | {"parameters": task.parameters}, indent=2, default=repr) + "\n"
        write_text(options.json, text)
    console = Console(highlight=False)
    dry_report.show(console, played, task.model)
    if played.trace is not None:
        console.print(f"Trace in {played.trace.write(options.trace)}", style="dim", soft_wrap=True)


def _check_trace(options: argparse.Namespace, world: mpi.Communicator) -> None:
    """Check that this process can write its file of the trace."""
    file = check_trace_file(options.trace, world.rank, world.size)
    for other in (options.json, options.plot, options.save):
        if other is not None and other.absolute() == file.absolute():
            raise FileError(f"file {file}", bound="it cannot hold both the trace and other results")


def _understand(options: argparse.Namespace, world: mpi.Communicator) -> _Task:
    if world.rank == 0:
        check_destinations(options.json, options.plot)
        if options.save is not None:
            check_target(options.save)
        if options.movie is not None:
            _check_movie(options)
    if options.trace is not None:
        _check_trace(options, world)
    for name, absent in (("save", "state"), ("resume", "state"), ("movie", "spikes")):
        if options.dry_run is not None and getattr(options, name) is not None:
            raise ValueOutOfBoundsError(
                f"--{name}", bound=f"a dry run has no {absent}", remedy="leave out one of the two"
            )
    function = find_network(options.model)
    set_for_run, set_for_network = parse_settings(options.settings, function)
    model = describe_network(options.model, function, set_for_network)
    keys = {**RUN_KEYS, "time": model.time, "presim": model.presim, **set_for_run}
    _check_times(model.net, keys)
    potentials.check_arguments(options, model, keys["time"])
    if options.movie is not None:
        _neurons_of_movie(model)
        width = whole_steps("--movie-bin", options.movie_bin, model.net.resolution, 1)
        if width > model.net.to_steps(keys["time"], "key time"):
            raise ValueOutOfBoundsError(
                "--movie-bin", f"{options.movie_bin:g} ms", f"the run has {keys['time']:g} ms", "give a smaller one"
            )
    if keys["save_every"] is not None and not keys["save_every"] > 0.0:
        raise ValueOutOfBoundsError("key save_every", f"{keys['save_every']} ms", "it must be > 0")
    if keys["save_every"] is not None and options.save is None:
        raise ValueOutOfBoundsError("key save_every", bound="there is no file to save to", remedy="add --save FILE")
    return _Task(model, keys, {**signature_keys(function), **set_for_network, **keys})


def _report(options: argparse.Namespace, results: report.Results, model: NetworkModel, has_trace: bool) -> None:
    console = Console(highlight=False)
    try:
        if options.json is not None:
            write_text(options.json, json.dumps(results.as_json() | {"notes": model.notes}, indent=2) + "\n")
    finally:
        # If one of the two files cannot be written, the results are in the other one.
        report.show(console, results, model)
    if options.json is not None:
        console.print(f"Results in {options.json}", style="dim", soft_wrap=True)
    if options.plot is not None:
        figure = _draw(options.model, results, model)
        save_figure(figure, options.plot)
        console.print(f"Figure in {options.plot}", style="dim", soft_wrap=True)
    if options.movie is not None:
        from ranvier import plot

        plot.movie(results.spikes, _neurons_of_movie(model), bin=options.movie_bin, to=options.movie)
        console.print(f"Movie in {options.movie}", style="dim", soft_wrap=True)
    if has_trace:
        files = dict.fromkeys(trace_file_of_rank(options.trace, rank, results.ranks) for rank in (0, results.ranks - 1))
        console.print(f"Trace in {' ... '.join(map(str, files))}", style="dim", soft_wrap=True)


def _draw(name: str, results: report.Results, model: NetworkModel) -> Figure:
    """Draw the spikes in the way of the network, or as a raster."""
    from matplotlib.figure import Figure

    from ranvier import plot

    counts = results.counts
    title = f"{model.net.name}: {counted(counts.neurons, 'neuron', ',')}, {counted(counts.synapses, 'synapse', ',')}"
    if results.potentials is not None:
        return results.potentials.figure(title)
    draw = model.figure
    if draw is None:
        return plot.raster(results.spikes, published_rates=model.published_rates, title=title)
    if name in shipped_networks():
        return draw(results.spikes, title)
    figure = call_user_code(Path(name), lambda: draw(results.spikes, title))
    if not isinstance(figure, Figure):
        raise FileError(
            f"file {name}",
            bound=f"the figure of its network is {with_article(type(figure).__name__)}",
            remedy="return a figure of matplotlib",
        )
    return figure


def _check_movie(options: argparse.Namespace) -> None:
    """Check, before anything is built, that the movie can be written."""
    from ranvier.figures.movie_files import check_movie_file

    path = check_movie_file(options.movie).absolute()
    for other in (options.json, options.plot, options.save):
        if other is not None and other.absolute() == path:
            raise FileError(f"file {path}", bound="it cannot hold both the movie and other results")


def _neurons_of_movie(model: NetworkModel) -> list[PopulationView]:
    """Return the recorded neurons that have positions, or raise a StateError."""
    views = [part for view in model.spikes.neurons for part in view.parts if part.population.layout is not None]
    if not views:
        raise StateError(
            f"movie of {model.net.name}",
            bound="the recorded neurons have no positions",
            remedy="leave out --movie, or give positions: net.create(model, size, positions=...)",
        )
    return views


def _check_times(net: Network, keys: dict[str, Any]) -> None:
    """Check, before building, that the times can be simulated."""
    for name, least in (("time", 1), ("presim", 0)):
        value = keys[name]
        if net.to_steps(value, f"key {name}") < least:
            raise ValueOutOfBoundsError(f"key {name}", f"{value} ms", f"it must be {'>' if least else '>='} 0")
