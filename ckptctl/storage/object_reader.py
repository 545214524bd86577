"""What is in a bucket, read as folders and files: names with slashes, and no folders."""

from __future__ import annotations

import io
import posixpath
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import BinaryIO, TypeVar, cast

from ckptctl.errors import CkptctlError, LocationError
from ckptctl.storage.folders import Collector, Folder
from ckptctl.storage.loop import wait_for
from ckptctl.storage.object_listing import (
    Take,
    Unsorted,
    divide,
    list_blobs,
    list_in_turn,
    list_part,
)
from ckptctl.storage.parts import Division, Part
from ckptctl.storage.ranged import Ranged
from ckptctl.storage.retrying import Pace, retrying
from ckptctl.storage.service import Answer, Blob, Service, TooLong
from ckptctl.storage.store import Capabilities, Entry
from ckptctl.storage.trouble import refused, trouble

T = TypeVar("T")

_NOTHING_THERE = 416
"""How a part of an empty object is answered."""


class ObjectReader:
    """Lists and reads what is below one prefix of a bucket. Nothing comes from a cache."""

    def __init__(self, service: Service, base: str, *, root: str, location: str) -> None:
        self._service = service
        self._base = base.strip("/")
        self._start = f"{self._base}/" if self._base else ""
        self._root = root
        self._location = location
        self._pace = Pace(service.limits.requests)
        self._read: dict[str, Blob] = {}
        """Objects as they were when last read: what `replace` may replace."""
        self._capabilities = Capabilities(
            atomic_rename=False,
            atomic_replace=True,
            conditional_create=True,
            directories=False,
            max_concurrency=service.limits.requests,
            bulk=True,
            deletions=service.limits.deletions_a_request,
        )

    @property
    def location(self) -> str:
        """The root as the user wrote it, without credentials."""
        return self._location

    @property
    def root(self) -> str:
        """The root as records name it: ``s3://bucket/path``."""
        return self._root

    @property
    def capabilities(self) -> Capabilities:
        """What a bucket can do."""
        return self._capabilities

    def require_folder(self) -> None:
        """Raise LocationError unless something is below the root."""
        with self._translated("cannot open"):
            found, _ = self._call(lambda: self._service.page(self._start, None, 1))
            if found or not self._base:
                return
            if self._call(lambda: self._service.head(self._base)) is None:
                cause, hint = "not there", "check the spelling"
            else:
                cause, hint = "a file, not a folder", "name the folder that holds it"
        raise LocationError(
            f"cannot open {self.location}: {cause}", hint=hint, location=self.location
        )

    def list_objects(self, prefix: str = "") -> tuple[Entry, ...]:
        """Every object below `prefix`, in order of path, and no folder without one."""
        start = f"{self._key(prefix)}/" if prefix else self._start
        found: list[Blob] = []
        self._list(start, found.extend, found.clear)
        entries = map(self._entry, found)
        return tuple(sorted((e for e in entries if e.path), key=lambda entry: entry.path))

    def list_tree(self, prefix: str = "") -> tuple[Entry, ...]:
        """Every entry below `prefix`, in order of path; folders are what names imply."""
        found: dict[str, Entry] = {}
        for entry in self.list_objects(prefix):
            # A file and a folder may share a name here; what can be read comes first.
            if entry.path != prefix and (entry.path not in found or not entry.is_dir):
                found[entry.path] = entry
                _add_parents(entry.path, prefix, found)
        return tuple(found[path] for path in sorted(found))

    def list_folders(self) -> Folder:
        """Every entry, as folders within folders."""
        collector = _Folders(len(self._start))
        self._list(self._start, collector.take, collector.clear)
        return collector.folders()

    def divide(self, most: int) -> Division | None:
        """Divide the listing into ranges of keys, each of whole folders."""
        with self._translated("cannot read"):
            parts = wait_for(divide(self._service, self._pace, self._start, most))
        return Division(known=Folder(), parts=parts) if parts else None

    def list_part(self, part: Part) -> Folder | None:
        """List one range, each folder in its place; None where it is not what it was."""
        collector = _Folders(len(self._start))
        with self._translated("cannot read"):
            try:
                wait_for(list_part(self._service, self._pace, self._start, part, collector.take))
            except Unsorted:
                return None
        return collector.folders()

    def list_names(self) -> tuple[str, ...]:
        """The names directly in the root, sorted; a bucket is listed whole either way."""
        return tuple(sorted({e.path for e in self.list_tree() if "/" not in e.path}))

    def stat(self, path: str) -> Entry | None:
        """One entry, or None."""
        key = self._key(path)
        with self._translated("cannot read", path):
            blob = self._call(lambda: self._service.head(key))
            if blob is not None:
                return self._entry(blob)
            below, _ = self._call(lambda: self._service.page(f"{key}/", None, 1))
        return Entry(path=path, is_dir=True) if below else None

    def read_bytes(self, path: str, limit: int | None = None) -> bytes:
        """The whole content; LocationError where it is longer than `limit` bytes."""
        key = self._key(path)
        with self._translated("cannot read", path):
            try:
                found = self._call(lambda: self._service.get(key, limit=limit))
            except TooLong as error:
                raise self._refuse("cannot read", path, f"longer than {limit} bytes") from error
        self._read[path] = found.blob
        return found.data

    def open_read(self, path: str) -> BinaryIO:
        """A seekable stream of the content, fetched in pieces."""
        key = self._key(path)

        def fetch(start: int, length: int) -> tuple[bytes, int, str]:
            with self._translated("cannot read", path):
                try:
                    found = self._call(lambda: self._service.get(key, start=start, length=length))
                except Answer as error:
                    if error.status == _NOTHING_THERE and start == 0:
                        return b"", 0, ""
                    raise
            return found.data, found.blob.size, found.blob.version

        return cast(BinaryIO, io.BufferedReader(Ranged(fetch), 1))

    def _call(self, call: Callable[[], Awaitable[T]]) -> T:
        return wait_for(retrying(call, self._pace))

    def _list(self, start: str, take: Take, clear: Callable[[], None]) -> None:
        """Give what is below a prefix to `take`, after `clear` once more from the beginning."""
        with self._translated("cannot read", start[len(self._start) :].removesuffix("/")):
            try:
                wait_for(list_blobs(self._service, self._pace, start, take))
            except Unsorted:
                clear()
                wait_for(list_in_turn(self._service, self._pace, start, take))

    def _entry(self, blob: Blob) -> Entry:
        path = blob.key[len(self._start) :]
        is_dir = path.endswith("/")
        path = path.removesuffix("/")
        return Entry(
            path=path,
            is_dir=is_dir,
            size=0 if is_dir else blob.size,
            modified=blob.modified,
            # A name that no path on a disk could have is left alone.
            is_special=any(part in ("", ".", "..") for part in path.split("/")),
            version=blob.version,
            digest=blob.digest,
            kept=blob.kept,
        )

    def _key(self, path: str) -> str:
        if any(part in ("", ".", "..") for part in path.split("/")):
            raise self._refuse("cannot use", path, "not a path inside the location")
        return self._start + path

    def _refuse(self, what: str, path: str, cause: str) -> LocationError:
        return LocationError(f"{what} {self.location}: {path}: {cause}", location=self.location)

    @contextmanager
    def _translated(self, what: str, path: str = "") -> Iterator[None]:
        try:
            yield
        except (CkptctlError, FileExistsError):
            raise
        except Answer as error:
            raise refused(error, what, self.location, path) from error
        except Exception as error:  # drivers raise what they like
            raise trouble(error, what, self.location, path) from error


class _Folders:
    """Makes folders of what a listing tells, in any order; nothing is kept for an object."""

    def __init__(self, skipped: int) -> None:
        self._skipped = skipped
        """Characters of each key that are not of the path."""
        self._collected = Collector()
        self._markers: list[str] = []

    def clear(self) -> None:
        """Forget all of it."""
        self._collected = Collector()
        self._markers = []

    def take(self, blobs: Sequence[Blob]) -> None:
        """Some more of it."""
        for blob in blobs:
            path = blob.key[self._skipped :]
            if path.endswith("/"):
                self._markers.append(path.removesuffix("/"))
            elif path:
                self._collected.file(path, blob.size, blob.modified)

    def folders(self) -> Folder:
        """What it comes to. Where a file has the name of a marker, there is only the file."""
        for path in self._markers:
            if path and not self._collected.has(path):
                self._collected.folder(path)
        return self._collected.root()


def _add_parents(path: str, prefix: str, found: dict[str, Entry]) -> None:
    parent = posixpath.dirname(path)
    while len(parent) > len(prefix) and parent not in found:
        found[parent] = Entry(path=parent, is_dir=True)
        parent = posixpath.dirname(parent)
