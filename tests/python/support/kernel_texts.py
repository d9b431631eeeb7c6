"""Kernels of GPUs in tests: compiled by NVRTC, and for processors."""

from __future__ import annotations

import ctypes
import os
import subprocess
from pathlib import Path

import pytest

from ranvier import _core
from ranvier.base.cuda_compiler import cuda_compilers
from repository import ROOT

__all__ = ["ARCHITECTURES", "COMPILERS", "compiled", "compiled_for_processors", "needs_compiler"]

COMPILERS = [str(path) for path in cuda_compilers()]
ARCHITECTURES = [75, 80, 90, 100]
needs_compiler = pytest.mark.skipif(not COMPILERS, reason="NVRTC is not installed: pip install 'ranvier[cuda]'")


def compiled(source: str, architecture: int, *, ptx: bool) -> bytes:
    code, warnings = _core.compile_cuda(source, architecture, ptx=ptx, compiler=COMPILERS[0])
    assert warnings == ""
    return code


def compiled_for_processors(source: str, folder: Path, host: str) -> ctypes.CDLL:
    """Return a library with the functions of `host`, which may use the models of a kernel."""
    text = source.partition("\n#define RANVIER_LAUNCH_BOUNDS")[0] + host
    (folder / "models.cpp").write_text(text)
    command = [os.environ.get("CXX", "c++"), "-std=c++20", "-O1", "-ffp-contract=off", "-shared", "-fPIC"]
    includes = [f"-I{ROOT / 'core'}", f"-I{ROOT / 'include'}"]
    subprocess.run([*command, *includes, "models.cpp", "-o", "models.so"], cwd=folder, check=True)
    return ctypes.CDLL(str(folder / "models.so"))
