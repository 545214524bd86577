"""Whatever is applied, undone and done again, in whatever order, each state comes back."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from ckptctl.executor import apply, resume, undo
from ckptctl.journal.store import history
from ckptctl.model.plan import Plan
from tests.faults.world import Crash, Planner, Snapshot, World, all_complete, build

NAMES = tuple(f"t1/checkpoint_{n}" for n in range(1, 6))
SPARE = (*NAMES, "t1/other", "t9/far")


def permuted(world: World, targets: Mapping[str, str], records: Sequence[str]) -> Plan:
    """Folders get the names of others; cycles go over temporary names."""
    p = Planner(world)
    waiting = {s: t for s, t in targets.items() if s != t}
    number = 0
    while waiting:
        free = next((s for s, t in waiting.items() if t not in waiting), None)
        if free is None:
            source = next(iter(waiting))
            aside = f".ckptctl/tmp/x/{number}"
            p.move(source, aside)
            waiting[aside] = waiting.pop(source)
            number += 1
        else:
            p.move(free, waiting.pop(free))
    for record in records:
        p.rewrite(record, '"', "''")
    return p.plan(ids=False)


@st.composite
def renamings(draw: st.DrawFn) -> dict[str, str]:
    sources = draw(st.lists(st.sampled_from(NAMES), unique=True, min_size=1))
    kept = [n for n in SPARE if n not in NAMES or n in sources]
    targets = draw(st.permutations(kept))[: len(sources)]
    return dict(zip(sources, targets, strict=True))


ACTS = st.lists(
    st.one_of(
        st.tuples(
            st.just("apply"),
            renamings(),
            st.lists(st.sampled_from(["t1/result.json", "t2/result.json"]), unique=True),
            st.none() | st.integers(0, 60),
            st.booleans(),
        ),
        st.tuples(st.just("undo"), st.none() | st.integers(0, 60), st.booleans()),
        st.tuples(st.just("redo"), st.none() | st.integers(0, 60), st.booleans()),
    ),
    min_size=1,
    max_size=6,
)


@pytest.mark.parametrize("kind", ["acts", "bucket", "local"])
@settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck))
@given(acts=ACTS)
def test_any_chain_of_applies_undos_and_crashes_can_be_walked_back(
    kind: str, acts: Sequence[tuple[object, ...]]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        Walk(World(kind, Path(folder) / "exp")).go(acts)


class Walk:
    """Goes through a chain of acts, and knows which state each must lead to."""

    def __init__(self, world: World) -> None:
        build(world)
        self.world = world
        self.before: list[Snapshot] = []
        """What was there before each apply that stands."""
        self.undone: list[tuple[str, Snapshot]] = []
        """Of undos since the last apply: the entry, and what was there before."""

    def go(self, acts: Sequence[tuple[object, ...]]) -> None:
        for act in acts:
            match act:
                case ("apply", dict(targets), list(records), at, bool(back)):
                    self.apply(targets, records, at, back=back)
                case ("undo", at, bool(back)):
                    self.undo(at, back=back)
                case ("redo", at, bool(back)):
                    self.redo(at, back=back)
        while self.before:
            undo(self.world.clean)
            assert self.world.snapshot() == self.before.pop()
        assert not undo(self.world.clean).applied

    def apply(self, targets: dict[str, str], records: list[str], at: object, *, back: bool) -> None:
        now = self.world.snapshot()
        there = {s: t for s, t in targets.items() if any(p.startswith(f"{s}/") for p in now)}
        taken = {t for t in there.values() if any(p.startswith(f"{t}/") for p in now)}
        if not taken <= there.keys():
            return
        plan = permuted(self.world, there, records)
        if plan.steps and self.done(lambda s: apply(s, plan), now, at, back=back):
            self.before.append(now)
            self.undone.clear()

    def undo(self, at: object, *, back: bool) -> None:
        now = self.world.snapshot()
        if self.before and self.done(undo, now, at, back=back):
            assert self.world.snapshot() == self.before.pop()
            self.undone.append((history(self.world.clean)[-1].plan_id, now))

    def redo(self, at: object, *, back: bool) -> None:
        if not self.undone:
            return
        plan_id, expected = self.undone[-1]
        now = self.world.snapshot()
        if self.done(lambda s: undo(s, plan_id), now, at, back=back):
            assert self.world.snapshot() == expected
            self.undone.pop()
            self.before.append(now)

    def done(self, act: object, now: Snapshot, at: object, *, back: bool) -> bool:
        """Act, perhaps crash, and finish or take back; whether it was done in the end."""
        assert callable(act)
        count = len(history(self.world.clean))
        store = self.world.store
        self.world.faults.arm(at if isinstance(at, int) else None)
        try:
            act(store)
        except Crash:
            self.world.faults.arm(None)
            entries = history(self.world.clean)
            if len(entries) == count:
                assert self.world.snapshot() == now
                return False
            if str(entries[-1].state) == "pending":
                (undo if back else resume)(self.world.clean)
                all_complete(self.world)
                if back:
                    assert self.world.snapshot() == now
                return not back
        return True
