"""Listings of buckets: what they cost in requests, memory and CPU, against other listers."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from benchmarks.cases import CKPTCTL, Row
from benchmarks.generate import generate
from benchmarks.measure import in_turns
from tests.backends.servers import Proxy, Weed, running

_A_TRIAL = 100
_FILES = 3


def listing(work: Path, objects: int) -> Iterator[Row]:
    """A scan of so many objects on SeaweedFS."""
    trials = max(1, objects // (_A_TRIAL * _FILES + 3))
    made = generate(work / "bucket", trials=trials, checkpoints=_A_TRIAL, files=_FILES, size=16)
    folder = work / "weed"
    folder.mkdir()
    with running(server := Weed(folder)):
        environment = {**os.environ, **server.environment()}
        s5cmd = str(Path(sys.executable).with_name("s5cmd"))
        subprocess.run(
            [s5cmd, "--numworkers", "64", "cp", f"{made}/", "s3://test/bucket/"],
            check=True,
            stdout=subprocess.DEVNULL,
            env=environment,
        )
        count = sum(len(files) for _, _, files in os.walk(made))
        shutil.rmtree(made)
        yield from _scans(server, folder, count, s5cmd)
    shutil.rmtree(folder)


def _scans(server: Weed, folder: Path, objects: int, s5cmd: str) -> Iterator[Row]:
    others = {
        "s5cmd ls": [s5cmd, "ls", "s3://test/bucket/*"],
        "rclone lsf -R": ["rclone", "lsf", "-R", "--format", "pst", ":s3,env_auth:test/bucket"],
    }
    scan = [*CKPTCTL, "scan", "--json", "s3://test/bucket"]
    os.environ.update(server.environment())
    os.environ.update({"RCLONE_S3_PROVIDER": "Other", "RCLONE_S3_ENDPOINT": server.url})
    commands = {name: c for name, c in others.items() if shutil.which(c[0]) or name == "s5cmd ls"}
    costs = in_turns({"scan": scan, **commands}, runs=1)
    between = folder / "proxy"
    between.mkdir()
    proxy = Proxy(server, between)
    try:
        subprocess.run(
            scan,
            check=False,
            stdout=subprocess.DEVNULL,
            env={**os.environ, "AWS_ENDPOINT_URL": proxy.url},
        )
        asked = proxy.counts()["LIST"]
    finally:
        proxy.kill()
    floor = -(-objects // 1000)
    case = f"scan of {objects:,} objects on SeaweedFS"
    yield Row(
        case=f"{case}: requests to list",
        ours=f"{asked:,}",
        other=f"full pages {floor:,}",
        ratio=asked / floor,
        goal="≤ 1.1",
    )
    yield Row(
        case=f"{case}: memory",
        ours=f"{costs['scan'].peak:,.0f} MB",
        other="500 MB",
        ratio=costs["scan"].peak / 500,
        goal="≤ 1",
    )
    for name in commands:
        yield Row(
            case=f"{case}: CPU",
            ours=f"{costs['scan'].cpu:,.1f} s",
            other=f"`{name}` {costs[name].cpu:,.1f} s",
            ratio=costs["scan"].cpu / costs[name].cpu,
            goal="",
        )
