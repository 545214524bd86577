"""What a local file system needs beyond the contract: links, modes, odd names, full disks."""

from __future__ import annotations

import errno
import os
import socket
import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from ckptctl.errors import LocationError
from ckptctl.storage import local_files
from ckptctl.storage.local_store import LocalStore


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "exp"
    folder.mkdir()
    return folder


@pytest.fixture
def store(root: Path) -> LocalStore:
    return LocalStore.open(str(root), location="exp")


def fail(number: int) -> Callable[..., object]:
    def failing(*_: object, **__: object) -> object:
        raise OSError(number, os.strerror(number))

    return failing


def test_links_are_listed_and_not_followed(store: LocalStore, root: Path) -> None:
    (root / "real").mkdir()
    (root / "real" / "file").write_bytes(b"x")
    (root / "link").symlink_to("real")
    (root / "file_link").symlink_to("real/file")
    (root / "dangling").symlink_to("nowhere")
    found = {e.path: e for e in store.list_tree()}
    assert sorted(found) == ["dangling", "file_link", "link", "real", "real/file"]
    assert all(found[p].is_link and not found[p].is_dir for p in ("link", "file_link", "dangling"))
    assert store.list_tree("link") == () and store.list_tree("link/sub") == ()


def test_fifos_and_sockets_are_listed_and_never_opened(
    store: LocalStore, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    os.mkfifo(root / "fifo")
    monkeypatch.chdir(root)  # the path of a socket may not be long
    with socket.socket(socket.AF_UNIX) as server:
        server.bind("socket")
    assert [(e.path, e.is_special) for e in store.list_tree()] == [
        ("fifo", True),
        ("socket", True),
    ]
    with pytest.raises(LocationError, match="not a regular file"):
        store.read_bytes("fifo")
    with pytest.raises(LocationError, match="not a regular file"):
        store.replace("fifo", b"")


def test_a_link_inside_the_root_is_read_and_written_through(store: LocalStore, root: Path) -> None:
    (root / "state-1.json").write_bytes(b"before")
    (root / "latest.json").symlink_to("state-1.json")
    assert store.read_bytes("latest.json") == b"before"
    store.replace("latest.json", b"after")
    assert (root / "latest.json").is_symlink()
    assert (root / "state-1.json").read_bytes() == b"after"


def test_a_link_that_leads_out_is_neither_read_nor_written(store: LocalStore, root: Path) -> None:
    outside = root.parent / "outside.json"
    outside.write_bytes(b"mine")
    (root / "record.json").symlink_to(outside)
    for act in (store.read_bytes, store.open_read, lambda p: store.replace(p, b"")):
        with pytest.raises(LocationError, match="leads out of the location"):
            act("record.json")
    assert outside.read_bytes() == b"mine"


def test_nothing_is_written_below_a_linked_folder(store: LocalStore, root: Path) -> None:
    outside = root.parent / "outside"
    outside.mkdir()
    (outside / "file").write_bytes(b"mine")
    (root / "link").symlink_to(outside)
    (root / "tree").mkdir()
    for act in (
        lambda: store.create("link/new", b""),
        lambda: store.create("link/deep/new", b""),
        lambda: store.replace("link/file", b""),
        lambda: store.move_tree("tree", "link/tree"),
        lambda: store.move_tree("link/file", "file"),
        lambda: store.remove(["link/file"]),
    ):
        with pytest.raises(LocationError, match="symbolic link"):
            act()
    assert [p.name for p in outside.iterdir()] == ["file"]


def test_removing_a_link_leaves_what_it_names(store: LocalStore, root: Path) -> None:
    (root / "real").mkdir()
    (root / "link").symlink_to("real")
    store.remove(["link"])
    assert (root / "real").is_dir() and not (root / "link").is_symlink()


def test_a_root_that_is_a_link_is_as_good_as_its_folder(root: Path) -> None:
    link = root.parent / "alias"
    link.symlink_to(root)
    store = LocalStore.open(str(link))
    assert store.root == str(link)
    assert store.create("a/b", b"1")
    store.replace("a/b", b"2")
    store.move_tree("a", "c")
    assert store.read_bytes("c/b") == b"2"


def test_names_that_are_not_utf8_survive(store: LocalStore, root: Path) -> None:
    name = b"caf\xe9"
    os.mkdir(os.fsencode(root) + b"/" + name)
    with open(os.fsencode(root) + b"/" + name + b"/x", "wb") as stream:
        stream.write(b"1")
    listed = [e.path for e in store.list_tree()]
    assert [os.fsencode(p) for p in listed] == [name, name + b"/x"]
    store.move_tree(listed[0], "plain")
    assert store.read_bytes("plain/x") == b"1"


def test_replace_keeps_mode_and_owner(store: LocalStore, root: Path) -> None:
    record = root / "record.json"
    record.write_bytes(b"before")
    record.chmod(0o4640)
    owner = (12, 34) if os.geteuid() == 0 else (os.getuid(), os.getgid())
    os.chown(record, *owner)
    record.chmod(0o640)
    store.replace("record.json", b"after")
    info = record.stat()
    assert stat.S_IMODE(info.st_mode) == 0o640
    assert (info.st_uid, info.st_gid) == owner


def test_replace_keeps_extended_attributes(store: LocalStore, root: Path) -> None:
    record = root / "record.json"
    record.write_bytes(b"before")
    try:
        os.setxattr(record, "user.note", b"mine")
    except (OSError, AttributeError):
        pytest.skip("no extended attributes here")
    store.replace("record.json", b"after")
    assert os.getxattr(record, "user.note") == b"mine"


def test_replace_of_what_is_not_there_is_a_location_error(store: LocalStore) -> None:
    with pytest.raises(LocationError, match=r"cannot write exp: gone: not there"):
        store.replace("gone", b"")


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EROFS, errno.EACCES, errno.EDQUOT])
def test_a_replace_that_fails_leaves_the_record_alone(
    store: LocalStore, root: Path, monkeypatch: pytest.MonkeyPatch, number: int
) -> None:
    (root / "record.json").write_bytes(b"before")
    monkeypatch.setattr(os, "write", fail(number))
    with pytest.raises(LocationError) as caught:
        store.replace("record.json", b"after")
    assert caught.value.message.startswith("cannot write exp: record.json: ")
    assert caught.value.hint
    assert [p.name for p in root.iterdir()] == ["record.json"]
    assert (root / "record.json").read_bytes() == b"before"


@pytest.mark.parametrize("call", ["write", "fsync", "link"])
def test_a_create_that_fails_leaves_nothing(
    store: LocalStore, root: Path, monkeypatch: pytest.MonkeyPatch, call: str
) -> None:
    monkeypatch.setattr(os, call, fail(errno.ENOSPC))
    with pytest.raises(LocationError, match="no space left"):
        store.create("new", b"data")
    assert list(root.iterdir()) == []


def test_what_a_killed_replace_left_is_swept(store: LocalStore, root: Path) -> None:
    (root / "t").mkdir()
    (root / "t" / "record.json").write_bytes(b"x")
    left = Path(local_files.beside(str(root / "t" / "record.json")))
    left.write_bytes(b"half")
    store.replace("t/record.json", b"y")
    assert not left.exists()
    left.write_bytes(b"half")
    store.sweep(["t/record.json", "t/gone.json", "gone/too"])
    assert [p.name for p in (root / "t").iterdir()] == ["record.json"]


def test_no_reader_takes_what_is_written_beside_a_record_for_its_own() -> None:
    for name in ("experiment_state-x.json", "checkpoint", "x" * 255):
        beside = os.path.basename(local_files.beside(f"/exp/{name}"))
        assert beside.startswith(".") and beside.endswith("~") and len(beside) < 40


def test_a_planted_link_beside_a_record_is_not_written_through(
    store: LocalStore, root: Path
) -> None:
    (root / "record.json").write_bytes(b"x")
    victim = root.parent / "victim"
    victim.write_bytes(b"mine")
    os.symlink(victim, local_files.beside(str(root / "record.json")))
    store.replace("record.json", b"y")
    assert victim.read_bytes() == b"mine"
    assert (root / "record.json").read_bytes() == b"y"


@pytest.mark.parametrize("answer", [None, errno.ENOSYS, errno.EINVAL])
def test_without_renameat2_a_move_still_replaces_nothing(
    store: LocalStore, root: Path, monkeypatch: pytest.MonkeyPatch, answer: int | None
) -> None:
    call = None if answer is None else lambda source, target: answer
    monkeypatch.setattr(local_files, "_renameat2", lambda: call)
    (root / "old").mkdir()
    (root / "empty").mkdir()
    with pytest.raises(FileExistsError):
        store.move_tree("old", "empty")
    (root / "dangling").symlink_to("nowhere")
    with pytest.raises(FileExistsError):
        store.move_tree("old", "dangling")
    store.move_tree("old", "new")
    assert sorted(p.name for p in root.iterdir()) == ["dangling", "empty", "new"]


def test_without_hard_links_a_create_is_still_exclusive(
    store: LocalStore, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "link", fail(errno.EPERM))
    assert store.create("a", b"1")
    monkeypatch.setattr(os.path, "lexists", lambda path: False)
    assert not store.create("a", b"2")
    assert [p.name for p in root.iterdir()] == ["a"]


def test_a_move_to_another_device_says_so(
    store: LocalStore, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_files, "_renameat2", lambda: lambda s, t: errno.EXDEV)
    (root / "old").mkdir()
    with pytest.raises(LocationError, match="different devices"):
        store.move_tree("old", "far/new")
    assert [p.name for p in root.iterdir()] == ["old"]


def test_a_moved_folder_keeps_its_time_and_identity(store: LocalStore, root: Path) -> None:
    (root / "old").mkdir()
    os.utime(root / "old", (1, 2))
    before = store.stat("old")
    store.move_tree("old", "new")
    after = store.stat("new")
    assert before is not None and after is not None
    assert (before.file_id, before.modified) == (after.file_id, 2.0)


def test_moves_and_creations_are_synced(
    store: LocalStore, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    synced: list[str] = []
    real = local_files.sync_folder

    def sync_folder(path: str) -> None:
        synced.append(os.path.relpath(path, root))
        real(path)

    monkeypatch.setattr(local_files, "sync_folder", sync_folder)
    store.create("a/b/c", b"")
    assert synced == ["a/b", ".", "a"]
    synced.clear()
    store.replace("a/b/c", b"x")
    assert synced == ["a/b"]
    synced.clear()
    store.move_tree("a/b", "q/r/b")
    assert synced == [".", "q"]
    synced.clear()
    store.flush(["q/r", "a"])
    assert synced == [".", "a", "q", "q/r"]


def test_a_folder_that_cannot_be_synced_is_no_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "fsync", fail(errno.EINVAL))
    local_files.sync_folder("/")
    monkeypatch.setattr(os, "fsync", fail(errno.EIO))
    with pytest.raises(OSError, match="Input/output"):
        local_files.sync_folder("/")


def test_what_vanishes_while_it_is_listed_is_left_out(
    store: LocalStore, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (root / "gone").mkdir()
    (root / "here").write_bytes(b"")
    real = os.scandir

    def scandir(path: str) -> object:
        if path.endswith("gone"):
            raise FileNotFoundError(errno.ENOENT, "gone", path)
        return real(path)

    monkeypatch.setattr(os, "scandir", scandir)
    assert [e.path for e in store.list_tree()] == ["gone", "here"]


def test_folders_that_may_not_be_read_are_an_error(
    store: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "scandir", fail(errno.EACCES))
    with pytest.raises(LocationError, match="cannot read exp: no permission"):
        store.list_tree()


def test_a_folder_that_another_run_takes_away_is_made_again(
    store: LocalStore, root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = local_files.create_file
    calls = 0

    def create_file(path: str, data: bytes) -> bool:
        nonlocal calls
        calls += 1
        if calls == 1:
            (root / "a").rmdir()
        return real(path, data)

    monkeypatch.setattr(local_files, "create_file", create_file)
    assert store.create("a/lock", b"x")


def test_a_file_where_a_folder_should_be_is_a_location_error(store: LocalStore, root: Path) -> None:
    (root / "a").write_bytes(b"")
    (root / "tree").mkdir()
    for act in (lambda: store.create("a/x", b""), lambda: store.move_tree("tree", "a/x")):
        with pytest.raises(LocationError, match="not a folder"):
            act()
