"""A link in the place of a record or a trial is told, and nothing is renamed past it."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from ckptctl.checker import check
from ckptctl.model.experiment import Experiment
from ckptctl.model.template import Template
from ckptctl.planner.rename import plan_rename
from ckptctl.scanner import scan
from tests.support import copy_of

NAME = "ray-2.54.1-function_topk"
TEMPLATE = Template.parse("checkpoint_{index:07d}")


def _behind_a_link(path: Path, outside: Path) -> None:
    shutil.move(path, outside)
    path.symlink_to(outside)


def _errors(experiment: Experiment) -> list[tuple[str, str]]:
    return [(f.code, f.message) for f in check(experiment) if f.severity == "error"]


def test_a_state_behind_a_link_refuses_a_rename(tmp_path: Path) -> None:
    path = copy_of(NAME, tmp_path)
    state = next(path.glob("experiment_state-*.json"))
    _behind_a_link(state, tmp_path / "elsewhere.json")
    (experiment,) = scan(str(path))
    ((code, message),) = _errors(experiment)
    assert code == "CKP201"
    assert "a symbolic link or a special file, which is never followed" in message
    assert [r.code for r in plan_rename(experiment, TEMPLATE).refusals] == ["unreadable"]


def test_a_trial_behind_a_link_is_not_clean(tmp_path: Path) -> None:
    path = copy_of(NAME, tmp_path)
    trial = min(p for p in path.iterdir() if p.is_dir())
    _behind_a_link(trial, tmp_path / "elsewhere")
    (experiment,) = scan(str(path))
    assert [code for code, _ in _errors(experiment)] == ["CKP201"]


def test_a_pipe_in_the_place_of_a_log_is_told(tmp_path: Path) -> None:
    path = copy_of(NAME, tmp_path)
    log = next(path.glob("*/result.json"))
    log.unlink()
    os.mkfifo(log)
    (experiment,) = scan(str(path))
    assert [code for code, _ in _errors(experiment)] == ["CKP201"]


def test_a_manager_without_its_list_refuses_a_rename(tmp_path: Path) -> None:
    path = copy_of(NAME, tmp_path)
    state = next(path.glob("experiment_state-*.json"))
    state.write_text(
        state.read_text().replace(b"_checkpoint_results".hex(), b"_checkpoint_nothing".hex())
    )
    (experiment,) = scan(str(path))
    assert {code for code, _ in _errors(experiment)} == {"CKP201"}
    assert {r.code for r in plan_rename(experiment, TEMPLATE).refusals} == {"unreadable"}
