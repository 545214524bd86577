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
    text = _quickly(document)
    if text is None:
        text = _whole(json.dumps(document, indent=2, allow_nan=False))
    return text + "\n"


def _quickly(document: Document) -> str | None:
    """The text where it is ASCII: thirty times as fast, and most documents are."""
    try:
        data = msgspec.json.format(msgspec.json.encode(document), indent=2)
    except (ValueError, TypeError):  # half a character, a type that it does not know
        return None
    return data.decode() if data.isascii() and b"\x7f" not in data else None


def render_line(document: Document) -> str:
    """Write one document on one line."""
    return _whole(json.dumps(document, allow_nan=False)) + "\n"


def _whole(text: str) -> str:
    return _HALF.sub(r"\1\\ufffd", text) if "\\ud" in text else text
