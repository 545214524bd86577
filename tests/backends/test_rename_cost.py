"""What a rename of 200 checkpoints costs in a bucket: requests on each server, and time on S3."""

from __future__ import annotations

import time

import pytest

from ckptctl import api
from ckptctl.executor import apply, undo
from ckptctl.model.plan import Plan
from tests.backends.conftest import Bucket
from tests.backends.upload import experiment, put, put_many, run_s5cmd

TRIALS, CHECKPOINTS, FILES = 1, 200, 3
OBJECTS = TRIALS * CHECKPOINTS * FILES
RECORDS = 2 * TRIALS
RUNS = 4
TEMPLATE = "checkpoint_{index:06d}-{loss:.6f}"


def plan_of(url: str) -> Plan:
    [found] = api.scan(url)
    plan = api.plan_rename(found, template=TEMPLATE)
    assert not plan.refusals and len(plan.moves) == TRIALS * CHECKPOINTS
    return plan


def measured(s3: Bucket, plan: Plan) -> float:
    """Seconds of an apply, the start of a process left out."""
    store = s3.store()
    began = time.monotonic()
    assert apply(store, plan).verified
    return time.monotonic() - began


def of_s5cmd(s3: Bucket, *arguments: str) -> float:
    began = time.monotonic()
    run_s5cmd(s3, *arguments)
    return time.monotonic() - began


def test_a_rename_copies_each_object_once_and_deletes_in_batches(s3: Bucket) -> None:
    put_many(s3, experiment(TRIALS, CHECKPOINTS, FILES, size=100_000))
    plan, proxy = plan_of(s3.url), s3.through()
    store = s3.store()
    proxy.forget()
    outcome = apply(store, plan)
    assert outcome.applied and outcome.verified, outcome.notes
    assert store.unchecked, "obstore made no copy"
    counts = proxy.counts()
    print(f"\n  {dict(counts)}")
    assert counts["COPY"] == OBJECTS
    batches = [int(r["keys"]) for r in proxy.requests() if r["op"] == "DELETE_BATCH"]
    assert sorted(batches) == [100, 250, 250]
    # The journal, before, after the copies, before the deletions, after them; two of more than
    # a page.
    assert counts["LIST"] <= 9
    # Looked at, rewritten, and looked at again; kept in the journal.
    assert counts["GET"] <= 3 * RECORDS + 1 and counts["PUT"] <= 2 * RECORDS + 3
    assert counts["HEAD"] + counts["DELETE"] <= 4
    assert sum(counts.values()) <= OBJECTS + 5 * RECORDS + 20


def test_a_rename_in_gcs_is_one_rewrite_and_one_deletion_an_object(gs: Bucket) -> None:
    put(gs, experiment(TRIALS, CHECKPOINTS, FILES, size=100))
    plan, proxy = plan_of(gs.url), gs.through()
    store = gs.store()
    proxy.forget()
    outcome = apply(store, plan)
    assert outcome.applied and outcome.verified, outcome.notes
    counts = proxy.counts()
    print(f"\n  {dict(counts)}")
    assert counts["REWRITE"] == OBJECTS
    assert counts["DELETE"] <= OBJECTS + 2
    assert counts["LIST"] <= 9 and counts["HEAD"] <= 2
    assert counts["GET"] <= 3 * RECORDS + 1 and counts["PUT"] <= 2 * RECORDS + 3
    asked = [r["path"] for r in proxy.requests() if r["op"] == "REWRITE"]
    assert all("ifGenerationMatch=0" in p and "ifSourceGenerationMatch=1" in p for p in asked)
    gone = [r["path"] for r in proxy.requests() if r["op"] == "DELETE" and "/o/" in r["path"]]
    assert sum("ifGenerationMatch=1" in path for path in gone) == OBJECTS


@pytest.mark.speed
@pytest.mark.parametrize("delay", [0, 30])
def test_a_rename_takes_no_longer_than_s5cmd_does(s3: Bucket, delay: int) -> None:
    """By the best of some runs of each, taken in turns: the machine has other work too."""
    put_many(s3, experiment(TRIALS, CHECKPOINTS, FILES, size=100_000))
    plan = plan_of(s3.url)
    if delay:
        s3.through(delay_ms=delay)
    place = f"s3://test/{s3.place}-s5cmd"
    of_s5cmd(s3, "cp", f"{s3.url}/*", f"{place}/0/")
    ours, theirs = [], []
    for number in range(RUNS):
        start = of_s5cmd(s3, "version")
        theirs.append(of_s5cmd(s3, "mv", f"{place}/{number}/*", f"{place}/{number + 1}/") - start)
        ours.append(measured(s3, plan))
        assert undo(s3.store()).verified
        [found] = api.scan(s3.url)
        plan = api.plan_rename(found, template=TEMPLATE)
        if min(ours) <= 1.2 * min(theirs) and number:
            break
    print(f"\n  {delay} ms: ours {_seconds(ours)}, s5cmd {_seconds(theirs)}")
    assert min(ours) <= 1.2 * min(theirs)


def _seconds(taken: list[float]) -> str:
    return " ".join(f"{seconds:.2f}" for seconds in taken)
