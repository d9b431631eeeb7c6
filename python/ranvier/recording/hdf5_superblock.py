"""The first bytes of an HDF5 file. They mark a file that was not closed, and HDF5 then refuses to open it.

From the file format specification of HDF5, version 3.0, section II.A (superblock version 3). Its checksum is the one of
B. Jenkins (2006), lookup3, as there.
"""

from __future__ import annotations

import io
import struct
from pathlib import Path

__all__ = ["as_if_closed", "was_left_open"]

# Signature, version, sizes of offsets and of lengths, flags, base address, address of the extension, end of the file,
# address of the root group; then the checksum of all these.
_FIELDS = struct.Struct("<8sBBBBQQQQ")
_CHECKSUM = struct.Struct("<I")
_SIGNATURE = b"\x89HDF\r\n\x1a\n"
_SIZE = _FIELDS.size + _CHECKSUM.size


def was_left_open(path: Path) -> bool:
    """Return whether the program that wrote a file has not closed it (yet)."""
    with path.open("rb") as file:
        head = file.read(_SIZE)
    if len(head) < _SIZE or _CHECKSUM.unpack_from(head, _FIELDS.size)[0] != _checksum(head[: _FIELDS.size]):
        return False
    signature, version, offsets, lengths, flags, *_ = _FIELDS.unpack_from(head)
    return bool(signature == _SIGNATURE and version == 3 and offsets == lengths == 8 and flags != 0)


def as_if_closed(path: Path) -> io.BufferedReader:
    """Open a file that was not closed, such that HDF5 reads it as a closed file. The file itself is not changed."""
    raw = _Patched(path)
    return io.BufferedReader(raw, 1 << 20)


class _Patched(io.FileIO):
    """A file whose first bytes are replaced when they are read."""

    def __init__(self, path: Path) -> None:
        super().__init__(path, "rb")
        size = self.seek(0, io.SEEK_END)
        self.seek(0)
        fields = list(_FIELDS.unpack(super().read(_FIELDS.size)))
        # No flags, and the real end of the file.
        fields[4] = 0
        fields[7] = size
        head = _FIELDS.pack(*fields)
        self._head = head + _CHECKSUM.pack(_checksum(head))
        self.seek(0)

    def readinto(self, buffer) -> int:  # type: ignore[no-untyped-def]
        begin = self.tell()
        count = super().readinto(buffer)
        if begin < len(self._head):
            patched = self._head[begin : begin + count]
            memoryview(buffer).cast("B")[: len(patched)] = patched
        return count


def _checksum(data: bytes) -> int:
    def rotated(value: int, bits: int) -> int:
        return ((value << bits) | (value >> (32 - bits))) & 0xFFFFFFFF

    a: int = (0xDEADBEEF + len(data)) & 0xFFFFFFFF
    b, c = a, a
    words: list[int] = list(struct.unpack(f"<{-(-len(data) // 4)}I", data.ljust(-(-len(data) // 4) * 4, b"\0")))
    while len(words) > 3:
        a, b, c = ((x + y) & 0xFFFFFFFF for x, y in zip((a, b, c), words, strict=False))
        del words[:3]
        for bits in (4, 6, 8, 16, 19, 4):
            a = ((a - c) & 0xFFFFFFFF) ^ rotated(c, bits)
            c = (c + b) & 0xFFFFFFFF
            a, b, c = b, c, a
    words += [0] * (3 - len(words))
    a, b, c = ((x + y) & 0xFFFFFFFF for x, y in zip((a, b, c), words, strict=True))
    for bits in (14, 11, 25, 16, 4, 14, 24):
        c = ((c ^ b) - rotated(b, bits)) & 0xFFFFFFFF
        a, b, c = b, c, a
    # After seven rounds, c has moved to b.
    return b
