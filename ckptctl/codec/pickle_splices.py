"""Splices of a pickle's bytes, and the frame lengths that follow from them."""

from __future__ import annotations

import struct

from ckptctl.codec.errors import EditError
from ckptctl.codec.pickle_reader import Doc

__all__ = ["AFTER", "BEFORE", "Splices"]

BEFORE, AFTER = 0, 1
"""At one offset, what ends the value before it comes before what begins one."""


class Splices:
    """Replacements of byte ranges that do not overlap."""

    def __init__(self, doc: Doc) -> None:
        self._doc = doc
        self._parts: list[tuple[int, int, int, int, bytes]] = []
        self._ops: dict[int, list[bytes]] = {}

    def __bool__(self) -> bool:
        return bool(self._parts or self._ops)

    def add(self, start: int, end: int, order: int, part: bytes) -> None:
        """Put ``part`` where the bytes from ``start`` to ``end`` are."""
        self._parts.append((start, end, order, len(self._parts), part))

    def replace_op(self, offset: int, part: bytes) -> None:
        """Replace the one-byte opcode at ``offset``."""
        self._op(offset)[0] = part

    def extend_op(self, offset: int, part: bytes) -> None:
        """Put ``part`` right behind the one-byte opcode at ``offset``."""
        self._op(offset).append(part)

    def _op(self, offset: int) -> list[bytes]:
        return self._ops.setdefault(offset, [self._doc.data[offset : offset + 1]])

    def apply(self) -> bytes:
        """The new bytes, with frames as long as what they hold now."""
        parts = [(start, end, order, seq, part) for start, end, order, seq, part in self._parts]
        parts += [(at, at + 1, AFTER, 1 << 60, b"".join(op)) for at, op in self._ops.items()]
        # At one offset, insertions come before a replacement.
        parts.sort(key=lambda part: (part[0], part[1] > part[0], part[2], part[3]))
        parts = sorted(parts + self._frame_parts(parts), key=lambda part: part[0])
        data, at = self._doc.data, 0
        out: list[bytes] = []
        for start, end, _, _, part in parts:
            if start < at:
                raise EditError("two edits of the same bytes", start)
            out += (data[at:start], part)
            at = end
        out.append(data[at:])
        return b"".join(out)

    def _frame_parts(
        self, parts: list[tuple[int, int, int, int, bytes]]
    ) -> list[tuple[int, int, int, int, bytes]]:
        """New operands of the frames that grow or shrink."""
        made: list[tuple[int, int, int, int, bytes]] = []
        at = 0
        for start, end in self._doc.frames:
            grown = 0
            while at < len(parts) and parts[at][0] < start:
                at += 1  # before this frame, and in no frame
            # An opcode at the very end is outside; what is put in there is inside.
            while at < len(parts) and parts[at][0] + (parts[at][1] > parts[at][0]) <= end:
                grown += len(parts[at][4]) - (parts[at][1] - parts[at][0])
                at += 1
            if grown:
                length = struct.pack("<Q", end - start + grown)
                made.append((start - 8, start, AFTER, 0, length))
        return made
