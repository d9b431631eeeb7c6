"""More processes than can be started: the exchange of the same spikes, simulated.

The network runs on one process, which gives its spikes, its synapses, and the time that a cell takes. With these,
`_exchange_simulation` simulates processes that have the cells in turn, on a machine with stated costs of the network.

MPI_Allgather is simulated as messages by recursive doubling, or by Bruck's algorithm if the number of processes is not
a power of two: what MPI libraries do with short blocks (Thakur, Rabenseifner and Gropp, International Journal of High
Performance Computing Applications 19, 49-66, 2005).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import fields, replace
from time import perf_counter
from typing import Any

import numpy as np

import ranvier as rv
from ranvier.errors import UnknownNameError
from ranvier.networks import NetworkModel
from ranvier_benchmarks._exchange_simulation.engine import METHODS, Method, simulate
from ranvier_benchmarks._exchange_simulation.gathers import StepCosts
from ranvier_benchmarks._exchange_simulation.machines import MACHINES, Machine
from ranvier_benchmarks._exchange_simulation.spikes import GivenSpikes, KnownTargets, ranks_of_cells
from ranvier_benchmarks.papers.shehzad2016 import networks
from ranvier_benchmarks.papers.shehzad2016._rows import PLAIN

__all__ = ["COSTS", "OneProcess", "check_machine", "simulate_processes"]

COSTS = tuple(each.name for each in fields(StepCosts))
"""Names of the costs of a step, which are keys, in microseconds."""

_BUFFER = 16  # default of the option allgather_spikes


class OneProcess:
    """A network after its run on one process.

    Attributes
    ----------
    digest
        Of its spikes.
    spikes
        Number of its spikes.
    seconds_of_cell
        What a cell takes in the shortest delay, seconds.
    """

    def __init__(self, function: str, cells: int, time: float, seed: int) -> None:
        model: NetworkModel = getattr(networks, function)(cells=cells, seed=seed)
        simulation = rv.Simulation(model.net, threads=1, progress=False)
        begin = perf_counter()
        simulation.run(time)
        self._intervals = round(time / networks.DELAY)
        self.seconds_of_cell = (perf_counter() - begin) / (cells * self._intervals)
        recorded = simulation.spikes(model.spikes)
        self.digest, self.spikes = recorded.digest(), len(recorded)
        first = min(population.first_id for population in model.net.populations)
        synapses = simulation.connections()
        self._sources, self._targets = synapses.sources - first, synapses.targets - first
        self._cells = cells
        steps = round(networks.DELAY / simulation.resolution)
        self._calendar: list[list[tuple[int, int]]] = [[] for _ in range(self._intervals)]
        for step, cell in zip(recorded.steps.tolist(), (recorded.ids - first).tolist(), strict=True):
            self._calendar[(step - 1) // steps].append((0, cell))

    def play(self, ranks: int, method: Method, machine: Machine) -> dict[str, Any]:
        """Return times of so many processes, in the form of measured ones."""
        rank_of = ranks_of_cells(self._cells, ranks, "round_robin", np.random.default_rng(0))
        work = np.bincount(rank_of, minlength=ranks).astype(np.float64) * self.seconds_of_cell
        # What spikes cost the cells is in their measured time.
        costs = replace(machine, step=0.0, event=0.0, spike=0.0)
        result = simulate(
            GivenSpikes(self._cells, self._calendar),
            KnownTargets(rank_of, ranks, self._sources, self._targets),
            costs,
            method,
            intervals=self._intervals,
            work_of_cells=work,
        )
        computation = float(np.median(work)) * self._intervals
        return {
            "interval_count": self._intervals,
            "total_s": {"rank_0": result.run_time},
            "waiting_and_exchange_s": {"median": result.run_time - computation},
            "rounds": int(result.rounds.sum()),
        }


def _known_methods(ranks: int) -> dict[str, Method]:
    # By the names that they have in Ranvier.
    algorithm = "doubling" if ranks & (ranks - 1) == 0 else "bruck"
    plain = replace(METHODS[f"allgather {algorithm}"], buffer=_BUFFER)
    return {PLAIN: plain, **{name: method for name, method in METHODS.items() if name.startswith("rma_")}}


def check_machine(name: str, costs: dict[str, float | None]) -> None:
    """Raise for a machine that is not known, and for costs (microseconds) out of bounds."""
    if name not in MACHINES:
        raise UnknownNameError("key machine", name, f"it must be of {', '.join(MACHINES)}")
    _costs(MACHINES[name], 2, costs)


def simulate_processes(
    network: OneProcess,
    ranks: int,
    methods: Sequence[str],
    machine: str,
    costs: dict[str, float | None],
) -> list[dict[str, Any]]:
    """Return the methods of a row, those of `methods` that can be simulated.

    Parameters
    ----------
    network
        The network.
    ranks
        Number of processes.
    methods
        Names of methods of exchange.
    machine
        Name of a machine.
    costs
        Microseconds of each of `COSTS`; None: those that follow from the machine.
    """
    known = _known_methods(ranks)
    found = []
    for name in dict.fromkeys(methods):
        if name not in known:
            continue
        gathering = known[name].gathering
        assert gathering is not None
        step = _costs(MACHINES[machine], ranks, costs)
        method = replace(known[name], gathering=replace(gathering, costs=step))
        found.append({"method": name, "barrier": False, **network.play(ranks, method, MACHINES[machine])})
    return found


def _costs(machine: Machine, ranks: int, costs: dict[str, float | None]) -> StepCosts:
    given = {name: 1e-6 * value for name, value in costs.items() if value is not None}
    return replace(StepCosts.of(machine, ranks), **given)
