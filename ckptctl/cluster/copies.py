"""Copies within a bucket, made by workers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import cast

from msgspec import Struct

from ckptctl.cluster.place import Place, open_place, place_of
from ckptctl.cluster.units import on_workers
from ckptctl.cluster.workers import Workers
from ckptctl.storage.store import BulkStore, Entry

_UNITS = 4
"""For each worker: some take longer than others."""
_OBJECTS, _BYTES = 200, 1 << 30
"""Of one unit, at most: as much is done again where a worker ends."""


class Copying(Struct, frozen=True, kw_only=True):
    """Objects that are to be copied, each to a path where nothing is, or such a copy."""

    place: Place
    pairs: tuple[tuple[Entry, str], ...]


class Copied(Struct, frozen=True, kw_only=True):
    """Objects that were copied."""

    unchecked: bool
    """Whether the content of some copy is to be compared."""


def copy_objects(item: Copying) -> Copied:
    """Copy objects, on a worker. A copy that was made before is taken as it is."""
    store = cast(BulkStore, open_place(item.place))
    with store.copy(item.pairs) as copied:
        for _ in copied:
            pass
    return Copied(unchecked=store.unchecked)


class ClusterCopies:
    """Copies the objects of one bucket as the bucket's own store does."""

    def __init__(self, location: str, workers: Workers) -> None:
        self._place = place_of(location)
        self._workers = workers
        self._unchecked = False

    @property
    def unchecked(self) -> bool:
        """Whether a copy was made that nobody has looked at."""
        return self._unchecked

    @contextmanager
    def copy(self, pairs: Sequence[tuple[Entry, str]]) -> Iterator[Iterator[Entry]]:
        """Copy objects to paths where nothing is; each comes back once it is copied."""
        units = list(_units(pairs, self._workers.count))
        items = (Copying(place=self._place, pairs=tuple(unit)) for unit in units)
        with on_workers(self._workers, copy_objects, items, self._place.location.text) as done:
            yield self._copied(units, done)

    def _copied(
        self,
        units: Sequence[Sequence[tuple[Entry, str]]],
        done: Iterator[tuple[Copied, str]],
    ) -> Iterator[Entry]:
        for unit, (copied, _) in zip(units, done, strict=True):
            self._unchecked = self._unchecked or copied.unchecked
            for entry, _ in unit:
                yield entry


def _units(
    pairs: Sequence[tuple[Entry, str]], workers: int
) -> Iterator[Sequence[tuple[Entry, str]]]:
    most = min(_OBJECTS, max(1, -(-len(pairs) // (_UNITS * workers))))
    begin = size = 0
    for place, (entry, _) in enumerate(pairs):
        if place > begin and (place - begin == most or size + entry.size > _BYTES):
            yield pairs[begin:place]
            begin, size = place, 0
        size += entry.size
    if begin < len(pairs):
        yield pairs[begin:]
