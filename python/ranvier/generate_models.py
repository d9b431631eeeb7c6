"""Generate `ranvier.models` from the registry of the core: ``python -m ranvier.generate_models``.

The generated file is committed, so that editors and type checkers see it; a test compares it with the registry.
"""

from __future__ import annotations

import math
import textwrap
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TypeAlias

from ranvier import _core
from ranvier.equations.definitions import COPIES, DEFINITIONS
from ranvier.equations.library import INTEGRATION, DescribedModel, described, indexed_names

__all__ = ["main", "source", "source_of_cells"]

_HEADER = '''\
"""Neuron models, synapse models and stimulators.

Generated from the registry of the core by ``python -m ranvier.generate_models``: change the model in the core, then run
this command. Every value of a neuron model or a stimulator is one number for all neurons, an array with one number for
each, or a distribution. All synapses of a projection share the values of a synapse model, unless the description of a
parameter says that it may differ.
"""

# The names are those of the field and of the equations.
# ruff: noqa: E501, N801, N803

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar

import numpy.typing as npt

from ranvier.base.values import Values
from ranvier.populations.model_base import NeuronModel, Stimulator, SynapseModel
from ranvier.populations.populations import Neurons

__all__ = [
'''


_EQUATION_HEADER = '''\
"""Neuron models that come with Ranvier and are written as equations.

Generated from `ranvier.equations.definitions` by ``python -m ranvier.generate_models``: change the model there, then
run this command. Every value is one number for all neurons, an array with one number for each, a distribution, or a
text with a unit.
"""

# The names are those of the field and of the equations.
# ruff: noqa: E501, N801, N803

from __future__ import annotations

from typing import ClassVar

from ranvier.base.values import Values
from ranvier.equations.copies import Copies
from ranvier.equations.integration import AbsoluteTolerance
from ranvier.equations.library import LibraryNeuron

__all__ = [
'''


_CELL_HEADER = '''\
"""Mechanisms of the membrane of detailed cells, and receptors that are placed on them.

Generated from the registry of the core by ``python -m ranvier.generate_models``: change the model in the core, then run
this command. A parameter of a mechanism is one number, an array with one number for each compartment of the cell, or a
function of the distances of all compartments from the begin of the root (um) that returns such; where rates of gates
depend on it, one number. That of a receptor is one number. `per_cell` gives each cell of a population its own.
"""

# The names are those of the field and of the equations.
# ruff: noqa: N801, N803

from __future__ import annotations

from typing import ClassVar

from ranvier.cells.membrane import DensityValue, Mechanism, OwnValue, Receptor

__all__ = [
'''

_Described: TypeAlias = (
    DescribedModel
    | _core.NeuronModel
    | _core.StimulatorModel
    | _core.SynapseModel
    | _core.MechanismModel
    | _core.ReceptorModel
)

_TRANSMITTER = "Neurons whose spikes act on all synapses of the projection at once: a volume transmitter"


def _number(value: float) -> str:
    if math.isinf(value):
        return "math.inf" if value > 0 else "-math.inf"
    return repr(value)


def _plain_number(value: float) -> str:
    return f"{value:g}" if float(f"{value:g}") == value else repr(value)


def _wrapped(text: str, indent: str) -> Iterator[str]:
    yield from textwrap.wrap(text, 120, initial_indent=indent, subsequent_indent=indent, break_long_words=False)


def _tuple(names: list[str]) -> str:
    listed = ", ".join(f'"{name}"' for name in names)
    return f"({listed},)" if len(names) == 1 else f"({listed})"


def _sentence(text: str) -> str:
    text = text[:1].upper() + text[1:]
    return text if text.endswith(".") else text + "."


def _section(title: str) -> Iterator[str]:
    yield ""
    yield f"    {title}"
    yield f"    {'-' * len(title)}"


def _docstring(
    model: _Described,
    parameters: Iterable[tuple[str, str]],
    notes: str,
) -> Iterator[str]:
    yield f'    """{_sentence(model.summary)}'
    yield ""
    yield from _wrapped(notes, "    ")
    titled = list(parameters)
    if titled:
        yield from _section("Parameters")
    for title, meaning in titled:
        yield f"    {title}"
        yield from _wrapped(_sentence(meaning), "        ")
    yield from _section("Notes")
    yield "    ::"
    yield ""
    yield from (f"        {line}" if line.strip() else "" for line in model.equations.strip("\n").splitlines())
    if model.reference:
        yield from _section("References")
        yield from _wrapped(model.reference, "    ")
    yield '    """'


def _parameter_title(parameter: _core.ParameterInfo) -> str:
    unit = f" {parameter.unit}" if parameter.unit else ""
    bounds = "" if parameter.bounds == "any number" else f"; {parameter.bounds}"
    own = "; may differ from synapse to synapse" if parameter.per_synapse else ""
    if math.isnan(parameter.default):
        return f"{parameter.name} : in {parameter.unit}, without a default{bounds}{own}"
    default = parameter.default_parameter or f"{_plain_number(parameter.default)}{unit}"
    return f"{parameter.name} : default {default}{bounds}{own}"


def _initial_value(variable: _core.VariableInfo) -> str:
    return variable.initial_parameter or _plain_number(variable.initial_value)


def _initializer(
    arguments: list[str], names: list[str], first: Sequence[str] = (), last: Sequence[str] = ()
) -> Iterator[str]:
    if not names:
        yield "    def __init__(self) -> None:"
        yield "        super().__init__()"
        return
    yield "    def __init__("
    yield "        self,"
    yield "        *,"
    yield from (f"        {argument}," for argument in arguments)
    yield "    ) -> None:"
    yield "        super().__init__("
    yield from (f"            {each}," for each in [*first, *(f"{name}={name}" for name in names), *last])
    yield "        )"


def _neuron_model(model: _core.NeuronModel) -> Iterator[str]:
    names = [parameter.name for parameter in model.parameters]
    settable = [variable for variable in model.variables if variable.name not in names]
    yield f"class {model.name}(NeuronModel):"
    yield from _neuron_docstring(model)
    yield ""
    yield f'    name: ClassVar[str] = "{model.name}"'
    yield ""
    yield from _initializer(
        [f"{parameter.name}: Values = {_number(parameter.default)}" for parameter in model.parameters]
        + [f"{variable.name}: Values | None = None" for variable in settable],
        names + [variable.name for variable in settable],
    )


def _equation_model(name: str) -> Iterator[str]:
    """Yield the class of a model that is written as equations."""
    model = described(name)
    yield f"class {name}(LibraryNeuron):"
    yield from _neuron_docstring(model)
    yield ""
    yield f'    model_name: ClassVar[str] = "{name}"'
    yield ""
    indexed, copies = indexed_names(name), DEFINITIONS[name].get("copies", {})
    parameters = [each for each in model.parameters if each.name not in indexed]
    settable = [each for each in model.settable if each.name not in indexed]
    arguments = [f"{index}: Copies = {count!r}" for index, count in copies.items()]
    arguments += [f"{parameter.name}: Values | str = {_number(parameter.default)}" for parameter in parameters]
    arguments += [f"{variable.name}: Values | str | None = None" for variable in settable]
    names = [each.name for each in parameters] + [each.name for each in settable]
    # The first two arguments have no names, which those of parameters with an index could be.
    first, last = [], []
    if model.integration is not None:
        arguments += [
            f'method: str = "{model.integration.method}"',
            "relative_tolerance: float | None = None",
            "absolute_tolerance: AbsoluteTolerance | None = None",
        ]
        first = ["None", f"({', '.join(INTEGRATION)})"]
    if copies:
        arguments.append("**of_each: Values | str | None")
        given = ", ".join(f'"{index}": {index}' for index in copies)
        first[:1] = [f"{{{given}}}"]
        last = ["**of_each"]
    yield from _initializer(arguments, names, first, last)


def _neuron_docstring(model: _core.NeuronModel | DescribedModel) -> Iterator[str]:
    names = [parameter.name for parameter in model.parameters]
    variables: list[_core.VariableInfo] = model.settable if isinstance(model, DescribedModel) else model.variables
    settable = [variable for variable in variables if variable.name not in names]
    titles = [(_parameter_title(parameter), parameter.meaning) for parameter in model.parameters]
    if isinstance(model, DescribedModel):
        titles = [(f"{index} : default {count}", COPIES[index]) for index, count in model.copies.items()] + titles
    for variable in settable:
        unit = f" ({variable.unit})" if variable.unit else ""
        titles.append(
            (
                f"{variable.name} : default {_initial_value(variable)}",
                f"initial value: {variable.meaning[:1].lower()}{variable.meaning[1:]}{unit}",
            )
        )
    if isinstance(model, DescribedModel) and model.integration is not None:
        for name, default, _, own, meaning in model.integration_rows:
            titles.append((f"{name} : default {default}; {own}", meaning))
    receptors = ", ".join(model.receptors)
    unit = f"are in {model.weight_unit}" if model.weight_unit else "have no unit"
    bounds = "" if model.weight_bounds == "any number" else f", {model.weight_bounds}"
    notes = f"Weights {unit}{bounds}. Receptors: {receptors}."
    if model.sign_chooses_receptor:
        notes += (
            " Weights >= 0 belong to the first receptor, negative weights to the second, unless receptor= names one."
        )
    elif len(model.receptors) > 1:
        notes += " Name one of them with receptor= in connect() and stimulate()."
    if model.variables:
        notes += f" State variables: {', '.join(variable.name for variable in model.variables)}."
    yield from _docstring(model, titles, notes)


def _stimulator(model: _core.StimulatorModel) -> Iterator[str]:
    sequences = [sequence.name for sequence in model.sequences]
    titles = [
        (f"{sequence.name} : array{f' ({sequence.unit})' if sequence.unit else ''}", sequence.meaning)
        for sequence in model.sequences
    ]
    titles += [(_parameter_title(parameter), parameter.meaning) for parameter in model.parameters]
    notes = (
        "For `Network.stimulate`: its spikes arrive at each target with a weight and a delay. For `Network.create`: a "
        "population of sources, each of which fires the train that a target would get, without the delay."
        if model.emits_spikes
        else "It adds to the current of its targets (pA)."
    )
    yield f"class {model.name}(Stimulator):"
    yield from _docstring(model, titles, notes)
    yield ""
    yield f'    name: ClassVar[str] = "{model.name}"'
    yield f"    emits_spikes: ClassVar[bool] = {model.emits_spikes}"
    if sequences:
        yield f"    sequence_names: ClassVar[tuple[str, ...]] = {_tuple(sequences)}"
    yield ""
    yield from _initializer(
        [f"{name}: npt.ArrayLike" for name in sequences]
        + [f"{parameter.name}: Values = {_number(parameter.default)}" for parameter in model.parameters],
        sequences + [parameter.name for parameter in model.parameters],
    )


def _synapse_model(model: _core.SynapseModel) -> Iterator[str]:
    titles = [(_parameter_title(parameter), parameter.meaning) for parameter in model.parameters]
    arguments = [
        f"{parameter.name}: {'Values' if parameter.per_synapse else 'float'}"
        + (" | None = None" if parameter.default_parameter else f" = {_number(parameter.default)}")
        for parameter in model.parameters
    ]
    own = [parameter.name for parameter in model.parameters if parameter.per_synapse]
    names = [parameter.name for parameter in model.parameters]
    if model.transmitter:
        titles.insert(0, (f"{model.transmitter} : population, view or a sequence of them", _TRANSMITTER))
        arguments.insert(0, f"{model.transmitter}: Neurons | None = None")
        names.insert(0, model.transmitter)
    notes = "For ``synapse=`` of `Network.connect`. " + (
        "Weights change with the spikes of sources and targets." if model.learns else "Only the user changes weights."
    )
    yield f"class {model.name}(SynapseModel):"
    yield from _docstring(model, titles, notes)
    yield ""
    yield f'    name: ClassVar[str] = "{model.name}"'
    if model.transmitter:
        yield f'    transmitter_name: ClassVar[str] = "{model.transmitter}"'
    if own:
        line = f"    per_synapse_names: ClassVar[tuple[str, ...]] = {_tuple(own)}"
        if len(line) <= 120:
            yield line
        else:
            yield "    per_synapse_names: ClassVar[tuple[str, ...]] = ("
            yield from (f'        "{name}",' for name in own)
            yield "    )"
    if following := {p.name: p.default_parameter for p in model.parameters if p.default_parameter}:
        shown = ", ".join(f'"{name}": "{other}"' for name, other in following.items())
        yield f"    following_names: ClassVar[Mapping[str, str]] = {{{shown}}}"
    if names:
        yield ""
        yield from _initializer(arguments, names)


def source() -> str:
    """Return the text of `ranvier.models` as the registry has it now."""
    # Spike generators are made by Network.create_spike_generators: their times are not values of a parameter.
    neurons = [model for model in _core.neuron_models() if not model.plays_spikes]
    stimulators = _core.stimulator_models()
    synapses = _core.synapse_models()
    names = sorted(model.name for models in (neurons, synapses, stimulators) for model in models)
    text = _HEADER + "".join(f'    "{name}",\n' for name in names) + "]\n"
    blocks = [_neuron_model(model) for model in neurons] + [_synapse_model(model) for model in synapses]
    blocks += [_stimulator(model) for model in stimulators]
    for block in blocks:
        text += "\n\n" + "\n".join(block) + "\n"
    tables = (
        ("NEURON_MODELS", "NeuronModel", neurons),
        ("SYNAPSE_MODELS", "SynapseModel", synapses),
        ("STIMULATORS", "Stimulator", stimulators),
    )
    for table, base, models in tables:
        text += (
            f"\n\n{table}: dict[str, type[{base}]] = {{\n"
            if table == "NEURON_MODELS"
            else (f"{table}: dict[str, type[{base}]] = {{\n")
        )
        text += "".join(f'    "{model.name}": {model.name},\n' for model in models) + "}\n"
    if "math." not in text.replace("import math", ""):
        text = text.replace("import math\n", "")
    return text


def _with_default(kind: str, parameter: _core.ParameterInfo) -> str:
    # A parameter without a default need not be given.
    if math.isnan(parameter.default):
        return f"{kind} | None = None"
    return f"{kind} = {_number(parameter.default)}"


def _part_of_cell(model: _core.MechanismModel | _core.ReceptorModel) -> Iterator[str]:
    is_mechanism = isinstance(model, _core.MechanismModel)
    titles = [(_parameter_title(parameter), parameter.meaning) for parameter in model.parameters]
    kind = "DensityValue" if is_mechanism else "OwnValue"
    notes = "Weights of synapses are in nS. For ``receptors=`` of `Cell`."
    if isinstance(model, _core.MechanismModel):
        gates = "; ".join(f"{name}, {meaning[:1].lower()}{meaning[1:]}" for name, meaning in model.gates)
        notes = "For ``membrane=`` of `Cell`." + (f" Gating variables: {gates}." if gates else "")
        if model.currents:
            notes += f" Currents: {', '.join(model.currents)}."
    yield f"class {model.name}({'Mechanism' if is_mechanism else 'Receptor'}):"
    yield from _docstring(model, titles, notes)
    yield ""
    yield f'    name: ClassVar[str] = "{model.name}"'
    if isinstance(model, _core.MechanismModel):
        if model.gates:
            yield f"    gates: ClassVar[tuple[str, ...]] = {_tuple([name for name, _ in model.gates])}"
        if model.currents:
            yield f"    currents: ClassVar[tuple[str, ...]] = {_tuple(list(model.currents))}"
        if model.is_pool:
            yield "    is_pool: ClassVar[bool] = True"
        if not math.isnan(model.measured_celsius):
            yield f"    measured_celsius: ClassVar[float | None] = {model.measured_celsius!r}"
    yield ""
    yield from _initializer(
        [f"{parameter.name}: {_with_default(kind, parameter)}" for parameter in model.parameters],
        [parameter.name for parameter in model.parameters],
    )


def source_of_cells() -> str:
    """Return the text of `ranvier.cells.models` as the registry has it now."""
    models: list[_core.MechanismModel | _core.ReceptorModel] = [*_core.mechanism_models(), *_core.receptor_models()]
    text = _CELL_HEADER + "".join(f'    "{name}",\n' for name in sorted(model.name for model in models)) + "]\n"
    for model in models:
        text += "\n\n" + "\n".join(_part_of_cell(model)) + "\n"
    return text


def source_of_equations() -> str:
    """Return the text of `ranvier.equations.models` as the definitions have it now."""
    text = _EQUATION_HEADER + "".join(f'    "{name}",\n' for name in sorted(DEFINITIONS)) + "]\n"
    for name in DEFINITIONS:
        text += "\n\n" + "\n".join(_equation_model(name)) + "\n"
    return text


def main() -> None:
    """Write the files."""
    here = Path(__file__)
    here.with_name("models.py").write_text(source())
    here.with_name("equations").joinpath("models.py").write_text(source_of_equations())
    here.with_name("cells").joinpath("models.py").write_text(source_of_cells())


if __name__ == "__main__":
    main()
