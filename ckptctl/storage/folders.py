"""A listing as folders within folders: half the cost of one entry a path, for who only reads.

A scan of a large experiment is mostly its listing, so a file is a few words here, folders are
not asked for their own status, and the part below a folder is the folder itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from msgspec import Struct

from ckptctl.storage.store import Entry


class FolderFile(Struct, frozen=True, gc=False):
    """A file anywhere below a folder."""

    path: str
    """Relative to the folder."""
    size: int
    modified: float | None
    """Seconds since the epoch."""


class Folder(Struct, eq=False):
    """One folder of a listing."""

    files: list[FolderFile] = []
    """Those directly in it, in no order."""
    folders: dict[str, Folder] = {}
    odd: list[str] = []
    """The names of links and special files, which nobody follows or opens."""
    unreadable: str | None = None
    """Why what is in it could not be listed."""

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


def arrange(entries: Iterable[Entry]) -> Folder:
    """The folders that entries lie in; where a path is a file and a folder, both are there."""
    root = Folder()
    known = {"": root}
    for entry in entries:
        parent, _, name = entry.path.rpartition("/")
        if entry.is_dir and not (entry.is_link or entry.is_special):
            folder = _ensure(known, entry.path)
            folder.unreadable = entry.unreadable
        elif entry.is_link or entry.is_special:
            _ensure(known, parent).odd.append(name)
        else:
            file = FolderFile(name, entry.size, entry.modified)
            _ensure(known, parent).files.append(file)
    return root


def _ensure(known: dict[str, Folder], path: str) -> Folder:
    folder = known.get(path)
    if folder is None:
        parent, _, name = path.rpartition("/")
        folder = known[path] = Folder()
        _ensure(known, parent).folders[name] = folder
    return folder
