"""Opcodes that push a value of the value language, without making memo entries."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct

from ckptctl.codec.errors import EditError
from ckptctl.codec.limits import Limits
from ckptctl.codec.pickle_copy import Copier, single_op
from ckptctl.codec.pickle_opcodes import GETS, encode_scalar, encode_text
from ckptctl.codec.pickle_paths import Slot, find, tracks_of
from ckptctl.codec.pickle_reader import Doc
from ckptctl.codec.pickle_tracking import Memo
from ckptctl.codec.values import Call, Copy, CopyFrom, New, Ref, Sealed, Tuple, Value

__all__ = ["Emitter", "Foreign", "Source", "split_global"]


class Source(Struct, frozen=True, kw_only=True, eq=False):
    """A value in another pickle of the same file."""

    doc: Doc
    slot: Slot


Foreign = Callable[[str], "Source | Value"]
"""Resolves the pointer of a CopyFrom: to a Source, or to a value that is no pickle."""

_MAX_DEPTH = 200
_SHORT_TUPLES = (b")", b"\x85", b"\x86", b"\x87")


def split_global(named: str) -> tuple[str, str]:
    """Module and qualified name of ``module:qualname``. Raises EditError."""
    module, colon, name = named.partition(":")
    if not (module and colon and name):
        raise EditError(f"a class is named module:qualname, not {named!r}")
    return module, name


class Emitter:
    """Writes values for one pickle; ``globals`` collects the names that came in."""

    def __init__(self, doc: Doc, limits: Limits, foreign: Foreign | None) -> None:
        self._doc = doc
        self._limits = limits
        self._foreign = foreign
        self._sources: dict[str, Source | Value] = {}
        self.copier = Copier(doc, limits)
        self.globals: set[str] = set()

    def source(self, pointer: str) -> Source | Value:
        """What a CopyFrom points at."""
        if self._foreign is None:
            raise EditError(f"nothing to copy from here: {pointer!r}")
        if pointer not in self._sources:
            self._sources[pointer] = self._foreign(pointer)
        return self._sources[pointer]

    def emit(  # noqa: PLR0911 - one per kind of value
        self, value: Value, place: int, depth: int = 0
    ) -> bytes:
        """Opcodes for a value that will stand at offset ``place``. Raises EditError."""
        if depth > _MAX_DEPTH:
            raise EditError("a new value that is nested too deep")
        match value:
            case list() | tuple():
                parts = [self.emit(item, place, depth + 1) for item in value]
                return b"](" + b"".join(parts) + b"e" if parts else b"]"
            case dict():
                return self._mapping(value, place, depth)
            case Tuple():
                return self._tuple(value.items, place, depth)
            case New():
                return self._new(value, place, depth)
            case Call():
                return self._global(value.global_) + self._tuple(value.args, place, depth) + b"R"
            case Copy():
                return self.copier.copy(find(self._doc, value.path).span, place)
            case Ref():
                return self.again(find(self._doc, value.path), place)
            case CopyFrom():
                return self._copy_from(value.pointer, place, depth)
            case Sealed():
                raise EditError(f"cannot be written: {value.name}")
        return encode_scalar(value)

    def _mapping(self, value: Mapping[str, Value], place: int, depth: int) -> bytes:
        parts = [
            encode_text(key) + self.emit(item, place, depth + 1) for key, item in value.items()
        ]
        return b"}(" + b"".join(parts) + b"u" if parts else b"}"

    def _tuple(self, items: tuple[Value, ...], place: int, depth: int) -> bytes:
        made = b"".join([self.emit(item, place, depth + 1) for item in items])
        if len(items) < len(_SHORT_TUPLES):
            return made + _SHORT_TUPLES[len(items)]
        return b"(" + made + b"t"

    def _global(self, named: str) -> bytes:
        module, name = split_global(named)
        self.globals.add(named)
        return encode_text(module) + encode_text(name) + b"\x93"

    def _new(self, value: New, place: int, depth: int) -> bytes:
        made = self._global(value.global_) + self._tuple(value.args, place, depth) + b"\x81"
        return made + self._mapping(value.state, place, depth) + b"b" if value.state else made

    def again(self, slot: Slot, place: int) -> bytes:
        """Opcodes for the object that a slot holds; a copy of it if it cannot be read."""
        memo = self._memo(slot)
        read = self.copier.reads(memo, place) if memo else None
        return read if read is not None else self.copier.copy(slot.span, place)

    def _memo(self, slot: Slot) -> Memo | None:
        tracks, start = tracks_of(self._doc), slot.span[0]
        single = single_op(self._doc.data, slot.span)
        if single is None:
            return tracks.memo_of.get(id(slot.value))
        if self._doc.data[start] in GETS:
            return tracks.by_reader[start]
        return tracks.memos[single[1][0]] if single[1] else None

    def _copy_from(self, pointer: str, place: int, depth: int) -> bytes:
        source = self.source(pointer)
        if not isinstance(source, Source):
            return self.emit(source, place, depth + 1)
        self.globals |= source.doc.globals
        return Copier(source.doc, self._limits).copy(source.slot.span, None)
