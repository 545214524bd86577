"""A stream over what can only be asked for in pieces."""

from __future__ import annotations

import io
from collections.abc import Callable

from ckptctl.errors import LocationError

Fetch = Callable[[int, int], tuple[bytes, int, str]]
"""From a start and a length to the bytes, the size of the whole, and its version."""

_FIRST, _MOST = 64 << 10, 16 << 20


class Ranged(io.RawIOBase):
    """Reads pieces, larger ones where they follow one another; one version or none."""

    def __init__(self, fetch: Fetch) -> None:
        self._fetch = fetch
        self._at = 0
        self._block, self._start = b"", 0
        self._length = _FIRST
        self._size: int | None = None
        self._version = ""

    def readable(self) -> bool:
        """Whether it can be read."""
        return True

    def seekable(self) -> bool:
        """Whether it can be read in any order."""
        return True

    def tell(self) -> int:
        """Where the next read begins."""
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Go somewhere else."""
        if whence == io.SEEK_CUR:
            offset += self._at
        elif whence == io.SEEK_END:
            offset += self._whole()
        self._at = max(0, offset)
        return self._at

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        """Fill a buffer as far as one piece reaches."""
        if self._at >= self._whole():
            return 0
        if not self._start <= self._at < self._start + len(self._block):
            self._load()
        inside = self._at - self._start
        piece = self._block[inside : inside + len(buffer)]
        buffer[: len(piece)] = piece
        self._at += len(piece)
        return len(piece)

    def _whole(self) -> int:
        if self._size is None:
            self._load()
        return self._size or 0

    def _load(self) -> None:
        follows = bool(self._block) and self._at == self._start + len(self._block)
        self._length = min(2 * self._length, _MOST) if follows else _FIRST
        data, size, version = self._fetch(self._at, self._length)
        if self._version not in ("", version):
            raise LocationError("it changed while it was read")
        self._block, self._start, self._size, self._version = data, self._at, size, version
