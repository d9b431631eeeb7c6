"""Random networks, and random ways to cut the work on them, none of which may change a bit of what comes out.

As a program, for many processes: its arguments are a file with the runs and one for what comes of them, both JSON.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import random
import shutil
import sys
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import numpy as np

import ranvier as rv
from fuzz_distance import delay_by_pair, rule_by_pair, weight_by_pair
from fuzz_fields import add_fields, record_potentials
from fuzz_library import create_library_neurons, equations_of, weight_onto
from fuzz_sources import create_sources, stimulate_with_trains
from fuzz_space import draw_frame, draw_layout, draw_rotation
from fuzz_synapses import as_equations_at_times, following, learning, short_term, with_varied_parameters
from library_scenes import DRIVES
from ranvier import _core, mpi
from ranvier.base.times import time_of
from ranvier.cells.kinds import CellKinds
from ranvier.processes.agreement import from_root, values_of_all
from ranvier.simulation.options import grouped

__all__ = [
    "FIELDS",
    "NetworkRun",
    "Outcome",
    "begin",
    "described",
    "draw_asynchronous",
    "draw_run",
    "end",
    "is_asynchronous",
    "outcome",
    "reference",
]

Result = TypeVar("Result")
DrawGiven = Callable[[random.Random], dict[str, Any]]

STEPS = 300
FIELDS = 1_000_000
"""Networks of seeds from this one on have cells in space, and what acts on them from outside."""
_VARIABLES = {"interval_fire": "m", "ignore_and_fire": "phase"}
_WITHOUT_CURRENT = ("interval_fire", "ignore_and_fire", "parrot_neuron")


class NetworkRun(NamedTuple):
    """One way to run a network."""

    seed: int
    """Of the network; also which precision it has."""
    options: dict[str, Any]
    pieces: list[int]
    """Steps of each call of `run`."""
    later: Sequence[dict[str, Any]] = ()
    """Options of the simulations that go on after each of the first pieces, from a saved state."""


class Outcome(NamedTuple):
    """What came of a run."""

    digest: str
    """Of spikes, recorded potentials and weights, and the state at the end; or which error there was."""
    spikes: int


# ---- networks --------------------------------------------------------------------------------------------------------


def described(seed: int) -> rv.Network:
    """Return the network of a seed."""
    chance = random.Random(seed)
    resolution = chance.choice([0.1, 0.1, 0.05, 0.25, 1.0])
    net = rv.Network(resolution if seed < FIELDS else min(resolution, 0.1), seed)
    for _ in range(chance.randrange(1, 5)):
        _create(net, chance)
    cells = random.Random(f"cells {seed}")
    if seed >= FIELDS:
        for _ in range(cells.choice([1, 2])):
            _create_cells(net, cells)
    elif cells.random() < 0.3 and net.resolution <= 0.1:
        _create_cells(net, cells)
    library = random.Random(f"library {seed}")
    if library.random() < 0.5 and _precisions(seed)["precision"] == "double":
        # Equations are calculated in double precision only.
        create_library_neurons(net, library)
    if chance.random() < 0.4:
        # Many spikes at once, and neurons of which some never play any.
        times = [time_of(step, net.resolution) for step in sorted(chance.choices(range(1, 250), k=20))]
        repeated = [time for time in times for _ in range(chance.choice([1, 1, 2, 300]))]
        net.create_spike_generators([repeated, [], times[:3]])
    others = random.Random(f"sources {seed}")
    for _ in range(others.choice([0, 0, 1, 2])):
        create_sources(net, others)
    if others.random() < 0.3:
        net.create(others.choice(["parrot_neuron", "ignore_and_fire"]), others.choice([1, 9, 40]))
    for _ in range(chance.randrange(1, 9)):
        # Some draws are none, for example more sources than there are without multapses.
        with contextlib.suppress(rv.errors.RanvierError):
            _connect(net, chance)
    for population in net.populations:
        if not population.is_source:
            _stimulate(net, population, chance)
            receptor = _receptor(population, others)
            stimulate_with_trains(net, population, receptor, others)
    _record(net, chance)
    if seed >= FIELDS:
        outside = random.Random(f"outside {seed}")
        add_fields(net, outside)
        record_potentials(net, outside)
    return net


def _create(net: rv.Network, chance: random.Random) -> None:
    size = chance.choice([1, 2, 7, 30, 64, 100])
    name = chance.choice(
        ["iaf_psc_exp", "iaf_psc_exp", "iaf_psc_alpha", "iaf_psc_delta", "interval_fire", "iaf_cond_nmda"]
    )
    if name == "interval_fire":
        net.create(rv.interval_fire(interval_min=2.0, interval_max=chance.uniform(3.0, 20.0)), size)
        return
    values: dict[str, Any] = {"I_e": rv.Uniform(200.0, chance.uniform(300.0, 1200.0))}
    if chance.random() < 0.5:
        by_index = rv.Normal("-65 + 0.05*i", 3.0) + rv.redraw("randn()", -1.0, 1.0)
        values["V_m"] = chance.choice([rv.Normal(-65.0, 5.0), by_index])
    if chance.random() < 0.3:
        values["tau_m"] = [chance.uniform(5.0, 20.0) for _ in range(size)]
    if chance.random() < 0.5:
        values["t_ref"] = chance.choice([0.0, 1.0, 2.5])
    if chance.random() < 0.3 and name in ("iaf_psc_exp", "iaf_psc_alpha"):
        values["tau_syn_ex"] = chance.choice([0.5, 10.0, rv.Uniform(0.5, 3.0)])
    net.create(name, size, **values, **_places(net, size))


def _places(net: rv.Network, size: int, *, are_cells: bool = False) -> dict[str, Any]:
    """Return positions, and rotations of cells: in most networks for all populations, in others for some or none."""
    chance = random.Random(f"space {net.seed}")
    share, frame = chance.choice([0.0, 0.5, 1.0, 1.0]), draw_frame(chance)
    if net.seed >= FIELDS:
        share, frame = 1.0, frame._replace(extent=(chance.uniform(0.5, 2.0),) * 3, periodic=(False,) * 3)
    chance = random.Random(f"space {net.seed} {len(net.populations)}")
    if chance.random() >= share:
        return {}
    places: dict[str, Any] = {"positions": draw_layout(frame, size, chance)}
    return places | {"rotation": draw_rotation(size, chance)} if are_cells else places


def _create_cells(net: rv.Network, chance: random.Random) -> None:
    """Create cells with receptors at any number of places, which differs from cell to cell."""
    kinds = []
    for _ in range(chance.randrange(1, 4)):
        dendrite = rv.Section(length=chance.uniform(50.0, 300.0), diameter=1.5, parent=0, tag="basal")
        tree = rv.Morphology([rv.Section(length=15.0, diameter=15.0), *[dendrite] * chance.randrange(1, 4)])
        places = rv.random_places(tree, count=chance.choice([1, 2, 5, 40]), seed=chance.randrange(100))
        receptors: dict[str, Any] = {
            "exc": (rv.exp2syn(), places),
            "inh": (rv.expsyn(tau=8.0, e=-75.0), chance.choice(["dendrites", rv.at(0)])),
        }
        membrane = [("all", rv.pas(e=-65.0)), ("soma", rv.hh())]
        kinds.append(rv.Cell(tree, compartments=chance.randrange(1, 6), membrane=membrane, receptors=receptors))
    cells = [chance.choice(kinds) for _ in range(chance.choice([1, 9, 20]))]
    in_space = _places(net, len(cells), are_cells=True)
    net.create(cells, V_m=rv.Normal(-65.0, 3.0), I_e=rv.Uniform(0.0, 300.0), **in_space)


def _site(net: rv.Network, targets: rv.Population, receptor: str | None, rule: rv.Rule) -> Any:
    """Return which sites synapses reach: in most networks such as are drawn for each."""
    chance = random.Random(f"site {net.seed} {len(net.projections)}")
    if targets.cell is None or chance.random() < 0.5:
        return None
    kinds = targets.cell.kinds if isinstance(targets.cell, CellKinds) else (targets.cell,)
    sites = min(len(kind.sites[receptor or ""]) for kind in kinds)
    if isinstance(rule, rv.Explicit) and chance.random() < 0.7:
        return [chance.randrange(sites) for _ in np.asarray(rule.sources)]
    if len(kinds) == 1 and chance.random() < 0.5:
        return rv.SiteProbabilities([chance.random() + 0.01 for _ in range(sites)])
    return chance.randrange(sites)


def _rule(sources: int, targets: int, chance: random.Random) -> rv.Rule:
    autapses, multapses = chance.random() < 0.5, chance.random() < 0.8
    number = chance.choice([0, 1, 3, 10, 40])
    kind = chance.randrange(8)
    if kind == 0:
        return rv.AllToAll(allow_autapses=autapses)
    if kind == 1:
        return rv.FixedOutdegree(number, allow_autapses=autapses, allow_multapses=multapses)
    if kind == 2:
        return rv.FixedTotalNumber(number * targets, allow_autapses=autapses, allow_multapses=multapses)
    if kind == 3:
        return rv.PairwiseBernoulli(chance.choice([0.0, 0.05, 0.5, 1.0]), allow_autapses=autapses)
    if kind == 4:
        return rv.UniformIndegree(number // 2, number, allow_autapses=autapses, allow_multapses=multapses)
    if kind == 5:
        pairs = range(10 * number)
        return rv.Explicit([chance.randrange(sources) for _ in pairs], [chance.randrange(targets) for _ in pairs])
    return rv.FixedIndegree(number, allow_autapses=autapses, allow_multapses=multapses)


def _weight(rule: rv.Rule, chance: random.Random) -> Any:
    sign = chance.choice([1.0, 1.0, -1.0])
    size = 10.0 ** chance.uniform(-6.0, 3.0)
    kind = chance.randrange(6)
    if kind == 0:
        return rv.LogNormal(chance.uniform(-2.0, 3.0), chance.uniform(0.1, 3.0))
    if kind == 1:
        return rv.Normal(
            sign * size, 0.3 * size, low=0.0 if sign > 0.0 else -math.inf, high=math.inf if sign > 0.0 else 0.0
        )
    if kind == 2:
        return rv.Exponential(size)
    if kind == 3 and isinstance(rule, rv.Explicit):
        # Over many magnitudes, among them none at all.
        return [sign * 10.0 ** chance.uniform(-5.0, 4.0) * (chance.random() < 0.9) for _ in np.asarray(rule.sources)]
    return sign * chance.choice([size, 1.0, 30.0, 100.0])


def _connect(net: rv.Network, chance: random.Random) -> None:
    sources = chance.choice(net.populations)
    targets = chance.choice([each for each in net.populations if not each.is_source])
    if sources.model == targets.model == "parrot_neuron":
        # Parrots that repeat each other never end.
        return
    rule = _rule(len(sources), len(targets), chance)
    pairs = random.Random(f"pairs {net.seed} {len(net.projections)}")
    dimensions = _common_dimensions(sources, targets)
    if pairs.random() < 0.35:
        rule = rule_by_pair(dimensions, pairs)
    steps = chance.choice([1, 1, 2, 5, 15, 33, 200])
    delay: Any = time_of(steps, net.resolution)
    if chance.random() < 0.4:
        delay = rv.Uniform(net.resolution, delay + 3.0 * net.resolution)
    elif pairs.random() < 0.3:
        delay = delay_by_pair(net.resolution, dimensions, pairs)
    view = targets[: max(1, len(targets) // 2)] if chance.random() < 0.2 else targets
    if isinstance(rule, rv.Explicit):
        view = targets
    receptor = _receptor(targets, chance)
    conductances: list[Any] = [1.0, 0.1, rv.Uniform(0.0, 3.0)]
    weight = chance.choice(conductances) if _has_conductances(targets) else _weight(rule, chance)
    if equations_of(targets) is not None:
        weight = weight_onto(targets, chance)
    synapse: Any = "static_synapse"
    site = _site(net, targets, receptor, rule)
    if targets.model == "parrot_neuron":
        weight = 1.0
        synapse = "static_synapse" if chance.random() < 0.5 else rv.bernoulli(p_transmit=0.4)
    elif not _has_conductances(targets) and chance.random() < 0.5:
        weight, synapse = learning(net, chance, steps)
        synapse = as_equations_at_times(synapse, random.Random(f"equations {net.seed} {len(net.projections)}"))
        synapse = with_varied_parameters(synapse, rule, random.Random(f"own {net.seed} {len(net.projections)}"))
    elif chance.random() < 0.5:
        synapse = with_varied_parameters(
            short_term(chance), rule, random.Random(f"own {net.seed} {len(net.projections)}")
        )
    elif targets.cell is not None and chance.random() < 0.5:
        weight = rv.Uniform(0.1, 2.0)
        synapse = rv.stdp(learning_rate=0.05, W_max=3.0, axonal_fraction=chance.choice([0.0, 1.0]))
    model = equations_of(targets)
    voltage = random.Random(f"voltage {net.seed} {len(net.projections)}")
    if model is not None and "u_bar_plus" in model.variables and voltage.random() < 0.7:
        weight, synapse = following(DRIVES[targets.model].weight, voltage)
    if synapse == "static_synapse" and isinstance(weight, float) and pairs.random() < 0.3:
        weight = weight_by_pair(weight, dimensions, pairs)
    made = net.connect(sources, view, rule, weight=weight, delay=delay, receptor=receptor, synapse=synapse, site=site)
    others = random.Random(f"others {net.seed} {len(net.projections)}")
    if others.random() < 0.4 and targets.model != "parrot_neuron" and not isinstance(weight, list):
        _connect_again(made, weight, others)


def _connect_again(made: rv.Projection, weight: Any, chance: random.Random) -> None:
    """Connect neurons of a projection by a rule that needs one population, a list or another projection."""
    net, sources, targets = made.network, made.sources, made.targets
    values: dict[str, Any] = {"weight": weight, "delay": made.delay, "receptor": made.receptor}
    kind = chance.choice(["ring", "half", "matrix", "rows", "reversed", "reversed"])
    if kind == "ring":
        net.connect(targets, targets, rv.SmallWorld(2 * chance.randrange(3), chance.random()), **values)
    elif kind == "half":
        half = net.connect(targets, targets, rv.UnorderedBernoulli(chance.choice([0.05, 0.5])), **values)
        net.connect(targets, targets, rv.Reversed(half), receptor=made.receptor)
    elif kind == "matrix":
        matrix = np.random.default_rng(chance.randrange(1000)).random((len(targets), len(sources))) < 0.1
        net.connect(sources, targets, rv.FromMatrix(matrix), **values)
    elif kind == "rows":
        degrees = [chance.randrange(5) for _ in range(len(targets))]
        drawn = [chance.randrange(len(sources)) for _ in range(sum(degrees))]
        net.connect(sources, targets, rv.ExplicitRows(np.cumsum([0, *degrees]), drawn), **values)
    elif [each.population.model for each in sources.parts] == [each.population.model for each in targets.parts]:
        given = values if chance.random() < 0.5 else {"receptor": made.receptor}
        net.connect(targets, sources, rv.Reversed(made), **given)


def _common_dimensions(*populations: rv.Population) -> int | None:
    """Return the dimensions of positions, or None if a population has none."""
    try:
        return min(int(population.positions.shape[1]) for population in populations)
    except rv.errors.StateError:
        return None


def _has_conductances(population: rv.Population) -> bool:
    is_named = population.model == "iaf_cond_nmda" or population.cell is not None
    return is_named or equations_of(population) is not None


def _receptor(population: rv.Population, chance: random.Random) -> str | None:
    """Return the name of a receptor, or None where the sign of the weight is to choose."""
    if population.cell is not None:
        return chance.choice(["exc", "inh"])
    written = equations_of(population)
    if written is not None:
        # A weight of the wrong sign would make a conductance negative.
        return None if written.program.sign_chooses_receptor else chance.choice(written.receptors)
    if _has_conductances(population):
        return chance.choice(["AMPA", "NMDA", "GABA_A", "GABA_B"])
    if population.model in ("iaf_psc_exp", "iaf_psc_alpha") and chance.random() < 0.3:
        return chance.choice(["excitatory", "inhibitory"])
    return None


def _stimulate(net: rv.Network, population: rv.Population, chance: random.Random) -> None:
    weight = 10.0 ** chance.uniform(0.0, 2.5) if population.model != "interval_fire" else 0.01
    if population.model == "parrot_neuron":
        weight = 1.0
    receptor = _receptor(population, chance)
    if _has_conductances(population):
        weight *= 0.01
    if chance.random() < 0.6:
        rate: Any = chance.choice([300.0, 8000.0, rv.Uniform(10.0, 9000.0), 400_000.0])
        train = rv.poisson_generator(rate=rate, start=chance.choice([0.0, 3.0]))
        net.stimulate(population, train, weight=weight, receptor=receptor)
    if chance.random() < 0.2 and population.model not in _WITHOUT_CURRENT:
        net.stimulate(population, rv.noise_generator(mean=100.0, std=300.0, interval=net.resolution))
    if chance.random() < 0.2 and population.model not in _WITHOUT_CURRENT:
        net.stimulate(population, rv.ac_generator(amplitude=300.0, frequency=50.0), weight=rv.Normal(0.0, 1.0))


def _record(net: rv.Network, chance: random.Random) -> None:
    net.record_spikes()
    for population in net.populations:
        if population.is_source or population.model == "parrot_neuron" or chance.random() < 0.5:
            continue
        variable = _VARIABLES.get(population.model, "V_m")
        net.record_state(population[chance.randrange(len(population)) :], variable, 3.0 * net.resolution)
    if net.projections and chance.random() < 0.3:
        net.record_weights(chance.choice(net.projections), 50.0 * net.resolution)


# ---- runs ------------------------------------------------------------------------------------------------------------


def _precisions(seed: int) -> dict[str, Any]:
    chance = random.Random(f"precision {seed}")
    return {
        "precision": chance.choice(["double", "double", "single"]),
        "weight_precision": chance.choice(["single", "double"]),
    }


def reference(seed: int) -> NetworkRun:
    """Return the plainest run of a network."""
    options = {**_precisions(seed), "threads": 1, "instruction_set": "baseline", "programs": "interpreted"}
    return NetworkRun(seed, options, [STEPS])


def draw_run(seed: int, number: int, *, saves: bool = False, draw_given: DrawGiven | None = None) -> NetworkRun:
    """Return another way to run the network of a seed; `draw_given` may draw some of the options.

    If it `saves`, it goes on after each piece from a saved state, each time in another way.
    """
    chance = random.Random(f"run {number} of {seed}")
    precisions = _precisions(seed)

    def draw_options() -> dict[str, Any]:
        return {**precisions, **_draw_options(chance, draw_given(chance) if draw_given else {})}

    options = draw_options()
    cuts = sorted(chance.choices(range(STEPS + 1), k=chance.choice([1, 2] if saves else [0, 1, 4])))
    pieces = [end - begin for begin, end in zip([0, *cuts], [*cuts, STEPS], strict=True)]
    return NetworkRun(seed, options, pieces, [draw_options() for _ in cuts] if saves else [])


def draw_asynchronous(chance: random.Random) -> dict[str, Any]:
    """Draw into how many groups of neurons a network is cut whose groups advance on their own: a `DrawGiven`."""
    threads = chance.choice([1, 2, 2, 3, 4])
    shards = chance.choice([None, threads, threads + 2, 10, 25, 60])
    return {"stepping": "async", "threads": threads, "shards": shards}


def is_asynchronous(run: NetworkRun) -> bool:
    """Return whether groups of neurons advance on their own in a run, which depends on the delays of its network."""
    try:
        return rv.Simulation(described(run.seed), progress=False, **grouped(run.options)).stepping.mode == "async"
    except rv.errors.RanvierError:
        return False


def _draw_options(chance: random.Random, given: dict[str, Any]) -> dict[str, Any]:
    threads = chance.choice([1, 2, 2, 3, 4])
    options = {
        "threads": threads,
        "shards": chance.choice([None, threads, threads + 3]),
        "small_blocks": chance.choice(["heap", "pool"]),
        "stealing": chance.choice(["none", "local_and_remote", "prefer_local", "local_only"]),
        "pinning": "none",
        "instruction_set": chance.choice([*_core.instruction_sets(), "auto"]),
        "table_layout": chance.choice(["auto", "runs", "ring", "blocks"]),
        "sort_connections": chance.choice(["auto", True, False]),
        "row_numbering": chance.choice(["auto", "dense", "compact", "sparse"]),
        "measure_costs": chance.random() < 0.2,
        "trace_epochs": chance.random() < 0.2,
        "trace": chance.choice([0, 0, 7, 1000]),
        **given,
    }
    # On one process, any network.
    options.setdefault("stepping", chance.choice(["bsp", "async"]))
    if options["stepping"] == "async":
        options["trace_epochs"] = False
        options["sort_connections"] = "auto"
    if options["sort_connections"] is False:
        # There are no rows to be numbered.
        options["row_numbering"] = "auto"
    if options["row_numbering"] == "sparse":
        options.setdefault("exchange", chance.choice(["allgather", "rma_allgather"]))
        if options["exchange"] != "allgather" and not options["exchange"].startswith("rma_"):
            options["row_numbering"] = "compact"
    options["programs"] = chance.choice(["interpreted", "interpreted", "compiled"])
    if options["table_layout"] == "runs":
        options["delivery_window"] = chance.choice([None, 1, 2, 16, 64])
    return options


def _gone_on(sim: rv.Simulation, options: dict[str, Any]) -> rv.Simulation:
    """Save a simulation, and go on in another way."""
    folder = from_root(mpi.world(), "a folder", tempfile.mkdtemp)
    path = Path(folder) / "state.h5"
    sim.save(path)
    loaded = rv.Simulation.load(sim.network, path, progress=False, **grouped(options))
    mpi.world().barrier()
    if mpi.world().rank == 0:
        shutil.rmtree(folder)
    return loaded


def begin(run: NetworkRun, path: Path) -> None:
    """Run the first piece, and save the state, or why there is none."""
    net = described(run.seed)

    def saved() -> Outcome | None:
        sim = rv.Simulation(net, progress=False, **grouped(run.options))
        sim.run(time_of(run.pieces[0], net.resolution))
        sim.save(path)
        return None

    failed = _or_failed(saved)
    if failed is not None and mpi.world().rank == 0:
        path.with_suffix(".failed").write_text(failed.digest)


def end(run: NetworkRun, path: Path) -> Outcome:
    """Go on after the first piece from a saved state, and return what comes of all."""
    if path.with_suffix(".failed").exists():
        return Outcome(path.with_suffix(".failed").read_text(), 0)
    net = described(run.seed)

    def gone_on() -> Outcome:
        sim = rv.Simulation.load(net, path, progress=False, **grouped(run.later[0]))
        sim.run(time_of(STEPS - run.pieces[0], net.resolution))
        return outcome_of(sim)

    return _or_failed(gone_on)


def outcome(run: NetworkRun) -> Outcome:
    """Run a network, and return what comes of it, the same on all processes."""
    net = described(run.seed)

    def whole() -> Outcome:
        sim = rv.Simulation(net, progress=False, **grouped(run.options))
        for number, steps in enumerate(run.pieces):
            sim.run(time_of(steps, net.resolution))
            if number < len(run.later):
                sim = _gone_on(sim, run.later[number])
        return outcome_of(sim)

    return _or_failed(whole)


def _or_failed(action: Callable[[], Result]) -> Result | Outcome:
    """Return the result of an action, or the name of the error with which it fails, the same on all processes."""
    try:
        return action()
    except rv.errors.RanvierError as error:
        # Neurons that cannot go on lie on some processes only; the others tell that these have failed.
        names = values_of_all(mpi.world(), type(error).__name__)
        return Outcome(next((name for name in names if name != "RemoteError"), "RemoteError"), 0)


def outcome_of(sim: rv.Simulation) -> Outcome:
    """Return what a simulation has come to."""
    net = sim.network
    result, count = hashlib.sha256(), 0
    for recorder in net.recorders:
        if isinstance(recorder, rv.SpikeRecorder):
            spikes = sim.spikes(recorder)
            count += len(spikes)
            result.update(spikes.digest().encode())
        elif isinstance(recorder, rv.StateRecorder):
            state = sim.state(recorder)
            result.update(state.steps.tobytes() + state.ids.tobytes() + state.values.tobytes())
        elif isinstance(recorder, rv.WeightRecorder):
            weights = sim.weights(recorder)
            result.update(weights.sources.tobytes() + weights.targets.tobytes() + weights.weights.tobytes())
    for population in net.populations:
        if not population.is_source and population.model != "parrot_neuron":
            result.update(sim.get(population, _VARIABLES.get(population.model, "V_m")).tobytes())
    synapses = sim.connections()
    columns = [np.asarray(each) for each in (synapses.weights, synapses.sites, synapses.targets, synapses.sources)]
    order = np.lexsort(columns)
    for column in columns:
        result.update(column[order].tobytes())
    for projection in net.projections:
        for name in projection.synapse.per_synapse_names:
            result.update(sim.connections(projection=projection).get(name).tobytes())
    return Outcome(result.hexdigest(), count)


def main() -> None:
    """Run what a file tells, on all processes; what any of them finds is written by the first.

    A third argument, ``begin`` or ``end``, lets them save states in this folder or go on from them.
    """
    runs = [NetworkRun(*run) for run in json.loads(Path(sys.argv[1]).read_text())]
    outcomes = []
    for number, run in enumerate(runs):
        # For who looks at a run that hangs.
        print(json.dumps(run), flush=True)
        if sys.argv[3:] == ["begin"]:
            begin(run, Path(f"state{number}.h5"))
        elif sys.argv[3:] == ["end"]:
            outcomes.append(end(run, Path(f"state{number}.h5")))
        else:
            outcomes.append(outcome(run))
    if mpi.world().rank == 0:
        Path(sys.argv[2]).write_text(json.dumps(outcomes))


if __name__ == "__main__":
    main()
