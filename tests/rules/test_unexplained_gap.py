from __future__ import annotations

import pytest
from msgspec.structs import replace

from ckptctl.model.checkpoint import MetricValue
from ckptctl.model.experiment import Retention, Trial
from tests.rules.builders import (
    a_trial,
    claims,
    commands,
    experiment,
    folder,
    one,
    record,
    rows,
    run,
)

ALL_ARE_KEPT = Retention(num_to_keep=None)


def trial_of(*numbers: int, **facts: object) -> Trial:
    return replace(a_trial(*numbers, retention=ALL_ARE_KEPT), **facts)


def measured(metric: str, values: dict[int, MetricValue]) -> Trial:
    trial = trial_of(*values)
    found = tuple(replace(c, metrics={metric: values[c.index or 0]}) for c in trial.checkpoints)
    return replace(trial, checkpoints=found)


def test_numbers_that_nothing_knows_are_told() -> None:
    finding = one("CKP004", trial_of(5, 6, 7, 10))
    assert finding.message == (
        "2 indices are missing between the folders, and neither retention nor a record explains "
        "it: 8 to 9"
    )
    assert finding.checkpoints == ("checkpoint_000007", "checkpoint_000010")
    assert claims(finding) == [("storage", "7"), ("storage", "10")]
    assert commands([finding]) == [None]


def test_one_number_and_several_gaps() -> None:
    assert one("CKP004", trial_of(1, 2, 4)).message.startswith("1 index is missing")
    assert one("CKP004", trial_of(1, 3, 4, 9)).message.endswith("explains it: 2 and 5 to 8")


def test_a_gap_of_any_size_is_not_counted_out() -> None:
    assert "999,999,997 indices" in one("CKP004", trial_of(1, 2, 10**9)).message


def test_evicted_checkpoints_and_unknown_settings_explain_all() -> None:
    assert run("CKP004", trial_of(1, 2, 9, retention=Retention(num_to_keep=3))) == []
    assert run("CKP004", trial_of(1, 2, 9, retention=None)) == []


def test_what_records_and_rows_know_is_accounted_for() -> None:
    logged = trial_of(5, 6, 9, rows=rows(5, 6, 7, 8, 9))
    assert run("CKP004", logged) == []
    known = (record(7), record("checkpoint_000008-0.25"))
    assert run("CKP004", trial_of(5, 6, 9, records=known)) == []
    partly = trial_of(5, 6, 9, rows=rows(5, 6, 8, 9))
    assert one("CKP004", partly).message.endswith("explains it: 7")


def test_a_checkpoint_of_another_trial_explains_all() -> None:
    taken_over = record(4, trial="t2")
    assert run("CKP004", trial_of(1, 2, 9, latest_record=taken_over)) == []


def test_numbers_of_a_metric_and_even_steps_are_no_gaps() -> None:
    assert run("CKP004", trial_of(5, 10, 15, 20)) == []
    assert run("CKP004", measured("training_iteration", {5: 5, 10: 10, 12: 12})) == []
    assert run("CKP004", measured("training_iteration", {4: 5, 9: 10, 11: 12})) == []
    assert run("CKP004", measured("step", {5: 5, 10: 10, 12: 13})) != []


@pytest.mark.parametrize("layout", ["ray-legacy", "ray-train-v2", "plain"])
def test_only_ray_counters_are_without_gaps(layout: str) -> None:
    assert run("CKP004", experiment(trial_of(1, 2, 9), layout=layout)) == []


def test_names_without_numbers_do_not_matter() -> None:
    trial = a_trial(folder("checkpoint_best"), 3, retention=ALL_ARE_KEPT)
    assert run("CKP004", trial) == []
    assert run("CKP004", trial_of(records=(record(3), record(5)))) == []
