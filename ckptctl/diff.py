"""Two places of one experiment, compared file by file: names, sizes, and what is in them."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any

from msgspec import Struct

from ckptctl.storage.store import Entry, Reader
from ckptctl.storage.together import together

OWN = ".ckptctl"
"""ckptctl's own folder, which is not compared: each place has a history of its own."""
_CHUNK = 1 << 20
_AT_ONCE = 8


class Mark(StrEnum):
    """What is to be said of a name."""

    SAME = "="
    DIFFERS = "*"
    ONLY_A = "+"
    ONLY_B = "-"


class Compared(Struct, frozen=True, kw_only=True):
    """One name, and what both places have under it."""

    path: str
    mark: Mark
    size_a: int | None
    """In bytes; None where there is no such file."""
    size_b: int | None
    reason: str | None = None
    """Of `Mark.DIFFERS`: ``kind``, ``size`` or ``content``."""


class Comparison(Struct, frozen=True, kw_only=True):
    """Two places, and every name of either, in order."""

    a: str
    b: str
    files: tuple[Compared, ...]

    @property
    def identical(self) -> bool:
        """Whether both have the same."""
        return all(one.mark is Mark.SAME for one in self.files)

    def count(self, mark: Mark) -> int:
        """How many names have this mark."""
        return sum(one.mark is mark for one in self.files)


def compare(a: Reader, b: Reader) -> Comparison:
    """Compare everything at two places but ckptctl's own folder.

    Contents are compared by the checksums that storage tells; they are read only where these do
    not settle it. Links are not followed.

    Raises:
        LocationError: something cannot be read.
    """
    left, right = _files(a), _files(b)

    def one(path: str) -> Compared:
        return _compared(path, (a, left.get(path)), (b, right.get(path)))

    at_once = min(_AT_ONCE, max(a.capabilities.max_concurrency, b.capabilities.max_concurrency))
    paths = sorted(left.keys() | right.keys())
    with together(one, paths, at_once) as compared:
        return Comparison(a=a.location, b=b.location, files=tuple(compared))


def _files(reader: Reader) -> Mapping[str, Entry]:
    entries = (e for e in reader.list_tree() if not e.is_dir)
    return {e.path: e for e in entries if e.path.split("/", 1)[0] != OWN}


def _compared(
    path: str, left: tuple[Reader, Entry | None], right: tuple[Reader, Entry | None]
) -> Compared:
    (a, of_a), (b, of_b) = left, right
    if of_a is None or of_b is None:
        mark, reason = (Mark.ONLY_B if of_a is None else Mark.ONLY_A), None
    else:
        reason = _difference((a, of_a), (b, of_b))
        mark = Mark.DIFFERS if reason else Mark.SAME
    return Compared(
        path=path,
        mark=mark,
        size_a=of_a.size if of_a else None,
        size_b=of_b.size if of_b else None,
        reason=reason,
    )


def _difference(left: tuple[Reader, Entry], right: tuple[Reader, Entry]) -> str | None:
    (_, a), (_, b) = left, right
    if (a.is_link, a.is_special) != (b.is_link, b.is_special):
        return "kind"
    if a.is_link or a.is_special:
        return None
    if a.size != b.size:
        return "size"
    return None if a.size == 0 or _same_content(left, right) else "content"


def _same_content(left: tuple[Reader, Entry], right: tuple[Reader, Entry]) -> bool:
    (_, a), (_, b) = left, right
    if a.digest and a.digest == b.digest:
        return True
    # One side is read at most, where the other tells what to find.
    for (reader, entry), known in ((left, b.digest), (right, a.digest)):
        told = entry.digest is None and known is not None and known.startswith("md5:")
        if told and f"md5:{_hash(reader, entry.path, _md5)}" == known:
            return True
    # What storage tells of an encrypted object need not be of its content.
    digests = [_hash(reader, entry.path, hashlib.sha256) for reader, entry in (left, right)]
    return digests[0] == digests[1]


def _md5() -> Any:  # noqa: ANN401 - hashlib does not name its type
    return hashlib.md5(usedforsecurity=False)


def _hash(reader: Reader, path: str, kind: Callable[[], Any]) -> str:
    digest = kind()
    with reader.open_read(path) as stream:
        while data := stream.read(_CHUNK):
            digest.update(data)
    return str(digest.hexdigest())
