"""What is looked at of every line of a log, as columns."""

from __future__ import annotations

from array import array
from collections.abc import Iterable, Iterator, Mapping, MutableSequence, Sequence
from io import BytesIO
from sys import intern
from typing import Any, Generic, TypeVar, overload

import msgspec
from msgspec import UNSET, Struct

from ckptctl.codec.errors import RecordError
from ckptctl.codec.json_records import load_json
from ckptctl.model.metrics import whole_number
from ckptctl.model.names import PREFIX, index_of, ray_name

DIR_NAME_KEY = "checkpoint_dir_name"
"""The key under which a row names the folder that was saved with it (Ray 2.7 and newer)."""
UNSAID: Any = UNSET
"""The name of a row that has no key for one, which is not the same as null."""
T = TypeVar("T")
_DIGITS = 6
_DENSE = 16
"""Numbers of checkpoints are as high as many times the rows, at most, where they are counted."""
_INTERNED = 4096
"""Rows of a log whose names are looked up among those of other trials, at most."""


class Line(Struct, gc=False):
    """One line that holds a result."""

    checkpoint_dir_name: str | None = UNSAID
    training_iteration: int | None = None


_decode_all = msgspec.json.Decoder(Line).decode_lines
_decode = msgspec.json.Decoder(Line).decode


class Columns:
    """Takes them out of one piece of a log after the other."""

    def __init__(self) -> None:
        self.count = 0
        """Lines so far."""
        self.last = -1
        """The last line that is not blank."""
        self.bad: list[tuple[int, str]] = []
        """The lines that are no JSON, and why."""
        self._lines: MutableSequence[int] | None = None
        """The line of each row, once that is no longer its place."""
        self.names: list[str | None] | PackedNames = []
        """As they are written: `UNSAID` where there is none."""
        self.iterations: list[int | None] | PackedNumbers = []

    @property
    def lines(self) -> Sequence[int]:
        """The line of each row."""
        return range(len(self.iterations)) if self._lines is None else self._lines

    def take(self, data: bytes) -> None:
        """The next piece."""
        lines = len(BytesIO(data).readlines())  # half of what it costs to count line ends
        rows = _quickly(data)
        # The decoder skips blank lines too, which count.
        if rows is not None and len(rows) == lines:
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


class _Packed(Sequence[T], Generic[T]):
    """Values as numbers of eight bytes; those that no number stands for are beside them."""

    _OTHER = -(1 << 62)

    def __init__(self, values: Iterable[T] = ()) -> None:
        self._numbers = array("q")
        self._others: dict[int, T] = {}
        self.extend(values)

    def extend(self, values: Iterable[T]) -> None:
        """Put more behind them."""
        for value in values:
            number = self._number(value)
            if number is None:
                self._others[len(self._numbers)] = value
            self._numbers.append(self._OTHER if number is None else number)

    def _number(self, value: T) -> int | None:
        """What stands for a value, if anything does."""
        raise NotImplementedError

    def _value(self, number: int) -> T:
        """What a number stands for."""
        raise NotImplementedError

    def __len__(self) -> int:
        return len(self._numbers)

    def __iter__(self) -> Iterator[T]:
        if not self._others:
            return map(self._value, self._numbers)
        return (self[place] for place in range(len(self)))

    @overload
    def __getitem__(self, index: int) -> T: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...

    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        if isinstance(index, slice):
            return [self[place] for place in range(*index.indices(len(self)))]
        number = self._numbers[index]
        if number == self._OTHER:
            return self._others[range(len(self))[index]]
        return self._value(number)


class PackedNumbers(_Packed[int | None]):
    """Whole numbers."""

    def _number(self, value: int | None) -> int | None:
        return value if value is not None and abs(value) < -self._OTHER else None

    def _value(self, number: int) -> int | None:
        return number


class PackedNames(_Packed[str | None]):
    """Names of checkpoints, of which nearly all are a number in Ray's form, or no name."""

    _NULL, _UNSAID = -1, -2

    def _number(self, value: str | None) -> int | None:
        if value is UNSAID:
            return self._UNSAID
        if value is None:
            return self._NULL
        digits = value[len(PREFIX) :]
        # The usual form of a number has as many digits as Ray gives it.
        if len(digits) == _DIGITS and digits.isdigit() and value.startswith(PREFIX):
            return int(digits) if digits.isascii() else None
        index = index_of(value)
        return index if index is not None and ray_name(index) == value else None

    def _value(self, number: int) -> str | None:
        if number < 0:
            return None if number == self._NULL else UNSAID
        return ray_name(number)

    def last_of_each(self) -> Sequence[int]:
        """The places that are the last to have their name, in order."""
        seen: set[int] = set()
        others: set[str] = set()
        numbers = self._numbers
        highest = max(numbers, default=-1)
        few = highest < _DENSE * len(numbers)
        marks = bytearray(max(highest + 1, 0) if few else 0)
        found = array("q")
        for place in range(len(numbers) - 1, -1, -1):
            number = numbers[place]
            if number == self._OTHER:
                name = self._others[place] or ""
                if not name or name in others:
                    continue
                others.add(name)
            elif number < 0:
                continue
            elif few:
                if marks[number]:
                    continue
                marks[number] = 1
            elif number in seen:
                continue
            else:
                seen.add(number)
            found.append(place)
        found.reverse()
        return found

    def at(self, places: Sequence[int]) -> Sequence[str]:
        """The names at some places, each of which has one."""
        return _Chosen(self, places)


class _Chosen(Sequence[str]):
    """Some of many names, each made when it is looked at."""

    def __init__(self, names: PackedNames, places: Sequence[int]) -> None:
        self._names, self._places = names, places

    def __len__(self) -> int:
        return len(self._places)

    @overload
    def __getitem__(self, index: int) -> str: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[str]: ...

    def __getitem__(self, index: int | slice) -> str | Sequence[str]:
        if isinstance(index, slice):
            return _Chosen(self._names, self._places[index])
        return self._names[self._places[index]] or ""

    def __iter__(self) -> Iterator[str]:
        return (name or "" for name in map(self._names.__getitem__, self._places))


class _Said(PackedNames):
    """The same, where no name and no word of one are both None."""

    def __init__(self, told: PackedNames) -> None:
        self._numbers, self._others = told._numbers, told._others  # noqa: SLF001 - the same ones

    def _value(self, number: int) -> str | None:
        return None if number < 0 else ray_name(number)

    def __iter__(self) -> Iterator[str | None]:
        return (name or None for name in super().__iter__())

    def __getitem__(self, index: Any) -> Any:  # noqa: ANN401 - as the other has it
        return super().__getitem__(index) or None


def said(names: Sequence[str | None]) -> Sequence[str | None]:
    """Names without the difference between none and no word of one."""
    if isinstance(names, PackedNames):
        return _Said(names)
    return names if all(names) else [name or None for name in names]


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
        try:
            return _decode(line)
        except (ValueError, RecursionError, MemoryError):
            pass
    value = load_json(line)
    if not isinstance(value, Mapping):
        return None
    name = value.get(DIR_NAME_KEY, UNSAID)
    return Line(
        checkpoint_dir_name=name if isinstance(name, str) or name is UNSAID else None,
        training_iteration=whole_number(value.get("training_iteration")),
    )


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError:
        return False
    return True
