from __future__ import annotations

from ckptctl.model.experiment import RecordRole, Unreadable
from ckptctl.model.finding import Applicability
from tests.rules.builders import a_trial, claims, one, record, rows, run


def test_a_state_that_is_ahead_is_told() -> None:
    records = [record(2, 3), record(3, 4)]
    finding = one("CKP112", a_trial(2, 3, records=records, log=rows(0, 1), state_iteration=4))
    assert finding.message == (
        "the saved state is at iteration 4, but the result log ends at iteration 2"
    )
    assert claims(finding) == [("trial", "iteration 4"), ("session", "iteration 2")]
    assert finding.remedy is not None
    assert finding.remedy.applicability is Applicability.SAFE


def test_an_empty_log_is_told() -> None:
    finding = one("CKP112", a_trial(state_iteration=4))
    assert finding.message == "the saved state is at iteration 4, but the result log has no row"
    assert finding.remedy is not None
    assert finding.remedy.note == "no record holds the rows that the log lacks"


def test_a_torn_line_has_to_go_first() -> None:
    torn = Unreadable(
        file="t1/result.json", reason="torn", truncated=True, role=RecordRole.RESULT_LOG
    )
    trial = a_trial(3, records=[record(3, 4)], log=rows(0, 1), state_iteration=4, problems=(torn,))
    finding = one("CKP112", trial)
    assert finding.remedy is not None
    assert finding.remedy.applicability is Applicability.MANUAL
    assert "cut off" in finding.remedy.note


def test_a_log_that_is_level_or_ahead_is_quiet() -> None:
    assert run("CKP112", a_trial(log=rows(0, 1), state_iteration=2)) == []
    assert run("CKP112", a_trial(log=rows(0, 1), state_iteration=1)) == []


def test_no_log_at_all_is_a_setting_and_no_fault() -> None:
    assert run("CKP112", a_trial(state_iteration=4, has_log=False)) == []


def test_a_result_that_was_taken_over_is_another_trials() -> None:
    trial = a_trial(latest=record(9, 4, trial="t2"), log=rows(0, 1), state_iteration=4)
    assert run("CKP112", trial) == []
