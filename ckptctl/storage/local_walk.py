"""The walk over a local tree: one `scandir` a folder, one `stat` a file, and nothing besides."""

from __future__ import annotations

import os
import stat

from ckptctl.storage.folders import Folder, FolderFile


def walk(start: str) -> Folder:
    """Every folder and file below `start`; what vanishes meanwhile is left out.

    A folder that may not be read hides nothing but what is in it.

    Raises:
        PermissionError: of `start` itself.
    """
    root = Folder()
    names: dict[str, str] = {}
    waiting = [(start, root)]
    while waiting:
        path, here = waiting.pop()
        try:
            _list(path, here, waiting, names)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except PermissionError:
            if here is root:
                raise
            here.unreadable = "no permission"
    return root


def _list(
    path: str, here: Folder, waiting: list[tuple[str, Folder]], names: dict[str, str]
) -> None:
    """List one folder; `names` keeps each name once, since siblings repeat them."""
    with os.scandir(path) as found:
        for item in found:
            name = item.name
            if item.is_dir(follow_symlinks=False):
                folder = here.folders[name] = Folder()
                waiting.append((item.path, folder))
                continue
            try:
                info = item.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue
            name = names.setdefault(name, name)
            if stat.S_ISREG(info.st_mode):
                here.files.append(FolderFile(name, info.st_size, info.st_mtime))
            else:
                here.odd.append(name)
