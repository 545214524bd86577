"""A store of objects: names with slashes, no folders, no renames."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager

from ckptctl.errors import StalePlanError
from ckptctl.storage import copying
from ckptctl.storage.loop import each, wait_for
from ckptctl.storage.object_reader import ObjectReader
from ckptctl.storage.retrying import retrying
from ckptctl.storage.service import ABSENT, UNTOLD, Answer, Blob, Conflict
from ckptctl.storage.store import Entry

_GONE = 404
_BATCHES = 1000
"""Objects that one call of `discard` should be given: few requests on S3, side by side."""


class ObjectStore(ObjectReader):
    """Everything below one prefix of a bucket."""

    _unchecked = False

    @property
    def batch(self) -> int:
        """How many objects one call of `discard` should be given."""
        return _BATCHES

    @property
    def unchecked(self) -> bool:
        """Whether a copy was made that nobody has looked at."""
        return self._unchecked

    def create(self, path: str, data: bytes) -> bool:
        """Write a new object; False where the name exists."""
        key = self._key(path)
        with self._translated("cannot write", path):
            try:
                self._call(lambda: self._service.put(key, data, expect=ABSENT))
            except Conflict:
                return False
        return True

    def replace(self, path: str, data: bytes) -> None:
        """Replace an object's content and keep what is told about it.

        Raises:
            StalePlanError: another wrote it since it was last read here.
        """
        key, before = self._key(path), self._read.pop(path, None)
        with self._translated("cannot write", path):
            if before is None:
                before = self._call(lambda: self._service.head(key))
            expect = before.version if before else None
            try:
                self._call(lambda: self._service.put(key, data, expect=expect, like=before))
            except Conflict as error:
                # A call that was made again finds what it wrote itself.
                if self._call(lambda: self._service.get(key)).data != data:
                    raise self._changed(path, "its content changed") from error

    def move_tree(self, source: str, target: str) -> None:
        """Copy a folder or file, check the copies, and only then delete what was copied.

        Raises:
            FileExistsError: something is at `target`.
            LocationError: it cannot be read or written; what was copied is taken away.
        """
        with self._translated("cannot move", source):
            self._key(target)
            copying.move(self, source, target)

    @contextmanager
    def copy(self, pairs: Sequence[tuple[Entry, str]]) -> Iterator[Iterator[Entry]]:
        """Copy objects to paths where nothing is; each comes back once it is copied."""

        async def one(pair: tuple[Entry, str]) -> Entry:
            entry, target = pair
            # In a bucket, a name that no disk could have is just another name.
            key = self._start + target if entry.is_special else self._key(target)
            await self._copy(self._blob(entry), key + "/" * entry.is_dir, entry.path)
            return entry

        def in_words(copied: Iterator[Entry]) -> Iterator[Entry]:
            with self._translated("cannot copy"):
                yield from copied

        with each(pairs, one, most=self._service.limits.requests) as copied:
            yield in_words(copied)

    def is_copy(self, source: Entry, target: Entry) -> bool:
        """Whether the content at `target` is that of `source`, as far as can be told unread."""
        if source.size == target.size and source.digest and source.digest == target.digest:
            return True
        with self._translated("cannot read", target.path):
            return wait_for(self._is_copy(self._blob(source), self._blob(target)))

    def discard(self, entries: Sequence[Entry]) -> tuple[Entry, ...]:
        """Delete objects that are still as listed; those that are not come back."""
        by_key = {self._blob(entry).key: entry for entry in entries}
        with self._translated("cannot remove"):
            changed = self._delete([self._blob(e) for e in by_key.values()])
        return tuple(by_key[blob.key] for blob in changed)

    def remove(self, paths: Iterable[str]) -> None:
        """Remove objects, whatever they hold; folders are gone with what is in them."""
        keys = dict.fromkeys(self._key(path) for path in paths)
        with self._translated("cannot remove"):
            self._delete([Blob(key=key, size=0, version="") for key in keys])

    def flush(self, parents: Iterable[str]) -> None:
        """Nothing to do: every call is durable when it returns."""

    def sweep(self, paths: Iterable[str]) -> None:
        """Nothing to do: `replace` writes nothing beside the object."""

    async def _copy(self, source: Blob, key: str, path: str) -> None:
        try:
            made = await retrying(lambda: self._service.copy(source, key), self._pace)
            if made.version == UNTOLD:
                self._unchecked = True
            elif _differ(source, made) and await self._service.comparable(made):
                raise OSError(f"the copy of {path} is another one")
        except Answer as error:
            if error.status != _GONE or "bucket" in error.code.lower():
                raise
            if not (source.key.endswith("/") and source.size == 0):
                raise self._changed(path, "gone") from error
            # Not every service copies the empty objects that stand for folders.
            await retrying(lambda: self._service.put(key, b"", like=source), self._pace)
        except Conflict as error:
            there = await retrying(lambda: self._service.head(key), self._pace)
            if there is None:
                raise self._changed(path, "its content changed") from error
            # A call that was made again finds the copy that it made itself.
            if not await self._is_copy(source, there):
                raise self._changed(key[len(self._start) :], "exists") from error

    async def _is_copy(self, source: Blob, target: Blob) -> bool:
        if source.size != target.size:
            return False
        if _differ(source, target):
            if await self._service.comparable(target):
                return False
        elif source.digest and source.digest == target.digest:
            return True
        # A copy is not older than what it was made of.
        return (target.modified or 0.0) >= (source.modified or 0.0)

    def _delete(self, blobs: list[Blob]) -> list[Blob]:
        limits = self._service.limits
        parts = [blobs[i : i + limits.deletions] for i in range(0, len(blobs), limits.deletions)]
        at_once = min(limits.deletions_at_once, len(parts))
        with each(parts, self._delete_some, most=at_once) as done:
            return [blob for changed in done for blob in changed]

    async def _delete_some(self, rest: list[Blob]) -> list[Blob]:
        changed: list[Blob] = []

        async def some() -> None:
            done = await self._service.delete(rest)
            changed.extend(done.changed)
            rest[:] = done.failed
            if done.error is not None:
                raise done.error

        await retrying(some, self._pace)
        return changed

    def _blob(self, entry: Entry) -> Blob:
        return Blob(
            key=f"{self._start}{entry.path}" + "/" * entry.is_dir,
            size=entry.size,
            version=entry.version or "",
            modified=entry.modified,
            digest=entry.digest,
            kept=entry.kept,
        )

    def _changed(self, path: str, how: str) -> StalePlanError:
        what = f"{path}: {how}"
        return StalePlanError(
            f"changed meanwhile: {self.location}: {what}", changed=(what,), location=self.location
        )


def _differ(source: Blob, target: Blob) -> bool:
    """Whether the contents differ, by digests that can be held against each other."""
    if not (source.digest and target.digest):
        return False
    same_kind = source.digest.partition(":")[0] == target.digest.partition(":")[0]
    return same_kind and source.digest != target.digest
