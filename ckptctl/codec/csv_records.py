"""CSV as Python's ``csv`` writes it: cells by row and column name, edited in place.

Rows are counted from 0 and the header is not one of them; blank lines are skipped.
Quoted cells may hold commas, quotes and line ends.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from ckptctl.codec.errors import EditError, PointerError, RecordError
from ckptctl.codec.json_records import decode_text

__all__ = ["CsvText", "is_plainly_csv", "read_column"]

Span = tuple[int, int]

_CELL = re.compile(r'"[^"]*(?:""[^"]*)*"[^,\r\n]*|[^",\r\n][^,\r\n]*|(?=[,\r\n])|\Z')
_LINE_END = re.compile(r"\r?(?:\n|\Z)")
_BEFORE, _BEHIND = (b",", b"\n"), (b",", b"\r", b"\n")
"""What stands before and behind a quoted cell."""
_MUST_QUOTE = re.compile(r'[",\r\n]')


class _Row(Struct, frozen=True):
    start: int
    end: int
    """Before the line end."""
    after: int
    """Behind the line end."""


class CsvText:
    """A CSV text; rows are found on first use."""

    def __init__(self, text: str) -> None:
        self.text = text
        rows = list(_rows(text))
        self._rows = rows[1:]
        self.columns: dict[str, int] = {}
        for place, cell in enumerate(self._cells(rows[0]) if rows else ()):
            self.columns.setdefault(_unquote(text[cell[0] : cell[1]]), place)

    def __len__(self) -> int:
        return len(self._rows)

    def find(self, row: int, column: str) -> Span:
        """Where a cell is, quotes included. Raises PointerError."""
        if not 0 <= row < len(self._rows):
            raise PointerError(f"no row {row}")
        place = self.columns.get(column)
        if place is None:
            raise PointerError(f"no column {column!r}")
        span = self._cell(self._rows[row], place)
        if span is None:
            raise PointerError(f"row {row} has no cell for {column!r}")
        return span

    def get(self, row: int, column: str) -> str:
        """The text of a cell. Raises PointerError."""
        return self.text_of(self.find(row, column))

    def text_of(self, span: Span) -> str:
        """The text of a cell that was found."""
        return _unquote(self.text[span[0] : span[1]])

    def row_span(self, row: int) -> Span:
        """Where a whole row is, its line end included. Raises PointerError."""
        if not 0 <= row < len(self._rows):
            raise PointerError(f"no row {row}")
        return self._rows[row].start, self._rows[row].after

    def cell_text(self, span: Span, value: object) -> str:
        """A value as it is written where a cell was; quoted if that was, or if need be."""
        text = _cell(value)
        quoted = self.text.startswith('"', span[0]) and span[1] > span[0]
        if quoted or _MUST_QUOTE.search(text):
            return '"' + text.replace('"', '""') + '"'
        return text

    def _cell(self, row: _Row, place: int) -> Span | None:
        """Where one cell of a row is; None where the row ends before."""
        text = self.text[row.start : row.end]
        if '"' in text:
            cells = self._cells(row)
            return cells[place] if place < len(cells) else None
        parts = text.split(",", place + 1)
        if place >= len(parts):
            return None
        start = row.start + sum(map(len, parts[:place])) + place
        return start, start + len(parts[place])

    def _cells(self, row: _Row) -> list[Span]:
        text = self.text
        if '"' not in text[row.start : row.end]:
            return _split(text, row)
        cells, at = [], row.start
        while True:
            found = _CELL.match(text, at, row.end)
            end = found.end() if found else row.end
            cells.append((at, end))
            if end >= row.end:
                return cells
            at = end + 1


def _split(text: str, row: _Row) -> list[Span]:
    cells, at = [], row.start
    for cell in text[row.start : row.end].split(","):
        cells.append((at, at + len(cell)))
        at += len(cell) + 1
    return cells


def _rows(text: str) -> Iterator[_Row]:
    at = 0
    while at < len(text):
        end = _row_end(text, at)
        found = _LINE_END.match(text, end)
        after = found.end() if found else end
        if end > at:
            yield _Row(at, end, after)
        at = after


def _row_end(text: str, start: int) -> int:
    end = text.find("\n", start)
    end = len(text) if end < 0 else end
    if text.find('"', start, end) < 0:
        return end - 1 if text.startswith("\r", end - 1) and end > start else end
    at = start
    while True:
        found = _CELL.match(text, at)
        if found is None:
            raise RecordError(f"not CSV: a quote that does not end, at {at}")
        at = found.end()
        if not text.startswith(",", at):
            if _LINE_END.match(text, at) is None:
                raise RecordError(f"not CSV: a line end that is none, at {at}")
            return at
        at += 1


def _unquote(raw: str) -> str:
    if not raw.startswith('"'):
        return raw
    end = raw.rindex('"')
    return raw[1:end].replace('""', '"') + raw[end + 1 :]


def _cell(value: object) -> str:
    match value:
        case None:
            return ""
        case str():
            return value
        case bool() | int() | float():
            return repr(value)
    raise EditError(f"cannot be written to a CSV cell: {type(value).__name__}")


def is_plainly_csv(data: bytes) -> bool:
    """Whether whole lines are surely CSV, by their quotes alone, in a fraction of what rows cost.

    So they are where every quote that is there begins or ends a cell, as those do that Python
    writes around a comma. Of what is False here, `read_column` knows more.
    """
    if not data.isascii():
        try:
            data.decode()
        except UnicodeDecodeError:
            return False
    first, *parts = data.split(b'"')
    if not parts:
        return True
    if len(parts) % 2 or data.count(b"\r") != data.count(b"\r\n"):
        return False
    if first and not first.endswith(_BEFORE):
        return False
    *between, last = parts[1::2]  # the others are in quotes
    if last and not last.startswith(_BEHIND):
        return False
    return all(part.startswith(_BEHIND) and part.endswith(_BEFORE) for part in between)


def read_column(data: bytes, column: str) -> Sequence[tuple[int, str]]:
    """``(row, text)`` of each row that has a cell in a column; none if it is not there.

    Raises RecordError for bytes that are no CSV in UTF-8.
    """
    source = CsvText(decode_text(data))
    if column not in source.columns:
        return ()
    cells: list[tuple[int, str]] = []
    for row in range(len(source)):
        try:
            cells.append((row, source.get(row, column)))
        except PointerError:
            continue
    return tuple(cells)
