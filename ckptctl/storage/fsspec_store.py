"""A store over any other fsspec file system; a folder moves by copy, check and delete."""

from __future__ import annotations

import errno
import os
import posixpath
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from typing import Any, BinaryIO, cast

from msgspec.structs import replace

from ckptctl.errors import CkptctlError, LocationError
from ckptctl.storage.folders import Folder, arrange
from ckptctl.storage.store import Capabilities, Entry
from ckptctl.storage.trouble import trouble

_BUCKETS = frozenset({"abfs", "abfss", "az", "oci", "oss", "r2"})
_CREATES = frozenset({"memory"})
_TAKEN = frozenset({"PreconditionFailed", "ConditionalRequestConflict", "412", "409"})
_GLOB = frozenset("*?[")
_TIMES = ("mtime", "LastModified", "last_modified", "updated", "modified", "created")
# The memory file system looks and then writes, so threads could both win.
_IN_PROCESS = threading.Lock()


class FsspecStore:
    """Everything below one path of a file system, which must not cache its listings."""

    def __init__(self, fs: Any, root: str, *, scheme: str, location: str) -> None:  # noqa: ANN401
        self._fs = fs
        self._base = root.rstrip("/")
        self._scheme = scheme
        self._location = location
        self._has_folders = scheme not in _BUCKETS
        self._capabilities = Capabilities(
            atomic_rename=False,
            atomic_replace=scheme in _BUCKETS or scheme == "memory",
            conditional_create=scheme in _CREATES,
            directories=self._has_folders,
            max_concurrency=32 if getattr(fs, "async_impl", False) else 1,
        )

    @property
    def location(self) -> str:
        """The root as the user wrote it, without credentials."""
        return self._location

    @property
    def root(self) -> str:
        """The root as records name it: ``s3://bucket/path``."""
        return f"{self._scheme}://{self._base.lstrip('/')}"

    @property
    def capabilities(self) -> Capabilities:
        """What this file system can do."""
        return self._capabilities

    def require_folder(self) -> None:
        """Raise LocationError unless the root is there, and is no file."""
        with self._translated("cannot open"):
            if self._fs.isfile(self._base):
                cause, hint = "a file, not a folder", "name the folder that holds it"
            elif not self._fs.exists(self._base or "/"):
                cause, hint = "not there", "check the spelling"
            else:
                return
        raise LocationError(
            f"cannot open {self.location}: {cause}", hint=hint, location=self.location
        )

    def list_tree(self, prefix: str = "") -> tuple[Entry, ...]:
        """Every entry below `prefix`, in order of path; empty where there is none."""
        start = self._key(prefix) if prefix else self._base
        found: dict[str, Entry] = {}
        with self._translated("cannot read", prefix):
            try:
                listed = self._fs.find(start or "/", detail=True, withdirs=True)
            except FileNotFoundError:
                return ()
        for name, info in cast(Mapping[str, Mapping[str, Any]], listed).items():
            path = name[len(self._base) + 1 :].rstrip("/")
            if not path or path == prefix:
                continue
            found[path] = _entry(path, info)
            self._add_parents(path, prefix, found)
        return tuple(found[path] for path in sorted(found))

    def list_folders(self) -> Folder:
        """Every entry, as folders within folders."""
        return arrange(self.list_tree())

    def list_names(self) -> tuple[str, ...]:
        """The names directly in the root, sorted."""
        with self._translated("cannot read"):
            found = cast(Sequence[str], self._fs.ls(self._base or "/", detail=False))
        return tuple(sorted({name.rstrip("/").rpartition("/")[2] for name in found}))

    def stat(self, path: str) -> Entry | None:
        """One entry, or None."""
        with self._translated("cannot read", path):
            try:
                return _entry(path, self._fs.info(self._key(path)))
            except FileNotFoundError:
                return None

    def read_bytes(self, path: str, limit: int | None = None) -> bytes:
        """The whole content; LocationError where it is longer than `limit` bytes."""
        key = self._key(path)
        with self._translated("cannot read", path):
            if limit is not None and self._fs.info(key)["size"] > limit:
                raise LocationError(
                    f"cannot read {self.location}: {path}: longer than {limit} bytes",
                    location=self.location,
                )
            return bytes(self._fs.cat_file(key))

    def open_read(self, path: str) -> BinaryIO:
        """A seekable stream of the content."""
        with self._translated("cannot read", path):
            return cast(BinaryIO, self._fs.open(self._key(path), "rb"))

    def create(self, path: str, data: bytes) -> bool:
        """Write a new file; False where the name exists."""
        key = self._key(path)
        with self._translated("cannot write", path):
            self._make_parents(key)
            try:
                with _IN_PROCESS:
                    self._fs.pipe_file(key, data, mode="create")
            except OSError as error:
                if isinstance(error, FileExistsError) or _is_taken(error):
                    return False
                raise
        return True

    def replace(self, path: str, data: bytes) -> None:
        """Replace a file's content."""
        with self._translated("cannot write", path):
            self._fs.pipe_file(self._key(path), data)

    def move_tree(self, source: str, target: str) -> None:
        """Copy a folder or file, check the copy, and only then delete what was copied.

        Raises:
            FileExistsError: something is at `target`.
            LocationError: it cannot be read or written; what was copied is taken away.
        """
        with self._translated("cannot move", source):
            if self._occupied(target):
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), target)
            entries = self._tree(source)
            if not entries:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), source)
            moved = {
                e.path: target + e.path[len(source) :]
                for e in entries
                if self._has_folders or not e.is_dir
            }
            try:
                self._copy(entries, moved)
                self._check_copy(entries, moved, target)
            except Exception:
                self.remove(moved.values())
                raise
            self.remove(moved)

    def remove(self, paths: Iterable[str]) -> None:
        """Remove files (and, where they are then empty, the folders named)."""
        keys = [self._key(path) for path in paths]
        with self._translated("cannot remove"):
            if not self._has_folders:
                self._delete(keys)
                return
            folders = [key for key in keys if self._fs.isdir(key)]
            self._delete([key for key in keys if key not in set(folders)])
            for key in sorted(folders, key=len, reverse=True):
                with suppress(FileNotFoundError):
                    if not self._fs.ls(key, detail=False):
                        self._fs.rmdir(key)

    def flush(self, parents: Iterable[str]) -> None:
        """Nothing to do: every call is durable when it returns."""

    def sweep(self, paths: Iterable[str]) -> None:
        """Nothing to do: `replace` writes nothing beside the file."""

    def _tree(self, source: str) -> tuple[Entry, ...]:
        """What lies at and below `source`."""
        below = self.list_tree(source)
        top = self.stat(source)
        if top is None or (top.is_dir and not self._has_folders):
            return below
        return (top, *below)

    def _copy(self, entries: Iterable[Entry], moved: Mapping[str, str]) -> None:
        files = [e.path for e in entries if not e.is_dir]
        for entry in entries:
            if entry.is_dir and entry.path in moved:
                self._fs.makedirs(self._key(moved[entry.path]), exist_ok=True)
        for path in files:
            self._make_parents(self._key(moved[path]))
        sources = [self._key(path) for path in files]
        # Two lists are taken as they are: names with brackets are no patterns then.
        self._fs.copy(sources, [self._key(moved[p]) for p in files], on_error="raise")

    def _check_copy(self, entries: Iterable[Entry], moved: Mapping[str, str], target: str) -> None:
        copied = {e.path: e.size for e in self._tree(target)}
        for entry in entries:
            if not entry.is_dir and copied.get(moved[entry.path]) != entry.size:
                raise OSError(f"the copy of {entry.path} has another size")

    def _occupied(self, path: str) -> bool:
        key = self._key(path)
        if self._has_folders:
            return bool(self._fs.exists(key))
        # A bucket may go on listing a prefix for a while after its last key is gone.
        found = self._fs.find(key, detail=True).items()
        return any(not _entry(name, info).is_dir for name, info in found)

    def _delete(self, keys: list[str]) -> None:
        """Delete keys, whether they exist or not."""
        plain = [key for key in keys if not _GLOB & set(key)]
        if plain and self._capabilities.max_concurrency > 1:
            # In one request; where a key was missing, the rest is deleted one by one.
            with suppress(FileNotFoundError):
                self._fs.rm(plain)
                keys = [key for key in keys if _GLOB & set(key)]
        for key in keys:
            with suppress(FileNotFoundError):
                self._fs.rm_file(key)

    def _make_parents(self, key: str) -> None:
        if self._has_folders:
            self._fs.makedirs(posixpath.dirname(key), exist_ok=True)

    def _add_parents(self, path: str, prefix: str, found: dict[str, Entry]) -> None:
        parent = posixpath.dirname(path)
        while len(parent) > len(prefix) and parent not in found:
            found[parent] = Entry(path=parent, is_dir=True)
            parent = posixpath.dirname(parent)

    def _key(self, path: str) -> str:
        if any(part in ("", ".", "..") for part in path.split("/")):
            raise LocationError(
                f"cannot use {self.location}: {path}: not a path inside the location",
                location=self.location,
            )
        return f"{self._base}/{path}"

    @contextmanager
    def _translated(self, what: str, path: str = "") -> Iterator[None]:
        try:
            yield
        except (CkptctlError, FileExistsError):
            raise
        except Exception as error:  # drivers raise what they like
            raise trouble(error, what, self.location, path) from error


def _is_taken(error: OSError) -> bool:
    """Whether a bucket said that the name exists; not all of them say so in s3fs's words."""
    response = getattr(error.__cause__, "response", None)
    if not isinstance(response, Mapping):
        return False
    return response.get("Error", {}).get("Code") in _TAKEN


def _entry(path: str, info: Mapping[str, Any]) -> Entry:
    is_dir = info.get("type") == "directory" or str(info.get("name", "")).endswith("/")
    entry = Entry(path=path, is_dir=is_dir, is_special=info.get("type") == "other")
    if is_dir:
        return entry
    times = (_seconds(info.get(key)) for key in _TIMES)
    return replace(
        entry,
        size=int(info.get("size") or 0),
        modified=next((t for t in times if t is not None), None),
    )


def _seconds(value: object) -> float | None:
    if isinstance(value, datetime):
        return value.replace(tzinfo=value.tzinfo or UTC).timestamp()
    if isinstance(value, int | float):
        return float(value)
    if isinstance(value, str):
        with suppress(ValueError):
            return _seconds(datetime.fromisoformat(value))
    return None
