"""The walk over a local tree: one `scandir` a folder, one `stat` a file, and nothing besides."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Sequence

from ckptctl.storage.folders import Census, Folder, Shelf, put

_KIND, _REGULAR = stat.S_IFMT(0o777777), stat.S_IFREG
BY_DESCRIPTOR = os.scandir in os.supports_fd and hasattr(os, "O_DIRECTORY")
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)
_DEEPEST = 3
ENOUGH = 256
"""Folders of one level that are worth being divided."""

HIDING = {
    errno.EACCES: "no permission",
    errno.EPERM: "no permission",
    errno.ENAMETOOLONG: "the path is too long",
}
"""Why a folder may hide what is in it, while the rest can be listed."""


def walk(start: str) -> Folder:
    """Every folder and file below `start`; what vanishes meanwhile is left out.

    A folder that may not be read hides nothing but what is in it.

    Raises:
        OSError: `start` itself cannot be listed, or the disk fails.
    """
    root = Folder()
    return _walk(root, [(start, root)])


def walk_some(start: str, paths: Sequence[str]) -> Folder:
    """The same below some folders of `start`, each in its place; one that is gone is empty."""
    root = Folder()
    waiting = []
    for path in paths:
        here = root
        for name in map(sys.intern, path.split("/")):
            inner = here.folders.get(name)
            if inner is None:
                put(here, name, inner := Folder())
            here = inner
        waiting.append((f"{start}/{path}", here))
    return _walk(root, waiting)


def frontier(start: str) -> tuple[Folder, list[str]]:
    """The first levels of a tree, and the folders in them that were not looked into, by path.

    A level of many folders is one of trials, or of checkpoints, and left to others.

    Raises:
        OSError: `start` itself cannot be listed, or the disk fails.
    """
    root = Folder()
    shelf = Shelf()
    level = [("", root)]
    for depth in range(_DEEPEST):
        if depth and len(level) >= ENOUGH:
            break
        for path, here in level:
            _try(f"{start}/{path}" if path else start, here, [], shelf, sure=here is root)
        level = [
            (f"{path}/{name}" if path else name, inner)
            for path, here in level
            for name, inner in here.folders.items()
        ]
    return root, sorted(path for path, _ in level)


def _walk(root: Folder, waiting: list[tuple[str, Folder]]) -> Folder:
    shelf = Shelf()
    odd = False
    while waiting:
        path, here = waiting.pop()
        _try(path, here, waiting, shelf, sure=here is root)
        odd = odd or bool(here.odd or here.unreadable)
    root.census = Census(shelf.shapes, odd)
    return root


def _try(
    path: str, here: Folder, waiting: list[tuple[str, Folder]], shelf: Shelf, *, sure: bool
) -> None:
    """List one folder, which has to be `sure` to be readable."""
    try:
        _list_at(path, here, waiting, shelf)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        if sure or error.errno not in HIDING:
            raise
        here.unreadable = HIDING[error.errno]


def _list_at(path: str, here: Folder, waiting: list[tuple[str, Folder]], shelf: Shelf) -> None:
    """The same by its descriptor, where the system can.

    What is in it is then looked up from there: a path costs the kernel more, the deeper it lies.
    """
    if not BY_DESCRIPTOR:
        _list(path, path, here, waiting, shelf)
        return
    place = os.open(path, _FOLDER)
    try:
        _list(path, place, here, waiting, shelf)
    finally:
        os.close(place)


def _list(
    path: str,
    place: str | int,
    here: Folder,
    waiting: list[tuple[str, Folder]],
    shelf: Shelf,
) -> None:
    """List one folder; those in it wait."""
    prefix = path if path.endswith(os.sep) else path + os.sep
    names: list[str] = []
    sizes: list[int] = []
    times: list[float | None] = []
    folders: dict[str, Folder] = {}
    with os.scandir(place) as found:
        for item in found:
            name = item.name
            if item.is_dir(follow_symlinks=False):
                # Trials repeat the names of their checkpoints.
                folder = folders[sys.intern(name)] = Folder()
                waiting.append((f"{prefix}{name}", folder))
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
    if folders:
        here.folders = folders
    if names:
        shelf.fill(here, names, sizes, times)
