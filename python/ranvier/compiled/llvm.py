"""LLVM, by way of llvmlite, if that is installed."""

from __future__ import annotations

import functools
import importlib.util
import platform
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["Loaded", "Target", "load", "object_code", "processor", "unusable", "version"]

_AVX2 = "+avx,+avx2,+bmi2"
_AVX512 = f"+avx512f,+avx512dq,+avx512bw,+avx512vl,+avx512cd,{_AVX2}"


@dataclass(frozen=True)
class Target:
    """Target of the code, by the name of an instruction set (include/ranvier/base/instruction_set.hpp).

    Attributes
    ----------
    features
        Instructions beyond the baseline of x86-64.
    attributes
        Attribute of functions: the width of vectors.
    truths_are_bits
        Whether comparisons of vectors give single bits.
    lanes_of_loops
        Number of neurons in an iteration of a loop: more than the lanes of a register, so that the latency of an
        operation is hidden by the next one.
    """

    features: str
    attributes: str
    truths_are_bits: bool
    lanes_of_loops: int

    @classmethod
    def of(cls, instruction_set: str) -> Target:
        """Return the target of an instruction set."""
        match instruction_set:
            case "avx512":
                wide = '"prefer-vector-width"="512" "min-legal-vector-width"="512"'
                return cls(_AVX512, wide, True, 16)
            case "avx2":
                return cls(_AVX2, '"prefer-vector-width"="256"', False, 8)
        return cls("", '"prefer-vector-width"="128"', False, 8)


@functools.cache
def unusable() -> str:
    """Return why nothing can be compiled here, or nothing."""
    if platform.machine() != "x86_64":
        return f"code is compiled for x86-64 only, and this machine is {platform.machine()}"
    if importlib.util.find_spec("llvmlite") is None:
        return "llvmlite is not installed: pip install ranvier[llvm]"
    try:
        binding = _binding()
    except Exception as error:  # whatever a damaged installation raises
        return f"llvmlite cannot be loaded ({error})"
    if binding.llvm_version_info < (20,):
        return "llvmlite is older than version 0.46: pip install --upgrade ranvier[llvm]"
    try:
        binding.check_jit_execution()
    except OSError as error:
        return f"the system does not allow generated code to be executed ({error})"
    return ""


@functools.cache
def _binding() -> Any:
    import llvmlite.binding as binding

    binding.initialize_native_target()
    binding.initialize_native_asmprinter()
    return binding


def version() -> str:
    """Return the versions of llvmlite and LLVM."""
    import llvmlite

    return f"llvmlite {llvmlite.__version__}, LLVM {'.'.join(map(str, _binding().llvm_version_info))}"


def processor() -> str:
    """Return the name of the processor in LLVM."""
    name: str = _binding().get_host_cpu_name()
    return name


def _machine(target: Target) -> Any:
    binding = _binding()
    found = binding.Target.from_triple(binding.get_process_triple())
    # The name of the processor determines the order of instructions; only `features` determine their set.
    return found.create_target_machine(cpu="x86-64", features=target.features, opt=2, jit=True)


def object_code(text: str, target: Target) -> bytes:
    """Return the object file of a module. No passes are needed: the text has no redundant instructions."""
    module = _binding().parse_assembly(text)
    module.verify()
    made: bytes = _machine(target).emit_object(module)
    return made


class Loaded:
    """Code in memory, which stays there as long as this object lives.

    Attributes
    ----------
    addresses
        Addresses of its functions, in the order of the request.
    """

    def __init__(self, engine: Any, addresses: tuple[int, ...]) -> None:
        self._engine = engine
        self.addresses = addresses


def load(code: bytes, target: Target, functions: Sequence[str]) -> Loaded:
    """Put an object into memory, and find functions in it."""
    binding = _binding()
    engine = binding.create_mcjit_compiler(binding.parse_assembly(""), _machine(target))
    engine.add_object_file(binding.ObjectFileRef.from_data(code))
    engine.finalize_object()
    return Loaded(engine, tuple(engine.get_function_address(each) for each in functions))
