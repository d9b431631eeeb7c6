"""The corpus of NMODL files: what Ranvier reads of it, and runs of its mechanisms in Ranvier and in NEURON.

The protocol is the same in both: balls with a leak and the mechanism, from several potentials, under constant
currents. Both take the same steps of implicit Euler for the potential, so that only rounding remains.
"""

from __future__ import annotations

import json
import math
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

import ranvier as rv
from ranvier.errors import RanvierError
from repository import DATA

__all__ = [
    "CORPUS",
    "OUTCOMES",
    "TOLERANCE",
    "FloatArray",
    "Outcome",
    "Protocol",
    "Text",
    "compile_folder",
    "compiled",
    "difference",
    "effect",
    "files",
    "in_neuron",
    "in_ranvier",
    "listed",
    "read",
    "sampled",
    "stored",
    "text_of",
    "worst_difference",
    "write_list",
    "write_samples",
]

FloatArray = npt.NDArray[np.float64]
Traces = dict[str, FloatArray]
FOLDER = DATA / "nmodl"
CORPUS = FOLDER / "corpus"
OUTCOMES = FOLDER / "corpus.txt"
SAMPLES = FOLDER / "corpus.json"
"""What NEURON makes of each file, at a few times in a few cells."""
TOLERANCE = 1e-8
"""mV, and relative for states: both take the same steps, and only round differently, mostly by about 1e-12."""
POTENTIALS = ("v", "last")
"""At the electrode, and in the last compartment."""
_TIMES, _CELLS = (0, 40, 400, 1199), (0, 2, 3, 4)
_POOL = rv.calcium_pool(gamma=0.05, depth=0.1, decay=20.0, Ca_rest=1e-4)
_HEADING = """# What becomes of each file of the corpus, written by nmodl_corpus.py:
# name | read: as in NEURON, but for rounding
# name | close | bound of the difference, mV | reason
# name | differs | 0 | reason
# name | refused | line | reason"""
_PROGRAM = Path(__file__).parent / "nmodl_corpus_in_neuron.py"


@dataclass(frozen=True)
class Protocol:
    """What cells are subjected to: pA, mV, ms; the leak in S/cm2 and mV."""

    potentials: tuple[float, ...] = (-65.0, -65.0, -88.0, -42.0, -65.0, -61.0)
    currents: tuple[float, ...] = (0.0, 60.0, -25.0, 15.0, 260.0, -80.0)
    celsius: float = 26.0
    leak: tuple[float, float] = (3e-4, -62.0)
    reversal: float = -32.0
    sections: tuple[tuple[float, float, int], ...] = ((20.0, 20.0, 1),)
    """Length and diameter, um, and compartments of each; each follows the one before."""
    time: float = 30.0
    step: float = 0.025
    events: tuple[float, ...] = (2.0, 5.0, 5.025, 6.0, 14.0)


@dataclass(frozen=True)
class Outcome:
    """What becomes of a file: it is read, read and close to NEURON, read but different, or refused at a line."""

    status: str
    line: int = 0
    reason: str = ""
    bound: float = 0.0
    """Of the difference of what is close: mV, and relative for states."""

    def fits(self, worst: float) -> bool:
        """Return whether the greatest difference from NEURON is the expected one."""
        match self.status:
            case "close":
                return TOLERANCE < worst <= self.bound
            case "differs":
                return worst > TOLERANCE
        return worst <= TOLERANCE

    def text(self, name: str) -> str:
        """Return the line of the list that says so."""
        where = f"{self.bound:g}" if self.status == "close" else str(self.line)
        return " | ".join([name, self.status, *([where, self.reason] if self.reason else [])])


def files() -> list[Path]:
    """Return the files of the corpus, in order."""
    return sorted(CORPUS.glob("*.mod"))


def listed() -> dict[str, Outcome]:
    """Return the outcomes that are committed beside the corpus."""
    made = {}
    for line in OUTCOMES.read_text().splitlines():
        if line and not line.startswith("#"):
            name, status, *rest = line.split(" | ")
            if status == "close":
                made[name] = Outcome(status, 0, rest[1], float(rest[0]))
            else:
                made[name] = Outcome(status, int(rest[0]), rest[1]) if rest else Outcome(status)
    return made


def read(file: Path) -> tuple[Outcome, Any]:
    """Return what becomes of a file without a run, and the mechanism or None."""
    try:
        return Outcome("read"), rv.read_nmodl(file)
    except RanvierError as error:
        first = str(error).split("\n")[0].removeprefix(f"file {file}, ")
        line = re.match(r"line (\d+), column \d+ ?", first)
        return Outcome("refused", int(line[1]) if line else 0, first[line.end() :] if line else first), None


def write_list() -> None:
    """Write the list of outcomes; what is known to differ from NEURON stays so."""
    before = listed() if OUTCOMES.exists() else {}
    lines = [_HEADING]
    for file in files():
        found, _ = read(file)
        known = before.get(file.stem)
        keeps = found.status == "read" and known is not None and known.status in ("close", "differs")
        lines.append((known if keeps and known else found).text(file.stem))
    OUTCOMES.write_text("\n".join(lines) + "\n")


# ---- what a file needs -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Text:
    """What the text of a file says about the run that it needs."""

    name: str
    states: tuple[str, ...]
    is_process: bool
    reads_calcium: bool
    writes_calcium: bool
    reversals: tuple[str, ...] = ()
    """Potentials of ions other than sodium, potassium and calcium, which the user gives."""
    has_events: bool = False

    @property
    def companions(self) -> tuple[str, ...]:
        """Mechanisms beside it: a current of calcium, and the pool that it fills, unless the file is one."""
        if self.writes_calcium:
            return ("companion_entry",)
        return ("companion_pool", "companion_entry") if self.reads_calcium else ()

    @property
    def baseline(self) -> str:
        """The key of the run without the mechanism."""
        return " ".join(self.companions)


def text_of(file: Path) -> Text:
    """Return it, from a search for words: the reader is what is tested."""
    text = re.sub(r"\bCOMMENT\b.*?\bENDCOMMENT\b|[:?][^\n]*|\bTITLE\b[^\n]*", " ", file.read_text(), flags=re.DOTALL)
    found = re.search(r"\b(SUFFIX|POINT_PROCESS)\s+(\w+)", text)
    name = found[2] if found else file.stem
    states = re.search(r"\bSTATE\s*\{([^}]*)\}", text)
    words = re.sub(r"\([^)]*\)|\bFROM\s+\S+\s+TO\s+\S+|START\s+\S+|<[^>]*>", " ", states[1] if states else "")
    sizes = dict(re.findall(r"\bDEFINE\s+(\w+)\s+(\d+)", text))
    calcium = re.search(r"\bUSEION\s+ca\b(.*?)(?=USEION|RANGE|GLOBAL|NONSPECIFIC|\})", text, re.DOTALL)
    words_of_calcium = [*re.split(r"\bWRITE\b", calcium[1] if calcium else ""), ""]
    return Text(
        name,
        tuple(
            each for word, size in re.findall(r"(\w+)(?:\[(\w+)\])?", words) for each in _elements(word, size, sizes)
        ),
        bool(found and found[1] == "POINT_PROCESS"),
        bool(re.search(r"\bcai\b", words_of_calcium[0])) or bool(re.search(r"\beca\b", words_of_calcium[0])),
        bool(re.search(r"\bcai\b", words_of_calcium[1])),
        tuple(
            f"e{ion}" for ion in re.findall(r"\bUSEION\s+(\w+)\s+READ\s+e\1\b", text) if ion not in ("na", "k", "ca")
        ),
        bool(re.search(r"\bNET_RECEIVE\b", text)),
    )


def _elements(name: str, size: str, sizes: dict[str, str]) -> list[str]:
    return [f"{name}[{index}]" for index in range(int(sizes.get(size, size)))] if size else [name]


# ---- runs ------------------------------------------------------------------------------------------------------------


def compiled(sources: Sequence[Path], folder: Path) -> Path:
    """Return a folder in which NEURON has compiled files."""
    for file in (*sources, *(CORPUS / "companions").glob("*.mod")):
        shutil.copy(file, folder)
    done = compile_folder(folder)
    assert done.returncode == 0, done.stdout[-4000:] + done.stderr[-4000:]
    return folder


def compile_folder(folder: Path) -> subprocess.CompletedProcess[str]:
    """Run NEURON's compiler."""
    compiler = Path(sys.executable).parent / "nrnivmodl"
    return subprocess.run([compiler, "."], cwd=folder, capture_output=True, text=True, timeout=1500)


def in_neuron(folder: Path, sources: Sequence[Path], protocol: Protocol) -> dict[str, dict[str, FloatArray]]:
    """Return potentials and states (steps, cells) of mechanisms, by names of files, and those of the baselines."""
    texts = {file.stem: text_of(file) for file in sources}
    asked = [_asked(key, None, tuple(key.split())) for key in sorted({each.baseline for each in texts.values()})]
    asked += [_asked(key, text, text.companions) for key, text in texts.items()]
    file = folder / "results.npz"
    task = folder / "task.json"
    task.write_text(json.dumps({"mechanisms": asked, "protocol": asdict(protocol), "file": str(file)}))
    done = subprocess.run([sys.executable, _PROGRAM, task], cwd=folder, capture_output=True, text=True, timeout=1500)
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-4000:]
    made: dict[str, dict[str, FloatArray]] = {}
    with np.load(file) as results:
        for key in results.files:
            name, _, variable = key.partition("/")
            made.setdefault(name, {})[variable] = results[key]
    return made


def _asked(key: str, text: Text | None, companions: tuple[str, ...]) -> dict[str, Any]:
    own = [text.name] if text and not text.is_process else []
    return {
        "key": key,
        "name": text.name if text else "",
        "mechanisms": [*companions, *own],
        "process": text.name if text and text.is_process else "",
        "states": text.states if text else (),
        "weight": 0.002 if text and text.has_events else None,
        "reversals": text.reversals if text else (),
    }


def in_ranvier(channel: Any, text: Text, protocol: Protocol) -> dict[str, FloatArray]:
    """Return potentials and states (steps, cells) of a mechanism."""
    sections = [
        rv.Section(length=length, diameter=diameter, parent=index - 1 if index else None)
        for index, (length, diameter, _) in enumerate(protocol.sections)
    ]
    counts = [count for _, _, count in protocol.sections]
    last = rv.at(len(sections) - 1, 1.0 - 0.5 / counts[-1])
    membrane: list[Any] = [("all", rv.pas(g=protocol.leak[0], e=protocol.leak[1]))]
    probes: dict[str, Any] = {}
    # A state that nothing reads is left out of a channel; those of receptors are not recorded.
    states = [each for each in text.states if not text.is_process and channel is not None and each in channel.gates]
    for each in text.companions:
        own = _POOL if each == "companion_pool" else rv.read_nmodl(CORPUS / "companions" / f"{each}.mod")()
        membrane.append(("all", own))
    receptors: dict[str, Any] = {}
    if channel is not None and text.is_process:
        receptors["process"] = (channel(), last)
    elif channel is not None:
        membrane.append(("all", channel(**dict.fromkeys(text.reversals, protocol.reversal))))
        probes = {f"state_{each}": (last, f"{each} of {text.name}") for each in states}
    probes["last"] = last
    options: dict[str, Any] = {"celsius": protocol.celsius, "rates": "exact", "C_m": 1.0, "R_a": 100.0}
    cell = rv.Cell(
        rv.Morphology(sections), compartments=counts, membrane=membrane, receptors=receptors, probes=probes, **options
    )
    net = rv.Network(resolution=protocol.step)
    cells = net.create(cell, len(protocol.potentials), V_m=list(protocol.potentials), I_e=list(protocol.currents))
    if receptors and text.has_events:
        # The spike that arrives with the step that ends at a time is the event of this time.
        times = [time - protocol.step for time in protocol.events if time < protocol.time]
        generator = net.create_spike_generators([times])
        net.connect(generator, cells, rv.AllToAll(), weight=2.0, delay=protocol.step, receptor="process")
    recorder = net.record_state(cells, ["V_m", *probes], interval=protocol.step)
    sim = rv.Simulation(net, threads=1, progress=False)
    sim.run(protocol.time)
    values = sim.state(recorder).values
    names = ["v", *states, "last"]
    return {name: values[:, index, :] for index, name in enumerate(names)}


def worst_difference(channel: Any, text: Text, protocol: Protocol, other: Traces, *, is_sampled: bool = False) -> float:
    """Return the greatest difference of a run in Ranvier from another, infinite where no cell can be made."""
    try:
        own = in_ranvier(channel, text, protocol)
    except RanvierError:
        return math.inf
    return max(difference(sampled(own) if is_sampled else own, other).values())


def sampled(traces: dict[str, FloatArray]) -> dict[str, FloatArray]:
    """Return traces at a few times, in a few cells."""
    return {name: values[np.ix_(_TIMES, _CELLS)] for name, values in traces.items()}


def stored() -> dict[str, dict[str, FloatArray]]:
    """Return what is stored of NEURON's traces, as `sampled`."""
    read: dict[str, dict[str, Any]] = json.loads(SAMPLES.read_text())
    return {key: {name: np.array(values) for name, values in each.items()} for key, each in read.items()}


def write_samples(made: dict[str, dict[str, FloatArray]]) -> None:
    """Store what NEURON makes of all files, one line a file."""

    def rounded(values: FloatArray) -> list[list[float]]:
        return [[float(f"{each:.13g}") for each in row] for row in values]

    lines = []
    for key, traces in sorted(made.items()):
        kept = {name: rounded(values) for name, values in sampled(traces).items()}
        lines.append(f"{json.dumps(key)}: {json.dumps(kept)}")
    SAMPLES.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def effect(traces: dict[str, FloatArray], without: dict[str, FloatArray]) -> float:
    """Return how far the mechanism moves the potential, mV, or its states, in units of their greatest value."""
    moved = [float(np.abs(traces["v"] - without["v"]).max())]
    states = [
        np.abs(each - each[0]).max() / np.abs(each).max() for name, each in traces.items() if name not in POTENTIALS
    ]
    return float(max([*moved, *states]))


def difference(one: dict[str, FloatArray], other: dict[str, FloatArray]) -> dict[str, float]:
    """Return the greatest difference of each variable: mV, or relative to the greatest value of a state."""
    assert set(POTENTIALS) <= set(one) <= set(other)
    made = {}
    for name, values in one.items():
        scale = 1.0 if name in POTENTIALS else max(1e-300, float(np.abs(other[name]).max()))
        made[name] = float(np.abs(values - other[name]).max()) / scale
    return made


def main() -> None:
    """Write the list of outcomes; with an argument, a folder, let NEURON compile all files there and store samples."""
    write_list()
    if len(sys.argv) > 1:
        folder = Path(sys.argv[1])
        write_samples(in_neuron(compiled(files(), folder), files(), Protocol()))


if __name__ == "__main__":
    main()
