"""The number of threads of a simulation, chosen by measuring the first steps of its network."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence

from ranvier import _core
from ranvier.base.interrupts import Deferral
from ranvier.network.contents import Contents
from ranvier.processes.agreement import agreed, values_of_all
from ranvier.simulation.measurements import ThreadChoice

__all__ = ["Trials", "choose_best", "choose_threads", "numbers_to_try"]

# Estimated work of a step: seconds of a neuron, and of a synapse for each simulated second, as if each source fired
# once in that time. Neurons and synapses that cost the least take this long; for most, the estimate is too small.
_NEURON_S = 2e-9
_SYNAPSE_S = 2e-9
# Smaller numbers are not tried if each thread has this work in a step: several times what it takes to synchronize them.
_ENOUGH_S = 10e-6

# More threads must be faster by this share, and the search ends with a number that is slower by the other.
_LEAST_GAIN = 0.03
_CLEAR_LOSS = 0.05

# A trial: the first epochs are discarded, those of about 10 ms at most; then pieces are timed, at least three.
_DISCARDED_EPOCHS = 20
_DISCARDED_S = 0.01
_PIECE_S = 0.005
_LONGEST_PIECE_MS = 100.0
_LEAST_PIECES = 3
_TRIAL_S = 0.1
_TRIAL_MS = 1000.0
_MOST_RECORDED = 32 << 20  # bytes
# A trial that takes this many times as long as that of the first number ends early.
_MUCH_LONGER = 2.0

_WHAT = "trial of a number of threads"


def choose_threads(
    contents: Contents,
    options: _core.SimulationOptions,
    communicator: _core.Communicator,
    interrupts: Deferral,
    progress: Callable[[], None] | None,
) -> ThreadChoice:
    """Choose the number of threads for a simulation; all processes get the same. All processes must call it."""
    most = _most_threads(options, communicator)
    neurons = sum(len(population) for population in contents.populations if not population.is_source)
    events = contents.core.expected_synapses * contents.core.resolution / 1000.0
    work = (neurons * _NEURON_S + events * _SYNAPSE_S) / communicator.size
    numbers = numbers_to_try(most, work)
    if len(numbers) == 1:
        return ThreadChoice(numbers[0], most)
    trials = Trials(contents.core, options, communicator, interrupts, progress)
    threads, step_seconds = choose_best(numbers, trials.measure)
    return ThreadChoice(threads, most, step_seconds)


def numbers_to_try(most: int, work: float) -> list[int]:
    """Return the numbers of threads to try, the least first: powers of two, and the largest number.

    Parameters
    ----------
    most
        The largest number.
    work
        Estimated seconds of a step on one thread. Numbers below one with which each thread has enough work are left
        out.
    """
    numbers = [1 << power for power in range(most.bit_length()) if 1 << power < most] + [most]
    enough = sum(work >= _ENOUGH_S * number for number in numbers)
    return numbers[max(enough - 1, 0) :]


def choose_best(numbers: Sequence[int], measure: Callable[[int], float]) -> tuple[int, dict[int, float]]:
    """Return the number of threads that pays most, and the measured seconds of a step of all that were tried."""
    best = numbers[0]
    seconds: dict[int, float] = {}
    for number in numbers:
        seconds[number] = measure(number)
        if seconds[number] < (1.0 - _LEAST_GAIN) * seconds[best]:
            best = number
        elif seconds[number] > (1.0 + _CLEAR_LOSS) * seconds[best]:
            break
    return best, seconds


class Trials:
    """Short simulations of a network, with several numbers of threads, which are then discarded.

    All of them simulate the same steps from the start, in the same pieces: those that the first one needs for about a
    tenth of a second. On several processes, the slowest one counts.
    """

    def __init__(
        self,
        network: _core.Network,
        options: _core.SimulationOptions,
        communicator: _core.Communicator,
        interrupts: Deferral,
        progress: Callable[[], None] | None,
        clock: Callable[[], float] = time.perf_counter,
    ) -> None:
        self._network = network
        self._options = options
        self._communicator = communicator
        self._interrupts = interrupts
        self._progress = progress
        self._clock = clock
        # Steps of each piece, and the number of pieces at the beginning that do not count.
        self._pieces: list[int] = []
        self._discarded = 0
        self._seconds_of_first = 0.0

    def measure(self, threads: int) -> float:
        """Return the seconds of a step with a number of threads: the median of the pieces."""
        self._options.threads = threads
        with agreed(self._communicator, _WHAT), self._interrupts.allowed():
            core = _core.Simulation(self._network, self._options, self._communicator, progress=self._progress)
        seconds = self._repeat(core) if self._pieces else self._plan(core)
        count = slice(self._discarded, None)
        # The pieces of a trial that ended early are fewer.
        return statistics.median(each / steps for each, steps in zip(seconds[count], self._pieces[count], strict=False))

    def _plan(self, core: _core.Simulation) -> list[float]:
        """Run the first simulation, and choose the pieces for all; return their seconds."""
        longest = max(1, int(_LONGEST_PIECE_MS / core.resolution))
        epoch = min(core.epoch_steps, longest)
        pieces = self._pieces
        seconds: list[float] = []

        def run(epochs: int) -> int:
            pieces.append(min(epochs * epoch, longest))
            taken, recorded = self._run(core, pieces[-1])
            seconds.append(taken)
            return recorded

        recorded = 0
        while sum(pieces) < _DISCARDED_EPOCHS * epoch and sum(seconds) < _DISCARDED_S:
            recorded = run(1 << len(pieces))
        self._discarded = len(pieces)
        epoch_seconds = seconds[-1] * epoch / pieces[-1]
        epochs = max(1, int(min(_PIECE_S / max(epoch_seconds, 1e-9), longest)))
        while len(pieces) < self._discarded + _LEAST_PIECES or (
            sum(seconds) < _TRIAL_S and sum(pieces) * core.resolution < _TRIAL_MS and recorded < _MOST_RECORDED
        ):
            recorded = run(epochs)
        self._seconds_of_first = sum(seconds)
        return seconds

    def _repeat(self, core: _core.Simulation) -> list[float]:
        """Run the same pieces as the first simulation, unless this takes much longer; return their seconds."""
        seconds: list[float] = []
        for steps in self._pieces:
            seconds.append(self._run(core, steps)[0])
            if len(seconds) >= self._discarded + _LEAST_PIECES and sum(seconds) > _MUCH_LONGER * self._seconds_of_first:
                break
        return seconds

    def _run(self, core: _core.Simulation, steps: int) -> tuple[float, int]:
        """Return the seconds of the slowest process, and the bytes of recordings of the one with the most."""
        with agreed(self._communicator, _WHAT), self._interrupts.allowed():
            begin = self._clock()
            core.run(steps, self._progress)
            seconds = self._clock() - begin
        every = values_of_all(self._communicator, (seconds, core.recorded_bytes))
        return max(each for each, _ in every), max(recorded for _, recorded in every)


def _most_threads(options: _core.SimulationOptions, communicator: _core.Communicator) -> int:
    """Return the default number of threads, the least of all processes; not more than shards."""
    topology = _core.Topology.detect()
    every = values_of_all(communicator, topology.processors())
    # Processes of a host that are not bound to processors share them.
    sharing = communicator.host_size if all(each == every[0] for each in every) else 1
    if sharing > 1:
        topology = topology.shared_out(communicator.host_rank, sharing)
    most = _core.default_threads(len(topology.processors()), _core.processor_quota(), sharing)
    return min(values_of_all(communicator, min(most, options.shards or most)))
