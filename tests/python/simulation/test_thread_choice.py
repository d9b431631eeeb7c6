"""The number of threads with ``threads="auto"``: what is tried, what is chosen, and that nothing else changes."""

from __future__ import annotations

import contextlib
import gc
import json
import pickle
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, cast

import pytest

import ranvier as rv
from ranvier import _core
from ranvier.base.interrupts import interrupts_deferred
from ranvier.command_line import main
from ranvier.errors import StateError, ValueOutOfBoundsError
from ranvier.simulation import thread_choice
from ranvier.simulation.measurements import ThreadChoice
from ranvier.simulation.options import RunOptions
from ranvier.simulation.thread_choice import Trials, choose_best, numbers_to_try
from small_networks import balanced


@pytest.fixture(autouse=True)
def four_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let four threads be possible on any machine, and trials be short."""
    monkeypatch.setattr(_core, "default_threads", lambda *_: 4)
    monkeypatch.setattr(thread_choice, "_TRIAL_S", 0.004)
    monkeypatch.setattr(thread_choice, "_PIECE_S", 0.001)


def invent_times(monkeypatch: pytest.MonkeyPatch, seconds: dict[int, float]) -> None:
    """Have the times of trials be invented instead of measured."""
    monkeypatch.setattr(Trials, "measure", lambda _, threads: seconds[threads])


# ---- the decision ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("most", "work", "numbers"),
    [
        (1, 0.0, [1]),
        (2, 0.0, [1, 2]),
        (4, 0.0, [1, 2, 4]),
        (6, 0.0, [1, 2, 4, 6]),
        (16, 15e-6, [1, 2, 4, 8, 16]),
        # Two threads surely pay, four may.
        (16, 25e-6, [2, 4, 8, 16]),
        (16, 150e-6, [8, 16]),
        (16, 160e-6, [16]),
        (6, 59e-6, [4, 6]),
        (6, 61e-6, [6]),
    ],
)
def test_numbers_with_enough_work_for_each_thread_are_not_tried(most: int, work: float, numbers: list[int]) -> None:
    assert numbers_to_try(most, work) == numbers


@pytest.mark.parametrize(
    ("seconds", "chosen", "tried"),
    [
        # Slower by more than 5%: larger numbers are not tried.
        ([10.0, 10.6, 1.0], 1, 2),
        ([10.0, 7.0, 8.0, 1.0], 2, 3),
        # Slower by less: the next may be faster.
        ([10.0, 10.4, 6.0], 4, 3),
        ([10.0, 5.0, 2.5, 1.3], 8, 4),
        # Equal, or faster by less than 3%: fewer threads.
        ([10.0, 10.0, 10.0], 1, 3),
        ([10.0, 9.8, 9.8], 1, 3),
        # Two small gains are one that counts.
        ([10.0, 9.8, 9.6], 4, 3),
    ],
)
def test_the_fastest_number_is_chosen_and_in_doubt_the_smaller(seconds: list[float], chosen: int, tried: int) -> None:
    numbers = [1 << power for power in range(len(seconds))]
    times = dict(zip(numbers, seconds, strict=True))
    assert choose_best(numbers, times.__getitem__) == (chosen, dict(list(times.items())[:tried]))


class InventedSimulation:
    """Stands for a simulation of the core, on an invented clock."""

    now = 0.0
    step_seconds: Callable[[int, int], float]  # of the threads and the step
    runs: dict[int, list[int]]
    recorded_bytes = 0
    resolution = 0.1
    epoch_steps = 2

    def __init__(self, network: Any, options: Any, communicator: Any, progress: Any) -> None:
        self.threads, self.step = options.threads, 0
        self.runs[self.threads] = []

    def run(self, steps: int, progress: Any) -> None:
        for step in range(self.step, self.step + steps):
            InventedSimulation.now += type(self).step_seconds(self.threads, step)
        self.step += steps
        self.runs[self.threads].append(steps)


@contextlib.contextmanager
def invented(monkeypatch: pytest.MonkeyPatch, step_seconds: Callable[[int, int], float]) -> Iterator[Trials]:
    # With the lengths of trials that users get.
    monkeypatch.undo()
    monkeypatch.setattr(_core, "Simulation", InventedSimulation)
    monkeypatch.setattr(InventedSimulation, "step_seconds", staticmethod(step_seconds), raising=False)
    monkeypatch.setattr(InventedSimulation, "runs", {}, raising=False)
    with interrupts_deferred() as interrupts:
        yield Trials(
            _core.Network(0.1, 1),
            _core.SimulationOptions(),
            _core.Communicator.local(),
            interrupts,
            None,
            clock=lambda: InventedSimulation.now,
        )


def test_trials_simulate_the_same_steps(monkeypatch: pytest.MonkeyPatch) -> None:
    """The first steps are slow and do not count, and neither does a pause of the machine."""

    def step_seconds(threads: int, step: int) -> float:
        return 1e-3 if step < 16 else 0.05 if step == 1600 else 20e-6 / threads

    with invented(monkeypatch, step_seconds) as trials:
        found = [trials.measure(threads) for threads in (1, 2, 4)]
    assert found == pytest.approx([20e-6, 10e-6, 5e-6])
    runs = InventedSimulation.runs
    assert runs[1] == runs[2] == runs[4]
    assert all(steps % InventedSimulation.epoch_steps == 0 for steps in runs[1])


@pytest.mark.parametrize(("seconds", "steps"), [(1e-7, 10_000), (1e-5, 10_000), (1e-3, 100), (1.0, 8)])
def test_a_trial_takes_a_tenth_of_a_second_or_a_few_epochs(
    monkeypatch: pytest.MonkeyPatch, seconds: float, steps: int
) -> None:
    """At most about a second of the network is simulated."""
    with invented(monkeypatch, lambda threads, step: seconds) as trials:
        assert trials.measure(1) == pytest.approx(seconds)
    assert steps <= sum(InventedSimulation.runs[1]) < 1.2 * steps + 30


def test_a_much_slower_trial_ends_early(monkeypatch: pytest.MonkeyPatch) -> None:
    with invented(monkeypatch, lambda threads, step: 20e-6 * (10 if threads == 2 else 1)) as trials:
        assert [trials.measure(threads) for threads in (1, 2)] == pytest.approx([20e-6, 200e-6])
    runs = InventedSimulation.runs
    assert runs[2] == runs[1][: len(runs[2])]
    assert sum(runs[2]) < sum(runs[1]) / 4


def test_a_trial_that_records_much_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    with invented(monkeypatch, lambda threads, step: 1e-5) as trials:
        monkeypatch.setattr(InventedSimulation, "recorded_bytes", 1 << 30)
        trials.measure(1)
    assert sum(InventedSimulation.runs[1]) < 2000


# ---- simulations -----------------------------------------------------------------------------------------------------


def spikes_of(**options: Any) -> tuple[str, rv.Simulation]:
    net, recorder = balanced()
    sim = rv.Simulation(net, progress=False, **options)
    sim.run(50.0)
    return sim.spikes(recorder).digest(), sim


@pytest.mark.parametrize(
    ("seconds", "threads"), [({1: 1.0, 2: 2.0}, 1), ({1: 3.0, 2: 2.0, 4: 3.0}, 2), ({1: 3.0, 2: 2.0, 4: 1.0}, 4)]
)
def test_the_chosen_number_is_used_and_the_spikes_are_the_same(
    monkeypatch: pytest.MonkeyPatch, seconds: dict[int, float], threads: int
) -> None:
    invent_times(monkeypatch, seconds)
    expected, given = spikes_of(threads=1)
    digest, sim = spikes_of(threads="auto")
    assert digest == expected
    assert sim.threads == threads
    assert sim.thread_choice == ThreadChoice(threads, 4, seconds)
    assert given.thread_choice is None


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"stepping": "async"},
        {"tuning": rv.Tuning(costs="measured", trace=100)},
        {"tuning": rv.Tuning(measure_costs=True, trace_epochs=True)},
    ],
    ids=["plain", "async", "measured costs", "accounts"],
)
def test_measured_trials_change_no_spikes(options: dict[str, Any]) -> None:
    digest, sim = spikes_of(threads="auto", **options)
    assert digest == spikes_of(threads=1)[0]
    choice = sim.thread_choice
    assert choice is not None
    assert list(choice.step_seconds)[:2] == [1, 2]
    assert all(0.0 < seconds < 1.0 for seconds in choice.step_seconds.values())
    assert sim.threads == choice.threads
    assert sim.counts().steps == 500


def test_no_more_threads_than_shards_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    invent_times(monkeypatch, {1: 2.0, 2: 1.0})
    _, sim = spikes_of(threads="auto", tuning=rv.Tuning(shards=2))
    assert sim.thread_choice == ThreadChoice(2, 2, {1: 2.0, 2: 1.0})


def test_much_work_takes_all_threads_without_a_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    invent_times(monkeypatch, {})
    net = rv.Network()
    net.create("ignore_and_fire", 20_001)
    sim = rv.Simulation(net, threads="auto", progress=False)
    assert sim.thread_choice == ThreadChoice(4, 4)
    assert str(sim.thread_choice) == "4 of 4, chosen without a trial: each has enough work"


def test_one_processor_is_taken_without_a_trial(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_core, "default_threads", lambda *_: 1)
    invent_times(monkeypatch, {})
    _, sim = spikes_of(threads="auto")
    assert sim.thread_choice == ThreadChoice(1, 1)
    assert str(sim.thread_choice) == "1 of 1, chosen without a trial: no more are possible"


def threads_of_process() -> int:
    return len(list(Path("/proc/self/task").iterdir()))


def test_trials_leave_nothing_behind(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Neither threads, spikes in a file, warnings, other phases of the progress, nor changes of the network."""
    gc.collect()
    built: list[int] = []
    measure = Trials.measure

    def counting(trials: Trials, threads: int) -> float:
        seconds = measure(trials, threads)
        built.append(threads_of_process())
        return seconds if threads == 1 else 2.0 * seconds + 1.0

    monkeypatch.setattr(Trials, "measure", counting)
    net, _ = balanced()
    to_file = net.record_spikes(net.populations[0], to=tmp_path / "spikes.h5")
    before, described = threads_of_process(), pickle.dumps(net)
    reports: list[rv.ProgressReport] = []
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        sim = rv.Simulation(net, threads="auto", progress=reports.append)
    assert built == [before, before]
    assert threads_of_process() == before + sim.threads == before + 1
    assert pickle.dumps(net) == described
    assert {report.phase for report in reports} <= {"build"}
    assert (sim.step, sim.counts().spikes, sim.phases["simulation"]) == (0, 0, 0.0)
    sim.run(50.0)
    plain_net, _ = balanced()
    plain_file = plain_net.record_spikes(plain_net.populations[0], to=tmp_path / "plain.h5")
    plain = rv.Simulation(plain_net, threads=1, progress=False)
    plain.run(50.0)
    assert sim.spikes(to_file).digest() == plain.spikes(plain_file).digest()
    assert rv.read_spikes(tmp_path / "spikes.h5").digest() == rv.read_spikes(tmp_path / "plain.h5").digest()


def test_an_interrupted_trial_leaves_the_network_unchanged(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> float:
        raise KeyboardInterrupt

    net, recorder = balanced()
    with monkeypatch.context() as patch:
        patch.setattr(Trials, "_run", interrupted)
        with pytest.raises(KeyboardInterrupt):
            rv.Simulation(net, threads="auto", progress=False)
    sim = rv.Simulation(net, threads="auto", progress=False)
    sim.run(50.0)
    assert sim.spikes(recorder).digest() == spikes_of(threads=1)[0]


def test_a_loaded_state_goes_on_with_a_chosen_number(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    invent_times(monkeypatch, {1: 2.0, 2: 1.0, 4: 2.0})
    net, recorder = balanced()
    sim = rv.Simulation(net, threads=1, progress=False)
    sim.run(20.0)
    sim.save(tmp_path / "state.h5")
    sim.run(30.0)
    loaded = rv.Simulation.load(net, tmp_path / "state.h5", threads="auto", progress=False)
    assert (loaded.time, loaded.threads) == (20.0, 2)
    loaded.run(30.0)
    assert loaded.spikes(recorder).digest() == sim.spikes(recorder).digest()


# ---- refusals and reports --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", ["all", "4", ""])
def test_other_texts_are_refused_with_what_is_accepted(threads: str) -> None:
    net, _ = balanced()
    with pytest.raises(ValueOutOfBoundsError, match="it must be 'auto', an integer from 1 to 4096 or None"):
        rv.Simulation(net, threads=cast(Any, threads))


@pytest.mark.parametrize(
    ("call", "told"),
    [
        (lambda net: rv.Simulation(net, threads="auto", dry_run=rv.DryRun(ranks=2)), "dry run"),
        (lambda net: rv.Simulation(net, threads="auto", tuning=rv.Tuning(pinning=[0, 1])), "leave out pinning"),
        (lambda net: rv.predict_memory(net, threads="auto"), "nothing is built and measured"),
    ],
)
def test_auto_is_refused_where_nothing_can_be_measured(call: Callable[[rv.Network], Any], told: str) -> None:
    net, _ = balanced()
    with pytest.raises(StateError, match=told) as caught:
        call(net)
    assert "threads" in str(caught.value)


def test_auto_is_refused_where_nothing_is_built(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["info", "--set", "threads=auto"]) == 2
    assert main(["predict", "cuba", "--ranks", "2", "--set", "threads=auto"]) == 2
    assert main(["run", "cuba", "--set", "threads=many"]) == 2
    first, second, third = capsys.readouterr().err.splitlines()
    assert "it depends on the network" in first
    assert "nothing is built and measured" in second
    assert "it must be auto or a whole number" in third


def test_options_with_auto_are_compared_and_pickled() -> None:
    options = RunOptions(threads="auto")
    assert pickle.loads(pickle.dumps(options)) == options != RunOptions()
    assert repr(options) == "RunOptions(threads='auto')"


def test_runs_report_what_was_measured(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    invent_times(monkeypatch, {1: 12.14e-6, 2: 8e-6, 4: 9.3e-6})
    file = tmp_path / "results.json"
    keys = ["neurons=100", "time=10", "presim=0", "threads=auto"]
    assert main(["run", "cuba", "--json", str(file), "--set", *keys]) == 0
    line = "Threads 2 of 4, chosen by measuring: 1 thread 12.1, 2 threads 8.0, 4 threads 9.3 \u00b5s a step"
    assert line in capsys.readouterr().out.splitlines()
    results = json.loads(file.read_text())
    assert results["threads"] == results["parameters"]["threads"] == 2
    seconds = {"1": 12.14e-6, "2": 8e-6, "4": 9.3e-6}
    assert results["thread_choice"] == {"threads": 2, "most": 4, "step_seconds": seconds}
