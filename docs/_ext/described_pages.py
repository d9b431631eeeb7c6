"""Pages of the reference, made from the program's own descriptions of models, rules, networks, commands and errors.

They are written to ``reference/generated`` before Sphinx reads its sources, so they are always up to date. Pages that
have not changed are not written again, so that a second build is fast.
"""

from __future__ import annotations

import argparse
import inspect
import re
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from sphinx.application import Sphinx

import ranvier as rv
from ranvier import _core, errors
from ranvier.command_line import make_parser
from ranvier.commands.keys import RUN_KEYS, shipped_networks, signature_keys
from ranvier.equations.library import DescribedModel, described
from ranvier.equations.neurons import NAMES
from ranvier.simulation.options import GROUPS

Rows = Iterable[Sequence[str]]


def setup(app: Sphinx) -> dict[str, bool]:
    """Register this extension with Sphinx."""
    app.connect("builder-inited", _write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


def _write(app: Sphinx) -> None:
    write_pages(Path(app.srcdir) / "reference/generated")


def write_pages(folder: Path) -> None:
    """Write all pages to a folder."""
    pages: dict[str, str] = {}
    neurons = [*_core.neuron_models(), *(described(name) for name in NAMES)]
    pages.update(_group("neurons", "Neurons", [(m.name, m.summary, _model_page(m)) for m in neurons]))
    pages.update(
        _group(
            "mechanisms", "Mechanisms of cells", [(m.name, m.summary, _part_page(m)) for m in _core.mechanism_models()]
        )
    )
    pages.update(
        _group("receptors", "Receptors of cells", [(m.name, m.summary, _part_page(m)) for m in _core.receptor_models()])
    )
    pages.update(
        _group("synapses", "Synapses", [(m.name, m.summary, _synapse_page(m)) for m in _core.synapse_models()])
    )
    pages.update(
        _group(
            "stimulators", "Stimulators", [(m.name, m.summary, _stimulator_page(m)) for m in _core.stimulator_models()]
        )
    )
    pages.update(_group("rules", "Connection rules", [(r.name, r.summary, _rule_page(r)) for r in _core.rules()]))
    pages.update(
        _group(
            "networks",
            "Networks in the package",
            [(n, _first_line(f), _network_page(n, f)) for n, f in shipped_networks().items()],
        )
    )
    pages.update(_group("commands", "Commands", list(_command_pages(make_parser()))))
    pages["options"] = _options_page()
    pages["errors"] = _errors_page()
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.rglob("*.md"):
        if str(path.relative_to(folder).with_suffix("")) not in pages:
            path.unlink()
    for name, text in pages.items():
        path = folder / f"{name}.md"
        path.parent.mkdir(exist_ok=True)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def _group(folder: str, title: str, entries: list[tuple[str, str, str]]) -> dict[str, str]:
    """Return the pages of one group, with their index."""
    lines = [
        f"# {title}",
        "",
        _table(("name", "description"), [(f"[{n}]({_file(n)}.md)", _escape(s)) for n, s, _ in entries]),
    ]
    lines += ["```{toctree}", ":hidden:", "", *(_file(name) for name, _, _ in entries), "```", ""]
    pages = {f"{folder}/{_file(name)}": page for name, _, page in entries}
    return {f"{folder}/index": "\n".join(lines), **pages}


def _file(name: str) -> str:
    return name.replace(" ", "_")


def _escape(text: str) -> str:
    return text.replace("|", "\\|").replace("<", "&lt;").replace("*", "\\*")


def _table(head: Sequence[str], rows: Rows) -> str:
    lines = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join([*lines, ""])


def _first_line(function: Callable[..., object]) -> str:
    return (inspect.getdoc(function) or "").split("\n")[0]


def _parameters(parameters: Iterable[_core.ParameterInfo]) -> Rows:
    for parameter in parameters:
        yield (
            f"`{parameter.name}`",
            f"{parameter.default:g}",
            parameter.unit,
            _escape(parameter.bounds),
            _escape(parameter.meaning + (". May differ from synapse to synapse" if parameter.per_synapse else "")),
        )


def _equations(text: str) -> list[str]:
    return ["## Equations", "", "```text", text.strip("\n"), "```", ""]


def _reference(text: str) -> list[str]:
    return ["## Reference", "", _escape(text), ""] if text else []


def _model_page(model: _core.NeuronModel) -> str:
    lines = [f"# {model.name}", "", f"{_escape(model.summary)}.", ""]
    if model.weight_unit:
        bounds = "" if model.weight_bounds == "any number" else f", {_escape(model.weight_bounds)}"
        text = f"Weights are in {model.weight_unit}{bounds}. Receptors: {', '.join(model.receptors)}."
        if model.sign_chooses_receptor:
            text += " Weights >= 0 belong to the first, negative weights to the second, unless `receptor=` names one."
        elif len(model.receptors) > 1:
            text += " `receptor=` names one of them."
        lines += [text, ""]
    copies = model.copy_rows if isinstance(model, DescribedModel) else []
    ways = model.integration_rows if isinstance(model, DescribedModel) else []
    rows = [(f"`{index}`", *others) for index, *others in copies] + list(_parameters(model.parameters))
    rows += [(f"`{name}`", *map(_escape, others)) for name, *others in ways]
    lines += ["## Parameters", "", _table(("name", "default", "unit", "bounds", "meaning"), rows)]
    variables = [
        (f"`{v.name}`", f"`{v.initial_parameter}`" if v.initial_parameter else "0", v.unit, _escape(v.meaning))
        for v in model.variables
    ]
    lines += ["## State variables", "", _table(("name", "initial value", "unit", "meaning"), variables)]
    lines += [*_equations(model.equations), *_reference(model.reference)]
    values = ", ".join(f"{p.name}={p.default:g}" for p in model.parameters[:2])
    lines += ["## Use", "", "```python", f"neurons = net.create(rv.{model.name}({values}), 100)", "```", ""]
    lines += [f"In Python: {{py:class}}`ranvier.{model.name}`.", ""] if hasattr(rv, model.name) else []
    return "\n".join(lines)


def _part_page(model: _core.MechanismModel | _core.ReceptorModel) -> str:
    lines = [f"# {model.name}", "", f"{_escape(model.summary)}.", "", "## Parameters", ""]
    lines += [_table(("name", "default", "unit", "bounds", "meaning"), _parameters(model.parameters))]
    if isinstance(model, _core.MechanismModel) and model.gates:
        lines += ["## Gating variables", "", _table(("name", "meaning"), model.gates)]
    return "\n".join([*lines, *_equations(model.equations), *_reference(model.reference), _class_line(model.name)])


def _class_line(name: str) -> str:
    return f"In Python: {{py:class}}`ranvier.{name}`.\n"


def _synapse_page(model: _core.SynapseModel) -> str:
    lines = [f"# {model.name}", "", f"{_escape(model.summary)}.", ""]
    if model.parameters:
        table = _table(("name", "default", "unit", "bounds", "meaning"), _parameters(model.parameters))
        own = [f"`{p.name}`" for p in model.parameters if p.per_synapse]
        shared = "All synapses of a projection share them."
        if own:
            shared = f"All synapses of a projection share them, unless {', '.join(own)} are arrays or distributions."
        lines += ["## Parameters", "", shared, "", table]
    lines += [*_equations(model.equations), *_reference(model.reference)]
    values = ", ".join(f"{p.name}={p.default:g}" for p in model.parameters[:2])
    use = [
        f"synapse = rv.{model.name}({values})",
        "net.connect(sources, targets, rule, weight=..., delay=..., synapse=synapse)",
    ]
    lines += ["## Use", "", "```python", *use, "```", "", f"In Python: {{py:class}}`ranvier.{model.name}`.", ""]
    return "\n".join(lines)


def _stimulator_page(model: _core.StimulatorModel) -> str:
    lines = [f"# {model.name}", "", f"{_escape(model.summary)}.", "", "## Parameters", ""]
    rows = [(f"`{s.name}`", "", s.unit, "array", _escape(s.meaning)) for s in model.sequences]
    lines += [_table(("name", "default", "unit", "bounds", "meaning"), [*rows, *_parameters(model.parameters)])]
    lines += [*_equations(model.equations), *_reference(model.reference)]
    lines += [f"In Python: {{py:class}}`ranvier.{model.name}`.", ""] if hasattr(rv, model.name) else []
    return "\n".join(lines)


def _class_of(rule: _core.RuleInfo) -> str | None:
    wanted = rule.name.replace("_", "").replace("-", "").lower()
    return next((name for name in rv.__all__ if name.lower() == wanted), None)


def _rule_page(rule: _core.RuleInfo) -> str:
    lines = [f"# {rule.name}", "", f"{_escape(rule.summary)}.", ""]
    if rule.parameters:
        rows = [(f"`{p.name}`", _escape(p.bounds), _escape(p.meaning)) for p in rule.parameters]
        lines += ["## Parameters", "", _table(("name", "bounds", "meaning"), rows)]
    name = _class_of(rule)
    if name is not None:
        lines += [f"In Python: {{py:class}}`ranvier.{name}`.", ""]
    return "\n".join(lines)


def _network_page(name: str, function: Callable[..., object]) -> str:
    text = inspect.getdoc(function) or ""
    summary = re.split(r"\n\nParameters\n-+\n", text)[0]
    lines = [
        f"# {name}",
        "",
        summary,
        "",
        "```{eval-rst}",
        f".. autofunction:: ranvier.networks.{name}",
        "   :no-index:",
        "```",
        "",
    ]
    rows = [(f"`{key}`", "" if value is None else f"`{value}`") for key, value in signature_keys(function).items()]
    lines += ["## Keys of `--set`", "", f"`ranvier run {name} --set key=value`:", "", _table(("key", "default"), rows)]
    run_keys = [(f"`{key}`", "" if value is None else f"`{value}`") for key, value in RUN_KEYS.items()]
    lines += ["Keys of every run:", "", _table(("key", "default"), run_keys)]
    return "\n".join(lines)


def _command_pages(parser: argparse.ArgumentParser) -> Iterable[tuple[str, str, str]]:
    for name, below in _subcommands(parser):
        yield name, _summary(parser, name), _command_page(below)
        for benchmark, program in _subcommands(below):
            yield f"{name} {benchmark}", _summary(below, benchmark), _command_page(program)


def _subcommands(parser: argparse.ArgumentParser) -> Iterable[tuple[str, argparse.ArgumentParser]]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            yield from action.choices.items()


def _summary(parser: argparse.ArgumentParser, name: str) -> str:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return next((choice.help or "" for choice in action._choices_actions if choice.dest == name), "")
    return ""


def _command_page(parser: argparse.ArgumentParser) -> str:
    # With the width of a page, not of the terminal in which the site is built.
    parser.formatter_class = lambda prog: argparse.RawDescriptionHelpFormatter(prog, width=110, max_help_position=34)
    return "\n".join([f"# {parser.prog}", "", "```text", parser.format_help().rstrip(), "```", ""])


def _options_page() -> str:
    lines = ["# Options of a simulation", ""]
    lines += [
        "Keywords of {py:class}`ranvier.Simulation`, some of them in three groups; `--set name=value` sets each.",
        "",
    ]
    for group in GROUPS:
        lines += [f"## `{group.keyword}=rv.{group.__name__}(...)`" if group.keyword else "## Direct keywords", ""]
        lines += [(inspect.getdoc(group) or "").split("\n\n")[0].replace("\n", " "), ""]
        rows = [
            (f"`{name}`", f"`{each.default!r}`", _escape(each.wanted()), _escape(each.meaning))
            for name, each in group.options.items()
        ]
        lines += [_table(("name", "default", "allowed values", "meaning"), rows)]
    return "\n".join(lines)


def _errors_page() -> str:
    lines = [
        "# Errors",
        "",
        "All errors of Ranvier are in `ranvier.errors`. Each names the object, the value, the bound and what to do.",
        "",
    ]
    rows = []
    for name in errors.__all__:
        kind = getattr(errors, name)
        if isinstance(kind, type) and issubclass(kind, BaseException):
            bases = ", ".join(f"`{base.__name__}`" for base in kind.__mro__[1:] if base not in (object, BaseException))
            rows.append((f"`{name}`", bases, _escape((inspect.getdoc(kind) or "").split("\n\n")[0].replace("\n", " "))))
    return "\n".join([*lines, _table(("error", "is also", "when"), rows)])
