"""The grammar of NMODL files, as far as density mechanisms use it, and what of the language is refused or left out.

Lark parses. The package `nmodl`, a parser of the whole language, was tried: its only release on PyPI is of 2023, has no
wheel for Python 3.12 and later, and its sources have moved into those of NEURON, whose parser comes with no package.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from ranvier.base.packages import package
from ranvier.equations.places import Place, Source, refuse

__all__ = ["parse_file"]

_GRAMMAR = r"""
start: block*

?block: "NEURON" "{" item* "}" -> neuron
      | "PARAMETER" "{" parameter* "}" -> parameters
      | "CONSTANT" "{" parameter* "}" -> constants
      | "ASSIGNED" "{" declared* "}" -> assigned
      | "STATE" "{" declared* "}" -> states
      | "INITIAL" "{" statement* "}" -> initial
      | "BREAKPOINT" "{" statement* "}" -> breakpoint
      | "DERIVATIVE" NAME "{" statement* "}" -> derivative
      | "PROCEDURE" NAME "(" arguments ")" [UNIT] "{" statement* "}" -> procedure
      | "FUNCTION" NAME "(" arguments ")" [UNIT] "{" statement* "}" -> function

?item: "SUFFIX" NAME -> suffix
     | "USEION" NAME [reads] [writes] ["VALENCE" signed] ["REPRESENTS" NAME] -> ion
     | "NONSPECIFIC_CURRENT" names -> nonspecific
     | ("RANGE" | "GLOBAL") names -> left_out
     | "THREADSAFE" -> left_out
reads: "READ" names
writes: "WRITE" names
names: NAME ("," NAME)*

parameter: NAME ["=" signed] [UNIT] ["<" signed "," signed ">"]
declared: NAME ["FROM" signed "TO" signed] [UNIT]
signed: [SIGN] NUMBER
arguments: [argument ("," argument)*]
argument: NAME [UNIT]

?statement: NAME "=" expression -> assign
          | NAME "'" "=" expression -> derivative_of
          | NAME "(" [expression ("," expression)*] ")" -> call_procedure
          | "LOCAL" names -> local
          | "SOLVE" NAME ["METHOD" NAME] -> solve
          | "CONDUCTANCE" NAME ["USEION" NAME] -> left_out
          | choice
choice: ("if" | "IF") "(" expression ")" "{" then "}" [("else" | "ELSE") otherwise]
then: statement*
otherwise: "{" statement* "}" | choice

?expression: conjunction
           | expression "||" conjunction -> either
?conjunction: equality
            | conjunction "&&" equality -> both
?equality: comparison
         | equality "==" comparison -> equal
         | equality "!=" comparison -> not_equal
?comparison: sum
           | comparison "<" sum -> less
           | comparison ">" sum -> greater
           | comparison "<=" sum -> less_equal
           | comparison ">=" sum -> greater_equal
?sum: product
    | sum "+" product -> add
    | sum "-" product -> subtract
?product: signed_factor
        | product "*" signed_factor -> multiply
        | product "/" signed_factor -> divide
?signed_factor: power
              | "-" signed_factor -> negate
              | "+" signed_factor
              | "!" signed_factor -> not
?power: atom
      | atom "^" signed_factor -> power
?atom: NUMBER [UNIT] -> number
     | NAME -> name
     | NAME "(" [expression ("," expression)*] ")" -> call
     | "(" expression ")"

SIGN: "-" | "+"
NAME: /[A-Za-z_][A-Za-z0-9_]*/
NUMBER: /(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?/
UNIT: /\([A-Za-z0-9\/*.\- \t]*\)/
%ignore /[ \t\r\n\f]+/
"""

_BLANK = re.compile(
    r"COMMENT\b.*?ENDCOMMENT\b|\bTITLE\b[^\n]*|[:?][^\n]*"
    # What is only for the eye, and units, which are those of the language.
    r"|\bUNITS(?:ON|OFF)\b|\bUNITS\s*\{[^}]*\}|\bINDEPENDENT\s*\{[^}]*\}"
    # Rates come from tables of our own, which are made for each step and temperature, with a bounded error.
    r"|\bTABLE\b[^{}]*?\bWITH\s+\d+",
    re.DOTALL,
)
_INSTEAD = "write it as equations: rv.channel()"
_REFUSED = {
    "VERBATIM": "code in C is not read",
    "POINT_PROCESS": "only density mechanisms (SUFFIX) are read: receptors and clamps come with Ranvier",
    "ARTIFICIAL_CELL": "only density mechanisms (SUFFIX) are read: neuron models are written as rv.neuron()",
    "ELECTRODE_CURRENT": "currents of electrodes are clamps: rv.current_clamp()",
    "POINTER": "mechanisms cannot look at others",
    "BBCOREPOINTER": "mechanisms cannot look at others",
    "EXTERNAL": "mechanisms cannot look at others",
    "NET_RECEIVE": "density mechanisms receive no events",
    "KINETIC": "gates must follow dx/dt = (x_inf - x)/tau in a DERIVATIVE block",
    "LINEAR": "gates must follow dx/dt = (x_inf - x)/tau in a DERIVATIVE block",
    "NONLINEAR": "gates must follow dx/dt = (x_inf - x)/tau in a DERIVATIVE block",
    "DISCRETE": "gates must follow dx/dt = (x_inf - x)/tau in a DERIVATIVE block",
    "FUNCTION_TABLE": "functions are written as expressions",
    "INCLUDE": "one file is read",
    "DEFINE": "there are no arrays",
    "BEFORE": "nothing is done between steps",
    "AFTER": "nothing is done between steps",
    "CONSTRUCTOR": "nothing is done outside of steps",
    "DESTRUCTOR": "nothing is done outside of steps",
    "WHILE": "there are no loops",
    "while": "there are no loops",
}


@cache
def _parser() -> Any:
    lark = package("lark", "read_nmodl", "nmodl")
    return lark.Lark(_GRAMMAR, parser="lalr", propagate_positions=True, maybe_placeholders=True)


def parse_file(source: Source) -> Any:
    """Return the tree of a file, with positions in its text.

    Raises
    ------
    EquationError
        For what is not part of the language, or is refused, pointing at its place.
    MissingPackageError
        When Lark is not installed.
    """
    parser = _parser()
    text = _BLANK.sub(lambda found: re.sub(r"[^\n]", " ", found[0]), source.text)
    for found in re.finditer(r"\b[A-Za-z_]+\b", text):
        if found[0] in _REFUSED:
            refuse(Place(source, *found.span()), f"'{found[0]}'", _REFUSED[found[0]], _INSTEAD)
    lark = package("lark", "read_nmodl", "nmodl")
    try:
        return parser.parse(text)
    except lark.UnexpectedInput as error:
        begin = error.pos_in_stream
        begin = len(text.rstrip()) if begin is None or begin < 0 else begin
        word = re.match(r"\w+|\S|", source.text[begin:])
        end = begin + max(1, len(word[0]) if word else 1)
        place = Place(source, min(begin, max(0, len(text) - 1)), end)
        refuse(place, f"'{place.text}'", "it is not expected here, or not read", _INSTEAD)
