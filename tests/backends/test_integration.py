"""The integration in a bucket: names from the start, and the callback that scans."""

from __future__ import annotations

from pathlib import Path

import pytest

from ckptctl import api
from tests.backends.conftest import Bucket
from tests.backends.servers import Weed
from tests.backends.upload import objects
from tests.judge.asked import the_real
from tests.judge.judge import Judge
from tests.policies import named
from tests.policies.jobs import Job, run
from tests.policies.scenarios import NAMING

VERSION = "2.54.1"
KEPT = {"checkpoint_frequency": 2, "num_to_keep": 2}


@pytest.fixture
def job(s3: Bucket) -> Job:
    """What jobs have in common: the place, the names, and a scan at both ends."""
    the_real(Judge, VERSION).close()
    endpoint = f"endpoint_override={s3.server.url}&scheme=http"
    return {
        "storage": f"s3://test/{s3.place}?{endpoint}",
        "marks": str(s3.tmp),
        "naming": NAMING,
        "scan": "error",
        "steps": 7,
        "fail_at": 4,
    }


def asked(s3: Bucket, jobs: list[Job]) -> list[Job]:
    return run(VERSION, jobs, extras=["s3fs"], settings=s3.server.environment())


def saved(place: str) -> list[str]:
    return [c.name for e in api.scan(place) for t in e.trials for c in t.saves if c.on_storage]


def test_what_is_named_in_a_bucket_leaves_a_scan_nothing_to_find(s3: Bucket, job: Job) -> None:
    kinds: list[Job] = [
        job | {"kind": "class", "name": "class", "config": KEPT},
        job | {"kind": "function", "name": "function", "every": 2},
    ]
    jobs = [one | more for one in kinds for more in ({}, {"restore": True})]
    answers = asked(s3, jobs)
    assert [a["error"] for a in answers] == [None] * 4
    assert [a["warnings"] for a in answers] == [[]] * 4
    for kind in ("class", "function"):
        place = f"{s3.url}/{kind}"
        assert saved(place) == named.FOLDERS[kind]
        assert named.codes(place) <= {"CKP203"}  # a state file of the first run is left


def test_the_callback_reads_the_bucket_before_a_run_goes_on(s3: Bucket, job: Job) -> None:
    first = job | {"kind": "class", "name": "class", "config": {"checkpoint_frequency": 2}}
    assert [a["error"] for a in asked(s3, [first])] == [None]
    (lost,) = (key for key in objects(s3) if key.endswith("checkpoint_000002-0.8333/state.json"))
    assert isinstance(s3.server, Weed)
    s3.server.client.delete_object(Bucket="test", Key=f"{s3.place}/{lost}")
    (answer,) = asked(s3, [first | {"restore": True}])
    assert answer["error"] == (
        f"CheckpointFindings: {s3.url}/class has findings: CKP301; run ckptctl scan {s3.url}/class"
    )
    assert any("CKP301" in text for text in answer["warnings"])
    assert not Path(s3.tmp, "class").exists()
