"""The command `ranvier`: in this process, and where a process can be told from it, in one of its own."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import ranvier as rv
from command_lines import fail, ranvier, run
from ranvier import _core
from ranvier.commands.keys import shipped_networks
from ranvier.equations.neurons import NAMES
from ranvier_benchmarks.command import benchmarks

SMALL = ("n_scaling=0.01", "k_scaling=0.5", "time=100", "presim=50")


# ---- saved states ----------------------------------------------------------------------------------------------------


def test_a_run_goes_on_from_a_saved_state(tmp_path: Path) -> None:
    whole, resumed, state = tmp_path / "whole.json", tmp_path / "resumed.json", tmp_path / "state.h5"
    settings = ["n_scaling=0.01", "k_scaling=0.5", "presim=20"]
    run("run", "microcircuit", "--set", *settings, "time=60", "threads=1", "--json", whole)
    run("run", "microcircuit", "--set", *settings, "time=30", "save_every=20", "--save", state)
    run("run", "microcircuit", "--set", *settings, "time=60", "threads=2", "--resume", state, "--json", resumed)
    expected, found = json.loads(whole.read_text()), json.loads(resumed.read_text())
    for name in ("spike_digest", "spikes", "mean_rate_hz", "simulated_ms", "synaptic_events"):
        assert found[name] == expected[name], name
    assert (expected["resumed_ms"], found["resumed_ms"]) == (0.0, 50.0)
    message = fail("run", "microcircuit", "--set", *settings, "time=20", "--resume", state)
    assert "end of the run is 40 ms, but the loaded state is that of 50 ms" in message


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("--set", "save_every=10"), "add --save FILE"),
        (("--set", "save_every=0", "--save", "state.h5"), "save_every"),
        (("--save", "state.txt"), "its format is not known"),
        (("--resume", "none.h5"), "there is no such file"),
        (("--dry-run", "4", "--save", "state.h5"), "a dry run has no state"),
        (("--dry-run", "4", "--resume", "state.h5"), "a dry run has no state"),
    ],
)
def test_saves_that_are_refused(arguments: tuple[str, ...], message: str, tmp_path: Path) -> None:
    assert message in fail("run", "brunel", *arguments, folder=tmp_path)
    assert list(tmp_path.iterdir()) == []


# ---- run -------------------------------------------------------------------------------------------------------------


def test_microcircuit(tmp_path: Path) -> None:
    json_path, plot_path = tmp_path / "results.json", tmp_path / "raster.png"
    settings = [
        *SMALL,
        "threads=3",
        "seed=5",
        "drive=dc",
        "resolution=0.1",
        "precision=double",
        "instruction_set=baseline",
    ]
    printed = run("run", "microcircuit", "--set", *settings, "--json", json_path, "--plot", plot_path)
    results = json.loads(json_path.read_text())
    model = rv.networks.microcircuit(n_scaling=0.01, k_scaling=0.5, seed=5)
    sim = rv.Simulation(model.net, threads=1)
    sim.run(150.0)
    spikes = sim.spikes(model.spikes).between(50.0)
    assert results["spike_digest"] == spikes.digest()
    assert results["spikes"] == len(spikes) > 0
    assert results["mean_rate_hz"] == spikes.mean_rates()
    assert results["neurons"] == model.net.neuron_count
    assert results["synapses"] == model.net.expected_synapses
    assert (results["threads"], results["ranks"], results["instruction_set"]) == (3, 1, "baseline")
    assert results["simulated_ms"] == pytest.approx(100.0)
    assert results["real_time_factor"] == pytest.approx(results["sim_s"] / 0.1)
    assert results["build_s"] > 0.0
    assert results["init_s"] >= 0.0
    assert results["phases_s"]["simulation"] == results["sim_s"]
    assert results["synaptic_events"] > results["spikes"]
    assert results["peak_rss_bytes"] > sum(results["memory_bytes"].values())
    assert results["bytes_per_synapse"] == pytest.approx(sum(results["memory_bytes"].values()) / results["synapses"])
    assert results["version"] == rv.__version__
    assert results["parameters"]["seed"] == 5
    assert results["parameters"]["n_scaling"] == 0.01
    for part in ("L23E", "published", "0.903", "real-time factor", "build", results["spike_digest"], "bytes a synapse"):
        assert part in printed
    assert plot_path.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    "settings",
    [
        (*SMALL, "drive=poisson", "precision=single"),
        (*SMALL, "weight_precision=double", "table_layout=ring", "delivery_window=8"),
        ("scale=0.02", "time=20", "presim=0"),
        (*SMALL, "resolution=0.05"),
    ],
    ids=" ".join,
)
def test_keys_of_the_microcircuit(settings: tuple[str, ...], tmp_path: Path) -> None:
    run("run", "microcircuit", "--set", *settings, "--json", tmp_path / "results.json")
    results = json.loads((tmp_path / "results.json").read_text())
    given = dict(setting.split("=") for setting in settings)
    assert {key: str(results["parameters"][key]).removesuffix(".0") for key in given} == given


@pytest.mark.parametrize("version", ["alpha", "delta"])
def test_brunel(version: str, tmp_path: Path) -> None:
    settings = [f"version={version}", "order=100", "time=100", "g=4.5", "eta=1.8", "threads=1"]
    run("run", "brunel", "--set", *settings, "--set", "presim=20", "--json", tmp_path / "results.json")
    results = json.loads((tmp_path / "results.json").read_text())
    assert results["mean_rate_hz"]["excitatory"] > 1.0
    assert results["synapses"] == 500 * 50


def test_networks_of_the_exchange_of_spikes(tmp_path: Path) -> None:
    settings = ["cells=300", "connections=20", "spread=10", "burst=true", "topology=random", "threads=2"]
    run("run", "interval_fire", "--set", *settings, "--json", tmp_path / "results.json")
    results = json.loads((tmp_path / "results.json").read_text())
    assert results["parameters"]["burst"] is True
    assert results["mean_rate_hz"]["cells"] > 20.0
    assert results["simulated_ms"] == 200.0
    run("run", "hpc_benchmark", "--set", "scale=0.02", "indegree_scale=0.02", "time=100", "--json", tmp_path / "h.json")
    results = json.loads((tmp_path / "h.json").read_text())
    assert results["synapses"] == 225 * 225
    assert results["mean_rate_hz"]["inhibitory"] > 5.0


PROBED = """
import ranvier as rv

def probe():
    soma = rv.Section(points=[(0, 0, -10, 20), (0, 0, 10, 20)], tag="soma")
    apical = rv.Section(points=[(0, 0, 10, 2), (0, 0, 200, 1)], tag="apical", parent=0)
    cell = rv.Cell(rv.Morphology([soma, apical]), compartments=[1, 4], membrane=[("all", rv.pas())], V_init=-70.0)
    template = rv.CellTemplate(cell, positions=rv.positions([[50, 0, -400], [-70, 0, -350]], unit="um"))
    layers = {"top": (0.0, -350.0), "bottom": (-350.0, -600.0)}
    return rv.networks.Probe(rv.laminar_probe(4, spacing=150.0), {"neurons": template}, layers)

def network(seed=1):
    net = rv.Network(seed=seed)
    neurons = net.create(rv.iaf_psc_exp(), 50, name="neurons")
    net.stimulate(neurons, rv.poisson_generator(rate=9000.0), weight=60.0)
    net.connect(neurons, neurons, rv.FixedIndegree(5), weight=20.0, delay=rv.Normal(1.5, 0.5, low=0.1))
    return rv.networks.NetworkModel(net, net.record_spikes(), time=60.0, presim=20.0, probe=probe)
"""


def test_potentials_of_a_probe(tmp_path: Path) -> None:
    path, file = tmp_path / "probed.py", tmp_path / "lfp.h5"
    path.write_text(PROBED)
    plain, whole, resumed = (tmp_path / f"{name}.json" for name in ("plain", "whole", "resumed"))
    figure, state = tmp_path / "lfp.png", tmp_path / "state.h5"
    run("run", path, "--json", plain)
    printed = run("run", path, "--lfp-file", file, "--json", whole, "--plot", figure, "--set", "threads=2")
    for words in ("contact", "SD (uV)", "top", "bottom"):
        assert words in printed
    results = json.loads(whole.read_text())
    assert results["spike_digest"] == json.loads(plain.read_text())["spike_digest"]
    assert "lfp" not in json.loads(plain.read_text())
    data = rv.read_state(file)
    assert isinstance(data, rv.ExtracellularData)
    counts = data.times > 20.0
    np.testing.assert_allclose(results["lfp"]["sd_uv"], 1e3 * data.potentials[counts].std(axis=0), rtol=1e-12)
    assert min(results["lfp"]["sd_uv"]) > 0.0
    assert results["lfp"]["layers"] == ["top", "top", "top", "bottom"]
    assert figure.read_bytes().startswith(b"\x89PNG")
    run("run", path, "--lfp", "--save", state, "--set", "time=10")
    run("run", path, "--lfp", "--resume", state, "--json", resumed)
    assert json.loads(resumed.read_text())["lfp"] == results["lfp"]
    assert "has no probe" in fail("run", "brunel", "--lfp")
    assert "dry run has no potentials" in fail("run", path, "--lfp", "--dry-run", "2")
    assert "its format is not known" in fail("run", path, "--lfp-file", tmp_path / "lfp.txt")
    assert "samples potentials every 1 ms" in fail("run", path, "--lfp", "--set", "time=0.5")
    path.write_text(PROBED.replace("probe=probe)", "probe=dict)"))
    assert "the probe of its network is a dict" in fail("run", path, "--lfp")


MODEL = """
import ranvier as rv
{imports}

def network(size=50, rate=9000.0, label="x", quick=False, seed: int | None = None):
    assert isinstance(size, int) and isinstance(rate, float) and isinstance(quick, bool), (size, rate, quick)
    net = rv.Network(seed=1 if seed is None else seed, name=label)
    neurons = net.create(rv.iaf_psc_exp(), size, name="neurons")
    net.stimulate(neurons, rv.poisson_generator(rate=rate), weight=60.0)
    return {result}
"""


def write_model(folder: Path, imports: str = "", result: str = "net") -> Path:
    path = folder / "my_model.py"
    path.write_text(MODEL.format(imports=imports, result=result))
    return path


def test_file_of_the_user(tmp_path: Path) -> None:
    (tmp_path / "near_the_model.py").write_text("value = 1\n")
    path = write_model(tmp_path, imports="import near_the_model")
    settings = ["size=70", "rate=8e3", "label=mine", "quick=true", "seed=4", "time=50"]
    printed = run(
        "run", path, "--set", *settings, "--json", tmp_path / "results.json", "--plot", tmp_path / "raster.pdf"
    )
    results = json.loads((tmp_path / "results.json").read_text())
    assert "mine" in printed
    assert (results["neurons"], results["network"], results["bytes_per_synapse"]) == (70, "mine", None)
    assert results["mean_rate_hz"]["neurons"] > 1.0
    assert results["parameters"]["seed"] == 4
    assert (tmp_path / "raster.pdf").read_bytes().startswith(b"%PDF")


def test_recordings_of_a_file_of_the_user_are_not_replaced(tmp_path: Path) -> None:
    path = write_model(
        tmp_path, imports=f"to = {str(tmp_path / 'spikes.csv')!r}", result="(net.record_spikes(to=to), net)[1]"
    )
    arguments: list[str | Path] = ["run", path, "--set", "time=20", "threads=1"]
    run(*arguments)
    before = (tmp_path / "spikes.csv").read_bytes()
    assert "spikes.csv: it exists" in fail(*arguments)
    assert (tmp_path / "spikes.csv").read_bytes() == before
    path.write_text(path.read_text().replace("to=to", "to=to, overwrite=True"))
    run(*arguments, "seed=2")
    assert (tmp_path / "spikes.csv").read_bytes() != before


def test_file_of_the_user_named_like_a_module(tmp_path: Path) -> None:
    (tmp_path / "numpy.py").write_text(MODEL.format(imports="import numpy as np; np.arange(3)", result="net"))
    run("run", tmp_path / "numpy.py", "--set", "time=10")


def test_keys_that_are_lists(tmp_path: Path) -> None:
    path = tmp_path / "lists.py"
    path.write_text(
        "import ranvier as rv\n"
        "def network(sizes=(1, 2), *more, **others):\n"
        "    net = rv.Network()\n"
        "    for size in sizes:\n"
        "        net.create('iaf_psc_exp', size)\n"
        "    return net\n"
    )
    results = tmp_path / "results.json"
    run("run", path, "--set", "sizes=(3, 4, 5)", "time=1", "--json", results)
    assert json.loads(results.read_text())["neurons"] == 12
    assert "it must be a tuple" in fail("run", path, "--set", "sizes=3,a")
    assert "this name does not exist" in fail("run", path, "--set", "others=1")


def test_file_of_the_user_that_tells_for_how_long(tmp_path: Path) -> None:
    result = "rv.networks.NetworkModel(net, net.record_spikes(neurons[:10]), time=30.0, presim=10.0)"
    path = write_model(tmp_path, result=result)
    run("run", path, "--json", tmp_path / "results.json")
    results = json.loads((tmp_path / "results.json").read_text())
    assert (results["simulated_ms"], results["presim_ms"]) == (30.0, 10.0)


@pytest.mark.parametrize(
    ("arguments", "parts"),
    [
        (["microcirciut"], ["'microcirciut'", "did you mean 'microcircuit'?"]),
        (["microcircuit", "--set", "sclae=1"], ["'sclae'", "did you mean 'scale'?", "k_scaling"]),
        (["microcircuit", "--set", "drive=ac"], ["'ac'", "dc", "poisson"]),
        (["microcircuit", "--set", "scale=big"], ["scale", "'big'", "a number"]),
        (["microcircuit", "--set", "scale=-1"], ["scale", "-1"]),
        (["microcircuit", "--set", "threads=1.5"], ["threads", "a whole number"]),
        (["microcircuit", "--set", "threads=0"], ["threads", "at least 1"]),
        (["microcircuit", "--set", "scale"], ["'scale'", "key=value"]),
        (["microcircuit", "--set", "seed=1", "seed=2"], ["seed", "twice"]),
        (["microcircuit", "--set", "time=0"], ["time", "> 0"]),
        (["microcircuit", "--set", "presim=-1"], ["presim", ">= 0"]),
        (["microcircuit", "--set", "time=0.05"], ["time", "resolution"]),
        (["microcircuit", "--set", "time=nan"], ["time"]),
        (["microcircuit", "--set", "resolution=0"], ["resolution", "> 0"]),
        (["microcircuit", "--set", "precision=half", "n_scaling=0.01"], ["'half'", "double"]),
        (["microcircuit", "--set", "instruction_set=sse", "n_scaling=0.01"], ["'sse'", "avx2"]),
        (["microcircuit", "--set", "sort_connections=sometimes"], ["'sometimes'", "auto, true or false"]),
        (["microcircuit", "--set", "keep_sources=auto"], ["keep_sources", "'auto'", "it must be true or false"]),
        (["microcircuit", "--set", "scale=100"], ["bytes"]),
        (["microcircuit", "--json", "missing/results.json"], ["missing/results.json", "cannot be written"]),
        (["microcircuit", "--json", "."], ["cannot be written"]),
        (["microcircuit", "--plot", "missing/raster.png"], ["missing/raster.png", "cannot be written"]),
        (["microcircuit", "--plot", "raster.doc"], ["raster.doc", ".png"]),
        (["microcircuit", "--plot", "same.json", "--json", "same.json"], ["same.json"]),
        (["brunel", "--set", "version=gamma"], ["'gamma'", "alpha"]),
        (["brunel", "--set", "order=many"], ["order", "a whole number"]),
        (["missing.py"], ["missing.py", "no such file"]),
        (["empty.py"], ["empty.py", "network"]),
        (["broken.py"], ["broken.py, line 1", "SyntaxError"]),
        (["raising.py"], ["raising.py, line 2", "ZeroDivisionError"]),
        (["wrong.py"], ["wrong.py", "int"]),
        (["reserved.py"], ["threads", "another name"]),
        (["needing.py"], ["size"]),
        (["refused.py"], ["refused.py, line 4", "tau_m"]),
    ],
    ids=lambda value: " ".join(value[:3]) if isinstance(value, list) else None,
)
def test_errors_of_the_user(arguments: list[str], parts: list[str], tmp_path: Path) -> None:
    files = {
        "empty.py": "",
        "broken.py": "def network(:\n",
        "raising.py": "def network():\n    return 1 / 0\n",
        "wrong.py": "def network():\n    return 1\n",
        "reserved.py": "def network(threads=1):\n    return 1\n",
        "needing.py": "def network(size):\n    return 1\n",
        "refused.py": "import ranvier as r\ndef network():\n    n = r.Network()\n    n.create('iaf_psc_exp', 1, tau=1)",
    }
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    message = fail("run", *arguments, folder=tmp_path)
    for part in parts:
        assert part in message
    assert {path.name for path in tmp_path.iterdir()} - {"__pycache__"} == set(files)


def test_destinations_are_checked_before_building(tmp_path: Path) -> None:
    # At this scale building would need more memory than there is, which is found later.
    assert "cannot be written" in fail(
        "run", "microcircuit", "--set", "scale=100", "--json", tmp_path / "no" / "a.json"
    )


def test_what_was_there_is_kept_when_the_run_fails(tmp_path: Path) -> None:
    (tmp_path / "results.json").write_text("precious")
    fail("run", "microcircuit", "--set", "scale=100", "--json", tmp_path / "results.json")
    assert (tmp_path / "results.json").read_text() == "precious"


# ---- the other commands ----------------------------------------------------------------------------------------------


def test_models_are_listed_in_one_line_each() -> None:
    lines = run("models").splitlines()
    for name in (
        *NAMES,
        *shipped_networks(),
        "iaf_psc_exp",
        "poisson_generator",
        "fixed_indegree",
        "tsodyks",
        "hh",
    ):
        assert any(line.startswith(f"{name} ") for line in lines), name
    shown = [line for line in lines if line and not line.startswith("`") and "──" not in line]
    assert all(re.match(r"\w+ +\S", line) for line in shown)
    assert len(shown) > 90
    # In a pipe, no line is cut.
    assert max(map(len, lines)) > 120
    assert not any("…" in line for line in lines)


@pytest.mark.parametrize(
    ("words", "found", "missing"),
    [
        (["adaptive"], "aeif_cond_exp", "iaf_psc_exp "),
        (["ADAPTIVE", "alpha"], "aeif_cond_alpha", "aeif_cond_exp "),
        (["tsodyks", "short-term"], "tsodyks2", "stdp"),
        (["pairwise"], "pairwise_bernoulli", "tsodyks"),
        (["tau_rec"], "tsodyks", "iaf_psc_exp "),  # only parameters contain it
    ],
)
def test_models_are_found_by_words(words: list[str], found: str, missing: str) -> None:
    printed = run("models", *words)
    assert found in printed
    assert missing not in printed


def test_one_model() -> None:
    printed = run("models", "iaf_psc_alpha")
    assert "dI_syn_ex/dt" in printed
    assert "See also: iaf_psc_alpha_multisynapse\n" in printed
    assert "weights in" not in run("models", "spike_generator")
    assert run("models", "") == run("models")
    assert "iaf_psc_exp" not in printed
    assert "did you mean 'iaf_psc_exp'?" in fail("models", "iaf_psc_epx")


def test_info() -> None:
    printed = run("info")
    assert rv.__version__ in printed
    assert "baseline" in printed
    facts = json.loads(run("info", "--json"))
    assert facts["version"] == rv.__version__
    assert facts["instruction_sets"] == _core.instruction_sets()
    assert facts["usable_processors"] >= 1
    assert 0 < facts["available_memory_bytes"] <= facts["memory_bytes"]
    assert facts["numpy"] == np.__version__


def test_benchmarks_are_found() -> None:
    names = [name for name, _ in benchmarks()]
    assert "microcircuit" in names
    printed = run("bench", "--help")
    assert all(name in printed for name in names)


def test_version() -> None:
    assert run("--version").strip() == f"ranvier {rv.__version__}"


@pytest.mark.parametrize(
    "arguments", [[], ["rnu"], ["run"], ["run", "brunel", "--jsn", "a"], ["bench"], ["bench", "no"]]
)
def test_wrong_command_lines(arguments: list[str]) -> None:
    done = ranvier(*arguments)
    assert done.returncode == 2
    assert "usage: ranvier" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.thorough
def test_a_reader_that_goes_away() -> None:
    command = f"{sys.executable} -m ranvier.command_line models | head -n 1"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=60)
    assert "Neurons" in done.stdout
    assert "Traceback" not in done.stderr


def test_output_that_cannot_be_written(tmp_path: Path) -> None:
    settings = ["--set", "order=20", "time=10", "presim=0"]
    with Path("/dev/full").open("w") as full:
        done = subprocess.run(
            [sys.executable, "-m", "ranvier.command_line", "run", "brunel", *settings, "--json", tmp_path / "a.json"],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            timeout=120,
        )
    assert done.returncode == 1
    assert done.stderr == "ranvier: error: [Errno 28] No space left on device\n"
    assert json.loads((tmp_path / "a.json").read_text())["neurons"] == 100
    # The other way round.
    done = ranvier("run", "brunel", *settings, "--json", "/dev/full")
    assert done.returncode == 2
    assert "Digest" in done.stdout
    assert done.stderr.startswith("ranvier: error: file /dev/full")


def test_terminal_that_knows_few_letters() -> None:
    command = [sys.executable, "-m", "ranvier.command_line", "run", "brunel", "--set", "order=20", "time=10"]
    environment = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, env=environment)
    assert (done.returncode, done.stderr) == (0, "")
    assert "Digest" in done.stdout


def test_json_into_a_pipe() -> None:
    settings = "order=20 time=10"
    command = f"{sys.executable} -m ranvier.command_line run brunel --set {settings} --json /dev/stderr >/dev/null"
    done = subprocess.run(["bash", "-c", command], capture_output=True, text=True, timeout=120)
    assert json.loads(done.stderr)["neurons"] == 100


@pytest.mark.thorough
def test_commands_need_no_extra_package(tmp_path: Path) -> None:
    """What `pip install ranvier` alone brings is enough, for all but the commands that need more."""
    optional = ("scipy", "nest", "pandas", "neo", "quantities", "mpi4py", "sphinx", "pytest")
    program = f"import sys; sys.modules.update(dict.fromkeys({optional})); import ranvier.command_line as c"
    program += "; sys.exit(c.main(['run', 'brunel', '--set', 'scale=0.02', 'time=10', '--plot', 'spikes.png']))"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path)
    assert done.returncode == 0, done.stderr


def test_benchmarks_that_are_not_installed() -> None:
    program = "import sys; sys.modules['ranvier_benchmarks'] = None; import ranvier.command_line as c; "
    program += "sys.exit(c.main(sys.argv[1:]))"
    for words, status in ((["bench", "scaling", "--ranks", "2"], 2), (["bench"], 2), (["bench", "--help"], 0)):
        done = subprocess.run([sys.executable, "-c", program, *words], capture_output=True, text=True)
        assert done.returncode == status
        told = done.stderr if status else done.stdout
        assert "pip install ./benchmarks" in told
        assert told.startswith("ranvier: error: package ranvier-benchmarks") == (status == 2)


def test_no_other_command_loads_the_benchmarks() -> None:
    program = "import sys, ranvier.command_line as c; c.make_parser(['run', 'predict', 'models', 'info'])"
    program += "; sys.exit('ranvier_benchmarks' in sys.modules)"
    subprocess.run([sys.executable, "-c", program], check=True)
