"""Files of saved states: only a complete, unchanged state of the same network is loaded; a failure loses nothing."""

from __future__ import annotations

import random
from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pytest

import ranvier as rv
from full_disk import files_limited_to
from ranvier.state import part_files

HALF = 20.0


def described(
    *,
    resolution: float = 0.1,
    seed: int = 1,
    size: int = 30,
    name: str = "exc",
    tau_m: float = 10.0,
    initial: float = -62.0,
    weight: Any = 40.0,
    delay: float = 1.5,
    rule: rv.Rule | None = None,
    synapse: Any = "static_synapse",
    rate: float = 9000.0,
    interval: float = 1.0,
    population: str = "iaf_psc_exp",
    positions: Any = None,
    more: Callable[[rv.Network], object] = lambda net: None,
) -> rv.Network:
    net = rv.Network(resolution, seed)
    neurons = net.create(population, size, name=name, tau_m=tau_m, V_m=initial, positions=positions)
    net.stimulate(neurons, rv.poisson_generator(rate=rate), weight=60.0)
    net.connect(neurons, neurons, rule or rv.FixedIndegree(5), weight=weight, delay=delay, synapse=synapse)
    net.record_spikes()
    net.record_state(neurons[:3], "V_m", interval)
    more(net)
    return net


def saved(path: Path, **options: Any) -> rv.Simulation:
    sim = rv.Simulation(described(), progress=False, **options)
    sim.run(HALF)
    sim.save(path)
    return sim


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"resolution": 0.05}, "resolution.* 0.05 ms, and 0.1 ms in the saved"),
        ({"seed": 2}, "seed.* it is 2, and 1 in the saved"),
        ({"size": 31}, "size of population 'exc': it is 31, and 30"),
        ({"name": "inh"}, "name of population 0: it is inh, and exc"),
        ({"population": "iaf_psc_alpha"}, "model of population 'exc': it is iaf_psc_alpha, and iaf_psc_exp"),
        ({"tau_m": 11.0}, "parameter tau_m of population 'exc': it is 11, and 10"),
        ({"initial": -61.0}, "V_m of population 'exc': it is -61, and -62"),
        ({"weight": 41.0}, "weight of projection 'exc to exc': it is 41, and 40"),
        ({"weight": rv.Normal(41.0, 1.0)}, "weight of projection 'exc to exc': it is another one, and 40"),
        ({"delay": 2.0}, "delay of projection 'exc to exc': it is 2, and 1.5"),
        ({"rule": rv.FixedIndegree(6)}, "rule of projection 'exc to exc'"),
        ({"rule": rv.FixedOutdegree(5)}, "name of the rule of projection 'exc to exc': it is fixed_outdegree"),
        ({"synapse": rv.stdp()}, "synapse of projection 'exc to exc': it is stdp, and static_synapse"),
        ({"rate": 9001.0}, "parameter rate of stimulus .*: it is 9001, and 9000"),
        ({"interval": 2.0}, "interval of state recorder 0: it is 20, and 10"),
        ({"positions": rv.grid((5, 6))}, "positions of population 'exc': the network has it, and the other has not"),
        ({"more": lambda net: net.create("iaf_psc_exp", 1)}, "number of populations.*: it is 2, and 1"),
        ({"more": lambda net: net.record_spikes()}, "number of spike recorders"),
        ({"more": lambda net: net.record_weights(net.projections[0], 1.0)}, "number of recorders"),
    ],
)
def test_the_first_difference_of_another_network_is_named(
    changes: dict[str, Any], message: str, tmp_path: Path
) -> None:
    path = tmp_path / "state.h5"
    saved(path)
    with pytest.raises(rv.errors.StateError, match=message):
        rv.Simulation.load(described(**changes), path, progress=False)


@pytest.mark.parametrize("option", ["precision", "weight_precision"])
def test_precisions_must_be_the_same(option: str, tmp_path: Path) -> None:
    path = tmp_path / "state.h5"
    saved(path)
    other: dict[str, Any] = {option: "single" if option == "precision" else "double"}
    with pytest.raises(rv.errors.StateError, match=option):
        rv.Simulation.load(described(), path, progress=False, **other)


def test_parameters_of_a_synapse_are_compared(tmp_path: Path) -> None:
    path = tmp_path / "state.h5"
    rv.Simulation(described(synapse=rv.stdp(tau_plus=20.0)), progress=False).save(path)
    with pytest.raises(rv.errors.StateError, match="parameter tau_plus of projection 'exc to exc': it is 21, and 20"):
        rv.Simulation.load(described(synapse=rv.stdp(tau_plus=21.0)), path, progress=False)


def test_positions_are_compared_and_kept(tmp_path: Path) -> None:
    path = tmp_path / "state.h5"
    layout = rv.random_positions(extent=(1.0, 1.0), min_distance=0.02)
    sim = rv.Simulation(described(positions=layout), progress=False)
    sim.run(HALF)
    sim.save(path)
    sim.run(HALF)
    loaded = rv.Simulation.load(described(positions=layout), path, progress=False)
    loaded.run(HALF)
    assert loaded.spikes(loaded.network.recorders[0]).digest() == sim.spikes(sim.network.recorders[0]).digest()  # type: ignore[arg-type]
    for other in (rv.random_positions(extent=(1.0, 1.0)), rv.positions(sim.network["exc"].positions)):
        with pytest.raises(rv.errors.StateError, match="positions of population 'exc': it is another one"):
            rv.Simulation.load(described(positions=other), path, progress=False)
    with pytest.raises(rv.errors.StateError, match="the saved state has it, and the other has not"):
        rv.Simulation.load(described(), path, progress=False)


def test_each_flipped_bit_is_found_or_harmless(tmp_path: Path) -> None:
    """A bit of a gap between the structures of HDF5 is harmless: then the state is the one that was saved."""
    path, other = tmp_path / "state.h5", tmp_path / "other.h5"
    sim = saved(path, threads=2)
    sim.run(HALF)
    expected = sim.spikes(sim.network.recorders[0]).digest()  # type: ignore[arg-type]
    data = path.read_bytes()
    chance, refused = random.Random(1), 0
    for _ in range(80):
        changed = bytearray(data)
        changed[chance.randrange(len(data))] ^= 1 << chance.randrange(8)
        other.write_bytes(bytes(changed))
        net = described()
        try:
            loaded = rv.Simulation.load(net, other, progress=False)
        except rv.errors.FileError:
            refused += 1
            continue
        loaded.run(HALF)
        assert loaded.spikes(net.recorders[0]).digest() == expected  # type: ignore[arg-type]
    assert refused > 10


@pytest.mark.parametrize("part", [0.0, 0.2, 0.5, 0.9, 0.999])
def test_a_cut_file_is_refused(part: float, tmp_path: Path) -> None:
    path = tmp_path / "state.h5"
    saved(path)
    path.write_bytes(path.read_bytes()[: int(part * path.stat().st_size)])
    with pytest.raises(rv.errors.FileError, match=r"state\.h5"):
        rv.Simulation.load(described(), path, progress=False)


def test_every_altered_column_is_found(tmp_path: Path) -> None:
    """A program that changes a number, and so the checksums of HDF5 too."""
    path, other = tmp_path / "state.h5", tmp_path / "other.h5"
    saved(path)
    names: list[str] = []
    with h5py.File(path) as file:
        file.visititems(lambda name, found: names.append(name) if isinstance(found, h5py.Dataset) else None)
    assert {"index", "manifest", "check", "spikes/step", "population0.state/V_m"} <= set(names)
    for name in names:
        other.write_bytes(path.read_bytes())
        with h5py.File(other, "r+") as file:
            values = file[name][()]
            values[len(values) // 2] += 1
            file[name][()] = values
        with pytest.raises(rv.errors.FileError):
            rv.Simulation.load(described(), other, progress=False)


def test_foreign_files_are_refused_and_kept(tmp_path: Path) -> None:
    text, other = tmp_path / "text.h5", tmp_path / "other.h5"
    text.write_text("no state")
    with h5py.File(other, "w") as file:
        file["data"] = np.arange(3)
    sim = rv.Simulation(described(), progress=False)
    for path in (text, other):
        before = path.read_bytes()
        with pytest.raises(rv.errors.FileError, match="not a saved state"):
            rv.Simulation.load(described(), path, progress=False)
        with pytest.raises(rv.errors.FileError, match="it exists and is not a saved state"):
            sim.save(path)
        assert path.read_bytes() == before
    with pytest.raises(rv.errors.FileError, match="no such file"):
        rv.Simulation.load(described(), tmp_path / "none.h5", progress=False)
    with pytest.raises(rv.errors.FileError):
        rv.Simulation.load(described(), tmp_path, progress=False)
    for wrong in ("state.txt", "state", "nowhere/state.h5"):
        with pytest.raises(rv.errors.FileError):
            sim.save(tmp_path / wrong)
    with pytest.raises(rv.errors.WrongTypeError):
        sim.save(3)  # type: ignore[arg-type]


def test_another_version_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "state.h5"
    monkeypatch.setattr("ranvier.state.index_files.VERSION", 3)
    saved(path)
    monkeypatch.undo()
    with pytest.raises(rv.errors.FileError, match="version 3 of the format"):
        rv.Simulation.load(described(), path, progress=False)


def test_a_full_disk_leaves_the_last_state(tmp_path: Path) -> None:
    path = tmp_path / "state.h5"
    sim = saved(path)
    before = path.read_bytes()
    sim.run(HALF)
    for size in (0, 1000, 50_000, 100_000):
        with files_limited_to(size), pytest.raises(rv.errors.FileError, match="written"):
            sim.save(path)
        assert path.read_bytes() == before
        assert [each.name for each in tmp_path.iterdir()] == ["state.h5"]
    # Nothing is lost of the simulation either.
    sim.save(path)
    assert rv.Simulation.load(described(), path, progress=False).time == 2.0 * HALF


def test_a_dry_run_has_no_state(tmp_path: Path) -> None:
    dry = rv.Simulation(described(), progress=False, dry_run=rv.DryRun(ranks=4))
    with pytest.raises(rv.errors.StateError, match="dry run"):
        dry.save(tmp_path / "state.h5")
    assert list(tmp_path.iterdir()) == []
    saved(tmp_path / "state.h5")
    with pytest.raises(rv.errors.StateError, match="dry run"):
        rv.Simulation.load(described(), tmp_path / "state.h5", progress=False, dry_run=rv.DryRun(ranks=4))


def test_large_columns_have_several_blocks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(part_files, "BLOCK", 100)
    net, path = described(synapse=rv.stdp_triplet()), tmp_path / "state.h5"
    sim = rv.Simulation(net, progress=False, threads=2)
    sim.run(HALF)
    sim.save(path)
    loaded = rv.Simulation.load(net, path, progress=False)
    for each in (sim, loaded):
        each.run(HALF)
    np.testing.assert_array_equal(sim.connections().weights, loaded.connections().weights)
    assert sim.spikes(net.recorders[0]).digest() == loaded.spikes(net.recorders[0]).digest()  # type: ignore[arg-type]


def test_old_parts_are_removed_and_other_files_kept(tmp_path: Path) -> None:
    path = tmp_path / "state.h5"
    old = [tmp_path / f"state.{'0' * 15}{i}.rank{i}.h5" for i in range(3)]
    kept = [tmp_path / name for name in ("state.rank0.h5", "state2.0123456789abcdef.rank1.h5", "state.final.rank1.h5")]
    for each in [*old, *kept]:
        each.write_text("x")
    saved(path)
    assert sorted(tmp_path.iterdir()) == sorted([path, *kept])


def test_a_link_stays_a_link(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    link, target = tmp_path / "state.h5", tmp_path / "there/real.h5"
    link.symlink_to(target)
    saved(link)
    assert link.is_symlink()
    assert target.is_file()
    assert rv.Simulation.load(described(), link, progress=False).time == HALF
