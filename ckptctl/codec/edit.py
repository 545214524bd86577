"""The only record rewriting there is: ``apply_edits(bytes, kind, edits) -> bytes``.

Edits are grouped by the document they fall in, so that each nested document is read
and written once. All pointers, and the indices in them, speak of the file as it was.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Protocol, cast

from msgspec import Struct
from msgspec.structs import replace

from ckptctl.codec.csv_records import CsvText
from ckptctl.codec.documents import Documents, inner_target
from ckptctl.codec.errors import CodecError, EditError, PointerError, RecordError
from ckptctl.codec.json_editor import JsonEditor, Splice, dump_json, splice
from ckptctl.codec.json_records import decode_text, load_json
from ckptctl.codec.json_text import JsonText
from ckptctl.codec.limits import Limits
from ckptctl.codec.pickle_editor import PickleEditor
from ckptctl.codec.pickle_emit import Source
from ckptctl.codec.pickle_paths import as_index
from ckptctl.codec.pickle_values import to_value
from ckptctl.codec.pointer import NAMES, Pointer
from ckptctl.codec.values import Value, from_json, same, to_json
from ckptctl.model.experiment import RecordKind

__all__ = ["EditLike", "RecordKind", "apply_edits", "read_many", "read_pointer"]

Steps = tuple[str, ...]
_OPS = ("set", "insert", "remove")
_SHOWN = 200


class EditLike(Protocol):
    """One change, with its values in their JSON form."""

    @property
    def op(self) -> str:
        """``set``, ``insert`` or ``remove``."""

    @property
    def pointer(self) -> str:
        """Of the value; for an insert, of the item to put it before."""

    @property
    def before(self) -> object:
        """What must be there now; None where that is not compared."""

    @property
    def after(self) -> object:
        """What comes there."""


class _Change(Struct, frozen=True):
    op: str
    pointer: str
    path: Steps
    before: object
    after: Value

    def check(self, found: Value) -> None:
        """Raise EditError unless ``found`` is what the edit expects."""
        if self.before is None or same(from_json(self.before), found):
            return
        expected, there = _shown(from_json(self.before)), _shown(found)
        raise EditError(f"{self.pointer}: expected {expected}, found {there}")


@dataclass(slots=True, eq=False)
class _Node:
    """The edits of one document, and of the documents in it."""

    changes: list[_Change] = field(default_factory=list)
    inner: dict[Steps, _Node] = field(default_factory=dict)

    @property
    def whole(self) -> _Change | None:
        """The edit that gives the document anew, whatever is there now."""
        if len(self.changes) != 1 or self.inner:
            return None
        (change,) = self.changes
        anew = change.op == "set" and not change.path and change.before is None
        return change if anew else None


def apply_edits(
    data: bytes, kind: RecordKind, edits: Sequence[EditLike], limits: Limits | None = None
) -> bytes:
    """The bytes with all edits made, or EditError and nothing made.

    ``set`` adds a key or attribute that is not there, and renames what a pickle names
    (`codec.pointer`); ``insert`` puts a value before the item at its index, or at the
    end; ``remove`` takes out an item or a key. Rows of JSON lines and CSV can be removed,
    and JSON lines inserted. A ``set`` of a whole JSON file, as its only edit, also
    replaces what is no JSON. Raises CodecError:
    EditError for an edit that does not fit what is there, others for what cannot be
    read.
    """
    if not edits:
        return data
    root = _Node()
    try:
        for edit in edits:
            _place(root, edit)
        return _File(data, kind, limits or Limits()).edit(root)
    except PointerError as error:
        raise EditError(str(error)) from None
    except RecursionError:
        raise EditError("a value that is nested too deep") from None


def read_pointer(data: bytes, kind: RecordKind, pointer: str) -> Value:
    """The value at a pointer. Raises PointerError if nothing is there, else CodecError."""
    return Documents(data, kind, Limits()).value(Pointer.parse(pointer))


def read_many(data: bytes, kind: RecordKind, pointers: Iterable[str]) -> tuple[Value, ...]:
    """The values at pointers, in their order; each nested document is read once."""
    return Documents(data, kind, Limits()).values([Pointer.parse(text) for text in pointers])


def _place(root: _Node, edit: EditLike) -> None:
    if edit.op not in _OPS:
        raise EditError(f"unknown edit {edit.op!r}")
    levels = Pointer.parse(edit.pointer).levels
    node = root
    for level in levels[:-1]:
        node = node.inner.setdefault(level, _Node())
    after = from_json(edit.after) if edit.op != "remove" else None
    node.changes.append(_Change(edit.op, edit.pointer, levels[-1], edit.before, after))


def _shown(value: Value) -> str:
    text = json.dumps(to_json(value))
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."


class _File:
    """One run over a file."""

    def __init__(self, data: bytes, kind: RecordKind, limits: Limits) -> None:
        self._data = data
        self._kind = kind
        self._limits = limits
        self._documents = Documents(data, kind, limits)

    def edit(self, root: _Node) -> bytes:
        match self._kind:
            case RecordKind.JSON:
                return self._document(root)
            case RecordKind.JSON_LINES:
                return self._lines(root)
            case RecordKind.CSV:
                return self._csv(root)
            case RecordKind.PICKLE:
                inner = root.inner.get(())
                if inner is None or root.changes or len(root.inner) > 1:
                    raise EditError("a pointer into a file that is a pickle begins with #")
                return self._pickle(self._data, inner)

    # -- JSON

    def _document(self, root: _Node) -> bytes:
        try:
            return self._json(decode_text(self._data), root).apply().encode()
        except CodecError:
            if root.whole is None:
                raise
            return dump_json(root.whole.after).encode()

    def _json(self, text: str, node: _Node) -> JsonEditor:
        source = JsonText(text)
        editor = JsonEditor(text, source)
        for change in node.changes:
            _change_json(editor, change)
        for path, inner in node.inner.items():
            target = inner_target(source, path)
            if target.kind is RecordKind.PICKLE:
                edited = self._pickle(bytes.fromhex(target.text), inner).hex()
                editor.set(target.path, edited.upper() if target.text.isupper() else edited)
            else:
                held = self._json(target.text, inner)
                held.apply()
                editor.splice_text(target.path, held.splices())
        return editor

    # -- JSON lines

    def _lines(self, root: _Node) -> bytes:
        lines = self._data.split(b"\n")
        rows: dict[int, _Node] = {}
        new: dict[int, list[bytes]] = {}
        gone: set[int] = set()
        for change in root.changes:
            row, path = _row(change.path, len(lines) + (change.op == "insert"), change.pointer)
            if path or change.op == "set":
                rows.setdefault(row, _Node()).changes.append(replace(change, path=path))
            elif change.op == "insert":
                new.setdefault(row, []).append(dump_json(change.after).encode())
            else:
                gone.add(row)
        for steps, inner in root.inner.items():
            row, path = _row(steps, len(lines), "/".join(steps))
            rows.setdefault(row, _Node()).inner[path] = inner
        if gone & rows.keys():
            raise EditError("an edit lies inside a line that another edit removes")
        edited = {number: self._line(lines[number], node) for number, node in rows.items()}
        return _joined(lines, edited, new, gone)

    def _line(self, line: bytes, node: _Node) -> bytes:
        if len(node.changes) == 1 and not node.inner:
            quick = _other_text(line, node.changes[0])
            if quick is not None:
                return quick
        return self._json(decode_text(line), node).apply().encode()

    # -- CSV

    def _csv(self, root: _Node) -> bytes:
        if root.inner:
            raise EditError("a CSV cell holds no document")
        source = CsvText(decode_text(self._data))
        splices: dict[tuple[int, int], str] = {}
        for change in root.changes:
            span, text = _change_csv(source, change)
            if splices.setdefault(span, text) != text:
                raise EditError(f"two different values for {change.pointer!r}")
        parts: list[Splice] = [(start, end, text) for (start, end), text in splices.items()]
        return splice(source.text, parts).encode()

    # -- pickles

    def _pickle(self, data: bytes, node: _Node) -> bytes:
        if node.inner:
            raise EditError("a document inside a pickle cannot be edited")
        editor = PickleEditor(data, self._limits, foreign=self._foreign)
        for change in node.changes:
            _change_pickle(editor, change)
        try:
            return editor.tobytes()
        except EditError as error:
            raise EditError(f"{node.changes[0].pointer}: {error}") from None

    def _foreign(self, pointer: str) -> Source | Value:
        return self._documents.source(Pointer.parse(pointer))


def _row(path: Steps, count: int, pointer: str) -> tuple[int, Steps]:
    row = as_index(path[0]) if path else None
    if row is None or row >= count:
        raise EditError(f"{pointer}: no such line")
    return row, path[1:]


def _joined(
    lines: list[bytes], edited: dict[int, bytes], new: dict[int, list[bytes]], gone: set[int]
) -> bytes:
    made: list[bytes] = []
    for number, line in enumerate(lines):
        made += new.get(number, [])
        if number not in gone:
            made.append(edited.get(number, line))
        elif number == len(lines) - 1:
            made.append(b"")  # the line before it keeps its line end
    return b"\n".join(made + new.get(len(lines), []))


def _other_text(line: bytes, change: _Change) -> bytes | None:
    """A line with another text under one of its keys, as nearly all lines are edited; else None.

    It takes a hundredth of what it takes to find out where everything in the line is.
    """
    before, after = change.before, change.after
    if change.op != "set" or len(change.path) != 1:
        return None
    if not isinstance(before, str) or not isinstance(after, str) or not (before + after).isascii():
        return None
    (key,) = change.path
    name = dump_json(key).encode()
    old, new = (b"%b: %b" % (name, dump_json(value).encode()) for value in (before, after))
    if line.count(name) != 1 or old not in line:
        return None
    edited = line.replace(old, new)
    # What stood at the one place that differs is what stands under the key, before and after.
    for text, value in ((line, before), (edited, after)):
        try:
            found = load_json(text)
        except RecordError:
            return None
        if not isinstance(found, dict) or found.get(key) != value:
            return None
    return edited


def _change_json(editor: JsonEditor, change: _Change) -> None:
    path = change.path
    if change.op == "insert":
        editor.insert(path[:-1], _index(change), change.after)
        return
    try:
        change.check(cast(Value, editor.get(path)))
    except PointerError:
        # Only an unknown or absent value may be added.
        if change.before is not None or change.op != "set":
            raise
    if change.op == "set":
        editor.set(path, change.after)
    elif path:
        editor.remove(path)
    else:
        raise EditError(f"{change.pointer}: a whole document cannot be removed")


def _change_name(editor: PickleEditor, change: _Change) -> None:
    if change.op != "set" or len(change.path) != 2 or not isinstance(change.after, str):
        raise EditError(f"{change.pointer}: a name is set to another name")
    change.check(change.path[1])
    editor.rename(change.path[1], change.after)


def _change_pickle(editor: PickleEditor, change: _Change) -> None:
    path = change.path
    if path[:1] == (NAMES,):
        _change_name(editor, change)
        return
    if change.op == "insert":
        editor.insert(path[:-1], _index(change), change.after)
        return
    try:
        node = editor.get(path)
    except PointerError:
        if change.before is not None or change.op != "set" or not path:
            raise
        editor.set_key(path[:-1], path[-1], change.after)
        return
    if change.before is not None:
        change.check(to_value(node))
    if change.op == "set":
        editor.set(path, change.after)
    elif path:
        editor.remove(path[:-1], path[-1])
    else:
        raise EditError(f"{change.pointer}: a whole pickle cannot be removed")


def _index(change: _Change) -> int:
    index = as_index(change.path[-1]) if change.path else None
    if index is None:
        raise EditError(f"{change.pointer}: an insert names the index to put a value before")
    return index


def _change_csv(source: CsvText, change: _Change) -> tuple[tuple[int, int], str]:
    row = as_index(change.path[0]) if change.path else None
    if row is None or len(change.path) > 2:
        raise EditError(f"{change.pointer}: a cell is named row/column")
    if len(change.path) == 1 and change.op == "remove":
        return source.row_span(row), ""
    if len(change.path) == 1 or change.op != "set":
        raise EditError(f"{change.pointer}: cells can be set, and rows removed")
    column = change.path[1]
    span = source.find(row, column)
    found = source.text_of(span)
    if not _same_cell(change.before, found):
        change.check(found)
    return span, source.cell_text(span, change.after)


def _same_cell(before: object, found: str) -> bool:
    """Cells are text, whatever was written: a number is compared as one."""
    if isinstance(before, bool) or not isinstance(before, int | float):
        return False
    try:
        return same(before, float(found))
    except ValueError:
        return False
