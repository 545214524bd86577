"""Where experiments are killed: a folder of this machine, or a bucket of a real server."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from tests.backends.conftest import Bucket
from tests.backends.upload import objects, put_folder
from tests.support import corpus

Files = Mapping[str, bytes]


class Place(Protocol):
    """One experiment that processes work on."""

    @property
    def url(self) -> str: ...

    @property
    def environment(self) -> Mapping[str, str]: ...

    def reset(self, name: str) -> None:
        """Make it a fresh copy of a corpus experiment."""

    def files(self) -> Files:
        """Everything there, ckptctl's own folder included, once nothing is on its way."""

    def locks(self) -> frozenset[str]:
        """The locks there, those of killed processes too; another set means another holder."""


class Disk:
    """A folder of this machine, always the same one."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    @property
    def url(self) -> str:
        return str(self._folder)

    @property
    def environment(self) -> Mapping[str, str]:
        return {}

    def reset(self, name: str) -> None:
        if self._folder.exists():
            shutil.rmtree(self._folder)
        shutil.copytree(corpus(name), self._folder)

    def files(self) -> Files:
        found = {}
        for here, _, names in os.walk(self._folder):
            for name in names:
                path = Path(here, name)
                found[path.relative_to(self._folder).as_posix()] = path.read_bytes()
        return found

    def locks(self) -> frozenset[str]:
        with suppress(FileNotFoundError), os.scandir(self._folder / ".ckptctl") as found:
            return frozenset(f"{e.name} {e.inode()}" for e in found if e.name.startswith("lock"))
        return frozenset()


class S3:
    """A prefix in a bucket of the S3 server."""

    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket
        self._first = bucket.place
        self._times = 0

    @property
    def url(self) -> str:
        return self._bucket.url

    @property
    def environment(self) -> Mapping[str, str]:
        return self._bucket.server.environment()

    def reset(self, name: str) -> None:
        # What was still on its way to the old prefix stays there.
        self._times += 1
        self._bucket.place = f"{self._first}-{self._times}"
        put_folder(self._bucket, corpus(name))

    def files(self) -> Files:
        """A request that was sent before the kill may be carried out after it."""
        found = objects(self._bucket)
        while True:
            time.sleep(0.05)
            again = objects(self._bucket)
            if again == found:
                return found
            found = again

    def locks(self) -> frozenset[str]:
        client = self._bucket.server.client  # type: ignore[union-attr]
        prefix = f"{self._bucket.place}/.ckptctl/lock"
        found = client.list_objects_v2(Bucket="test", Prefix=prefix).get("Contents", ())
        return frozenset(f"{item['Key']} {item['ETag']}" for item in found)
