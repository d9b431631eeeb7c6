"""Write the neuron models of equations that come with Ranvier as programs: what the target `ranvier_programs` runs.

Usage: write_programs.py MODULE FOLDER, where MODULE is the extension module `ranvier._core` in the build folder.
"""

from __future__ import annotations

import sys
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path


def main(module: str, folder: str) -> int:
    """Run `ranvier compile --all` with the package of this source tree and the given module."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "python"))
    name = "ranvier._core"
    spec = spec_from_file_location(name, module, loader=ExtensionFileLoader(name, module))
    assert spec is not None
    assert spec.loader is not None
    core = module_from_spec(spec)
    sys.modules[name] = core
    spec.loader.exec_module(core)

    import ranvier

    ranvier._core = core
    from ranvier.command_line import main as run_command

    return run_command(["compile", "--all", "--output", folder])


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
