"""Tab-separated values: a header, and one line a row. For ``cut``, ``awk`` and ``sort``."""

from __future__ import annotations

from ckptctl.report.cells import Table, written


def render(table: Table) -> str:
    """Write a table. No cell holds a tab or a newline, so nothing is ever quoted."""
    rows = [table.columns, *(map(written, row) for row in table.rows)]
    return "".join("\t".join(row) + "\n" for row in rows)
