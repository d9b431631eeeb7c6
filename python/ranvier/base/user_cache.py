"""The folder of caches: files that can be recalculated, but slowly."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["user_cache"]


def user_cache() -> Path | None:
    """Return the folder of Ranvier in the user's cache, which may not exist; None for a user without a home."""
    given = os.environ.get("XDG_CACHE_HOME", "")
    try:
        # A relative path must be ignored: XDG Base Directory Specification, version 0.8.
        folder = Path(given) if Path(given).is_absolute() else Path.home() / ".cache"
    except RuntimeError:
        return None
    return folder / "ranvier"
