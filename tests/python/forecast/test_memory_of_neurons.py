"""What is predicted of the memory of neurons of equations is what they take, compiled and interpreted.

That the account itself is what is allocated, for few neurons too, tests/cpp/test_memory_account.cpp finds out.
"""

from __future__ import annotations

import ctypes
import inspect
import itertools
import math
import multiprocessing
from concurrent.futures import ProcessPoolExecutor
from typing import Any

import pytest

import ranvier as rv
from ranvier import _core
from ranvier.compiled import llvm
from ranvier.equations.library import METHODS
from ranvier.equations.neurons import NAMES
from ranvier.errors import StateError
from ranvier.processes.machine import resident_bytes
from ranvier.simulation.predictions import lasting_bytes, predict_memory
from thorough_cases import only

MODELS = sorted(NAMES)
PROGRAMS: list[Any] = ["interpreted"] if llvm.unusable() else ["compiled", "interpreted"]

# Each value of an option with each of any other.
PAIRWISE: list[dict[str, Any]] = [
    {"size": 1, "differ": "none", "threads": 1, "ranks": 1},
    {"size": 64, "differ": "all", "threads": 1, "ranks": 1},
    {"size": 64, "differ": "none", "threads": 2, "ranks": 2},
    {"size": 1000, "differ": "one", "threads": 2, "ranks": 1},
    {"size": 1000, "differ": "all", "threads": 1, "ranks": 2},
]
# One case of each model, compiled and interpreted in turn; make validate has the other three.
CASES = [
    pytest.param(
        name,
        programs,
        PAIRWISE[(number + shift) % 5],
        id=f"{name}-{programs}-{shift}",
        marks=[] if shift == 0 and programs == PROGRAMS[number % len(PROGRAMS)] else pytest.mark.thorough,
    )
    for number, name in enumerate(MODELS)
    for programs in PROGRAMS
    for shift in (0, 2)
]


def drawn(model: Any, which: str) -> dict[str, Any]:
    """Return values that differ between neurons by a millionth: of all parameters but switches, of one or of none."""
    if which == "none":
        return {}
    defaults = inspect.signature(type(model)).parameters
    values: dict[str, Any] = {}
    for name in (each.name for each in model.core_model.parameters):
        value = defaults[name].default if name in defaults else None
        if (
            isinstance(value, int | float)
            and not isinstance(value, bool)
            and value not in (0.0, 1.0)
            and math.isfinite(value)
        ):
            values[name] = rv.Uniform(*sorted((value * (1.0 - 1e-6), float(value))))
    return values if which == "all" else dict([next(iter(values.items()))])


def network_of(model: Any, size: int, differ: str, injected: bool = False) -> rv.Network:
    net = rv.Network()
    neurons = net.create(model, size, **drawn(model, differ))
    if injected:
        net.stimulate(neurons, rv.noise_generator(mean=0.0, std=1e-3))
    return net


def check(net: rv.Network, programs: Any, threads: int, ranks: int = 1) -> None:
    """Compare before anything is compiled for the network, so that nothing can be read from what there is."""
    tuning = rv.Tuning(programs=programs)
    predicted = predict_memory(net, rate=0.0, ranks=ranks, threads=threads, tuning=tuning)
    dry_run = rv.DryRun(ranks=ranks) if ranks > 1 else None
    sim = rv.Simulation(net, threads=threads, progress=False, tuning=tuning, dry_run=dry_run, recordings="local")
    sim.run(1.0)
    assert sim.programs == programs
    taken = {name: size for name, size in sim.memory().items() if name not in ("recordings", "invention")}
    # Lists of spikes begin with some hundred bytes.
    assert lasting_bytes(predicted) == pytest.approx(sum(taken.values()), rel=0.02, abs=1000.0), (predicted, taken)
    assert predicted["neurons"] == pytest.approx(taken["neurons"], rel=0.02, abs=500.0)


@pytest.mark.parametrize(("name", "programs", "options"), CASES)
def test_models_of_the_library(name: str, programs: str, options: dict[str, Any]) -> None:
    net = network_of(getattr(rv, name)(), options["size"] * options["ranks"], options["differ"])
    check(net, programs, options["threads"], options["ranks"])


@pytest.mark.parametrize("programs", PROGRAMS)
@pytest.mark.parametrize("method", METHODS)
def test_methods(method: Any, programs: str) -> None:
    check(network_of(rv.iaf_cond_exp(method=method), 300, "one"), programs, threads=1)


@pytest.mark.parametrize("programs", PROGRAMS)
@pytest.mark.parametrize("name", ["iaf_cond_exp", "aeif_cond_alpha", "pp_psc_delta"])
def test_currents(name: str, programs: str) -> None:
    check(network_of(getattr(rv, name)(), 300, "none", injected=True), programs, threads=2)


@pytest.mark.parametrize("programs", PROGRAMS)
def test_models_of_users(programs: str) -> None:
    """With noise, draws, a variable that is derived, and steps of their own."""
    model = rv.neuron(
        "dv/dt = (E - v)/tau + s*xi*sqrt(2/tau) : mV\nu = v - E : mV",
        threshold="v > V_th + rand()*mV",
        reset="v = E",
        parameters={"E": "-70 mV", "tau": "10 ms", "V_th": "-50 mV", "s": "1e-3 mV"},
    )
    net = rv.Network()
    net.create(model, 500, tau=rv.Uniform(8.0, 12.0), step=0.2)
    net.create(rv.iaf_psc_exp(), 500)
    net.create(model, 30)
    check(net, programs, threads=2)


@pytest.mark.skipif("compiled" not in PROGRAMS, reason=llvm.unusable())
def test_nothing_is_compiled_for_a_prediction() -> None:
    model = rv.neuron("dv/dt = -v/tau : 1", threshold="v > 2", reset="v = 0", parameters={"tau": "12.5 ms"})
    net = rv.Network()
    net.create(model, 100)
    predicted = {each: predict_memory(net, threads=1, tuning=rv.Tuning(programs=each)) for each in ("auto", *PROGRAMS)}
    assert not model.core_model.is_compiled(_core.instruction_sets()[-1])
    assert predicted["auto"] == predicted["compiled"]
    assert predicted["compiled"]["neurons"] < predicted["interpreted"]["neurons"]


def test_compiled_programs_that_cannot_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(llvm, "unusable", lambda: "llvmlite is not installed: install it")
    net = network_of(rv.iaf_cond_exp(), 10, "none")
    with pytest.raises(StateError, match="programs is 'compiled', but llvmlite is not installed; install it"):
        predict_memory(net, tuning=rv.Tuning(programs="compiled"))
    assert predict_memory(net) == predict_memory(net, tuning=rv.Tuning(programs="interpreted"))


# ---- what is resident ------------------------------------------------------------------------------------------------


def resident_in_use() -> int:
    """Return what is resident when the heap has given back what is free, which others would take again."""
    ctypes.CDLL(None).malloc_trim(0)
    return resident_bytes()


def sizes_of_many(names: list[str], programs: Any) -> dict[str, tuple[int, int]]:
    """Return of models what 50,000 neurons with parameters of their own take: resident, and as predicted."""
    sizes = {}
    tuning = rv.Tuning(programs=programs)
    for name in names:
        # What LLVM and the first code take is no part of it.
        rv.Simulation(network_of(getattr(rv, name)(), 1, "none"), threads=1, progress=False, tuning=tuning).run(0.1)
        net = network_of(getattr(rv, name)(), 50_000, "all")
        predicted = lasting_bytes(predict_memory(net, rate=0.0, threads=1, tuning=tuning))
        before = resident_in_use()
        sim = rv.Simulation(net, threads=1, progress=False, tuning=tuning)
        sim.run(0.1)
        sizes[name] = (resident_in_use() - before, predicted)
        del sim
    return sizes


@pytest.mark.parametrize(
    ("part", "programs"),
    only([(0, "interpreted")], itertools.product(range(9), PROGRAMS)),
)
def test_what_is_predicted_is_resident(part: int, programs: str) -> None:
    # In a process of its own: memory of other tests may still be there. What LLVM leaves on the heap would be, too, so
    # that a first process compiles, and the second one takes the code from the cache.
    for _ in range(2 if programs == "compiled" else 1):
        with ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as process:
            sizes = process.submit(sizes_of_many, MODELS[part::9], programs).result()
    for name, (resident, predicted) in sizes.items():
        assert predicted == pytest.approx(resident, rel=0.05, abs=500_000.0), name
