"""The narrow waist between ckptctl and where bytes live."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, BinaryIO, Protocol

from msgspec import Struct
from msgspec.structs import astuple

if TYPE_CHECKING:
    from ckptctl.storage.folders import Folder


class Capabilities(Struct, frozen=True, kw_only=True):
    """What a store can do; protocols are chosen from this, never from a URL scheme."""

    atomic_rename: bool
    """A folder moves in one step."""
    atomic_replace: bool
    conditional_create: bool
    """`create` fails, and changes nothing, where the name exists."""
    directories: bool
    """Folders exist by themselves, also empty."""
    max_concurrency: int = 1
    bulk: bool = False
    """Folders move by copies of their objects, many at once: the store is a `BulkStore`."""
    deletions: int = 1
    """How many objects one request deletes, where `bulk`."""


class Entry(Struct, frozen=True, kw_only=True):
    """One file or folder in a listing."""

    path: str
    """Relative to the store's root, with ``/`` between parts."""
    is_dir: bool
    size: int = 0
    modified: float | None = None
    """Seconds since the epoch."""
    file_id: str | None = None
    """Stays the same when the entry moves (device and inode), where the store has one."""
    is_link: bool = False
    """A symbolic link; never followed out of the root."""
    unreadable: str | None = None
    """Why what is in a folder could not be listed."""
    is_special: bool = False
    """Neither file, folder nor link: a FIFO, socket or device. Never opened."""
    version: str | None = None
    """Of an object in a bucket: another one after every write."""
    digest: str | None = None
    """Of an object's content, where the bucket tells one: ``md5:…`` in hex, ``crc32c:…``."""
    kept: tuple[tuple[str, object], ...] = ()
    """What a copy of an object has to be told to be like it; makes no other entry of it."""

    def __eq__(self, other: object) -> bool:
        """Whether both tell the same of the same place."""
        return isinstance(other, Entry) and _told(self) == _told(other)

    def __hash__(self) -> int:
        """As `__eq__` has it."""
        return hash(_told(self))


def _told(entry: Entry) -> tuple[object, ...]:
    return astuple(entry)[:-1]


class Reader(Protocol):
    """The half that scans get: it cannot write."""

    @property
    def location(self) -> str:
        """The root as people and messages name it, without credentials."""

    @property
    def root(self) -> str:
        """The root as records name it: an absolute path, or ``s3://bucket/path``."""

    @property
    def capabilities(self) -> Capabilities:
        """What this store can do."""

    def list_tree(self, prefix: str = "") -> tuple[Entry, ...]:
        """Every entry below `prefix`, in order of path; empty where there is none."""

    def list_folders(self) -> Folder:
        """Every entry, as folders within folders: cheaper than `list_tree` where it can be."""

    def list_names(self) -> tuple[str, ...]:
        """The names directly in the root, sorted: cheaper than `list_tree` where it can be."""

    def stat(self, path: str) -> Entry | None:
        """One entry, or None."""

    def read_bytes(self, path: str, limit: int | None = None) -> bytes:
        """The whole content; `LocationError` where it is longer than `limit` bytes."""

    def open_read(self, path: str) -> BinaryIO:
        """A seekable stream of the content."""


class Store(Reader, Protocol):
    """The half that only the journal and the executor get."""

    def create(self, path: str, data: bytes) -> bool:
        """Write a new file durably, making its parents; False where the name exists."""

    def replace(self, path: str, data: bytes) -> None:
        """Replace a file's content atomically and durably, keeping its mode."""

    def move_tree(self, source: str, target: str) -> None:
        """Move a folder or file; `FileExistsError` where `target` exists (even empty)."""

    def remove(self, paths: Iterable[str]) -> None:
        """Remove files (and, where they are then empty, the folders named)."""

    def flush(self, parents: Iterable[str]) -> None:
        """Make moves below these folders durable."""

    def sweep(self, paths: Iterable[str]) -> None:
        """Remove what an interrupted `replace` of these files left beside them."""


class BulkStore(Store, Protocol):
    """A store whose folders move by copying and deleting, object by object.

    Entries are those of its own listings. Folders among them are marker objects.
    """

    @property
    def batch(self) -> int:
        """How many objects one call of `discard` should be given."""

    @property
    def unchecked(self) -> bool:
        """Whether copies were made whose content is to be compared, by `is_copy`, in a listing."""

    def list_objects(self, prefix: str = "") -> tuple[Entry, ...]:
        """Every object below `prefix`, in order of path, and no folder without one."""

    def copy(self, pairs: Sequence[tuple[Entry, str]]) -> AbstractContextManager[Iterator[Entry]]:
        """Copy objects to paths where nothing is; each comes back once it is copied.

        The copies are known to be good unless `unchecked` says otherwise.
        What is on its way when the context is left is given up.

        Raises:
            StalePlanError: one changed since it was listed, or something is at its target.
        """

    def is_copy(self, source: Entry, target: Entry) -> bool:
        """Whether the content at `target` is that of `source`, as far as can be told unread."""

    def discard(self, entries: Sequence[Entry]) -> tuple[Entry, ...]:
        """Delete objects that are still as listed; those that are not come back."""
