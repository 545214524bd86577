"""What apply, undo, resume, history and prune promise when nothing crashes."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from msgspec.structs import replace

from ckptctl.errors import (
    ApplyError,
    Cancelled,
    InternalError,
    JournalError,
    LocationError,
    RefusedError,
    StalePlanError,
    UsageError,
)
from ckptctl.executor import apply, entry_to_undo, fresh, inverse_plan, prune, resume, undo
from ckptctl.executor.prune import prunable
from ckptctl.journal.format import plan_from_json, plan_to_json, with_id
from ckptctl.journal.store import history, own_writes
from ckptctl.model.plan import Plan, Refusal
from ckptctl.storage.local_store import LocalStore
from ckptctl.storage.store import Capabilities, Entry
from ckptctl.verify import verify
from tests.faults.conftest import MakeWorld
from tests.faults.world import (
    Crash,
    FaultyStore,
    Planner,
    World,
    build,
    checkpoint,
    make_plan,
)

NOON = 1_700_000_000.0


@pytest.fixture
def world(make_world: MakeWorld) -> World:
    made = make_world()
    build(made)
    return made


@pytest.fixture
def local(tmp_path: Path) -> World:
    made = World("local", tmp_path / "exp")
    build(made)
    return made


def crashed(world: World, plan: Plan, at: int) -> None:
    store = world.store
    world.faults.arm(at)
    with pytest.raises(Crash):
        apply(store, plan)


def rename_plan(world: World, old: str = "t1/checkpoint_1", new: str = "t1/renamed") -> Plan:
    p = Planner(world)
    p.move(old, new)
    return p.plan()


def test_an_apply_is_undone_and_done_again(world: World) -> None:
    first, plan = world.snapshot(), make_plan(world)
    outcome = apply(world.clean, plan, clock=lambda: NOON)
    assert (outcome.applied, outcome.steps_done, outcome.verified) == (True, len(plan.steps), True)
    assert outcome.entry == f"0001-{plan.plan_id}"
    assert verify(world.clean, plan) == []
    last = world.snapshot()
    assert last != first
    assert undo(world.clean).verified
    assert world.snapshot() == first
    undone = history(world.clean)[-1]
    assert undo(world.clean, undone.plan_id).verified
    assert world.snapshot() == last
    assert undo(world.clean).verified
    assert world.snapshot() == first
    states = [(e.sequence, e.command, str(e.state)) for e in history(world.clean)]
    assert states == [
        (1, "rename", "undone"),
        (2, "undo", "undone"),
        (3, "undo", "applied"),
        (4, "undo", "applied"),
    ]


def test_history_tells_when_and_how_much(world: World) -> None:
    plan = make_plan(world)
    apply(world.clean, plan, clock=lambda: NOON)
    (entry,) = history(world.clean)
    assert entry.applied_at == entry.begun == "2023-11-14T22:13:20Z"
    assert (entry.plan_id, entry.steps, entry.verified) == (plan.plan_id, len(plan.steps), True)
    assert entry.undoes is None and entry.damage is None and not entry.rolling_back


def test_nothing_but_the_journal_is_left_in_our_own_folder(world: World) -> None:
    plan = make_plan(world)
    apply(world.clean, plan)
    own = {p.split("/")[1] for p in world.snapshot(own=True) if p.startswith(".ckptctl/")}
    assert own == {"journal", "quarantine"}
    undo(world.clean)
    own = {p.split("/")[1] for p in world.snapshot(own=True) if p.startswith(".ckptctl/")}
    assert own == {"journal"}


def test_moved_folders_keep_their_times_and_identity(local: World) -> None:
    folder = local.folder / "t1" / "checkpoint_1"
    os.utime(folder / "weights.bin", (5, 6))
    os.utime(folder, (3, 4))
    before = folder.stat()
    apply(local.clean, rename_plan(local))
    undo(local.clean)
    after = folder.stat()
    assert (after.st_mtime, after.st_ino) == (4.0, before.st_ino)
    assert (folder / "weights.bin").stat().st_mtime == 6.0


def test_a_plan_without_steps_changes_nothing(world: World) -> None:
    outcome = apply(world.clean, Planner(world).plan())
    assert not outcome.applied and outcome.verified
    assert world.clean.stat(".ckptctl") is None


def test_a_plan_with_refusals_is_not_applied(world: World) -> None:
    plan = rename_plan(world)
    plan = with_id(replace(plan, refusals=(Refusal(code="order", message="would sort wrong"),)))
    with pytest.raises(RefusedError, match="would sort wrong") as caught:
        apply(world.clean, plan)
    assert caught.value.reasons == ("would sort wrong",)


def test_a_plan_that_is_not_what_its_id_says_is_a_bug(world: World) -> None:
    with pytest.raises(InternalError, match="not the id of its content"):
        apply(world.clean, replace(rename_plan(world), notes=("changed",)))


def test_steps_are_told_as_they_are_done(world: World) -> None:
    told: list[tuple[object, ...]] = []

    class Teller:
        def begin(self, what: str, total: int) -> None:
            told.append((what, total))

        def advance(self, done: int) -> None:
            told.append((done,))

        def end(self) -> None:
            told.append(("end",))

    plan = make_plan(world)
    apply(world.clean, plan, progress=Teller())
    count = len(plan.steps)
    assert told == [("applying", count), *((n + 1,) for n in range(count)), ("end",)]


Change = Callable[[World], object]


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (lambda w: w.write("t1/result.json", b"new"), "t1/result.json: its content changed"),
        (lambda w: w.write("t2/result.json", b"new"), "t2/result.json: its content changed"),
        (lambda w: w.clean.remove(["t2/result.json"]), "t2/result.json: gone"),
        (lambda w: w.clean.remove(["experiment_state-1.json"]), "experiment_state-1.json: gone"),
        (lambda w: w.write("t1/checkpoint_2/more", b""), "t1/checkpoint_2: also has more"),
        (
            lambda w: w.write("t1/checkpoint_2/weights.bin", b"?"),
            "t1/checkpoint_2: has another size of weights.bin",
        ),
        (
            lambda w: w.clean.remove(["t1/checkpoint_3/sub/meta.json"]),
            "t1/checkpoint_3: lacks sub/meta.json",
        ),
        (lambda w: w.clean.move_tree("t2/checkpoint_7", "gone"), "t2/checkpoint_7: gone"),
        (lambda w: w.write("t3/new/checkpoint_70/x", b""), "t3/new/checkpoint_70: exists"),
        (lambda w: w.write(".ckptctl/tmp/x/1/x", b""), ".ckptctl/tmp/x/1: exists"),
        (
            lambda w: w.write("t1/checkpoint_1/sub/meta.json", b"{}"),
            "t1/checkpoint_1/sub/meta.json: its content changed",
        ),
    ],
)
def test_a_stale_plan_is_refused_before_anything_is_written(
    world: World, change: Change, named: str
) -> None:
    plan = make_plan(world)
    change(world)
    before = world.snapshot(own=True)
    with pytest.raises(StalePlanError) as caught:
        apply(world.clean, plan)
    assert caught.value.changed == (named,)
    assert named in caught.value.message
    assert caught.value.hint == "make the plan again"
    after = world.snapshot(own=True)
    assert {p for p in after if not p.endswith("/")} == {p for p in before if not p.endswith("/")}
    assert history(world.clean) == ()


def test_many_changes_are_counted(world: World) -> None:
    plan = make_plan(world)
    for number in range(1, 6):
        world.write(f"t1/checkpoint_{number}/more", b"")
    with pytest.raises(StalePlanError, match="and 2 more") as caught:
        apply(world.clean, plan)
    assert len(caught.value.changed) == 5


def test_folders_that_changed_places_are_noticed_by_their_identity(local: World) -> None:
    plan = make_plan(local, ids=True)
    store = local.clean
    store.move_tree("t1/checkpoint_1", "aside")
    store.move_tree("t1/checkpoint_3", "t1/checkpoint_1")
    store.move_tree("aside", "t1/checkpoint_3")
    with pytest.raises(StalePlanError, match="another folder of the plan is there"):
        apply(local.clean, plan)


def test_a_plan_made_before_a_copy_to_another_disk_still_holds(
    local: World, tmp_path: Path
) -> None:
    plan = make_plan(local, ids=True)
    shutil.copytree(local.folder, tmp_path / "copy")
    assert apply(LocalStore(str(tmp_path / "copy")), plan).verified


def test_edits_that_give_other_bytes_than_planned_change_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, first = make_plan(world), world.snapshot()
    monkeypatch.setattr(fresh, "apply_edits", lambda data, kind, edits: data + b" ")
    with pytest.raises(RefusedError, match="other bytes than planned"):
        apply(world.clean, plan)
    assert world.snapshot() == first
    assert world.clean.stat(".ckptctl/journal") is None


def test_edits_that_do_not_fit_change_nothing(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ckptctl.codec.errors import PointerError

    def misfit(*_: object) -> bytes:
        raise PointerError("nothing is there")

    plan, first = make_plan(world), world.snapshot()
    monkeypatch.setattr(fresh, "apply_edits", misfit)
    with pytest.raises(RefusedError, match="nothing is there"):
        apply(world.clean, plan)
    assert world.snapshot() == first


def test_a_target_that_appears_at_the_last_moment_stops_the_apply(local: World) -> None:
    plan, first = rename_plan(local), local.snapshot()

    class Racing(LocalStore):
        def move_tree(self, source: str, target: str) -> None:
            checkpoint(local, target, "another run")
            super().move_tree(source, target)

    with pytest.raises(StalePlanError, match="t1/renamed: exists"):
        apply(Racing(str(local.folder)), plan)
    assert {p: v for p, v in local.snapshot().items() if "renamed" not in p} == first


def test_a_record_that_changes_at_the_last_moment_is_left_alone(local: World) -> None:
    plan = make_plan(local)

    class Racing(LocalStore):
        def move_tree(self, source: str, target: str) -> None:
            super().move_tree(source, target)
            if source == "t1/checkpoint_1":
                local.write("t1/result.json", b"written by Ray")

    with pytest.raises(ApplyError, match=r"t1/result.json: its content changed; 5 of 14"):
        apply(Racing(str(local.folder)), plan)
    assert local.snapshot()["t1/result.json"][0] == b"written by Ray"
    for way_out in (resume, undo):
        with pytest.raises(ApplyError, match=r"since the apply was interrupted: t1/result"):
            way_out(local.clean)
    local.write("t1/result.json", b'{"dir": "checkpoint_1"}\n{"dir": "checkpoint_2"}\n', 0o640)
    assert undo(local.clean).verified


def test_what_changes_after_the_last_step_is_told(local: World) -> None:
    plan = make_plan(local)

    class Racing(LocalStore):
        def flush(self, parents: object) -> None:
            local.write("experiment_state-1.json", b"written by Ray")

    p = Planner(local)
    p.rewrite("experiment_state-1.json", "checkpoint_2", "x")
    p.move("t1/checkpoint_1", "t1/y")
    plan = p.plan()
    outcome = apply(Racing(str(local.folder)), plan)
    assert outcome.applied and not outcome.verified
    assert outcome.notes == ("experiment_state-1.json: its content changed",)
    assert not history(local.clean)[-1].verified
    assert verify(local.clean, plan) == list(outcome.notes)


def test_a_pending_apply_blocks_the_next_and_names_both_ways_out(world: World) -> None:
    plan = make_plan(world)
    crashed(world, plan, 12)
    with pytest.raises(JournalError) as caught:
        apply(world.clean, rename_plan(world, "t2/checkpoint_7", "t2/other"))
    assert f"rename {plan.plan_id} is pending" in caught.value.message
    location = world.clean.location
    assert f"`ckptctl resume {location}`" in (caught.value.hint or "")
    assert f"`ckptctl undo {location}`" in (caught.value.hint or "")
    with pytest.raises(JournalError, match="is pending"):
        prune(world.clean)
    assert prunable(world.clean) == ()


def test_the_lock_of_the_crashed_run_is_told(world: World) -> None:
    crashed(world, make_plan(world), 12)
    assert "took over the lock of a run that has ended" in resume(world.clean).notes[0]


def test_what_undo_would_do_can_be_shown_before(world: World) -> None:
    plan = make_plan(world)
    assert entry_to_undo(world.clean) is None
    crashed(world, plan, 14)
    entry = entry_to_undo(world.clean)
    assert entry is not None
    back = inverse_plan(world.clean, entry)
    assert back.undoes == entry.name and back.command == "undo"
    assert 0 < len(back.steps) < len(plan.steps)
    outcome = undo(world.clean)
    assert outcome.steps_done == len(back.steps)
    assert str(history(world.clean)[-1].state) == "undone"


def test_an_inverse_plan_survives_json_and_reverses_every_step(world: World) -> None:
    plan = make_plan(world)
    apply(world.clean, plan)
    back = inverse_plan(world.clean, f"0001-{plan.plan_id}")
    assert plan_from_json(json.loads(json.dumps(plan_to_json(back)))) == back
    assert [(m.source, m.target) for m in back.moves] == [
        (m.target, m.source) for m in reversed(plan.moves)
    ]
    assert [(r.before, r.after, r.restores) for r in back.rewrites] == [
        (r.after, r.before, r.before) for r in reversed(plan.rewrites)
    ]
    assert apply(world.clean, back).verified


def test_nothing_to_undo_or_resume_is_no_error(world: World) -> None:
    for way_out in (undo, resume):
        outcome = way_out(world.clean)
        assert not outcome.applied and outcome.notes


def test_undo_refuses_where_what_the_apply_left_changed(world: World) -> None:
    apply(world.clean, make_plan(world))
    world.write("t1/result.json", b"appended by a later run")
    world.write("t1/checkpoint_1/late", b"")
    before = world.snapshot()
    with pytest.raises(StalePlanError) as caught:
        undo(world.clean)
    assert caught.value.changed == (
        "t1/checkpoint_1: also has late",
        "t1/result.json: its content changed",
    )
    assert caught.value.message.startswith("cannot undo 0001-")
    assert world.snapshot() == before


def test_older_applies_are_undone_after_newer_ones(world: World) -> None:
    first = world.snapshot()
    one = rename_plan(world)
    apply(world.clean, one)
    two = rename_plan(world, "t1/renamed", "t1/again")
    apply(world.clean, two)
    with pytest.raises(StalePlanError):
        undo(world.clean, one.plan_id)
    undo(world.clean)
    undo(world.clean)
    assert world.snapshot() == first
    assert not undo(world.clean).applied


def test_an_id_that_nothing_has_or_that_is_undone_is_refused(world: World) -> None:
    plan = rename_plan(world)
    apply(world.clean, plan)
    undo(world.clean, f"0001-{plan.plan_id}")
    with pytest.raises(UsageError, match="taken back already"):
        undo(world.clean, plan.plan_id)
    with pytest.raises(UsageError, match="no apply has this id"):
        undo(world.clean, "123456789abc")


def test_an_id_is_refused_while_another_apply_is_pending(local: World) -> None:
    plan = rename_plan(local)
    apply(local.clean, plan)
    p = Planner(local)
    p.move("t2/checkpoint_7", "t2/x")
    p.move("t1/checkpoint_3", "t1/x")
    crashed(local, p.plan(), 3)
    with pytest.raises(JournalError, match="is pending"):
        undo(local.clean, plan.plan_id)


def test_the_same_plan_can_be_applied_again_after_its_undo(world: World) -> None:
    plan = make_plan(world)
    for _ in range(2):
        assert apply(world.clean, plan).verified
        undo(world.clean)
    entries = history(world.clean)
    assert [e.sequence for e in entries] == [1, 2, 3, 4]
    assert entries[0].plan_id == entries[2].plan_id == plan.plan_id


def test_a_pending_swap_can_be_finished_where_it_was_copied_to(
    tmp_path: Path, local: World
) -> None:
    """Inode and device numbers are others there, and both folders look alike."""
    whole = World("local", tmp_path / "whole")
    build(whole)
    plan = make_plan(whole, ids=True)
    apply(whole.clean, plan)
    for at in range(6, 24):
        made = World("local", tmp_path / f"from{at}")
        build(made)
        crashed(made, plan, at)
        shutil.copytree(made.folder, tmp_path / f"to{at}")
        copy = World("local", tmp_path / f"to{at}")
        if resume(copy.clean).applied:
            assert copy.snapshot() == whole.snapshot()


def test_our_own_writes_are_known(world: World) -> None:
    plan = make_plan(world)
    assert own_writes(world.clean).digests == frozenset()
    apply(world.clean, plan)
    assert own_writes(world.clean).digests == {r.after for r in plan.rewrites}
    undo(world.clean)
    assert own_writes(world.clean).digests >= {r.before for r in plan.rewrites}


def test_a_storage_that_cannot_lock_needs_to_be_told(local: World) -> None:
    class Weak(LocalStore):
        @property
        def capabilities(self) -> Capabilities:
            return replace(super().capabilities, conditional_create=False)

    store = Weak(str(local.folder))
    with pytest.raises(JournalError) as caught:
        apply(store, rename_plan(local))
    assert "--no-lock" in (caught.value.hint or "")
    assert apply(store, rename_plan(local), lock=False).verified


Damage = Callable[[World, str], None]


def write_plan(world: World, folder: str, text: bytes) -> None:
    world.write(f"{folder}/plan.json", text)


@pytest.mark.parametrize(
    "damage",
    [
        lambda w, f: write_plan(w, f, b""),
        lambda w, f: write_plan(w, f, b"{"),
        lambda w, f: write_plan(w, f, b"[]"),
        lambda w, f: write_plan(w, f, w.clean.read_bytes(f"{f}/plan.json")[:-40]),
        lambda w, f: write_plan(
            w, f, w.clean.read_bytes(f"{f}/plan.json").replace(b"t1/checkpoint_2", b"t1/../../etc")
        ),
        lambda w, f: write_plan(
            w, f, w.clean.read_bytes(f"{f}/plan.json").replace(b"checkpoint_70", b"checkpoint_71")
        ),
        lambda w, f: write_plan(
            w, f, w.clean.read_bytes(f"{f}/plan.json").replace(b'"format":1', b'"format":9')
        ),
    ],
)
def test_a_damaged_pending_journal_is_told_and_never_followed(world: World, damage: Damage) -> None:
    crashed(world, make_plan(world), 14)
    (entry,) = history(world.clean)
    damage(world, f".ckptctl/journal/{entry.name}")
    before = world.snapshot()
    (found,) = history(world.clean)
    assert found.damage is not None and str(found.state) == "pending"
    for act in (resume, undo, lambda s: apply(s, rename_plan(world, "t2/checkpoint_7", "t2/z"))):
        with pytest.raises(JournalError) as caught:
            act(world.clean)
        assert caught.value.hint
    assert world.snapshot() == before


def test_a_journal_of_another_plan_is_damaged(world: World) -> None:
    plan = rename_plan(world)
    apply(world.clean, plan)
    other = rename_plan(world, "t1/checkpoint_2", "t1/else")
    apply(world.clean, other)
    folder = f".ckptctl/journal/0002-{other.plan_id}"
    write_plan(
        world, folder, world.clean.read_bytes(f".ckptctl/journal/0001-{plan.plan_id}/plan.json")
    )
    with pytest.raises(JournalError, match="another plan than its folder says"):
        undo(world.clean)


def test_a_damaged_commit_is_told(world: World) -> None:
    plan = rename_plan(world)
    apply(world.clean, plan)
    world.write(f".ckptctl/journal/0001-{plan.plan_id}/commit.json", b'{"format":1}')
    (entry,) = history(world.clean)
    assert entry.damage is not None and str(entry.state) == "undone"
    for plan_id in (None, plan.plan_id):
        with pytest.raises(JournalError, match="journal is damaged"):
            undo(world.clean, plan_id)


def test_a_blob_that_was_edited_is_not_restored(world: World) -> None:
    plan = make_plan(world)
    apply(world.clean, plan)
    before = world.snapshot()
    folder = f".ckptctl/journal/0001-{plan.plan_id}"
    world.write(f"{folder}/blobs/{plan.rewrites[0].before}", b"edited")
    with pytest.raises(JournalError, match="its content changed"):
        undo(world.clean)
    world.clean.remove([f"{folder}/blobs/{plan.rewrites[0].before}"])
    with pytest.raises(JournalError, match="not there"):
        undo(world.clean)
    assert world.snapshot() == before


def test_strange_things_in_the_journal_are_left_alone(world: World) -> None:
    world.write(".ckptctl/journal/notes.txt", b"mine")
    world.write(".ckptctl/journal/0007-short/plan.json", b"mine")
    world.write(".ckptctl/journal/0009-123456789abc/blobs/x", b"left by a crash")
    outcome = apply(world.clean, rename_plan(world))
    assert outcome.entry is not None and outcome.entry.startswith("0010-")
    assert prune(world.clean) == ("0009-123456789abc",)
    assert undo(world.clean).verified
    assert world.clean.read_bytes(".ckptctl/journal/notes.txt") == b"mine"


def test_prune_drops_what_can_no_longer_be_undone(world: World) -> None:
    one = rename_plan(world)
    apply(world.clean, one)
    p = Planner(world)
    p.rewrite("t1/result.json", "checkpoint", "ck")
    apply(world.clean, p.plan())
    assert prune(world.clean) == ()
    world.write("t1/result.json", b"a later run")
    assert prune(world.clean) == (f"0002-{p.plan().plan_id}",)
    assert [e.plan_id for e in history(world.clean)] == [one.plan_id]
    assert undo(world.clean).verified


def test_prune_keeps_what_undoing_later_applies_brings_back(world: World) -> None:
    first = world.snapshot()
    apply(world.clean, rename_plan(world))
    apply(world.clean, rename_plan(world, "t1/renamed", "t1/again"))
    assert prune(world.clean) == ()
    undo(world.clean)
    undo(world.clean)
    assert world.snapshot() == first


def test_prune_keeps_an_undone_apply_while_it_can_be_done_again(world: World) -> None:
    plan = make_plan(world)
    apply(world.clean, plan)
    last = world.snapshot()
    undo(world.clean)
    assert prune(world.clean) == ()
    undo(world.clean, history(world.clean)[-1].plan_id)
    assert world.snapshot() == last
    undo(world.clean)
    world.write("t1/result.json", b"a later run")
    assert len(prune(world.clean)) == 4
    assert world.clean.stat(".ckptctl/journal") is None


def test_prune_drops_what_was_taken_back_half_way_and_keeps_what_is_damaged(
    world: World,
) -> None:
    crashed(world, make_plan(world), 14)
    undo(world.clean)
    (entry,) = history(world.clean)
    plan = rename_plan(world)
    apply(world.clean, plan)
    write_plan(world, f".ckptctl/journal/0002-{plan.plan_id}", b"{}")
    assert prune(world.clean) == (entry.name,)
    assert len(history(world.clean)) == 1


def test_a_withdrawn_apply_leaves_no_trace(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    first = world.snapshot(own=True)

    def full(*_: object, **__: object) -> None:
        raise LocationError("no space")

    monkeypatch.setattr(type(world.clean), "move_tree", full)
    with pytest.raises(LocationError):
        apply(world.clean, rename_plan(world))
    assert world.snapshot(own=True) == first


def test_a_journal_that_cannot_be_withdrawn_stays_pending(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = world.snapshot()

    def broken(*_: object, **__: object) -> None:
        raise LocationError("the disk is gone")

    kind = type(world.clean)
    monkeypatch.setattr(kind, "move_tree", broken)
    monkeypatch.setattr(kind, "remove", broken)
    with pytest.raises(ApplyError, match="nothing was changed, but its journal stays"):
        apply(world.clean, rename_plan(world))
    monkeypatch.undo()
    assert undo(world.clean).verified
    assert world.snapshot() == first


def test_records_are_remembered_only_up_to_a_size(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ckptctl.journal import scene

    monkeypatch.setattr(scene, "_REMEMBERED", 30)
    first = world.snapshot()
    assert apply(world.clean, make_plan(world)).verified
    assert undo(world.clean).verified
    assert world.snapshot() == first


def test_a_long_apply_renews_its_lock(world: World) -> None:
    times = iter(range(0, 10**6, 200))
    renewed: list[float] = []
    store = world.clean
    real = store.replace

    def note(path: str, data: bytes) -> None:
        if path == ".ckptctl/lock.json":
            renewed.append(json.loads(data)["renewed"])
        real(path, data)

    object.__setattr__(store, "replace", note)
    assert apply(store, make_plan(world), clock=lambda: float(next(times))).verified
    assert len(renewed) > 5 and renewed == sorted(renewed)


class Broken(FaultyStore):
    """A store that fails as systems do, without the words of a store."""


def broken(local: World, at: int, error: BaseException) -> Broken:
    store = Broken(LocalStore(str(local.folder)), local.faults)
    local.faults.arm(at)
    local.faults.error = lambda: error
    return store


@pytest.mark.parametrize(
    ("at", "error", "kind", "message"),
    [
        (2, OSError(28, "full"), LocationError, "cannot write .*: no space left"),
        (2, KeyboardInterrupt(), Cancelled, "interrupted: .*: nothing was changed"),
        (12, OSError(5, "io"), ApplyError, "apply stopped: .*: the device reports an error; 4 of"),
        (12, KeyboardInterrupt(), Cancelled, "apply stopped: .*: interrupted; 4 of 14"),
    ],
)
def test_errors_of_the_system_are_told_in_our_words(
    local: World, at: int, error: BaseException, kind: type[Exception], message: str
) -> None:
    first, plan = local.snapshot(), make_plan(local)
    with pytest.raises(kind, match=message):
        apply(broken(local, at, error), plan)
    local.faults.error = None
    undo(local.clean)
    assert local.snapshot() == first


def test_a_way_back_that_stops_can_be_gone_on(local: World) -> None:
    first, plan = local.snapshot(), make_plan(local)
    crashed(local, plan, 14)
    with pytest.raises(ApplyError, match=r": no space left; 4 of 14 steps are done"):
        undo(broken(local, 6, OSError(28, "full")))
    (entry,) = history(local.clean)
    assert entry.rolling_back and str(entry.state) == "pending"
    local.faults.error = None
    assert undo(local.clean).verified
    assert local.snapshot() == first


def test_a_way_back_of_another_plan_is_damage(local: World) -> None:
    crashed(local, make_plan(local), 14)
    (entry,) = history(local.clean)
    record = json.dumps({"format": 1, "positions": [0]}).encode()
    local.write(f".ckptctl/journal/{entry.name}/rollback.json", record)
    before = local.snapshot()
    for way_out in (resume, undo):
        with pytest.raises(JournalError, match="belongs to another plan"):
            way_out(local.clean)
    assert local.snapshot() == before


def test_marks_that_were_never_ours_are_left_out(local: World) -> None:
    last = World("local", local.folder.parent / "last")
    build(last)
    apply(last.clean, make_plan(last))
    crashed(local, make_plan(local), 14)
    (entry,) = history(local.clean)
    local.write(f".ckptctl/journal/{entry.name}/marks/forward-x", b"")
    assert resume(local.clean).verified
    assert local.snapshot() == last.snapshot()


def test_where_nothing_can_be_read_any_more_the_entry_stays(local: World) -> None:
    first, plan = local.snapshot(), make_plan(local)

    class Dying(LocalStore):
        dead = False

        def replace(self, path: str, data: bytes) -> None:
            self.dead = True
            raise LocationError("the server is gone")

        def list_tree(self, prefix: str = "") -> tuple[Entry, ...]:
            if self.dead:
                raise LocationError("the server is gone")
            return super().list_tree(prefix)

    with pytest.raises(ApplyError, match="the server is gone; 0 of 14 steps are done"):
        apply(Dying(str(local.folder)), plan)
    assert str(history(local.clean)[-1].state) == "pending"
    assert undo(local.clean).verified
    assert local.snapshot() == first


def test_a_record_that_changes_before_it_is_kept_is_stale(
    local: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    from ckptctl.journal import scene

    monkeypatch.setattr(scene, "_REMEMBERED", 0)
    plan = make_plan(local)

    class Racing(LocalStore):
        def create(self, path: str, data: bytes) -> bool:
            if "/blobs/" in path:
                local.write("experiment_state-1.json", b"written by Ray")
            return super().create(path, data)

    with pytest.raises(StalePlanError) as caught:
        apply(Racing(str(local.folder)), plan)
    assert caught.value.changed == ("experiment_state-1.json: its content changed",)
    assert history(local.clean) == ()


def test_many_differences_of_a_pending_apply_are_counted(local: World) -> None:
    crashed(local, make_plan(local), 14)
    for number in range(2, 6):
        local.write(f"t1/checkpoint_{number}/more", b"")
    local.write("t2/checkpoint_7/more", b"")
    with pytest.raises(ApplyError, match=r"and \d more"):
        resume(local.clean)


def test_a_record_behind_a_link_inside_the_experiment_is_followed(local: World) -> None:
    (local.folder / "latest.json").symlink_to("experiment_state-1.json")
    p = Planner(local)
    p.rewrite("latest.json", "checkpoint_2", "x")
    plan = p.plan()
    assert apply(local.clean, plan).verified
    assert (local.folder / "latest.json").is_symlink()
    assert undo(local.clean).verified


def test_a_record_whose_link_leads_nowhere_is_gone(local: World) -> None:
    (local.folder / "latest.json").symlink_to("experiment_state-1.json")
    p = Planner(local)
    p.rewrite("latest.json", "checkpoint_2", "x")
    plan = p.plan()
    (local.folder / "experiment_state-1.json").unlink()
    with pytest.raises(StalePlanError, match=r"latest\.json: gone"):
        apply(local.clean, plan)
