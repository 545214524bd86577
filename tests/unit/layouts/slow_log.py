"""A log of JSON lines as it is read where nothing has to be quick: each line is decoded whole."""

from __future__ import annotations

from msgspec import Struct

from ckptctl.codec.errors import RecordError
from ckptctl.codec.json_records import load_json


class Row(Struct, frozen=True):
    """One line that holds a JSON value."""

    line: int
    """From 0, blank and bad lines counted."""
    value: object


class Lines(Struct, frozen=True, kw_only=True):
    """What a JSON-lines file holds."""

    rows: tuple[Row, ...]
    torn: str | None
    """Why the last line is not whole, if it is not: it was cut off while being written."""
    bad: tuple[tuple[int, str], ...]
    """Other lines that are no JSON: number from 0, and why."""


def read_lines(data: bytes) -> Lines:
    """The rows of a JSON-lines file; blank lines are skipped, bad ones reported."""
    rows: list[Row] = []
    bad: list[tuple[int, str]] = []
    last = -1
    for number, line in enumerate(data.split(b"\n")):
        if line and not line.isspace():
            last = number
            try:
                rows.append(Row(number, load_json(line)))
            except RecordError as error:
                bad.append((number, str(error)))
    torn = None
    if bad and bad[-1][0] == last:
        torn = f"line {last + 1} is cut off"
        bad.pop()
    return Lines(rows=tuple(rows), torn=torn, bad=tuple(bad))
