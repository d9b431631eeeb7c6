"""The parts of a file of NESTML. Expressions are trees of `ranvier.equations`, with a few kinds of nodes more.

Beside those of `ranvier.equations.trees`: "call", a function that is not one of mathematics, with its name and its
arguments; "truth", 1 or 0; "text". Names may end in ' (derivatives) and contain $.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from ranvier.equations.places import Place
from ranvier.equations.trees import Node
from ranvier.equations.units import Unit

__all__ = [
    "Assignment",
    "Branch",
    "Call",
    "Condition",
    "Declaration",
    "Function",
    "Handler",
    "Inline",
    "Model",
    "Other",
    "Port",
    "Return",
    "Statement",
    "Suite",
]


@dataclass(frozen=True, slots=True)
class Declaration:
    """A variable, parameter or internal: its type is "real", "integer", "boolean", "string", or "unit"."""

    name: str
    place: Place
    type: str
    unit: Unit
    node: Node | None
    guard: Node | None = None
    meaning: str = ""


@dataclass(frozen=True, slots=True)
class Inline:
    """A named expression; or the derivative of a variable or of a kernel; or a kernel."""

    name: str
    place: Place
    node: Node
    unit: Unit | None = None
    meaning: str = ""


@dataclass(frozen=True, slots=True)
class Port:
    """An input; qualifiers are "excitatory" and "inhibitory"."""

    name: str
    place: Place
    is_spiking: bool
    qualifiers: frozenset[str]
    unit: Unit | None


@dataclass(frozen=True, slots=True)
class Assignment:
    """``x = ...``; the operation is "=", "+=", "-=", "*=" or "/="."""

    name: str
    operation: str
    node: Node
    place: Place


@dataclass(frozen=True, slots=True)
class Call:
    """A statement that is a call: a node of the kind "call"."""

    node: Node

    @property
    def place(self) -> Place:
        """Its place."""
        return self.node.place


@dataclass(frozen=True, slots=True)
class Return:
    """The value of a function."""

    node: Node | None
    place: Place


@dataclass(frozen=True, slots=True)
class Other:
    """A statement without a counterpart in equations; `what` is its kind. Functions may have local variables."""

    what: str
    remedy: str
    place: Place
    local: Declaration | None = None


@dataclass(frozen=True, slots=True)
class Branch:
    """Conditions with the statements for the first that holds; and the statements otherwise."""

    cases: tuple[tuple[Node, Suite], ...]
    otherwise: Suite
    place: Place
    depth: int


Statement = Assignment | Call | Return | Other | Branch
Suite = tuple[Statement, ...]


@dataclass(frozen=True, slots=True)
class Handler:
    """Statements for spikes that arrive at a port."""

    port: str
    place: Place
    body: Suite


@dataclass(frozen=True, slots=True)
class Condition:
    """Statements for a condition that holds."""

    node: Node
    place: Place
    body: Suite


@dataclass(frozen=True, slots=True)
class Function:
    """A function of the user; `returned` is the unit of its value, if it is said."""

    name: str
    arguments: tuple[Declaration, ...]
    returned: Unit | None
    body: Suite
    place: Place


@dataclass(slots=True)
class Model:
    """A model: its blocks."""

    name: str
    place: Place
    state: dict[str, Declaration] = field(default_factory=dict)
    parameters: dict[str, Declaration] = field(default_factory=dict)
    internals: dict[str, Declaration] = field(default_factory=dict)
    odes: dict[str, Inline] = field(default_factory=dict)
    inlines: dict[str, Inline] = field(default_factory=dict)
    kernels: list[tuple[Inline, ...]] = field(default_factory=list)
    ports: dict[str, Port] = field(default_factory=dict)
    has_output: bool = False
    update: Suite = ()
    handlers: list[Handler] = field(default_factory=list)
    conditions: list[Condition] = field(default_factory=list)
    functions: dict[str, Function] = field(default_factory=dict)
