"""What the headers of a checkpoint's files say about whether they are whole.

A payload is never loaded: of a zip (torch, Lightning, NumPy, Keras) the directory at its end is
read, of a safetensors file the header, of JSON the text. What cannot be judged within these
limits, or is of no kind that is known, passes.
"""

from __future__ import annotations

import json
import struct
import zipfile
from collections.abc import Callable
from typing import BinaryIO, Final

from ckptctl.codec.reasons import reason_of
from ckptctl.errors import CkptctlError

MAX_JSON: Final = 16 * 1024 * 1024
MAX_HEADER: Final = 32 * 1024 * 1024
"""Bytes that are read of one file, besides JSON."""
MAX_MEMBERS: Final = 100_000

Open = Callable[[], BinaryIO]

_ZIPS = (".npz", ".zip", ".keras")
_MAYBE_ZIPS = (".pt", ".pth", ".ckpt", ".bin", *_ZIPS)
UNREADABLE = (
    zipfile.BadZipFile,
    ValueError,  # of zipfile too, for offsets that lead nowhere
    LookupError,
    TypeError,
    AttributeError,
    OverflowError,
    RecursionError,
    EOFError,
    struct.error,
)
"""What parsers give up with; none of it gets out."""
_LOCAL = b"PK\x03\x04"
_EMPTY = b"PK\x05\x06"


def kind_of(path: str) -> str | None:
    """Which check a file gets, by its name: ``json``, ``safetensors``, ``zip``, or none."""
    name = path.rpartition("/")[2].lower()
    if name.endswith(".json"):
        return "json"
    if name.endswith(".safetensors"):
        return "safetensors"
    return "zip" if name.endswith(_MAYBE_ZIPS) else None


def why_torn(path: str, size: int, open_file: Open) -> str | None:
    """Why a file is not whole; None where it is, or where that cannot be told."""
    kind = kind_of(path)
    if kind is None:
        return None
    if size == 0:
        return "has zero bytes"
    try:
        with open_file() as stream:
            if kind == "json":
                return _json(stream, size)
            budget = Budget(stream, size)
            return _safetensors(budget, size) if kind == "safetensors" else _zip(budget, path, size)
    except (TooMuch, OSError, MemoryError, CkptctlError):
        return None


class TooMuch(Exception):
    """More would have to be read than a header is worth."""


class Budget:
    """A seekable stream that ends the check once too much was read of it."""

    def __init__(self, stream: BinaryIO, size: int) -> None:
        self._stream = stream
        self._size = size
        self._left = MAX_HEADER

    def read(self, count: int = -1) -> bytes:
        """Read, as long as the budget lasts."""
        wanted = self._size if count < 0 else count
        self._left -= min(wanted, self._size)
        if self._left < 0:
            raise TooMuch
        return self._stream.read(wanted)

    def seek(self, offset: int, whence: int = 0) -> int:
        """Go somewhere else."""
        return self._stream.seek(offset, whence)

    def tell(self) -> int:
        """Where the next read begins."""
        return self._stream.tell()

    def seekable(self) -> bool:
        """Whether it can be read in any order."""
        return True


def _json(stream: BinaryIO, size: int) -> str | None:
    if size > MAX_JSON:
        return None
    data = stream.read(MAX_JSON + 1)
    if not data.strip(b"\0"):
        return "holds nothing but zero bytes"
    try:
        json.loads(data)
    except UnicodeDecodeError:
        return "is no text, though it is called JSON"
    except json.JSONDecodeError as error:
        if error.pos >= len(error.doc.rstrip()) or error.msg.startswith("Unterminated"):
            return f"is JSON that is cut off after {len(data):,} bytes"
        return f"is {reason_of(error)}"
    except (ValueError, RecursionError):  # too many digits, too deep: whole all the same
        return None
    return None


def _safetensors(stream: Budget, size: int) -> str | None:
    head = stream.read(8)
    if len(head) < 8:
        return "is cut off within the length of its header"
    (length,) = struct.unpack("<Q", head)
    if length == 0:
        return "has no header"
    if 8 + length > size:
        return f"is cut off within its header: {length:,} bytes of it are told, {size - 8:,} there"
    try:
        header = json.loads(stream.read(length))
        tensors = [t for name, t in header.items() if name != "__metadata__"]
        end = max((int(t["data_offsets"][1]) for t in tensors), default=0)
    except UNREADABLE:
        return "has a header that cannot be read"
    held = size - 8 - length
    return f"is cut off: {end:,} bytes of tensors are told, {held:,} there" if held < end else None


def _zip(stream: Budget, path: str, size: int) -> str | None:
    head = stream.read(8)
    if not head.strip(b"\0"):
        return "begins with zero bytes"
    if not head.startswith((_LOCAL, _EMPTY)) and not _LOCAL.startswith(head):
        # Torch before 1.6 wrote bare pickles, and a .bin may be anything.
        return "is no zip, though it is called one" if path.lower().endswith(_ZIPS) else None
    try:
        return _members(stream, size)
    except NotImplementedError:  # a kind of zip that Python does not read
        return None
    except UNREADABLE:
        return f"is a zip that is cut off: no directory at the end of its {size:,} bytes"


def _members(stream: Budget, size: int) -> str | None:
    with zipfile.ZipFile(stream) as archive:
        members = archive.infolist()
        start = archive.start_dir
    if len(members) > MAX_MEMBERS:
        raise TooMuch
    for member in members:
        if member.header_offset < 0 or member.header_offset + member.compress_size > start:
            return f"is a zip whose {member.filename} lies outside of its {size:,} bytes"
    for member in (members[:1] + members[-1:]) if members else ():
        stream.seek(member.header_offset)
        if stream.read(4) != _LOCAL:
            return f"is a zip in which {member.filename} is not where its directory says"
    return None
