"""What every layout offers: it recognises a listing and reads it, and never writes."""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO, ClassVar, Protocol

from msgspec import Struct

from ckptctl.errors import LocationError
from ckptctl.layouts.tree import Tree
from ckptctl.model.experiment import Experiment, RecordFile, RecordKind, RecordRole, Unreadable
from ckptctl.storage.store import Reader
from ckptctl.storage.together import together

MAX_STATE_BYTES = 512 * 1024 * 1024
"""Larger state and snapshot files are told as unreadable."""
ALONE = 30
"""The confidence of a layout in a folder that may be a part of something else: it is only asked
for what LOCATION itself names."""
MAX_LOG_BYTES = 4 * 1024 * 1024 * 1024
LONGEST_LINE = 64 * 1024 * 1024
"""Bytes of one line of a log: longer ones are no rows of Ray, and would take as much memory."""
_PIECE = 1024 * 1024
_LOGS = (RecordRole.RESULT_LOG, RecordRole.PROGRESS)
"""Larger result logs are told as unreadable."""
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
    """Reads an experiment's records once each, and remembers what was read."""

    def __init__(  # noqa: PLR0913 - keyword-only parts of one value
        self,
        reader: Reader,
        tree: Tree,
        *,
        prefix: str,
        location: str,
        root: str,
        collect_globals: bool = False,
        told: Callable[[str], None] | None = None,
    ) -> None:
        self._reader = reader
        self._told = told
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
        self._found: Iterator[bytes | Exception] = iter(())

    def ahead(self, paths: Iterable[str], *, limit: int = MAX_STATE_BYTES) -> None:
        """Name what will be read next, in this order.

        A store that answers many requests at once is asked for the next few meanwhile.
        """
        at_once = min(self._reader.capabilities.max_concurrency, _AHEAD)
        if at_once > 1:
            self._coming = deque(path for path in paths if not self._may_have_long_lines(path))
            # The list is of its own, since the queue shrinks while it is gone through.
            self._found = together(lambda p: self._try(p, limit), list(self._coming), at_once)

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

    def _may_have_long_lines(self, path: str) -> bool:
        entry = self._tree.file(path)
        return entry is not None and entry.size > LONGEST_LINE

    def _measure(self, path: str) -> None:
        """Raise LocationError where a line of a log is longer than one may be."""
        length = 0
        with self._reader.open_read(self._prefix + path) as stream:
            while piece := stream.read(_PIECE):
                first, *others = piece.split(b"\n")
                length += len(first)
                if length > LONGEST_LINE:
                    raise LocationError(
                        f"cannot read {self.location}: {path}: a line longer than "
                        f"{LONGEST_LINE:,} bytes",
                        location=self.location,
                    )
                if others:
                    length = len(others[-1])

    def read(
        self, path: str, kind: RecordKind, role: RecordRole, *, limit: int = MAX_STATE_BYTES
    ) -> bytes | None:
        """The bytes of a record; None where it cannot be read, which is then a problem."""
        if self._told is not None:
            self._told(path)
        try:
            if role in _LOGS and self._may_have_long_lines(path):
                self._measure(path)
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
        entry = self._tree.file(path)
        self.files.append(
            RecordFile(
                path=path,
                kind=kind,
                role=role,
                sha256="" if data is None else hashlib.sha256(data).hexdigest(),
                size=len(data) if data is not None else entry.size if entry else 0,
                modified=entry.modified if entry else None,
            )
        )
