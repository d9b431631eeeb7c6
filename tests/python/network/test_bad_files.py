"""Files that cannot be written give a FileError before anything is built."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

import ranvier as rv
from bad_input import check, neurons
from ranvier import errors


@pytest.mark.parametrize("name", ["missing/spikes.h5", "folder.h5", "spikes.txt", "spikes"])
def test_file_that_cannot_be_written(tmp_path: Path, name: str) -> None:
    (tmp_path / "folder.h5").mkdir()
    population = neurons()
    net = population.network
    projection = net.connect(population, population, rv.OneToOne())
    path = tmp_path / name
    recordings: list[Callable[[], object]] = [
        lambda: net.record_spikes(to=path),
        lambda: net.record_state(population, "V_m", to=path),
        lambda: net.record_weights(projection, 1.0, to=path),
    ]
    for record in recordings:
        with pytest.raises(errors.FileError) as caught:
            record()
        check(caught.value, str(path))
        assert isinstance(caught.value, OSError)
    assert not net.recorders


def test_file_that_cannot_be_written_any_more(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    net = neurons().network
    net.record_spikes(to=tmp_path / "folder" / "spikes.h5")
    (tmp_path / "folder").rmdir()
    with pytest.raises(errors.FileError):
        rv.Simulation(net)
    (tmp_path / "folder").mkdir()
    rv.Simulation(net).run(1.0)


def test_two_recorders_to_one_file(tmp_path: Path) -> None:
    population = neurons()
    population.network.record_spikes(to=tmp_path / "a.h5")
    with pytest.raises(errors.FileError, match="another recorder"):
        population.network.record_state(population, "V_m", to=tmp_path / "a.h5")


def test_two_recorders_to_one_file_by_different_paths(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "link.h5").symlink_to(tmp_path / "spikes.h5")
    net = rv.Network()
    net.create("iaf_psc_exp", 2)
    net.record_spikes(to=tmp_path / "spikes.h5")
    for other in ("folder/../spikes.h5", "link.h5"):
        with pytest.raises(errors.FileError, match="another recorder"):
            net.record_spikes(to=tmp_path / other)
