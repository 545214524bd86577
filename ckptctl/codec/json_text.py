"""Where things are in a JSON text, found with the C scanner of ``json``.

Values that are not entered are skipped by parsing them, which is many times faster
than a scanner in Python. As in ``json.loads`` the last of equal keys counts, and NaN
and the infinities are numbers.
"""

from __future__ import annotations

import json
import json.decoder
import re

from msgspec import Struct

from ckptctl.codec.errors import PointerError, RecordError
from ckptctl.codec.reasons import reason_of

__all__ = ["Container", "JsonText", "Member", "find_span", "parse_json"]

_SKIP = re.compile(r"[ \t\n\r]*")
_DECODER = json.JSONDecoder()


class Member(Struct, frozen=True):
    """One item of an array, or one key with its value."""

    key: str | None
    start: int
    """Where the key begins, or the item."""
    value: int
    """Where the value begins."""
    end: int


class Container(Struct, frozen=True):
    """An array or object, entered."""

    start: int
    end: int
    """Behind the closing bracket."""
    members: tuple[Member, ...]

    def find(self, step: str, *, is_object: bool) -> Member | None:
        """The member that a step of a pointer names."""
        if is_object:
            return next((m for m in reversed(self.members) if m.key == step), None)
        if not step.isascii() or not step.isdecimal() or len(step) > 9:
            return None
        at = int(step)
        return self.members[at] if str(at) == step and at < len(self.members) else None


def parse_json(text: str, at: int = 0) -> tuple[object, int]:
    """The value that begins at ``at``, and where it ends. Raises RecordError."""
    try:
        return _DECODER.raw_decode(text, at)
    except (ValueError, RecursionError, MemoryError) as error:
        raise RecordError(reason_of(error)) from None


class JsonText:
    """A JSON text whose containers are entered on demand, each once."""

    def __init__(self, text: str) -> None:
        self.text = text
        self._containers: dict[int, Container] = {}
        self.start = self._skip(0)

    def _skip(self, at: int) -> int:
        found = _SKIP.match(self.text, at)
        return found.end() if found else at

    def check(self) -> None:
        """Raise RecordError unless the text is one JSON value and nothing else."""
        _, end = parse_json(self.text, self.start)
        if self._skip(end) != len(self.text):
            raise RecordError(f"more behind the JSON value, at {end}")

    def value(self, at: int) -> object:
        """The parsed value that begins at ``at``."""
        return parse_json(self.text, at)[0]

    def is_object(self, at: int) -> bool:
        """Whether an object begins at ``at``."""
        return self.text.startswith("{", at)

    def is_container(self, at: int) -> bool:
        """Whether an array or object begins at ``at``."""
        return self.text.startswith(("{", "["), at)

    def container(self, at: int) -> Container:
        """The array or object that begins at ``at``. Raises RecordError."""
        if at not in self._containers:
            self._containers[at] = self._scan(at)
        return self._containers[at]

    def find(self, path: tuple[str, ...]) -> tuple[int, int]:
        """Where the value at a path begins and ends. Raises PointerError, RecordError."""
        at, end = self.start, -1
        for depth, step in enumerate(path):
            member = None
            if self.is_container(at):
                member = self.container(at).find(step, is_object=self.is_object(at))
            if member is None:
                raise PointerError(f"nothing at {'/'.join(path[: depth + 1])!r} in the JSON")
            at, end = member.value, member.end
        return at, end if end >= 0 else parse_json(self.text, at)[1]

    def _scan(self, start: int) -> Container:
        text, is_object = self.text, self.is_object(start)
        close, members = "}" if is_object else "]", []
        at = self._skip(start + 1)
        if text.startswith(close, at):
            return Container(start, at + 1, ())
        while True:
            member = self._member(at, is_object=is_object)
            members.append(member)
            at = self._skip(member.end)
            if text.startswith(close, at):
                return Container(start, at + 1, tuple(members))
            if not text.startswith(",", at):
                raise RecordError(f"not JSON: no comma at {at}")
            at = self._skip(at + 1)

    def _member(self, at: int, *, is_object: bool) -> Member:
        if not is_object:
            return Member(None, at, at, parse_json(self.text, at)[1])
        if not self.text.startswith('"', at):
            raise RecordError(f"not JSON: no key at {at}")
        key, after = parse_json(self.text, at)
        colon = self._skip(after)
        if not self.text.startswith(":", colon):
            raise RecordError(f"not JSON: no colon at {colon}")
        value = self._skip(colon + 1)
        return Member(str(key), at, value, parse_json(self.text, value)[1])


def find_span(text: str, path: tuple[str, ...]) -> tuple[int, int]:
    """Where the value at a path begins and ends. Raises PointerError, RecordError."""
    return JsonText(text).find(path)
