"""`reindex` on what Ray 2.6 wrote: the heap, the best, the latest and the counter."""

from __future__ import annotations

import heapq
import json
import pickle
import shutil
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ckptctl.api import apply, check, plan_reindex, plan_rename
from ckptctl.model.experiment import TrainableKind
from ckptctl.model.plan import Plan
from ckptctl.planner.heap_order import is_heap, staying
from tests.support import HEALTHY, copy_of
from tests.unit.planner.legacy_world import (
    STATE,
    CheckpointStorage,
    LegacyTrial,
    listed,
    manager_of,
    name_of,
    read,
    reindex,
    write_checkpoint,
    write_experiment,
)

LOSSES = (0.5, 0.2, 0.4, 0.3)


def saved(losses: tuple[float, ...] = LOSSES, *, keep: int | None = None) -> LegacyTrial:
    trial = LegacyTrial(0, keep=keep)
    for iteration, loss in enumerate(losses, 1):
        trial.save(iteration, loss)
    return trial


def codes(experiment: Path) -> set[str]:
    return {f.code for f in check(read(experiment), ignore=("CKP116",))}


def edits_of(plan: Plan) -> list[tuple[str, str]]:
    return [(e.op, e.pointer.partition("#")[2]) for step in plan.rewrites for e in step.edits]


@pytest.mark.parametrize("keep", [None, 2, 3])
def test_what_ray_wrote_is_left_alone(tmp_path: Path, keep: int | None) -> None:
    experiment = write_experiment(tmp_path / "exp", [saved((0.9, 0.1, 0.4, 0.3, 0.8), keep=keep)])
    assert plan_reindex(read(experiment)).steps == ()
    assert codes(experiment) == set()


@pytest.mark.parametrize("name", [n for n in HEALTHY if "ray-2.6.3" in n])
def test_healthy_experiments_are_left_alone(tmp_path: Path, name: str) -> None:
    assert plan_reindex(read(copy_of(name, tmp_path))).steps == ()


def test_a_function_is_known_by_its_numbers(tmp_path: Path) -> None:
    (trial,) = read(write_experiment(tmp_path / "exp", [saved()])).trials
    assert trial.kind is TrainableKind.FUNCTION


def test_a_dead_record_is_dropped_and_the_rest_stays(tmp_path: Path) -> None:
    trial = saved()
    experiment = write_experiment(tmp_path / "exp", [trial])
    shutil.rmtree(experiment / trial.dirname / "checkpoint_000000")
    plan, _ = reindex(experiment)
    assert edits_of(plan) == [("remove", "checkpoint_manager#_top_persisted_checkpoints/0")]
    manager = manager_of(experiment)
    assert listed(manager) == ["checkpoint_000001", "checkpoint_000002", "checkpoint_000003"]
    assert name_of(manager._latest_persisted_checkpoint) == "checkpoint_000003"


def test_a_dead_latest_and_a_dead_best_are_the_very_objects_of_the_list(tmp_path: Path) -> None:
    trial = saved((0.5, 0.2, 0.4, 0.1))
    experiment = write_experiment(tmp_path / "exp", [trial])
    shutil.rmtree(experiment / trial.dirname / "checkpoint_000003")
    reindex(experiment)
    manager = manager_of(experiment)
    tracked = [item.tracked_checkpoint for item in manager._top_persisted_checkpoints]
    assert manager._latest_persisted_checkpoint is tracked[2]
    assert manager._best_persisted_checkpoint is tracked[1]
    assert not codes(experiment)


@given(st.lists(st.integers(0, 30), min_size=1, max_size=12))
def test_what_moves_in_a_heap_moves_towards_its_end(numbers: list[int]) -> None:
    priorities = [(True, -float(n), place) for place, n in enumerate(numbers)]
    stay = staying(priorities)
    kept = [p for n, p in enumerate(priorities) if n in stay]
    assert kept == sorted(kept)
    for place, priority in enumerate(priorities):
        if place not in stay:
            behind = [n for n in stay if priorities[n] > priority]
            assert all(n > place for n in behind)
    heapq.heapify(priorities)
    assert is_heap(priorities)
    assert is_heap(sorted(priorities))


@pytest.mark.parametrize("gone", range(7))
def test_the_list_stays_a_heap_of_the_same_objects(tmp_path: Path, gone: int) -> None:
    trial = saved((0.9, 0.2, 0.5, 0.6, 0.1, 0.7, 0.8), keep=7)
    experiment = write_experiment(tmp_path / "exp", [trial])
    name = f"checkpoint_{gone:06d}"
    shutil.rmtree(experiment / trial.dirname / name)
    reindex(experiment)
    manager = manager_of(experiment)
    items = manager._top_persisted_checkpoints
    assert sorted(listed(manager)) == sorted(set(trial.folders) - {name})
    assert is_heap([item.priority for item in items])
    tracked = [item.tracked_checkpoint for item in items]
    for one in (manager._latest_persisted_checkpoint, manager._best_persisted_checkpoint):
        assert any(one is other for other in tracked)


@pytest.mark.parametrize("keep", [None, 4])
def test_a_folder_that_the_trainable_knows_is_registered(tmp_path: Path, keep: int | None) -> None:
    trial = LegacyTrial(0, keep=keep)
    for iteration, loss in enumerate((0.5, 0.2, 0.4), 1):
        trial.save(iteration, loss)
    trial.save(4, 0.1, register=False)
    experiment = write_experiment(tmp_path / "exp", [trial])
    plan, _ = reindex(experiment)
    assert not plan.unsafe
    manager = manager_of(experiment)
    new = manager._latest_persisted_checkpoint
    assert name_of(new) == "checkpoint_000003"
    assert name_of(manager._best_persisted_checkpoint) == "checkpoint_000003"
    assert (new.id, manager._latest_checkpoint_id) == (3, 4)
    assert new.storage_mode is CheckpointStorage.PERSISTENT
    assert new.metrics == trial.rows[-1]
    assert new.node_ip == "192.0.2.7"
    items = manager._top_persisted_checkpoints
    assert items[-1].priority == (True, -0.1, 3)
    assert isinstance(items[-1].priority, tuple)
    heapq.heappushpop(items, items[0])
    assert sorted(listed(manager)) == sorted(trial.folders)
    assert not codes(experiment)


def test_a_folder_between_recorded_ones_is_older_than_the_next(tmp_path: Path) -> None:
    trial = LegacyTrial(0)
    trial.save(1, 0.5)
    trial.save(2, 0.4, register=False)
    trial.save(3, 0.3)
    experiment = write_experiment(tmp_path / "exp", [trial])
    reindex(experiment)
    manager = manager_of(experiment)
    serials = {
        name_of(i.tracked_checkpoint): i.tracked_checkpoint.id
        for i in manager._top_persisted_checkpoints
    }
    assert serials == {"checkpoint_000000": 0, "checkpoint_000001": 1, "checkpoint_000002": 1}
    assert name_of(manager._latest_persisted_checkpoint) == "checkpoint_000002"


def test_a_state_from_before_the_first_save_learns_of_all(tmp_path: Path) -> None:
    trial = LegacyTrial(0, keep=3)
    for iteration, loss in enumerate(LOSSES, 1):
        trial.save(iteration, loss, register=False)
    experiment = write_experiment(tmp_path / "exp", [trial])
    plan, _ = reindex(experiment)
    manager = manager_of(experiment)
    assert sorted(listed(manager)) == sorted(trial.folders)
    assert is_heap([item.priority for item in manager._top_persisted_checkpoints])
    assert name_of(manager._latest_persisted_checkpoint) == "checkpoint_000003"
    assert name_of(manager._best_persisted_checkpoint) == "checkpoint_000001"
    assert manager._latest_checkpoint_id == 4
    assert any("never deletes" in note for note in plan.notes)


def test_a_folder_without_a_note_is_no_checkpoint(tmp_path: Path) -> None:
    trial = saved()
    experiment = write_experiment(tmp_path / "exp", [trial])
    row = trial.report(5, 0.1)
    folder = experiment / trial.dirname / "checkpoint_000004"
    write_checkpoint(folder, row)
    (folder / ".tune_metadata").unlink()
    (found,) = read(experiment).trials
    torn = found.checkpoint("checkpoint_000004")
    assert torn is not None
    assert torn.lacks == (".tune_metadata",)
    assert plan_reindex(read(experiment), unsafe=True).steps == ()


def test_a_note_that_cannot_be_read_needs_unsafe_and_never_gives_the_latest(tmp_path: Path) -> None:
    trial = saved()
    experiment = write_experiment(tmp_path / "exp", [trial])
    folder = experiment / trial.dirname / "checkpoint_000004"
    write_checkpoint(folder, {**trial.rows[-1], "training_iteration": 5})
    (folder / ".tune_metadata").write_bytes(b"\x80\x05]")
    assert plan_reindex(read(experiment)).steps == ()
    plan, _ = reindex(experiment, unsafe=True)
    assert plan.unsafe
    manager = manager_of(experiment)
    new = manager._top_persisted_checkpoints[-1].tracked_checkpoint
    assert name_of(new) == "checkpoint_000004"
    assert new.metrics["training_iteration_estimated"] is True
    assert name_of(manager._latest_persisted_checkpoint) == "checkpoint_000003"


def test_a_copy_of_a_recorded_save_needs_unsafe(tmp_path: Path) -> None:
    trial = saved()
    experiment = write_experiment(tmp_path / "exp", [trial])
    source = experiment / trial.dirname / "checkpoint_000003"
    shutil.copytree(source, source.with_name("checkpoint_000009"))
    plan = plan_reindex(read(experiment))
    assert plan.steps == ()
    assert any("checkpoint_000009 holds a save that another" in note for note in plan.notes)
    plan, _ = reindex(experiment, unsafe=True)
    assert plan.unsafe
    assert listed(manager_of(experiment))[-1] == "checkpoint_000009"


def test_a_folder_that_was_renamed_by_hand_is_found_again(tmp_path: Path) -> None:
    trial = saved()
    experiment = write_experiment(tmp_path / "exp", [trial])
    source = experiment / trial.dirname / "checkpoint_000003"
    source.rename(source.with_name("checkpoint_best"))
    plan, _ = reindex(experiment)
    assert not plan.unsafe
    manager = manager_of(experiment)
    assert listed(manager)[-1] == "checkpoint_best"
    assert name_of(manager._latest_persisted_checkpoint) == "checkpoint_best"
    assert manager._latest_persisted_checkpoint.metrics["training_iteration"] == 4


def test_a_folder_recorded_twice_keeps_the_later_save(tmp_path: Path) -> None:
    trial = saved()
    trial.register("checkpoint_000003", trial.report(5, 0.25))
    experiment = write_experiment(tmp_path / "exp", [trial])
    write = {**trial.rows[-1]}
    shutil.rmtree(experiment / trial.dirname / "checkpoint_000003")
    write_checkpoint(experiment / trial.dirname / "checkpoint_000003", write)
    assert "CKP109" in codes(experiment)
    reindex(experiment)
    manager = manager_of(experiment)
    assert listed(manager)[-1] == "checkpoint_000003"
    assert len(listed(manager)) == 4
    assert manager._top_persisted_checkpoints[-1].tracked_checkpoint.metrics["loss"] == 0.25


@pytest.mark.parametrize("by", ["loss", "training_iteration"])
def test_the_note_in_the_folder_is_trusted(tmp_path: Path, by: str) -> None:
    trial = saved((0.5, 0.4, 0.3, 0.2), keep=4)
    trial.heap[1].tracked_checkpoint.metrics["training_iteration"] = 9
    if by == "training_iteration":
        trial.by_iteration()
    experiment = write_experiment(tmp_path / "exp", [trial])
    assert "CKP113" in codes(experiment)
    plan, _ = reindex(experiment)
    assert not plan.unsafe
    assert any("gets iteration 2" in note for note in plan.notes)
    manager = manager_of(experiment)
    items = {name_of(i.tracked_checkpoint): i for i in manager._top_persisted_checkpoints}
    mended = items["checkpoint_000001"]
    assert mended.tracked_checkpoint.metrics["training_iteration"] == 2
    expected = (True, -0.4, 1) if by == "loss" else (True, 2.0, 1)
    assert mended.priority == expected
    assert is_heap([item.priority for item in manager._top_persisted_checkpoints])
    assert not codes(experiment)


def test_what_waits_to_be_deleted_is_forgotten_with_its_folder(tmp_path: Path) -> None:
    """Ray deletes by path, and a later save gets the path of a latest that is gone."""
    trial = saved((0.1, 0.2, 0.9), keep=2)
    assert {name_of(one) for one in trial.clean_up} == {"checkpoint_000002"}
    experiment = write_experiment(tmp_path / "exp", [trial])
    shutil.rmtree(experiment / trial.dirname / "checkpoint_000002")
    reindex(experiment)
    manager = manager_of(experiment)
    assert manager._checkpoints_to_clean_up == set()
    assert isinstance(manager._checkpoints_to_clean_up, set)
    assert name_of(manager._latest_persisted_checkpoint) == "checkpoint_000001"


def test_a_latest_outside_the_list_is_listed_before_another_becomes_it(tmp_path: Path) -> None:
    trial = saved((0.1, 0.2, 0.9), keep=2)
    trial.save(4, 0.8, register=False)
    experiment = write_experiment(tmp_path / "exp", [trial])
    reindex(experiment)
    manager = manager_of(experiment)
    assert sorted(listed(manager)) == sorted(trial.folders)
    assert name_of(manager._latest_persisted_checkpoint) == "checkpoint_000003"
    assert manager._checkpoints_to_clean_up == set()


def test_paths_that_ray_took_away_are_dropped(tmp_path: Path) -> None:
    """After a restore that failed Ray clears the path of the latest, which it lists too."""
    trial = saved()
    trial.latest.dir_or_data = None
    experiment = write_experiment(tmp_path / "exp", [trial])
    shutil.rmtree(experiment / trial.dirname / "checkpoint_000003")
    reindex(experiment)
    manager = manager_of(experiment)
    assert listed(manager) == ["checkpoint_000000", "checkpoint_000001", "checkpoint_000002"]
    assert name_of(manager._latest_persisted_checkpoint) == "checkpoint_000002"


def test_without_any_folder_only_unsafe_gives_the_records_up(tmp_path: Path) -> None:
    trial, other = saved(), LegacyTrial(1)
    other.save(1, 0.5)
    experiment = write_experiment(tmp_path / "exp", [trial, other])
    for name in trial.folders:
        shutil.rmtree(experiment / trial.dirname / name)
    plan = plan_reindex(read(experiment))
    assert plan.steps == ()
    assert any("--unsafe" in note for note in plan.notes)
    plan, _ = reindex(experiment, unsafe=True)
    assert plan.unsafe
    manager = manager_of(experiment)
    assert listed(manager) == []
    assert manager._latest_persisted_checkpoint is None
    assert manager._best_persisted_checkpoint is None
    assert listed(manager_of(experiment, 1)) == ["checkpoint_000000"]


def test_the_last_result_follows_a_log_that_is_ahead(tmp_path: Path) -> None:
    trial = saved()
    state = trial.state()
    trial.save(5, 0.15, register=False)
    experiment = write_experiment(tmp_path / "exp", [trial])
    document = json.loads((experiment / STATE).read_text())
    document["checkpoints"] = [state]
    (experiment / STATE).write_text(json.dumps(document))
    reindex(experiment)
    found = json.loads(json.loads((experiment / STATE).read_text())["checkpoints"][0])
    assert found["_last_result"] == trial.rows[-1]
    log = (experiment / trial.dirname / "result.json").read_text()
    assert "checkpoint_dir_name" not in log


def test_relocation_writes_the_roots_of_ray_2_6(tmp_path: Path) -> None:
    trial = saved((0.1, 0.2, 0.9), keep=2)
    experiment = write_experiment(tmp_path / "exp", [trial])
    reindex(experiment, relocate=True)
    document = json.loads(json.loads((experiment / STATE).read_text())["checkpoints"][0])
    assert document["_local_experiment_path"] == str(experiment)
    manager = manager_of(experiment)
    tracked = [item.tracked_checkpoint for item in manager._top_persisted_checkpoints]
    for one in (*tracked, manager._latest_persisted_checkpoint, *manager._checkpoints_to_clean_up):
        assert one.dir_or_data == f"{experiment}/{trial.dirname}/{name_of(one)}"
    assert manager._latest_persisted_checkpoint in manager._checkpoints_to_clean_up


def test_every_place_that_ray_keeps_follows_a_rename(tmp_path: Path) -> None:
    """What waits to be deleted is the very object that the latest is."""
    trial = saved((0.1, 0.2, 0.9), keep=2)
    experiment = write_experiment(tmp_path / "exp", [trial])
    plan = plan_rename(read(experiment), template="checkpoint_{index:06d}-{loss:.1f}")
    assert plan.refusals == ()
    assert apply(plan).verified
    manager = manager_of(experiment)
    assert sorted(listed(manager)) == ["checkpoint_000000-0.1", "checkpoint_000001-0.2"]
    assert name_of(manager._best_persisted_checkpoint) == "checkpoint_000000-0.1"
    assert name_of(manager._latest_persisted_checkpoint) == "checkpoint_000002-0.9"
    assert manager._checkpoints_to_clean_up == {manager._latest_persisted_checkpoint}
    assert manager._latest_memory_checkpoint.dir_or_data is None


def test_the_next_save_of_ray_2_6_counts_by_iteration(tmp_path: Path) -> None:
    trial = saved()
    experiment = write_experiment(tmp_path / "exp", [trial])
    (refusal,) = plan_rename(read(experiment), template="checkpoint_{index:03d}7").refusals
    assert refusal.code == "order"
    assert "checkpoint_000004" in refusal.message


def test_renumbering_by_ray_2_6_is_what_ray_2_6_did(tmp_path: Path) -> None:
    trial = saved()
    experiment = write_experiment(tmp_path / "exp", [trial])
    before = (experiment / STATE).read_bytes()
    assert plan_reindex(read(experiment), by="ray-2.6").steps == ()
    assert apply(
        plan_rename(read(experiment), template="checkpoint_{index:06d}-{loss:.1f}")
    ).verified
    assert apply(plan_reindex(read(experiment), by="ray-2.6")).verified
    assert (experiment / STATE).read_bytes() == before


@given(st.data())
@settings(max_examples=60, deadline=None)
def test_any_damage_is_mended_once_and_for_all(data: st.DataObject) -> None:
    keep = data.draw(st.none() | st.integers(1, 4))
    trial = LegacyTrial(0, keep=keep)
    for iteration in range(1, data.draw(st.integers(1, 9)) + 1):
        loss = data.draw(st.integers(1, 9)) / 10
        trial.save(iteration, loss, register=data.draw(st.integers(0, 3)) > 0)
    gone = data.draw(st.sets(st.sampled_from(sorted(trial.folders))))
    with tempfile.TemporaryDirectory() as folder:
        experiment = write_experiment(Path(folder) / "exp", [trial])
        for name in gone:
            shutil.rmtree(experiment / trial.dirname / name)
        reindex(experiment, unsafe=True)
        assert not codes(experiment) & {"CKP103", "CKP104", "CKP105", "CKP109", "CKP113"}
        manager = manager_of(experiment)
    left = sorted(set(trial.folders) - gone)
    items = manager._top_persisted_checkpoints
    tracked = {name_of(item.tracked_checkpoint): item for item in items}
    assert len(tracked) == len(items)
    latest = manager._latest_persisted_checkpoint
    assert {*tracked, *([name_of(latest)] if latest else [])} == set(left)
    assert (name_of(latest) if latest else None) == (left[-1] if left else None)
    if keep is not None:
        assert is_heap([item.priority for item in items])
    if items:
        best = max(items, key=lambda item: item.priority).tracked_checkpoint
        known = manager._best_persisted_checkpoint
        assert known.metrics["loss"] <= best.metrics["loss"]
        assert name_of(known) in left
    assert all(name_of(one) in left for one in manager._checkpoints_to_clean_up)
    assert all(item.tracked_checkpoint.id < manager._latest_checkpoint_id for item in items)


def test_metrics_of_a_note_lose_what_is_no_plain_value(tmp_path: Path) -> None:
    trial = saved()
    experiment = write_experiment(tmp_path / "exp", [trial])
    row = {**trial.report(5, 0.1), "config": {"lr": 0.1, "layers": [1, 2], "fn": [Path("x"), 3]}}
    row["config"]["make"] = CheckpointStorage.MEMORY
    folder = experiment / trial.dirname / "checkpoint_000004"
    write_checkpoint(folder, {**row, "config": {}})
    note = {"iteration": 5, "last_result": row}
    from tests.unit.planner.legacy_world import stand_ins

    with stand_ins():
        (folder / ".tune_metadata").write_bytes(pickle.dumps(note, 5))
    reindex(experiment)
    metrics = manager_of(experiment)._latest_persisted_checkpoint.metrics
    assert metrics["config"]["lr"] == 0.1
    assert metrics["config"]["layers"] == [1, 2]
    assert "make" not in metrics["config"]
