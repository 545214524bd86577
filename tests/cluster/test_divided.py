"""The parts of a listing are together all of it."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckptctl.cluster.packed import Assembly, pack
from ckptctl.storage import local_walk, object_listing
from ckptctl.storage.local_store import LocalStore
from ckptctl.storage.local_walk import walk
from ckptctl.storage.object_listing import Unsorted, divide, list_part
from ckptctl.storage.object_store import ObjectStore
from ckptctl.storage.retrying import Pace
from ckptctl.storage.service import Blob
from tests.backends.memory_service import MemoryService
from tests.cluster.test_units import told

NAMES = st.sampled_from(["a", "a-", "a.b", "ab", "b", "c", "é", "trial_1", "trial_10", "trial_2"])
KEYS = st.lists(st.lists(NAMES, min_size=1, max_size=4).map("/".join), min_size=1, max_size=200)


def held(keys: list[str]) -> MemoryService:
    service = MemoryService()
    for key in keys:
        service.set(f"exp/{key}", key.encode())
    return service


@given(KEYS, st.integers(1, 20), st.sampled_from([1, 3]))
@settings(max_examples=200)
def test_ranges_are_together_all_keys(keys: list[str], most: int, fewest: int) -> None:
    service = held([*keys, *(f"{key}/" for key in keys[:3])])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(object_listing, "_PAGE", 5)
        patch.setattr(object_listing, "_FEWEST", fewest)
        parts = asyncio.run(divide(service, Pace(8), "exp/", most))
        assert len(parts) != 1 and len(parts) <= most
        found: list[Blob] = []
        try:
            for part in parts:
                asyncio.run(list_part(service, Pace(8), "exp/", part, found.extend))
        except Unsorted:
            # A range that begins with the marker of an empty folder, or with a file of that name.
            return
    assert not parts or sorted(b.key for b in found) == sorted(service.objects)


def test_trials_of_a_few_experiments_are_divided() -> None:
    service = held([f"tune_lr/trial_{n:02d}/result.json" for n in range(40)])
    service.set("exp/tune_wd/trial_00/result.json", b"")
    parts = asyncio.run(divide(service, Pace(8), "exp/", 8))
    assert len(parts) > 4
    assert all(part.first.startswith("exp/tune_") for part in parts[1:])
    store = ObjectStore(service, "exp", root="s3://b/exp", location="s3://b/exp")
    division = store.divide(8)
    assert division is not None
    assembly = Assembly(division.known)
    for part in division.parts:
        folder = store.list_part(part)
        assert folder is not None
        assembly.add(pack(folder))
    assert told(assembly.root()) == told(store.list_folders())


def test_a_range_whose_folder_is_gone_is_no_longer_what_it_was() -> None:
    service = held([f"trial_{n:02d}/result.json" for n in range(40)])
    store = ObjectStore(service, "exp", root="s3://b/exp", location="s3://b/exp")
    division = store.divide(4)
    assert division is not None
    last = division.parts[-1]
    for key in [key for key in service.objects if key > (last.after or "")]:
        del service.objects[key]
    assert [store.list_part(part) is None for part in division.parts] == [
        *([False] * (len(division.parts) - 2)),
        *(True, True),
    ]


def test_a_folder_on_a_disk_that_is_gone_is_no_longer_what_it_was(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local_walk, "ENOUGH", 1)
    (tmp_path / "trial").mkdir()
    store = LocalStore(str(tmp_path))
    division = store.divide(1)
    assert division is not None and [p.folders for p in division.parts] == [("trial",)]
    assert store.list_part(division.parts[0]) is not None
    (tmp_path / "trial").rmdir()
    assert store.list_part(division.parts[0]) is None


@given(KEYS, st.integers(1, 20), st.sampled_from([1, 3, 256]))
@settings(max_examples=50)
def test_folders_on_a_disk_are_together_all_of_it(paths: list[str], most: int, enough: int) -> None:
    with tempfile.TemporaryDirectory() as place, pytest.MonkeyPatch.context() as patch:
        patch.setattr(local_walk, "ENOUGH", enough)
        for path in paths:
            folder = Path(place, path)
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "file.bin").write_bytes(path.encode())
        store = LocalStore(place)
        division = store.divide(most)
        assert division is not None
        assembly = Assembly(division.known)
        for part in division.parts:
            walked = store.list_part(part)
            assert walked is not None
            assembly.add(pack(walked))
        assert told(assembly.root()) == told(walk(place))
