from __future__ import annotations

from ckptctl.model.experiment import Retention
from tests.rules.builders import a_trial, commands, experiment, one, record, run

TWO = Retention(num_to_keep=2)


def test_more_records_than_are_to_be_kept_are_told() -> None:
    finding = one("CKP117", a_trial(1, 2, 3, 4, records=[1, 2, 3, 4], latest=4, retention=TWO))
    assert finding.message == (
        "4 checkpoints are recorded, but num_to_keep is 2: the next save deletes "
        "checkpoint_000001 and checkpoint_000002"
    )
    assert finding.checkpoints == ("checkpoint_000001", "checkpoint_000002")
    assert len(finding.evidence) == 4
    assert commands([finding]) == [None]
    assert finding.remedy is not None
    assert "nothing is safe" in finding.remedy.note


def test_the_latest_is_kept_beside_the_best() -> None:
    assert run("CKP117", a_trial(1, 2, 3, records=[3, 1, 2], latest=3, retention=TWO)) == []
    assert run("CKP117", a_trial(1, 2, 3, records=[1, 2, 3], latest=3, retention=TWO)) != []
    foreign = record(9, trial="t2")
    assert run("CKP117", a_trial(1, 2, 3, records=[1, 2, 3], latest=foreign, retention=TWO)) == []


def test_ray_2_6_has_a_heap_and_the_latest_outside_it() -> None:
    trial = a_trial(1, 2, 3, records=[3, 1, 2], latest=3, retention=TWO)
    finding = one("CKP117", experiment(trial, layout="ray-legacy"))
    assert finding.message == "3 checkpoints are recorded, but num_to_keep is 2"
    full = a_trial(1, 2, 3, records=[1, 2], latest=record(3), retention=TWO)
    assert run("CKP117", experiment(full, layout="ray-legacy")) == []


def test_without_a_setting_all_are_kept() -> None:
    for retention in (None, Retention(), Retention(num_to_keep=0)):
        assert run("CKP117", a_trial(1, 2, 3, records=[1, 2, 3], retention=retention)) == []
