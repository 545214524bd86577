from __future__ import annotations

from tests.rules.builders import a_trial, claims, commands, one, record, row, rows, run


def test_ray_2_7_writes_the_name_on_a_row_before_the_save() -> None:
    log = rows(0, None, None, None, None, 1, None, None, None, None, 2, None)
    records = [record(0, 5, row=4), record(1, 10, row=9), record(2, 12, row=11)]
    finding = one("CKP106", a_trial(0, 1, 2, records=records, log=log))
    assert finding.message == (
        "the result log and the records pair 3 checkpoints with different saves: "
        "checkpoint_000000 was saved at iteration 5, but the row that names it is the one at "
        "iteration 1"
    )
    assert claims(finding)[:2] == [
        ("trial", "checkpoint_000000 at iteration 5"),
        ("session", "checkpoint_000000 at iteration 1"),
    ]
    assert finding.evidence[1].pointer == "0/checkpoint_dir_name"
    assert commands([finding]) == ["ckptctl reindex runs/exp"]


def test_a_row_that_names_another_folder_is_told() -> None:
    trial = a_trial(3, records=[record(3, 5)], log=rows(0, 1, None, None, 2))
    finding = one("CKP106", trial)
    assert finding.message == (
        "the result log and the records pair 1 checkpoint with different saves: "
        "checkpoint_000003 was saved at iteration 5, but the row of that save names "
        "checkpoint_000002"
    )
    assert finding.remedy is not None
    assert finding.remedy.note == "it writes the name on the row of the save"


def test_rows_that_agree_are_quiet() -> None:
    log = rows(0, 1, 2)
    assert run("CKP106", a_trial(1, 2, records=[record(1, 2, row=1), record(2, 3)], log=log)) == []


def test_iterations_that_repeat_decide_nothing() -> None:
    log = (row(0, 0, 1), row(1, 1, 2), row(2, 2, 2))
    assert run("CKP106", a_trial(1, records=[record(1, 2)], log=log)) == []
    twins = [record(1, 2), record(3, 2)]
    assert run("CKP106", a_trial(1, 3, records=twins, log=rows(0, 1))) == []


def test_a_row_without_a_name_contradicts_nothing() -> None:
    assert run("CKP106", a_trial(1, records=[record(1, 2, row=1)], log=rows(0, None))) == []
    bare = rows(None, None, has_name=False)
    assert run("CKP106", a_trial(1, records=[record(1, 2, row=1)], log=bare)) == []


def test_another_trials_record_is_not_in_this_log() -> None:
    trial = a_trial(0, latest=record(9, 1, trial="t2"), log=rows(0))
    assert run("CKP106", trial) == []


def test_the_row_of_a_result_that_was_saved_twice_names_one_of_both() -> None:
    twins = [record(1, 2, row=1), record(2, 2, row=1)]
    assert run("CKP106", a_trial(1, 2, records=twins, log=rows(None, 2, None))) == []
    assert run("CKP106", a_trial(1, 2, records=twins, log=rows(None, 1, None))) == []
    wrong = one("CKP106", a_trial(1, 2, records=twins, log=rows(None, 3, None)))
    assert "names checkpoint_000003" in wrong.message
