"""What buckets do that folders do not, and what drivers raise."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from typing import Any

import pytest
from fsspec.implementations.memory import MemoryFileSystem

from ckptctl.errors import LocationError
from ckptctl.storage import fsspec_store
from ckptctl.storage.fsspec_store import FsspecStore
from ckptctl.storage.location import open_store
from ckptctl.storage.urls import open_url


class Bucket(MemoryFileSystem):  # type: ignore[misc]
    """A memory file system that behaves like a bucket and counts what is asked."""

    protocol = "s3"
    cachable = False
    async_impl = True

    def __init__(self) -> None:
        super().__init__(global_store=False)
        self.asked: list[str] = []
        self.ghosts: set[str] = set()

    def exists(self, path: str, **kwargs: Any) -> bool:
        return path in self.ghosts or bool(super().exists(path, **kwargs))

    def find(self, path: str, **kwargs: Any) -> Any:
        found = super().find(path, **kwargs)
        if not found and path in self.ghosts:
            return {path: {"name": path, "type": "directory", "size": 0}}
        return found

    def rm(self, path: Any, recursive: bool = False, maxdepth: Any = None) -> None:
        assert not recursive and isinstance(path, list)
        self.asked.append(f"rm {len(path)}")
        for one in path:
            self.rm_file(one)


@pytest.fixture
def fs() -> Bucket:
    return Bucket()


@pytest.fixture
def store(fs: Bucket) -> FsspecStore:
    return FsspecStore(fs, "/bucket/exp", scheme="s3", location="s3://bucket/exp")


def put(fs: Bucket, *paths: str) -> None:
    for path in paths:
        fs.pipe_file(f"/bucket/exp/{path}", path.encode())
    fs.pseudo_dirs[:] = [""]


def test_unknown_file_systems_promise_nothing(fs: Bucket) -> None:
    found = FsspecStore(fs, "/x", scheme="sftp", location="sftp://h/x").capabilities
    assert not (found.atomic_rename or found.atomic_replace or found.conditional_create)
    assert found.directories


def test_a_tree_moves_in_a_bucket_with_one_deletion(store: FsspecStore, fs: Bucket) -> None:
    put(fs, "t/a/w", "t/a/sub/m", "t/ab/w")
    store.move_tree("t/a", "t/b")
    assert [e.path for e in store.list_tree() if not e.is_dir] == ["t/ab/w", "t/b/sub/m", "t/b/w"]
    assert fs.asked == ["rm 2"]


def test_anything_below_a_target_is_in_the_way(store: FsspecStore, fs: Bucket) -> None:
    put(fs, "t/a/w", "t/b/deep/x", "t/file")
    for target in ("t/b", "t/file"):
        with pytest.raises(FileExistsError):
            store.move_tree("t/a", target)


class Refused(Exception):
    """What botocore raises, with what the server answered."""

    def __init__(self, code: str) -> None:
        super().__init__(code)
        self.response = {"Error": {"Code": code}}


@pytest.mark.parametrize("code", ["PreconditionFailed", "ConditionalRequestConflict"])
def test_a_create_that_the_bucket_refuses_has_lost(
    store: FsspecStore, fs: Bucket, code: str
) -> None:
    def pipe_file(*_: object, **__: object) -> None:
        raise OSError(22, "At least one of the pre-conditions did not hold") from Refused(code)

    fs.pipe_file = pipe_file
    assert not store.create("lock", b"x")


def test_a_create_that_fails_otherwise_is_an_error(store: FsspecStore, fs: Bucket) -> None:
    def pipe_file(*_: object, **__: object) -> None:
        raise OSError(5, "slow down") from Refused("SlowDown")

    fs.pipe_file = pipe_file
    with pytest.raises(LocationError, match="the device reports an error"):
        store.create("lock", b"x")


def test_names_like_patterns_are_deleted_one_by_one(store: FsspecStore, fs: Bucket) -> None:
    put(fs, "t[1]/w*", "t1/w1", "t1/w2")
    store.remove(["t[1]/w*", "t1/w2"])
    assert sorted(fs.store) == ["/bucket/exp/t1/w1"]
    assert fs.asked == ["rm 1"]


def test_a_missing_key_does_not_keep_the_others(store: FsspecStore, fs: Bucket) -> None:
    put(fs, "a", "b")
    store.remove(["gone", "a", "b"])
    assert fs.store == {}


def test_a_copy_that_lacks_something_is_taken_away(
    store: FsspecStore, fs: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(fs, "t/a/w", "t/a/x")
    real = fs.copy

    def lossy(sources: list[str], targets: list[str], **kwargs: Any) -> None:
        real(sources[:1], targets[:1], **kwargs)

    monkeypatch.setattr(fs, "copy", lossy)
    with pytest.raises(LocationError, match="has another size"):
        store.move_tree("t/a", "t/b")
    assert sorted(fs.store) == ["/bucket/exp/t/a/w", "/bucket/exp/t/a/x"]


def test_markers_of_folders_are_folders(
    store: FsspecStore, fs: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    def find(path: str, **kwargs: Any) -> dict[str, Any]:
        return {
            "/bucket/exp/t/": {"name": "/bucket/exp/t/", "size": 0, "type": "file"},
            "/bucket/exp/t/w": {"name": "/bucket/exp/t/w", "size": 1, "type": "file"},
            "/bucket/exp/odd": {"name": "/bucket/exp/odd", "size": 0, "type": "other"},
        }

    monkeypatch.setattr(fs, "find", find)
    found = [(e.path, e.is_dir, e.is_special) for e in store.list_tree()]
    assert found == [("odd", False, True), ("t", True, False), ("t/w", False, False)]


@pytest.mark.parametrize(
    ("info", "modified"),
    [
        ({"LastModified": datetime(2024, 1, 1, tzinfo=UTC)}, 1704067200.0),
        ({"LastModified": datetime(2024, 1, 1)}, 1704067200.0),  # noqa: DTZ001  as drivers do
        ({"updated": "2024-01-01T00:00:00+00:00"}, 1704067200.0),
        ({"mtime": 5}, 5.0),
        ({"mtime": None, "created": 7.5}, 7.5),
        ({"updated": "yesterday"}, None),
        ({}, None),
    ],
)
def test_times_of_many_drivers(info: dict[str, Any], modified: float | None) -> None:
    assert fsspec_store._entry("x", {"type": "file", "size": 1, **info}).modified == modified


def raising(error: Exception) -> Callable[..., object]:
    def call(*_: object, **__: object) -> object:
        raise error

    return call


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (PermissionError("Access Denied"), "no permission"),
        (FileNotFoundError("key"), "not there"),
        (NotADirectoryError("x"), "not a folder"),
        (IsADirectoryError("x"), "a folder, not a file"),
        (NotImplementedError(), "the driver cannot do this"),
        (RuntimeError("Connection reset\nby peer"), "Connection reset"),
        (TimeoutError(), "TimeoutError"),
        (OSError(28, "No space left on device"), "no space left"),
    ],
)
def test_what_drivers_raise_is_one_sentence(
    store: FsspecStore, fs: Bucket, error: Exception, message: str
) -> None:
    for verb in ("cat_file", "pipe_file", "find", "isfile"):
        setattr(fs, verb, raising(error))
    with pytest.raises(LocationError) as caught:
        store.read_bytes("x")
    assert caught.value.message == f"cannot read s3://bucket/exp: x: {message}"
    assert caught.value.__cause__ is error
    acts: Iterable[Callable[[], object]] = (
        lambda: store.create("x", b""),
        lambda: store.replace("x", b""),
        lambda: store.move_tree("x", "y"),
        store.require_folder,
    )
    for act in acts:
        with pytest.raises(LocationError, match=message):
            act()


def test_a_listing_of_what_is_gone_is_empty(
    store: FsspecStore, fs: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fs, "find", raising(FileNotFoundError("x")))
    assert store.list_tree("gone") == ()


def test_a_driver_that_fails_to_start_is_a_location_error(monkeypatch: pytest.MonkeyPatch) -> None:
    import fsspec

    monkeypatch.setattr(fsspec.core, "url_to_fs", raising(RuntimeError("no credentials")))
    with pytest.raises(LocationError, match="cannot open s3://b: no credentials"):
        open_url("s3://key:secret@b", scheme="s3", location="s3://b")
    monkeypatch.setattr(fsspec.core, "url_to_fs", raising(ValueError("bad")))
    with pytest.raises(LocationError, match="not a URL of its kind"):
        open_url("s3://b", scheme="s3", location="s3://b")


def test_an_emulator_is_not_asked_for_what_it_lacks(monkeypatch: pytest.MonkeyPatch) -> None:
    import fsspec

    name = "GCSFS_EXPERIMENTAL_ZB_HNS_SUPPORT"
    monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(fsspec.core, "url_to_fs", raising(RuntimeError("stop")))
    for emulator, expected in ((None, None), ("http://localhost:1", "false")):
        if emulator:
            monkeypatch.setenv("STORAGE_EMULATOR_HOST", emulator)
        with pytest.raises(LocationError):
            open_store("gs://bucket/x")
        import os

        assert os.environ.get(name) == expected
    monkeypatch.delenv(name)
