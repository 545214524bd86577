"""What is still whole in a JSON object that is cut off."""

from __future__ import annotations

import re

from ckptctl.codec.errors import RecordError
from ckptctl.codec.json_text import parse_json

__all__ = ["whole_members"]

_SPACE = re.compile(r"[ \t\n\r]*")


def whole_members(data: bytes) -> dict[str, object]:
    """The members of an object that can be read to their end, in order.

    Of a list that is cut off, its whole items; a number at the very end is none, since it may go
    on. Empty for what does not begin as an object. Never raises.
    """
    text = data.decode(errors="ignore")
    found: dict[str, object] = {}
    at = _open(text, 0, "{")
    while at is not None:
        try:
            key, at = parse_json(text, at)
            start = _open(text, at, ":")
            if start is None or not isinstance(key, str):
                break
            value, end = _value(text, start)
            if value is not None or end is not None:
                found[key] = value
            if end is None:
                break
        except RecordError:
            break
        at = _open(text, end, ",")
    return found


def _value(text: str, at: int) -> tuple[object, int | None]:
    """A value and where it ends: None for a list that is cut off, whose items are whole."""
    try:
        value, end = parse_json(text, at)
    except RecordError:
        if not text.startswith("[", at):
            raise
        return _items(text, at), None
    if not _is_closed(text, end):
        raise RecordError("a number that may go on")
    return value, end


def _is_closed(text: str, end: int) -> bool:
    return end < len(text) or text[end - 1] in '"}]el'


def _items(text: str, at: int) -> list[object]:
    items: list[object] = []
    place = _open(text, at, "[")
    while place is not None:
        try:
            value, end = parse_json(text, place)
        except RecordError:
            break
        if _is_closed(text, end):
            items.append(value)
        place = _open(text, end, ",")
    return items


def _open(text: str, at: int, mark: str) -> int | None:
    """The place behind `mark` and the blanks around it, or None."""
    at = _blank(text, at)
    return _blank(text, at + 1) if text.startswith(mark, at) else None


def _blank(text: str, at: int) -> int:
    found = _SPACE.match(text, at)
    return found.end() if found else at
