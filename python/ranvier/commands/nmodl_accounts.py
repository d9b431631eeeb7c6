"""The report of `ranvier models` on NMODL files: which are read, which statements are ignored, which are refused."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from rich.console import Console
from rich.markup import escape

from ranvier.channels.nmodl import account_of_nmodl
from ranvier.channels.nmodl_ledger import Account
from ranvier.errors import RanvierError

__all__ = ["are_nmodl_files", "print_account", "print_accounts"]

_READ, _IN_PART, _REFUSED = "read", "read, ignored in part", "refused"


def are_nmodl_files(words: Sequence[str]) -> bool:
    """Return whether words are NMODL files, one or more."""
    return bool(words) and all(Path(word).suffix.lower() == ".mod" for word in words)


def print_account(console: Console, file: str) -> None:
    """Print the ignored statements of a file.

    Raises
    ------
    RanvierError
        When the file is refused.
    """
    _, accounts = account_of_nmodl(file)
    _print_status(console, file, accounts)


def print_accounts(console: Console, files: Sequence[str]) -> None:
    """Print one line for each file, with its ignored statements or the reason of its refusal, and the counts."""
    counts: Counter[str] = Counter()
    for file in files:
        try:
            _, accounts = account_of_nmodl(file)
        except RanvierError as error:
            counts[_REFUSED] += 1
            first = str(error).split("\n")[0].removeprefix(f"file {file}, ")
            console.print(f"{escape(file)}: {_REFUSED}: {escape(first)}", soft_wrap=True)
        else:
            counts[_print_status(console, file, accounts)] += 1
    total = ", ".join(f"{counts[status]} {status}" for status in (_READ, _IN_PART, _REFUSED))
    console.print(f"{len(files)} files: {total}")


def _print_status(console: Console, file: str, accounts: Sequence[Account]) -> str:
    """Print the ignored statements of a file; return its status."""
    ignored = [each for each in accounts if not each.effects and not each.is_hint]
    status = _IN_PART if ignored else _READ
    with_effect = sum(1 for each in accounts if each.effects)
    console.print(
        f"{escape(file)}: {status}: {with_effect} of {len(accounts)} statements and declarations have an effect",
        soft_wrap=True,
    )
    for each in ignored:
        console.print(f"    line {each.line}, '{escape(each.text)}': {escape(each.reason)}", soft_wrap=True)
    return status
