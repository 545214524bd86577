"""What every store must do, on a file system and in a bucket-like store alike."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import fsspec
import pytest

from ckptctl.errors import LocationError
from ckptctl.storage.location import open_store
from ckptctl.storage.object_store import ObjectStore
from ckptctl.storage.store import Store
from ckptctl.storage.wrappers import Counting, ReadOnly


@pytest.fixture(params=["local", "memory"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Store]:
    """An empty store of each kind."""
    if request.param == "local":
        (tmp_path / "exp").mkdir()
        yield open_store(str(tmp_path / "exp"))
        return
    fs = fsspec.filesystem("memory")
    fs.makedirs("/contract/exp")
    yield open_store("memory://contract/exp")
    fs.rm("/contract", recursive=True)


def make_folder(store: Store, path: str) -> None:
    if isinstance(store, ObjectStore):
        store._call(lambda: store._service.put(f"{store._start}{path}/", b""))
    elif store.root.startswith("memory://"):
        fsspec.filesystem("memory").makedirs(f"/contract/exp/{path}")
    else:
        (Path(store.root) / path).mkdir(parents=True)


def paths(store: Store, prefix: str = "") -> list[str]:
    return [e.path + "/" * e.is_dir for e in store.list_tree(prefix)]


def test_what_is_created_can_be_read(store: Store) -> None:
    assert store.create("a/b/c.txt", b"content")
    assert store.read_bytes("a/b/c.txt") == b"content"
    with store.open_read("a/b/c.txt") as stream:
        stream.seek(3)
        assert stream.read() == b"tent"


def test_create_leaves_what_exists_alone(store: Store) -> None:
    assert store.create("a.txt", b"first")
    assert not store.create("a.txt", b"second")
    assert store.read_bytes("a.txt") == b"first"
    assert paths(store) == ["a.txt"]


def test_create_has_one_winner_among_threads(store: Store) -> None:
    ready = threading.Barrier(8)
    won: list[int] = []

    def race(number: int) -> None:
        ready.wait()
        if store.create("lock", str(number).encode()):
            won.append(number)

    threads = [threading.Thread(target=race, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1
    assert store.read_bytes("lock") == str(won[0]).encode()
    assert paths(store) == ["lock"]


def test_a_listing_is_in_order_of_path_and_has_folders(store: Store) -> None:
    for path in ("b/x", "a/z/deep.bin", "a-b", "a.txt", "a/y"):
        store.create(path, b"12345")
    assert paths(store) == ["a/", "a-b", "a.txt", "a/y", "a/z/", "a/z/deep.bin", "b/", "b/x"]
    assert paths(store, "a") == ["a/y", "a/z/", "a/z/deep.bin"]
    assert paths(store, "missing") == []
    entry = store.stat("a/y")
    assert entry is not None and entry.size == 5 and entry.modified is not None
    assert entry == next(e for e in store.list_tree() if e.path == "a/y")


def test_a_prefix_is_a_folder_and_not_the_beginning_of_a_name(store: Store) -> None:
    store.create("checkpoint_1/x", b"")
    store.create("checkpoint_10/x", b"")
    assert paths(store, "checkpoint_1") == ["checkpoint_1/x"]


def test_stat_of_nothing_is_none(store: Store) -> None:
    assert store.stat("nothing") is None
    assert store.stat("nothing/below") is None


def test_an_empty_file_is_a_file(store: Store) -> None:
    assert store.create("empty", b"")
    assert store.read_bytes("empty") == b""
    assert store.read_bytes("empty", 0) == b""
    assert paths(store) == ["empty"]


def test_a_limit_refuses_longer_files_and_no_others(store: Store) -> None:
    store.create("a", b"12345")
    assert store.read_bytes("a", 5) == b"12345"
    with pytest.raises(LocationError, match="longer than 4 bytes"):
        store.read_bytes("a", 4)


def test_reading_what_is_not_there_is_a_location_error(store: Store) -> None:
    with pytest.raises(LocationError, match=r"cannot read .*nothing: not there"):
        store.read_bytes("nothing")


def test_replace_changes_the_content_and_nothing_beside_it(store: Store) -> None:
    store.create("a/record.json", b"before")
    store.replace("a/record.json", b"after, and longer")
    assert store.read_bytes("a/record.json") == b"after, and longer"
    assert paths(store) == ["a/", "a/record.json"]


def test_a_folder_moves_with_all_that_is_in_it(store: Store) -> None:
    store.create("t/old/weights", b"w")
    store.create("t/old/sub/meta", b"m")
    make_folder(store, "t/old/hollow")
    store.move_tree("t/old", "t/new")
    assert paths(store) == ["t/", "t/new/", "t/new/hollow/", "t/new/sub/", *_files("t/new")]
    assert store.read_bytes("t/new/sub/meta") == b"m"


def _files(folder: str) -> list[str]:
    return [f"{folder}/sub/meta", f"{folder}/weights"]


def test_an_empty_folder_moves(store: Store) -> None:
    make_folder(store, "t/empty")
    store.move_tree("t/empty", "t/void")
    assert paths(store) == ["t/", "t/void/"]


def test_a_file_moves_too(store: Store) -> None:
    store.create("t/.tmp", b"x")
    store.move_tree("t/.tmp", "q/.tmp")
    assert [p for p in paths(store) if p != "t/"] == ["q/", "q/.tmp"]


def test_a_move_makes_the_parents_of_its_target(store: Store) -> None:
    store.create("t/old/w", b"w")
    store.move_tree("t/old", "far/away/new")
    assert store.read_bytes("far/away/new/w") == b"w"


def test_a_move_never_replaces_nor_nests(store: Store) -> None:
    store.create("old/w", b"w")
    store.create("new/v", b"v")
    with pytest.raises(FileExistsError):
        store.move_tree("old", "new")
    assert paths(store) == ["new/", "new/v", "old/", "old/w"]


def test_a_move_never_replaces_an_empty_folder(store: Store) -> None:
    store.create("old/w", b"w")
    make_folder(store, "new")
    with pytest.raises(FileExistsError):
        store.move_tree("old", "new")
    assert paths(store) == ["new/", "old/", "old/w"]


def test_a_move_never_replaces_a_file(store: Store) -> None:
    store.create("old/w", b"w")
    store.create("new", b"v")
    with pytest.raises(FileExistsError):
        store.move_tree("old", "new")
    assert store.read_bytes("new") == b"v"


def test_moving_what_is_not_there_is_a_location_error(store: Store) -> None:
    with pytest.raises(LocationError, match="not there"):
        store.move_tree("nothing", "t/new")
    assert paths(store) == []


def test_names_with_signs_of_patterns_are_names(store: Store) -> None:
    store.create("t_[lr]*?/w", b"w")
    store.create("t_l/w", b"other")
    store.move_tree("t_[lr]*?", "t_{new}")
    store.create("x[1]", b"")
    store.create("x1", b"")
    store.remove(["x[1]"])
    assert paths(store) == ["t_l/", "t_l/w", "t_{new}/", "t_{new}/w", "x1"]


def test_remove_takes_files_and_emptied_folders_only(store: Store) -> None:
    for path in ("a/b/1", "a/b/2", "c/3", "c/4"):
        store.create(path, b"")
    store.remove(["a", "a/b", "a/b/1", "a/b/2", "c/3", "c", "gone", "gone/too"])
    assert paths(store) == ["c/", "c/4"]


def test_paths_that_lead_elsewhere_are_refused(store: Store) -> None:
    for path in ("../x", "/etc/passwd", "a/../../x", "", "a//b", "./a"):
        with pytest.raises(LocationError):
            store.create(path, b"")
        with pytest.raises(LocationError):
            store.read_bytes(path)
        with pytest.raises(LocationError):
            store.move_tree("a", path)


def test_flush_and_sweep_change_nothing(store: Store) -> None:
    store.create("a/record", b"x")
    store.flush(["a", "", "gone"])
    store.sweep(["a/record", "gone"])
    assert paths(store) == ["a/", "a/record"]


def test_a_reader_has_no_way_to_write(store: Store) -> None:
    store.create("a", b"x")
    reader = ReadOnly(store)
    assert reader.read_bytes("a") == b"x" and reader.root == store.root
    assert [e.path for e in reader.list_tree()] == ["a"]
    assert reader.stat("a") == store.stat("a") and reader.location == store.location
    assert reader.capabilities == store.capabilities
    with reader.open_read("a") as stream:
        assert stream.read() == b"x"
    for verb in ("create", "replace", "move_tree", "remove", "flush", "sweep"):
        assert not hasattr(reader, verb)


def test_a_counting_store_counts_every_verb(store: Store) -> None:
    counting = Counting(store)
    counting.create("a/b", b"1")
    counting.replace("a/b", b"2")
    counting.move_tree("a", "c")
    counting.open_read("c/b").close()
    counting.list_tree()
    counting.stat("c")
    counting.read_bytes("c/b")
    counting.flush(["c"])
    counting.sweep(["c/b"])
    counting.remove(["c/b"])
    assert set(counting.calls.values()) == {1} and len(counting.calls) == 10
    assert (counting.location, counting.root) == (store.location, store.root)
    assert counting.capabilities == store.capabilities


def test_create_has_one_winner_among_processes(tmp_path: Path) -> None:
    code = (
        "import sys; from ckptctl.storage.local_store import LocalStore\n"
        "sys.stdin.read(); store = LocalStore(sys.argv[1])\n"
        "print(sum(store.create(f'lock{n}', sys.argv[2].encode()) for n in range(40)))"
    )
    racers = [
        subprocess.Popen(
            [sys.executable, "-c", code, str(tmp_path), str(number)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        )
        for number in range(3)
    ]
    for racer in racers:
        assert racer.stdin is not None
        racer.stdin.close()
    won = []
    for racer in racers:
        assert racer.stdout is not None
        won.append(int(racer.stdout.read()))
        assert racer.wait() == 0
        racer.stdout.close()
    assert sum(won) == 40
    assert len(list(tmp_path.iterdir())) == 40
