"""From functions that wait to coroutines that do not: one loop, in a thread of fsspec's."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator
from queue import SimpleQueue
from typing import Any, TypeVar

T = TypeVar("T")
S = TypeVar("S")

_PATIENCE = 10.0


def wait_for(coroutine: Coroutine[Any, Any, T]) -> T:
    """The result of a coroutine; it is given up where the wait is interrupted."""
    future = asyncio.run_coroutine_threadsafe(coroutine, _loop())
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


def each(items: Iterable[S], call: Callable[[S], Awaitable[T]], *, most: int) -> Iterator[T]:
    """The results for all items, as they come, with so many calls on their way at once.

    The first that fails is raised, and those on their way are given up; so they are where
    the caller stops asking.
    """
    results: SimpleQueue[tuple[T | None, BaseException | None]] = SimpleQueue()
    finished = threading.Event()
    waiting = iter(items)

    async def work() -> None:
        for item in waiting:
            try:
                results.put((await call(item), None))
            except asyncio.CancelledError:
                raise
            except BaseException as error:  # noqa: BLE001 - raised where it is waited for
                results.put((None, error))
                return

    async def all_of_it() -> None:
        tasks = [asyncio.ensure_future(work()) for _ in range(most)]
        try:
            await asyncio.gather(*tasks)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
            results.put((None, None))
            finished.set()

    future = asyncio.run_coroutine_threadsafe(all_of_it(), _loop())
    try:
        while True:
            result, error = results.get()
            if error is not None:
                raise error
            if result is None:
                return
            yield result
    finally:
        future.cancel()
        # What is given up must not go on behind our back.
        finished.wait(_PATIENCE)


def _loop() -> asyncio.AbstractEventLoop:
    from fsspec.asyn import get_loop

    loop: asyncio.AbstractEventLoop = get_loop()
    return loop
