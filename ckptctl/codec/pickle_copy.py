"""Copy the opcodes of a value so that they stand on their own.

Memo entries are numbered by counting, so a copy must not make any: MEMOIZE is left
out, and what reads an entry is replaced by a copy of that entry's own opcodes.
"""

from __future__ import annotations

from ckptctl.codec.errors import EditError
from ckptctl.codec.limits import Limits
from ckptctl.codec.pickle_opcodes import (
    FRAME,
    GETS,
    LITERALS,
    MARK,
    MEMOS,
    PROTO,
    STOP,
    encode_get,
    iter_ops,
    operand_end,
)
from ckptctl.codec.pickle_paths import tracks_of
from ckptctl.codec.pickle_reader import Doc
from ckptctl.codec.pickle_tracking import Memo, Span

__all__ = ["Copier", "Knot", "single_op", "value_end"]

_MAX_HOPS = 50
_SILENT = MEMOS | {FRAME, PROTO}
_PUSHES = LITERALS | GETS | frozenset(b")2]}\x8f\x82\x83\x84\x97Pc")
_TAKES = dict(
    zip(b"\x93R\x81\x92\x85\x86\x87Qasb0", (2, 2, 2, 3, 1, 2, 3, 1, 1, 2, 1, 1), strict=True)
)
"""How many values an opcode takes from the top, the container below not counted."""
_MARK_TAKES = frozenset(b"tld\x91oieu\x901")
_MERGES = frozenset(b"\x93R\x81\x92\x85\x86\x87Qtld\x91oi")
"""Opcodes that push one value for those that they take."""


class Knot(EditError):
    """A value that contains itself cannot be copied without memo entries."""

    def __init__(self, memo: Memo, offset: int) -> None:
        super().__init__("a value that contains itself cannot be copied", offset)
        self.memo = memo


class Copier:
    """Copies values of one pickle; ``pinned`` collects entries that copies still read."""

    def __init__(self, doc: Doc, limits: Limits) -> None:
        self._doc = doc
        self._tracks = tracks_of(doc)
        self._limit = limits.max_copy_bytes
        self._ends: dict[int, int] = {}
        self._offsets: dict[int, list[int]] = {}
        for memo in self._tracks.memos.values():
            self._offsets.setdefault(memo.index, []).append(memo.offset)
        self.pinned: set[int] = set()

    def copy(self, span: Span, place: int | None) -> bytes:
        """Opcodes that push an equal value.

        ``place`` is the offset where they will stand in the same pickle, or None in
        another one. What contains itself, such as code that cloudpickle put in by
        value, is not copied but read from the memo, where that is possible at
        ``place``; else EditError is raised. So it is for copies that grow too long.
        """
        run = _Run(self, place)
        while True:
            try:
                return run.copy(span)
            except Knot as knot:
                read = None if place is None else self.reads(knot.memo, place)
                if read is None or knot.memo.offset in run.shared:
                    raise
                run.shared[knot.memo.offset] = read
                run.shared_spans[knot.memo.start] = max(
                    (self.end(knot.memo), read),
                    run.shared_spans.get(knot.memo.start, (0, b"")),
                )

    def reads(self, memo: Memo, place: int) -> bytes | None:
        """The opcode that reads an entry at ``place``, or None if it cannot be read there."""
        for offset in self._offsets[memo.index]:
            if memo.offset < offset < place:
                return None
        if memo.offset >= place:
            return None
        self.pinned.add(memo.offset)
        return encode_get(memo.index)

    def end(self, memo: Memo) -> int:
        """Where the value of an entry is complete."""
        if memo.offset not in self._ends:
            self._ends[memo.offset] = value_end(self._doc.data, memo.offset, self._doc.end)
        return self._ends[memo.offset]

    def target(self, pos: int) -> Memo:
        """The entry that the opcode at ``pos`` reads."""
        return self._tracks.by_reader[pos]

    @property
    def data(self) -> bytes:
        """The bytes that are copied from."""
        return self._doc.data

    @property
    def limit(self) -> int:
        """How long a copy may get."""
        return self._limit


class _Run:
    """One attempt at a copy; ``shared`` values are read from the memo instead."""

    def __init__(self, copier: Copier, place: int | None) -> None:
        self._copier = copier
        self._place = place
        self.shared: dict[int, bytes] = {}
        self.shared_spans: dict[int, tuple[int, bytes]] = {}

    def copy(self, span: Span) -> bytes:
        out = bytearray()
        self._copy(span, (), out)
        return bytes(out)

    def _copy(self, span: Span, active: tuple[int, ...], out: bytearray) -> None:
        data, pos = self._copier.data, span[0]
        while pos < span[1]:
            end, read = self.shared_spans.get(pos, (0, b""))
            if read and end <= span[1]:
                out += read
                pos = end
                continue
            after = operand_end(data, pos)
            if data[pos] in GETS:
                self._inline(pos, active, out)
            elif data[pos] not in _SILENT:
                out += data[pos:after]
            if len(out) > self._copier.limit:
                raise EditError(f"a copy of more than {self._copier.limit} bytes", span[0])
            pos = after

    def _inline(self, pos: int, active: tuple[int, ...], out: bytearray) -> None:
        memo = self._copier.target(pos)
        if memo.offset in self.shared:
            out += self.shared[memo.offset]
            return
        end = self._copier.end(memo)
        if memo.offset in active or memo.start <= pos < end:
            raise Knot(memo, pos)
        if len(active) > _MAX_HOPS:
            raise EditError("a copy of values that are shared over too many levels", pos)
        self._copy((memo.start, end), (*active, memo.offset), out)


def value_end(data: bytes, offset: int, end: int) -> int:
    """Where the value on top of the stack at ``offset`` is complete.

    It is complete when an opcode takes it from the stack; what was pushed on top of it
    by then is not part of it.
    """
    above: list[int] = []  # where each thing on top begins, inverted for a MARK
    for opcode, pos, _ in iter_ops(data, offset, end):
        if not _effect(opcode, pos, above):
            return max(above[0], ~above[0]) if above else pos
    return end


def _effect(opcode: int, pos: int, above: list[int]) -> bool:
    """Apply an opcode to what lies above; False if it takes the value below them."""
    if opcode in _PUSHES:
        above.append(pos)
    elif opcode == MARK:
        above.append(~pos)
    elif opcode in _TAKES:
        return _take(above, len(above) - _TAKES[opcode], opcode in _MERGES)
    elif opcode in _MARK_TAKES:
        marks = [at for at, start in enumerate(above) if start < 0]
        return _take(above, marks[-1] if marks else -1, opcode in _MERGES)
    return opcode != STOP


def _take(above: list[int], at: int, merges: bool) -> bool:  # noqa: FBT001
    if at < 0:
        return False
    start = above[at]
    del above[at:]
    if merges:
        above.append(max(start, ~start))
    return True


def single_op(data: bytes, span: Span) -> tuple[int, list[int]] | None:
    """For a value of one opcode: where that ends, and the memo opcodes behind it."""
    if data[span[0]] not in LITERALS and data[span[0]] not in GETS:
        return None
    end = operand_end(data, span[0])
    memos: list[int] = []
    for opcode, pos, _ in iter_ops(data, end, span[1]):
        if opcode not in _SILENT:
            return None
        if opcode in MEMOS:
            memos.append(pos)
    return end, memos
