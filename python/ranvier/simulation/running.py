"""Running a simulation, piece by piece."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from ranvier.base.interrupts import interrupts_deferred
from ranvier.base.numeric import number
from ranvier.base.times import time_of
from ranvier.errors import ValueOutOfBoundsError, WrongTypeError
from ranvier.network.fields import AppliedField
from ranvier.processes.agreement import agreed
from ranvier.simulation.built_network import BuiltNetwork
from ranvier.simulation.progress import ProgressReporter
from ranvier.simulation.recordings import RecordingStore
from ranvier.simulation.saving import checked_target, save_state

__all__ = ["Saves", "prepare_run", "run_to"]


@dataclass(frozen=True)
class Saves:
    """Steps at which a run saves its state, and the file."""

    every: int  # steps
    path: Path

    def next_after(self, step: int) -> int:
        """Return the first step after a step at which the state is saved."""
        return (step // self.every + 1) * self.every


def prepare_run(
    built: BuiltNetwork, steps: int, save_every: float | None, to: str | PathLike[str] | None
) -> Saves | None:
    """Warn if the network has changed, and return when to save; called before a run of some steps starts.

    Raises
    ------
    WrongTypeError
        When only one of the two is there.
    GridError, ValueOutOfBoundsError
        For an interval that is not positive or not a multiple of the resolution, and a run beyond the times of a field.
    FileError, StateError
        When the state cannot be saved there.
    """
    built.warn_of_changes()
    _check_fields(built, steps)
    if save_every is None and to is None:
        return None
    if save_every is None or to is None:
        given, missing = ("to", "save_every") if save_every is None else ("save_every", "to")
        raise WrongTypeError(
            f"arguments of a run that has {given}",
            bound=f"{missing} is missing",
            remedy='write sim.run(duration, save_every=1000.0, to="state.h5")',
        )
    every = built.to_steps(number("save_every", save_every), "save_every")
    if every < 1:
        raise ValueOutOfBoundsError("save_every", f"{save_every} ms", "it must be > 0")
    return Saves(every, checked_target(to))


def _check_fields(built: BuiltNetwork, steps: int) -> None:
    begin = time_of(built.core.step, built.core.resolution)
    end = time_of(built.core.step + steps, built.core.resolution)
    for field in built.fields:
        if not isinstance(field, AppliedField) or steps == 0:
            continue
        for each in field.fields:
            first, last = each.span
            if begin < first or end > last * (1.0 + 1e-12):
                raise ValueOutOfBoundsError(
                    f"times of {each!r}",
                    f"from {first:g} to {last:g} ms",
                    f"the run goes from {begin:g} to {end:g} ms",
                    "give potentials for these times, or run for a shorter time",
                )


def run_to(
    built: BuiltNetwork, store: RecordingStore, end: int, saves: Saves | None, reporter: ProgressReporter
) -> None:
    """Run up to a step. Recordings are taken, and states saved, on the way."""
    begin = built.core.step
    poll: Callable[[], None] | None = None
    if not reporter.silent:

        def poll() -> None:
            reporter.update(time_of(built.core.step - begin, built.core.resolution))

    store.begin_run()
    try:
        while built.core.step < end or built.core.step == begin == end:
            piece = end if saves is None else min(end, saves.next_after(built.core.step))
            _run_piece(built, store, piece, poll)
            if saves is not None and built.core.step % saves.every == 0 and built.core.step > begin:
                save_state(built, store, saves.path)
            if begin == end:
                return
    finally:
        # Also after an interruption. After a kill, the marks are missing.
        store.end_run()


def _run_piece(built: BuiltNetwork, store: RecordingStore, end: int, poll: Callable[[], None] | None) -> None:
    # An interruption between the steps and their recording would lose data.
    with interrupts_deferred() as interrupts:
        while True:
            chunk = store.next_chunk(end)
            try:
                # All processes stop after the same step, but possibly only one of them has the reason.
                with agreed(built.communicator, "run"), interrupts.allowed():
                    built.core.run(chunk, poll)
            finally:
                # Also after an interruption, so that the files reach the time of the simulation.
                store.write()
            if built.core.step >= end:
                return
