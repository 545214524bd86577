from __future__ import annotations

import math

from ckptctl.model.checkpoint import MetricValue
from ckptctl.model.experiment import Experiment, Record, Retention
from tests.rules.builders import a_trial, commands, experiment, one, record, run

LOWEST = Retention(num_to_keep=3, monitor="loss", mode="min")
HIGHEST = Retention(num_to_keep=3, monitor="eval/acc", mode="max")


def scored(number: int, value: MetricValue, metric: str = "loss") -> Record:
    return record(number, metrics={metric: value})


def ranked(*values: MetricValue, retention: Retention = LOWEST) -> Experiment:
    metric = retention.monitor or ""
    records = [scored(i, v, metric) for i, v in enumerate(values)]
    return experiment(a_trial(*range(len(values)), records=records, retention=retention))


def test_a_list_that_does_not_end_with_the_best_is_told() -> None:
    finding = one("CKP114", ranked(0.4, 0.285714, 0.333333))
    assert finding.message == (
        "the recorded best is checkpoint_000002 (loss 0.333333), but checkpoint_000001 "
        "(loss 0.285714) is better (best is the lowest loss)"
    )
    assert finding.checkpoints == ("checkpoint_000001", "checkpoint_000002")
    assert commands([finding]) == ["ckptctl reindex runs/exp"]


def test_the_mode_and_nested_metrics_count() -> None:
    assert "best is the highest eval/acc" in one("CKP114", ranked(3, 1, retention=HIGHEST)).message
    assert run("CKP114", ranked(1, 3, retention=HIGHEST)) == []


def test_lists_that_ascend_are_quiet_and_so_are_ties() -> None:
    assert run("CKP114", ranked(0.4, 0.3, 0.2)) == []
    assert run("CKP114", ranked(0.4, 0.2, 0.2)) == []


def test_nan_is_the_lowest_in_either_mode() -> None:
    assert run("CKP114", ranked(math.nan, 0.4)) == []
    assert len(run("CKP114", ranked(0.4, math.nan))) == 1
    assert run("CKP114", ranked(math.nan, math.nan)) == []


def test_records_without_a_number_are_left_out() -> None:
    assert run("CKP114", ranked(0.4, "high", None)) == []
    assert run("CKP114", ranked("a", "b")) == []


def test_without_a_metric_the_list_is_in_order_of_registration() -> None:
    assert run("CKP114", ranked(1, 3, 2, retention=Retention(num_to_keep=3))) == []


def test_the_heap_of_ray_2_6_has_no_order() -> None:
    trial = ranked(0.4, 0.2, 0.3).trials[0]
    assert run("CKP114", experiment(trial, layout="ray-legacy")) == []
