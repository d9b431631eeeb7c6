"""Compiles the steps of neuron models, and finds what was compiled before."""

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
from ranvier.equations.model import EquationNeuron
from ranvier.equations.program import NeuronProgram
from ranvier.errors import StateError

__all__ = ["choose", "compile_models", "compile_step", "description"]

# Above this, compiling takes seconds, and most of a step is calculation: the interpreter is not much slower.
_MOST_INSTRUCTIONS = 20_000

_loaded: weakref.WeakValueDictionary[str, llvm.Loaded] = weakref.WeakValueDictionary()
_lock = threading.Lock()


@dataclass(frozen=True)
class Choice:
    """What carries out the programs of some models.

    Attributes
    ----------
    name
        ``"compiled"``, ``"interpreted"``, or, if there are no models of equations, ``"none"``.
    compiled
        Of each model whether its program is compiled.
    """

    name: str
    compiled: tuple[bool, ...]


def choose(models: Sequence[object], choice: str) -> Choice:
    """Return what will carry out the programs of some models, without compiling any.

    Parameters
    ----------
    models
        Neuron models, of which those of equations count.
    choice
        ``"auto"``, ``"compiled"`` or ``"interpreted"``.

    Raises
    ------
    StateError
        When ``"compiled"`` is not possible.
    """
    own = [each for each in models if isinstance(each, EquationNeuron)]
    # LLVM takes 40 MB and a moment to load: not where nothing would call what it makes, unless the user insists on it.
    reason = llvm.unusable() if choice == "compiled" or (own and choice == "auto") else ""
    if choice == "compiled" and reason:
        what, _, remedy = reason.partition(": ")
        raise StateError("programs", "'compiled'", what, remedy or "leave it at 'auto'")
    none = (False,) * len(models)
    if not own:
        return Choice("none", none)
    if choice == "interpreted" or reason:
        return Choice("interpreted", none)
    compiled = tuple(
        isinstance(each, EquationNeuron) and (choice == "compiled" or _size(each.program) <= _MOST_INSTRUCTIONS)
        for each in models
    )
    return Choice("compiled" if any(compiled) else "interpreted", compiled)


def compile_models(models: Iterable[object], choice: str, instruction_set: str) -> str:
    """Compile what simulations of some models will call, and return what carries out their programs.

    Parameters
    ----------
    models, choice
        As for `choose`, with the same errors.
    instruction_set
        The one that the simulation takes.

    Returns
    -------
    str
        The name of the choice.
    """
    listed = list(models)
    chosen = choose(listed, choice)
    for model, is_compiled in zip(listed, chosen.compiled, strict=True):
        if is_compiled and isinstance(model, EquationNeuron):
            compile_step(model.core_model, model.program, instruction_set)
    return chosen.name


def _size(program: NeuronProgram) -> int:
    return sum(1 for _ in program.step.all_instructions())


def compile_step(model: _core.ProgramModel, program: NeuronProgram, instruction_set: str) -> None:
    """Let a model have compiled code for an instruction set."""
    with _lock:
        if model.is_compiled(instruction_set):
            return
        target = llvm.Target.of(instruction_set)
        text = step_function(program, target.attributes, target.truths_are_bits, target.lanes_of_loops)
        key = _key(text, target)
        loaded = _loaded.get(key)
        if loaded is None:
            loaded = llvm.load(_object(key, text, target), target, ENTRY)
            _loaded[key] = loaded
        model.use_compiled(instruction_set, loaded.address, loaded)


def _object(key: str, text: str, target: llvm.Target) -> bytes:
    cache = Cache()
    found = cache.read(key)
    if found is None:
        found = llvm.object_code(text, target)
        cache.write(key, found)
    return found


def _key(text: str, target: llvm.Target) -> str:
    """Return the name of what was compiled: another program, Ranvier, LLVM or processor has another one."""
    parts = [
        _core.version,
        _core.source_revision,
        str(_core.step_function_version),
        llvm.version(),
        llvm.processor(),
        target.features,
        text,
    ]
    return hashlib.sha256("\0".join(parts).encode()).hexdigest()


def description() -> str:
    """Return in words what carries out programs of equations here, where they are kept, and why not if not."""
    reason = llvm.unusable()
    if reason:
        return f"interpreted ({reason})"
    cache = Cache()
    problem = cache.look()
    kept = f"not kept: {problem}" if problem else f"kept in {cache.folder}"
    return f"compiled by {llvm.version()}; {kept}"
