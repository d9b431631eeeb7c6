"""Expressions of equations as trees. They are made by Python's parser; only the nodes listed here are accepted.

Nothing of a text is ever evaluated as Python: whatever is not in the lists is an error that points at its place.
"""

from __future__ import annotations

import ast
import math
import re
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Generic, NoReturn, Protocol, TypeAlias, TypeVar

from ranvier.equations.places import Place, Source, refuse, refuse_name

__all__ = [
    "FUNCTIONS",
    "TOO_SMALL",
    "TRUTHS",
    "Algebra",
    "FlatNode",
    "Node",
    "flattened",
    "is_too_small",
    "names_in",
    "nodes_of",
    "parse",
    "unflattened",
    "walked",
    "with_parts",
]

# Name of a function -> how many arguments it takes.
FUNCTIONS: dict[str, int] = {
    **dict.fromkeys(
        ("abs", "ceil", "cos", "cosh", "exp", "expm1", "exprel", "floor", "int", "log", "log10", "log1p"), 1
    ),
    **dict.fromkeys(("sign", "sin", "sinh", "sqrt", "tan", "tanh"), 1),
    **dict.fromkeys(("max", "min"), 2),
    **dict.fromkeys(("clip", "where"), 3),
    **dict.fromkeys(("rand", "randn"), 0),
    "before": 1,
}
_SAME = {"abs": "absolute", "sqrt": "square_root", "exprel": "expm1_over", "max": "maximum", "min": "minimum"}

_LONGEST = 4000  # characters of an expression
_DEEPEST = 100  # operations inside each other

_BINARY: dict[type[ast.operator], str] = {
    ast.Add: "add",
    ast.Sub: "subtract",
    ast.Mult: "multiply",
    ast.Div: "divide",
    ast.Pow: "power",
}
_TAKEN = "expressions have numbers, names, + - * / // % **, comparisons, and, or, not, A if B else C, and functions"
# Remedies for operators of other languages.
_INSTEAD: dict[type[ast.operator], str] = {
    ast.BitXor: "use ** for powers: x**2",
    ast.BitAnd: "write (...) and (...)",
    ast.BitOr: "write (...) or (...)",
}
TOO_SMALL = "write 0, or a number of at least 5e-324"
TRUTHS = ("less", "less_equal", "equal", "both", "either", "not")
"""Kinds of nodes whose value is a truth."""


def is_too_small(number: float, text: str) -> bool:
    """Return whether a number was rounded to 0 although its text is not 0."""
    return number == 0.0 and any(digit in "123456789" for digit in text.lower().partition("e")[0])


@dataclass(frozen=True, slots=True, eq=False)
class Node:
    """A part of an expression.

    `kind` is "number", "name", "draw" or an operation on `parts`. A draw has the name of its function. The part of
    "before" is the name whose value at the start of the step it represents.
    """

    kind: str
    place: Place
    parts: tuple[Node, ...] = ()
    number: float = 0.0
    name: str = ""


Made = TypeVar("Made")


class Algebra(Protocol, Generic[Made]):
    """Values of an expression: numbers, units, instructions of a program."""

    def leaf(self, node: Node) -> Made:
        """Return the value of a number, a name or a draw."""

    def operation(self, node: Node, parts: list[Made]) -> Made:
        """Return the outcome of an operation."""


def walked(node: Node, algebra: Algebra[Made]) -> Made:
    """Calculate an expression. Parts that occur several times in a tree are calculated once."""
    made: dict[int, Made] = {}
    # Trees may be deeper than Python's stack.
    waiting = [node]
    while waiting:
        part = waiting[-1]
        missing = [each for each in part.parts if id(each) not in made]
        if missing:
            waiting += reversed(missing)
            continue
        waiting.pop()
        if id(part) not in made:
            parts = [made[id(each)] for each in part.parts]
            made[id(part)] = algebra.operation(part, parts) if parts else algebra.leaf(part)
    return made[id(node)]


def with_parts(node: Node, parts: Sequence[Node]) -> Node:
    """Return a node with these parts: itself if none of them has changed."""
    if all(one is other for one, other in zip(node.parts, parts, strict=True)):
        return node
    return Node(node.kind, node.place, tuple(parts), node.number, node.name)


FlatNode: TypeAlias = tuple[str, Place, tuple[int, ...], float, str]
"""A node with the indices of its parts in a list, for pickle: trees may be nested too deeply for it."""


def flattened(nodes: Iterable[Node]) -> tuple[list[FlatNode], list[int]]:
    """Return all nodes of some expressions, each after its parts, and the indices of the expressions."""
    table: list[FlatNode] = []
    numbers: dict[int, int] = {}

    class Flattening:
        def leaf(self, node: Node) -> int:
            return self.operation(node, [])

        def operation(self, node: Node, parts: list[int]) -> int:
            if id(node) not in numbers:
                numbers[id(node)] = len(table)
                table.append((node.kind, node.place, tuple(parts), node.number, node.name))
            return numbers[id(node)]

    kept = list(nodes)
    return table, [walked(node, Flattening()) for node in kept]


def unflattened(table: Iterable[FlatNode]) -> list[Node]:
    """Return the nodes of a list from `flattened`."""
    made: list[Node] = []
    for kind, place, parts, number, name in table:
        made.append(Node(kind, place, tuple(made[k] for k in parts), number, name))
    return made


def nodes_of(node: Node) -> Iterator[Node]:
    """Yield each part of an expression once, in the order of the text."""
    seen = {id(node)}
    waiting = [node]
    while waiting:
        part = waiting.pop()
        yield part
        for each in reversed(part.parts):
            if id(each) not in seen:
                seen.add(id(each))
                waiting.append(each)


def names_in(node: Node) -> dict[str, Node]:
    """Return the names that an expression uses, each with the place of the first use."""
    found: dict[str, Node] = {}
    for part in nodes_of(node):
        if part.kind == "name":
            found.setdefault(part.name, part)
    return found


def parse(source: Source, begin: int, end: int, keywords: Collection[str] = ()) -> Node:
    """Return the tree of the expression between two places of a text, which may have several lines.

    `keywords` are words of Python, such as ``lambda``, that are names here.

    Raises
    ------
    EquationError
        For text that is not in the language, or is too long or too deep.
    """
    text = source.text[begin:end]
    begin += len(text) - len(text.lstrip())
    text = text.strip()
    whole = Place(source, begin, begin + max(1, len(text)))
    if not text:
        refuse(whole, "", "an expression is missing", "write one")
    if len(text) > _LONGEST:
        refuse(whole, f"{len(text)} characters long", f"an expression has {_LONGEST} at most", "divide it into several")
    # Of the same length, so that places do not change.
    line = text.replace("\\\n", "  ").replace("\r", " ").replace("\n", " ")
    renamed = {_stand_in(word): word for word in keywords}
    for other, word in renamed.items():
        line = re.sub(rf"\b{word}\b", other, line)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of Python, such as those on comparisons with literals
            tree = ast.parse(line, mode="eval").body
    except SyntaxError as error:
        at = begin + min(max((error.offset or 1) - 1, 0), max(len(text) - 1, 0))
        remedy = "write and, or, not" if any(each in text for each in ("&&", "||", "!")) else _TAKEN
        refuse(Place(source, at, at + 1), f"'{whole.text}'", f"it is not an expression ({error.msg})", remedy)
    except (ValueError, RecursionError, MemoryError):
        refuse(whole, f"'{whole.text}'", "it is not an expression that can be read", _TAKEN)
    _check_depth(tree, whole)
    return _Reader(source, begin, line, renamed).node(tree)


def _stand_in(word: str) -> str:
    """Return a name of the same length that Python accepts in the place of a keyword."""
    return "\u019b" + word[1:]


def _check_depth(tree: ast.AST, whole: Place) -> None:
    level: list[ast.AST] = [tree]
    depth = 0
    while level:
        depth += 1
        if depth > _DEEPEST:
            refuse(
                whole,
                f"an expression with more than {_DEEPEST} operations inside each other",
                f"there can be {_DEEPEST}",
                "divide it into several: x = ... : unit",
            )
        level = [child for each in level for child in ast.iter_child_nodes(each) if isinstance(child, ast.expr)]


class _Reader:
    """Converts nodes of Python's parser."""

    def __init__(self, source: Source, begin: int, line: str, renamed: Mapping[str, str]) -> None:
        self.source = source
        self.begin = begin
        self.encoded = line.encode()
        self.renamed = renamed

    def node(self, tree: ast.expr) -> Node:
        make = getattr(self, f"_{type(tree).__name__}", None)
        if make is None:
            self._refuse(tree)
        made: Node = make(tree)
        return made

    def _place(self, tree: ast.expr) -> Place:
        # Python counts bytes.
        begin = len(self.encoded[: tree.col_offset].decode(errors="replace"))
        end = len(self.encoded[: tree.end_col_offset or 0].decode(errors="replace"))
        return Place(self.source, self.begin + begin, self.begin + max(end, begin + 1))

    def _refuse(self, tree: ast.expr, remedy: str = _TAKEN) -> NoReturn:
        place = self._place(tree)
        refuse(place, f"'{place.text}'", "this is not part of the language of equations", remedy)

    def _made(self, kind: str, tree: ast.expr, *parts: Node) -> Node:
        return Node(kind, self._place(tree), parts)

    def _number(self, tree: ast.expr, value: float) -> Node:
        return Node("number", self._place(tree), number=value)

    def _Constant(self, tree: ast.Constant) -> Node:  # noqa: N802
        value = tree.value
        if isinstance(value, bool) or not isinstance(value, int | float):
            self._refuse(tree)
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if not math.isfinite(number):
            place = self._place(tree)
            refuse(place, place.text, "it is too large for floating point", "write a number below 1.8e308")
        place = self._place(tree)
        if is_too_small(number, place.text):
            refuse(place, place.text, "it is too small for floating point", TOO_SMALL)
        return self._number(tree, number)

    def _Name(self, tree: ast.Name) -> Node:  # noqa: N802
        return Node("name", self._place(tree), name=self.renamed.get(tree.id, tree.id))

    def _UnaryOp(self, tree: ast.UnaryOp) -> Node:  # noqa: N802
        part = self.node(tree.operand)
        if isinstance(tree.op, ast.UAdd):
            return part
        if isinstance(tree.op, ast.Invert):
            self._refuse(tree, "write not (...)")
        if isinstance(tree.op, ast.USub) and part.kind == "number":
            return self._number(tree, -part.number)
        return self._made("negate" if isinstance(tree.op, ast.USub) else "not", tree, part)

    def _BinOp(self, tree: ast.BinOp) -> Node:  # noqa: N802
        if isinstance(tree.op, ast.FloorDiv | ast.Mod):
            left, right = self.node(tree.left), self.node(tree.right)
            whole = self._made("floor", tree, self._made("divide", tree, left, right))
            if isinstance(tree.op, ast.FloorDiv):
                return whole
            return self._made("subtract", tree, left, self._made("multiply", tree, right, whole))
        kind = _BINARY.get(type(tree.op))
        if kind is None:
            self._refuse(tree, _INSTEAD.get(type(tree.op), _TAKEN))
        return self._made(kind, tree, self.node(tree.left), self.node(tree.right))

    def _Compare(self, tree: ast.Compare) -> Node:  # noqa: N802
        sides = [self.node(each) for each in (tree.left, *tree.comparators)]
        made: Node | None = None
        for operator, left, right in zip(tree.ops, sides, sides[1:], strict=False):
            one = self._comparison(tree, operator, left, right)
            made = one if made is None else self._made("both", tree, made, one)
        assert made is not None
        return made

    def _comparison(self, tree: ast.Compare, operator: ast.cmpop, left: Node, right: Node) -> Node:  # noqa: RET503
        match operator:
            case ast.Lt():
                return self._made("less", tree, left, right)
            case ast.LtE():
                return self._made("less_equal", tree, left, right)
            case ast.Gt():
                return self._made("less", tree, right, left)
            case ast.GtE():
                return self._made("less_equal", tree, right, left)
            case ast.Eq():
                return self._made("equal", tree, left, right)
            case ast.NotEq():
                return self._made("not", tree, self._made("equal", tree, left, right))
        self._refuse(tree)

    def _BoolOp(self, tree: ast.BoolOp) -> Node:  # noqa: N802
        kind = "both" if isinstance(tree.op, ast.And) else "either"
        made, *others = (self.node(each) for each in tree.values)
        for other in others:
            made = self._made(kind, tree, made, other)
        return made

    def _IfExp(self, tree: ast.IfExp) -> Node:  # noqa: N802
        return self._made("where", tree, self.node(tree.test), self.node(tree.body), self.node(tree.orelse))

    def _Call(self, tree: ast.Call) -> Node:  # noqa: N802
        if not isinstance(tree.func, ast.Name) or tree.keywords or any(isinstance(a, ast.Starred) for a in tree.args):
            self._refuse(tree)
        name = tree.func.id
        if name not in FUNCTIONS:
            refuse_name(self._place(tree.func), name, list(FUNCTIONS), f"functions are {', '.join(FUNCTIONS)}")
        if len(tree.args) != FUNCTIONS[name]:
            place = self._place(tree)
            refuse(
                place,
                f"'{place.text}', with {len(tree.args)} arguments",
                f"{name} takes {FUNCTIONS[name]}",
                f"write {name}({', '.join('xyz'[: FUNCTIONS[name]])})",
            )
        return self._function(tree, name, [self.node(each) for each in tree.args])

    def _function(self, tree: ast.Call, name: str, parts: list[Node]) -> Node:
        if name in ("rand", "randn"):
            return Node("draw", self._place(tree), name=name)
        if name == "before":
            if parts[0].kind != "name":
                refuse(parts[0].place, f"'{parts[0].place.text}'", "before() takes a variable", "write before(v)")
            return self._made(name, tree, parts[0])
        if name == "int":
            return self._made("where", tree, parts[0], self._number(tree, 1.0), self._number(tree, 0.0))
        if name == "clip":
            return self._made("minimum", tree, self._made("maximum", tree, parts[0], parts[1]), parts[2])
        if name == "ceil":
            return self._made("negate", tree, self._made("floor", tree, self._made("negate", tree, parts[0])))
        if name == "log10":
            return self._made("divide", tree, self._made("log", tree, *parts), self._number(tree, math.log(10.0)))
        if name == "sign":
            zero = self._number(tree, 0.0)
            minus = self._made("less", tree, parts[0], zero)
            other = self._made("where", tree, minus, self._number(tree, -1.0), zero)
            return self._made("where", tree, self._made("less", tree, zero, parts[0]), self._number(tree, 1.0), other)
        return self._made(_SAME.get(name, name), tree, *parts)
