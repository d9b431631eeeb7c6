"""Ctrl-C at a safe point."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Iterator
from types import FrameType

__all__ = ["interrupts_deferred"]


@contextlib.contextmanager
def interrupts_deferred() -> Iterator[None]:
    """Let Ctrl-C wait until the block has ended, so that what is handed over in it is not lost half-way."""
    previous = signal.getsignal(signal.SIGINT)
    # Python delivers signals to the main thread alone; a handler that is not Python's cannot be called from here.
    if threading.current_thread() is not threading.main_thread() or not callable(previous):
        yield
        return
    received: list[tuple[int, FrameType | None]] = []
    signal.signal(signal.SIGINT, lambda number, frame: received.append((number, frame)))
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, previous)
        if received:
            previous(*received[-1])
