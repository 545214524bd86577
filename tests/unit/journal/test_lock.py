"""One lock, whoever comes when, and whoever died holding it."""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from ckptctl.errors import JournalError, LocationError
from ckptctl.executor.process import is_dead, this_process
from ckptctl.journal import lock as locks
from ckptctl.journal.lock import LEASE, Held, Holder, acquire, holder_of, release, renew
from ckptctl.journal.paths import LOCK
from ckptctl.storage.local_store import LocalStore

ME = Holder(host="here", pid=1, started="s", boot="b", space="n")
OTHER = Holder(host="there", pid=2, started="s", boot="b", space="n")


def alive(_: Holder) -> bool:
    return False


def dead(holder: Holder) -> bool:
    return holder == OTHER


@pytest.fixture
def store(tmp_path: Path) -> LocalStore:
    return LocalStore(str(tmp_path), location="exp")


def files(store: LocalStore) -> list[str]:
    return [e.path for e in store.list_tree()]


def test_a_lock_that_is_given_back_leaves_nothing(store: LocalStore) -> None:
    held = acquire(store, ME, 100.0, alive)
    assert files(store) == [".ckptctl", LOCK]
    found = holder_of(store)
    assert found is not None and found.holder == ME
    release(store, held)
    assert files(store) == [] and holder_of(store) is None


def test_a_held_lock_names_its_holder_and_age(store: LocalStore) -> None:
    acquire(store, OTHER, 100.0, alive)
    with pytest.raises(JournalError) as caught:
        acquire(store, ME, 220.0, alive)
    assert caught.value.message == "cannot lock exp: held by process 2 on there, for 2 min"
    assert caught.value.hint == "wait until it has finished"


def test_a_lock_that_was_not_renewed_says_how_to_remove_it(store: LocalStore) -> None:
    acquire(store, OTHER, 0.0, alive)
    with pytest.raises(JournalError) as caught:
        acquire(store, ME, 3 * 86400.0, alive)
    assert "not been heard of for 3 d" in (caught.value.hint or "")
    assert LOCK in (caught.value.hint or "")


def test_the_lock_of_a_dead_process_is_taken_over(store: LocalStore) -> None:
    acquire(store, OTHER, 0.0, alive)
    held = acquire(store, ME, 3600.0, dead)
    assert held.note == ("took over the lock of a run that has ended (process 2 on there, for 1 h)")
    found = holder_of(store)
    assert found is not None and found.holder == ME
    with pytest.raises(JournalError):
        acquire(store, replace(ME, pid=3), 3600.0, dead)
    release(store, held)
    assert files(store) == []


def test_a_successor_that_died_has_a_successor(store: LocalStore) -> None:
    acquire(store, OTHER, 0.0, alive)
    second = replace(OTHER, pid=3)
    acquire(store, second, 0.0, dead)
    held = acquire(store, ME, 0.0, lambda h: h in (OTHER, second))
    assert len(held.chain) == 3
    release(store, held)
    assert files(store) == []


def test_a_crash_between_the_two_halves_of_a_release_locks_nobody_out(store: LocalStore) -> None:
    acquire(store, OTHER, 0.0, alive)
    acquire(store, ME, 0.0, dead)
    store.remove([LOCK])
    held = acquire(store, OTHER, 0.0, alive)
    assert held.chain == (LOCK,)


def test_of_many_who_find_a_dead_lock_one_takes_it(store: LocalStore) -> None:
    acquire(store, OTHER, 0.0, alive)
    ready = threading.Barrier(8)
    won: list[Held] = []

    def race(number: int) -> None:
        ready.wait()
        try:
            won.append(acquire(store, replace(ME, pid=10 + number), 0.0, dead))
        except JournalError:
            return

    threads = [threading.Thread(target=race, args=(n,)) for n in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1
    found = holder_of(store)
    assert found is not None and found.token == won[0].lock.token


class Meddling(LocalStore):
    """Lets something happen just before the next claim is written."""

    def __init__(self, root: str, meddle: Callable[[], None]) -> None:
        super().__init__(root)
        self.meddle: Callable[[], None] | None = meddle

    def create(self, path: str, data: bytes) -> bool:
        if path != LOCK and self.meddle is not None:
            meddle, self.meddle = self.meddle, None
            meddle()
        return super().create(path, data)


def test_a_claim_on_a_lock_that_was_released_meanwhile_is_void(
    store: LocalStore, tmp_path: Path
) -> None:
    """The slow one saw the dead lock; before it claims, a fast one took it and gave it back."""
    acquire(store, OTHER, 0.0, alive)

    def meddle() -> None:
        release(store, acquire(store, replace(ME, pid=7), 0.0, dead))
        acquire(store, replace(ME, pid=8), 0.0, dead)

    slow = Meddling(str(tmp_path), meddle)
    with pytest.raises(JournalError, match="held by process 8"):
        acquire(slow, ME, 0.0, dead)
    assert files(store) == [".ckptctl", LOCK]


def test_a_lock_is_renewed_after_half_its_lease(store: LocalStore) -> None:
    held = acquire(store, ME, 0.0, alive)
    assert renew(store, held, LEASE / 2 - 1) is held
    again = renew(store, held, LEASE / 2)
    found = holder_of(store)
    assert found is not None and found.renewed == again.lock.renewed == LEASE / 2
    assert found.token == held.lock.token and found.taken == 0.0
    release(store, again)
    assert files(store) == []


def test_a_lock_that_another_took_is_neither_renewed_nor_released(store: LocalStore) -> None:
    held = acquire(store, ME, 0.0, alive)
    store.remove([LOCK])
    acquire(store, OTHER, 0.0, alive)
    assert renew(store, held, LEASE) is held
    release(store, held)
    found = holder_of(store)
    assert found is not None and found.holder == OTHER


def test_a_driver_that_tries_again_holds_what_it_took(store: LocalStore) -> None:
    class Twice(LocalStore):
        def create(self, path: str, data: bytes) -> bool:
            super().create(path, data)
            return super().create(path, data)

    held = acquire(Twice(store.root), ME, 0.0, alive)
    assert held.chain == (LOCK,)


def test_a_lock_that_is_no_lock_is_a_damaged_journal(store: LocalStore) -> None:
    store.create(LOCK, b"{}")
    with pytest.raises(JournalError, match=r"damaged: \.ckptctl/lock\.json"):
        acquire(store, ME, 0.0, alive)


def test_others_that_are_always_faster_end_in_an_error(
    store: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(LocalStore, "create", lambda self, path, data: False)
    with pytest.raises(JournalError, match="others keep taking the lock"):
        acquire(store, ME, 0.0, alive)


def test_ages_are_told_in_one_unit() -> None:
    spans = [locks._span(s) for s in (-5, 59, 60, 3599, 3600, 86400 * 2)]
    assert spans == ["0 s", "59 s", "1 min", "59 min", "1 h", "2 d"]


def test_this_process_is_alive_and_one_that_ended_is_not() -> None:
    me = this_process()
    assert not is_dead(me, me)
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    assert is_dead(replace(me, pid=ended.pid), me)
    assert is_dead(replace(me, started="another"), me) == os.path.isdir("/proc/self")


def test_of_other_machines_and_containers_nothing_is_known() -> None:
    me = this_process()
    gone = replace(me, pid=10**7, started="0")
    assert is_dead(gone, me)
    assert not is_dead(replace(gone, host="elsewhere"), me)
    assert not is_dead(replace(gone, space="another"), me)
    assert is_dead(replace(me, boot="before the restart"), me)


def test_without_proc_a_process_is_asked_by_signal(monkeypatch: pytest.MonkeyPatch) -> None:
    me = this_process()
    monkeypatch.setattr(os.path, "isdir", lambda path: False)
    assert not is_dead(me, me)
    assert is_dead(replace(me, pid=10**7), me)

    def kill(pid: int, number: int) -> None:
        raise PermissionError

    monkeypatch.setattr(os, "kill", kill)
    assert not is_dead(replace(me, pid=1), me)


def test_tokens_are_never_used_twice(store: LocalStore) -> None:
    tokens = [locks._lock_of(ME, 0.0).token for _ in range(100)]
    assert all(a != b for a, b in itertools.combinations(tokens, 2))


def test_a_lock_that_vanishes_while_it_is_read_is_no_lock(
    store: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    acquire(store, OTHER, 0.0, alive)
    real = LocalStore.read_bytes

    def read_bytes(self: LocalStore, path: str, limit: int | None = None) -> bytes:
        self.remove([LOCK])
        return real(self, path, limit)

    monkeypatch.setattr(LocalStore, "read_bytes", read_bytes)
    assert holder_of(store) is None


def test_a_lock_that_cannot_be_read_is_an_error(
    store: LocalStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    acquire(store, OTHER, 0.0, alive)

    def read_bytes(self: LocalStore, path: str, limit: int | None = None) -> bytes:
        raise LocationError("no permission")

    monkeypatch.setattr(LocalStore, "read_bytes", read_bytes)
    with pytest.raises(LocationError, match="no permission"):
        holder_of(store)
