"""Texts that an editor of Windows saved are read as any other: with a byte order mark, in UTF-8 or UTF-16."""

from __future__ import annotations

import codecs
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from ranvier.commands.dry_report import _rate
from repository import DATA

SWC = "# cell\n1 1 0 0 0 5 -1\n2 3 10 0 0 1 1\n3 3 60 0 0 0.5 2\n"
ASC = '("CellBody" (CellBody) (-5 -5 0 1) (5 -5 0 1) (5 5 0 1) (-5 5 0 1))\n((Dendrite) (5 0 0 1) (60 0 0 1))\n'
SPIKES = "neuron,time_ms\n3,1.5\n4,2.25\n3,2.5\n"
MARKS = {
    "UTF-8": lambda text: codecs.BOM_UTF8 + text.encode(),
    "UTF-16": lambda text: text.encode("utf-16"),
    "UTF-16 of other byte order": lambda text: codecs.BOM_UTF16_BE + text.encode("utf-16-be"),
    "UTF-8 with lines of Windows": lambda text: codecs.BOM_UTF8 + text.replace("\n", "\r\n").encode(),
}


def lengths(path: Path) -> Any:
    morphology = rv.read_morphology(path)
    return [*morphology.lengths.tolist(), float(morphology.sections[0].radii[0])]


READERS: dict[str, tuple[str, str, Callable[[Path], Any]]] = {
    "SWC": ("cell.swc", SWC, lengths),
    "Neurolucida": ("cell.asc", ASC, lengths),
    "spikes": ("spikes.csv", SPIKES, lambda path: [train.tolist() for train in rv.read_spike_trains(path)]),
    "spikes without names": (
        "spikes.csv",
        SPIKES[15:],
        lambda path: [len(each) for each in rv.read_spike_trains(path)],
    ),
    "NMODL": ("squid.mod", (DATA / "nmodl" / "squid.mod").read_text(), lambda path: rv.read_nmodl(path).equations),
    "results": ("results.json", '{"mean_rate_hz": {"exc": 3.5}}', lambda path: _rate(str(path))),
}


@pytest.mark.parametrize("mark", MARKS)
@pytest.mark.parametrize("kind", READERS)
def test_a_mark_changes_nothing(kind: str, mark: str, tmp_path: Path) -> None:
    name, text, read = READERS[kind]
    path = tmp_path / name
    path.write_text(text)
    wanted = read(path)
    path.write_bytes(MARKS[mark](text))
    assert read(path) == wanted


def test_a_model_of_nestml_is_read(tmp_path: Path) -> None:
    text = next(iter(sorted((DATA / "nestml_models").glob("*.nestml")))).read_text()
    path = tmp_path / "model.nestml"
    path.write_text(text)
    wanted = rv.read_nestml(path).equations
    path.write_bytes(codecs.BOM_UTF8 + text.encode())
    assert rv.read_nestml(path).equations == wanted
    path.write_bytes(text.encode("utf-16"))
    assert rv.read_nestml(path).equations == wanted


def test_a_recording_is_read(tmp_path: Path) -> None:
    net = rv.Network()
    sources = net.create_spike_generators([[1.0, 2.0], [1.5]])
    recorder = net.record_spikes(sources, to=tmp_path / "spikes.csv")
    sim = rv.Simulation(net, threads=1)
    sim.run(3.0)
    del sim
    data = (tmp_path / "spikes.csv").read_bytes()
    marked = tmp_path / "marked.csv"
    marked.write_bytes(codecs.BOM_UTF8 + data)
    assert rv.read_spikes(marked).digest() == rv.read_spikes(tmp_path / "spikes.csv").digest()
    np.testing.assert_array_equal(rv.read_spike_trains(marked)[0], [1.0, 2.0])
    assert recorder is not None


def test_errors_count_the_lines_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "cell.swc"
    path.write_bytes(codecs.BOM_UTF8 + SWC.replace("60 0 0 0.5", "60 0 0 0").encode())
    with pytest.raises(rv.errors.FileError, match="line 4 is sample 3 with radius 0"):
        rv.read_morphology(path)
    spikes = tmp_path / "spikes.csv"
    spikes.write_bytes(codecs.BOM_UTF8 + SPIKES.replace("4,2.25", "4;2.25").encode())
    with pytest.raises(rv.errors.FileError, match="line 3 of file"):
        rv.read_spike_trains(spikes)
