"""Tables of the parts of a network, as text and for notebooks."""

from __future__ import annotations

import html
import itertools
import re
import textwrap
from collections.abc import Sequence
from typing import Protocol

from ranvier.base.names import counted
from ranvier.base.times import text_of
from ranvier.base.value_texts import describe_settings, describe_values
from ranvier.network.fields import Field
from ranvier.network.projections import Projection, Stimulus
from ranvier.network.recorders import Recorder
from ranvier.populations.populations import Population


class Summarized(Protocol):
    """The part of a network's interface that a summary uses."""

    @property
    def name(self) -> str: ...
    @property
    def resolution(self) -> float: ...
    @property
    def seed(self) -> int: ...
    @property
    def neuron_count(self) -> int: ...
    @property
    def expected_synapses(self) -> float: ...
    @property
    def populations(self) -> tuple[Population, ...]: ...
    @property
    def projections(self) -> tuple[Projection, ...]: ...
    @property
    def stimuli(self) -> tuple[Stimulus, ...]: ...
    @property
    def fields(self) -> tuple[Field, ...]: ...
    @property
    def recorders(self) -> tuple[Recorder, ...]: ...


__all__ = ["as_html", "as_text"]

# Largest number of rows shown of one table; a network may have thousands of projections.
_MOST_ROWS = 100
# Characters of a line of text, and of the narrowest column.
_WIDTH, _NARROWEST = 100, 8

Table = tuple[str, list[str], list[list[str]]]


def as_text(network: Summarized) -> str:
    """Return the tables as text."""
    lines = [_title(network)]
    for title, head, rows in _tables(network):
        lines += ["", title]
        shown = rows[:_MOST_ROWS]
        widths = _fitting([head, *shown])
        numeric = [all(_is_number(row[i]) for row in shown) for i in range(len(head))]
        for row in [head, *shown]:
            wrapped = [
                textwrap.wrap(cell, width, break_on_hyphens=False) or [""]
                for cell, width in zip(row, widths, strict=True)
            ]
            for cells in itertools.zip_longest(*wrapped, fillvalue=""):
                aligned = [
                    cell.rjust(width) if right else cell.ljust(width)
                    for cell, width, right in zip(cells, widths, numeric, strict=True)
                ]
                lines.append(("  " + "  ".join(aligned)).rstrip())
        if len(rows) > len(shown):
            lines.append(f"  ... and {len(rows) - len(shown)} more")
    return "\n".join(lines)


def _fitting(rows: list[list[str]]) -> list[int]:
    """Return widths of columns that fit in a line. The widest columns are wrapped, within words only if necessary."""
    columns = list(zip(*rows, strict=True))
    widths = [max(map(len, column)) for column in columns]
    words = [max((len(word) for cell in column for word in cell.split()), default=0) for column in columns]
    for least in (words, [_NARROWEST] * len(columns)):
        while sum(widths) + 2 * len(widths) > _WIDTH:
            wide = [width if width > fewest else 0 for width, fewest in zip(widths, least, strict=True)]
            if not any(wide):
                break
            widths[wide.index(max(wide))] -= 1
    return widths


def as_html(network: Summarized) -> str:
    """Return the tables as HTML."""
    parts = [f"<p><b>{html.escape(_title(network))}</b></p>"]
    for title, head, rows in _tables(network):
        shown = rows[:_MOST_ROWS]
        numeric = [all(_is_number(row[i]) for row in shown) for i in range(len(head))]
        parts.append(f"<details open><summary>{html.escape(title)}</summary><table>")
        parts.append("<tr>" + "".join(f"<th>{html.escape(name)}</th>" for name in head) + "</tr>")
        for row in shown:
            cells = (
                f'<td style="text-align:{"right" if right else "left"}">{html.escape(cell)}</td>'
                for cell, right in zip(row, numeric, strict=True)
            )
            parts.append("<tr>" + "".join(cells) + "</tr>")
        parts.append("</table>")
        if len(rows) > len(shown):
            parts.append(f"<p>... and {len(rows) - len(shown)} more</p>")
        parts.append("</details>")
    return "".join(parts)


def _title(network: Summarized) -> str:
    return (
        f"{network.name}: {counted(network.neuron_count, 'neuron', ',')}, "
        f"{counted(network.expected_synapses, 'synapse', ',.0f')}, "
        f"resolution {text_of(network.resolution)} ms, seed {network.seed}"
    )


def _tables(network: Summarized) -> list[Table]:
    # Empty tables are left out.
    return [
        table
        for table in (
            _populations(network),
            _projections(network),
            _stimuli(network),
            _fields(network),
            _recorders(network),
        )
        if table[2]
    ]


def _populations(network: Summarized) -> Table:
    rows = [
        [
            population.name,
            population.model,
            f"{len(population):,}",
            f"{population.first_id:,}",
            describe_settings(
                population.values
                if population.step == network.resolution
                else {**population.values, "step": population.step}
            ),
        ]
        for population in network.populations
    ]
    head = ["name", "model", "size", "first id", "set"]
    for title in ("layout", "rotation"):
        shown = [getattr(population, title) for population in network.populations]
        if any(shown):
            head.append("positions" if title == "layout" else title)
            rows = [[*row, repr(each) if each else ""] for row, each in zip(rows, shown, strict=True)]
    return "Populations", head, rows


def _short(call: str) -> str:
    """Return the text of a rule or a distribution with six digits, without the names of its first arguments."""
    call = re.sub(r"\d+\.\d{4,}(e[-+]?\d+)?", lambda found: f"{float(found[0]):g}", call)
    return re.sub(
        r"^(\w+\()\w+=([^,=()]+)(, std=)?", lambda found: f"{found[1]}{found[2]}{', ' if found[3] else ''}", call
    )


def _projections(network: Summarized) -> Table:
    rows = [
        [
            projection.name,
            projection.sources.name,
            projection.targets.name,
            _short(repr(projection.rule)),
            f"{projection.expected_synapses:,.0f}",
            _short(describe_values(projection.weight)),
            _short(describe_values(projection.delay)),
        ]
        for projection in network.projections
    ]
    head = ["name", "from", "to", "rule", "synapses", "weight", "delay (ms)"]
    if all(each.name == f"{each.sources.name} to {each.targets.name}" for each in network.projections):
        # All names are default names.
        head, rows = head[1:], [row[1:] for row in rows]
    return "Projections", *_with_receptors(head, rows, network.projections)


def _stimuli(network: Summarized) -> Table:
    rows = [
        [
            stimulus.name,
            stimulus.stimulator,
            stimulus.targets.name,
            describe_settings(stimulus.values),
            describe_values(stimulus.weight),
        ]
        for stimulus in network.stimuli
    ]
    head = ["name", "stimulator", "to", "set", "weight"]
    if any(stimulus.electrode for stimulus in network.stimuli):
        head.append("electrode")
        rows = [[*row, stimulus.electrode or ""] for row, stimulus in zip(rows, network.stimuli, strict=True)]
    return "Stimuli", *_with_receptors(head, rows, network.stimuli)


def _with_receptors(
    head: list[str], rows: list[list[str]], parts: Sequence[Projection | Stimulus]
) -> tuple[list[str], list[list[str]]]:
    """Add a column of receptors if one was named."""
    if not any(part.receptor for part in parts):
        return head, rows
    return [*head, "receptor"], [[*row, part.receptor or ""] for row, part in zip(rows, parts, strict=True)]


def _fields(network: Summarized) -> Table:
    return "Fields", ["kind", "acts"], [[type(field).__name__, field.description] for field in network.fields]


def _recorders(network: Summarized) -> Table:
    rows = [
        [type(recorder).__name__, recorder.description, recorder.cost, str(recorder.to or "memory")]
        for recorder in network.recorders
    ]
    return "Recorders", ["kind", "records", "bytes", "to"], rows


def _is_number(cell: str) -> bool:
    return cell.replace(",", "").replace(".", "").isdigit()
