"""Random NMODL files do in Ranvier what NEURON's own compiler makes of them, or are refused with a line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from fuzz_nmodl import random_mechanism
from nmodl_corpus import TOLERANCE, FloatArray, Protocol, compiled, difference, in_neuron, in_ranvier, read, text_of

COUNT = 60
PROTOCOL = Protocol(time=10.0)
SLOPES = 1e-4
"""Of files whose currents are not linear: NEURON takes their slopes from a difference of 0.001 mV."""

Traces = dict[str, dict[str, FloatArray]]


@pytest.fixture(scope="module")
def sources(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Return random files."""
    folder = tmp_path_factory.mktemp("random")
    made = [folder / f"fuzz_{seed}.mod" for seed in range(COUNT)]
    for seed, file in enumerate(made):
        file.write_text(random_mechanism(seed))
    return made


@pytest.fixture(scope="module")
def neuron(sources: list[Path], tmp_path_factory: pytest.TempPathFactory) -> Traces:
    """Return what NEURON makes of them."""
    return in_neuron(compiled(sources, tmp_path_factory.mktemp("compiled")), sources, PROTOCOL)


@pytest.mark.parametrize("seed", range(COUNT))
def test_a_random_file_does_what_neuron_does(seed: int, sources: list[Path], neuron: Traces) -> None:
    file = sources[seed]
    found, channel = read(file)
    if channel is None:
        assert found.line > 0
        return
    reference = neuron[file.stem]
    assert all(np.isfinite(each).all() for each in reference.values())
    differences = difference(in_ranvier(channel, text_of(file), PROTOCOL), reference)
    bound = TOLERANCE if seed % 2 == 0 else SLOPES
    assert max(differences.values()) <= bound, f"{differences}\n{file.read_text()}"


def test_most_random_files_are_read(sources: list[Path]) -> None:
    """Else nothing would be compared."""
    assert sum(read(file)[1] is not None for file in sources) > COUNT // 4
