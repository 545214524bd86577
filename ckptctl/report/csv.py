"""Comma-separated values (RFC 4180, with lines that end in a bare newline)."""

from __future__ import annotations

from ckptctl.report.cells import Table, written

_QUOTED = frozenset(',;"')


def render(table: Table) -> str:
    """Write a table; a cell is quoted where it holds a separator of any language or a quote."""
    rows = [table.columns, *(map(written, row) for row in table.rows)]
    return "".join(",".join(map(_quoted, row)) + "\n" for row in rows)


def _quoted(text: str) -> str:
    if _QUOTED.isdisjoint(text):
        return text
    return '"' + text.replace('"', '""') + '"'
