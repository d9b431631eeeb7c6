"""Random NMODL files do in Ranvier what NEURON's own compiler makes of them, or are refused with a line."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

from nmodl_corpus import Protocol, compiled, difference, in_neuron, in_ranvier, read, text_of
from nmodl_random import random_file

COUNT = 30
PROTOCOL = Protocol(time=15.0)


def test_random_files_do_what_neuron_does(tmp_path: Path) -> None:
    folder = tmp_path / "files"
    folder.mkdir()
    files = []
    for seed in range(COUNT):
        file = folder / f"r{seed}.mod"
        file.write_text(random_file(seed, f"r{seed}"))
        files.append(file)
    work = tmp_path / "work"
    work.mkdir()
    neuron = in_neuron(compiled(files, work), files, PROTOCOL)
    wrong, count = {}, 0
    for file in files:
        found, channel = read(file)
        if channel is None:
            assert found.line > 0, found
            continue
        count += 1
        differences = difference(in_ranvier(channel, text_of(file), PROTOCOL), neuron[file.stem])
        # NEURON takes slopes of currents from differences, which matters where currents are not linear.
        if not max(differences.values()) <= (1e-5 if channel.is_general else 1e-8):
            wrong[file.stem] = differences
        assert np.isfinite(neuron[file.stem]["v"]).all()
    assert not wrong, re.sub(r", '", ",\n'", str(wrong))
    assert count >= COUNT // 3
