"""Buckets of real servers, each test in a place of its own."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from ckptctl.storage.location import open_store
from ckptctl.storage.object_store import ObjectStore
from tests.backends.servers import FakeGcs, Proxy, Weed, running

_PLACES = itertools.count()


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.backends)
            # One set of servers for all.
            item.add_marker(pytest.mark.xdist_group("backends"))


@pytest.fixture(scope="session")
def weed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Weed]:
    """An S3 server."""
    with running(server := Weed(tmp_path_factory.mktemp("weed"))):
        yield server


@pytest.fixture(scope="session")
def gcs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[FakeGcs]:
    """A GCS server."""
    with running(server := FakeGcs(tmp_path_factory.mktemp("gcs"))):
        yield server


@dataclass
class Bucket:
    """A place in a bucket of one server, reached directly or through a proxy."""

    server: Weed | FakeGcs
    place: str
    tmp: Path
    monkeypatch: pytest.MonkeyPatch
    proxies: list[Proxy]

    @property
    def scheme(self) -> str:
        return "s3" if isinstance(self.server, Weed) else "gs"

    @property
    def url(self) -> str:
        return f"{self.scheme}://test/{self.place}"

    def through(self, **faults: int) -> Proxy:
        """Put a proxy between: it counts, and does what it is told."""
        folder = self.tmp / f"proxy{len(self.proxies)}"
        folder.mkdir()
        proxy = Proxy(self.server, folder, **faults)
        self.proxies.append(proxy)
        self.use(proxy.url)
        return proxy

    def use(self, url: str | None = None) -> None:
        """Point clients of this process to the server, or to what is in front of it."""
        for name, value in self.server.environment(url).items():
            self.monkeypatch.setenv(name, value)
        clear_clients()

    def store(self, path: str = "") -> ObjectStore:
        """The store; something has to be there."""
        store = open_store(f"{self.url}/{path}".rstrip("/"))
        assert isinstance(store, ObjectStore)
        return store

    def empty_store(self) -> ObjectStore:
        """The store of a prefix below which nothing is."""
        outer = open_store(f"{self.scheme}://test")
        assert isinstance(outer, ObjectStore)
        root, service = f"{self.scheme}://test/{self.place}", outer._service
        return ObjectStore(service, self.place, root=root, location=root)


def clear_clients() -> None:
    """What was connected stays connected otherwise."""
    import gcsfs
    import s3fs

    s3fs.S3FileSystem.clear_instance_cache()
    gcsfs.GCSFileSystem.clear_instance_cache()


MakeBucket = Callable[[str], Bucket]


@pytest.fixture
def make_bucket(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[MakeBucket]:
    """A maker of places on the server of a name."""
    made: list[Bucket] = []

    def make(name: str) -> Bucket:
        server = request.getfixturevalue(name)
        folder = tmp_path / f"bucket{len(made)}"
        folder.mkdir()
        bucket = Bucket(server, f"place{next(_PLACES)}", folder, monkeypatch, [])
        made.append(bucket)
        bucket.use()
        return bucket

    yield make
    for bucket in made:
        for proxy in bucket.proxies:
            proxy.kill()
    clear_clients()


@pytest.fixture(params=["weed", "gcs"])
def bucket(request: pytest.FixtureRequest, make_bucket: MakeBucket) -> Bucket:
    """A place on each server."""
    return make_bucket(request.param)


@pytest.fixture
def s3(make_bucket: MakeBucket) -> Bucket:
    """A place on the S3 server."""
    return make_bucket("weed")


@pytest.fixture
def gs(make_bucket: MakeBucket) -> Bucket:
    """A place on the GCS server."""
    return make_bucket("gcs")
