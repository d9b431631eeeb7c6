"""The grammar of NESTML, after the documentation of its language, and the parser of it.

https://nestml.readthedocs.io: *NESTML language concepts*, version 9. Lark parses it (LALR), without recursion, so
that no nesting is too deep for it. PyNESTML, the tool of that project, is not used: it is under the GPL, and comes with
50 MB of code generators, astropy and ode-toolbox.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from ranvier.base.packages import package
from ranvier.equations.places import Place, Source, refuse

__all__ = ["FUNCTION", "parsed", "without_comments"]

FUNCTION = "read_nestml"
MOST_CHARACTERS = 100_000

_GRAMMAR = r"""
start: (_NL | model)*
model: ("model" | "neuron") NAME ":" _NL _INDENT (block _NL?)+ _DEDENT
?block: values | equations | input | output | update | receive | condition | function

values: SECTION ":" _NL _INDENT declaration+ _DEDENT
SECTION.2: "state" | "parameters" | "internals" | "initial_values"
declaration: variable ("," variable)* type ["=" expression] [guard] _NL
guard: "[[" expression "]]"

equations: "equations" ":" _NL _INDENT (ode | kernel | inline)+ _DEDENT
ode: DERIVED "=" expression _NL
kernel: "kernel" definition ("," definition)* _NL
definition: (NAME | DERIVED) "=" expression
inline: "recordable"? "inline" NAME type "=" expression _NL

input: "input" ":" _NL _INDENT port+ _DEDENT
port: variable [type] _ARROW QUALIFIER* (SPIKE | CONTINUOUS) _NL
_ARROW.3: "<-"
QUALIFIER.2: "excitatory" | "inhibitory"
SPIKE.2: "spike"
CONTINUOUS.2: "continuous"
output: "output" ":" (SPIKE _NL | _NL _INDENT SPIKE _NL _DEDENT)

update: "update" ":" suite
receive: "onReceive" "(" variable option* ")" ":" suite
condition: "onCondition" "(" expression option* ")" ":" suite
option: "," NAME "=" expression
function: "function" NAME "(" [argument ("," argument)*] ")" [type] ":" suite
argument: NAME type

suite: _NL _INDENT statement+ _DEDENT
?statement: assignment _NL | call _NL | local _NL | return _NL | branch | for | while
assignment: variable ASSIGN expression
ASSIGN: "=" | "+=" | "-=" | "*=" | "/=" | "//="
local: variable ("," variable)* local_type ["=" expression]
local_type: NAME (("*" | "/") unit_power)*
return: "return" [expression]
branch: "if" expression ":" suite ("elif" expression ":" suite)* ["else" ":" suite]
for: "for" NAME "in" expression "..." expression ["step" expression] ":" suite
while: "while" expression ":" suite

type: unit_power (("*" | "/") unit_power)*
unit_power: unit_atom ["**" SIGN? NUMBER]
unit_atom: NAME | NUMBER | "(" type ")"

?expression: disjunction | disjunction "?" expression ":" expression -> where
?disjunction: conjunction | disjunction "or" conjunction -> either
?conjunction: inversion | conjunction "and" inversion -> both
?inversion: comparison | "not" inversion -> negation
?comparison: sum | sum COMPARE sum -> compare
COMPARE.2: /<=|>=|==|!=|<>|<|>/
?sum: term | sum SIGN term -> binary
?term: factor | term (STAR | SLASH | DOUBLE_SLASH | PERCENT) factor -> binary
STAR: "*"
SLASH: "/"
DOUBLE_SLASH: "//"
PERCENT: "%"
?factor: power | SIGN factor -> unary
?power: atom | atom "**" factor -> power
?atom: NUMBER -> number
     | NUMBER NAME ["**" SIGN? NUMBER] -> quantity
     | BOOLEAN -> truth
     | STRING -> string
     | variable -> name
     | call
     | "(" expression ")" -> group
call: NAME "(" [expression ("," expression)*] ")"
variable: (NAME | DERIVED) ["[" expression "]"]

SIGN: "+" | "-"
BOOLEAN.2: "true" | "false" | "True" | "False"
STRING: /"[^"\n]*"/
NUMBER: /(\d+(\.(?!\.)\d*)?|\.\d+)([eE][+-]?\d+)?/
NAME: /[A-Za-z_$][A-Za-z_0-9$]*/
DERIVED.2: /[A-Za-z_$][A-Za-z_0-9$]*'+/
_NL: /(\r?\n[\t ]*)+/
%ignore /[\t \f\r]+/
%declare _INDENT _DEDENT
"""

_COMMENT = re.compile(r'("[^"\n]*")|#[^\n]*')
_JOINED = re.compile(r"\\[ \t]*\r?\n|(?<=,)[ \t]*\r?\n")
_END = re.compile(r";(?=[ \t\r]*(?:\n|$))")
_WORDS = {"_NL": "a new line", "_INDENT": "an indented line", "_DEDENT": "the end of the block", "NAME": "a name"}
_WORDS |= {"NUMBER": "a number", "$END": "the end of the file", "DERIVED": "a derivative"}


@cache
def _parser() -> Any:
    lark = package("lark", FUNCTION, "nestml")
    indenter = package("lark.indenter", FUNCTION, "nestml")

    class Lines(indenter.Indenter):  # type: ignore[name-defined, misc]
        NL_type = "_NL"
        OPEN_PAREN_types = ("LPAR", "LSQB")
        CLOSE_PAREN_types = ("RPAR", "RSQB")
        INDENT_type = "_INDENT"
        DEDENT_type = "_DEDENT"
        tab_len = 8

    return lark.Lark(_GRAMMAR, parser="lalr", postlex=Lines(), propagate_positions=True, maybe_placeholders=True)


def without_comments(text: str) -> str:
    """Return the text with comments replaced by blanks, and continued lines joined: places do not change."""
    plain = _COMMENT.sub(lambda found: found[1] or " " * len(found[0]), text)
    plain = _JOINED.sub(lambda found: " " * len(found[0]), plain)
    return _END.sub(lambda found: " " * len(found[0]), plain)


def parsed(source: Source) -> Any:
    """Return the syntax tree of a file.

    Raises
    ------
    EquationError
        For text that is not in the language, and for a text that is too long; the error shows the place.
    MissingPackageError
        When Lark is not installed.
    """
    text = source.text
    if len(text) > MOST_CHARACTERS:
        place = Place(source, MOST_CHARACTERS, MOST_CHARACTERS + 1)
        refuse(place, f"{len(text)} characters", f"a file may have {MOST_CHARACTERS}", "write each model in a file")
    exceptions = package("lark.exceptions", FUNCTION, "nestml")
    indenter = package("lark.indenter", FUNCTION, "nestml")
    try:
        return _parser().parse(without_comments(text).rstrip() + "\n")
    except exceptions.UnexpectedInput as error:
        _refuse_syntax(source, error)
    except (indenter.DedentError, AssertionError):
        place = _misaligned(source)
        refuse(
            place, "", "a line is indented less than its block, but more than the block around it", "align the lines"
        )


def _misaligned(source: Source) -> Place:
    """Return the first line that is indented less than the one before it, and as no line around it."""
    begin, last, open_blocks = 0, 0, [0]
    for line in without_comments(source.text).split("\n"):
        width = len(line.expandtabs(8)) - len(line.expandtabs(8).lstrip())
        if line.strip():
            while open_blocks[-1] > width:
                open_blocks.pop()
            if open_blocks[-1] < width < last:
                return Place(source, begin, begin + max(1, len(line)))
            if width > open_blocks[-1]:
                open_blocks.append(width)
            last = width
        begin += len(line) + 1
    return Place(source, len(source.text), len(source.text) + 1)


def _refuse_syntax(source: Source, error: Any) -> None:
    begin = min(max(error.pos_in_stream or 0, 0), len(source.text))
    token = getattr(error, "token", None)
    length = max(1, len(token.strip())) if token else 1
    if token is not None and token.type == "$END":
        begin = len(source.text)
    place = Place(source, begin, begin + length)
    expected = sorted(
        getattr(error, "accepts", None) or getattr(error, "expected", None) or getattr(error, "allowed", [])
    )
    terminals = {each.name: each for each in _parser().terminals}
    shown = [_WORDS.get(name) or _text_of(terminals.get(name), name) for name in expected][:8]
    shown = sorted({each for each in shown if each})
    remedy = f"allowed here: {', '.join(shown)}" if shown else "see the language of NESTML"
    refuse(place, f"'{place.text}'" if place.text else "the end", "it is not allowed here", remedy)


def _text_of(terminal: Any, name: str) -> str:
    if terminal is None:
        return ""
    return str(terminal.pattern.value) if type(terminal.pattern).__name__ == "PatternStr" else name.lower()
