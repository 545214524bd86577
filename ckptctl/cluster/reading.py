"""Scans whose listing is made, and whose records are read, by workers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import cast

from msgspec import Struct

from ckptctl.cluster.packed import Assembly, PackedFolders, pack
from ckptctl.cluster.payloads import Payloads
from ckptctl.cluster.place import Place, open_place, place_of, unseen
from ckptctl.cluster.units import on_workers
from ckptctl.cluster.workers import Workers
from ckptctl.errors import LocationError
from ckptctl.layouts.tree import Tree
from ckptctl.storage.folders import Folder
from ckptctl.storage.location import open_store
from ckptctl.storage.parts import Divisible, Part
from ckptctl.storage.store import Reader
from ckptctl.storage.wrappers import ReadOnly

_PARTS = 4
"""Parts of a listing for each worker: some take longer than others."""
_FILES, _BYTES = 64, 8 * 1024 * 1024
"""Of one unit of reading, at most."""


class Listing(Struct, frozen=True, kw_only=True):
    """A part of a listing that is to be made."""

    place: Place
    part: Part


class Reading(Struct, frozen=True, kw_only=True):
    """Files that are to be read."""

    place: Place
    paths: tuple[str, ...]
    limit: int


def list_part(item: Listing) -> PackedFolders | None:
    """List a part, on a worker; None where it is not what it was when it was divided."""
    found = cast(Divisible, open_place(item.place)).list_part(item.part)
    return None if found is None else pack(found)


def read_files(item: Reading) -> list[bytes | None]:
    """Read files, on a worker: the content of each, or None where it cannot be read."""
    store = open_place(item.place)
    return [_content(store, path, item.limit) for path in item.paths]


def _content(store: Reader, path: str, limit: int) -> bytes | None:
    try:
        return store.read_bytes(path, limit)
    except (LocationError, OSError):
        return None


class ClusterReader(ReadOnly):
    """A store whose listing is made by workers, which also read what is named ahead.

    What they cannot read is tried here, so that only what nobody can read is unreadable.
    """

    def __init__(self, location: str, workers: Workers) -> None:
        self._store = open_store(location)
        super().__init__(self._store)
        self._place = place_of(location)
        self._workers = workers

    def list_folders(self) -> Folder:
        """Every entry, as folders within folders.

        Raises:
            ClusterError: the workers do not see what is there.
        """
        store = self._store
        if not isinstance(store, Divisible):
            return store.list_folders()
        division = store.divide(_PARTS * self._workers.count)
        if division is None:
            return store.list_folders()
        assembly = Assembly(division.known)
        listings = [Listing(place=self._place, part=part) for part in division.parts]
        with on_workers(self._workers, list_part, listings, self.location) as found:
            for listing, (folders, where) in zip(listings, found, strict=True):
                if folders is None:
                    if store.list_part(listing.part) is not None:
                        why = f"what begins with {listing.part.begin} is not all there"
                        raise unseen(self._place.location, where, why)
                    return store.list_folders()
                assembly.add(folders)
        return assembly.root()

    @contextmanager
    def read_many(
        self, files: Sequence[tuple[str, int]], limit: int
    ) -> Iterator[Iterator[bytes | Exception]]:
        """The contents of files, by path and size, in their order; or why one cannot be read.

        Raises:
            ClusterError: a worker does not see one that is there.
        """
        units = (Reading(place=self._place, paths=b, limit=limit) for b in _bunches(files))
        with on_workers(self._workers, read_files, units, self.location) as found:
            yield self._contents(iter(files), limit, found)

    def _contents(
        self,
        files: Iterator[tuple[str, int]],
        limit: int,
        found: Iterator[tuple[list[bytes | None], str]],
    ) -> Iterator[bytes | Exception]:
        for contents, where in found:
            for content in contents:
                path, _ = next(files)
                yield self._try(path, limit, where) if content is None else content

    def payloads(self, tree: Tree, prefix: str) -> Payloads:
        """What workers say of the files of an experiment's checkpoints."""
        return Payloads(self._workers, self._place, tree, prefix)

    def _try(self, path: str, limit: int, where: str) -> Exception:
        try:
            self._store.read_bytes(path, limit)
        except (LocationError, OSError) as error:
            return error
        raise unseen(self._place.location, where, f"{path} cannot be read")


def _bunches(files: Iterable[tuple[str, int]]) -> Iterator[tuple[str, ...]]:
    bunch: list[str] = []
    size = 0
    for path, own in files:
        if bunch and (len(bunch) == _FILES or size + own > _BYTES):
            yield tuple(bunch)
            bunch, size = [], 0
        bunch.append(path)
        size += own
    if bunch:
        yield tuple(bunch)
