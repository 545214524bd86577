"""HTML that is safe by the way it is made: whatever is no `Markup` is escaped."""

from __future__ import annotations

import html
from collections.abc import Iterable

from ckptctl.report.escape import shown

_VOID = frozenset({"meta", "br", "circle", "line", "path", "rect", "use"})


class Markup(str):
    """Text that is HTML already."""

    __slots__ = ()


EMPTY = Markup()

Child = str | Markup | None


def escaped(text: str) -> Markup:
    """Write out control characters, and take their meaning from those of HTML."""
    return text if isinstance(text, Markup) else Markup(html.escape(shown(text)))


def el(name: str, /, *children: Child, **attributes: str | float | None) -> Markup:
    """Make an element; ``class_`` is `class`, and other underscores are hyphens."""
    told = "".join(
        f' {key.rstrip("_").replace("_", "-")}="{escaped(str(value))}"'
        for key, value in attributes.items()
        if value is not None
    )
    inner = joined(children)
    if name in _VOID and not inner:
        return Markup(f"<{name}{told}/>")
    return Markup(f"<{name}{told}>{inner}</{name}>")


def joined(children: Iterable[Child], between: str = "") -> Markup:
    """Put pieces side by side."""
    return Markup(between.join(escaped(child) for child in children if child is not None))
