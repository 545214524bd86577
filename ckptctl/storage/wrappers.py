"""Stores around a store: one that cannot write, and one that counts."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import BinaryIO, cast

from ckptctl.storage.folders import Folder
from ckptctl.storage.store import BulkStore, Capabilities, Entry, Reader, Store


class ReadOnly:
    """The reading half of a store, and no way to the other half."""

    __slots__ = ("_reader",)

    def __init__(self, reader: Reader) -> None:
        self._reader = reader

    @property
    def location(self) -> str:
        """The root as messages name it."""
        return self._reader.location

    @property
    def root(self) -> str:
        """The root as records name it."""
        return self._reader.root

    @property
    def capabilities(self) -> Capabilities:
        """What the store can do."""
        return self._reader.capabilities

    def list_tree(self, prefix: str = "") -> tuple[Entry, ...]:
        """Every entry below `prefix`, in order of path."""
        return self._reader.list_tree(prefix)

    def list_folders(self) -> Folder:
        """Every entry, as folders within folders."""
        return self._reader.list_folders()

    def list_names(self) -> tuple[str, ...]:
        """The names directly in the root."""
        return self._reader.list_names()

    def stat(self, path: str) -> Entry | None:
        """One entry, or None."""
        return self._reader.stat(path)

    def read_bytes(self, path: str, limit: int | None = None) -> bytes:
        """The whole content."""
        return self._reader.read_bytes(path, limit)

    def open_read(self, path: str) -> BinaryIO:
        """A seekable stream of the content."""
        return self._reader.open_read(path)


class Counting:
    """A store that counts the calls that reach it, by name."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self.calls: Counter[str] = Counter()
        """How often each verb was called."""

    @property
    def location(self) -> str:
        """The root as messages name it."""
        return self._store.location

    @property
    def root(self) -> str:
        """The root as records name it."""
        return self._store.root

    @property
    def capabilities(self) -> Capabilities:
        """What the store can do."""
        return self._store.capabilities

    def list_tree(self, prefix: str = "") -> tuple[Entry, ...]:
        """Every entry below `prefix`, in order of path."""
        self.calls["list_tree"] += 1
        return self._store.list_tree(prefix)

    def list_folders(self) -> Folder:
        """Every entry, as folders within folders."""
        self.calls["list_folders"] += 1
        return self._store.list_folders()

    def list_names(self) -> tuple[str, ...]:
        """The names directly in the root."""
        self.calls["list_names"] += 1
        return self._store.list_names()

    def stat(self, path: str) -> Entry | None:
        """One entry, or None."""
        self.calls["stat"] += 1
        return self._store.stat(path)

    def read_bytes(self, path: str, limit: int | None = None) -> bytes:
        """The whole content."""
        self.calls["read_bytes"] += 1
        return self._store.read_bytes(path, limit)

    def open_read(self, path: str) -> BinaryIO:
        """A seekable stream of the content."""
        self.calls["open_read"] += 1
        return self._store.open_read(path)

    def create(self, path: str, data: bytes) -> bool:
        """Write a new file; False where the name exists."""
        self.calls["create"] += 1
        return self._store.create(path, data)

    def replace(self, path: str, data: bytes) -> None:
        """Replace a file's content."""
        self.calls["replace"] += 1
        self._store.replace(path, data)

    def move_tree(self, source: str, target: str) -> None:
        """Move a folder or file."""
        self.calls["move_tree"] += 1
        self._store.move_tree(source, target)

    def remove(self, paths: Iterable[str]) -> None:
        """Remove files and emptied folders."""
        self.calls["remove"] += 1
        self._store.remove(paths)

    def flush(self, parents: Iterable[str]) -> None:
        """Make moves durable."""
        self.calls["flush"] += 1
        self._store.flush(parents)

    def sweep(self, paths: Iterable[str]) -> None:
        """Remove what interrupted replacements left behind."""
        self.calls["sweep"] += 1
        self._store.sweep(paths)

    @property
    def batch(self) -> int:
        """How many objects one call of `discard` should be given."""
        return self._bulk.batch

    def list_objects(self, prefix: str = "") -> tuple[Entry, ...]:
        """Every object below `prefix`."""
        self.calls["list_objects"] += 1
        return self._bulk.list_objects(prefix)

    def copy(self, pairs: Sequence[tuple[Entry, str]]) -> AbstractContextManager[Iterator[Entry]]:
        """Copy objects."""
        self.calls["copy"] += 1
        return self._bulk.copy(pairs)

    def is_copy(self, source: Entry, target: Entry) -> bool:
        """Whether one is a copy of the other."""
        self.calls["is_copy"] += 1
        return self._bulk.is_copy(source, target)

    def discard(self, entries: Sequence[Entry]) -> tuple[Entry, ...]:
        """Delete objects that are still as listed."""
        self.calls["discard"] += 1
        return self._bulk.discard(entries)

    @property
    def _bulk(self) -> BulkStore:
        return cast(BulkStore, self._store)
