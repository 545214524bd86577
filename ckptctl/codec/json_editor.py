"""Edit a JSON text by splicing; whatever is not named keeps its bytes.

Decision: never dump a document anew. Indentation, key order, escapes, duplicate keys
and the spelling of numbers are then kept without a thought.
"""

from __future__ import annotations

import json
import json.encoder
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import cast

from msgspec import Struct

from ckptctl.codec.errors import EditError, PointerError
from ckptctl.codec.json_text import Container, JsonText, Member
from ckptctl.codec.values import Call, Copy, CopyFrom, New, Ref, Sealed, Tuple, Value

__all__ = ["JsonEditor", "Splice", "dump_json", "splice"]

Splice = tuple[int, int, str]
"""Where a replaced range begins and ends, and what comes there."""
Steps = tuple[str, ...]

_ESCAPES = re.compile(
    r"\\u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|\\u[0-9a-fA-F]{4}|\\.|[^\\]+",
    re.DOTALL,
)


@dataclass(slots=True, eq=False)
class _Changes:
    """What happens to the members of one container."""

    at: int
    depth: int
    removed: set[int] = field(default_factory=set)
    inserted: list[tuple[int, str]] = field(default_factory=list)
    """Before which member, and its text; for objects with key."""
    keys: dict[str, str] = field(default_factory=dict)


class _Gaps(Struct, frozen=True):
    """What stands before the first member, between two, and behind the last."""

    first: str
    between: str
    last: str

    def before(self, news: list[str], *, opens: bool) -> str:
        """The gap before a member that stays, with new members in it."""
        head = self.first if opens else self.between
        return head + "".join(text + self.between for text in news)

    def closing(self, news: list[str], *, opens: bool) -> str:
        """The gap before the closing bracket, with new members in it."""
        if opens:
            return self.first + self.between.join(news) + self.last if news else ""
        return "".join(self.between + text for text in news) + self.last


def splice(text: str, splices: Sequence[Splice]) -> str:
    """The text with all ranges replaced. Raises EditError if two overlap."""
    parts: list[str] = []
    at = 0
    for start, end, new in sorted(splices, key=lambda part: part[:2]):
        if start < at:
            raise EditError("two edits of the same text")
        parts += (text[at:start], new)
        at = end
    parts.append(text[at:])
    return "".join(parts)


class JsonEditor:
    """Collects edits of one text. Indices speak of the text as it was before any edit."""

    def __init__(self, text: str, source: JsonText | None = None) -> None:
        self._source = source or JsonText(text)
        self._text = text
        self._sets: dict[tuple[int, int], str] = {}
        self._inner: list[Splice] = []
        self._changes: dict[int, _Changes] = {}
        self._style = _Style(self._source)

    def get(self, path: Steps) -> object:
        """The parsed value at a path."""
        return self._source.value(self._source.find(path)[0])

    def set(self, path: Steps, value: Value) -> None:
        """Replace a value, or add the key at the end of its object if it is not there."""
        try:
            span = self._source.find(path)
        except PointerError:
            if not path or not self._is_object(path[:-1]):
                raise
            self._add(path, value)
            return
        if _same_scalar(self._source.value(span[0]), value):
            return
        text = self._style.dump(value, len(path))
        if self._sets.setdefault(span, text) != text:
            raise EditError(f"two different values for {'/'.join(path)!r}")

    def insert(self, path: Steps, index: int, value: Value) -> None:
        """Put a value before item ``index`` of the array at ``path``."""
        at, container = self._container(path)
        if self._source.is_object(at) or not 0 <= index <= len(container.members):
            raise EditError(f"no place {index} in {'/'.join(path)!r}")
        text = self._style.dump(value, len(path) + 1)
        self._changed(at, len(path)).inserted.append((index, text))

    def remove(self, path: Steps) -> None:
        """Take out an item or a key; of equal keys all."""
        at, container = self._container(path[:-1])
        self._source.find(path)
        changes = self._changed(at, len(path) - 1)
        if self._source.is_object(at):
            changes.removed.update(
                place for place, member in enumerate(container.members) if member.key == path[-1]
            )
        else:
            changes.removed.add(int(path[-1]))

    def splice_text(self, path: Steps, splices: Sequence[Splice]) -> None:
        """Splice the text that a JSON string holds; its other escapes stay as they are."""
        start, end = self._source.find(path)
        raw = self._text[start + 1 : end - 1]
        old = cast(str, self._source.value(start))
        for encode in (json.encoder.encode_basestring_ascii, json.encoder.encode_basestring):
            if encode(old) == f'"{raw}"':
                self._sets[start, end] = encode(splice(old, splices))
                return
        places = _raw_places(raw, {place for part in splices for place in part[:2]})
        for first, last, new in splices:
            escaped = json.encoder.encode_basestring_ascii(new)[1:-1]
            self._inner.append((start + 1 + places[first], start + 1 + places[last], escaped))

    def splices(self) -> list[Splice]:
        """All changes as replaced ranges of the text."""
        found = [(start, end, text) for (start, end), text in self._sets.items()]
        found += self._inner
        for changes in self._changes.values():
            found += self._structure(changes)
        return found

    def apply(self) -> str:
        """The edited text, checked to be JSON."""
        text = splice(self._text, self.splices())
        JsonText(text).check()
        return text

    def _is_object(self, path: Steps) -> bool:
        return self._source.is_object(self._source.find(path)[0])

    def _container(self, path: Steps) -> tuple[int, Container]:
        at, _ = self._source.find(path)
        if not self._source.is_container(at):
            raise EditError(f"neither an array nor an object: {'/'.join(path)!r}")
        return at, self._source.container(at)

    def _changed(self, at: int, depth: int) -> _Changes:
        return self._changes.setdefault(at, _Changes(at, depth))

    def _add(self, path: Steps, value: Value) -> None:
        at, container = self._container(path[:-1])
        changes = self._changed(at, len(path) - 1)
        dumped = self._style.dump(value, len(path))
        text = f"{self._style.text(path[-1])}{self._style.colon}{dumped}"
        known = changes.keys.setdefault(path[-1], text)
        if known != text:
            raise EditError(f"two different values for {'/'.join(path)!r}")
        new = (len(container.members), text)
        if new not in changes.inserted:
            changes.inserted.append(new)

    def _structure(self, changes: _Changes) -> list[Splice]:
        """Replace the gaps between members that stay, where something changes there."""
        container = self._source.container(changes.at)
        members, gaps = container.members, self._gaps(container, changes.depth)
        groups: dict[int, list[str]] = {}
        for index, text in changes.inserted:
            groups.setdefault(index, []).append(text)
        splices: list[Splice] = []
        news: list[str] = []
        start, opens, dirty = container.start + 1, True, False
        for index, member in enumerate(members):
            news += groups.get(index, [])
            dirty = dirty or index in groups or index in changes.removed
            if index in changes.removed:
                continue
            if dirty:
                splices.append((start, member.start, gaps.before(news, opens=opens)))
            start, opens, dirty, news = member.end, False, False, []
        news += groups.get(len(members), [])
        if dirty or news:
            splices.append((start, container.end - 1, gaps.closing(news, opens=opens)))
        return splices

    def _gaps(self, container: Container, depth: int) -> _Gaps:
        """The gaps of a container, as its members have them."""
        members = container.members
        if not members:
            return self._style.gaps(depth)
        first = self._text[container.start + 1 : members[0].start]
        last = self._text[members[-1].end : container.end - 1]
        if len(members) > 1:
            return _Gaps(first, self._text[members[0].end : members[1].start], last)
        return _Gaps(first, f",{first}" if "\n" in first else self._style.comma, last)


class _Style:
    """How a text is written: indentation, separators, escapes."""

    def __init__(self, source: JsonText) -> None:
        text = source.text
        self._ascii = text.isascii()
        self.indent: str | None = None
        self.comma, self.colon = ", ", ": "
        members: tuple[Member, ...] = ()
        if source.is_container(source.start):
            container = source.container(source.start)
            members = container.members
        if not members:
            return
        gap = text[container.start + 1 : members[0].start]
        if "\n" in gap:
            self.indent = gap.rpartition("\n")[2] or None
        if members[0].key is not None:
            raw = text[members[0].start : members[0].value]
            self.colon = raw[raw.rindex(":") :]
            self.comma = ", " if self.colon.endswith(" ") else ","
        if self.indent is None and len(members) > 1:
            self.comma = text[members[0].end : members[1].start]

    def text(self, value: str) -> str:
        """A JSON string."""
        return json.dumps(value, ensure_ascii=self._ascii)

    def gaps(self, depth: int) -> _Gaps:
        """The gaps of a container at a depth that was empty."""
        if self.indent is None:
            return _Gaps("", self.comma, "")
        inner = "\n" + self.indent * (depth + 1)
        return _Gaps(inner, f",{inner}", "\n" + self.indent * depth)

    def dump(self, value: Value, depth: int) -> str:
        """A value as it would stand at a depth. Raises EditError for what JSON lacks."""
        _require_json(value)
        separators = ("," if self.indent is not None else self.comma, self.colon)
        text = json.dumps(
            value, ensure_ascii=self._ascii, indent=self.indent, separators=separators
        )
        # Line ends inside strings are escaped, so these are all indentation.
        return text.replace("\n", "\n" + (self.indent or "") * depth)


def dump_json(value: Value) -> str:
    """A value on one line, as Python writes it. Raises EditError for what JSON lacks."""
    _require_json(value)
    return json.dumps(value)


def _require_json(value: Value) -> None:
    match value:
        case list():
            for item in value:
                _require_json(item)
        case dict():
            for item in value.values():
                _require_json(item)
        case bytes() | Tuple() | New() | Call() | Copy() | CopyFrom() | Ref() | Sealed():
            raise EditError(f"cannot be written to JSON: {type(value).__name__}")


def _same_scalar(old: object, new: Value) -> bool:
    if isinstance(old, list | dict) or type(old) is not type(new):
        return False
    return json.dumps(old) == json.dumps(new)


def _raw_places(raw: str, places: set[int]) -> dict[int, int]:
    """Where offsets of a decoded string lie in its escaped form."""
    found: dict[int, int] = {}
    left = sorted(places)
    at = 0
    for token in _ESCAPES.finditer(raw):
        plain = token[0][0] != "\\"
        size = len(token[0]) if plain else 1
        while left and left[0] < at + size:
            found[left[0]] = token.start() + (left[0] - at if plain else 0)
            left.pop(0)
        at += size
    found.update((place, len(raw)) for place in left)
    return found
