from __future__ import annotations

from ckptctl.model.experiment import RecordRole, Unreadable
from ckptctl.model.finding import Applicability
from tests.rules.builders import a_trial, one, run


def test_a_torn_last_line_is_told() -> None:
    torn = Unreadable(
        file="t1/result.json", reason="line 8: no end", truncated=True, role=RecordRole.RESULT_LOG
    )
    finding = one("CKP202", a_trial(problems=(torn,)))
    assert finding.message == (
        "the last line of t1/result.json is cut off: Result.from_path fails on it"
    )
    assert finding.trial == "t1"
    assert finding.remedy is not None
    assert finding.remedy.applicability is Applicability.MANUAL


def test_a_bad_line_in_the_middle_and_a_torn_state_are_not() -> None:
    bad = Unreadable(file="t1/result.json", reason="line 3", role=RecordRole.RESULT_LOG)
    state = Unreadable(file="s.json", reason="torn", truncated=True, role=RecordRole.STATE)
    assert run("CKP202", a_trial(problems=(bad, state))) == []
    assert run("CKP202", a_trial()) == []
