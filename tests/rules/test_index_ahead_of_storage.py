from __future__ import annotations

from tests.rules.builders import a_trial, one, record, rows, run


def test_an_index_above_all_that_is_known_is_told() -> None:
    finding = one("CKP102", a_trial(5, 6, index=41, records=[5, 6], log=rows(5, 6, 7)))
    assert finding.message == (
        "the trial's index is 41, above every folder, record and result row (the highest is 7): "
        "the next save leaves a gap"
    )
    assert finding.remedy is None


def test_nothing_is_known_at_all() -> None:
    assert "(none is known)" in one("CKP102", a_trial(index=0)).message


def test_an_evicted_checkpoint_explains_the_index() -> None:
    assert run("CKP102", a_trial(5, 6, index=7, log=rows(5, 6, 7))) == []
    assert run("CKP102", a_trial(5, 6, index=7, records=[7])) == []
    assert run("CKP102", a_trial(5, 7, index=7)) == []


def test_another_trials_number_explains_nothing() -> None:
    trial = a_trial(5, index=7, latest=record(9, trial="t2"))
    assert len(run("CKP102", trial)) == 1


def test_no_save_yet_is_quiet() -> None:
    assert run("CKP102", a_trial(index=-1)) == []
