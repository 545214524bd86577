from __future__ import annotations

from msgspec.structs import replace

from ckptctl.model.experiment import RecordFile, RecordKind, RecordRole, Unreadable
from ckptctl.model.finding import Applicability
from tests.rules.builders import STATE, a_trial, experiment, one, run


def test_logs_without_a_state_are_told() -> None:
    bare = experiment(
        a_trial(1, in_state=False), a_trial(1, dirname="t2", in_state=False), state_file=None
    )
    finding = one("CKP206", bare)
    assert finding.message == (
        "2 trials have a result log, but there is no experiment_state file: restore is impossible"
    )
    assert finding.trial is None
    assert [e.file for e in finding.evidence] == ["t1/result.json", "t2/result.json"]
    assert finding.remedy is not None
    assert finding.remedy.applicability is Applicability.MANUAL


def test_one_is_singular() -> None:
    assert one("CKP206", experiment(a_trial(1), state_file=None)).message.startswith("1 trial has ")


def test_a_state_that_is_there_is_quiet_even_if_it_cannot_be_read() -> None:
    assert run("CKP206", experiment(a_trial(1))) == []
    bare = experiment(a_trial(1), state_file=None)
    broken = Unreadable(file=STATE, reason="torn", role=RecordRole.STATE)
    assert run("CKP206", replace(bare, problems=(broken,))) == []
    listed = RecordFile(path=STATE, kind=RecordKind.JSON, role=RecordRole.STATE, sha256="", size=0)
    assert run("CKP206", replace(bare, records=(listed,))) == []


def test_folders_without_logs_need_no_state() -> None:
    assert run("CKP206", experiment(a_trial(1, has_log=False), state_file=None)) == []
