"""The plans of `ranvier bench scaling`: networks of a given size, or as large as fits the memory of a process."""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from dataclasses import asdict, dataclass

from ranvier.base.memory_checks import check_room
from ranvier.errors import InsufficientMemoryError, RanvierError
from ranvier.forecast.prediction import DEFAULT_RATE
from ranvier.simulation.measurements import Bursts
from ranvier.simulation.options import grouped
from ranvier.simulation.predictions import predict_memory
from ranvier_benchmarks._mpiexec import BYTES_OF_A_PROCESS, is_crowded
from ranvier_benchmarks._networks import describe
from ranvier_benchmarks._options import Sorting, method_options
from ranvier_benchmarks._scaling_tables import Summary
from ranvier_benchmarks._scaling_worker import Report
from ranvier_benchmarks._settings import Chosen

__all__ = [
    "UNKNOWN",
    "Activity",
    "activity_of",
    "check_memory",
    "fitting_plan",
    "largest_fitting",
    "least_neurons",
    "plan_run",
    "plans_to_fill",
    "predict",
]


@dataclass(frozen=True)
class Activity:
    """Activity, which determines spike buffers: mean rate, spikes/s, and how bursts exceed it (None: not at all)."""

    rate: float
    bursts: Bursts | None = None


UNKNOWN = Activity(DEFAULT_RATE)
"""Before any network has been tried out."""

# Memory is predicted within 10 %, and a limit that was given is kept.
_FILLED = 0.9
# A network that was tried out runs if it fills at least this part of the limit; at most so many are tried.
_LEAST_FILLED, _TRIALS = 0.8, 4


def _largest_network(
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

    def needed(per_rank: int) -> int:
        return _most_bytes(arguments, chosen, per_rank * ranks, ranks, method, is_sorted, activity)

    least = least_neurons(arguments.model, arguments.indegree, chosen, ranks)
    if needed(least) > memory:
        raise InsufficientMemoryError(
            "--memory-per-rank",
            arguments.memory_per_rank,
            f"{least} neurons to each of {ranks} processes, with {arguments.indegree} synapses each, take more",
            "give more memory, or fewer synapses",
        )
    return largest_fitting(needed, least, memory) * ranks


def largest_fitting(needed: Callable[[int], float], least: int, limit: float) -> int:
    """Return the largest number whose need is within a limit, to a thousandth; up to a thousand, exactly.

    Parameters
    ----------
    needed
        Function that grows with its argument, nearly in proportion; each call takes time.
    least
        A number that fits, >= 1.
    limit
        The limit.
    """
    fitting, at_fitting = least, needed(least)
    while True:
        # At least twice as many, since a part of the need may be constant.
        proportional = int(1.02 * fitting * limit / max(at_fitting, 1.0))
        too_many = min(64 * fitting, max(2 * fitting, proportional))
        at_too_many = needed(too_many)
        if at_too_many > limit:
            break
        fitting, at_fitting = too_many, at_too_many
    halve = False
    while (width := too_many - fitting) > max(1, fitting // 1000):
        # The need is infinite beyond a bound of another kind.
        part = 0.5 if halve or math.isinf(at_too_many) else (limit - at_fitting) / (at_too_many - at_fitting)
        middle = min(too_many - 1, max(fitting + 1, fitting + round(part * width)))
        at_middle = needed(middle)
        if at_middle <= limit:
            fitting, at_fitting = middle, at_middle
        else:
            too_many, at_too_many = middle, at_middle
        # Interpolation from one side only approaches slowly.
        halve = not halve and too_many - fitting > width // 2
    return fitting


def least_neurons(model: str, indegree: int, chosen: Chosen, ranks: int) -> int:
    """Return the smallest number of neurons per process for which the model exists."""
    per_rank = 1
    while True:
        try:
            describe(model, per_rank * ranks, indegree, chosen.network)
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
    predicted = predict_memory(
        net,
        ranks=ranks,
        rank=0,
        rate=activity.rate,
        bursts=activity.bursts,
        time=chosen.presim + chosen.time,
        **grouped({**chosen.without("memory_limit", "costs"), **method_options(method, is_sorted)}),
    )
    return {name: size for name, size in predicted.items() if name != "recordings"}


def _most_bytes(
    arguments: argparse.Namespace,
    chosen: Chosen,
    neurons: int,
    ranks: int,
    method: str,
    is_sorted: Sorting,
    activity: Activity,
) -> int:
    """Return the most bytes that are predicted to be taken at any time, also during the build."""
    return sum(predict(arguments, chosen, neurons, ranks, method, is_sorted, activity).values())


def check_memory(arguments: argparse.Namespace, chosen: Chosen, plan: Summary) -> None:
    """Check that the machine has room for all processes of a run, before it begins.

    Raises
    ------
    InsufficientMemoryError
        When they are predicted to take more than there is.
    """
    variant = (plan["neurons"], plan["ranks"], plan["method"], plan["sorted"])
    needed = plan["ranks"] * (_most_bytes(arguments, chosen, *variant, UNKNOWN) + BYTES_OF_A_PROCESS)
    check_room(
        f"{plan['neurons']:,} neurons with {arguments.indegree:,} synapses each on {plan['ranks']} processes",
        needed,
        "choose fewer neurons, fewer synapses or fewer processes",
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
        neurons = _largest_network(arguments, chosen, ranks, method, is_sorted, int(_FILLED * memory), activity)
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

    def plan_of(method: str, is_sorted: Sorting) -> Summary:
        return fitting_plan(
            lambda known: plan_run(arguments, chosen, ranks, method, is_sorted, memory, known),
            lambda neurons, known: _most_bytes(arguments, chosen, neurons, ranks, method, is_sorted, known) / memory,
            # The same spikes as for any variant, in less time.
            lambda neurons: try_out({**tried, "neurons": neurons}),
            tried["neurons"],
            activity,
        )

    return [plan_of(*one) for one in variants]


def fitting_plan(
    plan_from: Callable[[Activity], Summary],
    filled: Callable[[int, Activity], float],
    try_out: Callable[[int], Activity],
    tried: int,
    activity: Activity,
) -> Summary:
    """Return the plan of a network that fits its memory limit.

    Small networks have large bursts, which differ even between networks of nearly equal size. So the network that was
    tried out is the one that runs, where that takes little time.

    Parameters
    ----------
    plan_from
        Returns the plan of the largest network that is predicted to fit with an activity.
    filled
        Returns the part of the limit that a network of so many neurons fills with an activity.
    try_out
        Runs a network of so many neurons, and returns its activity.
    tried, activity
        Number of neurons of a network that was tried out, and its activity.
    """
    plan = plan_from(activity)
    if plan["neurons"] >= tried:
        return plan
    fitting: list[Summary] = []
    for _ in range(_TRIALS):
        measured = try_out(plan["neurons"])
        part = filled(plan["neurons"], measured)
        if part <= _FILLED:
            fitting.append({**plan, "predicted_from": asdict(measured)})
            if part >= _LEAST_FILLED:
                return fitting[-1]
        plan = plan_from(measured)
    return max(fitting, key=lambda one: int(one["neurons"]), default=plan)


def activity_of(report: Report) -> Activity:
    bursts = report["bursts"]
    return Activity(report["rate"], None if bursts is None else Bursts(**bursts))
