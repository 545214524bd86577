"""A sequence that is worked out when somebody first asks for it."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Generic, TypeVar, overload

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
