"""Fixtures of all tests."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator

import pytest

# No test opens windows.
os.environ["MPLBACKEND"] = "agg"

_INTERRUPTS = {signal.SIGINT, signal.SIGTERM}


@pytest.fixture
def interrupts() -> Iterator[None]:
    """Let SIGINT and SIGTERM do what they do in a terminal: here, and in the processes that the test starts.

    The tests themselves may run where they are ignored or blocked, and processes inherit both: scripts start their
    background jobs so (`make test &`), and some systems of continuous integration.
    """
    handlers = {number: signal.getsignal(number) for number in _INTERRUPTS}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    mask = signal.pthread_sigmask(signal.SIG_UNBLOCK, _INTERRUPTS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        for number, handler in handlers.items():
            signal.signal(number, handler)
