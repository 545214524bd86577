"""What every layout offers: it recognises a listing and reads it, and never writes."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack
from typing import TYPE_CHECKING, BinaryIO, ClassVar, Protocol, Self

from msgspec import Struct

from ckptctl.errors import LocationError
from ckptctl.layouts.tree import Tree
from ckptctl.model.experiment import Experiment, RecordFile, RecordKind, RecordRole, Unreadable
from ckptctl.storage.store import Reader
from ckptctl.storage.together import together

if TYPE_CHECKING:
    import hashlib

MAX_STATE_BYTES = 512 * 1024 * 1024
"""Larger state and snapshot files are told as unreadable."""
ALONE = 30
"""The confidence of a layout in a folder that may be a part of something else: it is only asked
for what LOCATION itself names."""
MAX_LOG_BYTES = 4 * 1024 * 1024 * 1024
"""Larger result logs are told as unreadable."""
LONGEST_LINE = 64 * 1024 * 1024
"""Bytes of one line of a log: longer ones are no rows of Ray, and would take as much memory."""
PIECE = 4 * 1024 * 1024
"""Bytes of a log that are read at once."""
ReadMany = Callable[
    [Sequence[tuple[str, int]], int], AbstractContextManager[Iterator[bytes | Exception]]
]
"""Reads files, by path and size, up to a limit: what is in each, or why it cannot be read."""
_KEPT = 32 * 1024 * 1024
"""Bytes of logs of one experiment that are kept, so as not to read them again."""
_AHEAD = 16
"""How many records are read ahead of the one that is looked at, at most."""


class Match(Struct, frozen=True, kw_only=True):
    """How well a layout fits a listing, and why."""

    confidence: int
    """The higher one wins; equal ones are told as a tie."""
    why: str


class Layout(Protocol):
    """One on-disk convention."""

    names: ClassVar[tuple[str, ...]]
    """What `--layout` and documents call it, one name a dialect."""

    def match(self, tree: Tree) -> Match | None:
        """Whether the listing could be of this layout, by names alone."""

    def read(self, tree: Tree, source: Source) -> Experiment:
        """Everything that the files say; trouble with a file is a value in the result."""


class Source:
    """Reads an experiment's records once each, and remembers what was read.

    Nothing is read ahead any more once it is closed; what was not can still be read.
    """

    def __init__(  # noqa: PLR0913 - keyword-only parts of one value
        self,
        reader: Reader,
        tree: Tree,
        *,
        prefix: str,
        location: str,
        root: str,
        collect_globals: bool = False,
        digests: bool = True,
        told: Callable[[str], None] | None = None,
        read_many: ReadMany | None = None,
    ) -> None:
        self._reader = reader
        self._told = told
        self._digests = digests
        self._read_many = read_many
        self._tree = tree
        self._prefix = f"{prefix}/" if prefix else ""
        self.location = location
        """The experiment as messages and commands name it."""
        self.root = root
        """The experiment's own path, as a record of it would have it."""
        self.collect_globals = collect_globals
        """Whether to tell what a reader of the records has to import."""
        self.files: list[RecordFile] = []
        self.problems: list[Unreadable] = []
        self._coming: deque[str] = deque()
        self._kept = 0
        self._found: Iterator[bytes | Exception] = iter(())
        self._ahead = ExitStack()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._coming.clear()
        self._ahead.close()

    def ahead(self, paths: Iterable[str], *, limit: int = MAX_STATE_BYTES) -> None:
        """Name what will be read next, in this order.

        A store that answers many requests at once is asked for the next few meanwhile.
        """
        at_once = min(self._reader.capabilities.max_concurrency, _AHEAD)
        if self._read_many is None and at_once <= 1:
            return
        self._ahead.close()
        coming = [path for path in paths if not self._is_long(path)]
        self._coming = deque(coming)
        if self._read_many is not None:
            files = [(self._prefix + path, self._size(path)) for path in coming]
            found = self._read_many(files, limit)
        else:
            found = together(lambda path: self._try(path, limit), coming, at_once)
        self._found = self._ahead.enter_context(found)

    def _try(self, path: str, limit: int) -> bytes | Exception:
        try:
            return self._reader.read_bytes(self._prefix + path, limit)
        except (LocationError, OSError) as error:
            return error

    def _bytes(self, path: str, limit: int) -> bytes:
        if self._coming and self._coming[0] == path:
            self._coming.popleft()
            found = next(self._found)
        else:
            found = self._try(path, limit)
        if isinstance(found, Exception):
            raise found
        return found

    def _is_long(self, path: str) -> bool:
        return self._size(path) > PIECE

    def _size(self, path: str) -> int:
        entry = self._tree.file(path)
        return entry.size if entry is not None else 0

    def _pieces(self, path: str, limit: int) -> Iterator[bytes]:
        """A log in pieces of whole lines.

        Raises:
            LocationError: a line of it, or all of it, is longer than one may be.
            OSError: the disk fails.
        """
        began: list[bytes] = []
        left, length = limit, 0
        with self._reader.open_read(self._prefix + path) as stream:
            while data := stream.read(PIECE):
                left -= len(data)
                end = data.rfind(b"\n") + 1
                length += data.find(b"\n") if end else len(data)
                if length > LONGEST_LINE:
                    raise self._too_long(path, f"a line longer than {LONGEST_LINE:,} bytes")
                if left < 0:
                    raise self._too_long(path, f"longer than {limit:,} bytes")
                if end:
                    yield b"".join((*began, data[:end]))
                    began, length = [], len(data) - end
                    data = data[end:]
                began.append(data)
        if any(began):
            yield b"".join(began)

    def _too_long(self, path: str, why: str) -> LocationError:
        return LocationError(f"cannot read {self.location}: {path}: {why}", location=self.location)

    def feed(
        self, path: str, kind: RecordKind, role: RecordRole, take: Callable[[bytes], None]
    ) -> bool:
        """Give a log to `take`, in pieces of whole lines where it is a long one.

        False where not all of it can be read, which is then a problem.
        """
        if not self._is_long(path):
            data = self.read(path, kind, role, limit=MAX_LOG_BYTES)
            if data is not None:
                take(data)
            return data is not None
        if self._told is not None:
            self._told(path)
        digest, size = self._begin_digest(), 0
        try:
            for piece in self._pieces(path, MAX_LOG_BYTES):
                if digest is not None:
                    digest.update(piece)
                size += len(piece)
                take(piece)
        except (LocationError, OSError) as error:
            reason = error.message if isinstance(error, LocationError) else str(error)
            self.problems.append(Unreadable(file=path, reason=reason, role=role))
            return False
        self._note(path, kind, role, size, digest)
        return True

    def again(self, path: str) -> Callable[[int, int], bytes]:
        """What reads a part of a record once more: so many bytes from an offset."""

        def fetch(offset: int, size: int) -> bytes:
            with self._reader.open_read(self._prefix + path) as stream:
                stream.seek(offset)
                return stream.read(size)

        return fetch

    def may_keep(self, size: int) -> bool:
        """Whether so many bytes of a log may stay in memory, beside those that do."""
        self._kept += size
        return self._kept <= _KEPT

    @property
    def is_near(self) -> bool:
        """Whether reading something again is cheap; elsewhere it costs a request."""
        return self._reader.capabilities.max_concurrency == 1

    def read(
        self, path: str, kind: RecordKind, role: RecordRole, *, limit: int = MAX_STATE_BYTES
    ) -> bytes | None:
        """The bytes of a record; None where it cannot be read, which is then a problem."""
        if self._told is not None:
            self._told(path)
        try:
            data = self._bytes(path, limit)
        except (LocationError, OSError) as error:
            reason = error.message if isinstance(error, LocationError) else str(error)
            self.problems.append(Unreadable(file=path, reason=reason, role=role))
            return None
        self.remember(path, kind, role, data)
        return data

    def peek(self, path: str, *, limit: int = MAX_STATE_BYTES) -> bytes | None:
        """The bytes of a file that is not read as a record; None where it cannot be read."""
        try:
            return self._reader.read_bytes(self._prefix + path, limit)
        except (LocationError, OSError):
            return None

    def open(self, path: str) -> BinaryIO:
        """A seekable stream of a file that is looked into here and there."""
        if self._told is not None:
            self._told(path)
        return self._reader.open_read(self._prefix + path)

    def remember(
        self, path: str, kind: RecordKind, role: RecordRole, data: bytes | None = None
    ) -> None:
        """Note a record: with its digest where it was read, without where it was only listed."""
        if data is None:
            entry = self._tree.file(path)
            self._note(path, kind, role, entry.size if entry else 0, None)
        else:
            self._note(path, kind, role, len(data), self._begin_digest(data))

    def _begin_digest(self, data: bytes = b"") -> hashlib._Hash | None:
        """What takes the digest of a record, if there is to be one."""
        if not self._digests:
            return None
        import hashlib  # a scan needs none of it

        return hashlib.sha256(data)

    def _note(
        self,
        path: str,
        kind: RecordKind,
        role: RecordRole,
        size: int,
        digest: hashlib._Hash | None,
    ) -> None:
        entry = self._tree.file(path)
        self.files.append(
            RecordFile(
                path=path,
                kind=kind,
                role=role,
                sha256="" if digest is None else digest.hexdigest(),
                size=size,
                modified=entry.modified if entry else None,
            )
        )
