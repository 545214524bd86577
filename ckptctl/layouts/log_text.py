"""The text of a log, which is kept only while it costs little, and read again where it is not."""

from __future__ import annotations

import weakref
import zlib
from bisect import bisect_right
from collections.abc import Callable, Iterator, Mapping, Sequence
from io import BytesIO
from typing import Any, ClassVar, TypeVar

import msgspec
from msgspec import UNSET, Struct, field

from ckptctl.codec.errors import RecordError
from ckptctl.codec.json_records import load_json
from ckptctl.errors import LocationError
from ckptctl.layouts.log_metrics import LogMetrics, NotAlikeError
from ckptctl.model.checkpoint import Metrics
from ckptctl.model.metrics import NOT_METRICS, SCALARS, all_of, flatten, one_of, real_number

Fetch = Callable[[int, int], bytes]
"""Reads so many bytes of the log from an offset; raises LocationError or OSError."""
T = TypeVar("T")


class _Times(Struct, gc=False):
    timestamp: Any = None
    time_total_s: Any = None


_SINGLE = SCALARS | {type(UNSET)}
"""What a value is that is no container, if it is there at all."""
_read_times = msgspec.json.Decoder(_Times).decode


class Piece(Struct, frozen=True, gc=False):
    """A part of a log that ends where a line ends, or the log."""

    line: int
    """The number of its first line."""
    offset: int
    size: int


class _Deflated:
    """Bytes in little room."""

    __slots__ = ("_data",)

    def __init__(self, data: bytes) -> None:
        self._data = zlib.compress(data, 1)

    def inflated(self) -> bytes:
        """The bytes."""
        return zlib.decompress(self._data)


def _mark(part: bytes | _Deflated | int) -> int:
    """What tells other bytes from these."""
    if isinstance(part, int):
        return part
    return hash(part if isinstance(part, bytes) else part.inflated())


# As a class of Python's own it would take four times as long to make, once for every trial.
class LogText(Struct, eq=False, weakref=True):
    """The lines of a log by number.

    Of one log at a time the lines are held one by one; who asks for those of many asks in turn.
    """

    _apart: ClassVar[weakref.ref[LogText] | None] = None
    """The log whose lines are held."""

    _fetch: Fetch | None = None
    _metrics: LogMetrics = field(default_factory=LogMetrics)
    _pieces: list[Piece] = []
    _held: list[bytes | _Deflated | int] = []
    """Each piece, or what tells other bytes from it."""
    _last: int = -1
    """The number of the last line, once it is known that each line holds a result."""
    _everywhere: frozenset[str] = frozenset()
    """Metrics that every result of it is known to have."""
    _lines: list[bytes] = []
    """The lines of the piece that was looked into last."""
    _first: int = 0
    """The number of the first of them."""

    def add(self, data: bytes, lines: int) -> None:
        """The next piece, which begins at a line that many lines behind the beginning."""
        last = self._pieces[-1] if self._pieces else Piece(0, 0, 0)
        self._pieces.append(Piece(lines, last.offset + last.size, len(data)))
        self._held.append(data)

    def end(self, lines: int) -> None:
        """It is whole, and each of so many lines holds a result."""
        self._last = lines - 1

    @property
    def in_pieces(self) -> bool:
        """Whether it came in more pieces than one."""
        return len(self._pieces) > 1

    @property
    def size(self) -> int:
        """Of all of it, in bytes."""
        return sum(piece.size for piece in self._pieces)

    def release(self) -> None:
        """Forget the bytes; who asks for a line from here on has them read again."""
        if self._fetch is not None:
            self._held = list(self._marks())
        self.close()

    def deflate(self) -> None:
        """Hold the bytes in a tenth of their room: they cannot be read again at little cost."""
        self._held = [_Deflated(part) if isinstance(part, bytes) else part for part in self._held]
        self.close()

    def close(self) -> None:
        """Forget what was made of the bytes to find lines in them."""
        self._lines = []

    def line(self, number: int) -> bytes:
        """The bytes of a line, without its end.

        Raises:
            LocationError: they had to be read again, and are not what they were.
        """
        place = number - self._first
        if not 0 <= place < len(self._lines):
            if number == self._last:
                return _last_line(self._bytes(len(self._held) - 1))
            last = LogText._apart() if LogText._apart is not None else None
            if last is not None:
                last.close()
            LogText._apart = weakref.ref(self)
            piece = bisect_right(self._pieces, number, key=_line) - 1
            self._lines = BytesIO(self._bytes(piece)).readlines()  # a quarter of what `split` costs
            self._first = self._pieces[piece].line
            place = number - self._first
        return self._lines[place].rstrip(b"\n")

    def metrics(self, number: int) -> Metrics:
        """The metrics of the result on a line; none where the file is no longer what it was."""
        try:
            return self._metrics.of(self.line(number))
        except LocationError:
            return {}

    def texts_of(self, numbers: Sequence[int]) -> Sequence[bytes | Metrics]:
        """The metrics of the results on some lines: their JSON, or as `metrics` has them."""
        try:
            found = self._some(self._metrics.texts_of, numbers)
        except (LocationError, NotAlikeError):
            found = []
        alike = len(found) == len(numbers)
        return found if alike else [self.metrics(number) for number in numbers]

    def values_of(self, metric: str, numbers: Sequence[int]) -> Sequence[Any]:
        """One metric of the results on some lines: UNSET where one has not got it."""
        values: list[Any] = []
        if _is_usual(metric):
            read = all_of(metric)

            def noted(text: bytes) -> list[Any]:
                found = read(text)
                if len(found) == self._last + 1 and SCALARS.issuperset(map(type, found)):
                    self._everywhere |= {metric}
                return found

            try:
                values = self._some(noted, numbers)
            except (LocationError, ValueError, RecursionError):
                values = []
        if len(values) != len(numbers) or not _SINGLE.issuperset(map(type, values)):
            return [self.metrics(number).get(metric, UNSET) for number in numbers]
        return values

    def _some(self, read: Callable[[bytes], list[T]], numbers: Sequence[int]) -> list[T]:
        """What is read of some lines, of which `read` gives one value each.

        Where these are most of the lines, all are read.
        """
        lines = self._last + 1
        if 0 < lines < 2 * len(numbers) and not self.in_pieces:
            values = read(self._bytes(0))
            if len(values) == lines:
                return [values[number] for number in numbers]
        return read(b"\n".join([self.line(number) for number in numbers]))

    def result(self, number: int) -> Mapping[str, object]:
        """The result on a line; empty where the file is no longer what it was."""
        try:
            value = load_json(self.line(number))
        except (LocationError, RecordError):
            return {}
        return value if isinstance(value, Mapping) else {}

    def value(self, number: int, key: str) -> object:
        """What the result on a line has under a key; None where it has not got it."""
        try:
            found = one_of(key)(self.line(number))
        except (LocationError, ValueError, RecursionError):
            return self.result(number).get(key)
        return None if found is UNSET else found

    def times(self, number: int) -> tuple[int | float | None, float | None]:
        """When the result on a line was reported, and how long its trial had run then."""
        try:
            found = _read_times(self.line(number))
        except (LocationError, ValueError, RecursionError):
            return times_of(self.result(number))
        return _as_times(found.timestamp, found.time_total_s)

    def lack(self, metric: str, numbers: Sequence[int]) -> Iterator[bool]:
        """For each of some lines in order, whether its result has not got a metric.

        A usual metric is looked for without taking the rest of the result apart.
        """
        if metric in self._everywhere:
            yield from (False for _ in numbers)
            return
        usual = _is_usual(metric)
        read = one_of(metric)
        values = self._values(metric) if usual and isinstance(numbers, range) else None
        if values is not None and len(values) == len(numbers):
            yield from (value is UNSET for value in values)
            return
        for number in numbers:
            try:
                line = self.line(number)
            except LocationError:
                return  # what it was can no longer be told
            try:
                value = read(line) if usual else {}
            except (ValueError, RecursionError):
                value = {}
            if isinstance(value, dict | list):
                yield metric not in flatten(self.result(number))
            else:
                yield value is UNSET

    def _values(self, key: str) -> list[object] | None:
        """What each line has under a key; None where some have none but containers, or it is long.

        It is for a text of which every line holds a result.
        """
        if self.in_pieces:
            return None
        try:
            values = all_of(key)(self._bytes(0))
        except (LocationError, ValueError, RecursionError):
            return None
        return None if any(isinstance(value, dict | list) for value in values) else values

    def _bytes(self, place: int) -> bytes:
        held, piece = self._held[place], self._pieces[place]
        if isinstance(held, bytes):
            return held
        if isinstance(held, _Deflated):
            return held.inflated()
        cause: Exception | None = None
        if self._fetch is not None:
            try:
                data = self._fetch(piece.offset, piece.size)
                if hash(data) == held:
                    return data
            except (LocationError, OSError) as error:
                cause = error
        raise LocationError(
            "a result log changed while it was read", hint="run the command again"
        ) from cause

    def __eq__(self, other: object) -> bool:
        """Whether both are the same bytes."""
        return (
            isinstance(other, LogText)
            and self._pieces == other._pieces
            and self._marks() == other._marks()
        )

    def __hash__(self) -> int:
        """As `__eq__` has it."""
        return hash(tuple(self._marks()))

    def _marks(self) -> list[int]:
        return [_mark(part) for part in self._held]


def _last_line(data: bytes) -> bytes:
    """What most ask for who ask for one line, without finding the others."""
    end = len(data) - data.endswith(b"\n")
    return data[data.rfind(b"\n", 0, end) + 1 : end]


def times_of(result: Mapping[str, object]) -> tuple[int | float | None, float | None]:
    """When a result was reported, and how long its trial had run then."""
    return _as_times(result.get("timestamp"), result.get("time_total_s"))


def _as_times(timestamp: object, total: object) -> tuple[int | float | None, float | None]:
    ran = real_number(total)
    return real_number(timestamp), None if ran is None else float(ran)


def _is_usual(metric: str) -> bool:
    """Whether a result has it under its own name, if at all."""
    return "/" not in metric and metric not in NOT_METRICS


def _line(piece: Piece) -> int:
    return piece.line
