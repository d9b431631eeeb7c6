"""What is predicted before anything is built."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import ranvier as rv
from ranvier.command_line import main
from ranvier.commands import predict as command
from ranvier.errors import DeviceError, UnknownNameError, ValueOutOfBoundsError, WrongTypeError
from ranvier.forecast import calibration
from ranvier.forecast.calibration import Costs
from ranvier.forecast.dry_run import play
from ranvier.forecast.prediction import (
    expect_load,
    expect_times,
    largest_fit,
    mean_rate,
    memory_over_ranks,
    ranks_around,
)
from ranvier.simulation.gpus import Gpu
from ranvier.simulation.options import grouped
from ranvier.simulation.predictions import device_memory, predict_memory, sorts_connections
from small_networks import with_noise
from thorough_cases import one_of_each

COSTS = Costs(
    synapse=1e-8,
    exchange={"deliver": 4e-4, "collocate": 2e-4, "communicate": 1e-4, "wait": 1e-5},
    events=5e4,
    exchanges_per_delay=1.0,
    directed=True,
    neurons=(1e-9, 3e-9),
    stimuli=(5e-9,),
)


# ---- load and times --------------------------------------------------------------------------------------------------


def test_load_of_a_rank() -> None:
    load = expect_load(with_noise(), ranks=10, threads=2, rates={"exc": 4.0}, rate=20.0)
    assert load.neurons == (100.0, 25.0)
    assert load.stimulated == (100.0,)
    assert load.synapses == pytest.approx(100 * 125)
    assert load.events_per_second == pytest.approx(100 * 100 * 4.0 + 100 * 25 * 20.0)
    assert load.steps_per_second == pytest.approx(10_000.0)
    # Nothing is known of the lower bound of uniform delays, but that they are 1.5 ms at least.
    assert load.exchanges_per_second == pytest.approx(1000.0 / 1.5)
    # 10,000 synapses from 1,000 sources, and 2,500 from 250: nearly all have targets here, and are told once.
    assert load.entries == pytest.approx(1250, rel=1e-3)
    assert load.records_per_second == pytest.approx(1000 * 4.0 + 250 * 20.0, rel=1e-3)


def test_sparse_load() -> None:
    # On so many ranks nearly each synapse has a row of its own, on one thread or the other.
    net = with_noise(size=100_000)
    sparse = expect_load(net, ranks=10_000, threads=2, rates={}, rate=10.0)
    unsorted = expect_load(net, ranks=10_000, threads=2, rates={}, rate=10.0, sorted_by_source=False)
    assert unsorted.entries == pytest.approx(unsorted.synapses) == pytest.approx(10 * 125)
    assert sparse.entries == pytest.approx(unsorted.entries, rel=0.02)
    assert sparse.entries < unsorted.entries
    assert unsorted.records_per_second == pytest.approx(unsorted.events_per_second)


def test_loads_without_an_exchange_and_with_one_to_all() -> None:
    net = with_noise()
    alone = expect_load(net, ranks=1, threads=2, rates={}, rate=10.0)
    assert alone.records_per_second == 0.0
    assert alone.entries == 0.0
    to_all = expect_load(net, ranks=1000, threads=2, rates={}, rate=10.0, directed=False)
    assert to_all.records_per_second == pytest.approx(1250 * 10.0)
    assert to_all.entries == 0.0


def test_sources_that_play_spikes_do_not_fire_at_a_rate() -> None:
    net = rv.Network()
    players = net.create_spike_generators([[1.0]] * 10)
    neurons = net.create(rv.iaf_psc_exp(), 10)
    net.connect(players, neurons, rv.AllToAll())
    assert expect_load(net, ranks=2, threads=1, rates={}, rate=10.0).events_per_second == 0.0


@pytest.mark.parametrize(
    ("wrong", "error"),
    [
        ({"network": "net"}, WrongTypeError),
        ({"ranks": 0}, ValueOutOfBoundsError),
        ({"ranks": "2"}, WrongTypeError),
        ({"threads": slice(None)}, WrongTypeError),
        ({"rates": 10.0}, WrongTypeError),
        ({"rates": {"exc": "often"}}, WrongTypeError),
        ({"rates": {"exc": math.nan}}, ValueOutOfBoundsError),
        ({"rate": -1.0}, ValueOutOfBoundsError),
    ],
)
def test_loads_of_what_is_none_are_refused(wrong: dict[str, Any], error: type[Exception]) -> None:
    arguments: dict[str, Any] = {
        "network": with_noise(),
        "ranks": 2,
        "threads": 2,
        "rates": {},
        "rate": 10.0,
        **wrong,
    }
    with pytest.raises(error):
        expect_load(**arguments)
    if "ranks" not in wrong and "threads" not in wrong:
        with pytest.raises(error):
            mean_rate(arguments["network"], arguments["rates"], arguments["rate"])
    elif "ranks" in wrong:
        with pytest.raises(error):
            ranks_around(wrong["ranks"])


def test_predictions_refuse_options_that_they_do_not_have() -> None:
    for predict in (rv.predict_memory, sorts_connections):
        with pytest.raises(UnknownNameError, match="threads"):
            predict(with_noise(), treads=2)  # type: ignore[call-arg]
        with pytest.raises(WrongTypeError, match="network"):
            predict([])  # type: ignore[arg-type]
    with pytest.raises(WrongTypeError, match="bursts"):
        rv.predict_memory(with_noise(), bursts=3)  # type: ignore[arg-type]


def test_times() -> None:
    load = expect_load(with_noise(), ranks=10, threads=2, rates={}, rate=10.0)
    times = expect_times(load, COSTS)
    assert times.build == pytest.approx(load.synapses * 1e-8)
    assert times.parts["update"] == pytest.approx((100 * 1e-9 + 25 * 3e-9 + 100 * 5e-9) * 10_000 / 2)
    # What was measured reached other numbers of synapses.
    more = load.events_per_second / load.exchanges_per_second / 5e4
    assert more == pytest.approx(100 * 125 * 10.0 / (1000.0 / 1.5) / 5e4)
    for part, seconds in COSTS.exchange.items():
        assert times.parts[part] == pytest.approx(load.exchanges_per_second * seconds * more)
    assert times.simulation == pytest.approx(sum(times.parts.values()))


def test_times_of_a_silent_network() -> None:
    load = expect_load(with_noise(), ranks=10, threads=2, rates={}, rate=0.0)
    times = expect_times(load, replace(COSTS, events=0.0))
    assert times.parts["communicate"] == pytest.approx(load.exchanges_per_second * 1e-4)


# ---- memory ----------------------------------------------------------------------------------------------------------


def test_numbers_of_ranks_around_one() -> None:
    assert ranks_around(100)[:3] == [2, 4, 8]
    assert 100 in ranks_around(100)
    assert ranks_around(1) == [1, 2, 4, 8, 16, 32, 64]
    assert ranks_around(1_000_000)[-1] == 1_000_000


def test_memory_over_ranks() -> None:
    net = with_noise()
    memory = memory_over_ranks(lambda ranks: net, [1, 4], threads=1)
    for place, ranks in enumerate((1, 4)):
        expected = predict_memory(net, ranks=ranks, threads=1)
        assert {name: sizes[place] for name, sizes in memory.items() if sizes[place]} == {
            name: size for name, size in expected.items() if size
        }


@pytest.mark.parametrize(("start", "ranks"), [(1000, 1), (10_000_000, 4), (8, 100)])
def test_largest_size_that_fits(start: int, ranks: int) -> None:
    limit = 20_000_000
    fit = largest_fit("size", start, with_noise, limit, ranks=ranks, threads=1)
    assert isinstance(fit.value, int)
    assert fit.memory is not None
    assert fit.neurons == with_noise(fit.value).neuron_count
    assert 0.9 * limit < sum(fit.memory.values()) <= limit
    larger = predict_memory(with_noise(round(fit.value * 1.01)), ranks=ranks, threads=1)
    assert sum(larger.values()) > limit


def test_largest_scale_that_fits() -> None:
    def describe(scale: float) -> rv.Network:
        return rv.networks.hpc_benchmark(scale=scale, indegree_scale=0.01, plastic=False).net

    fit = largest_fit("scale", 1.0, describe, 10**8, ranks=8, threads=1)
    assert fit.memory is not None
    assert sum(fit.memory.values()) <= 1e8
    # Where tables change from one layout to another, memory grows at once.
    assert isinstance(fit.value, float)
    larger = predict_memory(describe(1.01 * fit.value), ranks=8, threads=1)
    assert sum(larger.values()) > 1e8


def test_nothing_fits() -> None:
    fit = largest_fit("size", 1000, with_noise, 1000, ranks=2, threads=1)
    assert fit.value is None


# By the number of ranks: with about as much on each of them.
MODELS: dict[str, Callable[[int], rv.networks.NetworkModel]] = {
    "microcircuit": lambda ranks: rv.networks.microcircuit(scale=0.05 * ranks),
    "brunel": lambda ranks: rv.networks.brunel(order=500 * ranks, epsilon=0.1 / ranks),
    "interval_fire": lambda ranks: rv.networks.interval_fire(cells=4000 * ranks, connections=200),
    "hpc_benchmark": lambda ranks: rv.networks.hpc_benchmark(scale=0.1 * ranks, indegree_scale=0.1, plastic=False),
}


@pytest.mark.parametrize(("name", "ranks"), one_of_each(list(MODELS), [1, 8]))
def test_prediction_is_the_account(name: str, ranks: int) -> None:
    # More networks and options are in tests/python/validation.
    net = MODELS[name](ranks).net
    for sort_connections in (True, False):
        processes = rv.Processes(sort_connections=sort_connections)
        # Buffers are as large as the largest burst needs, which nobody can know before. Here there is none.
        played = play(net, ranks, duration=50.0, rate=10.0, threads=2, processes=processes)
        account = {part: size for part, size in played.memory.items() if part not in ("recordings", "invention")}
        predicted = predict_memory(net, ranks=ranks, rate=10.0, threads=2, processes=processes)
        del predicted["construction"]
        # Buffers of spikes grow by doubling, so that twice what is predicted may be needed: it shows where a spike
        # takes a record for each synapse.
        tolerance = 0.05 if sort_connections else 0.1
        assert sum(predicted.values()) == pytest.approx(sum(account.values()), rel=tolerance), (predicted, account)
        for part in ("spikes", "exchange"):
            account.pop(part, None)
            predicted.pop(part, None)
        assert sum(predicted.values()) == pytest.approx(sum(account.values()), rel=0.02), (predicted, account)


# ---- whether synapses are sorted -------------------------------------------------------------------------------------


def sparse(ranks: int) -> rv.Network:
    # The same load on each rank: 75 synapses of each source, on all ranks together.
    return rv.networks.hpc_benchmark(scale=0.2 * ranks, indegree_scale=1 / 150, plastic=False).net


@pytest.mark.parametrize(
    ("ranks", "options", "expected"),
    [
        (1, {"threads": 1}, True),
        (1, {"threads": 2, "shards": 1000}, True),
        (80, {"threads": 1}, True),
        (88, {"threads": 1}, True),
        (93, {"threads": 1}, False),
        (44, {"threads": 2}, True),
        (47, {"threads": 2}, False),
        (100_000, {"threads": 1}, False),
        (93, {"threads": 1, "sort_connections": "auto"}, False),
        (93, {"threads": 1, "sort_connections": True}, True),
        (1, {"threads": 1, "sort_connections": False}, False),
        pytest.param(100_000, {"threads": 1, "exchange": "allgather"}, True, marks=pytest.mark.thorough),
        (100_000, {"threads": 1, "exchange": "rma_allgather"}, True),
        (93, {"threads": 1, "exchange": "auto"}, False),
        (88, {"threads": 1, "exchange": "auto"}, True),
        (100_000, {"threads": 1, "row_numbering": "dense"}, True),
        (100_000, {"threads": 1, "row_numbering": "compact"}, True),
    ],
)
def test_whether_synapses_are_sorted(ranks: int, options: dict[str, Any], expected: bool) -> None:
    net = sparse(ranks)
    assert sorts_connections(net, ranks=ranks, **grouped(options)) == expected
    # What is predicted is what is chosen.
    assert predict_memory(net, ranks=ranks, **grouped(options)) == predict_memory(
        net, ranks=ranks, **grouped({**options, "sort_connections": expected})
    )


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("ranks", [150, 5000])
def test_prediction_where_synapses_are_not_sorted(ranks: int, threads: int) -> None:
    net = sparse(ranks)
    played = play(net, ranks, duration=50.0, rate=10.0, threads=threads)
    assert not played.sorts_connections
    assert played.as_json()["sorts_connections"] is False
    account = {part: size for part, size in played.memory.items() if part not in ("recordings", "invention")}
    predicted = predict_memory(net, ranks=ranks, rate=10.0, threads=threads)
    del predicted["construction"]
    assert sum(predicted.values()) == pytest.approx(sum(account.values()), rel=0.1), (predicted, account)
    # Each synapse has an entry; that is what sorting would have been for.
    assert played.traffic["presynaptic_entries"] == played.synapses
    compact = predict_memory(
        net, ranks=ranks, rate=10.0, threads=threads, processes=rv.Processes(sort_connections=True)
    )
    del compact["construction"]
    assert sum(predicted.values()) < 1.02 * sum(compact.values())


def test_ids_between_the_sources_take_no_rows_on_one_process() -> None:
    """A row for each id between the first and the last source would take 4 bytes and more on each thread."""
    between = 200_000
    net = rv.Network(seed=1)
    first = net.create("iaf_psc_exp", 200)
    net.create("iaf_psc_exp", between)
    last = net.create("iaf_psc_exp", 200)
    net.connect(first + last, first, rv.FixedIndegree(10), delay=1.0)
    sim = rv.Simulation(net, threads=2)
    predicted = predict_memory(net, threads=2)["synapses"]
    assert sim.memory()["synapses"] < between / 4
    assert predicted == pytest.approx(sim.memory()["synapses"], rel=0.1)


# ---- the command -----------------------------------------------------------------------------------------------------


@pytest.fixture
def cheap(monkeypatch: pytest.MonkeyPatch) -> None:
    """Costs that need not be measured."""

    def measure(network: rv.Network, *asked: object, **more: object) -> Costs:
        return replace(COSTS, neurons=(1e-9,) * len(network.populations), stimuli=(1e-9,) * len(network.stimuli))

    monkeypatch.setattr(calibration, "measure", measure)


def on_device(tmp_path: Path, *arguments: str) -> dict[str, Any]:
    """Predict a network on a device, and return the results of the file."""
    path = tmp_path / "prediction.json"
    assert (
        main(["predict", "hpc_benchmark", "--ranks", "2", "--json", str(path), "--set", "threads=1", *arguments]) == 0
    )
    results: dict[str, Any] = json.loads(path.read_text())
    assert results["load"] is results["costs_s"] is results["simulation_s_per_s"] is None
    return results


def without_gpu(device: str) -> Gpu:
    raise DeviceError("NVIDIA's driver", "libcuda.so.1", "it cannot be loaded", "run on a machine with a GPU")


def test_command_for_a_gpu_that_is_not_here(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(command, "find_gpu", without_gpu)
    results = on_device(tmp_path, "device=cuda", "scale=10")
    printed = capsys.readouterr().out
    for part in ("no GPU here to compare with: NVIDIA's driver", "--device-memory 141GB", "times on a device are not"):
        assert part in printed, part
    assert "fits into" not in printed
    assert (results["device_limit_bytes"], results["gpu"], results["largest_fit"]) == (None, None, None)
    model = rv.networks.hpc_benchmark(scale=10.0)
    time = model.time + model.presim
    assert results["memory_bytes"] == predict_memory(
        model.net, ranks=2, rate=10.0, time=time, recordings="local", threads=1, device="cuda"
    )
    # With its memory by hand.
    plot = tmp_path / "memory.png"
    more = ["shards=40", "--device-memory", "100GB", "--memory-per-rank", "1TB", "--plot", str(plot)]
    for scale, fits in (("10", True), ("200", False)):
        results = on_device(tmp_path, "device=cuda", f"scale={scale}", *more)
        printed = capsys.readouterr().out
        assert ("  fits into 100.00 GB of the device of a rank" in printed) == fits
        assert ("does not fit into 100.00 GB of the device of a rank" in printed) != fits
        assert "fits into 1,000.00 GB of a rank" in printed.replace("1.00 TB", "1,000.00 GB")
        fit = results["largest_fit"]
        assert 10.0 < fit["value"] < 200.0
        assert sum(device_memory(fit["memory"]).values()) == pytest.approx(100e9, rel=0.01)
    # A block has too many neurons before the memory is full.
    results = on_device(tmp_path, "device=cuda", "scale=1", "shards=2", "--device-memory", "100GB")
    assert results["largest_fit"]["neurons"] // 4 in range(32_000, 32_768)
    assert plot.read_bytes().startswith(b"\x89PNG")


def test_command_for_a_gpu_that_is_here(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    gpu = Gpu("Fake 9000", multiprocessors=20, memory=8 * 10**9, free=6 * 10**9)
    monkeypatch.setattr(command, "find_gpu", lambda device: gpu)
    results = on_device(tmp_path, "device=cuda:1", "scale=1")
    printed = capsys.readouterr().out
    assert "fits into 6.00 GB of Fake 9000, which are free now" in printed
    assert results["gpu"] == {"name": "Fake 9000", "multiprocessors": 20, "memory": 8 * 10**9, "free": 6 * 10**9}
    assert results["options"]["shards"] == 20
    assert sum(device_memory(results["largest_fit"]["memory"]).values()) < 6 * 10**9
    # The user's number of blocks is kept.
    assert on_device(tmp_path, "device=cuda", "scale=1", "shards=7")["options"]["shards"] == 7


def test_command_for_the_emulator(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Its memory is that of the process."""
    results = on_device(tmp_path, "device=cuda-emulator", "scale=1", "--memory-per-rank", "500MB")
    printed = capsys.readouterr().out
    assert "device synapses" in printed
    assert "does not fit into 500.00 MB of a rank" in printed
    assert 0.4e9 < sum(results["largest_fit"]["memory"].values()) <= 5e8


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--device-memory", "100GB"], "add --set device=cuda"),
        (["--set", "device=cuda-emulator", "--device-memory", "100GB"], "have the memory of their process"),
        (["--set", "device=cuda", "--device-memory", "much"], "500MB"),
        (["--set", "device=cuda", "weight_precision=double"], "weights in single precision"),
        (["--set", "device=cuda", "exchange=shared_memory"], "threads of processors"),
    ],
)
def test_command_refuses_what_devices_lack(
    arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["predict", "hpc_benchmark", "--ranks", "2", *arguments]) == 2
    assert complaint in capsys.readouterr().err


def test_command(cheap: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    json_path, plot_path = tmp_path / "prediction.json", tmp_path / "prediction.png"
    arguments = [
        "predict",
        "hpc_benchmark",
        "--set",
        "scale=100",
        "exchange=neighbor",
        "threads=4",
        "--ranks",
        "64",
    ]
    status = main([*arguments, "--memory-per-rank", "1GB", "--json", str(json_path), "--plot", str(plot_path)])
    printed = capsys.readouterr()
    assert (status, printed.err) == (0, "")
    results = json.loads(json_path.read_text())
    assert (results["ranks"], results["threads"], results["neurons"]) == (64, 4, 1_125_000)
    model = rv.networks.hpc_benchmark(scale=100.0)
    time = model.time + model.presim
    assert results["memory_bytes"] == predict_memory(
        model.net,
        ranks=64,
        rate=10.0,
        time=time,
        recordings="local",
        threads=4,
        processes=rv.Processes(exchange="neighbor"),
    )
    assert results["options"]["exchange"] == "neighbor"
    fit = results["largest_fit"]
    assert fit["key"] == "scale"
    assert sum(fit["memory"].values()) <= 10**9 == results["memory_limit_bytes"]
    assert results["load"]["events_per_second"] == pytest.approx(1_125_000 / 64 * 11_250 * 10.0)
    assert results["simulation_s_per_s"] == pytest.approx(sum(results["parts_s_per_s"].values()))
    assert results["sorts_connections"] is True
    assert "not sorted" not in printed.out
    for part in (
        "64 ranks of 4 threads",
        "does not fit into 1.00 GB",
        "largest that fits: scale =",
        "synapses",
        "update",
    ):
        assert part in printed.out
    assert plot_path.read_bytes().startswith(b"\x89PNG")


def test_command_where_synapses_are_not_sorted(cheap: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "prediction.json"
    keys = ["scale=20", "indegree_scale=0.002"]
    arguments = ["predict", "hpc_benchmark", "--ranks", "1000", "--json", str(path), "--set", "threads=1", *keys]
    model = rv.networks.hpc_benchmark(scale=20.0, indegree_scale=0.002)
    for key, expected in (("auto", False), ("false", False), ("true", True)):
        assert main([*arguments, f"sort_connections={key}"]) == 0
        printed = capsys.readouterr().out
        results = json.loads(path.read_text())
        assert results["sorts_connections"] is expected
        assert (results["load"]["entries"] == pytest.approx(results["load"]["synapses"])) != expected
        processes = rv.Processes(sort_connections=expected)
        time = model.time + model.presim
        assert results["memory_bytes"] == predict_memory(
            model.net, ranks=1000, rate=10.0, time=time, recordings="local", threads=1, processes=processes
        )
        assert ("not sorted" in printed) != expected
        assert results["options"]["sort_connections"] == (expected if key != "auto" else "auto")


def test_command_on_a_file_of_the_user(cheap: None, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "my_network.py"
    path.write_text(
        "import ranvier as rv\n"
        "def network(size=100, weight=1.0):\n"
        "    net = rv.Network()\n"
        "    neurons = net.create(rv.iaf_psc_exp(), size)\n"
        "    net.connect(neurons, neurons, rv.FixedIndegree(50), weight=weight)\n"
        "    return net\n"
    )
    arguments = ["predict", str(path), "--set", "size=2000", "threads=1", "--ranks", "2", "--rate", "3"]
    json_path = tmp_path / "prediction.json"
    assert main([*arguments, "--memory-per-rank", "100MB", "--json", str(json_path)]) == 0
    results = json.loads(json_path.read_text())
    assert results["neurons"] == 2000
    assert results["load"]["events_per_second"] == pytest.approx(1000 * 50 * 3.0)
    assert results["largest_fit"]["key"] == "size"
    assert "fits into 100.00 MB" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["--ranks", "0"], "--ranks"),
        (["--ranks", "2", "--memory-per-rank", "much"], "500MB"),
        (["--ranks", "2", "--set", "memory_limit=1000"], "--memory-per-rank"),
        (["--ranks", "2", "--rate", "-1"], "--rate"),
        (["--ranks", "2", "--set", "exchange=alltoal"], "alltoall"),
        (["--ranks", "2", "--set", "scal=2"], "scale"),
        (["--ranks", "2", "--set", "threads=2", "threads=2"], "set it once"),
        (["--ranks", "2", "--threads", "2"], "write --set threads=VALUE"),
    ],
)
def test_mistakes(arguments: list[str], complaint: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["predict", "hpc_benchmark", *arguments]) == 2
    assert complaint in capsys.readouterr().err
