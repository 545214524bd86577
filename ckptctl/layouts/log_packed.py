"""Columns of a long log in a few bytes a row."""

from __future__ import annotations

from abc import abstractmethod
from array import array
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar, overload

from msgspec import UNSET

from ckptctl.model.deferred import EachOf
from ckptctl.model.names import PREFIX, index_of, ray_name

UNSAID: Any = UNSET
"""The name of a row that has no key for one, which is not the same as null."""
T = TypeVar("T")
_DIGITS = 6
_DENSE = 16
"""Numbers of checkpoints are as high as many times the rows, at most, where they are counted."""


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

    @abstractmethod
    def _number(self, value: T) -> int | None:
        """What stands for a value, if anything does."""

    @abstractmethod
    def _value(self, number: int) -> T:
        """What a number stands for."""

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
        return EachOf(lambda place: self[place] or "", places)


def said(names: Sequence[str | None]) -> Sequence[str | None]:
    """Names without the difference between none and no word of one."""
    if isinstance(names, PackedNames):
        return EachOf(_or_none, names)
    return names if all(names) else list(map(_or_none, names))


def _or_none(name: str | None) -> str | None:
    return name or None
