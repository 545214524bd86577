"""A listing as folders within folders: half the cost of one entry a path, for who only reads.

A scan of a large experiment is mostly its listing, so a file is a few words here, folders are
not asked for their own status, and the part below a folder is the folder itself.
"""

from __future__ import annotations

import sys
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from operator import itemgetter
from types import MappingProxyType
from typing import Any

from msgspec import Struct

from ckptctl.storage.store import Entry


class FolderFile(Struct, frozen=True, gc=False):
    """A file anywhere below a folder."""

    path: str
    """Relative to the folder."""
    size: int
    modified: float | None
    """Seconds since the epoch."""


_NO_NAMES = frozenset({"", ".", ".."})
"""What no part of a path on a disk is called."""
_NO_FOLDERS: Mapping[str, Folder] = MappingProxyType({})


class Census(Struct, frozen=True):
    """What there is in a listing at all: most questions about all of it end here."""

    shapes: Collection[tuple[str, ...]]
    """The names of files that folders have, each combination once."""
    odd: bool
    """Whether there is a link, a special file or a folder that could not be listed."""


class Folder(Struct, eq=False, gc=False):
    """One folder of a listing: of each file its name, its size and when it changed.

    Most are checkpoints that hold the same files, so that the names are one tuple for all of them
    where a `Shelf` made them: who compares folders compares that first.
    """

    names: tuple[str, ...] = ()
    """Of the files directly in it, sorted."""
    sizes: tuple[int, ...] = ()
    """Their bytes, in the order of their names."""
    times: tuple[float | None, ...] = ()
    """Their latest changes in seconds since the epoch, in the order of their names."""
    folders: Mapping[str, Folder] = _NO_FOLDERS
    odd: tuple[str, ...] = ()
    """The names of links and special files, which nobody follows or opens."""
    unreadable: str | None = None
    """Why what is in it could not be listed."""
    census: Census | None = None
    """What lies anywhere below, where a listing of it began here."""

    @property
    def files(self) -> Iterator[FolderFile]:
        """The files directly in it, in order of name."""
        return map(FolderFile, self.names, self.sizes, self.times)

    def file(self, name: str) -> FolderFile | None:
        """The file of a name directly in it, or None."""
        place = bisect_left(self.names, name)
        if place == len(self.names) or self.names[place] != name:
            return None
        return FolderFile(name, self.sizes[place], self.times[place])

    def at(self, path: str) -> Folder | None:
        """The folder at a path below this one, or None."""
        here: Folder | None = self
        if path:
            for name in path.split("/"):
                here = here.folders.get(name) if here is not None else None
        return here

    def below(self) -> Iterator[tuple[str, FolderFile | None]]:
        """Every path below, in no order: with the file, or None for a folder."""
        waiting = [("", self)]
        while waiting:
            prefix, here = waiting.pop()
            for file in here.files:
                yield f"{prefix}{file.path}", file
            for name, folder in here.folders.items():
                yield f"{prefix}{name}", None
                waiting.append((f"{prefix}{name}/", folder))

    def flat(self) -> Folder:
        """Every file below, however deep, as if it lay directly in it; no folders."""
        if not self.folders:  # as nearly all checkpoints have it
            return self
        found = [(path, file) for path, file in self.below() if file is not None]
        found.sort(key=lambda pair: pair[0])
        return Folder(
            names=tuple([path for path, _ in found]),
            sizes=tuple([file.size for _, file in found]),
            times=tuple([file.modified for _, file in found]),
            odd=tuple(self._odd_below()),
        )

    def _odd_below(self) -> Iterator[str]:
        waiting = [("", self)]
        while waiting:
            prefix, here = waiting.pop()
            yield from (f"{prefix}{name}" for name in here.odd)
            waiting += ((f"{prefix}{name}/", inner) for name, inner in here.folders.items())


_Sort = Callable[[Any], tuple[Any, ...]]


class Shelf:
    """Makes folders out of what a listing names, with equal names as one tuple."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, ...], tuple[tuple[str, ...], _Sort | None]] = {}
        """Names as they came: the same sorted, and what sorts what came with them, if needed."""
        self._sorted: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._sizes: tuple[int, ...] = ()

    @property
    def shapes(self) -> Collection[tuple[str, ...]]:
        """The names that folders were filled with, each combination once."""
        return self._sorted.keys()

    def fill(
        self, folder: Folder, names: list[str], sizes: list[int], times: list[float | None]
    ) -> None:
        """Put files into a folder, given in any order."""
        came = tuple(names)
        known = self._known.get(came)
        if known is None:
            known = self._known[came] = self._sort(came)
        folder.names, sort = known
        own = tuple(sizes) if sort is None else sort(sizes)
        if own != self._sizes:  # a trial's checkpoints are often as large as one another
            self._sizes = own
        folder.sizes = self._sizes
        folder.times = tuple(times) if sort is None else sort(times)

    def _sort(self, came: tuple[str, ...]) -> tuple[tuple[str, ...], _Sort | None]:
        places = sorted(range(len(came)), key=came.__getitem__)
        names = tuple([came[place] for place in places])
        names = self._sorted.setdefault(names, names)
        # Of two and more it makes a tuple; one is sorted.
        return names, None if names == came else itemgetter(*places)


class Collector:
    """Puts files and folders, in any order, into the folders that their paths name."""

    def __init__(self) -> None:
        self._known: dict[str, Folder] = {"": Folder()}
        self._held: dict[str, tuple[list[str], list[int], list[float | None]]] = {}
        self._odd = False

    def file(self, path: str, size: int, modified: float | None) -> None:
        """A file; where its path is no path on a disk, nobody opens it."""
        parent, _, name = path.rpartition("/")
        if name in _NO_NAMES or not _NO_NAMES.isdisjoint(parent.split("/") if parent else ()):
            self.odd(path)
            return
        held = self._held.get(parent)
        if held is None:
            held = self._held[parent] = ([], [], [])
        names, sizes, times = held
        names.append(sys.intern(name))
        sizes.append(size)
        times.append(modified)

    def odd(self, path: str) -> None:
        """What nobody follows or opens."""
        parent, _, name = path.rpartition("/")
        folder = _ensure(self._known, parent)
        folder.odd = (*folder.odd, name)
        self._odd = True

    def folder(self, path: str, unreadable: str | None = None) -> None:
        """A folder that is there by itself."""
        if not _NO_NAMES.isdisjoint(path.split("/")):
            self.odd(path)
            return
        _ensure(self._known, path).unreadable = unreadable
        self._odd = self._odd or unreadable is not None

    def has(self, path: str) -> bool:
        """Whether a file has this path."""
        parent, _, name = path.rpartition("/")
        return parent in self._held and name in self._held[parent][0]

    def root(self) -> Folder:
        """The folder around all of it, once."""
        shelf = Shelf()
        while self._held:
            parent, files = self._held.popitem()
            shelf.fill(_ensure(self._known, parent), *files)
        root = self._known.pop("")
        root.census = Census(shelf.shapes, self._odd)
        return root


def arrange(entries: Iterable[Entry]) -> Folder:
    """The folders that entries lie in; where a path is a file and a folder, both are there."""
    collector = Collector()
    for entry in entries:
        if entry.is_link or entry.is_special:
            collector.odd(entry.path)
        elif entry.is_dir:
            collector.folder(entry.path, entry.unreadable)
        else:
            collector.file(entry.path, entry.size, entry.modified)
    return collector.root()


def _ensure(known: dict[str, Folder], path: str) -> Folder:
    folder = known.get(path)
    if folder is None:
        parent, _, name = path.rpartition("/")
        folder = known[path] = Folder()
        put(_ensure(known, parent), sys.intern(name), folder)
    return folder


def put(parent: Folder, name: str, folder: Folder) -> None:
    """Put a folder into another."""
    if not isinstance(parent.folders, dict):
        parent.folders = {}
    parent.folders[name] = folder
