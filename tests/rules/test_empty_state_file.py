from __future__ import annotations

import pytest
from msgspec.structs import replace

from ckptctl.model.experiment import Experiment, RecordRole, Unreadable
from tests.rules.builders import STATE, a_trial, experiment, one, run


def having(role: RecordRole, file: str, *, empty: bool = True) -> Experiment:
    problem = Unreadable(file=file, reason="it has zero bytes", empty=empty, role=role)
    return replace(experiment(a_trial()), problems=(problem,))


def test_an_empty_tuner_file_is_told() -> None:
    finding = one("CKP204", having(RecordRole.TUNER, "tuner.pkl"))
    assert finding.message == "tuner.pkl has zero bytes: a restore fails"
    assert finding.remedy is not None
    assert finding.remedy.command is None
    assert finding.remedy.note.startswith("it cannot be rebuilt from other files")


def test_an_empty_state_is_told() -> None:
    finding = one("CKP204", having(RecordRole.STATE, STATE))
    assert finding.message == f"{STATE} has zero bytes: a restore fails"
    assert finding.remedy is not None
    assert "from a backup" in finding.remedy.note


def test_an_empty_file_in_a_checkpoint_is_told() -> None:
    file = "t1/checkpoint_000001/.tune_metadata"
    finding = one("CKP204", having(RecordRole.CHECKPOINT_METADATA, file))
    assert finding.message == f"{file} has zero bytes"
    assert finding.trial == "t1"


@pytest.mark.parametrize(
    "role", [RecordRole.RESULT_LOG, RecordRole.PROGRESS, RecordRole.SUPERSEDED_STATE]
)
def test_logs_begin_empty_and_nobody_reads_older_states(role: RecordRole) -> None:
    assert run("CKP204", having(role, "x")) == []


def test_a_torn_file_is_not_an_empty_one() -> None:
    assert run("CKP204", having(RecordRole.STATE, STATE, empty=False)) == []
