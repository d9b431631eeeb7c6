"""Neurons for tests of bad input, and checks of the errors that it gives."""

from __future__ import annotations

from typing import Any

import ranvier as rv
from ranvier import errors


def neurons(size: int = 10, **values: Any) -> rv.Population:
    """Return neurons of a network of their own."""
    return rv.Network().create("iaf_psc_exp", size, name="neurons", **values)


def check(error: errors.RanvierError, *parts: str) -> None:
    """Check that the message holds all parts, and the fields what the message says."""
    message = str(error)
    for part in parts:
        assert part in message, message
    for field in (error.object, error.value, error.bound, error.remedy):
        assert field in message
    assert error.object
    assert error.bound
