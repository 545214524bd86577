"""A folder that may not be read hides nothing but itself, and is never taken for an empty one."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ckptctl.checker import check
from ckptctl.planner.repair import plan_repair
from ckptctl.scanner import scan
from tests.support import copy_of, listed_folder


@pytest.fixture
def forbidden(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of folders that answer with a refusal, as they do to anybody but root."""
    names: list[str] = []
    real = os.scandir

    def scandir(place: int | str) -> object:
        path = listed_folder(place)
        if os.path.basename(path) in names:
            raise PermissionError(13, "Permission denied", path)
        return real(place)

    monkeypatch.setattr(os, "scandir", scandir)
    return names


def test_a_checkpoint_that_may_not_be_read(tmp_path: Path, forbidden: list[str]) -> None:
    path = copy_of("ray-2.54.1-function_topk", tmp_path)
    forbidden.append("checkpoint_000007")
    (experiment,) = scan(str(path))
    found = [f for f in check(experiment) if f.severity == "error"]
    assert {f.code for f in found} == {"CKP201"}
    assert len(found) == 2
    assert all("checkpoint_000007 cannot be read: no permission" in f.message for f in found)
    assert plan_repair(experiment).is_empty


def test_a_trial_that_may_not_be_read(tmp_path: Path, forbidden: list[str]) -> None:
    path = copy_of("ray-2.54.1-function_topk", tmp_path)
    hidden, seen = (t.dirname for t in scan(str(path))[0].trials)
    forbidden.append(hidden)
    (experiment,) = scan(str(path))
    assert {f.code for f in check(experiment) if f.severity == "error"} == {"CKP201"}
    trial = experiment.trial(seen)
    assert trial is not None
    assert len(trial.folders) == 3
    assert plan_repair(experiment).is_empty


def test_an_experiment_that_may_not_be_read_hides_no_other(
    tmp_path: Path, forbidden: list[str]
) -> None:
    copy_of("ray-2.54.1-function_topk", tmp_path)
    copy_of("ray-2.54.1-function_failed", tmp_path)
    forbidden.append("ray-2.54.1-function_topk")
    assert [e.name for e in scan(str(tmp_path))] == ["ray-2.54.1-function_failed"]
