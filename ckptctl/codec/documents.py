"""Read values anywhere in the nested documents of one file."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Sequence
from typing import cast

from msgspec import Struct

from ckptctl.codec.csv_records import CsvText
from ckptctl.codec.errors import PointerError
from ckptctl.codec.json_records import FALLBACK, decode_text, fallback_bytes
from ckptctl.codec.json_text import JsonText
from ckptctl.codec.limits import Limits
from ckptctl.codec.pickle_emit import Source
from ckptctl.codec.pickle_paths import as_index, find
from ckptctl.codec.pickle_reader import Doc, decode
from ckptctl.codec.pickle_values import to_value
from ckptctl.codec.pointer import NAMES, Pointer
from ckptctl.codec.values import Value
from ckptctl.model.experiment import RecordKind

__all__ = ["Documents", "Target", "inner_target"]

Steps = tuple[str, ...]
_KEPT = 16
"""Documents kept decoded; a tracked pickle is some hundred times its bytes."""


class Target(Struct, frozen=True, kw_only=True):
    """A document that a JSON value holds as text."""

    kind: RecordKind
    """JSON, or PICKLE for hexadecimal."""
    path: Steps
    """Of the text that holds it."""
    text: str


def inner_target(source: JsonText, path: Steps) -> Target:
    """The document that the value at a path holds. Raises PointerError if it holds none."""
    value = source.value(source.find(path)[0])
    if isinstance(value, dict) and value.get("_type") == FALLBACK:
        fallback_bytes(value)
        path, value = (*path, "value"), value["value"]
        return Target(kind=RecordKind.PICKLE, path=path, text=str(value))
    if not isinstance(value, str):
        raise PointerError(f"{'/'.join(path)!r} holds no document")
    pickled = fallback_bytes(value) is not None
    return Target(kind=RecordKind.PICKLE if pickled else RecordKind.JSON, path=path, text=value)


class Documents:
    """The nested documents of one file, the last used of them kept."""

    def __init__(self, data: bytes, kind: RecordKind, limits: Limits) -> None:
        self._data = data
        self._kind = kind
        self._limits = limits
        self._open: OrderedDict[tuple[Steps, ...], JsonText | Doc] = OrderedDict()
        self._lines: list[bytes] | None = None
        self._csv: CsvText | None = None

    def value(self, pointer: Pointer) -> Value:
        """The value there. Raises PointerError, or CodecError for what cannot be read."""
        if self._kind is RecordKind.CSV:
            return self._cell(pointer)
        document, path = self._document(pointer)
        if isinstance(document, JsonText):
            return cast(Value, document.value(document.find(path)[0]))
        if path[:1] == (NAMES,):
            return _name(document, path[1:])
        return to_value(find(document, path).value)

    def values(self, pointers: Sequence[Pointer]) -> tuple[Value, ...]:
        """The values there, read document by document."""
        order = sorted(range(len(pointers)), key=lambda at: pointers[at].levels[:-1])
        found = {at: self.value(pointers[at]) for at in order}
        return tuple(found[at] for at in range(len(pointers)))

    def source(self, pointer: Pointer) -> Source | Value:
        """The value there, with its opcodes if it lies in a pickle."""
        if self._kind is not RecordKind.CSV:
            document, path = self._document(pointer)
            if isinstance(document, Doc):
                return Source(doc=document, slot=find(document, path))
        return self.value(pointer)

    def _document(self, pointer: Pointer) -> tuple[JsonText | Doc, Steps]:
        """The innermost document, and the path in it."""
        levels = pointer.levels
        if self._kind is RecordKind.JSON_LINES:
            if not levels[0]:
                raise PointerError("a pointer into JSON lines begins with a line")
            return self._at((levels[0][:1], *_shifted(levels)[:-1])), _shifted(levels)[-1]
        return self._at(levels[:-1]), levels[-1]

    def _at(self, names: tuple[Steps, ...]) -> JsonText | Doc:
        if names in self._open:
            self._open.move_to_end(names)
            return self._open[names]
        made = self._read(names)
        self._open[names] = made
        if len(self._open) > _KEPT:
            # The file itself stays: every other document is entered from it.
            del self._open[next(kept for kept in self._open if kept)]
        return made

    def _read(self, names: tuple[Steps, ...]) -> JsonText | Doc:
        if self._kind is RecordKind.PICKLE:
            if names != ((),):
                raise PointerError("a pointer into a file that is a pickle begins with one #")
            return decode(self._data, self._limits, track=True)
        if self._kind is RecordKind.JSON_LINES and len(names) == 1:
            return JsonText(decode_text(self._line(names[0])))
        if not names:
            return JsonText(decode_text(self._data))
        outer = self._at(names[:-1])
        if not isinstance(outer, JsonText):
            raise PointerError("a document inside a pickle cannot be entered")
        target = inner_target(outer, names[-1])
        if target.kind is RecordKind.PICKLE:
            return decode(bytes.fromhex(target.text), self._limits, track=True)
        return JsonText(target.text)

    def _line(self, steps: Steps) -> bytes:
        if self._lines is None:
            self._lines = self._data.split(b"\n")
        row = as_index(steps[0])
        if row is None or row >= len(self._lines):
            raise PointerError(f"no line {steps[0]!r}")
        return self._lines[row]

    def _cell(self, pointer: Pointer) -> Value:
        if self._csv is None:
            self._csv = CsvText(decode_text(self._data))
        row = as_index(pointer.levels[0][0]) if len(pointer.levels[0]) == 2 else None
        if row is None or len(pointer.levels) > 1:
            raise PointerError(f"a cell is named row/column, not {str(pointer)!r}")
        return self._csv.get(row, pointer.levels[0][1])


def _name(document: Doc, steps: Steps) -> str:
    """The name itself, where the pickle has it."""
    if len(steps) != 1 or steps[0] not in document.globals:
        raise PointerError(f"the pickle does not name {'/'.join(steps)!r}")
    return steps[0]


def _shifted(levels: tuple[Steps, ...]) -> tuple[Steps, ...]:
    """Levels without the line number in front."""
    return (levels[0][1:], *levels[1:])
