"""The same call for many things, a few at once."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

S = TypeVar("S")
T = TypeVar("T")


def together(call: Callable[[S], T], items: Iterable[S], at_once: int) -> Iterator[T]:
    """The results in the order of the items; no more than `at_once` are made ahead of time."""
    if at_once <= 1:
        yield from map(call, items)
        return
    from concurrent.futures import ThreadPoolExecutor

    with ThreadPoolExecutor(at_once) as pool:
        ahead: deque[Future[T]] = deque()
        try:
            for item in items:
                ahead.append(pool.submit(call, item))
                if len(ahead) >= at_once:
                    yield ahead.popleft().result()
            while ahead:
                yield ahead.popleft().result()
        finally:
            for future in ahead:
                future.cancel()
