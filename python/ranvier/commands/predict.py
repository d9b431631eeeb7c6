"""`ranvier predict MODEL --ranks M`: predict memory and time of a network on many processes, without building it.

MODEL and the keys of --set are those of `ranvier run`; `ranvier predict MODEL --help` lists them. The command prints
the bytes that each process takes, by component; the expected time, computed from the costs of synapses, spikes and
steps on this machine (measured once, in some seconds, and stored); and the largest network for which the memory of
the processes is enough, as a value of the first of the keys {keys} that the model has.

With --set device=cuda, it prints the memory of the GPU of each process, too, and whether it is enough: the free memory
of the GPU here, or --device-memory, which needs none. Times on a GPU are not predicted.

`ranvier run MODEL --dry-run M` builds and runs the part of one process.
"""

from __future__ import annotations

import argparse
import json
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from ranvier import _core
from ranvier.base.names import counted
from ranvier.base.numeric import whole_number
from ranvier.base.paths import check_destinations, save_figure, write_text
from ranvier.base.sizes import parse_bytes
from ranvier.commands.dry_report import memory_table
from ranvier.commands.files_of_users import describe_network, find_network
from ranvier.commands.keys import RUN_KEYS, add_settings, parse_settings, signature_keys
from ranvier.commands.network_tables import HelpWithKeys
from ranvier.commands.report import UNSORTED, _seconds, _size
from ranvier.commands.result_files import add_result_files
from ranvier.errors import DeviceError, StateError, ValueOutOfBoundsError
from ranvier.forecast import calibration
from ranvier.forecast.prediction import (
    DEFAULT_RATE,
    SCALING_KEYS,
    Fit,
    Load,
    Times,
    expect_load,
    expect_times,
    largest_fit,
    mean_rate,
    memory_over_ranks,
    ranks_around,
)
from ranvier.network.network import Network
from ranvier.networks import NetworkModel
from ranvier.processes import machine
from ranvier.simulation.gpus import Gpu, find_gpu
from ranvier.simulation.options import MOST_RANKS, Recordings, grouped
from ranvier.simulation.predictions import device_memory, host_memory, predict_memory, sorts_connections

__all__ = ["add_arguments"]

# Keys of a run that do not apply to predictions.
_NOT_OPTIONS = ("time", "presim", "save_every", "recordings", "threads", "costs", "memory_limit")
_EMULATOR = "cuda-emulator"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments of the command."""
    parser.description = (__doc__ or "").replace("{keys}", ", ".join(SCALING_KEYS))
    parser.add_argument("-h", "--help", action=HelpWithKeys)
    parser.add_argument("model", metavar="MODEL", help="name of a network of the package, or a Python file")
    add_settings(parser)
    parser.add_argument("--ranks", metavar="M", type=int, required=True, help="number of processes")
    parser.add_argument("--memory-per-rank", metavar="SIZE", help="memory limit of a process: 16GB, 500MiB, or bytes")
    parser.add_argument(
        "--device-memory",
        metavar="SIZE",
        help="with --set device=cuda: memory of the GPU of a process, such as 141GB; by default what is free here",
    )
    parser.add_argument(
        "--rate",
        metavar="HZ",
        type=float,
        help=f"mean rate of all neurons, spikes/s; by default the published rates, or {DEFAULT_RATE:g}",
    )
    parser.add_argument("--recalibrate", action="store_true", help="measure the costs on this machine again")
    add_result_files(parser, "memory over processes")
    parser.set_defaults(execute=execute)


@dataclass(frozen=True)
class _Question:
    """The arguments of the command line, checked."""

    name: str
    model: NetworkModel
    ranks: int
    threads: int
    limit: int | None
    rate: float | None
    options: dict[str, Any]
    time: float
    recordings: Recordings
    scaling_key: str | None
    scaling_value: float | int | None
    describe: Callable[[dict[str, Any]], Network]
    device_limit: int | None
    gpu: Gpu | None
    missing_gpu: str

    @property
    def device(self) -> str:
        return str(self.options["device"])

    @property
    def published(self) -> dict[str, float]:
        """Published rates by population, spikes/s, unless the user has set one rate for all."""
        return self.model.published_rates if self.rate is None else {}

    @property
    def other_rate(self) -> float:
        """Rate of the other populations, spikes/s."""
        return DEFAULT_RATE if self.rate is None else self.rate

    @property
    def for_memory(self) -> dict[str, Any]:
        """Arguments for the prediction of memory."""
        rate = mean_rate(self.model.net, self.published, self.other_rate)
        return {**grouped(self.options), "rate": rate, "time": self.time, "recordings": self.recordings}

    def scaled(self, value: float | int) -> Network:
        assert self.scaling_key is not None
        return self.describe({self.scaling_key: value})


@dataclass(frozen=True)
class _Answer:
    is_sorted: bool
    memory: dict[str, int]
    # None with a device, whose times are not predicted.
    load: Load | None
    times: Times | None
    costs: calibration.Costs | None
    fit: Fit | None


def execute(options: argparse.Namespace) -> int:
    """Predict and report."""
    check_destinations(options.json, options.plot)
    question = _understand(options)
    answer = _predict(question, options.recalibrate)
    console = Console(highlight=False)
    _show(console, question, answer)
    if options.json is not None:
        text = json.dumps(_as_json(question, answer), indent=2) + "\n"
        write_text(options.json, text)
        console.print(f"Results in {options.json}", style="dim", soft_wrap=True)
    if options.plot is not None:
        save_figure(_draw(question, answer), options.plot)
        console.print(f"Figure in {options.plot}", style="dim", soft_wrap=True)
    return 0


def _understand(options: argparse.Namespace) -> _Question:
    ranks = whole_number("--ranks", options.ranks, 1, MOST_RANKS, "give the number of processes")
    limit = None if options.memory_per_rank is None else parse_bytes("--memory-per-rank", options.memory_per_rank)
    if options.rate is not None and not 0.0 <= options.rate < float("inf"):
        raise ValueOutOfBoundsError("--rate", f"{options.rate} spikes/s", "it must be finite and >= 0")
    function = find_network(options.model)
    set_for_run, set_for_network = parse_settings(options.settings, function)
    if "memory_limit" in set_for_run:
        limit_set = str(set_for_run["memory_limit"])
        raise ValueOutOfBoundsError("key memory_limit", limit_set, "nothing is built", "give --memory-per-rank")
    threads = set_for_run.get("threads")
    if threads == "auto":
        raise ValueOutOfBoundsError(
            "key threads", "'auto'", "nothing is built and measured for a prediction", "give a number"
        )
    threads = machine.usable_processors() if threads is None else threads
    chosen = {name: value for name, value in {**RUN_KEYS, **set_for_run}.items() if name not in _NOT_OPTIONS}
    device_limit, gpu, missing_gpu = _memory_of_device(options.device_memory, str(chosen["device"]))
    if gpu is not None and chosen["shards"] is None:
        chosen["shards"] = gpu.multiprocessors
    model = describe_network(options.model, function, set_for_network)
    keywords = signature_keys(function)
    key = next((each for each in SCALING_KEYS if each in keywords), None)
    value = None if key is None else set_for_network.get(key, keywords[key])
    # A key may have no effect if others replace it, as n_scaling replaces scale.
    usable = isinstance(value, int | float) and not isinstance(value, bool) and value > 0
    return _Question(
        name=options.model,
        model=model,
        ranks=ranks,
        threads=threads,
        limit=limit,
        rate=options.rate,
        options={**chosen, "threads": threads},
        time=_simulated(set_for_run, model),
        # By default, rank 0 gets all recordings; the memory of every process limits the size of a network.
        recordings=set_for_run.get("recordings", "local"),
        scaling_key=key if usable else None,
        scaling_value=value if usable else None,
        describe=lambda keys: describe_network(options.model, function, {**set_for_network, **keys}).net,
        device_limit=device_limit,
        gpu=gpu,
        missing_gpu=missing_gpu,
    )


def _memory_of_device(text: str | None, device: str) -> tuple[int | None, Gpu | None, str]:
    """Return the bytes that the device of a process has for it, if they are known: given, or free on the GPU here."""
    given = None if text is None else parse_bytes("--device-memory", text)
    if device in ("cpu", _EMULATOR):
        if given is not None:
            bound = "processors and the emulator of a GPU have the memory of their process"
            raise ValueOutOfBoundsError("--device-memory", str(text), bound, "add --set device=cuda, or leave it out")
        return None, None, ""
    if given is not None:
        return given, None, ""
    try:
        gpu = find_gpu(device)
    except DeviceError as error:
        return None, None, str(error)
    return gpu.free, gpu, ""


def _simulated(set_for_run: dict[str, Any], model: NetworkModel) -> float:
    """Return the time that `ranvier run` would simulate, ms."""
    of_keys = [set_for_run.get("time"), set_for_run.get("presim")]
    of_model = [model.time, model.presim]
    return sum(default if given is None else given for given, default in zip(of_keys, of_model, strict=True))


def _predict(question: _Question, recalibrate: bool) -> _Answer:
    net = question.model.net
    if net.neuron_count == 0:
        raise StateError("network", "empty", "there is nothing to predict", "create a population first")
    is_sorted = sorts_connections(net, ranks=question.ranks, **grouped(question.options))
    memory = predict_memory(net, ranks=question.ranks, **question.for_memory)
    fit = None
    limits = (question.limit, question.device_limit)
    if any(limits) and question.scaling_key is not None and question.scaling_value is not None:
        fit = largest_fit(
            question.scaling_key,
            question.scaling_value,
            question.scaled,
            math.inf if question.limit is None else question.limit,
            ranks=question.ranks,
            device_limit=math.inf if question.device_limit is None else question.device_limit,
            **question.for_memory,
        )
    if question.device != "cpu":
        return _Answer(is_sorted, memory, None, None, None, fit)
    costs = calibration.measure(
        net,
        question.options,
        ranks=question.ranks,
        threads=question.threads,
        rates=question.published,
        rate=question.other_rate,
        sorted_by_source=is_sorted,
        recalibrate=recalibrate,
    )
    load = expect_load(
        net,
        ranks=question.ranks,
        threads=question.threads,
        rates=question.published,
        rate=question.other_rate,
        sorted_by_source=is_sorted,
        directed=costs.directed,
        exchanges_per_delay=costs.exchanges_per_delay,
    )
    return _Answer(is_sorted, memory, load, expect_times(load, costs), costs, fit)


def _as_json(question: _Question, answer: _Answer) -> dict[str, Any]:
    net = question.model.net
    return {
        "model": question.name,
        "network": net.name,
        "version": _core.version,
        "source_revision": _core.source_revision,
        "neurons": net.neuron_count,
        "synapses": net.expected_synapses,
        "ranks": question.ranks,
        "threads": question.threads,
        "options": question.options,
        "sorts_connections": answer.is_sorted,
        "memory_bytes": answer.memory,
        "memory_limit_bytes": question.limit,
        "device_limit_bytes": question.device_limit,
        "gpu": None if question.gpu is None else asdict(question.gpu),
        "load": None if answer.load is None else asdict(answer.load),
        "costs_s": None if answer.costs is None else asdict(answer.costs),
        "build_s": None if answer.times is None else answer.times.build,
        "simulation_s_per_s": None if answer.times is None else answer.times.simulation,
        "parts_s_per_s": None if answer.times is None else answer.times.parts,
        "largest_fit": None if answer.fit is None else asdict(answer.fit),
    }


def _show(console: Console, question: _Question, answer: _Answer) -> None:
    net = question.model.net
    console.print()
    console.print(Text(net.name, style="bold"), soft_wrap=True)
    if question.model.source:
        console.print(Text(question.model.source, style="dim"), soft_wrap=True)
    threads = f"{question.threads} thread{'s' if question.threads > 1 else ''}"
    on = "" if question.device == "cpu" else f", each with the device {question.device}"
    console.print(
        f"[bold]{net.neuron_count:,}[/] neurons, [bold]{net.expected_synapses:,.0f}[/] synapses on "
        f"[bold]{question.ranks:,}[/] rank{'s' if question.ranks > 1 else ''} of {threads}{on}",
        soft_wrap=True,
    )
    if answer.load is not None:
        console.print(
            f"On each rank {counted(net.neuron_count / question.ranks, 'neuron', ',.1f')}, "
            f"{counted(answer.load.synapses, 'synapse', ',.0f')}, "
            f"{answer.load.events_per_second:,.0f} synaptic events and {answer.load.records_per_second:,.0f} arriving "
            "spikes a second",
            soft_wrap=True,
        )
    if not answer.is_sorted:
        console.print(UNSORTED, style="dim", soft_wrap=True)
    console.print()
    host, device = host_memory(answer.memory), device_memory(answer.memory)
    # An emulator has the memory of its process.
    of_process = answer.memory if question.device == _EMULATOR else host
    console.print(Padding(memory_table(of_process), (0, 0, 0, 2)))
    if question.limit is not None:
        _show_verdict(console, sum(of_process.values()), question.limit, "a rank")
    if device and question.device != _EMULATOR:
        console.print()
        console.print(Padding(memory_table(device, "memory of the device"), (0, 0, 0, 2)))
        _show_device(console, question, sum(device.values()))
    if question.limit is not None or question.device_limit is not None:
        _show_fit(console, answer.fit)
    console.print()
    if answer.times is None:
        console.print("  times on a device are not predicted", style="dim", soft_wrap=True)
        return
    console.print(Padding(_times(answer.times), (0, 0, 0, 2)))
    console.print(
        "  from costs on this machine, with a processor for each thread; communicate does not include the network "
        "between machines",
        style="dim",
        soft_wrap=True,
    )


def _show_verdict(console: Console, needed: int, limit: int, of: str) -> None:
    fits = needed <= limit
    verdict = "fits into" if fits else "does not fit into"
    console.print(
        Text(f"  {verdict} {_size(limit)} of {of}", style="bold green" if fits else "bold red"), soft_wrap=True
    )


def _show_device(console: Console, question: _Question, needed: int) -> None:
    if question.device_limit is None:
        console.print(Text(f"  no GPU here to compare with: {question.missing_gpu}", style="dim"), soft_wrap=True)
        console.print(
            "  --device-memory, as --device-memory 141GB for an H200, says whether it fits; 132 blocks of threads are "
            "assumed, unless --set shards=...",
            style="dim",
            soft_wrap=True,
        )
        return
    of = "the device of a rank"
    if question.gpu is not None:
        of = f"{question.gpu.name}, which are free now"
    _show_verdict(console, needed, question.device_limit, of)


def _show_fit(console: Console, fit: Fit | None) -> None:
    if fit is None:
        console.print(f"  it has none of the keys {', '.join(SCALING_KEYS)} that scale a network", style="dim")
    elif fit.value is None:
        console.print(f"  no value of {fit.key} makes it fit", soft_wrap=True)
    else:
        value = f"{fit.value:,}" if isinstance(fit.value, int) else f"{fit.value:.4g}"
        console.print(
            f"  largest that fits: [bold]{fit.key} = {value}[/], {counted(fit.neurons, 'neuron', ',')}, "
            f"{counted(fit.synapses, 'synapse', ',.0f')}",
            soft_wrap=True,
        )


def _times(times: Times) -> Table:
    table = Table(box=None, show_header=False, padding=(0, 2, 0, 0))
    table.add_column(no_wrap=True)
    table.add_column(justify="right", no_wrap=True)
    table.add_row("build and init", _seconds(times.build))
    table.add_row(Text("a second", style="bold"), Text(_seconds(times.simulation), style="bold"))
    for name, value in times.parts.items():
        table.add_row(Text(f"  {name}", style="dim"), _seconds(value))
    return table


def _is_possible(question: _Question, ranks: int) -> bool:
    """Whether so many processes can have the network: a block of threads of a device has a limit of neurons."""
    if question.device == "cpu":
        return True
    try:
        predict_memory(question.model.net, ranks=ranks, **question.for_memory)
    except StateError:
        return False
    return True


def _draw(question: _Question, answer: _Answer) -> Any:
    # Loading matplotlib takes a second, so it is loaded only when a figure is wanted.
    from ranvier.forecast.figure import memory_figure

    net = question.model.net
    ranks = [count for count in ranks_around(question.ranks) if _is_possible(question, count)]
    same_network = memory_over_ranks(lambda count: net, ranks, **question.for_memory)
    same_load = None
    key, value = question.scaling_key, question.scaling_value
    if key is not None and value is not None:
        kind = type(value)
        same_load = memory_over_ranks(
            lambda count: question.scaled(kind(value * count / question.ranks) or kind(1)), ranks, **question.for_memory
        )
    is_gpu = question.device not in ("cpu", _EMULATOR)
    if is_gpu:
        same_network = device_memory(same_network)
        same_load = None if same_load is None else device_memory(same_load)
    return memory_figure(
        ranks,
        same_network,
        same_load,
        limit=question.device_limit if is_gpu else question.limit,
        marked=question.ranks,
        title=f"{net.name}: {counted(net.neuron_count, 'neuron', ',')} on {counted(question.ranks, 'rank', ',')}",
        of="device" if is_gpu else "rank",
    )
