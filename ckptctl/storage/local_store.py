"""A store on a file system of this machine: atomic renames, durable writes, no links."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import BinaryIO

from msgspec.structs import replace

from ckptctl.errors import LocationError
from ckptctl.storage import local_files
from ckptctl.storage.folders import Folder
from ckptctl.storage.local_walk import HIDING, frontier, walk, walk_some
from ckptctl.storage.parts import Division, Part
from ckptctl.storage.store import Capabilities, Entry
from ckptctl.storage.trouble import trouble

_CAPABILITIES = Capabilities(
    atomic_rename=True, atomic_replace=True, conditional_create=True, directories=True
)
_FOLDERS = 256
"""In one part of a listing, at most: a part that is lost is walked again."""


class LocalStore:
    """Everything below one folder. Paths are relative to it, with ``/`` between parts."""

    def __init__(self, root: str, *, location: str | None = None) -> None:
        self._root = os.path.abspath(root)
        self._location = root if location is None else location

    @classmethod
    def open(cls, root: str, *, location: str | None = None) -> LocalStore:
        """The store of a folder that exists. Raises LocationError where it does not."""
        store = cls(root, location=location)
        with store._translated("cannot open"):
            if not stat.S_ISDIR(os.stat(store._root).st_mode):
                raise LocationError(
                    f"cannot open {store.location}: a file, not a folder",
                    hint="name the folder that holds it",
                    location=store.location,
                )
        return store

    @property
    def location(self) -> str:
        """The root as the user wrote it."""
        return self._location

    @property
    def root(self) -> str:
        """The root as an absolute path; links in it are left as they are."""
        return self._root

    @property
    def capabilities(self) -> Capabilities:
        """What a local file system can do."""
        return _CAPABILITIES

    def list_tree(self, prefix: str = "") -> tuple[Entry, ...]:
        """Every entry below `prefix`, in order of path; what vanishes meanwhile is left out."""
        start = self._full(prefix) if prefix else self._root
        with self._translated("cannot read", prefix):
            if prefix and not (_is_folder(start) and self._is_plain(prefix)):
                return ()
            entries = _walk(start, f"{prefix}/" if prefix else "")
        return tuple(entries[path] for path in sorted(entries))

    def list_folders(self) -> Folder:
        """Every entry, as folders within folders; what vanishes meanwhile is left out."""
        with self._translated("cannot read"):
            return walk(self._root)

    def divide(self, most: int) -> Division | None:
        """Divide what lies in folders that are not looked into yet; the first levels are."""
        with self._translated("cannot read"):
            known, folders = frontier(self._root)
        size = min(max(1, -(-len(folders) // most)), _FOLDERS)
        parts = (
            Part(folders=tuple(some))
            for some in (folders[n : n + size] for n in range(0, len(folders), size))
        )
        return Division(known=known, parts=tuple(parts))

    def list_part(self, part: Part) -> Folder | None:
        """Walk the folders of a part, each in its place; None where one is not there."""
        with self._translated("cannot read"):
            found = walk_some(self._root, part.folders)
            return found if all(_is_folder(self._full(p)) for p in part.folders) else None

    def list_names(self) -> tuple[str, ...]:
        """The names directly in the root, sorted."""
        with self._translated("cannot read"):
            return tuple(sorted(os.listdir(self._root)))

    def stat(self, path: str) -> Entry | None:
        """One entry, links not followed, or None."""
        with self._translated("cannot read", path):
            try:
                return _entry(path, os.lstat(self._full(path)))
            except (FileNotFoundError, NotADirectoryError):
                return None

    def read_bytes(self, path: str, limit: int | None = None) -> bytes:
        """The whole content; LocationError where it is longer than `limit` bytes."""
        with self._translated("cannot read", path):
            handle = self._open(path)
            try:
                data = local_files.read_all(handle, limit)
            finally:
                os.close(handle)
        if limit is not None and len(data) > limit:
            raise self._refuse("cannot read", path, f"longer than {limit} bytes")
        return data

    def open_read(self, path: str) -> BinaryIO:
        """A seekable stream of a regular file; a link counts only if it stays in the root."""
        with self._translated("cannot read", path):
            return os.fdopen(self._open(path), "rb")

    def _open(self, path: str) -> int:
        self._full(path)  # refuses what is no path in here
        # Without O_NONBLOCK a FIFO put there meanwhile would hang us.
        flags = os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC
        handle = local_files.open_unlinked(f"{self._real_root}/{path}", flags)
        if handle is None:
            handle = os.open(self._followed(path, "cannot read"), flags)
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            os.close(handle)
            raise self._refuse("cannot read", path, "not a regular file")
        return handle

    @cached_property
    def _real_root(self) -> str:
        return os.path.realpath(self._root).rstrip("/")

    def create(self, path: str, data: bytes) -> bool:
        """Write a new file durably, making its parents; False where the name exists."""
        full = self._writable(path)
        with self._translated("cannot write", path):
            try:
                return self._create(full, data)
            except FileNotFoundError:
                # Another run took the folder away, which was empty, before we wrote into it.
                return self._create(full, data)

    def replace(self, path: str, data: bytes) -> None:
        """Replace a file's content atomically and durably, keeping mode and owner."""
        self._writable(path)
        with self._translated("cannot write", path):
            full = self._followed(path, "cannot write")
            if not stat.S_ISREG(os.lstat(full).st_mode):
                raise self._refuse("cannot write", path, "not a regular file")
            local_files.replace_file(full, data)

    def move_tree(self, source: str, target: str) -> None:
        """Move a folder or file; FileExistsError where `target` exists (even empty)."""
        if source.rpartition("/")[0] == target.rpartition("/")[0]:
            # A new name in the same folder, as nearly all moves are: one look at what is above.
            old, new = self._writable(source), self._full(target)
            with self._translated("cannot move", source):
                local_files.rename_noreplace(old, new)
            return
        old, new = self._writable(source), self._writable(target)
        with self._translated("cannot move", source):
            os.lstat(old)
            made = local_files.make_folders(os.path.dirname(new))
            try:
                local_files.rename_noreplace(old, new)
            except OSError:
                for folder in reversed(made):
                    with suppress(OSError):
                        local_files.remove_if_empty(folder)
                raise
            for folder in made:
                local_files.sync_folder(os.path.dirname(folder))

    def remove(self, paths: Iterable[str]) -> None:
        """Remove files (and, where they are then empty, the folders named)."""
        folders: list[str] = []
        for path in paths:
            full = self._writable(path)
            with self._translated("cannot remove", path), suppress(FileNotFoundError):
                if _is_folder(full):
                    folders.append(full)
                else:
                    os.unlink(full)
        # The longest path first: a folder comes after everything in it.
        for full in sorted(folders, key=len, reverse=True):
            with self._translated("cannot remove", full[len(self._root) + 1 :]):
                local_files.remove_if_empty(full)

    def flush(self, parents: Iterable[str]) -> None:
        """Make the names in these folders durable, and those of the folders themselves."""
        folders = {self._full(path) if path else self._root for path in parents}
        folders |= {os.path.dirname(f) for f in folders if f != self._root}
        for full in sorted(folders):
            with self._translated("cannot write"):
                local_files.sync_folder(full)

    def sweep(self, paths: Iterable[str]) -> None:
        """Remove what an interrupted `replace` of these files left beside them."""
        for path in paths:
            with self._translated("cannot remove", path), suppress(FileNotFoundError):
                full = self._followed(path, "cannot remove")
                os.unlink(local_files.beside(full))

    def _create(self, full: str, data: bytes) -> bool:
        made = local_files.make_folders(os.path.dirname(full))
        created = local_files.create_file(full, data)
        for folder in made:
            local_files.sync_folder(os.path.dirname(folder))
        return created

    def _full(self, path: str) -> str:
        if any(part in ("", ".", "..") for part in path.split("/")) or "\0" in path:
            raise self._refuse("cannot use", path, "not a path inside the location")
        return f"{self._root.rstrip('/')}/{path}"

    def _is_plain(self, path: str) -> bool:
        """Whether no folder between the root and `path` is a link."""
        full, parts = self._root, path.split("/")[:-1]
        for part in parts:
            full = f"{full}/{part}"
            if os.path.islink(full):
                return False
        return True

    def _writable(self, path: str) -> str:
        full = self._full(path)
        if not self._is_plain(path):
            raise self._refuse("cannot write", path, "a folder on the way is a symbolic link")
        return full

    def _followed(self, path: str, what: str) -> str:
        """Where the bytes of `path` lie, which must be inside the root."""
        full = self._full(path)
        real, base = os.path.realpath(full), os.path.realpath(self._root)
        if real == f"{base}/{path}":
            return full
        if os.path.commonpath((real, base)) != base:
            raise self._refuse(what, path, "a symbolic link leads out of the location")
        return real

    def _refuse(self, what: str, path: str, cause: str) -> LocationError:
        return LocationError(f"{what} {self.location}: {path}: {cause}", location=self.location)

    @contextmanager
    def _translated(self, what: str, path: str = "") -> Iterator[None]:
        try:
            yield
        except FileExistsError:
            raise
        except OSError as error:
            raise trouble(error, what, self.location, path) from error


def _is_folder(full: str) -> bool:
    try:
        return stat.S_ISDIR(os.lstat(full).st_mode)
    except (FileNotFoundError, NotADirectoryError):
        return False


def _entry(path: str, info: os.stat_result) -> Entry:
    mode = info.st_mode
    is_dir, is_link = stat.S_ISDIR(mode), stat.S_ISLNK(mode)
    return Entry(
        path=path,
        is_dir=is_dir,
        size=0 if is_dir else info.st_size,
        modified=info.st_mtime,
        file_id=f"{info.st_dev}:{info.st_ino}",
        is_link=is_link,
        is_special=not (is_dir or is_link or stat.S_ISREG(mode)),
    )


def _walk(start: str, prefix: str) -> dict[str, Entry]:
    """The entries by path; a folder that may not be read hides nothing but what is in it."""
    entries: dict[str, Entry] = {}
    waiting = [(start, prefix)]
    while waiting:
        full, here = waiting.pop()
        try:
            with os.scandir(full) as found:
                items = list(found)
        except (FileNotFoundError, NotADirectoryError):
            continue
        except OSError as error:
            if here == prefix or error.errno not in HIDING:
                raise
            own = here.rstrip("/")
            entries[own] = replace(entries[own], unreadable=HIDING[error.errno])
            continue
        for item in items:
            path = here + item.name
            try:
                entry = _entry(path, item.stat(follow_symlinks=False))
            except FileNotFoundError:
                continue
            except OSError as error:
                if error.errno not in HIDING:
                    raise
                entry = Entry(path=path, is_dir=False, unreadable=HIDING[error.errno])
            entries[path] = entry
            if entry.is_dir:
                waiting.append((item.path, f"{path}/"))
    return entries
