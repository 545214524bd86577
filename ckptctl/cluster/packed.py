"""Folders as columns, in which they travel, and put together again."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from msgspec import Struct

from ckptctl.storage.folders import Census, Folder, put


class PackedFolders(Struct, array_like=True):
    """The folders below one, each behind the one that it lies in."""

    shapes: list[list[bytes]]
    """The names of files that folders have, each combination once."""
    names: list[bytes]
    """Of each folder; that of the first says nothing."""
    parents: list[int]
    """Which folder each lies in."""
    shape: list[int]
    """Which names the files in each have."""
    sizes: list[int]
    """Of all files."""
    times: list[float | None]
    odd: dict[int, list[bytes]]
    unreadable: dict[int, str]


def pack(root: Folder) -> PackedFolders:
    """Folders as columns."""
    packed = PackedFolders([], [], [], [], [], [], {}, {})
    shapes: dict[tuple[str, ...], int] = {}
    waiting = [("", 0, root)]
    while waiting:
        name, parent, here = waiting.pop()
        number = len(packed.names)
        if here.names not in shapes:
            shapes[here.names] = len(shapes)
            packed.shapes.append([_bytes(name) for name in here.names])
        packed.names.append(_bytes(name))
        packed.parents.append(parent)
        packed.shape.append(shapes[here.names])
        packed.sizes.extend(here.sizes)
        packed.times.extend(here.times)
        if here.odd:
            packed.odd[number] = [_bytes(name) for name in here.odd]
        if here.unreadable is not None:
            packed.unreadable[number] = here.unreadable
        waiting += [(name, number, inner) for name, inner in here.folders.items()]
    return packed


class Assembly:
    """Puts the parts of a listing into one."""

    def __init__(self, known: Folder) -> None:
        self._root = known
        self._shapes: dict[tuple[str, ...], tuple[str, ...]] = {}
        self._odd = False
        for folder in _every(known):
            folder.names = self._shapes.setdefault(folder.names, folder.names)
            self._odd = self._odd or bool(folder.odd or folder.unreadable)

    def add(self, packed: PackedFolders) -> None:
        """One more part; folders above those that are in one part only may come in several."""
        shapes = [tuple([sys.intern(_text(n)) for n in names]) for names in packed.shapes]
        shapes = [self._shapes.setdefault(names, names) for names in shapes]
        self._odd = self._odd or bool(packed.odd or packed.unreadable)
        placed: list[Folder] = []
        begin = 0
        for number, name in enumerate(packed.names):
            here = self._place(placed[packed.parents[number]], name) if number else self._root
            placed.append(here)
            names = shapes[packed.shape[number]]
            if names:
                end = begin + len(names)
                sizes, times = tuple(packed.sizes[begin:end]), tuple(packed.times[begin:end])
                self._fill(here, names, sizes, times)
                begin = end
            if number in packed.odd:
                here.odd = (*here.odd, *map(_text, packed.odd[number]))
            here.unreadable = packed.unreadable.get(number, here.unreadable)

    def root(self) -> Folder:
        """The folder around all of it."""
        self._root.census = Census(self._shapes.keys(), self._odd)
        return self._root

    @staticmethod
    def _place(parent: Folder, name: bytes) -> Folder:
        text = sys.intern(_text(name))
        here = parent.folders.get(text)
        if here is None:
            put(parent, text, here := Folder())
        return here

    def _fill(
        self,
        here: Folder,
        names: tuple[str, ...],
        sizes: tuple[int, ...],
        times: tuple[float | None, ...],
    ) -> None:
        if here.names:  # two ranges of a bucket hold files of it
            found = sorted(
                [
                    *zip(here.names, here.sizes, here.times, strict=True),
                    *zip(names, sizes, times, strict=True),
                ],
                key=lambda file: file[0],
            )
            names = tuple([name for name, _, _ in found])
            names = self._shapes.setdefault(names, names)
            sizes = tuple([size for _, size, _ in found])
            times = tuple([time for _, _, time in found])
        here.names, here.sizes, here.times = names, sizes, times


def _every(root: Folder) -> Iterator[Folder]:
    waiting = [root]
    while waiting:
        here = waiting.pop()
        yield here
        waiting += here.folders.values()


def _bytes(name: str) -> bytes:
    """A name on a disk need not be text."""
    return name.encode("utf-8", "surrogateescape")


def _text(name: bytes) -> str:
    return name.decode("utf-8", "surrogateescape")
