"""Ctrl-C in each phase: KeyboardInterrupt at a safe point, nothing lost, and the objects can still be used."""

from __future__ import annotations

import contextlib
import json
import os
import random
import shlex
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import ranvier as rv
from command_lines import run
from ranvier import _core, errors
from ranvier.base.interrupts import interrupts_deferred
from ranvier.base.times import text_of
from repository import ROOT
from small_networks import balanced
from thorough_cases import only

pytestmark = pytest.mark.usefixtures("interrupts")


class Moment:
    """A signal that another thread sends to this process, as a terminal would, once a phase is under way."""

    def __init__(self, phase: str, number: signal.Signals = signal.SIGINT) -> None:
        self._phase = phase
        self._number = number
        self._come = threading.Event()

    def watch(self, report: rv.ProgressReport) -> None:
        """Be told of progress."""
        if report.phase == self._phase and (self._phase == "build" or report.done > 0.0):
            self._come.set()

    def __enter__(self) -> Moment:
        self._come.clear()
        self._missed = False
        self._thread = threading.Thread(target=self._send)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._missed = not self._come.is_set()
        self._come.set()
        self._thread.join()

    def _send(self) -> None:
        self._come.wait()
        if not self._missed:
            os.kill(os.getpid(), self._number)


def large_network() -> tuple[rv.Network, rv.SpikeRecorder]:
    """Return a network that takes seconds to build."""
    net = rv.Network()
    neurons = net.create(rv.iaf_psc_exp(), 20_000)
    net.connect(neurons, neurons, rv.FixedIndegree(8000), weight=rv.Normal(1.0, 0.1), delay=1.0)
    return net, net.record_spikes()


def test_while_building() -> None:
    net, _ = large_network()
    moment = Moment("build")
    with pytest.raises(KeyboardInterrupt), moment:
        rv.Simulation(net, threads=2, progress=moment.watch)
    small, recorder = balanced()
    sim = rv.Simulation(small, threads=2)
    sim.run(10.0)
    assert sim.spikes(recorder).stop == 10.0
    assert net.neuron_count == 20_000


def test_while_positions_with_a_least_distance_are_drawn() -> None:
    net = rv.Network()
    layout = rv.random_positions(extent=(1.0, 1.0), min_distance=0.0014)
    handler = signal.signal(signal.SIGVTALRM, lambda *_: signal.raise_signal(signal.SIGINT))
    signal.setitimer(signal.ITIMER_VIRTUAL, 0.05)
    try:
        with pytest.raises(KeyboardInterrupt):
            net.create("iaf_psc_exp", 300_000, positions=layout)
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0.0)
        signal.signal(signal.SIGVTALRM, handler)
    assert not net.populations
    assert len(net.create("iaf_psc_exp", 10, positions=layout).positions) == 10


def test_a_network_can_be_built_after_an_interrupted_build() -> None:
    net, recorder = balanced()
    stopped = False

    def stop(report: rv.ProgressReport) -> None:
        nonlocal stopped
        if report.phase == "build" and not stopped:
            stopped = True
            signal.raise_signal(signal.SIGINT)

    big, _ = large_network()
    with pytest.raises(KeyboardInterrupt):
        rv.Simulation(big, progress=stop)
    assert stopped
    # The same objects again.
    sim = rv.Simulation(net, threads=2)
    sim.run(50.0)
    assert len(sim.spikes(recorder)) > 0


@pytest.mark.parametrize("threads", only([2], [1, 2, 3]))
def test_while_running_and_continued(threads: int) -> None:
    net, recorder = balanced(400)
    moment = Moment("run")
    sim = rv.Simulation(net, threads=threads, progress=moment.watch)
    for _ in range(3):
        # For so long that no machine gets there first.
        with pytest.raises(KeyboardInterrupt), moment:
            sim.run(1e9)
    duration = 100.0 * (sim.time // 100.0 + 1.0)
    sim.run_until(duration)
    assert sim.time == pytest.approx(duration)
    uninterrupted = rv.Simulation(net, threads=2)
    uninterrupted.run(duration)
    assert sim.spikes(recorder).digest() == uninterrupted.spikes(recorder).digest()
    assert sim.counts().spikes == uninterrupted.counts().spikes


@pytest.mark.parametrize("suffix", [".h5", ".csv"])
def test_files_reach_as_far_as_the_simulation(tmp_path: Path, suffix: str) -> None:
    net, _ = balanced(400)
    recorder = net.record_spikes(to=tmp_path / f"spikes{suffix}", overwrite=True)
    moment = Moment("run")
    sim = rv.Simulation(net, threads=2, progress=moment.watch)
    with pytest.raises(KeyboardInterrupt), moment:
        sim.run(1e6)
    reached = sim.time
    assert 0.0 < reached < 1e6
    recorded = rv.read_spikes(tmp_path / f"spikes{suffix}")
    assert recorded.stop == pytest.approx(reached)
    sim.run(20.0)
    whole = rv.Simulation(net, threads=1)  # replaces the file
    whole.run(reached)
    assert whole.spikes(recorder).digest() == recorded.digest()


def test_while_writing_is_deferred_to_the_end_of_it() -> None:
    steps = []

    def write() -> None:
        with interrupts_deferred():
            steps.append("begin")
            signal.raise_signal(signal.SIGINT)
            steps.append("end")

    with pytest.raises(KeyboardInterrupt):
        write()
    assert steps == ["begin", "end"]
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_what_a_progress_function_raises_stops_the_run() -> None:
    net, recorder = balanced(400)

    class EnoughError(Exception):
        pass

    def stop(report: rv.ProgressReport) -> None:
        if report.phase == "run" and report.done > 0.0:
            raise EnoughError

    sim = rv.Simulation(net, threads=2, progress=stop)
    with pytest.raises(EnoughError):
        sim.run(1e6)
    reached = sim.time
    assert reached > 0.0
    assert sim.spikes(recorder).stop == pytest.approx(reached)


def test_other_signals_are_handled_while_running() -> None:
    net, _ = balanced(400)
    moment = Moment("run", signal.SIGALRM)
    sim = rv.Simulation(net, threads=2, progress=moment.watch)

    class AlarmError(Exception):
        pass

    def handler(*_: object) -> None:
        raise AlarmError

    previous = signal.signal(signal.SIGALRM, handler)
    try:
        with pytest.raises(AlarmError), moment:
            sim.run(1e6)
    finally:
        signal.signal(signal.SIGALRM, previous)
    assert 0.0 < sim.time < 1e6


MODEL = """
import ranvier as rv
from ranvier.simulation import progress

enter = progress.ProgressReporter.__enter__

def tell(reporter):
    print(reporter._phase, flush=True)
    return enter(reporter)

progress.ProgressReporter.__enter__ = tell
from ranvier import _core, errors

def network(indegree=10):
    net = rv.Network()
    neurons = net.create(rv.iaf_psc_exp(I_e=500.0), 20_000)
    net.connect(neurons, neurons, rv.FixedIndegree(indegree), weight=rv.Normal(1.0, 0.1))
    return net
"""


def run_model(folder: Path, indegree: int, duration: float, *more: str) -> subprocess.Popen[str]:
    (folder / "model.py").write_text(MODEL)
    settings = [f"indegree={indegree}", f"time={duration}"]
    command = [sys.executable, "-m", "ranvier.command_line", "run", str(folder / "model.py"), "--set", *settings, *more]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def test_command_line_while_building(tmp_path: Path) -> None:
    with run_model(tmp_path, 5000, 1e7) as process:
        assert process.stdout is not None
        assert "build\n" in iter(process.stdout.readline, "")
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert errors.strip() == "ranvier: interrupted"


@pytest.mark.parametrize("saves", only([True], [True, False]))
def test_command_line_keeps_what_was_simulated(tmp_path: Path, saves: bool) -> None:
    results, figure, state = tmp_path / "results.json", tmp_path / "spikes.png", tmp_path / "state.h5"
    files = ["--json", results, *(["--plot", figure, "--save", state] if saves else [])]
    with run_model(tmp_path, 1, 1e7, *map(str, files)) as process:
        assert process.stdout is not None
        assert "run\n" in iter(process.stdout.readline, "")
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        told, errors = process.communicate(timeout=60)
    assert process.returncode == 130
    assert "Digest" in told
    found = json.loads(results.read_text())
    assert found["interrupted"]
    assert 0.0 < found["simulated_ms"] < 1e7
    assert f"Interrupted at {text_of(found['simulated_ms'])} of 10000000 ms" in errors
    if not saves:
        assert "A run with --save FILE can be continued" in errors
        return
    assert figure.stat().st_size > 1000
    words = shlex.split(errors.strip().splitlines()[-1])
    assert words[:2] == ["ranvier", "run"]
    until = found["simulated_ms"] + 1.0
    words[words.index("time=10000000.0")] = f"time={until}"
    (tmp_path / "model.py").write_text("import ranvier as rv\n" + MODEL.partition("errors\n")[2])
    run(*words[1:], "--json", results)
    later = json.loads(results.read_text())
    assert (later["resumed_ms"], later["simulated_ms"], later["interrupted"]) == (found["simulated_ms"], until, False)


def test_a_background_job_goes_on(tmp_path: Path) -> None:
    """A shell starts it so that Ctrl-C, which is for the job in the foreground, is ignored."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    with run_model(tmp_path, indegree=1, duration=100.0) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "build\n"
        while process.poll() is None:
            process.send_signal(signal.SIGINT)
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.wait(0.02)
        output, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    assert "spikes" in output


def test_where_interrupts_are_ignored_nothing_stops() -> None:
    net, recorder = balanced(400)
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    ended = threading.Event()

    def interrupt() -> None:
        while not ended.wait(0.001):
            os.kill(os.getpid(), signal.SIGINT)

    sender = threading.Thread(target=interrupt)
    sender.start()
    try:
        sim = rv.Simulation(net, threads=2)
        sim.run(100.0)
    finally:
        ended.set()
        sender.join()
    assert sim.spikes(recorder).stop == 100.0
    assert signal.getsignal(signal.SIGINT) is signal.SIG_IGN


@pytest.mark.thorough
def test_these_tests_pass_as_a_background_job() -> None:
    """Interrupts are ignored there, and blocked here on top of that."""

    def ignore_interrupts() -> None:
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})

    selected = "test_while_writing_is_deferred_to_the_end_of_it or test_command_line_keeps"
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", __file__, "-k", selected]
    done = subprocess.run(
        command,
        cwd=ROOT,
        preexec_fn=ignore_interrupts,
        capture_output=True,
        text=True,
        timeout=100,
    )
    assert "2 passed" in done.stdout, done.stdout


@pytest.mark.parametrize(("steps", "count"), only([(1000, 30)], [(1000, 30), (2000, 60)]))
def test_interrupted_again_and_again_nothing_is_lost(steps: int, count: int, tmp_path: Path) -> None:
    """Interrupts come at any moment: while stepping, between chunks, while files are written or data fetched."""
    net, recorder = balanced(100)
    spikes = net.record_spikes(to=tmp_path / "spikes.h5")
    weights = net.record_weights(net.projections[0], 1.0, targets=net["exc"][:2], to=tmp_path / "weights.csv")
    state = net.record_state(net["exc"][:3], "V_m", 0.5)
    sim = rv.Simulation(net, threads=2)
    chance = random.Random(1)
    interruptions = 0
    previous = signal.signal(signal.SIGALRM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        while sim.step < steps or interruptions < count:
            try:
                if interruptions < count:
                    signal.setitimer(signal.ITIMER_REAL, chance.uniform(0.0005, 0.02))
                sim.run(chance.choice([0.1, 0.5, 3.0]))
                sim.spikes(recorder)
                signal.setitimer(signal.ITIMER_REAL, 0.0)
            except KeyboardInterrupt:
                interruptions += 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, previous)
    sim.run(0.1)
    uninterrupted = rv.Simulation(balanced(100)[0], threads=1)
    uninterrupted.run_until(sim.time)
    expected = uninterrupted.spikes(uninterrupted.network.recorders[0])  # type: ignore[arg-type]
    assert sim.spikes(recorder).digest() == sim.spikes(spikes).digest() == expected.digest()
    assert sim.state(state).steps.tolist() == list(range(5, sim.step + 1, 5))
    assert sim.weights(weights).steps.tolist() == list(range(10, sim.step + 1, 10))


def test_signals_while_errors_of_the_core_are_made() -> None:
    """Whenever a signal comes, the error is the core's or the signal's."""
    arrived = []

    class AlarmError(Exception):
        pass

    def handler(*_: object) -> None:
        arrived.append(True)
        raise AlarmError

    previous = signal.signal(signal.SIGALRM, handler)
    kinds = set()
    try:
        while len(arrived) < 400:
            try:
                signal.setitimer(signal.ITIMER_REAL, 1e-5)
                for _ in range(20):
                    with contextlib.suppress(errors.UnknownNameError):
                        _core.raise_unknown_name("kind", "name", ["other"])
            except AlarmError:
                pass
            except Exception as error:
                kinds.add(type(error))
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        signal.signal(signal.SIGALRM, previous)
    assert kinds == set()


LEAVING = """
import sys, threading
import ranvier as rv
from ranvier import _core, errors

started = threading.Event()

def tell(report):
    if report.phase == "run":
        started.set()

net = rv.Network()
neurons = net.create(rv.iaf_psc_exp(I_e=500.0), 2000)
net.connect(neurons, neurons, rv.FixedIndegree(100), weight=rv.Normal(1.0, 0.1))
WHAT = sys.argv[1]

def simulate():
    if WHAT == "build":
        net.connect(neurons, neurons, rv.FixedIndegree(10_000), weight=rv.Normal(1.0, 0.1))
        started.set()
    sim = rv.Simulation(net, threads=2, progress=tell if WHAT != "silent" else None)
    if WHAT == "silent":
        started.set()
    while True:
        try:
            sim.run(1e6 if WHAT != "short" else 0.1)
            # So short a run tells of no progress.
            started.set()
        except Exception:
            pass

for _ in range(2):
    threading.Thread(target=simulate, daemon=True).start()
started.wait()
print("leaving", flush=True)
"""


@pytest.mark.parametrize("what", only(["long", "build"], ["long", "short", "silent", "build"]))
def test_the_interpreter_ends_while_daemons_simulate(tmp_path: Path, what: str) -> None:
    script = tmp_path / "leaving.py"
    script.write_text(LEAVING)
    done = subprocess.run(
        [sys.executable, script, what], capture_output=True, text=True, check=False, timeout=60, cwd=tmp_path
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "leaving\n", "")
