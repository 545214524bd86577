from __future__ import annotations

from ckptctl.model.finding import Applicability
from tests.rules.builders import (
    MISSING,
    a_trial,
    commands,
    experiment,
    folder,
    one,
    record,
    run,
)


def test_dead_records_are_one_finding() -> None:
    gone = (folder(74, MISSING), folder(75, MISSING))
    finding = one("CKP104", a_trial(*gone, 76, 77, records=[74, 75, 76, 77], latest=77))
    assert finding.message == (
        "2 recorded checkpoints are not on storage: checkpoint_000074 and checkpoint_000075"
    )
    assert finding.checkpoints == ("checkpoint_000074", "checkpoint_000075")
    assert len(finding.evidence) == 2
    assert commands([finding]) == ["ckptctl reindex runs/exp"]


def test_one_is_singular_and_a_double_record_is_one_checkpoint() -> None:
    finding = one("CKP104", a_trial(folder(4, MISSING), 5, records=[4, 4, 5], latest=5))
    assert finding.message == "1 recorded checkpoint is not on storage: checkpoint_000004"
    assert len(finding.evidence) == 2


def test_train_v2_does_not_load_with_it() -> None:
    trial = a_trial(folder(4, MISSING), 5, records=[4, 5], latest=5)
    finding = one("CKP104", experiment(trial, layout="ray-train-v2"))
    assert "the run cannot be loaded" in finding.message


def test_a_folder_with_a_name_of_its_own_may_be_it() -> None:
    trial = a_trial(5, folder(4, MISSING), "checkpoint_best", records=[4, 5], latest=5)
    finding = one("CKP104", trial)
    assert finding.remedy is not None
    assert finding.remedy.note == (
        "it takes the record out of the list; if checkpoint_best is it under another name, rename "
        "it back first"
    )
    unpadded = a_trial(5, folder(4, MISSING), "checkpoint_4", 9, records=[4, 5], latest=5)
    finding = one("CKP104", unpadded)
    assert finding.remedy is not None
    assert "; if checkpoint_4 is it under another name" in finding.remedy.note


def test_where_nothing_would_be_left_the_remedy_is_unsafe() -> None:
    finding = one("CKP104", a_trial(folder(7, MISSING), 100, records=[7], latest=7))
    assert finding.remedy is not None
    assert finding.remedy.applicability is Applicability.UNSAFE


def test_folders_that_are_there_are_quiet_and_so_are_records_from_outside() -> None:
    assert run("CKP104", a_trial(5, 6, records=[5, 6])) == []
    assert run("CKP104", a_trial(5, records=[record(9, trial=None)])) == []


def test_another_trials_folder_is_looked_for_there() -> None:
    taker = a_trial(1, records=[1, record(9, trial="t2")])
    assert run("CKP104", experiment(taker, a_trial(9, dirname="t2"))) == []
    assert len(run("CKP104", experiment(taker, a_trial(8, dirname="t2")))) == 1
