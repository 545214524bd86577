"""Sequences that are worked out when somebody asks for them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property
from typing import Generic, TypeVar, overload

S = TypeVar("S")
T = TypeVar("T")


class Deferred(Sequence[T], Generic[T]):
    """The items of several parts, one after the other; each part is called once, or never."""

    def __init__(self, parts: Iterable[Callable[[], Iterable[T]]]) -> None:
        self._parts = tuple(parts)

    @cached_property
    def _items(self) -> tuple[T, ...]:
        return tuple(item for part in self._parts for item in part())

    def __len__(self) -> int:
        return len(self._items)

    @overload
    def __getitem__(self, index: int) -> T: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...

    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        return self._items[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._items == tuple(other)

    def __hash__(self) -> int:
        return hash(self._items)


class EachOf(Sequence[T], Generic[S, T]):
    """What is made of each of many things, whenever it is looked at; none of it is kept.

    An experiment may have a million checkpoints, and a finding that speaks of each.
    """

    __slots__ = ("_make", "_things")

    def __init__(self, make: Callable[[S], T], things: Sequence[S]) -> None:
        self._make, self._things = make, things

    def __len__(self) -> int:
        return len(self._things)

    @overload
    def __getitem__(self, index: int) -> T: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[T]: ...

    def __getitem__(self, index: int | slice) -> T | Sequence[T]:
        if isinstance(index, slice):
            return EachOf(self._make, self._things[index])
        return self._make(self._things[index])

    def __iter__(self) -> Iterator[T]:
        return map(self._make, self._things)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))
