"""A crash at every single request to a bucket: the laws of `tests/faults` hold there too."""

from __future__ import annotations

import itertools
from pathlib import Path

import pytest

from tests.backends.memory_service import ObjectWorld
from tests.faults.conftest import (  # noqa: F401
    MakeWorld,
    no_waiting_for_disks,
    processes_that_end,
    say,
)
from tests.faults.test_crash_points import *  # noqa: F403
from tests.faults.test_crash_points import STRIDES


@pytest.fixture(autouse=True)
def more_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run here has fewer requests than acts elsewhere."""
    monkeypatch.setitem(STRIDES, "bucket", 17)


@pytest.fixture
def make_world(tmp_path: Path) -> MakeWorld:
    """A maker of experiments in buckets."""
    numbers = itertools.count()
    return lambda: ObjectWorld(tmp_path / f"world{next(numbers)}")
