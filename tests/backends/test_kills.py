"""A few kills of the real command line at work in a bucket; `make kills` does hundreds."""

from __future__ import annotations

import random

import pytest

from tests.backends.conftest import Bucket
from tests.kills.places import S3
from tests.kills.walk import COURSES, Walk


def test_whatever_is_killed_can_be_gone_on_with_or_taken_back(
    s3: Bucket, capsys: pytest.CaptureFixture[str]
) -> None:
    seed = random.randrange(1 << 32)
    count = Walk(S3(s3), COURSES[0], seed).go(6)
    with capsys.disabled():
        print(f"\n  seed {seed}: {count.row()}")
    assert count.lost == [] and count.unrecoverable == []
    assert count.total == 6
