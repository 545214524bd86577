"""A bucket in memory that does what S3 does, and whose single acts can crash."""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, TypeVar, cast

from ckptctl.storage.object_store import ObjectStore
from ckptctl.storage.service import (
    ABSENT,
    Answer,
    Blob,
    Conflict,
    Content,
    Deleted,
    Limits,
    TooLong,
)
from tests.faults.world import Faults, World

T = TypeVar("T")


class MemoryService:
    """Objects by key. Each write, copy and single deletion goes through `Faults`."""

    def __init__(self, faults: Faults | None = None, *, limits: Limits | None = None) -> None:
        self.faults = faults or Faults()
        self._limits = limits or Limits(single_copy=1 << 30, deletions=7, requests=1)
        self.objects: dict[str, tuple[bytes, Blob]] = {}
        self._versions = itertools.count(1)
        self.comparable_digests = True

    @property
    def limits(self) -> Limits:
        return self._limits

    def set(self, key: str, data: bytes) -> Blob:
        """Write an object, past everything."""
        version = next(self._versions)
        blob = Blob(
            key=key,
            size=len(data),
            version=str(version),
            modified=float(version),
            digest=f"md5:{hashlib.md5(data).hexdigest()}",
        )
        self.objects[key] = (data, blob)
        return blob

    async def page(
        self, prefix: str, token: str | None, most: int, after: str | None = None
    ) -> tuple[list[Blob], str | None]:
        self._alive()
        behind = token or after or ""
        keys = sorted(k for k in self.objects if k.startswith(prefix) and k > behind)
        found = [self.objects[key][1] for key in keys[:most]]
        return found, keys[most - 1] if len(keys) > most else None

    async def folders(self, prefix: str, after: str, most: int) -> list[str]:
        self._alive()
        keys = [k[len(prefix) :] for k in self.objects if k.startswith(prefix) and k > after]
        return sorted({f"{prefix}{k.partition('/')[0]}/" for k in keys if "/" in k})[:most]

    async def head(self, key: str) -> Blob | None:
        self._alive()
        return self.objects[key][1] if key in self.objects else None

    async def get(
        self, key: str, *, limit: int | None = None, start: int = 0, length: int | None = None
    ) -> Content:
        self._alive()
        if key not in self.objects:
            raise Answer(404, "NoSuchKey")
        data, blob = self.objects[key]
        if limit is not None and len(data) > limit:
            raise TooLong
        end = len(data) if length is None else start + length
        return Content(data=data[start:end], blob=blob)

    async def put(
        self, key: str, data: bytes, *, expect: str | None = None, like: Blob | None = None
    ) -> Blob:
        def write() -> Blob:
            there = self.objects.get(key)
            if expect is not None and expect != (there[1].version if there else ABSENT):
                raise Conflict
            return self.set(key, data)

        return self._do(write)

    async def copy(self, source: Blob, key: str) -> Blob:
        def write() -> Blob:
            there = self.objects.get(source.key)
            if there is None:
                raise Answer(404, "NoSuchKey")
            if there[1].version != source.version or key in self.objects:
                raise Conflict
            return self.set(key, there[0])

        return self._do(write)

    async def delete(self, blobs: Sequence[Blob]) -> Deleted:
        assert len(blobs) <= self._limits.deletions
        changed = []
        for blob in blobs:
            there = self.objects.get(blob.key)
            if there is None:
                continue
            if blob.version and there[1].version != blob.version:
                changed.append(blob)
            else:
                self._do(partial(self.objects.pop, blob.key))
        return Deleted(changed=tuple(changed))

    async def comparable(self, blob: Blob) -> bool:
        return self.comparable_digests

    def _do(self, change: Callable[[], T]) -> T:
        return cast(T, self.faults.around(change))

    def _alive(self) -> None:
        if self.faults.dead:
            self.faults.strike()


class ObjectWorld(World):
    """An experiment in a bucket; every single act of it can crash."""

    def __init__(self, folder: Any, **limits: int) -> None:
        super().__init__("bucket", folder)
        options = {"single_copy": 1 << 30, "deletions": 7, "requests": 1, **limits}
        self.service = MemoryService(self.faults, limits=Limits(**options))

    @property
    def clean(self) -> ObjectStore:
        self.faults.arm(None)
        return self.store

    @property
    def store(self) -> ObjectStore:
        return ObjectStore(self.service, "exp", root="s3://b/exp", location="s3://b/exp")

    def write(self, path: str, data: bytes, mode: int = 0o644) -> None:
        self.service.set(f"exp/{path}", data)

    def _memory(self) -> dict[str, tuple[bytes, int]]:
        objects = self.service.objects.items()
        return {key.removeprefix("exp/"): (data, 0) for key, (data, _) in objects}
