"""`--quarantine`: what is no whole checkpoint moves aside, and the records follow."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from msgspec.structs import replace

from ckptctl.api import apply, check, plan_reindex, undo
from ckptctl.errors import UsageError
from ckptctl.model.checkpoint import CheckpointState
from ckptctl.model.experiment import CheckpointRef, Experiment, Trial
from ckptctl.model.plan import Plan
from ckptctl.planner.quarantine import set_aside
from ckptctl.scanner import scan
from tests.support import copy_of

AWAY = ".ckptctl/quarantine"


def read(experiment: Path) -> Experiment:
    (found,) = scan(str(experiment))
    return found


def first(experiment: Path) -> Path:
    return min(path.parent for path in experiment.glob("*/result.json"))


def tree(experiment: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(experiment)): path.read_bytes() if path.is_file() else b""
        for path in sorted(experiment.rglob("*"))
        if ".ckptctl" not in path.relative_to(experiment).parts
    }


def empty(folder: Path) -> None:
    for path in folder.iterdir():
        path.unlink()


def mend(experiment: Path, *, unsafe: bool = False) -> Plan:
    """Move aside, hold that it is done once and can be taken back, and do it again."""
    before = tree(experiment)
    plan = plan_reindex(read(experiment), quarantine=True, unsafe=unsafe)
    assert plan.refusals == ()
    assert apply(plan).verified
    assert undo(str(experiment)).verified
    assert tree(experiment) == before
    assert apply(plan_reindex(read(experiment), quarantine=True, unsafe=unsafe)).verified
    assert plan_reindex(read(experiment), quarantine=True, unsafe=unsafe).steps == ()
    return plan


def codes(experiment: Path) -> set[str]:
    return {f.code for f in check(read(experiment), ignore=("CKP116",))}


def trial_of(experiment: Path, dirname: str) -> Trial:
    found = read(experiment).trial(dirname)
    assert found is not None
    return found


@pytest.mark.parametrize(
    "name",
    [
        "ray-2.54.1-function_topk",
        "ray-2.6.3-function_topk",
        "ray-2.7.2-function_topk",
        "ray-2.40.0-class_freq",
    ],
)
def test_an_empty_latest_moves_and_the_one_before_takes_its_place(
    tmp_path: Path, name: str
) -> None:
    experiment = copy_of(name, tmp_path)
    trial = first(experiment)
    *_, before, latest = sorted(trial.glob("checkpoint_*"))
    empty(latest)
    plan = mend(experiment)
    assert [(m.source, m.target) for m in plan.moves] == [
        (f"{trial.name}/{latest.name}", f"{AWAY}/{trial.name}/{latest.name}")
    ]
    found = trial_of(experiment, trial.name)
    assert found.latest_record is not None and found.latest_record.ref is not None
    assert found.latest_record.ref.name == before.name
    assert found.checkpoint(latest.name) is None
    assert not codes(experiment) & {"CKP301", "CKP302", "CKP103", "CKP104"}


def test_a_partial_folder_says_what_it_lacks(tmp_path: Path) -> None:
    experiment = copy_of("partial-checkpoint--ray-2.54.1-function_topk", tmp_path)
    plan = mend(experiment)
    (move,) = plan.moves
    assert any(move.source in n and "is partial (without " in n for n in plan.notes)
    assert "CKP302" not in codes(experiment)


def test_temporary_folders_move_without_a_change_of_any_record(tmp_path: Path) -> None:
    experiment = copy_of("temporary-left--ray-2.54.1-function_topk", tmp_path)
    plan = mend(experiment)
    assert len(plan.moves) == 1
    assert plan.rewrites == ()
    assert "CKP005" not in codes(experiment)


def test_a_name_that_was_moved_aside_before_stays_free(tmp_path: Path) -> None:
    experiment = copy_of("temporary-left--ray-2.54.1-function_topk", tmp_path)
    (left,) = experiment.glob("*/checkpoint_tmp*")
    shutil.copytree(left, tmp_path / "again")
    mend(experiment)
    shutil.copytree(tmp_path / "again", left)
    (move,) = plan_reindex(read(experiment), quarantine=True).moves
    assert move.target == f"{AWAY}/{left.parent.name}/{left.name}-2"
    mend(experiment)
    assert len(list((experiment / AWAY / left.parent.name).iterdir())) == 2


def test_nothing_moves_without_the_flag(tmp_path: Path) -> None:
    experiment = copy_of("partial-checkpoint--ray-2.54.1-function_topk", tmp_path)
    assert plan_reindex(read(experiment)).moves == ()


def test_the_last_checkpoints_of_a_trial_stay_unless_unsafe(tmp_path: Path) -> None:
    experiment = copy_of("ray-2.54.1-function_topk", tmp_path)
    trial = first(experiment)
    for folder in trial.glob("checkpoint_*"):
        empty(folder)
    plan = plan_reindex(read(experiment), quarantine=True)
    assert plan.steps == ()
    assert sum("--unsafe moves it too" in note for note in plan.notes) == 3
    plan = mend(experiment, unsafe=True)
    assert len(plan.moves) == 3
    assert plan.unsafe
    assert trial_of(experiment, trial.name).latest_record is None


def test_what_a_trial_that_is_left_out_records_stays(tmp_path: Path) -> None:
    """In population-based training the latest of one trial may be another's."""
    experiment = copy_of("ray-2.54.1-function_topk", tmp_path)
    lent = read(experiment).trials[0].saves[0]
    empty(experiment / lent.path)
    found = read(experiment)
    lender, borrower = found.trials
    latest = borrower.latest_record
    assert latest is not None
    ref = CheckpointRef(trial=lender.dirname, name=lent.name)
    borrower = replace(borrower, latest_record=replace(latest, ref=ref, position=None))
    found = replace(found, trials=(lender, borrower))

    aside = set_aside(found, unsafe=False, trial_glob=lender.dirname)
    assert aside.moves == ()
    assert any("a trial that is left out records it" in note for note in aside.notes)
    aside = set_aside(found, unsafe=False, trial_glob=None)
    assert [source for source, _ in aside.moves] == [lent.path]
    missing = aside.rest.trials[0].checkpoint(lent.name)
    assert missing is not None and missing.state is CheckpointState.MISSING


def test_a_train_v2_run(tmp_path: Path) -> None:
    experiment = copy_of("ray-2.54.1-train_v2_topk", tmp_path)
    (run,) = read(experiment).trials
    assert run.latest is not None
    empty(experiment / run.latest.name)
    plan = mend(experiment)
    assert [m.target for m in plan.moves] == [f"{AWAY}/{run.latest.name}"]
    (after,) = read(experiment).trials
    assert after.latest is not None and after.latest != run.latest
    assert all(c.state is CheckpointState.COMPLETE for c in after.checkpoints)


def test_bare_folders(tmp_path: Path) -> None:
    experiment = tmp_path / "exp"
    for number in range(3):
        folder = experiment / f"checkpoint_{number}"
        folder.mkdir(parents=True)
        (folder / "model.bin").write_text("x" if number else "")
    (experiment / "checkpoint_1" / "model.bin").unlink()
    plan = mend(experiment)
    assert {m.source for m in plan.moves} == {"checkpoint_0", "checkpoint_1"}


def test_moving_aside_and_renumbering_are_two_plans(tmp_path: Path) -> None:
    experiment = copy_of("ray-2.54.1-function_topk", tmp_path)
    with pytest.raises(UsageError, match="in one go"):
        plan_reindex(read(experiment), quarantine=True, by="sequential")
