"""Rename, reindex, undo and resume of real experiments in buckets of real servers."""

from __future__ import annotations

import itertools
import os
import random
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from ckptctl import api
from ckptctl.errors import ApplyError, CkptctlError, StalePlanError
from ckptctl.executor import apply, resume, undo, work
from ckptctl.journal.store import history
from ckptctl.model.plan import Plan
from ckptctl.storage.object_store import ObjectStore
from ckptctl.storage.service import Blob, Deleted, Service
from ckptctl.storage.store import Entry
from tests.backends.conftest import Bucket
from tests.backends.upload import experiment, objects, put, put_folder
from tests.faults.world import Crash, Faults, a_process
from tests.support import copy_of, corpus

TEMPLATE = "checkpoint_{index:06d}-{loss:.4f}"
SAMPLED = int(os.environ.get("CKPTCTL_TEST_KILLS", "30"))
"""How many kill points are tried on each server."""
RENAMED = ("ray-2.54.1-function_topk", "ray-2.7.2-function_topk", "ray-2.6.3-function_topk")
REINDEXED = (
    "killed--ray-2.54.1",
    "latest-folder-removed--ray-2.54.1-train_v2_topk",
    "renumbered-by-hand--ray-2.54.1-function_topk",
)


@pytest.fixture(autouse=True)
def processes_that_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each call is another process, which has ended when the next one begins."""
    numbers = itertools.count()
    monkeypatch.setattr(work, "this_process", lambda: a_process(next(numbers)))


def users(bucket: Bucket) -> dict[str, bytes]:
    """Everything but ckptctl's own."""
    return {k: v for k, v in objects(bucket).items() if ".ckptctl/" not in k}


def on_disk(folder: Path) -> dict[str, bytes]:
    found = (p for p in folder.rglob("*") if p.is_file() and ".ckptctl" not in p.parts)
    return {p.relative_to(folder).as_posix(): p.read_bytes() for p in found}


def renaming(location: str) -> Plan:
    [found] = api.scan(location)
    return api.plan_rename(found, template=TEMPLATE)


def reindexing(location: str) -> Plan:
    [found] = api.scan(location)
    return api.plan_reindex(found)


@pytest.mark.parametrize(
    ("name", "planning"),
    [*((n, renaming) for n in RENAMED), *((n, reindexing) for n in REINDEXED)],
)
def test_what_an_apply_does_on_disk_it_does_in_a_bucket(
    bucket: Bucket, tmp_path: Path, name: str, planning: Callable[[str], Plan]
) -> None:
    put_folder(bucket, corpus(name))
    local = copy_of(name, tmp_path)
    plan, there = planning(str(local)), planning(bucket.url)
    assert [type(s) for s in plan.steps] == [type(s) for s in there.steps] and plan.steps
    before = users(bucket)
    assert api.apply(plan, allow_live=True).verified
    done = api.apply(there, allow_live=True)
    assert done.verified, done.notes
    assert users(bucket) == on_disk(local)
    assert api.undo(bucket.url, allow_live=True).verified
    assert users(bucket) == before
    assert [e.state for e in api.history(bucket.url)] == ["undone", "applied"]


class FaultyService:
    """A service whose requests that change something can be the last of a process."""

    def __init__(self, service: Service, faults: Faults) -> None:
        self._service = service
        self._faults = faults
        self.limits = service.limits

    async def put(
        self, key: str, data: bytes, *, expect: str | None = None, like: Blob | None = None
    ) -> Blob:
        number = self._before()
        found = await self._service.put(key, data, expect=expect, like=like)
        self._after(number)
        return found

    async def copy(self, source: Blob, key: str) -> Blob:
        number = self._before()
        found = await self._service.copy(source, key)
        self._after(number)
        return found

    async def delete(self, blobs: Sequence[Blob]) -> Deleted:
        number = self._before()
        if number == self._faults.at and self._faults.after:
            # A request for many that is cut off has deleted some of them.
            await self._service.delete(blobs[: -(-len(blobs) // 2)])
        self._after(number)
        return await self._service.delete(blobs)

    def _before(self) -> int:
        faults = self._faults
        if faults.dead:
            raise Crash
        number, faults.count = faults.count, faults.count + 1
        if number == faults.at and not faults.after:
            faults.strike()
        return number

    def _after(self, number: int) -> None:
        faults = self._faults
        if faults.dead or (faults.after and number == faults.at):
            faults.strike()

    def __getattr__(self, name: str) -> object:
        return getattr(self._service, name)


def faulty(store: ObjectStore, faults: Faults, base: str) -> ObjectStore:
    service = FaultyService(store._service, faults)
    return ObjectStore(service, base, root=store.root, location=store.location)  # type: ignore[arg-type]


def kill_points(total: int, seed: str) -> Iterator[tuple[int, bool]]:
    every = [(at, after) for at in range(total) for after in (False, True)]
    yield from sorted(random.Random(seed).sample(every, min(SAMPLED, len(every))))


def test_a_kill_anywhere_can_be_resumed_or_undone(bucket: Bucket) -> None:
    put(bucket, experiment(trials=2, checkpoints=3, files=2))
    place, first = bucket.place, users(bucket)
    plan, faults = renaming(bucket.url), Faults()
    faults.arm(None)
    store = faulty(bucket.store(), faults, place)
    assert apply(store, plan).verified
    last, total = users(bucket), faults.count
    assert undo(bucket.store()).verified
    assert users(bucket) == first and total > 20
    for number, (at, after) in enumerate(kill_points(total, bucket.scheme)):
        store = faulty(bucket.store(), faults, place)
        faults.arm(at, after=after)
        with pytest.raises(Crash):
            apply(store, plan)
        begun = any(e.state == "pending" for e in history(bucket.store()))
        assert resume(bucket.store()).verified
        done = begun or history(bucket.store())[-1].plan_id == plan.plan_id
        assert users(bucket) == (last if done else first), (at, after)
        if number % 2 and begun:
            continue_undone(bucket, plan, faults, at, last)
        elif done:
            assert undo(bucket.store()).verified
        assert users(bucket) == first, (at, after)


def continue_undone(
    bucket: Bucket, plan: Plan, faults: Faults, at: int, last: dict[str, bytes]
) -> None:
    """The way back is killed too, and then taken."""
    store = faulty(bucket.store(), faults, bucket.place)
    faults.arm(at)
    try:
        undo(store)
    except Crash:
        if not any(e.state == "pending" for e in history(bucket.store())):
            assert users(bucket) == last
            undo(bucket.store())
        else:
            assert resume(bucket.store()).verified


def test_what_appears_or_changes_meanwhile_is_not_deleted(bucket: Bucket) -> None:
    put(bucket, experiment(trials=1, checkpoints=2, files=2))
    plan, store = renaming(bucket.url), bucket.store()
    old = plan.moves[0].source
    real = store.discard

    def meddle(entries: Sequence[Entry]) -> tuple[Entry, ...]:
        put(bucket, [(f"{old}/part-0.bin", b"written again"), (f"{old}/late.bin", b"late")])
        return real(entries)

    store.discard = meddle  # type: ignore[method-assign]
    outcome = apply(store, plan)
    left = {key: data for key, data in users(bucket).items() if key.startswith(f"{old}/")}
    if bucket.scheme == "s3":
        assert left == {f"{old}/part-0.bin": b"written again", f"{old}/late.bin": b"late"}
    else:  # this server deletes whatever the generation is
        assert left == {f"{old}/late.bin": b"late"}
    assert outcome.applied and not outcome.verified
    assert any(old in note for note in outcome.notes)


def test_what_changed_before_the_deletion_is_kept_and_told(bucket: Bucket) -> None:
    put(bucket, experiment(trials=1, checkpoints=2, files=2))
    plan, store = renaming(bucket.url), bucket.store()
    old = plan.moves[0].source
    real = store.replace

    def meddle(path: str, data: bytes) -> None:
        put(bucket, [(f"{old}/part-0.bin", b"written again"), (f"{old}/late.bin", b"late")])
        real(path, data)

    store.replace = meddle  # type: ignore[method-assign]
    outcome = apply(store, plan)
    left = {key: data for key, data in users(bucket).items() if key.startswith(f"{old}/")}
    assert left == {f"{old}/part-0.bin": b"written again", f"{old}/late.bin": b"late"}
    assert outcome.applied and not outcome.verified
    assert f"{old}/late.bin appeared while it was moved, and was not deleted" in outcome.notes
    assert f"{old}/part-0.bin changed while it was moved, and was not deleted" in outcome.notes


def test_a_target_that_appears_meanwhile_stops_the_apply_and_leaves_nothing(s3: Bucket) -> None:
    put(s3, experiment(trials=1, checkpoints=3, files=2))
    plan, store = renaming(s3.url), s3.store()
    real = store.copy

    def meddle(pairs: Sequence[tuple[Entry, str]]) -> AbstractContextManager[Iterator[Entry]]:
        put(s3, [(pairs[-1][1], b"somebody else's")])
        return real(pairs)

    store.copy = meddle  # type: ignore[assignment, method-assign]
    first = users(s3)
    with pytest.raises(StalePlanError, match="exists"):
        apply(store, plan)
    theirs = {key: data for key, data in users(s3).items() if key not in first}
    assert set(theirs.values()) == {b"somebody else's"}
    assert not history(s3.store())


def test_a_record_that_changes_meanwhile_is_not_overwritten(bucket: Bucket) -> None:
    put(bucket, experiment(trials=1, checkpoints=2, files=2))
    plan, store = renaming(bucket.url), bucket.store()
    real = store.replace

    def meddle(path: str, data: bytes) -> None:
        put(bucket, [(path, b"another run wrote this\n")])
        real(path, data)

    store.replace = meddle  # type: ignore[method-assign]
    with pytest.raises(ApplyError, match="its content changed"):
        apply(store, plan)
    log = next(key for key in users(bucket) if key.endswith("result.json"))
    assert users(bucket)[log] == b"another run wrote this\n"
    with pytest.raises(CkptctlError):
        resume(bucket.store())
    assert users(bucket)[log] == b"another run wrote this\n"
