"""The walk over a local tree: one `scandir` a folder, one `stat` a file, and nothing besides.

A folder is opened from the one that it lies in, and a file is asked for from its folder: of a path
the kernel looks up every part, each time, which costs the more the more files it knows.
"""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from ckptctl.storage.folders import Census, Folder, Shelf, put

_KIND, _REGULAR = stat.S_IFMT(0o777777), stat.S_IFREG
_START = os.O_RDONLY | os.O_DIRECTORY
_BELOW = _START | os.O_NOFOLLOW
_DEEPEST = 3
_OPEN = 16
"""Folders within one another that are kept open at once."""
_LONG = 900
"""Characters of a path behind which the kernel says of each whole path whether it is too long."""
ENOUGH = 256
"""Folders of one level that are worth being divided."""

HIDING = {
    errno.EACCES: "no permission",
    errno.EPERM: "no permission",
    errno.ENAMETOOLONG: "the path is too long",
}
"""Why a folder may hide what is in it, while the rest can be listed."""
_TOO_MANY_OPEN = frozenset({errno.EMFILE, errno.ENFILE})
_GONE = frozenset({errno.ENOENT, errno.ENOTDIR})
"""Why a folder that was there is none any more."""


def walk(start: str) -> Folder:
    """Every folder and file below `start`; what vanishes meanwhile is left out.

    A folder that may not be read hides nothing but what is in it.

    Raises:
        OSError: `start` itself cannot be listed, or the disk fails.
    """
    root = Folder()
    walker = _Walker()
    walker.below(start, root, sure=True)
    root.census = walker.census()
    return root


def walk_some(start: str, paths: Sequence[str]) -> Folder:
    """The same below some folders of `start`, each in its place; one that is gone is empty."""
    root = Folder()
    walker = _Walker()
    for path in paths:
        here = root
        for name in map(sys.intern, path.split("/")):
            inner = here.folders.get(name)
            if inner is None:
                put(here, name, inner := Folder())
            here = inner
        walker.below(f"{start}/{path}", here)
    root.census = walker.census()
    return root


def frontier(start: str) -> tuple[Folder, list[str]]:
    """The first levels of a tree, and the folders in them that were not looked into, by path.

    A level of many folders is one of trials, or of checkpoints, and left to others.

    Raises:
        OSError: `start` itself cannot be listed, or the disk fails.
    """
    root = Folder()
    walker = _Walker()
    level = [("", root)]
    for depth in range(_DEEPEST):
        if depth and len(level) >= ENOUGH:
            break
        for path, here in level:
            walker.directly(f"{start}/{path}" if path else start, here, sure=here is root)
        level = [
            (f"{path}/{name}" if path else name, inner)
            for path, here in level
            for name, inner in here.folders.items()
        ]
    return root, sorted(path for path, _ in level)


class _Level(NamedTuple):
    """A folder that is open, and those in it that were not looked into yet."""

    place: int
    path: str
    left: Iterator[tuple[str, Folder]]


class _Walker:
    """Lists folders into what stands for them."""

    def __init__(self) -> None:
        self._shelf = Shelf()
        self._odd = False

    def census(self) -> Census:
        """What there is in all that was listed."""
        return Census(self._shelf.shapes, self._odd)

    def directly(self, path: str, here: Folder, *, sure: bool = False) -> None:
        """List one folder, which has to be `sure` to be readable, and nothing below."""
        place = self._enter(path, None, here, sure=sure)
        if place is not None:
            os.close(place)

    def below(self, path: str, here: Folder, *, sure: bool = False) -> None:
        """The same with all that lies below."""
        waiting = [(path, here)]
        while waiting:
            path, here = waiting.pop()
            place = self._enter(path, None, here, sure=sure)
            sure = False
            if place is not None:
                waiting += self._descend(_Level(place, path, iter(here.folders.items())))

    def _descend(self, start: _Level) -> list[tuple[str, Folder]]:
        """List what lies below an open folder, but for what comes back: it lies too deep."""
        levels, deeper = [start], list[tuple[str, Folder]]()
        try:
            while levels:
                around, path, left = levels[-1]
                far = len(levels) >= _OPEN or len(path) > _LONG
                for name, inner in left:
                    if far:
                        deeper.append((f"{path}/{name}", inner))
                        continue
                    try:
                        place = self._enter(name, around, inner)
                    except OSError as error:
                        if error.errno not in _TOO_MANY_OPEN:
                            raise
                        # It is listed again once those around it are closed.
                        deeper.append((f"{path}/{name}", inner))
                        continue
                    if place is not None:
                        inside = iter(inner.folders.items())
                        levels.append(_Level(place, f"{path}/{name}", inside))
                        break
                else:
                    os.close(levels.pop().place)
        finally:
            for level in levels:
                os.close(level.place)
        return deeper

    def _enter(
        self, path: str, around: int | None, here: Folder, *, sure: bool = False
    ) -> int | None:
        """List one folder; its descriptor, where folders lie in it, for who goes on there."""
        place = -1
        try:
            place = os.open(path, _START if sure else _BELOW, dir_fd=around)
            self._list(place, here)
            if here.folders:
                kept, place = place, -1
                return kept
        except OSError as error:
            self._missed(error, here, sure=sure)
        finally:
            if place != -1:
                os.close(place)
        return None

    def _missed(self, error: OSError, here: Folder, *, sure: bool) -> None:
        if error.errno in _GONE or (error.errno == errno.ELOOP and not sure):
            return
        if sure or error.errno not in HIDING:
            raise error
        here.unreadable = HIDING[error.errno]
        self._odd = True

    def _list(self, place: int, here: Folder) -> None:
        """List one open folder."""
        names: list[str] = []
        sizes: list[int] = []
        times: list[float | None] = []
        folders: dict[str, Folder] = {}
        with os.scandir(place) as found:
            for item in found:
                name = item.name
                if item.is_dir(follow_symlinks=False):
                    # Trials repeat the names of their checkpoints.
                    folders[sys.intern(name)] = Folder()
                    continue
                try:
                    info = item.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue
                if info.st_mode & _KIND == _REGULAR:
                    names.append(name)
                    sizes.append(info.st_size)
                    times.append(info.st_mtime)
                else:
                    here.odd = (*here.odd, name)
                    self._odd = True
        if folders:
            here.folders = folders
        if names:
            self._shelf.fill(here, names, sizes, times)
