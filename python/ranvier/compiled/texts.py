"""Modules in the language of LLVM, around the functions of a program."""

from __future__ import annotations

from collections.abc import Iterable

from ranvier.compiled.places import ALIGNED, ONES, RARELY, ZEROS
from ranvier.compiled.vectors import number

__all__ = ["module"]


def module(lanes: int, functions: Iterable[str], attributes: str) -> str:
    """Return the text of a module with some functions, whose vectors have `lanes` lanes.

    `attributes` are the attributes of functions: the available instructions.
    """
    of_numbers = f"<{lanes} x double>"
    bodies = "\n".join(functions)
    return f"""
{ZEROS} = private unnamed_addr constant [{lanes} x double] zeroinitializer, align {ALIGNED}
{ONES} = private unnamed_addr constant {of_numbers} {number(1.0)}, align {ALIGNED}
declare {of_numbers} @llvm.fabs.v{lanes}f64({of_numbers})
declare {of_numbers} @llvm.sqrt.v{lanes}f64({of_numbers})
declare i32 @llvm.cttz.i32(i32, i1)
{bodies}
{RARELY} = !{{!"branch_weights", i32 1, i32 200}}
attributes #0 = {{ nounwind "denormal-fp-math"="preserve-sign,preserve-sign" {attributes} }}
"""
