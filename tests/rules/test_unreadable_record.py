from __future__ import annotations

import pytest
from msgspec.structs import replace

from ckptctl.model.experiment import (
    Experiment,
    RecordFile,
    RecordKind,
    RecordRole,
    Unreadable,
)
from ckptctl.model.finding import Applicability
from tests.rules.builders import STATE, a_trial, experiment, one, run


def broken(
    role: RecordRole, file: str = STATE, *, empty: bool = False, truncated: bool = False
) -> Unreadable:
    return Unreadable(
        file=file, reason="no end of text", role=role, empty=empty, truncated=truncated
    )


def having(*problems: Unreadable, older: str | None = None, layout: str = "ray-tune") -> Experiment:
    records: tuple[RecordFile, ...] = ()
    if older:
        records = (
            RecordFile(
                path=older,
                kind=RecordKind.JSON,
                role=RecordRole.SUPERSEDED_STATE,
                sha256="",
                size=1,
            ),
        )
    whole = experiment(a_trial(), layout=layout)
    return replace(whole, problems=problems, records=records)


def test_a_torn_state_is_told_and_nothing_is_safe() -> None:
    finding = one("CKP201", having(broken(RecordRole.STATE, truncated=True)))
    assert finding.message == f"{STATE} cannot be read: no end of text"
    assert finding.trial is None
    assert finding.remedy is not None
    assert finding.remedy.applicability is Applicability.MANUAL
    assert finding.remedy.command is None
    assert "cannot be rebuilt" in finding.remedy.note


def test_an_older_state_is_pointed_out() -> None:
    older = "experiment_state-2020-01-01_00-00-00.json"
    finding = one("CKP201", having(broken(RecordRole.STATE), older=older))
    assert finding.remedy is not None
    assert finding.remedy.note.startswith(f"{older} is the newest older state: move {STATE} out")


@pytest.mark.parametrize(
    ("role", "layout", "note"),
    [
        (RecordRole.STATE, "ray-train-v2", "A new run can still start"),
        (RecordRole.TUNER, "ray-tune", "constructing the same Tuner again"),
        (RecordRole.RESULT_LOG, "ray-tune", "correct or remove the line"),
        (RecordRole.CHECKPOINT_METADATA, "ray-legacy", "from a backup"),
    ],
)
def test_the_note_says_what_still_works(role: RecordRole, layout: str, note: str) -> None:
    finding = one("CKP201", having(broken(role), layout=layout))
    assert finding.remedy is not None
    assert note in finding.remedy.note


def test_a_file_below_a_trial_is_the_trials() -> None:
    finding = one("CKP201", having(broken(RecordRole.PROGRESS, "t1/progress.csv")))
    assert finding.trial == "t1"


def test_a_problem_that_is_told_twice_is_one_finding() -> None:
    problem = broken(RecordRole.RESULT_LOG, "t1/result.json")
    whole = replace(experiment(a_trial(problems=(problem,))), problems=(problem,))
    assert one("CKP201", whole).trial == "t1"


def test_torn_logs_empty_files_and_older_states_are_other_rules() -> None:
    assert run("CKP201", having(broken(RecordRole.RESULT_LOG, truncated=True))) == []
    assert run("CKP201", having(broken(RecordRole.STATE, empty=True))) == []
    assert run("CKP201", having(broken(RecordRole.SUPERSEDED_STATE))) == []
