"""The real Ray goes on in a bucket after a rename."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from ckptctl import api
from tests.backends.conftest import Bucket
from tests.backends.upload import objects
from tests.judge.judge import KEPT_ENVIRONMENT, Judge, MissingRay, rays_folder

VERSION = "2.54.1"
SCRIPT = Path(__file__).parent / "ray_scripts" / "bucket_run.py"
TEMPLATE = "checkpoint_{index:06d}-{loss:.4f}"


@pytest.fixture
def python() -> Path:
    """The interpreter that has this Ray."""
    try:
        Judge(VERSION).close()
    except MissingRay as error:
        if os.environ.get("CKPTCTL_JUDGE") == "skip-missing":
            pytest.skip(str(error))
        pytest.fail(str(error), pytrace=False)
    return rays_folder() / f"ray-{VERSION}" / "bin" / "python"


def run(python: Path, s3: Bucket, command: str, log: Path) -> dict[str, Any]:
    endpoint = f"endpoint_override={s3.server.url}&scheme=http"
    environment = {name: os.environ[name] for name in KEPT_ENVIRONMENT if name in os.environ}
    environment |= {**s3.server.environment(), "HOME": str(s3.tmp)}
    done = subprocess.run(
        [str(python), str(SCRIPT), command, f"s3://test?{endpoint}", s3.place, str(log)],
        env=environment,
        capture_output=True,
        check=False,
        timeout=280,
    )
    assert done.returncode == 0, done.stderr.decode()[-3000:]
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def test_ray_restores_from_a_bucket_after_a_rename(s3: Bucket, python: Path) -> None:
    log = s3.tmp / "restored.jsonl"
    made = run(python, s3, "make", log)
    assert len(made["errors"]) == 2 and all("told to fail" in e for e in made["errors"])
    [found] = api.scan(s3.url)
    assert found.recorded_root == s3.url
    assert not [f for f in api.check(found) if f.severity == "error"]
    outcome = api.apply(api.plan_rename(found, template=TEMPLATE), allow_live=True)
    assert outcome.verified, outcome.notes
    renamed = {k for k in objects(s3) if k.endswith("state.json") and "/checkpoint_" in k}
    assert all("checkpoint_00000" in key and "-" in key.split("/")[1] for key in renamed)

    restored = run(python, s3, "restore", log)
    assert restored["errors"] == [] and restored["best"] == 5
    told = [json.loads(line) for line in log.read_text().splitlines()]
    assert len(told) == 2 and all(t["step"] == 3 for t in told)
    assert all(t["path"].endswith("/checkpoint_000002-0.3333") for t in told)
    left = {k for k in objects(s3) if k.endswith("state.json") and "/checkpoint_" in k}
    assert left > renamed and len(left) == len(renamed) + 4
    [after] = api.scan(s3.url)
    assert {c.name for t in after.trials for c in t.checkpoints} >= {"checkpoint_000003"}
    assert not [f for f in api.check(after) if f.severity == "error"]
