"""`reindex` on every damaged Tune experiment: what it leaves, and that once is enough."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from ckptctl.checker import check
from ckptctl.codec.edit import apply_edits
from ckptctl.model.experiment import Experiment
from ckptctl.model.finding import Severity
from ckptctl.planner.draft import Draft
from ckptctl.planner.repair import plan_repair
from ckptctl.scanner import scan
from tests.support import copy_of

LEFT = {
    "callback-raised--ray-2.54.1": (),
    "extra-folder-ahead--ray-2.54.1-function_topk": ("CKP105",),
    "killed--ray-2.40.0": ("CKP105", "CKP105"),
    "killed--ray-2.54.1": ("CKP105", "CKP105"),
    "latest-folder-removed--ray-2.54.1-function_topk": (),
    "latest-folder-removed--ray-2.54.1-train_v2_topk": (),
    "older-folder-removed--ray-2.54.1-function_topk": (),
    "renamed-by-hand--ray-2.54.1-function_topk": ("CKP105",),
    "renumbered-by-hand--ray-2.54.1-function_topk": ("CKP103", "CKP104", "CKP105"),
    "rows-removed--ray-2.54.1-function_topk": (),
    "rows-shifted-by-ray--ray-2.7.2-class_freq": ("CKP116",),
    "score-not-a-number--ray-2.54.1": ("CKP117",),
    "ray-2.54.1-class_freq": (),
    "ray-2.54.1-pbt": (),
}
"""The errors and warnings that a plain `reindex` leaves; safe ones never."""

MENDED_UNSAFELY = (
    "extra-folder-ahead--ray-2.54.1-function_topk",
    "killed--ray-2.54.1",
    "renamed-by-hand--ray-2.54.1-function_topk",
    "renumbered-by-hand--ray-2.54.1-function_topk",
)


def _one(path: Path) -> Experiment:
    (experiment,) = scan(str(path))
    return experiment


def _apply(path: Path, draft: Draft) -> None:
    kinds = {record.path: record.kind for record in _one(path).records}
    for file, edits in draft.edits.items():
        target = path / file
        target.write_bytes(apply_edits(target.read_bytes(), kinds[file], edits))


def _codes(path: Path) -> tuple[str, ...]:
    found = check(_one(path))
    return tuple(sorted(f.code for f in found if f.severity is not Severity.INFO))


@pytest.mark.parametrize("name", sorted(LEFT))
def test_a_plain_reindex_leaves_only_what_is_not_safe(name: str, tmp_path: Path) -> None:
    path = copy_of(name, tmp_path)
    draft = plan_repair(_one(path))
    assert not draft.refusals
    assert not draft.unsafe
    _apply(path, draft)
    assert _codes(path) == LEFT[name]
    assert plan_repair(_one(path)).is_empty


@pytest.mark.parametrize("name", MENDED_UNSAFELY)
def test_unsafe_registers_with_a_marked_estimate(name: str, tmp_path: Path) -> None:
    path = copy_of(name, tmp_path)
    draft = plan_repair(_one(path), unsafe=True)
    assert draft.unsafe
    _apply(path, draft)
    assert _codes(path) == ()
    after = _one(path)
    assert any(record.estimated for trial in after.trials for record in trial.records)
    assert plan_repair(after, unsafe=True).is_empty


def test_an_estimate_never_goes_behind_the_end_of_a_finished_trial(tmp_path: Path) -> None:
    path = copy_of("renumbered-by-hand--ray-2.54.1-function_topk", tmp_path)
    _apply(path, plan_repair(_one(path), unsafe=True))
    trial = _one(path).trials[0]
    iterations = {c.name: c.training_iteration for c in trial.folders}
    assert iterations == {"checkpoint_000100": 6, "checkpoint_000101": 7, "checkpoint_000102": 8}
    assert trial.latest is not None
    assert trial.latest.name == "checkpoint_000102"


def test_relocating_rewrites_every_recorded_root(tmp_path: Path) -> None:
    path = copy_of("ray-2.7.2-function_topk", tmp_path)
    _apply(path, plan_repair(_one(path), relocate=True))
    after = _one(path)
    assert after.recorded_root == str(path)
    assert {r.path.rsplit("/", 2)[0] for t in after.trials for r in t.records} == {str(path)}
    assert b"/mnt/cluster_storage" not in (path / (after.state_file or "")).read_bytes()
    assert plan_repair(after, relocate=True).is_empty


def test_records_of_a_bucket_are_not_relocated_to_a_disk(tmp_path: Path) -> None:
    path = copy_of("ray-2.54.1-s3_failed", tmp_path)
    draft = plan_repair(_one(path), relocate=True)
    assert [r.code for r in draft.refusals] == ["relocation"]
    assert "s3://runs/s3exp" in draft.refusals[0].message


@pytest.mark.parametrize(
    "name", ["no-state--ray-2.54.1-function_topk", "state-truncated--ray-2.54.1-function_topk"]
)
def test_nothing_is_mended_without_a_state(name: str, tmp_path: Path) -> None:
    draft = plan_repair(_one(copy_of(name, tmp_path)))
    assert [r.code for r in draft.refusals] == ["unreadable"]
    assert not draft.edits


@pytest.mark.parametrize("which", [0, -1])
@pytest.mark.parametrize(
    "name",
    [
        "ray-2.6.3-function_topk",
        "ray-2.6.3-pbt",
        "ray-2.7.2-function_topk",
        "ray-2.9.3-class_failed",
    ],
)
def test_dead_records_and_another_root_in_one_plan(name: str, which: int, tmp_path: Path) -> None:
    path = copy_of(name, tmp_path)
    trial = min(p for p in path.iterdir() if p.is_dir())
    shutil.rmtree(sorted(trial.glob("checkpoint_*"))[which])
    _apply(path, plan_repair(_one(path), relocate=True))
    assert set(_codes(path)) <= {"CKP107"}
    assert _one(path).recorded_root == str(path)
    assert plan_repair(_one(path), relocate=True).is_empty
