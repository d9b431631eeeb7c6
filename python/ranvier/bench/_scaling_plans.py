"""What `ranvier bench scaling` runs: networks of a given size, or as large as fits the memory of a process."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import asdict, dataclass

from ranvier.bench._mpiexec import is_crowded
from ranvier.bench._networks import describe
from ranvier.bench._options import Sorting, method_options
from ranvier.bench._scaling_tables import Summary
from ranvier.bench._scaling_worker import Report
from ranvier.bench._settings import Chosen
from ranvier.errors import InsufficientMemoryError, RanvierError
from ranvier.forecast.prediction import DEFAULT_RATE
from ranvier.simulation.measurements import Bursts
from ranvier.simulation.options import grouped
from ranvier.simulation.predictions import predict_memory

__all__ = ["UNKNOWN", "Activity", "activity_of", "largest_network", "plan_run", "plans_to_fill", "predict"]


@dataclass(frozen=True)
class Activity:
    """What buffers of spikes depend on: the mean rate, spikes/s, and how bursts exceed the mean (None: not at all)."""

    rate: float
    bursts: Bursts | None = None


UNKNOWN = Activity(DEFAULT_RATE)
"""Before any network has been tried out."""

# Memory is predicted within 5 %, and a limit that was given is kept.
_FILLED = 0.95


def largest_network(
    arguments: argparse.Namespace,
    chosen: Chosen,
    ranks: int,
    method: str,
    is_sorted: Sorting,
    memory: int,
    activity: Activity = UNKNOWN,
) -> int:
    """Return the number of neurons of the largest network that fits into the memory limit of each process.

    Raises
    ------
    InsufficientMemoryError
        When one neuron to a process is too much already.
    """

    def fits(per_rank: int) -> bool:
        return sum(predict(arguments, chosen, per_rank * ranks, ranks, method, is_sorted, activity).values()) <= memory

    least = _least_neurons(arguments, chosen, ranks)
    if not fits(least):
        raise InsufficientMemoryError(
            "--memory-per-rank",
            arguments.memory_per_rank,
            f"{least} neurons to each of {ranks} processes, with {arguments.indegree} synapses each, take more",
            "give more memory, or fewer synapses",
        )
    fitting, too_many = least, 2 * least
    while fits(too_many):
        fitting, too_many = too_many, 2 * too_many
    while too_many - fitting > 1:
        middle = (fitting + too_many) // 2
        if fits(middle):
            fitting = middle
        else:
            too_many = middle
    return fitting * ranks


def _least_neurons(arguments: argparse.Namespace, chosen: Chosen, ranks: int) -> int:
    """Return the smallest number of neurons per process for which the model exists."""
    per_rank = 1
    while True:
        try:
            describe(arguments.model, per_rank * ranks, arguments.indegree, chosen.network)
        except RanvierError:
            if per_rank > 1024:
                raise
            per_rank *= 2
            continue
        return per_rank


def predict(
    arguments: argparse.Namespace,
    chosen: Chosen,
    neurons: int,
    ranks: int,
    method: str,
    is_sorted: Sorting,
    activity: Activity,
) -> dict[str, int]:
    net = describe(arguments.model, neurons, arguments.indegree, chosen.network).net
    return predict_memory(
        net,
        ranks=ranks,
        rank=0,
        rate=activity.rate,
        bursts=activity.bursts,
        time=chosen.presim + chosen.time,
        **grouped({**chosen.without("memory_limit", "costs"), **method_options(method, is_sorted)}),
    )


def plan_run(
    arguments: argparse.Namespace,
    chosen: Chosen,
    ranks: int,
    method: str,
    is_sorted: Sorting,
    memory: int,
    activity: Activity,
) -> Summary:
    """Return the specification of a run on several processes."""
    if arguments.mode == "weak":
        neurons = arguments.neurons_per_rank * ranks
    elif arguments.mode == "strong":
        neurons = arguments.neurons
    else:
        neurons = largest_network(arguments, chosen, ranks, method, is_sorted, int(_FILLED * memory), activity)
    model = describe(arguments.model, neurons, arguments.indegree, chosen.network)
    model.net.to_steps(chosen.time, "key time")
    model.net.to_steps(chosen.presim, "key presim")
    return {
        "ranks": ranks,
        "threads": chosen.threads,
        "method": method,
        "sorted": is_sorted,
        "crowded": is_crowded(ranks, chosen.threads),
        "neurons": neurons,
        # None: memory is predicted after the run, from its rate and bursts.
        "predicted_from": None if activity is UNKNOWN else asdict(activity),
    }


def plans_to_fill(
    arguments: argparse.Namespace,
    chosen: Chosen,
    ranks: int,
    variants: list[tuple[str, Sorting]],
    memory: int,
    try_out: Callable[[Summary], Activity],
) -> list[Summary]:
    """Return a plan for each variant, with the activity of networks that were tried out."""
    try:
        tried = plan_run(arguments, chosen, ranks, *variants[0], memory // 4, UNKNOWN)
    except InsufficientMemoryError:
        return [plan_run(arguments, chosen, ranks, *one, memory, UNKNOWN) for one in variants]
    activity = try_out(tried)
    plans = []
    for one in variants:
        plan = plan_run(arguments, chosen, ranks, *one, memory, activity)
        if plan["neurons"] < tried["neurons"]:
            # The same spikes as for any variant, in less time.
            of_its_size = try_out({**tried, "neurons": plan["neurons"]})
            plan = plan_run(arguments, chosen, ranks, *one, memory, of_its_size)
        plans.append(plan)
    return plans


def activity_of(report: Report) -> Activity:
    bursts = report["bursts"]
    return Activity(report["rate"], None if bursts is None else Bursts(**bursts))
