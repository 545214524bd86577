"""What is looked at of every line of a log, as columns."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, MutableSequence, Sequence
from io import BytesIO
from sys import intern

import msgspec
from msgspec import Struct

from ckptctl.codec.errors import RecordError
from ckptctl.codec.json_records import load_json
from ckptctl.layouts.log_packed import UNSAID, PackedNames, PackedNumbers
from ckptctl.model.metrics import whole_number

DIR_NAME_KEY = "checkpoint_dir_name"
"""The key under which a row names the folder that was saved with it (Ray 2.7 and newer)."""
_INTERNED = 4096
"""Rows of a log whose names are looked up among those of other trials, at most."""


class Line(Struct, gc=False):
    """One line that holds a result."""

    checkpoint_dir_name: str | None = UNSAID
    training_iteration: int | None = None


_NOTHING = b": null"
_OPENS = ord("{")
_decode_all = msgspec.json.Decoder(Line).decode_lines
_decode = msgspec.json.Decoder(Line).decode


class Columns(Struct, eq=False):
    """Takes them out of one piece of a log after the other."""

    count: int = 0
    """Lines so far."""
    last: int = -1
    """The last line that is not blank."""
    bad: list[tuple[int, str]] = []
    """The lines that are no JSON, and why."""
    names: list[str | None] | PackedNames = []
    """As they are written: `UNSAID` where there is none."""
    iterations: list[int | None] | PackedNumbers = []
    _lines: MutableSequence[int] | None = None
    """The line of each row, once that is no longer its place."""

    @property
    def is_regular(self) -> bool:
        """Whether each line is a row."""
        return self._lines is None

    @property
    def lines(self) -> Sequence[int]:
        """The line of each row."""
        return range(len(self.iterations)) if self._lines is None else self._lines

    def take(self, data: bytes) -> None:
        """The next piece."""
        each = BytesIO(data).readlines()  # half of what it costs to count line ends
        lines = len(each)
        rows = _quickly(data)
        # The decoder skips blank lines, which count, and takes two results on one line.
        if (
            rows is not None
            and len(rows) == lines
            and not [1 for line in each if line[0] != _OPENS]
        ):
            self.add(rows)
            if self._lines is not None:
                self._lines.extend(range(self.count, self.count + lines))
            self.last = self.count + lines - 1
        else:
            self._one_by_one(data)
        self.count += lines

    def add(self, rows: Sequence[Line]) -> None:
        """Put rows behind those that are there."""
        told = [row.checkpoint_dir_name for row in rows]
        if len(told) <= _INTERNED:  # trials repeat the names of their checkpoints
            told = [intern(name) if name else name for name in told]
        self.names.extend(told)
        self.iterations.extend([row.training_iteration for row in rows])

    def pack(self) -> None:
        """Hold rows in a few bytes each from here on, since there are many."""
        if isinstance(self.names, list) and isinstance(self.iterations, list):
            self.names, self.iterations = PackedNames(self.names), PackedNumbers(self.iterations)

    def _one_by_one(self, data: bytes) -> None:
        if self._lines is None:
            self._lines = array("q", range(len(self.iterations)))
        for number, line in enumerate(data.split(b"\n"), self.count):
            if not line or line.isspace():
                continue
            self.last = number
            try:
                row = _slowly(line)
            except RecordError as error:
                self.bad.append((number, str(error)))
                continue
            if row is not None:
                self.add((row,))
                self._lines.append(number)


def _quickly(data: bytes) -> list[Line] | None:
    """The lines of a piece in which every one is a result of the usual kind, else None."""
    # What the decoder skips it does not look at.
    if not (data.isascii() or _is_text(data)):
        return None
    try:
        return _decode_all(data)
    except (ValueError, RecursionError, MemoryError):
        return None


def _slowly(line: bytes) -> Line | None:
    """One line, or None where it is JSON but no result. Raises RecordError."""
    if line.isascii() or _is_text(line):
        for text in (line, _without_strange(line)):
            try:
                row = _decode(text)
            except (ValueError, RecursionError, MemoryError):
                continue
            # The same may stand in a name.
            if text is line or _NOTHING.decode() not in (row.checkpoint_dir_name or ""):
                return row
    value = load_json(line)
    if not isinstance(value, Mapping):
        return None
    name = value.get(DIR_NAME_KEY, UNSAID)
    return Line(
        checkpoint_dir_name=name if isinstance(name, str) or name is UNSAID else None,
        training_iteration=whole_number(value.get("training_iteration")),
    )


def _without_strange(line: bytes) -> bytes:
    """A line without the numbers that Python writes and JSON does not know.

    A metric is often none, and two columns of the line are read all the same.
    """
    for number in (b": NaN", b": Infinity", b": -Infinity"):
        line = line.replace(number, _NOTHING)
    return line


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
