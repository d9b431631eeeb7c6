"""Full disks, as tests need them."""

from __future__ import annotations

import contextlib
import resource
from collections.abc import Iterator

__all__ = ["files_limited_to"]


@contextlib.contextmanager
def files_limited_to(size: int) -> Iterator[None]:
    """No file can grow above so many bytes, as on a full disk."""
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
