from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from ckptctl.journal.lock import Holder, acquire, release
from ckptctl.scanner import scan
from ckptctl.storage.location import open_store
from tests.support import copy_of

NAME = "ray-2.54.1-class_freq"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    copy = copy_of(NAME, tmp_path)
    (copy / ".ckptctl").mkdir()
    return copy


def write(place: Path, name: str, content: object) -> None:
    text = content if isinstance(content, str) else json.dumps(content)
    (place / ".ckptctl" / name).write_text(text)


def holder(place: Path) -> str | None:
    (experiment,) = scan(str(place))
    return experiment.lock_holder


def lock(pid: int, token: str) -> dict[str, object]:
    return {"pid": pid, "host": "node-7", "token": token}


def test_the_holder_of_a_real_lock_is_told(place: Path) -> None:
    assert holder(place) is None
    store = open_store(str(place))
    me = Holder(host="node-7", pid=4711, started="1")
    held = acquire(store, me, 1_700_000_000.0, lambda _: False)
    assert holder(place) == "process 4711 on node-7"
    assert holder(place.parent) == "process 4711 on node-7"
    release(store, held)
    assert holder(place) is None


def test_who_took_over_the_lock_of_the_dead_holds_it(place: Path) -> None:
    write(place, "lock.json", lock(1, "aa"))
    write(place, "lock-aa.json", lock(2, "bb"))
    write(place, "lock-zz.json", lock(9, "cc"))
    assert holder(place) == "process 2 on node-7"
    (place / ".ckptctl" / "lock.json").unlink()
    assert holder(place) is None


def test_a_lock_that_follows_itself_ends(place: Path) -> None:
    write(place, "lock.json", lock(1, "aa"))
    write(place, "lock-aa.json", lock(2, "aa"))
    assert holder(place) == "process 2 on node-7"


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"pid": "x", "host": 1}', "[" * 100_000])
def test_a_garbled_lock_is_somebodys(place: Path, text: str) -> None:
    write(place, "lock.json", text)
    assert holder(place) == "an unknown process"


def test_what_is_no_file_is_no_lock(place: Path) -> None:
    os.mkfifo(place / ".ckptctl" / "lock.json")
    assert holder(place) is None


def test_a_journal_that_is_not_closed_is_pending(place: Path) -> None:
    entries = {"0001-aaaaaaaaaaaa": ("plan", "commit"), "0002-bbbbbbbbbbbb": ("plan",)}
    for entry, files in entries.items():
        (place / ".ckptctl" / "journal" / entry).mkdir(parents=True)
        for file in files:
            write(place, f"journal/{entry}/{file}.json", {})
    (experiment,) = scan(str(place.parent))
    assert experiment.pending == "bbbbbbbbbbbb"
