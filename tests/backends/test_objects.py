"""What buckets have and folders do not: versions, markers, classes, parts, odd names."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace

from ckptctl import api
from ckptctl.cli.main import main
from ckptctl.executor import apply
from ckptctl.storage.gcs import Gcs
from ckptctl.storage.object_store import ObjectStore
from ckptctl.storage.s3 import S3
from ckptctl.storage.service import Blob
from ckptctl.storage.store import Entry
from tests.backends.conftest import Bucket
from tests.backends.servers import Weed
from tests.backends.upload import experiment, objects, put, put_folder
from tests.support import corpus

TEMPLATE = "checkpoint_{index:06d}-{loss:.4f}"
MIB = 1 << 20


def renamed(url: str) -> None:
    [found] = api.scan(url)
    outcome = api.apply(api.plan_rename(found, template=TEMPLATE))
    assert outcome.applied and outcome.verified, outcome.notes


def small_parts(s3: Bucket, *, above: int, part: int) -> ObjectStore:
    """The store of a service whose limits are small."""
    store = s3.store()
    service = store._service
    assert isinstance(service, S3)
    limits = replace(service.limits, single_copy=above)
    small = S3(service._fs, "test", limits=limits, part=part)
    return ObjectStore(small, s3.place, root=store.root, location=store.location)


def test_a_large_object_is_copied_in_parts_with_all_that_is_told_about_it(s3: Bucket) -> None:
    assert isinstance(s3.server, Weed)
    data = bytes(range(256)) * (12 * MIB // 256)
    s3.server.client.put_object(
        Bucket="test",
        Key=f"{s3.place}/t/a/w",
        Body=data,
        ContentType="application/x-weights",
        Metadata={"who": "me"},
        StorageClass="STANDARD_IA",
        Tagging="k=v",
    )
    proxy = s3.through()
    store = small_parts(s3, above=5 * MIB, part=5 * MIB)
    store.move_tree("t/a", "t/b")
    assert proxy.counts()["COPY_PART"] == 3 and proxy.counts()["COPY"] == 0
    assert objects(s3) == {"t/b/w": data}
    head = s3.server.client.head_object(Bucket="test", Key=f"{s3.place}/t/b/w")
    assert (head["ContentType"], head["Metadata"]) == ("application/x-weights", {"who": "me"})
    assert (head["StorageClass"], head["TagCount"]) == ("STANDARD_IA", 1)


def test_a_copy_in_parts_that_fails_leaves_nothing_behind(s3: Bucket) -> None:
    assert isinstance(s3.server, Weed)
    put(s3, [("t/a/w", b"x" * 6 * MIB), ("t/b", b"in the way")])
    store = small_parts(s3, above=5 * MIB, part=5 * MIB)
    [source] = store.list_objects("t/a")
    with pytest.raises(Exception, match="exists"), store.copy([(source, "t/b")]) as copied:
        list(copied)
    found = s3.server.client.list_multipart_uploads(Bucket="test").get("Uploads", [])
    assert [u for u in found if s3.place in u["Key"]] == []
    assert objects(s3)["t/b"] == b"in the way"


def test_metadata_and_classes_are_kept_by_a_rename(s3: Bucket) -> None:
    assert isinstance(s3.server, Weed)
    client = s3.server.client
    put(s3, experiment(trials=1, checkpoints=1, files=1))
    for name in ("checkpoint_000000/part-0.bin", "result.json"):
        key = f"{s3.place}/train_fn_00000/{name}"
        body = client.get_object(Bucket="test", Key=key)["Body"].read()
        told = {"ContentType": "x/y", "Metadata": {"a": "b"}, "StorageClass": "STANDARD_IA"}
        client.put_object(Bucket="test", Key=key, Body=body, Tagging="k=v", **told)
    renamed(s3.url)
    for name in ("checkpoint_000000-0.5000/part-0.bin", "result.json"):
        key = f"{s3.place}/train_fn_00000/{name}"
        head = client.head_object(Bucket="test", Key=key)
        assert (head["ContentType"], head["Metadata"]) == ("x/y", {"a": "b"}), name
        assert (head["StorageClass"], head["TagCount"]) == ("STANDARD_IA", 1), name


def test_metadata_and_classes_are_kept_by_a_rename_in_gcs(gs: Bucket) -> None:
    put(gs, experiment(trials=1, checkpoints=1, files=1))
    service = gs.store()._service
    told = {"contentType": "x/y", "metadata": {"a": "b"}, "storageClass": "NEARLINE"}
    like = Blob(key="", size=0, version="", kept=tuple(told.items()))
    for name, data in objects(gs).items():
        gs.store()._call(partial(service.put, f"{gs.place}/{name}", data, like=like))
    proxy = gs.through()
    renamed(gs.url)
    [copy] = [r for r in proxy.requests() if r["op"] == "REWRITE"]
    assert json.loads(copy["body"]) == told
    found = gs.store()._call(lambda: service.head(f"{gs.place}/train_fn_00000/result.json"))
    kept = dict(found.kept) if found else {}
    assert (kept["contentType"], kept["metadata"]) == ("x/y", {"a": "b"})


def test_old_versions_stay_in_a_versioned_bucket(s3: Bucket) -> None:
    assert isinstance(s3.server, Weed)
    client = s3.server.client
    s3.server.make_bucket("versioned")
    on = {"Status": "Enabled"}
    client.put_bucket_versioning(Bucket="versioned", VersioningConfiguration=on)
    for name, data in experiment(trials=1, checkpoints=2, files=1):
        client.put_object(Bucket="versioned", Key=f"exp/{name}", Body=data)
    renamed("s3://versioned/exp")
    old = "exp/train_fn_00000/checkpoint_000000/"
    found = client.list_object_versions(Bucket="versioned", Prefix=old)
    assert len(found["Versions"]) == 1 and len(found["DeleteMarkers"]) == 1
    assert api.undo("s3://versioned/exp").verified
    [back] = api.scan("s3://versioned/exp")
    names = [c.name for t in back.trials for c in t.checkpoints]
    assert names == ["checkpoint_000000", "checkpoint_000001"]


def test_markers_of_folders_move_along(bucket: Bucket) -> None:
    put(bucket, experiment(trials=1, checkpoints=2, files=1))
    store = bucket.store()
    for folder in ("train_fn_00000/checkpoint_000000", "train_fn_00000/checkpoint_000000/sub"):
        store._call(partial(store._service.put, f"{bucket.place}/{folder}/", b""))
    renamed(bucket.url)
    markers = [e.path for e in store.list_objects() if e.is_dir]
    new = "train_fn_00000/checkpoint_000000-0.5000"
    assert markers == [new, f"{new}/sub"]
    assert api.undo(bucket.url).verified
    assert [e.path for e in store.list_objects() if e.is_dir] == [
        "train_fn_00000/checkpoint_000000",
        "train_fn_00000/checkpoint_000000/sub",
    ]


def test_a_file_and_a_folder_of_one_name_are_both_seen(bucket: Bucket) -> None:
    put(bucket, [("x", b"file"), ("x/y", b"below"), ("z", b"")])
    found = [(e.path, e.is_dir) for e in bucket.store().list_tree()]
    assert found == [("x", False), ("x/y", False), ("z", False)]


def test_names_that_no_disk_could_have_are_never_opened_and_move_along(gs: Bucket) -> None:
    put(gs, [("t/a//b", b"1"), ("t/a/./c", b"2"), ("t/a/d", b"3")])
    store = gs.store()
    special = [e.path for e in store.list_tree() if e.is_special]
    assert special == ["t/a/./c", "t/a//b"]
    store.move_tree("t/a", "t/new")
    assert sorted(objects(gs)) == ["t/new/./c", "t/new//b", "t/new/d"]


def test_a_rewrite_that_takes_long_is_gone_on_with() -> None:
    asked: list[Mapping[str, str]] = []

    class Slow(Gcs):
        async def _json(self, method: str, path: str, told: Any, *rest: Any) -> Any:
            asked.append(dict(told))
            if len(asked) < 3:
                return {"done": False, "rewriteToken": f"token{len(asked)}"}
            return {"done": True, "resource": {"name": "b", "size": "5", "generation": "7"}}

    source = Blob(key="a", size=5, version="3")
    made = asyncio.run(Slow(None, "bucket").copy(source, "b"))
    assert (made.key, made.size, made.version) == ("b", 5, "7")
    assert [a.get("rewriteToken") for a in asked] == [None, "token1", "token2"]
    assert all(a["ifSourceGenerationMatch"] == "3" for a in asked)


def test_the_cost_is_told_before_anything_is_applied(bucket: Bucket, tmp_path: Path) -> None:
    put(bucket, experiment(trials=2, checkpoints=3, files=2, size=1000))
    [found] = api.scan(bucket.url)
    plan = api.plan_rename(found, template=TEMPLATE)
    requests = 46 if bucket.scheme == "s3" else 57
    told = f"moves by copying: 12 objects, 12.0 kB, in about {requests} requests"
    assert told in plan.notes
    proxy = bucket.through()
    store = bucket.store()
    proxy.forget()
    assert apply(store, plan).verified
    assert abs(sum(proxy.counts().values()) - requests) <= 4
    back = api.plan_undo(bucket.url)
    assert back is not None and told in back.notes


def test_progress_tells_objects_and_bytes(bucket: Bucket) -> None:
    put(bucket, experiment(trials=1, checkpoints=3, files=2, size=1000))
    told: list[tuple[int, ...]] = []

    class Watching:
        def begin(self, what: str, total: int) -> None: ...
        def advance(self, done: int) -> None: ...
        def end(self) -> None: ...
        def transfer(self, *numbers: int) -> None:
            told.append(numbers)

    [found] = api.scan(bucket.url)
    apply(bucket.store(), api.plan_rename(found, template=TEMPLATE), progress=Watching())
    assert told[-1] == (6, 6, 6000, 6000) and len(told) == 6


def test_a_stream_reads_an_object_in_pieces_from_anywhere(bucket: Bucket) -> None:
    data = bytes(range(256)) * 2000
    put(bucket, [("big", data), ("empty", b"")])
    store = bucket.store()
    with store.open_read("big") as stream:
        assert stream.read(10) == data[:10]
        stream.seek(-10, 2)
        assert stream.read() == data[-10:]
        stream.seek(100_000)
        assert stream.read() == data[100_000:]
    with store.open_read("empty") as stream:
        assert stream.read() == b""


def test_a_listing_is_never_from_a_cache(bucket: Bucket) -> None:
    put(bucket, [("a", b"1")])
    store = bucket.store()
    assert [e.path for e in store.list_tree()] == ["a"] and store.stat("b") is None
    put(bucket, [("b", b"2")])
    assert [e.path for e in store.list_tree()] == ["a", "b"]
    entry = store.stat("b")
    assert isinstance(entry, Entry) and entry.size == 1


def test_diff_of_a_disk_and_a_bucket(
    bucket: Bucket, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    local = corpus("ray-2.54.1-function_topk")
    put_folder(bucket, local)
    proxy = bucket.through()
    assert main(["diff", str(local), bucket.url]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines and all(line.startswith("= ") for line in lines)
    assert proxy.counts()["GET"] == 0
    put(bucket, [("tuner.pkl", (local / "tuner.pkl").read_bytes()[:-1] + b"!"), ("more", b"")])
    assert main(["diff", str(local), bucket.url, "--quiet"]) == 1
    assert capsys.readouterr().out.splitlines() == ["more", "tuner.pkl"]
    assert main(["diff", bucket.url, str(local), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    marks = {f["path"]: (f["mark"], f["reason"]) for f in found["files"] if f["mark"] != "="}
    assert marks == {"more": ("+", None), "tuner.pkl": ("*", "content")}


def test_diff_of_two_services(make_bucket: Any, capsys: pytest.CaptureFixture[str]) -> None:
    s3, gs = make_bucket("weed"), make_bucket("gcs")
    for bucket in (s3, gs):
        put_folder(bucket, corpus("ray-2.54.1-train_v2_topk"))
    assert main(["diff", s3.url, gs.url]) == 0
    put(gs, [("late", b"x")])
    assert main(["diff", s3.url, gs.url, "--quiet"]) == 1
    assert capsys.readouterr().out.splitlines()[-1] == "late"
