"""Histories of any length: applies, undos, redos, resumes and prunes, with crashes anywhere.

The model is what every entry of the journal found and left. Whatever came before, a way out
leads to one of the two, byte for byte, and no checkpoint is ever whole nowhere.
"""

from __future__ import annotations

import itertools
import os
import shutil
import tempfile
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any, ClassVar

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)

from ckptctl.executor import apply, fresh, resume, undo, work
from ckptctl.executor.prune import prune
from ckptctl.journal.records import EntryState, JournalEntry
from ckptctl.journal.store import history
from ckptctl.model.plan import Plan
from ckptctl.storage.store import Store
from tests.faults.world import (
    Crash,
    Planner,
    World,
    a_process,
    all_complete,
    build,
    replace_text,
)

HISTORIES = int(os.environ.get("CKPTCTL_TEST_HISTORIES", "12"))
"""How many are tried on each kind of store."""
STEPS = 14
FOLDERS = tuple(f"t1/checkpoint_{n}" for n in range(1, 6))
COUNTS: Counter[str] = Counter()

Contents = Mapping[str, bytes]
Act = Callable[[Store], object]
CRASHES = st.tuples(st.integers(0, 12) | st.integers(0, 45), st.booleans())
MAYBE = st.none() | CRASHES


def contents(found: Mapping[str, Any]) -> Contents:
    """What each file holds, ckptctl's own aside."""
    return {
        path: value if isinstance(value, bytes) else value[0]
        for path, value in found.items()
        if not path.startswith(".ckptctl")
    }


class Histories(RuleBasedStateMachine):
    """One experiment with a long history."""

    kind: ClassVar[str] = "local"

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.mkdtemp(prefix="ckptctl-history-")
        self.world = World(self.kind, Path(self.folder) / "exp")
        build(self.world)
        self.now: Contents = contents(self.world.snapshot())
        self.ends: dict[str, tuple[Contents, Contents]] = {}
        """What each entry of the journal found, and what it leaves or would leave."""
        self.after: Contents = {}
        """What the plan that is being applied leaves."""
        self.number = 0

    def teardown(self) -> None:
        shutil.rmtree(self.folder)

    # What there is to do.

    def entries(self) -> tuple[JournalEntry, ...]:
        return history(self.world.clean)

    def pending(self) -> JournalEntry | None:
        return next((e for e in self.entries() if e.state is EntryState.PENDING), None)

    def is_pending(self) -> bool:
        return self.pending() is not None

    def plan(self, order: list[str], *, rewrite: bool) -> tuple[Plan, Contents]:
        """Give the folders each other's names, by temporary ones, and rewrite a record."""
        self.number += 1
        p = Planner(self.world)
        there = [f for f in FOLDERS if any(x.startswith(f"{f}/") for x in p.now)]
        wanted = dict(zip(there, [f for f in order if f in there], strict=True))
        moves = {old: new for old, new in wanted.items() if old != new}
        for at, old in enumerate(moves):
            p.move(old, f".ckptctl/tmp/{self.number}/{at}")
        for at, new in enumerate(moves.values()):
            p.move(f".ckptctl/tmp/{self.number}/{at}", new)
        if rewrite or not moves:
            old = p.now["experiment_state-1.json"].decode()
            p.rewrite("experiment_state-1.json", old, f'{{"latest": "number {self.number}"}}')
        return p.plan(ids=self.kind == "local"), contents(p.now)

    def do(self, act: Act, crash: tuple[int, bool] | None) -> None:
        """Do something, perhaps only up to a crash, and compare what is there with the model."""
        before, known = contents(self.world.snapshot()), {e.name: e for e in self.entries()}
        was = self.pending()
        store = self.world.store
        self.world.faults.arm(crash[0] if crash else None, after=bool(crash and crash[1]))
        self.world.faults.watch = partial(all_complete, self.world)
        try:
            act(store)
            crashed = False
        except Crash:
            crashed = True
        finally:
            self.world.faults.watch = None
        COUNTS["crashes" if crashed else "whole"] += 1
        found = contents(self.world.snapshot())
        for entry in self.entries():
            if entry.name not in known and entry.name not in self.ends:
                self.ends[entry.name] = (before, self.expected(entry, before, found))
        open_now = self.pending()
        if open_now is None:
            if was is not None:
                assert found in self.ends[was.name]
            self.now = found
        if not crashed:
            assert open_now is None

    def expected(self, entry: JournalEntry, before: Contents, found: Contents) -> Contents:
        """What an entry leaves that has just begun."""
        if entry.undoes is not None:
            return self.ends[entry.undoes][0]
        if entry.state is EntryState.PENDING:
            return self.after
        assert found == (self.after if entry.state is EntryState.APPLIED else before)
        return self.after

    @precondition(lambda self: not self.is_pending())
    @rule(order=st.permutations(FOLDERS), rewrite=st.booleans(), crash=MAYBE)
    def rename(self, order: list[str], rewrite: bool, crash: tuple[int, bool] | None) -> None:
        plan, self.after = self.plan(list(order), rewrite=rewrite)
        self.do(lambda store: apply(store, plan), crash)
        if crash is None:
            assert self.now == self.after

    @rule(crash=MAYBE)
    def undo(self, crash: tuple[int, bool] | None) -> None:
        pending = self.pending()
        applied = [e for e in self.entries() if e.state is EntryState.APPLIED and e.undoes is None]
        target = pending or (applied[-1] if applied else None)
        self.do(undo, crash)
        if crash is None and target is not None:
            assert self.now == self.ends[target.name][0]

    @precondition(lambda self: not self.is_pending())
    @rule(crash=MAYBE)
    def redo(self, crash: tuple[int, bool] | None) -> None:
        entries = self.entries()
        newest = entries[-1] if entries else None
        if newest is None or newest.undoes is None or newest.state is not EntryState.APPLIED:
            return
        self.do(lambda store: undo(store, newest.name), crash)
        if crash is None:
            assert self.now == self.ends[newest.name][0]

    @rule(crash=MAYBE)
    def resume(self, crash: tuple[int, bool] | None) -> None:
        pending = self.pending()
        self.do(resume, crash)
        if crash is None and pending is not None:
            assert self.now == self.ends[pending.name][0 if pending.rolling_back else 1]

    @precondition(lambda self: not self.is_pending())
    @rule(crash=MAYBE)
    def prune(self, crash: tuple[int, bool] | None) -> None:
        before = contents(self.world.snapshot())
        self.do(prune, crash)
        assert contents(self.world.snapshot()) == before

    @invariant()
    def nothing_is_lost(self) -> None:
        all_complete(self.world)
        if not self.is_pending():
            assert contents(self.world.snapshot()) == self.now


@pytest.mark.parametrize("kind", ["local", "acts", "bucket"])
def test_every_history_can_be_gone_back_and_forth(
    kind: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    numbers = itertools.count()
    monkeypatch.setattr(work, "this_process", lambda: a_process(next(numbers)))
    monkeypatch.setattr(fresh, "apply_edits", replace_text)
    monkeypatch.setattr(os, "fsync", lambda handle: None)
    machine = type("Histories", (Histories,), {"kind": kind})
    COUNTS.clear()
    run_state_machine_as_test(
        machine,
        settings=settings(
            max_examples=HISTORIES,
            stateful_step_count=STEPS,
            deadline=None,
            suppress_health_check=list(HealthCheck),
            print_blob=True,
        ),
    )
    with capsys.disabled():
        print(f"\n  {HISTORIES} histories ({kind}): {dict(COUNTS)}")
    assert COUNTS["crashes"] > HISTORIES // 4 and COUNTS["whole"] > HISTORIES // 4
