"""Putting experiments into buckets, past ckptctl."""

from __future__ import annotations

import http.client
import json
import os
import subprocess
import sys
import threading
import urllib.request
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import quote

from tests.backends.conftest import Bucket
from tests.backends.servers import Weed


def put(bucket: Bucket, files: Iterable[tuple[str, bytes]]) -> None:
    """Write objects below the place of a bucket."""
    write = _s3(bucket) if isinstance(bucket.server, Weed) else _gcs(bucket)
    with ThreadPoolExecutor(8) as pool:
        for _ in pool.map(lambda item: write(f"{bucket.place}/{item[0]}", item[1]), files):
            pass


def put_folder(bucket: Bucket, folder: Path, name: str = "") -> None:
    """Write all files of a folder, which become objects."""
    start = f"{name}/" if name else ""
    put(
        bucket,
        (
            (f"{start}{path.relative_to(folder).as_posix()}", path.read_bytes())
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        ),
    )


def put_many(bucket: Bucket, files: Iterable[tuple[str, bytes]]) -> None:
    """The same for many files, by a client that is faster than ours where there is one."""
    if not isinstance(bucket.server, Weed):
        put(bucket, files)
        return
    folder = bucket.tmp / "many"
    for name, data in files:
        path = folder / bucket.place / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    run_s5cmd(bucket, "cp", f"{folder}/", "s3://test/")


def run_s5cmd(bucket: Bucket, *arguments: str) -> None:
    """Run s5cmd against the server."""
    program = os.path.join(os.path.dirname(sys.executable), "s5cmd")
    subprocess.run(
        [program, "--numworkers", "32", *arguments],
        check=True,
        stdout=subprocess.DEVNULL,
        env={**os.environ, **bucket.server.environment(os.environ["AWS_ENDPOINT_URL"])},
    )


def objects(bucket: Bucket) -> dict[str, bytes]:
    """Everything below the place of a bucket."""
    start = f"{bucket.place}/"
    if isinstance(bucket.server, Weed):
        client = bucket.server.client
        pages = client.get_paginator("list_objects_v2").paginate(Bucket="test", Prefix=start)
        keys = [item["Key"] for page in pages for item in page.get("Contents", ())]

        def read(key: str) -> bytes:
            return bytes(client.get_object(Bucket="test", Key=key)["Body"].read())

    else:
        url = f"{bucket.server.url}/storage/v1/b/test/o"
        keys = [item["name"] for item in _ask(f"{url}?prefix={quote(start)}").get("items", ())]

        def read(key: str) -> bytes:
            with urllib.request.urlopen(f"{url}/{quote(key, safe='')}?alt=media") as answer:
                return bytes(answer.read())

    with ThreadPoolExecutor(8) as pool:
        return dict(zip((k[len(start) :] for k in keys), pool.map(read, keys), strict=True))


def _s3(bucket: Bucket) -> Callable[[str, bytes], Any]:
    client = bucket.server.client  # type: ignore[union-attr]
    return lambda key, data: client.put_object(Bucket="test", Key=key, Body=data)


def _gcs(bucket: Bucket) -> Callable[[str, bytes], Any]:
    own = threading.local()

    def write(key: str, data: bytes) -> None:
        if not hasattr(own, "line"):
            own.line = http.client.HTTPConnection("127.0.0.1", bucket.server.port, timeout=30)
        path = f"/upload/storage/v1/b/test/o?uploadType=media&name={quote(key, safe='')}"
        own.line.request("POST", path, data, {"Content-Type": "application/octet-stream"})
        answer = own.line.getresponse()
        answer.read()
        assert answer.status == 200, answer.status

    return write


def _ask(url: str) -> Mapping[str, Any]:
    with urllib.request.urlopen(url, timeout=30) as answer:
        found: Mapping[str, Any] = json.loads(answer.read())
        return found


def experiment(
    trials: int, checkpoints: int, files: int, size: int = 256
) -> Iterable[tuple[str, bytes]]:
    """A Tune experiment of finished trials whose folders are all recorded in the result logs."""
    for number in range(trials):
        yield from trial(f"{number:05d}", checkpoints, files, size)


def trial(number: str, checkpoints: int, files: int, size: int) -> Iterable[tuple[str, bytes]]:
    """One trial of it."""
    folder = f"train_fn_{number}"
    rows = []
    for index in range(checkpoints):
        name = f"checkpoint_{index:06d}"
        for part in range(files):
            yield f"{folder}/{name}/part-{part}.bin", bytes([part]) * size
        row = {"trial_id": number, "training_iteration": index + 1, "checkpoint_dir_name": name}
        rows.append({**row, "loss": round(1 / (index + 2), 6), "should_checkpoint": True})
    header = ",".join(rows[0])
    lines = (",".join(str(value) for value in row.values()) for row in rows)
    yield f"{folder}/result.json", "".join(json.dumps(r) + "\n" for r in rows).encode()
    yield f"{folder}/progress.csv", "\r\n".join((header, *lines, "")).encode()
    yield f"{folder}/params.json", b"{}"
