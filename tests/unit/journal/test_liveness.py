"""When a run counts as alive."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from ckptctl.liveness import alive
from ckptctl.model.checkpoint import Checkpoint, CheckpointName, CheckpointState, TrialDir
from ckptctl.model.experiment import (
    Experiment,
    RecordFile,
    RecordKind,
    RecordRole,
    Trial,
    TrialStatus,
)

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
