#!/usr/bin/env python3
"""Store the result of a measurement as docs/measurements holds it: its command, versions, machine and quoted numbers.

Usage: trim_measurement.py RESULTS.json STORED.json COMMAND

`COMMAND --json RESULTS.json` wrote the result. Everything that no page quotes and no chart shows is left out, such as
paths of the machine. A page that quotes another field needs that field in FIELDS, or for `ranvier paper` in
FIELDS_OF_PAPERS, and a new measurement.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

__all__ = ["fields_of", "main", "stored_text", "trim"]

# Names of nested fields are separated by dots; a field of a list is that of each element.
HEAD = (
    "benchmark",
    "complete",
    "options",
    "machine.version",
    "machine.source_revision",
    "machine.compiler",
    "machine.processor",
    "machine.usable_processors",
    "machine.instruction_sets",
    "machine.python",
    "machine.numpy",
)
# The names of programs that a benchmark ran in turn, and the versions of each.
_CONTESTANTS = ("contestants.name", "contestants.reports.version", "contestants.reports.threads")
_WITH_NEST = (
    *_CONTESTANTS,
    "contestants.reports.neurons",
    "contestants.reports.synapses",
    "contestants.reports.build_s",
    "contestants.reports.init_s",
    "contestants.reports.real_time_factor",
    "contestants.reports.peak_rss_bytes",
)
_STEPPING_WAYS = tuple(
    f"results.{way}.{field}" for way in ("bsp", "async", "single") for field in ("seconds", "messages", "wait")
)
_TIMES_OF_EQUATIONS = tuple(
    f"{part}.{field}"
    for part in ("steps", "learning")
    for field in ("model", "built_in_ns", "compiled_ns", "interpreted_ns", "compiled_ratio", "interpreted_ratio")
)
# By benchmark; "run" is the report of `ranvier run`.
FIELDS: dict[str, tuple[str, ...]] = {
    "run": (
        "model",
        "version",
        "source_revision",
        "instruction_set",
        "threads",
        "ranks",
        "neurons",
        "synapses",
        "simulated_ms",
        "mean_rate_hz",
        "peak_rss_bytes",
    ),
    "microcircuit": _WITH_NEST,
    "mesocircuit": _WITH_NEST,
    "hpc_benchmark": (
        *_WITH_NEST,
        "contestants.reports.sim_s",
        "contestants.reports.synaptic_events",
        "contestants.reports.mean_rate_hz",
    ),
    "cuba": (*_CONTESTANTS, "contestants.reports.real_time_factor"),
    "coba": (*_CONTESTANTS, "contestants.reports.real_time_factor"),
    "models": (
        "results.model",
        "results.ns_per_neuron_and_step",
        "results.ns_per_event",
        "results.runs.ns_per_neuron_and_step",
        "results.nest.ns_per_neuron_and_step",
        "results.nest.runs.ns_per_neuron_and_step",
        "results.brian2.method",
        "results.brian2.ns_per_neuron_and_step",
        "results.brian2.runs.ns_per_neuron_and_step",
    ),
    "equations": (
        *_TIMES_OF_EQUATIONS,
        "learning.precision",
        "compilation.model",
        "compilation.ms",
        "compilation.adaptive",
    ),
    "plasticity": tuple(
        f"results.{field}" for field in ("model", "row", "precision", "ns_per_event", "potentiations_per_event")
    ),
    "ring": (
        *_CONTESTANTS,
        "contestants.reports.instruction_set",
        "contestants.reports.compartments",
        "contestants.reports.peak_rss_bytes",
        "contestants.ratios.simulation (s).median",
        "programs",
    ),
    "threads": (
        "results.threads",
        "results.build_and_init_s",
        "results.real_time_factor",
        "results.parts_of_step_s.imbalance",
        "results.parts_of_step_s.travel",
        "results.step_s",
        "results.spike_digest",
    ),
    "contention": tuple(
        f"results.{field}" for field in ("network", "busy_programs", "one_thread", "several_threads", "several_ranks")
    ),
    "fmm": (
        *(
            f"{of}.{field}"
            for of in ("accuracy", "growth")
            for field in ("kind", "points", "order", "error", "seconds", "setup_s", "counts.operations")
        ),
        "accuracy.accuracy",
        "growth.time_to_linear",
        *(f"against.{field}" for field in ("kind", "precision_of_fmm3d", "error_of_fmm3d", "seconds_of_fmm3d")),
        *(f"against.ranvier.{field}" for field in ("order", "error", "seconds")),
    ),
    "placement": tuple(
        f"counted.{field}"
        for field in ("activity", "placement", "ranks", "spikes_of_run", "messages", "partners", "events", "spikes")
    ),
    "kernels": (
        "measured.method",
        "measured.sorted",
        "measured.ranks",
        "measured.times_s.simulation.greatest",
        "measured.memory_bytes.greatest",
        "dry.method",
        "dry.sorted",
        "dry.ranks",
        "dry.simulation_s_per_s",
        "dry.memory_bytes",
        "time",
    ),
    "exchange_simulation": (
        "summary",
        *(f"runs.{field}" for field in ("use", "processes", "cells", "connections", "method", "times")),
    ),
    "many_ranks": (
        "results.method",
        "results.ranks",
        "results.traffic.bytes_sent",
        "results.memory_bytes",
        "results.simulation_s_per_s",
    ),
    "predictions": (
        "results.network",
        "results.method",
        "results.sorted",
        "results.ranks",
        "results.measured.simulation",
        "results.predicted.simulation",
        "results.simulation_ratio",
    ),
    "stepping": (
        *(
            f"results.{field}"
            for field in (
                "cells",
                "ranks",
                "threads",
                "loops",
                "shards",
                "speed_up",
                "ratios",
                "same_spikes",
                "visits_by_steps",
            )
        ),
        *_STEPPING_WAYS,
        "epochs.cells",
        "epochs.steps",
        "epochs.ns_per_compartment_step",
        "epochs.speed_up",
        "predicted.cells",
        "predicted.ranks",
        "predicted.jitter",
        "predicted.ns_per_compartment_step",
        "predicted.speed_up",
        "predicted.bsp.wait",
        "predicted.async.wait",
    ),
}
# Runs of kernels, real ones and dry runs: all that `ranvier paper jordan2018 --from` shows and draws.
_RUNS_OF_KERNELS = (
    *(
        f"real.{field}"
        for field in (
            "method",
            "sorted",
            "ranks",
            "threads",
            "crowded",
            "neurons",
            "synapses",
            "times_s.build.greatest",
            "times_s.init.greatest",
            "times_s.simulation.greatest",
            "parts_s",
            "cumulative_bytes",
            "predicted_bytes",
        )
    ),
    *(
        f"dry.{field}"
        for field in (
            "method",
            "sorted",
            "ranks",
            "threads",
            "network_neurons",
            "neurons",
            "synapses",
            "build_s",
            "init_s",
            "simulation_s_per_s",
            "parts_s_per_s",
            "cumulative_bytes",
            "predicted_bytes",
        )
    ),
)
_REAL_RUNS_OF_KERNELS = tuple(field for field in _RUNS_OF_KERNELS if field.startswith("real."))
_MEMORY_MODEL = ("processes", "model", "predicted", "dry")
_RUNS_OF_EXCHANGE = (
    "processors",
    "simulated_machine",
    *(
        f"runs.{field}"
        for field in (
            *("kind", "processes", "cells", "connections", "time", "burst", "topology", "placement"),
            *("variant", "method", "intervals", "crowded", "transport", "computation_s", "total_s"),
        )
    ),
)
_TRACES_OF_EXCHANGE = (
    *_RUNS_OF_EXCHANGE,
    *(f"runs.{field}" for field in ("greatest_fan_out", "collectives", "last_quarter", "per_interval_s")),
)
_RASTER = ("cells", "time", "burst", "digest", "times", "ids")
_ALL_GATHERS = (
    "network",
    "processors",
    *(
        f"{rows}.{field}"
        for rows in ("rows", "simulated.rows")
        for field in (
            *("ranks", "cells", "time", "spikes"),
            *("methods.method", "methods.barrier", "methods.interval_count", "methods.total_s.rank_0"),
            "methods.waiting_and_exchange_s.median",
        )
    ),
    *(f"rows.{field}" for field in ("crowded", "transport", "methods.waiting_s.median", "methods.exchange_s.median")),
    "simulated.machine",
)
_POLICIES = (
    *(
        f"platform.{field}"
        for field in ("name", "synthetic", "note", "units", "cores_of_nodes", "nodes", "node_numbers", "distances")
    ),
    *(f"platform.{field}" for field in ("distance_source", "latencies_ns", "processors", "peak", "operations")),
    *(f"platform.results.{field}" for field in ("pinning", "stealing", "threads", "step_s", "step_tasks.executed")),
    *(f"platform.results.step_tasks.stolen_{where}" for where in ("locally", "remotely")),
    "input",
    "plug_in_policies",
    "efficiencies",
)
# By paper and result, for the benchmark "paper".
FIELDS_OF_PAPERS: dict[str, dict[str, tuple[str, ...]]] = {
    "hines2011": {
        "figure 3": _RASTER,
        "figure 4": ("tables", *_RUNS_OF_EXCHANGE),
        "figure 5": _TRACES_OF_EXCHANGE,
        "figure 6": _TRACES_OF_EXCHANGE,
        "figure 7": _TRACES_OF_EXCHANGE,
        "figure 8": _TRACES_OF_EXCHANGE,
        "figure 9": _RASTER,
        "table 1": ("tables", *_RUNS_OF_EXCHANGE),
        "table 2": ("tables", *_RUNS_OF_EXCHANGE),
        "table 3": _RUNS_OF_EXCHANGE,
    },
    "jordan2018": {
        "figure 1": ("processes", "expected", "counted_processes", "counted"),
        "figure 2B": _MEMORY_MODEL,
        "figure 4B": _MEMORY_MODEL,
        "figure 7": _RUNS_OF_KERNELS,
        "figure 8": _RUNS_OF_KERNELS,
        "figure 9": _RUNS_OF_KERNELS,
        "figure 10": _RUNS_OF_KERNELS,
        "figure 11": (*_REAL_RUNS_OF_KERNELS, "dry"),
        "figure 12": _RUNS_OF_KERNELS,
        "figure A4": ("real", *(field for field in _RUNS_OF_KERNELS if field.startswith("dry."))),
        "figure A5": _RUNS_OF_KERNELS,
    },
    "magalhaes2019": {
        "figure 2": ("synapses", "bin_ms", "counts", "shortest_ms", "shortest_part", "quantiles_ms"),
        "figure 7A": tuple(
            f"networks.{field}"
            for field in (
                *("cells", "compartments", "synapses", "connected_synapses", "spikes", "neuron_spikes", "same_spikes"),
                *("seconds", "speed_ups", "visits_by_steps", "bytes_of_step", "at_once"),
            )
        ),
        "figure 7B": (
            "networks.cells",
            *(f"networks.real.{field}" for field in ("ranks", "seconds", "speed_ups", "same_spikes")),
            "networks.real.ns_per_compartment_step",
            *(f"networks.predicted.{field}" for field in ("ranks", "jitter", "speed_up", "bsp.wait", "async.wait")),
        ),
        "figure 7C": tuple(
            f"networks.{field}" for field in ("cells", "sources_of_cell", "visits_by_steps", "mean", "quantiles")
        ),
        "table 1": (
            "counted_by",
            *(f"results.{field}" for field in ("kind", "neurons", "steps", "steps_at_once", "seconds", "model")),
            *(f"results.counts.{field}" for field in ("counted_steps", "instructions", "near_bytes", "far_bytes")),
            "different",
        ),
        "table 2": tuple(
            f"networks.{field}"
            for field in (
                *("cells", "spikes", "same_spikes", "bsp"),
                *(f"async.{way}.{field}" for way in ("reduce", "simple") for field in ("seconds", "messages")),
            )
        ),
    },
    "morgenstern2020": {"figure 4": _POLICIES, "figure 5": _POLICIES, "table 1": _POLICIES},
    "shehzad2016": dict.fromkeys(("table 1", "table 2", "table 3", "figure 4", "figure 6", "figure 7"), _ALL_GATHERS),
}
_HEAD_OF_PAPERS = ("paper", "kind", "number")
_LONGEST_LINE = 160

_Tree = dict[str, "_Tree"]


def fields_of(whole: dict[str, Any]) -> tuple[str, ...] | None:
    """Return the fields of a result that are stored; None if there is no entry for it."""
    name = whole.get("benchmark", "run")
    if name != "paper":
        return FIELDS.get(name)
    fields = FIELDS_OF_PAPERS.get(whole["paper"], {}).get(f"{whole['kind']} {whole['number']}")
    return None if fields is None else (*_HEAD_OF_PAPERS, *fields)


def trim(whole: dict[str, Any], command: str) -> dict[str, Any]:
    """Return the command, and the fields of a result that are stored."""
    fields = (*(HEAD if "benchmark" in whole else ()), *(fields_of(whole) or ()))
    tree: _Tree = {}
    for field in fields:
        node = tree
        for name in field.split("."):
            node = node.setdefault(name, {})
    return {"command": command, **_picked(whole, tree)}


def stored_text(value: Any, indent: str = "") -> str:
    """Return a value as JSON in which small objects, and lists of numbers, take one line each."""
    line = json.dumps(value)
    simple = isinstance(value, list) and not any(isinstance(each, dict | list) for each in value)
    if simple or not value or not isinstance(value, dict | list) or len(indent) + len(line) <= _LONGEST_LINE:
        return line
    deeper = indent + " "
    if isinstance(value, dict):
        lines = [f"{deeper}{json.dumps(key)}: {stored_text(each, deeper)}" for key, each in value.items()]
        return "{\n" + ",\n".join(lines) + f"\n{indent}}}"
    return "[\n" + ",\n".join(deeper + stored_text(each, deeper) for each in value) + f"\n{indent}]"


def main(arguments: list[str]) -> None:
    """Trim the first file into the second one."""
    if len(arguments) != 3:
        sys.exit(__doc__)
    whole = json.loads(Path(arguments[0]).read_text())
    if not whole.get("complete", True):
        sys.exit(f"{arguments[0]} is not complete: the benchmark was interrupted")
    if fields_of(whole) is None:
        if whole["benchmark"] == "paper":
            name, table = f"{whole['kind']} {whole['number']} of {whole['paper']}", "FIELDS_OF_PAPERS"
        else:
            name, table = f"the benchmark {whole['benchmark']}", "FIELDS"
        sys.exit(f"{table} has no entry for {name}: add the fields that pages quote")
    Path(arguments[1]).write_text(stored_text(trim(whole, arguments[2])) + "\n")


def _picked(value: Any, tree: _Tree) -> Any:
    if not tree:
        return value
    if isinstance(value, list):
        return [_picked(each, tree) for each in value]
    if isinstance(value, dict):
        return {key: _picked(each, tree[key]) for key, each in value.items() if key in tree}
    return value  # such as null, where a program lacks a model


if __name__ == "__main__":
    main(sys.argv[1:])
