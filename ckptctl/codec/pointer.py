"""The address of a value inside nested documents.

    trial_data/3/0#storage#current_checkpoint_index

``/`` separates the steps inside one document. ``#`` enters the document that a
value holds: JSON text inside a JSON string, or a pickle kept as a hex string or as
Ray's fallback object. For JSON lines and CSV the first step is the row (0-based; the
header of a CSV is not counted); a file that is a pickle is entered at once, so its
pointers begin with ``#``.

Inside a step ``~0 ~1 ~2`` stand for ``~ / #``, and ``~3`` for the empty step. Steps
are text: whether ``3`` is a list index or a key is settled by what is there.

The step ``~4`` stands for the classes and functions that a pickle names, wherever in it
they are named: ``...#storage#~4/ray.tune:Checkpoint``.
"""

from __future__ import annotations

import re

from msgspec import Struct

from ckptctl.codec.errors import PointerError

__all__ = ["NAMES", "Pointer"]

NAMES = "\x00names"
"""The step that leads to the names in a pickle instead of to its values."""

_ESCAPES = {"~": "~0", "/": "~1", "#": "~2"}
_TOKENS = {"~0": "~", "~1": "/", "~2": "#"}
_WHOLE = {"~3": "", "~4": NAMES}
_SPECIAL = re.compile(r"[~/#]")
_ESCAPED = re.compile(r"~.?", re.DOTALL)


class Pointer(Struct, frozen=True):
    """Steps per document, outermost document first; never without a level."""

    levels: tuple[tuple[str, ...], ...] = ((),)

    @classmethod
    def parse(cls, text: str) -> Pointer:
        """Read the text form. Raises PointerError on a bad escape."""
        return cls(tuple(_parse_level(level) for level in text.split("#")))

    @classmethod
    def of(cls, *levels: tuple[str | int, ...]) -> Pointer:
        """Build from the steps of each document, outermost first."""
        return cls(tuple(tuple(str(step) for step in level) for level in levels) or ((),))

    def __str__(self) -> str:
        return "#".join("/".join(_escape(step) for step in level) for level in self.levels)

    def __truediv__(self, step: str | int) -> Pointer:
        return Pointer((*self.levels[:-1], (*self.levels[-1], str(step))))

    def enter(self) -> Pointer:
        """The root of the document that this value holds."""
        return Pointer((*self.levels, ()))

    @property
    def last(self) -> str | None:
        """The last step, or None at the root of a document."""
        return self.levels[-1][-1] if self.levels[-1] else None

    @property
    def parent(self) -> Pointer:
        """The container of this value, in the same document."""
        if not self.levels[-1]:
            raise PointerError(f"the root of a document has no parent: {str(self)!r}")
        return Pointer((*self.levels[:-1], self.levels[-1][:-1]))


def _escape(step: str) -> str:
    if step == NAMES:
        return "~4"
    return _SPECIAL.sub(lambda found: _ESCAPES[found[0]], step) if step else "~3"


def _parse_level(text: str) -> tuple[str, ...]:
    return tuple(_unescape(step) for step in text.split("/")) if text else ()


def _unescape(step: str) -> str:
    if step in _WHOLE:
        return _WHOLE[step]
    if not step:
        raise PointerError("an empty step in a pointer is written ~3")
    return _ESCAPED.sub(_token, step) if "~" in step else step


def _token(found: re.Match[str]) -> str:
    if found[0] not in _TOKENS:
        raise PointerError(f"bad escape in a pointer: {found[0]!r}")
    return _TOKENS[found[0]]
