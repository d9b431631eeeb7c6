"""Twenty thousand random calls; as `test_fuzz_calls`."""

from __future__ import annotations

from pathlib import Path

from fuzz_known import KNOWN
from fuzz_scripts import fuzz

CALLS = 20_000


def test_random_calls(tmp_path: Path) -> None:
    accepted, findings = fuzz(1_000, CALLS, tmp_path)
    unknown = [finding for finding in findings if finding.kind not in {known.kind for known in KNOWN}]
    assert not unknown, "\n\n".join(map(str, unknown))
    assert CALLS // 3 < accepted < CALLS, "both kinds of calls are made"
