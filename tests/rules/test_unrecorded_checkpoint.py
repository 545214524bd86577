from __future__ import annotations

from msgspec.structs import replace

from ckptctl.model.bookkeeping import Witness
from ckptctl.model.experiment import RecordRole, TrainableKind, Unreadable
from ckptctl.model.finding import Applicability
from tests.rules.builders import (
    EMPTY,
    PARTIAL,
    STATE,
    TEMPORARY,
    a_trial,
    commands,
    experiment,
    folder,
    one,
    record,
    rows,
    run,
)


def test_a_folder_that_only_the_log_knows_is_safe_to_record() -> None:
    finding = one("CKP105", a_trial(1, 2, records=[1], log=rows(1, 2)))
    assert finding.message == (
        "1 checkpoint is on storage that no record names: checkpoint_000002; the result log "
        "knows its metrics"
    )
    assert commands([finding]) == ["ckptctl reindex runs/exp"]


def test_folders_that_no_witness_knows_are_unsafe_to_record() -> None:
    finding = one("CKP105", a_trial(77, 78, 79, index=77, records=[77], log=rows(77)))
    assert finding.message == (
        "2 checkpoints are on storage that no record names: checkpoint_000078 and "
        "checkpoint_000079; no result row tells their metrics"
    )
    assert commands([finding]) == ["ckptctl reindex runs/exp --unsafe"]
    assert finding.remedy is not None
    assert "without --unsafe, reindex only keeps later saves away" in finding.remedy.note


def test_an_index_is_only_promised_where_there_is_one() -> None:
    finding = one("CKP105", a_trial("checkpoint_best", index=7))
    assert finding.remedy is not None
    assert finding.remedy.note == "it records it with an estimated iteration"


def test_each_remedy_has_its_own_finding() -> None:
    findings = run("CKP105", a_trial(1, 2, folder(3, PARTIAL), log=rows(1)))
    assert [f.checkpoint for f in findings] == [
        "checkpoint_000001",
        "checkpoint_000002",
        "checkpoint_000003",
    ]
    assert [f.remedy.applicability for f in findings if f.remedy] == [
        Applicability.SAFE,
        Applicability.UNSAFE,
        Applicability.MANUAL,
    ]
    assert "it lacks files" in findings[2].message


def test_what_else_may_tell_the_metrics_is_said() -> None:
    inside = folder(9, recorded_by=(Witness.TRAINABLE,))
    finding = one("CKP105", experiment(a_trial(inside), layout="ray-legacy"))
    assert "only what the trainable left inside tells its metrics" in finding.message
    finding = one("CKP105", experiment(a_trial("step=9"), layout="ray-train-v2"))
    assert "; nothing tells its metrics" in finding.message


def test_rows_of_ray_2_7_class_trainables_tell_no_metrics() -> None:
    trial = a_trial(2, log=rows(2), kind=TrainableKind.CLASS)
    finding = one("CKP105", experiment(trial, layout="ray-tune-2.7"))
    assert "no result row tells its metrics" in finding.message


def test_recorded_folders_are_quiet_also_when_another_trial_records_them() -> None:
    assert run("CKP105", a_trial(1, 2, records=[1], latest=2)) == []
    taker = a_trial(1, records=[1], latest=record(9, trial="t2"))
    assert run("CKP105", experiment(taker, a_trial(9, dirname="t2"))) == []


def test_empty_and_temporary_folders_are_other_rules() -> None:
    assert run("CKP105", a_trial(folder(1, EMPTY), folder("checkpoint_tmp1", TEMPORARY))) == []


def test_a_state_that_was_not_read_says_nothing() -> None:
    broken = Unreadable(file=STATE, reason="torn", role=RecordRole.STATE)
    assert run("CKP105", replace(experiment(a_trial(1)), problems=(broken,))) == []
    assert run("CKP105", experiment(a_trial(1), state_file=None)) == []
    assert run("CKP105", a_trial(1, in_state=False)) == []
    assert run("CKP105", a_trial(1, problems=(broken,))) == []
