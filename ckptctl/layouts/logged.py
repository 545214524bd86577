"""The rows of a result log, decoded as far as they are compared, and no further.

A log is mostly metrics that nobody asks for, and a value costs far more as an object than as
bytes: of a line two columns are kept, and the rest is decoded when it is asked for.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from msgspec import Struct

from ckptctl.codec.json_records import load_json
from ckptctl.layouts.log_columns import Columns
from ckptctl.layouts.log_metrics import LogMetrics
from ckptctl.layouts.log_packed import UNSAID, PackedNames, said
from ckptctl.layouts.log_text import Fetch, LogText
from ckptctl.model.checkpoint import Metrics
from ckptctl.model.experiment import Row
from ckptctl.model.metrics import Logged
from ckptctl.model.rows import Rows


# It is handed out as a row, whose other parts are in the text.
class LoggedRow(Row, frozen=True, kw_only=True):
    """A row of which most is still in the text."""

    text: LogText

    @property  # type: ignore[misc]
    def metrics(self) -> Metrics:
        """The metrics of this row."""
        return self.text.metrics(self.line)

    @property  # type: ignore[misc]
    def trial_id(self) -> str | None:
        """The trial that it says it is of."""
        found = self.text.value(self.line, "trial_id")
        return found if isinstance(found, str) else None

    @property  # type: ignore[misc]
    def timestamp(self) -> int | float | None:
        """Seconds since the epoch."""
        return self.text.times(self.line)[0]

    @property  # type: ignore[misc]
    def time_total_s(self) -> float | None:
        """Seconds that the trial has run."""
        return self.text.times(self.line)[1]

    @property  # type: ignore[misc]
    def checkpointed(self) -> bool:
        """Whether the row says that a checkpoint was reported with it."""
        return self.text.value(self.line, "should_checkpoint") is True


class LogRows(Rows):
    """The rows of one log, as two columns beside its text."""

    def __init__(
        self,
        text: LogText,
        lines: Sequence[int],
        names: Sequence[str | None],
        iterations: Sequence[int | None],
        whole: bytes = b"",
    ) -> None:
        self.text = text
        self._lines, self._told, self._iterations = lines, names, iterations
        self._whole = whole
        """A bit for each line that is told with its whole result."""
        self._names = said(names)

    @property
    def lines(self) -> Sequence[int]:
        """The line of each."""
        return self._lines

    @property
    def names(self) -> Sequence[str | None]:
        """The name of a checkpoint in each."""
        return self._names

    @property
    def iterations(self) -> Sequence[int | None]:
        """The training iteration of each."""
        return self._iterations

    @property
    def keyed(self) -> bool:
        """Whether any has the key for a name."""
        return any(name is not UNSAID for name in self._told)

    def last_of_each(self) -> Sequence[int]:
        """The places of the rows that are the last to have their name, in order."""
        told = self._told
        return told.last_of_each() if isinstance(told, PackedNames) else super().last_of_each()

    def names_at(self, places: Sequence[int]) -> Sequence[str]:
        """The names of some rows that have one."""
        told = self._told
        return told.at(places) if isinstance(told, PackedNames) else super().names_at(places)

    def __len__(self) -> int:
        return len(self._iterations)

    def at(self, place: int) -> Row:
        """The row at a place."""
        line = self._lines[place]
        return LoggedRow(
            line=line,
            has_name=self._told[place] is not UNSAID,
            name=self._names[place],
            training_iteration=self._iterations[place],
            result=_Later(self.text, line) if _is_set(self._whole, line) else None,
            text=self.text,
        )

    def without(self, metric: str) -> Iterator[int]:
        """The places of the rows that have a name and metrics, but not this one."""
        names, lines = self._names, self._lines
        for place, lacks in enumerate(self.text.lack(metric, lines)):
            if lacks and names[place] and self.at(place).metrics:
                yield place

    def __eq__(self, other: object) -> bool:
        if isinstance(other, LogRows):
            return self.text == other.text
        return super().__eq__(other)

    __hash__ = None

    def times(self, place: int) -> tuple[int | float | None, float | None]:
        """When the row at a place was reported, and how long its trial had run then."""
        return self.text.times(self._lines[place])

    def metrics(self, place: int) -> Metrics:
        """The metrics of the row at a place, read when somebody looks."""
        return Logged(self.text, self._lines[place])

    def with_results(self, lines: Collection[int]) -> LogRows:
        """The same, with the whole result on some lines."""
        whole = _bits(lines)
        return LogRows(self.text, self._lines, self._told, self._iterations, whole)


def _bits(lines: Collection[int]) -> bytes:
    """A bit for each line, up to the last."""
    bits = bytearray((max(lines, default=-1) >> 3) + 1)
    for line in lines:
        bits[line >> 3] |= 1 << (line & 7)
    return bytes(bits)


def _is_set(bits: bytes, line: int) -> bool:
    byte = line >> 3
    return byte < len(bits) and bool(bits[byte] >> (line & 7) & 1)


class _Later(Mapping[str, object]):
    """A whole result, read when it is looked into: only a repair does that."""

    def __init__(self, text: LogText, line: int) -> None:
        self._text, self._line = text, line

    def _result(self) -> Mapping[str, object]:
        value = load_json(self._text.line(self._line))
        return value if isinstance(value, Mapping) else {}

    def __getitem__(self, key: str) -> object:
        return self._result()[key]

    def __iter__(self) -> Iterator[str]:
        return iter(self._result())

    def __len__(self) -> int:
        return len(self._result())


class Read(Struct, frozen=True, kw_only=True):
    """What was read of one log."""

    rows: LogRows
    torn: str | None = None
    """Why the last line is not whole, if it is not: it was cut off while being written."""
    bad: tuple[tuple[int, str], ...] = ()
    """Other lines that are no JSON: number from 0, and why."""


class LogReader:
    """Takes a log in pieces, each of which ends with a line or with the log.

    Where there are more pieces than one, none is kept: `fetch` reads them again.
    """

    def __init__(self, fetch: Fetch | None = None, metrics: LogMetrics | None = None) -> None:
        self._text = LogText(fetch, metrics or LogMetrics())
        self._found = Columns()

    def take(self, data: bytes) -> None:
        """The next piece."""
        if self._found.count:
            self._text.release()
            self._found.pack()
        self._text.add(data, self._found.count)
        self._found.take(data)

    def done(self) -> Read:
        """What was in it."""
        found = self._found
        if self._text.in_pieces:
            self._text.release()
        if found.is_regular:
            self._text.end(found.count)
        bad, torn = tuple(found.bad), None
        if bad and bad[-1][0] == found.last:
            torn = f"line {found.last + 1} is cut off"
            bad = bad[:-1]
        rows = LogRows(self._text, found.lines, found.names, found.iterations)
        return Read(rows=rows, torn=torn, bad=bad)
