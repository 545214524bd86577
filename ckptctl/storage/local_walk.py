"""The walk over a local tree: one `scandir` a folder, one `stat` a file, and nothing besides."""

from __future__ import annotations

import errno
import os
import stat
import sys

from ckptctl.storage.folders import Census, Folder, Shelf

_KIND, _REGULAR = stat.S_IFMT(0o777777), stat.S_IFREG
BY_DESCRIPTOR = os.scandir in os.supports_fd and hasattr(os, "O_DIRECTORY")
_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)

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
    shelf = Shelf()
    odd = False
    waiting = [(start, root)]
    while waiting:
        path, here = waiting.pop()
        try:
            _list_at(path, here, waiting, shelf)
            odd = odd or bool(here.odd)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            if here is root or error.errno not in HIDING:
                raise
            here.unreadable = HIDING[error.errno]
            odd = True
    root.census = Census(shelf.shapes, odd)
    return root


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
