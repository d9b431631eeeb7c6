"""Decoding of text files: UTF-8 with or without a byte order mark, or UTF-16 with one."""

from __future__ import annotations

import codecs
from pathlib import Path
from typing import BinaryIO

__all__ = ["decoded", "encoding_of", "encoding_of_file", "has_mark", "skip_mark"]

_WIDE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)


def has_mark(data: bytes) -> bool:
    """Return whether a text starts with a byte order mark."""
    return data.startswith((codecs.BOM_UTF8, *_WIDE))


def encoding_of(data: bytes) -> str:
    """Return the encoding that reads a text with these first bytes, without its byte order mark."""
    return "utf-16" if data.startswith(_WIDE) else "utf-8-sig"


def decoded(data: bytes) -> str:
    """Return a text without its byte order mark; invalid bytes are replaced."""
    return data.decode(encoding_of(data), errors="replace")


def encoding_of_file(file: Path) -> str:
    """Return the encoding of a text file, as `encoding_of`."""
    with file.open("rb") as opened:
        return encoding_of(opened.read(2))


def skip_mark(file: BinaryIO) -> None:
    """Skip the byte order mark of a file in UTF-8 that was just opened."""
    if file.read(len(codecs.BOM_UTF8)) != codecs.BOM_UTF8:
        file.seek(0)
