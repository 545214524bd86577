"""Trying again: which answers are worth it, how long to wait, and with how many at once."""

from __future__ import annotations

import asyncio
import random
from collections import deque
from collections.abc import Awaitable, Callable
from typing import TypeVar

from ckptctl.storage.service import Answer

T = TypeVar("T")

TRIES = 9
"""Of a call that a busy or broken service answers; some 20 seconds in all."""
TRIES_TO_REACH = 4
"""Of a service that does not answer at all; about a second."""
_FIRST, _FACTOR, _LONGEST = 0.1, 2.0, 8.0
_STATUSES = frozenset({408, 425, 429, 500, 502, 503, 504})
_CODES = frozenset(
    {
        "ConditionalRequestConflict",
        "Cut",
        "InternalError",
        "OperationAborted",
        "RequestTimeout",
        "ServiceUnavailable",
        "SlowDown",
        "Throttling",
        "ThrottlingException",
        "Unreachable",
    }
)
_THROTTLED = frozenset({429, 503})


def is_transient(error: Answer) -> bool:
    """Whether the same call may well succeed in a moment."""
    return error.status in _STATUSES or error.code in _CODES


class Pace:
    """How many calls are on their way at once: fewer after each that was throttled.

    Of one event loop, so that nothing comes between two lines without an await.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._room = float(most)
        self._busy = 0
        self._waiting: deque[asyncio.Future[None]] = deque()

    async def __aenter__(self) -> None:
        while self._busy >= int(self._room):
            turn = asyncio.get_running_loop().create_future()
            self._waiting.append(turn)
            try:
                await turn
            except asyncio.CancelledError:
                self._wake()  # the turn may have come together with the end
                raise
        self._busy += 1

    async def __aexit__(self, *_: object) -> None:
        self._busy -= 1
        self._wake()

    def _wake(self) -> None:
        free = int(self._room) - self._busy
        while free > 0 and self._waiting:
            turn = self._waiting.popleft()
            if not turn.done():
                turn.set_result(None)
                free -= 1

    def slower(self) -> None:
        """The service asked for fewer requests."""
        self._room = max(1.0, self._room * 0.7)

    def faster(self) -> None:
        """A call went through."""
        self._room = min(float(self._most), self._room + 1 / self._room)


async def retrying(call: Callable[[], Awaitable[T]], pace: Pace) -> T:
    """Call until it works, as often as that has a chance. Raises the last `Answer`."""
    tries = 0
    while True:
        tries += 1
        try:
            async with pace:
                found = await call()
        except Answer as error:
            most = TRIES_TO_REACH if error.code == "Unreachable" else TRIES
            if tries >= most or not is_transient(error):
                raise
            if error.status in _THROTTLED:
                pace.slower()
            await asyncio.sleep(_wait(tries))
        else:
            pace.faster()
            return found


def _wait(tries: int) -> float:
    longest = min(_LONGEST, _FIRST * _FACTOR ** (tries - 1))
    return random.uniform(longest / 2, longest)  # noqa: S311 - so that not all come back at once
