"""Kernels for GPUs: NVRTC compiles those of all models, and their text has the bits of the interpreter."""

from __future__ import annotations

import ctypes
import itertools
import re
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from kernel_texts import ARCHITECTURES, COMPILERS, compiled, compiled_for_processors, needs_compiler
from program_scenes import iaf_psc_exp
from ranvier import _core
from ranvier.base.cuda_compiler import cuda_compilers
from ranvier.equations.library import built
from ranvier.equations.neurons import NAMES
from ranvier.errors import DeviceError, StateError
from step_calls import RandomPrograms, StepCall
from thorough_cases import only

MODELS = list(NAMES)
# Models of all ways of integrating, with each architecture: PTX of one takes a second.
VARIED = ("aeif_cond_exp", "gif_psc_exp", "glif_psc", "hh_psc_alpha", "iaf_wang_2002", "izhikevich")
NOT_FUSED = only(set(zip(VARIED, itertools.cycle(ARCHITECTURES))), itertools.product(MODELS, ARCHITECTURES))
# Machine code of several models takes up to 10 s.
OLDEST_AND_NEWEST = only((min(ARCHITECTURES), max(ARCHITECTURES)), ARCHITECTURES)


def built_in() -> list[_core.NeuronModel]:
    """Return the models in C++ whose step is a program."""
    return [model for model in _core.neuron_models() if model.has_step_program]


@needs_compiler
@pytest.mark.parametrize(("name", "architecture"), NOT_FUSED)
def test_operations_of_models_are_not_fused(name: str, architecture: int) -> None:
    """In PTX, divisions and square roots are instructions. They are exact, although they are fused inside."""
    text = compiled(_core.cuda_source([built(name).core_model]), architecture, ptx=True).decode()
    assert f".target sm_{architecture}" in text
    assert re.findall(r"\bfma\b[^;]*;", text) == []
    assert re.search(r"\bmul(?:\.rn)?\.f64", text)
    of_ieee = {"div.rn.f64", "sqrt.rn.f64", "rcp.rn.f64"}
    assert set(re.findall(r"\b(?:div|sqrt|rcp|rsqrt)\.[a-z.]*f64", text)) <= of_ieee
    # Numbers of 64 bits have no such mode.
    assert not re.search(r"\.ftz\.f64", text.replace(".ftz.f64.f32", ""))


@needs_compiler
@pytest.mark.thorough
@pytest.mark.parametrize("architecture", ARCHITECTURES)
@pytest.mark.parametrize("name", MODELS)
def test_nvrtc_compiles_each_model(name: str, architecture: int) -> None:
    """Code takes three times as long as PTX, of which the driver could make it, too."""
    code = compiled(_core.cuda_source([built(name).core_model]), architecture, ptx=False)
    assert code.startswith(b"\x7fELF")


@needs_compiler
@pytest.mark.parametrize("architecture", OLDEST_AND_NEWEST)
def test_nvrtc_compiles_several_models(architecture: int) -> None:
    equations = [built(name).core_model for name in ("izhikevich", "mat2_psc_exp", "glif_psc", "gif_psc_exp")]
    code = compiled(_core.cuda_source([*built_in(), *equations], threads=256, current=True), architecture, ptx=False)
    assert code.startswith(b"\x7fELF")


@needs_compiler
@pytest.mark.parametrize("architecture", OLDEST_AND_NEWEST)
def test_nvrtc_compiles_the_construction_of_rows(architecture: int) -> None:
    source = _core.cuda_construction_source()
    assert compiled(source, architecture, ptx=False).startswith(b"\x7fELF")
    text = compiled(source, architecture, ptx=True).decode()
    assert re.findall(r"\bfma\b[^;]*f64", text) == []


@needs_compiler
def test_each_compiler_knows_the_architectures() -> None:
    for compiler in COMPILERS:
        version, architectures = _core.cuda_compiler_version(compiler)
        assert int(version.partition(".")[0]) >= 12
        assert set(ARCHITECTURES) <= set(architectures)


@needs_compiler
def test_errors_of_the_compiler_are_reported() -> None:
    with pytest.raises(DeviceError, match=r"(?s)identifier \"nonsense\" is undefined.*cannot compile it") as caught:
        _core.compile_cuda("__global__ void run() { nonsense; }", 90, compiler=COMPILERS[0])
    assert "ranvier.cu(1)" in caught.value.value
    with pytest.raises(DeviceError, match=r"sm_20.*supports sm_75"):
        _core.compile_cuda("", 20, compiler=COMPILERS[0])


def test_a_missing_compiler_is_reported(tmp_path: Path) -> None:
    with pytest.raises(DeviceError, match=r"nowhere.so.*cannot be loaded.*ranvier\[cuda\]"):
        _core.compile_cuda("", 90, compiler=str(tmp_path / "nowhere.so"))


@needs_compiler
@pytest.mark.parametrize("architecture", OLDEST_AND_NEWEST)
def test_nvrtc_compiles_single_precision(architecture: int) -> None:
    models = [model for model in built_in() if model.name != "iaf_cond_nmda"]
    text = compiled(_core.cuda_source(models, current=True, single=True), architecture, ptx=True).decode()
    assert text.count("cvt.rn.ftz.f32.f64") > 20
    assert not re.search(r"\.ftz\.f64", text.replace(".ftz.f64.f32", ""))
    assert re.findall(r"\bfma\b[^;]*;", text) == []


def test_models_without_a_program_are_refused() -> None:
    models = {model.name: model for model in _core.neuron_models()}
    for name, single in (("parrot_neuron", False), ("iaf_cond_nmda", True)):
        with pytest.raises(StateError, match=f"neuron model is {name}.*not a program"):
            _core.cuda_source([models[name]], single=single)
    assert models["iaf_cond_nmda"].has_step_program
    assert not models["parrot_neuron"].has_step_program


def test_built_in_models_take_a_current_only_if_it_is_injected() -> None:
    assert "= view.current();" not in _core.cuda_source(built_in())
    assert _core.cuda_source(built_in(), current=True).count("= view.current();") == len(built_in())


def test_wheels_are_found_newest_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = (
        "cuda_nvrtc/lib/libnvrtc.so.12",
        "cuda_nvrtc/lib/libnvrtc.alt.so.12",
        "cuda_nvrtc/lib/libnvrtc-builtins.so.12.9",
        "cu13/lib/libnvrtc.so.13",
        "cu11/lib/libnvrtc.so.11",
    )
    for name in names:
        path = tmp_path / "nvidia" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    monkeypatch.syspath_prepend(tmp_path)
    mine = [path for path in cuda_compilers() if path.is_relative_to(tmp_path)]
    assert [path.name for path in mine] == ["libnvrtc.so.13", "libnvrtc.so.12"]


# ---- the same text, compiled for processors --------------------------------------------------------------------------

HOST = """
#include <vector>

struct Lane {
    const double* const* values;
    const unsigned* varies;
    const double* const* inputs;
    const double* currents;
    const unsigned long long* const* words;
    double* states;
    unsigned lanes;
    unsigned lane;
    bool is_refractory;
    bool is_last_refractory;

    double& state(unsigned variable) const { return states[variable * lanes + lane]; }
    double constant(unsigned index) const { return values[index][varies[index] != 0 ? lane : 0]; }
    double input(unsigned receptor) const { return inputs[receptor][lane] + 0.0; }
    double current() const { return currents == nullptr ? 0.0 : currents[lane]; }
    // Which random bits these are, other tests find out.
    unsigned long long draw(unsigned index, bool) const { return words[index][lane]; }
};

extern "C" void step_lanes(unsigned program, unsigned lanes, unsigned count, double* state,
                           const double* const* values, const unsigned* varies, const double* const* inputs,
                           const double* currents, const unsigned long long* const* words, const int* release,
                           int clock, unsigned char* flags) {
    using namespace ranvier::device;
    const Models models;
    for (unsigned lane = 0; lane < count; ++lane) {
        const bool is_last = release[lane] == clock;
        Lane view{values, varies, inputs, currents, words, state, lanes, lane, release[lane] >= clock, is_last};
        flags[lane] = static_cast<unsigned char>(models.step(program, view));
    }
}
"""


def step_of_text(function: Any, program: int, description: Any, call: StepCall) -> list[npt.NDArray[Any]]:
    """Advance the neurons of a call; return their state and who fires and fails, as StepCall.run()."""
    state = np.array(call.state)

    def pointers(arrays: list[npt.NDArray[Any]]) -> Any:
        return (ctypes.c_void_p * max(1, len(arrays)))(*(each.ctypes.data for each in arrays))

    flags = np.zeros(call.lanes, np.uint8)
    function(
        program,
        call.lanes,
        call.valid,
        ctypes.c_void_p(state.ctypes.data),
        pointers(call.constants),
        ctypes.c_void_p(np.array([*call.own, 0], np.uint32).ctypes.data),
        pointers(call.inputs),
        ctypes.c_void_p(None if call.current is None else call.current.ctypes.data),
        pointers(call.draws),
        ctypes.c_void_p(call.release.ctypes.data),
        4,
        ctypes.c_void_p(flags.ctypes.data),
    )
    bits = [np.where(np.isnan(each), np.nan, each)[: call.valid].view(np.int64) for each in state]
    return [*bits, flags[: call.valid] & 1, flags[: call.valid] >> 1]


def same_bits(descriptions: list[Any], folder: Path, seed: int) -> None:
    models = [_core.ProgramModel(each) for each in descriptions]
    function = compiled_for_processors(_core.cuda_source(list(models)), folder, HOST).step_lanes
    generator = np.random.default_rng(seed)
    for number, (description, model) in enumerate(zip(descriptions, models, strict=True)):
        for own in ("none", "any"):
            call = StepCall(description, generator, own=own, current=description.takes_current and own == "any")
            found = step_of_text(function, number, description, call)
            expected = call.run(model, "baseline", compiled=False)
            receptors = len(description.receptors)
            variables = len(description.variables)
            for here, there in zip(found, [*expected[:variables], *expected[variables + receptors :]], strict=True):
                assert np.array_equal(here, there), description.name


def random_neurons(first_seed: int, count: int) -> list[Any]:
    return [RandomPrograms(first_seed + number).neuron() for number in range(count)]


def test_random_programs_have_the_bits_of_the_interpreter(tmp_path: Path) -> None:
    same_bits([iaf_psc_exp(), *random_neurons(1, 12)], tmp_path, 1)


@pytest.mark.thorough
@pytest.mark.parametrize("seed", range(10))
def test_more_random_programs_have_the_bits_of_the_interpreter(tmp_path: Path, seed: int) -> None:
    same_bits(random_neurons(1000 * (seed + 1), 60), tmp_path, seed)


@pytest.mark.thorough
@pytest.mark.parametrize("name", MODELS)
def test_models_have_the_bits_of_the_interpreter(tmp_path: Path, name: str) -> None:
    same_bits([built(name).program], tmp_path, 3)
