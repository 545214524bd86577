"""Bare checkpoint folders, and a trial's folder without its experiment."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from ckptctl.api import apply, best, check, latest, plan_reindex, plan_rename, undo
from ckptctl.errors import LocationError
from ckptctl.model.bookkeeping import Witness
from ckptctl.model.checkpoint import CheckpointState
from ckptctl.model.experiment import Experiment
from ckptctl.scanner import scan
from tests.support import copy_of


def checkpoint(folder: Path, text: str = "x") -> None:
    folder.mkdir(parents=True)
    (folder / "model.bin").write_text(text)


def folders(parent: Path, *names: str) -> Path:
    for name in names:
        checkpoint(parent / name)
    return parent


def read(location: Path, layout: str | None = None) -> Experiment:
    (found,) = scan(str(location), layout=layout)
    return found


def names(experiment: Experiment) -> dict[str, list[str]]:
    return {t.dirname: [c.name for c in t.saves] for t in experiment.trials}


def test_a_folder_of_checkpoints_is_one_trial(tmp_path: Path) -> None:
    found = read(folders(tmp_path / "run", "checkpoint_2", "checkpoint_10", "checkpoint_9-0.5"))
    assert found.layout == "plain"
    assert found.state_file is None
    assert names(found) == {".": ["checkpoint_2", "checkpoint_9-0.5", "checkpoint_10"]}
    (trial,) = found.trials
    assert (trial.status, trial.in_state, trial.trial_id) == (None, False, None)
    book = trial.books[Witness.STORAGE]
    assert book.latest_index is not None and book.latest_index.value == 10
    assert book.next_index == 11
    assert set(trial.books) == {Witness.STORAGE}
    assert trial.latest is not None and trial.latest.path == "checkpoint_10"
    assert [(t.dirname, ref.name if ref else None) for t, ref in latest(found)] == [
        (".", "checkpoint_10")
    ]
    assert best(found) == ((trial, None),)


def test_a_folder_of_such_folders_has_a_trial_for_each(tmp_path: Path) -> None:
    folders(tmp_path / "run" / "a", "checkpoint_000000", "checkpoint_000001")
    folders(tmp_path / "run" / "b", "checkpoint_000000")
    (tmp_path / "run" / "logs").mkdir()
    found = read(tmp_path / "run")
    assert names(found) == {
        "a": ["checkpoint_000000", "checkpoint_000001"],
        "b": ["checkpoint_000000"],
    }
    assert names(read(tmp_path / "run" / "a")) == {".": ["checkpoint_000000", "checkpoint_000001"]}


def test_dates_order_by_name(tmp_path: Path) -> None:
    run = folders(
        tmp_path / "run",
        "checkpoint_2026-11-30_10-37-15.123456",
        "checkpoint_2026-11-30_09-00-00.000000",
    )
    assert names(read(run)) == {
        ".": ["checkpoint_2026-11-30_09-00-00.000000", "checkpoint_2026-11-30_10-37-15.123456"]
    }


def test_what_is_inside_a_checkpoint_is_no_experiment(tmp_path: Path) -> None:
    run = folders(tmp_path / "run", "checkpoint_1")
    folders(run / "checkpoint_1" / "parts", "checkpoint_1", "checkpoint_2")
    folders(run / "old", "checkpoint_1")
    assert names(read(run)) == {".": ["checkpoint_1"]}


def test_other_folders_are_none(tmp_path: Path) -> None:
    folders(tmp_path / "run", "checkpoint_best", "checkpoints", "model")
    with pytest.raises(LocationError, match="no experiment"):
        scan(str(tmp_path))


def test_the_state_of_each_folder_is_told(tmp_path: Path) -> None:
    run = folders(tmp_path / "run", *(f"checkpoint_{n}" for n in range(4)), "checkpoint_best")
    (run / "checkpoint_1" / "model.bin").unlink()
    (run / "checkpoint_2" / "model.bin").write_text("")
    (run / "checkpoint_tmp0a1b2c").mkdir()
    found = read(run)
    states = {c.name: c.state for c in found.trials[0].checkpoints}
    assert states == {
        "checkpoint_0": CheckpointState.COMPLETE,
        "checkpoint_1": CheckpointState.EMPTY,
        "checkpoint_2": CheckpointState.PARTIAL,
        "checkpoint_3": CheckpointState.COMPLETE,
        "checkpoint_best": CheckpointState.COMPLETE,
        "checkpoint_tmp0a1b2c": CheckpointState.TEMPORARY,
    }
    assert found.unparsed == ("checkpoint_best",)
    codes = {f.code for f in check(found)}
    assert {"CKP001", "CKP005", "CKP301", "CKP302"} <= codes
    assert not codes & {"CKP104", "CKP105", "CKP205", "CKP206"}


def test_another_layout_comes_first(tmp_path: Path) -> None:
    for name in ("ray-2.54.1-function_topk", "ray-2.54.1-train_v2_topk", "ray-2.6.3-class_freq"):
        assert read(copy_of(name, tmp_path)).layout != "plain"
    tune = tmp_path / "ray-2.54.1-function_topk"
    assert read(tune, "plain").layout == "plain"
    assert len(read(tune, "plain").trials) == 2


def test_a_template_of_the_index_renames(tmp_path: Path) -> None:
    run = folders(tmp_path / "run", "checkpoint_2", "checkpoint_10")
    plan = plan_rename(read(run), template="checkpoint_{index:06d}")
    assert apply(plan).verified
    assert names(read(run)) == {".": ["checkpoint_000002", "checkpoint_000010"]}
    undo(str(run))
    assert names(read(run)) == {".": ["checkpoint_2", "checkpoint_10"]}


def test_a_template_of_a_metric_is_refused(tmp_path: Path) -> None:
    run = folders(tmp_path / "run", "checkpoint_2")
    (refusal,) = plan_rename(read(run), template="checkpoint_{loss}").refusals
    assert refusal.code == "metric-missing"


def test_renumbering(tmp_path: Path) -> None:
    run = folders(tmp_path / "run", "checkpoint_2", "checkpoint_10")
    assert apply(plan_reindex(read(run), by="sequential")).verified
    assert names(read(run)) == {".": ["checkpoint_000000", "checkpoint_000001"]}


def test_there_are_no_records_to_mend(tmp_path: Path) -> None:
    run = folders(tmp_path / "run", "checkpoint_2")
    assert [r.code for r in plan_reindex(read(run)).refusals] == ["unreadable"]


# --- a trial alone


def alone(tmp_path: Path, name: str) -> Path:
    experiment = copy_of(name, tmp_path)
    trial = min(path.parent for path in experiment.glob("*/result.json"))
    return Path(shutil.copytree(trial, tmp_path / "alone" / trial.name))


def test_a_trial_alone_is_read_with_the_metrics_of_its_log(tmp_path: Path) -> None:
    trial = alone(tmp_path, "ray-2.54.1-function_topk")
    found = read(trial)
    assert found.layout == "ray-tune"
    (only,) = found.trials
    assert only.dirname == "."
    assert not only.in_state
    assert only.trial_id is not None
    rows = [json.loads(line) for line in (trial / "result.json").read_text().splitlines()]
    losses = {row["checkpoint_dir_name"]: row["loss"] for row in rows}
    assert {c.name: c.metrics["loss"] for c in only.saves} == {
        path.name: losses[path.name] for path in trial.glob("checkpoint_*")
    }
    assert only.latest is not None
    assert only.latest.path == max(path.name for path in trial.glob("checkpoint_*"))


def test_a_trial_of_ray_2_6_alone_is_read_with_its_notes(tmp_path: Path) -> None:
    trial = alone(tmp_path, "ray-2.6.3-class_freq")
    found = read(trial)
    assert found.layout == "ray-legacy"
    assert [c.training_iteration for c in found.trials[0].saves] == [5, 10, 12]


def test_a_trial_alone_is_renamed_with_its_log(tmp_path: Path) -> None:
    trial = alone(tmp_path, "ray-2.54.1-function_topk")
    plan = plan_rename(read(trial), template="checkpoint_{index:06d}-{loss:.4f}")
    assert apply(plan).verified
    rows = [json.loads(line) for line in (trial / "result.json").read_text().splitlines()]
    there = {path.name for path in trial.glob("checkpoint_*")}
    named = {row["checkpoint_dir_name"]: row["loss"] for row in rows}
    assert all(name == f"{name[:17]}-{named[name]:.4f}" for name in there)
    assert "result.json" in {s.file for s in plan.rewrites}


def test_a_trial_beside_others_without_a_state_is_alone(tmp_path: Path) -> None:
    experiment = copy_of("no-state--ray-2.54.1-function_topk", tmp_path)
    trial = min(path.parent for path in experiment.glob("*/result.json"))
    found = read(trial)
    assert found.focus is None
    assert [t.dirname for t in found.trials] == ["."]
    assert len(read(experiment).trials) == 2


def test_a_trial_of_an_experiment_stands_for_it(tmp_path: Path) -> None:
    experiment = copy_of("ray-2.54.1-function_topk", tmp_path)
    trial = min(path.parent for path in experiment.glob("*/result.json"))
    found = read(trial)
    assert found.focus == trial.name
    assert found.location == str(experiment)
