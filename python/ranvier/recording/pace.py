"""The choice of the times at which recordings are written to files while a simulation runs."""

from __future__ import annotations

import time

__all__ = ["Pace"]

# Seconds between two writes: a tenth of the run so far, within these bounds.
_LEAST_S, _MOST_S = 1.0, 10.0
_FRACTION_OF_RUN = 0.1
# A slow disk must not take more than this fraction of the time.
_MOST_WRITING = 0.02
# The speed of a few steps predicts the speed of many only roughly.
_GROWTH = 8


class Pace:
    """Chooses how many steps are run until recordings are written, from the wall-clock time that steps have taken.

    A killed process loses about a second of work; in a long run less than a tenth of it, at most about ten seconds.

    Parameters
    ----------
    grain
        The smallest number of steps at a time, which is also the first one.
    """

    def __init__(self, grain: int) -> None:
        self._grain = max(1, grain)
        self._steps = 0
        self._seconds = 0.0
        self._writing = 0.0
        self._first_step = 0
        self._run_began = self._began = time.monotonic()

    def begin_run(self) -> None:
        """Start the clock of a run."""
        self._run_began = time.monotonic()

    def next_steps(self, step: int) -> int:
        """Return how many steps to run from `step` on until the next write."""
        now = self._began = time.monotonic()
        self._first_step = step
        if self._steps == 0:
            return self._grain
        interval = min(max(_LEAST_S, _FRACTION_OF_RUN * (now - self._run_began)), _MOST_S)
        interval = max(interval, self._writing / _MOST_WRITING)
        most = self._steps * _GROWTH
        steps = int(min(most, self._steps * interval / max(self._seconds, 1e-9)))
        return max(1, steps // self._grain) * self._grain

    def stopped(self, step: int) -> None:
        """Measure the time up to `step`, and start the clock of writing."""
        now = time.monotonic()
        if step > self._first_step:
            # The last few steps of a run are not representative; they count only if there is no other measurement.
            if self._steps == 0 or step - self._first_step >= self._steps // 2:
                self._steps, self._seconds = step - self._first_step, now - self._began
            self._first_step = step
        self._began = now

    def written(self) -> None:
        """Measure the time of writing."""
        self._writing = time.monotonic() - self._began
