"""Write the type stubs of what Ranvier makes when it is loaded: `make stub`.

Usage: write_stubs.py FOLDER, where the stubs lie in FOLDER as the modules do in the package.

Editors and type checkers read the stubs, which are stored beside the modules; a test compares them with fresh ones.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
import subprocess
import sys
import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType

import ranvier
from ranvier.base.model_classes import Classes
from ranvier.cells import models as cell_models
from ranvier.equations import models as equation_models
from ranvier.network import rules

HEAD = "# Written by `make stub`."


@dataclass(frozen=True)
class ModelModule:
    """A module whose classes are made from descriptions.

    Attributes
    ----------
    module
        The module.
    imports
        Import statements of its stub.
    attributes
        Annotations of the attributes that a class may have.
    """

    module: ModuleType
    imports: str
    attributes: Mapping[str, str]


MODEL_MODULES = (
    ModelModule(
        ranvier.models,
        """
        import math
        from collections.abc import Mapping
        from typing import ClassVar

        import numpy.typing as npt

        from ranvier.base.values import Values
        from ranvier.populations.model_base import NeuronModel, Stimulator, SynapseModel
        from ranvier.populations.populations import Neurons
        """,
        {
            "name": "str",
            "emits_spikes": "bool",
            "sequence_names": "tuple[str, ...]",
            "transmitter_name": "str",
            "per_synapse_names": "tuple[str, ...]",
            "following_names": "Mapping[str, str]",
        },
    ),
    ModelModule(
        equation_models,
        """
        from collections.abc import Mapping
        from typing import ClassVar

        from ranvier.base.values import Values
        from ranvier.equations.copies import Copies
        from ranvier.equations.integration import AbsoluteTolerance
        from ranvier.equations.library import LibraryNeuron
        """,
        {"model_name": "str"},
    ),
    ModelModule(
        cell_models,
        """
        from collections.abc import Mapping
        from typing import ClassVar

        from ranvier.cells.membrane import DensityValue, Mechanism, PerCellValue, Receptor
        """,
        {
            "name": "str",
            "gates": "tuple[str, ...]",
            "currents": "tuple[str, ...]",
            "is_pool": "bool",
            "measured_celsius": "float | None",
        },
    ),
    ModelModule(
        rules,
        """
        from collections.abc import Mapping
        from typing import ClassVar

        import numpy.typing as npt

        from ranvier.equations.expression import Expression
        from ranvier.network.rule_base import Rule
        from ranvier.space.masks import Mask
        """,
        {"name": "str"},
    ),
)


def main(folder: Path) -> None:
    """Write the stubs."""
    written = [folder / "__init__.pyi"]
    written[0].write_text(stub_of_package())
    for described in MODEL_MODULES:
        path = folder.joinpath(*described.module.__name__.split(".")[1:]).with_suffix(".pyi")
        path.parent.mkdir(exist_ok=True)
        path.write_text(stub_of_models(described))
        written.append(path)
    settings = Path(__file__).parents[1] / "pyproject.toml"
    subprocess.run([sys.executable, "-m", "ruff", "format", "--quiet", "--config", settings, *written], check=True)


def stub_of_package() -> str:
    """Return the stub of the package itself."""
    lines = [HEAD, f'"""{ranvier.__doc__}"""', ""]
    # Every module of the package is an attribute of it.
    root = Path(ranvier.__file__).parent
    modules = sorted(
        {path.stem for path in root.glob("[a-z]*.py")} | {path.parent.name for path in root.glob("*/__init__.py")}
    )
    lines += [f"from ranvier import {name} as {name}" for name in modules]
    kinds = {name: getattr(ranvier, name) for name in ranvier.__all__ if not name.startswith("__")}
    places = {name: kind.__module__ for name, kind in kinds.items() if not isinstance(kind, ModuleType)}
    lines += [f"from {path} import {name} as {name}" for path, name in sorted((b, a) for a, b in places.items())]
    lines += ["", *_list_of_names(ranvier.__all__), "", "__version__: str", "__source_revision__: str"]
    return "\n".join(lines) + "\n"


def stub_of_models(described: ModelModule) -> str:
    """Return the stub of a module whose classes are made from descriptions."""
    module = described.module
    lines = [
        HEAD,
        f'"""{module.__doc__}"""',
        "",
        textwrap.dedent(described.imports).strip(),
        "",
        *_list_of_names(module.__all__),
    ]
    tables = {name: table for name, table in vars(module).items() if isinstance(table, Classes)}
    for table in tables.values():
        for kind in table.values():
            lines += ["", *_stub_of_class(kind, described.attributes)]
    lines.append("")
    for name, table in tables.items():
        (base,) = {kind.__base__.__name__ for kind in table.values()}
        lines.append(f"{name}: Mapping[str, type[{base}]]")
    return "\n".join(lines) + "\n"


def _list_of_names(names: Iterable[str]) -> list[str]:
    return ["__all__ = [", *(f'    "{name}",' for name in names), "]"]


def _stub_of_class(kind: type, attributes: Mapping[str, str]) -> Iterator[str]:
    yield f"class {kind.__name__}({kind.__base__.__name__}):"
    yield textwrap.indent(f'"""{inspect.getdoc(kind)}\n"""', "    ")
    yield ""
    yield from (f"    {name}: ClassVar[{each}]" for name, each in attributes.items() if name in vars(kind))
    if dataclasses.is_dataclass(kind):
        yield from (f"    {each.name}: {each.type}" for each in dataclasses.fields(kind))
    parameters = list(inspect.signature(kind.__init__).parameters.values())[1:]
    star = ["*"] if any(each.kind is each.KEYWORD_ONLY for each in parameters) else []
    yield f"    def __init__({', '.join(['self', *star, *map(_parameter, parameters)])}) -> None: ..."


def _parameter(parameter: inspect.Parameter) -> str:
    stars = "**" if parameter.kind is parameter.VAR_KEYWORD else ""
    text = f"{stars}{parameter.name}: {parameter.annotation}"
    default = parameter.default
    if default is parameter.empty:
        return text
    infinite = isinstance(default, float) and math.isinf(default)
    return f"{text} = {'-' if infinite and default < 0 else ''}{'math.inf' if infinite else repr(default)}"


if __name__ == "__main__":
    main(Path(sys.argv[1]))
