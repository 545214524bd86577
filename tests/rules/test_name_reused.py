from __future__ import annotations

from ckptctl.model.experiment import TrainableKind
from tests.rules.builders import (
    MISSING,
    a_trial,
    claims,
    commands,
    experiment,
    folder,
    one,
    row,
    rows,
    run,
)


def test_two_rows_of_one_folder_are_told() -> None:
    finding = one("CKP108", a_trial(2, 3, 4, log=rows(0, 1, 2, 3, 3, 4)))
    assert finding.message == (
        "two saves went into checkpoint_000003 (iterations 4 and 5): the earlier content was "
        "overwritten"
    )
    assert claims(finding) == [
        ("session", "checkpoint_000003 at iteration 4"),
        ("session", "checkpoint_000003 at iteration 5"),
    ]
    assert commands([finding]) == ["ckptctl reindex runs/exp"]


def test_several_folders_are_one_finding() -> None:
    finding = one("CKP108", a_trial(1, 2, log=rows(1, 2, 1, 2)))
    assert finding.message == (
        "2 folders hold more than one save each: checkpoint_000001 and checkpoint_000002: the "
        "earlier content was overwritten"
    )


def test_names_that_occur_once_are_quiet() -> None:
    assert run("CKP108", a_trial(1, 2, log=rows(1, None, 2, None))) == []


def test_evicted_folders_are_nobodys_trouble() -> None:
    assert run("CKP108", a_trial(folder(1, MISSING), 2, log=rows(0, 0, 1, 1, 2))) == []


def test_ray_2_7_may_predict_one_name_twice_for_a_class_trainable() -> None:
    trial = a_trial(1, log=rows(1, 1), kind=TrainableKind.CLASS)
    assert run("CKP108", experiment(trial, layout="ray-tune-2.7")) == []


def test_the_row_of_a_class_trainable_whose_save_failed_is_no_save() -> None:
    again = (row(0, None, 1), row(1, 1, 2), row(2, None, 1), row(3, 1, 2))
    assert run("CKP108", a_trial(1, log=again, kind=TrainableKind.CLASS)) == []
    (finding,) = run("CKP108", a_trial(1, log=again, kind=TrainableKind.FUNCTION))
    assert "(iterations 2 and 2)" in finding.message


def test_other_iterations_of_a_class_trainable_are_other_saves() -> None:
    trial = a_trial(1, log=rows(None, 1, 1), kind=TrainableKind.CLASS)
    assert "(iterations 2 and 3)" in one("CKP108", trial).message
