"""Documents that are one list: of picks, of applies, of rules. As tables and as lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import cast

from ckptctl.report.cells import Cell, Table
from ckptctl.report.document import Document

_PICKS = (
    "location",
    "trial_id",
    "trial",
    "path",
    "checkpoint.name",
    "checkpoint.index",
    "checkpoint.training_iteration",
    "checkpoint.size_bytes",
)
_HISTORY = (
    "plan_id",
    "entry",
    "command",
    "begun",
    "applied_at",
    "state",
    "steps",
    "verified",
    "undoes",
    "damage",
)
_DIFF = ("mark", "path", "size_a", "size_b", "reason")
_RULES = ("code", "rule", "severity", "since", "summary")

# What the document calls its list, what one item is, and its columns; a dot enters an object.
_LISTS: Mapping[object, tuple[str, str, tuple[str, ...]]] = {
    "latest": ("checkpoints", "pick", _PICKS),
    "best": ("checkpoints", "pick", _PICKS),
    "diff": ("files", "file", _DIFF),
    "history": ("entries", "apply", _HISTORY),
    "rules": ("rules", "rule", _RULES),
}


def table(document: Document) -> Table:
    """Show the list of a document as a table."""
    _, _, columns = _LISTS[document["command"]]
    rows = tuple(tuple(_cell(item, column) for column in columns) for item in items(document))
    return Table(columns=tuple(c.rpartition(".")[2] for c in columns), rows=rows)


def items(document: Document) -> Sequence[Document]:
    """Take out the list of a document."""
    return cast("Sequence[Document]", document[list_name(document)])


def list_name(document: Document) -> str:
    """Name the field that holds the list."""
    return _LISTS[document["command"]][0]


def item_type(document: Document) -> str:
    """Say what one item of the list is."""
    return _LISTS[document["command"]][1]


def _cell(item: Document, column: str) -> Cell:
    value: object = item
    for key in column.split("."):
        value = value.get(key) if isinstance(value, dict) else None
    if value is None or isinstance(value, bool | int | float):
        return value
    return str(value)
