"""The headers of checkpoints' files, looked into by workers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, partial
from itertools import islice

from msgspec import Struct

from ckptctl.cluster.place import Place, open_place
from ckptctl.cluster.units import on_workers
from ckptctl.cluster.workers import Workers
from ckptctl.layouts.payload import kind_of, why_torn
from ckptctl.layouts.tree import Tree

_FILES = 100
"""Of one unit."""


class Looking(Struct, frozen=True, kw_only=True):
    """Files that are looked into, by path and size."""

    place: Place
    files: tuple[tuple[str, int], ...]


def look_into(item: Looking) -> list[int]:
    """Tell which of some files seem not to be whole, on a worker."""
    store = open_place(item.place)
    return [
        number
        for number, (path, size) in enumerate(item.files)
        if why_torn(path, size, partial(store.open_read, path))
    ]


class Payloads:
    """What workers say of the files of all checkpoints of one experiment, once one is asked for.

    They are believed that a file is whole; where one seems not to be, it is looked into here.
    """

    def __init__(self, workers: Workers, place: Place, tree: Tree, prefix: str) -> None:
        self._workers = workers
        self._place = place
        self._tree = tree
        self._prefix = f"{prefix}/" if prefix else ""

    def whole(self, path: str) -> bool:
        """Whether a file was looked into and is whole; the path is relative to the experiment."""
        return _is_looked_into(path) and path not in self._doubtful

    @cached_property
    def _doubtful(self) -> frozenset[str]:
        bunches: list[tuple[tuple[str, int], ...]] = []

        def units() -> Iterator[Looking]:
            files = self._files()
            while bunch := tuple(islice(files, _FILES)):
                bunches.append(bunch)
                yield Looking(place=self._place, files=bunch)

        location = self._place.location.text
        found = set[str]()
        with on_workers(self._workers, look_into, units(), location) as looked:
            for number, (places, _) in enumerate(looked):
                found.update(bunches[number][place][0] for place in places)
                bunches[number] = ()
        return frozenset(path.removeprefix(self._prefix) for path in found)

    def _files(self) -> Iterator[tuple[str, int]]:
        for folder, held in self._tree.all_folders():
            for file in held.files:
                path = f"{folder}/{file.path}" if folder else file.path
                if _is_looked_into(path):
                    yield self._prefix + path, file.size


def _is_looked_into(path: str) -> bool:
    """Folders that only a log calls checkpoints are looked into one by one."""
    return (path.startswith("checkpoint") or "/checkpoint" in path) and kind_of(path) is not None
