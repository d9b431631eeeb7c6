"""The grammar of NMODL files, and which parts of the language are refused.

Lark parses. The package `nmodl`, a parser of the whole language, was tried: its only release on PyPI is of 2023, has no
wheel for Python 3.12 and later, and its sources have moved into those of NEURON, whose parser is not packaged.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

from ranvier.base.packages import package
from ranvier.equations.places import Place, Source, refuse

__all__ = ["SCHEME_STATEMENTS", "STATEMENTS", "is_statement", "parse_file"]

_GRAMMAR = r"""
start: block*

?block: "NEURON" "{" item* "}" -> neuron
      | "UNITS" "{" unit_line* "}" -> units
      | "PARAMETER" "{" parameter* "}" -> parameters
      | "CONSTANT" "{" parameter* "}" -> constants
      | "ASSIGNED" "{" declared* "}" -> assigned
      | "STATE" "{" declared* "}" -> states
      | "INITIAL" "{" statement* "}" -> initial
      | "BREAKPOINT" "{" statement* "}" -> breakpoint
      | "DERIVATIVE" NAME "{" statement* "}" -> derivative
      | "KINETIC" NAME "{" statement* "}" -> kinetic
      | ("LINEAR" | "NONLINEAR") NAME "{" line* "}" -> system
      | "NET_RECEIVE" "(" arguments ")" "{" statement* "}" -> net_receive
      | "PROCEDURE" NAME "(" arguments ")" [UNIT] "{" statement* "}" -> procedure
      | "FUNCTION" NAME "(" arguments ")" [UNIT] "{" statement* "}" -> function
      | "INDEPENDENT" "{" independent* "}" -> independent_block
      | "LOCAL" variables -> file_local
      | "DEFINE" NAME NUMBER -> define
      | VERBATIM -> verbatim
      | ("UNITSON" | "UNITSOFF") -> hint

?item: "SUFFIX" NAME -> suffix
     | "POINT_PROCESS" NAME -> point_process
     | "USEION" NAME [reads] [writes] ["VALENCE" signed] ["REPRESENTS" NAME] -> ion
     | "NONSPECIFIC_CURRENT" names -> nonspecific
     | "ELECTRODE_CURRENT" names -> electrode
     | "RANGE" names -> range
     | "GLOBAL" names -> global
     | "THREADSAFE" -> hint
reads: "READ" names
writes: "WRITE" names
names: NAME ("," NAME)*

unit_line: UNIT "=" UNIT -> unit_name
         | NAME "=" signed [UNIT] -> unit_number
         | NAME "=" UNIT UNIT -> unit_constant
independent: NAME "FROM" signed "TO" signed "WITH" signed [UNIT]
parameter: NAME ["[" size "]"] ["=" signed] [UNIT] ["<" signed "," signed ">"]
declared: NAME ["[" size "]"] ["FROM" signed "TO" signed] ["START" signed] [UNIT] ["<" signed ["," signed] ">"]
size: NUMBER | NAME
signed: [SIGN] NUMBER
arguments: [argument ("," argument)*]
argument: NAME [UNIT]
variables: variable ("," variable)*
variable: NAME ["[" size "]"]

?statement: target "=" expression -> assign
          | "PROTECT" target "=" expression -> assign
          | target "'" "=" expression -> derivative_of
          | NAME "(" [given ("," given)*] ")" -> call_procedure
          | "LOCAL" variables -> local
          | "SOLVE" NAME ["STEADYSTATE" NAME] ["METHOD" NAME] -> solve
          | "TABLE" [names] ["DEPEND" names] "FROM" sum "TO" sum "WITH" (NUMBER | NAME) -> table
          | "CONDUCTANCE" NAME ["USEION" NAME] -> hint
          | ("UNITSON" | "UNITSOFF" | "MUTEXLOCK" | "MUTEXUNLOCK") -> hint
          | "FROM" NAME "=" sum "TO" sum ["BY" sum] "{" statement* "}" -> loop
          | "~" side "<->" side "(" expression "," expression ")" -> reaction
          | "~" side "->" "(" expression ")" -> outflow
          | "~" target "<<" "(" expression ")" -> source
          | "CONSERVE" side "=" expression -> conserve
          | "COMPARTMENT" expression "{" NAME* "}" -> compartment
          | VERBATIM -> verbatim
          | "INITIAL" "{" statement* "}" -> begin_of_connection
          | choice
?line: "~" expression "=" expression -> equation
     | target "=" expression -> assign
     | NAME "(" [given ("," given)*] ")" -> call_procedure
     | "LOCAL" variables -> local
choice: ("if" | "IF") "(" expression ")" "{" then "}" [("else" | "ELSE") otherwise]
then: statement*
otherwise: "{" statement* "}" | choice
target: NAME ["[" sum "]"]
side: reactant ("+" reactant)*
reactant: [NUMBER] target
?given: expression | STRING -> text

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
     | NAME "[" sum "]" -> element
     | NAME "(" [expression ("," expression)*] ")" -> call
     | "(" expression ")"

SIGN: "-" | "+"
NAME: /[A-Za-z_][A-Za-z0-9_]*/
NUMBER: /(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?/
UNIT: /\([A-Za-z0-9\/*.^%\- \t]*\)/
STRING: /"[^"\n]*"/
VERBATIM: /VERBATIM\b(.|\n)*?\bENDVERBATIM\b/
%ignore /[ \t\r\n\f]+/
"""

_COMMON = ("assign", "derivative_of", "call_procedure", "local", "solve", "table", "hint", "loop", "verbatim", "choice")
SCHEME_STATEMENTS = ("reaction", "outflow", "source", "conserve", "compartment", "equation")
"""Those of KINETIC blocks, and the equations of LINEAR and NONLINEAR blocks."""
STATEMENTS = frozenset((*_COMMON, *SCHEME_STATEMENTS))
"""Kinds of trees that are statements."""

_COMMENTS = re.compile(
    r"(?P<code>\bVERBATIM\b.*?\bENDVERBATIM\b|\"[^\"\n]*\")|\bCOMMENT\b.*?\bENDCOMMENT\b|\bTITLE\b[^\n]*|[:?][^\n]*",
    re.DOTALL,
)
_CODE = re.compile(r"\bVERBATIM\b.*?\bENDVERBATIM\b|\"[^\"\n]*\"", re.DOTALL)
_INSTEAD = "write it as equations: rv.channel()"
_GATES = "gates must follow dx/dt = (x_inf - x)/tau in a DERIVATIVE block"
_OTHERS = "mechanisms cannot access variables of others"
_BETWEEN = "no statements are executed between steps"
_OUTSIDE = "no statements are executed outside of steps"
_REFUSED = {
    "ARTIFICIAL_CELL": "it is not a part of a cell: write neuron models with rv.neuron()",
    **dict.fromkeys(("POINTER", "BBCOREPOINTER", "EXTERNAL"), _OTHERS),
    **dict.fromkeys(("WATCH", "net_send", "net_event", "net_move"), "synapses send no events to themselves"),
    **dict.fromkeys(("DISCRETE",), _GATES),
    "FUNCTION_TABLE": "functions are written as expressions",
    "INCLUDE": "one file is read",
    **dict.fromkeys(("BEFORE", "AFTER"), _BETWEEN),
    **dict.fromkeys(("CONSTRUCTOR", "DESTRUCTOR"), _OUTSIDE),
    **dict.fromkeys(("WHILE", "while"), "the number of repetitions is not known: FROM i = 0 TO 3 is read"),
    "LONGITUDINAL_DIFFUSION": "concentrations do not diffuse along sections",
    "RANDOM": "mechanisms have no random numbers",
}


def is_statement(part: Any) -> bool:
    """Return whether a part of the tree is a statement."""
    return getattr(part, "data", None) in STATEMENTS


@cache
def _parser() -> Any:
    lark = package("lark", "read_nmodl", "nmodl")
    return lark.Lark(_GRAMMAR, parser="lalr", propagate_positions=True, maybe_placeholders=True)


def _blank(text: str) -> str:
    return re.sub(r"[^\n]", " ", text)


def parse_file(source: Source) -> Any:  # noqa: RET503
    """Return the tree of a file, with positions in its text.

    Raises
    ------
    EquationError
        For text that is not part of the language, or is not supported; the error shows its place.
    MissingPackageError
        When Lark is not installed.
    """
    parser = _parser()
    text = _COMMENTS.sub(lambda found: found[0] if found["code"] else _blank(found[0]), source.text)
    for found in re.finditer(r"\b[A-Za-z_]+\b", _CODE.sub(lambda each: _blank(each[0]), text)):
        if found[0] in _REFUSED:
            refuse(Place(source, *found.span()), f"'{found[0]}'", _REFUSED[found[0]], _INSTEAD)
    lark = package("lark", "read_nmodl", "nmodl")
    begin = 0
    try:
        return parser.parse(text)
    except lark.UnexpectedInput as error:
        begin = error.pos_in_stream
    # Outside of the handler: one message, not the parser's tracebacks before it.
    begin = len(text.rstrip()) if begin is None or begin < 0 else begin
    word = re.match(r"\w+|\S|", source.text[begin:])
    end = begin + max(1, len(word[0]) if word else 1)
    place = Place(source, min(begin, max(0, len(text) - 1)), end)
    refuse(place, f"'{place.text}'", "it is not expected here, or not read", _INSTEAD)
