"""What a scan asks of the disk: each folder listed once, each record opened once, no more."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

import pytest
from msgspec.structs import replace

from benchmarks.generate import generate
from ckptctl.checker import check
from ckptctl.scanner import scan
from tests.support import listed_folder

TRIALS, CHECKPOINTS = 5, 6


@pytest.fixture
def made(tmp_path: Path) -> Path:
    return generate(tmp_path / "made", trials=TRIALS, checkpoints=CHECKPOINTS, state=True)


def test_a_generated_experiment_is_what_ray_would_have_left(made: Path) -> None:
    [experiment] = scan(str(made))
    assert {f.code for f in check(experiment)} == {"CKP105", "CKP116"}
    for trial in experiment.trials:
        assert len(trial.records) == 4 and len(trial.folders) == CHECKPOINTS
        assert trial.latest is not None and trial.latest.name == "checkpoint_000005"
        assert {r.row for r in trial.records} == {2, 3, 4, 5}


def test_every_folder_is_listed_once_and_every_record_opened_once(
    made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    opened: Counter[str] = Counter()
    listed: Counter[str] = Counter()
    real_open, real_scandir = os.open, os.scandir

    def counted(path: str, flags: int, *rest: int, **named: int) -> int:
        if not flags & os.O_DIRECTORY:
            opened[str(path)] += 1
        return real_open(path, flags, *rest, **named)

    def scandir(place: int | str) -> object:
        listed[listed_folder(place)] += 1
        return real_scandir(place)

    monkeypatch.setattr(os, "open", counted)
    monkeypatch.setattr(os, "scandir", scandir)
    [experiment] = scan(str(made))
    assert experiment.trials
    assert set(listed.values()) == {1} and len(listed) == 1 + TRIALS * (1 + CHECKPOINTS)
    assert set(opened.values()) == {1}
    # A log and its table of each trial, and the state.
    assert len(opened) == 2 * TRIALS + 1


def test_trials_and_checkpoints_are_found_without_going_through_all(made: Path) -> None:
    [experiment] = scan(str(made))
    for trial in experiment.trials:
        assert experiment.trial(trial.dirname) is trial
        assert all(trial.checkpoint(c.name) is c for c in trial.checkpoints)
    assert experiment.trial("none") is None and experiment.trials[0].checkpoint("none") is None
    backwards = replace(experiment, trials=experiment.trials[::-1])
    assert all(backwards.trial(t.dirname) is t for t in experiment.trials)
