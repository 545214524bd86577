"""What a scan of a bucket finds, and what it costs."""

from __future__ import annotations

import math
import os
import time
from unittest.mock import patch

import pytest
from msgspec.structs import replace

from ckptctl import api, liveness
from ckptctl.model.finding import Finding
from tests.backends.conftest import Bucket
from tests.backends.upload import experiment, put_folder, put_many
from tests.support import DAMAGED, HEALTHY, corpus

EVERYTHING = os.environ.get("CKPTCTL_TEST_BACKENDS") == "all"
NAMES = (*HEALTHY, *DAMAGED)


def findings(location: str) -> list[Finding]:
    """What is found, without where it lies and without CKP116, which tells just that."""
    # What was uploaded a moment ago looks like a run that goes on.
    with patch.object(liveness, "QUIET_PERIOD", -60.0):
        [(_, found)] = api.audit(location)
    plain = (replace(f, experiment="", remedy=None) for f in found if f.code != "CKP116")
    return [replace(f, message=f.message.replace(location, "")) for f in plain]


@pytest.mark.parametrize("name", NAMES)
def test_the_corpus_is_found_the_same_in_a_bucket(bucket: Bucket, name: str) -> None:
    put_folder(bucket, corpus(name), name)
    assert findings(f"{bucket.url}/{name}") == findings(str(corpus(name)))


def test_a_scan_lists_in_full_pages_and_reads_each_record_once(bucket: Bucket) -> None:
    # The GCS server takes ever longer to write, the more objects there are.
    trials = 200 if bucket.scheme == "s3" or EVERYTHING else 30
    put_many(bucket, experiment(trials=trials, checkpoints=20, files=3))
    keys = trials * (20 * 3 + 3)
    proxy = bucket.through()
    began = time.monotonic()
    [found] = api.scan(bucket.url)
    assert len(found.trials) == trials
    assert sum(len(t.checkpoints) for t in found.trials) == 20 * trials
    counts = proxy.counts()
    print(f"{time.monotonic() - began:.1f} s, {dict(counts)}")
    assert counts["LIST"] <= 1.1 * math.ceil(keys / 1000) + 3
    assert counts["GET"] == 2 * trials
    assert counts["HEAD"] <= 2
    assert set(counts) <= {"LIST", "GET", "HEAD"}
    read = [r["path"] for r in proxy.requests() if r["op"] == "GET"]
    assert not any("part-" in path for path in read)
