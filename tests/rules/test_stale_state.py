from __future__ import annotations

from ckptctl.model.experiment import TrainableKind, TrialStatus
from tests.rules.builders import EMPTY, a_trial, commands, folder, one, record, row, rows, run

RUNNING = TrialStatus.RUNNING


def test_a_log_that_names_saves_the_state_does_not_know_is_told() -> None:
    trial = a_trial(
        0, 1, 2, 3, index=1, records=[0, 1], log=rows(0, 1, 2, 3), state_iteration=2, status=RUNNING
    )
    finding = one("CKP111", trial)
    assert finding.message == (
        "the result log ends at iteration 4, the saved state at 2 and lacks 2 checkpoints"
    )
    assert finding.checkpoints == ("checkpoint_000002", "checkpoint_000003")
    assert commands([finding]) == ["ckptctl reindex runs/exp"]


def test_a_finished_trial_has_no_reason_to_be_ahead() -> None:
    finding = one("CKP111", a_trial(0, records=[0], log=rows(0, None), state_iteration=1))
    assert finding.message == "the result log ends at iteration 2, the saved state at 1"


def test_a_folder_that_the_state_does_not_know_is_enough() -> None:
    bare = rows(None, None, None, has_name=False)
    known = a_trial(0, index=0, records=[0], log=bare, state_iteration=2, status=RUNNING)
    assert run("CKP111", known) == []
    more = a_trial(0, 1, index=0, records=[0], log=bare, state_iteration=2, status=RUNNING)
    assert "lacks 1 checkpoint" in one("CKP111", more).message
    unfinished = folder(1, EMPTY)
    empty = a_trial(
        0, unfinished, index=0, records=[0], log=bare, state_iteration=2, status=RUNNING
    )
    assert run("CKP111", empty) == []


def test_rows_alone_are_a_run_in_flight_or_a_failed_attempt() -> None:
    for status in (RUNNING, TrialStatus.PENDING, TrialStatus.PAUSED, TrialStatus.ERROR):
        trial = a_trial(
            0, index=0, records=[0], log=rows(0, None, None), state_iteration=1, status=status
        )
        assert run("CKP111", trial) == []


def test_a_save_that_was_evicted_is_known_by_the_index() -> None:
    trial = a_trial(
        2, index=2, records=[2], log=rows(0, 1, 2), state_iteration=1, status=TrialStatus.ERROR
    )
    assert run("CKP111", trial) == []


def test_ray_2_6_marks_rows_without_naming_folders() -> None:
    log = (row(0, None, has_name=False), row(1, None, has_name=False, checkpointed=True))
    trial = a_trial(0, records=[record(0, 1)], log=log, state_iteration=1, status=RUNNING)
    assert len(run("CKP111", trial)) == 1


def test_equal_ends_and_a_state_that_is_ahead_are_quiet() -> None:
    assert run("CKP111", a_trial(0, log=rows(0, 1), state_iteration=2)) == []
    assert run("CKP111", a_trial(0, log=rows(0, 1), state_iteration=3)) == []
    assert run("CKP111", a_trial(0, log=rows(0, 1))) == []
    assert run("CKP111", a_trial(0, state_iteration=3)) == []


def test_a_result_that_was_taken_over_is_another_trials() -> None:
    taken = record(9, 1, trial="t2")
    assert run("CKP111", a_trial(0, latest=taken, log=rows(0, 1), state_iteration=1)) == []
    own = a_trial(0, latest=taken, log=rows(0, 1, 2), state_iteration=2)
    assert len(run("CKP111", own)) == 1


def test_the_row_of_a_class_trainable_proves_no_save_without_its_folder() -> None:
    def told(*folders: int, kind: TrainableKind) -> int:
        trial = a_trial(
            *folders,
            index=0,
            records=[0],
            log=rows(None, 0, None, 1),
            state_iteration=2,
            status=RUNNING,
            kind=kind,
        )
        return len(run("CKP111", trial))

    assert told(0, kind=TrainableKind.CLASS) == 0
    assert told(0, 1, kind=TrainableKind.CLASS) == 1
    assert told(0, kind=TrainableKind.FUNCTION) == 1
