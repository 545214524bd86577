"""From functions that wait to coroutines that do not: one loop, in a thread of fsspec's."""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator
from contextlib import contextmanager, suppress
from typing import Any, TypeVar

T = TypeVar("T")
S = TypeVar("S")

_BEAT, _PATIENCE = 0.1, 10.0
"""Seconds."""


def wait_for(coroutine: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine; it is given up where the wait is interrupted."""
    future = asyncio.run_coroutine_threadsafe(coroutine, _loop())
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


@contextmanager
def each(
    items: Iterable[S], call: Callable[[S], Awaitable[T]], *, most: int
) -> Iterator[Iterator[T]]:
    """The results for all items, soon after they come, with so many calls on their way at once.

    The first that fails is raised. What is on its way when the context is left is given up.
    """
    results: deque[T] = deque()
    errors: list[BaseException] = []
    ended, finished = threading.Event(), threading.Event()
    waiting = iter(items)

    async def work() -> None:
        for item in waiting:
            try:
                results.append(await call(item))
            except asyncio.CancelledError:
                raise
            except BaseException as error:  # noqa: BLE001 - raised where it is waited for
                errors.append(error)
                ended.set()
                return

    async def all_of_it() -> None:
        tasks = [asyncio.ensure_future(work()) for _ in range(most)]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            while on_their_way := [task for task in tasks if not task.done()]:
                with suppress(asyncio.CancelledError):
                    await asyncio.wait(on_their_way)
            ended.set()
            finished.set()

    def come() -> Iterator[T]:
        at_end = False
        while not at_end:
            # To wake up for each result would take the loop its time.
            at_end = ended.wait(_BEAT)
            while results:
                yield results.popleft()
        if errors:
            raise errors[0]

    future = asyncio.run_coroutine_threadsafe(all_of_it(), _loop())
    try:
        yield come()
    finally:
        future.cancel()
        # What is given up must not go on behind our back.
        finished.wait(_PATIENCE)


def _loop() -> asyncio.AbstractEventLoop:
    from fsspec.asyn import get_loop

    loop: asyncio.AbstractEventLoop = get_loop()
    return loop
