"""A large listing is divided into ranges of keys, and is as whole as one in turn."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckptctl.storage import object_listing, object_reader
from ckptctl.storage.object_listing import Unsorted, list_blobs, list_in_turn
from ckptctl.storage.object_store import ObjectStore
from ckptctl.storage.retrying import Pace
from ckptctl.storage.service import Blob, Limits
from tests.backends.conftest import Bucket
from tests.backends.memory_service import MemoryService
from tests.backends.upload import put

PAGE = 5


@pytest.fixture(autouse=True)
def _small_pages(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(object_listing, "_PAGE", PAGE)
    monkeypatch.setattr(object_listing, "_ALONE", 2)


class Counting(MemoryService):
    """A service that counts what is asked of it, and may list in another order."""

    def __init__(self, keys: Sequence[str], *, turned: bool = False) -> None:
        super().__init__(limits=Limits(single_copy=1 << 30, deletions=7, requests=8))
        for key in keys:
            self.set(key, key.encode())
        self.asked: Counter[str] = Counter()
        self.turned = turned

    async def page(
        self, prefix: str, token: str | None, most: int, after: str | None = None
    ) -> tuple[list[Blob], str | None]:
        self.asked["page"] += 1
        found, behind = await super().page(prefix, token, most, after)
        return (found[::-1] if self.turned else found), behind

    async def folders(self, prefix: str, after: str, most: int) -> list[str]:
        self.asked["folders"] += 1
        return await super().folders(prefix, after, most)


def listed(service: MemoryService, prefix: str) -> list[str]:
    found: list[Blob] = []
    asyncio.run(list_blobs(service, Pace(8), prefix, found.extend))
    return [blob.key for blob in found]


NAMES = st.sampled_from(["a", "a-", "a.b", "ab", "b", "c", "é", "trial_1", "trial_10", "trial_2"])
KEYS = st.lists(st.lists(NAMES, min_size=1, max_size=4).map("/".join), min_size=1, max_size=200)


@given(KEYS, st.sampled_from(["", "a/", "trial_1/"]))
@settings(max_examples=200)
def test_every_key_comes_once(keys: list[str], prefix: str) -> None:
    service = Counting([*keys, *(f"{key}/" for key in keys[:3])])
    wanted = [key for key in service.objects if key.startswith(prefix)]
    try:
        assert sorted(listed(service, prefix)) == sorted(wanted)
    except Unsorted:
        # A file beside the folders, behind whose name a range would begin.
        found: list[Blob] = []
        asyncio.run(list_in_turn(service, Pace(8), prefix, found.extend))
        assert sorted(b.key for b in found) == sorted(wanted)


def trials(number: int, files: int) -> list[str]:
    return [f"e/trial_{n:05d}/checkpoint_{f:06d}/x" for n in range(number) for f in range(files)]


def test_a_range_costs_one_page_and_folders_are_asked_for_rarely() -> None:
    keys = trials(100, 20)
    service = Counting(keys)
    assert sorted(listed(service, "e/")) == keys
    floor = -(-len(keys) // PAGE)
    ranges = service.asked["page"] - floor
    assert 5 <= ranges <= 100 and service.asked["folders"] <= ranges


def test_a_short_listing_costs_not_one_request_more() -> None:
    service = Counting(trials(2, 5))
    assert len(listed(service, "e/")) == 10 and service.asked == {"page": 2}


def test_an_order_that_changes_later_begins_anew() -> None:
    keys = trials(20, 5)
    service = Counting(keys)
    plain = service.page

    async def turning(*asked: Any, **named: Any) -> tuple[list[Blob], str | None]:
        found, behind = await plain(*asked, **named)
        return (found[::-1] if service.asked["folders"] else found), behind

    service.page = turning  # type: ignore[method-assign]
    with pytest.raises(Unsorted):
        listed(service, "e/")
    store = ObjectStore(service, "e", root="s3://b/e", location="s3://b/e")
    service.asked.clear()
    assert sum(1 for _, file in store.list_folders().below() if file) == len(keys)


def test_ranges_are_listed_side_by_side() -> None:
    service = Counting(trials(100, 20))
    at_once, most, plain = 0, 0, service.page

    async def slow(*asked: object, **named: object) -> tuple[list[Blob], str | None]:
        nonlocal at_once, most
        at_once += 1
        most = max(most, at_once)
        await asyncio.sleep(0)
        at_once -= 1
        return await plain(*asked, **named)  # type: ignore[arg-type]

    service.page = slow  # type: ignore[method-assign]
    listed(service, "e/")
    assert most >= 4


def test_a_service_with_an_order_of_its_own_is_listed_in_turn() -> None:
    keys = trials(20, 5)
    service = Counting(keys, turned=True)
    assert sorted(listed(service, "e/")) == keys
    assert service.asked == {"page": 20}
    store = ObjectStore(service, "e", root="s3://b/e", location="s3://b/e")
    assert sum(1 for _, file in store.list_folders().below() if file) == len(keys)
    assert [f"e/{e.path}" for e in store.list_objects()] == keys


def test_real_services_list_trials_in_ranges_and_never_twice(
    bucket: Bucket, monkeypatch: pytest.MonkeyPatch
) -> None:
    keys = [f"trial_{n:03d}/checkpoint_{f:06d}/part" for n in range(30) for f in range(3)]
    put(bucket, [(key, b"x") for key in keys])
    monkeypatch.setattr(object_reader, "list_in_turn", None)
    assert [e.path for e in bucket.store().list_objects()] == keys


def test_real_services_list_in_ranges_what_they_list_in_turn(bucket: Bucket) -> None:
    names = ["lr=0.1", "lr=0.10", "lr=0.1-x", *(f"trial_{n:03d}" for n in range(30))]
    keys = [f"{name}/checkpoint_{f:06d}/part" for name in names for f in range(3)]
    keys += ["experiment_state.json", "trial_007.txt", "trial_9/result.json"]
    put(bucket, [(key, b"x") for key in keys])
    store = bucket.store()
    assert [e.path for e in store.list_objects()] == sorted(keys)
    folders = store.list_folders()
    assert sorted(path for path, file in folders.below() if file) == sorted(keys)
