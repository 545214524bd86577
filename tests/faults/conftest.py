"""Worlds on each kind of store, processes that end, and edits of plain text."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path

import pytest

from ckptctl.executor import fresh, work
from tests.faults.world import World, a_process, replace_text

MakeWorld = Callable[[], World]
Say = Callable[[str], None]


@pytest.fixture(autouse=True)
def processes_that_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each call is another process, which has ended when the next one begins."""
    numbers = itertools.count()
    monkeypatch.setattr(work, "this_process", lambda: a_process(next(numbers)))
    monkeypatch.setattr(fresh, "apply_edits", replace_text)


@pytest.fixture(params=["local", "memory", "acts", "bucket"])
def make_world(request: pytest.FixtureRequest, tmp_path: Path) -> MakeWorld:
    """A maker of fresh worlds of one kind; two crash inside the calls of the store."""
    numbers = itertools.count()
    return lambda: World(request.param, tmp_path / f"world{next(numbers)}")


@pytest.fixture(autouse=True)
def no_waiting_for_disks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Thousands of applies: what is synced when has its own tests."""
    monkeypatch.setattr("os.fsync", lambda handle: None)


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str]) -> Say:
    """Tell how much was tried, whatever pytest captures."""

    def tell(text: str) -> None:
        with capsys.disabled():
            print(f"\n  {text}")

    return tell
