"""The same call for many things, a few at once."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, TypeVar

if TYPE_CHECKING:
    from concurrent.futures import Future

S = TypeVar("S")
T = TypeVar("T")


@contextmanager
def together(call: Callable[[S], T], items: Iterable[S], at_once: int) -> Iterator[Iterator[T]]:
    """The results in the order of the items; no more than `at_once` are made ahead of time.

    When the context is left, calls that have begun come to their end, and no others begin. That
    is no business of the iterator's: the garbage collector may come upon an iterator at any
    moment, also while a thread is being started, and to wait for threads then is to wait for ever.
    """
    if at_once <= 1:
        yield map(call, items)
        return
    from concurrent.futures import ThreadPoolExecutor

    ahead: deque[Future[T]] = deque()

    def results() -> Iterator[T]:
        for item in items:
            ahead.append(pool.submit(call, item))
            if len(ahead) >= at_once:
                yield ahead.popleft().result()
        while ahead:
            yield ahead.popleft().result()

    with ThreadPoolExecutor(at_once) as pool:
        try:
            yield results()
        finally:
            for future in ahead:
                future.cancel()
