"""Have another call make an object, without touching the numbers of the memo.

The opcodes that made it go; each memo entry made among them is made all the same, of a
value that nobody reads, so that every later entry keeps its number. What is left of an
entry that is read elsewhere is a text or a number, pushed again as it was.
"""

from __future__ import annotations

from collections.abc import Collection

from ckptctl.codec.errors import EditError
from ckptctl.codec.pickle_nodes import Opaque
from ckptctl.codec.pickle_opcodes import FRAME, MEMOS, encode_scalar, iter_ops
from ckptctl.codec.pickle_paths import tracks_of
from ckptctl.codec.pickle_reader import Doc
from ckptctl.codec.pickle_splices import AFTER, BEFORE, Splices
from ckptctl.codec.pickle_tracking import Memo, Span

__all__ = ["Remade"]


class Remade:
    """The objects of one pickle that are made anew. ``pinned`` entries are read by copies."""

    def __init__(self, doc: Doc, pinned: Collection[int]) -> None:
        self._doc = doc
        self._tracks = tracks_of(doc)
        self._pinned = pinned
        self._parts: list[tuple[Opaque, Span, bytes]] = []

    def add(self, made: Opaque, span: Span, part: bytes) -> None:
        """Have ``part`` push ``made``, which a slot with this span holds."""
        memo = self._tracks.memo_of.get(id(made))
        if memo is not None:
            # The slot may only read it: what made it ends with its memo entry.
            (_, _, end), *_ = iter_ops(self._doc.data, memo.offset, memo.offset + 1)
            span = (memo.start, end)
        self._parts.append((made, span, part))

    def splice(self, splices: Splices) -> None:
        """Lay out what goes and what comes. Raises EditError where others need what goes."""
        for made, span, part in self._parts:
            self._splice(splices, made, span, part)

    def _splice(self, splices: Splices, made: Opaque, span: Span, part: bytes) -> None:
        memo = self._tracks.memo_of.get(id(made))
        for opcode, at, after in iter_ops(self._doc.data, *span):
            if opcode in MEMOS:
                entry = self._tracks.memos[at]
                if entry is memo:
                    splices.add(at, at, BEFORE, part)
                else:
                    splices.add(at, at, BEFORE, self._stand_in(entry))
                    splices.add(after, after, BEFORE, b"0")
            elif opcode != FRAME:
                splices.add(at, after, AFTER, b"")
        if memo is None:
            splices.add(span[1], span[1], BEFORE, part)

    def _stand_in(self, entry: Memo) -> bytes:
        """What an entry holds now: what others read in it, else None."""
        if not self._is_read(entry):
            return b"N"
        if isinstance(entry.value, str | bytes | int | float):
            return encode_scalar(entry.value)
        raise EditError("what the call is made of is used elsewhere too", entry.offset)

    def _is_read(self, entry: Memo) -> bool:
        spans = [span for _, span, _ in self._parts]
        outside = (at for at in entry.readers if not any(a <= at < b for a, b in spans))
        return entry.offset in self._pinned or next(outside, None) is not None
