"""Compiles the steps of neuron models and the events of synapse models, with a cache."""

from __future__ import annotations

import hashlib
import threading
import weakref
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from ranvier import _core
from ranvier.compiled import llvm
from ranvier.compiled.cache import Cache
from ranvier.compiled.emission import ENTRY, step_function
from ranvier.compiled.events import ENTRIES, event_functions
from ranvier.equations.model import EquationNeuron
from ranvier.equations.program import NeuronProgram, SynapseProgram
from ranvier.equations.synapse import EquationSynapse
from ranvier.errors import StateError

__all__ = ["choose", "compile_models", "compile_program", "compile_step", "description", "rule_of"]

# Above this, compiling takes seconds, and most of a step is calculation: the interpreter is not much slower.
_MOST_INSTRUCTIONS = 20_000

_loaded: weakref.WeakValueDictionary[str, llvm.Loaded] = weakref.WeakValueDictionary()
_lock = threading.Lock()


@dataclass(frozen=True)
class Choice:
    """Execution of the programs of some models.

    Attributes
    ----------
    name
        ``"compiled"``, ``"interpreted"``, or, if there are no models of equations, ``"none"``.
    compiled
        Whether the program of each neuron model is compiled.
    compiled_rules
        Whether the programs of plastic synapses are.
    """

    name: str
    compiled: tuple[bool, ...]
    compiled_rules: bool


def choose(neurons: Sequence[object], synapses: Sequence[object], choice: str) -> Choice:
    """Return how the programs of some models will be executed, without compiling any.

    Parameters
    ----------
    neurons, synapses
        Models; those without equations are ignored.
    choice
        ``"auto"``, ``"compiled"`` or ``"interpreted"``.

    Raises
    ------
    StateError
        When ``"compiled"`` is not possible.
    """
    has_rules = any(rule_of(each) is not None for each in synapses)
    has_equations = has_rules or any(isinstance(each, EquationNeuron) for each in neurons)
    # LLVM needs 40 MB and a moment to load: it is loaded only if compiled code would be used, or on explicit request.
    reason = llvm.unusable() if choice == "compiled" or (has_equations and choice == "auto") else ""
    if choice == "compiled" and reason:
        what, _, remedy = reason.partition(": ")
        raise StateError("programs", "'compiled'", what, remedy or "leave it at 'auto'")
    none = (False,) * len(neurons)
    if not has_equations:
        # Programs of release are always interpreted.
        releases = any(isinstance(each, EquationSynapse) for each in synapses)
        return Choice("interpreted" if releases else "none", none, compiled_rules=False)
    if choice == "interpreted" or reason:
        return Choice("interpreted", none, compiled_rules=False)
    compiled = tuple(
        isinstance(each, EquationNeuron) and (choice == "compiled" or _size(each.program) <= _MOST_INSTRUCTIONS)
        for each in neurons
    )
    return Choice("compiled" if has_rules or any(compiled) else "interpreted", compiled, has_rules)


def rule_of(synapse: object) -> SynapseProgram | None:
    """Return the program of a synapse model of equations that learns; None for others."""
    program = synapse.program if isinstance(synapse, EquationSynapse) else None
    return program if isinstance(program, SynapseProgram) else None


def compile_models(
    neurons: Iterable[object], synapses: Iterable[object], choice: str, instruction_set: str, double_weights: bool
) -> str:
    """Compile the functions for simulations of some models, and return how their programs are executed.

    Parameters
    ----------
    neurons, synapses, choice
        As for `choose`, with the same errors.
    instruction_set
        The one that the simulation takes.
    double_weights
        Whether it stores weights in double precision.

    Returns
    -------
    str
        The name of the choice.
    """
    listed, rules = list(neurons), list(synapses)
    chosen = choose(listed, rules, choice)
    for model, is_compiled in zip(listed, chosen.compiled, strict=True):
        if is_compiled and isinstance(model, EquationNeuron):
            compile_step(model.core_model, model.program, instruction_set)
    for synapse in rules:
        if chosen.compiled_rules and isinstance(synapse, EquationSynapse):
            compile_events(synapse, instruction_set, double_weights)
    return chosen.name


def _size(program: NeuronProgram) -> int:
    return sum(1 for _ in program.step.all_instructions())


def compile_step(model: _core.ProgramModel, program: NeuronProgram, instruction_set: str) -> None:
    """Let a neuron model have compiled code for an instruction set."""
    with _lock:
        if model.is_compiled(instruction_set):
            return
        target = llvm.Target.of(instruction_set)
        text = step_function(program, target.attributes, target.truths_are_bits, target.lanes_of_loops)
        loaded = _loaded_from(text, target, (ENTRY,))
        model.use_compiled(instruction_set, loaded.addresses[0], loaded)


def compile_events(synapse: EquationSynapse, instruction_set: str, double_weights: bool) -> None:
    """Let a synapse model, if it learns, have compiled code for an instruction set and a precision of weights."""
    model, program = synapse.core_model, rule_of(synapse)
    if program is not None and isinstance(model, _core.ProgramSynapse):
        compile_program(
            model, program, instruction_set, double_weights, model.read_by_events(synapse.per_synapse_indices)
        )


def compile_program(
    model: _core.ProgramSynapse,
    program: SynapseProgram,
    instruction_set: str,
    double_weights: bool,
    per_synapse: Sequence[int] = (),
) -> None:
    """Do the same for a model of the core, which is of this program.

    `per_synapse` are the indices, ascending, of the parameters with one value per synapse that events read.
    """
    with _lock:
        if model.is_compiled(instruction_set, double_weights, per_synapse):
            return
        target = llvm.Target.of(instruction_set)
        text = event_functions(program, per_synapse, double_weights, target.attributes, target.truths_are_bits)
        loaded = _loaded_from(text, target, ENTRIES)
        model.use_compiled(instruction_set, double_weights, per_synapse, loaded.addresses, loaded)


def _loaded_from(text: str, target: llvm.Target, functions: tuple[str, ...]) -> llvm.Loaded:
    """Return the code of a text, compiled now or before."""
    key = _key(text, target)
    loaded = _loaded.get(key)
    if loaded is None:
        loaded = llvm.load(_object(key, text, target), target, functions)
        _loaded[key] = loaded
    return loaded


def _object(key: str, text: str, target: llvm.Target) -> bytes:
    cache = Cache()
    found = cache.read(key)
    if found is None:
        found = llvm.object_code(text, target)
        cache.write(key, found)
    return found


def _key(text: str, target: llvm.Target) -> str:
    """Return the name of compiled code, which depends on the program, Ranvier, LLVM and the processor."""
    parts = [
        _core.version,
        _core.source_revision,
        f"{_core.step_function_version}, {_core.event_function_version}",
        llvm.version(),
        llvm.processor(),
        target.features,
        text,
    ]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def description() -> str:
    """Return a text: how programs of equations are executed here, where compiled code is cached, or why it is not."""
    reason = llvm.unusable()
    if reason:
        return f"interpreted ({reason})"
    cache = Cache()
    problem = cache.look()
    kept = f"not kept: {problem}" if problem else f"kept in {cache.folder}"
    return f"compiled by {llvm.version()}; {kept}"
