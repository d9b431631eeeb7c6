"""Random NMODL files are read, or refused with a line; validation compares those that are read with NEURON."""

from __future__ import annotations

from pathlib import Path

import pytest

from fuzz_nmodl import random_mechanism
from nmodl_corpus import read


@pytest.mark.parametrize("seed", range(12))
def test_a_random_file_is_read_or_refused_with_its_line(seed: int, tmp_path: Path) -> None:
    file = tmp_path / "random.mod"
    file.write_text(random_mechanism(seed))
    found, channel = read(file)
    assert (channel is not None) == (found.status == "read")
    assert channel is not None or 0 < found.line <= len(file.read_text().splitlines())
