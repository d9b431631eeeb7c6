"""A model of the time of a step with any number of threads, from what one of them does.

The time of a step with n threads has three parts:

work
    What one thread does for its share of the network: reading the spikes of all shards, delivering them to its
    synapses, updating its neurons. A dry run of one of n processes with one thread each measures it, in the caches of
    one processor, with the spikes of the whole network at their real rates.
imbalance
    A step ends with the slowest thread. Threads differ by the number of their synapses that a spike reaches, which is
    known, and by chance, which the residuals of a fit of the time of the steps to the number of events show.
travel
    The line of each thread travels to all others: the first one takes a journey, the others overlap, as many as a
    processor fetches at a time.

What the model leaves out: threads that share memory bandwidth or a last-level cache, frequencies that depend on the
number of busy processors, and interruptions by other programs.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ranvier.base.values import FloatArray
from ranvier.simulation.trace import Trace

__all__ = ["Journeys", "PredictedStep", "ShareOfWork", "predict_step", "share_of_work"]

_TRIMMED = 0.99
"""Quantile of the residuals beyond which they are left out: interruptions by other programs."""
_DRAWS = 2000


@dataclass(frozen=True)
class Journeys:
    """Costs of cache lines that travel between processors.

    Attributes
    ----------
    near, far
        Seconds of a journey between two processors of a socket, and of different sockets.
    socket
        Number of processors of a socket.
    at_a_time
        Number of lines that a processor fetches at a time.
    """

    near: float = 100e-9
    far: float = 250e-9
    socket: int = 64
    at_a_time: int = 8

    def travel(self, threads: int) -> float:
        """Return the seconds until each of the threads has the lines of all others."""
        if threads == 1:
            return 0.0
        near = min(threads, self.socket) - 1
        far = threads - 1 - near
        first = self.far if far else self.near
        return first + (near * self.near + far * self.far) / self.at_a_time


@dataclass(frozen=True)
class ShareOfWork:
    """What one of several threads does in a step.

    Attributes
    ----------
    read, deliver, update, other
        Seconds of a step, means.
    events
        Number of events of a step, mean.
    per_event
        Seconds per event, by the fit.
    residuals
        Seconds by which steps differ from the fit, without interruptions.
    """

    read: float
    deliver: float
    update: float
    other: float
    events: float
    per_event: float
    residuals: FloatArray

    @property
    def work(self) -> float:
        """Seconds of a step."""
        return self.read + self.deliver + self.update + self.other


@dataclass(frozen=True)
class PredictedStep:
    """The parts of a step with a number of threads, in seconds."""

    threads: int
    work: float
    imbalance: float
    travel: float

    @property
    def step(self) -> float:
        """Seconds of a step."""
        return self.work + self.imbalance + self.travel


def share_of_work(trace: Trace) -> ShareOfWork:
    """Return the work of a thread in the traced rounds, those of an exchange left out.

    A step of a multi-step epoch has its share of the epoch.
    """
    rounds = trace.kind == "update"
    steps = (trace.last_step - trace.first_step + 1)[rounds]
    total = float(steps.sum())
    parts = {name: getattr(trace, name)[rounds] for name in ("read", "deliver", "update", "record")}
    exchange = (trace.collocate + trace.communicate)[rounds]
    times = 1e-9 * (trace.end - trace.begin)[rounds] - exchange
    events = trace.events[rounds].astype(np.float64)
    # The events of a round are those of the spikes of the previous one.
    design = np.stack([np.ones_like(events), events], axis=1)
    fit, *_ = np.linalg.lstsq(design, times, rcond=None)
    residuals = times - design @ fit
    residuals = residuals[residuals <= np.quantile(residuals, _TRIMMED)]
    known = sum(float(seconds.sum()) for seconds in parts.values())
    return ShareOfWork(
        read=float(parts["read"].sum()) / total,
        deliver=float(parts["deliver"].sum()) / total,
        update=float(parts["update"].sum() + parts["record"].sum()) / total,
        other=(float(times.sum()) - known) / total,
        events=float(events.sum()) / total,
        per_event=max(0.0, float(fit[1])),
        residuals=residuals - residuals.mean(),
    )


def predict_step(share: ShareOfWork, threads: int, epoch_steps: float, journeys: Journeys) -> PredictedStep:
    """Return the time of a step with several threads.

    Parameters
    ----------
    share
        The work of one of them.
    threads
        Their number.
    epoch_steps
        Steps between two meetings of the threads, mean.
    journeys
        Costs of cache lines.
    """
    if threads == 1:
        return PredictedStep(1, share.work, 0.0, 0.0)
    chance = np.random.default_rng(1)
    drawn = chance.choice(share.residuals, size=(_DRAWS, threads))
    # Each synapse of a thread is reached by a spike or not: a Poisson number of events around the common mean.
    events = share.per_event * np.sqrt(share.events * epoch_steps) * chance.standard_normal((_DRAWS, threads))
    slowest = float((drawn + events).max(axis=1).mean())
    return PredictedStep(threads, share.work, slowest / epoch_steps, journeys.travel(threads) / epoch_steps)
