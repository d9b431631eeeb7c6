"""A paper and its results, as `ranvier paper` repeats them."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

from rich.console import Console

from ranvier.base.names import unknown_name
from ranvier.commands.keys import signature_keys

if TYPE_CHECKING:
    # Matplotlib is loaded only to draw.
    from ranvier.figures.style import Figure

__all__ = ["Keys", "Kind", "Measured", "Paper", "PaperResult", "Progress", "check_with", "measure_with"]

Kind: TypeAlias = Literal["figure", "table"]
Measured: TypeAlias = dict[str, Any]
"""The measurements of a result, as in its JSON file."""


class Progress(Protocol):
    """The connection of a measurement with the command that runs it."""

    mpiexec: Path | None
    """Program that starts processes, if the user named one."""

    def step(self, text: str) -> None:
        """Show what is measured now."""

    def keep(self, measured: Measured) -> None:
        """Write the measurements so far, so that they are not lost if a later one fails."""


class Keys(Protocol):
    """Keys that results share: a data class whose fields have the values for a laptop as defaults."""

    def check(self) -> None:
        """Raise for values out of bounds, or if the machine has too little memory."""

    def measure(self, progress: Progress) -> Measured:
        """Measure with these values."""


def measure_with(keys: Callable[..., Keys]) -> Callable[..., Measured]:
    """Return the function of a `PaperResult` that measures with the keys of a data class."""

    def measure(progress: Progress, **values: Any) -> Measured:
        return keys(**values).measure(progress)

    first = inspect.Parameter("progress", inspect.Parameter.POSITIONAL_OR_KEYWORD, annotation="Progress")
    parameters = inspect.signature(keys).parameters.values()
    measure.__signature__ = inspect.Signature([first, *parameters])  # type: ignore[attr-defined]
    return measure


def check_with(keys: Callable[..., Keys]) -> Callable[..., None]:
    """Return the function of a `PaperResult` that checks the keys of a data class."""

    def check(**values: Any) -> None:
        keys(**values).check()

    return check


@dataclass(frozen=True)
class PaperResult:
    """A figure or a table of a paper."""

    kind: Kind
    number: str
    """As in the paper: "6", "2B", "A4"."""
    title: str
    minutes: float
    """Time of the default preset on two processors."""
    measure: Callable[..., Measured]
    """Function that measures. Its first argument is a `Progress`; the others are the keys of ``--set``, and their
    defaults are the preset for a laptop."""
    show: Callable[[Measured, Console], None]
    """Function that prints the numbers beside those of the paper."""
    show_together: Callable[[Sequence[Measured], Console], None] | None = None
    """Function that prints what follows from the files of all machines together, after `show` of each."""
    draw: Callable[[Sequence[Measured]], Figure] | None = None
    """Function that draws a figure in the form of the paper's, from the files of one or several machines."""
    full: Mapping[str, Any] = field(default_factory=dict)
    """Values of the paper, for those keys of `measure` that have other defaults."""
    check: Callable[..., None] = lambda **values: None
    """Function that gets all keys, and raises for values out of bounds, or if the machine has too little memory, before
    anything is measured."""

    same_as: tuple[str, ...] = ()
    """Numbers of other results of this kind that are the same measurement, so that ``--from`` accepts their files."""

    @property
    def name(self) -> str:
        """Name in texts: "figure 6"."""
        return f"{self.kind} {self.number}"

    def preset(self, *, full: bool) -> dict[str, Any]:
        """Return all keys with the values for a laptop, or with those of the paper."""
        defaults = {name: value for name, value in signature_keys(self.measure).items() if name != "progress"}
        return {**defaults, **self.full} if full else defaults


@dataclass(frozen=True)
class Paper:
    """A paper, with those of its results that can be repeated."""

    name: str
    citation: str
    results: tuple[PaperResult, ...]

    def find(self, kind: Kind, number: str) -> PaperResult:
        """Return a figure or a table by its number.

        Raises
        ------
        UnknownNameError
            When there is no such result; the error lists those that there are.
        """
        known = {result.number.lower(): result for result in self.results if result.kind == kind}
        if number.lower() not in known:
            unknown_name(f"{kind} of {self.name}", number, [result.number for result in known.values()])
        return known[number.lower()]
