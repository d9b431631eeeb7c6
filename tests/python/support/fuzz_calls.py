"""Random calls of the public interface, as lines of Python.

What a line may use is in the names that `fuzz_scripts` runs them with.
"""

from __future__ import annotations

import random
from collections.abc import Callable

import ranvier as rv
from fuzz_expressions import HOSTILE_DURATIONS, Drawing, Names

__all__ = ["draw_line"]


# ---- calls of a network ----------------------------------------------------------------------------------------------


def _new(draw: Drawing, letter: str) -> str:
    return f"{letter}{sum(name[0] == letter and name[1:].isdigit() for name in draw.names)}"


def _create(draw: Drawing) -> str:
    size = str(draw.chance.randrange(2, 9))
    model = draw.model(size)
    values = draw.some({"I_e": draw.numbers(700.0, size), "V_m": "-60.0", "name": draw.one("'a'", "'b'", "'c é'")})
    values |= draw.some({"positions": _layout(draw, size)}, 0.3)
    return f"{_new(draw, 'p')} = {draw.call('net.create', model, size, **_not_in(model, values))}"


def _layout(draw: Drawing, size: str) -> str:
    box = draw.some({"extent": draw.one("1.0", "(1.0, 2.0)"), "periodic": draw.one("True", "(True, False)")}, 0.6)
    least = draw.some({"min_distance": "0.05"}, 0.3)
    unit = draw.some({"unit": draw.one("'um'", "'mm'")}, 0.3)
    return draw.one(
        draw.call("rv.grid", f"({size}, 1)", **box, **unit),
        draw.call("rv.random_positions", extent="(1.0, 1.0)", **least, **unit),
        draw.call("rv.positions", f"[[0.1, 0.2]] * ({size})", **box, **unit),
        f"np.zeros(({size}, {draw.value('2')}))",
    )


def _not_in(model: str, values: dict[str, str]) -> dict[str, str]:
    """Return the values that the model does not have; else what is wrong there would be replaced."""
    return {name: value for name, value in values.items() if f"{name}=" not in model}


def _create_sources(draw: Drawing) -> str:
    times = draw.one("[[1.0, 2.0], [0.5]]", "[[], [1.0, 1.0, 3.5]]", "[np.array([0.1]), (2.0,), [3.0]]")
    call = draw.call("net.create_spike_generators", times, **draw.some({"name": "'player'"}))
    return f"{_new(draw, 'p')} = {call}"


def _connect(draw: Drawing) -> str:
    weight = draw.one("50.0", "-30.0", "1.0", "0.0", "1e-3", "1e6", "[1.0, 2.0, 3.0]", draw.distribution())
    delay = draw.one("1.0", "0.1", "1.5", "rv.Normal(1.5, 0.5, low=0.1)", "[1.0, 1.5, 2.0]", draw.distribution())
    keywords = draw.some({"weight": weight, "delay": delay}, 0.7)
    keywords |= draw.some({"weight_bound": "1e4", "name": "'synapses'", "receptor": "'inhibitory'"}, 0.1)
    rule = draw.rule()
    if draw.chance.random() < 0.1:
        rule = draw.one("'fixed_indegree'", "'all_to_all'", "'pairwise_bernoulli'", "'nearest_neighbors'")
        keywords |= draw.some({"indegree": "2", "probability": "0.5", "allow_autapses": "True"}, 0.6)
    return f"{_new(draw, 'c')} = {draw.call('net.connect', draw.view(), draw.view(), rule, **keywords)}"


def _stimulate(draw: Drawing) -> str:
    keywords = draw.some({"weight": draw.one("50.0", "1.0", "-20.0", "rv.Uniform(1.0, 90.0)"), "delay": "1.0"})
    stimulator = draw.stimulator()
    keywords |= _not_in(stimulator, draw.some({"name": "'drive'", "start": "0.0"}, 0.1))
    return f"{_new(draw, 's')} = {draw.call('net.stimulate', draw.view(), stimulator, **keywords)}"


def _to(draw: Drawing) -> dict[str, str]:
    return draw.some({"to": draw.one("'a.csv'", "pathlib.Path('b.h5')", "'c.txt'", "'no/a.h5'", "'.'")}, 0.1)


def _record(draw: Drawing) -> str:
    kind = draw.chance.randrange(6)
    if kind < 2:
        neurons = [f"[{draw.view()}, {draw.view()}]", draw.view()][: draw.chance.randrange(3)][-1:]
        return f"{_new(draw, 'r')} = {draw.call('net.record_spikes', *neurons, **_to(draw))}"
    if kind < 4:
        variables = draw.one("'V_m'", "['V_m']", "('V_m', 'I_syn_ex')", "'m'", "['V_m', 'V_m']")
        keywords = draw.some({"interval": "0.5"}) | _to(draw)
        return f"{_new(draw, 'r')} = {draw.call('net.record_state', draw.view(), variables, **keywords)}"
    if kind == 5:
        kernels = [
            f"rv.PotentialKernel([[1.0, -0.5, 2.0]], {draw.one('0.1', '0.5', '0.15', '0.0')}, [[0.0, 0.0, -100.0]])"
            for _ in range(2)
        ]
        pairs = ", ".join(f"{draw.view()}: {draw.value(kernel)}" for kernel in kernels[: 1 + draw.chance.randrange(2)])
        keywords = draw.some({"interval": draw.one("1.0", "0.5", "0.3")}) | _to(draw)
        return f"{_new(draw, 'r')} = {draw.call('net.record_lfp', f'{{{pairs}}}', **keywords)}"
    keywords = draw.some({"sources": draw.view(), "targets": draw.view()}) | _to(draw)
    return f"{_new(draw, 'r')} = {draw.call('net.record_weights', draw.made(rv.Projection), '1.0', **keywords)}"


def _change(draw: Drawing) -> str:
    if hasattr(rv.Network, "set") and draw.chance.random() < 0.7:
        what = draw.one(draw.view(), draw.made(rv.Projection), draw.made(rv.Stimulus))
        values = draw.some({"I_e": "500.0", "V_m": "-61.0", "tau_m": "12.0", "weight": "2.0", "rate": "9e3"}, 0.3)
        return draw.call("net.set", what, **values)
    what, value = draw.one("resolution 0.1", "seed 7", "seed 2**64 - 1", "resolution 0.05").split(" ", 1)
    return f"net.{what} = {draw.value(value)}"


def _look(draw: Drawing) -> str:
    population = draw.made(rv.Population)
    return draw.one(
        f"{population}[{draw.value('-1')}]",
        f"{population}[{draw.value('0')}:{draw.value('2')}]",
        f"{population}[::{draw.value('1')}]",
        f"len({draw.view()})",
        f"({draw.one_view()}).ids",
        f"{draw.value(population)} + {population}[1:]",
        f"{population}[1:] + {draw.value(population)}",
        f"np.asarray({population})",
        f"{draw.value(population)} in net",
        "list(net)",
        f"repr({draw.view()})",
        f"{draw.view()} == {draw.value(population)}",
        f"{population}.{draw.one('I_e', 'name', 'values', 'index', 'size', 'network')} = {draw.value('1.0')}",
        f"{draw.made(rv.Projection)}.{draw.one('weight', 'delay', 'rule', 'name')} = {draw.value('1.0')}",
        f"{draw.made(rv.Stimulus)}.values['rate'] = {draw.value('1.0')}",
        f"({draw.one_view()}).positions",
        f"({draw.one_view()}).nearest({draw.value('(0.0, 0.1)')}, {draw.value('1')})",
        f"({draw.one_view()}).within({draw.value('rv.circle(0.5)')}, {draw.value('(0.0, 0.1)')})",
        f"rv.distance({draw.value(population)}, {draw.view()})",
        _layout(draw, "3"),
        "net.summary()",
        "repr(net)",
        "net._repr_html_()",
        f"net[{draw.value(repr('a'))}]",
        f"{draw.made(rv.Projection)}.expected_synapses",
        "net.expected_synapses",
        "pickle.loads(pickle.dumps(net))",
        "copy.deepcopy(net)",
        draw.distribution(),
        draw.rule(),
        draw.model("2"),
        f"rv.Network({draw.value('0.1')}, {draw.value('3')}, {draw.value(repr('n'))})",
    )


# ---- calls of a simulation -------------------------------------------------------------------------------------------


def _options(draw: Drawing) -> dict[str, str]:
    groups = {
        "": {
            "precision": draw.one("'single'", "'double'"),
            "weight_precision": draw.one("'single'", "'double'"),
        },
        "processes": {
            "communicator": "None",
            "placement": draw.one("'shuffle'", "'consecutive'", "[0] * 8"),
            "exchange": draw.one("'alltoall'", "'auto'", "'multisend'"),
            "intervals": draw.one("1", "2"),
            "spike_buffer": "2**16",
            "allgather_spikes": "16",
            "connection_buffer": "2**16",
            "sort_connections": draw.one("True", "False"),
            "keep_sources": draw.one("True", "False"),
            "row_numbering": draw.one("'dense'", "'compact'"),
            "wait_apart": "True",
        },
        "tuning": {
            "instruction_set": draw.one("'baseline'", "'auto'"),
            "table_layout": draw.one("'runs'", "'ring'", "'blocks'"),
            "delivery_window": draw.one("1", "2", "64", "3"),
            "pinning": draw.one("'none'", "'compact'", "[0]", "[0, 0]"),
            "shards": draw.one("1", "2", "5"),
            "stealing": draw.one("'none'", "'prefer_local'", "'local_and_remote'"),
            "costs": draw.one("{'a': 1.0}", "{population.name: 2.0 for population in net.populations}", "'measured'"),
            "measure_costs": "True",
            "trace_epochs": "True",
            "trace": draw.one("3", "1000"),
        },
        "dry_run": {"ranks": draw.one("2", "100"), "invented_rate": "10.0"},
    }
    chosen: dict[str, str] = {}
    for group, options in groups.items():
        own = {name: draw.value(value) for name, value in draw.some(options, 0.07).items()}
        if not group:
            chosen |= own
        elif own or draw.chance.random() < 0.02:
            kind = {"processes": "Processes", "tuning": "Tuning", "dry_run": "DryRun"}[group]
            chosen[group] = draw.value(f"rv.{kind}({', '.join(f'{name}={value}' for name, value in own.items())})")
    return chosen


def _build(draw: Drawing) -> str:
    # Trials of numbers of threads take some tenths of a second.
    threads = "'auto'" if draw.chance.random() < 0.03 else draw.one("1", "1", "2")
    options = {"threads": threads, "memory_limit": "2**27", **_options(draw), "progress": "False"}
    options |= draw.some({"recordings": draw.one("'root'", "'local'", "'everywhere'")}, 0.07)
    arguments = ", ".join(f"{name}={value}" for name, value in options.items())
    return f"sim = rv.Simulation({draw.value('net')}, {arguments})"


def _run(draw: Drawing) -> str:
    duration = draw.one("0.1", "1.0", "5.0", "0", "7.3")
    if draw.chance.random() < 0.9:
        return f"sim.run({draw.value(duration, HOSTILE_DURATIONS)})"
    return f"sim.run_until({draw.value(f'sim.time + {duration}', HOSTILE_DURATIONS)})"


def _state(draw: Drawing) -> str:
    names = ("V_m", "I_e", "tau_m", "t_ref", "C_m", "I_syn_ex", "V_th", "E_L", "m", "tau_m_")
    kind = draw.chance.random()
    neurons = draw.view() if draw.chance.random() < 0.8 else f"[{draw.view()}, {draw.view()}]"
    if kind < 0.3:
        name = f"'{draw.one(*names)}'"
        return draw.call("sim.get", neurons, draw.one(name, name, f"[{name}, 'V_m']", "()"))
    if kind < 0.5:
        values = {"rate": draw.numbers(8000.0, "len(p0)"), "amplitude": "50.0", "weight": draw.numbers(1.0, "len(p0)")}
        values |= {"times": "[1.0, 3.0]", "rates": "[1e3, 1e4]", "amplitudes": "[1.0, -1.0]", "start": "2.0"}
        return draw.call(
            "sim.set", draw.made(rv.Stimulus), **draw.some({**values, "stop": "30.0", "delay": "1.0"}, 0.3)
        )
    if kind < 0.6:
        times = draw.one("[[sim.time + 1.0], [sim.time + 2.0] * 3]", "[[], []]", "[[1.0], []]")
        return draw.call("sim.set", draw.view(), spike_times=times)
    several = draw.chance.sample(names, draw.chance.randrange(1, 4))
    choices = ("1.0", "20.0", "-60.0", f"np.linspace(1.0, 2.0, len({draw.view()}))", "1e7", "1e-3", draw.distribution())
    return draw.call("sim.set", neurons, **{name: draw.one(*choices) for name in several})


def _synapses(draw: Drawing) -> str:
    query = draw.some({"sources": draw.one(draw.view(), "[0, 1]", "0"), "targets": draw.view()})
    query |= draw.some({"projection": draw.made(rv.Projection)})
    chosen = draw.one("", "[:2]", f"[{draw.value('0')}]", "[[0, 1]]", "[np.array([True])]")
    if draw.chance.random() < 0.6:
        weight = draw.one("1.0", "2.5", "-1.0", "0.0", "[1.0, 2.0]", "1e9")
        return f"{draw.call('sim.connections', **query)}{chosen}.weights = {draw.value(weight)}"
    what = draw.one("connections", "count_connections")
    return draw.call(f"sim.{what}", **query)


def _recordings(draw: Drawing) -> str:
    recorder = draw.value(draw.made(rv.network.recorders.Recorder))
    what = draw.one(
        "",
        f".of({draw.value(draw.view())})",
        f".between({draw.value('1.0')}, {draw.value('3.0')})",
        ".mean_rates()",
        ".counts()",
        f".irregularity(least_spikes={draw.value('3')})",
        ".digest()",
        ".by_population()",
    )
    return draw.one(
        f"sim.spikes({recorder}){what}",
        f"sim.spikes({recorder}){what}",
        f"sim.state({recorder})",
        f"sim.extracellular({recorder})",
        f"sim.state({recorder})[{draw.value(repr('V_m'))}]",
        f"sim.weights({recorder})",
        "sim.counts()",
        "sim.reset_counts()",
        "sim.costs()",
        "sim.epoch_times()",
        "sim.trace().account().as_json()",
        "sim.memory()",
        "sim.memory_by_node()",
        "sim.memory_pages()",
        "sim.timers()",
        "sim.traffic()",
        f"sim.{draw.one('phases', 'real_time_factor', 'processors', 'stolen_shards', 'sorts_connections')}",
        "repr(sim)",
        f"rv.read_spikes({draw.value(repr('a.csv'))})",
        f"rv.read_state({draw.value(repr('b.h5'))})",
        f"rv.read_weights({draw.value(repr('a.csv'))})",
    )


def _plot(draw: Drawing) -> str:
    recorded = f"sim.spikes({draw.made(rv.SpikeRecorder)})"
    spikes = draw.value(recorded)
    rates = draw.one("{'a': 5.0}", f"{{'a': {draw.value('1.0')}}}", f"{recorded}.mean_rates()")
    titled = draw.some({"title": "'a title'", "published_rates": rates})
    window = draw.some({"start": "1.0", "stop": draw.one("3.0", "sim.time")})
    states = f"sim.state({draw.made(rv.StateRecorder)})"
    chosen = draw.some({"ids": draw.one("[0]", "[0, 1]", "range(3)", "[-1]", "np.array([0])"), "threshold": "-50.0"})
    return draw.one(
        draw.call("rv.plot.raster", spikes, **window, **titled),
        draw.call("rv.plot.rates", spikes, **titled),
        draw.call("rv.plot.irregularity", spikes, **draw.some({"title": "'a title'"})),
        draw.call("rv.plot.state", states, **draw.some({"variable": "'V_m'"}), **window, **chosen),
    )


def _predict_many(draw: Drawing) -> str:
    describe = draw.one("lambda size: net", "lambda size: describe(size)")
    options = {"ranks": draw.one("1", "2", "100"), "threads": "1"} | draw.some({"rate": "5.0"}) | _options(draw)
    ranks = draw.one("[1, 2]", "prediction.ranks_around(4, 16)", "range(1, 4)", f"[{draw.value('3')}]")
    played = {"duration": draw.value(draw.one("1.0", "5.0"), HOSTILE_DURATIONS), "presim": "0.0"}
    played |= draw.some({"rate": draw.one("10.0", "{'a': 5.0}"), "memory_limit": "2**27"}, 0.5) | _options(draw)
    keywords = ", ".join(f"{name}={value}" for name, value in played.items())
    return draw.one(
        draw.call("prediction.largest_fit", "'size'", draw.one("10", "1", "4.0"), describe, "10**7", **options),
        draw.call("prediction.memory_over_ranks", describe, ranks, threads="1", rate="10.0"),
        f"dry_run.play({draw.value('net')}, {draw.value(draw.one('1', '2', '64'))}, threads=1, {keywords})",
    )


def _predict(draw: Drawing) -> str:
    rates = draw.value("{'a': 5.0}")
    ranks = draw.one("1", "2", "1024")
    load = draw.call("prediction.expect_load", "net", ranks=ranks, threads="2", rates=rates, rate="10.0")
    return draw.one(
        draw.call("rv.predict_memory", "net", ranks=ranks, rank="0", rate="10.0", threads="2", **_options(draw)),
        load,
        draw.call("prediction.mean_rate", "net", rates, "10.0"),
        draw.call("prediction.ranks_around", ranks),
        draw.call(
            "rv.networks.brunel", scale="0.01", order="2500", g="5.0", eta="2.0", J="0.1", delay="1.5", resolution="0.1"
        ),
        draw.call("rv.networks.microcircuit", scale="0.01", drive="'dc'", resolution="0.1", seed="1"),
        draw.call("rv.networks.interval_fire", cells="20", connections="2", weight="0.1", delay="1.0", seed="2"),
        draw.call("rv.networks.hpc_benchmark", scale="0.01", indegree_scale="0.01", resolution="0.1", seed="1"),
    )


_OF_NETWORKS: list[tuple[float, Callable[[Drawing], str]]] = [
    (3, _create),
    (0.5, _create_sources),
    (4, _connect),
    (3, _stimulate),
    (3, _record),
    (1, _change),
    (3, _look),
    (0.5, _predict),
    (0.2, _predict_many),
]
_OF_SIMULATIONS: list[tuple[float, Callable[[Drawing], str]]] = [
    (3, _run),
    (5, _state),
    (4, _synapses),
    (3, _recordings),
    (0.5, _build),
    (0.3, _connect),
    (0.2, _plot),
]


def draw_line(chance: random.Random, names: Names) -> str:
    """Return one line."""
    draw = Drawing(chance, names)
    if draw.made(rv.Population) == "None":
        return _create(draw)
    if isinstance(names.get("sim"), rv.Simulation):
        choices = _OF_SIMULATIONS
    elif chance.random() < 0.15:
        return _build(draw)
    else:
        choices = _OF_NETWORKS
    (call,) = chance.choices([call for _, call in choices], [weight for weight, _ in choices])
    return call(draw)
