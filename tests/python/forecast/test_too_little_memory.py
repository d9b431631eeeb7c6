"""What needs more memory than there is gives an InsufficientMemoryError before anything is made."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import ranvier as rv
from bad_input import check, neurons
from ranvier import errors
from ranvier.base.memory_checks import bytes_text
from ranvier.recording.kept import Pieces
from small_networks import balanced


def test_more_memory_than_the_machine_has() -> None:
    net = rv.Network()
    population = net.create("iaf_psc_exp", 10_000_000)
    net.connect(population, population, rv.FixedIndegree(1_000_000))
    with pytest.raises(errors.InsufficientMemoryError) as caught:
        rv.Simulation(net)
    check(caught.value, "bytes")
    assert isinstance(caught.value, MemoryError)
    assert any(int(word) > 10**13 for word in str(caught.value).replace(",", "").split() if word.isdigit())


def test_memory_limit() -> None:
    net, _ = balanced(100)
    needed = sum(rv.predict_memory(net, threads=2).values())
    with pytest.raises(errors.InsufficientMemoryError):
        rv.Simulation(net, threads=2, memory_limit=needed // 4)
    rv.Simulation(net, threads=2, memory_limit=4 * needed).run(1.0)


@pytest.mark.parametrize("values", [range(10**15), range(2**62, 0, -3), range(10**30)])
def test_ranges_that_no_memory_holds_are_refused(values: range) -> None:
    net = rv.Network()
    neurons = net.create("iaf_psc_exp", 2)
    sim = rv.Simulation(net, threads=1)
    with pytest.raises(rv.errors.InsufficientMemoryError):
        rv.iaf_psc_exp(I_e=values)
    with pytest.raises(rv.errors.InsufficientMemoryError):
        sim.set(neurons, V_m=values)
    with pytest.raises(rv.errors.InsufficientMemoryError):
        sim.connections(targets=values)
    with pytest.raises(rv.errors.InsufficientMemoryError):
        sim.connections()[values]
    with pytest.raises(rv.errors.InsufficientMemoryError):
        net.record_state(neurons[values], "V_m")
    with pytest.raises(rv.errors.InsufficientMemoryError):
        rv.Explicit(values, values)
    with pytest.raises(rv.errors.InsufficientMemoryError):
        rv.Simulation(net, threads=1, processes=rv.Processes(placement=values))


def test_the_memory_limit_is_named_and_small_numbers_can_be_read() -> None:
    with pytest.raises(errors.InsufficientMemoryError) as caught:
        rv.Simulation(neurons().network, threads=1, memory_limit=1000)
    check(caught.value, "memory_limit is 1000 bytes (1.0 kB)", "give a larger memory_limit")
    assert "0.0" not in str(caught.value)


@pytest.mark.parametrize(
    ("size", "text"),
    [
        (0, "0 bytes"),
        (999, "999 bytes"),
        (1500, "1500 bytes (1.5 kB)"),
        (2_000_000, "2000000 bytes (2.0 MB)"),
        (3 * 10**21, "3000000000000000000000 bytes (3000.0 EB)"),
    ],
)
def test_bytes_as_text(size: int, text: str) -> None:
    assert bytes_text(size) == text


# ---- recordings in memory --------------------------------------------------------------------------------------------


def driven(size: int) -> tuple[rv.Network, rv.Population]:
    """Return a network of neurons that fire at about 100 spikes/s."""
    net = rv.Network(seed=1)
    return net, net.create(rv.iaf_psc_exp(I_e=rv.Uniform(800.0, 1500.0)), size, name="exc")


def run_often(sim: rv.Simulation, duration: float, limit: int = 2**62) -> None:
    for _ in range(100):
        sim.run(duration)
        assert sum(sim.memory().values()) <= limit


def test_samples_that_would_not_fit_are_found_before_the_run() -> None:
    net, exc = driven(1000)
    recorder = net.record_state(exc, "V_m")
    predicted = rv.predict_memory(net, threads=1, time=500.0)
    assert predicted["recordings"] == 5000 * 8 * 1001
    assert "recordings" not in rv.predict_memory(net, threads=1)
    cases: list[tuple[int, Any, float]]
    cases = [(1, "local", 0.25), (1, "root", 0.0), (0, "root", 1.0), (3, "everywhere", 1.0)]
    for rank, recordings, share in cases:
        of_rank = rv.predict_memory(net, threads=1, time=500.0, ranks=4, rank=rank, recordings=recordings)
        assert of_rank["recordings"] == share * predicted["recordings"]
    sim = rv.Simulation(net, threads=1, memory_limit=50_000_000)
    with pytest.raises(errors.InsufficientMemoryError) as caught:
        sim.run(700.0)
    check(caught.value, "56056000 bytes (56.1 MB) for V_m of 1000 neurons of exc", "memory_limit is 50000000", "to=")
    assert sim.time == 0.0
    sim.run(200.0)
    # What is there already counts.
    with pytest.raises(errors.InsufficientMemoryError, match=r"earlier recordings 16016000 bytes"):
        sim.run(500.0)
    assert sim.state(recorder)["V_m"].shape == (2000, 1000)
    assert 16_000_000 <= sim.memory()["recordings"] < 17_000_000


def test_many_short_runs_meet_the_limit_too() -> None:
    net, exc = driven(1000)
    recorder = net.record_state(exc, ["V_m", "I_syn_ex"])
    sim = rv.Simulation(net, threads=1, memory_limit=40_000_000)
    with pytest.raises(errors.InsufficientMemoryError):
        run_often(sim, 5.0, 40_000_000)
    assert 100.0 < sim.time < 260.0
    assert len(sim.state(recorder)) == sim.step


def test_spikes_stop_the_run_where_the_limit_is_met_and_stay() -> None:
    net, exc = driven(5000)
    recorder = net.record_spikes(exc)
    sim = rv.Simulation(net, threads=2, memory_limit=12_000_000)
    with pytest.raises(errors.InsufficientMemoryError, match=r"recordings in memory at .*read the data so far"):
        sim.run(1e6)
    data = sim.spikes(recorder)
    assert 2_000_000 < 16 * len(data) < 12_000_000
    assert data.stop == sim.time
    whole_net, _ = driven(5000)
    unlimited = whole_net.record_spikes()
    whole = rv.Simulation(whole_net, threads=1)
    whole.run(sim.time)
    assert whole.spikes(unlimited).digest() == data.digest()
    with pytest.raises(errors.InsufficientMemoryError):
        sim.run(1000.0)


def test_weights_count_and_recordings_in_files_do_not(tmp_path: Path) -> None:
    net, exc = driven(500)
    projection = net.connect(exc, exc, rv.FixedIndegree(40), weight=1.0, delay=1.0)
    net.record_state(exc, "V_m", to=tmp_path / "state.h5")
    recorder = net.record_weights(projection, 10.0)
    assert rv.predict_memory(net, threads=1, time=100.0)["recordings"] == 10 * 8 * 20_001 + 1000 * 8 * 501
    sim = rv.Simulation(net, threads=1, memory_limit=8_000_000)
    with pytest.raises(errors.InsufficientMemoryError, match="weights of exc"):
        run_often(sim, 100.0)
    assert len(sim.weights(recorder)) == sim.time / 10.0 >= 10.0


def test_recorders_say_what_they_cost() -> None:
    net, exc = driven(1000)
    assert "80.1 MB/s" in repr(net.record_state(exc, "V_m"))
    assert "/s" not in repr(net.record_spikes(exc))
    assert "80.1 MB/s" in net.summary()
    big = rv.Network()
    many = big.create("iaf_psc_exp", 10_000)
    with pytest.warns(errors.LargeRecordingWarning, match=r"V_m, I_syn_ex of 10000 neurons .* 1.6 GB/s") as caught:
        big.record_state(many, ["V_m", "I_syn_ex"])
    assert caught[0].filename == __file__


def test_pieces_are_joined_without_a_second_copy() -> None:
    pieces = Pieces()
    values = np.arange(12.0)
    for begin, end in ((0, 3), (3, 4), (4, 12)):
        pieces.append((np.arange(begin, end), values[begin:end].reshape(-1, 1)))
    size = pieces.nbytes
    steps, joined = pieces.joined((np.empty(0), np.empty((0, 1))))
    assert steps.tolist() == list(range(12))
    assert joined.ravel().tolist() == values.tolist()
    assert pieces.nbytes == size
    assert pieces.joined((steps, joined))[1] is joined
