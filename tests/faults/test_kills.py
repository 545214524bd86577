"""A few kills of the real command line; `make kills` does hundreds, on S3 too."""

from __future__ import annotations

import random
from pathlib import Path

from tests.faults.conftest import Say
from tests.kills.places import Disk
from tests.kills.walk import COURSES, Count, Walk

EACH = 3


def test_whatever_is_killed_can_be_gone_on_with_or_taken_back(tmp_path: Path, say: Say) -> None:
    seed = random.randrange(1 << 32)
    every = Count()
    for number, course in enumerate(COURSES[:3]):
        every.add(Walk(Disk(tmp_path / "exp"), course, seed + number).go(EACH))
    say(f"seed {seed}: {every.row()}")
    assert every.lost == [] and every.unrecoverable == []
    assert every.total == 3 * EACH
