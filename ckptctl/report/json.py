"""JSON text of documents."""

from __future__ import annotations

import json
import re

import msgspec

from ckptctl.report.document import Document

# Half a character, out of a damaged record: strict readers refuse the whole document. The other
# half, which is how a byte of a name that is no UTF-8 is written, they take.
_HALF = re.compile(r"(?<!\\)((?:\\\\)*)\\ud[89ab][0-9a-f]{2}(?!\\ud[c-f][0-9a-f]{2})")


def render(document: Document) -> str:
    """Write one document; ASCII only, so that no name can act on a terminal."""
    return indented(document, 0) + "\n"


def indented(value: object, depth: int) -> str:
    """The text of a value that lies so deep in a document; its first line is not indented."""
    text = _whole(json.dumps(value, indent=2, allow_nan=False))
    return text.replace("\n", "\n" + "  " * depth)


def quickly(value: object, depth: int) -> str | None:
    """The same thirty times as fast, where it is ASCII, or None.

    Floats that Python writes with an exponent have to be `spelled` before: others write it in
    another way.
    """
    try:
        data = msgspec.json.encode(value)
    except (ValueError, TypeError):  # half a character, a type that it does not know
        return None
    if not data.isascii() or b"\x7f" in data:
        return None
    # Brackets around it put it at its depth; they and the spaces before them go again.
    data = msgspec.json.format(b"[" * depth + data + b"]" * depth, indent=2)
    around = depth * (depth + 1)
    return data[around + 2 * depth : len(data) - around].decode()


def spelled(value: object) -> object:
    """A finite float as Python writes it; anything else as it is."""
    return msgspec.Raw(repr(value).encode()) if type(value) is float else value


def render_line(document: Document) -> str:
    """Write one document on one line."""
    return _whole(json.dumps(document, allow_nan=False)) + "\n"


def _whole(text: str) -> str:
    return _HALF.sub(r"\1\\ufffd", text) if "\\ud" in text else text
