"""What a store of objects asks of a storage service: few calls, each of them one request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol

from msgspec import Struct, field

ABSENT = ""
"""As the version that `put` expects: nothing is there yet."""
SILENCE = 60.0
"""Seconds without a byte after which an answer counts as lost."""
UNTOLD = ""
"""As the version of a copy: nobody has looked at what was copied."""


class Blob(Struct, frozen=True, kw_only=True):
    """One object of a bucket, as a listing or an answer tells of it."""

    key: str
    size: int
    version: str
    """Another one after every write: an ETag or a generation."""
    modified: float | None = None
    """Seconds since the epoch."""
    digest: str | None = None
    """The same for equal contents, after the name of how it was made: ``md5:…``, ``crc32c:…``."""
    kept: tuple[tuple[str, object], ...] = ()
    """What a copy has to be told to be like this one, in the service's own words."""


class Content(Struct, frozen=True, kw_only=True):
    """What was read of an object."""

    data: bytes
    blob: Blob
    """`size` is that of the whole object, whatever part of it was read."""


class Limits(Struct, frozen=True, kw_only=True):
    """What a service takes in one request."""

    single_copy: int
    """Bytes; larger objects are copied in parts or in several calls."""
    deletions: int
    """How many objects one call of `delete` takes."""
    deletions_a_request: int = 1
    """How many of them go into one request."""
    deletions_at_once: int = 1
    """How many calls of `delete` are on their way at once, at most."""
    requests: int = 64
    """How many requests are on their way at once, at most."""


class Answer(Exception):
    """A service that said no, or a connection that said nothing."""

    def __init__(self, status: int, code: str, message: str = "") -> None:
        super().__init__(message or code or str(status))
        self.status = status
        """Of HTTP; 0 where there was no answer."""
        self.code = code
        """The service's own, or one of ours: ``Unreachable``, ``Cut``, ``NoCredentials``."""
        self.message = message


class Conflict(Exception):
    """A precondition did not hold: something is there, or changed."""


class TooLong(Exception):
    """An object is longer than the caller would read."""


class Deleted(Struct, frozen=True, kw_only=True):
    """What became of a deletion; what is gone already counts as deleted."""

    changed: tuple[Blob, ...] = ()
    """Not deleted, since they are no longer what was named."""
    failed: tuple[Blob, ...] = ()
    """Not deleted, and worth another try."""
    error: Answer | None = field(default=None)
    """Why, of one of `failed`."""


class Service(Protocol):
    """A bucket of one service. Calls raise `Answer`, and are made again by who calls them."""

    @property
    def limits(self) -> Limits:
        """What it takes in one request."""

    async def page(
        self, prefix: str, token: str | None, most: int, after: str | None = None
    ) -> tuple[list[Blob], str | None]:
        """Up to `most` objects whose keys begin so, and the token of the next page.

        Without a token only those whose keys come behind `after`.
        """

    async def folders(self, prefix: str, after: str, most: int) -> list[str]:
        """What keys begin with, up to the slash behind `prefix`; up to `most`, behind `after`."""

    async def head(self, key: str) -> Blob | None:
        """One object without its content, or None."""

    async def get(
        self, key: str, *, limit: int | None = None, start: int = 0, length: int | None = None
    ) -> Content:
        """The content from `start` on; TooLong, unread, where there is more than `limit`."""

    async def put(
        self, key: str, data: bytes, *, expect: str | None = None, like: Blob | None = None
    ) -> Blob:
        """Write an object; Conflict where not `expect` is there (ABSENT: nothing)."""

    async def copy(self, source: Blob, key: str) -> Blob:
        """Copy an object that is still `source`, and only to where nothing is; else Conflict.

        Where the version that comes back is UNTOLD, it may be of another content.
        """

    async def delete(self, blobs: Sequence[Blob]) -> Deleted:
        """Delete objects that are still these; an empty version stands for any."""

    async def comparable(self, blob: Blob) -> bool:
        """Whether equal contents really have equal digests, by another look at one."""
