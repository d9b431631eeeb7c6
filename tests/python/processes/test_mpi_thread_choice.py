"""The number of threads with ``threads="auto"`` on two processes: the same on both, or an error on both."""

from __future__ import annotations

from pathlib import Path

from mpi_families import any_family
from mpi_runs import Installation, run_python

NETWORK = """
import ranvier as rv
from ranvier import _core, mpi
from ranvier.simulation import thread_choice

rank = mpi.world().rank
_core.default_threads = lambda *_: 4 if rank == 0 else 3
net = rv.Network(seed=3)
cells = net.create(rv.iaf_psc_exp(I_e=500.0), 50)
net.connect(cells, cells, rv.FixedIndegree(10), weight=20.0, delay=1.0)
recorder = net.record_spikes(cells)
"""

# Each rank has an invented clock. Rank 1 is slow with two threads: its 3 us a step count for both ranks.
MEASURED = f"""{NETWORK}
seconds = {{1: [2e-6, 1.5e-6], 2: [1e-6, 3e-6], 3: [1e-6, 1e-6]}}


class InventedClock:
    def __init__(self):
        self.now, self.threads, self.steps = 0.0, 1, 0

    def __call__(self):
        return self.now


clock = InventedClock()
simulation = _core.Simulation


class Timed:
    def __init__(self, network, options, communicator, progress):
        self.core, self.threads = simulation(network, options, communicator, progress=progress), options.threads

    def run(self, steps, progress):
        self.core.run(steps, progress)
        clock.now += steps * seconds[self.threads][rank]

    def __getattr__(self, name):
        return getattr(self.core, name)


trials = thread_choice.Trials
measured = []


class TimedTrials(trials):
    def __init__(self, *arguments):
        super().__init__(*arguments, clock=clock)

    def measure(self, threads):
        _core.Simulation = Timed
        try:
            measured.append(threads)
            return super().measure(threads)
        finally:
            _core.Simulation = simulation


thread_choice.Trials = TimedTrials
sim = rv.Simulation(net, threads="auto", progress=False)
sim.run(50.0)
choice = sim.thread_choice
print(sim.threads, choice.most, {{threads: round(1e6 * each, 3) for threads, each in choice.step_seconds.items()}})
print(sim.spikes(recorder).digest())
given = rv.Simulation(net, threads=1, progress=False)
given.run(50.0)
print(given.spikes(recorder).digest())
"""

DIFFERENT = f"""{NETWORK}
try:
    rv.Simulation(net, threads="auto" if rank else 1, progress=False)
except rv.errors.RemoteError as error:
    print(error)
"""

INTERRUPTED = f"""{NETWORK}
simulation = _core.Simulation


class Interrupted:
    def __init__(self, *arguments, progress):
        self.core = simulation(*arguments, progress=progress)

    def run(self, steps, progress):
        self.core.run(steps, progress)
        if rank == 1:
            raise KeyboardInterrupt

    def __getattr__(self, name):
        return getattr(self.core, name)


_core.Simulation = Interrupted
try:
    rv.Simulation(net, threads="auto", progress=False)
except KeyboardInterrupt:
    print("interrupted")
except rv.errors.RemoteError as error:
    print(error)
_core.Simulation = simulation
sim = rv.Simulation(net, threads="auto", progress=False)
sim.run(50.0)
print(sim.counts().spikes > 0)
"""


@any_family
def test_ranks_choose_the_number_that_is_fastest_on_the_slowest(where: Installation, tmp_path: Path) -> None:
    done = run_python(where, 2, MEASURED, folder=tmp_path, timeout=60)
    assert done.status == 0, done.errors
    first, second = (output.splitlines() for output in done.outputs)
    assert first == second
    # The fewest processors of the two ranks limit both; three threads are not tried, as two are slower.
    assert first[0] == "1 3 {1: 2.0, 2: 3.0}"
    assert first[1] == first[2]


@any_family
def test_a_rank_that_does_not_measure_is_an_error_on_all(where: Installation, tmp_path: Path) -> None:
    done = run_python(where, 2, DIFFERENT, folder=tmp_path, timeout=60)
    assert done.status == 0, done.errors
    assert all("it is a given number on rank 0, and 'auto' on rank 1" in output for output in done.outputs)


@any_family
def test_an_interrupted_trial_ends_on_all(where: Installation, tmp_path: Path) -> None:
    """And the next simulation can be built."""
    done = run_python(where, 2, INTERRUPTED, folder=tmp_path, timeout=60)
    assert done.status == 0, done.errors
    first, second = (output.splitlines() for output in done.outputs)
    assert "rank 1 failed (KeyboardInterrupt" in first[0]
    assert second[0] == "interrupted"
    assert first[1] == second[1] == "True"
