from __future__ import annotations

from ckptctl.model.finding import Applicability
from tests.rules.builders import EMPTY, a_trial, commands, folder, one, record, run


def test_an_empty_folder_is_told() -> None:
    finding = one("CKP301", a_trial(6, folder(7, EMPTY), latest=6))
    assert finding.message == "1 checkpoint has no files: checkpoint_000007"
    assert commands([finding]) == ["ckptctl reindex runs/exp --quarantine"]
    assert finding.remedy is not None
    assert finding.remedy.applicability is Applicability.MANUAL


def test_it_matters_more_where_a_restore_goes_on_from_it() -> None:
    finding = one("CKP301", a_trial(folder(7, EMPTY), latest=7))
    assert finding.message.endswith("; it is the latest, which a restore goes on from")
    both = one("CKP301", a_trial(folder(6, EMPTY), folder(7, EMPTY), latest=7))
    assert both.message == (
        "2 checkpoints have no files: checkpoint_000006 and checkpoint_000007; checkpoint_000007 "
        "is the latest, which a restore goes on from"
    )


def test_another_trials_folder_of_the_same_name_is_not_it() -> None:
    finding = one("CKP301", a_trial(folder(7, EMPTY), latest=record(7, trial="t2")))
    assert finding.message == "1 checkpoint has no files: checkpoint_000007"


def test_folders_with_files_are_quiet() -> None:
    assert run("CKP301", a_trial(6, 7)) == []
