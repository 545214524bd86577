"""What was applied to an experiment, the newest first."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from ckptctl.journal.records import EntryState, JournalEntry
from ckptctl.report import words
from ckptctl.report.document import Document, envelope
from ckptctl.report.lines import Line, Page, Span, Style, line, table

Entries = Sequence[JournalEntry]

_STYLES = {EntryState.PENDING: Style.ERROR, EntryState.UNDONE: Style.DIM}


def render(entries: Entries, page: Page) -> list[Line]:
    """One row for each apply."""
    if not entries:
        return [line("nothing was applied here")]
    rows = [
        (
            Span(entry.plan_id),
            Span(entry.command or page.marks.none),
            Span(_when(entry, page)),
            Span(words.count(entry.steps, "step")),
            Span(_state(entry), _STYLES.get(entry.state, Style.PLAIN)),
        )
        for entry in reversed(entries)
    ]
    return table(("plan", "command", "when", "", "state"), rows, page, indent=0)


def _when(entry: JournalEntry, page: Page) -> str:
    text = entry.applied_at or entry.begun
    if page.now is None or not text:
        return text
    try:
        return words.ago(datetime.fromisoformat(text).timestamp(), page.now)
    except ValueError:
        return text


def _state(entry: JournalEntry) -> str:
    if entry.damage is not None:
        return f"damaged: {entry.damage}"
    state = str(entry.state)
    if entry.rolling_back:
        state += ", going back"
    if entry.undoes is not None:
        state += f", takes back {entry.undoes.partition('-')[2] or entry.undoes}"
    return state


def document(location: str, entries: Entries) -> Document:
    """Describe the applies to programs, the newest first."""
    return {
        **envelope("history"),
        "location": location,
        "entries": [
            {
                "plan_id": entry.plan_id,
                "entry": entry.name,
                "command": entry.command or None,
                "begun": entry.begun or None,
                "applied_at": entry.applied_at,
                "state": entry.state,
                "steps": entry.steps,
                "verified": entry.verified,
                "undoes": entry.undoes,
                "damage": entry.damage,
            }
            for entry in reversed(entries)
        ],
    }
