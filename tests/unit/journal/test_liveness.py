"""When a run counts as alive."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from msgspec.structs import replace

from ckptctl.liveness import IN_FLIGHT, alive, looks_copied, settle, why_alive
from ckptctl.model.checkpoint import Checkpoint, CheckpointName, CheckpointState, TrialDir
from ckptctl.model.experiment import (
    Experiment,
    RecordFile,
    RecordKind,
    RecordRole,
    Row,
    Trial,
    TrialStatus,
)
from ckptctl.model.finding import Finding, Severity

NOW = 1000.0
OWN = "a" * 64
RAYS = "b" * 64


def record(
    path: str,
    modified: float | None,
    sha256: str = RAYS,
    role: RecordRole = RecordRole.RESULT_LOG,
) -> RecordFile:
    return RecordFile(
        path=path, kind=RecordKind.JSON, role=role, sha256=sha256, size=1, modified=modified
    )


def trial(status: TrialStatus | None, dirname: str = "t", checkpoint: float | None = None) -> Trial:
    folder = Checkpoint(
        trial=TrialDir(dirname),
        name=CheckpointName("checkpoint_1"),
        index=1,
        state=CheckpointState.COMPLETE,
        modified=checkpoint,
    )
    return Trial(
        trial_id=f"id_{dirname}",
        dirname=TrialDir(dirname),
        status=status,
        in_state=True,
        on_storage=True,
        checkpoints=(folder,) if checkpoint is not None else (),
        result_log=f"{dirname}/result.json",
    )


def experiment(*trials: Trial, records: tuple[RecordFile, ...] = ()) -> Experiment:
    return Experiment(location="exp", name="exp", layout="ray-tune", trials=trials, records=records)


def test_a_running_trial_whose_log_grows_is_alive() -> None:
    found = experiment(trial(TrialStatus.RUNNING), records=(record("t/result.json", NOW - 12),))
    assert alive(found, NOW) == ("trial id_t is RUNNING, and t/result.json changed 12 s ago",)


@pytest.mark.parametrize("status", [s for s in TrialStatus if not s.may_be_alive])
def test_trials_that_ended_are_never_alive(status: TrialStatus) -> None:
    found = experiment(trial(status, checkpoint=NOW), records=(record("t/result.json", NOW),))
    assert alive(found, NOW) == ()


def test_a_pending_trial_is_alive_by_its_checkpoints() -> None:
    found = experiment(trial(TrialStatus.PENDING, checkpoint=NOW - 1))
    assert alive(found, NOW) == ("trial id_t is PENDING, and t/checkpoint_1 changed 1 s ago",)


def test_a_quiet_run_is_not_alive() -> None:
    found = experiment(
        trial(TrialStatus.RUNNING, checkpoint=NOW - 61),
        records=(record("t/result.json", NOW - 60), record("t/none.json", None)),
    )
    assert alive(found, NOW) == ()
    assert len(alive(found, NOW, 120)) == 1


def test_our_own_writes_do_not_count() -> None:
    found = experiment(
        trial(TrialStatus.RUNNING, checkpoint=NOW - 5),
        records=(
            record("t/result.json", NOW - 2, OWN),
            record("t/checkpoint_1/.tune_metadata", NOW - 5, OWN),
            record("experiment_state-1.json", NOW - 1, OWN, RecordRole.STATE),
        ),
    )
    assert alive(found, NOW, 60, frozenset({OWN})) == ()
    assert len(alive(found, NOW)) == 1


def test_a_file_that_we_did_not_write_counts_beside_ours() -> None:
    found = experiment(
        trial(TrialStatus.RUNNING, checkpoint=NOW - 4),
        records=(record("t/checkpoint_1/.tune_metadata", NOW - 5, OWN),),
    )
    assert len(alive(found, NOW, 60, frozenset({OWN}))) == 1


def test_the_state_counts_for_every_trial_and_a_log_for_its_own() -> None:
    trials = (trial(TrialStatus.RUNNING, "t"), trial(TrialStatus.RUNNING, "u"))
    state = record("experiment_state-1.json", NOW, role=RecordRole.STATE)
    assert len(alive(experiment(*trials, records=(state,)), NOW)) == 2
    log = record("u/result.json", NOW)
    (reason,) = alive(experiment(*trials, records=(log,)), NOW)
    assert "id_u" in reason


def test_superseded_states_do_not_count() -> None:
    old = record("experiment_state-0.json", NOW, "", RecordRole.SUPERSEDED_STATE)
    assert alive(experiment(trial(TrialStatus.RUNNING), records=(old,)), NOW) == ()


def test_a_train_v2_run_has_no_status_and_may_be_alive() -> None:
    found = experiment(
        replace(trial(None, "."), trial_id=None),
        records=(record("checkpoint_manager_snapshot.json", NOW + 5, role=RecordRole.STATE),),
    )
    assert alive(found, NOW) == ()
    assert alive(replace(found, layout="ray-train-v2"), NOW) == (
        "run . may go on, and checkpoint_manager_snapshot.json changed in the future",
    )


def finding(code: str, trial: str | None, severity: Severity = Severity.ERROR) -> Finding:
    return Finding(
        code=code,
        rule="a-rule",
        severity=severity,
        experiment="exp",
        trial=trial,
        checkpoint=None,
        message="behind",
    )


def test_what_a_run_clears_by_itself_is_a_note_while_it_goes_on() -> None:
    going, ended = trial(TrialStatus.RUNNING, "t"), trial(TrialStatus.TERMINATED, "u")
    found = experiment(going, ended, records=(record("t/result.json", NOW - 1),))
    findings = [finding(code, t) for code in ("CKP101", "CKP108") for t in ("t", "u", None)]
    settled = settle(findings, why_alive(found, NOW))
    assert [f.severity for f in settled] == [
        *(Severity.INFO, Severity.ERROR, Severity.INFO),
        *(Severity.ERROR, Severity.ERROR, Severity.ERROR),
    ]
    assert settled[0].message.startswith("behind (the run goes on: trial id_t is RUNNING, and ")
    assert settle(findings, {}) == tuple(findings)
    assert "CKP108" not in IN_FLIGHT


def test_a_run_without_a_trial_yet_has_just_begun() -> None:
    state = record("experiment_state-1.json", NOW - 1, role=RecordRole.STATE)
    begun = experiment(records=(state,))
    assert alive(begun, NOW) == (), "there is nothing that it could write to"
    (empty,) = settle([finding("CKP204", None)], why_alive(begun, NOW, unknown=True))
    assert empty.severity is Severity.INFO
    assert empty.message == (
        "behind (the run goes on: no trial has begun, and experiment_state-1.json changed 1 s ago)"
    )
    for other in (
        experiment(records=(replace(state, modified=NOW - 61),)),
        replace(begun, layout="huggingface"),
        experiment(trial(TrialStatus.TERMINATED), records=(state,)),
    ):
        assert why_alive(other, NOW, unknown=True) == {}


def row(timestamp: float) -> Row:
    return Row(
        line=0, has_name=True, name=None, training_iteration=1, metrics={}, timestamp=timestamp
    )


@pytest.mark.parametrize(
    ("told", "oldest", "copied"),
    [
        (NOW - 900, NOW - 1, True),
        (NOW - 900, NOW - 900, False),
        (NOW - 5, NOW - 1, False),
    ],
)
def test_a_copy_is_all_new_and_tells_of_what_is_old(
    told: float, oldest: float, copied: bool
) -> None:
    one = replace(trial(TrialStatus.RUNNING, checkpoint=oldest), rows=(row(told),))
    assert looks_copied(experiment(one, records=(record("r", NOW - 1),)), NOW) is copied


@pytest.mark.parametrize(
    ("name", "copied"),
    [
        ("checkpoint_1970-01-01_00-00-00.000000", True),
        ("checkpoint_1970-02-01_00-00-00.000000", False),
        ("checkpoint_1970-02-31_00-00-00.000000", False),
        ("checkpoint_000001", False),
    ],
)
def test_a_copy_of_a_train_v2_run_is_known_by_its_days(name: str, copied: bool) -> None:
    now = 30 * 86400.0
    one = trial(None, checkpoint=now - 1)
    one = replace(one, checkpoints=(replace(one.checkpoints[0], name=CheckpointName(name)),))
    assert looks_copied(experiment(one), now) is copied


@pytest.mark.parametrize(("day", "copied"), [("2026-12-03", True), ("2026-12-06", False)])
def test_a_copy_without_a_trial_is_known_by_the_day_of_its_state(day: str, copied: bool) -> None:
    now = datetime(2026, 12, 7, tzinfo=UTC).timestamp()
    path = f"experiment_state-{day}_22-27-50.json"
    found = experiment(records=(record(path, now - 1, role=RecordRole.STATE),))
    assert looks_copied(found, now) is copied
