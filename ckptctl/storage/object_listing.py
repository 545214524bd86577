"""The listing of a bucket: page after page, and a large one by ranges of keys at once.

A page tells where the next one begins, so that a listing is as slow as the service is far away. Of
a large one the folders ahead are asked for, and the keys between some of them are listed side by
side: one request more for each range, since its last page goes beyond it.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable, Coroutine, Iterable, Sequence
from itertools import pairwise

from ckptctl.storage.parts import Part
from ckptctl.storage.retrying import Pace, retrying
from ckptctl.storage.service import Blob, Service

Take = Callable[[Sequence[Blob]], None]

_PAGE = 1000
_ALONE = 24
"""Pages of one range before it is divided: a shorter listing costs not one request more."""
_RANGES = 6
_DEEPEST = 3
"""How far below the prefix there may be one folder only, as an experiment in a bucket of many."""
_FEWEST = 3
"""Folders ahead that are worth ranges of their own."""


class Unsorted(Exception):
    """The service lists in another order than that of the keys, so that ranges mean nothing."""


async def list_blobs(service: Service, pace: Pace, prefix: str, take: Take) -> None:
    """Give every object whose key begins with `prefix` to `take`, in any order, each once.

    Raises:
        Answer: the service refuses.
        Unsorted: some were given already; `list_in_turn` has to begin anew.
    """
    await _Listing(service, pace, prefix, take).between(None, None, _ALONE)


async def list_part(service: Service, pace: Pace, prefix: str, part: Part, take: Take) -> None:
    """The same for a part of it.

    Raises:
        Answer: the service refuses.
        Unsorted: the part is not what it was divided into; some of it was given already.
    """
    found = 0

    def taken(blobs: Sequence[Blob]) -> None:
        nonlocal found
        found += len(blobs)
        take(blobs)

    listing = _Listing(service, pace, prefix, taken)
    await listing.between(part.after or prefix, part.until, sys.maxsize, part.first)
    if part.first and not found:
        raise Unsorted


async def divide(service: Service, pace: Pace, prefix: str, most: int) -> tuple[Part, ...]:
    """Up to `most` parts of a listing, each of whole folders; none where it is not worth it.

    Where folders are few, those in them are taken, too.
    """
    found: list[str] = []
    level = [prefix] if prefix else []
    for _ in range(_DEEPEST):
        inner = await asyncio.gather(*(_folders(service, pace, parent) for parent in level))
        level = [name for names in inner for name in _clear(names)]
        if len(level) >= max(len(found), _FEWEST):
            found = level
        if not level or len(level) >= most:
            break
    step = max(1, -(-len(found) // most))
    bounds = found[step::step]
    ends = pairwise((None, *bounds, None))
    parts = tuple(Part(after=low, until=high, first=low or "") for low, high in ends)
    return parts if bounds else ()


async def _folders(service: Service, pace: Pace, parent: str) -> list[str]:
    found: list[str] = []
    after = parent
    while True:
        names = await retrying(lambda after=after: service.folders(parent, after, _PAGE), pace)  # type: ignore[misc]
        found += [name for name in names if name > after]
        if len(names) < _PAGE:
            return found
        after = f"{names[-1].removesuffix('/')}0"  # what comes behind all that is in it


async def list_in_turn(service: Service, pace: Pace, prefix: str, take: Take) -> None:
    """The same, one page after the other, in the order of the service."""
    token: str | None = None
    while True:
        blobs, token = await _page(service, pace, prefix, token, None)
        take(blobs)
        if token is None:
            return


class _Listing:
    def __init__(self, service: Service, pace: Pace, prefix: str, take: Take) -> None:
        self._service, self._pace = service, pace
        self._prefix = prefix
        self._take = take

    async def between(
        self, after: str | None, until: str | None, alone: int, first: str = ""
    ) -> None:
        """List the keys behind `after`, up to and with `until`; the first begins with `first`.

        What `alone` pages do not hold is divided, each time into longer ranges.
        """
        token: str | None = None
        last = after
        pages = 0
        in_order = True
        while True:
            blobs, token = await _page(self._service, self._pace, self._prefix, token, after)
            keys = [blob.key for blob in blobs]
            if keys:
                in_order = in_order and _are_in_order(keys, last, "" if pages else first)
                last = keys[-1]
            if not in_order and after is not None:
                raise Unsorted
            if until is not None and last is not None and last > until:
                self._take([blob for blob in blobs if blob.key <= until])
                return
            self._take(blobs)
            if token is None:
                if until is not None:
                    raise Unsorted  # there is more: where the next range begins
                return
            pages += 1
            if pages % alone == 0 and last is not None and in_order:
                bounds = await self._bounds(last, until)
                if bounds:
                    ends = pairwise((last, *bounds, until))
                    begins = ("", *bounds)
                    await _all(
                        self.between(low, high, 2 * alone, begin)
                        for (low, high), begin in zip(ends, begins, strict=True)
                    )
                    return

    async def _bounds(self, last: str, until: str | None) -> Sequence[str]:
        """Where the ranges of what is left end, or none where that is not worth it."""
        inner = last[len(self._prefix) :].split("/")[:-1]
        for depth in range(1 if until is not None else min(len(inner), _DEEPEST)):
            parent = self._prefix + "".join(f"{name}/" for name in inner[:depth])
            found = await retrying(
                lambda parent=parent: self._service.folders(parent, last, _PAGE),  # type: ignore[misc]
                self._pace,
            )
            clear = [name for name in _clear(found) if last < name[:-1] < (until or name)]
            if len(clear) >= _FEWEST:
                step = max(1, -(-len(clear) // _RANGES))
                return clear[step - 1 :: step]
        return ()


def _clear(folders: Sequence[str]) -> list[str]:
    """Those of neighbours that come in the same place for every service.

    Where one name begins another, services do not agree on which comes first.
    """
    names = ["", *(name.removesuffix("/") for name in folders), ""]
    return [
        f"{name}/"
        for before, name, behind in zip(names, names[1:], names[2:], strict=False)
        if not (before and name.startswith(before)) and not behind.startswith(name)
    ]


def _are_in_order(keys: Sequence[str], last: str | None, first: str) -> bool:
    """Whether keys ascend, lie behind `last`, and begin as they have to."""
    if not keys[0].startswith(first) or (last is not None and keys[0] <= last):
        return False
    return all(key < behind for key, behind in pairwise(keys))


async def _page(
    service: Service, pace: Pace, prefix: str, token: str | None, after: str | None
) -> tuple[list[Blob], str | None]:
    return await retrying(lambda: service.page(prefix, token, _PAGE, after), pace)


async def _all(ranges: Iterable[Coroutine[None, None, None]]) -> None:
    tasks = [asyncio.ensure_future(one) for one in ranges]
    try:
        await asyncio.gather(*tasks)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
