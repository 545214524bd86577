"""Markdown's own escaping: text that stays text, names as code, and tables."""

from __future__ import annotations

import re
from collections.abc import Sequence

from ckptctl.report.escape import shown

# An underscore inside a word is none of Markdown's.
_SPECIAL = re.compile(r"[\\`*\[\]<>#~&]|(?<![0-9A-Za-z])_|_(?![0-9A-Za-z])")
# What GitHub makes a link of without being asked: mentions, addresses, issues.
_LINKED = re.compile(r"@(?=\w)|:(?=//)|\bwww(?=\.)|\\#(?=\d)|\bGH(?=-\d)", re.IGNORECASE)
_TICKS = re.compile(r"`+")
_BREAK = "<!-- -->"

NONE = "–"


def text(value: str) -> str:
    """Write prose: nothing in it is markup, a link or a mention."""
    if not value or value.isspace():
        return NONE
    escaped = _SPECIAL.sub(r"\\\g<0>", shown(value)).replace("|", "&#124;")
    return _LINKED.sub(rf"\g<0>{_BREAK}", escaped)


def code(value: str) -> str:
    """Write a name or a command as code."""
    if not value:
        return NONE
    plain = shown(value)
    if "|" in plain:  # readers do not agree on how a pipe in code is escaped in a table
        return f"<code>{''.join(c if c.isalnum() else f'&#{ord(c)};' for c in plain)}</code>"
    fence = "`" * (max(map(len, _TICKS.findall(plain)), default=0) + 1)
    pad = " " if plain[0] in "` " or plain[-1] in "` " else ""
    return f"{fence}{pad}{plain}{pad}{fence}"


def table(header: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    """Lay out a table of cells that are Markdown already."""
    lines = [[name or " " for name in header], ["---"] * len(header), *rows]
    return [f"| {' | '.join(cell or NONE for cell in row)} |" for row in lines]
