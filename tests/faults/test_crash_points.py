"""A crash at every change: resume gives the last state, undo the first, byte for byte."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterator
from functools import partial

import pytest

from ckptctl.errors import ApplyError, JournalError, LocationError
from ckptctl.executor import apply, resume, undo
from ckptctl.journal.store import history
from ckptctl.model.plan import Outcome, Plan
from ckptctl.storage.store import Store
from ckptctl.storage.trouble import trouble
from tests.faults.conftest import MakeWorld, Say
from tests.faults.world import Crash, Snapshot, World, all_complete, build, make_plan

EVERY_PAIR = os.environ.get("CKPTCTL_TEST_FAULTS") == "all"
STRIDES = {"local": 5, "memory": 5, "acts": 29, "bucket": 23}
"""Of the second crashes only every so many are tried, beginning each time with another."""

Act = Callable[[Store], Outcome]


def prepared(make_world: MakeWorld) -> tuple[World, Plan, Snapshot]:
    world = make_world()
    build(world)
    return world, make_plan(world), world.snapshot()


def final_state(make_world: MakeWorld) -> Snapshot:
    world, plan, _ = prepared(make_world)
    outcome = apply(world.clean, plan)
    assert outcome.applied and outcome.verified and outcome.steps_done == len(plan.steps)
    return world.snapshot()


def applying(plan: Plan) -> Act:
    return lambda store: apply(store, plan)


def crash(world: World, act: Act, at: int, *, after: bool = False, watched: bool = True) -> bool:
    """Do something that crashes; False where it came to its end before."""
    store = world.store
    world.faults.arm(at, after=after)
    world.faults.watch = partial(all_complete, world) if watched else None
    try:
        act(store)
    except Crash:
        return True
    finally:
        world.faults.watch = None
    return False


def no_space() -> OSError:
    return OSError(errno.ENOSPC, "No space left on device")


def translated() -> LocationError:
    return trouble(no_space(), "cannot write", "exp", "some/file")


def points() -> Iterator[tuple[int, bool]]:
    at = 0
    while True:
        yield at, False
        yield at, True
        at += 1


@pytest.mark.parametrize("way_out", [resume, undo])
def test_a_crash_anywhere_in_an_apply_can_be_resumed_or_undone(
    make_world: MakeWorld, way_out: Act, say: Say
) -> None:
    last = final_state(make_world)
    for at, after in points():
        world, plan, first = prepared(make_world)
        if not crash(world, applying(plan), at, after=after):
            break
        begun = bool(history(world.clean))
        outcome = way_out(world.clean)
        assert outcome.verified
        if way_out is undo or not begun:
            assert world.snapshot() == first, (at, after)
        else:
            assert world.snapshot() == last, (at, after)
    say(f"{2 * at} crashes in an apply, then {way_out.__name__} ({world.kind})")
    assert at > 20


@pytest.mark.parametrize("ways", [(resume, resume), (resume, undo), (undo, resume), (undo, undo)])
def test_a_crash_anywhere_in_a_way_out_is_no_dead_end(
    make_world: MakeWorld, ways: tuple[Act, Act], say: Say
) -> None:
    last = final_state(make_world)
    tried = 0
    for at in range(1000):
        world, plan, first = prepared(make_world)
        if not crash(world, applying(plan), at):
            break
        stride = 1 if EVERY_PAIR else STRIDES[world.kind]
        for again in range(at % stride, 1000, stride):
            world, plan, first = prepared(make_world)
            crash(world, applying(plan), at, watched=False)
            if not crash(world, ways[0], again):
                break
            tried += 1
            expected = last if leads_forward(world, ways[1]) else first
            assert ways[1](world.clean).verified
            assert world.snapshot() == expected, (at, again)
    names = " and ".join(way.__name__ for way in ways)
    say(f"{tried} pairs of crashes in an apply and its way out: {names} ({world.kind})")
    assert tried > 60


def leads_forward(world: World, way_out: Act) -> bool:
    """Whether a way out of what is there now ends with the plan applied."""
    entries = history(world.clean)
    if not entries:
        return False
    newest = entries[-1]
    if newest.state == "pending":
        back = newest.rolling_back if way_out is resume else True
        return back == (newest.undoes is not None)
    return newest.state == "applied" and newest.undoes is None and way_out is resume


@pytest.mark.parametrize("way_out", [resume, undo])
def test_a_crash_anywhere_in_an_undo_can_be_resumed_or_taken_back(
    make_world: MakeWorld, way_out: Act, say: Say
) -> None:
    last = final_state(make_world)
    for at, after in points():
        world, plan, first = prepared(make_world)
        apply(world.clean, plan)
        if not crash(world, undo, at, after=after):
            break
        pending = history(world.clean)[-1].state == "pending"
        way_out(world.clean)
        if pending and way_out is undo:
            assert world.snapshot() == last, (at, after)
        elif pending or way_out is undo:
            assert world.snapshot() == first, (at, after)
        else:
            assert world.snapshot() in (first, last), (at, after)
    say(f"{2 * at} crashes in an undo, then {way_out.__name__} ({world.kind})")
    assert at > 20


@pytest.mark.parametrize("after", [False, True])
def test_an_error_anywhere_changes_nothing_or_says_what_is_pending(
    make_world: MakeWorld, after: bool, say: Say
) -> None:
    last = final_state(make_world)
    changed = 0
    for at in range(1000):
        world, plan, first = prepared(make_world)
        store = world.store
        world.faults.arm(at, after=after)
        world.faults.error = no_space if world.kind in ("acts", "bucket") else translated
        error = None
        try:
            assert apply(store, plan).verified
        except (LocationError, ApplyError) as caught:
            error = caught
        if error is None:
            assert world.snapshot() == last
            if world.faults.count <= at:
                break
        elif isinstance(error, LocationError):
            assert world.snapshot() == first, at
            assert "no space left" in error.message
            assert all(e.state != "pending" for e in history(world.clean))
        else:
            changed += 1
            assert "ckptctl resume" in (error.hint or "") and "ckptctl undo" in (error.hint or "")
            with pytest.raises(JournalError):
                apply(world.clean, plan)
            resume(world.clean)
            assert world.snapshot() == last, at
    say(f"{at} errors in an apply, {changed} of them after the first change ({world.kind})")
    assert changed > 10
