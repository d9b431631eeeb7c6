"""C code in NMODL files: code without an effect is ignored, the rest is refused."""

from __future__ import annotations

import re
from typing import Any

from ranvier.channels.nmodl_ledger import Ledger
from ranvier.equations.places import Place, refuse

__all__ = ["check_code"]

_SILENT = re.compile(
    r"/\*.*?\*/|//[^\n]*|^[ \t]*#[ \t]*(?:include|pragma)[^\n]*$|\bextern\b[^;{}=]*;"
    r"|\breturn(?:\s+\(?0(?:\.0?)?\)?)?\s*;|;|\s+",
    re.DOTALL | re.MULTILINE,
)
_RETURN = re.compile(r"\breturn\b")
_LONGEST = 60


def check_code(ledger: Ledger, part: Any, place: Place, *, is_last: bool) -> None:
    """Ignore code without an effect: comments, includes, extern declarations, a return at the end.

    Raises
    ------
    EquationError
        For any other code.
    """
    text = str(part.children[0])[len("VERBATIM") : -len("ENDVERBATIM")]
    first = Place(place.source, place.begin, place.begin + len("VERBATIM"))
    if _SILENT.sub("", text):
        code = " ".join(text.split())
        shown = code if len(code) <= _LONGEST else f"{code[: _LONGEST - 3]}..."
        refuse(first, f"'{shown}'", "C code is not read", "write it in NMODL")
    if _RETURN.search(text) and not is_last:
        refuse(first, "'return'", "C code that skips statements is not read", "put it last, or use IF")
    ledger.ignore(part, "C code without an effect")
