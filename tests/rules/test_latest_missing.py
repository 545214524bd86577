from __future__ import annotations

import pytest

from ckptctl.model.finding import Applicability
from tests.rules.builders import (
    EMPTY,
    MISSING,
    a_trial,
    claims,
    commands,
    experiment,
    folder,
    one,
    record,
    rows,
    run,
)


def test_a_latest_that_is_gone_is_told() -> None:
    finding = one("CKP103", a_trial(5, 6, folder(7, MISSING), records=[5, 6, 7], latest=7))
    assert finding.message == (
        "the latest checkpoint, checkpoint_000007, is not on storage: a restore fails"
    )
    assert claims(finding) == [
        ("trial", "checkpoint_000007"),
        ("storage", "no checkpoint_000007"),
    ]
    assert commands([finding]) == ["ckptctl reindex runs/exp"]


@pytest.mark.parametrize(
    ("layout", "harm"),
    [
        ("ray-legacy", "falls back to the folder whose name sorts last"),
        ("ray-train-v2", "the run cannot be loaded"),
    ],
)
def test_the_harm_is_that_of_the_layout(layout: str, harm: str) -> None:
    trial = a_trial(6, folder(7, MISSING), records=[6, 7], latest=7)
    assert harm in one("CKP103", experiment(trial, layout=layout)).message


def test_where_nothing_is_left_to_go_on_from_the_remedy_is_unsafe() -> None:
    lost = a_trial(folder(7, MISSING), folder(8, EMPTY), 9, records=[7, 8], latest=7)
    finding = one("CKP103", lost)
    assert finding.remedy is not None
    assert finding.remedy.applicability is Applicability.UNSAFE
    assert finding.remedy.command == "ckptctl reindex runs/exp --unsafe"


def test_a_folder_that_only_the_log_knows_can_be_gone_on_from() -> None:
    finding = one("CKP103", a_trial(folder(7, MISSING), 8, latest=7, log=rows(7, 8)))
    assert finding.remedy is not None
    assert finding.remedy.applicability is Applicability.SAFE


def test_another_trials_folder_is_looked_for_there() -> None:
    taker = a_trial(1, latest=record(9, trial="t2"), records=[1])
    assert run("CKP103", experiment(taker, a_trial(9, dirname="t2"))) == []
    finding = one("CKP103", experiment(taker, a_trial(8, dirname="t2")))
    assert "the latest checkpoint, checkpoint_000009 of trial id_t2, is not" in finding.message


def test_a_trial_that_was_left_out_says_nothing_about_its_folders() -> None:
    assert run("CKP103", a_trial(1, latest=record(9, trial="t2"))) == []


def test_a_folder_with_a_name_of_its_own_may_be_it() -> None:
    trial = a_trial(6, folder(7, MISSING), "checkpoint_best", records=[6, 7], latest=7)
    finding = one("CKP103", trial)
    assert finding.remedy is not None
    assert finding.remedy.note.endswith(
        "; if checkpoint_best is it under another name, rename it back first"
    )


def test_a_latest_that_is_there_or_outside_is_quiet() -> None:
    assert run("CKP103", a_trial(7, latest=7)) == []
    assert run("CKP103", a_trial(7, latest=record(9, trial=None))) == []
    assert run("CKP103", a_trial(7)) == []
