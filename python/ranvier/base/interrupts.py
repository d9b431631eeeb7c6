"""Ctrl-C at a safe point."""

from __future__ import annotations

import contextlib
import signal
import threading
from collections.abc import Callable, Iterator
from types import FrameType

__all__ = ["interrupts_deferred"]


class Deferral:
    """Holds interrupts back; see `interrupts_deferred`."""

    def __init__(self, handler: Callable[[int, FrameType | None], object] | None) -> None:
        self._handler = handler
        self._received: list[tuple[int, FrameType | None]] = []
        self._waits = True

    def receive(self, number: int, frame: FrameType | None) -> None:
        """Handle a signal now if that is allowed, otherwise later."""
        if self._waits or self._handler is None:
            self._received.append((number, frame))
            return
        # The interrupted code cleans up now, and must not be interrupted again while it does.
        self._waits = True
        self._handler(number, frame)
        self._waits = False

    @contextlib.contextmanager
    def allowed(self) -> Iterator[None]:
        """Let Ctrl-C interrupt the block, once."""
        self._waits = False
        try:
            self.handle_received()
            yield
        finally:
            self._waits = True

    def handle_received(self) -> None:
        """Handle a signal that was received: the block may be interrupted here."""
        if self._received and self._handler is not None:
            last = self._received[-1]
            self._received.clear()
            self._handler(*last)


@contextlib.contextmanager
def interrupts_deferred() -> Iterator[Deferral]:
    """Delay Ctrl-C until the block has ended, so that it cannot stop a transfer of data half-way.

    The object that it yields can allow Ctrl-C in a part of the block.
    """
    previous = signal.getsignal(signal.SIGINT)
    # Python delivers signals only to the main thread; a handler that was not set in Python cannot be called from here.
    if threading.current_thread() is not threading.main_thread() or not callable(previous):
        yield Deferral(None)
        return
    deferral = Deferral(previous)
    signal.signal(signal.SIGINT, deferral.receive)
    try:
        yield deferral
    finally:
        signal.signal(signal.SIGINT, previous)
        deferral.handle_received()
